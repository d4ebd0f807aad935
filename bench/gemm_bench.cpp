// Products beside the limits of this machine, and beside other libraries' products of the same shapes: `lpt bench gemm`
// with peers.
//
//   gemm_bench [--shape NAME]... [--pair A:B]... [--weights plain|packed|both] [--threads N] [--seconds S]
//              [--isa avx2|avx512] [--json FILE]
//
// Names are those of `lpt bench gemm`; `lpt bench gemm --from FILE --picture FILE.svg` draws what --json has written.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "bench/gemm_peers.hpp"
#include "bench/gemm_rates.hpp"
#include "bench/gemm_report.hpp"
#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

struct Wishes {
  GemmRateOptions options;
  std::string json;
};

bool take(Wishes &wishes, const std::string &name, const std::string &value) {
  GemmRateOptions &options = wishes.options;
  if (name == "--shape") {
    const std::vector<GemmShape> shapes = shapes_of(value);
    options.shapes.insert(options.shapes.end(), shapes.begin(), shapes.end());
    return !shapes.empty();
  }
  if (name == "--pair") {
    const auto pair = pair_of(value);
    if (pair) options.pairs.push_back(*pair);
    return pair.has_value();
  }
  if (name == "--isa") {
    options.isa = value == "avx2" ? LPT_ISA_X86_AVX2 : LPT_ISA_X86_AVX512;
    return value == "avx2" || value == "avx512";
  }
  if (name == "--weights") {
    options.wants_plain = value != "packed";
    options.wants_packed = value != "plain";
    return value == "plain" || value == "packed" || value == "both";
  }
  if (name == "--threads") return (options.threads = std::atoi(value.c_str())) >= 1;
  if (name == "--seconds") return (options.seconds = std::atof(value.c_str())) > 0;
  if (name == "--json") return !(wishes.json = value).empty();
  return false;
}

int run(Wishes &wishes) {
  GemmRateOptions &options = wishes.options;
  if (options.shapes.empty()) options.shapes = shapes_of("usual");
  if (options.pairs.empty()) options.pairs = usual_pairs();
  if (options.threads == 1) pin_thread();
  options.peers = gemm_peers(options.missing_peers);
  options.on_shape = [](const std::vector<GemmRate> &rates, bool is_judged) {
    std::fputs(gemm_table(rates, is_judged).c_str(), stdout);
    std::fflush(stdout);
  };
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
  lpt::bench::Wishes wishes;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 < count && lpt::bench::take(wishes, arguments[i], arguments[i + 1])) continue;
    std::fprintf(stderr,
                 "usage: gemm_bench [--shape NAME]... [--pair A:B]... [--weights plain|packed|both] [--threads N] "
                 "[--seconds S] [--isa avx2|avx512] [--json FILE]\n  %s is not understood; shapes: %s, one of theirs, "
                 "or MxKxN\n",
                 arguments[i], lpt::bench::gemm_groups().c_str());
    return 2;
  }
  return lpt::bench::run(wishes);
}
