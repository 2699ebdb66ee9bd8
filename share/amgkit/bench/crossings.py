#!/usr/bin/env python3
"""What crosses between processes, by level and phase: messages, bytes, collective calls, waits of a GPU's host; and a model of time from it.

    python3 crossings.py --program build/host/share/amgkit/bench/amgkit_crossings --library build/host/libamgkit.so
    python3 crossings.py ... --ranks 2 4 --types amgsa --levels
    python3 crossings.py ... --model

Counts need no GPU: the space debug waits where a GPU's host would, and passes messages on by PetscSF, which makes a few more when it is set up.
Counts hardly depend on the size but for the number of levels, so a small
system serves. --limit, the process_eq_limit, is in rows: as many levels are shared as of 256^3 on GPUs with 20000 of 16^3 a rank.

The columns are the most of any rank; "iteration" is a solve divided by its iterations. An exchange is one with all neighbours. --levels
prints every level and phase. --model prints what the counts say of times on GPUs, beside recorded runs: see TIMES.
"""

import argparse
import csv
import math
import os
import shlex
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
TYPES = ["amgmatching", "amgsa", "amgclassical"]
COLUMNS = ["exchanges", "messages", "bytes", "starts", "waits", "collectives", "collective_bytes", "host_waits"]
SHOWN = ["exchanges", "messages", "bytes", "waits", "collectives", "host_waits"]

# Seconds, of NVIDIA H200s of one host: results/2026-11-21-h200-several.md and NOTES.md. An exchange includes its small kernels and the wait for
# what it sends; between hosts it would take longer.
TIMES = {"exchange": 30e-6, "byte": 1 / 322e9, "collective": 2e-6, "host_wait": 11e-6}
# One H200, seconds of setup, new values and an iteration: a part that does not depend on the size, and one for a million rows of the finest
# level, from 7-point 64^3, 200^3 and 256^3.
ONE_GPU = {
    "amgmatching": {"setup": (3.5e-3, 2.39e-3), "values": (1.4e-3, 0.52e-3), "iteration": (83e-6, 60.7e-6)},
    "amgsa": {"setup": (5.9e-3, 6.7e-3), "values": (1.6e-3, 1.69e-3), "iteration": (91e-6, 102e-6)},
    "amgclassical": {"setup": (8.5e-3, 10.8e-3), "values": (1.8e-3, 1.93e-3), "iteration": (99e-6, 111e-6)},
}
ITERATIONS = {"amgmatching": 21, "amgsa": 15, "amgclassical": 15}


def run(args, ranks, kind, n):
    """A dictionary of (window, level, phase) -> counts, and the iterations."""
    command = shlex.split(args.mpirun) + ["-n", str(ranks), args.program, "-dll_append", args.library, "-system", args.system, "-n", str(n), "-weak"]
    command += ["-pc_type", kind, f"-pc_{kind}_space", args.space, f"-pc_{kind}_process_eq_limit", str(args.limit), "-ksp_type", "amgfcg"]
    command += shlex.split(args.options)
    environment = {**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=args.timeout)
    counts, iterations = {}, 0
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["solved"] and words[-1].startswith("CONVERGED"):
            iterations = int(words[4])
        elif words[:1] == ["crossings"] and words[1] != "window":
            values = [float(w) for w in words[4:4 + len(COLUMNS)]]
            counts[words[1], int(words[2]), words[3]] = dict(zip(COLUMNS, values))
    if done.returncode or not iterations or not counts:
        sys.exit(f"crossings.py: failed with {done.returncode}: {shlex.join(command)}\n{done.stdout[-2000:]}")
    return counts, iterations


def per_iteration(counts, iterations):
    """The same with the window iteration in place of solve."""
    result = {}
    for (window, level, phase), values in counts.items():
        divide = iterations if window == "solve" else 1
        result["iteration" if window == "solve" else window, level, phase] = {c: v / divide for c, v in values.items()}
    return result


def total(counts, window):
    return {c: sum(v[c] for (w, _, _), v in counts.items() if w == window) for c in COLUMNS}


def print_levels(counts):
    for (window, level, phase), values in counts.items():
        name = f"level {level}" if level >= 0 else "no level"
        print(f"    {window:<10} {name:<9} {phase:<10}" + "".join(f" {values[c]:>11.1f}" for c in SHOWN))


def print_counts(measured, levels):
    print(f"{'type':<13} {'ranks':>5} {'window':<10}" + "".join(f" {c:>11}" for c in SHOWN))
    for (kind, ranks), (counts, _) in measured.items():
        for window in ["setup", "values", "iteration"]:
            print(f"{kind:<13} {ranks:>5} {window:<10}" + "".join(f" {total(counts, window)[c]:>11.1f}" for c in SHOWN))
        if levels:
            print_levels(counts)


def crossing_time(sums, ranks, bytes_grow):
    """Of a window on so many GPUs. A collective call takes a step for each doubling of the ranks, and those that wait for the device are among
    the host's waits."""
    steps = math.log2(ranks)
    return (sums["exchanges"] * TIMES["exchange"] + sums["bytes"] * bytes_grow * TIMES["byte"] + sums["collectives"] * steps * TIMES["collective"]
            + sums["host_waits"] * TIMES["host_wait"])


def model(kind, counts, ranks, rows, bytes_grow):
    """Milliseconds of setup, values and solve on so many GPUs with so many million rows each."""
    result = {}
    for window, (fixed, of_rows) in ONE_GPU[kind].items():
        work = fixed + of_rows * rows
        waits = 0 if ranks == 1 else crossing_time(total(counts, window), ranks, bytes_grow)
        # One GPU's host waits, too, and this is in the fixed part: then only what several GPUs add may count.
        own = total(counts, window)["host_waits"] * TIMES["host_wait"] if ranks > 1 else 0
        result[window] = 1e3 * (work + max(waits - min(own, fixed), 0))
    result["solve"] = result["iteration"] * ITERATIONS[kind]
    return result


def recorded():
    """A dictionary of (type, GPUs, scaling) -> what the last recorded run with default options took, 7-point 256^3 strong and 200^3 weak."""
    last, path = {}, os.path.join(here, "results", "results.csv")
    if not os.path.exists(path):
        return last
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            fits = (row["scaling"], row["size"]) in [("strong", "256"), ("weak", "200")] and row["system"] == "7" and not row["peer"]
            if fits and not row["options"].endswith(".opts") and row["setup_ms"] and row["solve_ms"]:
                last[row["type"], int(row["gpus"]), row["scaling"]] = f"{row['setup_ms']} + {row['solve_ms']}"
    return last


def print_model(measured, n):
    """Strong 256^3 and weak 200^3, 7 points: counts of as many ranks, or of the most there were."""
    last = recorded()
    print("\nmodel, ms: setup + solve (new values), 7 points; recorded: the last run in results.csv")
    print(f"{'type':<13} {'GPUs':>5} {'256^3 in all':>22} {'recorded':>16} {'200^3 a GPU':>22} {'recorded':>16}")
    for kind in sorted({k for k, _ in measured}, key=TYPES.index):
        known = sorted(r for k, r in measured if k == kind)
        for ranks in [1] + [2 ** k for k in range(1, 11)]:
            counts, _ = measured[kind, max([r for r in known if r <= max(ranks, 2)] or known[:1])]
            cells = []
            for scaling, rows, side in [("strong", 256 ** 3 / ranks, 256), ("weak", 200 ** 3, 200)]:
                t = model(kind, counts, ranks, rows / 1e6, (side / n) ** 2)
                cells += [f"{t['setup']:.1f} + {t['solve']:.1f} ({t['values']:.1f})", last.get((kind, ranks, scaling), "")]
            print(f"{kind:<13} {ranks:>5} {cells[0]:>22} {cells[1]:>16} {cells[2]:>22} {cells[3]:>16}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="amgkit_crossings")
    parser.add_argument("--library", required=True, help="libamgkit.so")
    parser.add_argument("--mpirun", default="mpirun", help="how processes are started, without -n")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--types", nargs="+", choices=TYPES, default=TYPES)
    parser.add_argument("--system", default="7")
    parser.add_argument("--n", type=int, default=16, help="grid points a side for each rank (16)")
    parser.add_argument("--limit", type=int, default=500, help="process_eq_limit, rows (500)")
    parser.add_argument("--space", default="debug", help="debug, or host, whose messages are those of a GPU-aware MPI (debug)")
    parser.add_argument("--options", default="", help="more options of PETSc")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run")
    parser.add_argument("--levels", action="store_true", help="print every level and phase")
    parser.add_argument("--model", action="store_true", help="print a model of time on GPUs")
    args = parser.parse_args()
    measured = {}
    for kind in args.types:
        for ranks in args.ranks:
            counts, iterations = run(args, ranks, kind, args.n)
            measured[kind, ranks] = (per_iteration(counts, iterations), iterations)
    print_counts(measured, args.levels)
    if args.model:
        print_model(measured, args.n)


if __name__ == "__main__":
    main()
