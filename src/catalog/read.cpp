#include "dataset.hpp"
#include "fields.hpp"

#include <gpuplan/base/parse.hpp>

#include <algorithm>
#include <set>

namespace gpuplan {
namespace {

struct FileContext {
  Dataset& dataset;
  Layer layer;
  std::string collected_on;  // the day of facts whose own source gives none
};

// The name of a record, and the key it stands under.
struct NameOf {
  std::string_view key;
  Text value;

  void name(std::string_view field, const Text& member) {
    key = field;
    value = member;
  }
  void text(std::string_view, const Text&) {}
  void texts(std::string_view, const Texts&) {}
  template <class Unit, class T>
  void fact(std::string_view, const Fact<T>&, Mark = Mark::published) {}
  void truth(std::string_view, const Fact<bool>&) {}
  void flag(std::string_view, const bool&) {}
  template <class E>
  void choice(std::string_view, const E&) {}
  template <class N>
  void nested(std::string_view, const std::span<const N>&) {}
  void marks(const FieldMarks&) {}
  void source(const SourceId&) {}
};

// Walks a record's fields and takes from the document those that stand there.
class ReadVisitor {
 public:
  // `overrides`: the record is known, and fields that are not said keep their value and source.
  // `inherited`: the source of the record that this one is part of, for when it names none itself.
  ReadVisitor(Reader& in, FileContext& context, bool overrides, SourceId inherited = 0)
      : in_(in), context_(context), overrides_(overrides) {
    for (auto& field : in.list("derived", parse_text)) derived_.insert(std::move(field));
    for (auto& field : in.list("from_memory", parse_text)) from_memory_.insert(std::move(field));
    const auto source = in.optional("source", parse_text);
    const auto observed = in.optional("observed_on", parse_observed);
    if (!source && !observed && inherited != 0) {
      source_ = inherited;
      return;
    }
    source_ = context.dataset.source(source.value_or(context.layer == Layer::built_in ? "" : in.place().origin),
                                     observed.value_or(context.collected_on), context.layer);
  }

  void name(std::string_view key, Text& member) {
    if (auto text = in_.required(key, parse_text); !text.empty() && !overrides_) member = context_.dataset.keep(text);
  }
  void text(std::string_view key, Text& member) {
    if (auto value = in_.optional(key, parse_text)) {
      member = context_.dataset.keep(*value);
      note(key);
    }
  }
  void texts(std::string_view key, Texts& member) {
    if (!in_.has(key)) return;
    std::vector<Text> kept;
    for (const auto& value : in_.list(key, parse_text)) kept.push_back(context_.dataset.keep(value));
    member = context_.dataset.keep_list(std::move(kept));
    note(key);
  }
  template <class Unit, class T>
  void fact(std::string_view key, Fact<T>& member, Mark mark = Mark::published) {
    const auto parse = [](std::string_view text) {
      if constexpr (std::same_as<T, std::int64_t>) {
        return parse_count_or_zero(text);
      } else {
        return parse_non_negative(text);
      }
    };
    if (auto value = in_.optional(key, parse)) {
      if (!is_plausible(static_cast<double>(*value))) {
        in_.problem({"input.out_of_range",
                     "'" + std::string(key) + "' is beyond all measure",
                     in_.place_of(key),
                     "0, or 1e-9 to 1e18",
                     {},
                     {}});
        return;
      }
      set(key, member, mark, Unit::make(static_cast<double>(*value)));
      if constexpr (std::same_as<T, std::int64_t>) member.value = *value;
    }
  }
  void truth(std::string_view key, Fact<bool>& member) {
    if (auto value = in_.optional(key, parse_bool)) set(key, member, Mark::published, *value);
  }
  void flag(std::string_view key, bool& member) {
    if (auto value = in_.optional(key, parse_bool)) {
      member = *value;
      note(key);
    }
  }
  template <class E>
  void choice(std::string_view key, E& member) {
    if (auto value = in_.optional(key, parse_enum<E>)) {
      member = *value;
      note(key);
    }
  }
  // A list of parts. A user's file overrides the part of the same name and adds the others.
  template <class N>
  void nested(std::string_view key, std::span<const N>& member) {
    if (!in_.has(key)) return;
    std::vector<N> records;
    if (context_.layer != Layer::built_in) records.assign(member.begin(), member.end());
    const std::size_t known = records.size();
    for (Reader& reader : children(key)) {
      N* record = known_part(records, known, reader);
      const bool overrides = record != nullptr;
      if (!record) record = &records.emplace_back();
      ReadVisitor visitor(reader, context_, overrides, source_);
      visit_fields(visitor, *record);
      reader.done();
    }
    member = context_.dataset.keep_list(std::move(records));
  }
  // After all other fields: what was noted of them replaces what was known.
  void marks(FieldMarks& member) {
    if (noted_.empty()) return;
    std::vector<FieldMark> all;
    for (const FieldMark& known : member) {
      const auto again =
          std::find_if(noted_.begin(), noted_.end(), [&](const FieldMark& n) { return n.field == known.field; });
      if (again == noted_.end()) all.push_back(known);
    }
    all.insert(all.end(), noted_.begin(), noted_.end());
    member = context_.dataset.keep_list(std::move(all));
  }
  void source(SourceId& member) {
    if (!overrides_) member = source_;
  }

 private:
  static Parsed<std::string> parse_observed(std::string_view text) {
    const auto date = parse_date(text);
    if (!date.value) return Parsed<std::string>::fail(date.message, date.expected);
    return Parsed<std::string>::ok(std::string(text));
  }
  // The part among the first `known` that the document means; parts without a name are the only one of their list.
  template <class N>
  static N* known_part(std::vector<N>& records, std::size_t known, const Reader& reader) {
    for (std::size_t i = 0; i < known; ++i) {
      NameOf name;
      visit_fields(name, records[i]);
      const Node* said = name.key.empty() ? nullptr : reader.node().find(name.key);
      if (name.key.empty() || (said && lookup_key(said->scalar) == lookup_key(name.value))) return &records[i];
    }
    return nullptr;
  }
  std::vector<Reader> children(std::string_view key) {
    if (in_.node().find(key)->kind == Node::Kind::mapping) return {*in_.child(key)};
    return in_.each(key);
  }
  // Products of a few facts must stay finite, and quotients too.
  static bool is_plausible(double value) { return value == 0 || (value >= 1e-9 && value <= 1e18); }
  [[nodiscard]] Mark mark_of(std::string_view key, Mark mark) const {
    if (from_memory_.contains(key) || from_memory_.contains("all")) return Mark::from_memory;
    return derived_.contains(key) ? Mark::derived : mark;
  }
  template <class T>
  void set(std::string_view key, Fact<T>& member, Mark mark, T value) {
    member = {value, mark_of(key, mark), source_};
  }
  // Remembers how a field that is no Fact is known, unless it is known as its record is.
  void note(std::string_view key) {
    const Mark mark = mark_of(key, Mark::published);
    if (overrides_ || mark != Mark::published) noted_.push_back({context_.dataset.keep(key), mark, source_});
  }

  Reader& in_;
  FileContext& context_;
  bool overrides_ = false;
  std::vector<FieldMark> noted_;
  std::set<std::string, std::less<>> derived_;
  std::set<std::string, std::less<>> from_memory_;
  SourceId source_ = 0;
};

Text key_of(const CurrencyRate& record) { return record.currency; }
template <class R>
Text key_of(const R& record) {
  return record.name;
}
template <class R>
concept HasAliases = requires(const R& record) {
  record.aliases;
};

template <class R>
bool answers_to(const R& record, const std::string& key) {
  if (lookup_key(key_of(record)) == key) return true;
  if constexpr (HasAliases<R>) {
    return std::any_of(record.aliases.begin(), record.aliases.end(),
                       [&](Text alias) { return lookup_key(alias) == key; });
  }
  return false;
}

template <class R>
constexpr std::string_view name_field() {
  return std::same_as<R, CurrencyRate> ? "currency" : "name";
}

template <class R>
R* known_record(std::vector<R>& records, const Reader& reader) {
  const Node* name = reader.node().find(name_field<R>());
  if (!name) return nullptr;
  const std::string key = lookup_key(name->scalar);
  const auto found = std::find_if(records.begin(), records.end(), [&](const R& r) { return answers_to(r, key); });
  return found == records.end() ? nullptr : &*found;
}

template <class R>
void read_list(std::vector<R>& records, Reader& in, FileContext& context) {
  std::set<std::string> said;
  for (Reader& reader : in.each(list_key<R>)) {
    // Built-in files may not say a name twice: check_facts finds that; a user's file overrides, each record once.
    R* known = context.layer == Layer::built_in ? nullptr : known_record(records, reader);
    if (known && !said.insert(lookup_key(key_of(*known))).second) {
      reader.problem({"input.duplicate_name",
                      "'" + std::string(key_of(*known)) + "' stands twice in this file",
                      reader.place_of(name_field<R>()),
                      "each record once",
                      {},
                      {}});
    }
    R record = known ? *known : R{};
    ReadVisitor visitor(reader, context, known != nullptr);
    visit_fields(visitor, record);
    reader.done();
    if (known) {
      *known = record;
    } else {
      said.insert(lookup_key(key_of(record)));
      records.push_back(record);
    }
  }
}

// Offers carry their provider's name, so that one of them can be looked at alone.
void name_providers_of_offers(Dataset& dataset) {
  for (Provider& provider : dataset.providers) {
    std::vector<Offer> offers(provider.offers.begin(), provider.offers.end());
    for (Offer& offer : offers) offer.provider = provider.name;
    provider.offers = dataset.keep_list(std::move(offers));
  }
}

}  // namespace

void read_facts(Dataset& into, const Node& document, std::string_view origin, Layer layer) {
  Reader in(document, origin);
  if (into.sources.empty()) into.sources.push_back({"no source", "", Layer::built_in});  // id 0
  FileContext context{into, layer, in.optional("collected_on", parse_text).value_or("")};
  (void)in.optional("replace", parse_bool);  // acted on by load_catalog
  read_list(into.accelerators, in, context);
  read_list(into.links, in, context);
  read_list(into.nodes, in, context);
  read_list(into.models, in, context);
  read_list(into.engines, in, context);
  read_list(into.training_frameworks, in, context);
  read_list(into.runtimes, in, context);
  read_list(into.storage_classes, in, context);
  read_list(into.framework_releases, in, context);
  read_list(into.cuda_releases, in, context);
  read_list(into.owned_hardware, in, context);
  read_list(into.energy, in, context);
  read_list(into.failure_studies, in, context);
  read_list(into.format_qualities, in, context);
  read_list(into.use_cases, in, context);
  context.collected_on.clear();  // prices age: the day they were carried over is not the day they were seen
  const bool offers_changed = in.has(list_key<Provider>);
  read_list(into.providers, in, context);
  if (offers_changed) name_providers_of_offers(into);
  read_list(into.currencies, in, context);
  in.done();
  in.finish();
}

}  // namespace gpuplan
