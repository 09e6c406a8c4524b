#!/usr/bin/env python3
"""Warnings about loads and supports from several processes (mpirun) with a distributed mesh must be those of one process.

    test_warnings.py HEXTOP SOURCE_ROOT

Exits with 77 without mpirun or MPI."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEXTOP = os.path.abspath(sys.argv[1])
N_CHECK = N_FAILED = 0
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMP_NUM_THREADS="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1")
JUDGED = ("initial-filtered", "void-cuts", "forced-solid", "load-on-support", "passive-void-load", "passive-void-support")
SLOT = """
mesh = { generator = "cantilever"; nx = 9; ny = 4; nz = 4; };
material = { E = 1.0; nu = 0.3; density = 1.0; };
sets = ( { name = "slot"; box = { min = [3.9, -1.0, -1.0]; max = [5.1, 9.0, 9.0]; }; },
         { name = "end"; box = { min = [7.9, -1.0, -1.0]; max = [9.1, 9.0, 9.0]; }; },
         { name = "half"; box = { min = [3.9, -1.0, -1.0]; max = [5.1, 9.0, 2.1]; }; },
         { name = "hole"; box = { min = [1.9, 0.9, 0.9]; max = [3.1, 2.1, 2.1]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
passive = ( { set = "hole"; density = 0.001; }, { set = "slot"; density = 0.001; } );
solver = { device = "cpu"; operator = "otf"; tolerance = 1e-6; };
output = { every = 0; };
optimization = { volume_fraction = 0.4; iterations = 1; filter = { kind = "sensitivity"; radius = 1.5; }; };
"""
BOTH = 'passive=({set="hole";density=0.001;},{set="slot";density=0.001;},{set="slot";density=0.001;})'
CASES = [  # name, expected codes, words of the command line
    ("slot", ["void-cuts"], []),
    ("hole", [], ["passive[1]="]),
    ("half", [], ['passive[1].set="half"']),
    ("refilled", [], ['passive=({set="slot";density=0.001;},{set="slot";density=0.5;})']),
    ("twice", ["void-cuts"], [BOTH]),
    ("falls", ["void-cuts"], ["loads=({gravity=[0.0,0.0,-1.0];})"]),
    ("cases", ["void-cuts"], ['loads=({set="hole";total_force=[0.0,0.0,-1.0];},{set="right";total_force=[0.0,1.0,0.0];'
                              'case=2;})', "passive[0]="]),
    ("held", ["load-on-support"], ['supports=({set="left";fix="xyz";},{set="right";fix="xyz";})',
                  'loads=({set="top";total_force=[0.0,0.0,-1.0];})']),
    ("slides", ["void-cuts"], ['supports=({set="left";fix="xyz";},{set="right";fix="z";})',
                               'loads=({set="right";total_force=[0.0,1.0,0.0];})']),
    ("carried", ["load-on-support"], ['supports=({set="left";fix="xyz";},{set="right";fix="xz";})',
                     'loads=({set="top";total_force=[0.0,0.0,-1.0];})']),
    ("turns", ["void-cuts"], ['supports=({set="left";fix="xyz";},{set="right-lower-edge";fix="xyz";})',
                              'loads=({set="top";total_force=[1.0,0.0,0.0];})']),
    ("taken", ["load-on-support"], ["passive[1]=", 'loads=({set="right";total_force=[0.0,0.0,-1.0];},{set="left";total_force=[0.0,'
                              '0.0,-1.0];})']),
    ("end", ["passive-void-load", "passive-void-support"], ['passive[1].set="end"', 'supports=({set="left";fix="xyz";},'
                                                            '{set="right";fix="y";})']),
    ("shelf", ["forced-solid"], ["passive=", "optimization.volume_fraction=0.2", 'loads=({set="top";pressure=1.0;})']),
    ("shelf and hole", ["forced-solid"], ["passive[1]=", "optimization.volume_fraction=0.2", 'loads=({set="top";pressure=1.0;})']),
    ("shelf with room", [], ["passive=", "optimization.volume_fraction=0.26", 'loads=({set="top";pressure=1.0;})']),
    ("shelf and block", ["forced-solid"], ['passive=({set="end";density=0.9;})', "optimization.volume_fraction=0.3",
                                           'loads=({set="top";pressure=1.0;})']),
    ("warm", ["void-cuts"], ["physics=heat", "material={conductivity=1.0;}", 'supports=({set="left";temperature=0.0;})',
                             'loads=({set="right";heat=1.0;})']),
    ("warm whole", [], ["physics=heat", "material={conductivity=1.0;}", 'supports=({set="left";temperature=0.0;})',
                        'loads=({set="right";heat=1.0;})', "passive[1]="]),
]


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def run(n, words):
    start = [] if n == 1 else ["mpirun", "--oversubscribe", "-n", str(n)]
    return subprocess.run([*start, HEXTOP, "run", "slot.cfg", "output.directory=out", *words], capture_output=True, text=True,
                          timeout=200, env=ENV, check=False)


def warned(n, name, words, parts="always"):
    """Returns [(code, text, remedy)] of the warnings in JUDGED, in order."""
    parts = [] if n == 1 else ["mesh.in_parts=" + parts]
    shutil.rmtree("out", ignore_errors=True)
    done = run(n, [*words, *parts])
    check(done.returncode == 0, f"{name} by {n}: {done.stderr}")
    if done.returncode != 0:
        return []
    with open("out/summary.json", encoding="utf-8") as file:
        entries = json.load(file)["warnings"]
    return [(e["code"], e["text"], e["remedy"]) for e in entries if e["code"] in JUDGED]


def initial():
    """An initial design that the filter smooths a second time, given by each name of a result. Every process has the whole
    mesh."""
    words = ["passive=", "optimization.iterations=12", "optimization.filter.kind=none"]
    check(run(1, [*words, "output.directory=first"]).returncode == 0, "a first design")
    for kind in ("density", "helmholtz"):
        for name in ("first", "first/density.vtk.series", "first/density_0012.vtk"):
            words = ["passive=", "optimization.filter.kind=" + kind, "optimization.initial=" + name]
            alone = warned(1, name, words)
            check([e[0] for e in alone] == ["initial-filtered"], f"{kind} of {name}: {alone}")
            for n in (2, 3) if name == "first" else ():
                shared = warned(n, name, words, "auto")
                check(shared == alone, f"{kind} of {name} by {n}: {shared}, by one process {alone}")


ROOF = """mesh = { generator = "cantilever"; nx = 12; ny = 4; nz = 6; };
material = { E = 1000.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "top"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.3; iterations = 40; filter = { kind = "none"; }; };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "roof"; };
"""


def not_judged():
    """If each process has only a part of the mesh, there are no warnings about the 0/1 design. The run prints a
    command that gives them."""
    with open("roof.cfg", "w", encoding="ascii") as file:
        file.write(ROOF)
    for words, is_judged in ((["mesh.in_parts=always"], False), (["mesh.in_parts=never"], True)):
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", HEXTOP, "run", "roof.cfg", *words], capture_output=True,
                              text=True, timeout=200, env=ENV, check=False)
        line = re.search(r"^not judged: pieces of the 0/1 design, and loads .*; `hextop ([^`]*)` judges them", done.stdout, re.M)
        check(done.returncode == 0 and (line is None) == is_judged, f"{words}: {done.stdout}{done.stderr}")
        if line:
            told = subprocess.run([HEXTOP, *line.group(1).split()], capture_output=True, text=True, env=ENV, check=False)
            check("of the force acts on" in told.stderr, f"{line.group(1)}: {told.stderr}")
        check(("35.4 % of the force acts on void" in done.stderr) == is_judged, f"{words}: {done.stderr}")
    done = subprocess.run([HEXTOP, "run", "roof.cfg", "optimization.iterations=2"], capture_output=True, text=True, env=ENV, check=False)
    check("not judged" not in done.stdout, "one process")


def main():
    if not shutil.which("mpirun"):
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("slot.cfg", "w", encoding="ascii") as file:
            file.write(SLOT)
        if "built without MPI" in run(2, []).stderr:
            return 77
        for name, codes, words in CASES:
            alone = warned(1, name, words)
            check([e[0] for e in alone] == codes, f"{name}: {codes} expected: {alone}")
            for n in (2, 3):
                shared = warned(n, name, words)
                check(shared == alone, f"{name} by {n}: {shared}, by one process {alone}")
        initial()
        not_judged()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return N_FAILED > 0


if __name__ == "__main__":
    sys.exit(main())
