#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench.hpp"
#include "bench/gemm_report.hpp"
#include "bench/peaks.hpp"
#include "bench_gemm_file.hpp"
#include "error.hpp"
#include "file.hpp"
#include "handles.hpp"
#include "status_line.hpp"
#include "text.hpp"

namespace tool {
namespace {

using lpt::bench::GemmRate;
using lpt::bench::GemmRateOptions;
using lpt::bench::GemmReport;
using lpt::bench::GemmShape;

std::vector<GemmShape> shapes_of(const std::vector<std::string> &names) {
  std::vector<GemmShape> shapes;
  for (const std::string &name : names) {
    const std::vector<GemmShape> more = lpt::bench::shapes_of(name);
    if (more.empty()) {
      throw Error(fmt::format("shape is {}: expected {}, a shape of theirs, or MxKxN such as 16x4096x4096",
                              in_quotes(name), lpt::bench::gemm_groups()));
    }
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes.empty() ? lpt::bench::shapes_of("usual") : shapes;
}

std::vector<lpt::bench::GemmPair> pairs_of(const std::vector<std::string> &names) {
  std::vector<lpt::bench::GemmPair> pairs;
  for (const std::string &name : names) {
    const auto pair = lpt::bench::pair_of(name);
    if (!pair) {
      throw Error(fmt::format("pair is {}: expected A:B, two formats of `lpt formats`, such as bf16:int4_1x128",
                              in_quotes(name)));
    }
    pairs.push_back(*pair);
  }
  return pairs.empty() ? lpt::bench::usual_pairs() : pairs;
}

lpt_isa isa_of(const std::string &name) {
  for (const NamedIsa &isa : kIsas) {
    if (name == isa.name) return isa.isa;
  }
  return LPT_ISA_AUTO;
}

GemmReport measured(const BenchGemmOptions &requests) {
  GemmRateOptions options;
  options.shapes = shapes_of(requests.shapes);
  options.pairs = pairs_of(requests.pairs);
  options.wants_plain = requests.weights != "packed";
  options.wants_packed = requests.weights != "plain";
  options.threads = requests.threads;
  options.isa = isa_of(requests.isa);
  options.seconds = requests.seconds;
  if (options.threads == 1) lpt::bench::pin_thread();
  StatusLine status(requests.is_quiet);
  options.on_progress = [&](double part, const std::string &note) { status.tell(part, note); };
  options.on_shape = [&](const std::vector<GemmRate> &rates, bool is_judged) {
    status.clear();
    print_out("{}", lpt::bench::gemm_table(rates, is_judged));
    flush_out();
  };
  print_out("{}", lpt::bench::gemm_head(options));
  std::string error;
  GemmReport report = lpt::bench::gemm_rates(options, error);
  status.clear();
  if (!error.empty()) throw Error(error);
  print_out("{}", lpt::bench::gemm_foot(report));
  return report;
}

// Adds the peers of another file with the same shapes.
void add_peers(GemmReport &report, const std::string &path) {
  const GemmReport other = read_gemm_report(path);
  if (other.threads != report.threads) {
    throw Error(
        fmt::format("{} was measured on {} threads: expected {}", in_quotes(path), other.threads, report.threads));
  }
  const std::vector<GemmRate> ours = report.rates;
  for (const GemmRate &peer : other.rates) {
    const auto is_same_shape = [&](const GemmRate &rate) { return rate.shape.name == peer.shape.name; };
    if (peer.is_peer && std::any_of(ours.begin(), ours.end(), is_same_shape)) report.rates.push_back(peer);
  }
}

}  // namespace

void bench_gemm(const BenchGemmOptions &options) {
  check_text_target(options.json, {options.from});
  check_text_target(options.picture, {options.from});
  GemmReport report = options.from.empty() ? measured(options) : read_gemm_report(options.from);
  if (!options.json.empty()) write_text(options.json, lpt::bench::gemm_json(report));
  for (const std::string &path : options.peers) add_peers(report, path);
  if (!options.picture.empty()) write_text(options.picture, gemm_picture(report));
}

}  // namespace tool
