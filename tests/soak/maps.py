#!/usr/bin/env python3
"""Lists the mappings of a process that grew between rounds of soak.c, run with SOAK_MAPS=1 in its environment:
    maps.py OUT [FIRST [LAST]]     rounds, by default the one after the first quarter and the last
Prints one line per mapping whose resident pages changed, largest change first: kB before, after, and the change, its
name or size."""
import os
import re
import sys

HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ *(.*)")


def read(path):
    """{(name, begin): (resident kB, size in kB)}; a mapping without a name is named after the one below it."""
    found, key, below = {}, None, ""
    with open(path) as f:
        for line in f:
            head = HEAD.match(line)
            if head:
                begin, end = int(head[1], 16), int(head[2], 16)
                below = head[3] or below
                key = (head[3] or "anonymous, above " + below, begin)
                found[key] = [0, (end - begin) >> 10]
            elif line.startswith("Rss:"):
                found[key][0] += int(line.split()[1])
    return found


def main():
    out = sys.argv[1]
    rounds = sorted(int(n[5:]) for n in os.listdir(out) if n.startswith("maps."))
    first = int(sys.argv[2]) if len(sys.argv) > 2 else rounds[len(rounds) // 4]
    last = int(sys.argv[3]) if len(sys.argv) > 3 else rounds[-1]
    before, after = (read(os.path.join(out, "maps.%d" % k)) for k in (first, last))
    rows = [(after.get(k, (0, 0))[0] - before.get(k, (0, 0))[0], k) for k in set(before) | set(after)]
    rows = sorted((r for r in rows if r[0]), key=lambda r: -abs(r[0]))
    print("rounds %d to %d: %+d kB in %d mappings (%d before, %d after)" % (
        first, last, sum(r[0] for r in rows), len(rows), len(before), len(after)))
    for change, k in rows[:25]:
        old, new = before.get(k, (0, 0)), after.get(k, (0, 0))
        print("  %+8d kB: %8d of %8d -> %8d of %8d  %x %s" % (change, *old, *new, k[1], k[0]))


main()
