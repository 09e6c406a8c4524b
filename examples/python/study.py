#!/usr/bin/env python3
"""A parameter study: compliance of the cantilever for several volumes and filter radii.

    python3 examples/python/study.py [study.csv]

Runs one session after the other and prints a table. With an argument it also writes that CSV file
and, if matplotlib is installed, a plot of the same name that ends in .png."""
import csv
import sys

import hextop
from cantilever import CONFIG

VOLUMES = (0.2, 0.3, 0.4, 0.5)
RADII = (1.2, 1.6, 2.4)
SMALL = {"mesh.nx": 16, "mesh.ny": 8, "mesh.nz": 8, "optimization.iterations": 12, "units": "N, mm, MPa"}


def compliance(volume, radius):
    keys = dict(SMALL)
    keys.update({"optimization.volume_fraction": volume, "optimization.filter.radius": radius})
    with hextop.Session(CONFIG, "study.cfg", keys) as part:
        part.run()
        return part.number("compliance")


def plot(rows, path):
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plot is written")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    for k, radius in enumerate(RADII):
        pyplot.plot(VOLUMES, [row[1 + k] for row in rows], marker="o", label=f"radius {radius}")
    pyplot.xlabel("volume fraction")
    pyplot.ylabel("compliance, N mm")
    pyplot.legend()
    pyplot.savefig(path)


def main():
    print("volume " + "".join(f"  radius {radius}" for radius in RADII))
    rows = []
    for volume in VOLUMES:
        rows.append([volume] + [compliance(volume, radius) for radius in RADII])
        print(f"{volume:6} " + "".join(f"{value:12.5g}" for value in rows[-1][1:]))
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([["volume"] + [f"radius {radius}" for radius in RADII]] + rows)
        plot(rows, sys.argv[1].rsplit(".", 1)[0] + ".png")


if __name__ == "__main__":
    main()
