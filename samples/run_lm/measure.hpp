// Perplexity of a model on texts, and its divergence from another version of the model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decoder.hpp"
#include "tokenizer.hpp"

namespace run_lm {

using Window = std::vector<int32_t>;
using Report = std::function<void(size_t done)>;  // windows that are complete

// Reads texts and divides the tokens of each into windows of `length`, which begin with the prefix of the tokenizer. Takes
// equally many windows of each, `count` in all; 0: all. Throws tool::Error if a text is too short.
std::vector<Window> read_windows(const Tokenizer &tokenizer, const std::vector<std::string> &paths, int64_t length,
                                 int64_t count);

struct Score {
  double loss = 0.0;        // mean of -log p of a token after those before it in its window, in nats
  double divergence = 0.0;  // mean of the KL divergence from the baseline's predictions, in nats
  int64_t tokens = 0;       // that are predicted
  double seconds = 0.0;     // of the forward passes, with the head

  double perplexity() const;
};

class Evaluation {
 public:
  // With a baseline, stores its states for all windows. The baseline must outlive the evaluation.
  Evaluation(lpt_context *context, const std::vector<Window> &windows, Decoder *baseline, const Report &report);

  size_t window_count() const { return windows_.size(); }

  Score run(Decoder &decoder, const Report &report) const;

 private:
  void add_window(Decoder &decoder, size_t index, Score &score) const;

  lpt_context *context_;
  const std::vector<Window> &windows_;
  Decoder *baseline_;
  std::vector<tool::Tensor> states_;  // of the baseline
};

}  // namespace run_lm
