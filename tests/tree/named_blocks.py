#!/usr/bin/env python3
"""Extracts the named blocks of a Markdown page as files: ```c NAME.c ... ``` becomes OUTDIR/NAME.c.

    named_blocks.py PAGE OUTDIR NAME ..."""
import pathlib
import re
import sys


def main(page, folder, *names):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    missing = [name for name in names if name not in blocks]
    for name in names:
        (pathlib.Path(folder) / name).write_text(blocks.get(name, ""), encoding="utf-8")
    return f"{page}: no block named {', '.join(missing)}" if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
