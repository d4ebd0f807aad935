#include "bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/peaks.hpp"
#include "bench/quantize_rates.hpp"
#include "error.hpp"
#include "file.hpp"
#include "lpt.h"
#include "svg.hpp"
#include "text.hpp"

namespace tool {
namespace {

using lpt::bench::QuantizeRate;

constexpr int64_t kBytesInCache = int64_t{512} << 10;

struct Half {
  std::string title;
  std::vector<QuantizeRate> rates;
};

// Returns the fraction of the bandwidth of memcpy: the common measure of all results, independent of their targets.
double share(const QuantizeRate &rate) { return rate.gigabytes() / rate.copy_gigabytes(); }

std::string verdict(const QuantizeRate &rate) {
  if (rate.measure.empty()) return "";
  std::string text = fmt::format("{:.2f} {}", rate.ratio, rate.measure);
  if (rate.bar == 0) return text;
  return text + fmt::format(" ({} {:.2f}: {})", rate.is_ceiling ? "at most" : "bar", rate.bar,
                            rate.is_reached() ? "reached" : "not reached");
}

void print(const QuantizeRate &rate) {
  constexpr double kFullWidth = 20;  // characters for the rate of memcpy
  const auto width = static_cast<size_t>(std::min(2.0, share(rate)) * kFullWidth + 0.5);
  std::string bar;
  for (size_t i = 0; i < width; ++i) bar += '#';
  print_out("  {:<40} {:7.2f} Gelem/s {:7.2f} GB/s  {}{} {}\n", rate.name, rate.gigaelements(), rate.gigabytes(), bar,
            std::string(41 - std::min<size_t>(width, 40), ' '), verdict(rate));
  flush_out();
}

Half measure(const std::string &title, int64_t bytes, bool is_in_cache) {
  print_out("{}: f32 source of {} KiB; 20 signs are memcpy's rate\n", title, bytes >> 10);
  lpt::bench::QuantizeRateOptions options;
  options.source_bytes = bytes;
  options.is_in_cache = is_in_cache;
  options.on_rate = print;
  std::string error;
  Half half{fmt::format("{}, f32 source of {} KiB", title, bytes >> 10), lpt::bench::quantize_rates(options, error)};
  if (half.rates.empty()) throw Error(error);
  return half;
}

// The picture: names, bars in units of the rate of memcpy, and columns of values.

constexpr double kNames = 320, kUnit = 300, kMostUnits = 1.75, kLine = 18, kHeader = 104, kMargin = 20;
constexpr double kElements = kNames + kMostUnits * kUnit + 80, kBytes = kElements + 76, kVerdict = kBytes + 18;
constexpr double kWidth = kVerdict + 350;
constexpr const char *kReached = "#2f6f9f";
constexpr const char *kMissed = "#c2572b";

std::string drawn(const Half &half, double &y) {
  std::string svg = svg_label(kMargin, y, "start", kInk, 14, half.title);
  svg += svg_label(kNames + kUnit, y, "middle", kMuted, 12, "memcpy");
  svg += svg_label(kElements, y, "end", kMuted, 12, "Gelem/s") + svg_label(kBytes, y, "end", kMuted, 12, "GB/s");
  const double top = y + 6;
  for (const QuantizeRate &rate : half.rates) {
    y += kLine;
    const double units = std::min(kMostUnits, share(rate));
    svg += svg_label(kNames - 8, y, "end", kInk, 12, rate.name);
    svg += svg_box(kNames, y - 10, units * kUnit, 12, rate.is_reached() ? kReached : kMissed);
    if (share(rate) > kMostUnits) {
      svg += svg_label(kNames + kMostUnits * kUnit + 4, y, "start", kInk, 12, fmt::format("→ {:.1f}", share(rate)));
    }
    svg += svg_label(kElements, y, "end", kInk, 12, fmt::format("{:.2f}", rate.gigaelements()));
    svg += svg_label(kBytes, y, "end", kInk, 12, fmt::format("{:.1f}", rate.gigabytes()));
    svg += svg_label(kVerdict, y, "start", kMuted, 12, verdict(rate));
  }
  svg += svg_upright(kNames + kUnit, top, y + 6, kInk);
  y += 2 * kLine;
  return svg;
}

std::string picture(const std::vector<Half> &halves) {
  double y = kHeader;
  std::string body;
  for (const Half &half : halves) body += drawn(half, y);
  std::string svg = svg_head(kWidth, y);
  svg += svg_label(kMargin, 28, "start", kInk, 18, "Casts beside memcpy, one thread");
  svg += svg_label(kMargin, 46, "start", kMuted, 12, lpt_build_info());
  svg += svg_box(kNames, 58, 12, 12, kReached) +
         svg_label(kNames + 18, 68, "start", kInk, 12, "reaches its bar, or has none");
  svg += svg_box(kNames + 220, 58, 12, 12, kMissed) + svg_label(kNames + 238, 68, "start", kInk, 12, "misses its bar");
  svg += svg_label(kNames + 380, 68, "start", kMuted, 12, "length: bytes read and written per second, memcpy = 1");
  return svg + body + "</svg>\n";
}

}  // namespace

void bench_quantize(const BenchOptions &options) {
  check_text_target(options.picture);
  lpt::bench::pin_thread();
  print_out("one thread, load average {:.1f}; {}\n", lpt::bench::load_average(), lpt_build_info());
  std::vector<Half> halves;
  if (options.mebibytes > 0) halves.push_back(measure("out of cache", int64_t{options.mebibytes} << 20, false));
  halves.push_back(measure("in cache", kBytesInCache, true));
  if (!options.picture.empty()) write_text(options.picture, picture(halves));
}

}  // namespace tool
