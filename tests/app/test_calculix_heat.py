#!/usr/bin/env python3
"""The temperatures of hextop against those of CalculiX, *HEAT TRANSFER, STEADY STATE: held temperatures,
sources, fluxes, totals and film conditions on distorted meshes of two conductivities and every kind of element.

    test_calculix_heat.py HEXTOP SRCDIR

The job is written here, from the mesh of `hextop run`. Loads are given to CalculiX by its own keywords (*DFLUX,
*FILM on faces of elements), not as nodal heats that hextop computed. CalculiX's C3D8 has 2x2x2 points in heat
transfer, and its film is the consistent int h N N' dA, not lumped at the nodes. Temperatures therefore agree to
the seven digits that it prints. The same holds for C3D4 without films (which CalculiX integrates at one point
of a triangle), and for C3D8 with repeated nodes as the other kinds. Exit status 77: ccx is missing."""

import os
import sys
import tempfile

import calculix as ccx
from calculix import SAME, check, run, write

CONFIG = """
physics = "heat";
mesh = {{ {mesh} }};
material = {{ conductivity = 2.5; conductivity_min = 0.1; }};
sets = ( {{ name = "poor"; box = {{ min = [3.0, -1.0, -1.0]; max = [8.0, 9.0, 2.2]; }}; }},
         {{ name = "lid"; plane = {{ point = [0.0, 0.0, 5.0]; normal = [0.0, 0.0, 1.0]; }}; }},
         {{ name = "core"; box = {{ min = [1.5, 0.5, 0.5]; max = [4.0, 3.0, 4.0]; }}; }}{sides} );
{acts}
passive = ( {{ set = "poor"; density = 0.5; }} );
optimization = {{ volume_fraction = 1.0; iterations = 1; filter = {{ kind = "none"; }}; }};
solver = {{ device = "cpu"; tolerance = 1e-12; }};
output = {{ format = "ascii"; fields = ("density", "temperature"); }};
"""

SIDES = """,
         { name = "left"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "right"; plane = { point = [7.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; }"""

# hextop's keys, then prescribed temperatures, heat per volume, heat per area and films for CalculiX.
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

# Corners of Abaqus' faces S1, S2, ... by VTK's type.
FACES = {
    ccx.HEXAHEDRON: [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)],
    ccx.TETRAHEDRON: [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)],
}
# Corners of other kinds in the numbering of a C3D8. For a distorted wedge, the result depends on which corner
# is repeated, by 3e-4.
BRICK = {
    ccx.HEXAHEDRON: (0, 1, 2, 3, 4, 5, 6, 7),
    ccx.TETRAHEDRON: (0, 1, 2, 2, 3, 3, 3, 3),
    ccx.WEDGE: (0, 2, 1, 1, 3, 5, 4, 4),
    ccx.PYRAMID: (0, 1, 2, 3, 4, 4, 4, 4),
}


def elements(cells, types, bricks):
    """[element] CalculiX's name, nodes in its order, and corners of its faces."""
    found = []
    for cell, kind in zip(cells, types):
        if kind == ccx.TETRAHEDRON and not bricks:
            found.append(("C3D4", cell, FACES[kind]))
            continue
        found.append(("C3D8", [cell[k] for k in BRICK[kind]], FACES[ccx.HEXAHEDRON]))
    return found


def boundary(cells):
    """Faces of only one element, {nodes: (element, number of the face)}, without faces that collapse to an edge or a
    point."""
    seen = {}
    for e, (_, nodes, faces) in enumerate(cells):
        for f, corners in enumerate(faces):
            key = tuple(sorted({nodes[c] for c in corners}))
            if len(key) > 2:
                seen.setdefault(key, []).append((e, f))
    return {nodes: owner[0] for nodes, owner in seen.items() if len(owner) == 1}


def members(name, points, cells):
    """Nodes and elements of a set of CONFIG, found here from the text of CONFIG."""
    if name in ("poor", "core"):
        low, high = ((3, -1, -1), (8, 9, 2.2)) if name == "poor" else ((1.5, 0.5, 0.5), (4, 3, 4))
        inside = []
        for e, (_, nodes, _) in enumerate(cells):
            corners = set(nodes)
            mean = [sum(points[a][i] for a in corners) / len(corners) for i in range(3)]
            if all(a <= b <= c for a, b, c in zip(low, mean, high)):
                inside.append(e)
        return [], inside
    axis, at = {"left": (0, 0.0), "right": (0, 7.0), "lid": (2, 5.0)}[name]
    return [a for a, x in enumerate(points) if abs(x[axis] - at) < 1e-6], []


def element_lines(cells, poor):
    """*ELEMENT blocks by type and conductivity, with sections."""
    text = []
    for name, k in (("GOOD", 2.5), ("POOR", 0.1 + (2.5 - 0.1) * 0.5**3)):
        chosen = [e for e in range(len(cells)) if (e in poor) == (name == "POOR")]
        text.append(f"*MATERIAL, NAME={name}\n*CONDUCTIVITY\n{k!r}")
        for kind in sorted({cells[e][0] for e in chosen}):
            text.append(f"*ELEMENT, TYPE={kind}, ELSET={name}{kind}")
            text += [f"{e + 1}, " + ", ".join(str(a + 1) for a in cells[e][1]) for e in chosen if cells[e][0] == kind]
            text.append(f"*SOLID SECTION, ELSET={name}{kind}, MATERIAL={name}")
    return text


def write_job(path, points, cells, acts):
    faces = boundary(cells)
    text = ["*NODE, NSET=NALL"]
    text += [f"{a + 1}, {x[0]:.12e}, {x[1]:.12e}, {x[2]:.12e}" for a, x in enumerate(points)]
    text += element_lines(cells, set(members("poor", points, cells)[1]))
    text += ["*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.", "*STEP\n*HEAT TRANSFER, STEADY STATE"]
    for name, t in acts.get("held", {}).items():
        text.append("*BOUNDARY")
        text += [f"{a + 1}, 11, 11, {t!r}" for a in members(name, points, cells)[0]]
    for name, s in acts.get("source", {}).items():
        text.append("*DFLUX")
        text += [f"{e + 1}, BF, {s!r}"
                 for e in (range(len(cells)) if name is None else members(name, points, cells)[1])]
    for kind, label in (("flux", "S"), ("film", "F")):
        for name, value in acts.get(kind, {}).items():
            nodes = set(members(name, points, cells)[0])
            on = [owner for corners, owner in faces.items() if nodes.issuperset(corners)]
            assert on
            text.append("*DFLUX" if kind == "flux" else "*FILM")
            words = repr(value) if kind == "flux" else f"{value[1]!r}, {value[0]!r}"
            text += [f"{e + 1}, {label}{f + 1}, {words}" for e, f in on]
    write(path, "\n".join(text + ["*NODE PRINT, NSET=NALL\nNT\n*END STEP\n"]))


def check_case(hextop, name, kind):
    """Temperatures by hextop on a box of one kind of elements."""
    text, acts = CASES[name]
    label = f"{name}_{kind}"
    mesh, sides = 'generator = "cantilever"; nx = 7; ny = 4; nz = 5; distort = 0.2; shuffle = 3;', ""
    if kind != "hexahedra":
        ccx.write_box(kind + ".vtk", kind, (7, 4, 5), 0.15)
        mesh, sides = f'file = "{kind}.vtk";', SIDES
    write(label + ".cfg", CONFIG.format(acts=text, mesh=mesh, sides=sides))
    run(hextop, "-q", "analyse", label + ".cfg", "--vtk", label + ".vtk")
    points, cells, types, arrays = ccx.read_vtk(label + ".vtk")
    cells = elements(cells, types, "film" in acts)
    write_job(label + ".inp", points, cells, acts)
    ours, theirs = arrays["temperature"], ccx.calculix(label, 1, 1, "temperatures")[0]
    low, high = min(t[0] for t in theirs), max(t[0] for t in theirs)
    off = ccx.difference(ours, theirs)
    check(off <= SAME and high - low > 1.0,
          f"{name}, {kind} ({', '.join(sorted({c[0] for c in cells}))}): temperatures {low:g} to {high:g}, "
          f"differing by {off:.1e} of them")
    return ours


def main():
    hextop = os.path.realpath(sys.argv[1])
    ccx.need_ccx()
    os.environ["OMP_NUM_THREADS"] = "1"
    ccx.check_difference()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        found = {name: check_case(hextop, name, "hexahedra") for name in CASES}
        for kind in ccx.KINDS:
            for name in ("flux", "film", "films"):
                check_case(hextop, name, kind)
        # the comparison must detect a difference
        check(ccx.difference(found["film"], found["films"]) > 0.01, "other films, other temperatures")
        os.chdir("/")
    return ccx.finish()


sys.exit(main())
