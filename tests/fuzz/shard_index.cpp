// The fuzz target of indices of sharded checkpoints: any bytes are read correctly or rejected with an Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "error.hpp"
#include "reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    tool_tests::check_index_soundness(std::string(reinterpret_cast<const char *>(data), size));
  } catch (const tool::Error &) {
    // A rejection is a valid result.
  }
  return 0;
}
