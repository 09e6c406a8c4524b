#!/usr/bin/env python3
"""Optimizes a cantilever iteration by iteration:

    python3 examples/python/cantilever.py [KEY=VALUE ...]

Prints the history and writes cantilever.vtk and cantilever.stl to the current folder."""
import sys

import hextop

CONFIG = """
title = "cantilever from Python";
units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 32; ny = 16; nz = 16; };
material = { E = 210000.0; nu = 0.3; density = 7.85e-9; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; total_force = [0.0, 0.0, -1000.0]; } );
optimization = { volume_fraction = 0.3; iterations = 20; filter = { radius = 1.6; }; };
"""


def main():
    keys = dict(word.split("=", 1) for word in sys.argv[1:])
    said = lambda level, line: print("warning:", line, file=sys.stderr) if level == 2 else None
    try:
        with hextop.Session(CONFIG, "cantilever.cfg", keys, log=said) as part:
            print(f"hextop {hextop.version}: {part.prepare().number('elements'):,.0f} elements")
            print("design  compliance    volume  greyness")
            for step in part:
                print(f"{step.iteration:6}  {step.compliance:10.5g}  {step.volume:8.4f}  {step.greyness:8.4f}")
            rho = part.array("density")  # a numpy view without a copy
            u = part.array("displacement")
            print(f"{(rho > 0.5).mean():.1%} of the elements are solid, largest displacement "
                  f"{(u ** 2).sum(axis=1).max() ** 0.5:.4g} mm, mass {1e6 * part.number('mass'):.4g} g")
            for name in ("cantilever.vtk", "cantilever.stl"):
                part.write(name)
    except hextop.Error as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
