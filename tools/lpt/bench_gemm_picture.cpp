// The plot of a GEMM benchmark: a panel for each shape, a row for each pair, and two bars per row for dense and packed weights.
// Lengths are shares of the limit of the GEMM. Peers are gray.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench_gemm_file.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace tool {
namespace {

using lpt::bench::GemmLimit;
using lpt::bench::GemmRate;
using lpt::bench::GemmReport;
using lpt::bench::GemmShape;

constexpr size_t kPanelsInRow = 3;
constexpr double kMargin = 24, kNames = 190, kUnit = 210, kMostUnits = 1.08, kFigures = 92;
constexpr double kPanel = kMostUnits * kUnit + kFigures, kGap = 30;
constexpr double kLine = 25, kBar = 9, kTitle = 46, kHeader = 118;
constexpr double kPale = 0.45;
// Distinguishable for color-blind readers (Okabe and Ito).
constexpr const char *kPeer = "#9aa1a8";
constexpr const char *kGoal = "#24292f";

const char *color_of(const GemmRate &rate) {
  if (rate.is_peer) return kPeer;
  switch (rate.limit) {
    case GemmLimit::kF32:
      return "#009E73";
    case GemmLimit::kBf16:
      return "#0072B2";
    case GemmLimit::kInt8:
      return "#CC79A7";
    case GemmLimit::kRead:
      return "#E69F00";
  }
  return kInk;
}

// Returns the distinct keys in order of first occurrence, those of LPT before those of peers.
template <typename Key>
std::vector<std::string> kinds(const std::vector<GemmRate> &rates, Key key) {
  std::vector<std::string> result;
  for (const bool is_peer : {false, true}) {
    for (const GemmRate &rate : rates) {
      if (rate.is_peer != is_peer || std::find(result.begin(), result.end(), key(rate)) != result.end()) continue;
      result.push_back(key(rate));
    }
  }
  return result;
}

class Picture {
 public:
  explicit Picture(const GemmReport &report)
      : report_(report),
        shapes_(kinds(report.rates, [](const GemmRate &rate) { return rate.shape.name; })),
        names_(kinds(report.rates, [](const GemmRate &rate) { return rate.name; })) {}

  std::string draw() const {
    const size_t in_row = std::clamp<size_t>(shapes_.size(), 1, kPanelsInRow);
    const size_t rows = (shapes_.size() + in_row - 1) / in_row;
    const double row_height = kTitle + kLine * static_cast<double>(names_.size()) + kGap;
    const double width = std::max(2 * kMargin + kNames + static_cast<double>(in_row) * (kPanel + kGap), 900.0);
    std::string svg = svg_head(width, kHeader + static_cast<double>(rows) * row_height) + head();
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const double top = kHeader + static_cast<double>(i / in_row) * row_height;
      if (i % in_row == 0) svg += labels(top);
      svg += panel(shapes_[i], kMargin + kNames + static_cast<double>(i % in_row) * (kPanel + kGap), top);
    }
    return svg + "</svg>\n";
  }

 private:
  std::string head() const {
    const std::string threads = report_.threads == 1 ? "one thread" : fmt::format("{} threads", report_.threads);
    std::string svg = svg_label(kMargin, 32, "start", kInk, 20, "GEMMs beside the limits of the machine, " + threads);
    svg += svg_label(kMargin, 52, "start", kMuted, 12, shortened(report_.build, 140));
    const std::string load = report_.is_judged ? "" : fmt::format(", too high to judge by");
    svg += svg_label(kMargin, 70, "start", kMuted, 12,
                     fmt::format("limits of one thread: f32 {:.0f} GFLOP/s, bf16 dot {:.0f} GFLOP/s, int8 dot {:.0f} "
                                 "GOP/s; load average {:.1f}{}",
                                 report_.f32_gflops, report_.bf16_gflops, report_.int8_gops, report_.load, load));
    struct Entry {
      const char *text;
      GemmLimit limit;
      bool is_peer;
    };
    constexpr Entry kEntries[] = {{"of the bf16 dot peak", GemmLimit::kBf16, false},
                                  {"of the int8 dot peak", GemmLimit::kInt8, false},
                                  {"of the f32 peak", GemmLimit::kF32, false},
                                  {"of reading the weights", GemmLimit::kRead, false},
                                  {"others", GemmLimit::kF32, true}};
    double x = kMargin;
    for (const Entry &entry : kEntries) {
      GemmRate like;
      like.limit = entry.limit;
      like.is_peer = entry.is_peer;
      svg += svg_box(x, 84, 12, 12, color_of(like)) + svg_label(x + 17, 94, "start", kInk, 12, entry.text);
      x += 40 + 6.2 * static_cast<double>(std::string(entry.text).size());
    }
    svg += svg_box(x, 84, 12, 12, kInk, kPale) + svg_label(x + 17, 94, "start", kInk, 12, "pale: weights not packed");
    svg += svg_upright(x + 190, 82, 98, kGoal) + svg_label(x + 196, 94, "start", kInk, 12, "bar");
    return svg;
  }

  std::string labels(double top) const {
    std::string svg;
    for (size_t i = 0; i < names_.size(); ++i) {
      std::string name = names_[i];
      if (const size_t colon = name.find(':'); colon != std::string::npos) name.replace(colon, 1, " × ");
      svg += svg_label(kMargin + kNames - 8, top + kTitle + kLine * static_cast<double>(i) + 13, "end", kInk, 11,
                       shortened(name, 34));
    }
    return svg;
  }

  std::string panel(const std::string &name, double left, double top) const {
    const double first = top + kTitle, last = first + kLine * static_cast<double>(names_.size());
    std::string svg;
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double x = left + share * kUnit;
      svg += svg_upright(x, first - 6, last, share == 1.0 ? kMuted : kGrid);
      svg += svg_label(x, first - 10, "middle", kMuted, 10, fmt::format("{:.2g}", share));
    }
    bool is_titled = false;
    for (const GemmRate &rate : report_.rates) {
      if (rate.shape.name != name) continue;
      if (!is_titled) svg += svg_label(left, top + 10, "start", kInk, 14, title(rate.shape));
      is_titled = true;
      const auto place = std::find(names_.begin(), names_.end(), rate.name) - names_.begin();
      svg += bar(rate, left, first + kLine * static_cast<double>(place));
    }
    return svg;
  }

  static std::string title(const GemmShape &shape) {
    const std::string form = fmt::format("{}{}", shape.is_a_transposed ? "t" : "n", shape.is_b_transposed ? "t" : "n");
    if (shape.m == shape.k && shape.k == shape.n) return fmt::format("{}³, {}", shape.m, form);
    const std::string extents = fmt::format("{} × {} × {}, {}", shape.m, shape.k, shape.n, form);
    return shape.name.find('x') == std::string::npos ? shortened(shape.name, 40) + ": " + extents : extents;
  }

  static std::string bar(const GemmRate &rate, double left, double top) {
    const double y = top + (rate.is_packed ? kBar + 1 : 0);
    const double length = std::min(rate.share, kMostUnits) * kUnit;
    const bool is_read = rate.limit == GemmLimit::kRead;
    std::string figures =
        fmt::format("{:.2f} · {:.{}f} {}", rate.share, is_read ? rate.weight_gigabytes() : rate.gflops(),
                    is_read ? 1 : 0, is_read ? "GB/s" : "G/s");
    if (rate.scaling > 0) figures += fmt::format(" · {:.2f}×", rate.scaling);
    std::string svg = svg_box(left, y, length, kBar, color_of(rate), rate.is_packed ? 1.0 : kPale);
    if (rate.bar > 0) {
      const double x = left + std::min(rate.bar, kMostUnits) * kUnit;
      svg += svg_upright(x, y - 1, y + kBar + 1, kGoal);
    }
    return svg +
           svg_label(left + kMostUnits * kUnit + 6, y + kBar - 1, "start", rate.is_peer ? kMuted : kInk, 9, figures);
  }

  const GemmReport &report_;
  std::vector<std::string> shapes_, names_;
};

}  // namespace

std::string gemm_picture(const GemmReport &report) { return Picture(report).draw(); }

}  // namespace tool
