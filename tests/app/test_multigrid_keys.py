#!/usr/bin/env python3
"""The group solver.multigrid in whole runs: all defaults written out give the same bits; `run -v` prints the values that
differ from the defaults as the solver has them, and the choices; rules for thin directions have an effect; a result
whose settings name a key is not that of a config without it.

    test_multigrid_keys.py HEXTOP SRCDIR"""

import json
import os
import re
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
n_check = n_failed = 0
CONFIG = """mesh = { generator = "cantilever"; nx = %s; ny = 12; nz = 12; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.3; iterations = 3; filter = { radius = 2.0; }; };
solver = { device = "cpu"; operator = "otf"; preconditioner = "multigrid"; deterministic = true; };
output = { every = 1; fields = ("density", "displacement"); };
"""
THIN = "solver.multigrid.coarsening.thin"


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(folder, *arguments, config="part.cfg", status=0):
    done = subprocess.run([hextop, "run", "-v", config, f"output.directory={folder}", *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=100, check=False)
    said = done.stdout + done.stderr
    check(done.returncode == status, f"{folder}: exit {done.returncode}: {said[-400:]}")
    return said


def keys():
    """[(key, default, example)] of all numbers."""
    listed = subprocess.run([hextop, "list", "--keys"], capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip(" `") for cell in line.split(" | ")] for line in listed.splitlines() if "`solver.multigrid." in line]
    rows = [(row[0].strip("| `"), row[3], row[6].strip("| `")) for row in rows if row[1] in ("integer", "number", "vector")]
    return [row for row in rows if not row[0].startswith(THIN)]


def numbers(text):
    return [float(word) for word in re.findall(r"[-+.\de]+", text)]


def densities(folder):
    """Fields of all designs, without the title, which contains the hash of the settings."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".vtk"):
            with open(os.path.join(folder, name), "rb") as f:
                f.readline()
                f.readline()
                found[name] = f.read()
    return found


def history(folder):
    with open(os.path.join(folder, "history.csv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split(",") for line in f]
    return [[cell for cell, name in zip(row, rows[0]) if not name.startswith("seconds")] for row in rows]


def identity(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as f:
        return json.load(f)["identity"]


def defaults(rows):
    plain = run("plain")
    check(not re.search(r"multigrid solver\.", plain), f"a default is printed as if it differed: {plain[-400:]}")
    check(re.search(r"multigrid mesh: cells of 4 elements, 4 across; degree 2, ratio 6", plain), f"no choices: {plain[-900:]}")
    said = run("written", *(f"{key}={usual}" for key, usual, _ in rows))
    check(not re.search(r"multigrid solver\.", said), "a default that is written out is printed as if it differed")
    check(len(densities("plain")) == 3 and densities("plain") == densities("written"), "densities differ")
    check(history("plain") == history("written"), "histories differ")
    one, other = identity("plain"), identity("written")
    check(one["density"] == other["density"] and one["settings"] != other["settings"], f"{one}, {other}")
    with open("plain/config.cfg", encoding="utf-8") as f:
        check("elements" not in f.read(), "config.cfg names keys that were not given")
    run("again", config="written/config.cfg")
    check(identity("again") == other, "the resolved config is another")


def examples(rows):
    said = run("examples", "optimization.iterations=1", *(f"{key}={example}" for key, _, example in rows))
    printed = dict(re.findall(r"multigrid (solver\.\S+) = (.*), default ", said))
    for key, usual, example in rows:
        check(numbers(printed.get(key, "")) == numbers(example),
              f"{key} = {example} (default {usual}): printed is {printed.get(key)}")
    check(len(printed) == len(rows), f"{len(printed)} of {len(rows)} values are printed")


def rules():
    with open("slender.cfg", "w", encoding="utf-8") as f:
        f.write(CONFIG % 48)
    deep = "solver.multigrid.direct.operations=0"
    kept = run("kept", "optimization.iterations=1", deep, config="slender.cfg")
    check("coarse grid 2" in kept and "x halved, y kept, z kept" in kept, f"three cells are not kept: {kept[-900:]}")
    said = run("halved", "optimization.iterations=1", deep, THIN + "=({cells_from=2;cells_to=2;})",
               config="slender.cfg")
    check("x halved, y halved, z halved" in said and "thin with 1 rule, default 2" in said, f"no rule: {said[-900:]}")
    said = run("long", "optimization.iterations=1", deep, THIN + "=({cells_from=3;cells_to=3;longest=5.0;})",
               config="slender.cfg")
    check("x halved, y halved, z halved" in said, f"`longest` has no effect: {said[-900:]}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    with open("part.cfg", "w", encoding="utf-8") as file:
        file.write(CONFIG % 16)
    table = keys()
    check(len(table) == 71, f"{len(table)} keys")
    defaults(table)
    examples(table)
    rules()
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed, {len(table)} keys")
sys.exit(1 if n_failed or not n_check else 0)
