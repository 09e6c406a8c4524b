#!/usr/bin/env python3
"""Tetrahedra and mixed meshes: compares the same part of hexahedra and of tetrahedra, and measures the cost per design
on meshes of each kind.

    tets.py compare HEXTOP OUT --hex FILE --tet FILE [--finer-hex FILE] [--finer-tet FILE] [--radius 8]
    tets.py cost HEXTOP OUT FILE [FILE ...] [--designs 50] [--radius 3]
            both: [--refine PROGRAM] [--set KEY=VALUE ...]; compare: [--element quadratic | quadratic-solid | none]

FILE: a mesh made as described in doc/notebook/2026-11-25-tetrahedra.md, or the same compressed (.xz, .gz); FILE*8:
the mesh with every tetrahedron split into eight by PROGRAM (BUILD/tests/bench/refine). Supported are meshes of
bracket.geo (sets bolts and pin) and of lever.geo (root, hole and pad).

compare: designs each mesh with a filter radius in mm, and analyses its 0/1 design of equal volume with linear and
with quadratic elements. The table has the differences of the compliances, in per cent of the first. If designs of
finer meshes are given, they show the cause. Exit status 1: more than 3 % difference with quadratic elements, designs
that are not black-and-white, or a radius below three edges.

cost: PCG iterations, seconds per design and bytes per element, with a radius in elements. OUT/NAME/ keeps the files
of each run. Needs only Python 3.
"""

import argparse
import csv
import gzip
import json
import lzma
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import time

MOST_APART = 3.0  # per cent
MOST_GREY = 0.1
LEAST_RADIUS = 3.0  # edges

COMMON = """
units = "N, mm, MPa";
mesh = {{ file = "{mesh}"; }};
material = {{ E = 210000.0; nu = 0.3; }};
optimization = {{ volume_fraction = {volume}; iterations = {designs}; rho_min = 0.001;
    filter = {{ kind = "density"; radius = {radius}; unit = "{unit}"; volume_weighted = true; }};
    projection = {{ every = {every}; }}; }};
output = {{ directory = "{out}"; every = 0; fields = ("density"); }};
"""

PARTS = {
    "bracket": """
title = "Bracket";
supports = ( { set = "bolts"; fix = "xyz"; } );
loads = ( { set = "pin"; total_force = [0.0, -5000.0, 1500.0]; } );
passive = ( { set = "bolts"; skin = 5.5; }, { set = "pin"; skin = 6.0; } );
""",
    "lever": """
title = "Lever";
supports = ( { set = "root"; fix = "xyz"; } );
loads = ( { set = "hole"; bearing_force = [0.0, 0.0, -6000.0]; case = 1; }, { set = "pad"; pressure = 10.0; case = 2; } );
passive = ( { set = "hole"; skin = 4.0; }, { set = "pad"; skin = 4.0; } );
""",
}
VOLUME = {"bracket": 0.3, "lever": 0.4}


def run(command, log):
    began = time.monotonic()
    with open(log, "w", encoding="utf-8") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n"
                 f"{pathlib.Path(log).read_text(encoding='utf-8')[-2000:]}")
    return time.monotonic() - began


def unpack(path, out):
    """Path of the mesh; a compressed file is extracted into OUT."""
    opener = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix)
    if not opener:
        return path
    plain = out / path.stem
    if not plain.exists():
        with opener(path) as packed, open(str(plain) + ".part", "wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
        pathlib.Path(str(plain) + ".part").rename(plain)
    return plain


def mesh_of(args, text):
    """Path and name of a mesh, from its argument on the command line."""
    times = text.endswith("*8")
    path = unpack(pathlib.Path(text[:-2] if times else text).resolve(), args.out)
    if not times:
        return path, path.stem
    if not args.refine:
        sys.exit(f"{text}: --refine BUILD/tests/bench/refine is missing")
    finer = args.out / f"{path.stem}-8.msh"
    if not finer.exists():
        run([args.refine, path, finer], args.out / f"{path.stem}-8.log")
    return finer, finer.stem


def design(args, text):
    """Runs a mesh; returns its folder and summary."""
    path, name = mesh_of(args, text)
    part = next((part for part in PARTS if name.startswith(part)), None)
    if not part:
        sys.exit(f"{path}: its name begins with none of {', '.join(PARTS)}")
    folder = args.out / name
    folder.mkdir(exist_ok=True)
    config = args.out / f"{name}.cfg"
    config.write_text(PARTS[part] + COMMON.format(
        mesh=path, out=folder, volume=VOLUME[part], designs=args.designs, every=max(1, args.designs // 7),
        radius=args.radius, unit="length" if args.mode is compare else "element"), encoding="utf-8")
    run([args.hextop, "run", config, *args.set], args.out / f"{name}.log")
    return folder, json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def print_table(rows):
    keys = list(rows[0])
    width = [max(len(k), *(len(str(r[k])) for r in rows)) for k in keys]
    print("  ".join(k.ljust(w) for k, w in zip(keys, width)))
    for r in rows:
        print("  ".join(str(r[k]).ljust(w) for k, w in zip(keys, width)))


def save(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


# --- the same part ---


def verify(args, folder):
    """Results of `hextop verify`, and its seconds."""
    result = sorted(folder.glob("density_*.vtk"))[-1]
    how = [] if args.element == "none" else ["--element", args.element]
    seconds = run([args.hextop, "verify", result, folder / "config.cfg", *how, "--output", folder / "verify.json"],
                  folder / "verify.log")
    return json.loads((folder / "verify.json").read_text(encoding="utf-8")), seconds


def measure(args, label, text):
    folder, summary = design(args, text)
    found, seconds = verify(args, folder)
    quadratic = found.get("quadratic")
    return {
        "mesh": label,
        "elements": summary["elements"],
        "edge": summary["mesh"]["element_size"],
        "greyness": summary["greyness"],
        "volume": found["volume_solid"],
        "share": found["volume_solid"] / summary["mesh"]["volume"],
        "grey": summary["compliance"],
        "0/1": found["black_white"]["compliance"],
        "quadratic": quadratic["analysis"]["compliance"] if quadratic else None,
        "solid alone": bool(quadratic and quadratic["solid_only"]),
        "design s": summary["seconds_per_iteration"]["median"],
        "run s": summary["seconds"],
        "verify s": seconds,
    }


def apart(row, first, key):
    return 100.0 * (row[key] / first[key] - 1.0)


def report(args, rows):
    """Prints the table; returns a list of lines that describe errors."""
    first, faults, shown = rows[0], [], []
    key = "0/1" if args.element == "none" else "quadratic"
    for row in rows:
        stiff = "" if row["quadratic"] is None else f"{100.0 * (row['quadratic'] / row['0/1'] - 1.0):+.2f}"
        shown.append({
            "mesh": row["mesh"], "elements": f"{row['elements']:,}", "edge, mm": f"{row['edge']:.3f}",
            "radius / edge": f"{args.radius / row['edge']:.2f}", "greyness": f"{row['greyness']:.4f}",
            "0/1 volume": f"{row['volume']:.6g}", "share": f"{row['share']:.5f}", "grey": f"{row['grey']:.6g}",
            "0/1": f"{row['0/1']:.6g}", "%": f"{apart(row, first, '0/1'):+.2f}",
            "quadratic": "" if row["quadratic"] is None else f"{row['quadratic']:.6g}",
            "softer, %": stiff, "apart, %": f"{apart(row, first, key):+.2f}",
            "s per design": f"{row['design s']:.4f}", "run, s": f"{row['run s']:.2f}", "verify, s": f"{row['verify s']:.1f}"})
        if args.radius < LEAST_RADIUS * row["edge"]:
            faults.append(f"{row['mesh']}: a radius of {args.radius / row['edge']:.2f} edges")
        if row["greyness"] > MOST_GREY:
            faults.append(f"{row['mesh']}: greyness {row['greyness']:.3f} is not black and white")
        if not abs(row["share"] / first["share"] - 1.0) < 1e-3:
            faults.append(f"{row['mesh']}: another volume, {row['share']:.5f} of the part, not {first['share']:.5f}")
    if not abs(apart(rows[1], first, key)) <= MOST_APART:
        faults.append(f"{rows[1]['mesh']} and {first['mesh']} are {apart(rows[1], first, key):+.2f} % apart")
    print_table(shown)
    save(args.out / "compare.csv", rows)
    if any(row["solid alone"] for row in rows):
        print("quadratic elements: only the solid was analysed if the whole part did not fit")
    return faults


def compare(args):
    meshes = [("hexahedra", args.hex), ("tetrahedra", args.tet),
              ("finer hexahedra", args.finer_hex), ("finer tetrahedra", args.finer_tet)]
    faults = report(args, [measure(args, label, text) for label, text in meshes if text])
    for fault in faults:
        print(f"failed: {fault}")
    return 1 if faults else 0


# --- cost per design ---


def cost(args):
    rows = []
    for text in args.file:
        folder, summary = design(args, text)
        with open(folder / "history.csv", newline="", encoding="utf-8") as file:
            history = list(csv.DictReader(file))
        pcg = [int(line["pcg_iterations"]) for line in history]
        rows.append({
            "mesh": folder.name, "elements": summary["elements"], "nodes": summary["nodes"],
            "operator": summary["operator"], "preconditioner": summary["preconditioner"],
            "iterations": f"{min(pcg)} to {max(pcg)}", "median": statistics.median(pcg),
            "s per design": round(summary["seconds_per_iteration"]["median"], 5), "run, s": round(summary["seconds"], 2),
            "set-up, s": round(summary["setup"]["until_first_product"], 2),
            "bytes per element": round(summary["memory"]["device_bytes_per_element"], 1),
            "compliance": f"{summary['compliance']:.6g}", "greyness": round(summary["greyness"], 4)})
    print_table(rows)
    save(args.out / "cost.csv", rows)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    for mode, text in ((compare, "the same part of hexahedra and of tetrahedra"), (cost, "time and memory per design")):
        sub = modes.add_parser(mode.__name__, help=text)
        sub.set_defaults(mode=mode)
        sub.add_argument("hextop", type=lambda p: pathlib.Path(p).resolve())
        sub.add_argument("out", type=pathlib.Path)
        sub.add_argument("--refine", type=lambda p: pathlib.Path(p).resolve())
        sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
        sub.add_argument("--radius", type=float, default=8.0 if mode is compare else 3.0,
                         help="of the filter, in mm (8), of cost in elements (3)")
        sub.add_argument("--designs", type=int, default=100 if mode is compare else 50)
        if mode is compare:
            sub.add_argument("--element", choices=("quadratic", "quadratic-solid", "none"), default="quadratic")
            sub.add_argument("--hex", required=True)
            sub.add_argument("--tet", required=True)
            sub.add_argument("--finer-hex")
            sub.add_argument("--finer-tet")
        else:
            sub.add_argument("file", nargs="+")
    args = parser.parse_args()
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    return args.mode(args)


if __name__ == "__main__":
    sys.exit(main())
