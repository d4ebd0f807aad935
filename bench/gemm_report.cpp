#include "bench/gemm_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kBarSigns = 10;  // for a share of 1

__attribute__((format(printf, 1, 2))) std::string text(const char *format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

std::string bar_of_signs(double share) {
  const int width = static_cast<int>(std::clamp(share, 0.0, 1.2) * kBarSigns + 0.5);
  std::string bar;
  for (int i = 0; i < kBarSigns * 6 / 5; ++i) bar += i < width ? '#' : ' ';
  return bar;
}

// Returns GEMMs per time of the limit, so that rates of one kind are comparable despite a drifting clock.
double steady_speed(const GemmRate &rate) {
  return rate.limit == GemmLimit::kRead && rate.weight_bytes > 0 ? rate.share / rate.weight_bytes : rate.share;
}

// Returns the fastest peer with the multiplication of `rate`; NULL: none.
const GemmRate *best_peer_of(const GemmRate &rate, const std::vector<GemmRate> &rates) {
  const GemmRate *best = nullptr;
  for (const GemmRate &other : rates) {
    if (!other.is_peer || other.kind != rate.kind || other.limit != rate.limit) continue;
    if (best == nullptr || steady_speed(other) > steady_speed(*best)) best = &other;
  }
  return best;
}

std::string verdict(const GemmRate &rate, bool is_judged) {
  if (rate.bar == 0) return "";
  return text("  bar %.2f: %s", rate.bar, !is_judged ? "not judged" : rate.is_reached() ? "reached" : "not reached");
}

std::string line_of(const GemmRate &rate, const std::vector<GemmRate> &rates, bool is_judged) {
  std::string line = text("  %-24s %-7s %10.1f us %8.1f GFLOP/s", rate.name.c_str(), rate.is_packed ? "packed" : "",
                          rate.seconds * 1e6, rate.gflops());
  if (rate.limit == GemmLimit::kRead) line += text(" %6.1f GB/s", rate.weight_gigabytes());
  line += text("  %5.2f %5.2f of %-8s %s", rate.share, rate.best_share, limit_name(rate.limit),
               bar_of_signs(rate.share).c_str());
  if (rate.scaling > 0) line += text("  %4.2f times one thread", rate.scaling);
  line += verdict(rate, is_judged);
  if (const GemmRate *const peer = rate.is_peer ? nullptr : best_peer_of(rate, rates)) {
    line += text("  %.2f of %s%s", steady_speed(rate) / steady_speed(*peer), peer->name.c_str(),
                 peer->is_packed ? " packed" : "");
  }
  return line + (rate.row.empty() ? "" : "  " + rate.row) + "\n";
}

ordered_json json_of(const GemmRate &rate) {
  return {{"shape", rate.shape.name},
          {"m", rate.shape.m},
          {"k", rate.shape.k},
          {"n", rate.shape.n},
          {"is_a_transposed", rate.shape.is_a_transposed},
          {"is_b_transposed", rate.shape.is_b_transposed},
          {"name", rate.name},
          {"is_packed", rate.is_packed},
          {"is_peer", rate.is_peer},
          {"row", rate.row},
          {"kind", limit_name(rate.kind)},
          {"limit", limit_name(rate.limit)},
          {"limit_rate", rate.limit_rate},
          {"weight_bytes", rate.weight_bytes},
          {"seconds", rate.seconds},
          {"median_seconds", rate.median_seconds},
          {"gflops", rate.gflops()},
          {"share_of_peak", rate.share},
          {"best_share_of_peak", rate.best_share},
          {"scaling", rate.scaling},
          {"bar", rate.bar}};
}

}  // namespace

std::string gemm_head(const GemmRateOptions &options) {
  std::string head = text("%d thread%s, load average %.1f; %s\n", options.threads, options.threads == 1 ? "" : "s",
                          load_average(), lpt_build_info());
  head += "shares: the median of rounds, GEMM by limit of the same round, and the best; ten signs are the limit\n";
  if (options.threads > 1) head += text("limits are %d times those of one thread\n", options.threads);
  for (const std::string &peer : options.missing_peers) head += "not here: " + peer + "\n";
  return head;
}

std::string gemm_table(const std::vector<GemmRate> &rates, bool is_judged) {
  if (rates.empty()) return "";
  const GemmShape &shape = rates.front().shape;
  std::string table = text("\n%s: m %lld, k %lld, n %lld, %s%s\n", shape.name.c_str(), static_cast<long long>(shape.m),
                           static_cast<long long>(shape.k), static_cast<long long>(shape.n),
                           shape.is_a_transposed ? "t" : "n", shape.is_b_transposed ? "t" : "n");
  for (const GemmRate &rate : rates) table += line_of(rate, rates, is_judged);
  return table;
}

std::string gemm_foot(const GemmReport &report) {
  std::string foot = "\n";
  for (const std::string &line : report.left_out) foot += "left out: " + line + "\n";
  foot += text("limits of one thread: f32 %.1f GFLOP/s, bf16 dot %.1f GFLOP/s, int8 dot %.1f GOP/s (0: not needed)\n",
               report.f32_gflops, report.bf16_gflops, report.int8_gops);
  if (report.bf16_tile_gflops > 0 || report.int8_tile_gops > 0) {
    foot += text("beside them tiles do %.1f GFLOP/s of bf16 and %.1f GOP/s of int8: shares above 1 are theirs\n",
                 report.bf16_tile_gflops, report.int8_tile_gops);
  }
  int bars = 0, reached = 0;
  for (const GemmRate &rate : report.rates) {
    bars += rate.bar != 0;
    reached += rate.bar != 0 && rate.is_reached();
  }
  if (!report.is_judged) {
    return foot + text("nothing is judged: the load average was %.1f, above %.1f: other work runs here\n", report.load,
                       load_limit(report.threads));
  }
  return foot + text("%d of %d bars reached\n", reached, bars);
}

std::string gemm_json(const GemmReport &report) {
  ordered_json results = ordered_json::array();
  for (const GemmRate &rate : report.rates) results.push_back(json_of(rate));
  const ordered_json peaks = {
      {"f32_gflops", report.f32_gflops}, {"bf16_gflops", report.bf16_gflops}, {"int8_gops", report.int8_gops}};
  const ordered_json json = {{"build", report.build},
                             {"threads", report.threads},
                             {"isa", report.isa},
                             {"load", report.load},
                             {"is_judged", report.is_judged},
                             {"peaks", peaks},
                             {"missing_peers", report.missing_peers},
                             {"left_out", report.left_out},
                             {"results", results}};
  return json.dump(1) + "\n";
}

}  // namespace lpt::bench
