// The base of handles that load saved states, and helpers for the bytes of a state.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lpt/research.h"

namespace lpt::states {

using Bytes = std::vector<uint8_t>;

constexpr size_t kHeaderBytes = 32;

inline uint32_t crc32(const uint8_t *data, size_t count) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < count; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

// Returns the same payload with a header that matches it.
inline Bytes resealed(Bytes state) {
  if (state.size() < kHeaderBytes) return state;
  const uint64_t payload = state.size() - kHeaderBytes;
  const uint32_t crc = crc32(state.data() + kHeaderBytes, payload);
  std::memcpy(&state[16], &payload, 8);
  std::memcpy(&state[24], &crc, 4);
  return state;
}

// Counts the memory that a context allocates.
struct Ledger {
  size_t live_bytes = 0;
  size_t requested_bytes = 0;  // since the last reset

  static void *take(void *user, size_t bytes, size_t alignment) {
    Ledger &self = *static_cast<Ledger *>(user);
    self.requested_bytes += bytes;
    void *memory = nullptr;
    // Rejects allocations beyond 1 GiB that a malformed state may cause, so that the test needs little memory.
    if (bytes > (size_t{1} << 30) || posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
    self.live_bytes += bytes;
    return memory;
  }
  static void give_back(void *user, void *memory, size_t bytes) {
    static_cast<Ledger *>(user)->live_bytes -= bytes;
    std::free(memory);
  }

  lpt_context *make_context() {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    options.allocate = take;
    options.release = give_back;
    options.allocator_user = this;
    lpt_context *context = nullptr;
    return lpt_context_create(&options, &context) == LPT_OK ? context : nullptr;
  }
};

// A handle with a saved state. `is_good` is false after a call that must succeed has failed.
class Holder {
 public:
  explicit Holder(lpt_context *context) : c_(context) {}
  virtual ~Holder() = default;
  Holder(const Holder &) = delete;
  Holder &operator=(const Holder &) = delete;

  virtual Bytes save() = 0;
  virtual void use() = 0;  // changes the state, and reads all of it
  lpt_status load(const Bytes &bytes) {
    static constexpr uint8_t kNothing = 0;  // an empty state has a valid address
    return load_from(bytes.empty() ? &kNothing : bytes.data(), bytes.size());
  }

  // Returns the maximum bytes that a load may allocate for a state of this size. Arrays are padded to 64 bytes, and a parameter
  // of an optimizer has at most seven arrays.
  virtual size_t most_bytes(size_t state_bytes) const { return state_bytes + size_t{7} * 64; }

  bool is_good() const { return is_good_; }
  lpt_context *context() const { return c_; }

 protected:
  virtual lpt_status load_from(const void *bytes, size_t size) = 0;
  void must(lpt_status status) { is_good_ = is_good_ && status == LPT_OK; }

  template <typename Call>
  void with_matrix(void *numbers, int64_t rows, int64_t columns, const Call &call, lpt_format format = LPT_FORMAT_F32) {
    lpt_tensor *tensor = nullptr;
    must(lpt_tensor_wrap_matrix(c_, format, numbers, rows, columns, 0, &tensor));
    if (tensor != nullptr) call(tensor);
    lpt_tensor_destroy(tensor);
  }

  lpt_context *c_;
  bool is_good_ = true;
};

}  // namespace lpt::states
