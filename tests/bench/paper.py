#!/usr/bin/env python3
"""Runs the examples of P1 and prints their table: compliance beside that of P1, PCG iterations, seconds per design
iteration and the share of each stage.

    python3 tests/bench/paper.py HEXTOP OUT [--examples cantilever,lbeam] [--sizes 1,2,3,4,5]
            [--set KEY=VALUE ...]

OUT/<example><size>/ keeps each run's files; OUT/paper.csv the table. Needs only Python 3.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

EXAMPLES = {"cantilever": "CB", "lbeam": "LB", "michell": "MC", "conrod": "CR"}
# P1, table of the compliance after 50 iterations. P1 does not give the loads and the thickness of MC and CR, so their
# values can only be compared in trend.
PAPER = {
    "CB": [4945, 6380, 7864, 10051, 12718],
    "LB": [2107, 2690, 2975, 4219, 5278],
    "MC": [149, 152, 160, 168, 176],
    "CR": [436350, 439732, 441549, 448162, 452735],
}
STAGES = ["precomputation", "spmv", "preconditioner", "vector", "compliance", "filter", "update", "output"]
COLUMNS = ["mesh", "elements", "compliance", "paper", "PCG/iter", "s/iter", "total s"] + [
    "% " + stage for stage in STAGES]


def run(hextop, config, out, size, settings):
    command = [hextop, "run", config, f"mesh.size={size}", f"output.directory={out}",
               "output.every=0", "-q", *settings]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads((out / "summary.json").read_text())


def row(name, summary, paper):
    seconds = summary["seconds_per_iteration"]
    return [name, summary["elements"], f"{summary['compliance']:.6g}", paper,
            f"{summary['pcg_iterations_total'] / summary['iterations']:.0f}",
            f"{seconds['median']:.4g}", f"{summary['seconds']:.4g}"] + [
                f"{summary['shares'][stage]:.1f}" for stage in STAGES]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--examples", default=",".join(EXAMPLES))
    parser.add_argument("--sizes", default="1,2,3,4,5")
    parser.add_argument("--set", nargs="*", default=[], help="config overrides for every run")
    args = parser.parse_args()

    configs = pathlib.Path(__file__).resolve().parents[2] / "configs"
    rows = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for example in args.examples.split(","):
        for size in map(int, args.sizes.split(",")):
            name = f"{EXAMPLES[example]}{size}"
            summary = run(args.hextop, configs / f"{example}.cfg", args.out / name, size, args.set)
            rows.append(row(name, summary, PAPER[EXAMPLES[example]][size - 1]))
            print("| " + " | ".join(map(str, rows[-1])) + " |", flush=True)
    with open(args.out / "paper.csv", "w", newline="") as table:
        csv.writer(table).writerows([COLUMNS] + rows)


if __name__ == "__main__":
    main()
