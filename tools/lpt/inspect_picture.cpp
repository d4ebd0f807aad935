// The plot of lpt inspect: one row per tensor, with a heat map of its exponents, and its errors in formats as dots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr size_t kMostLines = 300;
constexpr int kSlabExponents = 36;
constexpr double kLine = 15.0;
constexpr double kTitles = 76.0, kFormats = 96.0;
constexpr double kTop = 128.0;  // of the first row, with one line of formats
constexpr double kFormatLine = 18.0;
constexpr double kNames = 372.0;
constexpr double kCell = 9.0;
constexpr double kSlab = kCell * kSlabExponents;
constexpr double kGap = 40.0;
constexpr double kDots = 420.0;
constexpr double kDotsLeft = kNames + kSlab + kGap;
constexpr double kExact = kDotsLeft + kDots + 32.0;  // position for formats without error
constexpr double kWidth = kExact + 30.0;
constexpr double kFooter = 30.0;
constexpr double kDecibelStep = 10.0;
// Distinguishable for color-blind readers (Okabe and Ito).
constexpr const char *kColors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

std::string color_of(size_t format) { return kColors[format % std::size(kColors)]; }

class Picture {
 public:
  explicit Picture(const FileLook &look) : look_(look), top_(look.top_exponent()) {
    for (const TensorLook &tensor : look.tensors) {
      if (tensor.has_numbers && tensor.stats.count > 0 && lines_.size() < kMostLines) lines_.push_back(&tensor);
      number_tensors_ += tensor.has_numbers && tensor.stats.count > 0 ? 1 : 0;
    }
    double most = kDecibelStep;
    for (const TensorLook *tensor : lines_) {
      for (const CastError &error : tensor->errors) {
        const double value = decibels(error.signal, error.noise);
        if (std::isfinite(value)) most = std::max(most, value);
      }
    }
    most_decibels_ = std::ceil(most / kDecibelStep) * kDecibelStep;
    place_formats();
  }

  std::string draw() const {
    const double height = header_ + kLine * static_cast<double>(lines_.size()) + kFooter;
    std::string svg = svg_head(kWidth, height);
    svg += svg_label(20.0, 32.0, "start", kInk, 18, shortened(look_.path, 90));
    svg += svg_label(20.0, 52.0, "start", kMuted, 13, subtitle());
    svg += legend() + axes(height - kFooter);
    for (size_t i = 0; i < lines_.size(); ++i) svg += line(*lines_[i], header_ + kLine * static_cast<double>(i));
    return svg + "</svg>\n";
  }

 private:
  std::string subtitle() const {
    std::string text = fmt::format("{} tensors, {}", look_.tensors.size(), size_text(look_.file_bytes));
    if (number_tensors_ > lines_.size()) text += fmt::format("; the first {} with numbers are drawn", lines_.size());
    return text;
  }

  double x_of(double value) const { return kDotsLeft + kDots * std::clamp(value / most_decibels_, 0.0, 1.0); }

  // Places as many format names per line as fit.
  void place_formats() {
    double x = kDotsLeft, y = kFormats;
    for (const std::string &format : look_.formats) {
      const double width = 24.0 + 6.8 * static_cast<double>(format.size());
      if (x > kDotsLeft && x + width > kWidth) {
        x = kDotsLeft;
        y += kFormatLine;
      }
      places_.emplace_back(x, y);
      x += width;
    }
    header_ = kTop + y - kFormats;
  }

  // When the colors repeat, dots are rings.
  static std::string dot(double x, double y, size_t format) {
    const bool is_ring = format / std::size(kColors) % 2 == 1;
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"{}\" opacity=\"0.85\"/>\n", x,
                       y, is_ring ? 2.8 : 3.2, is_ring ? "#ffffff" : color_of(format), color_of(format));
  }

  std::string legend() const {
    std::string svg = svg_label(kNames, kTitles, "start", kInk, 13, "share of numbers by exponent of two");
    svg += svg_label(kDotsLeft, kTitles, "start", kInk, 13, "signal to error, dB");
    for (size_t i = 0; i < places_.size(); ++i) {
      svg += dot(places_[i].first + 4.0, places_[i].second - 4.0, i);
      svg += svg_label(places_[i].first + 12.0, places_[i].second, "start", kInk, 11, look_.formats[i]);
    }
    return svg;
  }

  std::string axes(double bottom) const {
    std::string svg;
    for (int i = 0; i < kSlabExponents; ++i) {
      const int exponent = top_ - kSlabExponents + 1 + i;
      if (exponent % 4 == 0) {
        svg += svg_label(kNames + kCell * (i + 0.5), header_ - 8.0, "middle", kMuted, 10, fmt::format("{}", exponent));
      }
    }
    for (double value = 0.0; value <= most_decibels_; value += kDecibelStep) {
      svg += svg_upright(x_of(value), header_ - 4.0, bottom, kGrid);
      svg += svg_label(x_of(value), header_ - 8.0, "middle", kMuted, 10, fmt::format("{:.0f}", value));
    }
    svg += svg_label(kExact, header_ - 8.0, "middle", kMuted, 10, "exact");
    svg += svg_label(kNames - 6.0, header_ - 8.0, "end", kMuted, 10, "less");
    return svg;
  }

  // The square root makes a fraction of one in a million visible.
  static std::string cell(double x, double y, double share) {
    if (share <= 0.0) return "";
    return svg_box(x, y + 1.0, kCell - 0.5, kLine - 2.0, "#08306b", std::min(1.0, 0.05 + 1.6 * std::sqrt(share)));
  }

  // Draws the values by exponent. Values below the first exponent have a separate cell.
  std::string slab(const TensorLook &tensor, double y) const {
    std::string svg;
    double below = 0.0, inside = 0.0;
    for (size_t i = 0; i < tensor.stats.exponents.size(); ++i) {
      const double share = static_cast<double>(tensor.stats.exponents[i]) / static_cast<double>(tensor.stats.count);
      const int place = static_cast<int>(i) - 127 - (top_ - kSlabExponents + 1);
      (place < 0 ? below : inside) += share;
      if (place >= 0 && place < kSlabExponents) svg += cell(kNames + kCell * place, y, share);
    }
    if (below + inside <= 0.0)
      svg += svg_label(kNames + 4.0, y + 11.0, "start", kMuted, 10, "no finite number but zero");
    return svg + cell(kNames - kCell - 4.0, y, below);
  }

  std::string line(const TensorLook &tensor, double y) const {
    std::string svg = svg_label(kNames - 20.0, y + 11.0, "end", kInk, 10, shortened(tensor.name, 60));
    svg += slab(tensor, y);
    for (size_t i = 0; i < tensor.errors.size(); ++i) {
      const double value = decibels(tensor.errors[i].signal, tensor.errors[i].noise);
      if (std::isnan(value)) continue;
      svg += dot(std::isinf(value) ? kExact : x_of(value), y + kLine / 2.0, i);
    }
    return svg;
  }

  const FileLook &look_;
  int top_;
  std::vector<const TensorLook *> lines_;
  size_t number_tensors_ = 0;
  double most_decibels_ = kDecibelStep;
  std::vector<std::pair<double, double>> places_;  // of the format names
  double header_ = kTop;
};

}  // namespace

std::string look_picture(const FileLook &look) { return Picture(look).draw(); }

}  // namespace tool
