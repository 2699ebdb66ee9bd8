#!/usr/bin/env python3
"""Keeps the arrow: base <- sparse <- dist <- graph <- amg, ilu, krylov <- plugins. A file includes only from its own layer or from the left.
So do the rooms of sparse: rows, dense <- formats <- ilu0, spgemm.

layers.py checks src/ and plugins/; layers.py --self-test checks the check.
"""

import os
import re
import sys

from source import CODE, bare, files, report

RANK = {"base": 0, "sparse": 1, "dist": 2, "graph": 3, "amg": 4, "ilu": 4, "krylov": 4, "plugins": 5}
ROOM = {"rows": 0, "dense": 0, "formats": 1, "ilu0": 2, "spgemm": 2}
NO_MAT = ("base", "sparse")
INCLUDE = re.compile(r'^\s*#\s*include\s+(<[^>]+>|"[^"]+")')
KNOWS_MAT = re.compile(r"<petsc(mat|pc|ksp|dm\w*|snes|ts|tao)\.h(pp)?>")
AIJ = re.compile(r"\bMAT(SEQ|MPI)?AIJ\w*|\bMat(Seq|MPI)AIJ\w*|\w*AIJCUSPARSE\w*|\bCUSPARSE\b")


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def room_of(path):
    """The room of a file in sparse, None elsewhere."""
    parts = path.split("/")
    return parts[2] if parts[:2] == ["src", "sparse"] and len(parts) > 3 else None


def check_room(room, target):
    """The complaint about an include of target, as in "sparse/rows/rows.hpp", by a file in this room of sparse."""
    parts = target.split("/")
    if parts[0] != "sparse" or len(parts) < 3:
        return None
    if parts[1] not in ROOM:
        return f"sparse has no room {parts[1]}"
    if room in ROOM and parts[1] != room and ROOM[parts[1]] >= ROOM[room]:
        return f"sparse/{room} may not include from sparse/{parts[1]}"
    return None


def check_include(layer, room, what):
    if what.startswith("<"):
        if layer in NO_MAT and KNOWS_MAT.match(what):
            return f"{layer} knows no Mat, and this header does"
        if what.startswith("<petsc/private/") and layer != "plugins":
            return "only plugins include petsc/private"
        return None
    target = what.strip('"').split("/")[0]
    if what == '"amgkit.h"':
        return None if layer == "plugins" else "only plugins include amgkit.h"
    if target not in RANK:
        return f"{what} does not begin with a layer"
    if RANK[target] > RANK[layer] or (RANK[target] == RANK[layer] and target != layer):
        return f"{layer} may not include from {target}"
    return check_room(room, what.strip('"'))


def check(path, text):
    """The complaints about one file."""
    layer = layer_of(path)
    name = os.path.basename(path)
    if layer not in RANK:
        return [f"{path}: {layer} is no layer"]
    if room_of(path) not in (None, *ROOM):
        return [f"{path}: {room_of(path)} is no room of sparse"]
    complaints = []
    with_strings = bare(text, strings=False).split("\n")
    for number, line in enumerate(bare(text).split("\n"), 1):
        found = []
        if match := INCLUDE.match(with_strings[number - 1]):
            found.append(check_include(layer, room_of(path), match[1]))
        else:
            if layer in NO_MAT and re.search(r"\bMat\b", line):
                found.append(f"{layer} knows no Mat")
            if not (layer == "dist" and name.startswith(("mat_view.", "user_rows.", "window_rows."))) and (match := AIJ.search(line)):
                found.append(f"{match[0]}: only mat_view, user_rows and window_rows of src/dist know the formats of a Mat")
            if "<<<" in line and "_cuda" not in name:
                found.append("a kernel launch outside a file named *_cuda*")
        complaints += [f"{path}:{number}: {complaint}" for complaint in found if complaint]
    return complaints


BAD = [
    ("src/base/a.hpp", '#include "sparse/spmv.hpp"'),
    ("src/sparse/a.hpp", '#  include "dist/halo.hpp"'),
    ("src/sparse/rows/a.hpp", '#include "sparse/formats/spmv.hpp"'),
    ("src/sparse/ilu0/a.hpp", '#include "sparse/spgemm/spgemm.hpp"'),
    ("src/amg/a.hpp", '#include "sparse/cellar/spmv.hpp"'),
    ("src/sparse/cellar/a.hpp", ""),
    ("src/dist/a.cpp", '#include "graph/matching.hpp"'),
    ("src/graph/a.cpp", '#include "amg/level.hpp"'),
    ("src/amg/a.cpp", '#include "ilu/schur.hpp"'),
    ("src/ilu/a.cpp", '#include "amg/level.hpp"'),
    ("src/amg/a.cpp", '#include "plugins/pc_amg.hpp"'),
    ("src/amg/a.cpp", '#include "level.hpp"'),
    ("src/amg/a.cpp", '#include "../base/array.hpp"'),
    ("src/amg/a.cpp", '#include "amgkit.h"'),
    ("src/new/a.cpp", ""),
    ("src/base/a.hpp", "#include <petscmat.h>"),
    ("src/sparse/a.hpp", "#include <petscksp.h>"),
    ("src/sparse/a.hpp", "void f(Mat A);"),
    ("src/amg/a.cpp", "#include <petsc/private/matimpl.h>"),
    ("src/amg/a.cpp", "PetscCall(MatSetType(A, MATSEQAIJ));"),
    ("plugins/a.cpp", "PetscCall(MatSetType(A, MATAIJCUSPARSE));"),
    ("src/dist/halo.cpp", "PetscCall(MatMPIAIJGetSeqAIJ(A, &d, &o, &g));"),
    ("src/base/a.hpp", "kernel<<<1, 32>>>(x);"),
    ("src/base/a.hpp", "int x; // '\nkernel<<<1, 32>>>(x);"),
    ("src/sparse/a.hpp", "int x = 1'000; Mat A; // 'M'"),
]
GOOD = [
    ("src/amg/a.cpp", '#include "amg/level.hpp"\n#include "base/array.hpp"\n#include <petscmat.h>\nMat A;'),
    ("src/base/a.hpp", "// a Mat, MATAIJ: #include <petscmat.h>\n/* kernel<<<1, 32>>>\n Mat */ const char *s = \"Mat <<<\";"),
    ("src/base/a_cuda.hpp", "kernel<<<1, 32>>>(x);"),
    ("src/sparse/spgemm/a.hpp", '#include "sparse/formats/spmv.hpp"\n#include "sparse/spgemm/b.hpp"\n#include "sparse/cusparse_cuda.hpp"'),
    ("src/dist/mat_view.cpp", "PetscCall(MatMPIAIJGetSeqAIJ(A, &d, &o, &g));"),
    ("src/sparse/spgemm_cuda.cu", "cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE);\n#include <cusparse.h>"),
    ("plugins/a.cpp", '#include "amgkit.h"\n#include "amg/level.hpp"\n#include "ilu/schur.hpp"\n#include <petsc/private/pcimpl.h>'),
]


def self_test():
    complaints = [f"nothing was found wrong with {path}: {text}" for path, text in BAD if not check(path, text)]
    return complaints + [complaint for path, text in GOOD for complaint in check(path, text)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(report(self_test()))
    sys.exit(report([complaint for path, text in files(["src", "plugins"], CODE) for complaint in check(path, text)]))
