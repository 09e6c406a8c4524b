#!/usr/bin/env python3
"""The example of every key in `hextop help KEY` is a value that `hextop check` accepts, in a config in which the key
has an effect.

    test_examples.py HEXTOP SRCDIR"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

hextop, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
n_check = n_failed = 0
sys.path.insert(0, os.path.join(source, "tests", "lib"))
from key_configs import config_of, prepare, write # noqa: E402


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(*arguments, env=None):
    done = subprocess.run([hextop, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                          check=False, env={**os.environ, **env} if env else None)
    return done.returncode, done.stdout + done.stderr


def keys():
    status, said = run("list", "--keys")
    check(status == 0, "list --keys")
    return re.findall(r"^\| `([^`]*)` \| ([a-z/]*) ", said, re.M)


def try_key(key):
    status, about = run("help", key)
    line = re.search(r"^  argument  (.*)$", about, re.M)
    check(status == 0 and line, f"help {key}: no example")
    if not line:
        return
    argument = shlex.split(line.group(1))[0]
    write("part.cfg", config_of(key))
    status, said = run("check", "part.cfg")
    cad = key in ("mesh.element_size", "mesh.mirrored", "mesh.time_limit")
    check(status == 0 or cad or key == "mesh.ignore", f"{key}: its config is refused without it: {said[-300:]}")
    status, said = run("check", "part.cfg", argument, env={"HEXTOP_GMSH": "/no/such/gmsh"} if cad else None)
    accepted = status == 0 or (cad and ("gmsh" in said or "stl" in said) and key not in said)
    check(accepted, f"{key}: its example '{argument}' is refused: {said[-400:]}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    prepare(source, run, check)
    names = [key for key, kind in keys() if kind not in ("group", "list")]
    check(len(names) > 100, f"{len(names)} keys")
    for one in names:
        try_key(one)
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(1 if n_failed or not n_check else 0)
