#!/usr/bin/env python3
"""Runs one design optimisation with every operator of a device and compares the compliances.

    python3 tests/bench/agree.py HEXTOP OUT [--examples cantilever,...] [--size 1]
            [--operators ebe,ebe8,...] [--tolerance 1e-4] [--set KEY=VALUE ...]

Exit status 1 if two differ by more than the tolerance (relative). Needs only Python 3.
"""
import argparse
import math
import pathlib
import sys

from paper import EXAMPLES, run


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--examples", default=",".join(EXAMPLES))
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--operators", default="ebe,ebe8,ebe24,ebe64,warp64,sym,sym32,nbn,dedup,voxels,otf")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--set", nargs="*", default=[], help="config overrides for every run")
    args = parser.parse_args()

    configs = pathlib.Path(__file__).resolve().parents[2] / "configs"
    worst = 0.0
    for example in args.examples.split(","):
        values = []
        for operator in args.operators.split(","):
            out = args.out / f"{EXAMPLES[example]}{args.size}-{operator}"
            summary = run(args.hextop, configs / f"{example}.cfg", out, args.size,
                          [f"solver.operator={operator}", *args.set])
            values.append(summary["compliance"])
            print(f"{EXAMPLES[example]}{args.size} {operator:8s} {values[-1]:.10g}  "
                  f"{summary['pcg_iterations_total']} PCG iterations, "
                  f"{summary['seconds']:.3f} s", flush=True)
        finite = all(map(math.isfinite, values)) and min(values) > 0
        spread = (max(values) - min(values)) / min(values) if finite else math.inf
        worst = max(worst, spread)
        print(f"{EXAMPLES[example]}{args.size} relative spread {spread:.1e}", flush=True)
    return worst > args.tolerance


if __name__ == "__main__":
    sys.exit(main())
