#!/usr/bin/env python3
"""`hextop surface` compares the members of the surface with those of the 0/1 design: least thickness, through holes, and
members that it cannot keep, with which a try of `hextop lightest` has no part.

    test_surface_members.py HEXTOP"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from box_result import write
from program import check, finish, hextop, load, work_folder


def surface(n, density):
    write("part.vtk", n, density)
    said = hextop("surface", "part.vtk", "part.stl", "--config", "none", "--output", "part.json")
    check(said.returncode == 0, said.stderr)
    return said, load("part.json")


def blocks(x):
    return x < 4 or x >= 14


def thickness():
    """Two blocks and a bar of three elements, in the middle of which are two; then of one element, which is repaired."""
    for neck, width in ((2, 3), (1, 1)):
        said, made = surface((18, 9, 9), lambda x, y, z: blocks(x) or all(
            3 <= i < 3 + (neck if 8 <= x < 10 else width) for i in (y, z)))
        design = made["design"]
        check(abs(design["least_thickness"] - 2.0 * neck) < 1e-6, f"{neck}: 0/1 design {design}")
        check(0.6 * 2 * neck < made["least_thickness"] < 1.25 * 2 * neck, f"{neck}: surface {made['least_thickness']}")
        for name, place in (("0/1 design", design["thinnest_place"]), ("surface", made["thinnest_place"])):
            low, high = (16.0, 20.0) if neck < width else (8.0, 28.0)
            check(low - 1.0 <= place[0] <= high + 1.0 and all(6.0 <= i <= 12.0 for i in place[1:]), f"{neck}, {name}: at {place}")
        printed = re.search(r"thickness  members of at least ([0-9.]+), one at .*\n0/1 design members of at least ([0-9.]+), one at", said.stdout)
        check(printed and abs(float(printed[1]) / made["least_thickness"] - 1.0) < 1e-3 and float(printed[2]) == 2.0 * neck,
              f"{neck}: {said.stdout}")
        check("through hole" not in said.stderr, f"{neck}: {said.stderr}")
    said, made = surface((6, 6, 6), lambda x, y, z: 0 < min(x, y, z) and max(x, y, z) < 5)
    check(said.stdout.count("no struts or walls") == 2 and made["least_thickness"] is None and "thinnest_place" not in made,
          f"a block: {said.stdout}")


def holes():
    """A plate with a hole of one element, which the level set closes, and with one of three."""
    for width, closed in ((1, True), (3, False)):
        said, made = surface((11, 11, 5), lambda x, y, z: 1 <= z < 4 and not all(
            (11 - width) // 2 <= i < (11 + width) // 2 for i in (x, y)))
        check(made["design"]["through_holes"] == 1 and made["through_holes"] == (0 if closed else 1), f"{width}: {made}")
        check(("the surface has 0 through holes, the 0/1 design 1: threshold and smoothing close some" in said.stderr) == closed and
              ("through hole" in said.stderr) == closed, f"{width}: {said.stderr}")


LIGHTEST = """mesh = { file = "part.vtk"; };
material = { E = 1.0; nu = 0.3; density = 1.0; };
sets = ( { name = "left"; box = { min = [0, 0, 0]; max = [0, 18, 18]; }; },
         { name = "right"; box = { min = [26, 0, 0]; max = [26, 18, 18]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [1.0, 0.0, 0.0]; } );
optimization = { objective = "volume"; iterations = 1; move = 1e-6; initial = "part.vtk"; filter = { kind = "none"; };
    constraints = ( { kind = "displacement"; set = "right"; max = 1.0; } ); };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { directory = "out"; };
"""


def bars(x, y, z):
    """Two blocks and twelve bars of 2 x 1 elements between them, of densities 0.88 to 1 in steps of 0.02. Each bar that is
    repaired takes material from the blocks by a higher threshold, which cuts denser bars, until no round is left."""
    number = y // 3 + 3 * (z // 2)
    if not 4 <= x < 9:
        return 1.0
    return min(1.0, 0.88 + 0.02 * number) if y % 3 > 0 and z % 2 == 0 and number < 12 else 0.0


def cut():
    """A run that returns these bars: `surface` names what it cuts, and `lightest` has no part."""
    said, made = surface((13, 9, 9), bars)
    check(len(made["members_repaired"]) >= 10, f"{len(made['members_repaired'])} repaired: {said.stdout}")
    check(len(made["members_cut"]) == 1, f"cut: {made['members_cut']}")
    if not made["members_cut"]:
        return
    check(made["members_cut"][0]["elements"] == 10, f"cut: {made['members_cut']}")
    place = made["members_cut"][0]["place"]
    check(abs(place[0] - 13.0) < 0.5 and bars(6, int(place[1] / 2.0), int(place[2] / 2.0)) > 0.0, f"at {place}")
    words = f"the surface cuts 1 member of the 0/1 design, one at {', '.join(f'{x:.4g}' for x in place)}"
    check(words in said.stderr, f"{words}: {said.stderr}")
    with open("part.cfg", "w", encoding="ascii") as file:
        file.write(LIGHTEST)
    said = hextop("lightest", "part.cfg", "--tries", "1", "--refine", "0")
    check(said.returncode != 0, said.stdout)
    error = f"try 1, surface: {words}"
    check(error in said.stderr and "no try has a part that can be analysed" in said.stderr, f"{error}: {said.stderr}")
    one = load("out/lightest.json")["tries"][0]
    check(words in one["error"], f"{one}")
    check(load("out/try-1/verify.json").get("surface") is None, "the part was analysed")


with work_folder(threads=1):
    thickness()
    holes()
    cut()
finish()
