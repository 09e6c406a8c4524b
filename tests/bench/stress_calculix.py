#!/usr/bin/env python3
"""Compares the stresses of `hextop verify` in the surface of a part with CalculiX: C3D10 on tetrahedra of the same surface by
gmsh and by tetgen.

    python3 tests/bench/stress_calculix.py HEXTOP RESULT [--sizes 0,1] [--tetgen VOLUME] [--refine 0,1,2]

RESULT is the folder of a run of tests/bench/stress_bracket.cfg, with any bounds, filter or folder; its surface is cut by
`hextop surface`. As in surface_analysis.py, hextop's loads and supports are not used. CalculiX's stresses are those of its
result file: extrapolated to the corners of each tetrahedron and averaged at nodes, without weights. Zones: elements of the
config's mesh that are nearer to the rim of the support than --radius (default twice the filter's). Prints a line per mesh: the
largest stress outside the zones and where, and the value that 99.9 % of the volume do not exceed. Needs gmsh, ccx, numpy."""
import argparse
import json
import os
import re
import tempfile

import numpy
import surface_analysis as made

PART = {"E": 70000.0, "nu": 0.33, "held": ["held"], "weights": [1]}


def read_stress(path, n):
    """Von Mises stresses at the nodes, of the S block of a result file of CalculiX."""
    s, on = numpy.zeros((n, 6)), False
    for line in open(path, encoding="ascii"):
        if line.startswith(" -4"):
            on = line.split()[1] == "STRESS"
        elif on and line.startswith(" -1"):
            s[int(line[3:13]) - 1] = [float(line[13 + 12 * k:25 + 12 * k]) for k in range(6)]
    d = s[:, [0, 1, 2]] - s[:, [1, 2, 0]]
    return numpy.sqrt(0.5 * (d ** 2).sum(axis=1) + 3 * (s[:, 3:] ** 2).sum(axis=1))


def by_calculix(x, cells, sets, load, name, folder):
    """Von Mises stresses at nodes, and the largest displacement."""
    part = {**PART, "loads": [("total", "tip", load, 1)]}
    found, forces = made.place(part, x, cells, sets)
    job = os.path.join(folder, name + ".inp")
    made.write_job(job, part, x, cells, found, forces)
    text = open(job, encoding="ascii").read().replace("*NODE PRINT, NSET=NALL\nU\n", "*EL FILE\nS\n*NODE FILE\nU\n")
    with open(job, "w", encoding="ascii") as out:
        out.write(text)
    said = made.run("ccx", "-i", name, cwd=folder)
    if "*ERROR" in said:
        raise RuntimeError(said[-3000:])
    return read_stress(os.path.join(folder, name + ".frd"), len(x))


def judge(x, cells, stress, rim, radius):
    """Largest stress outside the zones, its place, and the quantile; by corners of the tetrahedra."""
    corner = x[cells[:, :4]]
    volume = numpy.abs(numpy.linalg.det(corner[:, 1:] - corner[:, :1])) / 6
    voxel = numpy.floor(corner.mean(axis=1)) + 0.5
    near = numpy.sqrt(((voxel[:, None, :] - rim[None]) ** 2).sum(axis=2).min(axis=1)) <= radius
    share = numpy.zeros(len(x))
    numpy.add.at(share, cells[~near, :4], numpy.repeat(volume[~near, None] / 4, 4, axis=1))
    used = numpy.nonzero(share)[0]
    order = used[numpy.argsort(stress[used])]
    at = numpy.searchsorted(numpy.cumsum(share[order]), 0.999 * share.sum())
    worst = order[-1]
    return stress[worst], x[worst], stress[order[min(at, len(order) - 1)]]


def line(name, n, largest, place, quantile):
    print(f"| {name} | {n:,} | {largest:.5g} | {', '.join(f'{v:.2f}' for v in place)} | {quantile:.5g} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("result")
    parser.add_argument("--sizes", default="0,1", help="times that gmsh's tetrahedra are split into eight")
    parser.add_argument("--tetgen", default="", help="largest volumes of tetgen's tetrahedra, for example 0.05,0.01")
    parser.add_argument("--refine", default="0,1", help="values of verify's --refine")
    parser.add_argument("--radius", type=float, default=None)
    options = parser.parse_args()
    hextop, result = os.path.abspath(options.hextop), os.path.abspath(options.result)
    config = open(os.path.join(result, "config.cfg"), encoding="utf-8").read()
    filter_radius = float(re.search(r"filter\s*=\s*\{[^}]*radius\s*=\s*([0-9.e+-]+)", config).group(1))
    radius = options.radius or max(2 * filter_radius, 2.0)
    load = [float(w) for w in re.search(r"total_force\s*=\s*\[([^]]*)\]", config).group(1).split(",")]
    print("| mesh | tetrahedra | largest, MPa | at | 99.9 % below, MPa |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        stl, vtk, report = (os.path.join(folder, name) for name in ("part.stl", "sets.vtk", "verify.json"))
        made.run(hextop, "-q", "surface", result, stl, "--output", os.path.join(folder, "surface.json"))
        made.run(hextop, "-q", "mesh", os.path.join(result, "config.cfg"), vtk, "output.format=ascii")
        sets = made.read_sets(vtk)
        held = numpy.unique(sets["held"].reshape(-1, 3), axis=0)
        low, high = held.min(axis=0), held.max(axis=0)
        rim = held[((held[:, :2] == low[:2]) | (held[:, :2] == high[:2])).any(axis=1)]
        for words in [["--refine", k] for k in options.refine.split(",")] + [["--mesher", "gmsh", "--refine", "0"]]:
            try:
                made.run(hextop, "-q", "verify", result, "--surface", stl, *words, "--limit-tolerance", "1e6", "--output", report)
            except RuntimeError as error:
                print(f"| hextop, {' '.join(words)} | {str(error).splitlines()[-1]} | | | |")
                continue
            f = json.load(open(report, encoding="utf-8"))["surface"]
            s = f["analysis"]["stresses"]
            line(f"hextop, {f['mesher']}, split {f['cells_split']}", f["elements"], s["outside_zones"]["value"],
                 s["outside_zones"]["point"], s["quantile_99_9"])
            print(f"|   | largest of an element | {f['analysis']['von_mises']['value']:.5g} | | |")
        meshes = [(f"gmsh, split {k}", lambda k=k: made.fill(stl, int(k), f"g{k}", folder)) for k in options.sizes.split(",")]
        meshes += [(f"tetgen, {v}", lambda v=v: made.fill_tetgen(stl, float(v), "t" + v.replace(".", "_"), folder))
                   for v in options.tetgen.split(",") if v]
        for name, make in meshes:
            x, cells = make()
            stress = by_calculix(x, cells, sets, load, "job", folder)
            line(f"CalculiX, {name}", len(cells), *judge(x, cells, stress, rim, radius))


if __name__ == "__main__":
    main()
