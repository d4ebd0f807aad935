// Reads bytes as a safetensors file and checks the result independently, for the mutation test and the fuzzer.
#pragma once

#include <cstdlib>
#include <set>
#include <string>

#include "safetensors.hpp"

namespace tool_tests {

// Throws tool::Error if the reader rejects the bytes. Aborts the program if the reader returns inconsistent data.
inline void check_soundness(const std::string &bytes) {
  const auto data = std::as_bytes(std::span(bytes));
  const uint64_t length =
      tool::check_header_length("bytes", bytes.size(), data.first(std::min<size_t>(data.size(), 8)));
  const uint64_t data_bytes = bytes.size() - 8 - length;
  const tool::Header header = tool::parse_header("bytes", std::string_view(bytes).substr(8, length), data_bytes);
  std::set<std::string> names;
  uint64_t reached = 0;
  for (const tool::StoredTensor &tensor : header.tensors) {
    long double bits = tensor.dtype->bits;
    for (const int64_t extent : tensor.shape) bits *= static_cast<long double>(extent);
    const bool is_sound = tensor.begin == reached && tensor.end >= tensor.begin && tensor.end <= data_bytes &&
                          bits == 8.0L * static_cast<long double>(tensor.end - tensor.begin) &&
                          names.insert(tensor.name).second;
    if (!is_sound) std::abort();
    reached = tensor.end;
  }
  if (reached != data_bytes) std::abort();
  // The tensors can be written and read back.
  std::vector<tool::StoredTensor> tensors = header.tensors;
  const uint64_t placed = tool::place_tensors(tensors);
  const std::string prefix = tool::header_bytes(tensors, header.metadata);
  const tool::Header again = tool::parse_header("again", std::string_view(prefix).substr(8), placed);
  if (again.tensors.size() != header.tensors.size() || again.metadata != header.metadata) std::abort();
}

}  // namespace tool_tests
