#!/usr/bin/env python3
"""No command replaces a file that it reads: config, included file, mesh, result, surface, also through links; nor does
it write two outputs to one file.

    test_output_names.py HEXTOP SRCDIR"""

import os
import subprocess
import sys
import tempfile

hextop = os.path.realpath(sys.argv[1])
n_check = n_failed = 0

CONFIG = """mesh = { file = "job.vtk"; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
@include "rest.inc"
solver = { device = "cpu"; threads = 1; };
output = { directory = "out"; };
"""
REST = "optimization = { volume_fraction = 0.5; iterations = 2; filter = { radius = 1.5; }; };\n"
GENERATED = CONFIG.replace('file = "job.vtk"', 'generator = "cantilever"; nx = 6; ny = 3; nz = 3')


def check(condition, said):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print("failed:", said)


def run(*arguments):
    done = subprocess.run([hextop, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    return done.returncode, done.stderr


def read(name):
    with open(name, "rb") as file:
        return file.read()


def contents():
    return {os.path.join(folder, name): read(os.path.join(folder, name))
            for folder, _, names in os.walk(".") for name in names}


def refused(words, *arguments):
    """The command must end with status 2 and these words, and leave every file unchanged; otherwise the files
    are restored."""
    before = contents()
    status, said = run(*arguments)
    after = contents()
    check(status == 2 and words in said, f"{' '.join(arguments)}: {status}, {said}")
    check(after == before, f"{' '.join(arguments)}: changed {[n for n in after if after[n] != before.get(n)]}")
    for name in after:
        if name not in before:
            os.remove(name)
    for name, old in before.items():
        if after.get(name) != old:
            with open(name, "wb") as file:
                file.write(old)


def accepted(*arguments):
    status, said = run(*arguments)
    check(status == 0, f"{' '.join(arguments)}: {status}, {said}")


def test_mesh():
    read_it = "is the file that is read"
    refused(f"'job.vtk' {read_it} (mesh.file)", "mesh", "case.cfg", "job.vtk")
    refused(f"'link.vtk' {read_it} (mesh.file)", "mesh", "case.cfg", "link.vtk")
    refused(f"{read_it} (mesh.file)", "mesh", "out/config.cfg", "job.vtk", "--density", "out")
    refused(f"'out/density_0002.vtk' {read_it} (the result)", "mesh", "out/config.cfg", "out/density_0002.vtk",
            "--density", "out")
    refused(f"{read_it} (the mesh)", "mesh", "job.vtk", "link.vtk")
    refused(f"'inc.vtk' {read_it} (a file that the config includes)", "mesh", "linked.cfg", "inc.vtk")
    refused(f"'first.vtk' {read_it} (optimization.initial)", "mesh", "case.cfg", "first.vtk",
            "optimization.initial=out")
    accepted("mesh", "case.cfg", "new.vtk")
    accepted("mesh", "case.cfg", "new.vtk")


def test_analyse():
    read_it = "is the file that is read"
    for option in ("--vtk", "--points", "--output"):
        refused(f"{read_it} (the result)", "analyse", "out/config.cfg", "--density", "out", option,
                "out/density_0002.vtk")
        refused(f"{read_it} (mesh.file)", "analyse", "case.cfg", option, "job.vtk")
        refused(f"{read_it} (the config)", "analyse", "case.cfg", option, "case.cfg")
        refused(f"{read_it} (the config of the result's run)", "analyse", "case.cfg", "--density", "out", option,
                "out/config.cfg")
        refused(f"{read_it} (the series of the result)", "analyse", "case.cfg", "--density", "out", option,
                "out/density.vtk.series")
        refused(f"{read_it} (a file that the config includes)", "analyse", "case.cfg", option, "rest.inc")
        refused("'other.cfg' is a config, which is not replaced", "analyse", "case.cfg", option, "other.cfg")
    refused("'x.json' is named for two files", "analyse", "case.cfg", "--output", "x.json", "--points", "x.json")
    refused("are the same file", "analyse", "case.cfg", "--vtk", "x.json", "--points", "./x.json")
    accepted("analyse", "case.cfg", "--output", "x.json", "--points", "x.csv", "--vtk", "x.vtk")


def test_others():
    read_it = "is the file that is read"
    for name, words in (("out/config.cfg", "config.cfg"), ("out/summary.json", "summary.json"),
                        ("out/density_0002.vtk", "the result"), ("job.vtk", "mesh.file"),
                        ("out/history.csv", "history.csv")):
        refused(f"{read_it} ({words})", "report", "out", "-o", name)
    refused("'case.cfg' is a config, which is not replaced", "report", "out", "-o", "case.cfg")
    for option in ("--output", "--vtk"):
        refused(f"{read_it} (the config)", "verify", "out", option, "out/config.cfg")
        refused(f"{read_it} (the result)", "verify", "out", option, "out/density_0002.vtk")
        refused(f"{read_it} (mesh.file)", "verify", "out", option, "job.vtk")
        refused(f"{read_it} (the surface)", "verify", "out", "--surface", "p.stl", option, "p.stl")
        refused(f"{read_it} (the config of the result's run)", "verify", "out", "case.cfg", option,
                "out/config.cfg")
    refused("is named for two files", "verify", "out", "--output", "x.vtk", "--vtk", "x.vtk")
    os.symlink("out/density_0002.vtk", "o.stl")
    refused(f"'o.stl' {read_it} (the result)", "surface", "out", "o.stl")
    os.remove("o.stl")
    os.symlink("job.vtk", "o.ply")
    refused(f"'o.ply' {read_it} (mesh.file)", "surface", "out", "o.ply")
    os.remove("o.ply")
    accepted("surface", "out", "p.stl")
    accepted("verify", "out", "--vtk", "v.vtk")
    accepted("report", "out", "-o", "page.html")
    accepted("report", "out", "-o", "page.html")


def main():
    for name, text in (("generated.cfg", GENERATED), ("case.cfg", CONFIG), ("other.cfg", CONFIG),
                       ("rest.inc", REST), ("linked.cfg", CONFIG.replace("rest.inc", "inc.vtk")),
                       ("inc.vtk", REST)):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    accepted("mesh", "generated.cfg", "job.vtk")
    with open("p.stl", "w", encoding="ascii") as file:
        file.write("solid p\nendsolid p\n")
    os.symlink("job.vtk", "link.vtk")
    accepted("run", "case.cfg")
    os.symlink("out/density_0002.vtk", "first.vtk")
    test_mesh()
    test_analyse()
    test_others()
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed else 0


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    STATUS = main()
    os.chdir("/")
sys.exit(STATUS)
