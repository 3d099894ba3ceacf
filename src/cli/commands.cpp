#include "commands.hpp"

#include <array>

namespace gpuplan::cli {
namespace {

constexpr std::string_view kEstimateFlags[] = {"model",
                                               "job",
                                               "train",
                                               "tokens",
                                               "seq",
                                               "global-batch",
                                               "deadline",
                                               "by",
                                               "budget",
                                               "micro-batch",
                                               "grad-accum",
                                               "optimizer",
                                               "precision",
                                               "zero",
                                               "recompute",
                                               "lora-rank",
                                               "lora-targets",
                                               "tp",
                                               "pp",
                                               "vpp",
                                               "cp",
                                               "ep",
                                               "sequence-parallel",
                                               "flash-attention",
                                               "cross-entropy",
                                               "offload",
                                               "activation-offload",
                                               "optimizer-in-backward",
                                               "dropout",
                                               "expert-tp",
                                               "framework",
                                               "dtype",
                                               "kv-dtype",
                                               "context",
                                               "input",
                                               "output",
                                               "concurrency",
                                               "request-rate",
                                               "users",
                                               "use-case",
                                               "active-share",
                                               "think",
                                               "ttft",
                                               "tpot",
                                               "e2e",
                                               "n+1",
                                               "prefix-hit",
                                               "draft",
                                               "draft-tokens",
                                               "acceptance",
                                               "hours",
                                               "engine",
                                               "batch",
                                               "images",
                                               "frames",
                                               "length",
                                               "steps",
                                               "audio",
                                               "items",
                                               "vae",
                                               "guidance",
                                               "gpu",
                                               "count",
                                               "provider",
                                               "contract",
                                               "owned",
                                               "power-price",
                                               "pue",
                                               "staff",
                                               "years",
                                               "capital",
                                               "region",
                                               "country",
                                               "max-age",
                                               "min-quality",
                                               "currency",
                                               "vat",
                                               "rate",
                                               "as-of",
                                               "sort",
                                               "solve",
                                               "top",
                                               "format",
                                               "explain",
                                               "assert",
                                               "file",
                                               "output-file",
                                               "catalog",
                                               "store",
                                               "no-store",
                                               "help"};
// As those of `estimate`, but for what is about ranked options alone; and the offer that is asked about.
constexpr bool is_of_ranking(std::string_view flag) { return flag == "top" || flag == "explain" || flag == "assert"; }
constexpr auto kWhyFlags = [] {
  std::array<std::string_view, std::size(kEstimateFlags) - 2> flags{};
  std::size_t next = 0;
  for (const std::string_view flag : kEstimateFlags) {
    if (!is_of_ranking(flag)) flags[next++] = flag;
  }
  flags[next] = "offer";
  return flags;
}();
constexpr std::string_view kMemoryFlags[] = {"model",
                                             "job",
                                             "gpu-layers",
                                             "cpu-moe",
                                             "kv-on-host",
                                             "draft",
                                             "beside",
                                             "adapters",
                                             "adapter-rank",
                                             "train",
                                             "seq",
                                             "micro-batch",
                                             "grad-accum",
                                             "optimizer",
                                             "precision",
                                             "zero",
                                             "recompute",
                                             "lora-rank",
                                             "lora-targets",
                                             "tp",
                                             "pp",
                                             "vpp",
                                             "cp",
                                             "ep",
                                             "sequence-parallel",
                                             "flash-attention",
                                             "cross-entropy",
                                             "offload",
                                             "activation-offload",
                                             "optimizer-in-backward",
                                             "dropout",
                                             "expert-tp",
                                             "framework",
                                             "batch",
                                             "images",
                                             "frames",
                                             "length",
                                             "audio",
                                             "vae",
                                             "guidance",
                                             "dtype",
                                             "kv-dtype",
                                             "context",
                                             "input",
                                             "output",
                                             "concurrency",
                                             "engine",
                                             "gpu",
                                             "count",
                                             "fit",
                                             "top",
                                             "format",
                                             "explain",
                                             "assert",
                                             "file",
                                             "output-file",
                                             "catalog",
                                             "help"};
constexpr std::string_view kGpuFlags[] = {"gpu", "format", "output-file", "catalog", "help"};
constexpr std::string_view kModelFlags[] = {"format", "output-file", "catalog", "help"};
constexpr std::string_view kOfferFlags[] = {
    "framework", "gpu",  "provider", "contract", "region",      "country", "max-age", "currency", "vat", "rate",
    "as-of",     "sort", "top",      "format",   "output-file", "catalog", "store",   "no-store", "help"};
constexpr std::string_view kCompareFlags[] = {
    "model", "dtype", "kv-dtype", "context",  "input",       "output",  "concurrency", "engine",   "framework",
    "gpu",   "count", "provider", "contract", "region",      "country", "max-age",     "currency", "vat",
    "rate",  "as-of", "format",   "assert",   "output-file", "catalog", "store",       "no-store", "help"};
constexpr std::string_view kPricesFlags[] = {"gpu",      "provider", "contract",    "region",  "country",
                                             "currency", "top",      "as",          "keep",    "as-of",
                                             "store",    "format",   "output-file", "catalog", "help"};
constexpr std::string_view kProviderFlags[] = {"provider",    "country", "as-of", "format",
                                               "output-file", "catalog", "help"};
constexpr std::string_view kValidateFlags[] = {"log",  "model",       "dtype",   "kv-dtype", "context", "engine",
                                               "gpu",  "group-by",    "metric",  "top",      "format",  "assert",
                                               "file", "output-file", "catalog", "help"};
constexpr std::string_view kCalibrateFlags[] = {"gpu",   "count",  "node",        "model",   "dtype", "engine",
                                                "layer", "format", "output-file", "catalog", "help"};
constexpr std::string_view kTopologyFlags[] = {"gpu",     "count",  "node",        "oversubscription", "format",
                                               "explain", "assert", "output-file", "catalog",          "help"};
constexpr std::string_view kRooflineFlags[] = {"model",       "dtype",  "kv-dtype",    "context", "input",  "output",
                                               "concurrency", "engine", "gpu",         "count",   "format", "explain",
                                               "assert",      "file",   "output-file", "catalog", "help"};
constexpr std::string_view kHelpFlags[] = {"man", "help"};

constexpr std::string_view kEstimateExamples[] = {
    "gpuplan estimate --model llama-70b --dtype int4",
    "gpuplan estimate --model qwen3-32b --dtype fp8 --concurrency 64 --country RU --currency RUB --vat include",
    "gpuplan estimate --model qwen3-32b --dtype fp8 --users 200 --use-case chat --n+1",
    "gpuplan estimate --model qwen3-32b --dtype fp8 --request-rate 5 --ttft 2s --tpot 50ms",
    "gpuplan estimate --model qwen3-32b --dtype fp8 --use-case rag --solve users --gpu L40S --count 2",
    "gpuplan estimate --model sdxl --images 1024x1024 --steps 30 --batch 4 --gpu RTX4090",
    "gpuplan estimate --model bge-m3 --job embed --tokens 10G",
    "gpuplan estimate --train pretrain --model llama-3.1-8b --tokens 1T --gpu H100 --count 256 --deadline 30d",
    "gpuplan estimate -f examples/chat.yaml --format json --assert 'best.cost.per_hour<=10'"};
constexpr std::string_view kMemoryExamples[] = {
    "gpuplan memory --model llama-70b --dtype int4 --gpu RTX4090 --count 2",
    "gpuplan memory --model deepseek-v3 --gpu H200 --explain",
    "gpuplan memory --model qwen3-32b --dtype fp8 --gpu L40S --fit max-context",
    "gpuplan memory --model qwen3-30b-a3b --engine llama.cpp --cpu-moe 36 --gpu RTX4090",
    "gpuplan memory --model llama-2-7b --train qlora --gpu RTX4090 --seq 2048",
    "gpuplan memory --model sdxl --gpu RTX4090 --batch 4 --images 1024x1024",
    "gpuplan memory --model bert-base-uncased --batch 32 --length 512"};
constexpr std::string_view kGpuExamples[] = {"gpuplan gpus --gpu H100", "gpuplan gpus show L40S"};
constexpr std::string_view kModelExamples[] = {"gpuplan models qwen3", "gpuplan models show llama-70b"};
constexpr std::string_view kOfferExamples[] = {"gpuplan offers --gpu H100 --country RU --currency RUB --vat include"};
constexpr std::string_view kCompareExamples[] = {
    "gpuplan compare selectel hostkey lambda --gpu A100-SXM4-80GB --count 8",
    "gpuplan compare L40S RTX4090 --model qwen3-32b --dtype int4 --format markdown"};
constexpr std::string_view kPricesExamples[] = {"gpuplan prices import csv examples/prices.csv",
                                                "gpuplan prices list --gpu H100", "gpuplan prices history --gpu H100"};
constexpr std::string_view kProviderExamples[] = {"gpuplan providers", "gpuplan providers show selectel"};

constexpr std::string_view kCalibrateExamples[] = {
    "gpuplan calibrate examples/all-reduce.txt --gpu H100-SXM5-80GB --layer /dev/null",
    "gpuplan calibrate examples/llama-bench.md --gpu RTX4090 --model llama-2-7b --layer /dev/null"};
constexpr std::string_view kTopologyExamples[] = {"gpuplan topology --gpu H100-SXM5-80GB --count 16",
                                                  "gpuplan topology --gpu RTX4090 --count 4",
                                                  "gpuplan topology --node dgx-h100 --count 64 --oversubscription 4"};
constexpr std::string_view kRooflineExamples[] = {
    "gpuplan roofline --model llama-70b --dtype int4 --gpu H100-SXM5-80GB",
    "gpuplan roofline --model qwen3-32b --dtype fp8 --gpu L40S --concurrency 16 --format json"};
constexpr std::string_view kValidateExamples[] = {
    "gpuplan validate data/measured/memory.csv --assert 'kv_bytes.mean_abs_error<=0.001'",
    "gpuplan validate data/measured/inference.csv --group-by metric,engine",
    "gpuplan validate --log examples/vllm-start.log --model llama-3.1-8b --dtype bf16 --gpu RTX3090"};

constexpr std::string_view kSupportFlags[] = {"model",  "gpu",  "engine",      "dtype",   "top",
                                              "format", "file", "output-file", "catalog", "help"};
constexpr std::string_view kSupportExamples[] = {"gpuplan support --model llama-3.1-8b --gpu H100-SXM5-80GB",
                                                 "gpuplan support --gpu MI300X --format csv"};

constexpr std::string_view kWhyExamples[] = {
    "gpuplan why --model llama-70b --dtype int4 --gpu RTX4090",
    "gpuplan why --model llama-70b --dtype int4 --offer selectel/a2-x1/on_demand/moscow-ru-7a"};

constexpr Command kCommands[] = {
    {"estimate",
     "what a model needs, which hardware and layout fits, how fast it is and what it costs at each provider",
     "Answers in one sentence, then shows how it comes about: the model's exact weights, memory term by term, times "
     "with 80 % intervals, "
     "and the options of all providers, ranked. Prices are compared without VAT unless asked otherwise. Of a diffusion "
     "pipeline, an encoder, a speech or image network or a recommender: images, documents, tokens, samples or seconds "
     "of "
     "sound a second, what a thousand of them cost, and with --items or --tokens how long the job takes.",
     kEstimateFlags, "", kEstimateExamples, run_estimate},
    {"why", "why offers were left out of an estimate: the rule, its numbers, and the smallest change that would help",
     "Takes the flags of 'estimate'. With --offer one offer: the rule that excludes it, or its rank and what is "
     "better.",
     kWhyFlags, "", kWhyExamples, run_why},
    {"memory", "the footprint of a model on one device of each accelerator, term by term",
     "For each accelerator the smallest number and layout that runs the job, what stays free, and how many requests "
     "fit at once. With --train the job is training or fine-tuning: the fullest phase and pipeline stage, the largest "
     "micro-batch, the longest sequence, and what would make it fit on fewer. Of a diffusion pipeline, an encoder or "
     "any other network: "
     "weights, the fullest operation, and the smallest card that holds them.",
     kMemoryFlags, "", kMemoryExamples, run_memory},
    {"gpus", "list accelerators, or show one with the source of each fact", "", kGpuFlags, "[TEXT | show NAME]",
     kGpuExamples, run_gpus},
    {"models", "list model presets, or show one with its tensors", "", kModelFlags, "[TEXT | show NAME]",
     kModelExamples, run_models},
    {"offers", "list what can be rented, class by class, cheapest GPU hour first, or show one", "", kOfferFlags,
     "[TEXT | show ID]", kOfferExamples, run_offers},
    {"compare", "put providers, accelerators or offers side by side, one line a figure",
     "Each name is a provider, an accelerator or an offer's id. A provider stands for its cheapest offer of --gpu and "
     "--count, "
     "on demand where there is such; an accelerator for the cheapest offer of it. The best value of a line is marked, "
     "others say how far they are from it, and what nobody wrote down is unknown. With --model each is planned for it.",
     kCompareFlags, "NAME NAME…", kCompareExamples, run_compare},
    {"providers", "list providers with the number and age of their offers, or show one", "", kProviderFlags,
     "[TEXT | show NAME]", kProviderExamples, run_providers},
    {"support", "which measurements stand behind estimates of a model, an accelerator or both",
     "Groups of rows of data/measured of one model, accelerator, program, release and format, the nearest first: "
     "'measured' is this model on this accelerator, 'near' the one or the other.",
     kSupportFlags, "", kSupportExamples, run_support},
    {"calibrate", "fit constants to your own measurements, into a layer of facts that all commands then use",
     "Reads results of vLLM's and SGLang's serving benchmarks, llama-bench, genai-perf and nccl-tests, or tables in "
     "the "
     "measurement format (- is standard input). An engine's constants start at the catalogue's and are drawn to them "
     "weakly; a link's are fitted anew where the rows show them. Says how far predictions were off before and after.",
     kCalibrateFlags, "FILE…", kCalibrateExamples, run_calibrate},
    {"topology", "what joins accelerators, and how long collectives over them take",
     "Draws the fabric of a node design and the network between its hosts; times each collective by message size, "
     "names "
     "the cheapest algorithm and gives NCCL's bus bandwidth; and compares the kinds of links that could stand between "
     "the devices.",
     kTopologyFlags, "", kTopologyExamples, run_topology},
    {"roofline", "each operator of prefill and decode against what a device can do",
     "On the smallest number of the accelerator that carries the job: FLOPs, bytes, intensity, time and bound of each "
     "operator, its share of the step, the ridge points and the throughput. With --format svg a plot.",
     kRooflineFlags, "", kRooflineExamples, run_roofline},
    {"validate", "how far predictions are from measured rows, or from what an engine printed at start-up",
     "Reads tables in the measurement format (- is standard input), predicts each scored row that it can and shows the "
     "errors "
     "by group; each source weighs the same in a group, and a row without a prediction counts as an error of 1. With "
     "--log the "
     "memory lines of a start-up log of vLLM, SGLang, TensorRT-LLM or llama.cpp stand beside what is predicted for "
     "them.",
     kValidateFlags, "[FILE…]", kValidateExamples, run_validate},
    {"prices", "import price lists of others, and look at what was imported: list, history, diff, lint",
     "Lists go to a local store, each import a snapshot; the newest of each list takes part in 'offers' and "
     "'estimate'. "
     "'prices formats' names the formats; docs/PRICES.md says what they hold and what is mended on the way in. 'diff A "
     "B' "
     "tells price moves from restatements, 'lint' flags rows that are hard to believe, 'prune --keep N' deletes old "
     "snapshots, 'export' writes the format 'csv'.",
     kPricesFlags, "import FORMAT FILE | list | history | diff A B | lint | …", kPricesExamples, run_prices},
    {"help", "explain a command", "", kHelpFlags, "[COMMAND]", {}, nullptr},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace gpuplan::cli
