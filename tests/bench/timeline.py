#!/usr/bin/env python3
"""Prints the contents of a run's timeline.json (output.timeline) without a browser.

    timeline.py FILE [--csv] [--designs FIRST-LAST]

For each process and name: count, total ms, ms not covered by spans inside (own), the fraction of own in the wall time
of the designs, and us of own per PCG iteration; for spans inside designs, and for files. Then for each process: total
exchange, and the part that is not hidden, which means that no other queue of its device computes at that time (own
time of such spans)."""
import argparse
import json
import os
import re
import sys
from collections import defaultdict

DEVICE, CONCURRENT, HOST = 1, 2, 3  # tid: the queue of the device, a concurrent one, the host


def old_names():
    """[(old, new)] names of the spans that have been renamed, from the table of the sources."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core", "base", "old_names.c")
    with open(path, encoding="utf-8") as file:
        return re.findall(r'\{HX_OLD_SPAN, "([^"]+)", "([^"]+)"\}', file.read())


OLD_NAMES = old_names()


def name_now(name):
    """The current name of a span; either its whole name has changed, or the name of the level between its first
    word and its number."""
    for old, now in OLD_NAMES:
        if name == old:
            return now
        name = name.replace(f" {old} ", f" {now} ")
    return name


class Span:
    def __init__(self, event):
        self.name, self.kind = name_now(event["name"]), event["cat"]
        self.begin, self.end = event["ts"], event["ts"] + event["dur"]
        self.pid, self.tid = event["pid"], event["tid"]
        self.own = []  # [(begin, end)] not covered by spans inside


def read(path):
    """{pid: {tid: [spans in order]}}"""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    spans = defaultdict(lambda: defaultdict(list))
    for event in events:
        if event["ph"] == "X":
            spans[event["pid"]][event["tid"]].append(Span(event))
    return spans


def find_own(spans):
    """Fills Span.own of the spans of a queue, which are nested or disjoint. Times are rounded to a ns."""
    stack = []  # [span, end of the covered part]

    def close(until):
        while stack and stack[-1][0].end <= until + 1e-6:
            span, at = stack.pop()
            if span.end > at:
                span.own.append((at, span.end))

    for span in spans:
        close(span.begin)
        if stack:
            outer = stack[-1]
            if span.begin > outer[1]:
                outer[0].own.append((outer[1], span.begin))
            outer[1] = max(outer[1], span.end)
        stack.append([span, span.begin])
    close(float("inf"))


def design_of(span):
    return int(span.name.split()[1]) if re.fullmatch(r"design \d+", span.name) else None


def within_designs(spans):
    """Drops spans between designs, except those of files. Keeps all spans if no design is complete."""
    kept, end = [], float("-inf")
    for span in spans:
        if design_of(span) is not None:
            end = span.end
        if span.begin < end or span.name == "output":
            kept.append(span)
    return kept or spans


def cut(queues, first, last):
    """The spans of designs first to last, and those of the host until the next design."""
    cut_queues = {}
    for tid, spans in queues.items():
        bounds = [s for s in spans if design_of(s) is not None] or [s for s in queues[HOST] if design_of(s) is not None]
        begin = min((s.begin for s in bounds if design_of(s) >= first), default=float("inf"))
        end = min((s.begin for s in bounds if design_of(s) > last), default=float("inf"))
        cut_queues[tid] = [s for s in spans if begin <= s.begin < end]
    return cut_queues


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def overlap(a, b):
    """Length of the intersection of two sorted lists of disjoint intervals."""
    total, k = 0.0, 0
    for begin, end in a:
        while k < len(b) and b[k][1] <= begin:
            k += 1
        for j in range(k, len(b)):
            if b[j][0] >= end:
                break
            total += min(end, b[j][1]) - max(begin, b[j][0])
    return total


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def exposed(queues):
    """us of exchange, and the part of it during which no other queue of the device computes."""
    total = hidden = 0.0
    for tid, spans in queues.items():
        exchange = union([i for s in spans if s.kind == "exchange" for i in s.own])
        compute = union([i for other, rest in queues.items() if other not in (tid, HOST)
                         for s in rest if s.kind == "compute" for i in s.own])
        total += length(exchange)
        hidden += overlap(exchange, compute)
    return total, total - hidden


def count_iterations(spans):
    """PCG iterations of the solves of designs, without those of a filter that also solves."""
    count, end = 0, 0.0
    for span in spans:
        if span.name == "PCG":
            end = span.end
        count += span.name == "iteration" and span.begin < end
    return count


def totals(queues):
    """Designs, iterations and us of the designs, according to the queue of the device."""
    spans = queues.get(DEVICE, [])
    designs = [s for s in spans if design_of(s) is not None]
    return len(designs), count_iterations(spans), sum(s.end - s.begin for s in designs)


def rows_of(queues):
    """[queue, name, kind, count, us, us of its own, share, us per iteration]"""
    _, n_iteration, wall = totals(queues)
    found = {}
    for tid in sorted(queues):
        for span in queues[tid]:
            name = "design" if design_of(span) is not None else span.name
            row = found.setdefault((tid, name), [QUEUE[tid], name, span.kind, 0, 0.0, 0.0])
            row[3] += 1
            row[4] += span.end - span.begin
            row[5] += length(span.own)
    for row in found.values():
        yield [*row, row[5] / wall if wall else 0.0, row[5] / n_iteration if n_iteration else 0.0]


QUEUE = {DEVICE: "device", CONCURRENT: "concurrent", HOST: "host"}
HEAD = ["rank", "queue", "name", "kind", "count", "ms", "own ms", "share", "us an it."]


def print_rows(pid, queues, as_csv):
    line = "{},{},{},{},{},{:.3f},{:.3f},{:.4f},{:.2f}" if as_csv else \
        "{:>4}  {:<10}  {:<24}  {:<8}  {:>8}  {:>11.3f}  {:>11.3f}  {:>7.1%}  {:>9.2f}"
    for queue, name, kind, n, us, own, share, each in rows_of(queues):
        print(line.format(pid, queue, name, kind, n, 1e-3 * us, 1e-3 * own, share, each))


def print_exchange(pid, queues, file):
    n_design, n_iteration, wall = totals(queues)
    exchange, bare = exposed(queues)
    print(f"process {pid}: {n_design} designs, {n_iteration} iterations, {1e-3 * wall:.3f} ms; exchange "
          f"{1e-3 * exchange:.3f} ms, not hidden {1e-3 * bare:.3f} ms ({bare / wall if wall else 0.0:.1%} of the designs)",
          file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--csv", action="store_true", help="commas in place of columns")
    parser.add_argument("--designs", metavar="FIRST-LAST", help="of these alone")
    options = parser.parse_args()
    processes = read(options.file)
    if not processes:
        sys.exit(f"{options.file}: no spans")
    for pid, queues in processes.items():
        for spans in queues.values():
            find_own(spans)
        for tid in (DEVICE, HOST):
            queues[tid] = within_designs(queues[tid])
        if options.designs:
            first, last = options.designs.split("-")
            processes[pid] = cut(queues, int(first), int(last))
    print(",".join(HEAD) if options.csv else
          "{:>4}  {:<10}  {:<24}  {:<8}  {:>8}  {:>11}  {:>11}  {:>7}  {:>9}".format(*HEAD))
    for pid in sorted(processes):
        print_rows(pid, processes[pid], options.csv)
    for pid in sorted(processes):
        print_exchange(pid, processes[pid], sys.stderr if options.csv else sys.stdout)


if __name__ == "__main__":
    main()
