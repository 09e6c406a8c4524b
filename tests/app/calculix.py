"""Shared by the tests against CalculiX: running jobs with ccx, reading VTK files, comparing fields without missing a
NaN, and boxes of every kind of element."""

import math
import os
import random
import shutil
import subprocess
import sys

SAME = 1e-6  # tolerance relative to the largest value: CalculiX prints seven digits

n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    print(("ok: " if condition else "failed: ") + text, flush=True)
    if not condition:
        n_failed += 1


def need_ccx():
    """Ends the test with 77 if CalculiX is not installed."""
    if not shutil.which("ccx"):
        print("SKIPPED: no ccx (Debian: calculix-ccx)")
        sys.exit(77)


def finish():
    """Exit status of the test."""
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0


def run(*command):
    own = dict(os.environ, MALLOC_PERTURB_="0") if command[0] == "ccx" else None # or every requested check is filled
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=own)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read()


# --- numbers ---


def largest_of(values):
    """Like max(), but infinity if a value is not finite: max() ignores a NaN that is not the first value."""
    values = list(values)
    return max(values) if all(map(math.isfinite, values)) else float("inf")


def largest(field):
    return largest_of(abs(x) for point in field for x in point)


def difference(a, b):
    """Largest difference of a component, relative to the largest component of b."""
    if len(a) != len(b):
        return float("inf")
    off, scale = largest_of(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)), largest(b)
    return off / scale if math.isfinite(scale) else float("inf")


def check_difference():
    """Tests the comparisons themselves: they must fail on wrong values."""
    b = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    check(difference(b, b) == 0.0, "a field is like itself")
    for bad in (math.nan, math.inf):
        for i in range(6):
            a = [list(row) for row in b]
            a[i // 3][i % 3] = bad
            check(not difference(a, b) <= SAME and not difference(b, a) <= SAME
                  and not difference(a, a) <= SAME, f"{bad} at {i} is seen")
    check(not difference(b[:1], b) <= SAME, "a missing node is seen")


# --- CalculiX ---


def calculix(name, n_case, n_column=3, head="displacements"):
    """[case][node][n_column] of the tables that a job prints, with nodes in ascending order."""
    said = run("ccx", "-i", name)
    if "ERROR" in said or not os.path.exists(name + ".dat"):
        raise RuntimeError(f"ccx: {said[-2000:]}")
    cases = []
    for line in read(name + ".dat").split("\n"):
        if head in line:
            cases.append({})
        words = line.split()
        if cases and len(words) == n_column + 1 and words[0].isdigit():
            cases[-1][int(words[0])] = [float(w) for w in words[1:]]
    check(len(cases) == n_case, f"{name}: {len(cases)} steps, {n_case} load cases")
    return [[case[a] for a in sorted(case)] for case in cases]


def lines_of(job, kind):
    """(first, last + 1) of the data lines of each block *ELEMENT, TYPE=kind."""
    lines, first, found = job.split("\n"), None, []
    for i, line in enumerate(lines + ["*"]):
        if not line.startswith("*"):
            continue
        if first is not None:
            found.append((first, i))
        first = i + 1 if line.replace(" ", "").startswith(f"*ELEMENT,TYPE={kind},") else None
    return found


def as_bricks(job, kind):
    """The job with its elements of one kind (C3D4, C3D6) as C3D8 with repeated nodes, which CalculiX integrates at
    2x2x2 points like hextop."""
    repeat = {"C3D4": (0, 1, 2, 2, 3, 3, 3, 3), "C3D6": (0, 1, 2, 2, 3, 4, 5, 5)}[kind]
    lines = job.split("\n")
    for first, last in lines_of(job, kind):
        for i in range(first, last):
            words = [w.strip() for w in lines[i].split(",")]
            if len(words) > 1:
                lines[i] = ", ".join([words[0]] + [words[1 + k] for k in repeat])
    return "\n".join(lines).replace("TYPE=" + kind, "TYPE=C3D8")


# --- VTK files ---


def read_vtk(path):
    """Points, cells, cell types and arrays (by name; [n][components]) of an ASCII file."""
    words = read(path).split()
    i = words.index("POINTS")
    n = int(words[i + 1])
    flat = [float(w) for w in words[i + 3 : i + 3 + 3 * n]]
    points = [flat[3 * k : 3 * k + 3] for k in range(n)]
    i = words.index("CELLS")
    n_cell, at, cells = int(words[i + 1]), i + 3, []
    for _ in range(n_cell):
        size = int(words[at])
        cells.append([int(w) for w in words[at + 1 : at + 1 + size]])
        at += 1 + size
    types = [int(w) for w in words[at + 2 : at + 2 + n_cell]]
    arrays, size = {}, n
    for i, word in enumerate(words):
        if word in ("POINT_DATA", "CELL_DATA"):
            size = int(words[i + 1])
        if word in ("SCALARS", "VECTORS"):
            begin, width = (i + 6, 1) if word == "SCALARS" else (i + 3, 3)
            arrays[words[i + 1]] = tuples(words, begin, size, width)
        if word == "FIELD":
            begin = i + 3
            for _ in range(int(words[i + 2])):
                width = int(words[begin + 1])
                arrays[words[begin]] = tuples(words, begin + 4, size, width)
                begin += 4 + width * size
    return points, cells, types, arrays


def tuples(words, begin, n, width):
    """n rows of `width` numbers, starting at words[begin]."""
    flat = [float(w) for w in words[begin : begin + width * n]]
    return [flat[k : k + width] for k in range(0, width * n, width)]


# --- boxes ---

TETRAHEDRON, HEXAHEDRON, WEDGE, PYRAMID = 10, 12, 13, 14  # VTK's types

TETRAHEDRA = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
WEDGES = [(0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7)]
SIDES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]  # seen from outside
LAYERS = ["hexahedra", "pyramids", "tetrahedra", "wedges", "pyramids"]
KINDS = ["tetrahedra", "wedges", "pyramids", "mixed"]


def box(kind, size, distort, seed=1):
    """Points and (type, nodes) of the cells of a box of unit cells of one kind; "mixed": layers along z, five of which
    have all kinds. Points move by at most `distort`, along the faces and edges on which they lie."""
    chance = random.Random(seed)
    node = {}
    points = []
    for k in range(size[2] + 1):
        for j in range(size[1] + 1):
            for i in range(size[0] + 1):
                node[i, j, k] = len(points)
                points.append([x if x in (0, size[d]) else x + chance.uniform(-distort, distort)
                               for d, x in enumerate((i, j, k))])
    cells = []
    for (i, j, k), _ in list(node.items()):
        if i == size[0] or j == size[1] or k == size[2]:
            continue
        corner = [node[i + a, j + b, k + c] for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        layer = LAYERS[k % 5] if kind == "mixed" else kind
        if layer == "hexahedra":
            cells.append((HEXAHEDRON, corner))
        elif layer == "tetrahedra":
            cells += [(TETRAHEDRON, [corner[c] for c in t]) for t in TETRAHEDRA]
        elif layer == "wedges":
            cells += [(WEDGE, [corner[c] for c in w]) for w in WEDGES]
        else:
            points.append([sum(points[a][d] for a in corner) / 8 for d in range(3)])
            top = len(points) - 1
            for s, side in enumerate(SIDES):
                base = [corner[c] for c in reversed(side)]
                if kind == "mixed" and s == (1 if k % 5 == 1 else 0):  # towards triangles, along diagonals 0 2 and 4 6
                    first = base.index(corner[0] if s == 0 else corner[4])
                    base = base[first:] + base[:first]
                    cells += [(TETRAHEDRON, base[:3] + [top]), (TETRAHEDRON, [base[0]] + base[2:] + [top])]
                else:
                    cells.append((PYRAMID, base + [top]))
    return points, cells


def write_box(path, kind, size, distort, seed=1):
    points, cells = box(kind, size, distort, seed)
    text = [f"# vtk DataFile Version 3.0\n{kind}\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {len(points)} double"]
    text += [" ".join(repr(float(x)) for x in p) for p in points]
    text.append(f"CELLS {len(cells)} {sum(len(c) + 1 for _, c in cells)}")
    text += [" ".join(map(str, [len(c)] + c)) for _, c in cells]
    text.append(f"CELL_TYPES {len(cells)}")
    text += [str(t) for t, _ in cells]
    write(path, "\n".join(text) + "\n")
