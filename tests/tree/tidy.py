#!/usr/bin/env python3
"""Runs clang-tidy 14 with the checks of .clang-tidy over the C sources of core, app, filters and lib.

    tests/tree/tidy.py BUILD [--since COMMIT] [--most N] [--jobs N] [FILE ...]

BUILD is a configured build folder whose generated headers exist (`meson compile`). FILE: only these sources. --since: only
sources that changed since the commit (`git diff`), and new ones; a header counts as the source of that name. --most: at most
that many sources. Prints what clang-tidy finds, and the number of sources; the exit status is 1 if there is a finding and 77
if clang-tidy 14 is missing. All sources take up to half an hour on two cores, so this is no test; `sh tests/run.sh quick`
runs it over changed sources."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROOMS = ("core/", "app/", "filters/", "lib/")


def find_tool():
    for name in ("clang-tidy-14", "clang-tidy"):
        if shutil.which(name) and " 14." in subprocess.run([name, "--version"], capture_output=True, text=True).stdout:
            return name
    return None


def options_for_clang(command, more):
    """What the sources need of a command for gcc: folders, macros and warnings, but no option that only gcc has. Headers of
    other libraries (-I/...) become system headers, whose style is not checked."""
    kept = [w for w in shlex.split(command) if w.startswith(("-I", "-D", "-std=", "-W")) or w in ("-fopenmp", "-pthread")]
    kept = [re.sub("^-I/", "-isystem/", w) for w in kept]
    return [w for w in kept if w not in ("-Werror", "-Winvalid-pch")] + more


def copy_openmp(folder):
    """Options that add gcc's omp.h, for a clang without its own. It is copied to a folder without gcc's other headers:
    clang's stdatomic.h would include gcc's, which clang cannot compile."""
    header = subprocess.run(["gcc", "-print-file-name=include/omp.h"], capture_output=True, text=True).stdout.strip()
    if not os.path.isfile(header):
        return []
    shutil.copy(header, folder)
    return ["-idirafter", str(folder)]


def read_commands(build):
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if name.startswith(ROOMS) and name.endswith(".c"):
            found.setdefault(name, entry["command"])
    return found


def changed_since(commit):
    def lines(*command):
        return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [f for f in lines("diff", "--name-only", commit) + lines("ls-files", "--others", "--exclude-standard") if f]


def check(tool, args, options):
    """Runs clang-tidy on sources with their options; returns the number of sources with findings."""
    def run(name):
        return subprocess.run([tool, "-quiet", str(ROOT / name), "--", *options[name]], cwd=args.build, capture_output=True,
                              text=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in pool.map(run, options):
            print(done.stdout, end="", flush=True)
            if done.returncode != 0:
                failed += 1
                print("\n".join(line for line in done.stderr.split("\n") if "error" in line and "generated" not in line))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--since")
    parser.add_argument("--most", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    args = parser.parse_intermixed_args()
    tool = find_tool()
    if not tool:
        print("skipped: clang-tidy 14 is not installed")
        return 77
    commands = read_commands(args.build)
    names = args.files + (changed_since(args.since) if args.since else [])
    wanted = {str(pathlib.Path(n).with_suffix(".c")) for n in names}
    sources = sorted(n for n in commands if not (args.files or args.since) or n in wanted)
    if args.most is not None and len(sources) > args.most:
        print(f"skipped: {len(sources) - args.most} of {len(sources)} changed sources; `tests/tree/tidy.py` checks all")
        sources = sources[:args.most]
    with tempfile.TemporaryDirectory() as folder:
        failed = check(tool, args, {name: options_for_clang(commands[name], copy_openmp(folder)) for name in sources})
    print(f"clang-tidy: {len(sources)} sources, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
