// Every kernel of the transposable masks against the reference kernel, bit for bit, and properties of all solvers.
#include "kernels/transposable_mask/transposable_mask.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "src/base/status.hpp"
#include "tests/kernels/transposable_tiles.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kScoreFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};
constexpr lpt_sparse_solver kSolvers[] = {LPT_SPARSE_SOLVER_EXACT, LPT_SPARSE_SOLVER_GREEDY, LPT_SPARSE_SOLVER_SEARCH,
                                          LPT_SPARSE_SOLVER_PRUNE, LPT_SPARSE_SOLVER_ENTROPY};

// Parameters of a search without the elements.
struct MaskCase {
  MaskRule rule;
  lpt_format source = LPT_FORMAT_F32;
  int64_t rows = 8, columns = 8;
  bool is_transposed = false, is_mask_transposed = false, has_importance = false;
  int64_t source_padding = 0, mask_padding = 0;
  std::size_t source_shift = 0, mask_shift = 0;
};

std::string text_of(const MaskCase &c) {
  return text_of(c.rule) + ' ' + format_name(c.source) +
         text(" %lldx%lld transposed %d,%d importance %d padding %lld,%lld shift %zu,%zu",
              static_cast<long long>(c.rows), static_cast<long long>(c.columns), c.is_transposed, c.is_mask_transposed,
              c.has_importance, static_cast<long long>(c.source_padding), static_cast<long long>(c.mask_padding),
              c.source_shift, c.mask_shift);
}

TransposableMaskRequest request_of(const MaskCase &c, Matrix &source, Matrix &mask, const Matrix &importance) {
  TransposableMaskRequest request{};
  request.source = source.view();
  request.mask = mask.view();
  request.kept = c.rule.kept;
  request.of = c.rule.of;
  request.solver = c.rule.solver;
  request.iterations = c.rule.iterations;
  request.sharpness = c.rule.sharpness;
  if (c.has_importance) request.importance = reinterpret_cast<const float *>(importance.data.data());
  return request;
}

// Runs one case on all kernels that support it.
void compare(const MaskCase &c, Values values, Random &random) {
  Matrix source(c.source, c.rows, c.columns, c.source_padding, c.source_shift, c.is_transposed);
  source.fill(random, values);
  Matrix importance(LPT_FORMAT_F32, 1, c.columns);
  for (int64_t i = 0; i < c.columns; ++i) importance.set(0, i, static_cast<float>(std::exp(2.0 * random.normal())));
  Matrix expected(LPT_FORMAT_UINT8, c.rows, c.columns, c.mask_padding, c.mask_shift, c.is_mask_transposed);
  const auto rows = available_mask_kernels();
  rows.back()->run(request_of(c, source, expected, importance));
  ASSERT_TRUE(expected.is_intact()) << text_of(c);
  for (const auto *row : rows) {
    Matrix found(LPT_FORMAT_UINT8, c.rows, c.columns, c.mask_padding, c.mask_shift, c.is_mask_transposed);
    const TransposableMaskRequest request = request_of(c, source, found, importance);
    if (!takes(*row, request)) continue;
    row->run(request);
    ASSERT_TRUE(found.is_intact()) << row->name << ' ' << text_of(c) << ": wrote past the mask";
    ASSERT_TRUE(found.data.equals(expected.data)) << row->name << ' ' << text_of(c) << ' ' << name_of(values);
  }
}

// The rules of the SIMD kernels, each at every edge of their vectors.
constexpr MaskRule kFastRules[] = {
    {2, 4, LPT_SPARSE_SOLVER_EXACT}, {4, 8, LPT_SPARSE_SOLVER_GREEDY}, {4, 8, LPT_SPARSE_SOLVER_SEARCH}};

TEST(TransposableMaskKernels, EqualTheReferenceAtAllEdges) {
  Random random(21);
  for (const MaskRule &rule : kFastRules) {
    for (const int64_t columns : kSimdEdges) {
      for (const int64_t rows : {1, 3, 4, 7, 8, 12, 17}) {
        for (const lpt_format source : kScoreFormats) {
          MaskCase c{.rule = rule, .source = source, .rows = rows, .columns = columns};
          c.has_importance = random.chance(0.5);
          if (!is_taken(random, 10)) continue;
          ASSERT_NO_FATAL_FAILURE(compare(c, random.of(kFiniteValues), random));
        }
      }
    }
  }
}

// Specials, ties, and values that differ only in their last bits, in every position.
TEST(TransposableMaskKernels, EqualTheReferenceForAllValues) {
  Random random(22);
  for (const MaskRule &rule : kFastRules) {
    for (const Values values : kAllValues) {
      for (int i = 0; i < 20; ++i) {
        MaskCase c{.rule = rule, .source = random.of(kScoreFormats), .rows = 24, .columns = 600};
        c.has_importance = random.chance(0.3);
        if (!is_taken(random, 10)) continue;
        ASSERT_NO_FATAL_FAILURE(compare(c, values, random));
      }
    }
  }
}

TEST(TransposableMaskKernels, EqualTheReferenceForDrawnCases) {
  Random random(23);
  for (int i = 0; i < (kIsSanitized ? 200 : 3000); ++i) {
    MaskCase c;
    c.rule.of = random.chance(0.7) ? (random.chance(0.5) ? 4 : 8) : static_cast<int32_t>(2 + random.below(31));
    c.rule.kept = random.chance(0.7) ? c.rule.of / 2 : static_cast<int32_t>(1 + random.below(c.rule.of - 1));
    c.rule.solver = random.of(kSolvers);
    c.rule.iterations = static_cast<int32_t>(random.below(10));
    c.source = random.of(kScoreFormats);
    c.rows = random.below(40);
    c.columns = random.of(kSimdEdges);
    c.is_transposed = random.chance(0.2);
    c.is_mask_transposed = random.chance(0.2);
    c.has_importance = random.chance(0.4);
    c.source_padding = random.below(20);
    c.mask_padding = random.below(20);
    c.source_shift = static_cast<std::size_t>(8 * random.below(8));
    c.mask_shift = static_cast<std::size_t>(random.below(64));
    ASSERT_NO_FATAL_FAILURE(compare(c, random.of(kAllValues), random));
  }
}

TEST(TransposableMaskKernels, EqualTheReferenceForTilesOfAllKinds) {
  Random random(24);
  for (const MaskRule &rule : kFastRules) {
    std::vector<TileNumbers> tiles;
    for (int i = 0; i < (kIsSanitized ? 400 : 8000); ++i) {
      tiles.push_back(draw_tile(random, random.of(kAllTiles), rule.of));
      if (random.chance(0.3)) {  // equal except for the last bits
        for (float &number : tiles.back()) {
          number =
              float_of_bits((0x3F800000u & ~0xFFu) | static_cast<uint32_t>(random.below(random.chance(0.5) ? 256 : 8)));
        }
      }
    }
    const auto rows = available_mask_kernels();
    const std::vector<TileBits> expected = masks_of(*rows.back(), rule, tiles);
    for (const auto *row : rows) {
      if (!takes_rule(*row, rule)) continue;
      const std::vector<TileBits> found = masks_of(*row, rule, tiles);
      for (std::size_t i = 0; i < tiles.size(); ++i) ASSERT_EQ(found[i], expected[i]) << row->name << " tile " << i;
    }
  }
}

// Properties.

// A request of 8 × 8 f32 elements with its mask.
struct Small {
  explicit Small(const MaskRule &rule, int64_t rows = 8, int64_t columns = 8)
      : c{.rule = rule, .rows = rows, .columns = columns},
        source(LPT_FORMAT_F32, rows, columns),
        mask(LPT_FORMAT_UINT8, rows, columns),
        importance(LPT_FORMAT_F32, 1, columns) {}
  void run() {
    for (const auto *row : available_mask_kernels()) {
      const TransposableMaskRequest request = request_of(c, source, mask, importance);
      if (takes(*row, request)) row->run(request);
    }
  }
  std::string picture() const {
    std::string result;
    for (int64_t i = 0; i < c.rows; ++i) {
      for (int64_t j = 0; j < c.columns; ++j) result += static_cast<char>('0' + mask.code(i, j));
      result += ' ';
    }
    return result;
  }
  MaskCase c;
  Matrix source, mask, importance;
};

// A tile of equal values has one mask; zeros are treated like other values.
TEST(TransposableMask, TakesOneMaskForEqualNumbers) {
  const struct {
    MaskRule rule;
    const char *picture;
  } cases[] = {{{2, 4, LPT_SPARSE_SOLVER_EXACT}, "1100 1100 0011 0011 "},
               {{1, 4, LPT_SPARSE_SOLVER_EXACT}, "1000 0100 0010 0001 "},
               {{2, 4, LPT_SPARSE_SOLVER_GREEDY}, "1100 1100 0011 0011 "},
               {{2, 4, LPT_SPARSE_SOLVER_SEARCH}, "1100 1100 0011 0011 "},
               {{2, 4, LPT_SPARSE_SOLVER_PRUNE}, "1100 1100 0000 0000 "},
               {{2, 4, LPT_SPARSE_SOLVER_ENTROPY}, "1100 1100 0011 0011 "},
               {{1, 4, LPT_SPARSE_SOLVER_GREEDY}, "1000 0100 0010 0001 "},
               {{3, 4, LPT_SPARSE_SOLVER_EXACT}, "1110 1101 1011 0111 "},
               {{3, 4, LPT_SPARSE_SOLVER_SEARCH}, "0111 1011 1110 1101 "}};
  for (const auto &[rule, picture] : cases) {
    for (const float number : {0.0f, -0.0f, 1.5f, INFINITY, NAN}) {
      Small small(rule, 4, 4);
      for (int64_t i = 0; i < 16; ++i) small.source.set(i / 4, i % 4, i % 2 == 0 ? number : -number);
      small.run();
      EXPECT_EQ(small.picture(), picture) << text_of(rule) << ' ' << static_cast<double>(number);
    }
  }
}

// An incomplete tile is padded with zeros.
TEST(TransposableMask, FillsTilesUpWithZeros) {
  Random random(25);
  for (const lpt_sparse_solver solver : kSolvers) {
    for (const MaskRule rule : {MaskRule{2, 4, solver}, MaskRule{4, 8, solver}, MaskRule{3, 7, solver}}) {
      for (int i = 0; i < 20; ++i) {
        const int64_t rows = 1 + random.below(2 * rule.of), columns = 1 + random.below(40);
        Small part(rule, rows, columns),
            whole(rule, (rows + rule.of - 1) / rule.of * rule.of, (columns + rule.of - 1) / rule.of * rule.of);
        part.source.fill(random, Values::kNormal);
        for (int64_t r = 0; r < whole.c.rows; ++r) {
          for (int64_t c = 0; c < whole.c.columns; ++c) {
            whole.source.set(r, c, r < rows && c < columns ? part.source.get(r, c) : 0.0f);
          }
        }
        part.run();
        whole.run();
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            ASSERT_EQ(part.mask.code(r, c), whole.mask.code(r, c)) << text_of(rule) << " at " << r << ", " << c;
          }
        }
      }
    }
  }
}

// Importance is a factor in f32: the mask is that of the products.
TEST(TransposableMask, CountsMagnitudesTimesImportance) {
  Random random(26);
  for (const lpt_sparse_solver solver : kSolvers) {
    Small small({2, 4, solver}), products({2, 4, solver});
    small.c.has_importance = true;
    small.source.fill(random, Values::kNormal);
    for (int64_t c = 0; c < 8; ++c) {
      small.importance.set(0, c, static_cast<float>(random.uniform()));
      for (int64_t r = 0; r < 8; ++r) products.source.set(r, c, small.source.get(r, c) * small.importance.get(0, c));
    }
    small.run();
    products.run();
    EXPECT_TRUE(small.mask.equals(products.mask)) << text_of(small.c.rule);
  }
}

// A transposed source has the transposed mask only without ties: ties are resolved by rows.
TEST(TransposableMask, OfPlainNumbersIsTransposedWithItsSource) {
  Random random(27);
  Small upright({2, 4, LPT_SPARSE_SOLVER_EXACT}), transposed_copy(upright.c.rule);
  upright.source.fill(random, Values::kNormal);
  for (int64_t i = 0; i < 64; ++i) transposed_copy.source.set(i % 8, i / 8, upright.source.get(i / 8, i % 8));
  upright.run();
  transposed_copy.run();
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(transposed_copy.mask.code(i % 8, i / 8), upright.mask.code(i / 8, i % 8));
}

// The same bits on every machine.

// FNV-1a hash of the masks of tiles that are generated by integer arithmetic.
uint64_t digest(const MaskRule &rule) {
  uint32_t state = 1;
  std::vector<TileNumbers> tiles(20, TileNumbers(static_cast<std::size_t>(rule.places())));
  for (TileNumbers &tile : tiles) {
    for (float &number : tile) {
      state = state * 1664525u + 1013904223u;
      number = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
      number *= number * number;
    }
  }
  uint64_t result = 0xCBF29CE484222325u;
  for (const TileBits &mask : masks_of(*available_mask_kernels().back(), rule, tiles)) {
    for (const uint8_t bit : mask) result = (result ^ bit) * 0x100000001B3u;
  }
  return result;
}

// Recorded when all other tests passed: a compiler or machine with another hash violates the definition.
TEST(TransposableMask, IsTheSameOnEveryMachine) {
  EXPECT_EQ(digest({2, 4, LPT_SPARSE_SOLVER_EXACT}), 0x82FE37CF86025A6Du);
  EXPECT_EQ(digest({4, 8, LPT_SPARSE_SOLVER_EXACT}), 0xF4EF62BD96386B75u);
  EXPECT_EQ(digest({4, 8, LPT_SPARSE_SOLVER_GREEDY}), 0xFB409363799B34E9u);
  EXPECT_EQ(digest({4, 8, LPT_SPARSE_SOLVER_SEARCH}), 0xA35B5F5DD27F34A1u);
  EXPECT_EQ(digest({4, 8, LPT_SPARSE_SOLVER_PRUNE}), 0x03073997F64C2F17u);
  EXPECT_EQ(digest({4, 8, LPT_SPARSE_SOLVER_ENTROPY}), 0xF4EF62BD96386B75u);
  EXPECT_EQ(digest({8, 16, LPT_SPARSE_SOLVER_ENTROPY}), 0xA344CE032D284281u);
  EXPECT_EQ(digest({4, 8, LPT_SPARSE_SOLVER_ENTROPY, 200, 400.0f}), 0x66FBE7AEE6F2F395u);
}

}  // namespace
}  // namespace lpt::test
