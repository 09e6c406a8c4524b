#!/usr/bin/env python3
"""Every test is registered exactly once: Meson never runs a file that is not registered, and runs one twice that is
registered twice. And no test computes a largest error in a way that ignores a NaN.

    test_registered.py BUILDDIR SRCDIR [NAME ...]      NAME: files that this build leaves out"""

import json
import pathlib
import re
import sys

# x = fmax(x, d) or x = d <= x ? x : d: use test_worst() of test.h instead.
FORGETS_NAN = re.compile(r"(\w+(?:\[[^\]]*\])?) = (?:fmaxl?\(\1,|[^;]+ <= \1(?: \* \w+)? \? \1 :)")
WORDS = (".c", ".sh", ".py")


def repeated(values):
    seen = set()
    return [v for v in values if v in seen or seen.add(v)]


def main(build, source, *left_out):
    with open(pathlib.Path(build) / "meson-info" / "intro-tests.json", encoding="utf-8") as file:
        tests = json.load(file)
    faults = [f"the name '{name}' is registered twice" for name in repeated(t["name"] for t in tests)]
    faults += [f"registered twice: {' '.join(cmd)}"
               for cmd in repeated(tuple(t["cmd"]) for t in tests)]
    run = {pathlib.Path(word).stem for t in tests for word in t["cmd"]}
    files = [p for p in (pathlib.Path(source) / "tests").rglob("*")
             if p.suffix in WORDS and p.name.startswith(("test_", "check"))]
    faults += [f"{p.name} is not registered" for p in files
               if p.stem not in run and p.name not in left_out]
    for p in (pathlib.Path(source) / "tests").rglob("*.[ch]"):
        faults += [f"{p.name}: '{m.group(0)}...' forgets a NaN, take test_worst() of test.h"
                   for m in FORGETS_NAN.finditer(p.read_text(encoding="utf-8"))]
    for fault in faults:
        print(f"failed: {fault}")
    print(f"{len(tests)} tests, {len(files)} files, {len(faults)} faults")
    return 1 if faults or not tests or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
