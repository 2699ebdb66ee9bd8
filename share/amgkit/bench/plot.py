#!/usr/bin/env python3
"""Draws results/results.csv into ../doc/pictures: peers.svg, sizes.svg, gpus.svg. Needs matplotlib (python3 -m pip install matplotlib).

The colours have a contrast of at least 4 on white and on #0d1117. Text stays text. A picture keeps a digest of what it shows and of this file;
tables.py --check compares it, without matplotlib.
"""

import hashlib
import io
import json
import os
import re
import sys

import records
from records import total

FOLDER = os.path.normpath(os.path.join(records.here, "..", "doc", "pictures"))
COMMAND = "python3 share/amgkit/bench/plot.py"
DIGEST = re.compile(r"digest ([0-9a-f]{64})")
TEXT, BLUE, ORANGE, GREEN, PURPLE = "#787878", "#1778c2", "#c8560a", "#0b8a63", "#a65fae"
OWN_STYLE = {"amgmatching": (BLUE, "o"), "amgclassical": (GREEN, "s"), "amgsa": (PURPLE, "^")}


def peers_data(rows):
    """System, our fastest method, its time, the fastest peer, its time."""
    data = []
    for system, size in records.SHOWN:
        own, peer = records.best_own(rows, system, size), records.best_peer(rows, system, size)
        name = records.system_name(system, size, own["rows"])
        data.append([name, own["type"], total(own), records.PEERS[peer["type"]], total(peer)])
    return data


def sizes_data(rows):
    """Name and points (unknowns, time) of a curve, 7-point grids."""
    sizes = sorted({int(r["size"]) for r in rows if r["system"] == "7" and int(r["size"]) >= 64})
    curves = {type: [records.newest(rows, "7", str(n), type) for n in sizes] for type in OWN_STYLE}
    packages = ["hypre", "AmgX", "BootCMatchGX", "PETSc"]
    kinds = [r for r in rows if r["type"] != "bjacobi-ilu"]
    for package in packages:
        curves["GAMG" if package == "PETSc" else package] = [records.best_peer(kinds, "7", str(n), package) for n in sizes]
    return [[name, [[int(r["rows"]), total(r)] for r in found if r]] for name, found in curves.items()]


def gpus_data(rows):
    """Strong and weak: name and times on 1, 2, 4 GPUs."""
    strong = [[type, [total(r) for r in records.series(rows, type, "7", "256", "strong")]] for type in OWN_STYLE]
    weak = [[type, [total(r) for r in records.series(rows, type, "27", "160", "weak")]] for type in [*OWN_STYLE, "hypre"]]
    return [strong, weak]


def bare(axes, grid):
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, which="both")
    axes.grid(axis=grid, color=TEXT, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def head(figure, title, below):
    figure.text(0.02, 0.965, title, fontsize=13, fontweight="bold", va="top")
    figure.text(0.02, 0.905, below, fontsize=10.5, va="top")


def draw_peers(figure, data):
    head(figure, "AMGKit beside the fastest peer on one NVIDIA H200", "setup + solve to a relative residual of 1e-8, in milliseconds on a logarithmic axis: further left is better")
    axes = figure.add_axes([0.215, 0.08, 0.66, 0.74])
    axes.set_xscale("log")
    axes.set_xlim(1.9, 9000)
    axes.set_ylim(len(data) - 0.5, -0.5)
    for y, (_, own, fast, peer, slow) in enumerate(data):
        axes.plot([fast, slow], [y, y], color=TEXT, alpha=0.55, linewidth=2.5, zorder=1)
        axes.plot(fast, y, "o", color=BLUE, markersize=9)
        axes.plot(slow, y, "D", color=ORANGE, markersize=8)
        axes.annotate(f"{own} {fast:.3g}", (fast, y), (-8, 0), textcoords="offset points", ha="right", va="center", color=BLUE)
        axes.annotate(f"{slow:.4g} {peer}", (slow, y), (8, 0), textcoords="offset points", ha="left", va="center", color=ORANGE)
        figure.text(0.975, axes_y(axes, y), f"{slow / fast:.2g} ×", ha="right", va="center", fontweight="bold")
    figure.text(0.975, axes_y(axes, -0.8), "speedup", ha="right", va="center")
    _, _, fast, _, slow = data[0]
    axes.annotate("AMGKit", (fast, 0), (-8, 20), textcoords="offset points", ha="right", va="center", color=BLUE, fontweight="bold")
    axes.annotate("fastest peer", (slow, 0), (8, 20), textcoords="offset points", ha="left", va="center", color=ORANGE, fontweight="bold")
    axes.set_yticks(range(len(data)), [row[0] for row in data])
    axes.set_xticks([10, 100, 1000], ["10 ms", "100 ms", "1 s"])
    axes.minorticks_off()
    bare(axes, "x")


def axes_y(axes, y):
    """A row's height in the figure."""
    box, (low, high) = axes.get_position(), axes.get_ylim()
    return box.y0 + box.height * (y - low) / (high - low)


def draw_sizes(figure, data):
    head(figure, "Time to solve against size, one NVIDIA H200", "7-point Poisson, setup + solve to 1e-8, milliseconds: lower is better; the peers at their fastest")
    axes = figure.add_axes([0.085, 0.11, 0.735, 0.72])
    axes.set_xscale("log")
    axes.set_yscale("log")
    place = {"amgsa": (10, -8), "hypre": (9, -1), "AmgX": (9, 2), "BootCMatchGX": (-9, 8)}
    for name, points in data:
        own = name in OWN_STYLE
        colour, marker = OWN_STYLE.get(name, (ORANGE, {"hypre": "D", "AmgX": "v", "BootCMatchGX": "P", "GAMG": "X"}.get(name)))
        axes.plot(*zip(*points), color=colour, marker=marker, markersize=6, linewidth=2.2 if own else 1.4, linestyle="-" if own else "--")
        side = "right" if name == "BootCMatchGX" else "left"
        weight = "bold" if own else "normal"
        axes.annotate(name, points[0] if name == "amgsa" else points[-1], place.get(name, (9, 0)), textcoords="offset points", ha=side, va="center", color=colour, fontweight=weight)
    axes.set_xticks([n**3 for n in (64, 128, 200, 256, 400)], ["64³\n0.26 M", "128³\n2.1 M", "200³\n8 M", "256³\n17 M", "400³\n64 M unknowns"])
    axes.set_yticks([10, 100, 1000], ["10 ms", "100 ms", "1 s"])
    axes.minorticks_off()
    bare(axes, "both")


def draw_gpus(figure, data):
    head(figure, "One, two and four H200s over NVLink", "setup + solve to 1e-8, milliseconds: lower is better")
    titles = ["fixed size: 7-point 256³", "fixed size a GPU: 27-point 160³"]
    shifts = [{"amgclassical": 4, "amgsa": -3}, {"amgclassical": 9, "amgsa": -1, "amgmatching": -7}]
    for k, curves in enumerate(data):
        axes = figure.add_axes([0.06 + 0.5 * k, 0.11, 0.27, 0.64])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(titles[k], loc="left", fontsize=11, color=TEXT)
        for type, times in curves:
            colour, marker = OWN_STYLE.get(type, (ORANGE, "D"))
            line = {"linewidth": 2.2, "linestyle": "-"} if type in OWN_STYLE else {"linewidth": 1.4, "linestyle": "--"}
            axes.plot([1, 2, 4], times, color=colour, marker=marker, markersize=7, **line)
            axes.annotate(f"{times[-1]:.0f} {type}", (4, times[-1]), (9, shifts[k].get(type, 0)), textcoords="offset points", va="center", color=colour)
        axes.set_xlim(0.9, 4.3)
        axes.set_xticks([1, 2, 4], ["1 GPU", "2", "4 GPUs"])
        axes.tick_params(axis="x", pad=9)
        ticks = [[50, 100, 200, 300], [50, 100, 200, 500, 1000]][k]
        axes.set_yticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        bare(axes, "y")


# name of the file: (what it shows, what draws it, inches)
PICTURES = {
    "peers": (peers_data, draw_peers, (9, 4.6)),
    "sizes": (sizes_data, draw_sizes, (9, 4.8)),
    "gpus": (gpus_data, draw_gpus, (9, 4.0)),
}


def digest(name, rows):
    with open(os.path.abspath(__file__), "rb") as file:
        source = file.read()
    return hashlib.sha256(source + json.dumps(PICTURES[name][0](rows)).encode()).hexdigest()


def stale(rows, folder=FOLDER):
    """Complaints about the pictures that this file would now draw otherwise."""
    complaints = []
    for name in PICTURES:
        path = os.path.join(folder, f"{name}.svg")
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        found = DIGEST.search(text)
        if not found or found[1] != digest(name, rows):
            complaints.append(f"{os.path.relpath(path, records.root)}: not of these results and this plot.py; run {COMMAND} with matplotlib installed")
    return complaints


def main():
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": "amgkit", "font.size": 10.5, "font.family": "DejaVu Sans"}
    style |= {name: TEXT for name in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")}
    rows, complaints = records.read()
    complaints += records.validate(rows)
    if complaints:
        return "\n".join(complaints)
    os.makedirs(FOLDER, exist_ok=True)
    with matplotlib.rc_context(style):
        for name, (data, draw, inches) in PICTURES.items():
            figure = Figure(figsize=inches)
            draw(figure, data(rows))
            about = {"Date": None, "Creator": COMMAND, "Title": figure.texts[0].get_text(), "Description": f"digest {digest(name, rows)}"}
            buffer = io.StringIO()
            figure.savefig(buffer, format="svg", transparent=True, metadata=about)
            with open(os.path.join(FOLDER, f"{name}.svg"), "w", encoding="utf-8") as file:
                file.write(buffer.getvalue().replace("'DejaVu Sans'", "Helvetica, Arial, 'DejaVu Sans', sans-serif"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
