#!/usr/bin/env python3
"""Two builds of the library beside each other: setup and solve of the same systems, in turns.

    python3 compare.py --bench build/cuda/share/amgkit/bench/amgkit_bench --libraries old/libamgkit.so build/cuda/libamgkit.so \\
        --systems 7:64 27:100 kuhn:80 --extra "-mat_type aijcusparse -vec_type cuda"

A run measures all types on one system with one library, and takes the best of some setups and solves. The next run is the other library's.
Every second turn begins with the second library, as a machine becomes slower or faster with time. A ratio is the mean of the new times
divided by the mean of the old ones. The spread is by how much the slowest run of a library takes longer than its fastest: a difference
that is smaller says little.

The exit status is 1 where a solve does not converge, or iterations differ.
"""

import argparse
import os
import shlex
import subprocess
import sys

from regret import geometric_mean, options_of, parse, row

NAME = "libamgkit.so"  # PETSc derives the name of the function that it calls from what is before the first dot
TYPES = ["amgmatching", "amgsa", "amgclassical"]
TIMES = ["setup", "solve", "total"]


def run(arguments, library, system):
    """{type: Measured} of one run."""
    name, _, n = system.partition(":")
    command = shlex.split(arguments.launch) + [arguments.bench, "-dll_append", library, *options_of(name, n), "-repeat", str(arguments.repeat)]
    command += ["-memory", "0", *shlex.split(arguments.extra), "-pcs", ";".join(arguments.types)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.limit, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"{shlex.join(command)}\ntook more than {arguments.limit:g} s")
    found = parse(done.stdout)
    if len(found) != len(arguments.types) or not all(m.status.startswith("CONVERGED") for m in found):
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return dict(zip(arguments.types, found))


def measure(arguments):
    """{(system, type): (runs of the old library, runs of the new one)}"""
    runs = {(system, type): ([], []) for system in arguments.systems for type in arguments.types}
    for turn in range(arguments.turns):
        for system in arguments.systems:
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                for type, found in run(arguments, arguments.libraries[which], system).items():
                    runs[system, type][which].append(found)
            print(f"turn {turn + 1}, {system}", file=sys.stderr, flush=True)
    return runs


def mean(values):
    return sum(values) / len(values)


def ratio(pair, time):
    old, new = ([getattr(found, time) for found in found_by] for found_by in pair)
    return mean(new) / mean(old)


def spread(pair, time):
    values = [[getattr(found, time) for found in found_by] for found_by in pair]
    return max(max(of_library) / min(of_library) for of_library in values)


def arrow(pair, time):
    return " → ".join(", ".join(f"{getattr(found, time):.3g}" for found in found_by) for found_by in pair)


def counts(pair):
    """Iterations of the old library, and of the new one where they differ."""
    old, new = ({found.iterations for found in found_by} for found_by in pair)
    return " → ".join("/".join(map(str, sorted(of_library))) for of_library in ([old] if old == new else [old, new]))


def table(runs):
    lines = [row("system", "type", "setup, ms", "ratio", "spread", "solve, ms", "ratio", "spread", "iterations"), "|---" * 9 + "|"]
    for (system, type), pair in runs.items():
        cells = [system, type]
        for time in ("setup", "solve"):
            cells += [arrow(pair, time), f"{ratio(pair, time):.3f}", f"{spread(pair, time):.2f}"]
        lines.append(row(*cells, counts(pair)))
    return lines


def summary(runs):
    """Geometric means of the ratios, by type."""
    lines = [row("type", "systems", *TIMES), "|---" * 5 + "|"]
    for type in dict.fromkeys(type for _, type in runs):
        pairs = [pair for (_, of_type), pair in runs.items() if of_type == type]
        lines.append(row(type, str(len(pairs)), *(f"{geometric_mean([ratio(pair, time) for pair in pairs]):.3f}" for time in TIMES)))
    return lines


def complaints(runs):
    return [f"{system}, {type}: {counts(pair)} iterations" for (system, type), pair in runs.items() if len({m.iterations for m in pair[0] + pair[1]}) > 1]


def command_line(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the program amgkit_bench")
    parser.add_argument("--libraries", required=True, nargs=2, metavar=("OLD", "NEW"), help=f"two files named {NAME}")
    parser.add_argument("--systems", nargs="+", default=["7:32", "27:32"], metavar="SYSTEM:N", help="of amgkit_bench, also kuhn-shuffled:80; default: 7:32 27:32")
    parser.add_argument("--types", default=",".join(TYPES), help="default: all three")
    parser.add_argument("--turns", type=int, default=3, help="runs of each library on each system; default: 3")
    parser.add_argument("--repeat", type=int, default=5, help="best of so many setups and solves in a run; default: 5")
    parser.add_argument("--extra", default="", metavar="OPTIONS", help="options for every run, as -mat_type aijcusparse -vec_type cuda")
    parser.add_argument("--launch", default="", metavar="COMMAND", help="what starts the benchmark, as mpiexec -n 4")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for one run; default: 300")
    parser.add_argument("--out", metavar="FILE", help="write the tables to this file, too")
    arguments = parser.parse_args(words)
    arguments.types = arguments.types.split(",")
    for library in arguments.libraries:
        if not os.path.exists(library):
            parser.error(f"there is no file {library}")
        if not os.path.basename(library).startswith(NAME):
            parser.error(f"{library}: PETSc finds no function in a library that is not named {NAME}")
    for system in arguments.systems:
        if not system.partition(":")[2].isdigit():
            parser.error(f"{system} is not SYSTEM:N")
    if arguments.turns < 1:
        parser.error("there is nothing to do in no turn")
    return arguments


def main(words):
    arguments = command_line(words)
    runs = measure(arguments)
    text = "\n".join(table(runs) + [""] + summary(runs)) + "\n"
    print(text, end="")
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(text)
    found = complaints(runs)
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
