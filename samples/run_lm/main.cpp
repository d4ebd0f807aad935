// Runs a language model of the Llama family with LPT: generates text, measures perplexity, quantizes weights, compares formats.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "run.hpp"

int main(int argument_count, char **arguments) {
  constexpr int kUserError = 2;
  try {
    run_lm::run(run_lm::parse_options(argument_count, arguments));
    return 0;
  } catch (const std::exception &error) {
    std::fputs(fmt::format("run_lm: {}\n", error.what()).c_str(), stderr);
    return kUserError;
  }
}
