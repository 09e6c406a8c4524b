#!/usr/bin/env python3
"""Surfaces of five small parts have no needles and no ragged rims, and surface.json states what the STL has. A bar of one
element between two blocks, which the level set would cut, is in the surface.

    test_surface_quality.py HEXTOP SRCDIR"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PARTS = [("configs/quickstart.cfg", 20), ("configs/first.cfg", 15), ("configs/michell.cfg", 10), ("configs/lbeam.cfg", 10),
         ("examples/bell-crank/bell-crank.cfg", 15)]
n_check = n_failed = 0


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(*words):
    done = subprocess.run([HEXTOP, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280, check=False)
    check(done.returncode == 0, f"{' '.join(words)}: exit {done.returncode}, {done.stderr[-300:]}")
    return done.stdout + done.stderr


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def triangle_quality(a, b, c):
    u, v, w = minus(b, a), minus(c, a), minus(c, b)
    cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    squares = sum(x * x for edge in (u, v, w) for x in edge)
    return 2.0 * math.sqrt(3.0 * sum(x * x for x in cross)) / squares


def stl_qualities(path):
    with open(path, "rb") as file:
        data = file.read()
    n = struct.unpack_from("<I", data, 80)[0]
    corners = [[struct.unpack_from("<3f", data, 84 + 50 * t + 12 + 12 * k) for k in range(3)] for t in range(n)]
    return sorted(triangle_quality(*corner) for corner in corners)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def parts():
    for config, iterations in PARTS:
        name = os.path.basename(config)[:-4]
        where = os.path.join(ROOT, os.path.dirname(config))
        mesh = [f"mesh.file={where}/{name}.msh"] if name == "bell-crank" else []
        run("-q", "run", os.path.join(ROOT, config), f"output.directory={name}", f"optimization.iterations={iterations}",
            "output.every=0", *mesh)
        said = run("surface", name, f"{name}.stl")
        found = read(f"{name}/surface.json")
        quality = stl_qualities(f"{name}.stl")
        check(found["triangles"] == len(quality), f"{name}: {found['triangles']} triangles in surface.json, {len(quality)} in the STL")
        check(quality[0] > 0.1, f"{name}: a triangle of quality {quality[0]}")
        low = quality[len(quality) // 100]
        check(low > 0.2, f"{name}: 1 % of the triangles are below {low}")
        check(abs(found["worst_quality"] - quality[0]) < 1e-5, f"{name}: worst quality {found['worst_quality']}, not {quality[0]}")
        check(abs(found["low_quality"] - low) < 0.01, f"{name}: low quality {found['low_quality']}, not {low}")
        check(f"quality    {quality[0]:.2f} at worst" in said, f"{name}: no line on quality")
        rims = re.search(r"^rims +turn back by at most (\d+) degrees within two elements, 99 % by at most (\d+)$", said, re.M)
        check(rims is not None and abs(int(rims[1]) - found["worst_rim_turn_back"]) <= 0.51 and
              abs(int(rims[2]) - found["rim_turn_back"]) <= 0.51, f"{name}: line on rims {rims}")
        check(found["rim_turn_back"] < 15.0 and found["rim_length"] > 0.0, f"{name}: rims turn back by {found['rim_turn_back']}")
        check(found["intersections"] == 0, f"{name}: intersections")
        check(abs(found["volume"] / found["volume_target"] - 1.0) < 1e-3, f"{name}: volume {found['volume']}")
        check(found["members_cut"] == [], f"{name}: cut members {found['members_cut']}")

    said = run("surface", "bell-crank", "chord.stl", "--chord", "0.05", "--output", "chord.json")
    check("chords     at most 0.05 mm from 3 round faces of the part" in said, f"no line on chords: {said}")
    check(read("chord.json")["triangles"] > read("bell-crank/surface.json")["triangles"] + 1000, "--chord splits nothing")
    check(stl_qualities("chord.stl")[0] > 0.1, "a needle along a round face")
    check("changes nothing" in run("surface", "quickstart", "none.stl", "--chord", "0.05"), "--chord without round faces: no warning")


def bar():
    """Two blocks of 4 x 5 x 5 elements and between them a bar of 8 x 1 x 1."""
    n = (16, 5, 5)
    nodes = [(i, j, k) for k in range(n[2] + 1) for j in range(n[1] + 1) for i in range(n[0] + 1)]
    number = {x: a for a, x in enumerate(nodes)}
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [(i, j, k) for k in range(n[2]) for j in range(n[1]) for i in range(n[0])]
    with open("bar.vtk", "w", encoding="ascii") as file:
        file.write(f"# vtk DataFile Version 3.0\nbar\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {len(nodes)} double\n")
        for x in nodes:
            file.write("%d %d %d\n" % x)
        file.write(f"CELLS {len(cells)} {9 * len(cells)}\n")
        for i, j, k in cells:
            file.write("8 " + " ".join(str(number[i + a, j + b, k + c]) for a, b, c in corners) + "\n")
        file.write(f"CELL_TYPES {len(cells)}\n" + "12\n" * len(cells))
        file.write(f"CELL_DATA {len(cells)}\nSCALARS density double 1\nLOOKUP_TABLE default\n")
        for i, j, k in cells:
            file.write("1\n" if i < 4 or i >= 12 or (j == 2 and k == 2) else "0.001\n")
    said = run("surface", "bar.vtk", "bar.stl", "--output", "bar.json")
    found = read("bar.json")
    check("members    1 member of the 0/1 design kept" in said, f"no line on members: {said}")
    check(found["pieces"] == 1 and found["members_cut"] == [], f"the bar is cut: {found}")
    check(len(found["members_repaired"]) == 1 and
          max(abs(x - y) for x, y in zip(found["members_repaired"][0]["place"], (8.0, 2.5, 2.5))) < 1e-9,
          f"members repaired: {found['members_repaired']}")
    check(not os.path.exists("surface.json"), "--output NAME: surface.json is written, too")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        bar()
        parts()
        os.chdir("/")
    print(f"{n_check} checks, {n_failed} failed")
    sys.exit(1 if n_failed else 0)


main()
