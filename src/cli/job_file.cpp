#include "job_file.hpp"

#include "flags.hpp"

#include <gpuplan/base/reader.hpp>

#include <algorithm>

namespace gpuplan::cli {
namespace {

// Keys may be written with '_' for '-'.
const Node* value_of(Reader& in, std::string_view flag, std::string& key) {
  key = flag;
  in.ignore(key);
  if (const Node* node = in.node().find(key)) return node;
  std::replace(key.begin(), key.end(), '-', '_');
  if (key == flag) return nullptr;
  const Node* node = in.node().find(key);
  if (node) in.ignore(key);
  return node;
}

void apply(Reader& in, const Flag& flag, const Node& node, Options& options) {
  if (node.kind != Node::Kind::scalar) {
    in.problem({"input.bad_type",
                "'" + std::string(flag.name) + "' is not a single value",
                node.place,
                flag.repeats ? "one value or a list of values" : "one value",
                {},
                {}});
    return;
  }
  options.places.insert_or_assign("--" + std::string(flag.name), node.place);
  if (auto problem = flag.apply(options, node.scalar)) {
    problem->place = node.place;
    in.problem(std::move(*problem));
  }
}

}  // namespace

void read_job_file(const std::string& path, const Command& command, Options& options) {
  const Node root = read_document(path);
  Reader in(root, path);
  for (const std::string_view name : command.flags) {
    const Flag& flag = *find_flag(name);
    if (!flag.in_file) continue;
    std::string key;
    const Node* node = value_of(in, flag.name, key);
    if (!node || node->kind == Node::Kind::null) continue;
    if (node->kind == Node::Kind::sequence && flag.repeats) {
      if (node->items.empty())
        in.problem({"input.bad_value",
                    "'" + key + "' is an empty list",
                    node->place,
                    "one value or a list of values",
                    {},
                    {}});
      for (const Node& item : node->items) apply(in, flag, item, options);
    } else {
      apply(in, flag, *node, options);
    }
  }
  in.done();
  in.finish();
}

}  // namespace gpuplan::cli
