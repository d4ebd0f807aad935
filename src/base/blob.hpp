// Saved state: a header, then values in little-endian order. See docs/reference/state-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.hpp"

namespace lpt {

// Content of a blob. Files contain these values: never renumber them.
enum class BlobKind : uint32_t {
  kScaler = 1,
  kLinear = 2,
  kOptimizerParameter = 3,
  kWeights = 4,
  kAutopilot = 5,
  kLossScaler = 6
};

// Magic, version, kind, header bytes, payload bytes, checksum of the payload, 4 zero bytes.
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

  // Fills the header and copies the blob. If the buffer is too small, returns an error and writes nothing.
  Status save(void *buffer, size_t buffer_bytes);

 private:
  std::vector<uint8_t> data_;
};

// Checks the header, then reads values. Reading past the end returns zeros and sets is_ok() to false.
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

// Returns the error of an invalid or damaged blob.
Status damaged_state(const std::string &why);

// Reads a count. Rejects a negative count, and one so large that arithmetic with it could overflow.
Status read_count(BlobReader &reader, const char *what, int64_t &out_count);

// Returns the error of a blob whose content does not match the object that loads it.
Status blob_mismatch(const char *what, long long found, long long expected);

}  // namespace lpt
