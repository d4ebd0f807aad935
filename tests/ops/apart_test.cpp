// Overlap of two views in memory, compared with a map of every byte.
#include <gtest/gtest.h>

#include <set>

#include "src/call/operation.hpp"
#include "tests/support/random.hpp"

namespace lpt {
namespace {

std::byte memory[1 << 12];

MatrixView view_at(int64_t byte, int64_t rows, int64_t columns, int64_t row_stride,
                   lpt_format format = LPT_FORMAT_F32) {
  MatrixView view;
  find_format(format, view.format);
  view.data = memory + byte;
  view.rows = rows;
  view.columns = columns;
  view.row_stride = row_stride;
  return view;
}

bool are_apart(const MatrixView &a, const MatrixView &b) {
  const bool result = check_no_overlap(a, "a", b, "b").is_ok();
  EXPECT_EQ(result, check_no_overlap(b, "b", a, "a").is_ok()) << "the order does not matter";
  return result;
}

TEST(Apart, AreViewsSideBySide) { EXPECT_TRUE(are_apart(view_at(0, 2, 4, 4), view_at(32, 2, 4, 4))); }

TEST(Apart, AreNotTheSameViews) { EXPECT_FALSE(are_apart(view_at(0, 2, 4, 4), view_at(0, 2, 4, 4))); }

TEST(Apart, AreNotViewsThatShareOneByte) {
  EXPECT_FALSE(are_apart(view_at(0, 1, 33, 33, LPT_FORMAT_UINT8), view_at(32, 2, 4, 4)));
  EXPECT_TRUE(are_apart(view_at(0, 1, 32, 32, LPT_FORMAT_UINT8), view_at(32, 2, 4, 4)));
}

TEST(Apart, AreInterleavedColumnsOfOneMatrix) {
  // gate | up in one row of 10
  EXPECT_TRUE(are_apart(view_at(0, 8, 5, 10), view_at(20, 8, 5, 10)));
  EXPECT_FALSE(are_apart(view_at(0, 8, 6, 10), view_at(20, 8, 5, 10)));
  EXPECT_FALSE(are_apart(view_at(0, 8, 5, 10), view_at(20, 8, 6, 10))) << "into the next row's first column";
}

TEST(Apart, AreInterleavedColumnsThatBeginRowsLater) {
  EXPECT_TRUE(are_apart(view_at(0, 8, 5, 10), view_at(3 * 40 + 20, 8, 5, 10)));
  EXPECT_TRUE(are_apart(view_at(3 * 40, 8, 5, 10), view_at(20, 8, 5, 10)));
  EXPECT_FALSE(are_apart(view_at(3 * 40, 8, 5, 10), view_at(16, 8, 5, 10)));
}

TEST(Apart, AreInterleavedColumnsOfDifferentFormats) {
  EXPECT_TRUE(are_apart(view_at(0, 8, 5, 10), view_at(20, 8, 10, 20, LPT_FORMAT_BF16)));
  EXPECT_FALSE(are_apart(view_at(0, 8, 5, 10), view_at(18, 8, 10, 20, LPT_FORMAT_BF16)));
}

TEST(Apart, IsAVectorInTheGapOfAMatrix) {
  EXPECT_TRUE(are_apart(view_at(0, 4, 5, 10), view_at(20, 1, 5, 5)));
  EXPECT_TRUE(are_apart(view_at(0, 4, 5, 10), view_at(60, 1, 5, 5)));
  EXPECT_FALSE(are_apart(view_at(0, 4, 5, 10), view_at(20, 1, 6, 6))) << "into the next row";
  EXPECT_FALSE(are_apart(view_at(0, 4, 5, 10), view_at(16, 1, 5, 5))) << "from the row before";
}

TEST(Apart, AreEmptyViewsFromAll) {
  EXPECT_TRUE(are_apart(view_at(0, 0, 4, 4), view_at(0, 2, 4, 4)));
  EXPECT_TRUE(are_apart(view_at(0, 4, 0, 4), view_at(0, 2, 4, 4)));
}

TEST(Apart, AreViewsWithoutData) {
  MatrixView none = view_at(0, 2, 4, 4);
  none.data = nullptr;
  EXPECT_TRUE(are_apart(none, view_at(0, 2, 4, 4)));
  EXPECT_TRUE(are_apart(none, none));
}

TEST(Apart, SaysWhichViewsOverlap) {
  const Status status = check_no_overlap(view_at(0, 2, 4, 4), "output", view_at(4, 2, 4, 4), "input");
  EXPECT_EQ(LPT_INVALID_ARGUMENT, status.code());
  EXPECT_NE(std::string::npos, status.message().find("output"));
  EXPECT_NE(std::string::npos, status.message().find("overlaps input"));
}

std::set<int64_t> bytes_of(const MatrixView &view) {
  const int64_t bits = element_bits(view.format.element);
  const int64_t first = static_cast<std::byte *>(view.data) - memory;
  std::set<int64_t> bytes;
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.columns; ++c) {
      const int64_t bit = (r * view.row_stride + c * view.column_stride) * bits;
      for (int64_t byte = bit / 8; byte <= (bit + bits - 1) / 8; ++byte) bytes.insert(first + byte);
    }
  }
  return bytes;
}

MatrixView draw_view(test::Random &random) {
  static constexpr lpt_format formats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_UINT8, LPT_FORMAT_E2M1FN};
  const int64_t columns = 1 + random.below(6);
  int64_t stride = columns + random.below(8);
  stride += stride % 2;
  return view_at(4 * random.below(20), 1 + random.below(4), columns, stride, random.of(formats));
}

TEST(Apart, NeverAcceptsViewsThatOverlap) {
  test::Random random(501);
  int64_t overlaps = 0;
  for (int i = 0; i < 20000; ++i) {
    const MatrixView a = draw_view(random);
    const MatrixView b = draw_view(random);
    const std::set<int64_t> bytes = bytes_of(a);
    bool do_overlap = false;
    for (const int64_t byte : bytes_of(b)) do_overlap = do_overlap || bytes.count(byte) > 0;
    overlaps += do_overlap ? 1 : 0;
    if (do_overlap) {
      ASSERT_FALSE(are_apart(a, b)) << i;
    }
  }
  EXPECT_GT(overlaps, 1000);
}

}  // namespace
}  // namespace lpt
