#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "../../tools/lpt/file.hpp"
#include "../../tools/lpt/text.hpp"

namespace run_lm {

namespace {

using tool::check;
using tool::Error;
using tool::Tensor;

constexpr int64_t kRowsAtOnce = 64;  // of logits: the memory is rows × vocabulary

Tensor make_vector(lpt_context *context, lpt_format format, int64_t elements) {
  lpt_tensor *made = nullptr;
  check(context, lpt_tensor_create(context, format, 1, &elements, &made));
  return Tensor(made);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Computes losses and log sum exp of rows of logits. Returns the sum of the losses.
double cross_entropy(lpt_context *context, const lpt_tensor *logits, const int32_t *targets, lpt_tensor *log_sums) {
  const int64_t rows = lpt_tensor_extent(logits, 0);
  const Tensor indices = make_vector(context, LPT_FORMAT_INT32, rows), loss = make_vector(context, LPT_FORMAT_F64, 1);
  std::copy_n(targets, rows, static_cast<int32_t *>(lpt_tensor_data(indices.get())));
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.reduction = LPT_LOSS_REDUCTION_SUM;
  check(context, lpt_cross_entropy_forward(context, logits, indices.get(), &options, loss.get(), log_sums));
  return *static_cast<const double *>(lpt_tensor_const_data(loss.get()));
}

// Returns the sum over rows of KL(softmax(exact) || softmax(found)) = sum p · (exact - found) - log sum exp(exact) + log sum
// exp(found), where p is softmax(exact).
double divergence_of(lpt_context *context, const lpt_tensor *exact, const lpt_tensor *exact_sums,
                     const lpt_tensor *found, const lpt_tensor *found_sums) {
  const int64_t rows = lpt_tensor_extent(exact, 0), columns = lpt_tensor_extent(exact, 1);
  const Tensor shares = tool::make_matrix(context, LPT_FORMAT_F32, rows, columns);
  check(context, lpt_softmax_forward(context, exact, nullptr, shares.get()));
  const auto *p = static_cast<const float *>(lpt_tensor_const_data(shares.get()));
  const auto *a = static_cast<const float *>(lpt_tensor_const_data(exact));
  const auto *b = static_cast<const float *>(lpt_tensor_const_data(found));
  const auto *a_sums = static_cast<const double *>(lpt_tensor_const_data(exact_sums));
  const auto *b_sums = static_cast<const double *>(lpt_tensor_const_data(found_sums));
  double total = 0.0;
  for (int64_t row = 0; row < rows; ++row, p += columns, a += columns, b += columns) {
    const double shift = a_sums[row] - b_sums[row];
    for (int64_t i = 0; i < columns; ++i) total += p[i] * (static_cast<double>(a[i]) - b[i] - shift);
  }
  return total;
}

}  // namespace

std::vector<Window> read_windows(const Tokenizer &tokenizer, const std::vector<std::string> &paths, int64_t length,
                                 int64_t count) {
  const auto prefix = static_cast<int64_t>(tokenizer.prefix().size());
  const auto files = static_cast<int64_t>(paths.size());
  std::vector<Window> windows;
  for (const std::string &path : paths) {
    const std::vector<int32_t> tokens = [&] {
      try {
        return tokenizer.encode(tool::read_text(path));
      } catch (const Error &error) {
        const std::string text = error.what();
        throw Error(text.starts_with(path) ? text : fmt::format("{}: {}", path, text));
      }
    }();
    const int64_t step = length - prefix, there = std::ssize(tokens) / step;
    const int64_t needed = count == 0 ? 1 : (count + files - 1) / files;
    if (there < needed) {
      throw Error(fmt::format("{}: has {} tokens: expected at least {}, {} windows of {}", path, tokens.size(),
                              needed * step, needed, length));
    }
    for (int64_t i = 0; i < (count == 0 ? there : needed); ++i) {
      Window &window = windows.emplace_back(tokenizer.prefix());
      window.insert(window.end(), tokens.begin() + i * step, tokens.begin() + (i + 1) * step);
    }
  }
  if (count > 0) windows.resize(static_cast<size_t>(count));
  return windows;
}

double Score::perplexity() const { return std::exp(loss); }

Evaluation::Evaluation(lpt_context *context, const std::vector<Window> &windows, Decoder *baseline,
                       const Report &report)
    : context_(context), windows_(windows), baseline_(baseline) {
  if (baseline == nullptr) return;
  for (const Window &window : windows) {
    baseline->clear();
    const lpt_tensor *states = baseline->forward(window);
    Tensor &kept = states_.emplace_back(tool::make_matrix(context, lpt_tensor_format(states),
                                                          lpt_tensor_extent(states, 0), lpt_tensor_extent(states, 1)));
    check(context, lpt_tensor_copy(context, states, kept.get()));
    report(states_.size());
  }
}

void Evaluation::add_window(Decoder &decoder, size_t index, Score &score) const {
  const Window &window = windows_[index];
  auto start = std::chrono::steady_clock::now();
  decoder.clear();
  const lpt_tensor *states = decoder.forward(window);
  score.seconds += seconds_since(start);
  const int64_t width = lpt_tensor_extent(states, 1), predicted = std::ssize(window) - 1;
  for (int64_t row = 0; row < predicted; row += kRowsAtOnce) {
    const int64_t rows = std::min(kRowsAtOnce, predicted - row);
    start = std::chrono::steady_clock::now();
    const lpt_tensor *found = decoder.logits(view_of(context_, states, {row, 0}, {rows, width}).get());
    score.seconds += seconds_since(start);
    const int32_t *targets = window.data() + row + 1;
    const Tensor found_sums = make_vector(context_, LPT_FORMAT_F64, rows);
    score.loss += cross_entropy(context_, found, targets, found_sums.get());
    if (baseline_ == nullptr) continue;
    const lpt_tensor *exact = baseline_->logits(view_of(context_, states_[index].get(), {row, 0}, {rows, width}).get());
    const Tensor exact_sums = make_vector(context_, LPT_FORMAT_F64, rows);
    cross_entropy(context_, exact, targets, exact_sums.get());
    score.divergence += divergence_of(context_, exact, exact_sums.get(), found, found_sums.get());
  }
  score.tokens += predicted;
}

Score Evaluation::run(Decoder &decoder, const Report &report) const {
  Score score;
  for (size_t i = 0; i < windows_.size(); ++i) {
    add_window(decoder, i, score);
    report(i + 1);
  }
  score.loss /= static_cast<double>(score.tokens);
  score.divergence /= static_cast<double>(score.tokens);
  return score;
}

}  // namespace run_lm
