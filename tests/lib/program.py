"""Shared by tests of the program HEXTOP, the first argument of a test: runs it, reads its files, counts checks.

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
    from program import check, finish, hextop, work_folder"""

import contextlib
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HEXTOP = pathlib.Path(sys.argv[1]).resolve()
# Variables for mpirun: there are more processes than cores, and they yield while they wait; shared memory is used without a
# search for networks; MPI itself leaks memory.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1",
       "ASAN_OPTIONS": "detect_leaks=0:handle_sigill=1"}
count = {"checks": 0, "failed": 0}


def check(holds, what):
    """Counts a check, and prints `what` if it fails."""
    count["checks"] += 1
    if not holds:
        count["failed"] += 1
        print(f"failed: {what}", flush=True)


def finish():
    """Ends the test; it fails if a check failed, or if there was none."""
    print(f"{count['checks']} checks, {count['failed']} failed")
    sys.exit(count["failed"] > 0 or count["checks"] == 0)


@contextlib.contextmanager
def work_folder(threads=None):
    """A temporary folder, in which the test works. threads: of programs without a number of their own. On the meshes of
    these tests, of a few hundred elements, a second thread costs time, also that of the test beside this one."""
    os.environ["OMP_WAIT_POLICY"] = "passive"
    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


class Said(tuple):
    """What the program printed: the pair of its exit status and all text, errors last, or with names."""

    def __new__(cls, done):
        said = super().__new__(cls, (done.returncode, done.stdout + done.stderr))
        said.returncode, said.stdout, said.stderr = done.returncode, done.stdout, done.stderr
        return said


def hextop(*words):
    """Runs the program."""
    return Said(subprocess.run([HEXTOP, *words], capture_output=True, text=True, timeout=200, check=False))


def load(path):
    """A JSON file."""
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def summary(folder):
    return load(f"{folder}/summary.json")


def history(folder, seconds=True):
    """Rows {column: value} of history.csv without empty values. seconds: with the columns of times."""
    with open(f"{folder}/history.csv", newline="", encoding="ascii") as stream:
        return [{k: float(v) for k, v in row.items() if v and (seconds or not k.startswith("seconds"))}
                for row in csv.DictReader(stream)]


def bits(folder):
    """The fields of the last design as bytes, without the mesh and the file's title."""
    last = sorted(pathlib.Path(folder).glob("density_*.vtk"))[-1]
    return last.read_bytes().split(b"CELL_DATA")[1]
