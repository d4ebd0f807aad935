// Continues a text token by token.
#pragma once

#include <functional>
#include <string>

#include "decoder.hpp"
#include "tokenizer.hpp"

namespace run_lm {

struct Sampling {
  int64_t tokens = 128;      // maximum
  double temperature = 0.0;  // 0: the most likely token
  double top_p = 1.0;        // draws from the most likely tokens that have this probability together
  uint64_t seed = 0;
};

struct Generation {
  int64_t prompt_tokens = 0;
  int64_t tokens = 0;
  double prompt_seconds = 0.0;  // to the first token
  double seconds = 0.0;         // of the tokens after the first
};

// Returns the token that the uniform number in [0, 1) selects.
int32_t draw_token(const float *logits, int64_t count, const Sampling &sampling, double uniform);

// Clears the cache, and passes complete characters of the new text to `write`. Ends at an end token, or after
// `sampling.tokens`. The capacity of the decoder holds prompt and tokens.
Generation generate(Decoder &decoder, const ModelConfig &config, const Tokenizer &tokenizer,
                    const std::vector<int32_t> &prompt, const Sampling &sampling,
                    const std::function<void(const std::string &text)> &write);

}  // namespace run_lm
