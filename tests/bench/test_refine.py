#!/usr/bin/env python3
"""refine.c makes eight tetrahedra of one; the volume and the faces of sets are preserved, and the mesh conforms.

    test_refine.py REFINE HEXTOP"""

import json
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from calculix import box, check, finish, run, write  # noqa: E402

SIZE = (4, 3, 2)


def write_gmsh(path):
    """A distorted box of tetrahedra in Gmsh's format 2.2; its volume, its end x = 4 and a line of that end are sets."""
    points, cells = box("tetrahedra", SIZE, 0.15)
    elements = [(4, 1, nodes) for _, nodes in cells]
    seen = {}
    for _, nodes in cells:
        for k in range(4):
            face = nodes[:k] + nodes[k + 1 :]
            if all(points[a][0] == SIZE[0] for a in face):
                seen[tuple(sorted(face))] = face
    elements += [(2, 2, face) for face in seen.values()]
    line = sorted((a for a, x in enumerate(points) if x[0] == x[1] == 0), key=lambda a: points[a][2])
    elements += [(1, 3, [a, b]) for a, b in zip(line, line[1:])]
    text = ["$MeshFormat\n2.2 0 8\n$EndMeshFormat",
            '$PhysicalNames\n3\n1 3 "line"\n2 2 "end"\n3 1 "box"\n$EndPhysicalNames', f"$Nodes\n{len(points)}"]
    text += [f"{a + 1} " + " ".join(map(repr, map(float, x))) for a, x in enumerate(points)]
    text.append(f"$EndNodes\n$Elements\n{len(elements)}")
    text += [f"{i + 1} {kind} 2 {group} {group} " + " ".join(str(a + 1) for a in nodes)
             for i, (kind, group, nodes) in enumerate(elements)]
    write(path, "\n".join(text + ["$EndElements\n"]))
    return len(cells)


CONFIG = """
mesh = {{ file = "{mesh}"; }};
material = {{ E = 1.0; nu = 0.3; }};
sets = ( {{ name = "held"; plane = {{ point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }}; }} );
supports = ( {{ set = "held"; fix = "xyz"; }}, {{ set = "line"; fix = "xyz"; }} );
loads = ( {{ set = "end"; traction = [0.0, 0.0, -1.0]; }} );
optimization = {{ volume_fraction = 1.0; iterations = 1; filter = {{ kind = "none"; }}; }};
solver = {{ device = "cpu"; tolerance = 1e-9; }};
output = {{ directory = "{out}"; every = 0; }};
"""


def solve(hextop, mesh):
    """Summary of a run, and the output of `hextop check`."""
    write("part.cfg", CONFIG.format(mesh=mesh, out=mesh + ".out"))
    said = run(hextop, "check", "part.cfg")
    run(hextop, "-q", "run", "part.cfg")
    with open(os.path.join(mesh + ".out", "summary.json"), encoding="utf-8") as f:
        return json.load(f), said


def row(said, name):
    """Numbers of nodes, elements and faces of a set, as check prints them."""
    for line in said.split("\n"):
        words = line.replace(",", "").split()
        if len(words) >= 4 and words[0] == name and all(w.isdigit() for w in words[1:4]):
            return [int(w) for w in words[1:4]]
    return None


def main():
    refine, hextop = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        n = write_gmsh("one.msh")
        run(refine, "one.msh", "two.msh")
        run(refine, "two.msh", "three.msh")
        found = [solve(hextop, name) for name in ("one.msh", "two.msh", "three.msh")]
        for k, (summary, said) in enumerate(found):
            check(summary["elements"] == n * 8**k, f"{n} tetrahedra, then {summary['elements']}")
            check("[0, 0, -6]" in said, "the end has the area 6")
            faces = row(said, "end")
            check(faces is not None and faces[2] == 12 * 4**k, f"faces of the end: {faces}")
            nodes = row(said, "line")
            check(nodes is not None and nodes[0] == 2 * 2**k + 1, f"nodes of the line: {nodes}")
        one, two, three = (summary["compliance"] for summary, _ in found)
        check(one < two < three < 1.2 * two and three - two < 0.6 * (two - one),
              f"softer with every step: {one:.6g}, {two:.6g}, {three:.6g}")
        os.chdir("/")
    return finish()


sys.exit(main())
