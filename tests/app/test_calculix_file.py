#!/usr/bin/env python3
"""from = "file" compared with CalculiX's own reading of the same file: pressures, loads by mass, couplings with
reference nodes, pins, OP=NEW, and assemblies compared with an equal flat file.

    test_calculix_file.py HEXTOP SRCDIR
"""

import glob
import math
import os
import re
import subprocess
import sys
import tempfile

import calculix
from calculix import SAME, calculix as solve, check, difference, read_vtk, run, write

KINDS = (("hexahedra", False), ("tetrahedra", False), ("tetrahedra", True))
SIZE = (2, 2, 4)


def edges_of(cell):
    """Mid-side nodes of a tetrahedron in the order of C3D10."""
    return [(cell[a], cell[b]) for a, b in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))]


def mesh(kind, quadratic=False):
    """Lines of *NODE and *ELEMENT, points, and (element, side) of the faces at both ends and at x = 0."""
    points, cells = calculix.box(kind, SIZE, 0.15, seed=2)
    rows, middle = [], {}
    sides = {8: [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
             4: [(0, 1, 2), (0, 1, 3), (1, 2, 3), (2, 0, 3)]}
    faces = {"low": [], "high": [], "side": []}
    where = {"low": (2, 0), "high": (2, SIZE[2]), "side": (0, 0)}
    for e, (_, cell) in enumerate(cells, 1):
        for s, side in enumerate(sides[len(cell)], 1):
            for name, (axis, value) in where.items():
                if all(points[cell[a]][axis] == value for a in side):
                    faces[name].append((e, s))
        row = list(cell)
        if quadratic:
            for a, b in edges_of(cell):
                key = (min(a, b), max(a, b))
                if key not in middle:
                    middle[key] = len(points)
                    points.append([(x + y) / 2 for x, y in zip(points[a], points[b])])
                row.append(middle[key])
        rows.append(row)
    type_name = {"hexahedra": "C3D8", "tetrahedra": "C3D10" if quadratic else "C3D4"}[kind]
    return type_name, points, rows, faces


def numbers(text):
    """Lines of at most 8 numbers."""
    return "\n".join(", ".join(map(str, text[i : i + 8])) + "," for i in range(0, len(text), 8))


def model(kind, quadratic=False):
    """Mesh, sets and material of a flat file, and its points."""
    type_name, points, rows, faces = mesh(kind, quadratic)
    text = ["*NODE"] + [f"{a}, " + ", ".join(repr(float(x)) for x in p) for a, p in enumerate(points, 1)]
    text += ["901, 0.3, 0.4, 7.0", "902, 1.0, 1.0, -1.0"]  # reference nodes
    text.append(f"*ELEMENT, TYPE={type_name}, ELSET=EALL")
    for e, row in enumerate(rows, 1):
        text.append(f"{e}, " + ", ".join(str(a + 1) for a in row))
    for name, list_ in faces.items():
        text.append(f"*SURFACE, NAME={name}, TYPE=ELEMENT")
        text += [f"{e}, S{s}" for e, s in list_]
    low = [a for a, p in enumerate(points, 1) if p[2] == 0]
    text += ["*NSET, NSET=NLOW", numbers(low), "*NSET, NSET=NSOLID, GENERATE", f"1, {len(points)}"]
    text += ["*MATERIAL, NAME=M", "*ELASTIC", "1000., 0.3", "*DENSITY", "0.002",
             "*SOLID SECTION, ELSET=EALL, MATERIAL=M"]
    return "\n".join(text) + "\n", points


def config(name, quadratic):
    write(name + ".cfg", f"""mesh = {{ file = "{name}.inp"; }};
material = {{ E = 1000.0; nu = 0.3; density = 0.002; }};
supports = ( {{ from = "file"; }} );
loads = ( {{ from = "file"; }} );
optimization = {{ volume_fraction = 1.0; iterations = 1; filter = {{ radius = 1.5; }}; }};
solver = {{ device = "cpu"; tolerance = 1e-11; preconditioner = "jacobi";
           element = "{'quadratic' if quadratic else 'linear'}"; operator = "{'csr' if quadratic else 'otf'}"; }};
output = {{ format = "ascii"; fields = ["displacement"]; directory = "{name}.out"; }};
""")


def displacements(hextop, name, quadratic=False):
    """[case][node] of the first design, and the positions of the nodes."""
    config(name, quadratic)
    run(hextop, "-q", "run", name + ".cfg", "optimization.penalty=1.0")
    points, _, _, arrays = read_vtk(sorted(glob.glob(name + ".out/density_*.vtk"))[-1])
    return points, [arrays[k] for k in arrays if k.startswith("displacement")]


def compare(hextop, name, head, steps, kind="hexahedra", quadratic=False, slack=None):
    """head: data between the model and the steps; slack: tolerance of each step, or SAME if it is None."""
    text, points = model(kind, quadratic)
    for step in steps:
        text_step = f"*STEP\n*STATIC\n{step}*NODE PRINT, NSET=NSOLID\nU\n*END STEP\n"
        head += text_step
    write(name + ".inp", text + head)
    theirs = solve(name, len(steps))
    places, ours = displacements(hextop, name, quadratic)
    check(len(ours) == len(theirs), f"{name}: {len(ours)} cases, {len(theirs)} steps")
    index = {tuple(round(x, 5) for x in p): a for a, p in enumerate(points)}
    order = [index[tuple(round(x, 5) for x in p)] for p in places]
    for i, (a, b) in enumerate(zip(ours, theirs), 1):
        off = difference(a, [b[k] for k in order])
        check(off <= (slack[i - 1] if slack else SAME), f"{name}: step {i} differs by {off:.1e}")


FIXED = "*BOUNDARY\nNLOW, 1, 3\n"
REMOTE = ["*CLOAD\n901, 1, 3.\n901, 2, -2.\n", "*CLOAD\n901, 3, 5.\n901, 5, 4.\n901, 6, 7.\n",
          "*CLOAD, OP=NEW\n901, 4, 2.\n"]
COUPLED = "*COUPLING, CONSTRAINT NAME=C{0}, REF NODE={0}, SURFACE={1}\n*{2}\n{3}\n"


def test_couplings(hextop):
    for kind, quadratic in KINDS:
        tag = kind[:3] + ("2" if quadratic else "")
        compare(hextop, "kin" + tag, COUPLED.format(901, "high", "KINEMATIC", "1, 3") + FIXED, REMOTE, kind,
                quadratic)
        # CalculiX 2.20 loses loads that continue from an earlier step at such a node
        anew = [step.replace("*CLOAD\n", "*CLOAD, OP=NEW\n") for step in REMOTE]
        compare(hextop, "dis" + tag, COUPLED.format(901, "high", "DISTRIBUTING", "1, 6") + FIXED, anew,
                kind, quadratic)


def test_pins(hextop):
    both = COUPLED.format(901, "high", "KINEMATIC", "1, 3") + COUPLED.format(902, "low", "KINEMATIC", "1, 3")
    side = ["*DLOAD\nEALL, GRAV, 9.81, 0., 1., 0.\n"]
    compare(hextop, "full", both + "*BOUNDARY\n902, 1, 6\n901, 2, 3\n901, 6\n", side)
    compare(hextop, "pin", both + "*BOUNDARY\n902, 1, 3\n902, 6\n901, 1, 2\n", side + REMOTE[1:2])
    compare(hextop, "turned", both + "*BOUNDARY\n902, 1, 3\n901, 1, 6\n", side)
    compare(hextop, "moved", both + "*BOUNDARY\n902, 1, 6\n901, 1, 1, 0.1\n901, 2, 3\n901, 4, 4, 0.02\n"
            "901, 5, 6\n", side)
    for kind, quadratic in KINDS: # held and moved in part
        tag = kind[:3] + str(quadratic)
        far = COUPLED.format(901, "high", "KINEMATIC", "1, 3") + FIXED
        compare(hextop, "lifted" + tag, far, ["*BOUNDARY\n901, 3, 3, 0.1\n*CLOAD\n12, 1, 0.5\n", REMOTE[0]], kind,
                quadratic)
        compare(hextop, "tilted" + tag, far, ["*BOUNDARY\n901, 1\n901, 4, 4, 0.02\n901, 6\n" + REMOTE[1]], kind,
                quadratic)


def test_bodies(hextop):
    """A *RIGID BODY, whose rotations are those of the ROT NODE. CalculiX ignores components 4 to 6 of its nodes;
    hextop refuses them unless the ROT NODE has the same."""
    text, _ = model("hexahedra")
    tied = sorted({a for a in re.findall(r"(?m)^(\d+), [^,]+, [^,]+, " + re.escape(repr(float(SIZE[2]))) + "$", text)})
    nodes = "*NODE\n911, 0., 0., 11.\n*NSET, NSET=TIED\n" + numbers(tied) + "\n"
    body = nodes + "*RIGID BODY, NSET=TIED, REF NODE=901, ROT NODE=911\n" + FIXED
    load = "*CLOAD\n901, 1, 3.\n901, 2, -2.\n"
    compare(hextop, "body", body, [load + "911, 2, 5.\n"])
    compare(hextop, "body_held", body + "*BOUNDARY\n911, 1, 3\n901, 4, 6\n", [load])
    ignored = {"none": body, "ref": body + "*BOUNDARY\n901, 4, 6\n", "rot": body + "*BOUNDARY\n911, 4, 6\n",
               "alone": body.replace(", ROT NODE=911", "") + "*BOUNDARY\n901, 4, 6\n"}
    steps = {name: "" for name in ignored}
    ignored["moment"], steps["moment"] = body, "901, 5, 20.\n"
    found = {}
    for name, head in ignored.items():
        step = f"*STEP\n*STATIC\n{load}{steps[name]}*NODE PRINT, NSET=NSOLID\nU\n*END STEP\n"
        write(name + ".inp", text + head + step)
        config(name, False)
        found[name] = solve(name, 1)[0]
        check(difference(found[name], found["none"]) <= SAME, f"CalculiX ignores rotations of bodies: {name}")
        done = subprocess.run([hextop, "-q", "check", name + ".cfg"], capture_output=True, text=True, check=False)
        want = "loads" if name == "moment" else "supports"
        check(done.returncode == 0 if name == "none" else done.returncode == 2 and "(components 4 to 6)" in done.stderr
              and want + "[0]" in done.stderr and "*RIGID BODY" in done.stderr, f"{name}: {done.stderr}")


def test_new(hextop):
    """OP=NEW: supports that each step states again, and cases in which OP=NEW comes too late to end anything."""
    again = "*BOUNDARY, OP=NEW\n" + FIXED
    compare(hextop, "again", "", [again + "*DSLOAD\nside, P, 2.\n", again + "*DSLOAD, OP=NEW\nhigh, P, 1.\n"])
    compare(hextop, "late", FIXED, ["*DSLOAD\nside, P, 2.\n*CLOAD\n12, 1, 5.\n",
                                    "*DSLOAD\nhigh, P, 1.\n*DSLOAD, OP=NEW\nhigh, P, 2.\n"
                                    "*CLOAD\n11, 1, 5.\n*CLOAD, OP=NEW\n11, 2, 5.\n"])
    one, two, three = [f"{e}, P{s}" for e, s in mesh("hexahedra")[3]["side"][-3:]]
    compare(hextop, "late-d", FIXED, [f"*DLOAD\n{one}, 2.\n", f"*DLOAD\n{two}, 1.\n*DLOAD, OP=NEW\n{three}, 4.\n"])


def test_pressures(hextop):
    for kind, quadratic in KINDS:
        steps = ["*DSLOAD\nside, P, 2.5\n", "*DSLOAD\nhigh, P, -1.\nside, P, 1.\n"]
        compare(hextop, "ds" + kind[:3] + str(quadratic), FIXED, steps, kind, quadratic)
        one, two, three = [f"{e}, P{s}" for e, s in mesh(kind)[3]["side"][-3:]]
        compare(hextop, "d" + kind[:3] + str(quadratic), FIXED,
                [f"*DLOAD\n{one}, 2.\n{one}, 0.5\n", f"*DLOAD\n{one}, 3.\n{two}, 1.\n",
                 f"*DLOAD, OP=NEW\n{three}, 1.\n*CLOAD\n12, 1, 0.5\n"], kind, quadratic)


def test_mass(hextop):
    """The load of a rotation has degree 2 on C3D4 and 3 on C3D10. CalculiX's four points on C3D10 are exact to degree
    2; on C3D4 its displacements also differ, while those by gravity agree."""
    for kind, quadratic, slack in (("hexahedra", False, SAME), ("tetrahedra", False, 1e-2), ("tetrahedra", True, 1e-4)):
        compare(hextop, f"mass{kind[:3]}{quadratic}", FIXED,
                ["*DLOAD\nEALL, GRAV, 9.81, 3., 0., -4.\n",
                 "*DLOAD\nEALL, CENTRIF, 6.25, 0.5, 4., 0., 1., 0., 2.\n",
                 "*DLOAD, OP=NEW\nEALL, GRAV, 2., 0., 1., 0.\n"], kind, quadratic,
                (SAME, slack, SAME))
        # another direction or another set adds a load; the same direction and set replace it
        compare(hextop, f"grav{kind[:3]}{quadratic}", "*ELSET, ELSET=ETOO\nEALL\n" + FIXED,
                ["*DLOAD\nEALL, GRAV, 1., 0., 0., 1.\n", "*DLOAD\nEALL, GRAV, 3., 0., 0., -1.\n",
                 "*DLOAD\nEALL, GRAV, 5., 0., 1e-6, 2.\n", "*DLOAD\nETOO, GRAV, 7., 1., 0., 0.\n",
                 "*DLOAD\nEALL, GRAV, 0., 0., 0., 1.\n"], kind, quadratic)


def test_sets(hextop):
    """Sets that name a member more than once or name numbers that do not exist, and names that begin with a digit."""
    for kind, quadratic in KINDS:
        tag = kind[:3] + str(quadratic)
        faces = mesh(kind)[3]
        e, s = max(faces["side"] + faces["high"])
        end = 100000 if e == len(mesh(kind)[2]) else e  # the number after the last element, which is the only one of the set
        sets = f"*ELSET, ELSET=1st, GENERATE\n{e}, {end}, 1\n*ELSET, ELSET=q\n1ST, {e}\n"
        sets += f"*SURFACE, NAME=twice\nq, S{s}\n{e}, S{s}\n" + FIXED
        compare(hextop, "twice" + tag, sets,
                [f"*DLOAD\nq, P{s}, 2.\n", f"*DLOAD\nq, P{s}, 5.\n*CLOAD\n12, 1, 0.5\n"], kind, quadratic)
        compare(hextop, "faces" + tag, sets,
                ["*DSLOAD\ntwice, P, -1.\n", "*DSLOAD\ntwice, P, -4.\n*CLOAD\n12, 1, 0.5\n"], kind, quadratic)


def test_assembly(hextop):
    """A bar of two instances of one part, merged where they meet, equals the bar of twice the length."""
    type_name, points, rows, faces = mesh("hexahedra")
    points = [[float(round(x)) for x in p] for p in points]
    nodes = [f"{a}, {p[0]}, {p[1]}, {p[2]}" for a, p in enumerate(points, 1)]
    elems = [f"{e}, " + ", ".join(str(a + 1) for a in row) for e, row in enumerate(rows, 1)]
    n, m, l = len(points), len(rows), SIZE[2]
    n_layer = (SIZE[0] + 1) * (SIZE[1] + 1)
    low = numbers(range(1, n_layer + 1))
    part = ["*PART, NAME=half", "*NODE"] + nodes + [f"*ELEMENT, TYPE={type_name}, ELSET=all"] + elems
    part += ["*NSET, NSET=low", low, "*SURFACE, NAME=high"] + [f"{e}, S{s}" for e, s in faces["high"]]
    part += ["*SOLID SECTION, ELSET=all, MATERIAL=M", "*END PART", "*ASSEMBLY, NAME=A",
             "*INSTANCE, NAME=I-1, PART=half", "*END INSTANCE",
             "*INSTANCE, NAME=I-2, PART=half", f"0., 0., {2 * l}.",  # upside down, rotated about its middle
             f"0., {SIZE[1] / 2}, {2 * l}., 1., {SIZE[1] / 2}, {2 * l}., 180.", "*END INSTANCE",
             "*NODE", "1, 0., 0., 12.", "*NSET, NSET=point", "1",
             "*NSET, NSET=far, INSTANCE=I-2", "low", "*SURFACE, NAME=far-end"]
    part += [f"I-2.{e}, S{s}" for e, s in faces["low"]]
    part += ["*COUPLING, CONSTRAINT NAME=C, REF NODE=point, SURFACE=far-end", "*KINEMATIC", "*END ASSEMBLY",
             "*MATERIAL, NAME=M", "*ELASTIC", "1000., 0.3", "*BOUNDARY", "I-1.low, ENCASTRE", "*STEP",
             "*STATIC", "*CLOAD", "point, 1, 2.", "point, 6, 3.", "*END STEP"]
    write("parts.inp", "\n".join(part) + "\n")
    turned = [[p[0], SIZE[1] - p[1], 2 * l - p[2]] for p in points]
    flat = ["*NODE"] + nodes
    flat += [f"{a + n}, {p[0]}, {p[1]}, {p[2]}" for a, p in enumerate(turned, 1) if p[2] > l]
    at = {tuple(p): a for a, p in enumerate(points, 1)}
    second = [[at.get(tuple(turned[a]), a + 1 + n) for a in row] for row in rows]
    flat += ["901, 0., 0., 12.", f"*ELEMENT, TYPE={type_name}, ELSET=EALL"] + elems
    flat += [f"{e + m}, " + ", ".join(map(str, row)) for e, row in enumerate(second, 1)]
    flat += ["*SURFACE, NAME=high"] + [f"{e + m}, S{s}" for e, s in faces["low"]]
    flat += ["*NSET, NSET=NSOLID"] + [f"{a}," for a in sorted({a for row in second for a in row} | set(at.values()))]
    flat += ["*NSET, NSET=NLOW", low, "*MATERIAL, NAME=M", "*ELASTIC", "1000., 0.3",
             "*SOLID SECTION, ELSET=EALL, MATERIAL=M", COUPLED.format(901, "high", "KINEMATIC", "1, 3") + FIXED +
             "*STEP\n*STATIC\n*CLOAD\n901, 1, 2.\n901, 6, 3.\n*NODE PRINT, NSET=NSOLID\nU\n*END STEP"]
    write("flat.inp", "\n".join(flat) + "\n")
    theirs = solve("flat", 1)[0]
    config("parts", False)
    write("parts.cfg", calculix.read("parts.cfg").replace('"parts.inp";', '"parts.inp"; merge = 1e-6;'))
    run(hextop, "-q", "run", "parts.cfg", "optimization.penalty=1.0")
    places, _, _, arrays = read_vtk(sorted(glob.glob("parts.out/density_*.vtk"))[-1])
    number = {tuple(round(x, 5) for x in p): k for k, p in
              enumerate(points + [p for p in turned if p[2] > l])}
    ours = next(arrays[k] for k in arrays if k.startswith("displacement"))
    off = difference(ours, [theirs[number[tuple(round(x, 5) for x in p)]] for p in places])
    check(len(places) == len(theirs) and off <= SAME, f"two instances differ from the whole bar by {off:.1e}")


def main():
    hextop = os.path.realpath(sys.argv[1])
    calculix.need_ccx()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_couplings(hextop)
        test_pins(hextop)
        test_bodies(hextop)
        test_new(hextop)
        test_pressures(hextop)
        test_mass(hextop)
        test_sets(hextop)
        test_assembly(hextop)
        os.chdir("/")
    return calculix.finish()


if __name__ == "__main__":
    sys.exit(main())
