#include <gpuplan/model/config.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/network.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {
namespace {

ModelConfig read_text(std::string_view text) {
  return read_model_config(parse_json(text, "config.json", kMaxDocumentNodes, NonFinite::accepted), "config.json");
}

std::string named(const std::string& name, const std::string& more = "") {
  return R"({"architecture": ")" + name + '"' + (more.empty() ? "" : ", " + more) + "}";
}

double giga_multiplications(const Network& network) { return flops_of(network.parts.at(0), 0) / flop(2e9); }

std::string first_of(const ModelConfig& config) {
  return config.not_modelled.empty() ? std::string() : config.not_modelled.front();
}

bool is_refused(const std::string& text) {
  try {
    return read_text(text).network.parts.empty();
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace

// Counts: those that torchvision and timm publish with their weights.
TEST_CASE("vision: a network's name gives its published parameters", "[vision]") {
  struct Row {
    const char* name;
    std::int64_t parameters;
  };
  const auto row = GENERATE(values<Row>({
      {"resnet18", 11689512},
      {"resnet34", 21797672},
      {"resnet50", 25557032},
      {"resnet101", 44549160},
      {"resnet152", 60192808},
      {"vgg11", 132863336},
      {"vgg13", 133047848},
      {"vgg16", 138357544},
      {"vgg19", 143667240},
      {"vgg16_bn", 138365992},
      {"vgg19_bn", 143678248},
      {"alexnet", 61100840},
      {"densenet121", 7978856},
      {"densenet161", 28681000},
      {"densenet169", 14149480},
      {"densenet201", 20013928},
      {"efficientnet_b0", 5288548},
      {"efficientnet_b1", 7794184},
      {"efficientnet_b2", 9109994},
      {"efficientnet_b3", 12233232},
      {"efficientnet_b4", 19341616},
      {"efficientnet_b5", 30389784},
      {"efficientnet_b6", 43040704},
      {"efficientnet_b7", 66347960},
      {"mobilenetv2_100", 3504872},
      {"mobilenetv3_large_100", 5483032},
      {"mobilenetv3_small_100", 2542856},
      {"convnext_tiny", 28589128},
      {"convnext_small", 50223688},
      {"convnext_base", 88591464},
      {"convnext_large", 197767336},
      {"vit_tiny_patch16_224", 5717416},
      {"vit_small_patch16_224", 22050664},
      {"vit_base_patch16_224", 86567656},
      {"vit_base_patch32_224", 88224232},
      {"vit_base_patch16_384", 86859496},
      {"vit_large_patch16_224", 304326632},
      {"vit_huge_patch14_224", 632045800},
      {"deit_base_patch16_224", 86567656},
      {"deit_base_distilled_patch16_224", 87338192},
      {"swin_tiny_patch4_window7_224", 28288354},
      {"swin_small_patch4_window7_224", 49606258},
      {"swin_base_patch4_window7_224", 87768224},
      {"swin_large_patch4_window7_224", 196532476},
      {"resnet50.a1_in1k", 25557032},
  }));
  CAPTURE(row.name);
  const ModelConfig config = read_text(named(row.name));
  CHECK(parameters(config.network) == row.parameters);
  CHECK(config.not_modelled.empty());
  CHECK_FALSE(config.network.decoder);
}

// Multiply-adds: torchvision's with its weights (`_ops`), timm's table of benchmarks for the others.
TEST_CASE("vision: an image costs the published multiplications", "[vision]") {
  struct Row {
    const char* name;
    const char* more;
    double giga;
    double tolerance;
  };
  const auto row = GENERATE(values<Row>({
      {"resnet18", "", 1.814, 0.005},
      {"resnet50", "", 4.089, 0.005},
      {"resnet101", "", 7.801, 0.005},
      {"resnet50", "", 4.11, 0.03},
      {"vgg16", "", 15.47, 0.005},
      {"alexnet", "", 0.714, 0.005},
      {"alexnet", R"("groups": 2)", 0.72, 0.03},
      {"densenet121", "", 2.834, 0.005},
      {"efficientnet_b0", "", 0.386, 0.01},
      {"efficientnet_b4", "", 4.394, 0.01},  // at its own 380
      {"efficientnet_b4", R"("input_size": 320)", 3.13, 0.03},
      {"mobilenetv2_100", "", 0.301, 0.01},
      {"mobilenetv3_large_100", "", 0.217, 0.01},
      {"convnext_tiny", "", 4.456, 0.005},
      {"convnext_base", "", 15.38, 0.005},
      {"convnext_large", "", 34.4, 0.005},
      {"vit_base_patch16_224", "", 17.58, 0.005},
      {"vit_base_patch16_384", "", 55.54, 0.005},
      {"vit_large_patch16_224", "", 61.6, 0.005},
      {"vit_huge_patch14_224", "", 167.4, 0.005},
      {"swin_base_patch4_window7_224", "", 15.47, 0.01},
  }));
  CAPTURE(row.name, row.more);
  const ModelConfig config = read_text(named(row.name, row.more));
  CHECK(giga_multiplications(config.network) == Approx(row.giga).epsilon(row.tolerance));
}

TEST_CASE("vision: input size, channels and classes come from the config", "[vision]") {
  // 1000 classes fewer by 999 rows of 2048 and a bias
  CHECK(parameters(read_text(named("resnet50", R"("num_classes": 1)")).network) == 25557032 - 999 * 2049);
  CHECK(parameters(read_text(named("resnet50", R"("num_classes": 0)")).network) == 25557032 - 1000 * 2049);
  // one channel instead of three in a stem of 64 kernels of 7 x 7
  const std::string grey = R"("pretrained_cfg": {"input_size": [1, 448, 224]})";
  const ModelConfig config = read_text(named("resnet50", grey));
  CHECK(parameters(config.network) == 25557032 - 2 * 64 * 49);
  CHECK(config.network.parts.at(0).item == "image of 224 x 448");
  // twice the image, and the rest as often but for the classifier
  const ModelConfig tall = read_text(named("resnet50", R"("input_size": [3, 448, 224])"));
  const double usual = giga_multiplications(read_text(named("resnet50")).network);
  const double classifier = 2048e3 / 1e9;
  CHECK(giga_multiplications(tall.network) == Approx(2 * usual - classifier).epsilon(1e-9));
  // without a classifier, as its first weights are published: 632045800 less 1000 x 1281
  CHECK(parameters(read_text(named("vit_huge_patch14_224", R"("num_classes": 0)")).network) == 630764800);
}

TEST_CASE("vision: the two towers of 2012 have convolutions in groups", "[vision]") {
  // 96 x 3 x 121, 256 x 48 x 25, 384 x 256 x 9, 384 x 192 x 9, 256 x 192 x 9 and their 1376 biases; 9216 - 4096 -
  // 4096 - 1000
  CHECK(parameters(read_text(named("alexnet", R"("groups": 2)")).network) == 60965224);
  const std::string listed = R"("model_args": {"convolutions": [{"groups": 1}, {"groups": 2}]})";
  CHECK(parameters(read_text(named("alexnet", listed)).network) == 60965224);
}

TEST_CASE("vision: batch norms count their weights and biases, not their statistics", "[vision]") {
  // twice the channels of the 13 convolutions: 2 x (2 x 64 + 2 x 128 + 3 x 256 + 6 x 512)
  CHECK(parameters(read_text(named("vgg16_bn")).network) - parameters(read_text(named("vgg16")).network) == 8448);
}

// The implementation's own summaries with norms folded in, and the table of its README: 4.5, 16.5, 49.0, 109.1, 205.7
// GFLOPs.
TEST_CASE("vision: detectors have the published parameters and operations", "[vision]") {
  struct Row {
    const char* letter;
    const char* multiples;
    std::int64_t parameters;
    double giga_flops;
  };
  const auto row = GENERATE(values<Row>({
      {"n", R"("depth_multiple": 0.33, "width_multiple": 0.25)", 1867405, 4.5},
      {"s", R"("depth_multiple": 0.33, "width_multiple": 0.5)", 7225885, 16.5},
      {"m", R"("depth_multiple": 0.67, "width_multiple": 0.75)", 21172173, 49.0},
      {"l", R"("depth_multiple": 1.0, "width_multiple": 1.0)", 46533693, 109.1},
      {"x", R"("depth_multiple": 1.33, "width_multiple": 1.25)", 86705005, 205.7},
  }));
  CAPTURE(row.letter);
  const std::string name = std::string("yolov5") + row.letter;
  for (const std::string& more : {std::string(), std::string(row.multiples)}) {
    const Network network = read_text(named(name, more)).network;
    CHECK(parameters(network) == row.parameters);
    CHECK(2 * giga_multiplications(network) == Approx(row.giga_flops).epsilon(0.03));
  }
}

TEST_CASE("vision: configurations with a class are read with what it puts on top", "[vision]") {
  const std::string vit =
      R"("model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
      "intermediate_size": 3072, "image_size": 224, "patch_size": 16)";
  const auto count = [](const std::string& keys) { return parameters(read_text("{" + keys + "}").network); };
  CHECK(count(vit + R"(, "architectures": ["ViTForImageClassification"], "num_labels": 1000)") == 86567656);
  CHECK(count(vit + R"(, "architectures": ["ViTModel"])") == 86389248);  // 85798656 and a pooler of 768 x 769
  CHECK(count(R"("model_type": "dinov2", "architectures": ["Dinov2Model"], "hidden_size": 768, "num_hidden_layers": 12,
      "num_attention_heads": 12, "mlp_ratio": 4, "image_size": 518, "patch_size": 14)") == 86580480);
  CHECK(count(R"("model_type": "dinov2", "architectures": ["Dinov2Model"], "hidden_size": 1536, "num_hidden_layers": 40,
      "num_attention_heads": 24, "mlp_ratio": 4, "image_size": 518, "patch_size": 14, "use_swiglu_ffn": true)") ==
        1136480768);
  CHECK(count(R"("model_type": "swin", "architectures": ["SwinForImageClassification"], "embed_dim": 96,
      "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24], "window_size": 7, "mlp_ratio": 4.0, "num_labels": 1000)") ==
        28288354);
  CHECK(count(R"("model_type": "convnext", "architectures": ["ConvNextForImageClassification"],
      "depths": [3, 3, 9, 3], "hidden_sizes": [96, 192, 384, 768], "num_labels": 1000)") == 28589128);
  CHECK(count(R"("model_type": "resnet", "architectures": ["ResNetForImageClassification"], "num_labels": 1000,
      "depths": [3, 4, 6, 3], "hidden_sizes": [256, 512, 1024, 2048], "layer_type": "bottleneck")") == 25557032);
  CHECK(count(R"("architectures": ["ResNetModel"])") == 25557032 - 2049000);
  // a token that learns from a teacher with its position: 86567656 + 2 x 768, and a second classifier
  CHECK(
      count(
          R"("model_type": "deit", "architectures": ["DeiTForImageClassificationWithTeacher"], "num_labels": 1000)") ==
      87338192);
}

TEST_CASE("vision: names that are not read are not guessed", "[vision]") {
  for (const char* name :
       {"resnet51", "vgg16_gn", "efficientnet_b8", "vit_base_patch16_clip_224", "vit_base_r50_s16_224",
        "swin_base_patch8_window7_224", "mobilenetv2_110d", "yolov5t", "resnet50_gn", "densenet"}) {
    CAPTURE(name);
    const ModelConfig config = read_text(named(name));
    CHECK(config.network.parts.empty());
    CHECK_FALSE(config.not_modelled.empty());
  }
  CHECK(first_of(read_text(named("inception_v3"))) == "architecture 'inception_v3'");
  CHECK(first_of(read_text(named("resnet50", R"("model_args": {"layers": [3, 4, 6, 3], "output_stride": 8})"))) ==
        "a change to 'resnet50' (model_args.output_stride)");
}

TEST_CASE("vision: hostile numbers are refused", "[vision]") {
  for (const char* text : {
           R"({"model_type": "vit", "num_attention_heads": 0})",
           R"({"model_type": "vit", "patch_size": 0})",
           R"({"model_type": "vit", "hidden_size": 1000000000})",
           R"({"model_type": "vit", "image_size": 1000000000, "patch_size": 1})",
           R"({"model_type": "vit", "image_size": [1, 2, 3]})",
           R"({"model_type": "vit", "num_hidden_layers": 1000000000})",
           R"({"model_type": "swin", "depths": [2], "num_heads": [3, 6]})",
           R"({"model_type": "swin", "depths": [2], "num_heads": [0]})",
           R"({"model_type": "swin", "mlp_ratio": 1e300})",
           R"({"model_type": "convnext", "depths": [], "hidden_sizes": []})",
           R"({"model_type": "resnet", "depths": [1000000000], "hidden_sizes": [1000000]})",
           R"({"architecture": "resnet50", "input_size": [3, 224]})",
           R"({"architecture": "yolov5s", "width_multiple": -1})",
           R"({"architecture": "yolov5", "width_multiple": 1})",
           R"({"model_type": "dinov2", "mlp_ratio": 100000})",
       }) {
    CAPTURE(text);
    CHECK(is_refused(text));
  }
}

// Rows of the tables as the benchmark for recommenders publishes them; 204184588 x 128 and 16044545 in the dense
// layers.
TEST_CASE("vision: a recommender is its tables and its dense layers", "[vision]") {
  const std::string dlrm = R"("model_type": "dlrm", "architectures": ["DLRM_DCN"], "embedding_dim": 128,
      "num_embeddings_per_feature": [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956,
        405282, 10,
        2209, 11938, 155, 4, 976, 14, 40000000, 40000000, 40000000, 590152, 12973, 108, 36],
      "dense_arch_layer_sizes": [512, 256, 128], "over_arch_layer_sizes": [1024, 1024, 512, 256, 1],
      "dense_in_features": 13)";
  const std::string cross = R"(, "interaction": "dcn", "dcn_num_layers": 3, "dcn_low_rank_dim": 512)";
  const Network network = read_text("{" + dlrm + cross + "}").network;
  CHECK(parameters(network) == 26151671809);
  REQUIRE(network.parts.size() == 2);
  CHECK(parameters(network.parts[0].tensors) == 204184588LL * 128);
  // 13-512-256-128; 3 x (2 x 3456 x 512 + 3456); 3456-1024-1024-512-256-1
  CHECK(parameters(network.parts[1].tensors) == 171392 + 10627200 + 5245953);
  CHECK(flops_of(network.parts[0], 0) / flop(1) == Approx(0));  // look-ups
  // products of pairs: 128 + 26 x 25 / 2 + 26 = 479 inputs to the upper layers instead of 3456, and nothing to
  // learn between
  const Network dot = read_text("{" + dlrm + R"(, "interaction": "dot"})").network;
  CHECK(parameters(dot.parts.at(1).tensors) == 171392 + 5245953 - (3456 - 479) * 1024);
  CHECK(is_refused("{" + dlrm + R"(, "interaction": "projection"})"));
  CHECK(is_refused(R"({"model_type": "dlrm", "embedding_dim": 128})"));
}

}  // namespace gpuplan
