// The GEMMs of every recipe against their emulation in numpy, written from the papers: tools/make_recipe_golden.py. The bounds
// of the file are those of f32 sums, so that a wrong code of an operand exceeds them.
#include <map>

#include "tests/api/recipe.hpp"
#include "tests/formats/golden.hpp"

namespace lpt::test {
namespace {

constexpr Shape3 kGoldenShape = {80, 160, 96};
constexpr int64_t kSamples = 6, kColumnStep = 13;

// Draws sums of the four 16-bit words of a random number, centred, as the script does.
Matrix golden_input(uint64_t seed, int64_t rows, int64_t columns, double factor) {
  golden::SplitMix64 random(seed);
  Matrix matrix{rows, columns, std::vector<double>(static_cast<size_t>(rows * columns))};
  for (double &value : matrix.v) {
    int64_t sum = -131070;
    for (uint64_t words = random.next(); words != 0; words >>= 16) sum += static_cast<int64_t>(words & 0xFFFFu);
    value = static_cast<double>(sum) * 0x1p-15 * factor;
  }
  return matrix;
}

Layer golden_layer(lpt_context *context, const char *recipe) {
  Layer layer(context, recipe, kGoldenShape, 6000);
  layer.x_numbers = golden_input(1, kGoldenShape.rows, kGoldenShape.input, 1.0);
  layer.w_numbers = golden_input(2, kGoldenShape.output, kGoldenShape.input, 0.125);
  layer.dy_numbers = golden_input(3, kGoldenShape.rows, kGoldenShape.output, 0x1p-7);
  layer.x = tensor_of(context, LPT_FORMAT_F32, kGoldenShape.rows, kGoldenShape.input, layer.x_numbers.v);
  layer.w = tensor_of(context, LPT_FORMAT_F32, kGoldenShape.output, kGoldenShape.input, layer.w_numbers.v);
  layer.dy = tensor_of(context, LPT_FORMAT_F32, kGoldenShape.rows, kGoldenShape.output, layer.dy_numbers.v);
  return layer;
}

// Compares the sampled results of each row with a row of the file.
void expect_golden(const golden::Row &row, const std::vector<double> &found, int64_t rows, int64_t columns) {
  const double bound = std::strtod(row[3].c_str(), nullptr);
  ASSERT_EQ(static_cast<size_t>(rows * kSamples * 8), row[4].size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < kSamples; ++j) {
      const std::string digits = row[4].substr(static_cast<size_t>(8 * (r * kSamples + j)), 8);
      const float expected = std::bit_cast<float>(static_cast<uint32_t>(std::stoul(digits, nullptr, 16)));
      const int64_t c = (5 * r + kColumnStep * j) % columns;
      EXPECT_NEAR(static_cast<double>(expected), found[static_cast<size_t>(r * columns + c)], bound)
          << "row " << r << ", column " << c;
    }
  }
}

TEST(RecipeGolden, GemmsHaveTheOperandsOfTheirPapers) {
  const Context context = make_context();
  lpt_context *c = context.get();
  std::map<std::string, Layer> layers;
  for (const golden::Row &row : golden::read("recipes", ".")) {
    ASSERT_EQ(5u, row.size());
    const std::string &recipe = row[0], &gemm = row[2];
    SCOPED_TRACE(recipe + ", step " + row[1] + ", " + gemm);
    const auto [place, is_new] = layers.try_emplace(recipe, golden_layer(c, recipe.c_str()));
    Layer &layer = place->second;
    if (gemm == "forward") {
      lpt_linear *const linears[] = {layer.linear.get()};
      if (!is_new) {
        ASSERT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
      }
      layer.forward();
      layer.backward();
      expect_golden(row, numbers_of(c, layer.y.get()), kGoldenShape.rows, kGoldenShape.output);
    } else if (gemm == "dgrad") {
      expect_golden(row, numbers_of(c, layer.dx.get()), kGoldenShape.rows, kGoldenShape.input);
    } else {
      expect_golden(row, numbers_of(c, layer.dw.get()), kGoldenShape.output, kGoldenShape.input);
    }
  }
  // Recipes without casts are tested elsewhere: f32 by plain GEMMs, sparse ones by linear_sparse_test.cpp.
  for (const RecipeModel &model : recipe_models()) {
    EXPECT_EQ(model.casts[0].format == nullptr ? 0u : 1u, layers.count(model.name)) << model.name;
  }
}

}  // namespace
}  // namespace lpt::test
