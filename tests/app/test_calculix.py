#!/usr/bin/env python3
"""The displacements of hextop against those of CalculiX, which solves the job that `hextop mesh` writes.

    test_calculix.py HEXTOP SRCDIR

CalculiX's C3D8 has 2x2x2 points and, in linear elasticity, no mean dilatation. It is the same element as hextop's, so
displacements agree to the seven digits that CalculiX prints. The same holds for C3D4, and for C3D8 with repeated nodes
as wedges and pyramids. CalculiX's C3D6 (2 points) and C3D8I (incompatible modes, less stiff in bending) are other
elements; the differences must decrease with the element size. Exit status 77: ccx is missing."""

import os
import re
import sys
import tempfile

import calculix as ccx
from calculix import SAME, calculix, check, difference, largest, run, write


def solve(hextop, config, arguments, name, n_case, element="linear", command="run"):
    """Displacements by hextop and by CalculiX, one list per load case."""
    common = [config, "solver.device=cpu", *arguments]
    run(hextop, "-q", "mesh", config, name + ".inp", *common[1:])
    ours = displacements(hextop, common, name, n_case, element, command)
    return ours, calculix(name, n_case)


def displacements(hextop, common, name, n_case, element="linear", command="run"):
    """Displacements of a solid first design; with "analyse", those of a part that is solid except for passive
    elements."""
    how = ["solver.operator=otf"] if element == "linear" else ["solver.element=" + element]
    how += ["solver.tolerance=1e-11", "output.format=ascii"]
    if command == "analyse":
        run(hextop, "-q", "analyse", *common, *how, "--vtk", name + "_solid.vtk")
        field = ccx.read_vtk(name + "_solid.vtk")[3]
    else:
        run(hextop, "-q", "run", *common, "optimization.volume_fraction=1.0", "optimization.iterations=1", *how,
            "output.fields=displacement", "output.directory=" + name)
        field = ccx.read_vtk(os.path.join(name, "density_0001.vtk"))[3]
    names = ["displacement"] + [f"displacement_{c}" for c in range(2, n_case + 1)]
    return [field[n] for n in names]


BEAM = """
mesh = {{ generator = "cantilever"; nx = {length}; ny = {n}; nz = {n}; distort = 0.2; shuffle = 3; }};
material = {{ E = 70000.0; nu = 0.33; }};
sets = ( {{ name = "soft"; box = {{ min = [{n}.0, 0.0, 0.0]; max = [{length}.0, {n}.0, {half}.0]; }}; }} );
supports = ( {{ set = "left"; fix = "xyz"; }}, {{ set = "right"; fix = "y"; value = [0.0, {moved}, 0.0]; }} );
loads = ( {{ set = "right"; traction = [0.0, 0.0, -40.0]; case = 1; }},
          {{ set = "right"; total_force = [{force}.0, 0.0, 90.0]; case = 2; }} );
passive = ( {{ set = "soft"; density = 0.4; }} );
optimization = {{ volume_fraction = 1.0; filter = {{ kind = "none"; }}; }};
"""


def beam(n):
    """A distorted and shuffled beam with a section of n x n elements of size 1; loads scale with it."""
    return BEAM.format(n=n, length=2 * n, half=n // 2, moved=0.01 * n, force=20 * n * n)


WEIGHT = """
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; distort = 0.2; };
material = { E = 100.0; density = 2.5; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { gravity = [1.8, 0.0, -2.4]; },
          { centrifugal = { point = [1.0, -2.0, 0.0]; axis = [0.0, 0.0, 2.0]; speed = 0.4; }; } );
optimization = { volume_fraction = 1.0; filter = { kind = "none"; }; };
"""


def with_own_weight(job):
    """The job with CalculiX's own gravity and rotation instead of nodal forces."""
    lines, dropped = [], False
    for line in job.split("\n"):
        if line.startswith("*"):
            dropped = line.startswith("*CLOAD")
            if line.startswith("*ELASTIC"):
                lines += ["*DENSITY", "2.5"]
            if dropped:
                lines += ["*DLOAD", "EALL, GRAV, 3.0, 0.6, 0.0, -0.8",
                          "EALL, CENTRIF, 0.16, 1.0, -2.0, 0.0, 0.0, 0.0, 1.0"]
        if not dropped:
            lines.append(line)
    return "\n".join(lines)


def check_parts(hextop, source):
    ours, theirs = solve(hextop, source + "/examples/bracket/bracket.cfg", [], "bracket", 1)
    off = difference(ours[0], theirs[0])
    check(off <= SAME, f"bracket: C3D8 differs by {off:.2g} of {largest(theirs[0]):.6g}")

    # pressure of a pin, gravity, a force shared by area; two load cases
    ours, theirs = solve(hextop, source + "/examples/hook/hook.cfg", ["passive="], "hook", 2)
    for case in range(2):
        off = difference(ours[case], theirs[case])
        check(off <= SAME, f"hook, case {case + 1}: C3D8 differs by {off:.2g} of "
              f"{largest(theirs[case]):.6g}")


def check_beams(hextop):
    """Distorted and shuffled beams, two load cases, a prescribed displacement, two materials."""
    stiffer = []
    for n in (4, 8):
        write("beam.cfg", beam(n))
        ours, theirs = solve(hextop, "beam.cfg", [], f"beam{n}", 2, command="analyse")
        for case in range(2):
            off = difference(ours[case], theirs[case])
            check(off <= SAME, f"beam of {n}, case {case + 1}: C3D8 differs by {off:.2g}")
        job = ccx.read(f"beam{n}.inp")
        check(len(re.findall("MATERIAL, NAME", job)) == 2, "two materials")
        write("other.inp", job.replace("TYPE=C3D8", "TYPE=C3D8I"))
        stiffer.append(difference(ours[0], calculix("other", 2)[0]))
    check(SAME < stiffer[1] < 0.6 * stiffer[0] < 0.1,
          "C3D8I differs by %.3g, with half the element size by %.3g" % tuple(stiffer))


def check_weight(hextop):
    """Gravity and rotation, integrated by CalculiX itself."""
    write("weight.cfg", WEIGHT)
    ours, theirs = solve(hextop, "weight.cfg", [], "weight", 1)
    check(difference(ours[0], theirs[0]) <= SAME, "weight and rotation as nodal forces")
    write("own.inp", with_own_weight(ccx.read("weight.inp")))
    off = difference(ours[0], calculix("own", 1)[0])
    check(off <= SAME, f"weight and rotation by CalculiX itself differ by {off:.2g}")


BOX = """
mesh = {{ file = "{name}.vtk"; }};
material = {{ E = 70000.0; nu = 0.33; density = 2.7e-3; }};
sets = ( {{ name = "left"; plane = {{ point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }},
         {{ name = "right"; plane = {{ point = [{length}.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }},
         {{ name = "lid"; plane = {{ point = [0.0, 0.0, {height}.0]; normal = [0.0, 0.0, 1.0]; }}; }},
         {{ name = "soft"; box = {{ min = [{half}.0, -1.0, -1.0]; max = [99.0, 99.0, 99.0]; }}; }} );
supports = ( {{ set = "left"; fix = "xyz"; }}, {{ set = "right"; fix = "y"; value = [0.0, 0.02, 0.0]; }} );
loads = ( {{ set = "right"; traction = [0.0, 0.0, -40.0]; case = 1; }}, {{ set = "lid"; pressure = 15.0; case = 1; }},
          {{ gravity = [900.0, 0.0, -9810.0]; case = 2; }} );
passive = ( {{ set = "soft"; density = 0.4; }} );
optimization = {{ volume_fraction = 1.0; filter = {{ kind = "none"; }}; }};
"""


def solve_box(hextop, kind, scale, name):
    """A distorted box of 6 x 3 x 5 cells, times `scale` in each direction; two load cases."""
    size = (6 * scale, 3 * scale, 5 * scale)
    ccx.write_box(name + ".vtk", kind, size, 0.15)
    write(name + ".cfg", BOX.format(name=name, length=size[0], height=size[2], half=size[0] // 2))
    run(hextop, "-q", "mesh", name + ".cfg", name + ".inp")
    return displacements(hextop, [name + ".cfg", "solver.device=cpu"], name, 2, command="analyse"), ccx.read(name + ".inp")


def check_kinds(hextop):
    """Tetrahedra are C3D4, wedges and pyramids are C3D8 with repeated nodes. Differences from C3D6 decrease on
    finer meshes."""
    types = {"tetrahedra": ["C3D4"], "wedges": ["C3D6"], "pyramids": ["C3D8"], "mixed": ["C3D4", "C3D6", "C3D8"]}
    for kind in ccx.KINDS:
        ours, job = solve_box(hextop, kind, 1, kind)
        found = sorted(set(re.findall(r"TYPE=(C3D\w+)", job)))
        check(found == types[kind], f"{kind}: the job has {', '.join(found)}")
        write("same.inp", ccx.as_bricks(job, "C3D6"))
        for case, theirs in enumerate(calculix("same", 2)):
            off = difference(ours[case], theirs)
            check(off <= SAME, f"{kind}, case {case + 1}: differs by {off:.2g} of {largest(theirs):.6g}")
    softer = []
    for scale in (1, 2):
        ours, job = solve_box(hextop, "wedges", scale, f"wedges{scale}")
        theirs = calculix(f"wedges{scale}", 2)
        softer.append(max(difference(ours[case], theirs[case]) for case in range(2)))
    check(SAME < softer[1] < 0.6 * softer[0] < 0.03,
          "C3D6 differs by %.3g, with half the element size by %.3g" % tuple(softer))


SLENDER = """
mesh = {{ generator = "cantilever"; nx = {length}; ny = {n}; nz = {n}; distort = {distort}; shuffle = 3; }};
material = {{ E = 1.0; nu = 0.3; }};
supports = ( {{ set = "left"; fix = "xyz"; }} );
loads = ( {{ set = "right"; traction = [0.0, 0.0, -1.0]; }} );
optimization = {{ volume_fraction = 1.0; filter = {{ kind = "none"; }}; }};
"""


def tip(name, n, field):
    """Mean deflection of the end of a beam, divided by its length."""
    points = ccx.read_vtk(os.path.join(name, "density_0001.vtk"))[0]
    end = [u[2] for x, u in zip(points, field) if x[0] > 10 * n - 1e-6]
    return sum(end) / len(end) / n


def check_bending(hextop):
    """The fractions by which C3D8, C3D8I and C3D20 underestimate the deflection of a beam of length 10, for
    several numbers of elements over its height, relative to C3D20 with 6 elements. CalculiX's C3D20 is the
    same element as hextop's (test_calculix_points.c)."""
    def deflect(n, distort, element):
        write("slender.cfg", SLENDER.format(n=n, length=10 * n, distort=distort))
        return displacements(hextop, ["slender.cfg", "solver.device=cpu"], "slender", 1, element)[0]

    exact = tip("slender", 6, deflect(6, 0.0, "quadratic"))
    for n, distort in ((1, 0.0), (2, 0.0), (4, 0.0), (2, 0.2), (4, 0.2)):
        linear = tip("slender", n, deflect(n, distort, "linear")) / exact - 1.0
        run(hextop, "-q", "mesh", "slender.cfg", "slender.inp")
        write("slender.inp", ccx.read("slender.inp").replace("TYPE=C3D8", "TYPE=C3D8I"))
        modes = tip("slender", n, calculix("slender", 1)[0]) / exact - 1.0
        quadratic = tip("slender", n, deflect(n, distort, "quadratic")) / exact - 1.0
        check(abs(quadratic) < 0.6 * abs(modes) if n > 1 else abs(quadratic) < 0.02,
              f"{n} in the height, distorted by {distort}: C3D20 {100 * quadratic:.3f} %")
        check(abs(modes) < 0.1 * abs(linear) < 0.05, f"    C3D8I {100 * modes:.2f} %, C3D8 {100 * linear:.2f} %")


def main():
    hextop, source = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    ccx.need_ccx()
    ccx.check_difference()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        check_parts(hextop, source)
        check_beams(hextop)
        check_weight(hextop)
        check_kinds(hextop)
        check_bending(hextop)
        os.chdir("/")
    return ccx.finish()


sys.exit(main())
