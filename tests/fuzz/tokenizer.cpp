// The fuzz target of tokenizer.json: the bytes before the first 0xFF are the file, those after it a text. Any file is read or
// rejected with an Error; a tokenizer that is read encodes any UTF-8 to tokens that it has.
#include "samples/run_lm/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string input(reinterpret_cast<const char *>(data), size);
  const size_t end = input.find('\xFF');
  try {
    const run_lm::Tokenizer tokenizer("tokenizer.json", input.substr(0, end));
    if (end == std::string::npos) return 0;
    for (const int32_t token : tokenizer.encode(input.substr(end + 1))) {
      if (token < 0 || token >= tokenizer.size()) std::abort();
      tokenizer.bytes_of(token);
    }
  } catch (const tool::Error &) {
    // A rejection is a valid result.
  }
  return 0;
}
