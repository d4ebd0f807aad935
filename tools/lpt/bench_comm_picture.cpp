// The plot of a benchmark of collectives: times and rates over sizes, all axes logarithmic. Dots are measurements. A curve
// shows the fitted latency and bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench_comm.hpp"
#include "handles.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr double kMargin = 24, kTop = 118, kWidth = 440, kHeight = 320, kAxis = 64, kGap = 40, kFooter = 60;
constexpr double kLegendLine = 18, kDot = 5;
// Distinguishable for color-blind readers (Okabe and Ito).
constexpr const char *kColors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#24292f"};

const char *color_of(size_t series) { return kColors[series % std::size(kColors)]; }

struct Range {
  double least = INFINITY, most = 0;

  void add(double value) { least = std::min(least, value), most = std::max(most, value); }
};

// Seconds, or bytes per second, over bytes.
struct Panel {
  const char *title;
  double (*value)(double rank_bytes, double seconds);
  std::string (*text)(double value);
};

std::string seconds_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string rate_text(double rate) {
  return rate < 1e9 ? fmt::format("{:.3g} MB/s", rate * 1e-6) : fmt::format("{:.3g} GB/s", rate * 1e-9);
}

constexpr Panel kPanels[] = {{"time of a call", [](double, double seconds) { return seconds; }, seconds_text},
                             {"bytes that a rank sends per second",
                              [](double rank_bytes, double seconds) { return rank_bytes / seconds; }, rate_text}};

class Picture {
 public:
  explicit Picture(const CommReport &report) : report_(report) {
    for (const CommSeries &series : report.series) {
      for (const CommTime &time : series.times) sizes_.add(time.bytes);
    }
  }

  std::string draw() const {
    const double legend = kLegendLine * static_cast<double>(report_.series.size());
    const double width = 2 * kMargin + 2 * (kAxis + kWidth) + kGap, height = kTop + kHeight + kFooter + legend;
    std::string svg = svg_head(width, height) + head();
    double left = kMargin + kAxis;
    for (const Panel &panel : kPanels) {
      svg += drawn(panel, left);
      left += kWidth + kGap + kAxis;
    }
    return svg + legend_at(kTop + kHeight + kFooter) + "</svg>\n";
  }

 private:
  std::string head() const {
    const std::string threads = report_.threads == 1 ? "one thread" : fmt::format("{} threads", report_.threads);
    return svg_label(kMargin, 32, "start", kInk, 20,
                     fmt::format("Collectives of {} ranks of {}", report_.ranks, threads)) +
           svg_label(kMargin, 52, "start", kMuted, 12, shortened(report_.build, 140)) +
           svg_label(
               kMargin, 70, "start", kMuted, 12,
               fmt::format("engine: {}; load average {:.1f}; dots: medians, curves: the latency and the bandwidth "
                           "that fit them",
                           report_.engine, report_.load));
  }

  std::string drawn(const Panel &panel, double left) const {
    const Range values = values_of(panel);
    std::string svg = svg_label(left, kTop - 14, "start", kInk, 14, panel.title) + grid(panel, values, left);
    for (size_t i = 0; i < report_.series.size(); ++i) {
      const CommSeries &series = report_.series[i];
      std::vector<SvgPoint> curve;
      for (const CommTime &time : series.times) {
        const double x = left + x_of(time.bytes);
        if (series.has_link) {
          curve.push_back({x, y_of(panel.value(time.rank_bytes, series.modelled_seconds(time)), values)});
        }
        const double y = y_of(panel.value(time.rank_bytes, time.seconds), values);
        svg += svg_box(x - kDot / 2, y - kDot / 2, kDot, kDot, color_of(i));
      }
      svg += svg_curve(curve, color_of(i));
    }
    return svg;
  }

  Range values_of(const Panel &panel) const {
    Range values;
    for (const CommSeries &series : report_.series) {
      for (const CommTime &time : series.times) {
        values.add(panel.value(time.rank_bytes, time.seconds));
        if (series.has_link) values.add(panel.value(time.rank_bytes, series.modelled_seconds(time)));
      }
    }
    // Full powers of ten, so that the grid ends at the edge of the panel.
    return {std::pow(10.0, std::floor(std::log10(values.least))), std::pow(10.0, std::ceil(std::log10(values.most)))};
  }

  std::string grid(const Panel &panel, const Range &values, double left) const {
    std::string svg;
    for (double value = values.least; value <= values.most * 1.01; value *= 10) {
      const double y = y_of(value, values);
      svg += svg_curve({{left, y}, {left + kWidth, y}}, kGrid);
      svg += svg_label(left - 6, y + 4, "end", kMuted, 10, panel.text(value));
    }
    for (double bytes = std::exp2(std::ceil(std::log2(sizes_.least))); bytes <= sizes_.most; bytes *= 16) {
      svg += svg_upright(left + x_of(bytes), kTop, kTop + kHeight, kGrid);
      svg += svg_label(left + x_of(bytes), kTop + kHeight + 16, "middle", kMuted, 10,
                       size_text(static_cast<uint64_t>(bytes)));
    }
    return svg;
  }

  std::string legend_at(double y) const {
    std::string svg;
    for (size_t i = 0; i < report_.series.size(); ++i, y += kLegendLine) {
      const CommSeries &series = report_.series[i];
      std::string text = series.name();
      if (series.has_link) text += ": " + series.link_text();
      svg += svg_box(kMargin + kAxis, y - 20, 12, 12, color_of(i));
      svg += svg_label(kMargin + kAxis + 18, y - 10, "start", kInk, 12, text);
    }
    return svg;
  }

  double x_of(double bytes) const { return kWidth * part_of(bytes, sizes_); }
  double y_of(double value, const Range &values) const { return kTop + kHeight * (1 - part_of(value, values)); }

  // Returns the position of a value on a logarithmic axis, 0 to 1.
  static double part_of(double value, const Range &range) {
    const double whole = std::log(range.most / range.least);
    return whole > 0 ? std::log(value / range.least) / whole : 0.5;
  }

  const CommReport &report_;
  Range sizes_;
};

}  // namespace

std::string comm_picture(const CommReport &report) { return Picture(report).draw(); }

}  // namespace tool
