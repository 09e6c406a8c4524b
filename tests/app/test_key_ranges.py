#!/usr/bin/env python3
"""For every key with a range, `hextop check` accepts the limits and values just inside, and refuses values just outside
with a message that names the key and the range.

    test_key_ranges.py HEXTOP SRCDIR [KEY ...]"""

import math
import os
import re
import subprocess
import sys
import tempfile

hextop, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
n_check = n_failed = 0
sys.path.insert(0, os.path.join(source, "tests", "lib"))
from key_configs import config_of, prepare, write # noqa: E402


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(*arguments):
    done = subprocess.run([hextop, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                          check=False, env={**os.environ, "HEXTOP_GMSH": "/no/such/gmsh"})
    return done.returncode, done.stdout + done.stderr


def keys():
    """[(key, type, range, argument of its example)]"""
    found = []
    for key in re.findall(r"^\| `([^`]*)` \| (?!group|list)", run("list", "--keys")[1], re.M):
        about = run("help", key)[1]
        limits = re.search(r"^  range +([\[(]\S+, \S+[\])])$", about, re.M)
        if limits:
            kind = re.search(r"^  type +(.*)$", about, re.M)[1]
            found.append((key, kind, limits[1], re.search(r"^  argument +(.*)$", about, re.M)[1].strip("'")))
    return found


def values(is_whole, limits):
    """[(value, accepted)] at each finite limit and on both sides of it."""
    low, high = (float(word) for word in limits[1:-1].split(","))
    for limit, is_closed, out in ((low, limits[0] == "[", -1), (high, limits[-1] == "]", 1)):
        if math.isinf(limit):
            continue
        step = 1.0 if is_whole else 1e-6 * max(abs(limit), 1e-3 if limit else 1.0)
        yield limit, is_closed
        yield limit + out * step, False
        if is_whole or limit or limits[0] == "[":
            yield limit - out * step, True


# An out-of-range value of a key that comes after most others in the schema. Ranges are checked in that order, so `check`
# reports this value once it has accepted the value that is tested, and before it makes a mesh of 99,999 elements.
LATER = "output.every=-7"


def is_long(kind, key, value, limits):
    """True for a value just inside a large limit: making such a mesh would take long and would test no more than
    the limit itself."""
    return whole(kind, key) and limits[-1] == "]" and value == float(limits[1:-1].split(",")[1]) - 1 and value > 1000.0


def argument_of(kind, example, value):
    word = str(int(value)) if value == int(value) else repr(value)
    path, old = example.split("=", 1)
    if old.startswith(("[", "(")):  # the first number of a list
        first, rest = re.fullmatch(r"(?s)(.*?[-+\d.e]+)(.*)", old).groups()
        return path + "=" + re.sub(r"[-+\d.e]+", word, first) + (re.sub(r"\d+", "1", rest) if path == "mesh.refine" else rest)
    return path + "=" + word


# Settings that a value needs to be accepted, or that keep the mesh small.
JACOBI = "solver.preconditioner=jacobi"  # needs hardly any set-up for large meshes
WITH = {"mesh.size": ["mesh.nx=4"], "mesh.nx": ["mesh.size=1", "mesh.ny=1", "mesh.nz=1", JACOBI],
        "mesh.ny": ["mesh.nx=1", "mesh.nz=1", JACOBI], "mesh.nz": ["mesh.nx=1", "mesh.ny=1", JACOBI],
        "mesh.refine": [JACOBI],
        "optimization.rho_min": ["optimization.volume_fraction=1"],
        "optimization.change_tolerance": ["optimization.move=1"],
        "optimization.projection.beta": ["optimization.projection.beta_max=512"],
        "optimization.continuation.penalty_start": ["optimization.penalty=20"]}
# Values that are in range but refused for another reason, which is stated here.
BESIDES = {"mesh.degree": "degrees cannot be lowered",
           "loads[].case": r"step \d+ of bracket.inp has no load|load case 1 has no load",
           "materials[].conductivity": "must be above that of void",
           "optimization.objective.case": r"there is no load case \d+",
           "optimization.constraints[].case": r"there is no load case \d+|case 2 occurs twice",
           "solver.multigrid.smoothing.many_below": "the limits must ascend",
           "solver.multigrid.smoothing.few_below": "the limits must ascend",
           "solver.multigrid.deflation.stiff": "must descend",
           "solver.multigrid.coarsening.thin[].cells_from": "must be at least 2 and at most cells_to",
           "solver.multigrid.coarsening.thin[].cells_to": "must be at least 2 and at most cells_to",
           "solver.threads": r"with the \d+ cores here at most"}
# Values that are out of range, but are treated as if the key were not given, because earlier versions wrote
# them.
UNSET = {"loads[].case": 0}
n_long = []


def whole(kind, key):
    return kind == "integer" or key in ("mesh.refine", "optimization.constraints[].case")


def try_key(key, kind, limits, example):
    write("part.cfg", config_of(key))
    for value, is_inside in values(whole(kind, key), limits):
        argument = argument_of(kind, example, value)
        if is_long(kind, key, value, limits):
            status, said = run("check", "part.cfg", *WITH.get(key, []), argument, LATER)
            check(status == 2 and "output.every: -7 is out of range" in said, f"{argument} {LATER}: {said[-300:]}")
            status, said = run("check", "part.cfg", argument_of(kind, example, value + 2), LATER)
            check(status == 2 and "output.every" not in said, f"checked before {LATER}: {argument}: {said[-300:]}")
            n_long.append(key)
            continue
        status, said = run("check", "part.cfg", *WITH.get(key, []), argument)
        name = key.rsplit(".", 1)[-1]
        printed = re.search(rf"\b{name}\b.* (\S+) is out of range; allowed is {re.escape(limits)}", said)
        is_refused = status == 2 and printed and float(printed[1]) == value # here rounding does not reach the limit
        if UNSET.get(key) == value:
            check(status == 0, f"{argument}, which earlier versions wrote: {status} {said[-300:]}")
        elif is_inside:
            is_taken = status == 0 or (key in BESIDES and re.search(BESIDES[key], said))
            check(is_taken and f"allowed is {limits}" not in said, f"{argument}: {said[-300:]}")
        else:
            check(is_refused, f"{argument} is outside of {limits}: {status} {said[-300:]}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    prepare(source, run, check)
    rows = keys()
    check(len(rows) > 50, f"{len(rows)} keys with a range")
    for row in rows:
        if len(sys.argv) < 4 or row[0] in sys.argv[3:]:
            try_key(*row)
    check(n_long or len(sys.argv) >= 4, "a key with a large limit")
    print("just inside a large limit:", ", ".join(n_long))
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed, {len(rows)} keys")
sys.exit(1 if n_failed or not n_check else 0)
