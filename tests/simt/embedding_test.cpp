// CUDA kernels of an embedding on the CPU: gathered rows against the definition, the gradient against the reference kernel bit
// for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr int64_t kColumns[] = {1, 15, 16, 17, 130, 520};

// Returns a matrix with rows aligned to 16 bytes or not.
Matrix any_matrix(Random &random, lpt_format format, int64_t rows, int64_t columns) {
  const int64_t padding = random.chance(0.5) ? (16 - columns % 16) % 16 : random.below(5);
  return Matrix(format, rows, columns, padding, random.chance(0.5) ? 0 : 4);
}

// Includes places below and above the classes.
std::vector<int64_t> any_places(Random &random, int64_t rows, int64_t classes) {
  std::vector<int64_t> places;
  for (int64_t r = 0; r < rows; ++r) places.push_back(random.below(classes + 2) - 1);
  return places;
}

TEST(SimtEmbedding, RowsAreThoseOfTheirPlaces) {
  Random random(97);
  for (int i = 0; i < (kIsSanitized ? 18 : 72); ++i) {
    const lpt_format from = kFormats[i % 3], to = kFormats[i / 3 % 3];
    const int64_t rows = 1 + random.below(5), columns = random.of(kColumns), classes = 1 + random.below(6);
    Matrix weight = any_matrix(random, from, classes, columns), found = any_matrix(random, to, rows, columns);
    weight.fill(random, from == to ? Values::kBits : Values::kNormal);
    const std::vector<int64_t> places = any_places(random, rows, classes);
    take_next_order();
    embedding_device_kernels().front().queue({weight.view(), places.data(), found.view()}, nullptr);
    Matrix expected(to, 1, 1);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t place = places[static_cast<std::size_t>(r)];
      const bool is_class = place >= 0 && place < classes;
      for (int64_t c = 0; c < columns; ++c) {
        expected.set(0, 0, is_class ? weight.get(place, c) : std::nanf(""));
        const uint32_t code = is_class && from == to ? weight.code(place, c) : expected.code(0, 0);
        ASSERT_EQ(code, found.code(r, c)) << from << " to " << to << " at " << r << ", " << c;
      }
    }
    EXPECT_TRUE(found.is_intact());
  }
}

TEST(SimtEmbedding, GradientsEqualTheReference) {
  Random random(98);
  for (int i = 0; i < (kIsSanitized ? 9 : 36); ++i) {
    // 300 rows are two steps of the threads; 600 classes exceed the number of blocks.
    const int64_t rows = i % 3 == 0 ? 300 : random.below(9), classes = i % 4 == 0 ? 600 : 1 + random.below(6);
    const int64_t columns = random.of(kColumns);
    Matrix source = any_matrix(random, kFormats[i % 3], rows, columns);
    source.fill(random, kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)]);
    Matrix found(LPT_FORMAT_F32, classes, columns, 3), oracle(LPT_FORMAT_F32, classes, columns, 3);
    for (int64_t r = 0; r < classes; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const auto given = static_cast<float>(random.uniform());
        found.set(r, c, given);
        oracle.set(r, c, given);
      }
    }
    const std::vector<int64_t> places = any_places(random, rows, classes);
    EmbeddingGradientRequest request{source.view(), found.view(), places.data(), 0, 1, random.chance(0.5)};
    take_next_order();
    embedding_gradient_device_kernels().front().queue(request, nullptr);
    request.gradient = oracle.view();
    reference_of(embedding_gradient_kernels()).run(request);
    EXPECT_TRUE(found.is_intact() && found.data.equals(oracle.data)) << rows << ", " << classes << ", " << columns;
  }
}

}  // namespace
}  // namespace lpt::test
