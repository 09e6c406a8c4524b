#!/usr/bin/env python3
"""Compares the manufactured part with the design: grey, 0/1 and surface of `hextop verify --surface` against CalculiX's
C3D10 on a mesh of another mesher, for the parts of examples/.

    python3 tests/bench/surface_analysis.py HEXTOP FOLDER [--parts "bracket|yoke"] [--tetgen VOLUME] [--check]

Each part is designed once (FOLDER keeps it), `hextop surface` writes its STL, and gmsh fills it with tetrahedra that
have the triangles of the STL; a second mesh splits each tetrahedron into eight. Supports and loads come from this
file and from the faces of the config's sets: hextop's mapping and loads are not used. Prints one line of a Markdown
table per part. --check: exit status 1 if the surface differs from the finest C3D10 by at least 5 %. Needs gmsh, ccx
and numpy; --tetgen also needs tetgen."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
STEEL = {"E": 210000.0, "nu": 0.3}

# config, source of its mesh for gmsh (None: the mesh exists), overrides; and supports and loads, as in the config
PARTS = {
    "bracket": {
        "config": "examples/bracket/bracket.cfg", **STEEL, "held": ["bolts"], "weights": [1],
        "loads": [("total", "pin", [0, -5000, 1500], 1)]},
    "bell-crank": {
        "config": "examples/bell-crank/bell-crank.cfg", "E": 70000.0, "nu": 0.33, "weights": [1, 1],
        "springs": [("pivot", [4e5, 4e5, 1e5])],
        "loads": [("bearing", "input", [0, -3000, 0], 1), ("bearing", "output", [3545.4545, 0, 0], 1),
                  ("remote", "output", [0, 0, 250], 2, [40, 110, 45]),
                  ("remote", "input", [150, 0, 0], 2, [-130, 25, 45])]},
    "hook": {
        "config": "examples/hook/hook.cfg", **STEEL, "density": 7.85e-9, "held": ["collar"], "weights": [1, 0.5],
        "loads": [("bearing", "throat", [0, -40000, 0], 1), ("gravity", None, [0, -9810, 0], 1),
                  ("bearing", "throat", [5000, -30000, 0], 2), ("total", "throat", [0, 0, 4000], 2)]},
    "yoke": {
        "config": "examples/yoke/yoke.cfg", "geo": "examples/yoke/yoke.geo", **STEEL, "held": ["eye"],
        "weights": [1, 1],
        "loads": [("bearing", "fork", [12000, 0, 0], 1), ("bearing", "fork", [0, -4000, 0], 2)]},
    "lever": {
        "config": "examples/lever/lever.cfg", "geo": "examples/lever/lever.geo", **STEEL, "held": ["root"],
        "weights": [1, 1],
        "loads": [("bearing", "hole", [0, 0, -6000], 1), ("pressure", "pad", 10.0, 2)]},
    "bearing": {
        "config": "examples/bearing/bearing.cfg", **STEEL, "held": ["bolts"], "weights": [1, 1],
        "loads": [("bearing", "face-21", [0, 1500, -4000], 1), ("total", "face-21", [2500, 0, 0], 2)]},
    # only if named: it takes minutes, and for the second size CalculiX's factor fills the memory of a machine
    "bracket, large": {
        "config": "examples/bracket/bracket.cfg", "geo": "examples/bracket/bracket.geo", "size": 1.65,
        **STEEL, "held": ["bolts"], "weights": [1], "by_hextop": True, "optional": True,
        "loads": [("total", "pin", [0, -5000, 1500], 1)]},
}


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, cwd=cwd, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


# --- the design ---


def design(hextop, part, name, folder):
    """Path of the last result; runs the design if there is none."""
    out = os.path.join(folder, name)
    overrides = [f"output.directory={out}"]
    if "iterations" in part:
        overrides += [f"optimization.iterations={part['iterations']}", f"output.every={part['iterations']}"]
    if not os.path.exists(os.path.join(out, "summary.json")):
        if "geo" in part:
            mesh = os.path.join(folder, name.replace(", ", "-") + ".msh")
            size = ["-setnumber", "h", part["size"]] if "size" in part else []
            run("gmsh", "-3", os.path.join(ROOT, part["geo"]), *size, "-o", mesh)
            overrides.append(f"mesh.file={mesh}")
        run(hextop, "-q", "run", os.path.join(ROOT, part["config"]), *overrides)
    return sorted(f for f in os.listdir(out) if f.startswith("density_") and f.endswith(".vtk"))[-1]


def read_sets(path):
    """Boundary triangles [n, 3, 3] of each set of a VTK file that `hextop mesh` wrote as text."""
    words = open(path, encoding="ascii").read().split()
    i = words.index("POINTS")
    n = int(words[i + 1])
    x = numpy.array(words[i + 3:i + 3 + 3 * n], dtype=float).reshape(-1, 3)
    i = words.index("CELLS")
    n_cell, at, cells = int(words[i + 1]), i + 3, []
    for _ in range(n_cell):
        m = int(words[at])
        cells.append([int(w) for w in words[at + 1:at + 1 + m]])
        at += m + 1
    sides = {8: [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
             6: [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
             5: [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
             4: [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]}
    faces = {}
    for cell in cells:
        for side in sides[len(cell)]:
            corner = [cell[a] for a in side]
            faces.setdefault(tuple(sorted(corner)), []).append(corner)
    border = [f[0] for f in faces.values() if len(f) == 1]
    sets, i = {}, words.index("POINT_DATA") if "POINT_DATA" in words else 0
    for k in range(i, len(words) - 6):
        is_scalars = words[k] == "SCALARS" and words[k + 1].startswith("set_") and words[k + 3] == "1"
        is_field = words[k].startswith("set_") and words[k + 1:k + 4] == ["1", str(n), "int"]
        if not is_scalars and not is_field:
            continue
        name, begin = (words[k + 1], k + 6) if is_scalars else (words[k], k + 4)
        flag = numpy.array(words[begin:begin + n], dtype=int)
        chosen = [f for f in border if all(flag[a] for a in f)]
        triangles = [[f[0], f[1], f[2]] for f in chosen] + [[f[0], f[2], f[3]] for f in chosen if len(f) == 4]
        if triangles:
            sets[name[4:]] = x[numpy.array(triangles)]
    return sets


# --- the independent mesh ---


def fill(stl, n_refine, name, folder):
    """Points and C3D10 tetrahedra (in CalculiX's order) of an STL, made by gmsh."""
    with open(os.path.join(folder, name + ".geo"), "w", encoding="ascii") as geo:
        geo.write(f"""Merge "{stl}";
Surface Loop(1) = {{1}};
Volume(1) = {{1}};
Mesh.SaveAll = 1;
Mesh.SecondOrderLinear = 1;
Mesh 3;
{"RefineMesh; " * n_refine}
SetOrder 2;
Save "{name}_tet.inp";
""")
    run("gmsh", "-", name + ".geo", cwd=folder)
    points, cells, kind = {}, [], None
    for line in open(os.path.join(folder, name + "_tet.inp"), encoding="ascii"):
        if line.startswith("*"):
            kind = "node" if line.upper().startswith("*NODE") else "cell" if "C3D10" in line.upper() else None
            continue
        words = line.replace(",", " ").split()
        if kind == "node":
            points[int(words[0])] = [float(w) for w in words[1:4]]
        elif kind == "cell":
            cells += [int(w) for w in words]
    cells = numpy.array(cells).reshape(-1, 11)[:, 1:]
    used = numpy.unique(cells)
    number = numpy.full(used.max() + 1, -1)
    number[used] = numpy.arange(len(used))
    return numpy.array([points[a] for a in used]), number[cells]


FACES = [[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6]]


def read_stl(path):
    """Points and triangles of a binary STL."""
    facets = numpy.fromfile(path, dtype=[("normal", "<3f4"), ("corner", "<9f4"), ("rest", "<u2")], offset=84)
    points, number = numpy.unique(facets["corner"].reshape(-1, 3), axis=0, return_inverse=True)
    return points.astype(float), number.reshape(-1, 3)


def add_middles(points, corners):
    """C3D10 tetrahedra with straight edges."""
    edges = numpy.sort(corners[:, [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
    ends, number = numpy.unique(edges, axis=0, return_inverse=True)
    middles = 0.5 * (points[ends[:, 0]] + points[ends[:, 1]])
    return (numpy.concatenate([points, middles]),
            numpy.concatenate([corners, len(points) + number.reshape(-1, 6)], axis=1))


def fill_tetgen(stl, volume, name, folder, quality="1.4/10"):
    """Like fill(), with tetgen: tetrahedra of at most this volume, which may also split the triangles of the STL. quality:
    largest ratio of circumradius and edge, and least dihedral angle in degrees; smaller ratios take more tetrahedra."""
    points, triangles = read_stl(stl)
    with open(os.path.join(folder, name + ".smesh"), "w", encoding="ascii") as out:
        out.write(f"{len(points)} 3 0 0\n")
        out.writelines(f"{i + 1} {p[0]:.9g} {p[1]:.9g} {p[2]:.9g}\n" for i, p in enumerate(points))
        out.write(f"{len(triangles)} 0\n")
        out.writelines(f"3 {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles)
        out.write("0\n0\n")
    run("tetgen", f"-pq{quality}a{volume:g}", name + ".smesh", cwd=folder)
    made = [numpy.loadtxt(os.path.join(folder, f"{name}.1.{kind}"), skiprows=1) for kind in ("node", "ele")]
    return add_middles(made[0][:, 1:4], made[1][:, 1:5].astype(int) - 1)


def outer_faces(cells):
    faces = numpy.concatenate([cells[:, f] for f in FACES])
    _, first, count = numpy.unique(numpy.sort(faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]


def distance(points, triangles):
    """Distance of each point to its nearest triangle."""
    best = numpy.full(len(points), numpy.inf)
    for a, b, c in triangles:
        u, v, w = b - a, c - a, points - a
        uu, uv, vv, wu, wv = u @ u, u @ v, v @ v, w @ u, w @ v
        det = uu * vv - uv * uv
        if det <= 0:
            continue
        s, t = (vv * wu - uv * wv) / det, (uu * wv - uv * wu) / det
        inside = (s >= 0) & (t >= 0) & (s + t <= 1)
        near = numpy.where(inside, numpy.linalg.norm(w - numpy.outer(s, u) - numpy.outer(t, v), axis=1), numpy.inf)
        for p, q in ((a, b), (b, c), (c, a)):
            r = numpy.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
            near = numpy.minimum(near, numpy.linalg.norm(points - p - numpy.outer(r, q - p), axis=1))
        best = numpy.minimum(best, near)
    return best


def faces_on(x, faces, triangles):
    """Faces whose centre and corners lie on the triangles."""
    size = numpy.sqrt(numpy.linalg.norm(numpy.cross(triangles[:, 1] - triangles[:, 0],
                                                    triangles[:, 2] - triangles[:, 0]), axis=1).mean())
    low, high = triangles.min(axis=(0, 1)) - size, triangles.max(axis=(0, 1)) + size
    centre = x[faces[:, :3]].mean(axis=1)
    near = numpy.nonzero(numpy.all((centre > low) & (centre < high), axis=1))[0]
    on = distance(centre[near], triangles) < 0.03 * size
    near = near[on]
    on = numpy.all([distance(x[faces[near, k]], triangles) < 0.03 * size for k in range(3)], axis=0)
    return faces[near[on]]


# --- supports and loads ---

GAUSS = numpy.array([[2 / 3, 1 / 6, 1 / 6], [1 / 6, 2 / 3, 1 / 6], [1 / 6, 1 / 6, 2 / 3]])


def shape6(b):
    return numpy.array([b[0] * (2 * b[0] - 1), b[1] * (2 * b[1] - 1), b[2] * (2 * b[2] - 1),
                        4 * b[0] * b[1], 4 * b[1] * b[2], 4 * b[2] * b[0]])


def integrate(x, faces, traction):
    """Nodal forces of traction(points, normals) on faces with six nodes, integrated with three points."""
    f = numpy.zeros((len(x), 3))
    normal = 0.5 * numpy.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    for b in GAUSS:
        at = numpy.einsum("k,nkd->nd", b, x[faces[:, :3]])
        value = traction(at, normal) * numpy.linalg.norm(normal, axis=1)[:, None] / 3
        for k, n in enumerate(shape6(b)):
            numpy.add.at(f, faces[:, k], n * value)
    return f


def node_areas(x, faces):
    return integrate(x, faces, lambda at, n: numpy.ones((len(at), 3)))[:, 0]


def bearing(x, faces, force):
    """The pressure of a pin, p0 cos(angle), on the half of a bore that the force pushes against."""
    corner = x[faces[:, :3]]
    normal = numpy.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = numpy.linalg.norm(normal, axis=1)
    unit = normal / area[:, None]
    axis = numpy.linalg.eigh((unit * area[:, None]).T @ unit)[1][:, 0]
    across = numpy.eye(3) - numpy.outer(axis, axis)
    matrix = numpy.einsum("n,nij->ij", area, across - numpy.einsum("ni,nj->nij", unit, unit))
    centre = numpy.linalg.lstsq(matrix, numpy.einsum("n,nij,nj->i", area, across - numpy.einsum(
        "ni,nj->nij", unit, unit), corner.mean(axis=1)), rcond=None)[0]
    force = numpy.array(force, dtype=float)
    push, along = across @ force, force @ axis * axis
    direction = push / numpy.linalg.norm(push)

    def press(at, _):
        rho = (at - centre) @ across
        rho /= numpy.linalg.norm(rho, axis=1)[:, None]
        return numpy.maximum(0, rho @ direction)[:, None] * rho

    f = integrate(x, faces, press)
    f *= numpy.linalg.norm(push) / (f.sum(axis=0) @ direction)
    return f + integrate(x, faces, lambda at, n: numpy.tile(along, (len(at), 1))) / (0.5 * area.sum())


def remote(x, faces, force, point):
    """Shares the force by area: of all distributions with this resultant, the one of least norm."""
    w = node_areas(x, faces)
    nodes = numpy.nonzero(w)[0]
    weight = w[nodes]
    c = weight @ x[nodes] / weight.sum()
    d = x[nodes] - c
    moment = numpy.cross(numpy.array(point) - c, force)
    t = numpy.einsum("n,nij->ij", weight, (d * d).sum(axis=1)[:, None, None] * numpy.eye(3)
                     - numpy.einsum("ni,nj->nij", d, d))
    theta = numpy.linalg.solve(t, moment)
    f = numpy.zeros((len(x), 3))
    f[nodes] = weight[:, None] * (numpy.array(force) / weight.sum() + numpy.cross(theta, d))
    return f


def gravity(x, cells, force_density):
    a, b, c, d = (x[cells[:, i]] for i in range(4))
    volume = numpy.abs(numpy.einsum("ij,ij->i", numpy.cross(b - a, c - a), d - a)) / 6
    f = numpy.zeros((len(x), 3))
    for k in range(10):
        numpy.add.at(f, cells[:, k], numpy.outer(volume * (-0.05 if k < 4 else 0.2), force_density))
    return f


def loads_of(part, x, cells, found):
    """Nodal forces of each load case."""
    f = [numpy.zeros((len(x), 3)) for _ in part["weights"]]
    for kind, name, value, case, *point in part["loads"]:
        faces = found.get(name)
        if kind == "total":
            area = node_areas(x, faces)
            f[case - 1] += numpy.outer(area / area.sum(), value)
        elif kind == "pressure":
            f[case - 1] += integrate(x, faces, lambda at, n, p=value: -p * n
                                     / numpy.linalg.norm(n, axis=1)[:, None])
        elif kind == "bearing":
            f[case - 1] += bearing(x, faces, value)
        elif kind == "remote":
            f[case - 1] += remote(x, faces, value, point[0])
        else:
            f[case - 1] += gravity(x, cells, part["density"] * numpy.array(value))
    return f


# --- CalculiX ---


def write_job(path, part, x, cells, found, forces):
    with open(path, "w", encoding="ascii") as job:
        job.write("*NODE, NSET=NALL\n")
        job.writelines(f"{i + 1},{p[0]:.12g},{p[1]:.12g},{p[2]:.12g}\n" for i, p in enumerate(x))
        job.write("*ELEMENT, TYPE=C3D10, ELSET=EALL\n")
        job.writelines(f"{i + 1}," + ",".join(str(a + 1) for a in c) + "\n" for i, c in enumerate(cells))
        job.write(f"*MATERIAL, NAME=M\n*ELASTIC\n{part['E']},{part['nu']}\n"
                  "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n")
        number = len(cells)
        for name, stiffness in part.get("springs", []):
            area = node_areas(x, found[name])
            for a in numpy.nonzero(area > 1e-9 * area.sum())[0]:
                for d in range(3):
                    number += 1
                    job.write(f"*ELEMENT, TYPE=SPRING1, ELSET=S{number}\n{number},{a + 1}\n*SPRING, ELSET=S{number}\n"
                              f"{d + 1}\n{stiffness[d] * area[a] / area.sum():.12g}\n")
        if part.get("held"):
            job.write("*BOUNDARY\n")
            for name in part["held"]:
                job.writelines(f"{a + 1},1,3\n" for a in numpy.unique(found[name]))
        solver = ", SOLVER=ITERATIVE CHOLESKY" if len(x) > 500000 else ""  # needs less memory and more time
        for f in forces:
            job.write(f"*STEP\n*STATIC{solver}\n*CLOAD, OP=NEW\n")
            for a in numpy.nonzero(numpy.abs(f).sum(axis=1))[0]:
                job.writelines(f"{a + 1},{d + 1},{f[a, d]:.12g}\n" for d in range(3))
            job.write("*NODE PRINT, NSET=NALL\nU\n*END STEP\n")


def solve_by_hextop(hextop, part, name, folder):
    """Solves the job that CalculiX would get with hextop's own quadratic tetrahedra, if CalculiX takes too long: the
    same elements, whose results agree to 4e-7 (core/space)."""
    config = os.path.join(folder, name + ".cfg")
    with open(config, "w", encoding="ascii") as out:
        out.write(f"""mesh = {{ file = "{os.path.join(folder, name)}.inp"; }};
material = {{ E = {part["E"]}; nu = {part["nu"]}; }};
supports = ( {{ from = "file"; }} );
loads = ( {{ from = "file"; }} );
weights = {json.dumps([float(w) for w in part["weights"]])};
optimization = {{ volume_fraction = 0.5; filter = {{ radius = 1.5; unit = "element"; }}; }};
solver = {{ element = "quadratic"; }};
""")
    report = os.path.join(folder, name + "_analysis.json")
    run(hextop, "-q", "analyse", config, "--output", report)
    result = json.load(open(report, encoding="utf-8"))
    return {"compliance": result["compliance"], "tetrahedra": result["elements"],
            "displacement": max(c["largest"]["displacement"]["value"] for c in result["cases"])}


def place(part, x, cells, sets):
    """Faces of each set that supports or loads need, and the nodal forces of each load case."""
    faces = outer_faces(cells)
    wanted = set(part.get("held", [])) | {s[0] for s in part.get("springs", [])} | {
        load[1] for load in part["loads"] if load[1]}
    found = {s: faces_on(x, faces, sets[s]) for s in wanted}
    return found, loads_of(part, x, cells, found)


def displacements(part, x, cells, found, forces, name, folder):
    """Displacements [n, 3] of each load case, by CalculiX."""
    write_job(os.path.join(folder, name + ".inp"), part, x, cells, found, forces)
    said = run("ccx", "-i", name, cwd=folder)
    if "*ERROR" in said:
        raise RuntimeError(f"ccx: {said[-3000:]}")
    steps = []
    for line in open(os.path.join(folder, name + ".dat"), encoding="ascii"):
        if "displacements" in line:
            steps.append(numpy.zeros((len(x), 3)))
        words = line.split()
        if steps and len(words) == 4 and words[0].isdigit():
            steps[-1][int(words[0]) - 1] = [float(w) for w in words[1:]]
    for ending in (".frd", ".dat", ".12d", ".cvg", ".sta", ".inp", "_tet.inp"):
        if os.path.exists(os.path.join(folder, name + ending)):
            os.remove(os.path.join(folder, name + ending))
    if len(steps) != len(forces):
        raise RuntimeError(f"ccx has {len(steps)} of {len(forces)} load cases: {said[-3000:]}")
    return steps


def solve(part, x, cells, sets, name, folder, by_hextop=None):
    found, forces = place(part, x, cells, sets)
    if by_hextop:
        write_job(os.path.join(folder, name + ".inp"), part, x, cells, found, forces)
        return solve_by_hextop(by_hextop, part, name, folder)
    steps = displacements(part, x, cells, found, forces, name, folder)
    return {"compliance": sum(w * (f * u).sum() for w, f, u in zip(part["weights"], forces, steps)),
            "displacement": max(numpy.linalg.norm(u, axis=1).max() for u in steps), "tetrahedra": len(cells)}


# --- all parts ---


def compare(hextop, name, folder, sizes, tetgen):
    part, begin = PARTS[name], time.time()
    result = os.path.join(folder, name, design(hextop, part, name, folder))
    config = os.path.join(folder, name, "config.cfg")
    tag = name.replace(", ", "-")
    stl = os.path.join(folder, tag + ".stl")
    run(hextop, "-q", "surface", result, stl, "--keep-largest")
    report = os.path.join(folder, tag + ".json")
    run(hextop, "-q", "verify", result, config, "--surface", stl, "--output", report)
    by_gmsh = os.path.join(folder, tag + "_gmsh.json")
    run(hextop, "-q", "verify", result, config, "--surface", stl, "--mesher", "gmsh", "--output", by_gmsh)
    run(hextop, "-q", "mesh", config, os.path.join(folder, tag + "_sets.vtk"), "output.format=ascii")
    sets = read_sets(os.path.join(folder, tag + "_sets.vtk"))
    row = {"name": name, "verify": json.load(open(report, encoding="utf-8")), "ccx": [],
           "gmsh": json.load(open(by_gmsh, encoding="utf-8"))["surface"]}
    for k in sizes:
        x, cells = fill(stl, k, f"{tag}_{k}", folder)
        row["ccx"].append(solve(part, x, cells, sets, f"{tag}_{k}", folder, hextop if part.get("by_hextop") else None))
    for volume in tetgen:
        x, cells = fill_tetgen(stl, volume, f"{tag}_tetgen", folder)
        row["ccx"].append(solve(part, x, cells, sets, f"{tag}_tetgen", folder, hextop))
    row["seconds"] = time.time() - begin
    return row


HEAD = ("part", "elements", "grey", "0/1", "surface (tetrahedra, s)", "by gmsh's tetrahedra", "C3D10 (tetrahedra)", "compliance off",
        "largest displacement: grey, 0/1, surface, C3D10", "off", "of the last two sizes")


def off(row, key):
    ours = row["verify"]["surface"]["analysis"]
    value = ours["compliance"] if key == "compliance" else ours["displacement"]["value"]
    return value / row["ccx"][-1][key] - 1


def line_of(row):
    v, f, g, ccx = row["verify"], row["verify"]["surface"], row["gmsh"], row["ccx"]
    u = [v[k]["displacement"]["value"] for k in ("grey", "black_white")] + [f["analysis"]["displacement"]["value"],
                                                                            ccx[-1]["displacement"]]
    two = f"{100 * (ccx[-1]['compliance'] / ccx[-2]['compliance'] - 1):+.1f} %" if len(ccx) > 1 else "-"
    return (row["name"], f"{v['elements']:,}", f"{v['grey']['compliance']:.5g}", f"{v['black_white']['compliance']:.5g}",
            f"{f['analysis']['compliance']:.5g} ({f['elements']:,}, {f['seconds'] + f['mesh_seconds']:.0f} s)",
            f"{g['analysis']['compliance']:.5g} ({g['elements']:,}, {g['mesher']})",
            ", ".join(f"{c['compliance']:.5g} ({c['tetrahedra']:,})" for c in ccx),
            f"{100 * off(row, 'compliance'):+.1f} %", ", ".join(f"{value:.4g}" for value in u),
            f"{100 * off(row, 'displacement'):+.1f} %", two)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("folder")
    parser.add_argument("--parts", default="|".join(name for name in PARTS if not PARTS[name].get("optional")),
                        help="names with | between; \"bracket, large\" takes long and is left out unless it is named")
    parser.add_argument("--sizes", default="0,1", help="times that gmsh's tetrahedra are split into eight")
    parser.add_argument("--tetgen", default="", metavar="VOLUME,...",
                        help="more meshes, by tetgen, of tetrahedra of at most that volume; solved by hextop")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for program, package in (("gmsh", "gmsh"), ("ccx", "calculix-ccx")):
        if not shutil.which(program):
            print(f"SKIPPED: no {program} (Debian: {package})")
            return 77
    folder = tempfile.mkdtemp() if options.folder == "-" else os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    wrong = []
    for name in options.parts.split("|"):
        row = compare(os.path.abspath(options.hextop), name, folder, [int(k) for k in options.sizes.split(",")],
                      [float(v) for v in options.tetgen.split(",") if v])
        print("| " + " | ".join(line_of(row)) + " |", flush=True)
        wrong += [f"{name}: {key} {100 * off(row, key):+.1f} %" for key in ("compliance", "displacement")
                  if not abs(off(row, key)) < 0.05]
    for text in wrong:
        print("failed: " + text)
    if options.folder == "-":
        shutil.rmtree(folder)
    return 1 if wrong and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
