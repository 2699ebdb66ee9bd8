#!/usr/bin/env python3
"""compare.py with a library and its copy on two small systems; what it refuses; and its parts on numbers that are known.

compare_test.py COMPARE BENCH LIBRARY FOLDER, which takes the copy and the tables
"""

import math
import os
import shutil
import subprocess
import sys

compare_py, bench, library, folder = sys.argv[1:]
sys.path.insert(0, os.path.dirname(compare_py))
import compare
from regret import Measured


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def check_parts():
    old, new = [Measured(10.0, 2.0, 7), Measured(14.0, 2.0, 7)], [Measured(6.0, 4.0, 7), Measured(6.0, 4.0, 7)]
    runs = {("7:8", "amgsa"): (old, new), ("27:8", "amgsa"): (new, old), ("7:8", "amgclassical"): (old, old[:1] + [Measured(10.0, 2.0, 8)])}
    check(compare.ratio((old, new), "setup") == 0.5 and compare.ratio((old, new), "total") == 10 / 14, "ratios of means")
    check(compare.spread((old, new), "setup") == 1.4, "the spread is of runs of one library")
    lines = [line.split(" | ") for line in compare.table(runs)[2:]]
    check(lines[0][2:8] == ["10, 14 → 6, 6", "0.500", "1.40", "2, 2 → 4, 4", "2.000", "1.00"], f"a line of the table {lines[0]}")
    check(lines[0][8] == "7 |" and lines[2][8] == "7 → 7/8 |", "iterations, once where they are equal")
    means = compare.summary(runs)[2:]
    check(means[0] == "| amgsa | 2 | 1.000 | 1.000 | 1.000 |", f"geometric means {means[0]}")
    check(compare.complaints(runs) == ["7:8, amgclassical: 7 → 7/8 iterations"], "iterations that differ")


class Recorder:
    """Stands for run(): which library and system, in this order."""

    def __init__(self):
        self.order = []

    def __call__(self, arguments, which, system):
        self.order.append((which, system))
        return {type: Measured(1.0, 1.0, 3) for type in arguments.types}


def check_order():
    arguments = compare.argparse.Namespace(libraries=("old", "new"), systems=["a", "b"], types=["x"], turns=2)
    recorder = Recorder()
    real, compare.run = compare.run, recorder
    runs = compare.measure(arguments)
    compare.run = real
    check(recorder.order == [("old", "a"), ("new", "a"), ("old", "b"), ("new", "b"), ("new", "a"), ("old", "a"), ("new", "b"), ("old", "b")], "turns")
    check(all(len(found) == 2 for pair in runs.values() for found in pair), "each turn counts")


def run(*words):
    done = subprocess.run([sys.executable, "-B", compare_py, "--bench", bench, *words], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    return done


def check_runs():
    copy, out = os.path.join(folder, "copy", "libamgkit.so"), os.path.join(folder, "compare.md")
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copyfile(library, copy)
    small = ["--repeat", "1", "--turns", "2"]
    done = run("--libraries", library, copy, "--systems", "7:12", "kuhn-shuffled:12", *small, "--out", out)
    with open(out, encoding="utf-8") as file:
        text = file.read()
    check(done.returncode == 0 and text == done.stdout, "a library and its copy")
    check(text.count("| 7:12 | amg") == 3 and text.count("| kuhn-shuffled:12 | amg") == 3 and text.count("| amgsa | 2 |") == 1, "a line for each")
    check(not any(math.isnan(float(cell)) for line in text.split("\n")[-4:-1] for cell in line.split(" | ")[2:4]), "means are numbers")
    done = run("--libraries", library, copy, "--systems", "7:12", *small, "--extra", "-ksp_max_it 1 -ksp_rtol 1e-14")
    check(done.returncode == 1 and "DIVERGED" in done.stderr, "a solve that does not converge")
    other = os.path.join(folder, "copy", "other.so")
    shutil.copyfile(library, other)
    check(run("--libraries", library, other).returncode == 2, "PETSc would not find the function of a library with another name")
    check(run("--libraries", library, copy + ".missing").returncode == 2, "a library that is not there")
    check(run("--libraries", library, copy, "--systems", "7").returncode == 2, "a system without a size")


check_parts()
check_order()
check_runs()
