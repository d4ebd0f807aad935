// Runs of a small model on a generated text.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../../lm/random.hpp"
#include "../../lm/tests/expect.hpp"
#include "../run.hpp"

namespace train_lm {

inline constexpr double kLargestGap = 3.0;        // percent
inline constexpr double kLargestEarlyLoss = 4.5;  // bits per byte after 40 steps

// Words of a small vocabulary in random order: easy to learn, impossible to guess.
inline std::string made_up_text() {
  static const char *const kWords[] = {"river", "stone", "and", "the", "a", "walks", "under", "light", "old", "sings"};
  std::string text;
  for (uint64_t i = 0; text.size() < 60000; ++i) {
    text += kWords[lm::random_bits(1, 1, i) % std::size(kWords)];
    text += i % 9 == 8 ? ".\n" : " ";
  }
  return text;
}

inline void write(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

inline std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Options small_options(const std::string &folder, const std::string &name) {
  Options options;
  options.train.shape = {.width = 32, .layers = 2, .heads = 2, .hidden = 48, .sequence = 32};
  options.train.steps = 20;
  options.train.batch = 8;
  options.train.learning_rate = 1e-2;
  options.train.validate_every = 5;
  options.train.validation_windows = 16;
  options.data = folder + "/text.txt";
  options.out = folder + "/" + name;
  options.sample_bytes = 20;
  options.is_quiet = true;
  return options;
}

inline Results run(const Options &options) {
  Run one(options);
  one.train();
  const Results results = one.results();
  write_results(options, results);
  return results;
}

// Runs the tests in a folder, the only argument of the program. Returns the exit code.
template <typename Tests>
int run_tests(int argument_count, char **arguments, const Tests &tests) {
  if (argument_count != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", arguments[0]);
    return 2;
  }
  const std::string folder = arguments[1];
  std::filesystem::create_directories(folder);
  write(folder + "/text.txt", made_up_text());
  lm::Expect expect;
  tests(folder, expect);
  return expect.exit_code();
}

}  // namespace train_lm
