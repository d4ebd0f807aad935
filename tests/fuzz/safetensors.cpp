// The fuzz target: any bytes are read soundly or rejected with an Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "error.hpp"
#include "reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    tool_tests::check_soundness(std::string(reinterpret_cast<const char *>(data), size));
  } catch (const tool::Error &) {
    // Rejected: as good as read.
  }
  return 0;
}
