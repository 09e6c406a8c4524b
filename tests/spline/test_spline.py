#!/usr/bin/env python3
"""The program against iga_reference.py for spline parts: K, loads, supports, volumes, the first
solution, K of a design, heat; files of G+Smo and of MFEM; degree 1 is the hexahedron.

    test_spline.py HEXTOP SRCDIR

Exit status 0 passed, 1 failed, 77 skipped (no scipy)."""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
# pylint: disable=wrong-import-position
from matrix_files import SOURCE, check, columns, held, hextop, load, np, small, sp, summary, vectors
from iga_reference import Part, read_xml, solve
from splines import write_mfem, write_xml
from spline_parts import curved, pair, quarter_ring, random_patch

CONFIG = """
mesh = { file = "part.xml"; };
material = { E = 70.0; nu = 0.3; density = 2.0; };
supports = ( { set = "patch1:u-"; fix = "xyz"; } );
loads = ( { set = "patch1:v+"; total_force = [0.3, 0.4, -1.0]; case = 1; },
          { set = "patch1:w+"; pressure = 2.5; case = 2; },
          { gravity = [0.0, -0.3, -0.2]; case = 3; } );
optimization = { volume_fraction = 0.5; iterations = 1; rho_min = 0.001; filter = { kind = "none"; }; };
solver = { device = "cpu"; tolerance = 1e-13; max_iterations = 100000; };
output = { directory = "out"; every = 1; format = "ascii"; fields = ("density", "displacement"); };
"""
HEAT = """
physics = "heat";
mesh = { file = "part.xml"; };
material = { conductivity = 2.5; conductivity_min = 0.1; };
supports = ( { set = "patch1:u-"; temperature = 80.0; } );
loads = ( { source = 1.5; case = 1; }, { set = "patch1:v+"; flux = 3.0; case = 2; } );
optimization = { volume_fraction = 0.5; iterations = 1; filter = { kind = "none"; }; };
solver = { device = "cpu"; tolerance = 1e-13; max_iterations = 100000; };
output = { directory = "out"; every = 1; format = "ascii"; };
"""
SOLID = 0.5 ** 3 # factor of the first design


def begin(patches, config=CONFIG):
    write_xml("part.xml", patches)
    with open("part.cfg", "w", encoding="ascii") as f:
        f.write(config)


def matrix(*words, **more):
    return hextop("matrix", "part.cfg", "-q", *words, **more)


def order(mine, its, n):
    """The program's number of each control point of the reference, from the diagonal of K, whose entries are
    all different for a random part."""
    def traces(K):
        return K.diagonal().reshape(-1, n).sum(1)
    a, b = np.argsort(traces(mine)), np.argsort(traces(its))
    number = np.empty(len(a), int)
    number[a] = b
    gap = np.diff(traces(mine)[a]).min()
    check(gap > 1e-9 * traces(mine).max(), f"control points can be told apart: {gap}")
    return (n * number[:, None] + np.arange(n)).ravel()


def off(a, b):
    return abs(a - b).max() / abs(b).max()


def volume(part):
    """Volumes with enough Gauss points for rational parts; the program also uses more than for K."""
    return Part(part.patches, more=7).volumes().sum()


def same_matrix(part, text, *keys):
    """K, loads and supports of the first design; returns K, f, fixed in the reference's numbering."""
    matrix("-o", "K.npz", "--rhs", "f.npz", "--fixed", "d.npz", *keys)
    its, f, fixed = load("K.npz"), columns("f.npz", "f", 3), held("d.npz")[0]
    mine = SOLID * part.stiffness(70.0, 0.3)
    check(its.shape == mine.shape, f"{text}: {its.shape[0]} unknowns, not {mine.shape[0]}")
    if its.shape != mine.shape:
        return None
    at = order(mine, its, 3)
    small(off(its[at][:, at], mine), 1e-12, f"{text}: K")
    f = f[at]
    back = np.empty_like(at)
    back[at] = np.arange(len(at))
    fixed = np.sort(back[fixed])
    wanted = np.sort((3 * part.face(0, 0)[:, None] + np.arange(3)).ravel())
    check(np.array_equal(fixed, wanted), f"{text}: {len(fixed)} unknowns held, not {len(wanted)}")
    free = np.setdiff1d(np.arange(len(at)), fixed)
    force, normal = part.face_loads(0, 3)[0], part.face_loads(0, 5)[1]
    loads = [np.multiply.outer(force / force.sum(), [0.3, 0.4, -1.0]), -2.5 * normal,
             np.multiply.outer(part.mass() @ np.ones(part.n_point), 0.5 * 2.0 * np.array([0.0, -0.3, -0.2]))]
    for k, wanted in enumerate(loads):
        small(off(f[free, k], wanted.ravel()[free]), 1e-12, f"{text}: load case {k + 1}")
    return mine, np.stack([w.ravel() for w in loads], 1), fixed


def same_solution(part, K, f, fixed, text, *keys):
    """Compliance, volume, and displacements at the corners of the spans."""
    hextop("run", "part.cfg", "-q", *keys)
    with open("out/summary.json", encoding="utf-8") as file:
        said = json.load(file)
    u = solve(K, f, fixed).T
    mine = sum(u[k] @ f[:, k] for k in range(len(u)))
    small(abs(said["compliance"] / mine - 1), 1e-10, f"{text}: compliance")
    small(abs(said["mesh"]["volume"] / volume(part) - 1), 1e-7, f"{text}: volume in the summary")
    points, cells = file_points("out/density_0001.vtk")
    check(cells == part.n_cell, f"{text}: {cells} hexahedra for {part.n_cell} spans")
    shown = vectors("out/density_0001.vtk")
    worst = max(off_at_corners(part, points, shown[k].reshape(-1, 3), u[k].reshape(-1, 3)) for k in range(len(u)))
    small(worst, 1e-7, f"{text}: displacements at corners of spans")


def file_points(path):
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    at = next(i for i, l in enumerate(lines) if l.startswith("POINTS"))
    n = int(lines[at].split()[1])
    cells = next(int(l.split()[1]) for l in lines if l.startswith("CELLS"))
    return np.array(" ".join(lines[at + 1:at + 1 + n]).split(), float).reshape(-1, 3)[:n], cells


def off_at_corners(part, points, shown, u):
    worst = 0.0
    rng = np.random.default_rng(4)
    for k, patch in enumerate(part.patches):
        ends = [np.unique(x) for x in patch.knots]
        for t in zip(*(rng.choice(e, 30) for e in ends)):
            mine, x = part.displacement(k, t, u)
            near = np.argmin(((points - x) ** 2).sum(1))
            worst = max(worst, abs(points[near] - x).max(), abs(shown[near] - mine).max() / abs(u).max())
    return worst


def test_random():
    """Weights that are not a tensor product, a double knot; both formats."""
    for p in (2, 3, 4):
        patch = random_patch([p] * 3, [2, 3, 2] if p < 4 else [1, 2, 1], p, double=True)
        begin([patch])
        part, text = Part([patch]), f"degree {p}"
        found = same_matrix(part, text)
        if found and p < 4:
            same_solution(part, *found, text)
        first = load("K.npz")
        for homogeneous in (False, True):
            write_mfem("part.mesh", [patch], homogeneous=homogeneous)
            matrix("-o", "M.npz", "mesh.file=part.mesh")
            # the homogeneous form multiplies and divides the points by weights, each with a rounding
            small(off(load("M.npz"), first), 1e-12 if homogeneous else 0.0, f"{text}: MFEM's file")


def test_pair():
    """Two patches that meet rotated, with different degrees and an empty span; raised and refined."""
    for degree, cut in ((0, 1), (3, 2)):
        keys = [f"mesh.refine=[{cut},{cut},{cut}]"] + ([f"mesh.degree={degree}"] if degree else [])
        patches = pair(curved())
        begin(patches)
        part = Part(patches, degree, (cut,) * 3)
        found = same_matrix(part, f"pair, degree {degree}", *keys)
        if found:
            same_solution(part, *found, f"pair, degree {degree}", *keys)
        first = load("K.npz")
        write_mfem("part.mesh", patches)
        matrix("-o", "M.npz", "mesh.file=part.mesh", *keys)
        second = load("M.npz")
        check(first.shape == second.shape and off(second, first) <= 1e-12, "pair: MFEM's file glues the same")
    mixed = random_patch([1, 2, 3], [2, 2, 1], 5, trivial=True)
    begin([mixed])
    same_matrix(Part([mixed]), "degrees 1, 2, 3, uneven spans")


def test_linear():
    """Degree 1 is equivalent to hex8."""
    begin([random_patch([1, 1, 1], [3, 2, 2], 8, rational=False, move=0.2)])
    matrix("-o", "K.npz")
    matrix("-o", "H.npz", "solver.element=linear")
    a, b = load("K.npz"), load("H.npz")
    check(a.shape == b.shape, "degree 1: as many unknowns as hexahedra")
    small(abs(np.sort(a.diagonal()) - np.sort(b.diagonal())).max() / b.max(), 1e-13, "degree 1 is hex8: diagonal")
    small(abs(sp.linalg.norm(a) / sp.linalg.norm(b) - 1), 1e-13, "degree 1 is hex8: norm")
    compliance = []
    for element in ("spline", "linear"):
        hextop("run", "part.cfg", "-q", f"solver.element={element}")
        with open("out/summary.json", encoding="utf-8") as file:
            compliance.append(json.load(file)["compliance"])
    small(abs(compliance[0] / compliance[1] - 1), 1e-9, "degree 1 is hex8: compliance")


def test_design():
    """K of a design with a density per span, in the order of the result file."""
    patch = random_patch([2] * 3, [3, 2, 2], 12)
    begin([patch])
    hextop("run", "part.cfg", "-q", "optimization.iterations=4")
    with open("out/density_0004.vtk", encoding="ascii") as file:
        words = re.search(r"SCALARS density \w+(?: 1)?\s+LOOKUP_TABLE default\s+([^A-Z]*)", file.read())
    rho = np.array(words.group(1).split(), float) if words else np.array([])
    part = Part([patch])
    check(len(rho) == part.n_cell and np.ptp(rho) > 0.3, f"{len(rho)} densities, not one for all")
    if len(rho) != part.n_cell:
        return
    matrix("-o", "K.npz", "--density", "out/density_0004.vtk")
    K, mine = load("K.npz"), part.stiffness(70.0, 0.3, rho ** 3)
    at = order(mine, K, 3)
    small(off(K[at][:, at], mine), 1e-9, "K of a design") # densities of the file are rounded


def test_heat():
    patch = random_patch([3, 2, 2], [2, 2, 2], 21, double=True)
    begin([patch], HEAT)
    matrix("-o", "K.npz", "--rhs", "f.npz")
    part = Part([patch])
    mine = (0.1 + 2.4 * SOLID) * part.conduction(1.0)
    its = load("K.npz")
    check(its.shape == mine.shape, f"heat: {its.shape[0]} unknowns")
    at = order(mine, its, 1)
    small(off(its[at][:, at], mine), 1e-12, "heat: K")
    f = columns("f.npz", "f", 2)[at]
    free = np.setdiff1d(np.arange(part.n_point), part.face(0, 0))
    source = 1.5 * (part.mass() @ np.ones(part.n_point))
    small(off(f[free, 0], source[free]), 1e-12, "heat: source")
    small(off(f[free, 1], 3.0 * part.face_loads(0, 3)[0][free]), 1e-12, "heat: flux")


def test_parts():
    """The parts of examples/ with coarser spans: volume and first compliance; the files there are what the
    scripts write."""
    for name, keys, degree, cut, young, nu, share in (
            ("pipe_bracket", ["mesh.refine=[1,3,1]"], 2, (1, 3, 1), 210000.0, 0.3, 0.6),
            ("spline_part", ["mesh.refine=[1,1,1]", "optimization.projection="], 3, (1, 1, 1), 70000.0, 0.33, 0.4)):
        folder = os.path.join(SOURCE, "examples", name)
        sys.path.insert(0, folder)
        patches = __import__(name).parts()
        kept = read_xml(os.path.join(folder, name + ".xml"))
        check(all(off(a.points, b.points) < 1e-14 for a, b in zip(patches, kept)) and len(patches) == len(kept),
              f"{name}.xml is what {name}.py writes")
        hextop("run", os.path.join(folder, name + ".cfg"), "-q", *keys, "passive=", "optimization.filter.kind=none",
               "optimization.symmetry=", "optimization.iterations=1", "solver.device=cpu", "solver.tolerance=1e-11",
               "solver.max_iterations=20000", "output.directory=" + name)
        with open(f"{name}/summary.json", encoding="utf-8") as file:
            said = json.load(file)
        part = Part(patches, degree, cut)
        if name == "pipe_bracket":
            inlet = [(k, 4) for k in (0, 1, 2, 3, 12, 13, 14, 15)]
            outlet = [(k, 5) for k in (8, 9, 10, 11, 16, 17, 18, 19)]
            forces = [[0.0, 0.0, -8000.0], [0.0, 4000.0, 0.0]]
        else:
            inlet, outlet = [(4, 0), (5, 1)], [(3, 1)]
            forces = [[3000.0, 0.0, 0.0], [0.0, 2000.0, 0.0], [0.0, 0.0, 400.0]]
        area = sum(part.face_loads(*side)[0] for side in outlet)
        held_points = np.unique(np.concatenate([part.face(*side) for side in inlet]))
        fixed = (3 * held_points[:, None] + np.arange(3)).ravel()
        f = np.stack([np.multiply.outer(area / area.sum(), force).ravel() for force in forces], 1)
        u = solve(share ** 3 * part.stiffness(young, nu), f, fixed)
        small(abs(said["compliance"] / (f * u).sum() - 1), 1e-7, f"{name}: first compliance")
        small(abs(said["mesh"]["volume"] / volume(part) - 1), 1e-7, f"{name}: volume")


def test_volume():
    """A quarter of a ring has its exact volume."""
    begin([quarter_ring(1.0, 2.0, 0.5)])
    said = hextop("check", "part.cfg", "mesh.degree=2", "mesh.refine=[2,8,1]")
    words = re.findall(r"1\.178\d+", said)
    check(words and abs(float(words[0]) - 3 * np.pi / 8) < 1e-3, f"check says the volume {3 * np.pi / 8:.6g}: {words}")


def stl_points(path):
    with open(path, "rb") as file:
        data = file.read()
    n = int.from_bytes(data[80:84], "little")
    return np.frombuffer(data, np.dtype([("x", "<f4", (4, 3)), ("end", "<u2")]), n, 84)["x"][:, 1:].reshape(-1, 3)


def cut_ring(refine, is_enough):
    """Volumes of the surface of a quarter of a ring, by --cuts (None: by default)."""
    hextop("run", "part.cfg", "-q", "mesh.degree=2", "mesh.refine=" + refine)
    volumes = {}
    for cuts in (1, 2, 4, None):
        said = hextop("surface", "out", "part.stl", "--threshold", "0.1", *(["--cuts", str(cuts)] if cuts else []))
        volumes[cuts] = float(re.search(r"^volume +([\d.]+)", said, re.M).group(1))
        x = stl_points("part.stl")
        r = np.hypot(x[:, 0], x[:, 1])
        small(abs(r.max() - 2.0), 1e-6, f"--cuts {cuts}: points lie on the spline")
        around = len(np.unique(np.round(np.arctan2(x[:, 1], x[:, 0])[r > 1.9999], 4)))
        wanted = 4 * (cuts or 5) + 1 # by default at most 5 degrees each, with 22.5 and a little more per span
        check(is_enough(around, wanted), f"{refine}, --cuts {cuts}: {around} places around, not {wanted}")
    return volumes


def test_surface():
    """The surface of a quarter of a ring: its round side is as fine as --cuts, and its analysis by verify is
    as stiff as the part. Other meshes refuse --cuts."""
    begin([quarter_ring(1.0, 2.0, 0.5)])
    volumes = cut_ring("[2,4,2]", lambda around, wanted: around == wanted)
    lacks = {cuts: 3 * np.pi / 8 - v for cuts, v in volumes.items()}
    check(3.7 < lacks[1] / lacks[2] < 4.3 and 3.7 < lacks[2] / lacks[4] < 4.3, f"volume of the second order: {lacks}")
    # an odd number of cuts across the only span: its middle, a mirror plane of the surface, lies inside cells
    for cuts, volume in cut_ring("[2,4,1]", lambda around, wanted: around >= wanted).items():
        check(0.0 < 3 * np.pi / 8 - volume < lacks[cuts] * (1 + 1e-4), f"--cuts {cuts}: volume {volume}, lacks {lacks}")
    hextop("verify", "out", "--surface", "part.stl", "--refine", "0", "-q", "--preserve", "none")
    with open("out/verify.json", encoding="utf-8") as file:
        check("surface" in json.load(file), "verify analyses what the surface encloses")
    check("1 to 16" in hextop("surface", "out", "part.stl", "--cuts", "17", status=2), "--cuts 17 is refused")
    hextop("run", os.path.join(SOURCE, "configs", "quickstart.cfg"), "-q", "mesh.size=4", "optimization.iterations=1",
           "solver.device=cpu", "output.directory=out")
    check("applies to splines" in hextop("surface", "out", "part.stl", "--cuts", "2", status=2), "a mesh has no cuts")


def main():
    for test in (test_surface, test_random, test_pair, test_linear, test_design, test_heat, test_parts, test_volume):
        test()
    return summary()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
