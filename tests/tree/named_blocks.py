#!/usr/bin/env python3
"""Extracts the named blocks of a Markdown page as files of a scratch tree, so that each is compiled where the page puts it.

    named_blocks.py PAGE OUTDIR SRCDIR ROOM/NAME ...

```c NAME ... ``` becomes OUTDIR/tree/ROOM/NAME, beside links to the headers of SRCDIR/ROOM and of all other rooms; OUTDIR/NAME
includes it. GROUP_KEY.inc is a row of app/config/config_schema.c: the scratch tree gets a copy of that file with the row in
its group, and one of config.h with the field."""
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


def add_key(source, tree, name, row):
    group, key = pathlib.Path(name).stem.split("_", 1)
    for file, pattern, line in (("config_schema.c", rf'^    GROUP\("{group}",.*\n', row), ("config.h", rf"(?=^    \}} {group};)", f"        char *{key};\n")):
        text = (source / "app/config" / file).read_text(encoding="utf-8")
        at = re.search(pattern, text, re.MULTILINE)
        if not at:
            sys.exit(f"{file}: no group {group}")
        (tree / "app/config" / file).unlink(missing_ok=True)
        (tree / "app/config" / file).write_text(text[:at.end()] + line + text[at.end():], encoding="utf-8")


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
        if file.suffix == ".inc":
            add_key(source, folder / "tree", file.name, blocks.get(file.name, ""))
            path = "app/config/config_schema.c"
            file = folder / "tree" / path
        (folder / file.name).write_text(f'#include "tree/{path}"\n', encoding="utf-8")
    return f"{page}: no block named {', '.join(missing)}" if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
