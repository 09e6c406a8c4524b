#!/usr/bin/env python3
"""K as other programs read it: scipy (.mtx, .npz) and PETSc (.petsc) load what `hextop matrix` writes,
solve, and find hextop's displacements.

    test_matrix.py HEXTOP SRCDIR [DEVICE]

DEVICE makes the matrices (default: cpu). Tests in which no device takes part run only with cpu. Exit status 0 passed,
1 failed, 77 skipped (no scipy, no such device). Without petsc4py, its part is skipped with a note."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
# pylint: disable=wrong-import-position
from printed_tables import cells, number
from matrix_files import (HEXTOP, PETSc, SOURCE, check, columns, endings, held, hextop, load, np, read, scipy, small, sp,
                          spla, summary, vectors, viewer)

DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
CPU = DEVICE == "cpu"
CONFIG = """
mesh = { generator = "cantilever"; nx = 12; ny = 6; nz = 5; distort = 0.2; };
material = { E = 70.0; nu = 0.3; density = 2.0; };
supports = ( { set = "left"; fix = "xyz"; value = [0.0, 0.0, 0.0]; },
             { set = "right-lower-edge"; fix = "x"; value = [0.013, 0.0, 0.0]; } );
springs = ( { set = "top"; stiffness = [0.1, 0.3, 0.5]; per = "node"; } );
loads = ( { set = "right"; total_force = [0.0, 0.4, -1.0]; case = 1; },
          { gravity = [0.0, -0.3, -0.2]; case = 2; } );
optimization = { volume_fraction = 0.4; iterations = 4; rho_min = 0.1;
                 filter = { kind = "density"; radius = 1.5; unit = "element"; }; };
solver = { device = "DEVICE"; tolerance = 1e-13; max_iterations = 100000; deterministic = true; };
output = { directory = "out"; every = 1; format = "ascii"; fields = ("density", "displacement"); };
""".replace("DEVICE", DEVICE)
ROUNDING = 0.0 if CPU else 1e-14  # a GPU's K of hexahedra is symmetric to rounding
CONTRAST_9 = ["optimization.rho_min=0.001"]  # penalty 3


def matrix(*words, **more):
    return hextop("matrix", "part.cfg", *words, **more)


def fails(text, *words, **more):
    said = matrix(*words, **{"status": 2, **more})
    check(text in said, f"{' '.join(words)}: no '{text}' in: {said}")
    check(said.count("error:") == 1, f"{' '.join(words)}: not one message: {said}")


def residual(K, u, f, index):
    """The residual of free rows, relative to the forces within the elements."""
    free = np.ones(K.shape[0], bool)
    free[index] = False
    return np.linalg.norm((K @ u - f)[free]) / max(np.linalg.norm(f[free]),
                                                   np.linalg.norm(abs(K) @ abs(u)) * 1e-3)


def energy(K, u):
    return np.sqrt(abs(u @ (K @ u)))


def compare(u, mine, K, strict, text):
    """Checks that solutions agree within 1e-8: at moderate contrast in each component, at 1e9 in the energy norm."""
    if strict:
        small(np.abs(u - mine).max() / np.abs(mine).max(), 1e-8, text)
    else:
        small(energy(K, u - mine) / energy(K, mine), 1e-8, text + ", energy")


def test_solutions(strict, *keys):
    """Systems with kept and with eliminated supports, in each format and for two load cases, give hextop's
    displacements."""
    hextop("run", "part.cfg", "optimization.iterations=1", *keys)
    mine = vectors("out/density_0001.vtk")
    check(len(mine) == 2, "displacements of two load cases")
    for end in endings():
        files = ["-o", "K" + end, "--rhs", "f" + end, "--fixed", "d" + end]
        matrix(*files, *keys)
        K, f, (index, value) = load("K" + end), columns("f" + end, "f", 2), held("d" + end)
        small(abs(K - K.T).max() / abs(K).max(), ROUNDING, f"{end}: K is symmetric")
        check(len(index) == 3 * 42 + 7 and np.count_nonzero(value == 0.013) == 7,
              f"{end}: {len(index)} held unknowns")
        free = np.setdiff1d(np.arange(K.shape[0]), index)
        matrix("-o", "E" + end, "--rhs", "g" + end, "--supports", "eliminate", *keys)
        E, g = load("E" + end), columns("g" + end, "f", 2)
        check((E[index] != sp.identity(E.shape[0], format="csr")[index]).nnz == 0,
              f"{end}: unit rows of what is held")
        check(abs(E[free][:, free] - K[free][:, free]).max() == 0, f"{end}: free rows as they were")
        for c in range(2):
            u = np.zeros(K.shape[0])
            u[index] = value
            u[free] = spla.splu(K[free][:, free].tocsc()).solve(f[free, c] - K[free][:, index] @ value)
            compare(u, mine[c], K, strict, f"{end} case {c + 1}, kept, direct {keys}")
            compare(spla.splu(E.tocsc()).solve(g[:, c]), mine[c], K, strict,
                    f"{end} case {c + 1}, eliminated, direct {keys}")
        test_half(end, K, E, keys)
    if PETSc:
        solve_by_petsc(mine, strict)


def test_half(end, K, E, keys):
    matrix("-o", "L" + end, "--lower", *keys)
    L = load("L" + end, "half")
    small(abs(L - K).max() / abs(K).max(), ROUNDING, f"{end}: --lower is a half of K")
    matrix("-o", "L" + end, "--lower", "--supports", "eliminate", *keys)
    L = load("L" + end, "half")
    small(abs(L - E).max() / abs(E).max(), ROUNDING, f"{end}: --lower is a half of the eliminated K")


def solve_by_petsc(mine, strict):
    """Solves PETSc's own matrices with a factorisation, and with CG and algebraic multigrid from the near-null space;
    the symmetric format has blocks of 1 and 3."""
    matrix("-o", "E.petsc", "--rhs", "g.petsc", "--near-null", "n.petsc", "--supports", "eliminate",
           *([] if strict else CONTRAST_9))
    matrix("-o", "L.petsc", "--lower", "--supports", "eliminate", *([] if strict else CONTRAST_9))
    E = load("E.petsc")
    g = columns("g.petsc", "f", 2)
    for name, kind, block in (("E.petsc", "seqaij", 1), ("L.petsc", "seqsbaij", 1),
                              ("L.petsc", "seqsbaij", 3), ("E.petsc", "seqaij", 3)):
        A = PETSc.Mat().create(PETSc.COMM_SELF)
        A.setType(kind)
        A.setBlockSize(block)
        A.load(viewer(name))
        A.setOption(PETSc.Mat.Option.SPD, True)
        ways = [("preonly", "cholesky")]
        if kind == "seqaij" and block == 3:
            motions = columns("n.petsc", "near_null", 6)
            A.setNearNullSpace(PETSc.NullSpace().create(
                constant=False, comm=PETSc.COMM_SELF,
                vectors=[PETSc.Vec().createWithArray(m.copy(), comm=PETSc.COMM_SELF)
                         for m in motions.T]))
            ways.append(("cg", "gamg"))
        for method, precond in ways:
            if method == "cg" and not strict:
                continue
            ksp = PETSc.KSP().create(PETSc.COMM_SELF)
            ksp.setOperators(A)
            ksp.setType(method)
            ksp.getPC().setType(precond)
            ksp.setTolerances(rtol=1e-13, max_it=2000)
            for c in range(2):
                b = PETSc.Vec().createWithArray(g[:, c].copy(), comm=PETSc.COMM_SELF)
                x = b.duplicate()
                ksp.solve(b, x)
                check(ksp.getConvergedReason() > 0, f"{name} {method} {precond} converges")
                compare(x.getArray(), mine[c], E, strict,
                        f"{name} {kind} {block} {method} {precond} case {c + 1}")


def test_rigid_motions():
    """K times each rigid-body motion is 0, and the six motions are orthonormal."""
    for end in endings():
        matrix("-o", "K" + end, "--near-null", "n" + end, *NO_SPRINGS)
        K, motions = load("K" + end), columns("n" + end, "near_null", 6)
        size = spla.norm(K)
        for m in range(6):
            small(np.linalg.norm(K @ motions[:, m]) / size, 1e-12, f"{end}: K times motion {m}")
        small(np.abs(motions.T @ motions - np.identity(6)).max(), 1e-13, f"{end}: orthonormal")
        check(np.linalg.matrix_rank(K.toarray(), tol=1e-9 * size) == K.shape[0] - 6,
              f"{end}: nothing else is in the null space") if end == ".npz" else None


def chunks_of(said):
    """The report's line about ranges: their number, GB/s of download, its fraction of the copy rate, and how often a
    cell is integrated; None without such a line."""
    found = re.search(r"chunks +([\d,]+) of at most \S+ \wB, downloaded at (\S+) (\w?)B/s, (\S+) % of the rate of a pinned "
                      r"copy\n.* each cell is integrated (\S+) times on average", said)
    if not found:
        return None
    rate = float(found[2]) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[found[3]]
    return int(found[1].replace(",", "")), rate, float(found[4]), float(found[5])


def test_ranges():
    """Any memory budget and any number of threads give the same file."""
    for end in endings():
        for more in ([], ["--lower"], ["--supports", "eliminate", "--rhs", "f" + end]):
            said = matrix("-o", "K" + end, *more)
            check("chunks" not in said, "no budget, one range")
            whole = [read("K" + end)] + ([read("f" + end)] if "--rhs" in more else [])
            for memory in ("1e6", "400e3", "1e5"):
                said = matrix("-o", "K" + end, "--memory", memory, *more)
                chunks = chunks_of(said)
                check(chunks and chunks[0] > 1 and chunks[3] > 1.0,
                      f"{end} {memory}: several ranges: {said}")
                files = [read("K" + end)] + ([read("f" + end)] if "--rhs" in more else [])
                check(whole == files, f"{end} {more} --memory {memory}: the same bytes")
            for keys in (["--memory", "300e3"], ["--memory", "1e9"], []):
                matrix("-o", "B" + end, "--build", "sort", *keys, *more)
                check(read("B" + end) == whole[0], f"{end} {more} sort {keys}: the same bytes")
    said = matrix("-o", "T.npz", "--memory", "1e9")
    check(chunks_of(said)[0] == 1 and abs(chunks_of(said)[3] - 1.0) < 1e-9, f"one range: {said}")
    check(read("T.npz") == read_whole(), "one range of a budget: the same bytes")
    matrix("-o", "T.npz", "--memory", "400e3", "solver.threads=1")
    check(read("T.npz") == read_whole(), "one thread: the same bytes")
    matrix("--rhs", "one.npz", "--supports", "eliminate")
    matrix("--rhs", "many.npz", "--supports", "eliminate", "--memory", "400e3")
    check(read("one.npz") == read("many.npz"), "loads alone: the same bytes")
    # Without a file, the ranges are still downloaded and timed.
    for more in ([], ["--lower"]):
        for memory in ("100e3", "400e3", "1e9"):
            said = matrix("--memory", memory, *more)
            n, rate, share, times = chunks_of(said)
            check((n == 1) == (memory == "1e9") and (n == 1) == (times < 1.0 + 1e-9), said)
            check(rate > 0.0 and share > 0.0 and "wrote" not in said, said)
            check(("bsr lower" in said) == ("--lower" in more), said)
    said = matrix("--memory", "100", status=2)
    least = int(said.split("at least ")[1].split()[0])
    check(1000 < least < 100000, f"the least budget is {least}")
    fails("too small", "--memory", str(least - 1))
    matrix("--memory", str(least))
    said = matrix("-o", "M.npz", "--memory", "100", status=2)
    least = int(said.split("at least ")[1].split()[0])
    matrix("-o", "M.npz", "--memory", str(least))
    check(read("M.npz") == read_whole(), "the least budget does")
    fails("too small", "-o", "M.npz", "--memory", str(least - 1))


def read_whole():
    matrix("-o", "W.npz")
    return read("W.npz")


def test_order():
    """Rows are in the order of the file, whatever order the solver uses; with `curve` they are in the solver's
    order."""
    matrix("-o", "K.npz", "--rhs", "f.npz", "--fixed", "d.npz")
    matrix("-o", "S.npz", "mesh.shuffle=7")
    check(read("K.npz") == read("S.npz"), "a mesh shuffled inside: the same file")
    K, f, (index, value) = load("K.npz"), np.load("f.npz")["f"], held("d.npz")
    for end in endings():
        matrix("-o", "C" + end, "--rhs", "h" + end, "--fixed", "e" + end, "--order", "curve",
               "mesh.shuffle=7")
        C, h = load("C" + end), columns("h" + end, "f", 2)
        node = (np.load("C_order.npz")["node"] if end == ".npz"
                else scipy.io.mmread("C_order.mtx").ravel().astype(int) - 1 if end == ".mtx"
                else PETSc.IS().load(viewer("C_order.petsc")).getIndices())
        check(not np.array_equal(node, np.arange(len(node))), "the curve is another order")
        rows = (3 * node[:, None] + np.arange(3)).ravel()
        small(abs(C - K[rows][:, rows]).max() / abs(K).max(), 1e-14 if CPU else 1e-13, f"{end}: curve, K")
        small(np.abs(h - f[rows]).max() / np.abs(f).max(), 1e-13, f"{end}: curve, loads")
        i, v = held("e" + end)
        back = np.argsort(rows[i])
        check(np.array_equal(rows[i][back], index) and np.array_equal(v[back], value),
              f"{end}: curve, held unknowns")
    # A part from a file that has nodes and cells in another order; K has the order of that file.
    if not importlib.util.find_spec("vtk"):
        print("left out: a file in another order, which VTK's Python reads")
        return
    hextop("mesh", "part.cfg", "part.vtk")
    n = K.shape[0] // 3
    to = np.random.default_rng(3).permutation(n)  # new number of each node
    shuffle_file("part.vtk", "shuffled.vtk", to)
    both = []
    for name in ("part.vtk", "shuffled.vtk"):
        open("file.cfg", "w", encoding="ascii").write(
            CONFIG.replace('generator = "cantilever"; nx = 12; ny = 6; nz = 5; distort = 0.2;',
                           f'file = "{name}";')
            .replace('springs = ( { set = "top"; stiffness = [0.1, 0.3, 0.5]; per = "node"; } );', "")
            .replace('{ set = "right-lower-edge"; fix = "x"; value = [0.013, 0.0, 0.0]; }',
                     '{ set = "end"; fix = "x"; value = [0.013, 0.0, 0.0]; }')
            .replace('set = "left"', 'set = "begin"').replace('set = "right"', 'set = "end"')
            + 'sets = ( { name = "begin"; box = { min = [-1.0, -9.0, -9.0]; max = [0.001, 99.0, 99.0]; }; },'
              '         { name = "end"; box = { min = [11.999, -9.0, -9.0]; max = [13.0, 99.0, 99.0]; }; } );')
        hextop("matrix", "file.cfg", "-o", "K.npz", "--rhs", "f.npz")
        both.append((load("K.npz"), np.load("f.npz")["f"]))
    rows = np.empty(3 * n, int)
    rows[(3 * to[:, None] + np.arange(3)).ravel()] = np.arange(3 * n)  # former unknown of each new one
    small(abs(both[1][0] - both[0][0][rows][:, rows]).max() / abs(both[0][0]).max(), 1e-13,
          "a file in another order: its own order")
    small(np.abs(both[1][1] - both[0][1][rows]).max(), 1e-13, "and its loads")


def shuffle_file(source, target, to):
    """The ASCII or binary VTK file as ASCII, with node i at position to[i] and its cells in reverse order."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    reader = vtk.vtkUnstructuredGridReader()
    reader.SetFileName(source)
    reader.Update()
    grid = reader.GetOutput()
    xyz = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    cells = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 8)[::-1]
    moved = np.empty_like(xyz)
    moved[to] = xyz
    with open(target, "w", encoding="ascii") as out:
        out.write("# vtk DataFile Version 3.0\nshuffled\nASCII\nDATASET UNSTRUCTURED_GRID\n")
        out.write(f"POINTS {len(xyz)} double\n")
        out.writelines("%.17g %.17g %.17g\n" % tuple(x) for x in moved)
        out.write(f"CELLS {len(cells)} {9 * len(cells)}\n")
        out.writelines("8 " + " ".join(str(to[i]) for i in c) + "\n" for c in cells)
        out.write(f"CELL_TYPES {len(cells)}\n" + "12\n" * len(cells))


def test_documented():
    """Runs the example for scipy from doc/commands.md as it is printed there."""
    page = open(os.path.join(SOURCE, "doc", "commands.md"), encoding="utf-8").read()
    block = page.split("## Matrix")[1].split("```python")[1].split("```")[0]
    matrix("-o", "K.npz", "--rhs", "f.npz", "--fixed", "fixed.npz")
    matrix("-o", "E.npz", "--rhs", "g.npz", "--supports", "eliminate")
    names = {}
    exec(block, names)
    u = spla.splu(load("E.npz").tocsc()).solve(np.load("g.npz")["f"][:, 0])
    small(np.abs(names["u"] - u).max() / np.abs(u).max(), 1e-9, "the documented lines")


def test_density():
    """K of a result belongs to the design in the result."""
    hextop("run", "part.cfg", "output.directory=res", "optimization.iterations=3")
    result = "res/density_0003.vtk"
    matrix("-o", "R.npz", "--rhs", "r.npz", "--density", result)
    matrix("-o", "F.npz")
    R, F = load("R.npz"), load("F.npz")
    check(abs(R - F).max() > 1e-3 * abs(F).max(), "the result is another design")
    u = vectors(result)
    matrix("--fixed", "d.npz")
    index, _ = held("d.npz")
    f = np.load("r.npz")["f"]
    free = np.setdiff1d(np.arange(R.shape[0]), index)
    for c in range(2):
        r = (R @ u[c] - f[:, c])[free]
        small(np.linalg.norm(r) / np.linalg.norm(f[free, c]), 1e-5, f"the result's own u, case {c + 1}")
    fails("cannot", "--density", "nothing.vtk")


def test_fills():
    """Each fill and builder gives the same K up to rounding, or is refused in one line."""
    matrix("-o", "K.npz")
    K = load("K.npz")
    done = 0
    for fill in ("gather", "stored", "atomic", "separate", "colour", "nz", "sort", "triplets"):
        run = subprocess.run([HEXTOP, "matrix", "part.cfg", "-o", "G.npz", "--fill", fill],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            check(run.returncode == 2 and f"does not support fill '{fill}'" in run.stderr, run.stderr)
            continue
        done += 1
        small(abs(load("G.npz") - K).max() / abs(K).max(), 1e-13, f"fill {fill}")
    check(done >= (3 if CPU else 7), f"{done} fills")
    matrix("-o", "B.npz", "--build", "sort")
    check(read("B.npz") == read("K.npz"), "the same file from either builder")


def check_peaks(said):
    """The printed peak of memory, on the host or the device, includes at least K's values and is plausible."""
    found = re.search(r"^ *memory +at most (\S+) (\w?)B of the host(?:, whose memory the device shares|, (\S+) (\w?)B of the device)$",
                      said, re.MULTILINE)
    check(found, f"no peaks of memory: {said}")
    for value, prefix in ((found[1], found[2]), (found[3], found[4])) if found else ():
        size = float(value) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[prefix] if value else 1e9
        check(37 * 19 * 16 * 72 < size < 1e11, f"peak of memory: {found[0]}")


def test_bench_all():
    """Checks every fill in every format that the device supports, and the products of each format."""
    said = matrix("--bench", "all")
    check(not re.search("FAIL[^:]|left out", said), f"--bench all: {said}")
    fills = cells(said, "prepare ms")
    slow = re.findall("^  ([a-z]+) takes more than half a second", said, re.MULTILINE)
    wanted = [(m, f) for m in ("bsr", "bsr lower", "csr") for f in ("gather", "sort", "triplets")]
    missing = set(wanted) - {(row[0], row[1]) for row in fills}
    check(len(fills) == len(wanted) - len(missing) and all(m != "bsr" and f in slow for m, f in missing),
          f"--bench all: matrices and fills: {fills}")
    check_peaks(said)
    for row in fills:
        check(row[9] == "-" or row[9].endswith("B"), f"--bench all, peak: {row}")
        check(number(row[2]) >= 0 and number(row[3]) > 0 and number(row[5]) > 0 and row[10] == "same"
              and 0 < float(row[11]) <= 1e-12, f"--bench all: {row}")
        # Number of values written, for rows of 702 nodes (37 x 19 x 16 blocks). In the lower half, half of each
        # diagonal block counts.
        n = 37 * 19 * 16
        size = 72 * (n if row[0] != "bsr lower" else (n + 13 * 7 * 6) / 2)
        small(abs(number(row[6]) * 1e6 * number(row[3]) / size - 1), 2e-3, f"GB/s of {row}")
    products = cells(said, "product ms")
    check([row[0] for row in products] == ["bsr", "csr", "bsr lower"], f"products: {products}")
    for row in products:
        check(number(row[1]) > 0 and number(row[4]) > 0, f"--bench all: {row}")
    for step in ("count", "neighbours", "offsets", "slots", "keys", "sort", "whole call"):
        check(step in said, f"--bench all: no step {step}")
    check(len(re.findall("whole call", said)) == 3, "three ways to build a pattern")
    quiet = subprocess.run([HEXTOP, "-q", "matrix", "part.cfg", "--bench", "all"],
                           capture_output=True, text=True, check=True)
    check(quiet.stdout == "" and quiet.stderr == "", f"-q: {quiet.stdout}{quiet.stderr}")


def test_bad_input():
    for name in ("K.mtx", "K.npz", "K.petsc"):
        if os.path.exists(name):
            os.remove(name)
    before = sorted(os.listdir("."))
    fails("the name must end in .mtx, .petsc or .npz", "-o", "K.txt")
    fails("the name must end in", "--rhs", "f")
    fails("did you mean 'gather'", "--fill", "gatter")
    fails("did you mean 'eliminate'", "--supports", "eliminated")
    fails("unknown", "--order", "random")
    fails("unknown", "--build", "quickly")
    fails("is not a number of bytes", "--memory", "much")
    fails("--memory needs --fill gather", "--memory", "1e9", "--fill", "sort")
    fails("--lower", "--lower")
    fails("is named for two files", "-o", "K.npz", "--rhs", "K.npz")
    fails("'dir.npz/' is a folder", "-o", "dir.npz/")
    fails("--lower writes one half of K and needs -o FILE", "--lower", "--rhs", "q.npz")
    fails("did you mean 'all'", "--bench", "al")
    fails("--fixed has no effect", "--bench", "all", "--fixed", "d.npz")
    fails("--output has no effect", "--bench", "all", "-o", "K.npz")
    fails("--fill has no effect", "--bench", "all", "--fill", "sort")
    fails("-Dtests=true: `build/tests/bench/paperbench part.cfg`", "--bench", "papers")
    for paper in ("p2", "p3", "p4", "p5"):
        fails(f"`build/tests/bench/paperbench part.cfg --papers {paper}`", "--bench", paper)
    fails("unknown option '--most'", "--most", "1000")
    fails("cannot write", "-o", "nowhere/K.npz")
    check(sorted(os.listdir(".")) == before, "nothing was written")
    for end, other in ((".mtx", b"PK\x03\x04"), (".npz", b"%%MatrixMarket "), (".petsc", b"hello, hello")):
        open("K" + end, "wb").write(other)
        fails("exists and is not a", "-o", "K" + end)
        check(read("K" + end) == other, f"K{end} is as it was")
        os.remove("K" + end)
        # The file exceeds the size limit while it is written, like on a full disk: no new file appears, and an old
        # one stays.
        matrix("-o", "K" + end)
        whole = read("K" + end)
        for limit in (0, 5000, len(whole) // 2, len(whole) - 1):
            files = sorted(os.listdir("."))
            said = matrix("-o", "K" + end, status=1, limit=max(limit, 1))
            check("cannot write" in said and said.count("error:") == 1, said)
            check(sorted(os.listdir(".")) == files and read("K" + end) == whole,
                  f"{end} {limit}: the old file stays, no other is left")
            said = matrix("-o", "K" + end, "--memory", "1e5", status=1, limit=max(limit, 1))
            check("cannot write" in said and said.count("error:") == 1, said)
            check(sorted(os.listdir(".")) == files and read("K" + end) == whole,
                  f"{end} {limit}, in ranges: the old file stays, no other is left")
        os.remove("K" + end)
    open("rigid.cfg", "w", encoding="ascii").write(CONFIG.replace(
        "total_force = [0.0, 0.4, -1.0];",
        'remote_force = [0.0, 0.0, -1.0]; point = [14.0, 1.0, 0.0]; coupling = "rigid";').replace(
        '{ set = "right-lower-edge"; fix = "x"; value = [0.013, 0.0, 0.0]; }', "").replace("; },\n              );", "; } );"))
    said = hextop("matrix", "rigid.cfg", "-o", "K.npz", status=2)
    check("set 'right' moves as a rigid body" in said, said)
    check(not os.path.exists("K.npz"), "no file for rigid sets")


def test_names():
    """If two outputs have the same file name, or an output has the name of an input, the command refuses, and
    existing files stay."""
    os.makedirs("sub")
    matrix("-o", "K.npz")
    whole = read("K.npz")
    os.symlink("K.npz", "link.npz")
    os.symlink("new.npz", "ahead.npz")  # the file does not exist yet
    os.symlink("sub", "way")
    for names in (("K.npz", "./K.npz"), ("K.npz", "sub/../K.npz"), ("K.npz", os.path.abspath("K.npz")),
                  ("K.npz", "link.npz"), ("link.npz", "K.npz"), ("new.npz", "ahead.npz"), ("new.npz", "sub/../new.npz"),
                  ("sub/N.npz", "way/N.npz"), ("N.npz", "sub/../way/../N.npz")):
        for other in ("--rhs", "--fixed", "--near-null"):
            fails("are the same file", "-o", names[0], other, names[1])
        fails("are the same file", "--rhs", names[0], "--fixed", names[1])
    fails("are the same file", "-o", "R.npz", "--order", "curve", "--fixed", "./R_order.npz")
    check(read("K.npz") == whole and not os.path.exists("new.npz") and os.listdir("sub") == [], "nothing was written")
    matrix("-o", "K.npz", "--rhs", "sub/K.npz")
    check(read("K.npz") == whole, "one name in two folders")
    open("empty.npz", "w", encoding="ascii").close()
    os.symlink("empty.npz", "mesh.npz")
    fails("is the file that is read (mesh.file)", "-o", "empty.npz", 'mesh={file="mesh.npz";}')
    said = hextop("matrix", "empty.npz", "-o", "mesh.npz", status=2)
    check("is the file that is read (the config)" in said, said)
    hextop("run", "part.cfg", "output.directory=res", "optimization.iterations=1")
    os.symlink("res/density_0001.vtk", "D.npz")
    fails("is the file that is read (the result)", "--rhs", "D.npz", "--density", "res")
    matrix("-o", "K.NPZ", "--order", "curve")
    matrix("-o", "C.npz", "--order", "curve")
    check(read("K.NPZ") == read("C.npz") and read("K_order.NPZ") == read("C_order.npz"), "endings in capitals")
    for name in ("link.npz", "ahead.npz", "mesh.npz", "empty.npz", "D.npz", "way"):
        os.remove(name)


def test_together():
    """Either all files get their final names or none does; here the last bytes of K do not fit."""
    for name in ("K.npz", "f.npz", "d.npz", "n.npz"):
        if os.path.exists(name):
            os.remove(name)
    sides = ("--rhs", "f.npz", "--fixed", "d.npz", "--near-null", "n.npz")
    matrix("-o", "K.npz", *sides)
    whole = len(read("K.npz"))
    for name in ("f.npz", "d.npz"):
        os.remove(name)
    before = {name: read(name) for name in ("K.npz", "n.npz")}
    files = sorted(os.listdir("."))
    said = matrix("-o", "K.npz", *sides, "--supports", "eliminate", status=1, limit=5000)
    check("cannot write" in said, said)
    said = matrix("-o", "K.npz", *sides, status=1, limit=whole - 1)
    check("cannot write" in said and said.count("error:") == 1, said)
    check(sorted(os.listdir(".")) == files and all(read(name) == text for name, text in before.items()),
          f"old files stay, none is new: {sorted(os.listdir('.'))}")


def on_disk(size, what):
    """Calls what() with a folder `small` on a disk of its own. Returns False if such a disk cannot be mounted
    here."""
    os.makedirs("small", exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", "small"], capture_output=True,
                      check=False).returncode != 0:
        return False
    try:
        what()
    finally:
        subprocess.run(["umount", "small"], check=True)
    return True


def test_full_disk():
    """A disk that is too small is detected before the first byte is written. Runs only if such a disk can be
    mounted."""
    def each():
        for end in endings():
            said = matrix("-o", "small/K" + end, status=1)
            check("the disk has" in said and "nothing was written" in said, said)
            check(os.listdir("small") == [], f"{end}: nothing on the full disk")

    def quickstart():
        """A disk of 44 MB, and files of 47.5 MB; the estimate for text may be up to a tenth too high."""
        said = hextop("matrix", os.path.join(SOURCE, "configs", "quickstart.cfg"), "-o", "small/K.mtx", status=1)
        found = re.search(r"needs ([\d.]+) MB, but the disk has only ([\d.]+) MB left; nothing was written", said)
        check(found and 47.5 <= float(found[1]) <= 47.5 * 1.1, said)
        check(os.listdir("small") == [], "nothing of quickstart's K")

    if not on_disk("200k", each):
        print("a small disk cannot be mounted: its part is left out")
        return
    on_disk(44000000, quickstart)
    for end in endings():
        names = ["K" + end, "f" + end, "d" + end, "n" + end, "K_order" + end]
        files = lambda at: ["-o", at + names[0], "--rhs", at + names[1], "--fixed", at + names[2],
                            "--near-null", at + names[3], "--order", "curve"]
        matrix(*files(""))
        size = [(os.path.getsize(name) + 4095) // 4096 for name in names] # pages

        def does_not_fit():
            said = matrix(*files("small/"), status=1)
            check(f"small/K{end} and 4 more: they need" in said and "nothing was written" in said, said)
            check(os.listdir("small") == [], f"{end}: nothing of five files")

        def fits():
            matrix(*files("small/"))
            check(sorted(os.listdir("small")) == sorted(names), f"{end}: five files")
            check(all(read("small/" + name) == read(name) for name in names), f"{end}: five files, the same")

        on_disk(4096 * (sum(size) - 1), does_not_fit)
        on_disk(4096 * (sum(size) * (14 if end == ".mtx" else 10) // 10), fits)


def is_here():
    return re.search(rf"^ *{DEVICE} +yes", hextop("list"), re.MULTILINE) is not None


def main():
    if not is_here():
        print(f"SKIPPED: no device {DEVICE} here")
        return 77
    open("part.cfg", "w", encoding="ascii").write(CONFIG)
    said = matrix()
    for word in ("mesh", "pattern", "matrix", "values"):
        check(word in said, f"no line about {word}: {said}")
    check_peaks(said)
    test_solutions(True)
    test_solutions(False, *CONTRAST_9)
    for test in (test_rigid_motions, test_ranges, test_order, test_documented, test_density, test_fills):
        test()
    # tables of a CPU; files without rows; limits that the driver of a GPU exceeds
    for test in (test_bench_all, test_bad_input, test_names, test_together, test_full_disk) if CPU else ():
        test()
    return summary()


NO_SPRINGS = ["springs=()"]
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    STATUS = main()
    os.chdir("/")
sys.exit(STATUS)
