"""Bar charts and a line chart as SVG, for tools/make_benchmarks.py. Text is readable at a width of 390 pixels, on light and dark pages."""
import math
from xml.sax.saxutils import escape

WIDTH, SIZE, CHARACTER = 600, 17, 9  # pixels: width of the picture, size of its text, mean width of a character
COLORS = {"light": ("#ffffff", "#1f2328", "#d1d9e0", "#0969da", "#bc4c00", "#1a7f37", "#8250df", "#9a6700"),
          "dark": ("#0d1117", "#e6edf3", "#3d444d", "#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#d29922")}
DASHES = ("none", "9 4", "2 4", "12 3 3 3", "5 5")  # also distinguish lines, next to the color


def rules(ground, ink, grid, *series):
    return (f".ground{{fill:{ground}}}text{{fill:{ink}}}.grid{{stroke:{grid}}}.axis{{stroke:{ink}}}"
            + "".join(f".s{i}{{fill:{color};stroke:{color}}}" for i, color in enumerate(series)))


def label(x, y, text, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def line(x0, y0, x1, y1, kind):
    return f'<line class="{kind}" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'


def ticks(low, high):
    """Returns about five round values between the two."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= max(factor for factor in (1, 2, 5) if factor * step <= (high - low) / 4)
    return [index * step for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def legend(names, mark):
    """Returns lines of names with marks below the title, and the y position after them."""
    x, y, parts = 14, 60, []
    for index, name in enumerate(names):
        if x > 14 and x + 40 + CHARACTER * len(name) > WIDTH:
            x, y = 14, y + 26
        parts += [mark(x, y - 6, index), label(x + 32, y, name)]
        x += 52 + 1.1 * CHARACTER * len(name)
    return parts, y + 18


def svg(title, height, parts):
    style = rules(*COLORS["light"]) + "@media(prefers-color-scheme:dark){" + rules(*COLORS["dark"]) + "}.line{fill:none;stroke-width:2.5}"
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" role="img" '
            f'font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="{SIZE}">\n<title>{escape(title)}</title><style>{style}</style>')
    return "\n".join([head, '<rect class="ground" width="100%" height="100%"/>', label(14, 30, title, more=' font-weight="bold"'),
                      *parts, "</svg>\n"])


def bar_chart(title, axis, bars, is_ratio=False):
    """Draws bars: (label, series, number as text), grouped by label. Ratios have a logarithmic axis and start at 1."""
    labels, series = (list(dict.fromkeys(bar[i] for bar in bars)) for i in (0, 1))
    parts, top = legend(series, lambda x, y, i: f'<rect class="s{i}" x="{x}" y="{y - 6}" width="24" height="12"/>')
    longest = max(map(len, labels))
    is_above = longest > 28
    left, right = 24 + (0 if is_above else 10 * longest), WIDTH - 58
    values = [float(bar[2]) for bar in bars]
    scale, base = (math.log10, 1) if is_ratio else (float, 0)
    low, high = min(base, *values), max(base, *values)
    marks = [v for v in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low * 0.5 < v < high * 1.1] if is_ratio else ticks(low, high)
    low, high = min(low, *marks), max(high, *marks)
    x_of = lambda value: left + (scale(value) - scale(low)) / (scale(high) - scale(low)) * (right - left)
    y, rows = top, []
    for name in labels:
        group = [bar for bar in bars if bar[0] == name]
        y += 22 if is_above else 0
        rows.append(label(left, y - 5, name) if is_above else label(left - 8, y + 9 * len(group) + 6, name, "end"))
        for _, which, value in group:
            x0, x1 = sorted((x_of(base), x_of(float(value))))
            rows += [f'<rect class="s{series.index(which)}" x="{x0:.1f}" y="{y + 1:.1f}" width="{max(x1 - x0, 1):.1f}" height="16"/>',
                     label(x1 + 5, y + 15, value)]
            y += 18
        y += 8
    parts += [line(x_of(v), top - 4, x_of(v), y, "grid") for v in marks] + [label(x_of(v), y + 20, f"{v:.4g}", "middle") for v in marks]
    parts += [*rows, line(x_of(base), top - 4, x_of(base), y, "axis"), label((left + right) / 2, y + 46, axis, "middle")]
    return svg(title, y + 60, parts)


def stacked_bar_chart(title, axis, bars):
    """Draws bars: (label, series, number as text). The series of a label are stacked in one bar; wide parts show the number."""
    labels, series = (list(dict.fromkeys(bar[i] for bar in bars)) for i in (0, 1))
    parts, top = legend(series, lambda x, y, i: f'<rect class="s{i}" x="{x}" y="{y - 6}" width="24" height="12"/>')
    left, right, y, rows = 24 + 10 * max(map(len, labels)), WIDTH - 24, top, []
    high = max(sum(float(bar[2]) for bar in bars if bar[0] == name) for name in labels)
    for name in labels:
        rows.append(label(left - 8, y + 16, name, "end"))
        x = left
        for _, which, value in [bar for bar in bars if bar[0] == name]:
            width = float(value) / high * (right - left)
            rows.append(f'<rect class="s{series.index(which)}" x="{x:.1f}" y="{y + 1:.1f}" width="{width:.1f}" height="20"/>')
            if width > CHARACTER * (len(value) + 1):
                rows.append(label(x + width / 2, y + 17, value, "middle", ' class="ground"'))
            x += width
        y += 26
    for v in ticks(0, high):
        x = left + v / high * (right - left)
        parts += [line(x, top - 4, x, y, "grid"), label(x, y + 20, f"{v:.4g}", "middle")]
    parts += [*rows, line(left, top - 4, left, y, "axis"), label((left + right) / 2, y + 46, axis, "middle")]
    return svg(title, y + 60, parts)


def line_chart(title, x_axis, y_axis, curves, low, high):
    """Draws curves: (series, [(x, y)]). Several curves may have one series. The y axis is from `low` to `high`."""
    series = list(dict.fromkeys(name for name, _ in curves))
    style = lambda i: f'class="s{i} line" stroke-dasharray="{DASHES[i]}"'
    parts, top = legend(series, lambda x, y, i: f'<path {style(i)} d="M{x} {y}h26"/>')
    left, right, bottom = 76, WIDTH - 24, top + 330
    xs = [x for _, points in curves for x, _ in points]
    x_of = lambda x: left + x / max(xs) * (right - left)
    y_of = lambda y: bottom - (y - low) / (high - low) * (bottom - top)
    for v in ticks(low, high):
        parts += [line(left, y_of(v), right, y_of(v), "grid"), label(left - 8, y_of(v) + 6, f"{v:.4g}", "end")]
    parts += [label(x_of(v), bottom + 22, f"{v:.4g}", "middle") for v in ticks(0, max(xs))]
    parts.append(f'<clipPath id="plot"><rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"/></clipPath>')
    for name, points in curves:
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        parts.append(f'<polyline {style(series.index(name))} clip-path="url(#plot)" points="{path}"/>')
    middle = (top + bottom) / 2
    parts += [line(left, bottom, right, bottom, "axis"), label((left + right) / 2, bottom + 50, x_axis, "middle"),
              label(22, middle, y_axis, "middle", f' transform="rotate(-90 22 {middle:.1f})"')]
    return svg(title, bottom + 66, parts)
