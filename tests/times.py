#!/usr/bin/env python3
"""Prints user, system and wall seconds of tests, which run one after another, and their sums, most first.

    tests/times.py BUILD [NAME ...]
    tests/times.py BUILD --suite quick

CPU seconds count all processes of a test and change little with other load, so they can be compared where wall time cannot.
Without names, all tests run, or those of one suite. The exit status is 1 if a test failed. A test that is skipped (77) is
marked like one that failed, by its status."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time


def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime, children.ru_stime, time.monotonic()


def measure(test, build):
    """Runs one test of the folder BUILD as Meson does. Returns (user, system, wall, status): seconds; status 124 is a time limit."""
    before = used()
    try:
        status = subprocess.run(test["cmd"], env={**os.environ, **test["env"]}, cwd=test["workdir"] or build, timeout=4 * test["timeout"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False).returncode
    except subprocess.TimeoutExpired:
        status = 124
    return tuple(b - a for a, b in zip(before, used())) + (status,)


def main(build, *names):
    with open(pathlib.Path(build) / "meson-info" / "intro-tests.json", encoding="utf-8") as file:
        tests = json.load(file)
    if names[:1] == ("--suite",):
        tests = [t for t in tests if f"hextop:{names[1]}" in t["suite"]]
    elif names:
        tests = sorted((t for t in tests if t["name"] in names), key=lambda t: names.index(t["name"]))
        for name in set(names) - {t["name"] for t in tests}:
            sys.exit(f"error: no test '{name}' in {build}")
    rows = []
    for test in tests:
        rows.append(measure(test, build) + (test["name"],))
        user, system, wall, status, name = rows[-1]
        print(f"{user:8.1f}{system:8.1f}{wall:8.1f}  {name}{f': status {status}' if status else ''}", flush=True)
    print("\n    user  system    wall")
    for user, system, wall, status, name in sorted(rows, key=lambda row: -row[0] - row[1]):
        print(f"{user:8.1f}{system:8.1f}{wall:8.1f}  {name}{f': status {status}' if status else ''}")
    print("".join(f"{sum(row[i] for row in rows):8.1f}" for i in range(3)) + f"  {len(rows)} tests")
    return int(any(row[3] not in (0, 77) for row in rows))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
