#!/usr/bin/env python3
"""VTK files that the processes of a run (mpirun) write together, a piece each:

    test_run_files.py HEXTOP SOURCE_ROOT

The files must equal those of one process for the same design: every field in place, whatever the order of the mesh's
file; the values that the first process writes by itself (text, thresholds). A full disk. Exits with 77 without mpirun or
MPI."""
import array
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
N_CHECK = N_FAILED = 0
CANTILEVER = os.path.join(ROOT, "configs", "cantilever.cfg")
HEAT_SINK = os.path.join(ROOT, "examples", "heatsink", "heatsink.cfg")
SHUFFLED = ["mesh.shuffle=3", "mesh.distort=0.2"]
SMALL = ["mesh.nx=12", "mesh.ny=6", "mesh.nz=6", *SHUFFLED]
CURVE = "solver.partition=curve"
MECHANICAL = 'output.fields=["density","sensitivity","energy","displacement","von_mises","sets"]'
THERMAL = 'output.fields=["density","temperature","heat_flux","energy"]'
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1")
CODES = {"double": "d", "float": "f", "int": "i", "unsigned_char": "B"}


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def words(n, *arguments):
    return [*([] if n == 1 else ["mpirun", "--oversubscribe", "-n", str(n)]), HEXTOP, *arguments]


def run(n, folder, config, *keys):
    shutil.rmtree(folder, ignore_errors=True)
    return subprocess.run(words(n, "-v", "run", config, "output.directory=" + folder, "solver.device=cpu",
                                "solver.deterministic=true", "output.every=1", *keys),
                          capture_output=True, text=True, timeout=200, env=ENV, check=False)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def fields(path):
    """Returns {name: numbers} of a binary file."""
    text, found, kind, n = content(path), {}, 0, 0
    head = re.compile(rb"\n(CELL_DATA|POINT_DATA) (\d+)\n|"
                      rb"\n(?:SCALARS|VECTORS) (\S+) (double|float|int|unsigned_char)(?: 1\nLOOKUP_TABLE default)?\n|"
                      rb"\n([!-~]+) (\d+) (\d+) (double|float|int|unsigned_char)\n")
    at = text.index(b"\nCELL_DATA") if b"\nCELL_DATA" in text else text.index(b"\nPOINT_DATA")
    while (match := head.search(text, at)) is not None:
        group = match.groups()
        at = match.end() - 1  # the next head begins with the end of this line
        if group[0]:
            kind, n = group[0].decode(), int(group[1])
            continue
        name, code = (group[2] or group[4]).decode(), CODES[(group[3] or group[7]).decode()]
        n_comp = int(group[5]) if group[4] else 3 if match.group(0).startswith(b"\nVECTORS") else 1
        numbers = array.array(code)
        numbers.frombytes(text[match.end():match.end() + n * n_comp * numbers.itemsize])
        numbers.byteswap()
        at = match.end() + n * n_comp * numbers.itemsize
        found[kind + " " + name] = numbers
    return found


def compare(name, a, b, bound):
    check(a.keys() == b.keys() and len(a) > 1, f"{name}: {sorted(a)}, {sorted(b)}")
    for field in a.keys() & b.keys():
        scale = max(abs(x) for x in a[field]) or 1.0
        off = max(abs(x - y) for x, y in zip(a[field], b[field])) / scale
        check(len(a[field]) == len(b[field]) and off <= bound, f"{name}, {field}: {off:.1e} off, {bound:g} allowed")


def same_design(name, config, *keys):
    """With the partition along the curve the first design is bitwise the same for any number of processes."""
    keys = [*keys, CURVE, 'output.fields=["density","sets"]', "optimization.iterations=1"]
    for n in (1, 2, 3):
        said = run(n, f"run{n}", config, *keys)
        check(said.returncode == 0, f"{name} by {n}: {said.stderr[-600:]}")
        check((f", by {n} processes\n" in said.stdout) == (n > 1), f"{name}: not written by {n}: {said.stdout[-900:]}")
        check(content("run1/density_0001.vtk") == content(f"run{n}/density_0001.vtk"), f"{name} by {n}: different bytes")
        check(not [f for f in os.listdir(f"run{n}") if ".tmp" in f], f"{name} by {n}: {os.listdir(f'run{n}')}")


def all_fields(name, config, *keys):
    """Written by three processes: as by one process within rounding, and bitwise as the first process writes it by itself."""
    keys = [*keys, "optimization.iterations=2", "solver.tolerance=1e-12"]
    for n, folder, more in ((1, "one", []), (3, "together", []), (3, "root", ["output.threshold=0.0"])):
        said = run(n, folder, config, *keys, *more)
        check(said.returncode == 0, f"{name}, {folder}: {said.stderr[-600:]}")
        check(("by 3 processes\n" in said.stdout) == (folder == "together"), f"{name}, {folder}: {said.stdout[-900:]}")
    one, together, root = (fields(f"{folder}/density_0002.vtk") for folder in ("one", "together", "root"))
    compare(name, one, together, 1e-5)
    numbers = root.pop("CELL_DATA vtkOriginalCellIds", [])
    check(list(numbers) == list(range(len(numbers))), f"{name}: a part with all elements has different ones")
    compare(name + ", alone", root, together, 0.0)


def texts():
    for n in (1, 2):
        said = run(n, f"run{n}", CANTILEVER, *SMALL, CURVE, "output.format=ascii", "optimization.iterations=1")
        check(said.returncode == 0 and "processes\n" not in said.stdout.split("density_0001.vtk")[-1], f"text: {said.stderr}")
    check(content("run1/density_0001.vtk") == content("run2/density_0001.vtk"), "text by 2: different bytes")


def others():
    """Output options of other processes than the first are ignored, also in a different working directory."""
    keys = [*SMALL, CURVE, "solver.device=cpu", "solver.deterministic=true", "optimization.iterations=1"]
    start = [HEXTOP, "-v", "run", CANTILEVER, *keys]
    os.makedirs("elsewhere", exist_ok=True)
    one = ["-n", "1", *start, "output.directory=" + os.path.abspath("mixed")]
    other = ["-n", "1", "-wdir", os.path.abspath("elsewhere"), *start, "output.directory=other", "output.format=ascii",
             'output.fields=["density","energy"]']
    shutil.rmtree("mixed", ignore_errors=True)
    said = subprocess.run(["mpirun", "--oversubscribe", *one, ":", *other], capture_output=True, text=True, timeout=100,
                          env=ENV, check=False)
    check(said.returncode == 0 and ", by 2 processes\n" in said.stdout, f"others: {said.stdout[-600:]}, {said.stderr}")
    run(1, "run1", CANTILEVER, *SMALL, CURVE, "optimization.iterations=1")
    check(content("run1/density_0001.vtk") == content("mixed/density_0001.vtk"), "others: different bytes")
    check(not os.listdir("elsewhere"), f"others: {os.listdir('elsewhere')}")


def full():
    """A full disk: one message, the exit status of a single process, and no incomplete file."""
    os.makedirs("disk", exist_ok=True)
    os.makedirs("saved", exist_ok=True)
    keys = "mesh.nx=30 mesh.ny=20 mesh.nz=20 optimization.iterations=2 output.every=1 output.directory=disk/out -q"
    for n in (1, 2):
        command = " ".join(f"'{word}'" for word in words(n, "run", CANTILEVER, *keys.split()))
        script = f"mount -t tmpfs -o size=512k none disk && TMPDIR=$PWD/saved {command}; s=$?; ls -a disk/out; exit $s"
        said = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=100, env=ENV,
                              check=False)
        if "unshare" in said.stderr or "mount:" in said.stderr:
            print("skipped: cannot mount a disk here")
            return
        check(said.returncode == 1, f"full disk by {n}: status {said.returncode}, {said.stderr}")
        check(len(re.findall("hextop: error:", said.stderr)) == 1, f"full disk by {n}: {said.stderr}")
        for text in ("error: disk/out/density_0002.vtk: cannot write: No space left on device; free some space",
                     "warning: disk/out/density_0001.vtk: cannot write: No space left", "is saved as"):
            check(text in said.stderr, f"full disk by {n}: no '{text}': {said.stderr}")
        check(".tmp" not in said.stdout and ".vtk" not in said.stdout, f"full disk by {n}: {said.stdout}")
        check("mca_" not in said.stderr, f"full disk by {n}: MPI prints it, too: {said.stderr}")


def can_run():
    if not shutil.which("mpirun"):
        return "no mpirun here"
    said = run(2, "probe", CANTILEVER, *SMALL, "optimization.iterations=1")
    if "built without MPI" in said.stderr:
        return "this build has no MPI"
    return "mpirun cannot start processes here: " + said.stderr[-300:] if said.returncode and "hextop" not in said.stderr else ""


def links():
    """Symbolic links in place of an older run's files: removed by name, or written through; another user's link is refused."""
    os.makedirs("archive", exist_ok=True)
    os.makedirs("linked", exist_ok=True)
    for name in ("density_0007.vtk", "density_0001.vtk"):
        with open(os.path.join("archive", name), "w", encoding="utf-8") as file:
            file.write("kept")
        os.symlink(os.path.join("..", "archive", name), os.path.join("linked", name))
    with open("linked/density.vtk.series", "w", encoding="utf-8") as file:
        file.write('{ "files": [ { "name": "density_0007.vtk", "time": 7 } ] }')
    arguments = ["run", CANTILEVER, "output.directory=linked", "optimization.iterations=1", *SMALL]
    said = subprocess.run(words(2, *arguments), capture_output=True, text=True, timeout=200, env=ENV, check=False)
    check(said.returncode == 0, f"links: {said.stderr[-300:]}")
    check(content("archive/density_0007.vtk") == b"kept", "links: the target of a link is gone")
    check(not os.path.lexists("linked/density_0007.vtk"), "links: the link of an older result stays")
    check(os.path.islink("linked/density_0001.vtk") and content("archive/density_0001.vtk").startswith(b"# vtk"),
          "links: the result is not in the target of its link")
    if os.geteuid() != 0:
        return
    os.chmod("linked", 0o1777)
    os.chown("linked/density_0001.vtk", 12345, 12345, follow_symlinks=False)
    said = subprocess.run(words(2, *arguments), capture_output=True, text=True, timeout=200, env=ENV, check=False)
    check(said.returncode == 2 and "linked/density_0001.vtk: refusing to write through this symbolic link" in said.stderr,
          f"links: exit {said.returncode}, {said.stderr[-300:]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        why = can_run()
        if why:
            print("skipped: " + why)
            return 77
        same_design("shuffled", CANTILEVER, *SMALL)
        same_design("in order", CANTILEVER, "mesh.nx=12", "mesh.ny=6", "mesh.nz=6", "mesh.reorder=false")
        same_design("wedges", os.path.join(ROOT, "examples", "hook", "hook.cfg"))
        all_fields("linear", CANTILEVER, *SMALL, MECHANICAL)
        all_fields("quadratic", CANTILEVER, "mesh.nx=8", "mesh.ny=4", "mesh.nz=4", *SHUFFLED, MECHANICAL,
                   "solver.element=quadratic")
        all_fields("filter by an equation", CANTILEVER, *SMALL, MECHANICAL, "optimization.filter.kind=helmholtz")
        all_fields("heat", HEAT_SINK, "mesh.nz=1", THERMAL)
        all_fields("flux only", HEAT_SINK, "mesh.nz=1", 'output.fields=["heat_flux","density"]')
        texts()
        others()
        links()
        if shutil.which("unshare"):
            full()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED or not N_CHECK else 0


sys.exit(main())
