#!/usr/bin/env python3
"""Mirrored meshes of CAD models as a user handles them: test_mirrored.py HEXTOP SRCDIR. `check` names the planes, a run
has exact groups, config.cfg and the kept mesh repeat it, a resumed run and two processes give the same design, `new`
writes the key, and what cannot be mirrored is refused. Skipped if gmsh is not installed."""
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, HEXTOP, MPI, summary, work_folder

SOURCE = os.path.abspath(sys.argv[2])
GEO = """SetFactory("OpenCASCADE");
Box(1) = {0,0,0, 40,20,8};
Cylinder(2) = {10,10,-1, 0,0,10, 4};
Cylinder(3) = {30,5,-1, 0,0,10, 2.5};
Cylinder(4) = {30,15,-1, 0,0,10, 2.5};
BooleanDifference(5) = { Volume{1}; Delete; }{ Volume{2,3,4}; Delete; };
Save "part.step";
Delete All;
SetFactory("OpenCASCADE");
Box(1) = {0,0,0, 40,20,8};
Cylinder(2) = {10,13,-1, 0,0,10, 4};
BooleanDifference(5) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Save "odd.step";
Exit;
"""
PLANE = "{ point = [0.0, 10.0, 0.0]; normal = [0.0, 1.0, 0.0]; }"
FLAT = "{ point = [0.0, 0.0, 4.0]; normal = [0.0, 0.0, 2.0]; }"
CONFIG = """units = "N, mm, MPa";
mesh = { file = "part.step"; element_size = 5.0; mirrored = true; };
sets = ( { name = "left"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "right"; plane = { point = [40.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 10.0, -20.0]; } );
optimization = { volume_fraction = 0.5; iterations = 4; change_tolerance = 0.0;
                 filter = { radius = 4.0; unit = "length"; };
                 symmetry = ( %s ); };
solver = { device = "cpu"; operator = "otf"; threads = 1; tolerance = 1e-8; };
output = { directory = "out"; };
"""


def run(*words, gmsh=True, processes=0, env=None):
    start = ["mpirun", "-n", str(processes)] if processes else []
    env = {**os.environ, **(MPI if processes else {}), **({} if gmsh else {"HEXTOP_GMSH": "/no/such/gmsh"}), **(env or {})}
    done = subprocess.run([*start, HEXTOP, *words], capture_output=True, text=True, env=env, timeout=250, check=False)
    return done.returncode, done.stdout + done.stderr


def write(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def stl_box():
    """A cube of STL triangles."""
    text = "solid box\n"
    for side in ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)):
        for t in (1, 2):
            corner = "".join(f"vertex {20 * (a % 4 in (1, 2))} {20 * (a % 4 > 1)} {20 * (a > 3)}\n"
                             for a in (side[0], side[t], side[t + 1]))
            text += f"facet normal 0 0 0\nouter loop\n{corner}endloop\nendfacet\n"
    return text + "endsolid box\n"


def find(tree, key):
    """The number of that key anywhere in the tree."""
    for name, value in tree.items() if isinstance(tree, dict) else ():
        found = value if name == key and isinstance(value, (int, float)) else find(value, key)
        if found is not None:
            return found
    return None


def test_run():
    status, said = run("check", "part.cfg")
    check(status == 0 and "mirrored: 1/2 of it is meshed" in said and "normal 0 1 0" in said, f"check: {said}")
    status, said = run("run", "part.cfg", gmsh=False)
    check(status == 0 and "the mesh kept as out/mesh.msh" in said, f"the kept mesh: {said}")
    one = summary("out")
    n = find(one, "elements")
    check(find(one, "groups") == n // 2 and find(one, "elements_without_image") == 0
          and find(one, "elements_without_exact_image") == 0, f"groups of {n} elements: {find(one, 'groups')}")
    with open("out/config.cfg", encoding="utf-8") as f:
        check("mirrored = true" in f.read(), "config.cfg lacks mirrored")
    for words in (["verify", "out", "--refine", "0"], ["surface", "out", "part.stl"]):
        status, said = run(*words, gmsh=False)
        check(status == 0, f"{words}: {said}")
    if shutil.which("mpirun"):
        status, said = run("run", "out/config.cfg", "output.directory=two", gmsh=True, processes=2)
        check(status == 0, f"two processes: {said}")
        a, b = find(one, "compliance"), find(summary("two"), "compliance")
        check(abs(a - b) < 1e-6 * a, f"two processes: {a}, {b}")
    test_resumed()



def test_resumed():
    """Interrupted after some designs, and continued with the kept mesh."""
    words = ["part.cfg", "optimization.iterations=60", "output.checkpoint=60"]
    check(run("run", *words, "output.directory=full")[0] == 0, "60 designs")
    with subprocess.Popen([HEXTOP, "run", *words, "output.directory=half"], stdout=subprocess.PIPE, text=True) as started:
        for line in started.stdout:
            if " of 60 " in line and int(line.split()[0]) >= 3:
                started.send_signal(signal.SIGINT)
                break
        started.communicate()
    check(started.returncode != 0, "was not interrupted")
    status, said = run("run", *words, "output.directory=half", "--resume", gmsh=False)
    check(status == 0, f"resumed: {said}")
    check(find(summary("half"), "compliance") == find(summary("full"), "compliance"), "a resumed run ends elsewhere")


def test_two_planes():
    write("two.cfg", CONFIG % f"{PLANE}, {FLAT}")
    status, said = run("check", "two.cfg", "output.directory=quarter")
    check(status == 0 and "mirrored: 1/4 of it is meshed" in said and "2 symmetry planes" in said
          and "without" not in said.split("linked")[1].split("\n")[0], f"two planes: {said}")


def test_new():
    status, said = run("new", "part.step", "mesh.element_size=5.0", "output.directory=fresh", "-o", "new.cfg")
    with open("new.cfg", encoding="utf-8") as f:
        text = f.read()
    check(status == 0 and "mirrored = true;" in text and "# symmetry = ( { point = [0.0, 10.0, 0.0]; "
          "normal = [0.0, 1.0, 0.0]; }, { point = [0.0, 0.0, 4.0]; normal = [0.0, 0.0, 1.0]; } );" in text,
          f"new: {said} {text}")
    status, said = run("check", "new.cfg", gmsh=False)
    check("the mesh kept as fresh/mesh.msh" in said, f"new, then check: {said}")
    status, said = run("new", "part.step", "mesh.element_size=5.0", "mesh.mirrored=false", "output.directory=whole")
    check(status == 0 and "mirrored = false;" in said and "symmetry" not in said, f"new without: {said}")


def test_other_reasons():
    """A failure of gmsh while it cuts the model is gmsh's: the key is not blamed."""
    write("gmsh.sh", """#!/bin/sh
case "$*" in *halves.geo*) echo "Error   : no memory for booleans" >&2; exit 1;; esac
exec gmsh "$@"
""")
    os.chmod("gmsh.sh", 0o755)
    status, said = run("check", "part.cfg", "output.directory=broken", env={"HEXTOP_GMSH": os.path.abspath("gmsh.sh")})
    check(status != 0 and "no memory for booleans" in said and "part.cfg:2: mesh.mirrored" not in said, f"gmsh fails: {status} {said}")


def test_advice():
    """A symmetric design on a mesh that is not: the advice is the key, until it is set."""
    for words, has_advice in ((["mesh.mirrored=false"], True), ([], False),
                              (["mesh.mirrored=false", "optimization.symmetry="], False)):
        status, said = run("check", "part.cfg", "output.directory=advice", *words)
        check(status == 0 and ("`mesh.mirrored=true` meshes one side" in said) == has_advice, f"{words}: {status} {said}")


def test_refused():
    for words, texts in (
            (["mesh.file=odd.step"], ["part.cfg:2: mesh.mirrored: ", "odd.step: the halves at the plane through [0, 10, 0]",
                                      "differ: solid 1 has the volume"]),
            ([f"mesh.file={SOURCE}/examples/meshes/lplate.vtk", "mesh.element_size="],
             ["mesh.mirrored: applies to CAD models, which are cut before they are meshed"]),
            (["mesh.file=box.stl"], ["mesh.mirrored: ", "box.stl: mirrored applies to STEP, IGES and BREP models"]),
            (["optimization.symmetry=({ point = [0.0, 10.0, 0.0]; normal = [0.0, 1.0, 0.0]; }, "
              "{ point = [0.0, 10.0, 4.0]; normal = [0.0, 1.0, 1.0]; })"],
             ["part.cfg:2: mesh.mirrored: needs planes perpendicular", "meet at 45 degrees"])):
        status, said = run("check", "part.cfg", *words)
        check(status == 2 and all(text in said for text in texts) and said.count("error:") == 1, f"{words}: {status} {said}")
    test_other_reasons()
    status, said = run("new", "odd.step", "mesh.element_size=5.0", "output.directory=odd")
    check(status == 0 and "mirrored = true" in said, f"odd.step is even at z = 4: {said}")


if not shutil.which("gmsh"):
    print("SKIPPED: gmsh is not installed")
    sys.exit(77)
with work_folder():
    write("make.geo", GEO)
    subprocess.run(["gmsh", "-", "make.geo", "-v", "1"], capture_output=True, timeout=200, check=False)
    write("part.cfg", CONFIG % PLANE)
    write("box.stl", stl_box())
    test_run()
    test_two_planes()
    test_new()
    test_refused()
    test_advice()
finish()
