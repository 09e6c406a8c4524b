#!/usr/bin/env python3
"""K of heat conduction and of quadratic elements: scipy and PETSc load what `hextop matrix` writes, solve the systems,
and obtain hextop's temperatures and displacements.

    test_matrix_kinds.py HEXTOP SRCDIR

Exit status 0 passed, 1 failed, 77 skipped (no scipy)."""

import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
# pylint: disable=wrong-import-position
from matrix_files import (PETSc, SOURCE, check, columns, endings, held, hextop, load, np, read, scipy, small, sp, spla,
                          summary, vectors, viewer)

HEAT = """
physics = "heat";
mesh = { generator = "cantilever"; nx = 9; ny = 4; nz = 5; distort = 0.2; };
material = { conductivity = 2.5; conductivity_min = 0.1; };
sets = ( { name = "poor"; box = { min = [3.0, -1.0, -1.0]; max = [8.0, 9.0, 2.2]; }; },
         { name = "lid"; plane = { point = [0.0, 0.0, 5.0]; normal = [0.0, 0.0, 1.0]; }; } );
supports = ( { set = "left"; temperature = 80.0; } );
convection = ( { set = "lid"; coefficient = 1.7; ambient = 20.0; },
               { set = "right"; coefficient = 5.0; ambient = 35.0; } );
loads = ( { source = 1.5; case = 1; }, { set = "front"; flux = 3.0; case = 2; } );
passive = ( { set = "poor"; density = 0.5; } );
optimization = { volume_fraction = 0.6; iterations = 3; filter = { kind = "density"; radius = 1.5; }; };
solver = { device = "cpu"; tolerance = 1e-13; max_iterations = 100000; };
output = { directory = "out"; every = 1; format = "ascii"; fields = ("density", "temperature"); };
"""
# All films have the same ambient temperature, which is not 0; it is the reference of all differences.
ONE = ["convection=({set=\"lid\";coefficient=1.7;ambient=80.0;})"]
HELD = ["convection=()"]
FREE = ["supports=()"]

QUADRATIC = """
mesh = { generator = "cantilever"; nx = 5; ny = 3; nz = 4; distort = 0.2; };
material = { E = 70.0; nu = 0.3; density = 2.0; };
supports = ( { set = "left"; fix = "xyz"; value = [0.0, 0.0, 0.0]; },
             { set = "right-lower-edge"; fix = "x"; value = [0.013, 0.0, 0.0]; } );
springs = ( { set = "top"; stiffness = [0.1, 0.3, 0.5]; per = "area"; } );
loads = ( { set = "right"; traction = [0.0, 0.4, -1.0]; case = 1; },
          { gravity = [0.0, -0.3, -0.2]; case = 2; } );
optimization = { volume_fraction = 0.4; iterations = 3; rho_min = 0.1;
                 filter = { kind = "density"; radius = 1.5; unit = "element"; }; };
solver = { device = "cpu"; tolerance = 1e-13; max_iterations = 100000; element = "quadratic"; };
output = { directory = "out"; every = 1; format = "ascii"; fields = ("density", "displacement"); };
"""
# A hexahedron, a wedge, a pyramid and a tetrahedron.
MIXED = """
mesh = { file = "SOURCE/examples/meshes/kinds.vtk"; };
material = { E = 70.0; nu = 0.3; density = 2.0; };
sets = ( { name = "foot"; box = { min = [-1.0, -1.0, -0.001]; max = [9.0, 9.0, 0.001]; }; },
         { name = "tip"; box = { min = [0.4, 0.4, 1.9]; max = [0.6, 0.6, 2.1]; }; } );
supports = ( { set = "foot"; fix = "xyz"; } );
loads = ( { set = "tip"; node_force = [0.3, 0.4, -1.0]; case = 1; },
          { gravity = [0.0, -0.3, -0.2]; case = 2; } );
optimization = { volume_fraction = 0.9; iterations = 1; rho_min = 0.1; filter = { kind = "none"; }; };
solver = { device = "cpu"; tolerance = 1e-13; max_iterations = 100000; element = "quadratic"; };
output = { directory = "out"; every = 1; format = "ascii"; fields = ("density", "displacement"); };
"""


def matrix(*words, **more):
    return hextop("matrix", "part.cfg", *words, **more)


def fails(text, *words):
    said = matrix(*words, status=2)
    check(text in said and said.count("error:") == 1, f"{' '.join(words)}: no '{text}' in: {said}")


def temperatures(path):
    lines = open(path, encoding="ascii").read().split("\n")
    n = int(next(l for l in lines if l.startswith("POINTS")).split()[1])
    heads = [(i, 2) for i, line in enumerate(lines) if line.startswith("SCALARS temperature")]
    heads += [(i, 1) for i, line in enumerate(lines) if line.startswith("temperature")]
    return [np.array(" ".join(lines[i + k:i + k + n]).split()[:n], dtype=float) for i, k in heads]


def near(u, mine, text):
    """hextop's solution at the nodes; u has the mid-side nodes after them."""
    small(np.abs(u[:len(mine)] - mine).max() / np.abs(mine).max(), 1e-8, text)


def is_same(A, B):
    """To rounding."""
    return abs(A - B).max() <= 1e-15 * abs(B).max()


def test_solutions(fields, *keys):
    """Systems with kept and with eliminated supports, in each format and for all load cases, give hextop's own u."""
    hextop("run", "part.cfg", "optimization.iterations=1", *keys)
    mine = fields("out/density_0001.vtk")
    check(len(mine) == 2, "two load cases")
    for end in endings():
        matrix("-o", "K" + end, "--rhs", "f" + end, "--fixed", "d" + end, *keys)
        K, f, (index, value) = load("K" + end), columns("f" + end, "f", 2), held("d" + end)
        check(is_same(K, K.T), f"{end}: K is symmetric")
        matrix("-o", "E" + end, "--rhs", "g" + end, "--supports", "eliminate", *keys)
        E, g = load("E" + end), columns("g" + end, "f", 2)
        free = np.setdiff1d(np.arange(K.shape[0]), index)
        check((E[index] != sp.identity(E.shape[0], format="csr")[index]).nnz == 0,
              f"{end}: unit rows of what is held")
        check(abs(E[free][:, free] - K[free][:, free]).max() == 0, f"{end}: free rows as they were")
        for c in range(2):
            u = np.zeros(K.shape[0])
            u[index] = value
            u[free] = spla.splu(K[free][:, free].tocsc()).solve(f[free, c] - K[free][:, index] @ value)
            near(u, mine[c], f"{end} case {c + 1}, kept {keys}")
            near(spla.splu(E.tocsc()).solve(g[:, c]), mine[c], f"{end} case {c + 1}, eliminated {keys}")
        for whole, words in ((K, []), (E, ["--supports", "eliminate"])):
            matrix("-o", "L" + end, "--lower", *words, *keys)
            check(is_same(load("L" + end, "half"), whole), f"{end}: --lower is a half {words}")
    return index, value


def test_order():
    """With `curve` rows are in the solver's order, including mid-side nodes; a mesh that is shuffled internally gives
    the same file."""
    matrix("-o", "K.npz", "--rhs", "f.npz", "--fixed", "d.npz")
    matrix("-o", "S.npz", "mesh.shuffle=7")
    check(read("K.npz") == read("S.npz"), "a mesh shuffled inside: the same file")
    K, f, (index, value) = load("K.npz"), np.load("f.npz")["f"], held("d.npz")
    for end in endings():
        matrix("-o", "C" + end, "--rhs", "h" + end, "--fixed", "e" + end, "--order", "curve", "mesh.shuffle=7")
        C, h = load("C" + end), columns("h" + end, "f", 2)
        point = (np.load("C_order.npz")["node"] if end == ".npz"
                 else scipy.io.mmread("C_order.mtx").ravel().astype(int) - 1 if end == ".mtx"
                 else PETSc.IS().load(viewer("C_order.petsc")).getIndices())
        n = K.shape[0] // len(point)
        check(np.array_equal(np.sort(point), np.arange(len(point))), f"{end}: every point once")
        check(not np.array_equal(point, np.arange(len(point))), "the curve is another order")
        rows = (n * point[:, None] + np.arange(n)).ravel()
        small(abs(C - K[rows][:, rows]).max() / abs(K).max(), 1e-13, f"{end}: curve, K")
        small(np.abs(h - f[rows]).max() / np.abs(f).max(), 1e-13, f"{end}: curve, loads")
        i, v = held("e" + end)
        back = np.argsort(rows[i])
        check(np.array_equal(rows[i][back], index) and np.array_equal(v[back], value), f"{end}: curve, held")


def test_fills():
    """Each fill and builder gives the same K up to rounding, or is refused in one line."""
    matrix("-o", "K.npz")
    K, done = load("K.npz"), 0
    for fill in ("sort", "triplets"):
        try:
            matrix("-o", "G.npz", "--fill", fill)
        except RuntimeError as refused:
            check("exit status 2" in str(refused) and str(refused).count("error:") == 1, str(refused))
            continue
        done += 1
        small(abs(load("G.npz") - K).max() / abs(K).max(), 1e-13, f"fill {fill}")
    matrix("-o", "B.npz", "--build", "sort")
    check(read("B.npz") == read("K.npz"), "the same file from either builder")
    return done


def test_density(fields):
    hextop("run", "part.cfg", "output.directory=res", "optimization.iterations=3")
    matrix("-o", "R.npz", "--rhs", "r.npz", "--supports", "eliminate", "--density", "res/density_0003.vtk")
    K, f = load("R.npz"), np.load("r.npz")["f"]
    for c, mine in enumerate(fields("res/density_0003.vtk")):
        near(spla.splu(K.tocsc()).solve(f[:, c]), mine, f"a result's own, case {c + 1}")


def test_heat():
    open("part.cfg", "w", encoding="ascii").write(HEAT)
    said = matrix()
    check("180 elements, 300 nodes, 300 unknowns, hex8" in said, f"sizes: {said}")
    index, value = test_solutions(temperatures)
    check(len(index) == 30 and np.all(value == 80.0), f"held temperatures: {value}")
    index, value = test_solutions(temperatures, *ONE)
    check(len(index) == 30 and np.all(value == 80.0), f"held temperatures, one reference: {value}")
    test_solutions(temperatures, *HELD)
    matrix("-o", "K.npz", "--rhs", "f.npz", "--fixed", "d.npz", *FREE)
    check(len(held("d.npz")[0]) == 0, "nothing is held")
    u = spla.splu(load("K.npz").tocsc()).solve(np.load("f.npz")["f"][:, 0])
    hextop("run", "part.cfg", "optimization.iterations=1", *FREE)
    near(u, temperatures("out/density_0001.vtk")[0], "films alone hold the temperature")
    # Films: their areas are 9 x 4 and 4 x 5 for every mesh inside.
    matrix("-o", "W.npz", "--rhs", "w.npz", *HELD)
    K, f = load("K.npz"), np.load("f.npz")["f"]
    W, w = load("W.npz"), np.load("w.npz")["f"]
    small(abs((K - W).sum() - (1.7 * 36 + 5.0 * 20)), 1e-10, "the films' part of K")
    small(np.abs((f - w).sum(axis=0) - (1.7 * 36 * 20 + 5.0 * 20 * 35)).max(), 1e-9, "the films' part of the loads")
    small(np.abs(w.sum(axis=0) - np.array([1.5 * 180, 3.0 * 45])).max(), 1e-10, "source and flux")
    for end in endings():
        matrix("-o", "W" + end, "--near-null", "n" + end, *HELD)
        W, constant = load("W" + end), columns("n" + end, "near_null", 1).ravel()
        small(np.abs(constant - 1.0 / np.sqrt(300.0)).max(), 1e-15, f"{end}: the constant")
        small(np.linalg.norm(W @ constant) / spla.norm(W), 1e-14, f"{end}: K times the constant")
    for end in endings():
        for more in ([], ["--lower"], ["--supports", "eliminate", "--rhs", "g" + end]):
            matrix("-o", "K" + end, *more)
            whole = [read("K" + end)] + ([read("g" + end)] if "--rhs" in more else [])
            for memory in ("4e4", "1e5"):
                check("chunks" in matrix("-o", "K" + end, "--memory", memory, *more), "several ranges")
                files = [read("K" + end)] + ([read("g" + end)] if "--rhs" in more else [])
                check(whole == files, f"{end} {more} --memory {memory}: the same bytes")
    test_order()
    check(test_fills() == 2, "all fills of the CPU")
    test_density(temperatures)
    said = matrix("--bench", "all")
    check("gather" in said and "FAIL:" in said and "FAIL " not in said, f"--bench all: {said}")


def test_quadratic():
    open("part.cfg", "w", encoding="ascii").write(QUADRATIC)
    said = matrix()
    check("60 elements, 120 nodes, 406 points, 1,218 unknowns, hex20" in said and "in one range" in said,
          f"sizes: {said}")
    index, value = test_solutions(vectors)
    check(len(index) == 3 * (20 + 31) + 4 + 3 and np.count_nonzero(value == 0.013) == 7,
          f"middles between held nodes are held: {len(index)}")
    for end in endings():
        matrix("-o", "K" + end, "--near-null", "n" + end, "springs=()")
        K, motions = load("K" + end), columns("n" + end, "near_null", 6)
        for m in range(6):
            small(np.linalg.norm(K @ motions[:, m]) / spla.norm(K), 1e-13, f"{end}: K times motion {m}")
        small(np.abs(motions.T @ motions - np.identity(6)).max(), 1e-13, f"{end}: orthonormal")
    test_order()
    test_fills()
    test_density(vectors)
    matrix("-o", "K.npz")
    whole = read("K.npz")
    check("chunks     1 of" in matrix("-o", "K.npz", "--memory", "1e8"), "a budget that is enough")
    check(read("K.npz") == whole, "the same bytes")
    fails("are made in one range, which needs more than", "-o", "K.npz", "--memory", "1e5")
    said = matrix("--bench", "all")
    check("gather" in said and "FAIL:" in said and "FAIL " not in said, f"--bench all: {said}")


def test_mixed():
    open("part.cfg", "w", encoding="ascii").write(MIXED.replace("SOURCE", SOURCE))
    said = matrix()
    check("hex20" in said and "tet10" in said and "wedge15" in said and "pyramid13" in said, f"all kinds: {said}")
    test_solutions(vectors)
    test_order()


def main():
    for test in (test_heat, test_quadratic, test_mixed):
        test()
    return summary()


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    STATUS = main()
    os.chdir("/")
sys.exit(STATUS)
