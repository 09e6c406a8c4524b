#!/usr/bin/env python3
"""A critical, single, master or ordered section is a block in braces: without them it is one statement, and a second one
that is added later runs in all threads at once, which only machines with many cores show.

    test_openmp.py SRCDIR"""

import pathlib
import re
import sys

SECTION = re.compile(r"^[ \t]*#pragma omp (?:critical|single|master|ordered)\b[^\n]*\n(?:[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)?\n)*"
                     r"[ \t]*([^\n]*)", re.M)


def faults(text):
    return [text[:m.start()].count("\n") + 1 for m in SECTION.finditer(text) if not m[1].startswith("{")]


def main(root):
    assert faults("#pragma omp critical\n    a += b;\n") == [1]
    assert faults("\n#pragma omp ordered\n    if (a) {\n") == [2]
    assert not faults("#pragma omp critical(name)\n    {\n#pragma omp atomic\n    a++;\n")
    n_file = n_fault = 0
    for top in ("core", "app", "gpu", "lib", "tests"):
        for path in sorted(pathlib.Path(root, top).rglob("*")):
            if path.suffix not in (".c", ".h", ".cu", ".cuh", ".inc"):
                continue
            n_file += 1
            for line in faults(path.read_text(encoding="utf-8")):
                n_fault += 1
                print(f"{path.relative_to(root)}:{line}: this section needs braces")
    print(f"{n_file} files, {n_fault} faults")
    return 1 if n_fault or n_file < 1000 else 0


sys.exit(main(sys.argv[1]))
