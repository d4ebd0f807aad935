// The metadata of a GGUF file of a Llama, as the files of a Hugging Face folder.
#pragma once

#include <string>

#include "../../tools/lpt/checkpoint.hpp"

namespace run_lm {

struct ModelTexts {
  std::string config;     // config.json
  std::string tokenizer;  // tokenizer.json
};

// `file` is an open GGUF file. Throws tool::Error for other architectures and tokenizers.
ModelTexts gguf_texts(const tool::Checkpoint &file);

// Returns the name in a GGUF file of a tensor with this Hugging Face name; "" if there is none.
std::string gguf_name(const std::string &name);

}  // namespace run_lm
