#!/usr/bin/env python3
"""One of two processes has no memory while they make a mesh in parts and write its files: both end, or go on, with a
message, and no part of a file is left. test_faults.py HEXTOP SRCDIR [--all], of a build with -Dfault_injection=true;
without --all one call of each place."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ALL = "--all" in sys.argv
HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RUN = ["run", os.path.join(ROOT, "configs", "cantilever.cfg"), "mesh.nx=8", "mesh.ny=4", "mesh.nz=4", "solver.device=cpu",
       "solver.deterministic=true", "solver.threads=1", "mesh.in_parts=always", "optimization.iterations=2",
       "output.every=1"]
PLAIN, PART = [], ["output.threshold=0.3"]
PLACES = re.compile(r"alloc ((?:output_ranks|file_pieces|vtk_kept|vtk_stream|team_trade)\.c:\d+) (\d+)")
AT_ONCE = 4 # the end of a run that fails is mostly waiting
SECONDS = 60 # a process that waits for ever is told by it
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1")
N_CHECK = N_FAILED = 0


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def run(rank, setting, keys, folder="run"):
    """By two processes, of which one has the setting in its environment; None: they did not end."""
    shutil.rmtree(folder, ignore_errors=True)
    one = [["-n", "1", *(["env", setting] if r == rank else []), HEXTOP, *RUN, *keys, "output.directory=" + folder]
           for r in (0, 1)]
    words = ["mpirun", "--oversubscribe", *one[0], ":", *one[1]]
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=ENV, check=False)
    except subprocess.TimeoutExpired:
        return None


def places(rank, keys):
    if os.path.exists("list"):
        os.unlink("list")
    said = run(rank, "HEXTOP_FAULT_LIST=" + os.path.abspath("list"), keys)
    check(said and said.returncode == 0, f"without a fault: {said and said.stderr[-600:]}")
    if not os.path.exists("list"):
        return []
    with open("list", encoding="ascii") as file:
        return [(m[1], int(m[2])) for m in map(PLACES.match, file) if m]


def fail(rank, place, n, keys):
    name = f"{place}, call {n}, process {rank}, {keys}"
    folder = re.sub(r"\W", "_", name)
    said = run(rank, f"HEXTOP_FAULT=alloc {place} {n} memory", keys, folder)
    check(said is not None, f"{name}: waits for ever")
    if not said:
        return
    check(said.returncode in (0, 1), f"{name}: status {said.returncode}: {said.stderr[-600:]}")
    check("memory" in said.stderr, f"{name}: says nothing: {said.stderr[-600:]}")
    left = [f for f in os.listdir(folder) if ".tmp" in f] if os.path.isdir(folder) else []
    check(not left or said.returncode, f"{name}: left {left}")


def can_run():
    if not shutil.which("mpirun"):
        return "no mpirun here"
    said = run(0, "HEXTOP_FAULT_LIST=" + os.path.abspath("list"), PLAIN)
    if said and "built without MPI" in said.stderr:
        return "this build has no MPI"
    return "" if os.path.exists("list") else "this build injects no faults"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        why = can_run()
        if why:
            print("skipped: " + why)
            return 77
        for rank, keys, is_last in ((0, PART, True), (1, PART, False), (1, PLAIN, True)):
            found = places(rank, keys)
            check(len(found) > 10, f"places that ask for memory: {found}")
            calls = [(place, call) for place, n in found
                     for call in (range(1, n + 1) if ALL else [n if is_last else (n + 1) // 2])]
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda c, r=rank, k=keys: fail(r, *c, k), calls))
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED else 0


sys.exit(main())
