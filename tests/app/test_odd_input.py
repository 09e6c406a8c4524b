#!/usr/bin/env python3
"""Input that is not an ordinary file or text, and a small stack. In each case there is one message, and the
program neither crashes nor hangs.

    test_odd_input.py HEXTOP SRCDIR [sanitized]"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile

hextop, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
n_check = n_failed = 0


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(*arguments, stack=None):
    """Exit status (None if it does not end) and output."""
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (stack << 10, stack << 10))
    try:
        done = subprocess.run([hextop, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
                              preexec_fn=limit if stack else None, check=False)
    except subprocess.TimeoutExpired:
        return None, b""
    return done.returncode, done.stdout + done.stderr


def refused(*arguments, word=b""):
    status, text = run(*arguments)
    line = [w for w in text.splitlines() if b"error" in w]
    check(status == 2 and len(line) == 1 and word in text,
          f"{' '.join(arguments)}: exit {status}, {text[-300:]!r}")


config = """title = "odd";
mesh = { generator = "cantilever"; size = 0; nx = 6; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.4; iterations = 2; filter = { radius = 1.5; }; };
solver = { device = "cpu"; operator = "otf"; preconditioner = "multigrid"; threads = 2; };
"""


def special_files():
    """Files without an end or without a beginning, for each reader and each of its file endings."""
    os.mkfifo("pipe")
    os.mkdir("folder")
    # selected by the file ending, through a link, so that the beginning of the file does not matter
    odd = ["/dev/zero", "pipe", "folder", "/proc/self/mem", "/proc/self/pagemap"]
    every = ["vtk", "vtu", "pvtu", "msh", "inp", "cdb", "bdf", "mesh", "unv", "exo", "step", "iges", "brep", "stl", "med"]
    for name in odd:
        for ending in every if name == "/dev/zero" else ["vtu", "cdb", "step"]:
            link = f"link.{ending}"
            os.symlink(os.path.abspath(name), link)
            refused("mesh", link, "out.msh")
            os.remove(link)
        refused("run", name)
        refused("check", "c.cfg", f"mesh.file={name}", "mesh.generator=", "mesh.size=", "mesh.nx=")
        refused("check", "c.cfg", f"optimization.initial={name}")
        refused("report", name)
        refused("surface", name, "out.stl")
        refused("verify", name, "c.cfg")
        for ending in ["stl", "ply"]:
            os.symlink(os.path.abspath(name), f"s.{ending}")
            refused("verify", "r", "--surface", f"s.{ending}")
            os.remove(f"s.{ending}")
    with open("include.cfg", "w", encoding="utf-8") as f:
        f.write('@include "pipe"\n')
    refused("check", "include.cfg", word=b"pipe")
    with open("include.inp", "w", encoding="utf-8") as f:
        f.write("*NODE\n1, 0., 0., 0.\n*INCLUDE, INPUT=/dev/zero\n")
    refused("mesh", "include.inp", "out.msh", word=b"device")
    for name in ["summary.json", "history.csv", "density.vtk.series", "verify.json", "config.cfg", "run.log"]:
        os.mkdir("page")
        os.mkfifo(f"page/{name}")
        status, _ = run("report", "page")
        check(status in (0, 2), f"report of a folder whose {name} is a pipe: exit {status}")
        subprocess.run(["rm", "-r", "page"], check=True)
    status, _ = run("run", "c.cfg", "--resume", "output.directory=folder")
    check(status == 2, "no checkpoint to resume")
    os.mkfifo("folder/checkpoint.state")
    refused("run", "c.cfg", "--resume", "output.directory=folder", word=b"pipe")


def nesting():
    """Trees are traversed by recursive calls."""
    for n, status_wanted in [(20, 2), (100000, 2)]:
        with open("deep.cfg", "w", encoding="utf-8") as f:
            f.write(config + "sets = " + "(" * n + ")" * n + ";\n")
        status, text = run("check", "deep.cfg")
        check(status == status_wanted and (b"brackets" in text) == (n > 32), f"{n} brackets: {status}, {text!r}")
    refused("check", "c.cfg", "sets=" + "(" * 10000, word=b"brackets")
    os.mkdir("nested")
    for text in ["[" * 1000000, '{"a":' * 1000000]:
        with open("nested/summary.json", "w", encoding="utf-8") as f:
            f.write(text)
        status, _ = run("report", "nested")
        check(status in (0, 2), f"JSON within JSON: exit {status}")
    with open("deep.vtu", "w", encoding="utf-8") as f:
        f.write('<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid">' + "<Piece>" * 200000)
    refused("mesh", "deep.vtu", "out.msh")
    with open("zero.cfg", "wb") as f:
        f.write(config.encode() + b"\0@include \".\"\n")
    refused("check", "zero.cfg", word=b"bytes of 0")
    with open("open.cfg", "w", encoding="utf-8") as f:
        f.write(config + 'title = "no end;\n')
    refused("check", "open.cfg", word=b"open.cfg:7")


def texts():
    """A title and a folder that are not UTF-8."""
    folder = b"f\xe9lder"
    with open("latin.cfg", "wb") as f:
        f.write(config.encode().replace(b"odd", b"t\xfctle \xf0\x9f"))
    status, text = run("run", "latin.cfg", b"output.directory=" + folder)
    check(status == 0, f"a title that is no UTF-8: {status}, {text[-300:]!r}")
    with open(folder + b"/summary.json", "rb") as f:
        settings = json.loads(f.read().decode("utf-8"))["settings"]
    check(settings["title"] == "t�tle ��" and settings["output"]["directory"] == "f�lder",
          f"settings: {settings['title']!r}, {settings['output']['directory']!r}")
    for command in [("report", folder), ("verify", folder, "--refine", "0")]:
        status, text = run(*command)
        check(status == 0, f"{command}: {status}, {text[-300:]!r}")
    with open(folder + b"/verify.json", "rb") as f:
        json.loads(f.read().decode("utf-8"))
    with open(folder + b"/report.html", "rb") as f:
        f.read().decode("utf-8")


def small_stack():
    """Runs with `ulimit -s 128`: blocks of elements would take more if they were on the stack."""
    mesh = os.path.join(source, "examples", "meshes", "kinds_41_binary.msh")
    for command in [("check", "c.cfg"), ("run", "c.cfg", "output.directory=small"), ("mesh", mesh, "k.inp"),
                    ("verify", "small", "--refine", "0"), ("surface", "small", "small.stl"), ("report", "small"),
                    ("check", "deep.cfg")]:
        status, text = run(*command, stack=128)
        check(status == (2 if "deep.cfg" in command else 0), f"128 kB of stack: {command}: {status}, {text[-300:]!r}")
    same = []
    for folder in ["small", "r"]:
        with open(f"{folder}/history.csv", encoding="utf-8") as f:
            same.append([re.split(",", line)[:5] for line in f])
    check(same[0] == same[1], "the same design on a small stack")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    with open("c.cfg", "w", encoding="utf-8") as file:
        file.write(config)
    check(run("run", "c.cfg", "output.directory=r")[0] == 0, "the plain run")
    special_files()
    nesting()
    texts()
    if len(sys.argv) < 4: # the stack size of sanitized code is unknown
        small_stack()
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(1 if n_failed or not n_check else 0)
