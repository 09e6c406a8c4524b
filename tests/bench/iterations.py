#!/usr/bin/env python3
"""PCG iterations on meshes and designs that are hard for multigrid: graded, stretched and slender parts, tetrahedra cut
into four hexahedra, solid hubs, filters with a small radius; contrast 1e9.

    iterations.py HEXTOP OUT [--cases rod,plate,...] [--designs 25] [--scale 1] [--processes 1]
        [--set KEY=VALUE ...]

Prints the fewest, the median and the most iterations of a solve, the sum over all designs, CPU seconds of the run,
and the last compliance. OUT/iterations.csv has the table, OUT/CASE/ each run. Meshes of boxes are written here, those
of parts come from examples/, and those of tetrahedra from gmsh (without gmsh these cases are left out). --scale makes
edges shorter by that factor; --processes P runs each case with P processes of mpirun. Times are CPU seconds, so they
are meaningful on a busy machine. Needs only Python 3.
"""

import argparse
import csv
import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]

CONFIG = """
mesh = {{ {mesh} }};
material = {{ E = 1.0; nu = 0.3; }};
{model}
optimization = {{ volume_fraction = 0.3; rho_min = 0.001; iterations = {designs};
    filter = {{ kind = "sensitivity"; radius = {radius}; unit = "element"; volume_weighted = true; }}; }};
output = {{ directory = "{out}"; every = 0; fields = ("density"); }};
"""

# A box fixed at x = 0 and loaded at the lower edge of the other end.
BOX = """
sets = ( {{ name = "held"; plane = {{ point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }},
    {{ name = "end"; plane = {{ point = [{0}, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }},
    {{ name = "below"; plane = {{ point = [0.0, 0.0, 0.0]; normal = [0.0, 0.0, 1.0]; }}; }},
    {{ name = "edge"; and = ("end", "below"); }} );
supports = ( {{ set = "held"; fix = "xyz"; }} );
loads = ( {{ set = "edge"; total_force = [0.0, 0.1, -1.0]; }} );
"""

BRACKET = """
supports = ( { set = "bolts"; fix = "xyz"; } );
loads = ( { set = "pin"; total_force = [0.0, -5000.0, 1500.0]; } );
passive = ( { set = "bolts"; skin = 5.5; }, { set = "pin"; skin = 6.0; } );
"""


def planes(n, length, ratio=1.0, at="one end"):
    """n + 1 coordinates along a length, with the given ratio of largest to smallest edge; fine at one end or in the
    middle."""
    def edge(i):
        t = i / max(1, n - 1)
        return ratio ** (t if at == "one end" else abs(2.0 * t - 1.0))
    edges = [edge(i) for i in range(n)]
    x, places = 0.0, [0.0]
    for e in edges:
        x += e * length / sum(edges)
        places.append(x)
    places[-1] = length
    return places


def layers(n, length, ratio):
    """Edges that change from thick to thin every four elements."""
    edges = [1.0 if i // 4 % 2 == 0 else 1.0 / ratio for i in range(n)]
    x, places = 0.0, [0.0]
    for e in edges:
        x += e * length / sum(edges)
        places.append(x)
    places[-1] = length
    return places


def write_box(path, x, y, z):
    """A legacy VTK file of the hexahedra between the given planes."""
    nx, ny, nz = len(x), len(y), len(z)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# vtk DataFile Version 2.0\nbox\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {nx * ny * nz} double\n")
        for c in z:
            for b in y:
                for a in x:
                    file.write(f"{a:.12g} {b:.12g} {c:.12g}\n")
        n = (nx - 1) * (ny - 1) * (nz - 1)
        file.write(f"CELLS {n} {9 * n}\n")
        for k in range(nz - 1):
            for j in range(ny - 1):
                for i in range(nx - 1):
                    low = (k * ny + j) * nx + i
                    high = low + nx * ny
                    file.write(f"8 {low} {low + 1} {low + nx + 1} {low + nx} "
                               f"{high} {high + 1} {high + nx + 1} {high + nx}\n")
        file.write(f"CELL_TYPES {n}\n" + "12\n" * n)


def box(path, x, y, z):
    write_box(path, x, y, z)
    return f'file = "{path}";', BOX.format(float(x[-1]))


def gmsh(path, geometry, *numbers):
    """The mesh of a geometry in examples/, or None."""
    if not shutil.which("gmsh"):
        return None
    command = ["gmsh", "-v", "1", "-3", str(TOP / "examples" / geometry), "-format", "msh22", "-bin", "-o", str(path)]
    for name, value in numbers:
        command += ["-setnumber", name, str(value)]
    subprocess.run(command, check=True)
    return f'file = "{path}";'


# --- the cases: (settings of the mesh, the model, the filter radius in elements) ---


def rod(folder, s):
    return (*box(folder / "rod.vtk", planes(160 * s, 40.0), planes(4 * s, 1.0), planes(4 * s, 1.0)), 2.0)


def plate(folder, s):
    n = 40 * s
    return (*box(folder / "plate.vtk", planes(n, 10.0, 12.0), planes(n, 10.0, 12.0), planes(6 * s, 1.0)), 2.0)


def solid(folder, s):
    n = 24 * s
    return (*box(folder / "solid.vtk", planes(n, 10.0, 12.0), planes(n, 10.0, 12.0, "middle"),
                 planes(n, 10.0, 12.0)), 2.0)


def mild(folder, s):
    n = 24 * s
    return (*box(folder / "mild.vtk", planes(n, 10.0, 4.0), planes(n, 10.0, 4.0, "middle"), planes(n, 10.0, 4.0)), 2.0)


def stretched(folder, s):
    """Thin layers between thick ones."""
    return (*box(folder / "stretched.vtk", planes(24 * s, 20.0), planes(16 * s, 10.0), layers(32 * s, 10.0, 12.0)), 2.0)


def flat(folder, s):
    """Every element is 12 times as wide as high."""
    return (*box(folder / "flat.vtk", planes(28 * s, 28.0), planes(16 * s, 16.0), planes(30 * s, 2.5)), 2.0)


def thin_filter(folder, s):
    return (*box(folder / "thin.vtk", planes(32 * s, 2.0), planes(16 * s, 1.0), planes(16 * s, 1.0)), 1.5)


def cantilever(folder, s):
    return (f'generator = "cantilever"; nx = {40 * s}; ny = {20 * s}; nz = {20 * s}; distort = 0.2;',
            'supports = ( { set = "left"; fix = "xyz"; } );\n'
            'loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );', 3.0)


def lbeam(folder, s):
    return (f'generator = "lbeam"; size = {s};', 'supports = ( { set = "top"; fix = "xyz"; } );\n'
            'loads = ( { set = "tip-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );', 3.0)


def tetrahedra(folder, s, radius=3.0):
    path = folder / "bracket.msh"
    mesh = gmsh(path, "bracket/bracket.geo", ("h", 5.5 / s), ("tetrahedra", 1), ("named", 1))
    return mesh and (mesh, BRACKET, radius)


def tetrahedra_thin(folder, s):
    return tetrahedra(folder, s, 1.5)


def cut(folder, s):
    """Tetrahedra cut into four hexahedra each: solid fragments come loose if the filter radius is small."""
    path = folder / "cut.msh"
    mesh = gmsh(path, "bracket/bracket.geo", ("h", 5.0 / s), ("tetrahedra", 1), ("named", 1),
                ("Mesh.SubdivisionAlgorithm", 2))
    return mesh and (mesh, BRACKET, 1.5)


def crank(folder, s):
    mesh = f'file = "{TOP}/examples/bell-crank/bell-crank.msh";' if s == 1 else gmsh(
        folder / "crank.msh", "bell-crank/bell-crank.geo", ("h", 6.0 / s))
    text = (TOP / "examples/bell-crank/bell-crank.cfg").read_text(encoding="utf-8")
    model = text[text.index("springs ="):text.index("optimization =")]
    return mesh and (mesh, model, 2.0)


CASES = {c.__name__: c for c in (crank, tetrahedra, tetrahedra_thin, cut, plate, solid, mild, stretched, flat, rod,
                                 thin_filter, cantilever, lbeam)}


def run(args, name):
    folder = args.out / name
    folder.mkdir(parents=True, exist_ok=True)
    case = CASES[name](folder.resolve(), args.scale)
    if not case:
        return None
    mesh, model, radius = case
    config = folder / "case.cfg"
    config.write_text(CONFIG.format(mesh=mesh, model=model, designs=args.designs, radius=radius,
                                    out=folder.resolve() / "run"), encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = ["mpirun", "--oversubscribe", "-n", str(args.processes)] if args.processes > 1 else []
    done = subprocess.run([*start, args.hextop, "run", "-q", config, *args.set], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    with open(folder / "run" / "history.csv", newline="", encoding="utf-8") as file:
        counts = [count for line in csv.DictReader(file) for count in solves(line)]
    summary = json.loads((folder / "run" / "summary.json").read_text(encoding="utf-8"))
    return {"case": name, "elements": summary["elements"], "fewest": min(counts), "median": statistics.median(counts),
            "most": max(counts), "in all": sum(counts),
            "CPU s": round(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, 2),
            "compliance": f"{summary['compliance']:.7g}"}


def solves(line):
    """The iterations of a design's solves, one per load case."""
    cases = [int(value) for key, value in line.items() if key.startswith("pcg_iterations_case")]
    return cases or [int(line["pcg_iterations"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hextop", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--designs", type=int, default=25)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    rows = []
    for name in args.cases.split(","):
        if name not in CASES:
            sys.exit(f"no case '{name}': {', '.join(CASES)}")
        row = run(args, name)
        if row is None:
            print(f"{name}: left out, gmsh is missing", flush=True)
            continue
        if not rows:
            print("| " + " | ".join(row) + " |\n|" + "---|" * len(row), flush=True)
        rows.append(row)
        print("| " + " | ".join(str(v) for v in row.values()) + " |", flush=True)
    if rows:
        with open(args.out / "iterations.csv", "w", newline="", encoding="utf-8") as table:
            writer = csv.DictWriter(table, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
