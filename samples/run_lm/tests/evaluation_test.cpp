// Generated texts and scores against the definitions, in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../generate.hpp"
#include "../measure.hpp"
#include "loaded_model.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using run_lm::Decoder;
using run_lm::Window;

TEST(Evaluation, GeneratesTheMostLikelyTokens) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(7, false);
  const LoadedModel loaded(write_folder(workplace, "folder", model, false));
  const run_lm::Tokenizer tokenizer("t", loaded.files.tokenizer_text());
  std::vector<int32_t> tokens = random_tokens(8, 5);
  const std::vector<int32_t> prompt = tokens;
  std::string expected, found;
  for (int i = 0; i < 12; ++i) {
    const std::vector<double> last = model.logits(tokens).back();
    tokens.push_back(static_cast<int32_t>(std::max_element(last.begin(), last.end()) - last.begin()));
    if (tokens.back() == 1) break;
    expected += tokenizer.bytes_of(tokens.back());
  }
  Decoder decoder = loaded.decoder();
  const run_lm::Generation result = generate(decoder, loaded.files.config(), tokenizer, prompt, {.tokens = 12},
                                             [&](const std::string &text) { found += text; });
  EXPECT_EQ(found, expected);
  EXPECT_EQ(result.prompt_tokens, 5);
  EXPECT_EQ(result.tokens, std::ssize(tokens) - 5);
}

TEST(Evaluation, DrawsTokensOfTheNucleusByTheirProbability) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.5f), std::log(0.15f), std::log(0.25f)};
  constexpr int kDraws = 2000;
  const auto counts_of = [&](const run_lm::Sampling &sampling) {
    std::vector<int> counts(4);
    for (int i = 0; i < kDraws; ++i)
      ++counts[static_cast<size_t>(draw_token(logits.data(), 4, sampling, (i + 0.5) / kDraws))];
    return counts;
  };
  const auto expect = [&](const run_lm::Sampling &sampling, const std::vector<double> &shares) {
    const std::vector<int> counts = counts_of(sampling);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(counts[i], shares[i] * kDraws, 1.5) << i;
  };
  expect({.temperature = 0.0}, {0, 1, 0, 0});
  expect({.temperature = 1.0}, {0.1, 0.5, 0.15, 0.25});
  expect({.temperature = 1.0, .top_p = 0.7}, {0, 2.0 / 3, 0, 1.0 / 3});
  expect({.temperature = 1.0, .top_p = 0.0}, {0, 1, 0, 0});
  const std::vector<float> equal(4);  // the first of equal tokens are kept
  EXPECT_EQ(run_lm::draw_token(equal.data(), 4, {.temperature = 1.0, .top_p = 0.5}, 0.99), 1);
  const double sum = 0.01 + 0.25 + 0.0225 + 0.0625;
  expect({.temperature = 0.5}, {0.01 / sum, 0.25 / sum, 0.0225 / sum, 0.0625 / sum});
}

// Loss and divergence of the second model from the first one, in f64.
run_lm::Score expected_score(const TinyModel &exact, const TinyModel &found, const std::vector<Window> &windows) {
  run_lm::Score score;
  const auto log_softmax = [](std::vector<double> values) {
    double sum = 0.0;
    for (const double value : values) sum += std::exp(value);
    for (double &value : values) value -= std::log(sum);
    return values;
  };
  for (const Window &window : windows) {
    const auto a = exact.logits(window), b = found.logits(window);
    for (size_t t = 0; t + 1 < window.size(); ++t, ++score.tokens) {
      const std::vector<double> p = log_softmax(a[t]), q = log_softmax(b[t]);
      score.loss -= q[static_cast<size_t>(window[t + 1])];
      for (size_t i = 0; i < p.size(); ++i) score.divergence += std::exp(p[i]) * (p[i] - q[i]);
    }
  }
  score.loss /= static_cast<double>(score.tokens);
  score.divergence /= static_cast<double>(score.tokens);
  return score;
}

const auto kNoReport = [](size_t) {};

TEST(Evaluation, DividesTextsIntoWindows) {
  const tool_tests::Workplace workplace;
  const run_lm::Tokenizer tokenizer("t", tokenizer_text("words"));
  const std::string text = "The quick brown fox jumps over the lazy dog, 12345 times; and again.";
  const std::vector<std::string> paths = {workplace.write("a", text), workplace.write("b", "B: " + text)};
  const std::vector<int32_t> prefix = tokenizer.prefix(), tokens = tokenizer.encode(text);
  ASSERT_EQ(prefix.size(), 1u);
  const std::vector<Window> windows = read_windows(tokenizer, paths, 8, 3);
  ASSERT_EQ(windows.size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    Window expected = prefix;
    for (size_t j = 0; j < 7; ++j) expected.push_back(tokens[7 * i + j]);
    EXPECT_EQ(windows[i], expected);
  }
  EXPECT_NE(windows[2], windows[0]);
  EXPECT_EQ(read_windows(tokenizer, {paths[0]}, 8, 0).size(), tokens.size() / 7);
  EXPECT_THROW(read_windows(tokenizer, paths, 8, 200), tool::Error);
  EXPECT_THROW(read_windows(tokenizer, {workplace.path("none")}, 8, 1), tool::Error);
}

TEST(Evaluation, HasTheLossAndTheDivergenceOfTheDefinition) {
  const tool_tests::Workplace workplace;
  TinyModel exact, found;
  exact.draw(9, false);
  found.draw(10, false);
  const LoadedModel first(write_folder(workplace, "exact", exact, false));
  const LoadedModel second(write_folder(workplace, "found", found, false));
  // The second window has more rows than logits at once.
  const std::vector<Window> windows = {random_tokens(11, 7), random_tokens(12, 64)};
  Decoder baseline = first.decoder(), decoder = second.decoder();
  const run_lm::Evaluation evaluation(first.context.get(), windows, &baseline, kNoReport);
  const run_lm::Score score = evaluation.run(decoder, kNoReport), expected = expected_score(exact, found, windows);
  EXPECT_EQ(score.tokens, expected.tokens);
  EXPECT_NEAR(score.loss, expected.loss, 1e-4 * expected.loss);
  EXPECT_NEAR(score.divergence, expected.divergence, 1e-4 * expected.divergence);
  EXPECT_LT(std::abs(evaluation.run(baseline, kNoReport).divergence), 1e-6);
}

}  // namespace
}  // namespace run_lm_tests
