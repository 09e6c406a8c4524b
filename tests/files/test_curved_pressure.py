#!/usr/bin/env python3
"""Pressures on all faces of curved quadratic solids must give the same results from Nastran (PLOAD4,
PLOAD) and from Abaqus (*DLOAD), with linear and quadratic elements. A quarter ring is compared with
CalculiX 2.20.

    test_curved_pressure.py HEXTOP

Exit status 0 passed, 1 failed."""

import atexit
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="hextop_curved_pressure_")
os.chdir(work)
atexit.register(shutil.rmtree, work)
n_check = n_failed = 0

# Corners; edges in the order of Abaqus; Nastran's card and its order of all nodes; faces P1, P2, ... as Abaqus numbers them.
KINDS = {
    "C3D20": {
        "corners": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
        "edges": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
        "card": "CHEXA", "order": [*range(12), 16, 17, 18, 19, 12, 13, 14, 15],
        "faces": [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)],
    },
    "C3D15": {
        "corners": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)],
        "edges": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
        "card": "CPENTA", "order": [*range(9), 12, 13, 14, 9, 10, 11],
        "faces": [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)],
    },
    "C3D10": {
        "corners": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
        "edges": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
        "card": "CTETRA", "order": [*range(10)],
        "faces": [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)],
    },
}


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def analyse(mesh, element):
    put("case.cfg", f'mesh = {{ file = "{mesh}"; }};\nmaterial = {{ E = 10.0; nu = 0.3; }};\n'
        'supports = ( { from = "file"; } );\nloads = ( { from = "file"; } );\n'
        'optimization = { volume_fraction = 0.5; filter = { kind = "none"; }; };\n')
    done = subprocess.run([hextop, "analyse", "case.cfg", f"solver.element={element}", "--output", "a.json"],
                          capture_output=True, text=True)
    check(done.returncode == 0, f"{mesh}, {element}: {done.stderr}")
    return json.load(open("a.json")) if done.returncode == 0 else None


def nodes_of(kind, straight):
    """Corners and mid-side nodes. The latter are moved off the straight edges unless `straight`."""
    x = [list(c) for c in kind["corners"]]
    for i, (a, b) in enumerate(kind["edges"]):
        off = 0.0 if straight else 0.06
        x.append([0.5 * (x[a][d] + x[b][d]) + off * math.sin(3.0 * i + 2.0 * d + 1.0) for d in range(3)])
    return x


def held(kind):
    """A statically determinate support at three corners of the first face."""
    last = 3 if kind["card"] == "CHEXA" else 2
    return [(0, (1, 2, 3)), (1, (2, 3)), (last, (3,))]


def write_inp(name, kind, x):
    lines = ["*NODE"] + [f"{i + 1}, {p[0]:.17g}, {p[1]:.17g}, {p[2]:.17g}" for i, p in enumerate(x)]
    lines += [f"*ELEMENT, TYPE={name}, ELSET=ALL", "1, " + ",\n".join(
        ", ".join(str(i + 1) for i in range(k, min(k + 10, len(x)))) for k in range(0, len(x), 10))]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "10., 0.3", "*SOLID SECTION, ELSET=ALL, MATERIAL=M", "*STEP", "*STATIC", "*BOUNDARY"]
    lines += [f"{a + 1}, {d}, {d}" for a, components in held(kind) for d in components]
    lines += ["*DLOAD"] + [f"1, P{f + 1}, {f + 1}." for f in range(len(kind["faces"]))] + ["*END STEP"]
    put("part.inp", "\n".join(lines) + "\n")


def pload4(kind, f):
    """G1, and G3 or G4, of a face: the opposite corner of a quadrilateral, nothing else for a wedge's triangle, or
    the remaining corner of a tetrahedron."""
    face = kind["faces"][f]
    if kind["card"] == "CTETRA":
        return f"{face[0] + 1},{({0, 1, 2, 3} - set(face)).pop() + 1}"
    return f"{face[0] + 1},{face[2] + 1}" if len(face) == 4 else f"{face[0] + 1}"


def write_bdf(kind, x, card):
    lines = ["SOL 101", "CEND", "SPC = 1", "LOAD = 2", "BEGIN BULK"]
    for i, p in enumerate(x):
        lines += [f"GRID*   {i + 1:16d}{'':16}{p[0]:16.12f}{p[1]:16.12f}", f"*       {p[2]:16.12f}"]
    fields = [kind["card"], "1", "1"] + [str(kind["order"][i] + 1) for i in range(len(x))]
    for k in range(1, len(fields), 8):
        lines.append(",".join(([fields[0]] if k == 1 else ["+"]) + fields[k:k + 8]))
    lines += ["PSOLID,1,1", "MAT1,1,10.,,0.3"]
    lines += [f"SPC1,1,{d},{a + 1}" for a, components in held(kind) for d in components]
    for f, face in enumerate(kind["faces"]):
        if card == "PLOAD4":
            lines.append(f"PLOAD4,2,1,{f + 1}.,,,,{pload4(kind, f)}")
        else:
            lines.append(f"PLOAD,2,{-f - 1}.," + ",".join(str(a + 1) for a in outward(kind, face)))
    put("part.bdf", "\n".join(lines + ["ENDDATA"]) + "\n")


def outward(kind, face):
    """The corners of the face in the order for which the normal points out of the element."""
    x = kind["corners"]
    centre = [sum(p[d] for p in x) / len(x) for d in range(3)]
    u, v = ([x[face[k]][d] - x[face[0]][d] for d in range(3)] for k in (1, 2))
    w = [x[face[0]][d] - centre[d] for d in range(3)]
    normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    return face if sum(a * b for a, b in zip(normal, w)) > 0.0 else face[::-1]


def same(a, b, what):
    if a is None or b is None:
        return
    one, two = a["compliance"], b["compliance"]
    check(abs(one - two) <= 1e-8 * abs(one), f"{what}: compliance {two!r}, by *DLOAD {one!r}")
    load, other = a["cases"][0]["loads"], b["cases"][0]["loads"]
    size = max(abs(c) for key in load for c in load[key])
    worst = max(abs(p - q) for key in load for p, q in zip(load[key], other[key]))
    check(worst <= 1e-9 * size, f"{what}: loads {other}, by *DLOAD {load}")


def ring():
    """Two hexahedra with 20 nodes, radii 10 and 20, height 5: CalculiX 2.20 finds 0.196443 for E = 1000; E is 10 here."""
    x, number = [], {}

    def at(r, step, z):  # step: angle in eighths of a right angle
        key = (r, step, z)
        if key not in number:
            number[key] = len(x) + 1
            x.append((r * math.cos(step * math.pi / 8), r * math.sin(step * math.pi / 8), z))
        return number[key]

    cells, inner = [], []
    for begin in (0, 2):
        p = [(10, begin, 0), (20, begin, 0), (20, begin + 2, 0), (10, begin + 2, 0)]
        p += [(r, s, 5) for r, s, _ in p]
        cell = [at(*q) for q in p]
        for a, b in KINDS["C3D20"]["edges"]:
            cell.append(at(*(0.5 * (p[a][d] + p[b][d]) for d in range(3))))
        cells.append([cell[i] for i in KINDS["C3D20"]["order"]])
        inner.append((cell[0], cell[7]))
    lines = ["SOL 101", "CEND", "SPC = 1", "LOAD = 2", "BEGIN BULK"]
    for i, p in enumerate(x):
        lines += [f"GRID*   {i + 1:16d}{'':16}{p[0]:16.12f}{p[1]:16.12f}", f"*       {p[2]:16.12f}"]
    for e, cell in enumerate(cells):
        fields = ["CHEXA", str(e + 1), "1"] + [str(n) for n in cell]
        for k in range(1, len(fields), 8):
            lines.append(",".join(([fields[0]] if k == 1 else ["+"]) + fields[k:k + 8]))
        lines.append(f"PLOAD4,2,{e + 1},10.,,,,{inner[e][0]},{inner[e][1]}")
    lines += ["PSOLID,1,1", "MAT1,1,10.,,0.3"]
    for i, p in enumerate(x):
        for d, on in ((1, abs(p[0]) < 1e-9), (2, abs(p[1]) < 1e-9), (3, p[2] == 0)):
            if on:
                lines.append(f"SPC1,1,{d},{i + 1}")
    put("ring.bdf", "\n".join(lines + ["ENDDATA"]) + "\n")
    found = analyse("ring.bdf", "quadratic")
    if found:
        force = found["cases"][0]["loads"]["force"]
        check(abs(force[0] - 500.0) < 1e-7 and abs(force[1] - 500.0) < 1e-7, f"ring: forces {force}, 500 are right")
        moved = found["cases"][0]["largest"]["displacement"]["value"]
        check(abs(moved / 100.0 - 0.196443) < 1e-6, f"ring: displacement {moved}, 19.6443 is right")


for name, kind in KINDS.items():
    for straight in (True, False):
        x = nodes_of(kind, straight)
        write_inp(name, kind, x)
        for element in ("linear", "quadratic"):
            right = analyse("part.inp", element)
            for card in ("PLOAD4", "PLOAD"):
                write_bdf(kind, x, card)
                same(right, analyse("part.bdf", element), f"{name}, {element}, {card}, straight: {straight}")
ring()
print(f"{n_check} checks, {n_failed} failed")
sys.exit(n_failed > 0)
