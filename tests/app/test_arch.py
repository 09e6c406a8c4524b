#!/usr/bin/env python3
"""configs/arch.cfg, a bridge under its own weight: the design is one piece, black-and-white, and hides no volume where
elements are almost without weight.

    test_arch.py HEXTOP SRCDIR"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, hextop, load, work_folder

SRCDIR = os.path.abspath(sys.argv[2])
LOW = 0.1 # densities below this weigh less than in proportion (core/problem/body_force.h)


def densities(folder):
    with open(glob.glob(folder + "/density_*.vtk")[-1], encoding="ascii") as file:
        text = file.read()
    at = re.search(r"SCALARS density \w+( 1)?\nLOOKUP_TABLE \w+\n", text)
    return [float(word) for word in text[at.end():].split()[:3072]]


with work_folder(threads=1):
    for above in (0.15, 0.1): # the share of the volume below the deck, which takes a sixteenth
        name, wanted = f"arch{above}", above + 0.0625
        said = hextop("run", SRCDIR + "/configs/arch.cfg", f"optimization.volume_fraction={wanted}", "output.directory=" + name,
                      "output.format=ascii")
        check(said.returncode == 0 and "mma, because with loads by mass" in said.stdout, f"{name}: {said.stderr}")
        summary = load(name + "/summary.json")
        check(summary["volume"] <= wanted * (1 + 1e-4), f"{name}: volume {summary['volume']}, at most {wanted}")
        rho = densities(name)
        low = sum(r for r in rho if r < LOW) / sum(rho)
        check(len(rho) == 3072 and low < 0.02, f"{name}: {low:.3f} of the volume lies in densities below {LOW}")
        said = hextop("verify", "--made", "no", name)
        found = load(name + "/verify.json")
        off = found["difference_percent"]["compliance"]
        check(abs(off) < 5.0, f"{name}: the 0/1 compliance differs by {off:.1f} %")
        check(found["pieces"]["joined_by_faces"] == 1, f"{name}: pieces {found['pieces']}")
finish()
