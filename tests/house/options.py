#!/usr/bin/env python3
"""Every option of AMGKit's that a page, an options file or a tutorial names exists, and takes the value that is given to it.

What exists is what the sections "## Options" of share/amgkit/doc say, which are made from the source, and the options -ksp_amgfcg...,
-ksp_amgfgmres... and -amgkit_... that the source reads. options.py checks the repository; options.py --self-test checks the check.
"""

import re
import sys

from source import CODE, files, report

PAGES = ["share/amgkit/doc"]
# -pc_amgx is PETSc's. TYPE and ... stand for any type, a name that ends in _ for all options that begin so.
NAME = r"(?:pc_(?!amgx)(?:amg|ilu2level|TYPE_|\.\.\._)|ksp_amgf(?:cg|gmres)|amgkit_)\w*"
NAMED = re.compile(r"(?<![\w-])-(?:[a-z]\w*?_)??(" + NAME + r")(?: (?!-[a-z])([^\s`\"'(),;|<$][^\s`\"'(),;|]*))?")
STATED = re.compile(r"^- `-(pc_\w+)`: (.*?)[,;] default ", re.M)
READ = re.compile(r'"-((?:ksp_amgf(?:cg|gmres)|amgkit_)\w*)"')


def takes(kind, value):
    """Whether a value is one of those that the section on options states; None where the statement is not understood."""
    if kind == "true or false":
        return True  # what follows may be the next word of a sentence
    if kind.startswith("one of "):
        return value in kind.removeprefix("one of ").split(", ")
    if match := re.fullmatch(r"(integer|real) in \[(.*), (.*)\]", kind):
        try:
            number = int(value) if match[1] == "integer" else float(value)
        except ValueError:
            return False
        return float(match[2]) <= number <= float(match[3])
    return None


def known_options(pages, code):
    """name -> what it takes, or None; and complaints"""
    known = {name: kind for page in pages for name, kind in STATED.findall(page.partition("## Options\n")[2])}
    complaints = [f"option -{name}: not understood: {kind}" for name, kind in known.items() if takes(kind, "") is None]
    known.update({name: None for text in code for name in READ.findall(text)})
    return known, complaints


def candidates(name, known):
    """The options that a name can stand for."""
    any_type = re.fullmatch(r"pc_(?:TYPE|\.\.\.)_(\w*)", name)
    if any_type:
        name = r"pc_[a-z0-9]+_" + any_type[1]
    pattern = re.compile(name + (r"\w*" if name.endswith("_") else ""))
    return [option for option in known if pattern.fullmatch(option)]


def check(path, text, known):
    text = text.partition("## Options\n")[0] if path.endswith(".md") else text
    complaints = []
    for number, line in enumerate(text.split("\n"), 1):
        for match in NAMED.finditer(line):
            name, value = match[1], (match[2] or "").rstrip(".:")
            kinds = [known[option] for option in candidates(name, known)]
            if not kinds:
                complaints.append(f"{path}:{number}: there is no option -{name}")
            elif value and not name.endswith("_") and not any(kind is None or takes(kind, value) for kind in kinds):
                complaints.append(f"{path}:{number}: -{name} does not take {value}")
    return complaints


def self_test():
    page = """text
## Options

- `-pc_amgsa_mis_k`: integer in [1, 4], default 2. Roots.
- `-pc_amgsa_smoother`: one of jacobi, ilu0; default jacobi. S.
"""
    known, complaints = known_options([page], ['PetscOptionsInt("-ksp_amgfcg_lag", 1)', 'f("-amgkit_gpu")', 'PetscOptionsInt("-ksp_amgfgmres_lead", 1)'])
    bad = ["-pc_amgsa_mis", "-pc_amgsa_mis_k 5", "-pc_amgsa_mis_k -1", "-pc_amgsa_mis_k two", "# -pc_amgsa_mis_k 0.", "-pc_..._mis_k 9"]
    bad += ["`-pc_amgsa_smoother ilu`", "-my_pc_amgsa_mi_k 2", "-pc_TYPE_smoothers", "-pc_amgsa_mis_k -pc_amgsa_mi", "-pc_amgclassical_*"]
    bad += ["-pc_amgmatching_kappa 60", "-ksp_amgfcg_lags 1", "-ksp_amgfgmres_leads 1", "-amgkit_gpus"]
    good = ["-pc_amgsa_mis_k 2.", "`-pc_amgsa_mis_k` 9", "-pc_amgsa_smoother ilu0 -pc_amgsa_mis_k 1", "-pc_..._mis_k 3", "-pc_TYPE_smoother"]
    good += ["-pc_amgsa_*", "`-pc_amgsa_...`", "-my_pc_amgsa_mis_k 4", "-pc_amgx_selector PMIS", "-pc_type amgsa", "libpc_amgsa_x", page]
    good += ["-pc_amgsa_mis_k <n>", "-ksp_amgfcg_lag 3", "-ksp_amgfgmres_lead 3", "-amgkit_gpu try", "build/amgkit_bench"]
    complaints += [f"no complaint: {text}" for text in bad if not check("a.md", text, known)]
    complaints += [c for text in good for c in check("a.md", text, known)]
    if not known_options([page.replace("integer in", "a number in")], [])[1]:
        complaints.append("no complaint about a page that is not understood")
    return complaints


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(report(self_test()))
    options, found = known_options([text for _, text in files(PAGES, [".md"])], [text for _, text in files(["src", "plugins"], CODE)])
    if not {"pc_amgmatching_kappa", "pc_amgclassical_p_max", "pc_amgsa_mis_k", "pc_ilu2level_levels"} <= set(options):
        sys.exit(report([f"the sections on options were not understood: {sorted(options)}"]))
    texts = [*files(["."], [".md", ".opts"]), *files(["tutorials"], CODE + (".py", ".txt"))]
    sys.exit(report(found + [c for path, text in texts for c in check(path, text, options)]))
