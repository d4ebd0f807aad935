#include "gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <unordered_set>

#include "text.hpp"

namespace tool {

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kLeastBytes = 24;        // magic, version and two counts
constexpr uint64_t kLeastEntryBytes = 13;   // of a key, its type and its value
constexpr uint64_t kLeastTensorBytes = 24;  // of a tensor without extents
constexpr uint32_t kMostGgufExtents = 4;    // GGML_MAX_DIMS
constexpr uint64_t kDefaultAlignment = 32;
constexpr const char *kAlignmentKey = "general.alignment";
constexpr int kMostArrayDepth = 4;
constexpr uint64_t kShownElements = 8;  // of an array
constexpr uint64_t kShownBytes = 200;   // of a value
constexpr uint64_t kShownElementBytes = 40;

enum ValueType : uint32_t { kBool = 7, kString = 8, kArray = 9, kUint32 = 4 };

struct ValueTypeName {
  const char *name;
  uint64_t least_bytes;
};
constexpr std::array<ValueTypeName, 13> kValueTypes = {{{"uint8", 1},
                                                        {"int8", 1},
                                                        {"uint16", 2},
                                                        {"int16", 2},
                                                        {"uint32", 4},
                                                        {"int32", 4},
                                                        {"float32", 4},
                                                        {"bool", 1},
                                                        {"string", 8},
                                                        {"array", 12},
                                                        {"uint64", 8},
                                                        {"int64", 8},
                                                        {"float64", 8}}};

uint64_t aligned(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

// Cuts a text that is longer than `text`, and not inside a character.
std::string cut_text(std::string text, bool is_longer) {
  constexpr size_t kMostCharacterBytes = 4;
  const size_t bad = first_bad_utf8(text);
  if (is_longer && bad + kMostCharacterBytes > text.size()) text.resize(bad);
  return is_longer ? text + "..." : text;
}

class GgufParser {
 public:
  GgufParser(const std::string &file, uint64_t file_bytes, const ReadBytes &read, const HeaderMemory &memory,
             Digest &digest)
      : file_(file), file_bytes_(file_bytes), memory_(memory), stream_(file, file_bytes, read, digest) {}

  FileHeader parse() {
    check_version();
    const auto tensor_count = stream_.number<uint64_t>("the number of tensors");
    const auto entry_count = stream_.number<uint64_t>("the number of metadata keys");
    stream_.check_count("metadata keys", entry_count, kLeastEntryBytes);
    stream_.check_count("tensors", tensor_count, kLeastTensorBytes);
    check_held(file_, 0, tensor_count + entry_count, memory_);
    for (uint64_t i = 0; i < entry_count; ++i) read_entry(i);
    keys_.clear();
    stream_.set_subject("");
    stream_.check_count("tensors", tensor_count, kLeastTensorBytes);
    for (uint64_t i = 0; i < tensor_count; ++i) read_tensor(i);
    result_.data_offset = aligned(stream_.position(), alignment_);
    sort_places(result_.header);
    sort_names(file_, result_.header);
    check_tensors();
    result_.held_bytes = memory_.held(held_text_, tensor_count + entry_count);
    return std::move(result_);
  }

 private:
  void check_version() {
    if (file_bytes_ < kLeastBytes) {
      stream_.reject("not a GGUF file: it is {} bytes long: expected at least {}", file_bytes_, kLeastBytes);
    }
    stream_.skip("the magic", kMagic.size());
    const auto version = stream_.number<uint32_t>("the version");
    if (version == 2 || version == 3) return;
    const uint32_t swapped = version << 24 | (version & 0xFF00u) << 8 | (version >> 8 & 0xFF00u) | version >> 24;
    if (swapped == 2 || swapped == 3) stream_.reject("is a big-endian GGUF file: expected a little-endian one");
    stream_.reject("the GGUF version is {}: expected 2 or 3", version);
  }

  // Counts the texts of an entry or of a tensor.
  void hold(uint64_t bytes) {
    held_text_ += bytes;
    check_held(file_, held_text_, ++held_count_, memory_);
  }

  // Metadata.

  void read_entry(uint64_t index) {
    stream_.set_subject(fmt::format("metadata key {} of the file", index));
    MetadataEntry entry;
    entry.key = stream_.name("the key");
    stream_.set_subject("key " + in_quotes(entry.key));
    if (!keys_.insert(entry.key).second) stream_.reject("occurs twice in the metadata: expected it once");
    const uint32_t type = value_type("the type");
    entry.type = kValueTypes[type].name;
    if (type == kArray) {
      read_array(0, &entry.value, &entry);
    } else {
      read_value(type, 0, kShownBytes, &entry.value);
    }
    if (entry.key == kAlignmentKey) set_alignment(type, entry.value);
    hold(2 * entry.key.size() + entry.value.size());
    result_.header.entries.push_back(std::move(entry));
  }

  uint32_t value_type(const char *what) {
    const auto type = stream_.number<uint32_t>(what);
    if (type >= kValueTypes.size()) {
      stream_.reject("{} is {}: expected 0 to {}", what, type, kValueTypes.size() - 1);
    }
    return type;
  }

  void set_alignment(uint32_t type, const std::string &value) {
    if (type != kUint32) stream_.reject("the type is {}: expected uint32", kValueTypes[type].name);
    std::from_chars(value.data(), value.data() + value.size(), alignment_);
    if (!std::has_single_bit(alignment_)) stream_.reject("is {}: expected a power of two", alignment_);
  }

  template <typename Number>
  void read_number(std::string *text) {
    const auto number = stream_.number<Number>("the value");
    if (text != nullptr) *text += fmt::format("{}", number);
  }

  // Appends at most `most` bytes of the value to `text`, if it is not null.
  void read_value(uint32_t type, int depth, uint64_t most, std::string *text) {
    switch (type) {
      case 0:
        return read_number<uint8_t>(text);
      case 1:
        return read_number<int8_t>(text);
      case 2:
        return read_number<uint16_t>(text);
      case 3:
        return read_number<int16_t>(text);
      case kUint32:
        return read_number<uint32_t>(text);
      case 5:
        return read_number<int32_t>(text);
      case 6:
        return read_number<float>(text);
      case kBool:
        return read_bool(text);
      case kString: {
        uint64_t length = 0;
        const std::string begin = stream_.text("the value", text == nullptr ? 0 : most, &length);
        if (text != nullptr) *text += cut_text(begin, length > begin.size());
        return;
      }
      case kArray:
        return read_array(depth, text, nullptr);
      case 10:
        return read_number<uint64_t>(text);
      case 11:
        return read_number<int64_t>(text);
      default:
        return read_number<double>(text);
    }
  }

  void read_bool(std::string *text) {
    const auto value = stream_.number<uint8_t>("the value");
    if (value > 1) stream_.reject("holds {} as a bool: expected 0 or 1", value);
    if (text != nullptr) *text += value == 1 ? "true" : "false";
  }

  // `entry`, if not null, receives the type and the number of elements.
  void read_array(int depth, std::string *text, MetadataEntry *entry) {
    if (depth == kMostArrayDepth) stream_.reject("nests more than {} arrays: expected fewer", kMostArrayDepth);
    const uint32_t type = value_type("the type of the elements");
    const auto count = stream_.number<uint64_t>("the number of elements");
    stream_.check_count("elements", count, kValueTypes[type].least_bytes);
    if (entry != nullptr) {
      entry->type = fmt::format("array of {}", kValueTypes[type].name);
      entry->count = count;
    }
    if (text != nullptr) *text += '[';
    const bool is_fixed = type != kString && type != kArray && type != kBool;
    bool is_cut = false;
    for (uint64_t i = 0; i < count; ++i) {
      const bool is_shown = text != nullptr && i < kShownElements && text->size() < kShownBytes;
      if (text != nullptr && !is_cut) *text += fmt::format("{}{}", i == 0 ? "" : ", ", is_shown ? "" : "...");
      is_cut = !is_shown;
      if (is_cut && is_fixed) {
        stream_.skip("the array", (count - i) * kValueTypes[type].least_bytes);
        break;
      }
      read_value(type, depth + 1, kShownElementBytes, is_shown ? text : nullptr);
    }
    if (text != nullptr) *text += ']';
  }

  // Tensors.

  void read_tensor(uint64_t index) {
    stream_.set_subject(fmt::format("tensor {} of the file", index));
    StoredTensor tensor;
    tensor.name = stream_.name("the name");
    stream_.set_subject("tensor " + in_quotes(tensor.name));
    const auto rank = stream_.number<uint32_t>("the number of extents");
    if (rank > kMostGgufExtents) stream_.reject("has {} extents: expected at most {}", rank, kMostGgufExtents);
    for (uint32_t i = 0; i < rank; ++i) {
      const auto extent = stream_.number<uint64_t>("the shape");
      if (extent > INT64_MAX) stream_.reject("extent {} is {}: expected a whole number below 2^63", i, extent);
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(extent));  // GGUF stores the contiguous one first
    }
    const auto type = stream_.number<uint32_t>("the type");
    tensor.dtype = find_ggml_dtype(type);
    if (tensor.dtype == nullptr) {
      stream_.reject("the type is {}: expected a number of enum ggml_type whose type is not removed", type);
    }
    tensor.begin = stream_.number<uint64_t>("the offset");
    if (tensor.begin % alignment_ != 0) {
      stream_.reject("the offset is {}: expected a multiple of {}, the alignment", tensor.begin, alignment_);
    }
    const uint64_t bytes = check_extent(where_of(file_, tensor), *tensor.dtype, tensor.shape);
    if (__builtin_add_overflow(tensor.begin, bytes, &tensor.end)) {
      stream_.reject("{} bytes begin at {}: expected an end below 2^64", bytes, tensor.begin);
    }
    hold(tensor.name.size());
    result_.header.tensors.push_back(std::move(tensor));
  }

  // Checks that the tensors follow each other, each at the next multiple of the alignment, to the end of the file.
  void check_tensors() const {
    const uint64_t data_bytes = file_bytes_ - std::min(result_.data_offset, file_bytes_);
    uint64_t reached = 0;
    for (const StoredTensor &tensor : result_.header.tensors) {
      const std::string where = where_of(file_, tensor);
      if (tensor.end > data_bytes) {
        throw Error(fmt::format("{}: ends at byte {} of the data, but the file holds {}: it is cut off or damaged",
                                where, tensor.end, data_bytes));
      }
      const uint64_t expected = aligned(reached, alignment_);
      if (tensor.begin != expected) {
        throw Error(
            fmt::format("{}: begins at byte {} of the data, but the tensor before ends at {}: expected {}, no {}",
                        where, tensor.begin, reached, expected, tensor.begin < reached ? "overlap" : "hole"));
      }
      reached = tensor.end;
    }
    if (data_bytes > aligned(reached, alignment_)) {
      throw Error(fmt::format("{}: {} bytes lie behind the last tensor: expected none but its padding", file_,
                              data_bytes - reached));
    }
  }

  const std::string &file_;
  uint64_t file_bytes_;
  const HeaderMemory &memory_;
  GgufStream stream_;
  FileHeader result_;
  uint64_t alignment_ = kDefaultAlignment;
  uint64_t held_text_ = 0;   // bytes of names and values
  uint64_t held_count_ = 0;  // entries and tensors
  std::unordered_set<std::string> keys_;
};

constexpr uint64_t kMostParts = 99999;  // five digits

std::string part_suffix(uint64_t number, uint64_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

}  // namespace

GgufPart part_of_gguf(const std::string &file, const Header &header) {
  const auto number = [&](const char *key, uint64_t otherwise, uint64_t low, uint64_t high) {
    const auto entry = std::find_if(header.entries.begin(), header.entries.end(),
                                    [&](const MetadataEntry &one) { return one.key == key; });
    if (entry == header.entries.end()) return otherwise;
    uint64_t value = 0;
    const char *const end = entry->value.data() + entry->value.size();
    const auto [stop, problem] = std::from_chars(entry->value.data(), end, value);
    if (problem != std::errc() || stop != end || entry->count != 0 || value < low || value > high) {
      throw Error(fmt::format("{}: {} is {}: expected {} to {}", file, key, entry->value, low, high));
    }
    return value;
  };
  GgufPart part;
  part.count = number("split.count", 1, 1, kMostParts);
  part.number = number("split.no", 0, 0, part.count - 1);
  part.tensors = number("split.tensors.count", 0, 0, INT64_MAX);
  return part;
}

std::vector<std::string> names_of_parts(const std::string &first, uint64_t count) {
  const std::string suffix = part_suffix(0, count);
  if (!first.ends_with(suffix)) {
    throw Error(fmt::format("{}: is the first of {} parts of a model: expected a name that ends with {}", first, count,
                            suffix));
  }
  const std::string begin = first.substr(0, first.size() - suffix.size());
  std::vector<std::string> names;
  for (uint64_t i = 0; i < count; ++i) names.push_back(begin + part_suffix(i, count));
  return names;
}

bool is_gguf(std::span<const std::byte> prefix) {
  return std::string_view(reinterpret_cast<const char *>(prefix.data()), prefix.size()).starts_with(kMagic);
}

FileHeader parse_gguf(const std::string &file, uint64_t file_bytes, const ReadBytes &read, const HeaderMemory &memory,
                      Digest &digest) {
  return GgufParser(file, file_bytes, read, memory, digest).parse();
}

FileHeader read_gguf(const File &file, const HeaderMemory &memory, Digest &digest) {
  const auto read = [&](uint64_t offset, std::span<std::byte> bytes) { file.read(offset, bytes); };
  return parse_gguf(file.path(), file.size(), read, memory, digest);
}

}  // namespace tool
