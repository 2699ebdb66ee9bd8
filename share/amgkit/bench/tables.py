#!/usr/bin/env python3
"""Writes the tables of results/results.csv into the pages, between <!-- results: NAME --> and <!-- end -->.

tables.py              rewrites the tables that have changed
tables.py --check      validates the CSV, and says which tables and pictures are older than it
tables.py --self-test  checks the check
tables.py --fresh FILE TYPE...  validates rows of amgkit_bench -csv, which name no page yet; each TYPE has one
"""

import os
import re
import sys
import tempfile
import textwrap

import plot
import records
from records import PEERS, SHOWN, number, total

PAGES = ["README.md", "share/amgkit/bench/results/README.md"]
COMMAND = "python3 share/amgkit/bench/tables.py"
BLOCK = re.compile(r"^<!-- results: (\S+) -->\n(.*?)^<!-- end -->$", re.M | re.S)
MARKER = re.compile(r"^<!-- (?:results: \S+|end) -->$", re.M)


def digits(text):
    """One digit after the point below 100, where the source has it."""
    value = float(text)
    return f"{value:.1f}" if value < 99.95 and "." in str(text) else f"{value:.0f}"


def cell(row):
    """setup + solve = total (iterations), with what is known of it."""
    if not row:
        return "–"
    parts = f"{digits(row['setup_ms'])} + {digits(row['solve_ms'])} = " if row["setup_ms"] else ""
    return f"{parts}**{digits(row['total_ms'])}**" + (f" ({row['iterations']})" if row["iterations"] else "")


def ratio(slow, fast, places=1):
    value = total(slow) / total(fast)
    return f"{value:.{places}f}" if value < 9.95 else f"{value:.0f}"


def table(head, lines):
    return "".join("| " + " | ".join(line) + " |\n" for line in [head, ["---"] * len(head)] + lines).replace(" --- ", "---")


def name_of(rows, system, size):
    first = records.of_system(rows, system, size)[0]
    return records.system_name(system, size, first["rows"])


def totals(rows):
    lines, versions, settings = [], [], {}
    for system, size in SHOWN:
        own = [records.newest(rows, system, size, type) for type in records.OWN[:3]]
        peer, best = records.best_peer(rows, system, size), records.best_own(rows, system, size)
        lines.append([name_of(rows, system, size)] + [cell(row) for row in own] + [f"{PEERS[peer['type']]} {cell(peer)}", ratio(peer, best)])
        versions.append(peer["peer"])
        settings |= {PEERS[peer["type"]]: peer["options"]} if peer["options"] else {}
    names = sorted({re.sub("^PETSc ", "GAMG of PETSc ", re.sub(r" (\w+), (\d+-\d+)$", r" (\1, \2)", version)) for version in versions})
    legend = ". ".join([f"Peers: {', '.join(names)}"] + [f"\"{name}\" is {text}" for name, text in settings.items()])
    return table(["system", "`amgmatching`", "`amgclassical`", "`amgsa`", "best peer", "speedup"], lines) + "\n" + textwrap.fill(f"{legend}. A dash means not measured.", 145) + "\n"


def peers(rows):
    """Every peer's fastest measurement, and ours, of each system on one GPU that a peer has solved."""
    kinds = [type for type in PEERS if type not in ("bjacobi-ilu", "icc", "ml")]
    lines, order = [], list(records.SYSTEMS)
    cases = {(r["system"], r["size"]) for r in rows if r["type"] in kinds and r["gpus"] == r["ranks"] == "1"}
    for system, size in sorted(cases, key=lambda c: (order.index(c[0]), int(c[1] or 0))):
        found = [[r for r in records.of_system(rows, system, size) if r["type"] == type] for type in kinds]
        best = records.best_own(rows, system, size)
        own = f"{best['type']} {digits(best['total_ms'])}" if best else "–"
        lines.append([name_of(rows, system, size), own] + [digits(min(total(r) for r in f)) if f else "–" for f in found])
    return table(["system", "AMGKit"] + [PEERS[type] for type in kinds], lines)


def gpus(rows):
    """Systems on 1, 2 and 4 GPUs; where the size is a GPU's share, the time should stay."""
    cases = dict.fromkeys((r["system"], r["size"], r["scaling"], r["type"], r["options"]) for r in rows if r["gpus"] == "4" and r["scaling"])
    order = list(records.OWN) + list(PEERS)
    lines = []
    for system, size, scaling, type, options in sorted(cases, key=lambda c: (c[2], c[0], int(c[1]), order.index(c[3]), c[4])):
        run = records.series(rows, type, system, size, scaling, options)
        if not run or options not in ("", "poisson.opts"):
            continue
        kind = f"{records.system_name(system, size)}{' a GPU' if scaling == 'weak' else ''}"
        solver = PEERS.get(type, f"`{type}`") + (f", {options}" if options else "")
        lines.append([kind, solver] + [cell(r) for r in run] + [ratio(run[-1], run[0], 2)])
    return table(["system", "solver", "1 GPU", "2 GPUs", "4 GPUs", "time on 4 / on 1"], lines)


def cpu(rows):
    """The runs on a CPU that have AMGKit and its peers in one process."""
    found = [r for r in rows if r["card"] == "CPU" and r["commit"]]
    types = list(dict.fromkeys(r["type"] for r in found))
    lines = []
    for type in types:
        by_ranks = {r["ranks"]: r for r in found if r["type"] == type}
        lines.append([PEERS.get(type, f"`{type}`")] + [cell(by_ranks.get(ranks)) for ranks in ("1", "2")])
    return table(["solver", "1 process", "2 processes"], lines)


TABLES = {"totals": totals, "peers": peers, "gpus": gpus, "cpu": cpu}


def renew(page, text, rows):
    """(the page with its tables as the rows have them, the names of its tables, complaints)."""
    names = [match[1] for match in BLOCK.finditer(text)]
    complaints = [f"{page}: no table '{name}': choose from {', '.join(TABLES)}" for name in names if name not in TABLES]
    if len(MARKER.findall(text)) != 2 * len(names):
        complaints.append(f"{page}: a <!-- results: NAME --> or <!-- end --> without the other")
    new = text if complaints else BLOCK.sub(lambda m: f"<!-- results: {m[1]} -->\n{TABLES[m[1]](rows)}<!-- end -->", text)
    return new, names, complaints


def check_pages(pages, rows, write):
    """pages: {path: text}. With write, calls it with each page that has changed; without, complains of it."""
    complaints, seen = [], []
    for page, text in pages.items():
        new, names, wrong = renew(page, text, rows)
        complaints += wrong
        seen += names
        if new != text and write:
            write(page, new)
        elif new != text:
            complaints.append(f"{page}: its tables are not those of results.csv; run {COMMAND}")
    return complaints + [f"no page has the table '{name}': {', '.join(pages)}" for name in TABLES if name not in seen]


def check_fresh(path, types):
    rows, complaints = records.read(path)
    found = {row["type"] for row in rows}
    return complaints + records.validate(rows, fresh=True) + [f"{path}: no row of {type}" for type in types if type not in found]


def main(arguments):
    if arguments[:1] == ["--fresh"] and len(arguments) > 1:
        return check_fresh(arguments[1], arguments[2:])
    rows, complaints = records.read()
    complaints += records.validate(rows)
    if arguments == ["--self-test"]:
        return self_test(rows)
    if complaints:
        return complaints
    pages = {}
    for page in PAGES:
        with open(os.path.join(records.root, page), encoding="utf-8") as file:
            pages[page] = file.read()

    def write(page, text):
        with open(os.path.join(records.root, page), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{page}: written")

    if arguments == ["--check"]:
        return check_pages(pages, rows, None) + plot.stale(rows)
    if arguments:
        return [__doc__.strip()]
    return check_pages(pages, rows, write)


def changed(rows, line, fields):
    return [row | fields if row["line"] == line else row for row in rows]


def test_rows(rows):
    """Each wrong field of an otherwise right row is seen."""
    own = records.newest(rows, "7", "256", "amgmatching")
    bad = [("date", "2026-13-01"), ("date", "23.11.2026"), ("date", ""), ("gpus", "-1"), ("gpus", "0"), ("commit", "main"), ("type", "amg"), ("type", "hypre")]
    bad += [("system", "8"), ("size", "1e2"), ("rows", "256"), ("rows", "0"), ("ranks", ""), ("setup_ms", "-1"), ("setup_ms", "nan"), ("setup_ms", "")]
    bad += [("solve_ms", "inf"), ("total_ms", ""), ("total_ms", "1"), ("iterations", "0"), ("iterations", "1.5"), ("memory_gb", "x"), ("source", "no.md"), ("scaling", "both")]
    bad += [("date", "2026-11-01"), ("peer", "hypre")]
    complaints = [f"no complaint: {name} '{text}'" for name, text in bad if not records.validate(changed(rows, own["line"], {name: text}))]
    return complaints + ([] if records.validate(rows + [own]) else ["no complaint: a row twice"])


def test_files():
    """A file with another header, or with a line of another length, is seen."""
    head, complaints = ",".join(records.COLUMNS), []
    for text in ("date,card\n2026-11-23,CPU\n", f"{head}\n1,2\n", f"{head}\n{',' * len(records.COLUMNS)}\n"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            complaints += [] if records.read(path)[1] else [f"no complaint: {text}"]
            complaints += [] if check_fresh(path, []) and check_fresh(records.CSV, ["none"]) else [f"no complaint about fresh rows: {text}"]
    return complaints


def test_pages(rows):
    """A table that is not the rows' own, a marker alone and a table that stands nowhere are seen; a page that was just written is right."""
    stale = "".join(f"<!-- results: {name} -->\n<!-- end -->\n" for name in TABLES)
    page, _, complaints = renew("page", stale, rows)
    other = changed(rows, records.newest(rows, "7", "256", "amgmatching")["line"], {"setup_ms": "1", "total_ms": "79.9", "solve_ms": "78.9"})
    bad = [(stale, rows), (page, other), (page.replace("<!-- end -->", "", 1), rows), (page.replace("totals", "total", 1), rows), ("", rows)]
    complaints += [f"no complaint: {text[:60]}" for text, those in bad if not check_pages({"page": text}, those, None)]
    return complaints + check_pages({"page": page}, rows, None) + (["rewriting is not idempotent"] if renew("page", page, rows)[0] != page else [])


def test_pictures(rows):
    """A new measurement of what a picture shows makes it stale."""
    line = records.newest(rows, "7", "256", "amgmatching")["line"]
    names = [name for name in plot.PICTURES if plot.digest(name, rows) == plot.digest(name, changed(rows, line, {"total_ms": "79.9"}))]
    complaints = [f"{name}: no complaint about a new total" for name in names if name != "gpus"]
    with tempfile.TemporaryDirectory() as folder:
        missing = plot.stale(rows, folder)
        complaints += [] if len(missing) == len(plot.PICTURES) else ["no complaint: pictures that are not there"]
    return complaints


def self_test(rows):
    return test_rows(rows) + test_files() + test_pages(rows) + test_pictures(rows)


if __name__ == "__main__":
    found = main(sys.argv[1:])
    for complaint in found:
        print(complaint)
    sys.exit(1 if found else 0)
