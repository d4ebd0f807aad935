// A small random model of the Llama family, its files, and its logits by a plain forward pass in f64.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/gguf_image.hpp"
#include "tests/tools/workplace.hpp"

namespace run_lm_tests {

// Row-major: rows × columns; a vector has one row.
struct Values {
  int64_t rows = 1;
  int64_t columns = 0;
  std::vector<float> numbers;
};

struct TinyModel {
  int64_t layers = 2, width = 32, heads = 4, key_heads = 2, head_width = 8, hidden = 48, vocabulary = 600;
  int64_t window = 0;  // keys that a query attends to; 0: all
  double epsilon = 1e-2, base = 500.0;
  nlohmann::json rope_scaling;  // of config.json; null: none
  bool is_tied = false;
  // Casts the keys or the values of a token; empty: they are not cast.
  std::function<void(std::vector<double> &)> cast_cache;
  int32_t softmax_bits = 0;               // of EXAQ; 0: the softmax is not rounded
  std::vector<double> clips;              // of EXAQ, for each layer
  std::map<std::string, Values> tensors;  // by Hugging Face names

  // Draws the tensors. `place` separates the generators of one program.
  void draw(uint64_t place, bool has_biases);

  nlohmann::json config() const;
  // Returns the frequencies of `rope_scaling`, and the factor of queries and keys.
  std::vector<double> frequencies(double &scale) const;
  // Returns the logits of each token after those before it. `arguments`, if not null, receives those of exp, for each layer.
  std::vector<std::vector<double>> logits(const std::vector<int32_t> &tokens,
                                          std::vector<std::vector<double>> *arguments = nullptr) const;
};

// The file tokenizer.json of a name of the golden file.
std::string tokenizer_text(const std::string &name);

// Writes a folder with config.json, tokenizer.json and f32 tensors, in two files with an index if `is_sharded`. Returns its path.
std::string write_folder(const tool_tests::Workplace &workplace, const std::string &name, const TinyModel &model,
                         bool is_sharded);

// What a GGUF file has besides the f32 tensors of a model.
struct GgufParts {
  std::map<std::string, tool_tests::GgufTensor>
      blocks;  // replace tensors, by Hugging Face names; only type and bytes are used
  std::vector<tool_tests::GgufTensor> tensors;
  std::vector<std::string> entries;
  bool has_tokenizer = true;  // the byte-level one
};

// Draws random blocks for the matrices, whose columns are a multiple of 256: of ten types that are split into
// codes, scales and minima, or of three that are a format of LPT. The model gets their values.
std::map<std::string, tool_tests::GgufTensor> draw_blocks(TinyModel &model, bool are_formats);

// Writes the same model as llama.cpp writes it: with q and k for rotations of adjacent columns. Returns its path.
std::string write_gguf(const tool_tests::Workplace &workplace, const std::string &name, const TinyModel &model,
                       const GgufParts &parts = {});

}  // namespace run_lm_tests
