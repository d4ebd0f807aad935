#include "svg.hpp"

#include <fmt/format.h>

namespace tool {

namespace {

std::string escaped(const std::string &text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return safe;
}

}  // namespace

std::string svg_head(double width, double height) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\">\n",
             width, height) +
         svg_box(0.0, 0.0, width, height, "#ffffff");
}

std::string svg_label(double x, double y, const char *anchor, const char *color, int size, const std::string &text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{}\">{}</text>\n", x,
                     y, anchor, color, size, escaped(text));
}

std::string svg_box(double x, double y, double width, double height, const char *color, double opacity) {
  const std::string shade = opacity < 1.0 ? fmt::format(" fill-opacity=\"{:.3f}\"", opacity) : "";
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}/>\n", x, y,
                     width, height, color, shade);
}

std::string svg_upright(double x, double top, double bottom, const char *color) {
  return fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n", x, top,
                     bottom, color);
}

std::string svg_curve(const std::vector<SvgPoint> &points, const char *color) {
  if (points.empty()) return "";
  std::string places;
  for (const SvgPoint &point : points) places += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
  places.pop_back();
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", places, color);
}

}  // namespace tool
