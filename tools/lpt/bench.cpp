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

namespace tool {
namespace {

using lpt::bench::QuantizeRate;

constexpr int64_t kBytesInCache = int64_t{512} << 10;

struct Half {
  std::string title;
  std::vector<QuantizeRate> rates;
};

// What a figure reaches of memcpy's bytes per second: the same measure for all, whatever its bar is about.
double share(const QuantizeRate &rate) { return rate.gigabytes() / rate.copy_gigabytes(); }

std::string verdict(const QuantizeRate &rate) {
  if (rate.measure.empty()) return "";
  std::string text = fmt::format("{:.2f} {}", rate.ratio, rate.measure);
  if (rate.bar == 0) return text;
  return text + fmt::format(" ({} {:.2f}: {})", rate.is_ceiling ? "at most" : "bar", rate.bar,
                            rate.is_met() ? "met" : "not met");
}

void print(const QuantizeRate &rate) {
  constexpr double kFullWidth = 20;  // signs for memcpy's rate
  const auto width = static_cast<size_t>(std::min(2.0, share(rate)) * kFullWidth + 0.5);
  std::string bar;
  for (size_t i = 0; i < width; ++i) bar += "█";
  fmt::print("  {:<40} {:7.2f} Gelem/s {:7.2f} GB/s  {}{} {}\n", rate.name, rate.gigaelements(), rate.gigabytes(), bar,
             std::string(41 - std::min<size_t>(width, 40), ' '), verdict(rate));
  std::fflush(stdout);
}

Half measure(const std::string &title, int64_t bytes, bool is_in_cache) {
  fmt::print("{}: f32 source of {} KiB; a bar of 20 signs is memcpy's rate\n", title, bytes >> 10);
  lpt::bench::QuantizeRateOptions options;
  options.source_bytes = bytes;
  options.is_in_cache = is_in_cache;
  options.on_rate = print;
  std::string error;
  Half half{title, lpt::bench::quantize_rates(options, error)};
  if (half.rates.empty()) throw Error(error);
  return half;
}

constexpr double kNames = 320, kScale = 320, kLine = 18, kHeader = 60;

std::string picture_of(const Half &half, double &y) {
  std::string svg =
      fmt::format("<text x=\"20\" y=\"{:.0f}\" font-size=\"14\" font-weight=\"bold\">{}</text>\n", y, half.title);
  y += kLine;
  for (const QuantizeRate &rate : half.rates) {
    const double width = std::min(2.0, share(rate)) * kScale;
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kNames - 8, y, rate.name);
    svg += fmt::format("<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\" fill=\"{}\"/>\n", kNames, y - 10,
                       width, rate.is_met() ? "#2f6f9f" : "#c2572b");
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#555\">{:.1f} GB/s{}{}</text>\n", kNames + width + 6, y,
                       rate.gigabytes(), rate.measure.empty() ? "" : "; ", verdict(rate));
    y += kLine;
  }
  return svg;
}

std::string picture(const std::vector<Half> &halves) {
  double y = kHeader;
  std::string body;
  for (const Half &half : halves) {
    body += picture_of(half, y);
    y += kLine;
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1400\" height=\"{0:.0f}\" viewBox=\"0 0 1400 {0:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      y + 20);
  svg += fmt::format("<text x=\"20\" y=\"28\" font-size=\"18\">Casts beside memcpy, one thread; {}</text>\n",
                     lpt_build_info());
  svg += fmt::format("<line x1=\"{0:.0f}\" y1=\"40\" x2=\"{0:.0f}\" y2=\"{1:.0f}\" stroke=\"#999\"/>\n",
                     kNames + kScale, y);
  svg +=
      fmt::format("<text x=\"{:.0f}\" y=\"52\" fill=\"#555\">memcpy's bytes per second</text>\n", kNames + kScale + 4);
  return svg + body + "</svg>\n";
}

}  // namespace

void bench_quantize(const BenchOptions &options) {
  lpt::bench::pin_thread();
  fmt::print("one thread, load average {:.1f}; {}\n", lpt::bench::load_average(), lpt_build_info());
  std::vector<Half> halves;
  if (options.mebibytes > 0) halves.push_back(measure("out of cache", int64_t{options.mebibytes} << 20, false));
  halves.push_back(measure("in cache", kBytesInCache, true));
  if (!options.picture.empty()) write_text(options.picture, picture(halves));
}

}  // namespace tool
