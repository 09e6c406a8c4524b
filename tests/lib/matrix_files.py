"""Matrices, vectors and lists of unknowns of `hextop matrix`, read by scipy and PETSc, and the counting of checks, for
tests in Python. Ends with 77 without scipy; without petsc4py, PETSc is None."""

import glob
import os
import subprocess
import sys

from limits import limited

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
    import scipy.sparse.linalg as spla
except ImportError as missing:
    # Debian's packages belong to the system's Python, which may not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-scipy)")
    sys.exit(77)
# Debian's package is only found through the links of PETSc's development package.
sys.path += sorted(glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages"))
try:
    import petsc4py

    petsc4py.init(["-options_left", "0"])
    from petsc4py import PETSc
except ImportError:
    PETSc = None

HEXTOP = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}", flush=True)


def small(value, bound, text):
    check(bool(value <= bound), f"{text}: {value:.3g} > {bound:.3g}")


def hextop(*words, status=0, limit=None):
    done = subprocess.run([HEXTOP, *words], capture_output=True, text=True, check=False, **limited(limit))
    if done.returncode != status:
        raise RuntimeError(f"{' '.join(words)}: exit status {done.returncode}, expected {status}\n"
                           f"{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def vectors(path):
    """Displacements of an ASCII file of a run: [case][3 n]."""
    lines = open(path, encoding="ascii").read().split("\n")
    n = int(next(l for l in lines if l.startswith("POINTS")).split()[1])
    found = []
    for i, line in enumerate(lines):
        if line.startswith(("VECTORS displacement", "displacement")): # the first array is that of FIELD
            words = " ".join(lines[i + 1:i + 1 + 3 * n]).split()[:3 * n]
            found.append(np.array(words, dtype=float))
    return found


def load(path, triangle=None):
    """K, with its other half added if the file has one half."""
    if path.endswith(".mtx"):
        return scipy.io.mmread(path).tocsr()
    if path.endswith(".npz"):
        K = sp.load_npz(path)
        check(K.has_sorted_indices, f"{path}: columns ascend")
        return (K + sp.tril(K, -1).T).tocsr() if triangle else K
    K = PETSc.Mat().create(PETSc.COMM_SELF)
    K.setType("seqsbaij" if triangle else "seqaij")
    K.load(viewer(path))
    K = K.convert("seqaij")
    return sp.csr_matrix(K.getValuesCSR()[::-1], shape=K.getSize())


def viewer(path):
    return PETSc.Viewer().createBinary(path, "r", comm=PETSc.COMM_SELF)


def columns(path, name, n):
    """n columns."""
    if path.endswith(".mtx"):
        return scipy.io.mmread(path)
    if path.endswith(".npz"):
        return np.load(path)[name]
    view = viewer(path)
    return np.array([PETSc.Vec().create(PETSc.COMM_SELF).load(view).getArray().copy()
                     for _ in range(n)]).T


def held(path):
    if path.endswith(".mtx"):
        column = scipy.io.mmread(path)
        return column.row, column.data
    if path.endswith(".npz"):
        file = np.load(path)
        return file["index"], file["value"]
    view = viewer(path)
    index = PETSc.IS().create(PETSc.COMM_SELF)
    index.load(view)
    return index.getIndices().copy(), PETSc.Vec().create(PETSc.COMM_SELF).load(view).getArray()


def endings():
    return (".mtx", ".npz") + ((".petsc",) if PETSc else ())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def summary():
    """Prints the last line of a test; returns its exit status."""
    if not PETSc:
        print("no petsc4py (Debian: python3-petsc4py): .petsc files are NOT loaded by this test")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed else 0
