#include "generate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "../../tools/lpt/text.hpp"
#include "../lm/random.hpp"

namespace run_lm {

namespace {

constexpr uint64_t kDrawStream = 0x70C;  // of lm::random_unit()
constexpr size_t kMostCharacterBytes = 4;

// Holds back the bytes of a character that is not complete.
class CharacterWriter {
 public:
  explicit CharacterWriter(const std::function<void(const std::string &)> &write) : write_(write) {}

  void add(const std::string &bytes) {
    held_ += bytes;
    const size_t good = tool::first_bad_utf8(held_);
    const bool is_incomplete = good < held_.size() && held_.size() - good < kMostCharacterBytes;
    flush(is_incomplete ? good : held_.size());
  }
  void flush() { flush(held_.size()); }

 private:
  void flush(size_t bytes) {
    if (bytes > 0) write_(held_.substr(0, bytes));
    held_.erase(0, bytes);
  }

  const std::function<void(const std::string &)> &write_;
  std::string held_;
};

}  // namespace

int32_t draw_token(const float *logits, int64_t count, const Sampling &sampling, double uniform) {
  const float *best = std::max_element(logits, logits + count);
  if (sampling.temperature == 0.0) return static_cast<int32_t>(best - logits);
  std::vector<double> weights(static_cast<size_t>(count));
  std::transform(logits, logits + count, weights.begin(),
                 [&](float logit) { return std::exp((static_cast<double>(logit) - *best) / sampling.temperature); });
  std::vector<int32_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return weights[static_cast<size_t>(a)] > weights[static_cast<size_t>(b)];
  });
  // The nucleus is the shortest run of the order that has at least top_p of the sum.
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double nucleus = 0.0;
  size_t size = 0;
  while (size < order.size() && (size == 0 || nucleus < sampling.top_p * total)) {
    nucleus += weights[static_cast<size_t>(order[size++])];
  }
  double reached = 0.0;
  for (size_t i = 0; i < size; ++i) {
    reached += weights[static_cast<size_t>(order[i])];
    if (uniform * nucleus < reached) return order[i];
  }
  return order[size - 1];
}

Generation generate(Decoder &decoder, const ModelConfig &config, const Tokenizer &tokenizer,
                    const std::vector<int32_t> &prompt, const Sampling &sampling,
                    const std::function<void(const std::string &text)> &write) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  Generation result{.prompt_tokens = std::ssize(prompt)};
  CharacterWriter writer(write);
  decoder.clear();
  Clock::time_point start = Clock::now();
  const lpt_tensor *states = decoder.forward(prompt);
  while (result.tokens < sampling.tokens) {
    const lpt_tensor *logits = decoder.last_logits(states);
    const auto *values = static_cast<const float *>(lpt_tensor_const_data(logits));
    const double uniform = lm::random_unit(sampling.seed, kDrawStream, static_cast<uint64_t>(result.tokens));
    const int32_t token = draw_token(values, lpt_tensor_extent(logits, 1), sampling, uniform);
    if (result.tokens == 0) {
      result.prompt_seconds = seconds(start);
      start = Clock::now();
    }
    ++result.tokens;
    const auto &ends = config.end_tokens;
    if (std::find(ends.begin(), ends.end(), token) != ends.end()) break;
    writer.add(tokenizer.bytes_of(token));
    if (result.tokens == sampling.tokens) break;
    states = decoder.forward(std::span(&token, 1));
  }
  result.seconds = seconds(start);
  writer.flush();
  return result;
}

}  // namespace run_lm
