#!/usr/bin/env python3
"""Results of hextop 0.1.0 (results_0_1_0) are read, verified, reported and resumed, and old names are answered with the
new ones.

    test_old_results.py HEXTOP SOURCE_ROOT"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
OLD = os.path.join(ROOT, "tests", "app", "results_0_1_0")
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1"}
N_CHECK = N_FAILED = 0


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def run(*words, processes=1, **env):
    start = ["mpirun", "-n", str(processes)] if processes > 1 else []
    leaks = {"ASAN_OPTIONS": "detect_leaks=0:handle_sigill=1"} if processes > 1 else {}  # inside MPI
    return subprocess.run([*start, HEXTOP, *words], capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, **MPI, **leaks, **env})


def passed(what, result):
    check(result.returncode == 0, f"{what}: exit {result.returncode}: {result.stderr[-600:]}")
    return result


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def replaced(path, *pairs):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for old, new in pairs:
        check(old in text, f"{path} has no {old}")
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def history(folder):
    with open(os.path.join(folder, "history.csv"), encoding="utf-8") as file:
        return [(int(row["iteration"]), float(row["compliance"])) for row in csv.DictReader(file)]


def names_of(value):
    """All names of members in a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(names_of, value.values()))
    return set().union(*map(names_of, value)) if isinstance(value, list) else set()


def table():
    """[(kind, old, new)] of core/base/old_names.c"""
    with open(os.path.join(ROOT, "core", "base", "old_names.c"), encoding="utf-8") as file:
        return re.findall(r'\{HX_OLD_(\w+), "([^"]+)", "([^"]+)"\}', file.read())


def entries(folder):
    """Names of the entries of a checkpoint."""
    with open(os.path.join(folder, "checkpoint.state"), "rb") as file:
        return {name.decode() for name in re.findall(rb"(?:share|subdomain|multigrid)[a-z0-9 .,]*", file.read())}


def verified():
    was = read("one/verify.json")
    passed("verify", run("verify", "--made", "no", "one"))
    now = read("one/verify.json")
    check(now["origin"]["verdict"] == "this config", f"verify: origin {now['origin']}")
    for part in ("grey", "black_white"):
        then, here = was[part]["compliance"], now[part]["compliance"]
        check(abs(here / then - 1) < 1e-4, f"verify, {part}: compliance {here}, by 0.1.0 {then}")
    check(now["volume_target"] == was["volume_asked_for"], "verify: another target volume")
    check(now["elements_forced_solid"] == was["elements_solid_whatever_density"], "verify: another number of forced solid")
    for of in ("supports", "loads", "cases"):
        check(was[of][0]["nodes_on_loose_pieces"] == now[of][0]["nodes_on_floating_pieces"], f"verify: nodes of {of}")
    check(not names_of(now) & {old for kind, old, _ in table() if kind == "JSON"}, "verify: an old name in verify.json")


def reported():
    """Members with old names. The report makes warnings from them if the summary has no list of warnings."""
    replaced("one/summary.json", ('"volume_met": true', '"volume_met": false'), ('"pcg_fell_back": 0', '"pcg_fell_back": 3'),
             ('"warnings":', '"list":'))
    passed("report", run("report", "one", "-o", "one.html"))
    with open("one.html", encoding="utf-8") as file:
        page = file.read()
    check(re.search(r"The volume is 0\.4 instead of 0\.4\.", page), "report: no target volume")
    check("3 solves were finished in double precision" in page, "report: no solves in double precision")


def resumed(folder, n):
    copy = f"{folder}-{n}"
    shutil.copytree(folder, copy)
    check(any(name.startswith(("share", "multigrid.loose")) for name in entries(copy)), f"{copy}: no old entry")
    result = passed(f"resume of {copy}", run("run", f"{copy}/config.cfg", f"output.directory={copy}", "--resume",
                                             "optimization.iterations=8", processes=n))
    check("after iteration 5" in result.stdout, f"{copy}: {result.stdout[-600:]}")
    whole = f"{copy}-whole"
    passed(f"whole run of {copy}", run("run", f"{folder}/config.cfg", f"output.directory={whole}",
                                       "optimization.iterations=8", "output.timeline=false"))
    check(len(history(copy)) == 8, f"{copy}: {len(history(copy))} designs")
    for (i, c), (k, d) in zip(history(copy), history(whole)):
        check(i == k and abs(c / d - 1) < 1e-4, f"{copy}: compliance {c} of design {i}, uninterrupted {d}")
    found = entries(copy)
    check(not any(name.startswith(("share", "multigrid.loose")) for name in found), f"{copy}: {sorted(found)}")
    check(any(name.startswith("subdomain 2 of 2") if n > 1 else name == "multigrid.deflation" for name in found),
          f"{copy}: {sorted(found)}")
    check(not names_of(read(f"{copy}/summary.json")) & {old for kind, old, _ in table() if kind == "JSON"},
          f"{copy}: an old name in summary.json")
    return copy


def timeline():
    script = os.path.join(ROOT, "tests", "bench", "timeline.py")
    result = subprocess.run([sys.executable, script, "two/timeline.json", "--csv"], capture_output=True, text=True, check=False)
    found = {row["name"] for row in csv.DictReader(result.stdout.splitlines())}
    old = {old for kind, old, _ in table() if kind == "SPAN"}
    check(not found & old and {"send", "receive", "reduction", "filter halo", "dot products", "status check",
                               "Galerkin coarse grid 1"} <= found, f"timeline.py: {sorted(found)}, {result.stderr}")


def words():
    """Old words on the command line and in the environment."""
    for kind, old, now in table():
        if kind == "WARNING":
            said = passed(f"help {old}", run("help", old)).stdout
            check(f"{old} is now called {now}" in said and f"{now} (a warning)" in said, f"help {old}: {said}")
        if kind == "VARIABLE":
            said = passed(old, run("check", "one/config.cfg", **{old: "50"})).stderr
            check(said.count(f"environment variable {old} is now called {now}") == 1, f"{old}: {said}")
            both = passed(f"{old} and {now}", run("check", "one/config.cfg", "solver.whole_coarse_grid=60",
                                                  **{old: "50", now: "60"})).stderr
            check("is now called" not in both and "ignored" not in both, f"{old} and {now}: {both}")
            said = run("check", "one/config.cfg", **{old: "few"})
            check(said.returncode == 2 and f"{old}='few'" in said.stderr, f"{old}=few: {said.stderr}")


def starts_two():
    if not shutil.which("mpirun"):
        return False
    said = run("run", "one/config.cfg", "output.directory=probe", "optimization.iterations=1", processes=2)
    return "built without MPI" not in said.stderr and (said.returncode == 0 or "hextop" in said.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for folder in ("one", "two"):
            shutil.copytree(os.path.join(OLD, folder), folder)
        resumed("one", 1)
        resumed("two", 1)
        if starts_two():
            resumed("two", 2)
        verified()
        reported()
        timeline()
        words()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    sys.exit(N_FAILED > 0)


main()
