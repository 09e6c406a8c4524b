#!/usr/bin/env python3
"""Names the tests of the rooms that changed since HEAD, a name per line, for `sh tests/run.sh quick`.

    tests/quick.py BUILD [FILE ...]

FILE: changed files, by default those of `git diff HEAD` and untracked ones. A test belongs to the folder of its source
(tests/ROOM/test_NAME.c or .py or .sh), and to the room of core, app, gpu, lib or filters with that name. Rooms of gpu and
core/cpu are tested by the tests of the room whose kernels they contain. The tests of tests/tree, which read the tree,
always belong."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Rooms whose tests have other names: kernels are tested through the rooms that call them.
TESTED_BY = {"core/device": ["device", "linalg", "operator", "krylov"], "core/multigrid": ["multigrid", "dist"],
             "core/comm": ["base", "dist"], "core": ["operator", "solver", "design"], "lib": ["api"], "filters": ["design"],
             "configs": ["app"]}
BACKENDS = ("gpu/", "core/cpu/")


def changed_files():
    def lines(*command):
        return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [f for f in lines("diff", "--name-only", "HEAD") + lines("ls-files", "--others", "--exclude-standard") if f]


def rooms_of(files):
    """Folders of tests/ that test the files; "tree" is always one of them."""
    rooms = {"tree"}
    for name in files:
        parts = name.split("/")
        room = "/".join(parts[:2]) if parts[0] == "core" and len(parts) > 2 else parts[0]
        if parts[0] == "tests" and len(parts) > 2:
            rooms.add(parts[1])
        elif name.startswith(BACKENDS):
            rooms.add(room.split("/")[-1])
            rooms.update(TESTED_BY.get(f"core/{parts[-2]}", [parts[-2]]))
        else:
            rooms.update(TESTED_BY.get(room, [room.split("/")[-1]]))
    return rooms


def room_of_test(test, sources):
    """The folder of tests/ with the test's source, or None."""
    for word in test["cmd"]:
        path = pathlib.Path(word)
        if path.suffix in (".py", ".sh") and "tests" in path.parts:
            return path.parts[path.parts.index("tests") + 1]
        if path.name in sources:
            return sources[path.name]
    return None


def main(build, *files):
    sources = {p.stem: p.parent.name for p in ROOT.glob("tests/*/*.c")}
    rooms = rooms_of(files or changed_files())
    with open(pathlib.Path(build) / "meson-info" / "intro-tests.json", encoding="utf-8") as file:
        tests = json.load(file)
    for test in tests:
        if "hextop:quick" in test["suite"] and room_of_test(test, sources) in rooms:
            print(test["name"])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
