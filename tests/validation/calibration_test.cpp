#include "catch.hpp"

#include <gpuplan/base/reader.hpp>
#include <gpuplan/validation/calibrate.hpp>

#include <cmath>
#include <string>

using namespace gpuplan;

namespace {

const Catalog& built_in() {
  static const Catalog catalog = load_catalog({});
  return catalog;
}
const std::vector<MeasuredRow>& measured() {
  static const std::vector<MeasuredRow> all = [] {
    std::vector<MeasuredRow> rows;
    for (const char* name : {"inference.csv", "cpu_slices.csv"}) {
      const std::string path = std::string(GPUPLAN_SOURCE_DIR) + "/data/measured/" + name;
      const auto more = read_measured(read_text_file(path), path);
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
  }();
  return all;
}
const ValidationResult& validated() {
  static const ValidationResult result = validate_rows(built_in(), measured());
  return result;
}

MeasuredRow closed_loop(double concurrency) {
  MeasuredRow row;
  row.id = "r";
  row.source = "s";
  row.engine = "vllm";
  row.model = "llama-3.1-8b";
  row.accelerator = "H100-SXM5-80GB";
  row.weights = "bf16";
  row.mode = MeasuredMode::concurrency;
  row.metric = Metric::tpot_s;
  row.input = 1024;
  row.output = 256;
  row.concurrency = concurrency;
  row.value = 0.01;
  return row;
}

std::variant<RowWork, Skipped> work_of(const MeasuredRow& row) {
  static const Ceilings ceilings(built_in());
  static RowReader reader(built_in(), ceilings);
  return reader.work_of(row);
}

std::string reason(const MeasuredRow& row) {
  const auto work = work_of(row);
  return std::holds_alternative<Skipped>(work) ? std::get<Skipped>(work).reason : "";
}

}  // namespace

TEST_CASE("validation: every shipped row is predicted, finite and positive", "[validation]") {
  CHECK(measured().size() == 3713 + 1199);
  CHECK(validated().skipped.empty());
  for (const Prediction& p : validated().predictions) {
    CAPTURE(p.id);
    CHECK((std::isfinite(p.predicted) && p.predicted > 0));
  }
}

// Medians and 90th percentiles that the fit reached, with a margin of a tenth and two hundredths: what makes predictions worse
// than this must say why.
TEST_CASE("validation: errors stay within what calibration reached", "[validation]") {
  struct Row {
    Regime regime;
    double median, p90;
  };
  for (const Row& row :
       {Row{Regime::prefill, 0.16, 0.60}, Row{Regime::decode, 0.13, 0.38}, Row{Regime::prefill_loaded, 0.29, 1.95},
        Row{Regime::decode_loaded, 0.22, 0.58}, Row{Regime::throughput, 0.12, 0.37}}) {
    const ErrorSummary s = summarize(of_regime(validated().predictions, row.regime));
    CAPTURE(to_string(row.regime), s.rows, s.median_abs_error, s.p90_abs_error);
    CHECK(s.rows > 0);
    CHECK(s.median_abs_error <= row.median);
    CHECK(s.p90_abs_error <= row.p90);
  }
}

TEST_CASE("validation: intervals of 80 % hold at least 70 % of the rows, since they rest on rows left out",
          "[validation]") {
  for (const Regime regime :
       {Regime::prefill, Regime::decode, Regime::prefill_loaded, Regime::decode_loaded, Regime::throughput}) {
    double inside = 0;
    double all = 0;
    static const Ceilings ceilings(built_in());
    static RowReader reader(built_in(), ceilings);
    for (const MeasuredRow& row : measured()) {
      const auto work = std::get<RowWork>(reader.work_of(row));
      if (work.regime != regime) continue;
      const double ratio = predict(work, constants_of(*work.engine)).time_ratio();
      for (const EngineInterval& interval : work.engine->intervals) {
        if (interval.regime != to_string(regime)) continue;
        all += 1;
        if (*interval.low <= ratio && ratio <= *interval.high) inside += 1;
      }
    }
    CAPTURE(to_string(regime), inside, all);
    CHECK(all > 0);
    CHECK(inside / all >= 0.70);
    CHECK(inside / all <= 0.97);
  }
}

TEST_CASE("validation: modes decide how many requests run", "[validation]") {
  MeasuredRow row = closed_loop(8);
  CHECK(std::get<RowWork>(work_of(row)).work.running == 8);
  row.dp = 2;
  CHECK(std::get<RowWork>(work_of(row)).work.running == 4);
  CHECK(std::get<RowWork>(work_of(row)).replicas == 2);
  row.dp = 1;
  row.mode = MeasuredMode::single;
  CHECK(std::get<RowWork>(work_of(row)).work.running == 1);
  CHECK(std::get<RowWork>(work_of(row)).regime == Regime::decode);
  row.mode = MeasuredMode::static_batch;
  row.batch = 32;
  CHECK(std::get<RowWork>(work_of(row)).work.running == 32);
  row.mode = MeasuredMode::offline;
  CHECK(std::get<RowWork>(work_of(row)).work.running > 32);
  row.requests = 50;
  CHECK(std::get<RowWork>(work_of(row)).work.running == 50);
}

TEST_CASE("validation: an arrival rate keeps rate times latency requests in flight", "[validation]") {
  MeasuredRow row = closed_loop(1);
  row.mode = MeasuredMode::open_loop;
  row.request_rate = 4;
  const auto work = std::get<RowWork>(work_of(row));
  const EngineConstants constants = constants_of(*work.engine);
  const auto joined = join_phases(work.work, phase_seconds(work.work, constants), constants, nullptr);
  CHECK(work.work.in_flight == Approx(4 * joined.e2e(256)).epsilon(0.02));
  CHECK(work.backlog == 0);

  row.request_rate = 1e6;
  row.requests = 1000;
  const auto flooded = std::get<RowWork>(work_of(row));
  CHECK(flooded.work.in_flight > work.work.in_flight);
  CHECK(flooded.backlog > 0);
}

TEST_CASE("validation: requests that memory does not hold queue", "[validation]") {
  MeasuredRow row = closed_loop(512);
  row.model = "qwen3-32b";
  row.input = 4096;
  row.metric = Metric::ttft_s;
  const auto work = std::get<RowWork>(work_of(row)).work;
  CHECK(work.in_flight == 512);
  CHECK(work.running < 64);
  CHECK(work.running >= 1);
}

TEST_CASE("validation: rows that cannot be predicted say why", "[validation]") {
  MeasuredRow row = closed_loop(8);
  CHECK(reason(row).empty());
  row.model = "no such model";
  CHECK(reason(row) == "model.unknown");
  row = closed_loop(8);
  row.accelerator = "no such device";
  CHECK(reason(row) == "accelerator.unknown");
  row = closed_loop(8);
  row.engine = "no such engine";
  CHECK(reason(row) == "engine.unknown");
  row = closed_loop(8);
  row.weights = "gguf:Q4_K_M";
  CHECK(reason(row).empty());
  row.weights = "zip";
  CHECK(reason(row) == "format.unknown");
  row = closed_loop(8);
  row.kv = "odd";
  CHECK(reason(row) == "kv_format.unknown");
  row = closed_loop(8);
  row.concurrency.reset();
  CHECK(reason(row) == "load.unknown");
  row = closed_loop(8);
  row.metric = Metric::other;
  CHECK(reason(row) == "metric.not_modelled");
}

TEST_CASE("validation: a share of a CPU runs what the engine is on CPUs", "[validation]") {
  MeasuredRow row = closed_loop(1);
  row.engine = "llama.cpp";
  row.accelerator = "EPYC-9654";
  row.weights = "gguf:Q4_K_M";
  row.mode = MeasuredMode::single;
  row.metric = Metric::decode_tokens_per_s;
  row.variant = "read_gbs=38.9;threads=8;threads_per_core=2;vcpu=16";
  const auto work = std::get<RowWork>(work_of(row));
  CHECK(work.engine->name == "llama.cpp-cpu");
  CHECK(work.on_cpu);
  // 4.9 GB of weights in Q4_K_M at 38.9 GB/s: 8 tokens/s at best.
  const double rate = predicted_value(work, constants_of(*work.engine));
  CHECK(rate > 4);
  CHECK(rate < 38.9 / 4.6);
}

TEST_CASE("validation: a static batch is prefilled together and decodes undisturbed", "[validation]") {
  MeasuredRow row = closed_loop(1);
  row.mode = MeasuredMode::static_batch;
  row.batch = 16;
  row.metric = Metric::itl_s;
  auto work = std::get<RowWork>(work_of(row));
  const EngineConstants constants = constants_of(*work.engine);
  const PhaseSeconds phases = phase_seconds(work.work, constants);
  CHECK(predicted_value(work, constants) == phases.decode);
  row.metric = Metric::ttft_s;
  work = std::get<RowWork>(work_of(row));
  CHECK(predicted_value(work, constants) == Approx(constants.request + 16 * phases.prompts / work.work.batched));
}

TEST_CASE("validation: a release is looked up before its engine", "[validation]") {
  MeasuredRow row = closed_loop(8);
  CHECK(std::get<RowWork>(work_of(row)).engine->name == "vllm");
  row.engine_version = "0.7.3";
  CHECK(std::get<RowWork>(work_of(row)).engine->name == "vllm-v0");
  row.engine_version = "0.12.0";
  CHECK(std::get<RowWork>(work_of(row)).engine->name == "vllm");
}

TEST_CASE("validation: a kernel that multiplies row by row is looked up, and reads the weights again", "[validation]") {
  MeasuredRow row = closed_loop(1);
  row.engine = "autoawq";
  row.weights = "int4-awq-g128";
  row.mode = MeasuredMode::single;
  row.metric = Metric::ttft_s;
  row.input = 512;
  const auto together = std::get<RowWork>(work_of(row));
  row.variant = "kernel=gemv";
  const auto by_row = std::get<RowWork>(work_of(row));
  CHECK(together.engine->name == "autoawq");
  CHECK(by_row.engine->name == "autoawq-gemv");
  // 512 rows, four of which share a read: the weights are read 128 times instead of once.
  const auto weights_of = [](const RowWork& work, double times) {
    double more = 0;
    for (const OperatorWork& w : work.work.prompt.operators) {
      if (w.op.weight_only && w.op.rows == 512) more += w.op.count * w.op.weights.base() * times;
    }
    return more;
  };
  const auto bytes_of = [](const RowWork& work) {
    double sum = 0;
    for (const OperatorWork& w : work.work.prompt.operators) sum += w.op.count * w.op.bytes.base();
    return sum;
  };
  CHECK(weights_of(by_row, 1) > 3e9);  // of an 8B model in 4 bit
  CHECK(bytes_of(by_row) - bytes_of(together) == Approx(weights_of(by_row, 127)));
}

TEST_CASE("calibration: constants are found again from rows they made", "[validation]") {
  static const Ceilings ceilings(built_in());
  static RowReader reader(built_in(), ceilings);
  EngineConstants truth{0.8, 0.6, 0.4, 0.7, 0.1, 4e-6, 8e-6, 40e-6, 20e-3};
  truth.meeting = 2;
  truth.in_step = 0.2;
  std::vector<MeasuredRow> rows;
  for (const char* gpu : {"H100-SXM5-80GB", "A100-SXM4-80GB", "L4", "RTX-A6000"}) {
    for (const double load : {1.0, 4.0, 32.0, 128.0}) {
      for (const Metric metric : {Metric::tpot_s, Metric::ttft_s}) {
        MeasuredRow row = closed_loop(load);
        row.accelerator = gpu;
        row.metric = metric;
        rows.push_back(row);
      }
    }
  }
  std::vector<RowWork> works;
  for (MeasuredRow& row : rows) {
    RowWork work = std::get<RowWork>(reader.work_of(row));
    row.value = predict(work, truth).predicted;
    works.push_back(work);
  }
  const EngineConstants found = fit_constants(reader, works, usual_constants());
  CHECK(found.bandwidth == Approx(truth.bandwidth).epsilon(0.1));
  CHECK(found.compute == Approx(truth.compute).epsilon(0.15));
  for (const RowWork& work : works) CHECK(predict(work, found).abs_error() < 0.12);
}

TEST_CASE("calibration: only fitted lines and intervals of the engines' file change", "[validation]") {
  const std::string before =
      "engines:\n  - name: a\n    title: A\n    overlap: 0.5\n    launch_us: 3\n    intervals:\n      - {regime: "
      "decode, low: 0.5, high: 2}\n"
      "    notes: \"overlap: no\"\n\n  - name: b\n    overlap: 0.5\n";
  Calibration calibration;
  CalibratedEngine engine;
  engine.name = "a";
  engine.constants.overlap = 0.25;
  engine.constants.launch = 4.5e-6;
  engine.intervals = {{Regime::prefill, {0.75, 1.5}, 30, 2, false}, {Regime::decode, {0.8, 1.25}, 40, 3, false}};
  calibration.engines = {engine};
  const std::string after = with_calibration(before, calibration);
  CHECK(after ==
        "engines:\n  - name: a\n    title: A\n    overlap: 0.25\n    launch_us: 4.5\n    intervals:\n"
        "      - {regime: prefill, low: 0.75, high: 1.5, rows: 30, sources: 2}\n      - {regime: decode, low: 0.8, "
        "high: 1.25, rows: 40, sources: 3}\n"
        "    notes: \"overlap: no\"\n\n  - name: b\n    overlap: 0.5\n");
  CHECK(with_calibration(after, calibration) == after);
}

// The search ends where the arithmetic of the compiler leads it; `fit --check` compares to the last digit. It is the one case that takes a
// minute of arithmetic, ten under the sanitizers, which see the same code in the cases above.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("calibration: the shipped constants and intervals are what the shipped rows give", "[validation][slow]") {
  const Calibration calibration = calibrate(built_in(), measured());
  for (const CalibratedEngine& fitted : calibration.engines) {
    CAPTURE(fitted.name);
    const Engine& engine = *built_in().find_engine(fitted.name);
    const EngineConstants shipped = constants_of(engine);
    CHECK(fitted.constants.compute == Approx(shipped.compute).epsilon(0.05));
    CHECK(fitted.constants.bandwidth == Approx(shipped.bandwidth).epsilon(0.05));
    CHECK(fitted.constants.attention == Approx(shipped.attention).epsilon(0.1));
    CHECK(fitted.constants.launch == Approx(shipped.launch).epsilon(0.1));
    REQUIRE(fitted.intervals.size() == engine.intervals.size());
    for (std::size_t i = 0; i < fitted.intervals.size(); ++i) {
      CHECK(to_string(fitted.intervals[i].regime) == engine.intervals[i].regime);
      CHECK(fitted.intervals[i].factors.low == Approx(*engine.intervals[i].low).epsilon(0.05));
      CHECK(fitted.intervals[i].factors.high == Approx(*engine.intervals[i].high).epsilon(0.05));
      CHECK(fitted.intervals[i].rows == *engine.intervals[i].rows);
    }
  }
}
#endif
