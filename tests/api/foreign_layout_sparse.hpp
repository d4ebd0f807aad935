// Common parts of the tests of both sparse foreign layouts: 2:4 matrices of small integers, and their GEMMs.
#pragma once

#include "tests/api/foreign_layout.hpp"
#include "tests/api/sparse_warp.hpp"

namespace lpt::test {

struct SparseElement {
  const char *name;  // name of the dense format
  WarpElement element;
};

// Neither layout stores scales, so the format may have any.
constexpr SparseElement kSparseElements[] = {{"f16", {16, 5, 10}},   {"bf16", {16, 8, 7}}, {"e4m3fn", {8, 4, 3}},
                                             {"e5m2", {8, 5, 2}},    {"int8", {8, 0, 0}},  {"mxfp8_e4m3", {8, 4, 3}},
                                             {"int8_row", {8, 0, 0}}};

constexpr uint8_t kLegalIndices[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE};

inline lpt_format sparse_named(const char *name) { return format_named((std::string(name) + "/2:4").c_str()); }

// A 2:4 matrix with two elements of -3 … 3 except 0 in every group. `pattern` selects one of the six index pairs.
struct SparseMatrix {
  Tensor compressed;
  std::vector<double> numbers;  // of all columns, without scales
  int64_t rows, columns;
};

template <typename Pattern>
SparseMatrix make_sparse(lpt_context *context, const SparseElement &kind, int64_t rows, int64_t columns, uint64_t place,
                         const Pattern &pattern) {
  Random random(place);
  SparseMatrix matrix{{}, std::vector<double>(static_cast<size_t>(rows * columns)), rows, columns};
  uint8_t indices = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      if (column % 4 == 0) indices = kLegalIndices[pattern(row, column / 4)];
      if ((indices & 3) != column % 4 && indices >> 2 != column % 4) continue;
      const auto number = static_cast<double>(1 + random.below(3));
      matrix.numbers[static_cast<size_t>(row * columns + column)] = random.chance(0.5) ? number : -number;
    }
  }
  const Tensor dense = make_tensor(context, format_named(kind.name), rows, columns);
  const Tensor codes = tensor_of(context, describe(format_named(kind.name)).element, rows, columns, matrix.numbers);
  fill(context, dense.get(), LPT_TENSOR_PART_PAYLOAD, bytes_of(context, codes.get()));
  matrix.compressed = make_tensor(context, sparse_named(kind.name), rows, columns);
  EXPECT_TRUE(ok(context, lpt_sparse_compress(context, dense.get(), nullptr, matrix.compressed.get(), nullptr)));
  return matrix;
}

inline SparseMatrix make_sparse(lpt_context *context, const SparseElement &kind, int64_t rows, int64_t columns,
                                uint64_t place) {
  Random random(place + 1);
  return make_sparse(context, kind, rows, columns, place, [&](int64_t, int64_t) {
    static_assert(sizeof kLegalIndices == 6);
    return random.below(6);
  });
}

// The other operand, columns × 8. Its additional rows must not contribute to the result.
struct Factor {
  Factor(uint64_t place, int64_t rows) : numbers(static_cast<size_t>((rows + 127) / 64 * 64 * 8)) {
    Random random(place);
    for (double &number : numbers) number = static_cast<double>(random.below(19) - 9);
  }
  double at(int64_t row, int64_t column) const { return numbers[static_cast<size_t>(row * 8 + column)]; }

  // Returns the elements of each lane, from the rows at `begin`.
  WarpB fragment(const WarpElement &element, int64_t begin) const {
    WarpB lanes{};
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < depth_of(element) / 4; ++i) {
        const Cell cell = cell_of_b(element, lane, i);
        lanes[static_cast<size_t>(lane)][static_cast<size_t>(i)] = at(begin + cell.row, cell.column);
      }
    }
    return lanes;
  }

  std::vector<double> numbers;
};

// Checks that the lanes have the rows of the GEMM from `begin`. Rows past the end are 0.
inline void expect_gemm(const SparseMatrix &matrix, const Factor &factor, int64_t begin, const WarpD &found,
                        const std::string &where) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const Cell cell = cell_of_d(lane, i);
      const int64_t row = begin + cell.row;
      double expected = 0;
      for (int64_t k = 0; row < matrix.rows && k < matrix.columns; ++k) {
        expected += matrix.numbers[static_cast<size_t>(row * matrix.columns + k)] * factor.at(k, cell.column);
      }
      ASSERT_EQ(expected, found[static_cast<size_t>(lane)][static_cast<size_t>(i)])
          << where << ", row " << row << ", column " << cell.column;
    }
  }
}

// Returns the bytes of all parts of a matrix.
inline std::vector<Bytes> all_parts(lpt_context *context, const lpt_tensor *tensor) {
  std::vector<Bytes> parts;
  for (const lpt_tensor_part part : parts_of(describe(context, tensor).format)) {
    parts.push_back(part_bytes(context, tensor, part));
  }
  return parts;
}

// Fills codes with random bytes and indices with random valid values.
inline void fill_with_noise(lpt_context *context, lpt_tensor *tensor, uint64_t place) {
  Random random(place);
  const size_t codes = part_bytes(context, tensor, LPT_TENSOR_PART_PAYLOAD).size();
  fill(context, tensor, LPT_TENSOR_PART_PAYLOAD, random_bytes(place, codes));
  const int64_t columns = shape_of(context, tensor).columns;
  Bytes indices = part_bytes(context, tensor, LPT_TENSOR_PART_SPARSE_INDICES);
  const auto across = static_cast<size_t>((columns + 7) / 8);
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool has_two = i % across + 1 < across || (columns - 1) % 8 >= 4;
    indices[i] = static_cast<uint8_t>(random.of(kLegalIndices) | (has_two ? random.of(kLegalIndices) : 4) << 4);
  }
  fill(context, tensor, LPT_TENSOR_PART_SPARSE_INDICES, indices);
}

}  // namespace lpt::test
