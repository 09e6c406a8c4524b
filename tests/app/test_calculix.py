#!/usr/bin/env python3
"""The displacements of hextop against those of CalculiX, which solves the job that `hextop mesh` writes.

    test_calculix.py HEXTOP SRCDIR

CalculiX's C3D8 has 2x2x2 points and no mean dilatation in linear elasticity: it is the same element,
so displacements agree to the seven digits that CalculiX prints. Its C3D8I (incompatible modes, softer in
bending) is another; the difference must shrink with the mesh. Exit status 77: no ccx."""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

SAME = 1e-6  # of the largest displacement

n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    print(("ok: " if condition else "failed: ") + text)
    if not condition:
        n_failed += 1


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def calculix(name, n_case):
    """[case][node][3], nodes in the order of their numbers."""
    said = run("ccx", "-i", name)
    if "ERROR" in said or not os.path.exists(name + ".dat"):
        raise RuntimeError(f"ccx: {said[-2000:]}")
    cases = []
    for line in open(name + ".dat", encoding="ascii"):
        if "displacements" in line:
            cases.append([])
        words = line.split()
        if cases and len(words) == 4 and words[0].isdigit():
            cases[-1].append([float(w) for w in words[1:]])
    check(len(cases) == n_case, f"{name}: {len(cases)} steps, {n_case} load cases")
    return cases


def arrays(path):
    """VECTORS of an ASCII VTK file by their name."""
    words = open(path, encoding="ascii").read().split("\n")
    n_point = int(next(line for line in words if line.startswith("POINTS")).split()[1])
    found = {}
    for i, line in enumerate(words):
        if not line.startswith("VECTORS"):
            continue
        value = []
        k = i + 1
        while len(value) < 3 * n_point:
            value += [float(w) for w in words[k].split()]
            k += 1
        found[line.split()[1]] = [value[j : j + 3] for j in range(0, 3 * n_point, 3)]
    return found


def largest_of(values):
    """Infinity if one is not finite: max() forgets a NaN that is not the first."""
    values = list(values)
    return max(values) if all(map(math.isfinite, values)) else float("inf")


def largest(field):
    return largest_of(abs(x) for point in field for x in point)


def difference(a, b):
    """Largest difference of a component, of the largest component of b."""
    if len(a) != len(b):
        return float("inf")
    off, scale = largest_of(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)), largest(b)
    return off / scale if math.isfinite(scale) else float("inf")


def check_difference():
    """What compares fails where it must."""
    b = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    check(difference(b, b) == 0.0, "a field is like itself")
    for bad in (math.nan, math.inf):
        for i in range(6):
            a = [list(row) for row in b]
            a[i // 3][i % 3] = bad
            check(not difference(a, b) <= SAME and not difference(b, a) <= SAME
                  and not difference(a, a) <= SAME, f"{bad} at {i} is seen")
    check(not difference(b[:1], b) <= SAME, "a missing node is seen")


def solve(hextop, config, arguments, name, n_case):
    """Displacements by hextop and by CalculiX, a list of cases each."""
    common = [config, "solver.device=cpu", *arguments]
    run(hextop, "-q", "mesh", config, name + ".inp", *common[1:])
    run(hextop, "-q", "run", *common, "optimization.volume_fraction=1.0",
        "optimization.iterations=1", "solver.tolerance=1e-11", "solver.operator=otf",
        "output.format=ascii", "output.fields=displacement", "output.directory=" + name)
    field = arrays(os.path.join(name, "density_0001.vtk"))
    names = ["displacement"] + [f"displacement_{c}" for c in range(2, n_case + 1)]
    return [field[n] for n in names], calculix(name, n_case)


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
    """A distorted and shuffled beam of n x n elements of size 1 in its section; loads scale with it."""
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
    """The job with CalculiX's own gravity and rotation in place of nodal forces."""
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


def main():
    hextop, source = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    if not shutil.which("ccx"):
        print("SKIPPED: no ccx (Debian: calculix-ccx)")
        return 77
    check_difference()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)

        ours, theirs = solve(hextop, source + "/examples/bracket/bracket.cfg", [], "bracket", 1)
        off = difference(ours[0], theirs[0])
        check(off <= SAME, f"bracket: C3D8 differs by {off:.2g} of {largest(theirs[0]):.6g}")

        # a pin's pressure, weight, a force shared by area; two cases
        ours, theirs = solve(hextop, source + "/examples/hook/hook.cfg", ["passive="], "hook", 2)
        for case in range(2):
            off = difference(ours[case], theirs[case])
            check(off <= SAME, f"hook, case {case + 1}: C3D8 differs by {off:.2g} of "
                  f"{largest(theirs[case]):.6g}")

        # distorted and shuffled, two cases, a prescribed displacement, two materials
        stiffer = []
        for n in (4, 8):
            with open("beam.cfg", "w", encoding="ascii") as config:
                config.write(beam(n))
            ours, theirs = solve(hextop, "beam.cfg", [], f"beam{n}", 2)
            for case in range(2):
                off = difference(ours[case], theirs[case])
                check(off <= SAME, f"beam of {n}, case {case + 1}: C3D8 differs by {off:.2g}")
            job = open(f"beam{n}.inp", encoding="ascii").read()
            check(len(re.findall("MATERIAL, NAME", job)) == 2, "two materials")
            with open("other.inp", "w", encoding="ascii") as other:
                other.write(job.replace("TYPE=C3D8", "TYPE=C3D8I"))
            stiffer.append(difference(ours[0], calculix("other", 2)[0]))
        check(SAME < stiffer[1] < 0.6 * stiffer[0] < 0.1,
              "C3D8I differs by %.3g, with half the element size by %.3g" % tuple(stiffer))

        # gravity and rotation, integrated by CalculiX itself
        with open("weight.cfg", "w", encoding="ascii") as config:
            config.write(WEIGHT)
        ours, theirs = solve(hextop, "weight.cfg", [], "weight", 1)
        check(difference(ours[0], theirs[0]) <= SAME, "weight and rotation as nodal forces")
        with open("own.inp", "w", encoding="ascii") as own:
            own.write(with_own_weight(open("weight.inp", encoding="ascii").read()))
        off = difference(ours[0], calculix("own", 1)[0])
        check(off <= SAME, f"weight and rotation by CalculiX itself differ by {off:.2g}")
        os.chdir("/")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0


sys.exit(main())
