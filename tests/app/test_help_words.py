#!/usr/bin/env python3
"""hextop help WORD: terms of the literature, with keys and pages that exist; members of the JSON files that the program writes;
names of earlier versions; environment variables.

    test_help_words.py HEXTOP SRCDIR"""
import functools
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, hextop, load, work_folder

ROOT = pathlib.Path(sys.argv[2]).resolve()
STRING = r'"((?:[^"\\]|\\.)*)"'
# Words that an engineer of the field would look up: the terms of the style guide, and the names that objects
# have in the code.
WORDS = """boundary condition, Dirichlet, prescribed displacement, subdomain, halo exchange, coarse grid, prolongation, smoother,
deflation, near-null space, quadrature point, right-hand side, residual, tolerance, communicator, comm, operator kind, reduce,
groups, linked variables, schedule, dist, concurrent, diag, interface dofs, make_consistent, enable_deflation, transport,
exchange, remote buffer, bins, dist_mesh, level, floating components, deflation space, fused coarse cycle, W-cycle, lattice,
Gauss points, multigrid, penalty, near null space"""
MODEL = """mesh = { generator = "cantilever"; nx = 8; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.4; iterations = 2; filter = { radius = 1.5; }; };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { directory = "out"; timeline = true; };
"""


@functools.cache  # many words are members of several files
def explained(word):
    said = hextop("help", word)
    check(said.returncode == 0, f"help {word}: exit status {said.returncode}, {said.stderr}")
    return said.stdout


def run(*words):
    said = hextop(*words, "-q")
    check(said.returncode == 0, f"{words}: {said.stderr}")


def anchors(path):
    """Anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def terms(source):
    """[(names, keys, page)] of the table."""
    table = source[source.index("hx_terms[] = {"):source.index("hx_n_term =")]
    table = re.sub(r'"\s*\n\s*"', "", re.sub(r"/\*.*?\*/", "", table))
    return [(re.findall(STRING, row[1]), row[3], row[4])
            for row in re.finditer(rf"\{{\{{(.*?)\}},\s*{STRING},\s*{STRING},\s*{STRING}\}}", table, re.S)]


def check_terms(source):
    rows = terms(source)
    check(len(rows) > 30, f"terms of the table: {len(rows)}")
    for names, keys, page in rows:
        for name in names:
            check(f"described in doc/{page}" in explained(name), f"help {name}")
        for key in keys.split():
            check(re.search(rf"^{re.escape(key)}: ", explained(key), re.M) or f"  {key}: " in explained(key), f"{names}: no key {key}")
        file, anchor = page.split("#")
        check(anchor in anchors(ROOT / "doc" / file), f"{names}: no heading {page}")
    for word in re.split(r",\s+", WORDS):
        explained(word)


def members(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key != "settings":  # these are keys of the config
                yield from members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner)


def check_members(source):
    with work_folder():
        pathlib.Path("m.cfg").write_text(MODEL, encoding="utf-8")
        run("run", "m.cfg")
        run("verify", "out", "--element", "quadratic", "--refine", "0")
        run("analyse", "m.cfg", "--output", "analysis.json")
        for path in ("out/summary.json", "out/verify.json", "out/timeline.json", "analysis.json"):
            found = set(members(load(path)))
            check(len(found) > 5, f"{path}: {found}")
            for name in sorted(name for name in found if re.fullmatch(r"[a-z_]+", name)):
                said = explained(name)
                check(f"{name}: a member of " in said or name in ("config", "check", "surface", "mesh"),  # their own help
                      f"{path}: help {name}: {said[:300]}")
    # the table has no member that no source writes
    table = re.sub(r'"\s*\n\s*"', "", source[source.index("json_files[] = {"):source.index("/* Length of a word")])
    written = "\n".join(f.read_text(encoding="utf-8") for top in ("app", "core") for f in (ROOT / top).rglob("*.c")
                        if f.name != "help_words.c")
    for row in re.finditer(rf"\{{{STRING},\s*{STRING},\s*{STRING},\s*{STRING}\}}", table, re.S):
        for name in row[4].split():
            check(f'"{name}"' in written or f'\\"{name}\\"' in written, f"{row[1]}: nothing writes {name}")


def check_old(source):
    for kind, old, now in re.findall(rf"\{{HX_OLD_(\w+), {STRING}, {STRING}\}}", source):
        if kind in ("JSON", "VARIABLE", "SPAN"):
            check(f"{old} " in (said := explained(old)) and f"is now called {now}" in said, f"{kind} {old}: {said}")


source_of_words = (ROOT / "app/help/help_words.c").read_text(encoding="utf-8")
check_terms(source_of_words)
check_members(source_of_words)
check_old((ROOT / "core/base/old_names.c").read_text(encoding="utf-8"))
for variable in set(re.findall(r'"(HEXTOP_[A-Z_]+)"', "".join(f.read_text(encoding="utf-8") for f in (ROOT / "app/config").glob("*.c")))):
    check(f"{variable}: environment variable" in explained(variable), f"help {variable}")
finish()
