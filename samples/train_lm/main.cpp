// Trains a byte-level language model in low precision with LPT, and the same model in f32 on the same batches.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "../lm/files.hpp"
#include "run.hpp"

namespace {

constexpr int kUserError = 2;

// A model may generate any byte. Control characters and bytes beyond ASCII become \xNN.
std::string escaped(const std::string &text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_shown = (byte >= 0x20 && byte < 0x7F) || c == '\n' || c == '\t';
    safe += is_shown ? std::string(1, c) : fmt::format("\\x{:02X}", byte);
  }
  return safe;
}

void print(const train_lm::Options &options, const train_lm::Results &results) {
  if (options.is_json) {
    lm::write_out(train_lm::metrics_json(options, results));
    return;
  }
  std::string text = train_lm::results_table(options, results);
  if (!results.sample.empty()) {
    text += fmt::format("\n  {} writes:\n\n{}\n", results.twins.front().recipe, escaped(results.sample));
  }
  lm::write_out(text + fmt::format("\n  curves, losses, metrics and checkpoint are in {}\n", options.out));
}

}  // namespace

int main(int argument_count, char **arguments) {
  try {
    const train_lm::Options options = train_lm::parse_options(argument_count, arguments);
    train_lm::Run run(options);
    run.train();
    const train_lm::Results results = run.results();
    if (run.is_first()) {
      train_lm::write_results(options, results);
      print(options, results);
    }
    return 0;
  } catch (const std::exception &error) {
    std::fputs(fmt::format("train_lm: {}\n", error.what()).c_str(), stderr);
    return kUserError;
  }
}
