// Line plots as SVG text.
#pragma once

#include <string>
#include <vector>

namespace lm {

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
  std::string label = "";  // written beside the dot
};

struct PlotSeries {
  std::string name;         // "": not in the legend
  std::string color;        // SVG color
  double line_width = 1.5;  // 0: no line
  double dot_radius = 0.0;  // 0: no dots
  bool is_dashed = false;
  double opacity = 1.0;
  std::vector<PlotPoint> points;
};

// Axes and curves. Points outside `y_low` and `y_high` are clipped.
struct PlotPanel {
  std::string x_label;
  std::string y_label;
  double x_low = 0.0;
  double x_high = 1.0;
  double y_low = 0.0;
  double y_high = 1.0;
  double height = 360.0;
  bool is_y_logarithmic = false;   // `y_low` and all values are above 0
  std::vector<PlotSeries> series;  // later ones are drawn on top
};

// Returns panels in a column under one title.
std::string line_plot_svg(const std::string &title, const std::string &subtitle, const std::vector<PlotPanel> &panels);

}  // namespace lm
