// The picture of lpt inspect: one line per tensor, its exponents as a strip of shades, its error in each format as
// dots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr size_t kMostLines = 300;
constexpr int kStripExponents = 36;
constexpr double kLine = 15.0;
constexpr double kHeader = 116.0;
constexpr double kNames = 372.0;
constexpr double kCell = 9.0;
constexpr double kStrip = kCell * kStripExponents;
constexpr double kGap = 40.0;
constexpr double kDots = 420.0;
constexpr double kDotsLeft = kNames + kStrip + kGap;
constexpr double kWidth = kDotsLeft + kDots + 30.0;
constexpr double kFooter = 30.0;
constexpr double kDecibelStep = 10.0;
constexpr const char *kInk = "#24292f";
constexpr const char *kMuted = "#6e7781";
constexpr const char *kGrid = "#e6e8eb";
// Told apart by people who see colours differently, too (Okabe and Ito).
constexpr const char *kColors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

std::string escaped(const std::string &text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return safe;
}

std::string label(double x, double y, const char *anchor, const char *color, int size, const std::string &text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{}\">{}</text>\n", x,
                     y, anchor, color, size, escaped(text));
}

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
  }

  std::string draw() const {
    const double height = kHeader + kLine * static_cast<double>(lines_.size()) + kFooter;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "fill=\"#ffffff\"/>\n",
        kWidth, height);
    svg += label(20.0, 32.0, "start", kInk, 18, shortened(look_.path, 90));
    svg += label(20.0, 52.0, "start", kMuted, 13, subtitle());
    svg += legend() + axes(height - kFooter);
    for (size_t i = 0; i < lines_.size(); ++i) svg += line(*lines_[i], kHeader + kLine * static_cast<double>(i));
    return svg + "</svg>\n";
  }

 private:
  std::string subtitle() const {
    std::string text = fmt::format("{} tensors, {}", look_.tensors.size(), size_text(look_.file_bytes));
    if (number_tensors_ > lines_.size()) text += fmt::format("; the first {} with numbers are drawn", lines_.size());
    return text;
  }

  double x_of(double value) const { return kDotsLeft + kDots * std::clamp(value / most_decibels_, 0.0, 1.0); }

  std::string legend() const {
    std::string svg = label(kNames, 84.0, "start", kInk, 13, "share of numbers by exponent");
    svg += label(kDotsLeft, 52.0, "start", kInk, 13, "signal to error, dB");
    double x = kDotsLeft;
    for (size_t i = 0; i < look_.formats.size(); ++i) {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"80\" r=\"4\" fill=\"{}\"/>\n", x + 4.0, color_of(i));
      svg += label(x + 12.0, 84.0, "start", kInk, 11, look_.formats[i]);
      x += 24.0 + 6.2 * static_cast<double>(look_.formats[i].size());
    }
    return svg;
  }

  std::string axes(double bottom) const {
    std::string svg;
    for (int i = 0; i < kStripExponents; ++i) {
      const int exponent = top_ - kStripExponents + 1 + i;
      if (exponent % 4 == 0) {
        svg += label(kNames + kCell * (i + 0.5), kHeader - 8.0, "middle", kMuted, 10, fmt::format("{}", exponent));
      }
    }
    for (double value = 0.0; value <= most_decibels_; value += kDecibelStep) {
      svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n",
                         x_of(value), kHeader - 4.0, bottom, kGrid);
      svg += label(x_of(value), kHeader - 8.0, "middle", kMuted, 10, fmt::format("{:.0f}", value));
    }
    return svg;
  }

  std::string line(const TensorLook &tensor, double y) const {
    std::string svg = label(kNames - 8.0, y + 11.0, "end", kInk, 10, shortened(tensor.name, 60));
    for (int i = 0; i < kStripExponents; ++i) {
      const int index = top_ - kStripExponents + 1 + i + 127;
      if (index < 0) continue;
      const double share = static_cast<double>(tensor.stats.exponents[static_cast<size_t>(index)]) /
                           static_cast<double>(tensor.stats.count);
      // The root lets one number in a million still be seen.
      if (share > 0.0) {
        svg += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"#08306b\" "
            "fill-opacity=\"{:.3f}\"/>\n",
            kNames + kCell * i, y + 1.0, kCell - 0.5, kLine - 2.0, std::min(1.0, 0.05 + 1.6 * std::sqrt(share)));
      }
    }
    for (size_t i = 0; i < tensor.errors.size(); ++i) {
      const double value = decibels(tensor.errors[i].signal, tensor.errors[i].noise);
      if (std::isnan(value)) continue;
      // Ahead of the axis' end: no error at all.
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\" fill-opacity=\"0.85\"/>\n",
                         std::isinf(value) ? kDotsLeft + kDots + 10.0 : x_of(value), y + kLine / 2.0, color_of(i));
    }
    return svg;
  }

  const FileLook &look_;
  int top_;
  std::vector<const TensorLook *> lines_;
  size_t number_tensors_ = 0;
  double most_decibels_ = kDecibelStep;
};

}  // namespace

std::string look_picture(const FileLook &look) { return Picture(look).draw(); }

}  // namespace tool
