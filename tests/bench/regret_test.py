#!/usr/bin/env python3
"""regret.py on two small systems, with limits that it must exceed; and its parts on numbers that are known.

regret_test.py REGRET BENCH LIBRARY FOLDER, which takes the tables
"""

import importlib.util
import math
import os
import re
import subprocess
import sys

regret_py, bench, library, folder = sys.argv[1:]
spec = importlib.util.spec_from_file_location("regret", regret_py)
regret = importlib.util.module_from_spec(spec)
spec.loader.exec_module(regret)

PRINTED = """# amgmatching with -ksp_type amgfcg
system    n       rows ranks pc               its    setup_ms    solve_ms    total_ms  true_relres    mem_MB  mem/A resetup_ms status
kuhn     32      32768     1 amgmatching       17      91.250      45.750     137.000     3.08e-09         -      -          - CONVERGED_RTOL
kuhn     32      32768     1 amgmatching      500      91.250     945.750    1037.000     3.08e-02         -      -          - DIVERGED_ITS
kuhn     32      32768     1 amgmatching        -           -           -           -            -         -      -          - ERROR 56 in f: no such thing
"""


class Canned:
    """A benchmark on which the set `fast` takes 10 ms, if it converges, and all else 20; the first entry 50, the third one crashes it once."""

    def __init__(self, fast, status="CONVERGED_RTOL"):
        self.fast, self.status, self.crashes = fast, status, 1

    def once(self, entries):
        lines = []
        for k, entry in enumerate(entries):
            if k == 2 and self.crashes:
                self.crashes -= 1
                break
            time = 50 if k == 0 else 10 if self.fast and entry.endswith(self.fast) else 20
            lines.append(f"7 8 512 1 amgsa 5 {time - 1} 1 {time} 1e-9 - - - {self.status}")
        return regret.parse("\n".join(lines))

    run, measurements = regret.Bench.run, regret.Bench.measurements


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def check_parts():
    found = regret.parse(PRINTED)
    check([m.total for m in found] == [137, math.inf, math.inf] and found[0].iterations == 17, "lines of the benchmark's table")
    check(found[2].status.startswith("ERROR 56"), "the message of an error")
    default, first, winner, best, ratio = regret.measure(Canned("-pc_amgsa_mis_k 1"), "amgsa")
    check((default.total, winner, best.total, ratio) == (20, "mis_k 1", 10, 2), "the best set")
    check(first[regret.GRID["amgsa"][0]].total == math.inf and first[regret.GRID["amgsa"][1]].total < math.inf, "a crash costs one set")
    check(regret.measure(Canned(""), "amgsa")[4] == 1, "all sets are equally fast")
    nothing = regret.measure(Canned("", "DIVERGED_ITS"), "amgsa")
    check(nothing[2:] == (None, None, None), "nothing converges")
    ten, twenty, never = (regret.Measured(time, 0.0) for time in (10.0, 20.0, math.inf))
    results = {"a": {"x": (twenty, {}, "s", ten, 2.0), "y": (ten, {}, "", ten, 1.0)}, "b": {"x": (never, {}, "s", ten, math.inf), "y": nothing}}
    regrets = regret.summary(results)
    check(regrets == {"x": [2.0, math.inf], "y": [1.0], "best type": [1.0, math.inf]}, f"the regrets {regrets}")
    check([line.split(" | ")[1] for line in regret.table(results)[2:]] == ["x", "y", "best type: y", "x", "y", "best type: x"], "lines of the table")
    check(len(regret.exceeded(regrets, 1.3, 1.1)) == 4 and not regret.exceeded({"x": [1.2, 1.0]}, 1.3, 1.1), "limits of regrets")
    check(regret.exceeded({"x": []}, 1.3, None), "no regret at all is no success")


def check_run():
    out, csv = (os.path.join(folder, name) for name in ("regret.md", "regret.csv"))
    types = list(regret.GRID)
    command = [sys.executable, "-B", regret_py, "--bench", bench, "--library", library, "--size", "tiny", "--systems", "jump,kuhn-shuffled"]
    command += ["--repeat", "1", "--out", out, "--all", csv, "--most", "0.5", "--mean", "1e9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    check(done.returncode == 1 and len(re.findall(r"the largest regret is .* not at most 0.5$", done.stderr, re.M)) == 4, "exit status, complaints")
    check("nobody has read" not in done.stderr, "every option of the grids exists")
    with open(out, encoding="utf-8") as file:
        text = file.read()
    check(text == done.stdout, "the file has what was printed")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.split("\n") if line]
    lines, means = cells[2:10], cells[12:]
    check([line[0] for line in lines] == 4 * ["jump"] + 4 * ["kuhn-shuffled"], "lines of the systems")
    check([line[1] for line in lines if not line[1].startswith("best type: ")] == 2 * types, "lines of the types")
    check(all(1 <= float(line[5]) < math.inf for line in lines), "finite regrets")
    check([line[:2] for line in means] == [[name, "2"] for name in types + ["best type"]], "lines of the summary")
    check(all(1 <= float(line[3]) <= float(line[2]) for line in means), "means and largest regrets")
    with open(csv, encoding="utf-8") as file:
        check(len(file.readlines()) == 1 + 2 * sum(1 + len(sets) for sets in regret.GRID.values()), "a row for every set")


check_parts()
check_run()
