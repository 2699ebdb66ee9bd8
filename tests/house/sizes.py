#!/usr/bin/env python3
"""No source file over 500 lines, no function over 60, nothing left to do, no path of somebody's machine.

sizes.py checks the source; sizes.py --self-test checks the check.
"""

import re
import sys

from source import CODE, bare, files, report

FILE_LINES = 500
FUNCTION_LINES = 60
FOLDERS = ["src", "plugins", "include", "tests", "share", "tutorials"]
TEXT = CODE + (".py", ".sh", ".cmake", ".txt", ".in", ".json", ".md", ".opts", ".clang-tidy", ".clang-format", "run")
UNDONE = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE = re.compile(r"((?<![\w$}.])|-[IL])/(work|root)/")


def functions(text):
    """(first line, lines) of each function: with this format its braces stand alone on lines of the same indentation."""
    lines = bare(text).split("\n")
    for start, line in enumerate(lines):
        if line.strip() != "{":
            continue
        signature = next((before for before in reversed(lines[:start]) if before.strip()), "")
        if re.match(r"\s*(inline )?namespace\b", signature):
            continue
        end = next((i for i in range(start, len(lines)) if re.match(line[: line.index("{")] + r"}", lines[i])), len(lines))
        yield start, end - start + 2


def check_code(path, text):
    count = text.count("\n")
    complaints = [f"{path}: {count} lines"] if count > FILE_LINES else []
    return complaints + [f"{path}:{line}: a function of {length} lines" for line, length in functions(text) if length > FUNCTION_LINES]


def check_text(path, text):
    return [
        f"{path}:{number}: {match[0]}"
        for number, line in enumerate(text.split("\n"), 1)
        for pattern in (UNDONE, MACHINE)
        if (match := pattern.search(line))
    ]


def self_test():
    body = "  int x;\n" * 58
    struct = "struct S {\n  void f()\n  {\n" + "    int x;\n" * 58 + "  }\n};\n"
    namespace = "namespace n\n{\n" + "int f() { return 1; }\n" * 100 + "} // namespace n\n"
    bad = ["x\n" * 501, f"void f()\n{{\n{body}}}\n", struct, f"template <class T>\nvoid f(int,\n  int)\n{{\n{body}  }}\n}}\n"]
    good = ["x\n" * 500, f"void f()\n{{\n{body[9:]}}}\n" * 3, namespace]
    complaints = [f"no complaint: {text[:80]}" for text in bad if not check_code("a.cpp", text)]
    complaints += [c for text in good for c in check_code("a.cpp", text)]
    bad = ["// TO" + "DO", "/* FIX" + "ME: */", "cd /wo" + "rk/x", "-I/ro" + "ot/include"]
    complaints += [f"no complaint: {text}" for text in bad if not check_text("a.cpp", text)]
    return complaints + [c for text in ("mktemp XXXXXX", "$x/work/y", "a/root/b") for c in check_text("a.cpp", text)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(report(self_test()))
    found = [c for path, text in files(FOLDERS, CODE) for c in check_code(path, text)]
    sys.exit(report(found + [c for path, text in files(["."], TEXT) for c in check_text(path, text)]))
