#!/usr/bin/env python3
"""Files of pre-processors, written by this test: Nastran's bulk data in its three layouts, with
supports and loads; Medit files; universal files; and messages about files that are not read.

    test_formats.py HEXTOP

Exit status 0 passed, 1 failed."""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="hextop_formats_")
os.chdir(work)
atexit.register(shutil.rmtree, work)
n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def run(*args):
    done = subprocess.run([hextop, *args], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def mesh_of(path):
    """The mesh and its sets as .inp without the title."""
    code, said = run("mesh", path, "mesh.inp")
    check(code == 0, f"{path}: {said}")
    return open("mesh.inp").read().split("\n", 2)[2] if code == 0 else None


def section(text, head):
    found = re.search(re.escape(head) + r"\n((?:[^*].*\n)*)", text or "")
    return found.group(1).replace(" ", "").split() if found else None


# --- Nastran ---

# Two hexahedra along x, then a wedge, and a tetrahedron on the wedge; their numbers have gaps.
xyz = {11: (0, 0, 0), 12: (1, 0, 0), 13: (1, 1, 0), 14: (0, 1, 0), 15: (0, 0, 1), 16: (1, 0, 1),
       17: (1, 1, 1), 18: (0, 1, 1), 21: (2, 0, 0), 22: (2, 1, 0), 23: (2, 0, 1), 24: (2, 1, 1),
       31: (3, 0, 0), 32: (3, 0, 1), 41: (2.4, 0.4, 2)}
cells = [("CHEXA", 5, 1, (11, 12, 13, 14, 15, 16, 17, 18)), ("CHEXA", 6, 1, (12, 21, 22, 13, 16, 23, 24, 17)),
         ("CPENTA", 7, 2, (21, 31, 22, 23, 32, 24)), ("CTETRA", 8, 2, (23, 32, 24, 41))]
others = [
    ("SPC1", 1, 123456, 11, "THRU", 13), ("SPC1", 1, 12, 15), ("SPC", 2, 18, 3, 0.25),
    ("SPCADD", 9, 1, 2),
    ("FORCE", 3, 41, None, 2.0, 1.0, 0.0, -0.5), ("FORCE", 4, 24, 0, 1.0, 0.0, 3.0, 0.0),
    ("LOAD", 5, 2.0, 10.0, 3, 0.5, 4),
    ("PLOAD4", 6, 5, 3.0, None, None, None, 15, 17), ("PLOAD4", 6, 7, 2.0, None, None, None, 21),
    ("PLOAD4", 6, 8, 4.0, None, None, None, 23, 24), ("PLOAD", 6, 5.0, 11, 14, 18, 15),
    ("PSOLID", 1, 1), ("MAT1", 1, 210000.0, None, 0.3),
]
CONTROL = """ID deck
SOL 101
CEND
TITLE = a deck $ with a comment
SPC = 9
SUBCASE 1
  LOAD = 5
SUBCASE 2
  LOAD = 6
BEGIN BULK
"""


def word(value, width):
    if value is None:
        return ""
    if isinstance(value, float):
        text = repr(value)
        # Nastran's exponents need no E.
        return text if len(text) <= width else ("%.*e" % (width - 8, value)).replace("e", "")
    return str(value)


def card(how, fields):
    name, *values = fields
    n, width = (4, 16) if how == "large" else (8, 8)
    rows = [values[i : i + n] for i in range(0, len(values), n)] or [[]]
    lines = []
    for k, row in enumerate(rows):
        if how == "free":
            lines.append(",".join([name if k == 0 else "+"] + [word(v, 8) for v in row]))
            continue
        mark = "*" if how == "large" else ("" if k == 0 else "+")
        first = (name + mark if k == 0 else mark).ljust(8)
        lines.append(first + "".join(word(v, width).rjust(width) for v in row))
    return "\n".join(lines) + "\n"


def deck(how, more=(), control=CONTROL, end="ENDDATA\n"):
    text = control + "$ comment\n"
    for number, x in xyz.items():
        text += card(how, ("GRID", number, None, *map(float, x)))
    for kind, number, group, nodes in cells:
        text += card(how, (kind, number, group, *nodes))
    for fields in (*others, *more):
        text += card(how, fields)
    return text + end


CONFIG = """mesh = { file = "%s"; };
material = { E = 210000.0; nu = 0.3; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 0.5; filter = { radius = 1.2; }; };
"""


def job_of(path):
    """Supports and summed forces of a config that uses the file: {(node, component): value} for each step."""
    put("part.cfg", CONFIG % path)
    code, said = run("mesh", "part.cfg", "job.inp")
    check(code == 0, f"a job of {path}: {said}")
    if code:
        return None, []
    text = open("job.inp").read()
    fixed = {}
    for line in section(text, "*BOUNDARY") or []:
        node, first, last, *value = line.split(",")
        for c in range(int(first), int(last) + 1):
            fixed[int(node), c] = float(value[0]) if value else 0.0
    steps = []
    for step in text.split("*STEP")[1:]:
        forces = {}
        for block in re.findall(r"\*CLOAD.*\n((?:[^*].*\n)*)", step):
            for line in block.split("\n"):
                if line.strip():
                    node, c, value = line.split(",")
                    forces[int(node), int(c)] = forces.get((int(node), int(c)), 0.0) + float(value)
        steps.append(forces)
    return fixed, steps


meshes = {}
for how in ("small", "free", "large"):
    put(f"{how}.bdf", deck(how))
    meshes[how] = mesh_of(f"{how}.bdf")
check(meshes["small"] == meshes["free"] == meshes["large"] and meshes["small"], "three layouts")
check(section(meshes["small"], "*ELSET, ELSET=property-2") == ["7,8"], "elements of a property")
check(section(meshes["small"], "*NODE")[8].startswith("21,2"), "numbers of nodes")
tabs = deck("free").replace("GRID,11,,0.0,0.0,0.0", "GRID\t11\t\t0.0\t0.\t0.+0")
put("tabs.bdf", tabs)
check(tabs != deck("free") and mesh_of("tabs.bdf") == meshes["small"], "tabs and 0.+0")
head, bulk = deck("small").split("CHEXA", 1)
put("main.dat", head + "INCLUDE 'cells.inc'\n")
put("cells.inc", "CHEXA" + bulk)
check(mesh_of("main.dat") == meshes["small"], "INCLUDE, and .dat told by its first lines")

fixed, steps = job_of("small.bdf")
expected = {(n, c): 0.0 for n in (11, 12, 13) for c in (1, 2, 3)}
expected.update({(15, 1): 0.0, (15, 2): 0.0, (18, 3): 0.25})
check(fixed == expected, f"supports: {fixed}")
near = lambda a, b: abs(a - b) < 1e-9
check(len(steps) == 2, f"{len(steps)} cases of two subcases")
first = {(41, 1): 40.0, (41, 3): -20.0, (24, 2): 3.0}
check(steps and set(steps[0]) == set(first) and all(near(steps[0][k], v) for k, v in first.items()),
      f"LOAD's factors: {steps[:1]}")
# The pressures act on the top of element 5 (area 1), the wedge's lower triangle (area 1/2), and the
# tetrahedron's face 23 32 41 (not 24). PLOAD acts on the face x = 0, whose normal by its corners is +x.
total = [sum(v for (n, c), v in steps[1].items() if c == d) for d in (1, 2, 3)]
outward = (0.0, -0.5, 0.2) # half the cross product of edges (1, 0, 0) and (0.4, 0.4, 1)
expected = [5.0 * 1 - 4 * outward[0], -4 * outward[1], -3.0 + 2 * 0.5 - 4 * outward[2]]
check(all(near(x, y) for x, y in zip(total, expected)), f"pressures: {total}, expected {expected}")
moment = sum(v * xyz[n][0] for (n, c), v in steps[1].items() if c == 3) # moment of the forces along z, with lever arm x
expected = -3 * 0.5 + 2 * 0.5 * 7 / 3 - 4 * outward[2] * (2 + 3 + 2.4) / 3
check(near(moment, expected), f"the pressures' moment: {moment}, expected {expected}")

put("lost.bdf", deck("free", [("RBE2", 70, 41, 123, 11, 12), ("RBE2", 71, 41, 123, 13), ("MOMENT", 3, 41, 0, 1.0, 0., 0., 1.),
                              ("CQUAD4", 80, 3, 11, 14, 18, 15)]))
code, said = run("mesh", "lost.bdf", "out.inp")
check(code == 0 and "lost.bdf:46: not read: 2 RBE2 (rigid elements)" in said and "CQUAD4" not in said,
      f"what is lost: {said}")
check(section(open("out.inp").read(), "*SURFACE, TYPE=ELEMENT, NAME=property-3") == ["5,S6"], "a shell's face")
put("part.cfg", CONFIG % "lost.bdf")
code, said = run("mesh", "part.cfg", "job.inp")
check(code == 2 and "2 RBE2 (rigid elements)" in said and 'from = "file"' in said, f"refused: {said}")
put("spc.bdf", deck("free", control=CONTROL.replace("SUBCASE 2\n", "SUBCASE 2\nSPC = 1\n")))
put("part.cfg", CONFIG % "spc.bdf")
code, said = run("mesh", "part.cfg", "job.inp")
check(code == 2 and "subcase 2 has SPC = 1, subcase 1 SPC = 9" in said, f"other supports: {said}")

# Other items of the file are named, and refused where they matter. Each entry has words and what they refuse.
OWN = {"supports": 'supports = ( { set = "property-1"; fix = "xyz"; } );',
       "loads": "loads = ( { gravity = [0.0, 0.0, -1.0]; } );"}
QUAD = ("CQUAD4", 80, 3, 11, 14, 18, 15)
for what, more, control, named, refuses in (
    ("shells", [QUAD, ("PSHELL", 3, 1, 0.5)], CONTROL, "1 CQUAD4 (shells)", "supports loads"),
    ("shells that mark", [QUAD], CONTROL, "", ""),
    ("bars", [("CBAR", 81, 4, 11, 14, 0.0, 0.0, 1.0), ("PBARL", 4, 1, None, "ROD", None, None, None, None, 1.0)],
     CONTROL, "1 CBAR (bars)", "supports loads"),
    ("bars that mark", [("CBAR", 81, 4, 11, 14, 0.0, 0.0, 1.0)], CONTROL, "", ""),
    ("springs", [("CELAS2", 82, 10.0, 11, 1)], CONTROL, "1 CELAS2 (springs)", "supports loads"),
    ("RBE3", [("RBE3", 83, None, 41, 123, 1.0, 123, 11, 14)], CONTROL, "1 RBE3 (interpolation elements)",
     "supports loads"),
    ("masses", [("CONM2", 84, 41, 0, 7.0)], CONTROL, "1 CONM2 (point masses)", ""),
    ("PLOTEL", [("PLOTEL", 85, 11, 14)], CONTROL, "1 PLOTEL (plot elements)", ""),
    ("gravity", [("GRAV", 5, 0, 9.81, 0.0, 0.0, -1.0)], CONTROL, "1 GRAV (gravity)", "loads"),
    ("gravity that no subcase chooses", [("GRAV", 77, 0, 9.81, 0.0, 0.0, -1.0)], CONTROL, "", ""),
    ("a moment within a LOAD", [("MOMENT", 3, 41, 0, 1.0, 0.0, 0.0, 1.0)], CONTROL, "1 MOMENT (moments)", "loads"),
    ("temperatures", [("TEMPD", 8, 80.0)], CONTROL.replace("SUBCASE 1", "TEMPERATURE(LOAD) = 8\nSUBCASE 1"),
     "1 TEMPD (temperatures)", "loads"),
    ("temperatures that are not chosen", [("TEMPD", 8, 80.0)], CONTROL, "", ""),
    ("a turned force", [("FORCE", 3, 41, 4, 2.0, 1.0, 0.0, 0.0)], CONTROL, "1 FORCE of a coordinate system", "loads"),
    ("pressure on a shell", [QUAD, ("PLOAD4", 6, 80, 1.0)], CONTROL, "1 PLOAD4 of shells", "loads"),
    ("SUPORT", [("SUPORT", 11, 123)], CONTROL, "1 SUPORT (supports of free bodies)", "supports"),
    ("SPCD", [("SPCD", 5, 18, 3, 0.5)], CONTROL, "1 SPCD (prescribed displacements of a load)", "supports loads"),
    ("modes", [], CONTROL.replace("SOL 101", "SOL 103"), "1 SOL 103 (no static analysis)", "loads"),
    ("buckling", [], CONTROL.replace("SOL 101", "SOL 105").replace("  LOAD = 6", "  METHOD = 3"),
     "1 SUBCASE 2 (no static analysis)", ""),
    ("a pressure on nodes of no solid", [("GRID", 90, None, 9.0, 9.0, 9.0), ("PLOAD", 6, 1.0, 11, 14, 90)], CONTROL,
     "1 PLOAD of shells", "loads"),
    ("one pressure in two subcases", [("GRID", 90, None, 9.0, 9.0, 9.0), ("PLOAD", 6, 1.0, 11, 14, 90)],
     CONTROL.replace("LOAD = 5", "LOAD = 6"), "1 PLOAD of shells", "loads"),
    ("a card that is not known", [("CFOO", 1, 2)], CONTROL, "1 CFOO (unknown cards)", "supports loads"),
):
    put("more.bdf", deck("free", more, control))
    for key, own in OWN.items():
        other = "loads" if key == "supports" else "supports"
        text = re.sub(r"supports = .*\n" if other == "supports" else r"loads = .*\n", OWN[other] + "\n", CONFIG)
        if what == "masses":
            text = text.replace("gravity = [0.0, 0.0, -1.0]", 'set = "property-2"; total_force = [0.0, 0.0, -1.0]')
        put("more.cfg", text.replace("nu = 0.3", "nu = 0.3; density = 1.0") % "more.bdf")
        code, said = run("mesh", "more.cfg", "more.inp")
        check(("not read: " in said) == bool(named) and named in said, f"{what}: named: {said}")
        check((code == 2 and f"{key}[0]: from" in said) == (key in refuses.split()), f"{what}: {key}: {said}")

# The material of the solids is given by MAT1 through PSOLID.
both = lambda m, p2="PSOLID,2,1\n": deck("free").replace("MAT1,1,210000.0,,0.3\n", m).replace("PSOLID,1,1\n", "PSOLID,1,1\n" + p2)
TAKE = CONFIG.replace("E = 210000.0; nu = 0.3;", 'from = "file";')
for what, text, expected in (
    ("E and nu", both("MAT1,1,210000.0,,0.3,7.8-9\n"), "E 210000 MPa, nu 0.3, density 7.8e-09"),
    ("E and G", both("MAT1,1,260.0,100.0\n"), "E 260 MPa, nu 0.3"),
    ("two with the same numbers", both("MAT1,1,200.0,,0.3\nMAT1,4,200.0,,0.3\n", "PSOLID,2,4\n"), "E 200 MPa, nu 0.3"),
    ("two", both("MAT1,1,200.0,,0.3\nMAT1,4,300.0,,0.3\n", "PSOLID,2,4\n"), "E 200 MPa, nu 0.3"),
    ("two with other nu", both("MAT1,1,200.0,,0.3\nMAT1,4,300.0,,0.2\n", "PSOLID,2,4\n"),
     "several materials: '1' has nu 0.3, and '4' of the set 'property-2' has 0.2; all must have the same"),
    ("two, one without density", both("MAT1,1,200.0,,0.3\nMAT1,4,300.0,,0.3,1.0\n", "PSOLID,2,4\n"),
     "'1' has no density, and '4' of the set 'property-2' has one"),
    ("anisotropic", both("MAT1,1,200.0,,0.3\nMAT9,4,1.0\n", "PSOLID,2,4\n"), "material 4 is not isotropic"),
    ("another G", both("MAT1,1,200.0,10.0,0.3\n"), "has a G that does not follow from E and NU"),
    ("temperatures", both("MAT1,1,200.0,,0.3\nMATT1,1,5\n"), "depends on temperature"),
    ("no PSOLID", both("MAT1,1,200.0,,0.3\n", ""), "elements of property 2 have no material"),
    ("none", both(""), "states no material"),
):
    put("material.bdf", text)
    put("material.cfg", 'units = "N, mm, MPa";\n' + TAKE % "material.bdf")
    code, said = run("mesh", "material.cfg", "material.inp")
    check(expected in said and (code == 0) == expected.startswith("E "), f"material, {what}: {code} {said}")
    if what == "two":
        check("material '4' of the set 'property-2': E 300" in said, f"the other material: {said}")
        found = re.findall(r"\*ELASTIC\n([^,]+),", open("material.inp").read())
        check([float(e) for e in found] == [200.0, 300.0], f"a job of two materials: {found}")
put("material.bdf", both("MAT1,1,70000.0,,0.3\n"))
put("material.cfg", CONFIG % "material.bdf")
code, said = run("mesh", "material.cfg", "material.inp")
check(code == 0 and "material.E = 210000" in said and "has 70000" in said, f"a material that differs: {said}")

# A line that ends with a comma continues on the next line, which begins with data.
text = deck("free")
bare = text.replace("SPC1,1,123456,11,THRU,13", "SPC1,1,123456,11,\n12,\n13")
put("bare.bdf", bare)
check(bare != text and job_of("bare.bdf")[0] == job_of("small.bdf")[0], "a line of data alone goes on with a card")

# Components in the coordinate system of a node are refused unless all components of the node are supported.
systems = [("CORD2R", 4, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)]
turned = deck("free", systems).replace("GRID,11,,0.0,0.0,0.0", "GRID,11,,0.0,0.0,0.0,4")
put("turned.bdf", turned)
check(job_of("turned.bdf")[0] == job_of("small.bdf")[0], "a node with a system of its own, held in full")
put("turned.bdf", turned.replace("GRID,15,,0.0,0.0,1.0", "GRID,15,,0.0,0.0,1.0,4"))
put("part.cfg", CONFIG % "turned.bdf")
code, said = run("mesh", "part.cfg", "job.inp")
check(code == 2 and "1 GRID CD (supports in the coordinate system of a node)" in said, f"turned: {said}")

# gmsh writes the numbers of the CAD model, so a volume and a surface can have the same property number.
put("one.bdf", deck("free", [("CQUAD4", 80, 1, 11, 14, 18, 15), ("CQUAD4", 81, 7, 21, 24, 22, 31)]))
found = mesh_of("one.bdf")
check(section(found, "*ELSET, ELSET=property-1") == ["5,6"] and
      section(found, "*SURFACE, TYPE=ELEMENT, NAME=surface-1") == ["5,S6"] and "surface-7" not in found,
      f"a property of solids and of shells: {found}")

put("bulk.nas", deck("small", control="", end=""))
fixed, steps = job_of("bulk.nas")
check(fixed and len(fixed) == 12 and len(steps) == 2, f"without case control: {fixed} {len(steps)}")

# Pressures on quadratic elements use all their nodes, corners and mid-side nodes. A cube that is pulled in
# this way has uniform strain.
cube = [("GRID", 1 + i, None, float(i % 2), float(i // 2 % 2), float(i // 4)) for i in range(8)]
held = [("SPC1", 1, c, *[1 + i for i in range(8) if i >> k & 1 == 0]) for k, c in enumerate((1, 2, 3))]
tets = [(1, 2, 4, 8), (1, 4, 3, 8), (1, 3, 7, 8), (1, 7, 5, 8), (1, 5, 6, 8), (1, 6, 2, 8)]
KINDS = {
    "hexahedra": ([("CHEXA", 1, 1, 1, 2, 4, 3, 5, 6, 8, 7)], [("PLOAD4", 2, 1, -2.0, None, None, None, 5, 8)],
                  {"1": -1 / 6, "2": 2 / 3}),
    "wedges": ([("CPENTA", 1, 1, 1, 2, 4, 5, 6, 8), ("CPENTA", 2, 1, 1, 4, 3, 5, 8, 7)],
               [("PLOAD4", 2, 1, -2.0, None, None, None, 5), ("PLOAD4", 2, 2, -2.0, None, None, None, 5)], None),
    "tetrahedra": ([("CTETRA", 1 + i, 1, *t) for i, t in enumerate(tets)],
                   [("PLOAD4", 2, 4, -2.0, None, None, None, 7, 1), ("PLOAD4", 2, 5, -2.0, None, None, None, 5, 1)], None),
    "PLOAD": ([("CHEXA", 1, 1, 1, 2, 4, 3, 5, 6, 8, 7)], [("PLOAD", 2, 2.0, 5, 6, 8, 7)], {"1": -1 / 6, "2": 2 / 3}),
}
for name, (elements, loads, share) in KINDS.items():
    lines = "BEGIN BULK\n" + "".join(card("free", f) for f in (*cube, *held, *elements, *loads)) + "ENDDATA\n"
    put("cube.bdf", lines)
    put("part.cfg", CONFIG % "cube.bdf")
    for element in ("linear", "quadratic"):
        code, said = run("analyse", "part.cfg", f"solver.element={element}", "--output", "cube.json")
        found = float(json.load(open("cube.json"))["compliance"]) if code == 0 else 0.0
        check(abs(found * 210000.0 / 4.0 - 1.0) < 1e-8, f"pressure on {element} {name}: {found} {said}")
    code, said = run("mesh", "part.cfg", "job.inp", "solver.element=quadratic")
    force = sorted(float(line.split(",")[2]) for block in re.findall(r"\*CLOAD.*\n((?:[^*].*\n)*)", open("job.inp").read())
                   for line in block.split("\n") if line.split(",")[1:2] == [" 3"] and abs(float(line.split(",")[2])) > 1e-12)
    check(near(sum(force), 2.0), f"force of {name}: {force}")
    if share: # for a square face: -1/12 at corners, 1/3 at mid-side nodes
        check(len(force) == 8 and all(near(x, y) for x, y in zip(force, [share["1"]] * 4 + [share["2"]] * 4)),
              f"shares of {name}: {force}")

# Nested coordinate systems: moved, rotated, cylindrical, spherical.
systems = [("CORD2R", 4, 0, 1.0, 2.0, 3.0, 1.0, 2.0, 4.0, 1.0, 3.0, 3.0), # x is the basic y
           ("CORD2C", 5, 4, *(0.0,) * 3, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
           ("CORD2S", 6, 0, *(0.0,) * 3, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)]
turned = [("GRID", 1, 4, 0.0, 0.0, 0.0), ("GRID", 2, 4, 1.0, 0.0, 0.0), ("GRID", 3, 5, 2.0, 90.0, 0.0),
          ("GRID", 4, 6, 5.0, 90.0, 90.0)]
put("systems.bdf", "".join(card("large", c) for c in (*turned, *systems, ("CTETRA", 1, 1, 1, 2, 4, 3))))
found = section(mesh_of("systems.bdf"), "*NODE")
found = [[float(x) for x in line.split(",")[1:]] for line in found or []]
expected = [[1, 2, 3], [1, 3, 3], [-1, 2, 3], [0, 5, 0]] # y of system 4 is the basic -x
check(all(near(x, y) for a, b in zip(found, expected) for x, y in zip(a, b)) and len(found) == 4,
      f"coordinate systems: {found}")

# Second order: nodes along the height come before those of the top.
corner = [xyz[n] for n in cells[0][3]]
pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4)]
full = corner + [tuple((p + q) / 2 for p, q in zip(corner[i], corner[j])) for i, j in pairs]
bulk = "".join(card("free", ("GRID", i, None, *map(float, x))) for i, x in enumerate(full, 1))
bulk += card("free", ("CHEXA", 1, 1, *range(1, 21))) + card("free", ("SPC1", 1, 1, 13))
put("hexa20.bdf", bulk)
code, said = run("mesh", "hexa20.bdf", "out.inp")
check(code == 0 and "12 mid-side nodes" in said and "off the middle" not in said, f"CHEXA of 20: {said}")


def refused(path, text, message):
    put(path, text)
    code, said = run("mesh", path, "out.vtk")
    check(code == 2 and message in said, f"{path}: {code} {said}")


def soft(path, key, text, message):
    """Errors of supports or loads (`key`) give a warning. The supports or loads of the file are then refused,
    but its mesh is accepted."""
    put(path, text)
    code, said = run("mesh", path, "out.vtk")
    check(code == 0 and message in said, f"{path}: {code} {said}")
    for refused_key, other in (("supports", "loads"), ("loads", "supports")):
        config = re.sub(rf"{other} = .*\n", OWN[other] + "\n", CONFIG).replace("nu = 0.3", "nu = 0.3; density = 1.0")
        put("soft.cfg", config % path)
        code, said = run("mesh", "soft.cfg", "soft.inp")
        is_refused = code == 2 and f"{refused_key}[0]: from" in said and message in said
        check(is_refused if refused_key == key else code == 0, f"{path}: {refused_key}: {code} {said}")


refused("system.bdf", deck("free").replace("GRID,12,,", "GRID,12,4,"), "system.bdf:13: coordinate system 4")
refused("number.bdf", deck("free").replace("GRID,12,,1.0", "GRID,12,,1.0x"), "GRID: '1.0x' in field 4")
refused("short.bdf", deck("free").replace("CTETRA,8,2,23,32,24,41", "CTETRA,8,2,23,32,24"),
        "CTETRA: node 4 of 4 is missing")
refused("node.bdf", deck("free").replace("CTETRA,8,2,23,32,24,41", "CTETRA,8,2,23,32,24,42"),
        "element 8 names node 42, which the file does not have")
soft("face.bdf", "loads", deck("free").replace("PLOAD4,6,5,3.0,,,,15,17", "PLOAD4,6,5,3.0,,,,15,16"),
        "nodes 15 and 16 do not define a face of element 5")
soft("spc1.bdf", "supports", deck("free").replace("SPC1,1,12,15", "SPC1,1,12,15,THRU,14"), "SPC1: 15 THRU 14")
soft("components.bdf", "supports", deck("free").replace("SPC,2,18,3,", "SPC,2,18,x,"), "components 'x'; digits 1 to 6")
soft("size.bdf", "loads", deck("free").replace("FORCE,4,24,0,1.0", "FORCE,4,24,0,%size"), "FORCE: '%size' in field 5")
refused("include.bdf", "BEGIN BULK\nINCLUDE 'none.inc'\n", "include.bdf:2: INCLUDE: ")
refused("loop.bdf", "BEGIN BULK\nINCLUDE 'loop.bdf'\n", "more than 16 files that include each other")

# GRDSET has an effect wherever it stands: on CP, CD and PS.
frame = [("CORD2R", 5, None, 100.0, 0.0, 0.0, 100.0, 0.0, 1.0, 101.0, 0.0, 0.0)]
for fields in ((None, None, None, None, None, 2), (5, None, None, None, None, None), (None, None, None, None, 5)):
    grdset = card("free", ("GRDSET", None, *fields))
    behind, ahead = deck("free", frame), deck("free", frame)
    put("behind.bdf", behind.replace("ENDDATA", grdset + "ENDDATA"))
    put("ahead.bdf", ahead.replace("$ comment\n", "$ comment\n" + grdset, 1))
    said = [[re.sub(r"\S*(ahead|behind)\.bdf(:\d+)?", "", text) for text in run("mesh", path, "grdset.inp")[1:]]
            for path in ("ahead.bdf", "behind.bdf")]
    check(mesh_of("ahead.bdf") == mesh_of("behind.bdf") and ("GRID CD" in said[1][0]) == ("GRID CD" in said[0][0]) ==
          (len(fields) == 5), f"GRDSET {fields}: {said}")
    if len(fields) != 5:
        job = job_of("behind.bdf")
        check(job == job_of("ahead.bdf") and
              all((n, 2) in job[0] for n in xyz) == (fields[-1] == 2), f"supports of GRDSET {fields}: {job}")
    if fields[0] == 5:
        check(section(mesh_of("behind.bdf"), "*NODE")[0].startswith("11,100"), "CP of GRDSET")


def named(more, message, keys="material", control=CONTROL, change=lambda text: text):
    """`mesh` names what it does not read, even if the config states a material. Using these keys from the file is
    refused."""
    put("named.bdf", change(deck("free", [*more, ("PSOLID", 2, 1)], control)))
    code, said = run("-q", "mesh", "named.bdf", "out.vtk")
    check(code == 0 and message in said, f"{message}: {code} {said}")
    own = CONFIG.replace("material = {", "material = { density = 1.0;") % "named.bdf"
    for key in ("supports", "loads", "material"):
        text = own if key == "material" else re.sub(rf"{'loads' if key == 'supports' else 'supports'} = .*\n",
                                                    OWN["loads" if key == "supports" else "supports"] + "\n", own)
        if key == "material":
            for other in OWN:
                text = re.sub(rf"{other} = .*\n", OWN[other] + "\n", text)
            text = re.sub(r"material = .*", 'material = { from = "file"; density = 1.0; };', text)
        put("named.cfg", text)
        code, said = run("-q", "check", "named.cfg")
        check(message in said and (code == 2) == (key in keys), f"{message}: {key}: {code} {said}")


named([("PCOMPLS", 1)], "not read: 1 PCOMPLS (layered solids)")
named([("PCOMPLS", 3)], "", "")
named([("MATS1", 1, None, "PLASTIC")], "1 MATS1 (nonlinear materials)")
named([("MATS1", 8, None, "PLASTIC")], "", "")
for name, what in (("MATHP", "hyperelastic materials"), ("MATHE", "hyperelastic materials"),
                   ("MAT9", "materials that are not linear and isotropic")):
    named([(name, 1, 80.0)], f"1 {name} ({what})", change=lambda text: text.replace("MAT1,1,", "MAT1,7,"))
named([("PLSOLID", 1, 1)], "1 PLSOLID (hyperelastic solids)", change=lambda text: text.replace("PSOLID,1,1\n", "", 1))
for solution in ("106", "400", "NLSTATIC"):
    named([("PARAM", "LGDISP", 1)], f"not read: 1 SOL {solution} (nonlinear; the analysis is linear), 1 PARAM,LGDISP", "",
          CONTROL.replace("SOL 101", f"SOL {solution}"))
named([], "1 NLPARM (nonlinear", "", CONTROL.replace("SOL 101\n", "").replace("SPC = 9", "SPC = 9\nNLPARM = 3"))
put("lgdisp.bdf", deck("free", [("PARAM", "LGDISP", 1)]))
check("LGDISP" not in run("mesh", "lgdisp.bdf", "out.vtk")[1], "LGDISP of a linear solution")

# PSOLID's default has bubble functions. IN = 2 or 3 with ISOP = 1 is full integration.
for line, said_of in (("PSOLID,1,1", "bubble functions"), ("PSOLID,1,1,,TWO", "reduced integration of shear"),
                      ("PSOLID,1,1,,2,,1", None), ("PSOLID,1,1,,THREE,,FULL", None), ("PSOLID,9,1", None)):
    put("isop.bdf", deck("free", [("PSOLID", 2, 1, None, 2, None, 1)]).replace("PSOLID,1,1\n", line + "\n"))
    said = run("-q", "mesh", "isop.bdf", "out.vtk")[1]
    check(("CHEXA and CPENTA of first order (" + said_of if said_of else "") in said and
          ("first order" in said) == bool(said_of), f"{line}: {said}")

# Sets that the case control names but the deck does not have; no set chosen.
for old, new, key, message in (
    ("LOAD = 6", "LOAD = 99", "loads", "sets.bdf:9: LOAD = 99 of the case control names no set; sets of loads in the file: 5, 3, 4, 6"),
    ("SPC = 9", "SPC = 99", "supports", "sets.bdf:5: SPC = 99 of the case control names no set; sets of supports in the file: 9, 1, 2"),
    ("SPC = 9\n", "", "supports", "the case control has no SPC; sets of supports in the file: 9, 1, 2"),
    ("LOAD", "LABEL", "loads", "the case control has no LOAD; sets of loads in the file: 5, 3, 4, 6"),
):
    text = deck("free").split("BEGIN BULK")
    put("sets.bdf", text[0].replace(old, new) + "BEGIN BULK" + text[1])
    put("sets.cfg", CONFIG % "sets.bdf")
    code, said = run("check", "sets.cfg")
    check(code == 2 and f"{key}[0]: from" in said and message in said, f"{new}: {code} {said}")
put("none.bdf", deck("free", control="").replace("SPC", "$").replace("ENDDATA", ""))
put("none.cfg", CONFIG % "none.bdf")
check("SPC, SPC1, FORCE, PLOAD and PLOAD4 of a Nastran file are supported" in run("check", "none.cfg")[1], "cards that are read")

# Combined sets must name sets of the deck, and no other combined sets. Rotations alone also make a set.
mpc = CONTROL.replace("SPC = 9", "SPC = 9\nMPC = 20")
for more, control, key, message in (
    ([("LOAD", 7, 1.0, 1.0, 3, 1.0, 55)], CONTROL.replace("LOAD = 5", "LOAD = 7"), "loads",
     "LOAD 7 names set 55, which the file does not have; sets of loads in the file: 5, 7, 3, 4, 6"),
    ([("LOAD", 7, 1.0, 1.0, 5)], CONTROL.replace("LOAD = 5", "LOAD = 7"), "loads", "LOAD 7 includes LOAD 5; include the sets"),
    ([("LOAD", 7, 1.0, 1.0, 55)], "", "loads", "LOAD 7 names set 55"),
    ([("SPCADD", 10, 1, 77)], CONTROL.replace("SPC = 9", "SPC = 10"), "supports",
     "SPCADD 10 names set 77, which the file does not have; sets of supports in the file: 9, 10, 1, 2"),
    ([("MPCADD", 20, 21)], mpc, "supports", "MPCADD 20 names set 21, which the file does not have"),
    ([], mpc, "supports", "MPC = 20 of the case control names no set; sets of multipoint constraints in the file: none"),
    ([], CONTROL.replace("LOAD = 5", "LOAD = 5\nTEMP(LOAD) = 8\nTEMP(INIT) = 9"), "loads",
     "TEMPERATURE = 8 of the case control names no set; sets of temperatures in the file: none"),
    ([], CONTROL.replace("  LOAD = 6\n", ""), "loads", "parts.bdf:8: subcase 2 has no LOAD; add LOAD"),
    ([("LOAD", 7, 1.0, 1.0, 55), ("SPCADD", 10, 1, 77), ("SPC1", 3, 456, 14), ("SPCADD", 11, 1, 3)],
     CONTROL.replace("SPC = 9", "SPC = 11"), None, ""),
):
    put("parts.bdf", deck("free", more, control).replace("SPC,2,18,3,0.25", "SPC,2,18,3"))
    put("parts.cfg", CONFIG % "parts.bdf")
    code, said = run("check", "parts.cfg")
    check(code == 2 and f"{key}[0]: from" in said and message in said if key else code == 0, f"{more}: {code} {said}")

# Each STEP of SOL 400 is a load case, including what its subcase states before the first step. ANALYSIS may
# be written without "=".
both = job_of("small.bdf")
for control in (
    CONTROL.replace("SOL 101", "SOL 400").replace("SUBCASE 1", "SUBCASE 1\nSTEP 1").replace("SUBCASE 2", "STEP 2"),
    CONTROL.replace("SOL 101", "SOL 400").replace("SUBCASE 1\n", "STEP 1\n").replace("SUBCASE 2\n", "STEP 2\n"),
    CONTROL.replace("SOL 101", "SOL 400").replace("SUBCASE 1\n", "SUBCASE 1\nLOAD = 5\nSTEP 1\n")
    .replace("  LOAD = 5\n", "").replace("SUBCASE 2\n", "STEP 2\n"),
    CONTROL.replace("LOAD = 5", "LOAD = 5\nANALYSIS STATICS").replace("LOAD = 6", "LOAD = 6\nANALYSIS=STATICS")
    .replace("SOL 101\n", ""),
    CONTROL.replace("SUBCASE", "SUBCA").replace("  LOAD = ", "LOAD ").replace("LOAD 5", "LOAD 5\nANAL STATICS"),
):
    put("steps.bdf", deck("free", control=control))
    check(job_of("steps.bdf") == both and len(both[1]) == 2, f"cases of {control}: {job_of('steps.bdf')}")
named([], "1 SUBCASE 1, STEP 2 (no static analysis)", "",
      CONTROL.replace("SOL 101", "SOL 400").replace("SUBCASE 1", "SUBCASE 1\nSTEP 1").replace("SUBCASE 2", "STEP 2\nANALYSIS MODES"))

# A file without a static step has no loads for the config, even if that step is ignored. Loads of the config
# work.
run("mesh", "small.bdf", "still.inp")
still = open("still.inp").read() + "*STEP\n*FREQUENCY\n5\n*BOUNDARY\n11,1,3\n12,1,3\n13,1,3\n*CLOAD\n15,3,-5.\n*END STEP\n"
cdb = ("/PREP7\nET,1,185\n" + "".join(f"N,{k},{','.join(map(str, xyz[n]))}\n" for k, n in enumerate(cells[0][3], 1)) +
       "E,1,2,3,4,5,6,7,8\n" + "".join(f"D,{k},ALL\n" for k in (1, 2, 3)) + "F,5,FZ,-5.\n/SOLU\nANTYPE,MODAL\nSOLVE\n")
for path, text, step in (("still.inp", still, "*FREQUENCY"), ("still.cdb", cdb, "ANTYPE,MODAL"),
                         ("still.bdf", deck("free", control=CONTROL.replace("SOL 101", "SOL 103")), "SOL 103")):
    put(path, text)
    for ignore in ("", f' ignore = ("{step}");'):
        put("still.cfg", CONFIG.replace('"%s";', f'"{path}";' + ignore))
        code, said = run("check", "still.cfg")
        check(code == 2 and f"1 {step} (no static" in said and "the file has no static load case, and mesh.ignore cannot make "
              "one: state the loads in the config" in said and "on purpose with" not in said, f"{path}{ignore}: {code} {said}")
        put("still.cfg", re.sub(r"loads = .*", OWN["loads"], CONFIG.replace("nu = 0.3", "nu = 0.3; density = 1.0"))
            .replace('"%s";', f'"{path}";' + ignore))
        code, said = run("check", "still.cfg")
        check(code == 0, f"{path}{ignore}, loads of the config: {code} {said}")
    check("ignore = " not in run("new", path)[1], f"new {path} prints a line that helps nothing")

# Inertia relief means loads that the file does not list.
relief = "1 INREL (inertia relief: loads by mass that balance the others)"
named([("PARAM", "INREL", -1)], relief, "loads")
named([("PARAM", "INREL", -2)], relief, "loads")
named([("PARAM", "INREL", 0)], "", "")
named([], relief, "loads", CONTROL.replace("SPC = 9", "SPC = 9\nINREL=-2"))
named([], relief, "loads", CONTROL.replace("SPC = 9", "SPC = 9\nPARAM,INREL,-2"))
put("free.bdf", deck("free", [("PARAM", "INREL", -2)], CONTROL.replace("SPC = 9\n", "")).replace("SPC", "$"))
put("free.cfg", CONFIG % "free.bdf")
said = run("check", "free.cfg")[1]
check("inertia relief balances the loads of an unsupported part" in said and "free.bdf has no support" not in said, said)

# gmsh's complete second-order cells are refused.
for kind, n, most in (("CHEXA", 27, 20), ("CPENTA", 18, 15), ("CPYRAM", 14, 13), ("CTETRA", 20, 10)):
    refused("more.bdf", deck("free", [(kind, 9, 1, *range(101, 101 + n))]),
            f"{kind}: element 9 has {n} nodes, but Nastran's {kind} has at most {most}; in gmsh set Mesh.SecondOrderIncomplete = 1")
# Supports of a node that belongs to no element are left out, however they are stated, and the message counts
# nodes, not components. CD of such a node has no effect.
for what, more, n in (("SPC1", [("SPC1", 1, 123, 95)], 1), ("SPC1 THRU", [("SPC1", 1, 123, 91, "THRU", 99)], 1),
                      ("PS", [], 0), ("CD", [("SPC1", 1, 3, 95)], 1)):
    grid = {"PS": ",,123", "CD": ",4"}.get(what, "")
    put("idle.bdf", deck("free", more + [("CORD2R", 4, "", 0., 0., 0., 0., 0., 1.), ]) .replace("GRID,15,", f"GRID,95,,9.0,0.0,0.0{grid}\nGRID,15,", 1))
    said = run("mesh", "idle.bdf", "out.vtk")[1]
    check("supports of nodes that no element has are left out: 1, the first on node 95" in said and "GRID CD" not in said,
          f"an idle node by {what}: {said}")
put("cd.bdf", deck("free", [("SPC1", 1, 3, 15)]).replace("GRID,15,,0.0,0.0,1.0", "GRID,15,,0.0,0.0,1.0,4"))
said = run("-q", "mesh", "cd.bdf", "out.vtk")[1]
check("not read: 1 GRID CD" in said, f"a node counts once: {said}")

# --- Medit and universal files: the same mesh ---

order = {number: i for i, number in enumerate(xyz, 1)}
medit = "MeshVersionFormatted 2\n# comment\nDimension 3\nVertices\n%d\n" % len(xyz)
medit += "".join("%g %g %g 0\n" % x for x in xyz.values())
medit += "Normals 1\n0 0 1\n" # not read
for name, kind in (("Hexahedra", "CHEXA"), ("Prisms", "CPENTA"), ("Tetrahedra", "CTETRA")):
    mine = [c for c in cells if c[0] == kind]
    medit += f"{name} {len(mine)}\n" + "".join(
        " ".join(str(order[n]) for n in c[3]) + f" {c[2]}\n" for c in mine)
medit += "Quadrilaterals 1\n1 4 8 5 3\nTriangles 1\n9 13 10 4\nEdges 1\n1 2 5\nEnd\n"
put("part.mesh", medit)
found = mesh_of("part.mesh")
check(section(found, "*ELSET, ELSET=property-1") == ["1,2"] and
      section(found, "*ELSET, ELSET=property-2") == ["3,4"], "Medit's references")
check(section(found, "*SURFACE, TYPE=ELEMENT, NAME=surface-3") == ["1,S6"] and
      section(found, "*SURFACE, TYPE=ELEMENT, NAME=surface-4") == ["3,S1"] and
      section(found, "*NSET, NSET=curve-5") == ["1,2"], "Medit's faces and edges")
refused("flat.mesh", medit.replace("Dimension 3", "Dimension 2"), "flat.mesh:3: a mesh in 2 dimensions")
refused("wide.mesh", medit.replace("Hexahedra 2", "Hexahedra 1"), "'2' where a section is expected")
refused("cut.mesh", medit.replace("Hexahedra 2", "Hexahedra 99999"), "do not fit into the")
refused("q2.mesh", medit.replace("Hexahedra 2", "HexahedraQ2 2"), "HexahedraQ2 is not read")
refused("p2.mesh", medit.replace("Normals 1\n0 0 1\n", "TetrahedraP2Ordering\n4 0 0 0\n"), "TetrahedraP2Ordering is not read")

# gmsh writes 20 and 27 nodes under Hexahedra, 8 and 9 under Quadrilaterals, and edges in its own order.
corner = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
groups = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7),
          (0, 1, 2, 3), (0, 1, 5, 4), (0, 3, 7, 4), (1, 2, 6, 5), (2, 3, 7, 6), (4, 5, 6, 7), range(8)]
full = corner + [tuple(sum(corner[k][c] for k in g) / len(g) for c in range(3)) for g in groups]
for n, n_quad, breaks in ((20, 8, " "), (27, 9, " "), (27, 9, "\n")):
    brick = f"MeshVersionFormatted 2\nDimension\n3\nVertices\n{n}\n" + "".join("%g %g %g 1\n" % x for x in full[:n])
    quad = [1, 2, 3, 4, 9, 12, 14, 10, 21][:n_quad] + [5]
    brick += "Quadrilaterals\n1\n" + breaks.join(map(str, quad)) + "\nHexahedra\n1\n"
    brick += breaks.join(map(str, [*range(1, n + 1), 7])) + "\nEnd\n"
    put("brick.mesh", brick)
    code, said = run("mesh", "brick.mesh", "out.inp")
    text = open("out.inp").read()
    check(code == 0 and f"{n - 8} mid-side nodes" in said and "off the middle" not in said and
          section(text, "*ELEMENT, TYPE=C3D8") == ["2,1,2,3,4,5,6,7,8"],
          f"Hexahedra of {n} nodes: {said} {text}")
    check("*ELSET, ELSET=property-7" in text and section(text, "*SURFACE, TYPE=ELEMENT, NAME=surface-5") is not None,
          f"sets of a brick of {n} nodes: {text}")
refused("cubic.mesh", medit.replace("Hexahedra 2\n", "Hexahedra 1\n" + "1 " * 65 + "\nVoid 2\n"), "Hexahedra of 64 nodes are not read")
# Two cells on one line are not one cell with more nodes.
pair = re.sub(r"Quadrilaterals 1\n(.*)", r"Quadrilaterals 2\n\1 1 2 5 4 6", medit)
put("pair.mesh", pair)
found = mesh_of("pair.mesh")
check(section(found, "*SURFACE, TYPE=ELEMENT, NAME=surface-3") is not None, f"two cells in a line: {found}")

unv = "    -1\n   164\n         1  Meter (newton)         2\n    -1\n    -1\n  2411\n"
for number, x in xyz.items():
    unv += "%10d%10d%10d%10d\n" % (number, 1, 1, 11)
    unv += "".join("%25.16E" % v for v in x).replace("E", "D") + "\n"
unv += "    -1\n    -1\n  2412\n"
KIND = {"CHEXA": 115, "CPENTA": 112, "CTETRA": 111}
for kind, number, group, nodes in [*cells, ("", 20, 3, (11, 14, 18, 15)), ("", 21, 3, (11, 12))]:
    shape = KIND.get(kind, 94 if len(nodes) == 4 else 21)
    unv += "%10d%10d%10d%10d%10d%10d\n" % (number, shape, group, 1, 7, len(nodes))
    unv += "         0         1         1\n" if shape == 21 else ""
    unv += "".join("%10d" % n for n in nodes) + "\n"
unv += "    -1\n    -1\n  2467\n"
for number, name, members in ((1, "block of steel", [(8, 5), (8, 6)]), (2, "pushed", [(8, 20)]),
                              (3, "held", [(7, 11), (7, 14), (7, 15)]), (4, "edge", [(8, 21)])):
    unv += "".join("%10d" % v for v in (number, 0, 0, 0, 0, 0, 0, len(members))) + f"\n{name}\n"
    flat = [v for kind, n in members for v in (kind, n, 0, 0)]
    for i in range(0, len(flat), 8):
        unv += "".join("%10d" % v for v in flat[i : i + 8]) + "\n"
put("part.unv", unv + "    -1\n")
found = mesh_of("part.unv")
check(found and section(found, "*NODE") == section(meshes["small"], "*NODE"), "a universal file's nodes")
check(section(found, "*ELSET, ELSET=block_of_steel") == ["5,6"] and
      section(found, "*SURFACE, TYPE=ELEMENT, NAME=pushed") == ["5,S6"] and
      section(found, "*NSET, NSET=held") == ["11,14,15"] and
      section(found, "*NSET, NSET=edge") == ["11,12"], f"groups: {found}")
pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
bricks = "    -1\n  2411\n"
for i, x in enumerate(corner + [tuple((p + q) / 2 for p, q in zip(corner[i], corner[j])) for i, j in pairs], 1):
    bricks += f"{i:10d}         1         1         1\n" + "".join("%25.16E" % v for v in x) + "\n"
ring = [1, 9, 2, 10, 3, 11, 4, 12, 17, 18, 19, 20, 5, 13, 6, 14, 7, 15, 8, 16]
bricks += "    -1\n    -1\n  2412\n         1       116         1         1         1        20\n"
for i in range(0, 20, 8):
    bricks += "".join("%10d" % n for n in ring[i : i + 8]) + "\n"
put("brick20.unv", bricks + "    -1\n")
code, said = run("mesh", "brick20.unv", "out.inp")
check(code == 0 and "12 mid-side nodes" in said and "off the middle" not in said, f"parabolic brick: {said}")
refused("cut.unv", unv, "the file ends within a data set")
code, said = run("mesh", "part.unv", "out.inp")
check("the file states its units, 'Meter (newton)'" in said and "not read" not in said, f"units, shells that mark: {said}")
# Salome writes an empty line after a group without members; other programs do not.
for blank in ("\n", ""):
    head, tail = unv.split("%10d" % 3 + "%10d" % 0 * 6 + "%10d\nheld" % 3)
    empty = "%10d" % 9 + "%10d" * 7 % ((0,) * 7) + "\nnothing\n" + blank
    put("empty.unv", head + empty + "%10d" % 3 + "%10d" % 0 * 6 + "%10d\nheld" % 3 + tail + empty + "    -1\n")
    check(mesh_of("empty.unv") == found, "a group without members")
    code, said = run("mesh", "empty.unv", "out.inp")
    check("2 groups have no members, the first 'nothing'" in said, f"an empty group: {said}")
element = lambda number, kind, *nodes: ("%10d%10d%10d%10d%10d%10d\n" % (number, kind, 1, 1, 7, len(nodes)) +
                                       "".join("%10d" % n for n in nodes) + "\n")
for what, more, named in (
    ("properties", "    -1\n    -1\n  2437\n         1\n",
     "1 element 94 (thin quadrangle), 1 element 21 (bars, line"),
    ("restraints", "    -1\n    -1\n   755\n         1         1\n", "1 data set 755 (restraints, loads or constraints)"),
    ("loads", "    -1\n    -1\n   790\n         1         1\n", "1 data set 790 (restraints, loads or constraints)"),
    ("springs", "    -1\n    -1\n  2412\n" + element(30, 136, 11, 12) + element(31, 136, 11, 13), "2 element 136 (springs)"),
    ("masses", "    -1\n    -1\n  2412\n" + element(30, 161, 11), "1 element 161 (point masses)"),
    ("rigid", "    -1\n    -1\n  2412\n" + element(30, 121, 11, 12), "1 element 121 (rigid elements)"),
):
    put("more.unv", unv + more + "    -1\n")
    code, said = run("mesh", "more.unv", "out.inp")
    check(code == 0 and "not read: " + named in said, f"{what}: {said}")

# Nodes in a coordinate system of data set 2420, which comes before or after them. It is accepted if its axes
# are the global ones.
def systems_2420(label, kind, axes):
    rows = "".join("".join("%25.16E" % v for v in row) + "\n" for row in axes)
    return f"    -1\n  2420\n{1:10d}\nPart\n{label:10d}{kind:10d}{8:10d}\nCS1\n" + rows + "    -1\n"


AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
in_other = unv.replace("%10d" % 41 + "         1         1", "%10d" % 41 + "         2         1")
displaced = unv.replace("         1         1        11\n", "         1         3        11\n")
where = in_other[: in_other.index("%10d" % 41 + "         2")].count("\n") + 1
for kind, axes, said_of in (
    (0, AXES, None), (1, AXES, "rotates, translates or makes curvilinear"), (0, [*AXES[:3], (5, 0, 0)], "rotates, translates or makes curvilinear"),
    (0, [(0, 1, 0), (-1, 0, 0), (0, 0, 1), (0, 0, 0)], "rotates, translates or makes curvilinear"), (None, AXES, "no data set 2420 defines"),
):
    system = systems_2420(2, kind, axes) if kind is not None else ""
    for text, line in ((system + in_other + "    -1\n", where + system.count("\n")), (in_other + "    -1\n" + system, where)):
        if said_of:
            refused("system.unv", text, f"system.unv:{line}: node 41 is given in coordinate system 2, ")
            refused("system.unv", text, said_of)
        else:
            put("system.unv", text)
            check(mesh_of("system.unv") == found, "a system that is the global one")
refused("first.unv", systems_2420(1, 2, AXES) + unv + "    -1\n", "node 11 is given in coordinate system 1")
put("displaced.unv", displaced + "    -1\n")
check(f"not read: {len(xyz)} displacement system 3" in run("-q", "mesh", "displaced.unv", "out.inp")[1] and
      mesh_of("displaced.unv") == found, "displacements in another system")
put("displaced.unv", systems_2420(3, 0, AXES) + displaced + "    -1\n")
check("not read" not in run("mesh", "displaced.unv", "out.inp")[1], "displacements in the global system")

# Groups with the same name and kind become one set, with a warning.
again = "".join("%10d" % v for v in (9, 0, 0, 0, 0, 0, 0, 1)) + "\nheld\n" + "".join("%10d" % v for v in (7, 18, 0, 0)) + "\n"
put("again.unv", unv + again + "    -1\n")
code, said = run("-q", "mesh", "again.unv", "out.inp")
check(code == 0 and "groups 3 and 9 are both 'held'; groups of the same name and kind are combined into one set" in said and
      section(open("out.inp").read(), "*NSET, NSET=held") == ["11,14,15,18"], f"groups of one name: {said}")
refused("turned.unv", "    -1\n    15\n         1         2         0         1  1.0E+00  2.0E+01  0.0E+00\n    -1\n",
        "turned.unv:3: node 1 is given in coordinate system 2")
refused("nodes.unv", unv.replace("       111         2         1         7         4", "       111         2         1         7         3"),
        "of type linear tetrahedron, has 3 nodes; it must have 4")

# --- what is not read ---

tetra = ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
         "$Elements\n2\n1 4 2 1 1 1 2 3 4\n2 2 2 1 1 1 2 3\n$EndElements\n")
put("periodic.msh", tetra + "$Periodic\n1\n0 2 1\n1\n2 1\n$EndPeriodic\n")
put("plain.msh", tetra)
code, said = run("mesh", "periodic.msh", "out.inp")
check(code == 0 and "periodic.msh:16: $Periodic is not read" in said, f"periodic nodes: {said}")
check("not read" not in run("mesh", "plain.msh", "out.inp")[1], "triangles mark faces")

for path, message in {
    "a.cgns": "a CGNS mesh, which is not read; instead: meshio convert a.cgns a.vtu",
    "a.b.SLDPRT": "export it as STEP from the program it comes from (a.b.step)",
    "a.rst": "a result of ANSYS, which is not read; instead: write the mesh in ANSYS: CDWRITE,DB,a,cdb",
    "a.key": "a model of LS-DYNA",
}.items():
    refused(path, "binary", message)
refused("fluent.msh", '(0 "x")\n', "a mesh of ANSYS Fluent, which is not read; instead: meshio convert fluent.msh fluent.vtu")
for head in ("MFEM mesh v1.0", "MFEM mesh v1.3", "MFEM NC mesh v1.0", "MFEM NC mesh v1.1", "MFEM INLINE mesh v1.0",
             "MFEM NURBS NC-patch mesh v1.0"):
    refused("mfem.mesh", head + "\n\ndimension\n3\n", "a mesh of MFEM, which is not read; instead: save it as VTK in MFEM (mesh.PrintVTK, mfem.vtk)")
refused("mfem.mesh", "MFEM NURBS mesh v1.1\n\ndimension\n3\n", "an MFEM mesh of another version")
# Nastran files may also have a title, and Gmsh's files end in .msh like GiD's. The content decides, not the
# file name.
tecplot = 'TITLE = "beam"\nVARIABLES = "X", "Y", "Z"\nZONE T="1", N=8, E=1, DATAPACKING=POINT, ZONETYPE=FEBRICK\n'
for path, text, message in (
        ("part.dat", tecplot, "data of Tecplot, which is not read; instead: meshio convert --input-format tecplot part.dat part.vtu"),
        ("part.bdf", "# made\n" + tecplot.lower(), "data of Tecplot"),
        ("part.tec", 'variables="x","y","z"\nzone\n', "data of Tecplot"),
        ("part.plt", "#!TDV112", "a binary file of Tecplot"),
        ("part.msh", "MESH dimension 3 ElemType Tetrahedra Nnode 4\nCoordinates\n", "a mesh of GiD, which is not read; instead: write it in GiD as"),
        ("part.dat", '# x\nMESH "a b" dimension 3 Elemtype Hexahedra Nnode 8\n', "a mesh of GiD"),
        ("part.diff", "\n\n Finite element mesh (GridFE):\n\n Number of space dim. =   3\n", "a mesh of Diffpack, which is"),
        ("part.inp", "# AVS\n8 1 0 0 0\n1 0. 0. 0.\n", "a mesh in AVS-UCD"),
        ("part.xml", '<?xml version="1.0"?>\n<dolfin>\n<mesh celltype="tetrahedron" dim="3">', "a mesh of FEniCS"),
        ("part.dat", "title  a\nextended\nsizing  0 1 8 0\nelements  7\n", "a model of Marc")):
    refused(path, text, message)
    code, said = run("new", path)
    check(code == 2 and message.split(",")[0] in said, f"new {path}: {said}")
put("deck.dat", "TITLE = beam\n" + open("small.bdf").read())
code, said = run("mesh", "deck.dat", "out.vtk")
check(code == 0, f"a Nastran deck that begins with its title: {said}")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(n_failed > 0)
