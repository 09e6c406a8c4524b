#!/usr/bin/env python3
"""Runs cases with several stopping criteria of PCG and reports for each: PCG iterations; the compliance of the last
design and of its 0/1 design, both analysed to |r| <= 1e-10 |f|, relative to those of a run with |r| <= 1e-8 |f|; and
the number of designs until no density changes by more than --change.

    python3 tests/bench/criterion.py HEXTOP OUT [--rules relative:1e-5,compliance:1e-6]
            [--case "NAME CONFIG KEY=VALUE ..."] [--change 0.01] [--set KEY=VALUE ...]

Without --case: small cases from the examples of P1, and the parts that come with their meshes. OUT/<case>-<rule>/
keeps the files of each run, which is not repeated; OUT/criterion.csv has the table. Needs only Python 3."""
import argparse
import csv
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = "relative:1e-8"
CASES = (
    "cantilever configs/cantilever.cfg mesh.nx=32 mesh.ny=16 mesh.nz=16 optimization.iterations=100",
    "lbeam configs/lbeam.cfg mesh.nx=25 optimization.iterations=100",
    "michell configs/michell.cfg mesh.nx=24 optimization.iterations=100",
    "conrod configs/conrod.cfg mesh.nx=16 optimization.iterations=100",
    "quickstart configs/quickstart.cfg optimization.iterations=100",
    "bell-crank examples/bell-crank/bell-crank.cfg",
    "heatsink examples/heatsink/heatsink.cfg optimization.iterations=60",
    "hook examples/hook/hook.cfg",
)


def hextop(args, *words):
    done = subprocess.run([args.hextop, *words], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}\n{done.stderr}")


def analysed(args, out, config, settings, *options):
    result = out / "analysed.json"
    hextop(args, "analyse", config, *settings, "--density", str(out), *options, "--output", str(result))
    return json.loads(result.read_text())["compliance"]


def run(args, name, config, settings, rule):
    criterion, tolerance = rule.split(":")
    out = (args.out / f"{name}-{criterion}-{tolerance}").resolve()
    kept = out / "criterion.json"
    if kept.exists():
        return json.loads(kept.read_text())
    settings = [*settings, *args.set]
    hextop(args, "run", config, *settings, f"solver.criterion={criterion}",
           f"solver.tolerance={tolerance}", f"output.directory={out}", "output.every=0", "-q", "--force")
    with open(out / "history.csv", newline="") as file:
        history = list(csv.DictReader(file))
    settled = [int(line["iteration"]) for line in history if float(line["change"]) < args.change]
    summary = json.loads((out / "summary.json").read_text())
    found = {
        "iterations": summary["pcg_iterations_total"],
        "said": summary["compliance"],
        "grey": analysed(args, out, config, settings),
        "0/1": analysed(args, out, config, settings, "--black-white"),
        "designs": settled[0] if settled else None,
        "change": float(history[-1]["change"]),
    }
    kept.write_text(json.dumps(found))
    return found


def row(name, rule, r, tight):
    return {
        "case": name, "rule": rule, "PCG iterations": r["iterations"],
        "compliance": f"{r['grey']:.8g}",
        "off": f"{r['grey'] / tight['grey'] - 1.0:+.1e}",
        "0/1 off": f"{r['0/1'] / tight['0/1'] - 1.0:+.1e}",
        "said off": f"{r['said'] / r['grey'] - 1.0:+.1e}",
        "designs": "-" if r["designs"] is None else r["designs"],
        "last change": f"{r['change']:.3f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop", type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rules", default="relative:1e-5,relative:1e-3,compliance:1e-5,compliance:1e-6,compliance:1e-7")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--change", type=float, default=0.01)
    parser.add_argument("--set", nargs="*", default=[])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for text in args.case or CASES:
        name, config, *settings = shlex.split(text)
        tight = run(args, name, config, settings, REFERENCE)
        rows.append(row(name, REFERENCE, tight, tight))
        print("  ".join(f"{v!s:>12}" for v in rows[-1].keys()), flush=True)
        print("  ".join(f"{v!s:>12}" for v in rows[-1].values()), flush=True)
        for rule in args.rules.split(","):
            rows.append(row(name, rule, run(args, name, config, settings, rule), tight))
            print("  ".join(f"{v!s:>12}" for v in rows[-1].values()), flush=True)
    with open(args.out / "criterion.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
