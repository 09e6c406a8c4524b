#!/usr/bin/env python3
"""`hextop verify` measures the least thickness and the gaps of a part whose config states them: of its 0/1 design and of its
surface, of the whole of a half at a plane of symmetry; and warns, by place.

    test_verify_thickness.py HEXTOP"""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from box_result import write
from program import check, finish, hextop, work_folder

CONFIG = """mesh = {{ generator = "cantilever"; nx = 24; ny = {ny}; nz = 12; }};
sets = ( {{ name = "half"; plane = {{ point = [0.0, 6.0, 0.0]; normal = [0.0, 1.0, 0.0]; }}; }} );
supports = ( {{ set = "left"; fix = "xyz"; }}{support} );
loads = ( {{ set = "right"; total_force = [0.0, 0.0, -1.0]; }} );
optimization = {{ volume_fraction = 0.3; {length} }};
solver = {{ device = "cpu"; operator = "otf"; }};
"""
SYMMETRY = ', { set = "half"; fix = "y"; }'


def bar(width):
    """Two blocks, and a bar between them of `width` cells."""
    return lambda x, y, z: x < 6 or x >= 18 or (abs(y - 5.5) < 0.5 * width and abs(z - 5.5) < 0.5 * width)


def slot(x, y, z):
    """A block with a slot of two cells from above."""
    return 0 < y < 11 and 0 < z < 11 and not (11 <= x < 13 and z >= 4)


def verify(density, length, ny=12, support=""):
    pathlib.Path("a.cfg").write_text(CONFIG.format(ny=ny, support=support, length=length))
    write("a.vtk", (24, ny, 12), density, 1)
    said = hextop("verify", "a.vtk", "a.cfg", "--made", "no", "--output", "a.json")
    check(said.returncode == 0, said.stderr)
    return said, json.loads(pathlib.Path("a.json").read_text()).get("thickness")


def judge(found, member, off):
    for part, error in (("design", 1e-6), ("surface", off * member)):
        value, place = found[part]["least_thickness"], found[part]["thinnest_place"]
        check(abs(value - member) <= error and 5.0 < place[0] < 19.0 and all(4.0 < i < 8.0 for i in place[1:]), f"{part}: {found}")


def main():
    said, found = verify(bar(4), "minimum_length = 4.0;")
    judge(found, 4.0, 0.1)
    check("a member of" not in said.stderr and "minimum_length = 4, 4 elements" in said.stdout, said.stdout + said.stderr)
    said, found = verify(bar(2), "minimum_length = 4.0;")
    judge(found, 2.0, 0.2)
    for part in ("0/1 design", "surface"):
        check(f"the {part} has a member of" in said.stderr and "less than optimization.minimum_length = 4" in said.stderr, said.stderr)
    said, found = verify(bar(4), "minimum_length = 4.0;", 6, SYMMETRY)
    judge(found, 4.0, 0.1)
    check("a member of" not in said.stderr, f"the half of a bar: {said.stderr}")
    _, found = verify(bar(4), "minimum_length = 4.0;", 6)
    check(abs(found["design"]["least_thickness"] - 2.0) < 1e-6, f"a half without symmetry: {found}")
    said, found = verify(slot, "minimum_length = 4.0; minimum_gap = 4.0;")
    check(abs(found["design"]["least_gap"] - 2.0) < 1e-6 and abs(found["surface"]["least_gap"] - 2.0) < 0.4, f"a slot: {found}")
    check("has a gap of" in said.stderr and "less than optimization.minimum_gap = 4" in said.stderr, said.stderr)
    said, found = verify(bar(2), 'filter = { kind = "density"; radius = 2.0; };')
    check(found is None and "thickness" not in said.stdout, f"without a length: {said.stdout}")


with work_folder():
    main()
finish()
