#!/usr/bin/env python3
"""A thick cylinder under pressure (Lame), a quarter in plane strain, with linear, quadratic and spline elements of the
same file: error of the energy over unknowns and seconds.

    lame.py HEXTOP [-n 2,4,8,16] [--repeats 3] [-o FILE.md]
    lame.py --reference [-n 2,4,8]      by tests/spline/iga_reference.py only, without the program

Radii 50 and 100 mm, height 10 mm, inner pressure 100 MPa; n spans across the wall, 2 n around, 1 along. The energy is
exact: u = A r + B / r. Seconds are CPU seconds of the whole program over all threads, the median of the repeats."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "spline"))
# pylint: disable=wrong-import-position
from iga_reference import Part, np, solve
from splines import write_xml
from spline_parts import quarter_ring

INNER, OUTER, HEIGHT, PRESSURE, YOUNG, NU = 50.0, 100.0, 10.0, 100.0, 210000.0, 0.3
CONFIG = f"""
units = "N, mm, MPa";
mesh = {{ file = "ring.xml"; }};
material = {{ E = {YOUNG}; nu = {NU}; }};
sets = ( {{ name = "ends"; or = ("patch1:w-", "patch1:w+"); }} );
supports = ( {{ set = "patch1:v-"; fix = "y"; }}, {{ set = "patch1:v+"; fix = "x"; }}, {{ set = "ends"; fix = "z"; }} );
loads = ( {{ set = "patch1:u-"; pressure = {PRESSURE}; }} );
optimization = {{ volume_fraction = 1.0; iterations = 1; filter = {{ kind = "none"; }}; }};
solver = {{ device = "cpu"; tolerance = 1e-13; max_iterations = 100000; }};
"""


def spline_points(p):
    return lambda n: (n + p) * (2 * n + p) * (1 + p)


def corners(n):
    return 2 * (n + 1) * (2 * n + 1)


def with_edges(n):
    return corners(n) + 2 * n * (2 * n + 1) + 4 * n * (n + 1) + (n + 1) * (2 * n + 1)


# name, keys, points of n spans across
KINDS = [("linear", ["solver.element=linear"], corners), ("quadratic", ["solver.element=quadratic"], with_edges)]
KINDS += [(f"spline, degree {p}", [f"mesh.degree={p}", "solver.element=spline"], spline_points(p)) for p in (2, 3, 4)]


def exact():
    """f' u of the quarter."""
    a, b = INNER, OUTER
    u = (1 + NU) / YOUNG * PRESSURE * a ** 2 / (b ** 2 - a ** 2) * ((1 - 2 * NU) * a + b ** 2 / a)
    return PRESSURE * u * a * np.pi / 2 * HEIGHT


def by_program(hextop, keys, n, repeats):
    """f' u, PCG iterations, seconds; and the errors."""
    seconds = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([hextop, "analyse", "ring.cfg", "-q", "--output", "a.json",
                               f"mesh.refine=[{n},{2 * n},1]", *keys], capture_output=True, text=True, check=False)
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        if done.returncode:
            return None, done.stderr.strip().split("\n")[-1]
    with open("a.json", encoding="utf-8") as file:
        said = json.load(file)
    case = said["cases"][0]
    return (case["compliance"], case["pcg_iterations"], f"{np.median(seconds):.2f}"), None


def by_reference(degree, n):
    part = Part([quarter_ring(INNER, OUTER, HEIGHT)], degree, (n, 2 * n, 1))
    f = -PRESSURE * part.face_loads(0, 0)[1].ravel()
    fixed = np.unique(np.concatenate([3 * part.face(0, 2) + 1, 3 * part.face(0, 3),
                                      3 * part.face(0, 4) + 2, 3 * part.face(0, 5) + 2]))
    return (f @ solve(part.stiffness(YOUNG, NU), f, fixed), "-", "-"), None


def table(rows):
    text = ["| element | across | unknowns | error of the energy | order | PCG iterations | CPU s |",
            "|---|---|---|---|---|---|---|"]
    last = {}
    for name, n, unknowns, (value, iterations, seconds) in rows:
        error = abs(value / exact() - 1)
        order = f"{np.log(last[name][1] / error) / np.log(n / last[name][0]):.2f}" if name in last else ""
        last[name] = n, error
        text.append(f"| {name} | {n} | {unknowns:,} | {error:.2e} | {order} | {iterations} | {seconds} |")
    return "\n".join(text) + "\n"


def main():
    options = argparse.ArgumentParser(description="Lame's cylinder by every element")
    options.add_argument("hextop", nargs="?")
    options.add_argument("--reference", action="store_true")
    options.add_argument("-n", default="2,4,8,16")
    options.add_argument("--repeats", type=int, default=1)
    options.add_argument("-o", "--output")
    given = options.parse_args()
    counts = [int(x) for x in given.n.split(",")]
    if not given.reference and not given.hextop:
        options.error("HEXTOP or --reference")
    rows = []
    output = os.path.abspath(given.output) if given.output else None
    program = os.path.abspath(given.hextop) if given.hextop else None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_xml("ring.xml", [quarter_ring(INNER, OUTER, HEIGHT)])
        with open("ring.cfg", "w", encoding="ascii") as f:
            f.write(CONFIG)
        kinds = [(f"reference, degree {p}", p, spline_points(p)) for p in (2, 3, 4)] if given.reference else KINDS
        for name, how, points in kinds:
            for n in counts:
                found, fault = by_reference(how, n) if given.reference else by_program(program, how, n, max(1, given.repeats))
                if fault:
                    print(f"{name}, {n}: {fault}", file=sys.stderr)
                    break
                rows.append((name, n, 3 * points(n), found))
        os.chdir("/")
    print(table(rows), end="")
    if output:
        with open(output, "w", encoding="utf-8") as f:
            f.write(table(rows))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
