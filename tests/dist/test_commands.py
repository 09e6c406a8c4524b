#!/usr/bin/env python3
"""Commands started by mpirun with several processes: `run` shares the work, `check` reports it, what prints is printed
once, and all others are refused once, before they write. Processes that MPI does not connect are refused, too.

    test_commands.py HEXTOP SOURCE

Exits with 77 without mpirun or MPI."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEXTOP = os.path.abspath(sys.argv[1])
# MPI's own leaks are not those of the program
ENV = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1",
           ASAN_OPTIONS="detect_leaks=0:handle_sigill=1")
CONFIG = """mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; iterations = 2; };
solver = { device = "cpu"; };
output = { directory = "out"; };
"""
# arguments of every command that one process runs
ALONE = {"lightest": ["case.cfg", "output.directory=made"], "compare": ["case.cfg", "--repeats", "1"],
         "verify": ["out", "--made", "no", "--output", "made.json"], "analyse": ["case.cfg", "--output", "made.json"],
         "mesh": ["case.cfg", "made.vtk"], "surface": ["out", "made.stl"], "report": ["out", "-o", "made.html"],
         "matrix": ["case.cfg", "made.mtx"], "selftest": []}
PRINT = [["--version"], ["help", "verify"], ["list"], ["new"], ["verify", "--help"]]
N_CHECK = N_FAILED = 0


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def start(words, n=1, **env):
    mpirun = ["mpirun", "--oversubscribe", "-n", str(n)] if n else []
    return subprocess.run([*mpirun, HEXTOP, *words], capture_output=True, text=True, timeout=200, env=dict(ENV, **env), check=False)


def apart(words, rank, **env):
    """One of two processes that another MPI than that of the program has started."""
    return start(words, 0, PMI_SIZE="2", PMI_RANK=str(rank), **env)


def made():
    return [name for name in os.listdir(".") if name.startswith("made")]


def together():
    for words in PRINT:
        alone, two = start(words, 0), start(words, 2)
        check(two.returncode == 0 and two.stdout == alone.stdout and alone.stdout, f"{words}: {two.stdout} {two.stderr}")
    for name, words in ALONE.items():
        two = start([name, *words], 2)
        check(two.returncode == 2 and two.stderr.count(f"error: `hextop {name}` runs in one process") == 1
              and "start it without mpirun" in two.stderr and not two.stdout, f"{name}: {two.returncode} {two.stdout} {two.stderr}")
        check(not made(), f"{name} writes {made()}")
    for words, message in ((["run", "--bogus"], "unknown option '--bogus'"), (["bogus"], "unknown command 'bogus'"),
                           (["verify"], "usage: hextop verify"), (["run", "none.cfg"], "none.cfg")):
        two = start(words, 2)
        check(two.returncode == 2 and two.stderr.count(message) == 1, f"{words}: {two.returncode} {two.stderr}")
    two = start(["check", "case.cfg"], 2)
    check(two.returncode == 0 and re.search(r"ranks +2", two.stdout) and two.stdout.count("no errors") == 1, f"check: {two.stdout}")
    one = start(["verify", *ALONE["verify"]], 1)
    check(one.returncode == 0 and made() == ["made.json"], f"one process of mpirun: {one.returncode} {one.stderr}")
    os.remove("made.json")


def not_connected():
    for rank in (0, 1):
        for words in PRINT:
            said = apart(words, rank)
            check(said.returncode == 0 and bool(said.stdout) == (rank == 0), f"{words}, process {rank}: {said.stdout} {said.stderr}")
        for words, message in ((["run", "case.cfg", "output.directory=made"], "MPI connects none of them"),
                               (["check", "case.cfg"], "MPI connects none of them"),
                               (["verify", *ALONE["verify"]], "`hextop verify` runs in one process"),
                               (["run", "--bogus"], "unknown option")):
            said = apart(words, rank)
            check(said.returncode == 2 and said.stderr.count(message) == (rank == 0) and not said.stdout,
                  f"{words}, process {rank}: {said.returncode} {said.stdout} {said.stderr}")
            check(not made(), f"{words} writes {made()}")
    # the innermost starter decides
    said = apart(["verify", *ALONE["verify"]], 1, OMPI_COMM_WORLD_SIZE="1", OMPI_COMM_WORLD_RANK="0")
    check(said.returncode == 0 and said.stdout and made() == ["made.json"], f"one process inside several: {said.stderr}")


def main():
    if not shutil.which("mpirun"):
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("case.cfg", "w", encoding="ascii") as file:
            file.write(CONFIG)
        two = start(["run", "case.cfg"], 2)
        if "built without MPI" in two.stderr:
            return 77
        check(two.returncode == 0 and two.stdout.count("after 2 iterations") == 1, f"run: {two.stdout} {two.stderr}")
        known = set(re.findall(r"^  hextop (\w+)", start(["help"], 0).stdout, re.M))
        check(known == set(ALONE) | {"run", "check", "new", "list", "help"}, f"commands: {known}")
        together()
        not_connected()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return N_FAILED > 0


if __name__ == "__main__":
    sys.exit(main())
