#!/usr/bin/env python3
"""Compares the limits of parts with CalculiX: on the grey design, the 0/1 design and the surface of `hextop verify
--surface`, and by C3D10 (heat: DC3D10) on gmsh's tetrahedra of the same STL file.

    python3 tests/bench/limits_calculix.py HEXTOP RESULT PART [--sizes 0,1]

RESULT is the folder of a run, such as the one that `hextop lightest` keeps; PART is l-bracket, motor-mount or chip-cooler of
examples/. part.stl of RESULT is taken, or written by `hextop surface`. As in surface_analysis.py, supports and loads of
CalculiX come from this file and the faces of the config's sets, so hextop's mapping and loads are not used. --sizes: times
that gmsh's tetrahedra are split into eight. Prints a line of a Markdown table per limit. Needs gmsh, ccx and numpy."""
import argparse
import json
import os
import sys
import tempfile

import numpy
import surface_analysis as made

ALUMINIUM = {"E": 70000.0, "nu": 0.33}

# Supports and loads as in the configs. Limits: name -> set, load case (from 0), direction (None: length), "mean" or "max".
PARTS = {
    "l-bracket": {
        **ALUMINIUM, "held": ["bolts"], "weights": [1, 1, 1],
        "loads": [("bearing", "eye", [0, 0, -2000], 1), ("bearing", "eye", [2000, 0, 0], 2), ("total", "eye", [0, 800, 0], 3)],
        "limits": {"down": ("eye", 0, [0, 0, -1], "mean"), "outward": ("eye", 1, [1, 0, 0], "mean"),
                   "sideways": ("eye", 2, [0, 1, 0], "mean")}},
    "motor-mount": {
        **ALUMINIUM, "held": ["bolts"], "weights": [1, 1, 1],
        "loads": [("remote", "screws", [0, 0, 4000], 1, [70, 75, 92]), ("remote", "screws", [0, 4000, 0], 2, [70, 75, 92]),
                  ("remote", "screws", [4000, 0, 0], 3, [-90, 75, 92])],
        "limits": {"lift": ("screws", 0, None, "max"), "side": ("screws", 1, None, "max"),
                   "axial": ("screws", 2, [1, 0, 0], "mean")}},
    "chip-cooler": {
        "conductivity": 0.2, "heat": ("chip", 20.0), "film": ("top", 2e-3, 25.0), "limits": {"chip": ("chip", 0, None, "max")}},
}


def value_of(limit, x, faces, u):
    """The value of a limit; u are displacements [n, 3] or temperatures [n, 1]."""
    _, _, direction, of = limit
    if of == "max":
        along = u @ numpy.array(direction) if direction else numpy.linalg.norm(u, axis=1)
        return along[numpy.unique(faces)].max()
    area = made.node_areas(x, faces)
    mean = area @ u / area.sum()
    return float(mean @ numpy.array(direction)) if direction else numpy.linalg.norm(mean)


def write_heat_job(path, part, x, cells, found):
    """A stationary heat transfer: heat on nodes by area, film on the faces of elements."""
    heated, heat = part["heat"]
    cooled, coefficient, ambient = part["film"]
    area = made.node_areas(x, found[heated])
    film = {tuple(sorted(f[:3])) for f in found[cooled].tolist()}
    with open(path, "w", encoding="ascii") as job:
        job.write("*NODE, NSET=NALL\n")
        job.writelines(f"{i + 1},{p[0]:.12g},{p[1]:.12g},{p[2]:.12g}\n" for i, p in enumerate(x))
        job.write("*ELEMENT, TYPE=DC3D10, ELSET=EALL\n")
        job.writelines(f"{i + 1}," + ",".join(str(a + 1) for a in c) + "\n" for i, c in enumerate(cells))
        job.write(f"*MATERIAL, NAME=M\n*CONDUCTIVITY\n{part['conductivity']}\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
                  f"*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL,{ambient}\n*STEP\n*HEAT TRANSFER, STEADY STATE\n1.,1.\n*CFLUX\n")
        job.writelines(f"{a + 1},11,{heat * area[a] / area.sum():.12g}\n" for a in numpy.nonzero(area)[0])
        job.write("*FILM\n")
        for e, cell in enumerate(cells):
            for side, nodes in enumerate(([0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3])):    # CalculiX's F1 to F4
                if tuple(sorted(cell[nodes].tolist())) in film:
                    job.write(f"{e + 1},F{side + 1},{ambient},{coefficient}\n")
        job.write("*NODE PRINT, NSET=NALL\nNT\n*END STEP\n")


def temperatures(part, x, cells, found, name, folder):
    write_heat_job(os.path.join(folder, name + ".inp"), part, x, cells, found)
    said = made.run("ccx", "-i", name, cwd=folder)
    t = numpy.zeros((len(x), 1))
    for line in open(os.path.join(folder, name + ".dat"), encoding="ascii"):
        words = line.split()
        if len(words) == 2 and words[0].isdigit():
            t[int(words[0]) - 1] = float(words[1])
    if not t.all():
        raise RuntimeError(f"ccx has no temperature of some nodes: {said[-3000:]}")
    return t


def by_calculix(part, x, cells, sets, name, folder):
    """The value of each limit."""
    if "heat" not in part:
        found, forces = made.place(part, x, cells, sets)
        fields = made.displacements(part, x, cells, found, forces, name, folder)
    else:
        faces = made.outer_faces(cells)
        found = {s: made.faces_on(x, faces, sets[s]) for s in (part["heat"][0], part["film"][0])}
        fields = [temperatures(part, x, cells, found, name, folder)]
    return {key: value_of(limit, x, found[limit[0]], fields[limit[1]]) for key, limit in part["limits"].items()}


def values_of(report, design):
    """The values of all limits on one of the designs of verify.json; {} without that design."""
    analysis = report.get(design, {})
    analysis = analysis.get("analysis", analysis)
    return {limit["name"]: (limit["value"], limit["max"]) for limit in analysis.get("limits", [])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("result")
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--sizes", default="0,1", help="times that gmsh's tetrahedra are split into eight")
    options = parser.parse_args()
    hextop, result, part = os.path.abspath(options.hextop), os.path.abspath(options.result), PARTS[options.part]
    with tempfile.TemporaryDirectory() as folder:
        stl, report = os.path.join(result, "part.stl"), os.path.join(result, "verify.json")
        if not os.path.exists(stl):
            stl = os.path.join(folder, "part.stl")
            made.run(hextop, "-q", "surface", result, stl, "--keep-largest")
        vtk = os.path.join(folder, "sets.vtk")
        made.run(hextop, "-q", "mesh", os.path.join(result, "config.cfg"), vtk, "output.format=ascii")
        sets = made.read_sets(vtk)
        rows, counts = [], []
        for k in [int(word) for word in options.sizes.split(",")]:
            x, cells = made.fill(stl, k, f"part{k}", folder)
            rows.append(by_calculix(part, x, cells, sets, f"part{k}", folder))
            counts.append(len(cells))
        report = json.load(open(report, encoding="utf-8"))
    grey, solid, surface = (values_of(report, design) for design in ("grey", "black_white", "surface"))
    print("| limit | bound | grey | 0/1 | surface | " + " | ".join(f"CalculiX ({n:,})" for n in counts) + " | off |")
    print("|---" * (6 + len(counts)) + "|")
    for name, (value, bound) in grey.items():
        best = surface.get(name, solid[name])[0]
        print(f"| {name} | {bound:.5g} | {value:.5g} | {solid[name][0]:.5g} | "
              f"{surface[name][0] if name in surface else float('nan'):.5g} | "
              + " | ".join(f"{row[name]:.5g}" for row in rows) + f" | {100 * (best / rows[-1][name] - 1):+.1f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
