#!/usr/bin/env python3
"""One of two processes runs out of memory while they make a distributed mesh and write its files: both end, or continue,
with a message, and no incomplete file is left; likewise with linked variables and a filter that solves an equation. While
they search for floating components: both continue without deflation.

    test_faults.py HEXTOP SRCDIR [--all]

Needs a build with -Dfault_injection=true. Without --all, one call per site fails."""
import concurrent.futures
import csv
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
LINKED = ["mesh.in_parts=never", "optimization.extrusion=[1.0,0.0,0.0]", "optimization.filter.kind=helmholtz"]
LINKED_PLACES = re.compile(r"alloc ((?:groups_dist|halo_exchange|exchange|helmholtz|filter_helmholtz|dist_points|optimizer)\.c:\d+) (\d+)")
PLACES = re.compile(r"alloc ((?:output_dist|file_pieces|vtk_kept|vtk_stream|comm_alltoall)\.c:\d+) (\d+)")
COMPONENT_PLACES = re.compile(r"alloc ((?:deflation|deflation_interface|deflation_components|deflation_motions|multigrid_deflation|interface_host|dist_host)\.c:\d+) (\d+)")
# A floating component in void.
LUMP = """
mesh = { generator = "cantilever"; nx = 14; ny = 4; nz = 8; };
material = { E = 1.0; nu = 0.3; };
sets = ( { name = "middle"; box = { min = [2.0, -1.0, 2.0]; max = [12.0, 9.0, 6.0]; }; },
         { name = "lump"; box = { min = [4.0, 1.0, 3.0]; max = [10.0, 4.0, 5.0]; }; }, { name = "rest"; not = ("lump"); },
         { name = "gap"; and = ("middle", "rest"); } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.1, -1.0]; } );
passive = ( { set = "lump"; density = 1.0; }, { set = "gap"; density = 0.001; } );
optimization = { volume_fraction = 0.45; rho_min = 0.001; iterations = 2;
    filter = { kind = "density"; radius = 1.5; unit = "element"; }; };
output = { every = 0; };
solver = { device = "cpu"; deterministic = true; threads = 1; preconditioner = "multigrid"; tolerance = 1e-10; };
"""
AT_ONCE = 4 # a run that fails mostly waits until it ends
WHOLE_AT_ONCE = 2 # a run that continues computes all the time; more of them would compete for the cores
SECONDS = 60 # limit that detects a process that waits forever; other runs take at most a few seconds
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


def end(job):
    """Terminates mpirun, which ends its processes (if it is killed, they stay); returns its stderr."""
    job.terminate()
    try:
        return job.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        job.kill()
        return job.communicate()[1]


def run(rank, setting, keys, folder="run", start=None):
    """Runs two processes, one with the setting in its environment; returns None if they do not end."""
    shutil.rmtree(folder, ignore_errors=True)
    one = [["-n", "1", *(["env", setting] if r == rank else []), HEXTOP, *(start or RUN), *keys, "output.directory=" + folder]
           for r in (0, 1)]
    words = ["mpirun", "--oversubscribe", *one[0], ":", *one[1]]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV) as job:
        try:
            out, err = job.communicate(timeout=SECONDS)
            return subprocess.CompletedProcess(words, job.returncode, out, err)
        except subprocess.TimeoutExpired:
            print(f"{folder}: not ended in {SECONDS} s, load {os.getloadavg()}: {end(job)[-600:]}", flush=True)
            return None


def places(rank, keys, start=None, which=PLACES):
    if os.path.exists("list"):
        os.unlink("list")
    said = run(rank, "HEXTOP_FAULT_LIST=" + os.path.abspath("list"), keys, start=start)
    check(said and said.returncode == 0, f"without a fault: {said and said.stderr[-600:]}")
    if not os.path.exists("list"):
        return []
    with open("list", encoding="ascii") as file:
        return [(m[1], int(m[2])) for m in map(which.match, file) if m]


def fail(rank, place, n, keys):
    name = f"{place}, call {n}, process {rank}, {keys}"
    folder = re.sub(r"\W", "_", name)
    said = run(rank, f"HEXTOP_FAULT=alloc {place} {n} memory", keys, folder)
    check(said is not None, f"{name}: waits forever")
    if not said:
        return
    check(said.returncode in (0, 1), f"{name}: status {said.returncode}: {said.stderr[-600:]}")
    check("memory" in said.stderr, f"{name}: no message about memory: {said.stderr[-600:]}")
    left = [f for f in os.listdir(folder) if ".tmp" in f] if os.path.isdir(folder) else []
    check(not left or said.returncode, f"{name}: left {left}")


def go_without(rank, place, n, start, fewest):
    name = f"{place}, call {n}, process {rank}"
    folder = re.sub(r"\W", "_", name)
    said = run(rank, f"HEXTOP_FAULT=alloc {place} {n} memory", [], folder, start)
    check(said is not None, f"{name}: waits forever")
    check(said and said.returncode == 0, f"{name}: {said and said.stderr[-600:]}")
    if said and said.returncode == 0:
        count = iterations(folder)
        check(len(count) == 2 and sum(count) > fewest + 20, f"{name}: {count} iterations, {fewest} with deflation")


def iterations(folder):
    with open(os.path.join(folder, "history.csv"), newline="", encoding="ascii") as file:
        return [int(line["pcg_iterations"]) for line in csv.DictReader(file)]


def test_floating_components():
    with open("lump.cfg", "w", encoding="utf-8") as file:
        file.write(LUMP)
    start = ["run", os.path.abspath("lump.cfg"), "-q"]
    for rank in (0, 1):
        found = places(rank, [], start, COMPONENT_PLACES)
        check(len(found) > 30, f"sites of allocations: {found}")
        fewest = sum(iterations("run"))
        calls = [(place, 1) for place, _ in found[rank::1 if ALL else 2]]
        with concurrent.futures.ThreadPoolExecutor(WHOLE_AT_ONCE) as pool:
            list(pool.map(lambda c, r=rank, f=fewest: go_without(r, *c, start, f), calls))


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
        for rank, keys, is_last, which in ((0, PART, True, PLACES), (1, PART, False, PLACES), (1, PLAIN, True, PLACES),
                                           (0, LINKED, False, LINKED_PLACES), (1, LINKED, True, LINKED_PLACES)):
            found = places(rank, keys, which=which)
            check(len(found) > 10, f"sites of allocations: {found}")
            calls = [(place, call) for place, n in found
                     for call in (range(1, n + 1) if ALL else [n if is_last else (n + 1) // 2])]
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda c, r=rank, k=keys: fail(r, *c, k), calls))
        test_floating_components()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED else 0


sys.exit(main())
