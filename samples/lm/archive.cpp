#include "archive.hpp"

#include <fmt/format.h>

#include "files.hpp"
#include "hash.hpp"

namespace lm {

namespace {

constexpr uint64_t kMagic = 0x31304D4C2D54504Cull;  // "LPT-LM01" in a little-endian file
constexpr size_t kNumberBytes = sizeof(uint64_t);

void append_number(std::vector<uint8_t> &bytes, uint64_t number) {
  uint8_t raw[kNumberBytes];
  std::memcpy(raw, &number, kNumberBytes);
  bytes.insert(bytes.end(), raw, raw + kNumberBytes);
}

void append_bytes(std::vector<uint8_t> &bytes, std::span<const uint8_t> more) {
  append_number(bytes, more.size());
  bytes.insert(bytes.end(), more.begin(), more.end());
}

}  // namespace

void ArchiveWriter::put(const std::string &name, std::span<const uint8_t> bytes) {
  append_bytes(bytes_, {reinterpret_cast<const uint8_t *>(name.data()), name.size()});
  append_bytes(bytes_, bytes);
}

void ArchiveWriter::write(const std::string &path) const {
  std::vector<uint8_t> file;
  append_number(file, kMagic);
  file.insert(file.end(), bytes_.begin(), bytes_.end());
  append_number(file, hash_bytes(file));
  write_file(path, file);
}

ArchiveReader::ArchiveReader(const std::string &path) : path_(path), file_(read_file("checkpoint", path)) {
  size_t position = 0;
  if (file_.size() < 2 * kNumberBytes || take_number(position) != kMagic) {
    reject("is not a checkpoint of this program");
  }
  const size_t end = file_.size() - kNumberBytes;
  size_t tail = end;
  if (take_number(tail) != hash_bytes(std::span(file_).first(end))) {
    reject("is truncated or damaged: its checksum differs");
  }
  while (position < end) {
    const std::span<const uint8_t> name = take_bytes(position);
    entries_[std::string(name.begin(), name.end())] = take_bytes(position);
  }
}

std::span<const uint8_t> ArchiveReader::get(const std::string &name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    reject(fmt::format("has no entry {}", name));
  }
  return found->second;
}

std::string ArchiveReader::get_text(const std::string &name) const {
  const std::span<const uint8_t> bytes = get(name);
  return {bytes.begin(), bytes.end()};
}

void ArchiveReader::reject(const std::string &reason) const {
  throw Error(fmt::format("checkpoint {} {}", path_, reason));
}

uint64_t ArchiveReader::take_number(size_t &position) const {
  if (file_.size() - position < kNumberBytes) {
    reject("ends too early");
  }
  uint64_t number = 0;
  std::memcpy(&number, file_.data() + position, kNumberBytes);
  position += kNumberBytes;
  return number;
}

std::span<const uint8_t> ArchiveReader::take_bytes(size_t &position) const {
  const uint64_t count = take_number(position);
  if (file_.size() - position < count) {
    reject("ends too early");
  }
  const auto bytes = std::span(file_).subspan(position, count);
  position += count;
  return bytes;
}

}  // namespace lm
