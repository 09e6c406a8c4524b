#!/usr/bin/env python3
"""configs/arch.cfg, a bridge under its own weight: the design is one piece, black-and-white, and hides no volume where
elements are almost without weight.

    test_arch.py HEXTOP SRCDIR"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HEXTOP, SRCDIR = (os.path.abspath(argument) for argument in sys.argv[1:3])
N_CHECK = N_FAILED = 0
LOW = 0.1 # densities below this weigh less than in proportion (core/problem/body_force.h)


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def hextop(*words):
    return subprocess.run([HEXTOP, *words], capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, OMP_WAIT_POLICY="passive"))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def densities(folder):
    with open(glob.glob(folder + "/density_*.vtk")[-1], encoding="ascii") as file:
        text = file.read()
    at = re.search(r"SCALARS density \w+( 1)?\nLOOKUP_TABLE \w+\n", text)
    return [float(word) for word in text[at.end():].split()[:3072]]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
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
    os.chdir("/")
print(f"{N_CHECK} checks, {N_FAILED} failed")
sys.exit(1 if N_FAILED else 0)
