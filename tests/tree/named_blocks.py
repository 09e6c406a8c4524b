#!/usr/bin/env python3
"""Extracts the named blocks of a Markdown page as files of a scratch tree, so that each is compiled where the page puts it.

    named_blocks.py PAGE OUTDIR SRCDIR ROOM/NAME ...

```c NAME ... ``` becomes OUTDIR/tree/ROOM/NAME, beside links to the headers of SRCDIR/ROOM and of all other rooms; OUTDIR/NAME
includes it."""
import pathlib
import re
import shutil
import sys


def link_headers(source, tree):
    shutil.rmtree(tree, ignore_errors=True)
    for top in ("core", "filters", "app"):
        for header in (source / top).rglob("*.h"):
            link = tree / header.relative_to(source)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(header.resolve())


def main(page, folder, source, *paths):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    folder, source = pathlib.Path(folder), pathlib.Path(source)
    link_headers(source, folder / "tree")
    missing = [path for path in paths if pathlib.Path(path).name not in blocks]
    for path in paths:
        file = folder / "tree" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(blocks.get(file.name, ""), encoding="utf-8")
        (folder / file.name).write_text(f'#include "tree/{path}"\n', encoding="utf-8")
    return f"{page}: no block named {', '.join(missing)}" if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
