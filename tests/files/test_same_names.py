#!/usr/bin/env python3
"""Sets of several kinds with one name; the meaning of GENERATE, mid-side nodes and surface cells;
and the configs that `hextop new` writes for such files. Values of a bar of four hexahedra,
supported at one end and pulled at the other, are those of CalculiX 2.20.

    test_same_names.py HEXTOP

Exit status 0 passed, 1 failed."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="hextop_same_names_")
os.chdir(work)
atexit.register(shutil.rmtree, work)
n_check = n_failed = 0
BAR = 0.0822282  # largest displacement of the bar


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


def number(said, what):
    found = re.search(rf"{what} +([-+.\de]+)", said)
    return float(found.group(1)) if found else None


def config(mesh, support, load, more=""):
    put("case.cfg", f'mesh = {{ file = "{mesh}"; }};\nmaterial = {{ E = 210000.0; nu = 0.3; }};\n'
        f"supports = ( {{ {support}; }} );\nloads = ( {{ {load}; }} );\n"
        f"optimization = {{ volume_fraction = 0.5; filter = {{ radius = 1.5; }}; }};\n{more}\n")


def moves(mesh, support, load, right, name):
    config(mesh, support, load)
    code, said = run("analyse", "case.cfg")
    found = number(said, "displacement ")
    check(code == 0 and found is not None and abs(found - right) < 2e-6 * right,
          f"{name}: {found}, right is {right}: {said[-600:]}")
    return said


def refused(args, words, name):
    code, said = run(*args)
    check(code == 2 and all(w in said for w in words), f"{name}: {code}: {said}")


points = [(x, y, z) for x in range(5) for y in (0, 1) for z in (0, 1)]  # 4 at each x
cells = [[4 * e + k for k in (0, 4, 6, 2, 1, 5, 7, 3)] for e in range(4)]
FIX, TIP = [0, 1, 2, 3], [16, 17, 18, 19]
PULL = "total_force = [0.0, 0.0, -100.0]"

# --- Abaqus: *NSET, *ELSET and *SURFACE ---

inp = ("*NODE, NSET=NALL\n" + "".join(f"{i + 1}, {x}, {y}, {z}\n" for i, (x, y, z) in enumerate(points)) +
       "*ELEMENT, TYPE=C3D8, ELSET=EALL\n" + "".join(f"{e + 1}, " + ", ".join(str(k + 1) for k in c) + "\n" for e, c in enumerate(cells)))
sets = "*NSET, NSET=FIX\n1, 2, 3, 4\n*NSET, NSET=TIP\n17, 18, 19, 20\n"
put("elset.inp", inp + sets + "*ELSET, ELSET=FIX\n1,\n*ELSET, ELSET=tip\n4,\n")
said = moves("elset.inp", 'set = "FIX"; fix = "xyz"', f'set = "TIP"; {PULL}', BAR, "*NSET and *ELSET")
check("stay apart: nodes 'nodes-TIP', elements 'TIP'" in said and "supports[0]: set 'FIX' is taken to be the set 'nodes-FIX'" in said,
      f"which set is meant: {said}")
moves("elset.inp", 'set = "nodes-FIX"; fix = "xyz"', f'set = "nodes-TIP"; {PULL}', BAR, "their own names")
put("elset_first.inp", inp + "*ELSET, ELSET=FIX\n1,\n*ELSET, ELSET=TIP\n4,\n" + sets)
moves("elset_first.inp", 'set = "FIX"; fix = "xyz"', f'set = "TIP"; {PULL}', BAR, "*ELSET before *NSET")
put("surface.inp", inp + sets + "*SURFACE, NAME=TIP, TYPE=ELEMENT\n3, S2\n")
moves("surface.inp", 'set = "FIX"; fix = "xyz"', f'set = "TIP"; {PULL}', BAR, "*NSET and *SURFACE")
config("surface.inp", 'set = "FIX"; fix = "xyz"', 'set = "TIP"; pressure = 3.0')
code, said = run("analyse", "case.cfg")
check(code == 0 and "loads[0]: set 'TIP' is taken to be the set 'surface-TIP'" not in said and "3" in said, "a pressure takes the surface")
config("elset.inp", 'set = "FIX"; fix = "xyz"', f'set = "TIP"; {PULL}', 'passive = ( { set = "FIX"; density = 1.0; } );')
code, said = run("check", "case.cfg")
check(code == 0 and "passive[0]" not in said, f"a passive region takes the elements: {said}")
code, said = run("new", "elset.inp")
check(code == 0 and '#   { set = "nodes-FIX"; fix = "xyz"; },' in said and '#   { set = "nodes-TIP"; total_force' in said,
      f"hextop new offers both: {said}")
# In a file that hextop wrote, one set may appear under several keywords.
put("own.inp", inp + sets.replace("FIX", "A").replace("TIP", "B") + "*SURFACE, NAME=B, TYPE=ELEMENT\n4, S4\n")
run("mesh", "own.inp", "again.inp")
check("** hextop: sets of one name are one set" not in open("again.inp").read() or
      "stay apart" not in run("mesh", "again.inp", "third.inp")[1], "a file of ours is read again")

# GENERATE that does not end at its last number, which CalculiX accepts.
for key, name in (("NSET, NSET", "*NSET"), ("ELSET, ELSET", "*ELSET")):
    put("step.inp", inp + sets + f"*{key}=Q, GENERATE\n1, 4, 2\n")
    refused(("mesh", "step.inp", "out.vtk"), ["step.inp:32: GENERATE of set 'Q' from 1 in steps of 2 does not end on 4", "end on 3"], name)
put("step.inp", inp + sets + "*NSET, NSET=Q, GENERATE\n1, 7, 3\n")
check(run("mesh", "step.inp", "out.vtk")[0] == 0, "GENERATE that ends on its last number")
put("step.inp", inp + sets + "*NSET, NSET=Q, GENERATE\n1, 40, 3\n")
refused(("mesh", "step.inp", "out.vtk"), ["does not end on 20"], "a last number above all")

# --- VTK: arrays of points and of cells ---

vtk = ("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 20 double\n" +
       "".join("%d %d %d\n" % p for p in points) + "CELLS 4 36\n" + "".join("8 " + " ".join(map(str, c)) + "\n" for c in cells) +
       "CELL_TYPES 4\n12\n12\n12\n12\n")


def array(name, n, members):
    return f"SCALARS {name} int 1\nLOOKUP_TABLE default\n" + "".join(f"{int(i in members)}\n" for i in range(n))


by_points = "POINT_DATA 20\n" + array("fix", 20, FIX) + array("tip", 20, TIP)
by_cells = "CELL_DATA 4\n" + array("fix", 4, [0]) + array("tip", 4, [3])
for name, data in (("points.vtk", by_points), ("both.vtk", by_points + by_cells), ("cells_first.vtk", by_cells + by_points)):
    put(name, vtk + data)
    moves(name, 'set = "fix=1"; fix = "xyz"', f'set = "tip=1"; {PULL}', BAR, name)

# --- universal files and Gmsh ---


def group(number, name, members):
    return "".join("%10d" % v for v in (number, 0, 0, 0, 0, 0, 0, len(members))) + f"\n{name}\n" + \
        "".join("".join("%10d" % v for v in (kind, label, 0, 0)) + "\n" for kind, label in members)


unv = ("    -1\n  2411\n" + "".join("%10d%10d%10d%10d\n" % (i + 1, 1, 1, 11) + "".join("%25.16E" % v for v in p) + "\n" for i, p in enumerate(points)) +
       "    -1\n    -1\n  2412\n" + "".join("%10d" * 6 % (e + 1, 115, 1, 1, 7, 8) + "\n" + "".join("%10d" % (k + 1) for k in c) + "\n" for e, c in enumerate(cells)) +
       "%10d" * 6 % (9, 94, 1, 1, 7, 4) + "\n" + "".join("%10d" % (k + 1) for k in (16, 17, 19, 18)) + "\n" + "    -1\n    -1\n  2467\n")
put("same.unv", unv + group(1, "fix", [(8, 1)]) + group(2, "fix", [(7, k + 1) for k in FIX]) + group(3, "tip", [(8, 4)]) +
    group(4, "tip", [(8, 9)]) + group(5, "corner", [(8, 77)]) + "    -1\n")
said = moves("same.unv", 'set = "fix"; fix = "xyz"', f'set = "tip"; {PULL}', BAR, "groups of one name")
check("group 'corner' names element 77, which the file does not have" in said, f"a point that gmsh left out: {said}")
corners = {"fix": "1 3 5 7", "tip": ""}
msh = ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n3 1 \"fix\"\n3 2 \"tip\"\n2 3 \"fix\"\n2 4 \"tip\"\n$EndPhysicalNames\n$Nodes\n20\n" +
       "".join("%d %d %d %d\n" % ((i + 1,) + p) for i, p in enumerate(points)) + "$EndNodes\n$Elements\n6\n" +
       "1 3 2 3 1 1 2 4 3\n2 3 2 4 2 17 18 20 19\n" +
       "".join(f"{e + 3} 5 2 {1 if e < 2 else 2} 1 " + " ".join(str(k + 1) for k in c) + "\n" for e, c in enumerate(cells)) + "$EndElements\n")
put("same.msh", msh)
moves("same.msh", 'set = "fix"; fix = "xyz"', f'set = "tip"; {PULL}', BAR, "physical groups of one name")

# --- surface cells define faces, never elements ---

tets = ([0, 1, 2, 3], [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
put("skin.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
    "CELLS 4 17\n4 0 1 2 3\n3 0 1 2\n3 0 1 3\n3 1 2 3\nCELL_TYPES 4\n10\n5\n5\n5\nCELL_DATA 4\nSCALARS CellEntityIds int 1\n"
    "LOOKUP_TABLE default\n1\n2\n2\n2\n")
put("skin.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n4\n"
    "1 2 2 2 2 1 2 3\n2 2 2 2 2 1 2 4\n3 2 2 2 2 2 3 4\n4 4 2 1 1 1 2 3 4\n$EndElements\n")
for mesh in ("skin.vtk", "skin.msh"):
    code, said = run("new", mesh)
    check(code == 0 and '"surface 2": 3 faces' in said, f"{mesh}: the faces and no element: {said}")

# --- a set that names mid-side nodes has only these ---

corner = [(0, 0, 0), (4, 0, 0), (4, 1, 0), (0, 1, 0), (0, 0, 1), (4, 0, 1), (4, 1, 1), (0, 1, 1)]
edge = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
middle = [tuple((corner[a][d] + corner[b][d]) / 2 for d in range(3)) for a, b in edge]
quadratic = ("*NODE, NSET=NALL\n" + "".join(f"{i + 1}, {x}, {y}, {z}\n" for i, (x, y, z) in enumerate(corner + middle)) +
             "*ELEMENT, TYPE=C3D20, ELSET=EALL\n7, " + ", ".join(map(str, range(1, 16))) + ",\n" + ", ".join(map(str, range(16, 21))) +
             "\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*DENSITY\n2.5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n")
step = "*STEP\n*STATIC\n*BOUNDARY\nFIX, 1, 3\n*DLOAD\nEALL, GRAV, 1., 0., 0., -1.\n*END STEP\n"
held = [n for n in range(1, 21) if n not in (9, 11, 13, 15)]
put("quadratic.inp", quadratic + "*NSET, NSET=FIX\n" + "".join(f"{n},\n" for n in held) + step)
put("corners.inp", quadratic + "*NSET, NSET=FIX\n" + "".join(f"{n},\n" for n in range(1, 9)) + step)
for support in ('from = "file"', 'set = "FIX"; fix = "xyz"'):
    config("quadratic.inp", support, 'from = "file"', 'solver = { element = "quadratic"; };')
    code, said = run("analyse", "case.cfg", "material.from=file", "material.E=", "material.nu=", "optimization.filter.kind=none")
    found = number(said, "compliance")
    check(code == 0 and found and abs(found - 0.0866667) < 1e-6, f"{support}: compliance {found}, right is 0.0866667: {said[-500:]}")
config("corners.inp", 'set = "FIX"; fix = "xyz"', 'from = "file"', 'solver = { element = "quadratic"; };')
refused(("analyse", "case.cfg", "material.from=file", "material.E=", "material.nu="), ["supports[0]: the supports fix every point"],
        "all of a part is held")

# A set of a reference node that a coupling uses gives no warning.
reference = ("*NODE, NSET=REF\n500, 6., .5, .5\n*SURFACE, NAME=ST, TYPE=ELEMENT\n4, S4\n*COUPLING, REF NODE=500, SURFACE=ST, "
             "CONSTRAINT NAME=C1\n*KINEMATIC\n1, 3\n*STEP\n*STATIC\n*BOUNDARY\nFIX, 1, 3\n*CLOAD\n500, 3, -25.\n*END STEP\n")
put("reference.inp", inp + sets + reference)
config("reference.inp", 'from = "file"', 'from = "file"')
code, said = run("analyse", "case.cfg", "-v")
check(code == 0 and "set 'REF'" not in said, f"a reference node that is used: {said}")

# --- hextop new ---

put('quo"te\\d.inp', inp + sets)
code, said = run("new", 'quo"te\\d.inp')
check(code == 0 and 'file = "quo\\"te\\\\d.inp"' in said, f"a quote in a file's name: {said}")
for n in (1, 2):
    put("tiny.inp", "*NODE\n" + "".join(f"{i + 1}, {x}, {y}, {z}\n" for i, (x, y, z) in enumerate(points)) + "*ELEMENT, TYPE=C3D8\n" +
        "".join(f"{e + 1}, " + ", ".join(str(k + 1) for k in c) + "\n" for e, c in enumerate(cells[:n])) +
        "*NSET, NSET=FIX\n1, 2, 3, 4\n*NSET, NSET=TIP\n5, 6, 7, 8\n")
    code, said = run("new", "tiny.inp")
    said = said.replace('#   { set = "FIX"; fix', '    { set = "FIX"; fix').replace('#   { set = "TIP"; total_force', '    { set = "TIP"; total_force')
    put("tiny.cfg", said)
    code, said = run("check", "tiny.cfg")
    check(code == 0, f"the config of a part of {n} elements: {said}")

heat = inp.replace("C3D8", "DC3D8") + sets + (
    "*MATERIAL, NAME=STEEL\n*CONDUCTIVITY\n50.\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*STEP\n*HEAT TRANSFER, STEADY STATE\n"
    "*BOUNDARY\nFIX, 11, 11, 20.\n*CFLUX\nTIP, 11, 1.\n*DFLUX\n4, S4, 2.\n*FILM\n2, F3, 20., 0.5\n*END STEP\n")
put("heat.inp", heat)
code, said = run("new", "heat.inp")
for line in ('physics = "heat";', 'from = "file";', '{ set = "FIX"; temperature = 20.0; },', '{ set = "TIP"; node_heat = 1.0; },',
             '{ set = "flux-1"; flux = 2.0; },', '    { set = "film-1"; coefficient = 0.5; ambient = 20.0; },'):
    check(code == 0 and line in said, f"hextop new of a job of heat lacks {line}: {said}")
put("heat.cfg", subprocess.run([hextop, "new", "heat.inp"], capture_output=True, text=True).stdout)
code, said = run("run", "heat.cfg", "optimization.iterations=2")
check(code == 0, f"the config of a job of heat runs as printed: {code}: {said}")
put("transient.inp", heat.replace(", STEADY STATE", ""))
check("# exactly what the file does: transient.inp:" in run("new", "transient.inp")[1], "a transient job")
put("inner.inp", heat.replace("2, F3, 20., 0.5", "2, F3, 20., 0.5\n2, F6, 20., 0.7"))
check('#   { set = "film-2"; coefficient = 0.7; ambient = 20.0; },   # of the file' in run("new", "inner.inp")[1], "a film between elements")

print(f"{n_check} checks, {n_failed} failed")
sys.exit(n_failed > 0)
