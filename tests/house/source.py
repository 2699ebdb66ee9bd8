"""What the checks of the source share: where it is, and C++ without its comments and strings."""

import os
import re

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CODE = (".c", ".h", ".cpp", ".hpp", ".cu")
_not_code = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(folders, endings):
    """(path from the root, text) of every file under the folders whose name has one of the endings."""
    for folder in folders:
        for where, below, names in os.walk(os.path.join(root, folder)):
            below[:] = sorted(set(below) - {".git", ".bundle", "build", "results", "__pycache__"})
            for name in sorted(names):
                if name.endswith(tuple(endings)):
                    path = os.path.join(where, name)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, root), file.read()


def bare(text, strings=True):
    """The text with comments, and strings too, blanked: lines keep their numbers."""

    def blank(match):
        if not strings and match[0][0] in "\"'":
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return _not_code.sub(blank, text)


def report(complaints):
    """Prints the complaints; the exit status of a check."""
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0
