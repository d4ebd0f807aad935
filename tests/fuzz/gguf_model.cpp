// The fuzz target of GGUF files as models: any metadata is read as a configuration and a tokenizer, or rejected with an Error. A
// tokenizer that is read encodes a text to tokens that it has.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "error.hpp"
#include "samples/run_lm/model_files.hpp"
#include "samples/run_lm/tokenizer.hpp"

namespace {

// A file that one process overwrites with each input.
struct ModelFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("lpt_gguf_model_" + std::to_string(std::random_device()()) + ".gguf");

  ~ModelFile() {
    std::error_code problem;
    std::filesystem::remove(path, problem);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ModelFile file;
  static const tool::Context context = tool::make_context(1);
  std::ofstream(file.path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
  try {
    const run_lm::ModelFiles files(context.get(), file.path.string());
    const run_lm::Tokenizer tokenizer("tokenizer", files.tokenizer_text());
    for (const int32_t token : tokenizer.encode(" It is\n12 \u00e9 <s>")) {
      if (token < 0 || token >= tokenizer.size()) std::abort();
      tokenizer.bytes_of(token);
    }
  } catch (const tool::Error &) {
    // A rejection is a valid result.
  }
  return 0;
}
