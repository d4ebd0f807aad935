#include "header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "error.hpp"
#include "text.hpp"

namespace tool {

std::string where_of(const std::string &file, const StoredTensor &tensor) {
  return fmt::format("{}: tensor {}", file, in_quotes(tensor.name));
}

void check_held(const std::string &file, uint64_t header_bytes, uint64_t tensors, const HeaderMemory &memory) {
  const uint64_t held = memory.held(header_bytes, tensors);
  if (held > memory.bytes) {
    throw Error(
        fmt::format("{}: a header with {} of text and {} or more tensors and keys needs {} of memory: expected at most "
                    "--memory, {}",
                    file, size_text(header_bytes), tensors, size_text(held), size_text(memory.bytes)));
  }
}

uint64_t check_extent(const std::string &where, const Dtype &dtype, const std::vector<int64_t> &shape) {
  // Zeros are excluded from the product, so that an overflow is detected even next to a zero.
  uint64_t bits = static_cast<uint64_t>(dtype.bits);
  bool is_empty = false;
  const int64_t columns = shape.empty() ? 1 : shape.back();
  if (columns % dtype.block != 0) {
    throw Error(fmt::format("{}: shape {} of {} has {} columns: expected a multiple of {}, the elements of a block",
                            where, shape_text(shape), dtype.name, columns, dtype.block));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = i + 1 == shape.size() ? shape[i] / dtype.block : shape[i];
    is_empty = is_empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bits, static_cast<uint64_t>(extent), &bits)) {
      throw Error(fmt::format("{}: shape {} of {} is more than 2^64 bits: expected a size that a file can have", where,
                              shape_text(shape), dtype.name));
    }
  }
  if (is_empty) return 0;
  if (bits % 8 != 0) {
    throw Error(
        fmt::format("{}: shape {} of {} is {} bits: expected whole bytes", where, shape_text(shape), dtype.name, bits));
  }
  return bits / 8;
}

void sort_places(Header &header) {
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const StoredTensor &a, const StoredTensor &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
}

void sort_names(const std::string &file, Header &header) {
  const auto &tensors = header.tensors;
  header.by_name.resize(tensors.size());
  std::iota(header.by_name.begin(), header.by_name.end(), 0u);
  std::sort(header.by_name.begin(), header.by_name.end(),
            [&](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; });
  const auto twice = std::adjacent_find(header.by_name.begin(), header.by_name.end(),
                                        [&](uint32_t a, uint32_t b) { return tensors[a].name == tensors[b].name; });
  if (twice != header.by_name.end()) {
    throw Error(fmt::format("{}: {} occurs twice in the header: expected each name once", file,
                            in_quotes(tensors[*twice].name)));
  }
}

}  // namespace tool
