#include "src/base/blob.hpp"

#include <array>
#include <cstring>

namespace lpt {
namespace {

constexpr uint32_t kMagic = 0x5354504C;  // "LPTS" in the file's byte order
constexpr uint32_t kVersion = 1;

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = make_crc_table();

// Returns the CRC-32 of IEEE 802.3.
uint32_t crc32(const uint8_t *data, size_t count) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < count; ++i) crc = kCrcTable[(crc ^ data[i]) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

void put(uint8_t *to, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t get(const uint8_t *from, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= static_cast<uint64_t>(from[i]) << (8 * i);
  return value;
}

}  // namespace

Status damaged_state(const std::string &why) { return Status(LPT_INVALID_STATE, "saved state: " + why); }

BlobWriter::BlobWriter(BlobKind kind) : data_(kBlobHeaderBytes, 0) {
  put(&data_[0], kMagic, 4);
  put(&data_[4], kVersion, 4);
  put(&data_[8], static_cast<uint32_t>(kind), 4);
  put(&data_[12], kBlobHeaderBytes, 4);
}

void BlobWriter::u32(uint32_t value) {
  data_.resize(data_.size() + 4);
  put(&data_[data_.size() - 4], value, 4);
}

void BlobWriter::u64(uint64_t value) {
  data_.resize(data_.size() + 8);
  put(&data_[data_.size() - 8], value, 8);
}

void BlobWriter::f32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  u32(bits);
}

void BlobWriter::f64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  u64(bits);
}

void BlobWriter::bytes(const void *data, size_t count) {
  if (count == 0) return;  // data may be NULL
  const auto *first = static_cast<const uint8_t *>(data);
  data_.insert(data_.end(), first, first + count);
}

Status BlobWriter::save(void *buffer, size_t buffer_bytes) {
  if (buffer_bytes < data_.size()) {
    return invalid("buffer_bytes is %zu, the state takes %zu", buffer_bytes, data_.size());
  }
  const size_t payload = data_.size() - kBlobHeaderBytes;
  put(&data_[16], payload, 8);
  put(&data_[24], crc32(data_.data() + kBlobHeaderBytes, payload), 4);
  std::memcpy(buffer, data_.data(), data_.size());
  return {};
}

Status BlobReader::open(BlobKind kind, const void *buffer, size_t buffer_bytes, BlobReader &out_reader) {
  const auto *data = static_cast<const uint8_t *>(buffer);
  if (buffer_bytes < kBlobHeaderBytes) {
    return damaged_state(text("%zu bytes are less than the header's %zu", buffer_bytes, kBlobHeaderBytes));
  }
  if (get(data, 4) != kMagic) return damaged_state("it does not begin with LPTS");
  if (get(data + 4, 4) != kVersion) {
    return damaged_state(text("version %u, this library reads %u", static_cast<unsigned>(get(data + 4, 4)), kVersion));
  }
  if (get(data + 8, 4) != static_cast<uint32_t>(kind)) {
    return damaged_state(
        text("kind %u, expected %u", static_cast<unsigned>(get(data + 8, 4)), static_cast<unsigned>(kind)));
  }
  if (get(data + 12, 4) != kBlobHeaderBytes) return damaged_state("a header of another size");
  const uint64_t payload = get(data + 16, 8);
  if (payload > buffer_bytes - kBlobHeaderBytes) {
    return damaged_state(text("truncated: %zu bytes of %llu", buffer_bytes - kBlobHeaderBytes,
                              static_cast<unsigned long long>(payload)));
  }
  if (payload < buffer_bytes - kBlobHeaderBytes) {
    return damaged_state(text("buffer_bytes is %zu: expected %zu, the length of the state", buffer_bytes,
                              kBlobHeaderBytes + static_cast<size_t>(payload)));
  }
  if (get(data + 24, 4) != crc32(data + kBlobHeaderBytes, payload)) return damaged_state("the checksum does not fit");
  if (get(data + 28, 4) != 0) return damaged_state("the last bytes of the header are not zero");
  out_reader.next_ = data + kBlobHeaderBytes;
  out_reader.left_ = payload;
  out_reader.is_ok_ = true;
  return {};
}

void BlobReader::bytes(void *data, size_t count) {
  if (count == 0) return;  // data may be NULL
  if (count > left_) {
    is_ok_ = false;
    std::memset(data, 0, count);
    return;
  }
  std::memcpy(data, next_, count);
  next_ += count;
  left_ -= count;
}

uint32_t BlobReader::u32() {
  uint8_t raw[4];
  bytes(raw, sizeof raw);
  return static_cast<uint32_t>(get(raw, 4));
}

uint64_t BlobReader::u64() {
  uint8_t raw[8];
  bytes(raw, sizeof raw);
  return get(raw, 8);
}

float BlobReader::f32() {
  const uint32_t bits = u32();
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double BlobReader::f64() {
  const uint64_t bits = u64();
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Status read_count(BlobReader &reader, const char *what, int64_t &out_count) {
  constexpr int64_t kMost = int64_t{1} << 62;
  out_count = reader.i64();
  if (out_count >= 0 && out_count <= kMost) return {};
  return damaged_state(text("%s is %lld, expected 0 to 2^62", what, static_cast<long long>(out_count)));
}

Status blob_mismatch(const char *what, long long found, long long expected) {
  return damaged_state(text("%s is %lld, expected %lld", what, found, expected));
}

}  // namespace lpt
