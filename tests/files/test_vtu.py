#!/usr/bin/env python3
""".vtu and .pvtu files written by VTK, compared with the same grid in legacy VTK files: hextop reads
the same mesh and sets from both, bitwise equal, and finds results in them.

    test_vtu.py HEXTOP SOURCE_ROOT

Exit status 0 passed, 1 failed, 77 skipped (no VTK for Python)."""

import atexit
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkUnstructuredGrid
    from vtkmodules.vtkIOLegacy import vtkUnstructuredGridReader, vtkUnstructuredGridWriter
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter
except ImportError as missing:
    # Debian's packages belong to the system's Python, which need not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-vtk9, python3-numpy)")
    sys.exit(77)

hextop, root = map(os.path.abspath, sys.argv[1:3])
work = tempfile.mkdtemp(prefix="hextop_vtu_")
os.chdir(work)
atexit.register(shutil.rmtree, work)
n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def run(*args):
    return subprocess.run([hextop, *args], capture_output=True, text=True)


def load(path):
    reader = vtkUnstructuredGridReader()
    reader.SetFileName(path)
    reader.ReadAllScalarsOn()
    reader.ReadAllFieldsOn()
    reader.Update()
    return reader.GetOutput()


def add(data, name, values):
    array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=1)
    array.SetName(name)
    data.AddArray(array)


KINDS = [numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, numpy.int64,
         numpy.uint64]


def decorated(path, single):
    """The grid of a file with points that fit 32 bits, and arrays of every type of integer."""
    grid = load(path)
    xyz = vtk_to_numpy(grid.GetPoints().GetData()).astype(numpy.float64)
    xyz = numpy.round(xyz * 4096) / 4096 # few digits, so that text and single precision store them exactly
    points = vtkPoints()
    points.SetData(numpy_to_vtk(xyz.astype(numpy.float32 if single else numpy.float64), deep=1))
    grid.SetPoints(points)
    for data, n in ((grid.GetPointData(), grid.GetNumberOfPoints()),
                    (grid.GetCellData(), grid.GetNumberOfCells())):
        for name in [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]:
            data.RemoveArray(name)
        for kind in KINDS:
            add(data, f"part of {kind.__name__} <&>", (numpy.arange(n) % 3 + 1).astype(kind))
        add(data, "set_thirds", (numpy.arange(n) % 3 == 0).astype(numpy.int32))
        add(data, "negative", -(numpy.arange(n) % 2).astype(numpy.int16))
        add(data, "many", numpy.arange(n).astype(numpy.int32) * 1000)
        add(data, "wide", numpy.arange(n) % 2 * 2**40) # values of more than 32 bits do not make sets
        add(data, "density", (numpy.arange(n) % 7 / 8).astype(numpy.float32))
        add(data, "vector", numpy.zeros((n, 3)))
    return grid


def save(grid, path, **how):
    writer = vtkXMLUnstructuredGridWriter() if path.endswith(".vtu") else vtkUnstructuredGridWriter()
    writer.SetFileName(path)
    writer.SetInputData(grid)
    for name, value in how.items():
        getattr(writer, name)(*value)
    check(writer.Write() == 1, f"VTK writes {path}")


def as_read(path):
    """Bytes of the mesh and its sets as hextop writes them, without the title; None: the file is refused."""
    done = run("mesh", path, "read.vtk")
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        return None
    with open("read.vtk", "rb") as file:
        head, _, rest = file.read().split(b"\n", 2)
    return rest


MODES = {
    "ascii": {"SetDataModeToAscii": ()},
    "inline": {"SetDataModeToBinary": ()},
    "raw": {"SetDataModeToAppended": (), "SetEncodeAppendedData": (0,)},
    "base64": {"SetDataModeToAppended": (), "SetEncodeAppendedData": (1,)},
}
PACKED = {"plain": ("SetCompressorTypeToNone", ()), "zlib": ("SetCompressorTypeToZLib", ())}
HEADERS = {"32": ("SetHeaderTypeToUInt32", ()), "64": ("SetHeaderTypeToUInt64", ())}
ORDERS = {"little": ("SetByteOrderToLittleEndian", ()), "big": ("SetByteOrderToBigEndian", ())}


def all_ways(grid, name):
    save(grid, f"{name}.vtk", SetFileTypeToBinary=())
    expected = as_read(f"{name}.vtk")
    check(expected is not None, f"{name}.vtk is read")
    for mode, packed, header, order in itertools.product(MODES, PACKED, HEADERS, ORDERS):
        if mode == "ascii" and (packed, header, order) != ("plain", "32", "little"):
            continue
        how = dict(MODES[mode], SetBlockSize=(4096,))
        how.update([PACKED[packed], HEADERS[header], ORDERS[order]])
        path = f"{name}_{mode}_{packed}_{header}_{order}.vtu"
        save(grid, path, **how)
        if packed == "zlib" and "without zlib" in run("mesh", path, "read.vtk").stderr:
            continue # hextop was built without zlib, and it printed the expected message
        check(as_read(path) == expected, f"{path} is read as {name}.vtk")
        os.remove(path)


# --- every way of writing ---

kinds = decorated(f"{root}/examples/meshes/kinds.vtk", single=False)
all_ways(kinds, "kinds")
all_ways(decorated(f"{root}/examples/meshes/lplate.vtk", single=True), "lplate")
curved = load(f"{root}/examples/meshes/curved.vtk")
save(curved, "curved.vtk", SetFileTypeToBinary=())
save(curved, "curved.vtu", **MODES["raw"])
check(as_read("curved.vtu") == as_read("curved.vtk") != None, "second order")

# --- faces among the cells, and results ---

save(kinds, "density.vtk", SetFileTypeToBinary=())
save(kinds, "density.vtu", **MODES["base64"])
for end in ("vtk", "vtu"):
    done = run("surface", f"density.{end}", f"{end}.ply")
    check(done.returncode == 0, f"surface of density.{end}: {done.stderr}")
with open("vtk.ply", "rb") as a, open("vtu.ply", "rb") as b:
    one, other = (f.read().split(b"end_header", 1)[-1] for f in (a, b))
check(one == other and len(one) > 100, "the surface of a .vtu is that of the .vtk")

# --- pieces ---

box = load(f"{root}/examples/meshes/lplate.vtk")
xyz = vtk_to_numpy(box.GetPoints().GetData())
conn = vtk_to_numpy(box.GetCells().GetConnectivityArray()).reshape(-1, 8)
owner = numpy.arange(len(conn)) * 3 // len(conn) # three pieces


def make(points, cells, types, cell_data, point_data):
    grid = vtkUnstructuredGrid()
    where = vtkPoints()
    where.SetData(numpy_to_vtk(numpy.ascontiguousarray(points), deep=1))
    grid.SetPoints(where)
    array = vtkCellArray()
    array.SetData(8, numpy_to_vtk(numpy.ascontiguousarray(cells.ravel(), dtype=numpy.int64), deep=1))
    grid.SetCells(types, array)
    for name, values in cell_data.items():
        add(grid.GetCellData(), name, values)
    for name, values in point_data.items():
        add(grid.GetPointData(), name, values)
    return grid


def by_name(path):
    """Points, corners and sets of a file as hextop reads it. In legacy files, numbers of nodes cannot be
    distinguished from sets."""
    done = run("mesh", path, "read.vtk")
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        return None
    grid = load("read.vtk")
    arrays = {"points": vtk_to_numpy(grid.GetPoints().GetData()).tolist(),
              "cells": vtk_to_numpy(grid.GetCells().GetConnectivityArray()).tolist()}
    for data in (grid.GetPointData(), grid.GetCellData()):
        for i in range(data.GetNumberOfArrays()):
            if "GlobalNodeId" not in data.GetArrayName(i):
                arrays[type(data).__name__, data.GetArrayName(i)] = vtk_to_numpy(data.GetArray(i)).tolist()
    return arrays


def check_legacy(piece, stem, n):
    """In legacy files hextop leaves out the same ghosts as in .vtu files: in each version and form, with the old
    name of the array, and with hidden cells. Results have the values of the remaining cells."""
    save(piece, f"{stem}.vtu", **MODES["raw"])
    for version, form in itertools.product((42, 51), ("SetFileTypeToBinary", "SetFileTypeToASCII")):
        how = {"SetFileVersion": (version,), form: ()}
        save(piece, f"{stem}.vtk", **how)
        check(by_name(f"{stem}.vtk") == by_name(f"{stem}.vtu") is not None, f"{stem}.vtk, version {version}, {how}")
    said = run("-v", "mesh", f"{stem}.vtk", "out.inp")
    check(f"{piece.GetNumberOfCells() - n} ghost cells are left out" in said.stdout + said.stderr and
          f"out.inp: {n} elements" in said.stdout, f"{stem}: {said.stdout}")
    with open(f"{stem}.vtk", "rb") as file:
        text = file.read()
    with open("levels.vtk", "wb") as file:
        file.write(text.replace(b"vtkGhostType", b"vtkGhostLevels"))
    check(by_name("levels.vtk") == by_name(f"{stem}.vtu"), f"{stem}.vtk: vtkGhostLevels")
    data = piece.GetCellData()
    kind = vtk_to_numpy(data.GetArray("vtkGhostType")) * 32 # hidden
    mixed = vtkUnstructuredGrid()
    mixed.DeepCopy(piece)
    mixed.GetCellData().RemoveArray("vtkGhostType")
    add(mixed.GetCellData(), "vtkGhostType", kind.astype(numpy.uint8))
    save(mixed, "mixed.vtk")
    check(by_name("mixed.vtk") == by_name(f"{stem}.vtu"), f"{stem}.vtk: hidden cells")
    add(piece.GetCellData(), "density", numpy.where(kind > 0, 1.0, numpy.arange(len(kind)) % 3 / 2).astype(numpy.float32))
    save(piece, "ghosts.vtk")
    save(piece, "ghosts.vtu", **MODES["raw"])
    parts = []
    for end in ("vtk", "vtu"):
        done = run("surface", f"ghosts.{end}", f"ghosts_{end}.ply")
        check(done.returncode == 0, f"surface of ghosts.{end}: {done.stderr}")
        with open(f"ghosts_{end}.ply", "rb") as file:
            parts.append(file.read().replace(f"ghosts.{end}".encode(), b""))
    check(parts[0] == parts[1], f"{stem}.vtk: densities beside ghosts")


def pieces(stem, ghosts, ids, extra=None):
    """Writes the pieces and their list; returns the whole mesh in the order that results from reading."""
    place, order, kept, names = {}, [], [], []
    for p in range(3):
        mine = owner == p
        near = mine.copy()
        if ghosts: # the cells that touch the piece
            near |= numpy.isin(conn, conn[mine]).any(1)
        cells = conn[near]
        used, local = numpy.unique(cells, return_inverse=True)
        used = used[::-1] if p == 1 else used # an order that differs from that of the neighbours
        local = len(used) - 1 - local if p == 1 else local
        alone = numpy.setdiff1d(used, conn[mine])
        for node in used:
            if node not in place and node not in alone:
                place[node] = len(order)
                order.append(node)
        kept += list(numpy.flatnonzero(mine))
        data = {"number": numpy.flatnonzero(near).astype(numpy.int32) % 5}
        if ghosts:
            data["vtkGhostType"] = (~mine[near]).astype(numpy.uint8)
        point = {"set_ends": numpy.isin(used, [0, len(xyz) - 1]).astype(numpy.int8)}
        where = xyz[used].copy()
        if ids:
            point["GlobalNodeId"] = used.astype(numpy.int64) + 1
            where *= 1 + 1e-9 * p # nodes are distinguished by position
        names.append(f"{stem}_{p}.vtu")
        piece = make(where, local.reshape(-1, 8), 12, data, point)
        save(piece, names[-1], **MODES["raw"])
        if ghosts:
            piece = make(numpy.round(where * 64) / 64, local.reshape(-1, 8), 12, data, point)
            check_legacy(piece, f"legacy_{stem}_{p}", int(mine.sum()))
    with open(f"{stem}.pvtu", "w") as file:
        file.write('<?xml version="1.0"?>\n<VTKFile type="PUnstructuredGrid" version="1.0">\n'
                   f'<PUnstructuredGrid GhostLevel="{int(ghosts)}">\n<PPointData/><!-- x -->\n')
        file.writelines(f'<Piece Source="{name}"/>\n' for name in names)
        file.write("</PUnstructuredGrid>\n</VTKFile>\n")
    return order, place, kept


for ghosts, ids in ((False, False), (True, False), (False, True), (True, True)):
    stem = f"pieces_{ghosts}_{ids}"
    order, place, kept = pieces(stem, ghosts, ids)
    if not ids and not ghosts: # with ghosts, the order differs: a ghost's point may be the first at its position
        whole = make(xyz[order], numpy.array([[place[a] for a in conn[e]] for e in kept]), 12,
                     {"number": numpy.array(kept, dtype=numpy.int32) % 5},
                     {"set_ends": numpy.isin(order, [0, len(xyz) - 1]).astype(numpy.int8)})
        save(whole, "whole.vtk", SetFileTypeToBinary=())
        check(as_read(f"{stem}.pvtu") == as_read("whole.vtk") != None, f"{stem}.pvtu to the bit")
    done = run("mesh", f"{stem}.pvtu", "joined.vtk")
    check(done.returncode == 0, f"{stem}.pvtu: {done.stderr}")
    joined = load("joined.vtk")
    check((joined.GetNumberOfCells(), joined.GetNumberOfPoints()) == (len(conn), len(xyz)),
          f"{stem}.pvtu: {joined.GetNumberOfCells()} cells, {joined.GetNumberOfPoints()} points")
    found = vtk_to_numpy(joined.GetPoints().GetData())
    nodes = vtk_to_numpy(joined.GetCells().GetConnectivityArray()).reshape(-1, 8)
    check(abs(found[nodes] - xyz[conn[kept]]).max() < 1e-6, f"{stem}.pvtu: corners of the cells")

# --- what is refused ---

def refused(path, text, message):
    with open(path, "w") as file:
        file.write(text)
    done = run("mesh", path, "out.vtk")
    check(done.returncode == 2 and message in done.stderr, f"{path}: {done.returncode} {done.stderr}")


head = '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">'
refused("cut.vtu", head + "\n<UnstructuredGrid>", "cut.vtu:2: the file ends before </UnstructuredGrid>")
refused("tags.vtu", head + "\n</Piece>", "tags.vtu:2: </Piece> where </VTKFile> is expected")
refused("type.vtu", '<VTKFile type="PolyData"></VTKFile>',
        "type PolyData; it must be UnstructuredGrid or PUnstructuredGrid (a surface has no elements: save it as .stl")
for kind in ("ImageData", "RectilinearGrid", "StructuredGrid"):
    refused("type.vtu", f'<VTKFile type="{kind}"></VTKFile>', "PUnstructuredGrid (ParaView's filter 'Append Datasets' converts it to one)")
refused("lz4.vtu", '<VTKFile type="UnstructuredGrid" compressor="vtkLZ4DataCompressor"/>',
        "compressed by vtkLZ4DataCompressor")
refused("dtd.vtu", '<!DOCTYPE a [<!ENTITY b "c">]>' + head, "'<!' begins a DTD")
refused("twice.vtu", '<VTKFile type="UnstructuredGrid" type="a"/>', "a second attribute 'type'")
refused("missing.pvtu", '<VTKFile type="PUnstructuredGrid">\n<PUnstructuredGrid>\n'
        '<Piece Source="no.vtu"/></PUnstructuredGrid></VTKFile>', "missing.pvtu:3: no.vtu: cannot open")
body = head + """<UnstructuredGrid>
<Piece NumberOfPoints="8" NumberOfCells="1"><Points>
<DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 %s</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity">0 1 2 3 4 5
6 %s</DataArray><DataArray type="Int64" Name="offsets">%s</DataArray>
<DataArray type="UInt8" Name="types">%s</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"""
with open("good.vtu", "w") as file:
    file.write(body % ("1", "7", "8", "12"))
check(run("mesh", "good.vtu", "out.vtk").returncode == 0, "good.vtu is read")
for values, message in {
    ("1", "8", "8", "12"): ":2: a cell uses point 8; there are points 0 to 7",
    ("1", "x7", "8", "12"): ":6: array 'connectivity': 'x7' where an integer is expected",
    ("", "7", "8", "12"): ":3: array '': 23 values, but 24 are expected",
    ("nan", "7", "8", "12"): "coordinate z is nan",
    ("1", "7", "9", "12"): "offset 9 of cell 0",
    ("1", "7", "8", "42"): "cell 0 is of type 42 (VTK_POLYHEDRON)",
    ("1", "7", "8", "9"): "type 9",
}.items():
    refused("values.vtu", body % values, message)

print(f"{n_check} checks, {n_failed} failed")
sys.exit(n_failed > 0)
