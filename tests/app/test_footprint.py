#!/usr/bin/env python3
"""Zones without stress limits on the part that is made: the edge of its own footprint on a support, which may be a piece
of the held face far from the rim of that face, has a zone on the tetrahedra of the surface.

    test_footprint.py HEXTOP"""
import math
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, hextop, load, work_folder

# a face of 12 x 16 elements is held; a round bar, the part that is made, covers a piece of it
CONFIG = """
units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 20; ny = 12; nz = 16; };
material = { E = 1000.0; nu = 0.3; };
sets = ( { name = "end"; box = { min = [18.0, 0.0, 0.0]; max = [20.0, 12.0, 16.0]; }; },
         { name = "tip"; box = { min = [20.0, 6.0, 8.0]; max = [20.0, 6.0, 8.0]; }; },
         { name = "foot"; box = { min = [0.0, 0.0, 0.0]; max = [6.0, 12.0, 16.0]; }; },
         { name = "middle"; box = { min = [6.0, 0.0, 0.0]; max = [14.0, 12.0, 16.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [16.0, 0.0, 0.0]; } );
optimization = { objective = "volume"; start = 1.0; iterations = 1; filter = { kind = "density"; radius = 1.5; };
    constraints = ( { kind = "stress"; max = 1.1; name = "strong"; } ); };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "out"; every = 0; };
"""
LENGTH, RADIUS, AT, CORNERS = 20.0, 3.0, (6.05, 7.9), 96


def near(a, b, bound, text):
    check(abs(a / b - 1.0) <= bound, f"{text}: {a} and {b}")


def write_bar(path):
    """A closed cylinder from x = 0 to LENGTH as STL."""
    ring = [(AT[0] + RADIUS * math.cos(2 * math.pi * i / CORNERS), AT[1] + RADIUS * math.sin(2 * math.pi * i / CORNERS))
            for i in range(CORNERS)]
    triangles = []
    for p, q in zip(ring, ring[1:] + ring[:1]):
        triangles += [((0.0, *AT), (0.0, *q), (0.0, *p)), ((LENGTH, *AT), (LENGTH, *p), (LENGTH, *q)),
                      ((0.0, *p), (0.0, *q), (LENGTH, *q)), ((0.0, *p), (LENGTH, *q), (LENGTH, *p))]
    with open(path, "wb") as file:
        file.write(b"\0" * 80 + struct.pack("<I", len(triangles)))
        for t in triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *(x for corner in t for x in corner), 0))


def judge(words):
    """Verifies the bar: what was printed, verify.json of the surface, its stresses, the value of the limit divided by the
    stress of a bar with the volume of the tetrahedra."""
    said = hextop("verify", "out", *words, "--surface", "bar.stl", "--refine", "0")
    check(said.returncode in (0, 4), f"{words}: {said.returncode} {said.stderr}")
    surface = load("out/verify.json")["surface"]
    analysis = surface["analysis"]
    tension = 16.0 * LENGTH / surface["volume_meshed"]
    return said, surface, analysis["stresses"], analysis["limits"][0]["value"] / tension


def tension():
    """A bar in tension has the stress of its load, but at its clamped end, where the edge is singular."""
    said, surface, stress, value = judge(["optimization.constraints[0].exclude_radius=0.0"])
    check(value > 1.3 and "zones_share" not in surface, f"no zones: {value}")
    check(stress["outside_zones"]["point"][0] < 0.5, f"the edge of the footprint: {stress}")
    singular = stress["outside_zones"]["value"]
    said, surface, stress, value = judge([])
    near(value, 1.0, 0.1, "the stress of the bar")
    check(stress["outside_zones"]["point"][0] > 1.0, f"outside of the zones: {stress}")
    near(stress["in_zones"]["value"], singular, 1e-6, "in the zones")
    # the default radius is twice that of the filter, 3
    near(surface["zones_share"], 3.0 / LENGTH, 0.15, "share of the zones in the bar")
    printed = re.search(r"of the surface: also near its own supports, springs and point loads, ([0-9]+) tetrahedra, "
                        r"([0-9.]+) % of its volume", said.stdout)
    check(printed and abs(float(printed[2]) - 100.0 * surface["zones_share"]) < 0.6, f"the share is printed: {said.stdout}")
    check(printed and 0 < int(printed[1]) < surface["elements"] / 2, f"tetrahedra: {printed and printed[0]}")
    said, surface, stress, value = judge(["optimization.constraints[0].exclude_radius=1.0"])
    check(0.02 < surface["zones_share"] < 0.07, f"a radius of 1: {surface['zones_share']}")


def of_sets():
    """A set of a limit, and a set that the config excludes, beside the zones of the surface."""
    said, surface, stress, value = judge(["optimization.constraints[0].set=middle"])
    near(value, 1.0, 0.15, "a set away from the support")
    said, surface, stress, value = judge(["optimization.constraints[0].set=foot"])
    check(value < 1.1, f"a set at the support: {value}")
    said, surface, stress, value = judge(['optimization.constraints[0].exclude=("middle")'])
    near(surface["zones_share"], 11.0 / LENGTH, 0.1, "zones of the design and of the surface together")
    near(value, 1.0, 0.1, "outside of both")


def of_loads():
    """Loads on passive solid, on a rigid set and on points of the bar, and springs that hold it."""
    force = "[16.0, 0.0, 0.0]"
    said, surface, stress, value = judge(['passive=({set="end";})'])
    near(value, 1.0, 0.1, "a load on passive solid")
    said, surface, stress, value = judge([f'loads=({{set="right";coupling="rigid";point=[20.0,6.05,7.9];remote_force={force};}})'])
    near(value, 1.0, 0.1, "a rigid set")
    near(surface["zones_share"], 6.0 / LENGTH, 0.15, "zones at both ends")
    said, surface, stress, value = judge(["supports=()", 'springs=({set="left";stiffness=[1e7,1e7,1e7];})'])
    near(value, 1.0, 0.1, "held by springs")
    near(surface["zones_share"], 3.0 / LENGTH, 0.15, "zones at the springs")
    said, surface, stress, value = judge([f'loads=({{set="tip";node_force={force};}})', "optimization.constraints[0].set=middle"])
    check(stress["in_zones"]["point"][0] > 19.0 and stress["in_zones"]["value"] > 1.5, f"a point load: {stress}")
    near(value, 1.0, 0.2, "away from a point load")


with work_folder(threads=1):
    with open("case.cfg", "w", encoding="ascii") as file:
        file.write(CONFIG)
    said = hextop("run", "case.cfg")
    check(said.returncode == 0, said.stderr)
    write_bar("bar.stl")
    tension()
    of_sets()
    of_loads()
finish()
