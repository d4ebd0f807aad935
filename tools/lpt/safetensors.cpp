#include "safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "header_parser.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr uint64_t kPrefixBytes = 8;

// Checks that the tensors are contiguous, from the first byte after the header to the end of the file.
void check_places(const std::string &file, const std::vector<StoredTensor> &tensors, uint64_t data_bytes) {
  uint64_t reached = 0;
  const StoredTensor *before = nullptr;
  for (const StoredTensor &tensor : tensors) {
    if (tensor.begin != reached) {
      const std::string what = before == nullptr ? "the data begins" : fmt::format("{} ends", in_quotes(before->name));
      throw Error(fmt::format("{}: data_offsets begin at {}, but {} at {}: expected no {}", where_of(file, tensor),
                              tensor.begin, what, reached, tensor.begin < reached ? "overlap" : "hole"));
    }
    reached = tensor.end;
    before = &tensor;
  }
  if (reached != data_bytes) {
    throw Error(fmt::format("{}: {} bytes lie behind the last tensor: expected none", file, data_bytes - reached));
  }
}

// Returns the kind of another file whose first eight bytes are not a length; "" if unknown.
std::string other_kind(std::span<const std::byte> prefix) {
  const std::string_view text(reinterpret_cast<const char *>(prefix.data()), prefix.size());
  if (text.starts_with("GGUF")) return "a GGUF file: expected a safetensors file";
  if (text.starts_with("PK\x03\x04"))
    return "a zip archive, as torch.save() and numpy.savez() write: expected a safetensors file";
  if (text.starts_with('{')) {
    return "JSON, such as the index of a sharded model: expected a safetensors file: run lpt for each file of the "
           "model";
  }
  return "";
}

}  // namespace

uint64_t check_header_length(const std::string &file, uint64_t file_bytes, std::span<const std::byte> prefix) {
  if (file_bytes < kPrefixBytes || prefix.size() < kPrefixBytes) {
    throw Error(
        fmt::format("{}: not a safetensors file: it is {} bytes long: expected at least 8, the length of the header",
                    file, file_bytes));
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kPrefixBytes; ++i) length |= std::to_integer<uint64_t>(prefix[i]) << (8 * i);
  if (length > kMostHeaderBytes) {
    const std::string other = other_kind(prefix);
    if (!other.empty()) throw Error(fmt::format("{}: is {}", file, other));
    throw Error(fmt::format("{}: not a safetensors file: the header's length is {}: expected at most {}", file, length,
                            kMostHeaderBytes));
  }
  if (length > file_bytes - kPrefixBytes) {
    throw Error(fmt::format("{}: the header's length is {}, but {} bytes follow: the file is cut off", file, length,
                            file_bytes - kPrefixBytes));
  }
  return length;
}

Header parse_header(const std::string &file, std::string_view text, uint64_t data_bytes, const HeaderMemory &memory) {
  Header header = read_header_json(file, text, memory);
  sort_places(header);
  sort_names(file, header);
  for (const StoredTensor &tensor : header.tensors) {
    const std::string where = where_of(file, tensor);
    if (tensor.end < tensor.begin) {
      throw Error(fmt::format("{}: data_offsets are [{}, {}]: expected the end behind the begin", where, tensor.begin,
                              tensor.end));
    }
    if (tensor.end > data_bytes) {
      throw Error(
          fmt::format("{}: data_offsets are [{}, {}], but the file holds {} bytes of data: it is cut off or damaged",
                      where, tensor.begin, tensor.end, data_bytes));
    }
    const uint64_t expected = check_extent(where, *tensor.dtype, tensor.shape);
    if (tensor.bytes() != expected) {
      throw Error(fmt::format("{}: data_offsets are [{}, {}], {} bytes: expected {} for {} {}", where, tensor.begin,
                              tensor.end, tensor.bytes(), expected, tensor.dtype->name, shape_text(tensor.shape)));
    }
  }
  check_places(file, header.tensors, data_bytes);
  return header;
}

FileHeader read_safetensors(const File &file, const HeaderMemory &memory, Digest &digest) {
  const std::string &path = file.path();
  const uint64_t file_bytes = file.size();
  std::array<std::byte, kPrefixBytes> prefix{};
  const size_t there = std::min<uint64_t>(file_bytes, kPrefixBytes);
  file.read(0, std::span(prefix).first(there));
  const uint64_t length = check_header_length(path, file_bytes, std::span(prefix).first(there));
  check_held(path, length, 0, memory);
  std::string text(length, '\0');
  file.read(kPrefixBytes, std::as_writable_bytes(std::span(text)));
  FileHeader result;
  result.data_offset = kPrefixBytes + length;
  result.header = parse_header(path, text, file_bytes - result.data_offset, memory);
  result.held_bytes = memory.held(length, result.header.tensors.size() + result.header.metadata.size());
  digest.add(text);
  return result;
}

uint64_t place_tensors(std::vector<StoredTensor> &tensors) {
  std::vector<StoredTensor *> order;
  for (StoredTensor &tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const StoredTensor *a, const StoredTensor *b) { return a->dtype->bits > b->dtype->bits; });
  uint64_t reached = 0;
  for (StoredTensor *tensor : order) {
    tensor->begin = reached;
    reached += check_extent("tensor " + in_quotes(tensor->name), *tensor->dtype, tensor->shape);
    tensor->end = reached;
  }
  return reached;
}

std::string header_bytes(const std::vector<StoredTensor> &tensors, const std::map<std::string, std::string> &metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += fmt::format("\"__metadata__\":{}", nlohmann::json(metadata).dump());
  std::vector<const StoredTensor *> order;
  for (const StoredTensor &tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const StoredTensor *a, const StoredTensor *b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  for (const StoredTensor *tensor : order) {
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}", text.size() == 1 ? "" : ",",
                        nlohmann::json(tensor->name).dump(), tensor->dtype->name, nlohmann::json(tensor->shape).dump(),
                        tensor->begin, tensor->end);
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMostHeaderBytes) {
    throw Error(fmt::format("the output's header is {} bytes: expected at most {}", text.size(), kMostHeaderBytes));
  }
  std::string prefix;
  for (size_t i = 0; i < kPrefixBytes; ++i) prefix += static_cast<char>(text.size() >> (8 * i) & 0xFFu);
  return prefix + text;
}

}  // namespace tool
