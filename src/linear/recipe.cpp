// The table of named recipes from papers. docs/reference/recipes.md describes differences between the papers and the choices.
#include "src/linear/recipe.hpp"

#include <cstring>
#include <iterator>
#include <string>

#include "src/formats/format.hpp"

namespace lpt {
namespace {

struct PresetCast {
  const char *format = nullptr;  // NULL: no cast
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
};

struct RecipePreset {
  const char *name;
  PresetCast casts[kCastCount];  // forward x, forward w; dgrad dy, dgrad w; wgrad dy, wgrad x
  GemmRule gemms[kGemmCount] = {};
  lpt_scaler_kind scaler = LPT_SCALER_KIND_CURRENT;
  lpt_scaler_zero_rule zero_rule = LPT_SCALER_ZERO_RULE_USE_CURRENT;
  SparseRule sparsity[kOperandCount] = {};
};

constexpr auto kStochastic = LPT_ROUNDING_STOCHASTIC;

constexpr PresetCast kBf16 = {"bf16"};
constexpr PresetCast kE4m3 = {"e4m3fn_tensor", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kE5m2 = {"e5m2_tensor", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kTrillion = {"e4m3fn_tensor", LPT_SCALE_RULE_POWER_OF_TWO};
constexpr PresetCast kTrillionBackward = {"e5m2_tensor", LPT_SCALE_RULE_POWER_OF_TWO};
constexpr PresetCast kTrillionGradient = {"e5m2_tensor", LPT_SCALE_RULE_POWER_OF_TWO, kStochastic};
constexpr PresetCast kMxfp8 = {"mxfp8_e4m3", LPT_SCALE_RULE_ROUND_UP};
constexpr PresetCast kGroup = {"e4m3fn_1x128", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kSquare = {"e4m3fn_128x128", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kNvfp4 = {"nvfp4", LPT_SCALE_RULE_NEAREST};
constexpr PresetCast kNvfp4Square = {"nvfp4_16x16", LPT_SCALE_RULE_NEAREST};
constexpr PresetCast kNvfp4Random = {"nvfp4", LPT_SCALE_RULE_NEAREST, kStochastic};
constexpr PresetCast kQuest = {"mxfp4", LPT_SCALE_RULE_QUEST_NEAREST};
constexpr PresetCast kRoomyMxfp4 = {"e2m1fn/1x32/e8m0fnu/f32", LPT_SCALE_RULE_THREE_QUARTERS};
constexpr PresetCast kRoomyMxfp4Random = {"e2m1fn/1x32/e8m0fnu/f32", LPT_SCALE_RULE_THREE_QUARTERS, kStochastic};
constexpr PresetCast kSawb = {"int4/tensor/f32", LPT_SCALE_RULE_SAWB};
constexpr PresetCast kInt4Random = {"int4/tensor/f32", LPT_SCALE_RULE_AMAX, kStochastic};
constexpr PresetCast kLogarithmic = {"e3m0_tensor", LPT_SCALE_RULE_AMAX, kStochastic};
constexpr PresetCast kFp6Fine = {"e2m3fn/tensor/f32", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kFp6Wide = {"e3m2fn/tensor/f32", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kInt8 = {"int8_tensor", LPT_SCALE_RULE_AMAX};
constexpr PresetCast kPlainE4m3 = {"e4m3fn"};
constexpr PresetCast kPlainE5m2 = {"e5m2"};

constexpr GemmRule kPlain = {};
constexpr GemmRule kHadamard32 = {.hadamard_size = 32};
constexpr GemmRule kHadamardDivisor = {.hadamard_size = LPT_HADAMARD_SIZE_DIVISOR};
constexpr GemmRule kHadamardDivisorRows = {.hadamard_size = LPT_HADAMARD_SIZE_DIVISOR,
                                           .hadamard_axis = LPT_HADAMARD_AXIS_ROWS};
constexpr GemmRule kHadamard16Fixed = {.hadamard_size = 16, .hadamard_signs = LPT_HADAMARD_SIGNS_FIXED};
constexpr GemmRule kQuartetBackward = {
    .hadamard_size = 32, .hadamard_signs = LPT_HADAMARD_SIGNS_RANDOM, .source = LPT_LINEAR_SOURCE_FORWARD_CLIPPED};
constexpr GemmRule kTwoDraws = {.draws = 2};
constexpr GemmRule kTwoParts = {.source = LPT_LINEAR_SOURCE_FORWARD_CLIPPED, .parts = 2};
constexpr GemmRule kUnit = {.output_scale = LPT_LINEAR_OUTPUT_SCALE_UNIT};

constexpr SparseRule kDense = {};
constexpr SparseRule kRows24 = {.kept = 2, .of = 4};
constexpr SparseRule kBoth24 = {.kept = 2, .of = 4, .direction = LPT_SPARSE_DIRECTION_BOTH, .interval = 40};
constexpr SparseRule kMvue12 = {
    .kept = 1, .of = 2, .rule = LPT_SPARSE_RULE_MVUE, .direction = LPT_SPARSE_DIRECTION_COLUMN};
constexpr SparseRule kMvue24 = {
    .kept = 2, .of = 4, .rule = LPT_SPARSE_RULE_MVUE, .direction = LPT_SPARSE_DIRECTION_COLUMN};

constexpr RecipePreset kPresets[] = {
    {.name = "f32", .casts = {}},
    {.name = "bf16", .casts = {kBf16, kBf16, kBf16, kBf16, kBf16, kBf16}},
    {.name = "fp8_trillion",
     .casts = {kTrillion, kTrillion, kTrillionGradient, kTrillionBackward, kTrillionGradient, kTrillionBackward},
     .scaler = LPT_SCALER_KIND_DELAYED,
     .zero_rule = LPT_SCALER_ZERO_RULE_ONE},
    {.name = "fp8_current", .casts = {kE4m3, kE4m3, kE5m2, kE4m3, kE5m2, kE4m3}},
    {.name = "mxfp8", .casts = {kMxfp8, kMxfp8, kMxfp8, kMxfp8, kMxfp8, kMxfp8}},
    {.name = "fp8_block", .casts = {kGroup, kSquare, kGroup, kSquare, kGroup, kGroup}},
    {.name = "fp4_all_the_way", .casts = {kNvfp4, kNvfp4, kNvfp4Random, kNvfp4, kNvfp4Random, kNvfp4Random}},
    {.name = "nvfp4_pretrain",
     .casts = {kNvfp4, kNvfp4Square, kNvfp4Random, kNvfp4Square, kNvfp4Random, kNvfp4},
     .gemms = {kPlain, kPlain, kHadamard16Fixed}},
    {.name = "quartet_v1",
     .casts = {kQuest, kQuest, kRoomyMxfp4Random, kRoomyMxfp4Random, kRoomyMxfp4Random, kRoomyMxfp4Random},
     .gemms = {kHadamard32, kQuartetBackward, kQuartetBackward}},
    {.name = "quartet_neurips",
     .casts = {kQuest, kQuest, kRoomyMxfp4, kRoomyMxfp4, kRoomyMxfp4, kRoomyMxfp4},
     .gemms = {kHadamard32, kQuartetBackward, kQuartetBackward}},
    {.name = "luq",
     .casts = {kSawb, kSawb, kLogarithmic, kSawb, kLogarithmic, kSawb},
     .gemms = {kPlain, kPlain, kTwoDraws}},
    {.name = "halo_0", .casts = {kE4m3, kE4m3, kE4m3, kE4m3, kE4m3, kE4m3}},
    {.name = "halo_1",
     .casts = {kFp6Fine, kFp6Fine, kFp6Wide, kFp6Wide, kFp6Wide, kFp6Wide},
     .gemms = {kHadamardDivisor, kPlain, kPlain}},
    {.name = "halo_2",
     .casts = {kInt8, kInt8, kInt8, kInt8, kInt8, kInt8},
     .gemms = {kHadamardDivisor, kHadamardDivisorRows, kPlain}},
    {.name = "coat", .casts = {kE4m3, kE4m3, kE5m2, kE4m3, kE5m2, kE4m3}},
    {.name = "int4_hadamard_sawb",
     .casts = {kSawb, kSawb, kInt4Random, kSawb, kInt4Random, kSawb},
     .gemms = {kHadamard32, kTwoParts, kTwoParts}},
    {.name = "unit_scaling",
     .casts = {kPlainE4m3, kPlainE4m3, kPlainE5m2, kPlainE4m3, kPlainE5m2, kPlainE4m3},
     .gemms = {kUnit, kUnit, kUnit}},
    {.name = "sparse24", .casts = {}, .sparsity = {kDense, kRows24, kDense}},
    {.name = "sparse24_transposable", .casts = {}, .sparsity = {kDense, kBoth24, kDense}},
    {.name = "mvue12_gradients", .casts = {}, .sparsity = {kDense, kDense, kMvue12}},
    {.name = "mvue24_gradients", .casts = {}, .sparsity = {kDense, kDense, kMvue24}},
};

Status recipe_of(const RecipePreset &preset, Recipe &out_recipe) {
  out_recipe = Recipe();
  for (int i = 0; i < kCastCount; ++i) {
    const PresetCast &given = preset.casts[i];
    CastRule &rule = out_recipe.casts[i];
    if (given.format != nullptr) LPT_TRY(format_from_name(given.format, rule.format));
    rule.rule = given.rule;
    rule.rounding = given.rounding;
  }
  for (int i = 0; i < kGemmCount; ++i) out_recipe.gemms[i] = preset.gemms[i];
  for (int i = 0; i < kOperandCount; ++i) out_recipe.sparsity[i] = preset.sparsity[i];
  for (lpt_scaler_options &scaler : out_recipe.scalers) {
    scaler.kind = preset.scaler;
    scaler.zero_rule = preset.zero_rule;
  }
  return {};
}

}  // namespace

Status make_recipe(const char *name, Recipe &out_recipe) {
  std::string names;
  for (const RecipePreset &preset : kPresets) {
    if (std::strcmp(name, preset.name) == 0) return recipe_of(preset, out_recipe);
    names += std::string(names.empty() ? "" : ", ") + preset.name;
  }
  return invalid("name is '%.64s': expected one of %s", name, names.c_str());
}

int64_t recipe_count() { return std::ssize(kPresets); }

const char *recipe_name(int64_t index) { return index >= 0 && index < recipe_count() ? kPresets[index].name : nullptr; }

}  // namespace lpt
