#!/usr/bin/env python3
"""Mesh files that several processes (mpirun) read in pieces, compared with the same files read as a whole: formats, kinds
of cells, orders, sets, names of sets of several kinds, nodes without elements; files that need the whole mesh; refused
files; runs.

    test_file_source.py HEXTOP TEST_FILE_SOURCE SOURCE_ROOT

Exits with 77 without mpirun or MPI."""
import csv
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HEXTOP, TEST, ROOT = (os.path.abspath(path) for path in sys.argv[1:4])
N_CHECK = N_FAILED = 0
NOTED = {} # number of processes: files with their tests
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1", OMP_NUM_THREADS="1", ASAN_OPTIONS="detect_leaks=0:handle_sigill=1",
           MALLOC_PERTURB_="0") # Meson sets it to another value, which makes malloc fill every buffer of about 300 processes
EXACT = ["solver.deterministic=true", "solver.tolerance=1e-12", "solver.criterion=relative", "output.every=0",
         "optimization.iterations=5"]
CANTILEVER = os.path.join(ROOT, "configs", "cantilever.cfg")


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def by(n, *words, seconds=120):
    start = ["mpirun", "--oversubscribe", "-n", str(n)] if n > 1 else []
    return subprocess.run([*start, *words], capture_output=True, text=True, timeout=seconds, env=ENV)


def example(*path):
    return os.path.join(ROOT, "examples", *path)


def agrees(file, *words, ranks=(2, 3)):
    """Stores a test; try_noted() runs all tests of a scene in one start per number of processes."""
    for n in ranks:
        NOTED.setdefault(n, []).append([file, *words])


def try_noted():
    for n, jobs in NOTED.items():
        files = [os.path.basename(job[0]) for job in jobs]
        check(all(os.path.exists(job[0]) for job in jobs), f"missing files: {files}")
        said = by(n, TEST, *jobs[0], *(word for job in jobs[1:] for word in ("--", *job)))
        check(said.returncode == 0 and said.stdout.count(" 0 failed") == n and
              said.stdout.count(f"{len(jobs)} files, ") == n,
              f"{', '.join(files)} by {n}: {said.returncode} {said.stdout[:2000]}{said.stderr[-300:]}")
    NOTED.clear()


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)
    return name


def mesh(source, name, *keys):
    said = by(1, HEXTOP, "mesh", source, name, *keys)
    check(said.returncode == 0, f"hextop mesh {source} {name}: {said.stderr}")
    return name


# --- files made by this test ---

def box(n, split):
    """Returns nodes and cells, (kind, nodes), of a box of n[0] x n[1] x n[2] cubes, each divided by split(corners)."""
    size = [k + 1 for k in n]
    nodes = [(i * 1.0, j * 1.1 + 0.05 * i, k * 0.9) for k in range(size[2]) for j in range(size[1]) for i in range(size[0])]
    cells = []
    for k in range(n[2]):
        for j in range(n[1]):
            for i in range(n[0]):
                at = [(k + c) * size[0] * size[1] + (j + b) * size[0] + i + a for c in (0, 1)
                      for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                cells += split(at, i, j, k)
    return nodes, cells


def hexahedra(at, *_):
    return [("hex", at)]


def tetrahedra(at, *_):
    """Six tetrahedra around the diagonal from 0 to 6, so that neighbours conform."""
    ring = [1, 2, 3, 7, 4, 5]
    return [("tet", [at[0], at[ring[k]], at[ring[(k + 1) % 6]], at[6]]) for k in range(6)]


def mixed(at, i, *_):
    """Hexahedra, then a layer of wedges."""
    if i < 2:
        return [("hex", at)]
    return [("wedge", [at[0], at[1], at[3], at[4], at[5], at[7]]), ("wedge", [at[1], at[2], at[3], at[5], at[6], at[7]])]


def volume(nodes, tet):
    a, b, c, d = (nodes[k] for k in tet)
    u, v, w = ([p[k] - a[k] for k in range(3)] for p in (b, c, d))
    return (u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0]))


def shuffle(nodes, cells, seed):
    """Shuffles nodes and cells; cells of one kind stay together, as formats require."""
    draw = random.Random(seed)
    order = list(range(len(nodes)))
    draw.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    cells = [(kind, [place[a] for a in cell]) for kind, cell in cells]
    draw.shuffle(cells)
    cells.sort(key=lambda cell: cell[0])
    return [nodes[old] for old in order], cells


GMSH = {"tet": 4, "hex": 5, "wedge": 6}
VTK = {"tet": 10, "hex": 12, "wedge": 13}
ABAQUS = {"tet": "C3D4", "hex": "C3D8", "wedge": "C3D6"}


def gmsh_22(name, nodes, cells, quads=(), first=1, binary=False, skip=(), left="left", points=(), point="nothing"):
    """Writes a Gmsh 2.2 file: cells alternate between two groups, faces form a third, named `left`, and points a fourth,
    named `point`."""
    head = f"$MeshFormat\n2.2 {int(binary)} 8\n"
    names = f'$PhysicalNames\n4\n3 1 "one"\n3 2 "two"\n2 3 "{left}"\n0 9 "{point}"\n$EndPhysicalNames\n'
    rows = [(15, 9, [a]) for a in points] + [(2 if len(face) == 3 else 3, 3, face) for face in quads]
    rows += [(GMSH[kind], 1 + e % 2, cell) for e, (kind, cell) in enumerate(cells)]
    with open(name, "wb") as file:
        file.write(head.encode() + (struct.pack("i", 1) + b"\n" if binary else b"") + b"$EndMeshFormat\n")
        file.write(names.encode() + f"$Nodes\n{len(nodes)}\n".encode())
        for i, x in enumerate(nodes):
            file.write(struct.pack("=i3d", first + i, *x) if binary else f"{first + i} {x[0]!r} {x[1]!r} {x[2]!r}\n".encode())
        file.write((b"\n" if binary else b"") + f"$EndNodes\n$Elements\n{len(rows)}\n".encode())
        for i, (kind, group, cell) in enumerate(rows):
            numbers = [first + a for a in cell]
            file.write(struct.pack(f"={3 + 3 + len(cell)}i", kind, 1, 2, i + 1, group, group, *numbers) if binary else
                       f"{i + 1} {kind} 2 {group} {group} {' '.join(map(str, numbers))}\n".encode())
        file.write((b"\n" if binary else b"") + b"$EndElements\n")
    return name


def abaqus(name, nodes, cells, sides=(), first=1, after="", side="SIDE"):
    lines = ["*HEADING", "*NODE"] + [f"{first + i}, {x[0]!r}, {x[1]!r}, {x[2]!r}" for i, x in enumerate(nodes)]
    last = None
    for e, (kind, cell) in enumerate(cells):
        if kind != last:
            lines.append(f"*ELEMENT, TYPE={ABAQUS[kind]}, ELSET=OF_{kind}")
        last = kind
        lines.append(f"{100 + e}, " + ", ".join(str(first + a) for a in cell))
    lines += ["*NSET, NSET=SOME, GENERATE", f"{first}, {first + 20}, 2", "*ELSET, ELSET=TWO", "101, 103, 104",
              "*ELSET, ELSET=ALSO", "TWO, 110"]
    if sides:
        lines += [f"*SURFACE, NAME={side}"] + [f"{100 + e}, S{side}" for e, side in sides]
    return write(name, "\n".join(lines) + "\n" + after)


def vtk(name, nodes, cells, first="POINTS", arrays="", version="3.0"):
    points = f"POINTS {len(nodes)} double\n" + "".join(f"{x[0]!r} {x[1]!r} {x[2]!r}\n" for x in nodes)
    order = {"wedge": [0, 2, 1, 3, 5, 4]}
    turned = [[cell[k] for k in order.get(kind, range(len(cell)))] for kind, cell in cells]
    if version == "5.1":
        at, offsets = 0, [0]
        for cell in turned:
            at += len(cell)
            offsets.append(at)
        body = (f"CELLS {len(offsets)} {at}\nOFFSETS vtktypeint64\n{' '.join(map(str, offsets))}\nCONNECTIVITY vtktypeint64\n" +
                "".join(" ".join(map(str, cell)) + "\n" for cell in turned))
    else:
        body = (f"CELLS {len(cells)} {sum(1 + len(cell) for cell in turned)}\n" +
                "".join(f"{len(cell)} {' '.join(map(str, cell))}\n" for cell in turned))
    types = f"CELL_TYPES {len(cells)}\n" + "\n".join(str(VTK[kind]) for kind, _ in cells) + "\n"
    return write(name, f"# vtk DataFile Version {version}\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n" +
                 (points + body if first == "POINTS" else body + points) + types + arrays)


def sets_of(cells, nodes):
    """Data arrays: of flags and of few values, which become sets, and one of many values, which does not."""
    values = " ".join(str(e % 3) for e in range(len(cells)))
    flags = " ".join(str(int(e % 5 == 0)) for e in range(len(cells)))
    points = " ".join(str(int(x[0] == 0.0)) for x in nodes)
    many = " ".join(str(a) for a in range(len(nodes)))
    return (f"CELL_DATA {len(cells)}\nSCALARS set_fifth int 1\nLOOKUP_TABLE default\n{flags}\nSCALARS third int 1\n"
            f"LOOKUP_TABLE default\n{values}\nPOINT_DATA {len(nodes)}\nSCALARS set_left int 1\nLOOKUP_TABLE default\n{points}\n"
            f"SCALARS many int 1\nLOOKUP_TABLE default\n{many}\n")


def left_faces(nodes, cells):
    """Returns the quadrilateral and triangular faces at x = 0, each once."""
    ring = {"hex": [(0, 3, 7, 4), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 1, 2, 3), (4, 5, 6, 7)],
            "tet": [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)], "wedge": [(0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (0, 2, 5, 3)]}
    found = {}
    for kind, cell in cells:
        for face in ring[kind]:
            corner = [cell[k] for k in face]
            if all(abs(nodes[a][0]) < 1e-12 for a in corner):
                found[tuple(sorted(corner))] = corner
    return list(found.values())


# --- scenes ---

def ours():
    """Files written by hextop."""
    grid = mesh(CANTILEVER, "grid.vtk", "mesh.nx=24", "mesh.ny=12", "mesh.nz=12", "mesh.distort=0.2", "mesh.shuffle=3")
    agrees(grid, ranks=(1, 2, 3, 4))
    agrees(mesh(grid, "grid.msh"), ranks=(1, 2, 4))
    agrees(mesh(grid, "grid.inp"), ranks=(1, 3))


def examples():
    for name in ("lplate.vtk", "lplate_41.msh", "lplate_41_binary.msh", "kinds_41_binary.msh", "blocks_41.msh", "block.inp"):
        agrees(example("meshes", name), ranks=(3,))
    for name in ("bell-crank.msh", "hook.msh", "bracket.vtk"):
        agrees(example(name[:-4], name), ranks=(3,))


def kinds():
    for name, split in (("hexahedra", hexahedra), ("tetrahedra", tetrahedra), ("mixed", mixed)):
        nodes, cells = box([9, 8, 7] if split != mixed else [4, 12, 12], split)
        cells = [(k, c) if k != "tet" or volume(nodes, c) > 0.0 else (k, [c[1], c[0], c[2], c[3]]) for k, c in cells]
        plain = nodes, cells
        for seed in (0, 5):
            nodes, cells = shuffle(*plain, seed) if seed else plain
            faces = left_faces(nodes, cells)
            title = f"{name}{seed}"
            sides = [(e, 1 + e % 4) for e in range(0, len(cells), 3)]
            agrees(gmsh_22(title + ".msh", nodes, cells, faces), ranks=(3,))
            agrees(vtk(title + ".vtk", nodes, cells, arrays=sets_of(cells, nodes)), ranks=(3,))
            if seed:
                agrees(gmsh_22(title + "b.msh", nodes, cells, faces, first=7, binary=True), ranks=(2,))
                agrees(vtk(title + "5.vtk", nodes, cells, arrays=sets_of(cells, nodes), version="5.1"), ranks=(2,))
            agrees(abaqus(title + ".inp", nodes, cells, sides), ranks=(3,))


def unused():
    """Nodes without elements throughout the file; faces and sets that name some of them."""
    draw = random.Random(11)
    nodes, cells = box([12, 11, 11], hexahedra)
    place, more = {}, []
    for i, x in enumerate(nodes):
        while draw.random() < 0.3:
            more.append((5.0, 5.0, 99.0 + len(more)))
        place[i] = len(more)
        more.append(x)
    more += [(0.0, 0.0, -9.0)] * 3000 # whole blocks of unused nodes
    cells = [(kind, [place[a] for a in cell]) for kind, cell in cells]
    faces = left_faces(more, cells) + [[0, 1, len(more) - 1, len(more) - 2]]
    loose = [cells[0][1][0], cells[0][1][1], cells[0][1][2]] # a triangle that is no face of its hexahedron
    for binary in (False, True): # one name for solids and faces makes two sets
        agrees(gmsh_22(f"apart{binary:d}.msh", more, cells, faces, binary=binary, left="two"), "shared", "1", ranks=(1, 3))
    agrees(gmsh_22("unused.msh", more, cells, faces + [loose]), ranks=(1, 2, 3, 4))
    agrees(abaqus("unused.inp", more, cells, first=3), ranks=(2,))


def shared():
    """Names of sets of several kinds: each process finds the same set for a name as in the whole mesh."""
    nodes, cells = shuffle(*box([9, 8, 7], hexahedra), 4)
    faces = left_faces(nodes, cells)
    corners = [a for a, x in enumerate(nodes) if x[0] == 9.0]
    for binary in (False, True):
        agrees(gmsh_22(f"three{binary:d}.msh", nodes, cells, faces, binary=binary, left="one", points=corners, point="one"),
               "shared", "1", ranks=(1, 2, 3))
        agrees(gmsh_22(f"pairs{binary:d}.msh", nodes, cells, faces, binary=binary, left="one", points=corners, point="two"),
               "shared", "2", ranks=(3,))
    agrees(gmsh_22("empty.msh", nodes, cells, faces, point="left"), "shared", "1", ranks=(1, 3)) # a group without a point
    sides = [(e, 1 + e % 4) for e in range(0, len(cells), 3)]
    both = "*NSET, NSET=TWO\n1, 5, 9\n*NSET, NSET=SIDE-2\n2, 3\n*ELSET, ELSET=SOME\n101, 108\n"
    agrees(abaqus("three.inp", nodes, cells, sides, after=both, side="TWO"), "shared", "2", ranks=(1, 2, 3))
    agrees(abaqus("of.inp", nodes, cells, sides, side="OF_hex", after="*NSET, NSET=SURFACE-OF_hex\n4, 7\n"), "shared", "1",
           ranks=(1, 3)) # cells name the set as they are read; the other name is taken
    flags = " ".join(str(int(x[0] == 0.0)) for x in nodes)
    values = " ".join(str(int(x[1] < 0.5)) for x in nodes)
    more = (f"SCALARS set_third=1 int 1\nLOOKUP_TABLE default\n{flags}\n" # a set of nodes, and of elements by values
            f"SCALARS third int 1\nLOOKUP_TABLE default\n{values}\n")
    agrees(vtk("three.vtk", nodes, cells, arrays=sets_of(cells, nodes) + more), "shared", "2", ranks=(1, 2, 3))


def whole():
    nodes, cells = box([5, 4, 4], hexahedra)
    turned = cells[:7] + [(cells[7][0], cells[7][1][4:] + cells[7][1][:4])] + cells[8:]
    agrees(gmsh_22("turned.msh", nodes, turned), "why", "out of order")
    agrees(abaqus("steps.inp", nodes, cells, after="*STEP\n*STATIC\n*END STEP\n"), "why", "*STEP beside the mesh")
    agrees(abaqus("elset.inp", nodes, cells, after="*NSET, NSET=OF, ELSET=TWO\n"), "why", "*NSET with ELSET")
    agrees(vtk("late.vtk", nodes, cells, first="CELLS"), "why", "cells before the points")
    for name, text in (("meshes/kinds_22_second.msh", "second order"), ("meshes/second.inp", "not consecutive"),
                       ("meshes/lplate_22.msh", "not consecutive"), ("meshes/kinds.vtk", "solids of first order"),
                       ("meshes/assembly.inp", "*PART"), ("meshes/part.mesh", "a file of this format")):
        agrees(example(*name.split("/")), "why", text, ranks=(2,))
    for name, lost in (("node.inp", "*NSET, NSET=lost\n1, 90001\n"), ("elem.inp", "*ELSET, ELSET=lost\n90001\n"),
                       ("side.inp", "*SURFACE, NAME=lost\n90001, S1\n")):
        agrees(abaqus(name, nodes, cells, after=lost), "why", "members that the file does not have", ranks=(2,))
    two = nodes + [(x + 20.0, y, z) for x, y, z in nodes]
    agrees(vtk("two.vtk", two, cells + [("hex", [a + len(nodes) for a in cell]) for _, cell in cells]), "bodies", "2",
           ranks=(1, 2, 3, 4))


def bad():
    nodes, cells = box([5, 4, 4], hexahedra)
    far = cells[:9] + [("hex", cells[9][1][:7] + [9000])] + cells[10:]
    agrees(gmsh_22("far.msh", nodes, far), "bad", f"far.msh:{16 + len(nodes) + 9}: element 10 names node 9001")
    agrees(abaqus("far.inp", nodes, far), "bad", "element 109 names node 9001, which the file does not have")
    agrees(vtk("far.vtk", nodes, far), "bad", "cell 9 uses point 9000")
    for name in ("far.vtk", "far.msh", "far.inp"):
        said = by(3, HEXTOP, "run", config(name, 5.0), "mesh.in_parts=always", "output.directory=never")
        check(said.returncode == 2 and name in said.stderr and "90" in said.stderr, f"{name}: {said.returncode} {said.stderr}")
        check(said.stderr.count("hextop: error") == 1, f"{name}: printed more than once: {said.stderr}")
    for name in ("short.vtk", "short.msh", "short.inp"):
        whole_file = {"vtk": vtk, "msh": gmsh_22, "inp": abaqus}[name[-3:]](name, nodes, cells)
        with open(whole_file, encoding="ascii") as file:
            text = file.read()
        write(name, text[:len(text) * 3 // 5].rsplit(" ", 1)[0])
        agrees(name, "bad", name + ":")
    agrees(gmsh_22("nan.msh", nodes[:3] + [(float("nan"), 0.0, 0.0)] + nodes[4:], cells), "bad", "node 4 has the coordinates (nan")
    flat = [("hex", cells[0][1][:4] * 2)] + cells[1:]
    agrees(gmsh_22("flat.msh", nodes, flat), "bad", "element 1 names node")


PLANES = """sets = ( { name = "held"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
    { name = "pulled"; plane = { point = [%.1f, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; } );
"""
CONFIG = """mesh = { file = "%s"; };
%smaterial = { E = 1.0; nu = 0.3; };
supports = ( { set = "%s"; fix = "xyz"; } );
loads = ( { set = "%s"; total_force = [0.0, -1.0, 0.3]; } );
optimization = { volume_fraction = 0.4; filter = { kind = "sensitivity"; radius = 2.0; unit = "element"; }; };
output = { fields = ("density"); };
"""


def config(file, end=None, held="held", pulled="pulled"):
    """Writes a config for the mesh, supported and loaded at its sets, or at x = 0 and x = end."""
    planes = "" if end is None else PLANES % end
    return write(os.path.basename(file) + ".cfg", CONFIG % (file, planes, held, pulled))


def history(folder):
    with open(os.path.join(folder, "history.csv"), newline="", encoding="ascii") as file:
        return [float(row["compliance"]) for row in csv.DictReader(file)]


def mesh_part(folder):
    """Returns the points, cells and types in the file of the last design."""
    with open(os.path.join(folder, "density_0005.vtk"), "rb") as file:
        text = file.read()
    return text[text.index(b"POINTS"):text.index(b"CELL_DATA")]


def meanings(said):
    """The lines that a run prints about sets of the config that have another name in the mesh."""
    lines = (said.stdout + said.stderr).replace("\x1b[K", "").splitlines()
    return [line for line in lines if " is taken to be the set " in line]


def same_run(part, ranks=(3,), meant=None):
    """meant: how many sets of the config have another name in the mesh; None: any number."""
    keys = EXACT
    said = by(1, HEXTOP, "run", part, "output.directory=alone", *keys)
    check(said.returncode == 0, f"{part}: {said.stderr}")
    lines = meanings(said)
    check(meant is None or len(lines) == meant, f"{part}: {meant} names of sets mean others: {lines}")
    for n in ranks:
        shutil.rmtree("shared", ignore_errors=True)
        said = by(n, HEXTOP, "run", part, "output.directory=shared", "mesh.in_parts=always", *keys)
        check(said.returncode == 0, f"{part} by {n}: {said.returncode} {said.stderr[-500:]}")
        if said.returncode != 0:
            continue
        check(meanings(said) == lines, f"{part} by {n}: {meanings(said)} for {lines}")
        alone, shared = history("alone"), history("shared")
        off = max(abs(b / a - 1.0) for a, b in zip(alone, shared))
        check(len(alone) == len(shared) == 5 and off < 1e-9, f"{part} by {n}: {off:.1e} off")
        check(mesh_part("alone") == mesh_part("shared"), f"{part} by {n}: a different mesh is written")
    shutil.rmtree("alone", ignore_errors=True)


def meant():
    """A config with such names of sets: which set is meant follows from its use, and is the same as with the
    whole mesh."""
    nodes, cells = shuffle(*box([12, 6, 6], hexahedra), 3)
    faces, end = left_faces(nodes, cells), [a for a, x in enumerate(nodes) if x[0] == 12.0]
    part = config(gmsh_22("meant.msh", nodes, cells, faces, left="one", points=end, point="two"), held="one", pulled="two")
    same_run(part, ranks=(2, 3), meant=2)
    with open(part, encoding="ascii") as file:
        text = file.read()
    same_run(write("pressed.cfg", text.replace("total_force = [0.0, -1.0, 0.3]", "pressure = 1.0")), ranks=(2,), meant=2)
    held = "".join(f"{1 + a},\n" for a, x in enumerate(nodes) if x[0] == 0.0)
    pulled = "".join(f"{1 + a},\n" for a in end)
    sets = f"*NSET, NSET=HELD\n{held}*ELSET, ELSET=HELD\n100\n*NSET, NSET=PULLED\n{pulled}*ELSET, ELSET=PULLED\n105\n"
    part = config(abaqus("meant.inp", nodes, cells, after=sets), held="HELD", pulled="PULLED")
    same_run(part, ranks=(2,), meant=2)


def runs():
    same_run(example("bracket", "bracket.cfg"), ranks=(2, 3))
    nodes, cells = shuffle(*box([12, 6, 6], tetrahedra), 3)
    cells = [(k, c) if volume(nodes, c) > 0.0 else (k, [c[1], c[0], c[2], c[3]]) for k, c in cells]
    for name in (gmsh_22("part.msh", nodes, cells), vtk("part.vtk", nodes, cells), abaqus("part.inp", nodes, cells)):
        same_run(config(name, 12.0))
    nodes, cells = box([6, 12, 12], mixed)
    same_run(config(gmsh_22("mixed.msh", nodes, cells), 6.0))
    same_run(config(example("hook", "hook.msh"), held="collar", pulled="throat"), ranks=(3, 4))


def refusals():
    nodes, cells = box([5, 4, 4], hexahedra)
    steps = abaqus("steps.inp", nodes, cells, after="*STEP\n*STATIC\n*END STEP\n")
    part = config(steps, 5.0)
    said = by(2, HEXTOP, "run", part, "mesh.in_parts=always", "output.directory=never")
    check(said.returncode == 2 and "mesh.in_parts" in said.stderr and "*STEP beside the mesh" in said.stderr,
          f"steps: {said.returncode} {said.stderr}")
    said = by(2, HEXTOP, "run", part, "mesh.merge=0.1", "mesh.in_parts=always", "output.directory=never")
    check(said.returncode == 2 and "mesh.merge" in said.stderr, f"merge: {said.returncode} {said.stderr}")
    twin = config(vtk("twin.vtk", nodes, cells + [cells[50]]), 5.0)
    said = by(3, HEXTOP, "run", twin, "mesh.in_parts=always", "output.directory=never")
    check(said.returncode == 2 and "elements 50 and 80 have the same nodes" in said.stderr,
          f"twins: {said.returncode} {said.stderr}")
    two = nodes + [(x, y, z + 3.6) for x, y, z in nodes] # touches the first body but shares no node with it
    part = config(vtk("two.vtk", two, cells + [("hex", [a + len(nodes) for a in c]) for _, c in cells]), 5.0)
    said = by(2, HEXTOP, "run", part, "mesh.in_parts=always", "output.directory=never")
    check(said.returncode == 2 and re.search("bodies without common nodes|nodes that lie where", said.stderr),
          f"two bodies: {said.returncode} {said.stderr}")


def main():
    if not shutil.which("mpirun"):
        print("no mpirun")
        return 77
    said = by(2, TEST, example("meshes", "lplate.vtk"))
    if "no MPI" in said.stdout + said.stderr:
        print("this build has no MPI")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for scene in (ours, examples, kinds, unused, shared, whole, bad, meant, runs, refusals):
            if not sys.argv[4:] or scene.__name__ in sys.argv[4:]:
                scene()
                try_noted()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
