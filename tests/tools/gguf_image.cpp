#include "gguf_image.hpp"

#include <cmath>
#include <random>
#include <stdexcept>

namespace tool_tests {

namespace {

constexpr size_t kBlockElements = 32;

std::string little_endian(uint64_t value, int bytes) {
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(value >> (8 * i) & 0xFFu);
  return result;
}

std::string padded(std::string bytes, uint64_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
  return bytes;
}

size_t block_bytes(uint32_t type) {
  switch (type) {
    case kQ4_0:
      return 18;
    case kQ4_1:
      return 20;
    case kQ8_0:
      return 34;
    case kMxfp4:
      return 17;
    default:
      throw std::invalid_argument("no block type");
  }
}

double f16_value(const std::string &bytes, size_t place) {
  const int code = static_cast<uint8_t>(bytes[place]) | static_cast<uint8_t>(bytes[place + 1]) << 8;
  const int exponent = code >> 10 & 31, mantissa = code & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return code & 0x8000 ? -magnitude : magnitude;
}

// Element i is in the low half of byte i, element i + 16 in its high half.
int half_code(const std::string &bytes, size_t begin, size_t i) {
  const auto byte = static_cast<uint8_t>(bytes[begin + i % 16]);
  return i < 16 ? byte & 15 : byte >> 4;
}

double block_value(uint32_t type, const std::string &blocks, size_t begin, size_t i) {
  constexpr double kE2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  switch (type) {
    case kQ4_0:
      return f16_value(blocks, begin) * (half_code(blocks, begin + 2, i) - 8);
    case kQ4_1:
      return f16_value(blocks, begin) * half_code(blocks, begin + 4, i) + f16_value(blocks, begin + 2);
    case kQ8_0:
      return f16_value(blocks, begin) * static_cast<int8_t>(blocks[begin + 2 + i]);
    default: {
      const int code = half_code(blocks, begin + 1, i);
      const double magnitude = std::ldexp(kE2m1[code & 7], static_cast<uint8_t>(blocks[begin]) - 127);
      return code & 8 ? -magnitude : magnitude;
    }
  }
}

}  // namespace

std::string u32_bytes(uint32_t value) { return little_endian(value, 4); }
std::string u64_bytes(uint64_t value) { return little_endian(value, 8); }
std::string gguf_text(const std::string &text) { return u64_bytes(text.size()) + text; }

std::string gguf_entry(const std::string &key, uint32_t type, const std::string &value) {
  return gguf_text(key) + u32_bytes(type) + value;
}

std::string gguf_array(uint32_t type, uint64_t count, const std::string &elements) {
  return u32_bytes(type) + u64_bytes(count) + elements;
}

std::string gguf_info(const std::string &name, const std::vector<uint64_t> &extents, uint32_t type, uint64_t offset) {
  std::string info = gguf_text(name) + u32_bytes(static_cast<uint32_t>(extents.size()));
  for (const uint64_t extent : extents) info += u64_bytes(extent);
  return info + u32_bytes(type) + u64_bytes(offset);
}

std::string GgufImage::bytes() const {
  std::string header = "GGUF" + u32_bytes(version) + u64_bytes(tensor_count.value_or(infos.size())) +
                       u64_bytes(entry_count.value_or(entries.size()));
  for (const std::string &entry : entries) header += entry;
  for (const std::string &info : infos) header += info;
  return padded(header, alignment) + data;
}

GgufImage gguf_image(const std::vector<GgufTensor> &tensors, uint64_t alignment) {
  GgufImage image;
  image.alignment = alignment;
  image.entries = {gguf_entry("general.architecture", kGgufString, gguf_text("test"))};
  if (alignment != 32) {
    image.entries.push_back(gguf_entry("general.alignment", kGgufUint32, u32_bytes(static_cast<uint32_t>(alignment))));
  }
  for (const GgufTensor &tensor : tensors) {
    image.infos.push_back(gguf_info(tensor.name, tensor.extents, tensor.type, image.data.size()));
    image.data = padded(image.data + tensor.bytes, alignment);
  }
  return image;
}

std::string random_blocks(uint32_t type, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string blocks;
  for (size_t block = 0; block < count; ++block) {
    const size_t begin = blocks.size();
    for (size_t i = 0; i < block_bytes(type); ++i) blocks += static_cast<char>(random());
    if (type == kMxfp4) {
      blocks[begin] = static_cast<char>(110 + random() % 30);
      continue;
    }
    // Scales and minima of 2^-10 to 2^-3, of both signs.
    for (size_t place = begin + 1; place <= begin + (type == kQ4_1 ? 3 : 1); place += 2) {
      blocks[place] = static_cast<char>((random() % 2 << 7 | (5 + random() % 8) << 2) + random() % 4);
    }
  }
  return blocks;
}

std::vector<float> block_values(uint32_t type, const std::string &blocks) {
  std::vector<float> values;
  for (size_t begin = 0; begin < blocks.size(); begin += block_bytes(type)) {
    for (size_t i = 0; i < kBlockElements; ++i) {
      values.push_back(static_cast<float>(block_value(type, blocks, begin, i)));
    }
  }
  return values;
}

}  // namespace tool_tests
