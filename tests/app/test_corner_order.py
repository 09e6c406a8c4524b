#!/usr/bin/env python3
"""Files with the corners of one tetrahedron in every order that keeps its orientation: `hextop analyse` finds the
compliance of a rotation, and of springs under a tet10, computed by hand.

    test_corner_order.py HEXTOP SOURCE_ROOT"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from counts import check, result # noqa: E402

HEXTOP = os.path.abspath(sys.argv[1])
SOLVER = 'optimization = { volume_fraction = 1.0; filter = { kind = "none"; }; };\nsolver = { device = "cpu"; };\n'


def orders():
    """Even permutations of four corners."""
    for p in itertools.permutations(range(4)):
        if sum(p[i] > p[j] for i in range(4) for j in range(i + 1, 4)) % 2 == 0:
            yield p


def write_mesh(points, order, sets):
    lines = ["# vtk DataFile Version 3.0", "one tetrahedron", "ASCII", "DATASET UNSTRUCTURED_GRID", "POINTS 4 double"]
    lines += [" ".join(map(str, p)) for p in points]
    lines += ["CELLS 1 5", "4 " + " ".join(map(str, order)), "CELL_TYPES 1", "10", "POINT_DATA 4"]
    for name, nodes in sets.items():
        lines += [f"SCALARS set_{name} int 1", "LOOKUP_TABLE default", *("1" if a in nodes else "0" for a in range(4))]
    with open("one.vtk", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def compliance(config, *keys):
    with open("one.cfg", "w", encoding="ascii") as file:
        file.write('mesh = { file = "one.vtk"; };\n' + config + SOLVER)
    said = subprocess.run([HEXTOP, "-q", "analyse", "one.cfg", *keys, "--output", "one.json"], capture_output=True, text=True,
                          timeout=60, env=dict(os.environ, OMP_NUM_THREADS="1"))
    check(said.returncode == 0, said.stderr)
    with open("one.json", encoding="ascii") as file:
        return json.load(file)["cases"][0]["compliance"]


def try_all(what, points, sets, config, want, tolerance, *keys):
    found = []
    for order in orders():
        write_mesh(points, order, sets)
        found.append(compliance(config, *keys))
        check(abs(found[-1] / want - 1.0) <= tolerance, f"{what}, corners {order}: {found[-1]}, not {want}")
    check(max(found) - min(found) <= 1e-3 * tolerance * want, f"{what}: {min(found)} to {max(found)}")


def rotation():
    """One node is free. Its force is rho w^2 V / 20 (sum of r_j + r_i), and its block of K is V (lambda + 2 mu, mu,
    mu)."""
    points = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1)]
    volume, mu, lame = 1.0 / 6.0, 0.5 / 1.3, 0.3 / (1.3 * 0.4)
    force = [volume / 20.0 * (sum(p[i] for p in points) + points[1][i]) for i in range(2)]
    want = force[0] ** 2 / (volume * (lame + 2.0 * mu)) + force[1] ** 2 / (volume * mu)
    config = 'material = { E = 1.0; nu = 0.3; density = 1.0; };\nsupports = ( { set = "held"; fix = "xyz"; } );\n' \
             "loads = ( { centrifugal = { point = [0, 0, 0]; axis = [0, 0, 1]; speed = 1.0; }; } );\n"
    try_all("rotation", points, {"held": (0, 2, 3)}, config, want, 1e-9)


def springs():
    """A stiff tet10 on springs along x, y, z of total stiffness k is pushed at its top. Each corner of the base has the
    fraction c = 1/19 of the stiffness, each mid-side node m = 16/57. The tet10 sinks by 1/k and tilts about two axes
    through the centre of its base."""
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    k, c, m = 6.0, 1.0 / 19.0, 16.0 / 57.0
    corners = [(0, 0), (1, 0), (0, 1)]
    places = [(c, p) for p in corners] + [(m, ((p[0] + q[0]) / 2, (p[1] + q[1]) / 2)) for p, q in
                                          ((corners[0], corners[1]), (corners[1], corners[2]), (corners[2], corners[0]))]
    xx = sum(s * k * (x - 1 / 3) ** 2 for s, (x, y) in places)
    xy = sum(s * k * (x - 1 / 3) * (y - 1 / 3) for s, (x, y) in places)
    # the force acts at (-1/3, -1/3) from the centre; z = 0 there, so the springs along x and y are not loaded
    want = 1.0 / k + 2.0 / 9.0 / (xx + xy)
    config = 'material = { E = 1e6; nu = 0.3; };\nsprings = ( { set = "base"; stiffness = [6, 6, 6]; per = "%s"; } );\n' \
             'loads = ( { set = "top"; total_force = [0.0, 0.0, 1.0]; } );\n'
    sets = {"base": (0, 1, 2), "top": (3,)}
    for per, area in (("total", 1.0), ("area", 0.5)):
        text = config.replace("6, 6, 6", ", ".join([repr(6.0 / area)] * 3)) % per
        try_all("springs per " + per, points, sets, text, want, 1e-4, "solver.element=quadratic", "solver.tolerance=1e-14")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rotation()
        springs()
        os.chdir("/")
    return result()


if __name__ == "__main__":
    sys.exit(main())
