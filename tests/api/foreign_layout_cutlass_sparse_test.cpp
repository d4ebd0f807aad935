// The metadata of CUTLASS: against the published order, inverted unit by unit, and via ldmatrix as an operand of mma.sp.
#include "tests/api/foreign_layout_sparse.hpp"

namespace lpt::test {
namespace {

constexpr lpt_foreign_layout kCutlass = LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE;

std::vector<Shape> shapes_of(const WarpElement &element) {
  if (element.bits == 16) return {{32, 64}, {32, 192}, {96, 64}, {128, 320}};
  return {{16, 128}, {16, 384}, {48, 128}, {112, 256}};
}

// The source of the unit at an index of the metadata: the published steps, inverted in reverse order.
struct UnitPlace {
  UnitPlace(int64_t place, int64_t rows, const WarpElement &element) {
    // Pairs of columns are adjacent; each row has the left unit, then the right one.
    column = place / (2 * rows) * 2 + place % 2;
    int64_t line = place % (2 * rows) / 2;
    // The upper right and the lower left unit are exchanged.
    if (line % 2 == 0 && column % 2 == 1) {
      ++line, --column;
    } else if (line % 2 == 1 && column % 2 == 0) {
      --line, ++column;
    }
    // Each group stores its rows 0, 8, … first, then 1, 9, …
    const int64_t group = element.bits == 16 ? 32 : 16;
    const int64_t eights = group / 8;
    row = line / group * group + line % group / eights + line % eights * 8;
  }
  int64_t row, column;
};

Bytes metadata_in_order(const Bytes &indices, int64_t rows, int64_t columns, const WarpElement &element) {
  const int64_t unit = element.bits == 16 ? 2 : 4;
  Bytes ordered(indices.size());
  for (int64_t place = 0; place * unit < static_cast<int64_t>(indices.size()); ++place) {
    const UnitPlace from(place, rows, element);
    for (int64_t i = 0; i < unit; ++i) {
      const int64_t byte = from.row * (columns / 8) + from.column * unit + i;
      ordered[static_cast<size_t>(place * unit + i)] = indices[static_cast<size_t>(byte)];
    }
  }
  return ordered;
}

TEST(ForeignLayoutCutlassSparse, OrdersMetadataAsPublished) {
  const Context context = make_context(3);
  for (const SparseElement &kind : kSparseElements) {
    for (const Shape shape : shapes_of(kind.element)) {
      const Tensor tensor = make_tensor(context.get(), sparse_named(kind.name), shape.rows, shape.columns);
      fill_with_noise(context.get(), tensor.get(), 650);
      Bytes expected = part_bytes(context.get(), tensor.get(), LPT_TENSOR_PART_PAYLOAD);
      const Bytes indices = part_bytes(context.get(), tensor.get(), LPT_TENSOR_PART_SPARSE_INDICES);
      const Bytes ordered = metadata_in_order(indices, shape.rows, shape.columns, kind.element);
      expected.insert(expected.end(), ordered.begin(), ordered.end());
      EXPECT_TRUE(expected == exported(context.get(), tensor.get(), kCutlass)) << kind.name << " " << shape.rows;

      const Tensor read = make_tensor(context.get(), sparse_named(kind.name), shape.rows, shape.columns);
      ASSERT_TRUE(import(context.get(), expected, kCutlass, read.get()));
      EXPECT_TRUE(all_parts(context.get(), tensor.get()) == all_parts(context.get(), read.get())) << kind.name;
    }
  }
}

// Units of 16 columns (16-bit elements) or 32 columns (8-bit elements) at selected indices, computed by hand.
TEST(ForeignLayoutCutlassSparse, HasTheBytesThatAreDocumented) {
  const Context context = make_context();
  struct Place {
    int64_t row, unit;
    size_t place;  // index of the unit in the metadata
  };
  const Place wide[] = {{0, 0, 0}, {8, 0, 1},  {0, 1, 2},   {8, 1, 3},   {16, 0, 4},  {24, 1, 7},
                        {1, 0, 8}, {7, 0, 56}, {31, 1, 63}, {32, 0, 64}, {0, 2, 128}, {63, 3, 255}};
  const Place narrow[] = {{0, 0, 0}, {8, 0, 1},   {0, 1, 2},   {8, 1, 3},  {1, 0, 4},
                          {9, 1, 7}, {15, 1, 31}, {16, 0, 32}, {0, 2, 64}, {31, 3, 127}};
  const auto check = [&](const char *name, int64_t rows, int64_t columns, size_t unit, const auto &places) {
    const Tensor tensor = make_tensor(context.get(), sparse_named(name), rows, columns);
    auto *indices = part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_SPARSE_INDICES);
    const Bytes empty = exported(context.get(), tensor.get(), kCutlass);
    for (const Place &place : places) {
      uint8_t *const from = indices + place.row * (columns / 8) + place.unit * static_cast<int64_t>(unit);
      const uint8_t kBytes[] = {0xE4, 0x94, 0xC8, 0xD9};
      Bytes expected = empty;
      const size_t begin = empty.size() - static_cast<size_t>(rows * columns / 8) + place.place * unit;
      std::memcpy(from, kBytes, unit);
      std::memcpy(&expected[begin], kBytes, unit);
      EXPECT_TRUE(expected == exported(context.get(), tensor.get(), kCutlass)) << name << " " << place.place;
      std::memset(from, 0x44, unit);
    }
  };
  check("bf16", 64, 64, 2, wide);
  check("e4m3fn", 32, 128, 4, narrow);
}

// A warp loads 32 rows (16 for 8-bit elements) of a pair of columns by one ldmatrix, as CUTLASS does. The registers serve
// two instructions of 16 rows with selectors 0 and 1, or one instruction.
TEST(ForeignLayoutCutlassSparse, IsWhatLdmatrixLoadsForMmaSp) {
  const Context context = make_context();
  for (const SparseElement &kind : kSparseElements) {
    const WarpElement &element = kind.element;
    for (const Shape shape : shapes_of(element)) {
      const SparseMatrix matrix = make_sparse(context.get(), kind, shape.rows, shape.columns, 651);
      const Bytes bytes = exported(context.get(), matrix.compressed.get(), kCutlass);
      const int64_t row_bytes = shape.columns / 2 * element.bits / 8;
      const int64_t code_bytes = shape.rows * row_bytes;
      ASSERT_EQ(static_cast<size_t>(code_bytes + shape.rows * shape.columns / 8), bytes.size());
      const Factor factor(652, shape.columns);
      const int64_t pair_bytes = shape.rows * depth_of(element) / 8;
      for (int64_t row = 0; row < shape.rows; row += 16) {
        const int64_t loaded = element.bits == 16 ? row / 32 * 32 : row;
        WarpD gemm{};
        for (int64_t step = 0; step * depth_of(element) < shape.columns; ++step) {
          std::array<const uint8_t *, 8> lines{};
          for (int64_t i = 0; i < 8; ++i) {
            const int64_t at = code_bytes + step * pair_bytes + loaded * depth_of(element) / 8 + i * 16;
            lines[static_cast<size_t>(i)] = &bytes[static_cast<size_t>(at)];
          }
          WarpA a{};
          for (size_t lane = 0; lane < kLanes; ++lane) {
            for (size_t i = 0; i < 4; ++i) {  // 16 bytes of rows 0 to 7 and 8 to 15, then the next 16
              const int64_t line = row + static_cast<int64_t>(lane / 4 + i % 2 * 8);
              const int64_t at = line * row_bytes + step * 32 + static_cast<int64_t>(i / 2 * 16 + lane % 4 * 4);
              std::memcpy(&a[lane][i], &bytes[static_cast<size_t>(at)], 4);
            }
          }
          const int selector = element.bits == 16 ? static_cast<int>(row / 16 % 2) : 0;
          mma_sp(element, a, ldmatrix(lines), selector, factor.fragment(element, step * depth_of(element)), gemm);
        }
        ASSERT_NO_FATAL_FAILURE(expect_gemm(matrix, factor, row, gemm, kind.name));
      }
    }
  }
}

TEST(ForeignLayoutCutlassSparse, SeesCodesAndIndicesOfAView) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), sparse_named("bf16"), 80, 320);
  fill_with_noise(context.get(), whole.get(), 653);
  const Tensor part = view(context.get(), whole.get(), {5, 64}, {64, 128});
  const Bytes bytes = exported(context.get(), part.get(), kCutlass);
  const Bytes indices = part_bytes(context.get(), part.get(), LPT_TENSOR_PART_SPARSE_INDICES);
  Bytes expected = part_bytes(context.get(), part.get(), LPT_TENSOR_PART_PAYLOAD);
  const Bytes ordered = metadata_in_order(indices, 64, 128, {16, 8, 7});
  expected.insert(expected.end(), ordered.begin(), ordered.end());
  EXPECT_TRUE(expected == bytes);
  const std::vector<Bytes> before = all_parts(context.get(), part.get());
  fill_with_noise(context.get(), whole.get(), 654);
  EXPECT_FALSE(before == all_parts(context.get(), part.get()));
  ASSERT_TRUE(import(context.get(), bytes, kCutlass, part.get()));
  EXPECT_TRUE(before == all_parts(context.get(), part.get()));
}

TEST(ForeignLayoutCutlassSparse, RejectsIndicesThatAreNotLegal) {
  const Context context = make_context(3);
  const Tensor target = make_tensor(context.get(), sparse_named("int8"), 48, 128);
  const Tensor source = make_tensor(context.get(), sparse_named("int8"), 48, 128);
  const Bytes good = exported(context.get(), source.get(), kCutlass);
  const WarpElement element{8, 0, 0};
  for (const int64_t place : {0, 5, 77, 191}) {  // indices of 4 × 48 units of eight groups
    for (const size_t half : {size_t{0}, size_t{3}, size_t{7}}) {
      Bytes bad = good;
      uint8_t &byte = bad[48 * 64 + static_cast<size_t>(place) * 4 + half / 2];
      byte = half % 2 == 0 ? 0x4B : 0xB4;
      const UnitPlace from(place, 48, element);
      const std::string text = "buffer has the index 0xB in group " + std::to_string(from.column * 8 + int64_t(half)) +
                               " of row " + std::to_string(from.row) + ":";
      expect_rejected_import(context.get(), bad, kCutlass, target.get(), {text.c_str(), "0x4, 0x8, 0x9"});
    }
  }
  part_data<uint8_t>(context.get(), source.get(), LPT_TENSOR_PART_SPARSE_INDICES)[47 * 16 + 15] = 0x14;
  expect_rejected_export(context.get(), source.get(), kCutlass, {"tensor has the index 0x1 in group 31 of row 47"});
}

}  // namespace
}  // namespace lpt::test
