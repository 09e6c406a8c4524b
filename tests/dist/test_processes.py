#!/usr/bin/env python3
"""Runs by several processes (mpirun) compared with the same run by one: the four examples of P1 and the project's own,
with several preconditioners, filters, loads and springs; checkpoints and resume; floating components; refused options;
a process that is killed.

    test_processes.py HEXTOP SOURCE_ROOT [cpu|cuda] [KILLS [SCENE ...]]

Exits with 77 without mpirun, MPI or the device."""
import csv
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 4
SCENES = sys.argv[5:] # names of functions below; default: all
SHARED_CORES = False # True: each process has as many threads as there are cores; slow, so only one scene does it
N_CHECK = N_FAILED = 0
EXAMPLE = os.path.join(ROOT, "examples", "%s", "%s.cfg")
PART = os.path.join(ROOT, "configs", "%s.cfg")
EXACT = ["solver.deterministic=true", "solver.tolerance=1e-12", "solver.criterion=relative"]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1")


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def words(n, command, *arguments):
    start = [] if n == 1 else ["mpirun", "--oversubscribe", "-n", str(n)]
    return [*start, HEXTOP, command, *arguments]


def hextop(n, command, *arguments, seconds=200):
    env = dict(ENV, OMP_NUM_THREADS="1") if n > 1 and not SHARED_CORES else ENV
    return subprocess.run(words(n, command, *arguments), capture_output=True, text=True, timeout=seconds, env=env)


def run(n, folder, config, *keys):
    return hextop(n, "run", config, "output.directory=" + folder, "solver.device=" + DEVICE, *keys)


def history(folder):
    with open(os.path.join(folder, "history.csv"), newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def compare(name, alone, shared, bound, more=1):
    """Compares compliances and PCG iterations of all designs. Allowed are `more` iterations more than with one process, or
    two fewer, because several processes keep z in double precision. From 100 iterations on (diagonal preconditioners),
    rounding decides when the solve ends, so a tenth more or fewer are allowed."""
    check(len(alone) == len(shared) > 0, f"{name}: {len(shared)} designs, one process {len(alone)}")
    for a, b in zip(alone, shared):
        off = abs(float(b["compliance"]) / float(a["compliance"]) - 1.0)
        check(off <= bound, f"{name}, design {a['iteration']}: compliance {off:.1e} off, {bound:g} allowed")
        most = max(more, int(a["pcg_iterations"]) // 10 if int(a["pcg_iterations"]) >= 100 else 0)
        check(-max(most, 2) <= int(b["pcg_iterations"]) - int(a["pcg_iterations"]) <= most,
              f"{name}, design {a['iteration']}: {b['pcg_iterations']} PCG iterations instead of {a['pcg_iterations']}")


def agree(name, config, *keys, ranks=(2, 3), designs=5, bound=1e-9, cases=1):
    keys = [*EXACT, "output.every=0", f"optimization.iterations={designs}", *keys]
    said = run(1, "alone", config, *keys)
    check(said.returncode == 0, f"{name}: {said.stderr}")
    alone = history("alone")
    for n in ranks:
        shutil.rmtree("shared", ignore_errors=True)
        said = run(n, "shared", config, *keys)
        check(said.returncode == 0, f"{name} by {n}: status {said.returncode}: {said.stderr[-600:]}")
        if said.returncode == 0:
            check(f"{n} processes" in said.stdout, f"{name}: the log does not name its {n} processes")
            check("\x1b[" not in said.stdout and "compliance   volume   change" in said.stdout,
                  f"{name} by {n}: a status line in place of the table: {said.stdout[-300:]}")
            compare(f"{name} by {n}", alone, history("shared"), bound, cases)
            left = [f for f in os.listdir("shared") if ".tmp" in f]
            check(not left, f"{name} by {n}: left behind {left}")


def has_metis():
    said = run(2, "metis", PART % "cantilever", "mesh.nx=8", "mesh.ny=4", "mesh.nz=4", "solver.partition=graph",
               "optimization.iterations=1")
    return "no METIS" not in said.stderr


def parts():
    small = {"cantilever": "mesh.nx=24 mesh.ny=12 mesh.nz=12", "lbeam": "mesh.nx=25 mesh.ny=8",
             "michell": "mesh.nx=24 mesh.ny=8", "conrod": "mesh.nx=30 mesh.ny=6"}
    for part, size in small.items():
        agree(part, PART % part, *size.split(), ranks=(2, 3, 4) if part == "cantilever" else (3,))
    for part in ("michell", "lbeam"):
        agree(part + " to 1e-8", PART % part, *small[part].split(), "solver.tolerance=1e-8", ranks=(2, 3), designs=3, bound=1e-6)
    agree("contrast 1e9", PART % "cantilever", *small["cantilever"].split(), "optimization.rho_min=0.001",
          "solver.tolerance=1e-10", bound=1e-7, cases=2, ranks=(3,))
    agree("lines of nodes, contrast 1e9", PART % "michell", *small["michell"].split(), "optimization.rho_min=0.001",
          "solver.tolerance=1e-10", bound=1e-7, cases=2, ranks=(2, 4))
    agree("shuffled", PART % "cantilever", *small["cantilever"].split(), "mesh.shuffle=3", "mesh.distort=0.2",
          ranks=(3,))
    bell = EXAMPLE % ("bell-crank", "bell-crank")
    agree("springs, symmetry, projection, two cases", bell, designs=4, cases=4)
    agree("gravity", EXAMPLE % ("hook", "hook"), "optimization.update=oc", designs=3, cases=4)
    agree("bracket", EXAMPLE % ("bracket", "bracket"), designs=2, cases=4, ranks=(2,))


def materials():
    """An insert, with weight, on whole and distributed meshes: compliances and the mass in summary.json; heat; sets that
    overlap in elements of one process only."""
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    insert = ["material.density=2.0", "materials=({set=\"insert\";E=40.0;density=9.0;})",
              "sets=({name=\"insert\";box={min=[3.0,-1.0,2.0];max=[11.0,5.0,6.0];};},"
              "{name=\"end\";box={min=[7.0,-1.0,-1.0];max=[99.0,99.0,99.0];};})",
              "loads=({gravity=[0.0,0.0,-0.001];},{set=\"right\";total_force=[0.0,0.0,-1.0];case=2;})"]
    for name, more in (("", []), (", in parts", ["mesh.in_parts=always"]), (", quadratic", ["solver.element=quadratic"])):
        if name == ", quadratic":
            size = "mesh.nx=8 mesh.ny=4 mesh.nz=4".split()
        agree("materials" + name, config, *size, *insert, *more, cases=4, designs=3)
        mass = []
        for folder in ("alone", "shared"):
            with open(folder + "/summary.json", encoding="utf-8") as file:
                mass.append(json.load(file)["mass"])
        check(abs(mass[0] / mass[1] - 1.0) < 1e-7, f"materials{name}: masses {mass}")
    agree("materials, heat", EXAMPLE % ("heatsink", "heatsink"), "materials=({set=\"block\";conductivity=900.0;})",
          "sets[1]={name=\"block\";box={min=[20.0,-1.0,-1.0];max=[50.0,99.0,9.0];};}", designs=2, cases=4)
    twice = "materials=({set=\"insert\";E=40.0;},{set=\"end\";E=3.0;})"
    said = run(3, "never", config, "mesh.nx=16", "mesh.ny=8", "mesh.nz=8", *insert, twice, "mesh.in_parts=always")
    alone = run(1, "never", config, "mesh.nx=16", "mesh.ny=8", "mesh.nz=8", *insert, twice)
    text = "set 'end' overlaps set 'insert' of an earlier material: element"
    check(said.returncode == 2 and text in said.stderr, f"materials that overlap: {said.stderr}")
    check(alone.stderr.strip() and alone.stderr.strip() in said.stderr, f"overlap: {alone.stderr} {said.stderr}")


def coarse_grids():
    """Distributed coarse grids. One process solves a grid of a few nodes directly; if that grid is distributed here
    instead, the number of iterations differs."""
    ENV["HEXTOP_WHOLE_COARSE_GRID"] = "500"
    agree("coarse grids", PART % "cantilever", "mesh.nx=60", "mesh.ny=30", "mesh.nz=30", "mesh.distort=0.1",
          "solver.preconditioner=multigrid", ranks=(3,), designs=2, cases=1)
    with open("shared/summary.json", encoding="utf-8") as file:
        held = [rank["coarse_nodes"] for rank in json.load(file)["ranks"]]
    check(300 < min(held) and max(held) < 1280, f"coarse grids: {held} nodes are distributed")
    ENV["HEXTOP_WHOLE_COARSE_GRID"] = "12"
    size = "mesh.nx=24 mesh.ny=12 mesh.nz=12".split()
    agree("small coarse grids", PART % "cantilever", *size, ranks=(2, 4), designs=2, cases=5)
    agree("small coarse grids, contrast 1e9", PART % "lbeam", "mesh.nx=25", "mesh.ny=8", "optimization.rho_min=0.001",
          "solver.tolerance=1e-10", bound=1e-7, cases=50, designs=2, ranks=(3,))
    agree("small coarse grids, lines", PART % "michell", "mesh.nx=24", "mesh.ny=8", designs=2, cases=50, ranks=(3,))
    agree("small coarse grids, shuffled", PART % "cantilever", *size, "mesh.shuffle=3", "mesh.distort=0.2", designs=2, cases=5,
          ranks=(3,))
    agree("small coarse grids, heat", EXAMPLE % ("heatsink", "heatsink"), designs=2, cases=50)
    agree("small coarse grids, springs", EXAMPLE % ("bell-crank", "bell-crank"), designs=2, cases=200, ranks=(3,))
    ENV["HEXTOP_WHOLE_COARSE_GRID"] = "few"
    said = run(2, "shared", PART % "cantilever", *size)
    check(said.returncode == 2 and "HEXTOP_WHOLE_COARSE_GRID='few'" in said.stderr, f"coarse grids: {said.stderr[-300:]}")
    del ENV["HEXTOP_WHOLE_COARSE_GRID"]


def transports():
    """From device to device, by NCCL and by messages: bitwise the same results, for all kinds of exchange. Messages replace
    NCCL if it is missing or if two processes share a GPU, which NCCL does not support."""
    way = {"cpu": "shared memory", "cuda": "CUDA IPC"}[DEVICE]
    shared_out = "HEXTOP_WHOLE_COARSE_GRID"
    cases = [("replicated coarse grids", PART % "cantilever", "mesh.nx=24 mesh.ny=12 mesh.nz=12", 3, 20000),
             ("distributed coarse grids", PART % "cantilever", "mesh.nx=24 mesh.ny=12 mesh.nz=12 mesh.distort=0.2", 3, 12),
             ("lines", PART % "michell", "mesh.nx=24 mesh.ny=8", 2, 12),
             ("heat", EXAMPLE % ("heatsink", "heatsink"), "", 2, 12),
             ("quadratic", PART % "cantilever", "mesh.nx=8 mesh.ny=4 mesh.nz=4 solver.element=quadratic", 3, 20000),
             ("mixed", PART % "cantilever",
              "mesh.nx=16 mesh.ny=8 mesh.nz=8 solver.preconditioner=jacobi solver.precision=mixed", 2, 20000)]
    for name, config, keys, n, whole in cases:
        ENV[shared_out] = str(whole)
        told = {}
        for transport in ("direct", "nccl", "messages"):
            ENV["HEXTOP_TRANSPORT"] = transport
            shutil.rmtree(transport, ignore_errors=True)
            said = run(n, transport, config, *keys.split(), "solver.deterministic=true", "optimization.iterations=2")
            check(said.returncode == 0, f"{name}, {transport}: {said.stderr[-600:]}")
            told[transport] = said
        if any(said.returncode for said in told.values()):
            continue
        check("exchanged by host memory" in told["messages"].stdout, f"{name}: messages do not go through host memory")
        if DEVICE == "cuda" and f"exchanged by {way}" not in told["direct"].stdout:
            print(f"NOT TRIED: {way} is not available here")
            continue
        check(f"exchanged by {way}" in told["direct"].stdout, f"{name}: direct exchanges do not use {way}")
        by_library = "exchanged by NCCL" in told["nccl"].stdout
        for transport, taken in (("direct", "direct"), ("nccl", "nccl" if by_library else "messages"), ("messages", "messages")):
            with open(os.path.join(transport, "config.cfg"), encoding="utf-8") as file:
                text = file.read()
            check(f'transport = "{taken}";' in text and f"whole_coarse_grid = {whole};" in text,
                  f"{name}, {transport}: config.cfg does not name the transport used")
        check(by_library or "exchanged by host memory" in told["nccl"].stdout, f"{name}: neither NCCL nor host memory is used")
        if DEVICE == "cuda" and not by_library:
            print(f"NOT TRIED, {name}: NCCL is missing, or two processes share a GPU")
        for file in sorted(f for f in os.listdir("messages") if f.endswith(".vtk")):
            for other in ("direct", "nccl"):
                with open(os.path.join("messages", file), "rb") as a, open(os.path.join(other, file), "rb") as b:
                    check(a.read() == b.read(), f"{name}: {file} differs between messages and {other}")
        steps = [[(row["compliance"], row["pcg_iterations"]) for row in history(t)] for t in told]
        check(len(steps[0]) == 2 and steps[0] == steps[1] == steps[2], f"{name}: {steps}")
    del ENV[shared_out]
    ENV["HEXTOP_TRANSPORT"] = "pigeon"
    said = run(2, "shared", PART % "cantilever", "mesh.nx=8", "mesh.ny=4", "mesh.nz=4")
    check(said.returncode == 2 and "HEXTOP_TRANSPORT='pigeon'" in said.stderr, f"transports: {said.stderr[-300:]}")
    del ENV["HEXTOP_TRANSPORT"]


def settings():
    size = "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    config = PART % "cantilever"
    for keys in (["solver.preconditioner=jacobi"], ["solver.preconditioner=block-jacobi"],
                 ["solver.preconditioner=none", "solver.tolerance=1e-10"],
                 ["solver.preconditioner=multigrid", "optimization.filter.kind=helmholtz"],
                 ["solver.preconditioner=multigrid", "solver.operator=bsr"],
                 ["solver.preconditioner=multigrid", "solver.criterion=compliance", "solver.tolerance=1e-14"],
                 ["solver.preconditioner=multigrid", "solver.warm_start=false"]):
        plain = "none" in keys[0] or "jacobi" in keys[0]
        agree(" ".join(keys), config, *size, *keys, ranks=(3,), designs=3, cases=20 if plain else 1,
              bound=1e-7 if "1e-10" in keys[-1] else 1e-9)
    agree("heat", EXAMPLE % ("heatsink", "heatsink"), designs=2, cases=2, ranks=(3,))


HEAT = """
physics = "heat";
material = { conductivity = 2.0; conductivity_min = 0.002; };
mesh = { generator = "cantilever"; nx = 16; ny = 8; nz = 8; };
sets = ( { name = "spot"; box = { min = [6.0, 2.0, 2.0]; max = [10.0, 6.0, 6.0]; }; } );
supports = ( { set = "left"; temperature = 20.0; } );
loads = ( { set = "right"; heat = 3.0; }, { set = "top"; flux = 0.1; }, { set = "spot"; heat = 2.0; }, { source = 0.01; } );
optimization = { volume_fraction = 0.3; filter = { kind = "density"; radius = 1.5; unit = "element"; }; };
"""

LOADS = """
material = { E = 2.0; nu = 0.3; density = 3.0; };
mesh = { generator = "cantilever"; nx = 18; ny = 9; nz = 10; };
sets = ( { name = "hole"; cylinder = { point = [9.0, 0.0, 5.0]; axis = [0.0, 1.0, 0.0]; radius = 2.0; }; },
         { name = "core"; box = { min = [12.0, 2.0, 2.0]; max = [15.0, 6.0, 6.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; }, { set = "right"; fix = "y"; value = [0.0, 0.01, 0.0]; } );
loads = ( { set = "top"; pressure = 0.02; case = 1; }, { set = "right"; traction = [0.0, 0.0, -0.1]; case = 2; },
          { set = "right-lower-edge"; total_force = [0.0, 0.0, -1.0]; case = 2; }, { gravity = [0.0, 0.0, -0.01]; case = 1; } );
passive = ( { set = "hole"; density = 0.001; }, { set = "core"; density = 1.0; } );
optimization = { volume_fraction = 0.4; update = "oc"; filter = { kind = "density"; radius = 2.2; unit = "element"; };
                 projection = { beta = 4.0; eta = 0.5; }; };
"""

# gravity, a uniform temperature change and one of a set, whose material expands otherwise
WARM = LOADS.replace("density = 3.0;", "density = 3.0; expansion = 0.01;").replace(
    "loads = (", 'loads = ( { temperature_change = 3.0; case = 1; }, { set = "core"; temperature_change = -5.0; case = 2; },').replace(
    "supports =", 'materials = ( { set = "core"; expansion = 0.03; } );\nsupports =')


def mesh_section(path):
    """Returns points and cells, and the length of the rest."""
    with open(path, "rb") as file:
        text = file.read()
    return text[text.index(b"POINTS"):text.index(b"CELL_DATA")], len(text) - text.index(b"CELL_DATA")


def distributed_meshes():
    """Distributed meshes: the same designs, files and file names, with distributed coarse grids listed around own elements,
    along the curve and by bisection. A run resumed by as many processes is bitwise the same, by other numbers within the
    tolerance. Options that need the whole mesh are refused by name."""
    own = "mesh.in_parts=always"
    size = "mesh.nx=24 mesh.ny=12 mesh.nz=12".split()
    agree("distributed mesh: cantilever", PART % "cantilever", *size, own, ranks=(2, 4), cases=2)
    agree("distributed mesh: curve", PART % "cantilever", *size, own, "solver.partition=curve", "optimization.filter.radius=4",
          ranks=(3, 4), cases=2)
    agree("distributed mesh: L-beam", PART % "lbeam", "mesh.nx=25", "mesh.ny=8", own, ranks=(3,), cases=2)
    agree("distributed mesh: Michell", PART % "michell", "mesh.nx=24", "mesh.ny=1", own, ranks=(4,), cases=2)
    agree("distributed mesh: connecting rod", PART % "conrod", "mesh.nx=30", "mesh.ny=4", own, ranks=(3,), cases=2)
    for name, text, n, more in (("heat", HEAT, 3, 2), ("loads", LOADS, 2, 4), ("warm", WARM, 3, 4)):
        with open(name + ".cfg", "w", encoding="utf-8") as file:
            file.write(text)
        agree("distributed mesh: " + name, name + ".cfg", own, ranks=(n,), designs=4, cases=more)
    ENV["HEXTOP_WHOLE_COARSE_GRID"] = "60"
    agree("distributed mesh: coarse grids", PART % "cantilever", "mesh.nx=40", "mesh.ny=20", "mesh.nz=20", own,
          "solver.preconditioner=multigrid", ranks=(3, 4), designs=2, cases=3)
    for way in ("curve", "bisection"):  # bitwise like whole meshes, along the curve
        for folder, kind in (("whole_" + way, "never"), ("distributed_" + way, "always")):
            said = run(3, folder, PART % "cantilever", *EXACT, *size, "optimization.iterations=3", "output.every=0",
                       "mesh.in_parts=" + kind, "solver.partition=" + way)
            check(said.returncode == 0, f"distributed mesh, {way}, {kind}: {said.stderr}")
        a, b = history("whole_" + way), history("distributed_" + way)
        check([h["pcg_iterations"] for h in a] == [h["pcg_iterations"] for h in b], f"distributed mesh, {way}: other iterations")
    with open("whole_curve/density_0003.vtk", "rb") as a, open("distributed_curve/density_0003.vtk", "rb") as b:
        check(a.read() == b.read(), "distributed mesh along the curve: not the bits of whole meshes")
    del ENV["HEXTOP_WHOLE_COARSE_GRID"]
    fields = 'output.fields=["density","displacement","von_mises","energy"]'
    keys = [*EXACT, *size, "optimization.iterations=2", "output.every=0", fields]
    for folder, n in (("one", 1), ("three", 3)):
        said = run(n, folder, PART % "cantilever", *keys, own)
        check(said.returncode == 0, f"distributed mesh: files by {n}: {said.stderr}")
    check(mesh_section("one/density_0002.vtk") == mesh_section("three/density_0002.vtk"), "distributed mesh: a different mesh in the file")
    identity = []
    for folder in ("one", "three"):
        with open(folder + "/summary.json", encoding="utf-8") as file:
            summary = json.load(file)
        case = summary["cases"][0]
        identity.append([summary["identity"]["mesh"], summary["mesh"]["sets"], summary["mesh"]["nodes"],
                         [round(x, 9) for x in case["load_sum"] + case["reaction_sum"]]])
    check(identity[0] == identity[1], f"distributed mesh: {identity}")
    same = hextop(1, "verify", "--made", "no", "three")
    check(same.returncode == 0, f"verify of a run with a distributed mesh: {same.stderr}")
    for folder, n, least in (("part1", 1, 0.3), ("part3", 3, 0.3), ("none3", 3, 1.0)):
        said = run(n, folder, PART % "cantilever", *keys, own, f"output.threshold={least}")
        check(said.returncode == 0, f"distributed mesh: a part by {n}: {said.stderr}")
    check(mesh_section("part1/density_0002.vtk") == mesh_section("part3/density_0002.vtk"), "distributed mesh: a different part in the file")
    check(b"POINTS 0 double" in mesh_section("none3/density_0002.vtk")[0], "distributed mesh: an empty part has points")
    check(hextop(1, "verify", "--made", "no", "part3").returncode == 0, "verify of a part written from a distributed mesh")
    keep = [*EXACT, *size, own, "output.checkpoint=1e-9", "output.every=0"]
    check(run(3, "w8", PART % "cantilever", *keep, "optimization.iterations=8").returncode == 0, "eight designs")
    check(run(3, "w4", PART % "cantilever", *keep, "optimization.iterations=4").returncode == 0, "four designs")
    for n, way in ((3, "bisection"), (2, "bisection"), (3, "curve")):
        folder = f"w4_{n}{way}"
        shutil.copytree("w4", folder)
        said = run(n, folder, PART % "cantilever", *keep, "solver.partition=" + way, "optimization.iterations=8", "--resume")
        check(said.returncode == 0, f"distributed mesh resumed by {n}, {way}: {said.stderr}")
        compare(f"distributed mesh resumed by {n}, {way}", history("w8"), history(folder), 1e-9, 2)
        if (n, way) == (3, "bisection"):
            with open("w8/density_0008.vtk", "rb") as a, open(folder + "/density_0008.vtk", "rb") as b:
                check(a.read() == b.read(), "distributed mesh resumed by as many: not the same bits")
    for key, text in (("mesh.distort=0.1", "mesh.distort"),
                      ("optimization.extrusion=[1.0,0.0,0.0]", "optimization.extrusion"),
                      ('optimization.repetition=({ kind = "pattern"; step = [4.0, 0.0, 0.0]; copies = 2; })',
                       "optimization.repetition"),
                      ("output.format=ascii", "output.format"), ("solver.element=quadratic", "solver.element")):
        said = run(2, "refused", PART % "cantilever", *size, own, key)
        check(said.returncode == 2 and "mesh.in_parts" in said.stderr and text in said.stderr, f"distributed mesh, {key}: {said.stderr}")
        check(len(re.findall("hextop: error:", said.stderr)) == 1 and not os.path.exists("refused"), f"distributed mesh, {key}")
    pair = ", ".join('{ set = "right"; total_force = [0.0, 0.0, %.1f]; }' % f for f in (-1.0, 1.0))
    said = run(2, "refused", PART % "cantilever", *size, own, f"loads=({pair})")
    check(said.returncode == 2 and "cancel each other" in said.stderr, f"distributed mesh, loads that cancel: {said.stderr}")
    said = run(3, "refused", PART % "cantilever", "mesh.nx=2", "mesh.ny=1", "mesh.nz=1", "optimization.filter.radius=1", own)
    check(said.returncode == 2 and "gets none of the 2 elements" in said.stderr, f"distributed mesh of two elements: {said.stderr}")


def mixed():
    """Mixed precision: solves in single precision with the true residual in double."""
    size = "mesh.nx=12 mesh.ny=6 mesh.nz=6".split()
    for keys in (["jacobi"], ["none"], ["jacobi", "optimization.rho_min=0.001", "optimization.filter.kind=helmholtz"]):
        agree("mixed, " + " ".join(keys), PART % "cantilever", *size, "solver.precision=mixed",
              "solver.preconditioner=" + keys[0], *keys[1:], designs=2, cases=20, ranks=(2, 3) if keys == ["jacobi"] else (3,))
    agree("mixed, heat", EXAMPLE % ("heatsink", "heatsink"), "mesh.nz=1", "solver.precision=mixed",
          "solver.preconditioner=jacobi", designs=2, cases=20, ranks=(3,))
    with open("shared/summary.json", encoding="utf-8") as file:
        check('"precision": "mixed"' in file.read(), "the summary of a run in mixed precision does not state it")


def quadratic():
    """Mid-edge points, which are not nodes; with and without multigrid from matrix rows."""
    size = "solver.element=quadratic mesh.nx=8 mesh.ny=4 mesh.nz=4 mesh.distort=0.2".split()
    for keys in (["multigrid"], ["multigrid", "mesh.shuffle=3", "optimization.rho_min=0.01"], ["jacobi"],
                 ["block-jacobi", "optimization.filter.kind=helmholtz"]):
        agree("quadratic, " + " ".join(keys), PART % "cantilever", *size, "solver.preconditioner=" + keys[0], *keys[1:],
              designs=2, cases=2 if keys[0] == "multigrid" else 20, ranks=(2, 3) if keys == ["multigrid"] else (4,))
    sums = [json.load(open(os.path.join(folder, "summary.json"), encoding="utf-8"))["cases"][0]["reaction_sum"][2]
            for folder in ("alone", "shared")]
    check(abs(sums[1] / sums[0] - 1) < 1e-8, f"quadratic: reactions {sums}")


def untied(name):
    """An example without its symmetry; and the key for its mesh file."""
    with open(EXAMPLE % (name, name), encoding="utf-8") as file:
        text = file.read()
    free = re.sub(r"\n *symmetry = [^\n]*;", "", text)
    check(free != text, f"{name} has no symmetry")
    with open(name + ".cfg", "w", encoding="utf-8") as file:
        file.write(free)
    mesh = re.search(r'\nmesh = { file = "([^"]+)"', text).group(1)
    return name + ".cfg", "mesh.file=" + os.path.join(ROOT, "examples", name, mesh)


def convection():
    """Convection on faces near subdomain boundaries, with and without linked variables."""
    with open(EXAMPLE % ("heatsink", "heatsink"), encoding="utf-8") as file:
        text = file.read()
    fins = '( { name = "fins"; box = { min = [0.0, 0.0, 3.0]; max = [20.0, 20.0, 3.0]; }; }, { name = "sink"'
    for was, now in (("45.0", "8.0"), ("55.0", "12.0"), ("50.0", "10.0"), ('( { name = "sink"', fins)):
        check(was in text, f"the heat sink has no {was}")
        text = text.replace(was, now)
    text += 'convection = ( { set = "fins"; coefficient = 2e-5; ambient = 15.0; } );\n'
    free = re.sub(r"\n *(symmetry|extrusion) = [^\n]*;", "", text)
    for name, config in (("tied", text), ("free", free)):
        with open(name + ".cfg", "w", encoding="utf-8") as file:
            file.write(config)
        size = ["mesh.nx=20", "mesh.ny=20"]
        for precond, more in (("multigrid", 2), ("jacobi", 20)):
            agree(f"convection, {name}, {precond}", name + ".cfg", *size, "solver.preconditioner=" + precond, designs=3,
                  cases=more, ranks=(2, 3))
    if DEVICE == "cpu":
        agree("convection, quadratic", "free.cfg", "mesh.nx=20", "mesh.ny=20", "solver.element=quadratic",
              "solver.preconditioner=multigrid", designs=2, cases=2, ranks=(3,))
    else:
        print(f"NOT TRIED: quadratic elements for heat, which {DEVICE} does not support")
    verdict = [json.load(open(os.path.join(folder, "summary.json"), encoding="utf-8"))["cases"][0]["heat_to_convection"]
               for folder in ("alone", "shared")]
    check(verdict[0] > 0 and abs(verdict[1] / verdict[0] - 1) < 1e-9, f"heat to convection: {verdict}")


RIGID = """title = "rigid sets over several subdomains";
mesh = { generator = "cantilever"; nx = 20; ny = 10; nz = 10; };
sets = ( { name = "lid"; box = { min = [5.0, 0.0, 10.0]; max = [15.0, 10.0, 10.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; remote_force = [0.1, 0.0, -1.0]; moment = [0.2, 0.1, 0.3]; point = [25.0, 5.0, 5.0];
            coupling = "rigid"; },
          { set = "lid"; remote_force = [0.0, 1.0, 0.0]; point = [10.0, 5.0, 15.0]; coupling = "rigid"; case = 2; } );
optimization = { volume_fraction = 0.4; penalty = 3.0; filter = { radius = 2.0; }; };
"""


def rigid():
    with open("rigid.cfg", "w", encoding="utf-8") as file:
        file.write(RIGID)
    for precond, more in (("multigrid", 2), ("jacobi", 20), ("block-jacobi", 20)):
        agree("rigid sets, " + precond, "rigid.cfg", "solver.preconditioner=" + precond, designs=3, cases=more,
              ranks=(2, 3) if precond == "multigrid" else (3,))
    agree("rigid sets, quadratic", "rigid.cfg", "solver.element=quadratic", designs=2, cases=2, ranks=(3,))


def prescribed():
    """Prescribed displacements on one side, which extends over several subdomains."""
    with open(PART % "cantilever", encoding="utf-8") as file:
        text = file.read()
    given = text.replace('fix = "xyz"; } );', 'fix = "xyz"; }, { set = "right"; fix = "z"; value = [0.0, 0.0, 0.5]; } );')
    check(given != text, "the cantilever has other supports")
    shutil.copy(os.path.join(ROOT, "configs", "common.cfg"), "common.cfg")
    with open("given.cfg", "w", encoding="utf-8") as file:
        file.write(given)
    for precond, more in (("multigrid", 1), ("jacobi", 20)):
        agree("prescribed displacements, " + precond, "given.cfg", "mesh.nx=16", "mesh.ny=8", "mesh.nz=8",
              "solver.preconditioner=" + precond, designs=3, cases=more, ranks=(2, 3))
    sums = [json.load(open(os.path.join(folder, "summary.json"), encoding="utf-8"))["cases"][0]["reaction_sum"][2]
            for folder in ("alone", "shared")]
    check(abs(sums[1] / sums[0] - 1) < 1e-8, f"prescribed displacements: reactions {sums}")


def densities(folder, design):
    with open(f"{folder}/density_{design:04d}.vtk", "rb") as file:
        text = file.read()
    begin = re.search(rb"SCALARS density (double|float)[^\n]*\nLOOKUP_TABLE[^\n]*\n", text)
    kind, size = ("d", 8) if begin.group(1) == b"double" else ("f", 4)
    n = int(re.search(rb"CELL_DATA (\d+)", text).group(1))
    return struct.unpack(f">{n}{kind}", text[begin.end():begin.end() + n * size])


def linked():
    """Linked variables whose groups lie on several ranks: two symmetry planes, an extrusion along the direction in which
    the mesh is divided, copies along it and about it; with a projection and loads by mass, for which a design takes several trials. The members of a group
    have the same bits, on whatever rank (filtered densities only nearly); a resumed run has those of an uninterrupted one."""
    n = 16, 8, 8
    size = [f"mesh.{axis}={k}" for axis, k in zip(("nx", "ny", "nz"), n)]
    planes = ", ".join("{ point = [0.0, 4.0, 4.0]; normal = [%s]; }" % normal for normal in ("0.0, 1.0, 0.0", "0.0, 0.0, 1.0"))
    config = PART % "cantilever"
    symmetry, extruded = f"optimization.symmetry=({planes})", "optimization.extrusion=[1.0,0.0,0.0]"
    cyclic = '{ kind = "cyclic"; point = [0.0, 4.0, 4.0]; axis = [1.0, 0.0, 0.0]; copies = 4; }'
    pattern = '{ kind = "pattern"; step = [4.0, 0.0, 0.0]; copies = 4; }'
    repeated = [f"optimization.repetition=({entries})" for entries in (cyclic, pattern, f"{cyclic}, {pattern}")]
    trials = ["optimization.update=oc", "optimization.filter.kind=density", "optimization.projection.beta=4.0", "material.density=1e-4",
              'loads=( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, { gravity = [0.0, 0.0, -9.81]; } )']
    for name, keys, spread in (("planes", [symmetry], 4), ("extrusion", [extruded], 16), ("both", [symmetry, extruded], 64),
                               ("cyclic", repeated[:1], 4), ("pattern", repeated[1:2], 4),
                               ("cyclic, pattern", repeated[2:], 16),
                               ("cyclic, planes", [repeated[0], symmetry], 6),
                               ("projection, gravity", [symmetry, *trials], 4)):
        keys = [*size, "solver.preconditioner=multigrid", *keys]
        agree("linked: " + name, config, *keys, ranks=(2, 3, 4), cases=2)
        alone, shared = densities("alone", 5), densities("shared", 5)
        off = max(abs(a - b) for a, b in zip(alone, shared))
        check(off < 1e-8, f"linked: {name}: a density {off:.1e} off")
        most = n[0] * n[1] * n[2] // spread
        check(keys[-len(trials):] == trials or len(set(shared)) <= most,
              f"linked: {name}: {len(set(shared))} densities in {most} groups")
    for name, keys in (("linked", [symmetry, *trials]), ("repeated", repeated[2:])):
        keys = [*EXACT, *size, *keys, "output.checkpoint=1e-9", "output.every=0"]
        for folder, last in ((name + "6", 6), (name + "3", 3)):
            check(run(3, folder, config, *keys, f"optimization.iterations={last}").returncode == 0, f"{name}: {last} designs")
        # Another number of processes sets up a new preconditioner, with the first estimates of eigenvalues, so its
        # iterations are compared with those of a run that does the same.
        for ranks, reference in ((3, name + "6"), (2, name + "6"), (1, name + "3by2")):
            folder = f"{name}3by{ranks}"
            shutil.copytree(name + "3", folder)
            said = hextop(ranks, "run", config, "output.directory=" + folder, "solver.device=" + DEVICE, *keys,
                          "optimization.iterations=6", "--resume")
            check(said.returncode == 0, f"{name}, resumed by {ranks}: {said.stderr}")
            compare(f"{name}, resumed by {ranks}", history(reference), history(folder), 0.0 if ranks == 3 else 1e-9, 2)
            if DEVICE == "cpu": # also with the uninterrupted run; on a GPU one process needs one iteration more than that
                compare(f"{name}, resumed by {ranks}", history(name + "6"), history(folder), 0.0 if ranks == 3 else 1e-9, 2)
        check(densities(name + "6", 6) == densities(name + "3by3", 6), f"{name}, resumed: not the same bits")


def objectives():
    """An objective with an adjoint load, whose set lies on several ranks; a resumed run has the bits of an uninterrupted one."""
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8 optimization.filter.kind=density".split()
    of_set = 'optimization.objective={ kind = "displacement"; set = "right"; direction = [0.0, 0.2, -1.0]; }'
    way = "graph" if has_metis() else "curve"
    for name, keys in (("cone", ["solver.partition=" + way]), ("helmholtz", ["optimization.filter.kind=helmholtz"]),
                       ("extrusion, quadratic", ["optimization.extrusion=[1.0,0.0,0.0]", "solver.element=quadratic", "mesh.nx=8",
                                                 "mesh.ny=4", "mesh.nz=4"])):
        agree("displacement: " + name, config, *size, *keys, of_set, ranks=(2, 3), designs=4, cases=5)
        off = max(abs(a - b) for a, b in zip(densities("alone", 4), densities("shared", 4)))
        check(off < 1e-8, f"displacement: {name}: a density {off:.1e} off")
        values = [[float(h["displacement"]) for h in history(folder)] for folder in ("alone", "shared")]
        check(all(abs(a / b - 1) < 1e-9 for a, b in zip(*values)), f"displacement: {name}: {values}")
    keys = [*EXACT, *size, of_set, "output.checkpoint=1e-9", "output.every=0"]
    for folder, last in (("objective6", 6), ("objective3", 3)):
        check(run(3, folder, config, *keys, f"optimization.iterations={last}").returncode == 0, f"displacement: {last} designs")
    for ranks in (3, 1):
        shutil.copytree("objective3", f"objective3by{ranks}")
        said = hextop(ranks, "run", config, f"output.directory=objective3by{ranks}", "solver.device=" + DEVICE, *keys,
                      "optimization.iterations=6", "--resume")
        check(said.returncode == 0, f"displacement, resumed by {ranks}: {said.stderr}")
        compare(f"displacement, resumed by {ranks}", history("objective6"), history(f"objective3by{ranks}"),
                0.0 if ranks == 3 else 1e-9, 5)
    check(densities("objective6", 6) == densities("objective3by3", 6), "displacement, resumed: not the same bits")
    agree("displacement: in parts", config, *size, of_set, "mesh.in_parts=always", ranks=(2, 3), designs=4, cases=5)
    off = max(abs(a - b) for a, b in zip(densities("alone", 4), densities("shared", 4)))
    check(off < 1e-8, f"displacement, in parts: a density {off:.1e} off")


def limits():
    """Limits on sets of whole and of distributed meshes, whose processes may hold no node of a set: values, and designs, which
    follow from the derivatives; a resumed run; what is refused by all processes alike."""
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    of_sets = ("constraints=("
               '{kind="displacement";set="right";direction=[0.0,0.0,-1.0];max=60.0;name="tip";},'
               '{kind="displacement";set="top";of="max";max=60.0;case=1;name="highest";},'
               '{kind="displacement";set="right";set_2="top";max=20.0;case=[2];name="twist";},'
               '{kind="displacement";set="right-lower-edge";of="max";direction=[0.0,1.0,0.2];max=25.0;case=[2];name="signed";},'
               '{kind="displacement";set="right-lower-edge";max=90.0;case=[1];name="edge";},'
               '{kind="reaction";set="left";direction=[0.0,1.0,1.0];min=-2.5;case=[2];name="hold";},'
               '{kind="mass";max=900.0;name="weight";},{kind="compliance";max=50.0;case=[1];name="work";})')
    common = [*size, "optimization.volume_fraction=", "optimization.objective=mass", "material.density=1.0", "mesh.in_parts=always",
              "optimization.filter.kind=density", "optimization.kkt_tolerance=0.0",
              'loads=({set="right";total_force=[0.0,0.0,-1.0];},{set="top";traction=[0.0,0.01,0.02];case=2;})']
    keys = [*common, "optimization." + of_sets]
    for name, more in (("limits: in parts", []), ("limits: whole", ["mesh.in_parts=never"])):
        agree(name, config, *keys, *more, ranks=(2, 3), designs=5, bound=1e-8, cases=6)
        rows = [history(folder) for folder in ("alone", "shared")]
        names = "objective tip_case1 tip_case2 highest twist signed edge hold weight work".split()
        for key in names:
            off = max((abs(float(a[key]) / float(b[key]) - 1.0) for a, b in zip(*rows)), default=1.0)
            check(len(rows[0]) == len(rows[1]) == 5 and off < 1e-8, f"{name}: {key} {off:.1e} off")
        off = max(abs(a - b) for a, b in zip(densities("alone", 5), densities("shared", 5)))
        check(off < 1e-8, f"{name}: a density {off:.1e} off")
    for folder, last in (("limits6", 6), ("limits3", 3), ("limits3", 6)):
        said = hextop(3, "run", config, "output.directory=" + folder, "solver.device=" + DEVICE, *EXACT, *keys,
                      "output.checkpoint=1e-9", "output.every=0", f"optimization.iterations={last}",
                      *(["--resume"] if folder == "limits3" and last == 6 else []))
        check(said.returncode == 0, f"limits: {folder} to {last}: {said.stderr}")
    check(densities("limits6", 6) == densities("limits3", 6), "limits, resumed in parts: not the same bits")
    for limit, text in (('kind="displacement";set="rihgt"', "the mesh has no set 'rihgt', did you mean 'right'?"),
                        ('kind="displacement";set="left"', "supports prescribe the displacement of set 'left'"),
                        ('kind="reaction";set="right"', "no support holds set 'right'"),
                        ('kind="displacement";set="right-lower-edge";set_2="rihgt"', "the mesh has no set 'rihgt'")):
        said = run(3, "refused", config, *common, "optimization.constraints=({%s;max=1.0;})" % limit)
        check(said.returncode == 2 and text in said.stderr, f"limits, refused in parts: {said.returncode}, {said.stderr}")
    said = run(2, "refused", config, *common, 'optimization.constraints=({kind="mass";max=0.5;},{kind="compliance";max=90.0;})')
    check(said.returncode == 2 and "max: a mass of 0.5 cannot be met: rho_min takes at least 102.4" in said.stderr,
          f"limits, a mass in parts: {said.stderr}")


def stresses():
    """Limits on stresses: values of all designs, and the largest ones in the zones without limits, also in a zone of which a
    process may hold nothing, and in one of passive void."""
    with open("stress.cfg", "w", encoding="ascii") as file:
        file.write("""units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 16; ny = 4; nz = 8; };
material = { E = 1000.0; nu = 0.3; };
sets = ( { name = "corner"; box = { min = [14.0, 0.0, 6.0]; max = [16.0, 4.0, 8.0]; }; },
         { name = "slot"; box = { min = [6.0, 0.0, 3.0]; max = [8.0, 4.0, 5.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, { set = "right"; total_force = [0.0, 2.0, 0.0]; case = 2; } );
optimization = { objective = "volume"; start = 0.6; filter = { kind = "density"; radius = 1.5; };
  constraints = ( { kind = "stress"; max = 3.0; exclude = ("corner"); exclude_radius = 1.1; } ); };
solver = { operator = "otf"; };
""")
    line = re.compile(r"(stress_case[12]) in its zones, without a limit: ([0-9.]+) MPa")
    for name, more in (("stresses", []), ("stresses, void", ['passive=({set="slot";density=1e-3;})',
                                                              'optimization.constraints[0].exclude=("slot")'])):
        agree(name, "stress.cfg", *more, ranks=(2, 3), bound=1e-8, cases=4)
        found = {}
        for n in (1, 2, 3):
            said = run(n, f"zones{n}", "stress.cfg", *EXACT, "output.every=0", "optimization.iterations=5", *more)
            found[n] = dict(line.findall(said.stdout))
            check(said.returncode == 0 and set(found[n]) == {"stress_case1", "stress_case2"} and
                  found[n] == found[1], f"{name} by {n} in the zones: {found} {said.stderr[-300:]}")
        check(all(float(value) > 0.05 for value in found[1].values()), f"{name}: {found}")
    # the sixth design is judged by its parts, which tightens the limit of those after it
    agree("judged by parts", "stress.cfg", "optimization.projection={beta=4.0;beta_max=4.0;erosion=0.05;}", "optimization.penalty=3.0",
          'optimization.constraints[0].max=0.2', ranks=(2, 3), designs=9, bound=1e-6, cases=4)


def local_volumes():
    """Limits on the local volume, by sums over halos, by a Helmholtz equation and over blocks of the whole, of all elements and of a set that one
    process may not have."""
    with open("local.cfg", "w", encoding="ascii") as file:
        file.write("""mesh = { generator = "cantilever"; nx = 24; ny = 4; nz = 8; };
material = { E = 1.0; nu = 0.3; };
sets = ( { name = "tip"; box = { min = [20.0, 0.0, 0.0]; max = [24.0, 4.0, 8.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; filter = { kind = "density"; radius = 1.5; };
  constraints = ( { kind = "local_volume"; radius = 2.5; max = 0.6; }, { kind = "local_volume"; radius = 9.0; max = 0.52; },
                  { kind = "local_volume"; radius = 16.0; max = 0.51; name = "wide"; },
                  { kind = "local_volume"; radius = 2.0; max = 0.4; set = "tip"; name = "open"; } ); };
solver = { operator = "otf"; };
""")
    agree("local volumes", "local.cfg", ranks=(2, 3), bound=1e-8)
    said = run(2, "parts", "local.cfg", *EXACT, "mesh.in_parts=always")
    check(said.returncode == 2 and "because of a limit of the local volume" in said.stderr, f"parts: {said.stderr[-300:]}")


def sweeps():
    """Overhang, draw and milling, whose sweeps go through the elements of all processes, also after an erosion."""
    with open("swept.cfg", "w", encoding="ascii") as file:
        file.write("""mesh = { generator = "cantilever"; nx = 16; ny = 5; nz = 10; };
material = { E = 1000.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -10.0]; } );
optimization = { volume_fraction = 0.35; filter = { kind = "density"; radius = 2.0; }; projection = { every = 4; }; };
solver = { operator = "otf"; };
""")
    overhang = "optimization.overhang={angle=45.0;direction=[0.0,0.0,1.0];}"
    alone = []
    for name, keys in (("overhang", [overhang]), ("eroded overhang", [overhang, "optimization.projection.erosion=0.1"]),
                       ("draw", ["optimization.draw={direction=[0.0,1.0,0.0];parting=[0.0,2.5,0.0];}"]),
                       ("milling", ["optimization.milling=({direction=[0.0,1.0,0.0];},{direction=[0.0,0.0,1.0];})"])):
        agree(name, "swept.cfg", *keys, designs=6, bound=1e-8)
        alone.append([row["compliance"] for row in history("alone")])
    check(all(a != b for i, a in enumerate(alone) for b in alone[:i]), f"two limits give one design: {alone}")
    said = run(2, "parts", "swept.cfg", overhang, "mesh.in_parts=always")
    check(said.returncode == 2 and "because of optimization.overhang" in said.stderr, f"parts: {said.stderr[-300:]}")


def kept():
    """The best design that meets a limit takes the place of a last one that misses it, by all processes alike, in a whole mesh
    and in parts; a run resumed from its checkpoint goes on from the last design."""
    limit = 0.3
    with open("kept.cfg", "w", encoding="ascii") as file:
        file.write(f"""mesh = {{ generator = "cantilever"; nx = 16; ny = 4; nz = 8; }};
material = {{ E = 1000.0; nu = 0.3; density = 1.0e-9; }};
supports = ( {{ set = "left"; fix = "xyz"; }} );
loads = ( {{ set = "right"; total_force = [0.0, 0.0, -3.0]; }} );
optimization = {{ objective = "mass"; start = 0.3; filter = {{ kind = "density"; radius = 1.5; }};
  constraints = ( {{ kind = "displacement"; set = "right"; direction = [0.0, 0.0, -1.0]; max = {limit}; name = "tip"; }} ); }};
solver = {{ operator = "otf"; }};
output = {{ every = 0; }};
""")
    exact = ["solver.deterministic=true", "solver.tolerance=1e-11"]
    said = run(1, "kept-whole", "kept.cfg", *exact, "optimization.iterations=40")
    whole = [(float(row["objective"]), float(row["tip"]) <= limit * (1.0 + 1e-3)) for row in history("kept-whole")]
    n = next((i for i, (_, meets) in enumerate(whole, 1) if i > 10 and not meets), 0)
    check(n > 0 and said.returncode == 0, f"kept: no design misses the limit: {said.stderr}")
    best = min((i for i in range(1, n) if whole[i - 1][1]), key=lambda i: whole[i - 1][0], default=0)
    more = [*exact, "output.checkpoint=1e-9"]
    run(1, "kept1", "kept.cfg", *exact, f"optimization.iterations={n}")
    for ranks, keys in ((2, []), (3, ["mesh.in_parts=always"])):
        folder = f"kept{ranks}"
        said = run(ranks, folder, "kept.cfg", *more, *keys, f"optimization.iterations={n}")
        check(said.returncode == 0 and f"the result is the design of iteration {best}," in said.stdout,
              f"kept by {ranks}: {said.returncode}, {said.stdout[-600:]} {said.stderr[-300:]}")
        with open(f"{folder}/summary.json", encoding="utf-8") as file:
            found = json.load(file)
        check(found["result_iteration"] == best and found["iterations"] == n and found["limits_met"], f"kept by {ranks}: {found}")
        check(abs(found["objective_value"] / whole[best - 1][0] - 1.0) < 1e-6, f"kept by {ranks}: {found['objective_value']}")
        off = max(abs(a - b) for a, b in zip(densities("kept1", best), densities(folder, best)))
        check(off < 1e-5, f"kept by {ranks}: a density {off:.1e} off")
        said = run(ranks, folder, "kept.cfg", *more, *keys, f"optimization.iterations={n + 1}", "--resume")
        check(said.returncode == 0 and len(history(folder)) == n + 1, f"kept, resumed by {ranks}: {said.stderr}")
        off = abs(float(history(folder)[-1]["objective"]) / whole[n][0] - 1.0)
        check(off < 1e-6, f"kept, resumed by {ranks}: objective {off:.1e} off")


def updates():
    """The method of moving asymptotes: sums and asymptotes of all ranks, with passive elements, linked variables, a projection
    and distributed meshes; a resumed run has the bits of an uninterrupted one."""
    config, size, mma = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split(), "optimization.update=mma"
    with open("loads.cfg", "w", encoding="utf-8") as file:
        file.write(LOADS)
    with open("warm.cfg", "w", encoding="utf-8") as file:
        file.write(WARM)
    plane = "optimization.symmetry=({ point = [0.0, 4.0, 4.0]; normal = [0.0, 1.0, 0.0]; })"
    for name, of, keys in (("mma", config, size), ("mma, density", config, [*size, "optimization.filter.kind=density"]),
                           ("mma, passive, projection, two cases, gravity", "loads.cfg", []),
                           ("mma, thermal expansion", "warm.cfg", ["optimization.volume_fraction=0.4"]),
                           ("mma, symmetry", config, [*size, plane]), ("mma, in parts", config, [*size, "mesh.in_parts=always"])):
        agree(name, of, *keys, mma, ranks=(2, 3), designs=6, bound=1e-8, cases=4)
        if plane in keys:
            check(len(set(densities("shared", 6))) <= 512, f"{name}: not one density per pair")
        if keys and name != "mma, in parts":
            off = max(abs(a - b) for a, b in zip(densities("alone", 6), densities("shared", 6)))
            check(off < 1e-7, f"{name}: a density {off:.1e} off")
    limits = ["optimization.objective=volume", "optimization.volume_fraction=", "optimization.kkt_tolerance=0.0", "optimization.filter.kind=density",
              'optimization.constraints=({kind="displacement";set="right";direction=[0.0,0.0,-1.0];max=60.0;name="tip";},'
              '{kind="displacement";set="top";of="max";max=90.0;},{kind="compliance";max=1000.0;min=10.0;})']
    agree("limits", config, *size, *limits, ranks=(2, 3), designs=6, bound=1e-8, cases=4)
    with open("shared/history.csv", newline="", encoding="utf-8") as f, open("alone/history.csv", newline="", encoding="utf-8") as g:
        rows = [list(csv.DictReader(file)) for file in (f, g)]
    for key in ("objective", "tip", "displacement", "compliance_1"):
        off = max(abs(float(a[key]) / float(b[key]) - 1.0) for a, b in zip(*rows))
        check(len(rows[0]) == 6 and off < 1e-7, f"limits: {key} {off:.1e} off")
    keys = [*EXACT, *size, mma, *limits, "output.checkpoint=1e-9", "output.every=0"]
    for folder, last in (("mma8", 8), ("mma4", 4)):
        check(run(3, folder, config, *keys, f"optimization.iterations={last}").returncode == 0, f"mma: {last} designs")
    for ranks in (3, 1):
        shutil.copytree("mma4", f"mma4by{ranks}")
        said = hextop(ranks, "run", config, f"output.directory=mma4by{ranks}", "solver.device=" + DEVICE, *keys,
                      "optimization.iterations=8", "--resume")
        check(said.returncode == 0, f"mma, resumed by {ranks}: {said.stderr}")
        compare(f"mma, resumed by {ranks}", history("mma8"), history(f"mma4by{ranks}"), 0.0 if ranks == 3 else 1e-8, 4)
    check(densities("mma8", 8) == densities("mma4by3", 8), "mma, resumed: not the same bits")


def designs():
    """Distributed designs: filters that reach beyond a subdomain, or beyond the next one; projection, passive elements,
    initial designs from a file, loads by mass; a filter that solves an equation."""
    size = "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    config = PART % "cantilever"
    multigrid = "solver.preconditioner=multigrid"
    density = "optimization.filter.kind=density"
    projection = ["optimization.projection.beta=2.0", "optimization.projection.beta_max=8.0",
                  "optimization.projection.every=2"]
    for name, keys in (("sensitivity", ["optimization.filter.radius=2.5"]),
                       ("no filter", ["optimization.filter.kind=none"]),
                       ("radius of several subdomains", ["optimization.filter.radius=9"]),
                       ("density", [density, "optimization.filter.radius=1.5"]),
                       ("weighted density", [density, "optimization.filter.volume_weighted=true", "mesh.distort=0.2"]),
                       ("weighted, shuffled", ["optimization.filter.volume_weighted=true", "mesh.distort=0.2",
                                               "mesh.shuffle=5"]),
                       ("projection", [density, *projection]),
                       ("helmholtz", ["optimization.filter.kind=helmholtz", *projection])):
        agree("design: " + name, config, *size, multigrid, *keys, ranks=(2, 4), designs=4)
    started = [*size, multigrid, density, "optimization.initial=alone/density_0004.vtk"]
    shutil.rmtree("start", ignore_errors=True)
    shutil.copytree("alone", "start")
    started[-1] = "optimization.initial=" + os.path.abspath("start/density_0004.vtk")
    agree("design: initial design from a file", config, *started, ranks=(3,), designs=2)
    said = run(3, "refused", config, *size, density, "optimization.volume_fraction=0.05")
    check(said.returncode == 2 and len(re.findall("hextop: error:", said.stderr)) == 1 and "volume_fraction" in said.stderr,
          f"too small a volume: {said.returncode}, {said.stderr}")
    for name, title in (("bell-crank", "passive elements, projection"), ("hook", "loads by mass")):
        agree("design: " + title, *untied(name), designs=3, cases=4, ranks=(3,))


def outputs():
    """Output: equal files from two runs; vector fields; figures of the ranks in the summary."""
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    fields = 'output.fields=["density","displacement","von_mises","energy"]'
    keys = [*EXACT, *size, "optimization.iterations=3", fields, "solver.preconditioner=multigrid"]
    for folder, n in (("one", 1), ("first", 3), ("again", 3)):
        said = run(n, folder, config, *keys)
        check(said.returncode == 0, f"outputs by {n}: {said.stderr}")
    with open("first/density_0003.vtk", "rb") as a, open("again/density_0003.vtk", "rb") as b:
        check(a.read() == b.read(), "two runs of three processes: not the same bytes")
    check(os.path.getsize("one/density_0003.vtk") == os.path.getsize("first/density_0003.vtk"),
          "the file of three processes is not as long as that of one")
    with open("first/summary.json", encoding="utf-8") as file:
        ranks = json.load(file)["ranks"]
    check([r["rank"] for r in ranks] == [0, 1, 2] and sum(r["elements"] for r in ranks) == 16 * 8 * 8,
          f"the summary's ranks: {ranks}")
    check(all(r["solve_seconds"] > r["exchange_seconds"] > 0 and r["exchanges"] > 0 and r["reductions"] > 0 and
              r["sent_bytes"] > 0 and r["host_peak_bytes"] > 1e6 and r["device_bytes"] > 1e4 for r in ranks),
          f"the summary's ranks: {ranks}")
    with open("first/run.log", encoding="utf-8") as file:
        check(re.search(r"ranks: 3.*\n.*least +median +most\n +elements", file.read()), "no table of ranks in the log")
    same = hextop(1, "verify", "--made", "no", "first")
    check(same.returncode == 0, f"verify of a run of three processes: {same.stderr}")
    lines = [float(h["compliance"]) for h in history("one")], [float(h["compliance"]) for h in history("first")]
    check(all(abs(a / b - 1) < 1e-9 for a, b in zip(*lines)), "outputs: compliances differ")


def resumed():
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    keys = [*EXACT, *size, "solver.preconditioner=multigrid", "output.checkpoint=1e-9", "output.every=0"]
    check(run(3, "whole", config, *keys, "optimization.iterations=8").returncode == 0, "eight designs")
    check(run(3, "half", config, *keys, "optimization.iterations=4").returncode == 0, "four designs")
    for n in (2, 1):
        shutil.copytree("half", f"half{n}")
    for folder, n in (("half", 3), ("half2", 2), ("half1", 1)):
        said = hextop(n, "run", config, "output.directory=" + folder, "solver.device=" + DEVICE, *keys,
                      "optimization.iterations=8", "--resume")
        check(said.returncode == 0, f"resume by {n}: {said.stderr}")
        compare(f"resume by {n}", history("whole"), history(folder), 1e-9, 2)
        if n == 3:
            with open("whole/density_0008.vtk", "rb") as a, open("half/density_0008.vtk", "rb") as b:
                check(a.read() == b.read(), "resumed by as many processes: not the same bits")
    alone = run(1, "alone8", config, *keys, "optimization.iterations=4")
    check(alone.returncode == 0, alone.stderr)
    said = hextop(3, "run", config, "output.directory=alone8", "solver.device=" + DEVICE, *keys,
                  "optimization.iterations=8", "--resume")
    check(said.returncode == 0, f"a run of one, resumed by three: {said.stderr}")
    compare("a run of one, resumed by three", history("whole"), history("alone8"), 1e-9, 2)


# Two floating components in void.
LUMPS = """
mesh = { generator = "cantilever"; nx = 20; ny = 6; nz = 10; };
material = { E = 1.0; nu = 0.3; };
sets = ( { name = "middle"; box = { min = [3.0, -1.0, 3.0]; max = [17.0, 9.0, 7.0]; }; },
         { name = "low"; box = { min = [5.0, 1.0, 4.0]; max = [9.0, 5.0, 6.0]; }; },
         { name = "high"; box = { min = [11.0, 2.0, 4.0]; max = [15.0, 5.0, 6.0]; }; },
         { name = "lumps"; or = ("low", "high"); }, { name = "rest"; not = ("lumps"); },
         { name = "gap"; and = ("middle", "rest"); } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.1, -1.0]; } );
passive = ( { set = "lumps"; density = 1.0; }, { set = "gap"; density = 0.001; } );
optimization = { volume_fraction = 0.4; rho_min = 0.001; iterations = 5; filter = { kind = "density"; radius = 1.5; unit = "element"; }; };
output = { every = 0; };
"""


def floating_components():
    """Floating components, which multigrid deflates: as many iterations as with one process, a quarter of those without
    deflation; a checkpoint stores that the designs have them. The tolerance is 1e-9, since at 1e-12 even the operators of
    one process differ by up to six iterations."""
    with open("lumps.cfg", "w", encoding="utf-8") as file:
        file.write(LUMPS)
    multigrid, enough = "solver.preconditioner=multigrid", "solver.tolerance=1e-9"
    for name, keys, ranks in (("whole", ["mesh.in_parts=never"], (2, 3)), ("distributed", ["mesh.in_parts=always"], (3,))):
        agree("floating components, " + name, "lumps.cfg", multigrid, enough, *keys, ranks=ranks, bound=1e-7, cases=2)
    first, then = [int(h["pcg_iterations"]) for h in history("shared")][:2]
    check(40 < first < 60 and then < first - 5, f"floating components: {first} iterations, then {then}")
    keys = [*EXACT, multigrid, "output.checkpoint=1e-9", "output.every=0"]
    check(run(3, "l4", "lumps.cfg", *keys, "optimization.iterations=4").returncode == 0, "floating components: four designs")
    check(run(3, "l2", "lumps.cfg", *keys, "optimization.iterations=2").returncode == 0, "floating components: two designs")
    for n in (3, 2):
        shutil.copytree("l2", f"l2by{n}")
        said = hextop(n, "run", "lumps.cfg", f"output.directory=l2by{n}", "solver.device=" + DEVICE, *keys,
                      "optimization.iterations=4", "--resume")
        check(said.returncode == 0, f"floating components, resumed by {n}: {said.stderr}")
    compare("floating components, resumed", history("l4"), history("l2by3"), 0.0, 0)
    compare("floating components, resumed by two", history("l4"), history("l2by2"), 1e-7, 30)  # searches for the components once more
    with open("l4/density_0004.vtk", "rb") as a, open("l2by3/density_0004.vtk", "rb") as b:
        check(a.read() == b.read(), "floating components, resumed: not the same bits")


def graphs():
    """Parts of METIS instead of the curve: the same designs, with filters by halos and by an equation. A run resumed
    by as many processes is bitwise the same; with other numbers, along the curve or by one process, within the tolerance."""
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    graph, multigrid = "solver.partition=graph", "solver.preconditioner=multigrid"
    halves = "solver.partition=bisection"
    agree("bisection", config, *size, multigrid, halves, "mesh.shuffle=5", "mesh.distort=0.2", ranks=(2, 3), designs=3)
    agree("bisection: ties, springs", EXAMPLE % ("bell-crank", "bell-crank"), halves, ranks=(3,), designs=2, cases=4)
    said = hextop(3, "check", config, *size, graph)
    if not has_metis():
        said = run(3, "refused", config, *size, graph)
        check(said.returncode == 2 and "libmetis-dev" in said.stderr, f"graph without METIS: {said.returncode}, {said.stderr}")
        agree("auto without METIS", config, *size, multigrid, "solver.partition=auto", ranks=(3,), designs=2)
        return
    check(said.returncode == 0 and "taken: graph" in said.stdout, f"check of the parts of METIS: {said.stderr}")
    agree("graph", config, *size, multigrid, graph, "mesh.shuffle=5", "mesh.distort=0.2", ranks=(2, 3), designs=3)
    agree("graph: helmholtz", config, *size, multigrid, graph, "optimization.filter.kind=helmholtz", ranks=(3,), designs=3)
    agree("graph: ties, springs", EXAMPLE % ("bell-crank", "bell-crank"), graph, ranks=(2,), designs=2, cases=4)
    agree("graph: quadratic", config, "mesh.nx=8", "mesh.ny=4", "mesh.nz=4", multigrid, graph, "solver.element=quadratic",
          ranks=(3,), designs=2, cases=2)
    agree("graph: lines", PART % "michell", "mesh.nx=24", "mesh.ny=8", graph, ranks=(3,), designs=2, cases=2)
    with open("rigid.cfg", "w", encoding="utf-8") as file:
        file.write(RIGID)
    agree("graph: rigid sets", "rigid.cfg", multigrid, graph, ranks=(3,), designs=2, cases=2)
    ENV["HEXTOP_WHOLE_COARSE_GRID"] = "12"
    agree("graph: small coarse grids", config, "mesh.nx=24", "mesh.ny=12", "mesh.nz=12", "mesh.distort=0.2", multigrid, graph,
          ranks=(3,), designs=2, cases=5)
    del ENV["HEXTOP_WHOLE_COARSE_GRID"]
    keys = [*EXACT, *size, multigrid, "output.checkpoint=1e-9", "output.every=0"]
    for name, filter_kind in (("halo", "sensitivity"), ("equation", "helmholtz")):
        own = [*keys, "optimization.filter.kind=" + filter_kind]
        check(run(3, name + "8", config, *own, graph, "optimization.iterations=8").returncode == 0, "eight designs of parts")
        check(run(3, name + "4", config, *own, graph, "optimization.iterations=4").returncode == 0, "four designs of parts")
        for n, way in ((3, "graph"), (3, "curve"), (2, "graph"), (1, "graph")):
            folder = f"{name}_{way}{n}"
            shutil.copytree(name + "4", folder)
            said = run(n, folder, config, *own, "solver.partition=" + way, "optimization.iterations=8", "--resume")
            check(said.returncode == 0, f"parts resumed by {n}, {way}: {said.stderr}")
            compare(f"parts resumed by {n}, {way}", history(name + "8"), history(folder), 1e-9, 2)
            if (n, way) == (3, "graph"):
                with open(name + "8/density_0008.vtk", "rb") as a, open(folder + "/density_0008.vtk", "rb") as b:
                    check(a.read() == b.read(), "parts resumed by as many processes: not the same bits")
    with open("halo8/config.cfg", encoding="utf-8") as file:
        check('partition = "graph"' in file.read(), "config.cfg does not name the partition")


def refused():
    """Refused runs: one message, exit status 2, nothing written."""
    config, size = PART % "cantilever", "mesh.nx=8 mesh.ny=4 mesh.nz=4".split()
    for keys, text in ((["solver.precision=mixed", "solver.preconditioner=multigrid"], "not a diagonal"),
                       (["solver.tolerance=-1"], "solver.tolerance"),
                       (["mesh.in_parts=always", "optimization.extrusion=[1.0,0.0,0.0]"],
                        "error: argument 'mesh.in_parts=always': mesh.in_parts: \"always\", but"),
                       (["mesh.nx=2", "mesh.ny=1", "mesh.nz=1", "optimization.filter.radius=1"], "3 ranks for 2 elements")):
        said = run(3, "refused", config, *size, *keys)
        check(said.returncode == 2, f"{keys}: exit status {said.returncode}")
        check(len(re.findall("hextop: error:", said.stderr)) == 1, f"{keys}: not one message: {said.stderr}")
        check(text in said.stderr, f"{keys}: {said.stderr}")
    one = ["-n", "1", HEXTOP, "run", config, "output.directory=two", *size]
    for keys, text in ((["mesh.nx=10"], "process 1 reads another mesh"),
                       (["optimization.filter.radius=1.5"], "process 1 reads another config")):
        said = subprocess.run(["mpirun", "--oversubscribe", *one, ":", *one, *keys], capture_output=True, text=True,
                              timeout=60, env=ENV)
        check(said.returncode == 2, f"{keys} of one process: exit status {said.returncode}")
        check(len(re.findall("hextop: error:", said.stderr)) == 1 and text in said.stderr, f"{keys}: {said.stderr}")
        check(not os.path.exists("two"), f"{keys} of one process: files are written")
    divided = hextop(3, "check", config, *size)
    check(divided.returncode == 0 and re.search(r"ranks +3", divided.stdout), "check by three processes: no subdomains")
    check(re.search(r"ranks +[0-9.]+ [kM]B of device memory in the first of 3 processes", divided.stdout),
          "check by three processes: no memory")
    middles = hextop(1, "check", config, *size, "solver.element=quadratic", "--ranks=2")
    check(middles.returncode == 0 and "of device memory in the first of 2 processes" in middles.stdout,
          f"check of quadratic elements by two: {middles.stdout}")
    spline = EXAMPLE % ("spline_part", "spline_part"), "mesh.refine=[1,1,1]"
    said = run(2, "refused", *spline)
    check(said.returncode == 2 and "supports only one process" in said.stderr and not os.path.exists("refused"),
          f"a spline by two: {said.stderr}")
    said = hextop(1, "check", *spline, "--ranks=2")
    check(said.returncode == 0 and "supports only one process" in said.stdout, f"check of a spline by two: {said.stdout}")
    other = hextop(2, "list")
    check(other.returncode == 0 and other.stdout == hextop(1, "list").stdout, "list by two: not one's text")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(p) for p in file.read().split()]


def kill_one(random_numbers, keys, config):
    """Kills one process at a random time: all processes end, and the run resumes from its last checkpoint."""
    shutil.rmtree("killed", ignore_errors=True)
    command = words(3, "run", config, "output.directory=killed", "solver.device=" + DEVICE, *keys)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENV) as all_of:
        time.sleep(random_numbers.uniform(0.2, 2.0))
        try:
            pids = children(all_of.pid)
            os.kill(random_numbers.choice(pids), signal.SIGKILL)
        except (OSError, IndexError):
            pass
        try:
            all_of.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            all_of.kill()
            check(False, "a process was killed and the others continued")
            return
    if os.path.exists("killed/checkpoint.state"):
        said = hextop(3, "run", config, "output.directory=killed", "solver.device=" + DEVICE, *keys, "--resume")
    else:
        said = run(3, "killed", config, *keys)
    check(said.returncode == 0, f"after a kill: {said.stderr}")
    compare("after a kill", history("unhurt"), history("killed"), 0.0, 0)
    with open("killed/density_0020.vtk", "rb") as a, open("unhurt/density_0020.vtk", "rb") as b:
        check(a.read() == b.read(), "after a kill: a different density")


def killed():
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    keys = [*EXACT, *size, "solver.preconditioner=multigrid", "output.checkpoint=1e-9", "output.every=0",
            "optimization.iterations=20"]
    check(run(3, "unhurt", config, *keys).returncode == 0, "unhurt")
    random_numbers = random.Random(17)
    for _ in range(KILLS):
        kill_one(random_numbers, keys, config)


def stop_by(rank, config, keys):
    """A signal to one process ends the run of all after the current design, with a checkpoint from which it resumes."""
    folder = f"stopped{rank}"
    command = words(3, "run", config, "output.directory=" + folder, "solver.device=" + DEVICE, *keys)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENV) as all_of:
        for _ in range(400):
            if os.path.exists(folder + "/history.csv") and len(history(folder)) > 2:
                break
            time.sleep(0.05)
        os.kill(children(all_of.pid)[rank], signal.SIGTERM)
        _, said = all_of.communicate(timeout=60)
    check(all_of.returncode == 3 and "interrupted; the results so far are complete" in said,
          f"SIGTERM to process {rank}: status {all_of.returncode}: {said[-400:]}")
    with open(folder + "/summary.json", encoding="utf-8") as file:
        check(json.load(file)["status"] == "interrupted", f"SIGTERM to process {rank}: not the status of an interruption")
    n = len(history(folder))
    said = hextop(3, "run", config, "output.directory=" + folder, "solver.device=" + DEVICE, *keys,
                  f"optimization.iterations={n + 2}", "--resume")
    check(said.returncode == 0 and len(history(folder)) == n + 2, f"after SIGTERM to process {rank}: {said.stderr}")


def stopped():
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    keys = [*EXACT, *size, "output.every=0", "optimization.iterations=1000", "optimization.change_tolerance=0"]
    for rank in range(3):
        stop_by(rank, config, keys)


def failed():
    """A run that cannot go on ends on all processes at once, and leaves what one process leaves."""
    config, size = PART % "cantilever", "mesh.nx=16 mesh.ny=8 mesh.nz=8".split()
    keys = [*size, "solver.max_iterations=3", "solver.on_failure=stop", "optimization.iterations=4"]
    left = []
    for n in (1, 3):
        folder = f"failed{n}"
        said = run(n, folder, config, *keys)
        check(said.returncode == 1 and said.stderr.count("PCG did not converge") == 1,
              f"a run that fails by {n}: status {said.returncode}: {said.stderr}")
        with open(folder + "/summary.json", encoding="utf-8") as file:
            check(json.load(file)["status"] == "failed", f"a run that fails by {n}: not the status of a failure")
        left.append(sorted(os.listdir(folder)))
    check(left[0] == left[1], f"a run that fails leaves {left[1]}, with one process {left[0]}")


def kinds_of(title):
    """Rows of a table of `hextop list`, each split into words."""
    table = hextop(1, "list").stdout.split("\n\n")
    rows = next(t for t in table if t.startswith(title)).splitlines()[1:]
    return [row.split() for row in rows if re.match(r"  [a-z]", row)]


def distributed_kinds():
    """Every operator with block-jacobi, and every preconditioner and filter, on distributed meshes: these free the lists of
    elements at nodes after set-up, and must rebuild them for kinds that need the lists later."""
    size = "mesh.nx=12 mesh.ny=6 mesh.nz=6 mesh.in_parts=always".split()
    here = [row for row in kinds_of("Operators") if row[1] == DEVICE]
    operators = [row[0] for row in here]
    # Atomic additions: refused with solver.deterministic = true, but equal within the solver's tolerance.
    unordered = {row[0] for row in here if row[3] == "no"}
    preconds = [row[0] for row in kinds_of("Preconditioners")]
    filters = [row[0] for row in kinds_of("Filters")]
    check(len(operators) > 3 and len(preconds) > 3 and len(filters) > 3, f"hextop list: {operators} {preconds} {filters}")
    for keys in ([[f"solver.operator={o}", "solver.preconditioner=block-jacobi",
                   *(["solver.deterministic=false"] if o in unordered else [])] for o in operators] +
                 [[f"solver.preconditioner={p}"] for p in preconds] +
                 [[f"optimization.filter.kind={f}"] for f in filters]):
        is_plain = any(key.endswith(("=none", "jacobi")) for key in keys) and "filter" not in keys[0]
        agree("in parts: " + " ".join(keys), PART % "cantilever", *size, *keys, ranks=(2,), designs=2, cases=20 if is_plain else 1)


def can_run():
    if not shutil.which("mpirun"):
        return "no mpirun here"
    said = hextop(2, "check", PART % "cantilever", "mesh.nx=4", "mesh.ny=2", "mesh.nz=2")
    if "built without MPI" in said.stderr:
        return "this build has no MPI"
    if said.returncode:
        return "mpirun cannot start processes here: " + said.stderr[-300:]
    said = run(1, "probe", PART % "cantilever", "mesh.nx=4", "mesh.ny=2", "mesh.nz=2", "optimization.iterations=1")
    return "no such device: " + DEVICE if said.returncode else ""


def main():
    global SHARED_CORES
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        why = can_run()
        if why:
            print("skipped: " + why)
            return 77
        jobs = (parts, materials, coarse_grids, distributed_meshes, distributed_kinds, transports, settings, mixed, quadratic,
                convection, rigid, prescribed, linked, objectives, limits, stresses, local_volumes, sweeps, kept, updates, designs, outputs, resumed, floating_components,
                graphs, refused, killed, stopped, failed)
        unknown = set(SCENES) - {job.__name__ for job in jobs}
        check(not unknown, f"no such scenes: {unknown}")
        for job in jobs:
            if SCENES and job.__name__ not in SCENES:
                continue
            begin = time.time()
            SHARED_CORES = job is parts
            job()
            print(f"{job.__name__}: {time.time() - begin:.1f} s")
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED else 0


sys.exit(main())
