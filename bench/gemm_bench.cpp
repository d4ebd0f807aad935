// GEMMs compared with the limits of this machine and with GEMMs of other libraries: `lpt bench gemm` with peers. Names are
// those of `lpt bench gemm`. `lpt bench gemm --from FILE --picture FILE.svg` plots the output of --json.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/gemm_peers.hpp"
#include "bench/gemm_rates.hpp"
#include "bench/gemm_report.hpp"
#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

struct Settings {
  std::vector<std::string> shapes = {"usual"}, pairs;
  std::string weights = "both", isa = "auto", json;
  int threads = 1;
  double seconds = 0.3;
};

std::string shape_problem(const std::string &name) {
  return shapes_of(name).empty() ? "expected " + gemm_groups() + ", a shape of theirs, or MxKxN" : "";
}

std::string pair_problem(const std::string &name) {
  return pair_of(name) ? "" : "expected A:B, two formats of `lpt formats`";
}

void declare(CLI::App &app, Settings &requests) {
  app.add_option("--shape", requests.shapes,
                 gemm_groups() + ", a shape of theirs, or MxKxN; may be given more than once")
      ->check(shape_problem)
      ->capture_default_str();
  app.add_option("--pair", requests.pairs, "Formats of a and b, such as bf16:int4_1x128; may be given more than once")
      ->check(pair_problem);
  app.add_option("--weights", requests.weights, "How b is")
      ->check(CLI::IsMember({"plain", "packed", "both"}))
      ->capture_default_str();
  app.add_option("--isa", requests.isa, "Highest instruction set to use")
      ->check(CLI::IsMember({"auto", "avx2", "avx512", "avx512_bf16"}))
      ->capture_default_str();
  app.add_option("--threads", requests.threads, "More than one: each GEMM on one as well, and the ratio")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--seconds", requests.seconds, "For each GEMM; at least five rounds")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  app.add_option("--json", requests.json, "Write the figures as JSON");
}

GemmRateOptions options_of(const Settings &requests) {
  GemmRateOptions options;
  for (const std::string &name : requests.shapes) {
    const std::vector<GemmShape> shapes = shapes_of(name);
    options.shapes.insert(options.shapes.end(), shapes.begin(), shapes.end());
  }
  for (const std::string &name : requests.pairs) options.pairs.push_back(*pair_of(name));
  if (options.pairs.empty()) options.pairs = usual_pairs();
  options.wants_plain = requests.weights != "packed";
  options.wants_packed = requests.weights != "plain";
  if (requests.isa == "avx2") options.isa = LPT_ISA_X86_AVX2;
  if (requests.isa == "avx512") options.isa = LPT_ISA_X86_AVX512;
  if (requests.isa == "avx512_bf16") options.isa = LPT_ISA_X86_AVX512_BF16;
  options.threads = requests.threads;
  options.seconds = requests.seconds;
  options.peers = gemm_peers(options.missing_peers);
  options.on_shape = [](const std::vector<GemmRate> &rates, bool is_judged) {
    std::fputs(gemm_table(rates, is_judged).c_str(), stdout);
    std::fflush(stdout);
  };
  return options;
}

int run(const Settings &requests) {
  const GemmRateOptions options = options_of(requests);
  if (options.threads == 1) pin_thread();
  std::fputs(gemm_head(options).c_str(), stdout);
  std::string error;
  const GemmReport report = gemm_rates(options, error);
  if (!error.empty()) {
    std::fprintf(stderr, "gemm_bench: %s\n", error.c_str());
    return 1;
  }
  std::fputs(gemm_foot(report).c_str(), stdout);
  if (requests.json.empty()) return 0;
  std::ofstream file(requests.json);
  if (file << gemm_json(report) << std::flush) return 0;
  std::fprintf(stderr, "gemm_bench: %s cannot be written\n", requests.json.c_str());
  return 1;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **arguments) {
  CLI::App app("GEMMs beside the limits of this machine and other libraries' GEMMs.", "gemm_bench");
  lpt::bench::Settings requests;
  lpt::bench::declare(app, requests);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError &problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  return lpt::bench::run(requests);
}
