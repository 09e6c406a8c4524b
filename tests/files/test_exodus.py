#!/usr/bin/env python3
"""hextop reads Exodus II files that were written by VTK, and by SciPy's netCDF according to the
description of the format: nodes, blocks, side sets and node sets with their names.

    test_exodus.py HEXTOP TEST_EXODUS_THREADS

Exit status 0 passed, 1 failed, 77 skipped (no SciPy, or no Exodus library)."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
    from scipy.io import netcdf_file
except ImportError as missing:
    # Debian's packages belong to the system's Python, which need not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-scipy)")
    sys.exit(77)

hextop, in_threads = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
work = tempfile.mkdtemp(prefix="hextop_exodus_")
os.chdir(work)
atexit.register(shutil.rmtree, work)
n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def text_of(words, size=33):
    table = numpy.zeros((len(words), size), dtype="S1")
    for i, word in enumerate(words):
        table[i, : len(word)] = list(word)
    return table


def write(path, xyz, blocks, sides=(), nodes=(), ids=None, dim=3):
    """blocks: (number, name, type, connectivity from 1); sides: (number, name, elements, sides); nodes: (number,
    name, nodes); ids: the numbers of nodes in the file."""
    with netcdf_file(path, "w", version=2) as f:
        f.api_version = f.version = numpy.float32(5.14)
        f.floating_point_word_size = numpy.int32(8)
        f.file_size = numpy.int32(1)
        f.title = "test"
        f.createDimension("time_step", None)
        sizes = {"len_string": 33, "len_line": 81, "four": 4, "len_name": 33, "num_dim": dim,
                 "num_nodes": len(xyz), "num_elem": sum(len(b[3]) for b in blocks),
                 "num_el_blk": len(blocks), "num_side_sets": len(sides),
                 "num_node_sets": len(nodes)}
        for name, n in sizes.items():
            if n:
                f.createDimension(name, n)

        def put(name, kind, where, values):
            f.createVariable(name, kind, where)[:] = values

        f.createDimension("most", 10000)
        put("largest", "i", ("most",), numpy.zeros(10000)) # the library's first variable cannot be x
        for d in range(dim):
            put("coord" + "xyz"[d], "d", ("num_nodes",), xyz[:, d])
        if ids is not None:
            put("node_num_map", "i", ("num_nodes",), ids)
        for kind, word, entries in (("eb", "num_el_blk", blocks), ("ss", "num_side_sets", sides),
                                    ("ns", "num_node_sets", nodes)):
            if not entries:
                continue
            put(f"{kind}_status", "i", (word,), numpy.ones(len(entries)))
            put(f"{kind}_prop1", "i", (word,), [entry[0] for entry in entries])
            setattr(f.variables[f"{kind}_prop1"], "name", "ID")
            put(f"{kind}_names", "c", (word, "len_name"), text_of([entry[1] for entry in entries]))
        for i, (_, _, kind, conn) in enumerate(blocks, 1):
            f.createDimension(f"num_el_in_blk{i}", len(conn))
            f.createDimension(f"num_nod_per_el{i}", conn.shape[1])
            put(f"connect{i}", "i", (f"num_el_in_blk{i}", f"num_nod_per_el{i}"), conn)
            f.variables[f"connect{i}"].elem_type = kind
        for i, (_, _, elements, faces) in enumerate(sides, 1):
            f.createDimension(f"num_side_ss{i}", len(elements))
            put(f"elem_ss{i}", "i", (f"num_side_ss{i}",), elements)
            put(f"side_ss{i}", "i", (f"num_side_ss{i}",), faces)
        for i, (_, _, members) in enumerate(nodes, 1):
            f.createDimension(f"num_nod_ns{i}", len(members))
            put(f"node_ns{i}", "i", (f"num_nod_ns{i}",), members)


def convert(path, to="out.inp"):
    return subprocess.run([hextop, "mesh", path, to], capture_output=True, text=True)


def section(text, head):
    """The numbers that follow a keyword of an .inp file."""
    found = re.search(re.escape(head) + r"\n((?:[^*].*\n)*)", text)
    return found.group(1).replace(" ", "").split() if found else None


# --- a wedge, a pyramid and two hexahedra, with numbers of the file's own ---

box = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1],
                   [0, 1, 1], [2, 0, 0], [2, 1, 0], [2, 0, 1], [2, 1, 1], [0.5, 0.5, 2],
                   [3, 0, 0], [3, 0, 1]], dtype=float)
ids = numpy.arange(len(box)) * 10 + 5
blocks = [
    (7, "steel", "HEX8", numpy.array([[1, 2, 3, 4, 5, 6, 7, 8], [2, 9, 10, 3, 6, 11, 12, 7]])),
    (8, "", "PYRAMID", numpy.array([[5, 6, 7, 8, 13]])),
    (9, "rib", "WEDGE", numpy.array([[9, 14, 10, 11, 15, 12]])),
    (20, "skin", "QUAD4", numpy.array([[1, 4, 3, 2]])),
]
write("mixed.exo", box, blocks,
      [(1, "pushed", [1, 2, 3, 4, 4], [1, 1, 1, 1, 4]), (2, "", [5], [1])],
      [(3, "held", [1, 4, 5, 8]), (4, "", [13])], ids)
done = convert("mixed.exo")
check(done.returncode in (0, 77), done.stderr)
if "Exodus" in done.stderr and ("built without" in done.stderr or "not installed" in done.stderr):
    print(f"SKIPPED: {done.stderr.strip()}")
    sys.exit(77)
out = open("out.inp").read()
check("4 elements, 15 nodes" in done.stdout + done.stderr, f"counts: {done.stdout}{done.stderr}")
check(section(out, "*NSET, NSET=held") == ["5,35,45,75"], f"held: {section(out, '*NSET, NSET=held')}")
check(section(out, "*NSET, NSET=nodeset-4") == ["125"], "a set without a name")
check(section(out, "*ELSET, ELSET=steel") == ["1,2"], "a block by its name")
check(section(out, "*ELSET, ELSET=block-8") == ["3"], "a block without a name")
# Abaqus's S3 is 1-2-6-5 of a hexahedron, 1-2-5 of a pyramid, S3 of a wedge 1-2-5-4, S1 its bottom.
found = section(out, "*SURFACE, TYPE=ELEMENT, NAME=pushed")
check(sorted(found) == ["1,S3", "2,S3", "3,S3", "4,S1", "4,S3"], f"sides: {found}")
check(section(out, "*SURFACE, TYPE=ELEMENT, NAME=sideset-2") == ["1,S1"], "side of a shell")
check(section(out, "*SURFACE, TYPE=ELEMENT, NAME=skin") == ["1,S1"], "a block of faces")

# --- second order: corners, and curved edges where they are ---

corner = box[:8] * 2
edges = {8: (0, 1), 9: (1, 2), 10: (2, 3), 11: (3, 0), 12: (0, 4), 13: (1, 5), 14: (2, 6), 15: (3, 7),
         16: (4, 5), 17: (5, 6), 18: (6, 7), 19: (7, 4)}
sides = {20: range(8), 21: (0, 1, 2, 3), 22: (4, 5, 6, 7), 23: (0, 3, 4, 7), 24: (1, 2, 5, 6),
         25: (0, 1, 4, 5), 26: (2, 3, 6, 7)}
full = numpy.array(list(corner) + [corner[list(e)].mean(0) for e in (*edges.values(), *sides.values())])
for n in (20, 27):
    write(f"hex{n}.e", full[:n], [(1, "a", f"HEX{n}", numpy.arange(1, n + 1)[None])],
          nodes=[(1, "middle", [13])]) # of edge 1-5
    done = convert(f"hex{n}.e")
    said = done.stdout + done.stderr
    check(done.returncode == 0 and "off the middle" not in said, f"hex{n}: {said}")
    found = section(open("out.inp").read(), "*NSET, NSET=middle")
    check(found == ["1,5"], f"hex{n}: the ends of edge 1-5 are {found}")
    bent = full[:n].copy()
    bent[12] += (-0.1, -0.1, 0) # an edge along the height
    write("bent.e", bent, [(1, "a", f"HEX{n}", numpy.arange(1, n + 1)[None])])
    done = convert("bent.e")
    check("1 of them by more than 0.01 of its length (at most 0.071, node 13)" in done.stdout + done.stderr, f"hex{n}, bent: {done.stdout}{done.stderr}")
wedge = box[[0, 1, 3, 4, 5, 7]]
places = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)]
write("wedge15.e", numpy.array(list(wedge) + [wedge[list(p)].mean(0) for p in places]),
      [(1, "a", "WEDGE15", numpy.arange(1, 16)[None])], nodes=[(1, "middle", [10])])
done = convert("wedge15.e")
check(section(open("out.inp").read(), "*NSET, NSET=middle") == ["1,4"], f"wedge15: {done.stderr}")

# --- VTK's own writer ---

try:
    from vtkmodules.vtkIOExodus import vtkExodusIIWriter
    from vtkmodules.vtkIOLegacy import vtkUnstructuredGridReader

    subprocess.run([hextop, "mesh", "mixed.exo", "mixed.vtk"], capture_output=True)
    reader = vtkUnstructuredGridReader()
    reader.SetFileName("mixed.vtk")
    writer = vtkExodusIIWriter()
    writer.SetInputConnection(reader.GetOutputPort())
    writer.SetFileName("vtk.ex2")
    writer.Write()
    done = convert("vtk.ex2")
    check("4 elements, 15 nodes" in done.stdout + done.stderr, f"VTK's: {done.stdout}{done.stderr}")
except ImportError as missing:
    print(f"without VTK's writer: {missing}")

# --- several threads ---

files = [f for f in ("mixed.exo", "wedge15.e", "bent.e") if os.path.exists(f)]
for _ in range(3):
    done = subprocess.run([in_threads, *files], capture_output=True, text=True)
    check(done.returncode == 0, f"in threads: {done.returncode} {done.stdout[-300:]}{done.stderr[-300:]}")

# --- files that are refused ---


def refused(path, message):
    done = convert(path)
    check(done.returncode == 2 and message in done.stderr, f"{path}: {done.returncode} {done.stderr}")


write("flat.exo", box[:4], [(1, "a", "QUAD4", numpy.array([[1, 2, 3, 4]]))], dim=2)
refused("flat.exo", "a mesh in 2 dimensions")
write("shell.exo", box[:4], [(1, "a", "SHELL4", numpy.array([[1, 2, 3, 4]]))])
refused("shell.exo", "no solid element among 4 nodes and cells such as SHELL4")
write("beyond.exo", box[:8], [(1, "a", "HEX", numpy.array([[1, 2, 3, 4, 5, 6, 7, 9]]))])
refused("beyond.exo", "node 9 does not exist; the file has 1 to 8")
write("side.exo", box[:4] + box[4:5] * 0 + [[0, 0, 0]], [(1, "a", "TETRA", numpy.array([[1, 2, 3, 4]]))],
      [(1, "s", [1], [6])])
refused("side.exo", "side set 's': element 1 has no side 6")
write("odd.exo", box[:9], [(1, "a", "HEX9", numpy.array([[1, 2, 3, 4, 5, 6, 7, 8, 9]]))])
refused("odd.exo", "HEX9")
with open("mixed.exo", "rb") as file:
    whole = file.read()
with open("short.exo", "wb") as file:
    file.write(whole[:100])
refused("short.exo", "not an Exodus file")
# --- sides of shells (two faces, then the edges), and types that hextop does not read ---

rim = [(21, "top", "SHELL4", numpy.array([[5, 6, 7, 8]])), (22, "side", "TRI3", numpy.array([[9, 14, 10]])),
       (23, "edge", "EDGE2", numpy.array([[1, 2]]))]
write("rim.exo", box, blocks[:3] + rim,
      sides=[(1, "face", [5], [2]), (2, "first", [5], [3]), (3, "last", [5], [6]), (4, "third", [6], [5]), (5, "line", [7], [1])])
done = convert("rim.exo")
text = open("out.inp").read() if done.returncode == 0 else ""
for name, expected in (("first", ["5,6"]), ("last", ["5,8"]), ("third", ["9,10"]), ("line", ["1,2"])):
    check(section(text, f"*NSET, NSET={name}") == expected, f"side set {name}: {section(text, f'*NSET, NSET={name}')} {done.stderr}")
check(section(text, "*SURFACE, TYPE=ELEMENT, NAME=face") is not None, "side 2 of a shell is its face")
write("beyond.exo", box, blocks[:3] + rim, sides=[(1, "face", [5], [7])])
done = convert("beyond.exo")
check(done.returncode == 2 and "side set 'face': an element of type SHELL4 has no side 7" in done.stderr, done.stderr)
write("bezier.exo", box, [(4, "", "BEX_HEX", blocks[0][3])])
done = convert("bezier.exo")
check(done.returncode == 2 and "block 4 has 2 elements of type BEX_HEX, which are not read" in done.stderr, done.stderr)

# --- unread elements that carry load are named with their number; those that only mark faces are not ---

def attributed(path, blocks, attribute):
    """Blocks with attribute[i] numbers for each cell."""
    write(path, box, blocks)
    with netcdf_file(path, "a") as f:
        for i, n in enumerate(attribute, 1):
            if n:
                f.createDimension(f"num_att_in_blk{i}", n)
                f.createVariable(f"attrib{i}", "d", (f"num_el_in_blk{i}", f"num_att_in_blk{i}"))[:] = 0.5


marks = [(20, "skin", "QUAD4", numpy.array([[1, 4, 3, 2]])), (21, "top", "SHELL4", numpy.array([[5, 6, 7, 8]])),
         (22, "side", "TRI3", numpy.array([[9, 14, 10]])), (23, "edge", "EDGE2", numpy.array([[1, 2]])),
         (24, "point", "NODE", numpy.array([[1]]))]
attributed("marks.exo", blocks[:3] + marks, [0, 0, 0, 0, 0, 0, 0, 0])
done = convert("marks.exo")
check(done.returncode == 0 and "not read" not in done.stdout + done.stderr, f"marks: {done.stderr}")
others = [(30, "a", "SHELL4", numpy.array([[1, 4, 3, 2], [5, 6, 7, 8]]), 1), (31, "b", "BEAM2", numpy.array([[1, 2], [2, 9]]), 3),
          (32, "c", "TRUSS", numpy.array([[3, 4]]), 0), (33, "d", "SPHERE", numpy.array([[13], [7]]), 2),
          (34, "e", "RBAR2", numpy.array([[1, 7]]), 0), (35, "f", "TRI3", numpy.array([[9, 14, 10]]), 1),
          (36, "g", "BAR2", numpy.array([[6, 7]]), 0), (37, "h", "SPRING2", numpy.array([[6, 7]]), 0)]
attributed("others.exo", blocks[:3] + [o[:4] for o in others], [0, 0, 0] + [o[4] for o in others])
done = convert("others.exo")
said = done.stdout + done.stderr
check(done.returncode == 0 and "others.exo: not read: " in said, f"others: {said}")
for kind in ("2 SHELL4 (shells with a thickness", "2 BEAM2 (beams", "1 TRUSS (trusses", "2 SPHERE (point masses",
             "1 RBAR2 (rigid bars", "1 TRI3 (shells with a thickness", "1 BAR2 (bars", "1 SPRING2 (springs"):
    check(kind in said, f"others: {kind} is not in {said}")
with open("others.cfg", "w") as file:
    file.write('mesh = { file = "others.exo"; };\nmaterial = { E = 1.0; nu = 0.3; };\n'
               'supports = ( { set = "skin"; fix = "xyz"; } );\nloads = ( { set = "rib"; total_force = [0.0, 0.0, 1.0]; } );\n'
               'optimization = { volume_fraction = 0.5; filter = { kind = "none"; }; };\n')
for words, text in ((("mesh.ignore=(\"SHELL4\",\"sphere\")",), "left out on purpose: 2 SHELL4"),
                    (("mesh.ignore=(\"S4\")",), '"S4" is not among the items of')):
    done = subprocess.run([hextop, "check", "others.cfg", *words], capture_output=True, text=True)
    check(text in done.stdout + done.stderr, f"check with {words}: {done.stdout[-300:]} {done.stderr}")

print(f"{n_check} checks, {n_failed} failed")
sys.exit(n_failed > 0)
