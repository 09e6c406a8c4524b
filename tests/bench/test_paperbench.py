#!/usr/bin/env python3
"""The tables of papers P2 to P5 that `paperbench` prints, on the smallest sizes and on the CPU.

    test_paperbench.py PAPERBENCH SRCDIR

Exit status 0 passed, 1 failed."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
# pylint: disable=wrong-import-position
from printed_tables import cells, number

PROGRAM = sys.argv[1]
CONFIG = os.path.join(sys.argv[2], "configs", "cantilever.cfg")
n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}", flush=True)


def small(value, bound, text):
    check(bool(value <= bound), f"{text}: {value:.3g} > {bound:.3g}")


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def papers(*words):
    done = run(CONFIG, "solver.device=cpu", *words)
    check(done.returncode == 0 and done.stderr == "", f"{words}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def fails(text, *words):
    done = run(*words)
    check(done.returncode == 2, f"{words}: exit status {done.returncode}")
    check(text in done.stderr and done.stderr.count("error:") == 1 and done.stdout == "",
          f"{words}: no '{text}' in: {done.stdout}{done.stderr}")


def test_all():
    """The tables of the papers on the smallest sizes: counts are those of the papers, and times are numbers."""
    said = papers("--most", "6000")
    check(not re.search("FAIL[^:]", said), f"all papers: {said}")
    check(said.count("Left out: meshes of more than 6,000 elements") == 5, f"what is left out: {said}")
    check(said.count("Left out: meshes with more pairs of points than 6,000 hexahedra") == 1, f"of P2's elements: {said}")
    counts = cells(said, "triplets, P3")
    check(counts[0][:5] == ["1,000", "36,000", "36,000", "15,561", "15,561"]
          and counts[0][5:9] == ["0.58", "0.58", "0.26", "0.26"] and counts[0][-1] == "equal",
          f"P3, Table 1: {counts[0]}")
    check(len(counts) == 9 and all(row[-1] == "-" for row in counts[1:]), f"P3, Table 1: {counts}")
    times = cells(said, "triplets ms")
    check(len(times) == 11 and all(number(t) > 0 for t in times[0][1:])
          and all(t == "-" for t in times[1][2:]), f"P3, Table 2: {times[:2]}")
    parts = cells(said, "P3 integration")
    check(len(parts) == 11 and all(t == "-" for t in parts[1][2:]), f"P3, integration: {parts[:2]}")
    share, alone, ms, down, rest, back = (number(t) for t in parts[0][2:8])
    check(parts[0][1] == "82.8 %" and number(parts[1][1]) == 80.9 and min(ms, rest) > 0 and down == back == 0
          and share == alone, f"P3, integration on a CPU, whose memory is the host's: {parts[0]}")
    small(abs(alone / (100 * ms / (ms + rest)) - 1), 0.01, f"P3, share of integration: {parts[0]}")
    check(all(number(t) > 0 for t in parts[0][8:]), f"P3, one core: {parts[0]}")
    stages = cells(said, "paper S1 s")
    check([row[7] for row in stages if row[8] != "-"] == ["4,096"] and len(stages) == 13,
          f"P2, Tables 3 and 5: {stages}")
    parts = cells(said, "P2's MB")
    check(len(parts) == 40 and [row[8] for row in parts] == ["elements", "nodes"] * 20, f"P2's elements: {parts}")
    for row in parts:
        paper, ours = ((row[3], row[10]) if row[8] == "elements" else (row[2], row[9]))
        small(abs(number(ours) / number(paper) - 1), 0.04, f"P2's elements, counts: {row}")
    share = cells(said, "generation ms")
    check(len(share) == 1 and int(share[0][2]) > 20 and int(share[0][5]) > 20
          and 0 < number(share[0][4]) < 100, f"P2, share: {share}")
    check("here" in said and "no comparison" in said, "a CPU has no atomic fill")


def test_sort():
    """P4's table for hexahedra and tetrahedra: times of sorting each time and of keeping the order; the values are
    right."""
    said = papers("--papers", "p4", "--most", "35000")
    check("P2" not in said and "P3" not in said, f"one paper: {said}")
    sort = cells(said, "sorted each time")
    check(len(sort) == 12 and sort[0][0] == "Oven_1" and sort[0][5:8] == ["HEX8", "6,859", "5,832"], f"P4: {sort}")
    check(sort[6][5:8] == ["TET4", "6,859", "34,992"], f"P4: {sort[6]}")
    for row in (sort[0], sort[6]):
        check(number(row[8]) > 0 and number(row[9]) > 0, f"P4: {row}")
    check(not re.search("FAIL[^:]", said) and "checked: products of 5 matrices" in said, f"P4: {said}")


def test_patches():
    """P5's tables: all its counts, and one of its patches with every method, which agree."""
    said = papers("--papers=p5", "--most=22000")
    check(not re.search("FAIL[^:]", said), f"P5: {said}")
    points = cells(said, "points over FEA's")
    check([row[5] for row in points[4:]] == ["7.8", "25.7", "59.3", "112.9"]
          and all(row[4] == row[5] for row in points[4:]), f"P5, Tables 1 and 2: {points}")
    counts = cells(said, "skyline / stored")
    check(len(counts) == 18 and all(row[9] == "equal" and abs(number(row[10]) - number(row[11])) <= 0.5
                                    for row in counts), f"P5, Tables 6 to 8: {counts}")
    times = cells(said, "coalesced / gather")
    check(len(times) == 19 and all(number(times[0][k]) > 0 for k in (4, 6, 12)) and times[0][10] != "-"
          and all(row[12] == "-" for row in times[1:]), f"P5, Tables 11 to 16: {times[:2]}")
    check(said.count("more pairs of points than 22,000 hexahedra") == 1, f"P5, what is left out: {said}")


def test_command_line():
    quiet = run(CONFIG, "solver.device=cpu", "--papers", "p4", "--most", "6000", "-q")
    check(quiet.returncode == 0 and quiet.stdout == quiet.stderr == "", f"-q: {quiet.stdout}{quiet.stderr}")
    for words in (["--help"], ["-h"], [CONFIG, "--help"]):
        done = run(*words)
        check(done.returncode == 0 and "--most ELEMENTS" in done.stdout and "-q, --quiet" in done.stdout,
              f"{words}: {done.stdout}{done.stderr}")
    check(run("--version").stdout.startswith("paperbench of hextop "), "--version")
    fails("usage: paperbench CONFIG")
    fails("did you mean '--papers'", CONFIG, "--paper", "p2")
    fails("did you mean 'p2'? valid: all, p2, p3, p4, p5", CONFIG, "--papers", "p22")
    fails("--papers needs a value", CONFIG, "--papers")
    fails("is not a number of elements", CONFIG, "--most", "many")
    fails("did you mean 'cpu'", CONFIG, "solver.device=cpuu")
    fails("did you mean 'solver'", CONFIG, "solve.device=cpu")
    fails("nowhere.cfg", "nowhere.cfg")


for test in (test_all, test_sort, test_patches, test_command_line):
    test()
print(f"{n_check} checks, {n_failed} failed")
sys.exit(1 if n_failed else 0)
