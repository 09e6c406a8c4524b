#!/usr/bin/env python3
"""Parts of several materials against CalculiX.

    test_calculix_materials.py HEXTOP SRCDIR

The job that `hextop mesh` writes states every material, CalculiX integrates the weight of each by itself, and
`hextop analyse` takes the materials of such a job from the file. Exit status 77: ccx is missing."""

import os
import re
import sys
import tempfile

import calculix as ccx
from calculix import SAME, calculix, check, difference, largest, read, run, write

YOUNG, DENSITY = {"base": 2400.0, "insert": 70000.0}, {"base": 1.1e-9, "insert": 2.7e-9}

PART = """
mesh = { generator = "cantilever"; nx = 10; ny = 5; nz = 5; distort = 0.2; shuffle = 3; };
material = { E = 2400.0; nu = 0.35; density = 1.1e-9; };
materials = ( { set = "insert"; E = 70000.0; density = 2.7e-9; } );
sets = ( { name = "insert"; box = { min = [3.0, -1.0, 1.0]; max = [7.0, 4.0, 4.0]; }; },
         { name = "soft"; box = { min = [6.0, -1.0, -1.0]; max = [11.0, 9.0, 2.5]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; traction = [0.5, 0.0, -1.0]; },
          { gravity = [0.0, 3000000.0, -9810000.0]; case = 2; } );
optimization = { volume_fraction = 1.0; filter = { kind = "none"; }; };
"""

FROM_FILE = """
mesh = { file = "%s"; };
material = { from = "file"; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 1.0; filter = { kind = "none"; }; };
"""


def analyse(hextop, config, *arguments):
    """Displacements of both load cases."""
    run(hextop, "-q", "analyse", config, "solver.device=cpu", "output.format=ascii", *arguments, "--vtk", "solid.vtk")
    field = ccx.read_vtk("solid.vtk")[3]
    return [field["displacement"], field["displacement_2"]]


def compare(ours, theirs, what):
    for case in range(2):
        off = difference(ours[case], theirs[case])
        check(off <= SAME, f"{what}, case {case + 1}: differs by {off:.2g} of {largest(theirs[case]):.6g}")


def moduli(job):
    return sorted(float(e) for e in re.findall(r"\*ELASTIC\n([^,]+),", job))


def with_own_weight(job):
    """The job with CalculiX's own gravity in its second step, from a density of each material."""
    name = {YOUNG[k]: DENSITY[k] for k in YOUNG}
    text = re.sub(r"\*ELASTIC\n([^,]+),", lambda m: f"*DENSITY\n{name[float(m[1])]:.6g}\n" + m[0], job)
    head, loads, tail = re.match(r"(?s)(.*\*\* load case 2.*?)(\*CLOAD, OP=NEW\n(?:[^*].*?\n)*)(.*)", text).groups()
    size = (3000000.0 ** 2 + 9810000.0 ** 2) ** 0.5
    weight = f"EALL, GRAV, {size!r}, 0.0, {3000000.0 / size!r}, {-9810000.0 / size!r}\n"
    check(len(loads.split("\n")) > 10, "the job has the weight as nodal forces")
    return head + "*CLOAD, OP=NEW\n*DLOAD, OP=NEW\n" + weight + tail


def main():
    hextop = os.path.realpath(sys.argv[1])
    ccx.need_ccx()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write("part.cfg", PART)
        ours = analyse(hextop, "part.cfg")
        one = analyse(hextop, "part.cfg", "materials=")
        check(min(difference(ours[c], one[c]) for c in range(2)) > 0.05, "the insert matters")
        run(hextop, "-q", "mesh", "part.cfg", "part.inp")
        job = read("part.inp")
        check(moduli(job) == sorted(YOUNG.values()), f"the job's moduli: {moduli(job)}")
        compare(ours, calculix("part", 2), "two materials")
        write("weight.inp", with_own_weight(job))
        compare(ours, calculix("weight", 2), "weight by CalculiX itself")

        # the job as input: materials, supports and loads from the file
        write("file.cfg", FROM_FILE % "part.inp")
        said = run(hextop, "check", "file.cfg")
        check("material 'MAT-" in said and "of the set 'EMAT-" in said, "both materials are named")
        compare(analyse(hextop, "file.cfg"), calculix("part", 2), "materials from the file")

        # passive elements in both materials
        soft = 'passive=({set="soft";density=0.4;})'
        run(hextop, "-q", "mesh", "part.cfg", "soft.inp", soft)
        check(len(moduli(read("soft.inp"))) == 4, f"moduli with passive elements: {moduli(read('soft.inp'))}")
        compare(analyse(hextop, "part.cfg", soft), calculix("soft", 2), "two materials, passive elements")
        os.chdir("/")
    return ccx.finish()


sys.exit(main())
