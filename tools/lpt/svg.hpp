// Common SVG elements of the plots.
#pragma once

#include <string>
#include <vector>

namespace tool {

// Returns the first lines of an SVG: its size, and a white background.
std::string svg_head(double width, double height);

// Returns text whose `anchor` ("start", "middle", "end") is at x, with the baseline y. XML characters are escaped.
std::string svg_label(double x, double y, const char *anchor, const char *color, int size, const std::string &text);

std::string svg_box(double x, double y, double width, double height, const char *color, double opacity = 1.0);
std::string svg_upright(double x, double top, double bottom, const char *color);  // a line

struct SvgPoint {
  double x, y;
};
std::string svg_curve(const std::vector<SvgPoint> &points, const char *color);  // from point to point

inline constexpr const char *kInk = "#24292f";
inline constexpr const char *kMuted = "#6e7781";
inline constexpr const char *kGrid = "#e6e8eb";

}  // namespace tool
