#!/usr/bin/env python3
"""VTK itself reads hextop's VTK files, and hextop reads files that VTK wrote.

    check_vtk.py TEST_VTK            TEST_VTK: the program built from test_vtk.c
    check_vtk.py --file FILE.vtk ... prints what VTK reads in result files; fails on NaN or without hexahedra

Exit status 0 passed, 1 failed, 77 skipped (no VTK for Python)."""

import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as missing:
    # Debian's packages belong to the system's Python, which need not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-vtk9, python3-numpy)")
    sys.exit(77)

n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def read(path):
    """The grid of a file as VTK reads it without options, which shows that ParaView displays the whole file."""
    reader = vtk.vtkUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def arrays(data):
    return {
        data.GetArrayName(i): vtk_to_numpy(data.GetArray(i))
        for i in range(data.GetNumberOfArrays())
        if data.GetArray(i)
    }


def connectivity(grid):
    return vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 8)


def total_volume(grid):
    size = vtk.vtkCellSizeFilter()
    size.SetInputData(grid)
    size.Update()
    return vtk_to_numpy(size.GetOutput().GetCellData().GetArray("Volume"))


def check_ours(path, expected_xyz, expected_conn):
    """Compares a file of hextop with its mesh and with the formulas of the fields in vtk_sample.h."""
    grid = read(path)
    n_cell, n_point = len(expected_conn), len(expected_xyz)
    check(grid.GetNumberOfCells() == n_cell, f"{path}: {grid.GetNumberOfCells()} cells")
    check(grid.GetNumberOfPoints() == n_point, f"{path}: {grid.GetNumberOfPoints()} points")
    if n_failed:
        return
    types = vtk_to_numpy(grid.GetCellTypesArray())
    check((types == vtk.VTK_HEXAHEDRON).all(), f"{path}: cell types {types}")
    xyz = vtk_to_numpy(grid.GetPoints().GetData())
    check(xyz.dtype == numpy.float64 and (xyz == expected_xyz).all(), f"{path}: coordinates")
    check((connectivity(grid) == expected_conn).all(), f"{path}: connectivity")
    volume = total_volume(grid)
    check(volume.min() > 0, f"{path}: smallest volume {volume.min()}")
    check(abs(volume.sum() / numpy.prod(xyz.max(0) - xyz.min(0)) - 1) < 1e-12, f"{path}: volume")

    cell, point = arrays(grid.GetCellData()), arrays(grid.GetPointData())
    e = numpy.arange(n_cell)
    expected = {
        "density": 1.0 / (3.0 + e),
        "element_energy": (1e-30 * e).astype(numpy.float32),
        "part": (e % 3 - 1).astype(numpy.int32),
        "stress": e[:, None] + 0.1 * numpy.arange(6),
        "set_solid_core": numpy.isin(e, [1, 3, 4]).astype(numpy.uint8),
    }
    check(sorted(cell) == sorted(expected), f"{path}: cell arrays {sorted(cell)}")
    for name, value in expected.items():
        found = cell.get(name)
        same = found is not None and found.dtype == value.dtype and found.shape == value.shape
        check(same and (found == value).all(), f"{path}: {name} is {found}, expected {value}")
    move = numpy.repeat(0.5 * numpy.arange(n_point)[:, None], 3, axis=1)
    check(list(point) == ["displacement"], f"{path}: point arrays {list(point)}")
    check((point["displacement"] == move).all(), f"{path}: displacement")


def check_part(path, xyz, conn, n_cell):
    """The first n_cell elements and their nodes, which is what output.threshold keeps."""
    grid = read(path)
    check(grid.GetNumberOfCells() == n_cell, f"{path}: {grid.GetNumberOfCells()} cells")
    cell, point = arrays(grid.GetCellData()), arrays(grid.GetPointData())
    names = ["density", "element_energy", "part", "set_solid_core", "stress", "vtkOriginalCellIds"]
    check(n_cell == 0 or sorted(cell) == names, f"{path}: cell arrays {sorted(cell)}")
    nodes = numpy.unique(conn[:n_cell])
    check(grid.GetNumberOfPoints() == len(nodes), f"{path}: {grid.GetNumberOfPoints()} points")
    if n_failed or n_cell == 0:
        return
    e = numpy.arange(n_cell)
    check((cell["vtkOriginalCellIds"] == e).all(), f"{path}: original numbers")
    check((cell["density"] == 1.0 / (3.0 + e)).all(), f"{path}: density")
    check((vtk_to_numpy(grid.GetPoints().GetData()) == xyz[nodes]).all(), f"{path}: coordinates")
    check((nodes[connectivity(grid)] == conn[:n_cell]).all(), f"{path}: connectivity")
    check((point["displacement"] == 0.5 * nodes[:, None]).all(), f"{path}: displacement")


def write_with_vtk(path, grid, version, binary):
    """False if this VTK cannot write that version."""
    writer = vtk.vtkUnstructuredGridWriter()
    writer.SetFileName(path)
    writer.SetInputData(grid)
    writer.SetFileTypeToBinary() if binary else writer.SetFileTypeToASCII()
    if hasattr(writer, "SetFileVersion"):
        writer.SetFileVersion(version)
    elif version != 42:
        return False
    return writer.Write() == 1


def add_array(data, array, name, values):
    array.SetName(name)
    for value in values:
        array.InsertNextValue(value)
    data.AddArray(array)


def image_as_voxels(n):
    """n^3 unit cubes as an unstructured grid of VTK_VOXEL."""
    image = vtk.vtkImageData()
    image.SetDimensions(n + 1, n + 1, n + 1)
    append = vtk.vtkAppendFilter()
    append.AddInputData(image)
    append.Update()
    return append.GetOutput()


def check_theirs(program, path, grid, expected):
    """A file that VTK wrote, through hx_vtk_read; expected: lines of test_vtk --read."""
    done = subprocess.run([program, "--read", path], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    check(done.returncode == 0, f"{path}: {done.stdout}{done.stderr}")
    for line in expected:
        check(line in lines, f"{path}: '{line}' is not in {lines}")
    volume = [float(line.split()[1]) for line in lines if line.startswith("volume")]
    check(
        volume and abs(volume[0] / total_volume(grid).sum() - 1) < 1e-5,
        f"{path}: volume {volume}",
    )


def check_both_ways(program):
    with tempfile.TemporaryDirectory(prefix="hextop_vtk_") as folder:
        if subprocess.run([program, "--write", folder]).returncode != 0:
            check(False, f"{program} --write failed")
            return
        with open(os.path.join(folder, "expected.txt")) as text:
            rows = [line.split() for line in text]
        xyz = numpy.array([row for row in rows if len(row) == 3], dtype=float)
        conn = numpy.array([row for row in rows if len(row) == 8], dtype=int)
        check_ours(os.path.join(folder, "binary.vtk"), xyz, conn)
        check_ours(os.path.join(folder, "ascii.vtk"), xyz, conn)

        for kind in ("", "_ascii"):
            check_part(os.path.join(folder, f"part{kind}.vtk"), xyz, conn, 7)
            check_part(os.path.join(folder, f"empty{kind}.vtk"), xyz, conn, 0)

        hexes = read(os.path.join(folder, "binary.vtk"))
        voxels = image_as_voxels(3)
        for grid in (hexes, voxels):
            n_cell, n_point = grid.GetNumberOfCells(), grid.GetNumberOfPoints()
            cell, point = grid.GetCellData(), grid.GetPointData()
            add_array(cell, vtk.vtkIntArray(), "material", [i % 2 for i in range(n_cell)])
            add_array(cell, vtk.vtkStringArray(), "label", [f"cell {i}" for i in range(n_cell)])
            add_array(cell, vtk.vtkBitArray(), "bits", [i % 2 for i in range(n_cell)])
            add_array(point, vtk.vtkTypeInt64Array(), "set_left face", [int(i < 4) for i in range(n_point)])
            add_array(point, vtk.vtkUnsignedCharArray(), "set_none", [0] * n_point)
            expected = [
                f"points {n_point}",
                f"cells {n_cell}",
                "set left face 4 0",
                "set none 0 0",
            ]
            for version in (42, 51):
                for binary in (False, True):
                    kind = "voxels" if grid is voxels else "hexes"
                    name = f"{kind}_{version}_{'binary' if binary else 'ascii'}.vtk"
                    path = os.path.join(folder, name)
                    if write_with_vtk(path, grid, version, binary):
                        check_theirs(program, path, grid, expected)
                        check_material(program, path, n_cell)


def check_material(program, path, n_cell):
    lines = subprocess.run([program, "--read", path], capture_output=True, text=True).stdout
    count = {
        line.split()[1]: int(line.split()[-1])
        for line in lines.splitlines()
        if line.startswith("set material=")
    }
    expected = {"material=0": (n_cell + 1) // 2, "material=1": n_cell // 2}
    check(count == expected, f"{path}: sets {count}, expected {expected}")


def print_file(path):
    grid = read(path)
    print(f"{path}: {grid.GetNumberOfPoints()} points, {grid.GetNumberOfCells()} cells")
    check(grid.GetNumberOfCells() > 0, f"{path}: VTK reads no cell")
    types = vtk_to_numpy(grid.GetCellTypesArray()) if grid.GetNumberOfCells() else numpy.array([])
    check((types == vtk.VTK_HEXAHEDRON).all(), f"{path}: not only hexahedra")
    for where, data in (("cell", grid.GetCellData()), ("point", grid.GetPointData())):
        for name, value in arrays(data).items():
            print(f"  {where} {name}: {value.dtype} {value.shape}, {value.min()} to {value.max()}")
            check(numpy.isfinite(value).all(), f"{path}: {name} has values that are not finite")


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "--file":
        for path in arguments[1:]:
            print_file(path)
    elif len(arguments) == 1:
        check_both_ways(os.path.abspath(arguments[0]))
    else:
        print(__doc__)
        return 1
    print(f"VTK {vtk.vtkVersion().GetVTKVersion()}: {n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
