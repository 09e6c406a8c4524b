#!/usr/bin/env python3
"""Messages that print a count with a noun take its form from hx_noun (core/base/names.h): "1 node", "2 nodes". Counts
formats such as "%d nodes" per room, which may only become fewer. Not counted: limits, which are above 1, such as "at
most %d nodes".

    test_counts.py SRCDIR"""

import os
import re
import sys

NOUNS = """arguments bits blocks bodies bytes cases cells checks components corrections designs edges elements entries faces
fields files fragments functions groups hexahedra images iterations knots layers lines matrices nodes offsets operators pairs
parts patches pieces planes points processes products ranks replacements runs sets shells solids solves spans steps subdomains
tetrahedra threads triangles unknowns updates values vertices""".split()
FORMAT = re.compile(r"(at most |more than |at least |only |than |1 to |exceed |limit of |of |the )?%(?:lld|d|zu|ld|llu) "
                    r"(?:[a-zA-Z-]+ )?(?:" + "|".join(NOUNS) + r")\b")
# Rooms with such formats, and their number. In selftest and partition they are constants above 1; "process %d runs" is no
# count.
MOST = {"app/selftest": 6, "app/session": 1, "app/compare": 1, "core/files": 30, "core/mesher": 1,
        "core/partition": 1}


def count(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r'"\s*\n\s*"', "", file.read())
    return [m for m in FORMAT.finditer(text) if not m[1]]


def main(root):
    found = {}
    for top in ("app", "core", "filters"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            room = os.path.relpath(folder, root).replace(os.sep, "/")
            for name in sorted(names):
                if name.endswith(".c"):
                    hits = count(os.path.join(folder, name))
                    found.setdefault(room, []).extend(f"{room}/{name}: {m[0]}" for m in hits)
    n_fault = 0
    for room, hits in sorted(found.items()):
        if len(hits) > MOST.get(room, 0):
            n_fault += 1
            print(f"{room}: {len(hits)} counts with a noun that is always plural, at most {MOST.get(room, 0)}; use hx_noun:")
            print("\n".join("    " + hit for hit in hits))
    print(f"{len(found)} rooms, {n_fault} faults")
    return 1 if n_fault or len(found) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
