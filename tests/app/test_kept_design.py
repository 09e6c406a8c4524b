#!/usr/bin/env python3
"""A run whose last design misses a limit that an earlier one meets: the result is the best such design, in the files, the
summary and the last lines, and a resumed run goes on from the last design.

    test_kept_design.py HEXTOP SOURCE"""

import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, history, hextop, summary, work_folder

LIMIT = 0.3
CONFIG = f"""units = "N, mm, MPa";
mesh = {{ generator = "cantilever"; nx = 16; ny = 4; nz = 8; }};
material = {{ E = 1000.0; nu = 0.3; density = 1.0e-9; }};
supports = ( {{ set = "left"; fix = "xyz"; }} );
loads = ( {{ set = "right"; total_force = [0.0, 0.0, -3.0]; }} );
optimization = {{ objective = "mass"; iterations = 40; start = 0.3; filter = {{ kind = "density"; radius = 1.5; }};
  constraints = ( {{ kind = "displacement"; set = "right"; direction = [0.0, 0.0, -1.0]; max = {LIMIT}; name = "tip"; }} ); }};
solver = {{ device = "cpu"; operator = "otf"; deterministic = true; tolerance = 1e-8; }};
output = {{ directory = "whole"; every = 0; }};
"""


def meets(row):
    return row["tip"] <= LIMIT * (1.0 + 1e-3)


def files(folder):
    return [entry["name"] for entry in json.loads(pathlib.Path(folder, "density.vtk.series").read_text())["files"]]


def check_kept(folder, n, best, output):
    result = summary(folder)
    check(result["iterations"] == n and result["result_iteration"] == best["iteration"], f"{folder}: the iteration")
    check(result["limits_met"] and abs(result["limits"][0]["value"] / best["tip"] - 1.0) < 1e-5, f"{folder}: the limit")
    check(abs(result["objective_value"] / best["objective"] - 1.0) < 1e-9, f"{folder}: the objective")
    check(files(folder)[-1] == f"density_{int(best['iteration']):04d}.vtk", f"{folder}: the last file {files(folder)}")
    check(f"the result is the design of iteration {int(best['iteration'])}," in output, f"{folder}: {output}")
    check(len(history(folder, seconds=False)) == n and not meets(history(folder, seconds=False)[-1]), f"{folder}: the history")


def main():
    pathlib.Path("a.cfg").write_text(CONFIG)
    code, output = hextop("run", "a.cfg", "output.every=1")
    check(code == 0, output)
    whole = history("whole", seconds=False)
    n = next((i for i, row in enumerate(whole, 1) if i > 10 and not meets(row)), 0)
    check(n > 0, "no design misses the limit")
    best = min((row for row in whole[:n] if meets(row)), key=lambda row: row["objective"])

    code, output = hextop("run", "a.cfg", f"optimization.iterations={n}", "output.directory=part", "output.every=5",
                          "output.checkpoint=1e-6")
    check(code == 0, output)
    check_kept("part", n, best, output)
    check(history("part", seconds=False) == whole[:n], "the history up to the last design")
    code, output = hextop("verify", "--made", "no", "part")
    check(f"density_{int(best['iteration']):04d}.vtk" in output, f"verify takes another design: {output}")

    code, output = hextop("run", "part/config.cfg", "--resume", "optimization.iterations=40")
    check(code == 0 and history("part", seconds=False) == whole, f"a resumed run goes on: {output}")
    check(pathlib.Path("part/density_0040.vtk").read_bytes() == pathlib.Path("whole/density_0040.vtk").read_bytes(),
          "the last design of a resumed run")
    check(f"density_{int(best['iteration']):04d}.vtk" in files("part"), "the file of the kept design left the series")


with work_folder():
    main()
finish()
