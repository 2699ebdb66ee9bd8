#!/usr/bin/env python3
"""The table of regret: how much slower the shipped options files are than the best of a grid of option sets, system by system.

    python3 regret.py --bench build/host/share/amgkit/bench/amgkit_bench --library build/host/libamgkit.so --out regret.md
    python3 regret.py ... --size large --extra "-mat_type aijcusparse -vec_type cuda" --most 1.3 --mean 1.1

The regret of a type on a system is the default's setup + solve divided by that of the best set, the default among them, so 1 at least.
All sets of a type are measured in one run of the benchmark. Where many sets are equally fast, one wins by chance: so the fastest three are
measured twice more in a second run, in turns with the default, and that run counts. The regret of the best type compares the fastest default
with the fastest set of any type. A set that does not converge takes forever, and so does one that crashes the benchmark or runs out of time.
"""

import argparse
import csv
import math
import os
import re
import shlex
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
SIZES = ["tiny", "small", "medium", "large"]
SYSTEMS = {  # points a side: tiny, small (about 30,000 rows), medium (about 260,000), large (1.5 to 8 million)
    "7": (12, 32, 64, 200),
    "7-shuffled": (12, 32, 64, 160),
    "27": (12, 32, 64, 160),
    "aniso": (12, 32, 64, 200),
    "jump": (12, 32, 64, 200),
    "jump-shuffled": (12, 32, 64, 160),
    "neumann": (12, 32, 64, 200),
    "elasticity": (8, 20, 44, 80),
    "kuhn": (12, 32, 64, 160),
    "kuhn-shuffled": (12, 32, 64, 160),
    "sliver": (12, 32, 64, 160),
    "sliver-shuffled": (12, 32, 64, 160),
    "p2": (13, 31, 63, 127),
    "graded": (12, 32, 64, 160),
    "mesh2d": (40, 180, 512, 2000),
    "mesh2d-shuffled": (40, 180, 512, 2000),
}
GRID = {  # option sets beside the default, without -pc_TYPE_
    "amgmatching": [
        "cycle_type v",
        "cycle_type v chebyshev_degree 2",
        "cycle_type v chebyshev_degree 3",
        "kcycle_levels 1",
        "kcycle_levels 2",
        "kcycle_levels 3",
        "kcycle_levels 1 chebyshev_degree 2",
        "kcycle_levels 3 chebyshev_degree 1",
        "chebyshev_degree 1",
        "chebyshev_degree 2",
        "chebyshev_degree 3",
        "matching_steps 2",
        "matching_steps 2 chebyshev_degree 2",
        "matching_steps 2 cycle_type v chebyshev_degree 2",
        "matching_steps 2 kcycle_levels 1",
        "kappa 0",
        "kappa 10",
        "quality_aware 1",
        "cancel_positive 0",
    ],
    "amgsa": [
        "threshold 0",
        "threshold 0.08",
        "threshold 0.5",
        "threshold_scale 0.5",
        "lump_below 1",
        "strength_type symmetric threshold 0.08",
        "mis_k 1",
        "aggressive_coarsening 0",
        "aggressive_mis_k 4",
        "aggressive_mis_k 4 chebyshev_degree 3",
        "chebyshev_degree 1",
        "chebyshev_degree 2",
        "chebyshev_degree 3",
        "chebyshev_degree 4",
        "threshold 0 chebyshev_degree 3",
        "lump_weak 0",
        "prolongator_filter 0",
        "prolongator_filter 0.1",
        "prolongator_filter 0.2",
        "cycle_type k",
        "agg_nsmooths 0 cycle_type k",
    ],
    "amgclassical": [
        "threshold 0.05",
        "threshold 0.25",
        "threshold 0.5",
        "threshold 0.25 p_max 6",
        "p_max 3",
        "p_max 4",
        "truncfactor 0.1",
        "interp_type direct",
        "interp_type ext+i",
        "interp_type ext",
        "interp_type ext+e",
        "agg_nl 0",
        "agg_nl 1",
        "agg_nl 1 agg_type a1",
        "agg_nl 1 chebyshev_degree 2",
        "agg_nl 1 chebyshev_degree 3",
        "chebyshev_degree 1",
        "chebyshev_degree 2",
        "chebyshev_degree 3",
        "max_row_sum 1",
        "cycle_type k",
    ],
}
DEFAULT = ""
CANDIDATES = 3  # sets that are measured once more
RESULT = re.compile(r"^\S+ +\d+ +\d+ +\d+ \S+ +(\d+|-) ")


class Measured:
    """One line of the benchmark's table."""

    def __init__(self, setup=math.inf, solve=math.inf, iterations=0, status="ended early"):
        self.setup, self.solve, self.iterations, self.status = setup, solve, iterations, status

    @property
    def total(self):
        return self.setup + self.solve

    def __str__(self):
        if self.total == math.inf:
            return "∞"
        return f"{self.setup:.1f} + {self.solve:.1f} = {self.total:.1f} ({self.iterations})"


def parse(output):
    """The lines of the table in order; what did not converge takes forever."""
    found = []
    for line in output.split("\n"):
        words = line.split(None, 13)
        if RESULT.match(line) and len(words) == 14:  # whole, though the run may have ended in its midst
            if words[13].startswith("CONVERGED"):
                found.append(Measured(float(words[6]), float(words[7]), int(words[5]), words[13]))
            else:
                found.append(Measured(status=words[13]))
    return found


def shipped(type):
    """The options of the type's options file but for -pc_type, which the benchmark sets."""
    with open(os.path.join(here, "..", "options", type + ".opts"), encoding="utf-8") as file:
        lines = [line.partition("#")[0].strip() for line in file]
    return " ".join(line for line in lines if line and not line.startswith("-pc_type "))


def full(type, options):
    """An option set with the names that PETSc knows, after the shipped options."""
    words = options.split()
    own = [word if k % 2 else f"-pc_{type}_{word}" for k, word in enumerate(words)]
    return f"{type}:{shipped(type)} {' '.join(own)}".strip()


def options_of(system, n):
    """What the benchmark is told of a system with n points a side; "-shuffled" in its name numbers them at random."""
    name, _, shuffled = system.partition("-")
    return ["-system", name, "-n", str(n)] + (["-shuffle"] if shuffled else [])


class Bench:
    """Runs the benchmark on one system."""

    def __init__(self, arguments, system, file=None):
        self.arguments, self.unused = arguments, set()
        if file:
            self.system = ["-system", "file", "-f", file, "-spd"]
        else:
            self.system = options_of(system, SYSTEMS[system][SIZES.index(arguments.size)])

    def once(self, entries):
        a = self.arguments
        command = shlex.split(a.launch) + [a.bench, "-dll_append", a.library, *self.system, "-repeat", str(a.repeat), "-ksp_max_it", "500"]
        command += shlex.split(a.extra) + ["-pcs", ";".join(entries)]
        late = False
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=a.limit, check=False)
            output, errors = done.stdout, done.stderr
        except subprocess.TimeoutExpired as expired:
            late = True
            output, errors = ((text or b"").decode(errors="replace") for text in (expired.stdout, expired.stderr))
        self.unused.update(re.findall(r"^# warning: option (\S+) was not used", output, re.M))
        if not late and "# matrix" not in output:  # no set was tried
            sys.exit(f"{shlex.join(command)}\n{output}{errors}")
        return parse(output)

    def run(self, type, sets):
        """The best measurement of each set. The default goes ahead of them, uncounted: the first setup of a process is slower."""
        entries = [full(type, options) for options in [DEFAULT] + sets]
        best = {}
        for options, found in zip(sets, self.measurements(entries)[1:]):
            if options not in best or found.total < best[options].total:
                best[options] = found
        return best

    def measurements(self, entries):
        """One for each entry. After one that ends the run, the others get a run of their own."""
        found = []
        while len(found) < len(entries):
            now = self.once(entries[len(found) :])
            found += now
            if len(found) < len(entries):
                found.append(Measured())
        return found


def measure(bench, type):
    """(default, {set: measurement of the first run}, best set, its measurement, regret); the last three None where nothing converges."""
    first = bench.run(type, [DEFAULT] + GRID[type])
    best = sorted(GRID[type], key=lambda options: first[options].total)[:CANDIDATES]
    again = [DEFAULT] + [options for options in best if first[options].total < math.inf]
    second = bench.run(type, 2 * again)
    winner = min(again, key=lambda options: second[options].total)
    if second[winner].total == math.inf:
        return second[DEFAULT], first, None, None, None
    return second[DEFAULT], first, winner, second[winner], second[DEFAULT].total / second[winner].total


def of_best_type(of_types):
    """(default, its type, best, its type and set, regret) of who takes the type whose default is fastest; None where no set converges."""
    bests = [(best.total, type) for type, (_, _, _, best, _) in of_types.items() if best]
    if not bests:
        return None
    default_type = min(of_types, key=lambda type: of_types[type][0].total)
    default, (total, type) = of_types[default_type][0], min(bests)
    return default, default_type, of_types[type][3], f"{type}: {of_types[type][2] or 'default'}", default.total / total


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def number(value):
    return "∞" if value == math.inf else f"{value:.2f}"


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def table(results):
    """results: {system: {type: what measure() returns}}. The lines of the table."""
    lines = [row("system", "type", "default: setup + solve = total, ms (iterations)", "best set", "its total, ms (iterations)", "regret"), "|---" * 6 + "|"]
    for system, of_types in results.items():
        for type, (default, _, winner, best, regret) in of_types.items():
            if best:
                lines.append(row(system, type, str(default), winner or "default", f"{best.total:.1f} ({best.iterations})", number(regret)))
            else:
                lines.append(row(system, type, str(default), "none converges", "–", "–"))
        overall = of_best_type(of_types) if len(of_types) > 1 else None
        if overall:
            default, type, best, winner, regret = overall
            lines.append(row(system, f"best type: {type}", str(default), winner, f"{best.total:.1f} ({best.iterations})", number(regret)))
    return lines


def summary(results):
    """{type or "best type": regrets of the systems}"""
    regrets = {}
    for of_types in results.values():
        for type, result in of_types.items():
            regrets.setdefault(type, []).append(result[4])
        if len(of_types) > 1:
            overall = of_best_type(of_types)
            regrets.setdefault("best type", []).append(overall[4] if overall else None)
    return {name: [value for value in values if value is not None] for name, values in regrets.items()}


def summary_table(regrets):
    lines = [row("type", "systems", "largest regret", "geometric mean"), "|---" * 4 + "|"]
    for name, values in regrets.items():
        lines.append(row(name, str(len(values)), number(max(values, default=math.nan)), number(geometric_mean(values))))
    return lines


def exceeded(regrets, most, mean):
    """What is above the limits, which may be None."""
    complaints = []
    for name, values in regrets.items():
        for what, value, limit in (("largest", max(values, default=math.nan), most), ("mean", geometric_mean(values), mean)):
            if limit is not None and not value <= limit:
                complaints.append(f"{name}: the {what} regret is {number(value)}, not at most {limit:g}")
    return complaints


def write_all(path, results):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["system", "type", "options", "setup_ms", "solve_ms", "iterations", "status"])
        for system, of_types in results.items():
            for type, (_, first, *_) in of_types.items():
                for options, found in first.items():
                    writer.writerow([system, type, options, found.setup, found.solve, found.iterations, found.status])


def command_line(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the program amgkit_bench")
    parser.add_argument("--library", required=True, help="libamgkit.so")
    parser.add_argument("--size", choices=SIZES, default="small", help="default: small")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="names separated by commas, of " + ", ".join(SYSTEMS) + "; default: all")
    parser.add_argument("--files", nargs="*", default=[], metavar="A.dat", help="symmetric positive definite matrices in PETSc's binary format, too")
    parser.add_argument("--types", default=",".join(GRID), help="default: all")
    parser.add_argument("--extra", default="", metavar="OPTIONS", help="options for every run, as -mat_type aijcusparse -vec_type cuda")
    parser.add_argument("--launch", default="", metavar="COMMAND", help="what starts the benchmark, as mpiexec -n 4")
    parser.add_argument("--repeat", type=int, default=3, help="best of so many setups and solves; default: 3")
    parser.add_argument("--limit", type=float, default=900, metavar="SECONDS", help="for one run of the benchmark; default: 900")
    parser.add_argument("--out", metavar="FILE", help="write the tables to this file, too")
    parser.add_argument("--all", metavar="FILE", help="write the first run's measurements of all sets to this CSV file")
    parser.add_argument("--most", type=float, help="fail if a type's, or the best type's, largest regret is above")
    parser.add_argument("--mean", type=float, help="fail if a type's, or the best type's, geometric mean is above")
    arguments = parser.parse_args(words)
    arguments.systems = [name for name in arguments.systems.split(",") if name]
    arguments.types = arguments.types.split(",")
    for name in arguments.systems:
        if name not in SYSTEMS:
            parser.error(f"there is no system {name}")
    for name in arguments.types:
        if name not in GRID:
            parser.error(f"there is no grid for {name}")
    return arguments


def main(words):
    arguments = command_line(words)
    results, unused = {}, set()
    for name, file in [(name, None) for name in arguments.systems] + [(os.path.basename(file), file) for file in arguments.files]:
        bench = Bench(arguments, name, file)
        results[name] = {}
        for type in arguments.types:
            results[name][type] = measure(bench, type)
            print(table({name: {type: results[name][type]}})[-1], file=sys.stderr, flush=True)
        unused |= bench.unused
    regrets = summary(results)
    text = "\n".join(table(results) + [""] + summary_table(regrets)) + "\n"
    print(text, end="")
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(text)
    if arguments.all:
        write_all(arguments.all, results)
    complaints = [f"nobody has read the option {option}" for option in sorted(unused)] + exceeded(regrets, arguments.most, arguments.mean)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
