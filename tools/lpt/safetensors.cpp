#include "safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "digest.hpp"
#include "error.hpp"
#include "header_parser.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr uint64_t kPrefixBytes = 8;

std::string where_of(const std::string &file, const StoredTensor &tensor) {
  return fmt::format("{}: tensor {}", file, in_quotes(tensor.name));
}

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

// Throws Error for a folder. The error lists its files.
void check_no_folder(const std::string &path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) return;
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path, problem)) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().filename().string());
  }
  if (names.empty())
    throw Error(fmt::format("{}: is a folder without *.safetensors: expected a safetensors file", path));
  std::sort(names.begin(), names.end());
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + shortened(names[i], 60);
  throw Error(
      fmt::format("{}: is a folder: expected a safetensors file: run lpt for each of the {} that it holds: {}{}", path,
                  names.size(), text, names.size() > kMostNames ? ", ..." : ""));
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
    throw Error(fmt::format("{}: {} stands twice in the header: expected each name once", file,
                            in_quotes(tensors[*twice].name)));
  }
}

}  // namespace

void check_held(const std::string &file, uint64_t header_bytes, uint64_t tensors, const HeaderMemory &memory) {
  const uint64_t held = memory.held(header_bytes, tensors);
  if (held > memory.bytes) {
    throw Error(fmt::format("{}: a header of {} needs {} of memory or more: expected at most --memory, {}", file,
                            size_text(header_bytes), size_text(held), size_text(memory.bytes)));
  }
}

uint64_t check_extent(const std::string &where, const Dtype &dtype, const std::vector<int64_t> &shape) {
  // Zeros are excluded from the product, so that an overflow is detected even next to a zero.
  uint64_t bits = static_cast<uint64_t>(dtype.bits);
  bool is_empty = false;
  for (const int64_t extent : shape) {
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
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const StoredTensor &a, const StoredTensor &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
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

SafetensorsFile::SafetensorsFile(const std::string &path, const HeaderMemory &memory) {
  check_no_folder(path);
  file_ = File::open_to_read(path);
  file_bytes_ = file_.size();
  std::array<std::byte, kPrefixBytes> prefix{};
  const size_t there = std::min<uint64_t>(file_bytes_, kPrefixBytes);
  file_.read(0, std::span(prefix).first(there));
  const uint64_t length = check_header_length(path, file_bytes_, std::span(prefix).first(there));
  check_held(path, length, 0, memory);
  std::string text(length, '\0');
  file_.read(kPrefixBytes, std::as_writable_bytes(std::span(text)));
  data_offset_ = kPrefixBytes + length;
  header_ = parse_header(path, text, file_bytes_ - data_offset_, memory);
  held_bytes_ = memory.held(length, header_.tensors.size() + header_.metadata.size());
  Digest digest;
  digest.add(text);
  header_digest_ = digest.value();
}

const StoredTensor *SafetensorsFile::find(std::string_view name) const {
  const auto &tensors = header_.tensors;
  const auto found =
      std::lower_bound(header_.by_name.begin(), header_.by_name.end(), name,
                       [&](uint32_t index, std::string_view requested) { return tensors[index].name < requested; });
  return found == header_.by_name.end() || tensors[*found].name != name ? nullptr : &tensors[*found];
}

void SafetensorsFile::read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const {
  file_.read(data_offset_ + tensor.begin + offset, bytes);
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
