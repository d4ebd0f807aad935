// Memory between canaries, and matrices in it.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "src/formats/format.hpp"
#include "src/formats/view.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {

// Bytes with canaries on both sides. The data starts `shift` bytes after a 64-byte boundary.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes, std::size_t shift = 0) : bytes_(bytes), memory_(bytes + 4 * kZone, kCanary) {
    const std::size_t misfit = reinterpret_cast<uintptr_t>(memory_.data()) % kZone;
    start_ = kZone + (kZone - misfit) + shift % kZone;
    if (bytes_ > 0) std::memset(data(), kFill, bytes_);
  }

  uint8_t *data() { return memory_.data() + start_; }
  const uint8_t *data() const { return memory_.data() + start_; }
  std::size_t bytes() const { return bytes_; }

  bool is_intact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const bool is_inside = i >= start_ && i < start_ + bytes_;
      if (!is_inside && memory_[i] != kCanary) return false;
    }
    return true;
  }
  bool equals(const Guarded &other) const {
    return bytes_ == other.bytes_ && (bytes_ == 0 || std::memcmp(data(), other.data(), bytes_) == 0);
  }

  static constexpr uint8_t kFill = 0x5A;

 private:
  static constexpr std::size_t kZone = 64;
  static constexpr uint8_t kCanary = 0xC7;
  std::size_t bytes_;
  std::size_t start_ = 0;
  std::vector<uint8_t> memory_;
};

// A matrix with its scales and zero points. The gap between rows is `padding` elements, rounded up to full packs. column_stride
// is 1, or that of a transposed matrix.
class Matrix {
 public:
  Matrix(lpt_format id, int64_t rows, int64_t columns, int64_t padding = 0, std::size_t shift = 0,
         bool is_transposed = false)
      : format_(format_of(id)),
        bits_(element_bits(format_.element)),
        is_ternary_(has_element(format_.element) && element_of(format_.element).is_ternary),
        rows_(rows),
        columns_(columns),
        grid_(block_grid(format_, rows, columns)),
        stride_(whole_packs((is_transposed ? rows : columns) + padding)),
        is_transposed_(is_transposed),
        data(data_bytes(), shift),
        scales(scale_bytes(), shift),
        zero_points(zero_point_bytes()) {}
  Matrix(const Matrix &) = delete;
  Matrix &operator=(const Matrix &) = delete;

  MatrixView view() {
    MatrixView view;
    view.format = format_;
    view.data = data.data();
    view.rows = rows_;
    view.columns = columns_;
    view.row_stride = is_transposed_ ? 1 : stride_;
    view.column_stride = is_transposed_ ? stride_ : 1;
    if (format_.has_block_scale()) {
      view.block_scales = scales.data();
      view.block_scale_stride = scale_stride();
    }
    if (format_.has_tensor_scale()) view.tensor_scale = &tensor_scale;
    if (format_.has_zero_point()) view.zero_points = zero_points.data();
    return view;
  }

  // Returns the index of element (row, column) in `data`, in elements.
  int64_t index(int64_t row, int64_t column) const {
    return is_transposed_ ? column * stride_ + row : row * stride_ + column;
  }
  const Format &format() const { return format_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const BlockGrid &grid() const { return grid_; }
  int64_t scale_stride() const { return format_.has_block_scale() ? grid_.columns + 1 : 0; }

  // Reads a code from its bytes, independently of load_code() and store_code() of the library.
  uint32_t code(int64_t row, int64_t column) const {
    const int64_t at = index(row, column);
    if (is_ternary_) return ternary_code(data.data()[at / 5] / kPowersOfThree[at % 5] % 3);
    uint32_t code = 0;
    if (bits_ >= 8) {
      std::memcpy(&code, data.data() + at * bits_ / 8, static_cast<std::size_t>(bits_ / 8));
      return code;
    }
    for (int bit = 0; bit < bits_; ++bit) code |= static_cast<uint32_t>(bit_at(at * bits_ + bit)) << bit;
    return code;
  }
  void set_code(int64_t row, int64_t column, uint32_t code) {
    const int64_t at = index(row, column);
    if (is_ternary_) {
      const int old_digit = data.data()[at / 5] / kPowersOfThree[at % 5] % 3;
      const int digit = code == 3 ? 2 : static_cast<int>(code);
      data.data()[at / 5] = static_cast<uint8_t>(data.data()[at / 5] + (digit - old_digit) * kPowersOfThree[at % 5]);
    } else if (bits_ >= 8) {
      std::memcpy(data.data() + at * bits_ / 8, &code, static_cast<std::size_t>(bits_ / 8));
    } else {
      for (int bit = 0; bit < bits_; ++bit) set_bit(at * bits_ + bit, (code >> bit) & 1);
    }
  }
  uint8_t zero_point(int64_t block_row, int64_t block_column) const {
    return format_.has_zero_point() ? zero_points.data()[block_row * scale_stride() + block_column] : 0;
  }
  uint32_t scale_code(int64_t block_row, int64_t block_column) const {
    const int64_t at = block_row * scale_stride() + block_column;
    if (format_.block_scale != LPT_FORMAT_F32) return scales.data()[at];
    uint32_t code;
    std::memcpy(&code, scales.data() + 4 * at, sizeof code);
    return code;
  }

  // Rounds a value to the format of this matrix: f32, f64, bf16 or f16.
  void set(int64_t row, int64_t column, float value) {
    const int64_t at = index(row, column);
    if (format_.element == LPT_FORMAT_F64) {
      reinterpret_cast<double *>(data.data())[at] = static_cast<double>(value);
    } else if (format_.element == LPT_FORMAT_F32) {
      reinterpret_cast<float *>(data.data())[at] = value;
    } else {
      set_code(row, column,
               encode(element_of(format_.element), value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
    }
  }
  float get(int64_t row, int64_t column) const {
    const int64_t at = index(row, column);
    if (format_.element == LPT_FORMAT_F64) {
      return static_cast<float>(reinterpret_cast<const double *>(data.data())[at]);
    }
    if (format_.element == LPT_FORMAT_F32) return reinterpret_cast<const float *>(data.data())[at];
    return decode(element_of(format_.element), code(row, column));
  }
  void fill(Random &random, Values values) {
    const std::vector<float> numbers = draw(random, values, rows_ * columns_);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t column = 0; column < columns_; ++column) {
        const float number = numbers[static_cast<std::size_t>(row * columns_ + column)];
        set(row, column, number);
        // Includes NaN with every payload.
        const bool is_half = format_.element == LPT_FORMAT_BF16 || format_.element == LPT_FORMAT_F16;
        if (values == Values::kBits && is_half) set_code(row, column, float_bits(number) >> 16);
      }
    }
  }

  void copy_scales(const Matrix &other) {
    if (scales.bytes() > 0) std::memcpy(scales.data(), other.scales.data(), scales.bytes());
    if (zero_points.bytes() > 0) std::memcpy(zero_points.data(), other.zero_points.data(), zero_points.bytes());
  }
  bool is_intact() const { return data.is_intact() && scales.is_intact() && zero_points.is_intact(); }
  bool equals(const Matrix &other) const {
    return data.equals(other.data) && scales.equals(other.scales) && zero_points.equals(other.zero_points) &&
           std::memcmp(&tensor_scale, &other.tensor_scale, sizeof tensor_scale) == 0;
  }

 private:
  static Format format_of(lpt_format id) {
    Format format;
    find_format(id, format);
    return format;
  }
  static constexpr int kPowersOfThree[5] = {1, 3, 9, 27, 81};

  static uint32_t ternary_code(int digit) { return digit == 2 ? 3 : static_cast<uint32_t>(digit); }
  int64_t whole_packs(int64_t number) const {
    const int64_t pack = packing_of(format_.element).elements;
    return (number + pack - 1) / pack * pack;
  }
  int bit_at(int64_t place) const { return data.data()[place / 8] >> (place % 8) & 1; }
  void set_bit(int64_t place, uint32_t bit) {
    uint8_t &byte = data.data()[place / 8];
    byte = static_cast<uint8_t>((byte & ~(1u << (place % 8))) | bit << (place % 8));
  }
  std::size_t data_bytes() const {
    return static_cast<std::size_t>(row_bytes(format_.element, (is_transposed_ ? columns_ : rows_) * stride_));
  }
  std::size_t scale_bytes() const {
    if (!format_.has_block_scale()) return 0;
    return static_cast<std::size_t>(grid().rows * scale_stride() * element_bits(format_.block_scale) / 8);
  }

  std::size_t zero_point_bytes() const {
    return format_.has_zero_point() ? static_cast<std::size_t>(grid().rows * scale_stride()) : 0;
  }

  Format format_;
  int32_t bits_;
  bool is_ternary_;
  int64_t rows_, columns_;
  BlockGrid grid_;
  int64_t stride_;
  bool is_transposed_;

 public:
  Guarded data, scales, zero_points;
  float tensor_scale = 1.0f;
};

}  // namespace lpt::test
