#!/usr/bin/env python3
"""Prints the block of a page that stands below the comment <!-- tested: NAME -->, so that a test runs what the page says.

    commands_of.py PAGE NAME
    commands_of.py --all PAGE NAME...    the page has these blocks, and no others
"""

import re
import sys

BLOCK = re.compile(r"^<!-- tested: ([\w-]+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def main(arguments):
    page, names = (arguments[1], arguments[2:]) if arguments[0] == "--all" else (arguments[0], arguments[1:])
    with open(page, encoding="utf-8") as file:
        text = file.read()
    blocks = BLOCK.findall(text)
    if len(blocks) != text.count("<!-- tested"):
        return f"{page}: a comment <!-- tested: NAME --> has no block below it"
    found = dict(blocks)
    if arguments[0] == "--all":
        if sorted(name for name, _ in blocks) != sorted(names):
            return f"{page}: the tests run the blocks {sorted(names)}, the page has {sorted(name for name, _ in blocks)}"
    elif names[0] not in found:
        return f"{page}: no block {names[0]}"
    else:
        print(found[names[0]], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
