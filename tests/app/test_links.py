#!/usr/bin/env python3
"""Symbolic links in place of files that the program writes: removing a file removes the name, never the target;
replacing it writes through the link, unless another user put the link into a folder that others may write to.

    test_links.py HEXTOP SRCDIR"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
n_check = n_failed = 0
OTHER = 12345  # another user

CONFIG = """mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
solver = { device = "cpu"; operator = "otf"; tolerance = 1e-8; };
output = { directory = "out"; every = 1; };
optimization = { volume_fraction = 0.4; iterations = 2; filter = { kind = "sensitivity"; radius = 1.5; }; };
"""


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(*arguments):
    done = subprocess.run([hextop, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def begin():
    for folder in ("archive", "out", "shared"):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)


def archived(name, text="kept\n"):
    """out/NAME is a link to archive/NAME."""
    write(f"archive/{name}", text)
    os.symlink(f"../archive/{name}", f"out/{name}")


def is_kept(name):
    return os.path.isfile(f"archive/{name}") and text_of(f"archive/{name}") == "kept\n"


def removed():
    """Results of an earlier run: report, verification, timeline and checkpoints."""
    begin()
    names = ["density_0007.vtk", "density_0002.vtk", "checkpoint.state", "checkpoint.previous.state", "timeline.json"]
    for name in names:
        archived(name)
    archived("report.html", '<meta name="generator" content="hextop 0">\n')
    archived("verify.json", '{ "black_white": {}, "versions": { "hextop": "0" } }')
    write("out/density.vtk.series", json.dumps({"files": [{"name": n} for n in names if "density" in n]}))
    write("out/summary.json", '{ "status": "done" }')
    status, said = run("run", "c.cfg", "output.every=0")
    check(status == 0, f"a run over links: exit {status}, {said[-300:]}")
    for name in names:
        if name != "density_0002.vtk":
            check(is_kept(name), f"archive/{name} is gone")
            check(not os.path.lexists(f"out/{name}"), f"out/{name} stays")
    check(os.path.isfile("archive/report.html"), "archive/report.html is gone")
    check(os.path.isfile("archive/verify.json"), "archive/verify.json is gone")
    check(not os.path.lexists("out/report.html"), "out/report.html stays")
    check(not os.path.lexists("out/verify.json"), "out/verify.json stays")
    # the run also writes this file, through the link
    check(os.path.islink("out/density_0002.vtk"), "the link of a result that is written was replaced")
    check(text_of("archive/density_0002.vtk").startswith("# vtk"), "a result is not behind its link")


def emptied():
    """A file behind a link that could be mistaken for one of this run is emptied, and the link stays; a run that fails
    leaves no 'done'."""
    begin()
    archived("summary.json", '{ "status": "done" }')
    archived("density.vtk.series", '{ "files": [] }')
    os.chmod("archive/summary.json", 0o640)
    status, said = run("run", "c.cfg", "solver.max_iterations=1", "solver.on_failure=stop")
    check(status == 1, f"a run that fails: exit {status}, {said[-300:]}")
    check(os.path.islink("out/summary.json"), "the summary's link is gone")
    check('"done"' not in text_of("archive/summary.json"), "an old summary passes for that of a run that failed")
    check(os.stat("archive/summary.json").st_mode & 0o777 == 0o640, "the mode changed")
    status, said = run("run", "c.cfg", "--force")
    check(status == 0 and os.path.islink("out/summary.json") and '"done"' in text_of("archive/summary.json"),
          f"the summary is not behind its link: exit {status}, {said[-300:]}")
    check(os.path.islink("out/density.vtk.series") and "density_0002" in text_of("archive/density.vtk.series"),
          "the series is not behind its link")


def checkpoints():
    """The previous checkpoint is a file of its own, although the name of the last one is a link."""
    begin()
    os.symlink("../archive/state", "out/checkpoint.state")
    status, said = run("run", "c.cfg", "output.checkpoint=1e-9", "optimization.iterations=4")
    check(status == 0, f"a run with checkpoints: exit {status}, {said[-300:]}")
    # a new run removes the link; a resumed one writes through it
    check(not os.path.exists("archive/state") and os.path.isfile("out/checkpoint.state"), "a new run kept the link")
    os.rename("out/checkpoint.state", "archive/state")
    os.symlink("../archive/state", "out/checkpoint.state")
    status, said = run("run", "c.cfg", "output.checkpoint=1e-9", "optimization.iterations=6", "--resume")
    check(status == 0 and os.path.islink("out/checkpoint.state"), f"going on: exit {status}, {said[-300:]}")
    with open("archive/state", "rb") as last, open("out/checkpoint.previous.state", "rb") as before:
        check(last.read() != before.read(), "the checkpoint before the last one is the last one")
    check(not os.path.islink("out/checkpoint.previous.state"), "the checkpoint before is a link")


def temporary():
    """A link with the name of a temporary file of this process, or of one that has ended."""
    begin()
    write("archive/mesh", "kept\n")
    os.symlink("../archive/mesh", "out/density_0001.vtk.tmp.999999999")
    status, _ = run("run", "c.cfg")
    check(status == 0 and is_kept("mesh"), "the sweep removed what a link leads to")
    check(not os.path.lexists("out/density_0001.vtk.tmp.999999999"), "the sweep left the link")
    script = 'ln -s "$PWD/archive/mesh" "m.vtk.tmp.$$"; exec "$0" mesh c.cfg m.vtk'
    done = subprocess.run(["sh", "-c", script, hextop], capture_output=True, text=True, check=False)
    check(done.returncode == 0 and is_kept("mesh"), f"written through a temporary file's link: {done.stderr}")
    check(os.path.isfile("m.vtk") and not os.path.islink("m.vtk"), "the mesh is a link")
    os.remove("m.vtk")


def foreign():
    """Links of another user, in a folder that others may write to, are refused by name before anything is
    computed. Temporary files of another user stay."""
    begin()
    for name, owner in (("a.vtk.tmp.999999998", OTHER), ("b.vtk.tmp.999999998", 0)):
        write(f"out/{name}", "half\n")
        os.chown(f"out/{name}", owner, owner)
    run("run", "c.cfg")
    check(os.path.exists("out/a.vtk.tmp.999999998") and not os.path.exists("out/b.vtk.tmp.999999998"),
          "the sweep takes files of other users, or leaves its own")
    for mode, refuses in ((0o1777, True), (0o777, True), (0o770, True), (0o755, False)):
        for name in ("density_0001.vtk", "summary.json", "run.log", "history.csv", "config.cfg", "density.vtk.series"):
            begin()
            os.chmod("out", mode)
            archived(name)
            os.chown(f"out/{name}", OTHER, OTHER, follow_symlinks=False)
            for command in (["check"], ["run", "--force"]):
                status, said = run(command[0], "c.cfg", *command[1:])
                if refuses:
                    check(status == 2 and f"out/{name}" in said and "symbolic link" in said and str(OTHER) in said,
                          f"{oct(mode)} {command[0]} {name}: exit {status}, {said[-300:]}")
                    check(is_kept(name), f"{oct(mode)} {command[0]}: archive/{name} was written")
                else:
                    check(status == 0, f"{oct(mode)} {command[0]} {name}: exit {status}, {said[-300:]}")
    begin()
    status, said = run("run", "c.cfg")
    check(status == 0, f"without links: exit {status}, {said[-300:]}")
    os.chmod("shared", 0o1777)
    for words in (["mesh", "c.cfg", "shared/m.vtk"], ["surface", "out", "shared/s.stl"],
                  ["report", "out", "-o", "shared/r.html"], ["new", "cantilever", "-o", "shared/n.cfg"],
                  ["matrix", "c.cfg", "-o", "shared/K.npz"], ["verify", "out", "-o", "shared/v.json"],
                  ["selftest", "-o", "shared/t.json"], ["analyse", "c.cfg", "--output", "shared/a.json"]):
        path = next(w for w in words if w.startswith("shared/"))
        os.symlink("../archive/target", path)
        os.chown(path, OTHER, OTHER, follow_symlinks=False)
        status, said = run(*words)
        check(status == 2 and path in said and "symbolic link" in said, f"{words}: exit {status}, {said[-300:]}")
        check(not os.path.exists("archive/target"), f"{words}: written through the link")
    # a folder on the path, and a link to a link
    os.symlink("../archive", "shared/way")
    os.symlink("shared/way", "lane")
    for way, owner, wanted in (("shared/way", OTHER, 2), ("lane", OTHER, 2), ("shared/way", 0, 0)):
        os.chown("shared/way", owner, owner, follow_symlinks=False)
        status, said = run("run", "c.cfg", f"output.directory={way}/deep", "--force")
        check(status == wanted and (status == 0 or "shared/way" in said), f"{way}, {owner}: exit {status}, {said[-300:]}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    write("c.cfg", CONFIG)
    removed()
    emptied()
    checkpoints()
    temporary()
    if os.geteuid() == 0:  # only root can give a link to another user
        foreign()
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(1 if n_failed or not n_check else 0)
