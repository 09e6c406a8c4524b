#!/usr/bin/env python3
"""A disk that is full, or a folder that is removed during a run:

    test_disk.py HEXTOP SRCDIR

A limit of file sizes stands for the full disk, which works in any build and needs no rights. If the user may mount
a disk, a real one of 1 MB is also tested. Every message has the file, the reason and a remedy, and no partial file
stays. If a run cannot write its result, its design is saved elsewhere, bitwise equal to that of a run that can."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from limits import limited  # noqa: E402

CONFIG = """
mesh = { generator = "cantilever"; nx = %d; ny = 8; nz = 8; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.3; iterations = %d; filter = { kind = "sensitivity"; radius = 1.5; }; };
solver = { operator = "otf"; device = "cpu"; threads = 1; };
output = { directory = "%s"; every = %d; checkpoint = 0; };
"""
hextop, source = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
n_check = n_failed = 0


def check(what, good, said=""):
    global n_check, n_failed
    n_check += 1
    if not good:
        n_failed += 1
        print(f"failed: {what}\n{said}")


def write_config(name, directory, n=(8, 2, 1)):
    with open(name, "w", encoding="utf-8") as out:
        out.write(CONFIG % (n[0], n[1], directory, n[2]))


def run(*words, most=None, **more):
    """Runs the program with files limited to `most` bytes."""
    env = dict(os.environ, TMPDIR=os.path.realpath("elsewhere"), **more)
    done = subprocess.run([hextop, *words], capture_output=True, text=True, check=False, timeout=240,
                          **limited(most, env))
    return done.returncode, done.stderr


def left(folder="."):
    return [name for name in os.listdir(folder) if ".tmp." in name]


def saved():
    return sorted(os.path.join(place, name) for place, _, names in os.walk("elsewhere") for name in names)


def density(path):
    """Only the densities, because titles differ."""
    with open(path, "rb") as file:
        text = file.read()
    return text[text.index(b"SCALARS density"):][:8 * 512 + 60]


def outputs():
    """Every writer states the reason."""
    status, said = run("run", "small.cfg")
    check("a run", status == 0, said)
    jobs = [("surface", "whole", f"part.{kind}") for kind in ("stl", "ply", "3mf", "obj", "glb")]
    jobs += [("mesh", "small.cfg", f"part.{kind}") for kind in ("inp", "msh", "vtk")]
    jobs += [("matrix", "small.cfg", "-o", "k.mtx"), ("report", "whole", "-o", "page.html"),
             ("verify", "whole", "--made", "no", "--output", "v.json")]
    for job in jobs:
        status, said = run(*job, most=1024)
        errors = [line for line in said.split("\n") if "error:" in line]
        check(f"{job}: fails once, with the reason", status == 1 and len(errors) == 1 and
              "File too large; " in errors[0] and job[-1] in errors[0], said)
        check(f"{job}: leaves nothing", not left() and not os.path.exists(job[-1]))


def full_disk():
    """VTK files do not fit, but the others do. Only a failure of the last VTK file ends the run."""
    status, said = run("run", "full.cfg", most=8000)
    check("the run fails", status == 1 and said.count("hextop: error:") == 1, said)
    check("with reason and remedy", "full/density_0002.vtk: cannot write: File too large; raise the limit" in said, said)
    check("the one before is warned of", "density_0001.vtk: cannot write" in said and "the run continues" in said, said)
    check("the design is lost, which is said", "the design of iteration 2 could not be saved:" in said, said)
    check("nothing is left", not left("full") and not saved(), f"{os.listdir('full')} {saved()}")
    with open("full/history.csv", encoding="utf-8") as file:
        check("history is complete", len(file.readlines()) == 3)


def gone():
    """The output folder is removed during a run; the design is then saved in the first other place that can be
    written to."""
    process = subprocess.Popen([hextop, "run", "gone.cfg"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, env=dict(os.environ, TMPDIR=os.path.realpath("elsewhere")))
    for _ in range(2000):
        time.sleep(0.01)
        if os.path.exists("gone/density_0001.vtk"):
            break
    os.rename("gone", "moved")  # one step, because the run continues to write there
    said = process.communicate(timeout=240)[1]
    found = saved()
    check("folder gone: fails", process.returncode == 1 and said.count("hextop: error:") == 1, said)
    check("says why", "cannot create it: No such file or directory; its folder does not exist" in said, said)
    check("says where", len(found) == 1 and f"saved as {os.path.realpath(found[0])}" in said, f"{found} {said}")
    check("names run and iteration", "/hextop-gone-" in found[0] and found[0].endswith("/density_0060.vtk"), str(found))
    status, said = run("run", "gone.cfg")
    check("the same run again", status == 0, said)
    check("the same design", density(found[0]) == density("gone/density_0060.vtk"))


def mounted():
    """A real full disk, if one can be mounted."""
    os.makedirs("disk/out", exist_ok=True)
    write_config("disk.cfg", "disk/out", (64, 5, 1))
    script = (f"mount -t tmpfs -o size=1m none disk && mkdir -p disk/out && TMPDIR=$PWD/elsewhere '{hextop}' run disk.cfg;"
              "s=$?; ls -a disk/out; exit $s")
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        print("no disk can be mounted here: left out")
        return
    check("full disk: fails", done.returncode == 1, done.stderr)
    check("full disk: why", "No space left on device; free some space" in done.stderr, done.stderr)
    check("full disk: where", any("/hextop-out-" in path for path in saved()), f"{saved()} {done.stderr}")
    check("full disk: no half file", ".tmp." not in done.stdout, done.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("elsewhere")
        write_config("small.cfg", "whole")
        write_config("full.cfg", "full")
        write_config("gone.cfg", "gone", (8, 60, 1))
        outputs()
        full_disk()
        gone()
        if shutil.which("unshare"):
            mounted()
        os.chdir("/")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0


if __name__ == "__main__":
    sys.exit(main())
