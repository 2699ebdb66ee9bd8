#!/usr/bin/env python3
"""README.md's commands that begin with `bash share/amgkit/quickstart.sh` name the script's own subcommands and options.

commands.py checks README.md; commands.py --self-test checks the check.
"""

import os
import re
import shlex
import subprocess
import sys

from source import report, root

SCRIPT = "share/amgkit/quickstart.sh"


def known_words():
    """Subcommands and options of the script, from the left column of what --help prints."""
    usage = subprocess.run(["bash", SCRIPT, "--help"], cwd=root, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (-*[a-z][a-z-]*)(?: [A-Z]+)?  ", usage, re.M)


def commands(text):
    """The lines of the ```bash blocks that run the script, without prompt and comment."""
    for block in re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S):
        for line in block.replace("\\\n", " ").split("\n"):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:2] == ["bash", SCRIPT]:
                yield words[2:]


def check(text, known):
    found = list(commands(text))
    complaints = [] if found else [f"README.md: no ```bash block runs bash {SCRIPT}"]
    for words in found:
        shown = "README.md: bash " + " ".join([SCRIPT] + words)
        if not words or words[0].startswith("-") or words[0] not in known:
            complaints.append(f"{shown}: no such subcommand")
        complaints += [f"{shown}: no option {word}" for word in words if word.startswith("-") and word not in known]
    return complaints


def self_test():
    run = f"bash {SCRIPT}"
    known = ["demo", "--cuda"]
    bad = ["", f"{run} demo", f"```bash\n{run}\n```", f"```bash\n{run} dem\n```", f"```bash\n{run} demo --cud\n```", f"```bash\n{run} --cuda\n```"]
    good = [f"text\n```bash\n{run} demo --cuda  # about a minute\n```\n", f"```bash\nls\n$ {run} demo\n```\n"]
    complaints = [f"no complaint: {text}" for text in bad if not check(text, known)]
    return complaints + [c for text in good for c in check(text, known)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(report(self_test()))
    readme = os.path.join(root, "README.md")
    if not os.path.exists(readme):
        sys.exit(report(["there is no README.md"]))
    words_known = known_words()
    if not {"demo", "test"} <= set(words_known):
        sys.exit(report([f"{SCRIPT} --help was not understood: {words_known}"]))
    with open(readme, encoding="utf-8") as file:
        sys.exit(report(check(file.read(), words_known)))
