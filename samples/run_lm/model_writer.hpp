// Writes a model as a Hugging Face folder.
#pragma once

#include <string>

#include "weights.hpp"

namespace run_lm {

// Throws tool::Error if `folder` has a model, or cannot be created.
void check_new_model(const std::string &folder);

// Writes config.json, tokenizer.json and model.safetensors with the parts that `lpt convert` writes.
void save_model(lpt_context *context, const ModelFiles &files, const ModelWeights &weights, const std::string &folder);

}  // namespace run_lm
