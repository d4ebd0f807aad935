// Pieces of SVG that pictures share.
#pragma once

#include <string>
#include <vector>

namespace tool {

// The picture's first lines: its size, and a white ground.
std::string svg_head(double width, double height);

// Text whose `anchor` ("start", "middle", "end") stands at x, on the line y; what XML would read is escaped.
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
