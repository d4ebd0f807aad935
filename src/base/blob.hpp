// Saved state: a header, then numbers in little-endian order. See docs/reference/state-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.hpp"

namespace lpt {

// What a blob holds. Values are written to files: never renumber.
enum class BlobKind : uint32_t { kScaler = 1, kLinear = 2, kOptimizerParameter = 3, kWeights = 4 };

// Magic, version, kind, header bytes, payload bytes, checksum of the payload.
constexpr size_t kBlobHeaderBytes = 32;

class BlobWriter {
 public:
  explicit BlobWriter(BlobKind kind);
  void u32(uint32_t value);
  void u64(uint64_t value);
  void i64(int64_t value) { u64(static_cast<uint64_t>(value)); }
  void f32(float value);
  void f64(double value);
  void bytes(const void *data, size_t count);

  size_t size_bytes() const { return data_.size(); }

  // Fills in the header and copies all of it. An error if it does not fit; then nothing is written.
  Status save(void *buffer, size_t buffer_bytes);

 private:
  std::vector<uint8_t> data_;
};

// Checks the header first; then reads. Reading past the end gives zeros and is_ok() false.
class BlobReader {
 public:
  static Status open(BlobKind kind, const void *buffer, size_t buffer_bytes, BlobReader &out_reader);
  uint32_t u32();
  uint64_t u64();
  int64_t i64() { return static_cast<int64_t>(u64()); }
  float f32();
  double f64();
  void bytes(void *data, size_t count);

  bool is_ok() const { return is_ok_; }
  size_t left_bytes() const { return left_; }

 private:
  const uint8_t *next_ = nullptr;
  size_t left_ = 0;
  bool is_ok_ = true;
};

// The error of a blob that was not saved so.
Status damaged_state(const std::string &why);

// Reads a count, which is rejected where it is negative or so large that counting on would overflow.
Status read_count(BlobReader &reader, const char *what, int64_t &out_count);

// The error of a blob whose content does not fit what it is loaded into.
Status blob_mismatch(const char *what, long long found, long long expected);

}  // namespace lpt
