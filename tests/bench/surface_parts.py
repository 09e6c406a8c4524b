#!/usr/bin/env python3
"""Is the exported surface the part that was verified? Parts are designed, verified and cut by hextop; gmsh meshes the
STL again, and CalculiX solves it with quadratic tetrahedra, with the same supports and loads selected by position.

    surface_parts.py HEXTOP FOLDER [--parts clamp,arm,bridge] [--sizes coarse,fine] [--preserve LIST]
                     [--elements 1.2,0.8] [--smooth N] [--every N] [--check]

--elements: sizes of the tetrahedra in elements of hextop's mesh (coarse: 0.7 and 0.5, fine: 1.2 and 0.8); the last
one is compared. If gmsh cannot remesh the surface, the tetrahedra have the triangles of the STL, and are split into
eight for the second size. Results in FOLDER are reused; "-" is a temporary folder.
--check: exit status 1 if the two sizes differ by at least 2 %, or the compliances by more than 10 % (20 % on the
coarse mesh, whose members are two elements thick). Needs gmsh, ccx (CalculiX) and numpy; otherwise exit status 77.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError as missing:
    # Debian's packages belong to the system's Python, which may not be the first one in PATH.
    SYSTEM = "/usr/bin/python3"
    if os.path.exists(SYSTEM) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(SYSTEM, [SYSTEM] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-numpy)")
    sys.exit(77)

COMMON = """
material = {{ E = 210000.0; nu = 0.3; }};
units = "N, mm, MPa";
optimization = {{ volume_fraction = {volume}; rho_min = 0.001; iterations = {iterations}; move = 0.2;
    filter = {{ kind = "density"; radius = {radius}; unit = "length"; }};
    projection = {{ beta = 1.0; beta_max = 32.0; every = {every}; }}; }};
solver = {{ device = "cpu"; operator = "otf"; tolerance = 1e-5; }};
output = {{ every = 0; fields = ("density"); }};
"""

# A plate held in the bore of a passive ring; the end of its arm is pulled sideways.
CLAMP_MESH = """
SetFactory("OpenCASCADE");
h = {h};
Rectangle(1) = {{0, 0, 0, 60, 30}};
Disk(2) = {{15, 15, 0, 5}};
BooleanDifference(3) = {{ Surface{{1}}; Delete; }}{{ Surface{{2}}; Delete; }};
Disk(4) = {{15, 15, 0, 9}};
Disk(5) = {{15, 15, 0, 5}};
BooleanDifference(6) = {{ Surface{{4}}; Delete; }}{{ Surface{{5}}; Delete; }};
f() = BooleanFragments{{ Surface{{3}}; Delete; }}{{ Surface{{6}}; Delete; }};
n = Ceil(8 / h - 0.5);
For i In {{0 : #f() - 1}}
  solid[] = Extrude {{0, 0, 8}} {{ Surface{{f(i)}}; Layers{{n}}; Recombine; }};
  Physical Volume(1 + i) = {{solid[1]}};
EndFor
Recombine Surface{{:}};
Mesh.CharacteristicLengthMin = h;
Mesh.CharacteristicLengthMax = h;
Mesh.Algorithm = 6;
Mesh.RecombinationAlgorithm = 3;
"""

CLAMP = """
mesh = {{ file = "{name}.msh"; merge = 1e-6; }};
sets = ( {{ name = "bore"; cylinder = {{ point = [15, 15, 0]; axis = [0, 0, 1]; radius = 5.05; }}; }},
         {{ name = "ring"; cylinder = {{ point = [15, 15, 0]; axis = [0, 0, 1]; radius = 9.05; }}; }},
         {{ name = "end"; box = {{ min = [59.999, 9.999, -1]; max = [61, 20.001, 9]; }}; }} );
passive = ( {{ set = "ring"; density = 1.0; }} );
supports = ( {{ set = "bore"; fix = "xyz"; }} );
loads = ( {{ set = "end"; total_force = [0.0, -600.0, 150.0]; }} );
"""

# An arm on a wall, pulled down at a patch of its end that is solid because it is loaded.
ARM = """
mesh = {{ generator = "cantilever"; nx = {nx}; ny = {ny}; nz = {nz}; }};
sets = ( {{ name = "patch"; box = {{ min = [{x1}, {y0}, {z0}]; max = [{x1}, {y1}, {z1}]; }}; }} );
supports = ( {{ set = "left"; fix = "xyz"; }} );
loads = ( {{ set = "patch"; total_force = [0.0, 0.0, -600.0]; }} );
"""

# A passive deck under pressure over a passage that stays void; held at both feet.
BRIDGE = """
mesh = {{ generator = "cantilever"; nx = {nx}; ny = {ny}; nz = {nz}; }};
sets = ( {{ name = "deck"; box = {{ min = [0, 0, {deck}]; max = [{x1}, {y1}, {z1}]; }}; }},
         {{ name = "passage"; box = {{ min = [{p0}, 0, 0]; max = [{p1}, {y1}, {p2}]; }}; }},
         {{ name = "road"; box = {{ min = [0, 0, {z1}]; max = [{x1}, {y1}, {z1}]; }}; }},
         {{ name = "foot0"; box = {{ min = [0, 0, 0]; max = [{f0}, {y1}, 0]; }}; }},
         {{ name = "foot1"; box = {{ min = [{f1}, 0, 0]; max = [{x1}, {y1}, 0]; }}; }} );
passive = ( {{ set = "deck"; density = 1.0; }}, {{ set = "passage"; density = 0.001; }} );
supports = ( {{ set = "foot0"; fix = "xyz"; }}, {{ set = "foot1"; fix = "xyz"; }} );
loads = ( {{ set = "road"; pressure = 2.0; }} );
"""


def within(x, low, high, tolerance):
    return numpy.all((x >= numpy.array(low) - tolerance) & (x <= numpy.array(high) + tolerance), axis=1)


def clamp(k):
    h = 8.0 / 3 / k
    return {
        "mesh": CLAMP_MESH.format(h=h), "config": CLAMP, "numbers": {}, "h": h, "volume": 0.35,
        "support": lambda x: numpy.abs(numpy.hypot(x[:, 0] - 15, x[:, 1] - 15) - 5) < 0.03 * h + 0.08 * h * h,
        "load": lambda x: within(x, [60, 10, 0], [60, 20, 8], 1e-3),
        "force": [0.0, -600.0, 150.0], "radius": 4.0}


def arm(k):
    n = {"nx": 16 * k, "ny": 6 * k, "nz": 8 * k, "x1": 16 * k, "y0": 2 * k, "y1": 4 * k, "z0": 3 * k, "z1": 5 * k}
    return {
        "config": ARM, "numbers": n, "h": 1.0, "volume": 0.35,
        "support": lambda x: numpy.abs(x[:, 0]) < 1e-3,
        "load": lambda x: within(x, [16 * k, 2 * k, 3 * k], [16 * k, 4 * k, 5 * k], 1e-3),
        "force": [0.0, 0.0, -600.0], "radius": 1.5 * k}


def bridge(k):
    n = {"nx": 20 * k, "ny": 4 * k, "nz": 10 * k, "x1": 20 * k, "y1": 4 * k, "z1": 10 * k, "deck": 8 * k,
         "p0": 7 * k, "p1": 13 * k, "p2": 4 * k, "f0": 3 * k, "f1": 17 * k}
    return {
        "config": BRIDGE, "numbers": n, "h": 1.0, "volume": 0.45,
        "support": lambda x: (numpy.abs(x[:, 2]) < 1e-3) & ((x[:, 0] < 3 * k + 1e-3) | (x[:, 0] > 17 * k - 1e-3)),
        "load": lambda x: numpy.abs(x[:, 2] - 10 * k) < 1e-3,
        "force": [0.0, 0.0, -2.0 * 20 * k * 4 * k], "radius": 1.5 * k}


PARTS = {"clamp": clamp, "arm": arm, "bridge": bridge}
SIZES = {"coarse": 1, "fine": 2}  # elements per length of the coarse mesh
TETRAHEDRA = {"coarse": [0.7, 0.5], "fine": [1.2, 0.8]}


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, cwd=cwd, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


# --- an independent mesh ---


def remesh(stl, size, name, folder):
    """Tetrahedra with ten nodes in the solid of an STL: points [n, 3], elements [m, 10] in CalculiX's order. gmsh
    splits the STL into patches at edges above an angle and remeshes these; if that fails, with another angle or
    size."""
    for factor in (1.0, 0.93, 0.87):
        for angle in (30, 40, 22, 50):
            try:
                return remesh_at(angle, stl, factor * size, name, folder)
            except RuntimeError:
                continue
    return None


def fill(stl, n_refine, name, folder):
    """Meshes the inside of the STL with its own triangles, then splits each tetrahedron into eight, n_refine times."""
    with open(os.path.join(folder, name + ".geo"), "w", encoding="ascii") as geo:
        geo.write(f"""
Merge "{stl}";
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
    return read_tetrahedra(os.path.join(folder, name + "_tet.inp"))


def remesh_at(angle, stl, size, name, folder):
    with open(os.path.join(folder, name + ".geo"), "w", encoding="ascii") as geo:
        geo.write(f"""
Merge "{stl}";
ClassifySurfaces{{{angle} * Pi / 180, 1, 1, Pi}};
CreateGeometry;
s() = Surface{{:}};
Surface Loop(1) = {{s()}};
Volume(1) = {{1}};
Mesh.CharacteristicLengthMin = {size};
Mesh.CharacteristicLengthMax = {size};
Mesh.CharacteristicLengthExtendFromBoundary = 0;
Mesh.ElementOrder = 2;
Mesh.SecondOrderLinear = 1;
Mesh.Optimize = 1;
Mesh.SaveAll = 1;
""")
    run("gmsh", "-3", "-format", "inp", "-o", name + "_tet.inp", name + ".geo", cwd=folder)
    return read_tetrahedra(os.path.join(folder, name + "_tet.inp"))


def read_tetrahedra(path):
    points, cells, kind = {}, [], None
    for line in open(path, encoding="ascii"):
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


FACES = [[0, 1, 2, 4, 5, 6], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [0, 2, 3, 6, 9, 7]]


def outer_faces(cells):
    """[n, 6] corners and mid-side nodes of the faces of only one element."""
    faces = numpy.concatenate([cells[:, f] for f in FACES])
    _, first, count = numpy.unique(numpy.sort(faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]


def volume_of(x, cells):
    a, b, c, d = (x[cells[:, i]] for i in range(4))
    return numpy.abs(numpy.einsum("ij,ij->i", numpy.cross(b - a, c - a), d - a)).sum() / 6


def mesh_twice(stl, sizes, name, folder):
    """[points and elements] for each size. If gmsh cannot remesh the surface, its triangles are used as they are."""
    meshes = []
    for i, size in enumerate(sizes):
        mesh = remesh(stl, size, f"{name}_{i}", folder)
        if mesh is None:
            return [fill(stl, k, f"{name}_{k}", folder) for k in range(len(sizes))]
        meshes.append(mesh)
    return meshes


def solve(part, x, cells, name, folder):
    """Compliance, largest displacement, volume and number of elements by CalculiX."""
    faces = outer_faces(cells)
    on_face = numpy.unique(faces)
    held = on_face[part["support"](x[on_face])]
    is_loaded = numpy.all([part["load"](x[faces[:, i]]) for i in range(3)], axis=0)
    loaded = faces[is_loaded]
    area = 0.5 * numpy.linalg.norm(numpy.cross(x[loaded[:, 1]] - x[loaded[:, 0]], x[loaded[:, 2]] - x[loaded[:, 0]]),
                                   axis=1)
    if len(held) == 0 or len(loaded) == 0:
        raise RuntimeError(f"{name}: {len(held)} nodes held, {len(loaded)} faces loaded")
    share = numpy.zeros(len(x))  # on a face with six nodes each mid-side node has a third
    for i in range(3, 6):
        numpy.add.at(share, loaded[:, i], area / 3 / area.sum())
    with open(os.path.join(folder, name + ".inp"), "w", encoding="ascii") as job:
        job.write("*NODE, NSET=NALL\n")
        job.writelines(f"{i + 1},{p[0]:.9g},{p[1]:.9g},{p[2]:.9g}\n" for i, p in enumerate(x))
        job.write("*ELEMENT, TYPE=C3D10, ELSET=EALL\n")
        job.writelines(f"{i + 1}," + ",".join(str(a + 1) for a in c) + "\n" for i, c in enumerate(cells))
        job.write("*MATERIAL, NAME=M\n*ELASTIC\n210000.0,0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\n")
        job.writelines(f"{a + 1},1,3\n" for a in held)
        solver = ", SOLVER=ITERATIVE CHOLESKY" if len(x) > 60000 else ""  # needs less memory
        job.write(f"*STEP\n*STATIC{solver}\n*CLOAD\n")
        for a in numpy.nonzero(share)[0]:
            job.writelines(f"{a + 1},{d + 1},{part['force'][d] * share[a]:.12g}\n" for d in range(3))
        job.write("*NODE PRINT, NSET=NALL\nU\n*END STEP\n")
    said = run("ccx", "-i", name, cwd=folder)
    if "*ERROR" in said:
        raise RuntimeError(f"ccx: {said[-3000:]}")
    u = numpy.zeros((len(x), 3))
    for line in open(os.path.join(folder, name + ".dat"), encoding="ascii"):
        words = line.split()
        if len(words) == 4 and words[0].isdigit():
            u[int(words[0]) - 1] = [float(w) for w in words[1:]]
    compliance = float(share @ (u @ numpy.array(part["force"])))
    for ending in (".frd", ".dat", ".12d", ".cvg", ".sta"):
        if os.path.exists(os.path.join(folder, name + ending)):
            os.remove(os.path.join(folder, name + ending))
    return {"compliance": compliance, "displacement": float(numpy.linalg.norm(u, axis=1).max()),
            "volume": float(volume_of(x, cells)), "tetrahedra": len(cells)}


# --- hextop ---


def number_after(text, word):
    return float(re.search(rf"^{word} +([-0-9.e+]+)", text, re.MULTILINE).group(1))


def design(hextop, part, name, folder, every):
    """Runs the part unless its result exists."""
    config = os.path.join(folder, name + ".cfg")
    result = os.path.join(folder, name, f"density_{6 * every:04d}.vtk")
    if os.path.exists(result):
        return result
    if "mesh" in part:
        with open(os.path.join(folder, name + ".geo"), "w", encoding="ascii") as geo:
            geo.write(part["mesh"])
        run("gmsh", "-3", name + ".geo", "-o", name + ".msh", cwd=folder)
    with open(config, "w", encoding="ascii") as out:
        text = part["config"].format(name=name, **part["numbers"])
        # libconfig requires the numbers of an array to have one type
        out.write(re.sub(r"\[[^]]*\]", lambda m: re.sub(r"(?<![\d.])(\d+)(?![\d.])", r"\1.0", m.group()), text))
        out.write(COMMON.format(volume=part["volume"], radius=part["radius"], iterations=6 * every, every=every))
    run(hextop, "-q", "run", name + ".cfg", f"output.directory={name}", cwd=folder)
    return result


def compare(hextop, name, size, folder, options):
    part = PARTS[name](SIZES[size])
    tag = f"{name}_{size}"
    begin = time.time()
    result = design(hextop, part, tag, folder, options.every)
    preserve = ["--preserve", options.preserve] if options.preserve else []
    verify_json = os.path.join(folder, tag + "_verify.json")
    stl = os.path.join(folder, tag + ".stl")
    run(hextop, "verify", result, os.path.join(folder, tag, "config.cfg"), "--output", verify_json,
        "solver.tolerance=1e-8", *(preserve if options.same else []), cwd=folder)
    said = run(hextop, "surface", result, stl, "--smooth", options.smooth, *preserve, "--keep-largest", cwd=folder)
    verified = json.load(open(verify_json, encoding="utf-8"))
    row = {"part": name, "size": size, "elements": verified["elements"],
           "solid": verified.get("elements_forced_solid"),
           "grey": verified["grey"]["compliance"],
           "compliance": verified["black_white"]["compliance"],
           "displacement": verified["black_white"]["displacement"]["value"],
           "threshold": [verified["threshold"], number_after(said, "threshold")],
           "asked": verified.get("volume_target"),
           "volume": [verified.get("volume_solid"), number_after(said, "volume")], "tet": []}
    sizes = [share * part["h"] for share in options.elements or TETRAHEDRA[size]]
    for i, (x, cells) in enumerate(mesh_twice(stl, sizes, tag, folder)):
        row["tet"].append(solve(part, x, cells, f"{tag}_{i}", folder))
    row["ratio"] = row["tet"][-1]["compliance"] / row["compliance"]
    row["seconds"] = time.time() - begin
    return row


HEAD = ("part", "elements", "solid", "asked for", "volume 0/1, STL, tet", "threshold 0/1, STL", "0/1", "C3D10", "ratio",
        "of two sizes", "largest displacement 0/1, C3D10")


def line_of(row):
    tet = row["tet"]
    two = 100 * (tet[-1]["compliance"] / tet[0]["compliance"] - 1)
    asked = "-" if row["asked"] is None else f"{row['asked']:.6g}"
    volume = "-" if row["volume"][0] is None else f"{row['volume'][0]:.6g}"
    return (f"{row['part']}, {row['size']}", f"{row['elements']:,}", str(row["solid"]), asked,
            f"{volume}, {row['volume'][1]:.6g}, {tet[-1]['volume']:.6g}",
            f"{row['threshold'][0]:.3f}, {row['threshold'][1]:.3f}", f"{row['compliance']:.5g}",
            ", ".join(f"{t['compliance']:.5g} ({t['tetrahedra']:,})" for t in tet), f"{row['ratio']:.3f}",
            f"{two:+.2f} %", f"{row['displacement']:.4g}, {tet[-1]['displacement']:.4g}")


def judge(row):
    """Messages about what is wrong with a row."""
    most = 0.2 if row["size"] == "coarse" else 0.1
    two = row["tet"][-1]["compliance"] / row["tet"][0]["compliance"] - 1
    name = f"{row['part']}, {row['size']}"
    wrong = []
    if len(row["tet"]) > 1 and abs(two) >= 0.02:
        wrong.append(f"{name}: the two sizes of tetrahedra differ by {100 * two:.1f} %")
    if not abs(row["ratio"] - 1) <= most:
        wrong.append(f"{name}: compliance {row['ratio']:.3f} times that of verify, allowed {100 * most:.0f} %")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("folder")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--preserve")
    parser.add_argument("--not-verify", dest="same", action="store_false", help="--preserve for the surface alone")
    parser.add_argument("--elements", type=lambda text: [float(w) for w in text.split(",")])
    parser.add_argument("--smooth", default="10")
    parser.add_argument("--every", default=8, type=int, help="iterations a value of beta; six values")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for program, package in (("gmsh", "gmsh"), ("ccx", "calculix-ccx")):
        if not shutil.which(program):
            print(f"SKIPPED: no {program} (Debian: {package})")
            return 77
    if options.folder == "-":
        with tempfile.TemporaryDirectory() as folder:
            return compare_all(folder, options)
    os.makedirs(options.folder, exist_ok=True)
    return compare_all(os.path.abspath(options.folder), options)


def compare_all(folder, options):
    hextop, wrong = os.path.abspath(options.hextop), []
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    for size in options.sizes.split(","):
        for name in options.parts.split(","):
            row = compare(hextop, name, size, folder, options)
            wrong += judge(row)
            print("| " + " | ".join(line_of(row)) + " |", flush=True)
    for text in wrong:
        print(("failed: " if options.check else "note: ") + text)
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
