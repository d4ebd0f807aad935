// Runs a language model of the Llama family with LPT: generates text, measures perplexity, quantizes weights, compares formats.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "run.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

int main(int argument_count, char **arguments) {
  constexpr int kUserError = 2;
#ifdef __GLIBC__
  // A fixed threshold: glibc returns the memory of released matrices to the system.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
  try {
    run_lm::run(run_lm::parse_options(argument_count, arguments));
    return 0;
  } catch (const std::exception &error) {
    std::fputs(fmt::format("run_lm: {}\n", error.what()).c_str(), stderr);
    return kUserError;
  }
}
