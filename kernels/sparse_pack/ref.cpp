// Reference kernels of 2:4 matrices, which define every byte.
#include <cstring>

#include "kernels/sparse_pack/sparse_pack.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

// Codes of any element type by row and column; f32 and f64 as their bits.
class Codes {
 public:
  explicit Codes(const MatrixView &view) : view_(view), bits_(element_bits(view.format.element)) {
    if (bits_ <= 16) element_ = element_of(view.format.element);
  }

  uint64_t get(int64_t row, int64_t column) const {
    const int64_t index = row * view_.row_stride + column;
    if (bits_ <= 16) return load_code(element_, view_.data, index);
    uint64_t code = 0;
    std::memcpy(&code, at(index), static_cast<size_t>(bits_ / 8));
    return code;
  }
  void set(int64_t row, int64_t column, uint64_t code) const {
    const int64_t index = row * view_.row_stride + column;
    if (bits_ <= 16) return store_code(element_, view_.data, index, static_cast<uint32_t>(code));
    std::memcpy(at(index), &code, static_cast<size_t>(bits_ / 8));
  }
  bool is_zero(uint64_t code) const {
    if (bits_ > 16) return code << (65 - bits_) == 0;
    return decode(element_, static_cast<uint32_t>(code)) == 0.0f;
  }

 private:
  std::byte *at(int64_t index) const { return static_cast<std::byte *>(view_.data) + index * (bits_ / 8); }

  const MatrixView &view_;
  int32_t bits_;
  Element element_{};
};

// The stored columns of a group: two indices, and whether the mask keeps them.
struct Pair {
  int place[2];
  bool is_kept[2];
};

// Returns the kept columns, padded with the lowest other columns to two.
Pair pair_of(const bool *stays) {
  int fillers = 2;
  for (int i = 0; i < 4; ++i) fillers -= stays[i];
  Pair pair{};
  int count = 0;
  for (int i = 0; i < 4 && count < 2; ++i) {
    if (!stays[i] && fillers <= 0) continue;
    if (!stays[i]) --fillers;
    pair.place[count] = i;
    pair.is_kept[count] = stays[i];
    ++count;
  }
  return pair;
}

uint8_t half_of(const Pair &pair) { return static_cast<uint8_t>(pair.place[0] | pair.place[1] << 2); }

Pair masked_pair(const MatrixView &mask, int64_t row, int64_t begin) {
  bool stays[4] = {};
  for (int64_t i = 0; i < 4 && begin + i < mask.columns; ++i) {
    const int64_t index = row * mask.row_stride + (begin + i) * mask.column_stride;
    stays[i] = static_cast<const uint8_t *>(mask.data)[index] != 0;
  }
  return pair_of(stays);
}

}  // namespace

void compress_any_ref(const CompressRequest &request) {
  const Codes source(request.source);
  const Codes stored(request.stored);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    uint8_t *indices = request.indices + row * request.index_stride;
    std::memset(indices, 0x44, static_cast<size_t>(index_bytes(request.source.columns)));
    for (int64_t group = 0; 4 * group < request.source.columns; ++group) {
      const Pair pair = masked_pair(request.mask, row, 4 * group);
      const int shift = group % 2 == 0 ? 0 : 4;
      indices[group / 2] = static_cast<uint8_t>((indices[group / 2] & ~(15 << shift)) | half_of(pair) << shift);
      for (int i = 0; i < 2; ++i) {
        stored.set(row, 2 * group + i, pair.is_kept[i] ? source.get(row, 4 * group + pair.place[i]) : 0);
      }
    }
  }
}

void decompress_any_ref(const DecompressRequest &request) {
  const Codes stored(request.stored);
  const Codes target(request.target);
  for (int64_t row = 0; row < request.target.rows; ++row) {
    const uint8_t *indices = request.indices + row * request.index_stride;
    for (int64_t column = 0; column < request.target.columns; ++column) {
      const int half = indices[column / 8] >> (column / 4 % 2 == 0 ? 0 : 4) & 15;
      uint64_t code = 0;
      if ((half & 3) == column % 4) code = stored.get(row, column / 4 * 2);
      if (half >> 2 == column % 4) code = stored.get(row, column / 4 * 2 + 1);
      target.set(row, column, code);
    }
  }
}

void nonzero_any_ref(const NonzeroRequest &request) {
  const Codes source(request.source);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    auto *mask = static_cast<uint8_t *>(request.mask.data) + row * request.mask.row_stride;
    for (int64_t column = 0; column < request.source.columns; ++column) {
      mask[column * request.mask.column_stride] = !source.is_zero(source.get(row, column));
    }
  }
}

}  // namespace lpt
