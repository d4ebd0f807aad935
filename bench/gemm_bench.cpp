// Products beside the limits of this machine, and beside other libraries' products of the same shapes: `lpt bench gemm`
// with peers. Names are those of `lpt bench gemm`; `lpt bench gemm --from FILE --picture FILE.svg` draws what --json has
// written.
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

struct Wishes {
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

void declare(CLI::App &app, Wishes &wishes) {
  app.add_option("--shape", wishes.shapes, gemm_groups() + ", a shape of theirs, or MxKxN; may be given more than once")
      ->check(shape_problem)
      ->capture_default_str();
  app.add_option("--pair", wishes.pairs, "Formats of a and b, such as bf16:int4_1x128; may be given more than once")
      ->check(pair_problem);
  app.add_option("--weights", wishes.weights, "How b lies")
      ->check(CLI::IsMember({"plain", "packed", "both"}))
      ->capture_default_str();
  app.add_option("--isa", wishes.isa, "Highest instruction set to use")
      ->check(CLI::IsMember({"auto", "avx2", "avx512", "avx512_bf16"}))
      ->capture_default_str();
  app.add_option("--threads", wishes.threads, "More than one: each product on one as well, and the ratio")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--seconds", wishes.seconds, "For each product; at least five rounds")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  app.add_option("--json", wishes.json, "Write the figures as JSON");
}

GemmRateOptions options_of(const Wishes &wishes) {
  GemmRateOptions options;
  for (const std::string &name : wishes.shapes) {
    const std::vector<GemmShape> shapes = shapes_of(name);
    options.shapes.insert(options.shapes.end(), shapes.begin(), shapes.end());
  }
  for (const std::string &name : wishes.pairs) options.pairs.push_back(*pair_of(name));
  if (options.pairs.empty()) options.pairs = usual_pairs();
  options.wants_plain = wishes.weights != "packed";
  options.wants_packed = wishes.weights != "plain";
  if (wishes.isa == "avx2") options.isa = LPT_ISA_X86_AVX2;
  if (wishes.isa == "avx512") options.isa = LPT_ISA_X86_AVX512;
  if (wishes.isa == "avx512_bf16") options.isa = LPT_ISA_X86_AVX512_BF16;
  options.threads = wishes.threads;
  options.seconds = wishes.seconds;
  options.peers = gemm_peers(options.missing_peers);
  options.on_shape = [](const std::vector<GemmRate> &rates, bool is_judged) {
    std::fputs(gemm_table(rates, is_judged).c_str(), stdout);
    std::fflush(stdout);
  };
  return options;
}

int run(const Wishes &wishes) {
  const GemmRateOptions options = options_of(wishes);
  if (options.threads == 1) pin_thread();
  std::fputs(gemm_head(options).c_str(), stdout);
  std::string error;
  const GemmReport report = gemm_rates(options, error);
  if (!error.empty()) {
    std::fprintf(stderr, "gemm_bench: %s\n", error.c_str());
    return 1;
  }
  std::fputs(gemm_foot(report).c_str(), stdout);
  if (wishes.json.empty()) return 0;
  std::ofstream file(wishes.json);
  if (file << gemm_json(report) << std::flush) return 0;
  std::fprintf(stderr, "gemm_bench: %s cannot be written\n", wishes.json.c_str());
  return 1;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **arguments) {
  CLI::App app("Products beside the limits of this machine and other libraries' products.", "gemm_bench");
  lpt::bench::Wishes wishes;
  lpt::bench::declare(app, wishes);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError &problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  return lpt::bench::run(wishes);
}
