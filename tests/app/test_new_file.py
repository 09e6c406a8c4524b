#!/usr/bin/env python3
"""Information from mesh files that `hextop new` and `hextop mesh` use and print: units that a file states, centres
of sets, and groups that make no sets.

    test_new_file.py HEXTOP SRCDIR"""

import gzip
import os
import re
import subprocess
import sys
import tempfile

hextop = os.path.realpath(sys.argv[1])
n_check = n_failed = 0

POINTS = [(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1, 2)]
CELLS = [[a + 1 for a in (i, i + 1, i + 4, i + 3, i + 6, i + 7, i + 10, i + 9)] for i in (0, 1)]


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    n_failed += not condition
    print(("ok: " if condition else "failed: ") + text, flush=True)


def run(*words):
    done = subprocess.run([hextop, *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def unv(units, groups="  2467"):
    """Two cubes as a universal file, with data set 164 and a group of nodes."""
    text = ""
    if units:
        text += f"    -1\n   164\n{units[0]:10d}{units[1]:20s}{2:10d}\n" + "  1.0D+00  1.0D+00  1.0D+00\n  0.0D+00\n    -1\n"
    text += "    -1\n  2411\n"
    for n, x in enumerate(POINTS):
        text += f"{n + 1:10d}         1         1        11\n" + "".join(f"{v:25.16E}" for v in x) + "\n"
    text += "    -1\n    -1\n  2412\n"
    for e, cell in enumerate(CELLS):
        text += f"{e + 1:10d}       115         1         1         7         8\n" + "".join(f"{a:10d}" for a in cell) + "\n"
    text += f"    -1\n    -1\n{groups}\n" + "         1         0         0         0         0         0         0         4\nP\n"
    return text + "".join(f"         7{a:10d}         0         0" + ("\n" if i % 2 else "") for i, a in enumerate((1, 4, 7, 10))) + "    -1\n"


def cdb(*head):
    """Two cubes as an ANSYS archive."""
    text = "".join(line + "\n" for line in head) + "/PREP7\nET,1,185\n"
    text += "NBLOCK,6,SOLID,12,12\n(3i9,6e21.13e3)\n"
    text += "".join(f"{n + 1:9d}{0:9d}{0:9d}" + "".join(f"{v:21.13E}" for v in x) + "\n" for n, x in enumerate(POINTS))
    text += "N,R5.3,LOC,       -1,\nEBLOCK,19,SOLID,2,2\n(19i9)\n"
    for e, cell in enumerate(CELLS):
        text += "".join(f"{v:9d}" for v in (1, 1, 1, 1, 0, 0, 0, 0, 8, 0, e + 1, *cell)) + "\n"
    return text + "       -1\nFINISH\n"


def check_units(name, text, wanted, young, *arguments):
    """wanted: the line of units; young: E in the config, or None if its line is commented out."""
    write(name, text)
    code, said = run("new", name, *arguments)
    check(code == 0 and wanted in said, f"{name}: lacks {wanted}: {said}")
    key = "conductivity" if "physics=heat" in arguments else "E"
    found = re.findall(rf"^( *|material = {{ ){key} = (\S+);", said, re.M)
    values = [float(v) for _, v in found]
    check(values == ([young] if young else []), f"{name}: {key} is {values}, right is {young}: {said}")
    return said


def check_all_units():
    check_units("plain.unv", unv(None), 'units = "N, mm, MPa";   # the file\'s lengths are taken as mm', 210000.0)
    for code, word, units, young in ((1, "SI: Meter (newton)", "N, m, Pa", 2.1e11), (2, "BG: Foot (pound f)", "lbf, ft, psf", 4.38594e9),
                                     (7, "IN: Inch (pound f)", "lbf, in, psi", 3.04579e7), (10, "MN: mm (newton)", "N, mm, MPa", 210000.0)):
        check_units("stated.unv", unv((code, word)), f'units = "{units}";   # the file states them: \'{word}\'', young)
    said = check_units("stated.unv", unv((4, "BA: Foot (poundal)")), "# units: the file states its units, 'BA: Foot (poundal)'", None)
    check("\nunits" not in said and "\n#     E = 210000.0;       # MPa" in said, f"steel is commented out: {said}")
    check_units("stated.unv", unv((1, "SI: Meter (newton)")), 'units = "W, m, K";', 50.0, "physics=heat")
    check_units("mks.cdb", cdb("/COM,--- Data in consistent NMM units. See Solving Units", "/UNITS,MKS"), 'units = "N, m, Pa";   # the', 2.1e11)
    check_units("bin.cdb", cdb("/UNITS,BIN"), 'units = "lbf, in, psi";   # the file states them: \'BIN\'', 3.04579e7)
    check_units("com.cdb", cdb("/COM,--- Data in consistent MKS units. See Solving Units"), 'units = "N, m, Pa";   # the file states', 2.1e11)
    check_units("cgs.cdb", cdb("/UNITS,CGS"), "# units: the file states its units, 'CGS'", None)
    said = check_units("mks.cdb", cdb("/UNITS,MKS"), 'units = "N, mm, MPa";   # lengths of the file are taken as mm', 210000.0,
                       "units=N, mm, MPa")
    contradiction = "states its units, 'MKS': N, m, Pa; the config has units = \"N, mm, MPa\", and no number is converted"
    check(contradiction in said, f"new: other units than those of the file: {said}")
    with open("mks.cfg", "w", encoding="ascii") as f:
        f.write('mesh = { file = "mks.cdb"; }; units = "N, mm, MPa"; material = { E = 1.0; nu = 0.3; };\n'
                'optimization = { volume_fraction = 0.3; filter = { radius = 1.5; }; };\n')
    check(contradiction in run("check", "mks.cfg")[1], "check: other units than those of the file")
    check("states its units, 'MKS': N" not in run("check", "mks.cfg", "units=N, m, Pa")[1], "check: the units of the file")
    check("no number is converted" in said and "ignored" not in said, f"new: what becomes of stated units: {said}")


def check_contradictions():
    """Units are compared by value: units with other names, and systems that `units` cannot name."""
    factors = "    -1\n   164\n{:10d}{:20s}         2\n  1.0D+03  1.0D+00  1.0D+00\n  0.0D+00\n    -1\n" + unv(None)
    for name, text, units, wanted in (
            ("cgs.cdb", cdb("/UNITS,CGS"), "N, mm, MPa", "'CGS': dyn, cm, dyn/cm^2; the config has"),
            ("cgs.cdb", cdb("/UNITS,CGS"), "N, cm, N/cm^2", "'CGS': dyn, cm, dyn/cm^2; the config has"),
            ("user.cdb", cdb("/UNITS,USER,0.001,1000,1,1,0,1,1,0.001"), "N, m, Pa", "a force of 1 N, a length of 0.001 m; the"),
            ("user.cdb", cdb("/UNITS,USER,0.001,1000,1,1,0,1,1,0.001"), "N, mm, MPa", None),
            ("user.cdb", cdb("/UNITS,USER,0.001,1000,1"), "kN, mm, GPa", "a force of 1 N, a length of 0.001 m; the"),
            ("user.cdb", cdb("/UNITS,USER,0.001"), "N, m, Pa", "'USER': a length of 0.001 m; the config has"),
            ("user.cdb", cdb("/UNITS,USER"), "N, m, Pa", None), # its units are unknown
            ("si.cdb", cdb("/UNITS,SI"), "N, m, N/m^2", None), ("mpa.cdb", cdb("/UNITS,MPA"), "N, mm, N/mm^2", None),
            ("bin.cdb", cdb("/UNITS,BIN"), "lbf, in, lbf/in^2", None), ("si.cdb", cdb("/UNITS,SI"), "kN, m, kPa", "'SI': N, m, Pa; the"),
            ("c4.unv", unv((4, "BA: Foot (poundal)")), "lbf, ft, psf", "poundal, ft, poundal/ft^2; the config has"),
            ("c6.unv", unv((6, "CM: cm (centi newton)")), "N, cm, N/cm^2", "cN, cm, cN/cm^2; the config has"),
            ("c3.unv", unv((3, "MG: Meter (kilogram f)")), "kgf, m, kgf/m^2", None),
            ("c9.unv", factors.format(9, "US: USER_DEFINED"), "N, m, Pa", "a force of 1 N, a length of 0.001 m; the config"),
            ("c9.unv", factors.format(9, "US: USER_DEFINED"), "N, mm, MPa", None),
            ("c11.unv", factors.format(11, "other"), "N, cm, N/cm^2", "a force of 1 N, a length of 0.001 m; the config"),
            ("c10.unv", factors.format(10, "MN: mm (newton)"), "N, m, Pa", "N, mm, MPa; the config has"),
            ("nmm.cdb", cdb("/UNITS,MPA"), "W, mm, K", "'MPA': mW, mm, K; the config has"),
            ("cgs.cdb", cdb("/UNITS,CGS"), "W, cm, K", "'CGS': dyn, cm, dyn/cm^2; the config has"),
            ("nmm.cdb", cdb("/UNITS,MPA"), "mW, mm, K", None)):
        write(name, text)
        heat = ["physics=heat"] if "W" in units else []
        code, said = run("new", name, f"units={units}", *heat, "-o", "units.cfg")
        check(code == 0, f"new {name}: {said}")
        said = run("check", "units.cfg")[1]
        check(wanted in said if wanted else "the config has units" not in said, f"{name}, units={units}: lacks {wanted}: {said}")
        os.remove("units.cfg")


def check_centres():
    nodes = "*NODE\n" + "".join(f"{n + 1}, {x}, {y}, {z}\n" for n, (x, y, z) in enumerate(POINTS))
    nodes = nodes.replace(", 2, ", ", 4, ", 2).replace(", 2, ", ", 4, ") # the second element is longer
    write("bar.inp", nodes + "*ELEMENT, TYPE=C3D8, ELSET=ALL\n" + "".join(f"{e + 1}, " + ", ".join(map(str, c)) + "\n" for e, c in enumerate(CELLS)) +
          "*ELSET, ELSET=FIRST\n1\n*NSET, NSET=END\n1, 4, 7, 10\n")
    said = run("new", "bar.inp")[1]
    for line in ('"ALL": 2 elements, centre 2 0.5 0.5', '"FIRST": 1 element, centre 0.5 0.5 0.5',
                 '"END": 1 face of its nodes, area 1, centre 0 0.5 0.5'):
        check("#   " + line + "\n" in said, f"centres: lacks {line}: {said}")
    for units, value in (("W, m, K", "50.0"), ("W, mm, K", "0.05"), ("mW, mm, K", "50.0")):
        said = run("new", "bar.inp", "physics=heat", "units=" + units)[1]
        check(f"conductivity = {value}; }};   # steel, 50 W/(m K)\n" in said, f"steel in {units}: {said}")
    grid = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 12 double\n" + "".join(
        f"{x} {y} {z}\n" for x, y, z in POINTS)
    both = grid + "CELLS 3 23\n" + "".join("8 " + " ".join(str(a - 1) for a in c) + "\n" for c in CELLS) + "4 0 3 9 6\nCELL_TYPES 3\n12\n12\n9\n"
    write("both.vtk", both + "CELL_DATA 3\nSCALARS part int 1\nLOOKUP_TABLE default\n7\n8\n8\n")
    said = run("new", "both.vtk")[1]
    check('"part=8": 1 element and 1 face, area 1, centre 1.5 0.5 0.5' in said, f"elements and faces: {said}")
    cells = grid + "CELLS 2 18\n" + "".join("8 " + " ".join(str(a - 1) for a in c) + "\n" for c in CELLS) + "CELL_TYPES 2\n12\n12\nCELL_DATA 2\n"
    for kind, values, why in (("long", "9000000000\n1\n", "it has values beyond 32 bits"), ("bit", "1 0\n", "its type is bit; save it as int")):
        write("array.vtk", cells + f"SCALARS mine {kind} 1\nLOOKUP_TABLE default\n{values}")
        said = run("mesh", "array.vtk", "out.vtk")[1]
        check(f"array.vtk: array 'mine' makes no sets: {why}" in said, f"array of type {kind}: {said}")


def check_groups():
    write("groups.unv", unv(None, "   752"))
    said = run("mesh", "groups.unv", "out.vtk")[1]
    check("data set 752: groups in a layout that is not read, so they make no sets" in said, said)
    write("groups.unv", unv(None))
    check("data set" not in run("mesh", "groups.unv", "out.vtk")[1] and '"P"' in run("new", "groups.unv")[1], "data set 2467")
    names = '$PhysicalNames\n2\n2 11 "fix"\n3 12 "all"\n$EndPhysicalNames\n'
    entities = "$Entities\n0 0 0 1\n1 0 0 0 2 1 1 1 12 0\n$EndEntities\n"
    for sections, why in ((names, '2 of 2 physical groups have no elements and make no sets: "fix", "all"; the file lacks $Entities'),
                          (names + entities, '1 of 2 physical groups have no elements and make no sets: "fix"\n')):
        text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + sections + "$Nodes\n1 12 1 12\n3 1 0 12\n"
        text += "".join(f"{n + 1}\n" for n in range(12)) + "".join(f"{x} {y} {z}\n" for x, y, z in POINTS) + "$EndNodes\n$Elements\n1 2 1 2\n3 1 5 2\n"
        write("named.msh", text + "".join(f"{e + 1} " + " ".join(map(str, c)) + "\n" for e, c in enumerate(CELLS)) + "$EndElements\n")
        said = run("mesh", "named.msh", "out.vtk")[1]
        check(why in said, f"physical names: lacks {why}: {said}")


def check_compressed():
    with gzip.open("bar.inp.gz", "wb") as f, open("bar.inp", "rb") as part:
        f.write(part.read())
    for words in (("mesh", "bar.inp.gz", "out.vtk"), ("new", "bar.inp.gz")):
        code, said = run(*words)
        check(code == 2 and "a file compressed by gzip, which is not read; instead: gunzip -k " in said, f"{words}: {code}: {said}")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        check_all_units()
        check_contradictions()
        check_centres()
        check_groups()
        check_compressed()
        os.chdir("/")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0


sys.exit(main())
