#!/usr/bin/env python3
"""The examples in examples/python must give the same results as the program: the same densities, displacements,
files and messages.

    test_python.py HEXTOP SRCDIR LIBRARY

Exit status 0 passed, 1 failed, 77 skipped (no numpy)."""
import gc
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    # Debian's packages belong to the system's Python, which need not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-numpy)")
    sys.exit(77)

sys.dont_write_bytecode = True
HEXTOP, SOURCE, LIBRARY = (os.path.abspath(word) for word in sys.argv[1:])
PYTHON = os.path.join(SOURCE, "examples", "python")
os.environ["HEXTOP_LIBRARY"] = LIBRARY
sys.path.insert(0, PYTHON)
sys.path.insert(0, os.path.join(SOURCE, "tests", "app"))
import calculix  # noqa: E402
import hextop  # noqa: E402

MIXED = """
mesh = { file = "mixed.vtk"; };
material = { E = 1.0; nu = 0.3; };
sets = ( { name = "left"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "right"; plane = { point = [8.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; traction = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.4; filter = { radius = 1.6; }; };
"""
n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def file_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def check_same(name, config, keys):
    """The files of the program and of the library are bitwise equal, and the library's arrays have the values in
    the files."""
    words = [f"{key}={value}" for key, value in keys.items()]
    subprocess.run([HEXTOP, "-q", "run", config, *words, f"output.directory={name}", "output.every=0",
                    "output.format=ascii"], check=True)
    with open(f"{name}/summary.json", encoding="utf-8") as text:
        summary = json.load(text)
    result = f"{name}/density_{summary['iterations']:04d}.vtk"
    subprocess.run([HEXTOP, "-q", "surface", result, f"{name}.stl"], check=True)
    keys = dict(keys, **{"output.format": "ascii"})
    with hextop.Session(None, config, keys) as session:
        steps = list(session)
        session.write("own.vtk")
        session.write("own.stl")
        own = session.summary()
        rho, cells, points = session.array("density"), session.indices("cells"), session.array("points")
    check(len(steps) == summary["iterations"], f"{name}: {len(steps)} iterations")
    check(file_bytes("own.vtk") == file_bytes(result), f"{name}: another VTK file")
    check(file_bytes("own.stl") == file_bytes(f"{name}.stl"), f"{name}: another STL file")
    for key in ("compliance", "volume", "change", "elements", "nodes", "pcg_iterations_total"):
        check(own[key] == summary[key], f"{name}: summary's {key} {own[key]}, {summary[key]}")
    lines = file_bytes(result).decode().split()
    at = lines.index("density")
    at = lines.index("default", at) + 1 if "default" in lines[at:at + 6] else at + 4
    file_rho = np.array([float(word) for word in lines[at:at + len(rho)]])
    check(np.array_equal(file_rho, rho), f"{name}: densities off by {abs(file_rho - rho).max():g}")
    at = lines.index("POINTS") + 3
    check(np.array_equal(np.array(lines[at:at + points.size], float).reshape(-1, 3), points), f"{name}: points")
    at = lines.index("CELLS") + 3
    for row in cells[:50]:
        n = int(lines[at])
        check([int(word) for word in lines[at + 1:at + 1 + n]] == [c for c in row if c >= 0], f"{name}: {row}")
        at += n + 1
    check(not rho.flags.writeable, "arrays can be written to")


def check_life():
    """Arrays outlive the session, share memory, and follow the designs."""
    text = file_bytes(os.path.join(SOURCE, "configs", "quickstart.cfg")).decode()
    session = hextop.Session(text, "beam.cfg", {"optimization.iterations": 3, "solver.threads": 1})
    check(session.run(1), "more iterations are to come")
    first = session.array("density")
    kept = first.copy()
    session.run(1)
    second = session.array("density")
    check(first.ctypes.data == second.ctypes.data, "the array moved")
    check(not np.array_equal(kept, second) and np.array_equal(first, second), "the array was not refilled")
    sum_before = second.sum()
    session.close()
    del session
    gc.collect()
    check(second.sum() == sum_before, "the array did not outlive its session")


def check_errors():
    broken = 'mesh = { generator = "cantilever"; };\noptimization = { volume_fraction = 3.0; };\n'
    with open("broken.cfg", "w", encoding="utf-8") as out:
        out.write(broken)
    said = subprocess.run([HEXTOP, "run", "broken.cfg"], capture_output=True, text=True, check=False).stderr
    for text in (broken, None):
        try:
            hextop.Session(text, "broken.cfg").run()
            check(False, "a broken config runs")
        except hextop.Error as error:
            check(said == f"hextop: error: {error}\n", f"other words: {error}, {said}")
            check(error.code == -1, f"code {error.code}")
    try:
        hextop.Session(file_bytes(os.path.join(SOURCE, "configs", "quickstart.cfg")).decode()).run(
            watch=lambda step: 1 // 0)
        check(False, "an exception is lost")
    except ZeroDivisionError:
        check(True, "")


def check_scripts():
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    for script, words, lines in (("cantilever.py", ["optimization.iterations=2", "mesh.nx=8", "mesh.ny=4",
                                                    "mesh.nz=4"], 5), ("study.py", ["study.csv"], 5)):
        done = subprocess.run([sys.executable, os.path.join(PYTHON, script), *words], env=env, text=True,
                              capture_output=True, check=False)
        check(done.returncode == 0, f"{script}: {done.stderr}")
        check(len(done.stdout.splitlines()) >= lines, f"{script} says {done.stdout}")
    with open("study.csv", encoding="utf-8") as text:
        rows = [[float(word) for word in line.split(",")] for line in text.read().split("\n")[1:] if line]
    table = np.array(rows)
    check(table.shape == (4, 4) and np.all(np.diff(table[:, 1:], axis=0) < 0), f"more volume is not stiffer: {table}")


def main():
    keys = {"solver.device": "cpu", "solver.operator": "otf", "optimization.iterations": 4}
    check_same("grid", os.path.join(SOURCE, "configs", "quickstart.cfg"), dict(keys, **{"mesh.shuffle": 5}))
    calculix.write_box("mixed.vtk", "mixed", (8, 4, 4), 0.1)
    calculix.write("mixed.cfg", MIXED)
    check_same("mixed", "mixed.cfg", keys)
    check_life()
    check_errors()
    check_scripts()
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or n_check == 0 else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        status = main()
        os.chdir("/")
    sys.exit(status)
