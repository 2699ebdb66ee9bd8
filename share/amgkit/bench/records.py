"""The recorded measurements: reads and validates results/results.csv, and selects what the tables and pictures show.

results/README.md says what each column means.
"""

import csv
import datetime
import os
import re

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(os.path.dirname(here)))
RESULTS = os.path.join(here, "results")
CSV = os.path.join(RESULTS, "results.csv")

COLUMNS = """date card gpus driver petsc commit peer type system size scaling rows ranks run setup_ms solve_ms total_ms iterations
resetup_ms memory_gb options command source note""".split()
TIMES = ["setup_ms", "solve_ms", "total_ms", "resetup_ms", "memory_gb"]
KEY = ["date", "card", "gpus", "petsc", "commit", "peer", "type", "system", "size", "scaling", "ranks", "options", "run"]

OWN = ["amgmatching", "amgclassical", "amgsa", "ilu2level"]
PEERS = {  # what a table calls a peer
    "amgx": "AmgX",
    "amgx-agg1": "AmgX, aggressive",
    "amgx-agg8": "AmgX, aggregation",
    "bjacobi-ilu": "block Jacobi, ILU(0)",
    "bootcmatchgx": "BootCMatchGX",
    "gamg": "GAMG",
    "hypre": "hypre",
    "hypre-jacobi": "hypre, Jacobi",
    "hypre-mixed": "hypre, mixed",
    "icc": "ICC",
    "ml": "ML",
}
SYSTEMS = {  # what a table calls a system
    "7": "7-point",
    "27": "27-point",
    "aniso": "anisotropic",
    "jump": "jumping coefficient",
    "elasticity": "elasticity",
    "neumann": "Neumann",
    "sliver": "flat tetrahedra",
    "p2": "quadratic tetrahedra",
    "graded": "graded bricks",
    "mesh2d": "triangles",
    "kuhn": "tetrahedra",
    "delaunay": "tetrahedra (slivers)",
    "delaunay-plain": "tetrahedra (slivers, smooth)",
    "7-shuffled": "7-point, shuffled",
    "27-shuffled": "27-point, shuffled",
    "sliver-shuffled": "flat tetrahedra, shuffled",
    "kuhn-shuffled": "tetrahedra, shuffled",
    "delaunay-shuffled": "tetrahedra (slivers), shuffled",
}
# (system, size) of the table and the picture that stand in README.md; the meshes have a number of rows alone
SHOWN = [("7", "64"), ("7", "256"), ("7", "400"), ("27", "200"), ("27", "300"), ("aniso", "200"), ("jump", "200"), ("kuhn", ""), ("delaunay", ""), ("elasticity", "60")]


def read(path=CSV):
    """(rows as dictionaries, complaints about lines that are not rows)."""
    if not os.path.isfile(path):
        return [], [f"there is no {path}"]
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, restkey="more")
        if reader.fieldnames != COLUMNS:
            return [], [f"results.csv: the columns are {reader.fieldnames}, not {COLUMNS}"]
        rows, complaints = [], []
        for row in reader:
            if "more" in row or None in row.values():
                complaints.append(f"results.csv:{reader.line_num}: not {len(COLUMNS)} fields")
            else:
                rows.append(row | {"line": str(reader.line_num)})
    return rows, complaints


def number(text, kind=float, least=None):
    """The number, or nothing where the text is none, not finite, or too small."""
    try:
        value = kind(text)
    except ValueError:
        return None
    good = value < float("inf") and (value > 0 if least is None else value >= least)
    return value if good else None


def expected_rows(row):
    """Unknowns of an n x n x n grid, n x n for mesh2d, three a point for elasticity; times the ranks where the size is a GPU's share."""
    rows = int(row["size"]) ** (2 if row["system"] == "mesh2d" else 3) * (3 if row["system"] == "elasticity" else 1)
    return rows * (int(row["ranks"]) if row["scaling"] == "weak" else 1)


def is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def wrong_fields(row, fresh):
    """Names of the fields that are wrong by themselves. A fresh row has no page yet."""
    bad = [name for name in ("rows", "ranks", "run") if number(row[name], int) is None]
    bad += [name for name in ("size", "iterations") if row[name] and number(row[name], int) is None]
    bad += [name for name in TIMES if (row[name] or name == "total_ms") and number(row[name]) is None]
    bad += ["date"] if not (is_date(row["date"]) or (row["peer"] and not row["date"])) else []
    bad += ["gpus"] if number(row["gpus"], int, 0) is None or (row["gpus"] == "0") != (row["card"] == "CPU") else []
    bad += ["commit"] if not re.fullmatch(r"([0-9a-f]{7,40})?", row["commit"]) else []
    bad += ["type"] if row["type"] not in (PEERS if row["peer"] else OWN) else []
    bad += ["system"] if row["system"] not in SYSTEMS else []
    bad += ["scaling"] if row["scaling"] not in ("", "strong", "weak") else []
    bad += ["source"] if not (fresh or os.path.isfile(os.path.join(RESULTS, row["source"]))) else []
    return bad


def check_row(row, fresh):
    where = f"results.csv:{row['line']}"
    bad = wrong_fields(row, fresh)
    if bad:
        return [f"{where}: {name} '{row[name]}'" for name in bad]
    complaints = []
    if row["size"] and int(row["rows"]) != expected_rows(row):
        complaints.append(f"{where}: {row['rows']} rows, not {expected_rows(row)}")
    if bool(row["setup_ms"]) != bool(row["solve_ms"]):
        complaints.append(f"{where}: a setup without a solve or a solve without a setup")
    elif row["setup_ms"]:
        total, parts = float(row["total_ms"]), float(row["setup_ms"]) + float(row["solve_ms"])
        if abs(total - parts) > 0.15 + 0.006 * total:  # the source may have rounded each by itself
            complaints.append(f"{where}: total_ms {total:g}, but setup_ms + solve_ms {parts:g}")
    return complaints


def validate(rows, fresh=False):
    complaints = [complaint for row in rows for complaint in check_row(row, fresh)]
    lines, last = {}, ""
    for row in rows:
        key = tuple(row[name] for name in KEY)
        if key in lines:
            complaints.append(f"results.csv:{row['line']}: the same measurement as line {lines[key]}; number them by run")
        lines.setdefault(key, row["line"])
        if row["date"] and row["date"] < last:
            complaints.append(f"results.csv:{row['line']}: {row['date']} after {last}: rows stand in order of time")
        last = max(last, row["date"])
    return complaints


def total(row):
    return float(row["total_ms"])


def of_system(rows, system, size):
    """What was measured of a system by one rank on one GPU."""
    return [r for r in rows if (r["system"], r["size"], r["gpus"], r["ranks"]) == (system, size, "1", "1")]


def newest(rows, system, size, type, options=""):
    """AMGKit's last measurement with these options; without any, its defaults."""
    found = [r for r in of_system(rows, system, size) if (r["peer"], r["type"], r["options"]) == ("", type, options)]
    return found[-1] if found else None


def best_own(rows, system, size):
    found = [newest(rows, system, size, type) for type in OWN[:3]]
    return min((r for r in found if r), key=total, default=None)


def best_peer(rows, system, size, package=""):
    """The fastest measurement of any peer, or of one package."""
    found = [r for r in of_system(rows, system, size) if r["peer"].startswith(package) and r["peer"]]
    return min(found, key=total, default=None)


def series(rows, type, system, size, scaling, options="", counts=("1", "2", "4")):
    """The last run on all these numbers of GPUs at one commit."""
    groups = {}
    for r in rows:
        if (r["type"], r["system"], r["size"], r["scaling"], r["options"]) == (type, system, size, scaling, options) and r["gpus"] == r["ranks"]:
            groups.setdefault((r["source"], r["commit"]), {})[r["gpus"]] = r
    whole = [group for group in groups.values() if all(count in group for count in counts)]
    return [whole[-1][count] for count in counts] if whole else []


def system_name(system, size, rows_of_one=""):
    """7-point 256³, slivers 1 M."""
    if size:
        return f"{SYSTEMS[system]} {size}{'²' if system == 'mesh2d' else '³'}" + (" nodes" if system == "elasticity" else "")
    return f"{SYSTEMS[system]} {int(rows_of_one) / 1e6:g} M"
