#!/usr/bin/env python3
"""Ctrl-C on a terminal while gmsh works: gmsh and the processes that it started end, no file is left, and the program
ends by the signal, as a shell expects.

    test_terminal.py HEXTOP SRCDIR

Tested with a program that claims to be gmsh, then with gmsh itself if it is installed. Exit status 0 passed, 1
failed."""
import os
import pty
import shutil
import signal
import sys
import tempfile
import time

PATIENCE = 60.0  # seconds; the machine may be busy


def wait_for(what, condition):
    """Waits until the condition is true; returns its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"not in {PATIENCE:g} s: {what}")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # a zombie that nobody has waited for is dead, too
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start(command, environment):
    """Starts the command on a terminal of its own; returns its process and the other side of the terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(environment)
        os.execv(command[0], command)
    return pid, terminal


def end_of(pid, terminal):
    """Returns the signal that ended the command, or None, and its output."""
    said = b""
    while True:
        try:
            block = os.read(terminal, 4096)
        except OSError:  # the last process on the terminal has ended
            break
        if not block:
            break
        said += block
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else None, said.decode(errors="replace")


def words_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def interrupt(hextop, model, gmsh, is_working, work):
    """Presses Ctrl-C as soon as is_working returns the processes that work."""
    scratch = os.path.join(work, "tmp")
    os.makedirs(scratch)
    environment = {"TMPDIR": scratch, "OMP_NUM_THREADS": "1"}
    if gmsh:
        environment["HEXTOP_GMSH"] = gmsh
    pid, terminal = start([hextop, "mesh", model, os.path.join(work, "out.vtk"), "--element-size", "1.2"], environment)
    workers = wait_for("gmsh at work", lambda: is_working(pid, scratch))
    os.write(terminal, b"\x03")
    number, said = end_of(pid, terminal)
    assert number == signal.SIGINT, f"ended by {number}, not by SIGINT: {said}"
    wait_for(f"the end of {workers}", lambda: not any(is_alive(worker) for worker in workers))
    assert os.listdir(scratch) == [], f"left behind: {os.listdir(scratch)}"
    assert not os.path.exists(os.path.join(work, "out.vtk")), "a mesh was written"
    shutil.rmtree(scratch)


def children(pid, scratch):
    """The processes below pid that work in the scratch folder."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            if parent == pid and os.readlink(f"/proc/{name}/cwd").startswith(scratch):
                found.append(int(name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def main():
    hextop, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    work = tempfile.mkdtemp(prefix="hextop_terminal_")
    model = os.path.join(work, "part.step")
    shutil.copy(os.path.join(source, "examples/bearing/bearing.step"), model)
    pids = os.path.join(work, "pids")
    fake = os.path.join(work, "fake")
    with open(fake, "w", encoding="ascii") as script:
        script.write(f"#!/bin/sh\ncase $1 in --version) echo 4.8.4 >&2; exit 0;; esac\n"
                     f"sleep 300 &\necho $$ $! >{pids}.new; mv {pids}.new {pids}\nwait\n")
    os.chmod(fake, 0o755)
    try:
        interrupt(hextop, model, fake, lambda pid, scratch: words_of(pids), work)
        if shutil.which("gmsh"):
            interrupt(hextop, model, None, children, work)
        else:
            print("no gmsh (Debian: gmsh): its stand-in alone was interrupted")
    finally:
        for pid in words_of(pids):
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(work)
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
