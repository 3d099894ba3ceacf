#include "flags.hpp"

#include "flag_values.hpp"

namespace gpuplan::cli {
namespace {

// Headings of help, in the order of the table.
constexpr std::string_view kJob = "the job";
constexpr std::string_view kResidency = "what is in host memory, and what is beside the model";
constexpr std::string_view kLoad = "the load of a serving job";
constexpr std::string_view kTraining = "a training job";
constexpr std::string_view kParts = "a network that does not generate token by token";
constexpr std::string_view kChoice = "what may be used";
constexpr std::string_view kAnswer = "the answer";
constexpr std::string_view kFiles = "files";
constexpr std::string_view kProgram = "the program";

constexpr Flag kFlags[] = {
    {"model", 0, "NAME", "the model: a name or alias (see 'gpuplan models'), a config.json, a folder with one, or -",
     "", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { said(o.job.model, v); });
     }},
    {"job", 0, "KIND", "what is to be done: serve, batch, pretrain, full, lora, qlora; of other networks generate, embed, recommend", "as the network", true, kJob,
     [](Options& o, std::string_view t) { return take(parse_job_type(t), [&](JobType v) { said(o.job.type, v); }); }},
    {"dtype", 0, "FORMAT", "how weights are stored: bf16, fp16, fp8, int8, int4, nf4, mxfp4, …", "the model's own",
     true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { said(o.job.dtype, v); });
     }},
    {"kv-dtype", 0, "FORMAT", "how keys and values are stored: bf16, fp8, int8, …; q8_0/q4_0: keys apart from values", "bf16", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { said(o.job.kv_dtype, v); });
     }},
    {"context", 0, "TOKENS", "positions that a request may come to hold (8k is 8,000)",
     "4096, or input + output if that is more; of a batch job input + output", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { said(o.job.context, v); });
     }},
    {"input", 0, "TOKENS", "prompt of a request", "1024", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { said(o.job.input, v); });
     }},
    {"output", 0, "TOKENS", "tokens that a request generates", "256", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { said(o.job.output, v); });
     }},
    {"concurrency", 0, "N",
     "requests in flight that must be carried; times are given at this load, else at all that fit", "1", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { said(o.job.concurrency, v); });
     }},
    {"engine", 0, "NAME", "the inference engine", "vllm", true, kJob,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { said(o.job.engine, v); });
     }},
    {"hours", 0, "WHEN", "a service that is on for part of the week: 'Mon-Fri 8-20', 'daily 22-6'", "always", true, kJob,
     [](Options& o, std::string_view t) { return take(parse_duty(t), [&](Duty v) { o.duty = std::move(v); }); }},
    {"gpu-layers", 0, "N", "layers on the devices; the first ones and the cache of theirs stay in host memory", "all", true, kResidency,
     [](Options& o, std::string_view t) {
       return take(parse_count_or_zero(t), [&](std::int64_t v) { of_residency(o, "gpu-layers").device_layers = v; });
     }},
    {"cpu-moe", 0, "N", "the experts of the first N layers stay in host memory", "0", true, kResidency,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_residency(o, "cpu-moe").host_expert_layers = v; });
     }},
    {"kv-on-host", 0, "YES|NO", "the whole cache stays in host memory", "no", true, kResidency,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_residency(o, "kv-on-host").kv_on_host = v; });
     }},
    {"draft", 0, "MODEL", "a small model that proposes tokens, on the same devices", "", true, kResidency,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { of_residency(o, "draft").draft = v; });
     }},
    {"beside", 0, "MODEL[,…]", "other models on the same devices, each with one sequence of the context", "", true, kResidency,
     [](Options& o, std::string_view t) { return take_list(t, of_residency(o, "beside").beside); }, true},
    {"adapters", 0, "N", "LoRA adapters that are loaded at once", "0", true, kResidency,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_residency(o, "adapters").adapters = v; });
     }},
    {"adapter-rank", 0, "N", "the largest rank of theirs", "16", true, kResidency,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_residency(o, "adapter-rank").adapter_rank = v; });
     }},
    {"request-rate", 0, "N", "requests a second that arrive by themselves, of all replicas, in place of --concurrency", "", true, kLoad,
     take_request_rate},
    {"users", 0, "N", "people or programs who ask, read and ask again, in place of --concurrency", "", true, kLoad,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_load(o, "users").users = v; });
     }},
    {"use-case", 0, "NAME", "what they do: chat, rag, code, agent, summarize, batch; gives lengths, pauses and targets", "", true, kLoad,
     [](Options& o, std::string_view t) { return take_text(t, of_load(o, "use-case").use_case); }},
    {"active-share", 0, "SHARE", "of the users, who are at work in the busiest minutes", "the use case's, else 1", true, kLoad,
     [](Options& o, std::string_view t) { return take_choice(parse_share(t), of_load(o, "active-share").active_share); }},
    {"think", 0, "TIME", "from the end of an answer to the same user's next request: 30s", "the use case's, else none", true, kLoad,
     [](Options& o, std::string_view t) { return take_choice(parse_duration(t), of_load(o, "think").think); }},
    {"ttft", 0, "TIME", "target: the mean time to the first token, queue included: 2s", "the use case's, else none", true, kLoad,
     [](Options& o, std::string_view t) { return take_choice(parse_duration(t), of_load(o, "ttft").targets.ttft); }},
    {"tpot", 0, "TIME", "target: the mean time of each further token: 50ms", "the use case's, else none", true, kLoad,
     [](Options& o, std::string_view t) { return take_choice(parse_duration(t), of_load(o, "tpot").targets.tpot); }},
    {"e2e", 0, "TIME", "target: the mean time of a whole request: 20s", "the use case's, else none", true, kLoad,
     [](Options& o, std::string_view t) { return take_choice(parse_duration(t), of_load(o, "e2e").targets.e2e); }},
    {"n+1", 0, "", "one replica more: if one fails, the others carry the load within the targets", "", true, kLoad,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_load(o, "n+1").spare_replica = v; });
     }},
    {"prefix-hit", 0, "SHARE", "of the prompt, that an earlier request left in the cache; services sell it cheaper: 50%", "the use case's, else 0", true, kLoad,
     [](Options& o, std::string_view t) { return take_choice(parse_share(t), of_load(o, "prefix-hit").prefix_hit); }},
    {"draft-tokens", 0, "K", "tokens guessed a step and checked together, by --draft or at no cost", "0", true, kLoad,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_load(o, "draft-tokens").draft_tokens = static_cast<double>(v); });
     }},
    {"acceptance", 0, "SHARE", "of the guesses, that are right", "", true, kLoad,
     [](Options& o, std::string_view t) {
       return take(parse_share(t), [&](double v) { of_load(o, "acceptance").acceptance = v; });
     }},
    {"train", 0, "METHOD", "a training job: pretrain, full, lora, qlora, dora, qdora", "", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_training_method(t), [&](TrainingMethod v) { o.train = v; });
     }},
    {"seq", 0, "TOKENS", "length of the training sequences", "4096", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "seq").sequence = v; });
     }},
    {"micro-batch", 0, "N", "sequences a device works on at once", "1", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "micro-batch").micro_batch = v; });
     }},
    {"grad-accum", 0, "N", "micro-batches a step and replica", "1", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "grad-accum").grad_accum = v; });
     }},
    {"global-batch", 0, "N", "sequences an optimizer step takes, of all devices", "4M tokens when pretraining, else 64", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) {
         of_training(o, "global-batch");
         o.global_batch = v;
       });
     }},
    {"deadline", 0, "TIME", "the job is done within: 36h, 30d", "", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_duration(t), [&](Seconds v) {
         of_training(o, "deadline");
         o.deadline = v;
       });
     }},
    {"by", 0, "DATE", "the job is done by: 2026-12-24 or 2026-12-24T09:00, counted from --as-of", "", true, kTraining,
     [](Options& o, std::string_view t) {
       of_training(o, "by");
       return take_text(t, o.by);
     }},
    {"budget", 0, "MONEY", "the job costs no more than: 3000, or 3000 USD", "", true, kTraining,
     [](Options& o, std::string_view t) {
       of_training(o, "budget");
       return take_text(t, o.budget);
     }},
    {"optimizer", 0, "NAME", "adamw, adamw-8bit, adamw-paged, adamw-8bit-paged, adafactor, lion, lion-8bit, sgd, sgd-momentum, muon", "adamw", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_optimizer(t), [&](Optimizer v) { of_training(o, "optimizer").optimizer = std::move(v); });
     }},
    {"precision", 0, "NAME", "fp32, bf16-mixed, fp16-mixed, bf16 (all in 16 bit), fp8", "bf16-mixed", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_training_precision(t), [&](TrainingPrecision v) { of_training(o, "precision").precision = std::move(v); });
     }},
    {"zero", 0, "STAGE", "what data-parallel devices divide: 0, 1, 2, 3, fsdp, fsdp-grad, hsdp", "as the framework, else fsdp", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_state_sharding(t), [&](StateSharding v) { of_training(o, "zero").sharding = std::move(v); });
     }},
    {"recompute", 0, "WHAT", "what the backward pass computes again: none, selective (attention scores), full", "as the framework does", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_recompute(t), [&](Recompute v) { of_training(o, "recompute").recompute = std::move(v); });
     }},
    {"lora-rank", 0, "N", "rank of the adapters", "16", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "lora-rank").lora_rank = v; });
     }},
    {"lora-targets", 0, "NAME[,…]", "products with adapters: q, k, v, o, gate, up, down, experts, head, attention, mlp, all", "all", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_lora_targets(t), [&](std::vector<LoraTarget> v) { of_training(o, "lora-targets").lora_targets = std::move(v); });
     }},
    {"tp", 0, "N", "tensor-parallel devices", "1", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "tp").tp = v; });
     }},
    {"pp", 0, "N", "pipeline stages", "1", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "pp").pp = v; });
     }},
    {"vpp", 0, "N", "chunks a pipeline stage has in the interleaved schedule", "1, which is 1F1B", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "vpp").vpp = v; });
     }},
    {"cp", 0, "N", "context-parallel devices, which divide each sequence", "1", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "cp").cp = v; });
     }},
    {"ep", 0, "N", "devices that the experts are divided among", "1", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "ep").ep = v; });
     }},
    {"sequence-parallel", 0, "YES|NO", "tensor-parallel devices divide norms and residuals too", "no", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_training(o, "sequence-parallel").sequence_parallel = std::move(v); });
     }},
    {"flash-attention", 0, "YES|NO", "attention without stored scores", "yes", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) {
         of_training(o, "flash-attention").flash_attention = v;
         o.job.parts.flash_attention = v;
       });
     }},
    {"cross-entropy", 0, "HOW", "how the loss is computed: plain, chunked, fused", "as the framework does", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_cross_entropy(t), [&](CrossEntropy v) { of_training(o, "cross-entropy").cross_entropy = std::move(v); });
     }},
    {"offload", 0, "WHAT", "what lives in host memory or on NVMe: none, optimizer, all; of a pipeline: none, model (one component at a time), sequential (one module)", "none", true, kTraining,
     [](Options& o, std::string_view t) { return take_offload(o, t); }},
    {"activation-offload", 0, "YES|NO", "what the backward pass needs waits in host memory", "no", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_training(o, "activation-offload").activation_offload = v; });
     }},
    {"optimizer-in-backward", 0, "YES|NO", "each tensor is updated as soon as its gradient is there", "no", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_training(o, "optimizer-in-backward").optimizer_in_backward = v; });
     }},
    {"dropout", 0, "YES|NO", "dropout on hidden states and attention", "no", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_training(o, "dropout").dropout = v; });
     }},
    {"expert-tp", 0, "N", "tensor-parallel devices of the experts", "as --tp", true, kTraining,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_training(o, "expert-tp").expert_tp = v; });
     }},
    {"framework", 0, "NAME", "the training framework: pytorch, deepspeed, …; with a release, pytorch==2.6: what must run", "pytorch", true, kTraining,
     [](Options& o, std::string_view t) { return take_framework(o, t); }},
    {"batch", 0, "N", "images, videos, texts or recordings at once; of a batch job, requests in flight on a replica", "1; the best that fits in estimates of jobs that end and of networks without a sampler", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "batch").batch = v; });
     }},
    {"images", 0, "WxH", "size of images or videos in pixels", "the network's own", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_pixel_size(t), [&](PixelSize v) {
         PartsJob& job = of_parts(o, "images");
         job.width = v.width;
         job.height = v.height;
       });
     }},
    {"frames", 0, "N", "frames of a video", "the network's own", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "frames").frames = v; });
     }},
    {"length", 0, "TOKENS", "tokens of each text", "what the denoiser was trained with, else 512", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "length").length = v; });
     }},
    {"steps", 0, "N", "of the sampler, for each image", "50; 28 where guidance is distilled in", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "steps").steps = v; });
     }},
    {"audio", 0, "SECONDS", "length of a recording", "what the network takes at once, else 10", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "audio").audio = static_cast<double>(v); });
     }},
    {"items", 0, "N", "images, videos, documents, samples, hours of sound, or requests of a batch job in all: a job that ends", "", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "items").items = static_cast<double>(v); });
     }},
    {"tokens", 0, "N", "tokens of text in all, in place of --items; that a batch job generates, that a training job trains on", "", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_count(t), [&](std::int64_t v) { of_parts(o, "tokens").tokens = static_cast<double>(v); });
     }},
    {"vae", 0, "HOW", "how the autoencoder works: whole (the batch), sliced (image by image), tiled", "whole", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_vae_mode(t), [&](VaeMode v) { of_parts(o, "vae").vae = v; });
     }},
    {"guidance", 0, "YES|NO", "classifier-free guidance, which doubles the denoiser's batch", "yes, unless it is distilled in", true, kParts,
     [](Options& o, std::string_view t) {
       return take(parse_bool(t), [&](bool v) { of_parts(o, "guidance").guidance = v; });
     }},
    {"gpu", 0, "NAME[,…]", "only these accelerators; a family's name selects all its members", "", true, kChoice,
     [](Options& o, std::string_view t) { return take_gpus(t, o.gpus); }, true},
    {"count", 0, "N", "exactly so many accelerators in all", "", true, kChoice,
     [](Options& o, std::string_view t) { return take(parse_count(t), [&](std::int64_t v) { o.count = v; }); }},
    {"offer", 0, "ID", "this offer alone", "", true, kChoice,
     [](Options& o, std::string_view t) { return take_text(t, o.offer); }},
    {"node", 0, "NAME", "a node design of the catalogue", "the smallest that holds --count, else the largest", true,
     kChoice, [](Options& o, std::string_view t) { return take_text(t, o.node); }},
    {"oversubscription", 0, "FACTOR", "by how much the network above the first switches is thinner", "1", true, kChoice,
     [](Options& o, std::string_view t) {
       return take(parse_number(t), [&](double v) { o.oversubscription = v; });
     }},
    {"provider", 0, "NAME[,…]", "only these providers", "", true, kChoice,
     [](Options& o, std::string_view t) { return take_list(t, o.providers); }, true},
    {"contract", 0, "KIND[,…]", "only these kinds: on_demand, spot, reserved, dedicated, cluster, managed, serverless, owned",
     "", true, kChoice, [](Options& o, std::string_view t) { return take_contracts(t, o.contracts); }, true},
    {"owned", 0, "CODE", "machines that are bought take part too, standing in this country, two letters", "", true, kChoice,
     [](Options& o, std::string_view t) { return take_country(t, o.owned.country); }},
    {"power-price", 0, "MONEY", "of a kWh for them, in the answer's currency", "the country's", true, kChoice,
     [](Options& o, std::string_view t) {
       return take(parse_non_negative(t), [&](double v) { o.owned.power_price = v; });
     }},
    {"pue", 0, "FACTOR", "energy of the building over that of its machines", "the country's, else the world's", true, kChoice,
     [](Options& o, std::string_view t) { return take(parse_positive(t), [&](double v) { o.owned.pue = v; }); }},
    {"staff", 0, "MONEY", "a year for each machine, in the answer's currency", "the catalogue's", true, kChoice,
     [](Options& o, std::string_view t) {
       return take(parse_non_negative(t), [&](double v) { o.owned.staff = v; });
     }},
    {"years", 0, "N", "over which a machine is written off", "the catalogue's", true, kChoice,
     [](Options& o, std::string_view t) { return take(parse_positive(t), [&](double v) { o.owned.years = v; }); }},
    {"capital", 0, "PERCENT", "interest a year on the money that is bound in a machine", "0", true, kChoice,
     [](Options& o, std::string_view t) {
       return take(parse_non_negative(t), [&](double v) { o.owned.capital = v; });
     }},
    {"region", 0, "TEXT", "only regions whose name holds this", "", true, kChoice,
     [](Options& o, std::string_view t) { return take_text(t, o.region); }},
    {"country", 0, "CODE", "only offers in this country, two letters", "", true, kChoice,
     [](Options& o, std::string_view t) { return take_country(t, o.country); }},
    {"max-age", 0, "TIME", "leave out prices that are older, or of no known day: 90d", "", true, kChoice,
     [](Options& o, std::string_view t) { return take(parse_duration(t), [&](Seconds v) { o.max_age = v; }); }},
    {"min-quality", 0, "PERCENT",
     "no format of weights that keeps less of the original's quality, or of which nobody knows: 99%", "", true, kChoice,
     [](Options& o, std::string_view t) { return take(parse_share(t), [&](double v) {
         o.said_of_load.emplace_back("min-quality");
         o.min_quality = v;
       }); }},
    {"currency", 0, "CODE", "currency of the answer", "USD", true, kAnswer,
     [](Options& o, std::string_view t) { return take_text(t, o.currency); }},
    {"vat", 0, "HOW", "compare prices without VAT, with the provider's, or with a rate: exclude, include, 22%", "exclude", true, kAnswer,
     [](Options& o, std::string_view t) { return take_vat(t, o.vat); }},
    {"rate", 0, "RATE", "an exchange rate of your own, RUB=84.34@2026-09-26: units for one dollar; may be repeated",
     "the catalogue's", true, kAnswer,
     [](Options& o, std::string_view t) {
       // A number alone is the other kind of rate.
       return parse_positive(t).value ? take_request_rate(o, t) : take_rate(t, o.rates);
     },
     true},
    {"as-of", 0, "DATE", "the day from which ages are counted", "today", true, kAnswer,
     [](Options& o, std::string_view t) { return take(parse_date(t), [&](Date v) { o.as_of = v; }); }},
    {"sort", 0, "BY", "order of options: cost (of a month), time (of a request), pareto; of offers: price",
     "cost; offers by class, then price", true, kAnswer,
     [](Options& o, std::string_view t) {
       return take(parse_sort(t), [&](SortBy v) {
         o.sort = v;
         o.sort_is_default = false;
       });
     }},
    {"top", 0, "N", "show so many options or rows; 0: all",
     "10 options, the best of each provider; all in lists, JSON and CSV", true, kAnswer,
     [](Options& o, std::string_view t) { return take(parse_count_or_zero(t), [&](std::int64_t v) { o.top = v; }); }},
    {"format", 0, "FORMAT", "table, json, csv, markdown or html; of a roofline also svg", "table", true, kAnswer,
     [](Options& o, std::string_view t) { return take(one_of(t, kFormats), [&](Format v) { o.format = v; }); }},
    {"explain", 0, "", "show each term of the first option with its formula, inputs and sources", "", true, kAnswer,
     [](Options& o, std::string_view t) { return take(parse_bool(t), [&](bool v) { o.explain = v; }); }},
    {"assert", 0, "EXPR", "exit with 4 unless this holds, e.g. 'best.cost.per_hour<=10'; may be repeated", "", true,
     kAnswer,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { o.assertions.push_back(v); });
     },
     true},
    {"fit", 0, "WHAT", "ask the other way round: max-context, max-concurrency, best-dtype, fewest-gpus", "", true, kAnswer,
     [](Options& o, std::string_view t) {
       return take(parse_fit_question(t), [&](FitQuestion v) { o.fit = v; });
     }},
    {"solve", 0, "WHAT", "what --gpu and --count carry: users, requests-per-second, context", "", true, kAnswer,
     [](Options& o, std::string_view t) {
       of_load(o, "solve");
       return take(parse_load_question(t), [&](LoadQuestion v) { o.solve = v; });
     }},
    {"metric", 0, "NAME[,…]", "only rows of these metrics: kv_tokens, peak_bytes_per_device, ttft_s, …", "all", true,
     kAnswer, [](Options& o, std::string_view t) { return take_list(t, o.metrics); }, true},
    {"group-by", 0, "KEY[,…]", "a line of the table for each metric, mode, engine, source, task, model, accelerator",
     "metric", true, kAnswer, [](Options& o, std::string_view t) { return take_list(t, o.group_by); }, true},
    {"log", 0, "FILE", "what an engine printed at start-up (- is standard input), instead of measurements", "", true,
     kFiles, [](Options& o, std::string_view t) { return take_text(t, o.log_file); }},
    {"layer", 0, "FILE", "the file of facts that is written", "calibration.yaml among your own layers", true, kFiles,
     [](Options& o, std::string_view t) { return take_text(t, o.layer); }},
    {"catalog", 0, "FILE", "facts of your own, layered over the built-in ones; may be repeated", "", false, kFiles,
     [](Options& o, std::string_view t) {
       return take(parse_text(t), [&](const std::string& v) { o.catalogs.push_back(v); });
     },
     true},
    {"store", 0, "FILE", "the store of imported prices", "prices.db in $XDG_DATA_HOME/gpuplan", false, kFiles,
     [](Options& o, std::string_view t) { return take_text(t, o.store); }},
    {"no-store", 0, "", "leave out imported prices", "", false, kFiles,
     [](Options& o, std::string_view t) { return take(parse_bool(t), [&](bool v) { o.no_store = v; }); }},
    {"as", 0, "NAME", "what the imported list is called: a new import of the same name takes the place of the old",
     "the format, with the provider where the format has one a list", false, kFiles,
     [](Options& o, std::string_view t) { return take_text(t, o.import_as); }},
    {"keep", 0, "N", "so many of the newest imports of each list stay", "", false, kFiles,
     [](Options& o, std::string_view t) { return take(parse_count(t), [&](std::int64_t v) { o.keep = v; }); }},
    {"file", 'f', "FILE", "read flags from a job file (YAML or JSON; keys are the flags' names; - is standard input)",
     "", false, kFiles, [](Options& o, std::string_view t) { return take_text(t, o.job_file); }},
    {"output-file", 'o', "FILE", "write the result there instead of standard output", "", false, kFiles,
     [](Options& o, std::string_view t) { return take_text(t, o.output_file); }},
    {"man", 0, "", "print the manual page", "", false, kProgram,
     [](Options& o, std::string_view) {
       o.man = true;
       return Taken{};
     }},
    {"help", 'h', "", "print this help", "", false, kProgram,
     [](Options& o, std::string_view) {
       o.help = true;
       return Taken{};
     }},
};

}  // namespace

std::span<const Flag> flags() { return kFlags; }

const Flag* find_flag(std::string_view name) {
  for (const Flag& flag : kFlags) {
    if (flag.name == name || (name.size() == 1 && flag.letter == name.front())) return &flag;
  }
  return nullptr;
}

}  // namespace gpuplan::cli
