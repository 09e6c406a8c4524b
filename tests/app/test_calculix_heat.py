#!/usr/bin/env python3
"""The temperatures of hextop against those of CalculiX, *HEAT TRANSFER, STEADY STATE: held temperatures,
sources, fluxes, totals and film conditions on distorted hexahedra of two conductivities.

    test_calculix_heat.py HEXTOP SRCDIR

The job is written here, from the mesh that `hextop mesh` shows: what acts is stated to CalculiX in its own
words (*DFLUX, *FILM on faces of elements), not as nodal heats that hextop computed. CalculiX's C3D8 has
2x2x2 points in heat transfer, and its film is the consistent int h N N' dA, not lumped at the nodes: so
temperatures agree to the seven digits that it prints. Exit status 77: no ccx."""

import os
import shutil
import subprocess
import sys
import tempfile

SAME = 1e-6  # of the range of temperatures

CONFIG = """
physics = "heat";
mesh = {{ generator = "cantilever"; nx = 7; ny = 4; nz = 5; distort = 0.2; shuffle = 3; }};
material = {{ conductivity = 2.5; conductivity_min = 0.1; }};
sets = ( {{ name = "poor"; box = {{ min = [3.0, -1.0, -1.0]; max = [8.0, 9.0, 2.2]; }}; }},
         {{ name = "lid"; plane = {{ point = [0.0, 0.0, 5.0]; normal = [0.0, 0.0, 1.0]; }}; }},
         {{ name = "core"; box = {{ min = [1.5, 0.5, 0.5]; max = [4.0, 3.0, 4.0]; }}; }} );
{acts}
passive = ( {{ set = "poor"; density = 0.5; }} );
optimization = {{ volume_fraction = 1.0; iterations = 1; filter = {{ kind = "none"; }}; }};
solver = {{ device = "cpu"; tolerance = 1e-12; }};
output = {{ format = "ascii"; fields = ("density", "temperature"); }};
"""

# hextop's words, then temperatures of nodes, heat per volume, heat per area of faces and films.
CASES = {
    "source": (
        'supports = ( { set = "left"; temperature = 20.0; } ); loads = ( { source = 3.0; } );',
        {"held": {"left": 20.0}, "source": {None: 3.0}},
    ),
    "flux": (
        'supports = ( { set = "left"; temperature = -5.0; } );'
        'loads = ( { set = "right"; flux = 4.0; }, { set = "core"; source = 2.0; } );',
        {"held": {"left": -5.0}, "flux": {"right": 4.0}, "source": {"core": 2.0}},
    ),
    "two": (
        'supports = ( { set = "left"; temperature = 300.0; }, { set = "right"; temperature = 350.0; } );',
        {"held": {"left": 300.0, "right": 350.0}},
    ),
    "film": (
        'convection = ( { set = "lid"; coefficient = 1.7; ambient = 20.0; },'
        '{ set = "left"; coefficient = 0.4; ambient = 20.0; } ); loads = ( { set = "right"; flux = 4.0; } );',
        {"film": {"lid": (1.7, 20.0), "left": (0.4, 20.0)}, "flux": {"right": 4.0}},
    ),
    "films": (
        'supports = ( { set = "left"; temperature = 80.0; } );'
        'convection = ( { set = "lid"; coefficient = 1.7; ambient = 20.0; },'
        '{ set = "right"; coefficient = 5.0; ambient = 35.0; } ); loads = ( { source = 1.0; } );',
        {"held": {"left": 80.0}, "film": {"lid": (1.7, 20.0), "right": (5.0, 35.0)}, "source": {None: 1.0}},
    ),
}

# Corners of Abaqus' faces S1 .. S6 of a C3D8.
FACES = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]

n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    print(("ok: " if condition else "failed: ") + text)
    if not condition:
        n_failed += 1


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def read_vtk(path):
    """Points, cells and arrays (by name) of an ASCII file."""
    words = open(path, encoding="ascii").read().split()
    i = words.index("POINTS")
    n = int(words[i + 1])
    flat = [float(w) for w in words[i + 3 : i + 3 + 3 * n]]
    points = [flat[3 * k : 3 * k + 3] for k in range(n)]
    i = words.index("CELLS")
    n_cell = int(words[i + 1])
    flat = [int(w) for w in words[i + 3 : i + 3 + 9 * n_cell]]
    cells = [flat[9 * k + 1 : 9 * k + 9] for k in range(n_cell)]
    arrays, size = {}, n
    for i, word in enumerate(words):
        if word in ("POINT_DATA", "CELL_DATA"):
            size = int(words[i + 1])
        if word == "SCALARS":
            arrays[words[i + 1]] = [float(w) for w in words[i + 6 : i + 6 + size]]
    return points, cells, arrays


def boundary(cells):
    """(element, face) of the faces that one element has."""
    seen = {}
    for e, cell in enumerate(cells):
        for f, corners in enumerate(FACES):
            seen.setdefault(tuple(sorted(cell[c] for c in corners)), []).append((e, f))
    return {nodes: owner[0] for nodes, owner in seen.items() if len(owner) == 1}


def members(name, points, cells):
    """Nodes and elements of a set of CONFIG, from its words alone."""
    mean = [[sum(points[a][i] for a in cell) / 8 for i in range(3)] for cell in cells]
    if name in ("poor", "core"):
        low, high = ((3, -1, -1), (8, 9, 2.2)) if name == "poor" else ((1.5, 0.5, 0.5), (4, 3, 4))
        return [], [e for e, x in enumerate(mean) if all(a <= b <= c for a, b, c in zip(low, x, high))]
    axis, at = {"left": (0, 0.0), "right": (0, 7.0), "lid": (2, 5.0)}[name]
    return [a for a, x in enumerate(points) if abs(x[axis] - at) < 1e-6], []


def write_job(path, points, cells, acts):
    poor = set(members("poor", points, cells)[1])
    faces = boundary(cells)
    with open(path, "w", encoding="ascii") as f:
        f.write("*NODE, NSET=NALL\n")
        for a, x in enumerate(points):
            f.write(f"{a + 1}, {x[0]:.12e}, {x[1]:.12e}, {x[2]:.12e}\n")
        for name, chosen in (("GOOD", [e for e in range(len(cells)) if e not in poor]), ("POOR", sorted(poor))):
            f.write(f"*ELEMENT, TYPE=C3D8, ELSET={name}\n")
            for e in chosen:
                f.write(f"{e + 1}, " + ", ".join(str(a + 1) for a in cells[e]) + "\n")
        for name, k in (("GOOD", 2.5), ("POOR", 0.1 + (2.5 - 0.1) * 0.5**3)):
            f.write(f"*MATERIAL, NAME={name}\n*CONDUCTIVITY\n{k!r}\n")
            f.write(f"*SOLID SECTION, ELSET={name}, MATERIAL={name}\n")
        f.write("*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n")
        f.write("*STEP\n*HEAT TRANSFER, STEADY STATE\n")
        for name, t in acts.get("held", {}).items():
            f.write("*BOUNDARY\n")
            for a in members(name, points, cells)[0]:
                f.write(f"{a + 1}, 11, 11, {t!r}\n")
        for name, s in acts.get("source", {}).items():
            f.write("*DFLUX\n")
            for e in range(len(cells)) if name is None else members(name, points, cells)[1]:
                f.write(f"{e + 1}, BF, {s!r}\n")
        for kind in ("flux", "film"):
            for name, value in acts.get(kind, {}).items():
                nodes = set(members(name, points, cells)[0])
                f.write("*DFLUX\n" if kind == "flux" else "*FILM\n")
                n = 0
                for corners, (e, face) in faces.items():
                    if nodes.issuperset(corners):
                        n += 1
                        words = f"S{face + 1}, {value!r}" if kind == "flux" else \
                            f"F{face + 1}, {value[1]!r}, {value[0]!r}"
                        f.write(f"{e + 1}, {words}\n")
                assert n > 0
        f.write("*NODE PRINT, NSET=NALL\nNT\n*END STEP\n")


def calculix(name, n):
    """Temperatures by node."""
    said = run("ccx", "-i", name)
    if "ERROR" in said or not os.path.exists(name + ".dat"):
        raise RuntimeError(f"ccx: {said[-2000:]}")
    found = {}
    for line in open(name + ".dat", encoding="ascii"):
        words = line.split()
        if len(words) == 2 and words[0].isdigit():
            found[int(words[0])] = float(words[1])
    check(sorted(found) == list(range(1, n + 1)), f"{name}: {len(found)} temperatures of {n}")
    return [found[a + 1] for a in range(n)]


def check_case(hextop, name):
    text, acts = CASES[name]
    config = name + ".cfg"
    with open(config, "w", encoding="ascii") as f:
        f.write(CONFIG.format(acts=text))
    run(hextop, "-q", "run", config, "output.directory=" + name)
    points, cells, arrays = read_vtk(os.path.join(name, "density_0001.vtk"))
    write_job(name + ".inp", points, cells, acts)
    ours, theirs = arrays["temperature"], calculix(name, len(points))
    size = max(theirs) - min(theirs)
    off = max(abs(a - b) for a, b in zip(ours, theirs)) / max(size, max(map(abs, theirs)))
    check(off <= SAME and len(ours) == len(theirs) and size > 1.0,
          f"{name}: temperatures {min(theirs):g} to {max(theirs):g}, differing by {off:.1e} of them")
    return ours


def main():
    hextop = os.path.realpath(sys.argv[1])
    if not shutil.which("ccx"):
        print("SKIPPED: no ccx")
        return 77
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        found = {name: check_case(hextop, name) for name in CASES}
        # what compares must see a difference
        off = max(abs(a - b) for a, b in zip(found["film"], found["films"]))
        check(off > 1.0, "other films, other temperatures")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed else 0


sys.exit(main())
