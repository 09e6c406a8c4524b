#!/usr/bin/env python3
"""Output of a run while it runs: on a terminal, in a pipe and in run.log; and when a design counts as converged.

    test_progress.py HEXTOP SRCDIR"""
import csv
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

HEXTOP = os.path.abspath(sys.argv[1])
N_CHECK = N_FAILED = 0

CONFIG = """
mesh = { generator = "cantilever"; nx = 6; ny = 3; nz = 3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0, 0, -1]; }, { set = "right"; total_force = [0, 1, 0]; case = 2; } );
optimization = { volume_fraction = 0.5; iterations = 12; filter = { radius = 1.5; }; };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "out"; every = 0; };
"""


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def on_terminal(columns, *words):
    """All output on a terminal of this width, with each update of the status line on its own line."""
    child, fd = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(HEXTOP, [HEXTOP, *words])
    said = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:  # the child has closed it
            break
        if not part:
            break
        said += part
    check(os.waitpid(child, 0)[1] == 0, f"{words} fails: {said[-500:]}")
    os.close(fd)
    return said.decode().replace("\r\n", "\n").replace("\r\033[K", "\n").split("\n")


def run(*words, status=0, **more):
    done = subprocess.run([HEXTOP, *words], capture_output="stdout" not in more, text=True, check=False, **more)
    check(done.returncode == status, f"{words}: exit status {done.returncode}: {done.stderr}")
    return done.stdout or "", done.stderr or ""


def log():
    with open("out/run.log", encoding="utf-8") as text:
        return text.read()


def summary():
    with open("out/summary.json", encoding="utf-8") as text:
        return json.load(text)


def test_terminal():
    for columns in (40, 80, 200):
        lines = [l for l in on_terminal(columns, "run", "part.cfg") if re.match(r" *\d+ of 12  \[", l)]
        check(len(lines) == 12, f"{columns} columns: {len(lines)} status lines of 12: {lines}")
        check(all(len(line) < columns for line in lines), f"{columns} columns: a line is wider")
        bars = [re.search(r"\[(=*>?) *\]", line) for line in lines]
        check(all(bars), f"{columns} columns: no bar in {lines}")
        if not all(bars):
            continue
        done = [len(bar.group(1)) for bar in bars]
        widths = {len(bar.group(0)) for bar in bars}
        check(done == sorted(done) and done[0] < done[-1] == min(widths) - 2, f"{columns}: bars of {done}")
        check(widths == {max(10, min(30, (columns - 1) // 5)) + 2}, f"{columns} columns: bars {widths} wide")
        check(all(" left" in line for line in lines[:-1]) or columns == 40, f"no time left: {lines}")
        check(not any(re.search(r"(compliance|PCG|volume|change)$", line) for line in lines), "half an item")
    check("PCG" in lines[-1] and " left" not in lines[-1], f"the last line: {lines[-1]}")


def test_log():
    """run.log has the same words with a terminal and with a pipe."""
    rows = re.compile(r"^ *(\d+) of 12 +\d", re.M)
    on_terminal(80, "run", "part.cfg")
    text = log()
    check(rows.findall(text) == [str(i) for i in range(1, 13)], f"rows of a terminal's run: {text}")
    check("\033" not in text and "\r" not in text, "control characters in run.log")
    said, _ = run("run", "part.cfg", "title=a 'quoted' one")
    text = log()
    without = "".join(line for line in text.splitlines(True) if "warning: " not in line)  # these go to stderr
    check(said in without, "run.log lacks what was said")
    check(text.count("iter ") == 1 and rows.findall(said) == rows.findall(text), "an older run.log is left")
    for wanted in ("hextop ", "command   hextop run part.cfg 'title=a '\\''quoted'\\'' one'\n",
                   f"folder    {os.getcwd()}\n", "machine   ", "started   20"):
        check(wanted in text, f"run.log lacks '{wanted}': {text[:600]}")
    check(re.search(r"\nended     20[-0-9: +]+ after [0-9.a-z ]+: done\n$", text), f"its end: {text[-200:]}")
    said, _ = run("-q", "run", "part.cfg", "passive=({set=\"left\"; skin=1.0; density=0.01;})")
    check(said == "" and len(rows.findall(log())) == 12, "-q: the log has what a terminal shows without")
    check("hextop -q run" in log(), "-q is not in the command")
    run("-v", "run", "part.cfg")
    check("set-up: mesh" in log(), "-v: the log has its detail")


def test_warnings():
    """run.log also has the lines that were printed before its folder existed."""
    _, complaints = run("run", "part.cfg", "solver.max_iterations=2", "solver.preconditioner=jacobi",
                        "optimization.continuation={every=20;}")
    text = log()
    check(complaints.count("warning:") >= 3, f"too few warnings to test: {complaints}")
    for line in complaints.splitlines():
        check(line in text, f"run.log lacks: {line}")
    found = summary()
    check(found["converged"] is None, "without a tolerance nothing converges")
    check(found["solves_converged"] is False and found["solves_not_converged"] == 24, f"solves: {found}")
    run("run", "part.cfg", "solver.max_iterations=2", "solver.preconditioner=jacobi", 'solver.on_failure="stop"', status=1)
    check("hextop: error: iteration 1: PCG did not converge" in log(), f"the error is not in {log()[-400:]}")
    check("not finished" in log() or ": failed" in log(), "its end")


def designs(*drop):
    with open("out/history.csv", encoding="utf-8", newline="") as file:
        return [{k: v for k, v in row.items() if not k.startswith(drop)} for row in csv.DictReader(file)]


def test_criterion():
    """With criterion compliance the estimated error is printed; a resumed run equals an uninterrupted one."""
    by = ["solver.criterion=compliance", "output.checkpoint=1e-9", "solver.deterministic=true"]
    said, _ = run("run", "part.cfg", *by)
    whole = designs("seconds")
    check("error of the compliance <= 1e-06" in said, f"what it says: {said[:900]}")
    check(all(0.0 < float(row["pcg_error"]) <= 1.000001e-6 for row in whole), f"errors: {whole}")
    check(summary()["compliance_error"] == float(whole[-1]["pcg_error"]) or
          abs(summary()["compliance_error"] / float(whole[-1]["pcg_error"]) - 1.0) < 1e-5, "and in the summary")
    run("run", "part.cfg", *by, "optimization.iterations=5", "--force")
    run("run", "part.cfg", *by, "--resume")
    check(designs("seconds") == whole, "resumed, the same numbers")
    run("run", "part.cfg", *by, "optimization.iterations=5", "--force")
    run("run", "part.cfg", *by[1:], "--resume")
    check([bool(row["pcg_error"]) for row in designs()] == [True] * 5 + [False] * 7, "resumed by the residual")
    run("run", "part.cfg", "--force")
    check("pcg_error" not in designs()[0] and "compliance_error" not in summary(), "without it nothing is estimated")


def test_own_file():
    """The shell redirects the program's output into run.log."""
    with open("out/run.log", "w", encoding="utf-8") as out:
        run("run", "part.cfg", stdout=out, stderr=out)
    check(log().startswith("hextop") and "started" not in log() and log().count("iter ") == 1, "two write one file")


def test_converged():
    said, _ = run("run", "part.cfg", "optimization.change_tolerance=0.001")
    check(summary()["converged"] is False and summary()["iterations"] == 12, "out of iterations")
    check(summary()["solves_converged"] is True and summary()["solves_not_converged"] == 0, "its solves")
    check("the design has not converged: change" in said and re.search(r"  at most [0-9.]+ s\n", said),
          f"what it says: {said}")
    said, _ = run("run", "part.cfg", "optimization.change_tolerance=0.19", "optimization.iterations=60")
    check(summary()["converged"] is True and summary()["iterations"] < 60, "settled")
    check("the design has converged: change" in said, "what it says")
    said, _ = run("run", "part.cfg", "optimization.change_tolerance=0.5", "optimization.move=0.6", "optimization.continuation={every=5;}")
    check(summary()["converged"] is True and summary()["iterations"] == 5, "settled once the penalty is risen")
    check(said.count(" or less\n") == 4 and "at most 0" not in said, f"while the penalty rises: {said}")


def main():
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="hextop_progress_") as folder:
        os.chdir(folder)
        with open("part.cfg", "w", encoding="utf-8") as config:
            config.write(CONFIG)
        for test in (test_terminal, test_log, test_warnings, test_criterion, test_own_file, test_converged):
            test()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED or not N_CHECK else 0


if __name__ == "__main__":
    sys.exit(main())
