#!/usr/bin/env python3
"""Prints the last lines of the output of failed tests: failed.py TESTLOG.JSON..., which are logs that Meson writes.
Tests that passed are omitted. run.sh calls it last, because often only the end of a long log is read."""
import json
import os
import sys

FINE = {"OK", "SKIP", "EXPECTEDFAIL", "IGNORED"}
N_LINE, N_CHAR = 25, 3000


def main():
    for path in sys.argv[1:]:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log]
        for test in tests:
            if test["result"] in FINE:
                continue
            said = test.get("stdout", "") + test.get("stderr", "")
            print(f"--- {path}: {test['name']}: {test['result']}, status {test.get('returncode')}, {test['duration']:.0f} s")
            print("\n".join(said.splitlines()[-N_LINE:])[-N_CHAR:])


main()
