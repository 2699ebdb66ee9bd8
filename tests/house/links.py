#!/usr/bin/env python3
"""Relative links and pictures in Markdown pages lead to files that exist, and #anchors to headings of the page.

links.py checks the pages; links.py --self-test checks the check.
"""

import os
import re
import sys
import tempfile
import urllib.parse

from source import report, root

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)|\b(?:src|srcset|href)=\"([^\"\s]+)", re.M)
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.M | re.S)
SKIPPED = {".git", ".bundle", "build", "__pycache__"}


def pages(folder):
    for where, below, names in os.walk(folder):
        below[:] = sorted(set(below) - SKIPPED)
        yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(".md"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchors(text):
    """What GitHub calls the headings: small letters, no punctuation, hyphens for spaces; a number where a heading comes again."""
    found = {}
    for heading in re.findall(r"^#{1,6} +(.*?)\s*#*$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{k}" if k else name for name, count in found.items() for k in range(count + 1)}


def check(folder):
    complaints = []
    for page in pages(folder):
        for match in LINK.finditer(CODE.sub("", read(page))):
            link = match[1] or match[2] or match[3]
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"[a-z][a-z+.-]*:|//", link):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            where = os.path.relpath(page, folder)
            if not os.path.exists(target) or os.path.relpath(target, folder).startswith(".."):
                complaints.append(f"{where}: {link}: no such file")
            elif anchor and target.endswith(".md") and anchor not in anchors(read(target)):
                complaints.append(f"{where}: {link}: no such heading")
    return complaints


def self_test():
    bad = ["[a](no.md)", "![a](no.svg)", "[a](other.md#no)", "[a](#no)", '<img src="no.svg">', "[a]: no.md", "[a](../other.md)", "[a](no.md) `b`", "```\nx\n```\n[a](no.md)"]
    good = ["[a](other.md)", "[a](other.md#two-words)", "# One\n[a](#one)", "[a](https://example.org/no.md)", "`[a](no.md)`", "```\n[a](no.md)\n```", '<img src="other.md">', "[a](./other.md)"]
    complaints = []
    for text in bad + good:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("page.md", text), ("other.md", "## Two `words`\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            found = check(folder)
        complaints += [f"no complaint: {text}"] if text in bad and not found else found if text in good else []
    return complaints


if __name__ == "__main__":
    sys.exit(report(self_test() if sys.argv[1:] == ["--self-test"] else check(root)))
