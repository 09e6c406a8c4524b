#!/usr/bin/env python3
"""Advice of `mesh --density` and `analyse --solid-only` if the solid of a result lacks its loads or its supports: it
never names an option that is already applied, and it mentions elements that the file lacks.

    test_solid_advice.py HEXTOP SRCDIR"""

import os
import subprocess
import sys
import tempfile

hextop = os.path.realpath(sys.argv[1])
n_check = n_failed = 0

# After ten iterations, the whole load acts on elements that are separate from the largest piece.
CONFIG = """mesh = { generator = "cantilever"; nx = 16; ny = 6; nz = 4; };
material = { E = 1000.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; }, { set = "right"; fix = "y"; } );
loads = ( { set = "right"; total_force = [0.0, 1.0, -1.0]; } );
optimization = { volume_fraction = 0.4; iterations = 10; filter = { kind = "sensitivity"; radius = 1.5; }; };
solver = { device = "cpu"; threads = 1; };
"""


def check(condition, said):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print("failed:", said)


def run(*arguments):
    done = subprocess.run([hextop, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    return done.returncode, done.stderr


def refused(words, others, *arguments):
    status, said = run(*arguments)
    check(status == 2, f"{arguments}: {status}: {said}")
    for word in words:
        check(word in said, f"{arguments}: lacks {word}: {said}")
    for word in others:
        check(word not in said, f"{arguments}: has {word}: {said}")


def main():
    with open("part.cfg", "w", encoding="ascii") as file:
        file.write(CONFIG)
    for folder, threshold in (("whole", []), ("some", ["output.threshold=0.3"]), ("few", ["output.threshold=0.8"]),
                              ("none", ["output.threshold=0.9"])):
        status, said = run("run", "part.cfg", f"output.directory={folder}", *threshold)
        check(status == 0, f"run: {said}")
    for command in (["mesh", "part.cfg", "y.inp"], ["analyse", "part.cfg", "--solid-only"]):
        loads = "--preserve loads makes loaded elements solid"
        lower = "makes more elements solid"
        missing = " elements below output.threshold, which count as void: write the last design with a lower output.threshold"
        refused(["all of its force", "--threshold below 0.4", lower], [loads, missing], *command, "--density", "whole")
        refused(["all of its force", loads, lower], [missing], *command, "--density", "whole", "--preserve", "none")
        refused(["all of its force", lower, "the file lacks the ", missing], [loads], *command,
                "--density", "some")
        refused(["all of its force", loads, "the file lacks the ", missing], [lower], *command,
                "--density", "some", "--preserve", "none", "--threshold", "0.1")
        refused(["rigid motion", "the file lacks the ", missing], [loads, lower], *command,
                "--density", "few")
        refused(["no cells", "lower output.threshold"], ["not a mesh of solid cells"], *command, "--density", "none")
    status, said = run("mesh", "part.cfg", "y.inp", "--density", "whole", "--threshold", "0.2")
    check(status == 0, f"the advice helps: {said}")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed else 0


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    STATUS = main()
    os.chdir("/")
sys.exit(STATUS)
