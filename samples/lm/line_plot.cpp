#include "line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lm {

namespace {

constexpr double kWidth = 860.0;
constexpr double kLeft = 70.0;
constexpr double kRight = 24.0;
constexpr double kHeader = 74.0;
constexpr double kBelowPanel = 56.0;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kTickSpace = 65.0;  // approximate distance of ticks
constexpr double kOverhang = 6.0;    // space for dots at the edges
constexpr const char *kInk = "#24292f";
constexpr const char *kMuted = "#6e7781";
constexpr const char *kGrid = "#e6e8eb";

std::string escaped(const std::string &text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return safe;
}

std::string label(double x, double y, const char *anchor, const char *color, int size, const std::string &text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{}\">{}</text>\n", x,
                     y, anchor, color, size, escaped(text));
}

std::string segment(double x1, double y1, double x2, double y2, const char *color, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", x1, y1, x2,
      y2, color, width);
}

// Returns the stroke of a series as attributes.
std::string stroke(const PlotSeries &series) {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{}\"{}", series.color,
                     series.line_width, series.opacity, series.is_dashed ? " stroke-dasharray=\"7 5\"" : "");
}

std::string dot(const PlotSeries &series, double x, double y) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"#ffffff\" stroke=\"{}\" "
      "stroke-width=\"1.8\"/>\n",
      x, y, series.dot_radius, series.color);
}

// Returns 1, 2 or 5 times a power of ten, so that ticks are about kTickSpace apart.
double tick_step(double span, double space) {
  const double rough = span * kTickSpace / space;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1.0 : digit < 3.5 ? 2.0 : digit < 7.5 ? 5.0 : 10.0);
}

// Returns ticks between two values.
std::vector<double> ticks_between(double low, double high, double space, bool is_logarithmic) {
  std::vector<double> ticks;
  if (is_logarithmic) {
    for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10.0) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit * power >= low && digit * power <= high) ticks.push_back(digit * power);
      }
    }
    return ticks;
  }
  const double step = tick_step(high - low, space);
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    ticks.push_back(i * step + 0.0);
  }
  return ticks;
}

// Draws one panel whose upper edge is at `top`.
class PanelDrawing {
 public:
  PanelDrawing(const PlotPanel &panel, double top, size_t index) : panel_(panel), top_(top), index_(index) {}

  std::string draw() const {
    std::string svg = fmt::format(
        "<clipPath id=\"panel{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/></clipPath>\n",
        index_, kLeft, top_ - kOverhang, kPlotWidth + kOverhang, panel_.height + 2.0 * kOverhang);
    svg += axes();
    svg += fmt::format("<g clip-path=\"url(#panel{})\">\n", index_);
    std::vector<PlotPoint> labels;
    for (const PlotSeries &series : panel_.series) {
      svg += line(series) + dots(series, labels);
    }
    return svg + "</g>\n" + legend();
  }

 private:
  double x_at(double x) const { return kLeft + kPlotWidth * (x - panel_.x_low) / (panel_.x_high - panel_.x_low); }
  double y_at(double y) const {
    const auto map = [&](double value) { return panel_.is_y_logarithmic ? std::log(value) : value; };
    return bottom() - panel_.height * (map(y) - map(panel_.y_low)) / (map(panel_.y_high) - map(panel_.y_low));
  }
  double bottom() const { return top_ + panel_.height; }

  std::string axes() const {
    std::string svg;
    for (const double tick : ticks_between(panel_.y_low, panel_.y_high, panel_.height, panel_.is_y_logarithmic)) {
      const double y = y_at(tick);
      svg += segment(kLeft, y, kLeft + kPlotWidth, y, kGrid, 1.0);
      svg += label(kLeft - 9.0, y + 4.0, "end", kMuted, 12, fmt::format("{:.6g}", tick));
    }
    for (const double tick : ticks_between(panel_.x_low, panel_.x_high, kPlotWidth, false)) {
      const double x = x_at(tick);
      svg += segment(x, bottom(), x, bottom() + 5.0, kMuted, 1.0);
      svg += label(x, bottom() + 20.0, "middle", kMuted, 12, fmt::format("{:.6g}", tick));
    }
    svg += segment(kLeft, bottom(), kLeft + kPlotWidth, bottom(), kMuted, 1.0);
    svg += label(kLeft + kPlotWidth / 2.0, bottom() + 42.0, "middle", kInk, 13, panel_.x_label);
    svg += fmt::format(
        "<text transform=\"translate(20 {:.1f}) rotate(-90)\" text-anchor=\"middle\" fill=\"{}\" "
        "font-size=\"13\">{}</text>\n",
        top_ + panel_.height / 2.0, kInk, escaped(panel_.y_label));
    return svg;
  }

  std::string line(const PlotSeries &series) const {
    if (series.line_width == 0.0 || series.points.empty()) {
      return "";
    }
    std::string points;
    for (const PlotPoint &point : series.points) {
      points += fmt::format("{:.1f},{:.1f} ", x_at(point.x), y_at(point.y));
    }
    return fmt::format("<polyline points=\"{}\" stroke-linejoin=\"round\" {}/>\n", points, stroke(series));
  }

  // `labels` are those of dots before. A label moves down where it would cover one of them.
  std::string dots(const PlotSeries &series, std::vector<PlotPoint> &labels) const {
    constexpr double kLabelWidth = 90.0, kLabelHeight = 11.0;
    std::string svg;
    for (const PlotPoint &point : series.points) {
      svg += series.dot_radius > 0.0 ? dot(series, x_at(point.x), y_at(point.y)) : "";
      if (point.label.empty()) {
        continue;
      }
      PlotPoint place{x_at(point.x) + 8.0, y_at(point.y) + 4.0, ""};
      const auto covers = [&](const PlotPoint &other) {
        return std::abs(other.x - place.x) < kLabelWidth && std::abs(other.y - place.y) < kLabelHeight;
      };
      while (std::any_of(labels.begin(), labels.end(), covers)) {
        place.y += 1.0;
      }
      labels.push_back(place);
      svg += label(place.x, place.y, "start", kInk, 11, point.label);
    }
    return svg;
  }

  std::string legend() const {
    constexpr double kEntry = 22.0;
    constexpr double kLegendWidth = 250.0;
    const double x = kLeft + kPlotWidth - kLegendWidth;
    double y = top_ + 16.0;
    std::string svg;
    for (const PlotSeries &series : panel_.series) {
      if (series.name.empty()) {
        continue;
      }
      if (series.line_width > 0.0) {
        svg += fmt::format("<path d=\"M{:.1f} {:.1f}h28\" {}/>\n", x, y, stroke(series));
      }
      svg += series.dot_radius > 0.0 ? dot(series, x + 14.0, y) : "";
      svg += label(x + 38.0, y + 4.5, "start", kInk, 13, series.name);
      y += kEntry;
    }
    return svg;
  }

  const PlotPanel &panel_;
  double top_;
  size_t index_;
};

}  // namespace

std::string line_plot_svg(const std::string &title, const std::string &subtitle, const std::vector<PlotPanel> &panels) {
  std::string body;
  double top = kHeader;
  for (size_t i = 0; i < panels.size(); ++i) {
    body += PanelDrawing(panels[i], top, i).draw();
    top += panels[i].height + kBelowPanel;
  }
  const double height = top + 4.0;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" "
             "fill=\"#ffffff\"/>\n",
             kWidth, height) +
         label(kLeft, 32.0, "start", kInk, 18, title) + label(kLeft, 54.0, "start", kMuted, 13, subtitle) + body +
         "</svg>\n";
}

}  // namespace lm
