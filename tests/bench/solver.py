#!/usr/bin/env python3
"""Runs cases with several preconditioners one after the other, and prints PCG iterations and seconds at some design
iterations, the time of the run, memory, the shares of its stages, and the differences of the compliances.

    python3 tests/bench/solver.py HEXTOP OUT [--examples cantilever,lbeam] [--sizes 1,5]
            [--case "NAME CONFIG KEY=VALUE ..."] [--preconditioners jacobi,multigrid]
            [--at 1,10,30,50] [--set KEY=VALUE ...]

Without --examples and --case: the four examples of P1 in five sizes. OUT/<case>-<preconditioner>/ keeps the files of
each run, OUT/solver.csv the table. The first preconditioner is the reference for the others. Needs only Python 3.
"""
import argparse
import csv
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

EXAMPLES = {"cantilever": "CB", "lbeam": "LB", "michell": "MC", "conrod": "CR"}
ROOT = pathlib.Path(__file__).resolve().parents[2]


def cases(args):
    if args.examples or not args.case:
        for name in (args.examples or ",".join(EXAMPLES)).split(","):
            for size in args.sizes.split(","):
                yield EXAMPLES[name] + size, ROOT / "configs" / f"{name}.cfg", [f"mesh.size={size}"]
    for text in args.case:
        name, config, *settings = shlex.split(text)
        yield name, config, settings


def run(args, name, config, settings, precond):
    out = args.out / f"{name}-{precond}"
    command = [args.hextop, "run", str(config), *settings, *args.set,
               f"solver.preconditioner={precond}", f"output.directory={out}", "-q"]
    if not any(s.startswith("output.every=") for s in [*settings, *args.set]):
        command.append("output.every=0")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stderr}")
    with open(out / "history.csv", newline="") as file:
        history = list(csv.DictReader(file))
    return json.loads((out / "summary.json").read_text()), history


def row(name, precond, at, summary, history, reference):
    seconds = [float(line["seconds"]) for line in history]
    pcg = [int(line["pcg_iterations"]) for line in history]
    shares, iterating = summary["timings"], sum(seconds)
    outside = (iterating - sum(float(line["seconds_pcg"]) for line in history)) / iterating
    n_elem = summary["elements"]
    return {
        "case": name, "elements": n_elem, "preconditioner": precond,
        "operator": summary["operator"],
        **{f"its {k}": pcg[k - 1] for k in at if k <= len(pcg)},
        "its most": max(pcg),
        **{f"s {k}": f"{seconds[k - 1]:.4g}" for k in at if k <= len(pcg)},
        "s mean": f"{statistics.fmean(seconds):.4g}", "s median": f"{statistics.median(seconds):.4g}",
        "s least": f"{min(seconds):.4g}", "s most": f"{max(seconds):.4g}",
        "set-up s": f"{shares['precomputation']:.3g}", "run s": f"{summary['seconds']:.4g}",
        "% outside PCG": f"{100 * outside:.1f}",
        **{f"% {part}": f"{100 * sum(float(line['seconds_' + part]) for line in history) / iterating:.1f}"
           for part in ("spmv", "preconditioner", "vector", "compliance", "filter", "update")},
        "device GB": f"{summary['memory']['device_bytes'] / 1e9:.1f}",
        "host peak GB": f"{summary['memory']['host_peak_bytes'] / 1e9:.1f}",
        "device B/el": f"{summary['memory']['device_bytes'] / n_elem:.0f}",
        "host B/el": f"{summary['memory']['host_peak_bytes'] / n_elem:.0f}",
        "compliance": f"{summary['compliance']:.9g}",
        "compliance off %": f"{100 * (summary['compliance'] / reference - 1):+.4f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--examples", default="")
    parser.add_argument("--sizes", default="1,2,3,4,5")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--preconditioners", default="jacobi,multigrid")
    parser.add_argument("--at", default="1,10,30,50")
    parser.add_argument("--set", nargs="*", default=[], help="config overrides for every run")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    at = [int(k) for k in args.at.split(",")]
    rows = []
    for name, config, settings in cases(args):
        reference = None
        for precond in args.preconditioners.split(","):
            summary, history = run(args, name, config, settings, precond)
            reference = reference or summary["compliance"]
            rows.append(row(name, precond, at, summary, history, reference))
            columns = list(max(rows, key=len))
            if len(rows) == 1:
                print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
            print("| " + " | ".join(str(rows[-1].get(c, "")) for c in columns) + " |", flush=True)
            with open(args.out / "solver.csv", "w", newline="") as file:
                writer = csv.DictWriter(file, columns, restval="")
                writer.writeheader()
                writer.writerows(rows)


main()
