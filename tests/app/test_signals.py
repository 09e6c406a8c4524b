#!/usr/bin/env python3
"""Signals at moments that test_resume.sh does not cover: during set-up, a second signal, an output that nobody reads
any longer; and lines of history.csv that are longer than a buffer.

    test_signals.py HEXTOP"""
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time

HEXTOP = os.path.abspath(sys.argv[1])
N_CHECK = N_FAILED = 0
CONFIG = """mesh = { generator = "cantilever"; nx = %d; ny = %d; nz = %d; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( %s );
optimization = { volume_fraction = 0.5; iterations = %d; };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { directory = "%s"; every = 0; };
"""


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def config(name, size, iterations, n_case=1):
    loads = ", ".join('{ set = "right"; total_force = [0.0, %.3f, -1.0]; case = %d; }' % (0.001 * c, c + 1)
                      for c in range(n_case))
    with open(name + ".cfg", "w", encoding="ascii") as file:
        file.write(CONFIG % (*size, loads, iterations, name))
    return [HEXTOP, "run", name + ".cfg"]


def left_behind(folder):
    if not os.path.isdir(folder):
        return []
    return [n for n in os.listdir(folder) if ".tmp." in n or n.startswith(".hextop")]


def in_set_up():
    """A signal before the first design leaves no partial file and causes no crash. Several moments are tested, each
    with a folder of its own: a fast run may leave a checkpoint, which the next run would not overwrite."""
    for delay in (0.02, 0.05, 0.1, 0.2):
        name = f"early-{delay}"
        run = subprocess.Popen(config(name, (60, 30, 30), 2000), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
        time.sleep(delay)
        run.send_signal(signal.SIGTERM)
        said = run.communicate(timeout=100)[1]
        # before the handler is installed, the signal ends the process by default
        check(run.returncode in (3, -signal.SIGTERM), f"after {delay} s: exit status {run.returncode}: {said}")
        check(not left_behind(name), f"after {delay} s: left behind {left_behind(name)}")


def twice():
    run = subprocess.Popen(config("second", (60, 30, 30), 2000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None and not os.path.exists("second/history.csv"):
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGTERM)
    begin = time.monotonic()
    status = run.wait(timeout=100)
    check(status != 0, f"two signals: exit status {status}")
    print(f"two signals: exit status {status} after {time.monotonic() - begin:.2f} s")


def unread():
    """stdout is closed at once, with SIGPIPE as a shell leaves it."""
    for name, words in (("run", config("piped", (8, 4, 4), 6)), ("help", [HEXTOP, "help", "solver.operator"]),
                        ("list", [HEXTOP, "list"])):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True, restore_signals=True)
        os.close(write)
        check("error" not in done.stderr, f"{name} into a closed pipe says {done.stderr}")
        if name == "run":
            check(done.returncode == 0, f"run into a closed pipe: exit status {done.returncode}")
            with open("piped/history.csv", encoding="ascii") as file:
                check(len(list(csv.reader(file))) == 7, "run into a closed pipe: all designs")


def long_lines():
    """400 load cases make lines of more than 4096 bytes, which stay complete if the run is killed at any moment."""
    words = config("many", (4, 2, 2), 400, 400)
    text = b""
    for delay in (0.0, 0.013, 0.041):
        run = subprocess.Popen(words + ["--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while time.monotonic() < begin + 60 and text.count(b"\n") < 3:
            time.sleep(0.01)
            if os.path.exists("many/history.csv"):
                with open("many/history.csv", "rb") as file:
                    text = file.read()
        time.sleep(delay)
        run.kill()
        run.wait()
        with open("many/history.csv", "rb") as file:
            text = file.read()
        os.remove("many/history.csv")
        check(text.endswith(b"\n"), "a line is whole")
        check(len({line.count(b",") for line in text.splitlines()}) == 1, "all lines have all columns")
        last, text = text, b""
    lines = last.splitlines()
    check(len(lines) > 1 and len(lines[-1]) > 4096, f"{len(lines)} lines, the last of {len(lines[-1])} bytes")


def export(words, wanted, number):
    """Sends the signal once some of K is written; returns the exit status and the contents of the folder."""
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    part = f"K/K.mtx.tmp.{run.pid}"
    begin = time.monotonic()
    while run.poll() is None and time.monotonic() < begin + 100:
        if os.path.exists(part) and os.path.getsize(part) > wanted:
            break
        time.sleep(0.01)
    run.send_signal(number)
    said = run.communicate(timeout=100)[1]
    check(run.returncode == -number, f"{words[3:]}: signal {number}: exit status {run.returncode}: {said}")
    check("error" not in said, f"{words[3:]}: {said}")
    return sorted(os.listdir("K"))


def in_export():
    """A signal while a matrix is written ends the program (in a shell, with status 128 plus its number). No temporary
    file stays, but an old file does; files left by SIGKILL are removed by the next export to the same name."""
    os.mkdir("K")
    old = "%%MatrixMarket of old"
    with open("K/K.mtx", "w", encoding="ascii") as file:
        file.write(old)
    config("large", (36, 20, 20), 1)
    words = [HEXTOP, "matrix", "large.cfg", "-o", "K/K.mtx", "--rhs", "K/f.npz", "--fixed", "K/d.mtx"]
    for more in ([], ["--memory", "20e6"]):
        for number in (signal.SIGINT, signal.SIGTERM):
            names = export(words + more, 2000000, number)
            check(names == ["K.mtx"], f"{more}: left behind {names}")
    with open("K/K.mtx", encoding="ascii") as file:
        check(file.read() == old, "the old file stays")
    names = export(words, 2000000, signal.SIGKILL)
    check(len(names) == 4, f"killed: {names}")
    foreign = "K/notes." + next(name for name in names if name.startswith("K.mtx.")).split("mtx.")[1]
    open(foreign, "w", encoding="ascii").close()  # of another program, equally old
    config("little", (4, 2, 2), 1)
    done = subprocess.run([HEXTOP, "matrix", "little.cfg"] + words[3:], capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    names = sorted(os.listdir("K"))
    check(names == ["K.mtx", "d.mtx", "f.npz", os.path.basename(foreign)], f"swept: {names}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (in_set_up, twice, in_export, unread, long_lines):
            part()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    return 1 if N_FAILED else 0


sys.exit(main())
