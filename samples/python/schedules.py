"""Compares schedules of an all-reduce on a torus: prints steps and simulated times, and draws them.

python3 schedules.py [--extents 4x4] [--svg schedules.svg]
"""
import argparse
import math

import lpt

ALGORITHMS = ("multitree", "ring", "double_tree", "halving", "hierarchical")
LATENCY, RATE = 150e-9, 16e9  # seconds and bytes per second of a link
SIZES = [2 ** power for power in range(10, 27, 2)]  # bytes
COLORS = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#9a6700")
CELL, NODE = 30, 6  # pixels: distance and radius of ranks


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def step_picture(x, y, rows, columns, links):
    """Draws the ranks and the links that one step uses. A link that wraps around leaves the picture and enters it again."""
    place = lambda rank: (x + (rank % columns + 0.8) * CELL, y + (rank // columns + 0.8) * CELL)
    parts = []
    for link in links:
        (x0, y0), (x1, y1) = place(link.source), place(link.target)
        dx, dy = (0 if a == b else math.copysign(1, b - a) for a, b in ((x0, x1), (y0, y1)))
        side_x, side_y = -4 * dy, 4 * dx  # both directions of a link are beside each other
        is_wrap = abs(x1 - x0) + abs(y1 - y0) > CELL + 1
        out_x, out_y = 0.6 * CELL * dx, 0.6 * CELL * dy
        ends = [(x0, y0, x0 - out_x, y0 - out_y), (x1 + out_x, y1 + out_y, x1, y1)] if is_wrap else [(x0, y0, x1, y1)]
        parts += [f'<path d="M{a + side_x:.1f} {b + side_y:.1f}L{c + side_x:.1f} {d + side_y:.1f}"/>' for a, b, c, d in ends]
    circles = [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{NODE}"/>' for a, b in map(place, range(rows * columns))]
    return ['<g fill="none" stroke="#0969da" stroke-width="1.6">', *parts, "</g>", '<g fill="#57606a">', *circles, "</g>"]


def time_picture(top, width, times):
    """Draws the bandwidth of each algorithm, payload over time, by payload."""
    left, right, bottom = 64, width - 150, top + 240
    most = max(size / seconds for found in times.values() for size, seconds in found)
    x_of = lambda size: left + math.log2(size / SIZES[0]) / math.log2(SIZES[-1] / SIZES[0]) * (right - left)
    y_of = lambda rate: bottom - rate / most * (bottom - top)
    parts = [f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#57606a"/>']
    name_of = lambda size: f"{size >> 10} KiB" if size < 2 ** 20 else f"{size >> 20} MiB"
    parts += [text(x_of(size), bottom + 20, name_of(size), "middle") for size in SIZES[::2]]
    parts += [text(left - 6, y_of(most * part) + 5, f"{most * part / 1e9:.0f}", "end") for part in (0, 0.25, 0.5, 0.75, 1)]
    parts.append(text(left, top - 12, "payload / simulated time, GB/s"))
    lowest = 0.0
    fastest_first = sorted(times.items(), key=lambda item: item[1][-1][1])
    for color, (name, found) in zip(COLORS, fastest_first):
        points = " ".join(f"{x_of(size):.1f},{y_of(size / seconds):.1f}" for size, seconds in found)
        end = y_of(found[-1][0] / found[-1][1])
        lowest = max(lowest + 18, end)
        parts += [f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2.5"/>',
                  text(right + 8, lowest + 5, name, more=f' fill="{color}"')]
    return parts, bottom + 36


def picture(topology, rows, columns, times):
    schedule, links = lpt.Schedule(topology), topology.links
    first = schedule.values["step_count"] - schedule.values["copy_step_count"]
    width_of_step, parts = (columns + 1) * CELL, []
    count = schedule.values["copy_step_count"]
    across = max(1, 780 // width_of_step)
    width = max(640, min(count, across) * width_of_step + 20)
    title = f"MultiTree on a {rows} x {columns} torus: links in use in each step of the second phase"
    parts.append(text(14, 26, title, more=' font-weight="bold"'))
    for step in range(count):
        x, y = 10 + step % across * width_of_step, 36 + step // across * ((rows + 1) * CELL + 24)
        used = [links[hop] for send, hops in schedule.sends() if send.step == first + step for hop in hops]
        parts += step_picture(x, y, rows, columns, used)
        words = f"step {step + 1}: {len(used)} of {len(links)}"
        parts.append(text(x + width_of_step / 2, y + (rows + 1) * CELL + 6, words, "middle"))
    top = 36 + (1 + (count - 1) // across) * ((rows + 1) * CELL + 24) + 50
    curves, height = time_picture(top, width, times)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="14">\n'
            "<title>Schedules of an all-reduce on a torus</title>\n" '<rect width="100%" height="100%" fill="#ffffff"/>')
    return "\n".join([head, *parts, *curves, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extents", default="4x4", help="rows x columns of the torus")
    parser.add_argument("--svg", help="file to draw to")
    given = parser.parse_args()
    rows, columns = map(int, given.extents.split("x"))
    topology = lpt.Topology("torus", [rows, columns], latency_seconds=LATENCY, bytes_per_second=RATE)
    times = {}
    print(f"{'algorithm':14} {'steps':>5} " + " ".join(f"{size >> 10:>8} KiB" for size in SIZES))
    for algorithm in ALGORITHMS:
        schedule = lpt.Schedule(topology, algorithm)
        times[algorithm] = [(size, schedule.simulate(size)[0]) for size in SIZES]
        columns_of_times = " ".join(f"{1e6 * seconds:>9.1f} us" for _, seconds in times[algorithm])
        print(f"{algorithm:14} {schedule.values['step_count']:5} {columns_of_times}")
    if given.svg:
        with open(given.svg, "w", encoding="utf-8") as file:
            file.write(picture(topology, rows, columns, times))


if __name__ == "__main__":
    main()
