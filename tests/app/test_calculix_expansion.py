#!/usr/bin/env python3
"""Thermal expansion as a user meets it: the job that `hextop mesh` writes against CalculiX, the stress of a clamped bar by
`analyse`, the update and the warning of a run, and a resumed run.

    test_calculix_expansion.py HEXTOP SRCDIR

Exit status 77: ccx is missing."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import calculix as ccx
from calculix import SAME, calculix, check, difference, largest, read, run, write

PART = """
mesh = { generator = "cantilever"; nx = 10; ny = 5; nz = 5; distort = 0.2; shuffle = 3; };
material = { E = 2400.0; nu = 0.35; expansion = 90e-6; };
materials = ( { set = "insert"; E = 70000.0; expansion = 23e-6; } );
sets = ( { name = "insert"; box = { min = [3.0, -1.0, 1.0]; max = [7.0, 4.0, 4.0]; }; },
         { name = "soft"; box = { min = [6.0, -1.0, -1.0]; max = [11.0, 9.0, 2.5]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { temperature_change = 60.0; }, { set = "right"; traction = [0.5, 0.0, -1.0]; case = 2; },
          { set = "right"; traction = [0.1, 0.0, -0.1]; case = 3; }, { temperature_change = -20.0; case = 3; } );
optimization = { volume_fraction = 1.0; filter = { kind = "none"; }; };
"""

# held at both ends, free across: the stress is -E expansion dT
BAR = """
mesh = { generator = "cantilever"; nx = 8; ny = 3; nz = 3; };
material = { E = 210000.0; nu = 0.3; expansion = 12e-6; };
supports = ( { set = "left"; fix = "x"; }, { set = "right"; fix = "x"; }, { set = "bottom"; fix = "z"; },
             { set = "front"; fix = "y"; } );
loads = ( { temperature_change = 50.0; } );
optimization = { volume_fraction = 1.0; filter = { kind = "none"; }; };
solver = { tolerance = 1e-10; };
"""

DESIGN = """
mesh = { generator = "cantilever"; nx = 12; ny = 4; nz = 6; };
material = { E = 70000.0; nu = 0.33; expansion = 23e-6; };
sets = ( { name = "hot"; box = { min = [4.0, -1.0, -1.0]; max = [8.0, 9.0, 9.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -500.0]; }, { set = "hot"; temperature_change = 60.0; },
          { temperature_change = -30.0; case = 2; } );
optimization = { volume_fraction = 0.5; filter = { kind = "density"; radius = 1.5; }; };
solver = { operator = "otf"; deterministic = true; tolerance = 1e-9; };
"""


def compare_jobs(hextop):
    """The job's materials expand and its steps have temperatures; also with passive elements of both materials."""
    write("part.cfg", PART)
    for name, more in (("part", []), ("soft", ['passive=({set="soft";density=0.4;})'])):
        run(hextop, "-q", "mesh", "part.cfg", name + ".inp", *more)
        run(hextop, "-q", "analyse", "part.cfg", "solver.device=cpu", "output.format=ascii", *more, "--vtk", "solid.vtk")
        ours, theirs = ccx.read_vtk("solid.vtk")[3], calculix(name, 3)
        for case in range(3):
            off = difference(ours[f"displacement_{case + 1}" if case else "displacement"], theirs[case])
            check(off <= SAME, f"{name}, case {case + 1}: differs by {off:.2g} of {largest(theirs[case]):.6g}")
    steps = re.findall(r"\*TEMPERATURE\nNALL, ([^\n]*)", read("part.inp"))
    check([float(t) for t in steps] == [60.0, 0.0, -20.0], f"the job's temperatures: {steps}")
    heated = 'loads=({set="insert";temperature_change=5.0;})'
    done = subprocess.run([hextop, "mesh", "part.cfg", "set.inp", heated], capture_output=True, text=True)
    check(done.returncode == 2 and "a temperature_change with a set cannot be written to a .inp file" in done.stderr and
          not os.path.exists("set.inp"), f"the temperature of a set: {done.returncode}, {done.stderr}")


def clamped_bar(hextop):
    write("bar.cfg", BAR)
    run(hextop, "-q", "analyse", "bar.cfg", "solver.device=cpu", "--points", "points.csv", "output.format=ascii", "--vtk", "bar.vtk")
    stress = -210000.0 * 12e-6 * 50.0
    with open("points.csv", newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    off = max(max(abs(float(r["sxx"]) - stress), abs(float(r["von_mises"]) + stress),
                  *(abs(float(r[k])) for k in ("syy", "szz", "sxy", "syz", "sxz"))) for r in rows)
    check(len(rows) == 72 * 8 and off < 1e-6 * -stress, f"stress of the bar: {off:.2g} off")
    nodes = ccx.read_vtk("bar.vtk")[3]["stress"]
    off = max(abs(row[0] - stress) + sum(map(abs, row[1:])) for row in nodes)
    check(off < 1e-6 * -stress, f"stress at its nodes: {off:.2g} off")


def densities(folder, number):
    return read(os.path.join(folder, f"density_{number:04d}.vtk"))


def design(hextop):
    """`auto` takes mma and says why; the compliance is warned of, a displacement is not; resumed runs have the same bits."""
    write("design.cfg", DESIGN)
    keys = ["solver.device=cpu", "output.format=ascii", "output.fields=(\"density\")"]
    said = run(hextop, "run", "design.cfg", *keys, "optimization.iterations=6", "output.directory=whole")
    check("with thermal expansion less material can be better" in said, f"the reason for mma: {said}")
    check("misleading measure of stiffness" in said, f"no warning of the compliance: {said}")
    told = json.loads(read("whole/summary.json"))
    check("expansion-compliance" in json.dumps(told["warnings"]), "the warning is in summary.json")
    run(hextop, "-q", "run", "design.cfg", *keys, "optimization.iterations=3", "output.checkpoint=0.000001",
        "output.directory=part")
    run(hextop, "-q", "run", "design.cfg", *keys, "optimization.iterations=6", "output.directory=part", "--resume")
    check(densities("whole", 6) == densities("part", 6), "a resumed run has other bits")
    goal = 'optimization.objective={kind="displacement";set="right";direction=[0.0,0.0,-1.0];}'
    said = run(hextop, "check", "design.cfg", goal)
    check("misleading" not in said and "temperature change 60" in said, f"check: {said}")


def main():
    hextop = os.path.realpath(sys.argv[1])
    ccx.need_ccx()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        compare_jobs(hextop)
        clamped_bar(hextop)
        design(hextop)
        os.chdir("/")
    return ccx.finish()


sys.exit(main())
