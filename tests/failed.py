#!/usr/bin/env python3
"""The last lines of what failing tests printed: failed.py TESTLOG.JSON..., logs that Meson writes. Nothing of those that
passed. run.sh says it last, where the end of a long log is all that is seen of it."""
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
