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

// Keeps the fewest weights whose sum is at least `least`, and sets the others to 0. Of equal weights, the first are kept. Returns
// the sum of the kept ones.
double keep_nucleus(std::vector<double> &weights, double least) {
  std::vector<size_t> heap(weights.size());
  std::iota(heap.begin(), heap.end(), size_t{0});
  const auto is_later = [&](size_t a, size_t b) { return weights[a] != weights[b] ? weights[a] < weights[b] : a > b; };
  std::make_heap(heap.begin(), heap.end(), is_later);
  // Few weights have nearly all of the sum: the others need no order.
  double sum = 0.0;
  do {
    std::pop_heap(heap.begin(), heap.end(), is_later);
    sum += weights[heap.back()];
    heap.pop_back();
  } while (sum < least && !heap.empty());
  for (const size_t i : heap) weights[i] = 0.0;
  return sum;
}

}  // namespace

int32_t draw_token(const float *logits, int64_t count, const Sampling &sampling, double uniform) {
  const float *best = std::max_element(logits, logits + count);
  if (sampling.temperature == 0.0) return static_cast<int32_t>(best - logits);
  std::vector<double> weights(static_cast<size_t>(count));
  std::transform(logits, logits + count, weights.begin(),
                 [&](float logit) { return std::exp((static_cast<double>(logit) - *best) / sampling.temperature); });
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sampling.top_p < 1.0) total = keep_nucleus(weights, sampling.top_p * total);
  double reached = 0.0;
  for (size_t i = 0; i < weights.size(); ++i) {
    reached += weights[i];
    if (uniform * total < reached) return static_cast<int32_t>(i);
  }
  return static_cast<int32_t>(best - logits);
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
