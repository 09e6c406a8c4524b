#!/usr/bin/env python3
"""Surfaces of hextop read by VTK: they are closed and manifold, have the volume and area that hextop prints, and on
tetrahedra and mixed meshes contain the whole face on which a load acts.

    check_surface.py HEXTOP SRCDIR

Exit status 0 passed, 1 failed, 77 skipped (no VTK for Python)."""

import os
import re
import subprocess
import sys
import tempfile

try:
    import vtk
except ImportError as missing:
    # Debian's packages belong to the system's Python, which may not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-vtk9)")
    sys.exit(77)

sys.dont_write_bytecode = True
import calculix  # noqa: E402

n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def said(output, word):
    return float(re.search(rf"^{word} +([-0-9.e+]+)", output, re.MULTILINE).group(1))


def check_file(path, output):
    reader = vtk.vtkSTLReader() if path.endswith(".stl") else vtk.vtkPLYReader()
    reader.SetFileName(path)
    reader.Update()
    surface = reader.GetOutput()
    n_said = int(re.search(r"([0-9,]+) triangles", output).group(1).replace(",", ""))
    check(surface.GetNumberOfCells() == n_said, f"{path}: {surface.GetNumberOfCells()} triangles")
    edges = vtk.vtkFeatureEdges()
    edges.SetInputData(surface)
    edges.BoundaryEdgesOn()
    edges.NonManifoldEdgesOn()
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.Update()
    n_bad = edges.GetOutput().GetNumberOfCells()
    check(n_bad == 0, f"{path}: {n_bad} edges are open or not manifold")
    mass = vtk.vtkMassProperties()
    mass.SetInputData(surface)
    mass.Update()
    volume, area = said(output, "volume"), said(output, "area")
    check(abs(mass.GetVolume() / volume - 1) < 2e-5, f"{path}: volume {mass.GetVolume()}, {volume}")
    check(abs(mass.GetSurfaceArea() / area - 1) < 2e-5, f"{path}: area {mass.GetSurfaceArea()}")


PART = """
mesh = {{ file = "{kind}.vtk"; }};
material = {{ E = 1.0; nu = 0.3; }};
sets = ( {{ name = "left"; plane = {{ point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }},
         {{ name = "right"; plane = {{ point = [12.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }} );
supports = ( {{ set = "left"; fix = "xyz"; }} );
loads = ( {{ set = "right"; traction = [0.0, 0.0, -1.0]; }} );
optimization = {{ volume_fraction = 0.2; filter = {{ radius = 1.6; }}; }};
"""


def write_part(kind):
    """Writes a box that is pulled at an end of mostly void; returns its config."""
    calculix.write_box(kind + ".vtk", kind, (12, 6, 6), 0.15)
    calculix.write(kind + ".cfg", PART.format(kind=kind))
    return [os.path.abspath(kind + ".cfg")]


def check_end(path):
    """The loaded end, x = 12, is complete: its area is 36."""
    reader = vtk.vtkSTLReader() if path.endswith(".stl") else vtk.vtkPLYReader()
    reader.SetFileName(path)
    reader.Update()
    surface, area = reader.GetOutput(), 0.0
    for i in range(surface.GetNumberOfCells()):
        x = [surface.GetPoint(surface.GetCell(i).GetPointId(k)) for k in range(3)]
        if min(p[0] for p in x) > 12.0 - 1e-4:
            area += vtk.vtkTriangle.TriangleArea(*x)
    check(abs(area - 36.0) < 1e-3, f"{path}: {area} of the loaded end, not 36")


def main():
    hextop, source = sys.argv[1:]
    runs = {
        "box": ["configs/cantilever.cfg", "mesh.size=0", "mesh.nx=24", "mesh.ny=12", "mesh.nz=12",
                "mesh.distort=0.2", "optimization.filter.radius=1.6"],
        "bracket": ["examples/bracket/bracket.cfg"],
    }
    runs.update({kind: write_part(kind) for kind in ("tetrahedra", "mixed")})
    for name, arguments in runs.items():
        arguments[0] = os.path.join(source, arguments[0])
        command = [hextop, "-q", "run"] + arguments + [
            "optimization.iterations=8", "output.every=0", "output.threshold=", "solver.device=cpu",
            "solver.operator=otf", f"output.directory={name}"]
        subprocess.run(command, check=True)
        for ending in ("stl", "ply"):
            for smooth in ("0", "15"):
                path = f"{name}_{smooth}.{ending}"
                # at 0.8, nodes on the rim of a loaded face would lie outside
                how = ["--threshold", "0.8"] if name in calculix.KINDS else []
                output = subprocess.run(
                    [hextop, "surface", f"{name}/density_0008.vtk", path, "--smooth", smooth, *how],
                    check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout
                check_file(path, output)
                if name in calculix.KINDS:
                    check_end(path)
    print(f"VTK {vtk.vtkVersion.GetVTKVersion()}: {n_check} checks, {n_failed} failed")
    return 1 if n_failed or n_check == 0 else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.argv[1:] = [os.path.abspath(word) for word in sys.argv[1:]]
        start = os.getcwd()
        os.chdir(folder)
        status = main()
        os.chdir(start)
    sys.exit(status)
