#!/usr/bin/env python3
"""A least thickness as a user states it: what it chooses and refuses, the result of a run that analyses the eroded design or
all three, the config in its folder, a resumed run, several processes, and the part.

    test_minimum_length.py HEXTOP SOURCE"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import HEXTOP, MPI, check, finish, history, hextop, summary, work_folder

LENGTH = "optimization.minimum_length=3.0"
CONFIG = """mesh = { generator = "cantilever"; nx = 24; ny = 6; nz = 12; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.4; minimum_length = 3.0; iterations = 40;
  projection = { beta_max = 8.0; every = 10; }; };
solver = { device = "cpu"; operator = "otf"; deterministic = true; tolerance = 1e-8; };
output = { directory = "whole"; every = 0; };
"""
PLAIN = CONFIG.replace("minimum_length = 3.0; ", "")


def refused(arguments, *wanted, config="plain.cfg"):
    code, output = hextop("check", config, *arguments)
    check(code == 2 and all(part in output for part in wanted), f"{arguments}: exit status {code}: {output}")


def check_refused():
    for key in ("filter.kind=density", "filter.radius=2.0", "filter.unit=length", "filter.volume_weighted=true",
                "projection.eta=0.4", "projection.erosion=0.1", "projection.dilation=0.1"):
        refused([LENGTH, f"optimization.{key}"], f"optimization.{key.split('=')[0]}",
                "it follows from optimization.minimum_length")
    refused(["optimization.minimum_length=2.9"], "minimum_length", "2.9 elements", "at most 0.9667", "at least 3")
    refused([LENGTH, "optimization.minimum_gap=1.0"], "minimum_gap", "1 elements")
    refused(["optimization.minimum_gap=3.0"], "minimum_gap", "it needs optimization.minimum_length")
    refused([LENGTH, "optimization.update=gcmma"], "gcmma")
    refused(["optimization.filter={kind=\"density\";radius=2.0;}", "optimization.projection={erosion=0.4;eta=0.7;}"],
            "erosion", "eta + erosion = 1.1")
    code, output = hextop("check", "plain.cfg", LENGTH, "optimization.minimum_gap=4.0")
    check(code == 0 and "radius 4" in output and "least thickness of 3, and of gaps of 4" in output, output)
    code, output = hextop("check", "plain.cfg", LENGTH, "optimization.overhang={angle=45.0;direction=[0.0,0.0,1.0];}")
    check(code == 0 and "least thickness of 3" in output and "overhang" in output, output)


def check_eroded():
    code, output = hextop("run", "a.cfg")
    check(code == 0, output)
    rows, result = history("whole", seconds=False), summary("whole")
    last = rows[-1]
    check(abs(result["volume"] - 0.4) < 1e-6, f"the volume {result}")
    check(result["compliance"] < 0.8 * last["compliance"], f"the result is not the design that is made: {result['compliance']}")
    check(f"of the eroded design, which is analysed in the run: {last['compliance']:.6g}" in output, output)
    code, output = hextop("verify", "--made", "no", "whole", "--output", "v.json")
    grey = json.loads(pathlib.Path("v.json").read_text())
    check(code == 0 and f"{result['compliance']:.6g}"[:6] in output, f"verify has another grey design: {output} {grey.keys()}")
    text = pathlib.Path("whole/config.cfg").read_text()
    check("minimum_length" in text and "filter" not in text and "erosion" not in text, text)
    code, output = hextop("run", "whole/config.cfg", "output.directory=again")
    check(code == 0 and history("again", seconds=False) == rows, f"the resolved config is another run: {output}")


def check_resumed(*more):
    whole = "all" if more else "whole"
    if more:
        code, output = hextop("run", "a.cfg", *more, f"output.directory={whole}")
        check(code == 0 and "the worst of three designs is improved" in output, output)
    code, output = hextop("run", "a.cfg", *more, "output.directory=part", "optimization.iterations=17", "output.checkpoint=1e-6",
                          "--force")
    check(code == 0, output)
    code, output = hextop("run", "part/config.cfg", "--resume", "optimization.iterations=40")
    check(code == 0 and history("part", seconds=False) == history(whole, seconds=False), f"{more}: resumed: {output}")
    code, output = hextop("verify", "--made", "no", whole)
    check(code == 0 and "compliance" in output, output)


def check_processes():
    if not shutil.which("mpirun"):
        print("no mpirun: not run in several processes")
        return
    command = ["mpirun", "-n", "2", str(HEXTOP), "run", "a.cfg", "output.directory=two"]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **MPI, "ASAN_OPTIONS": "detect_leaks=0:handle_sigill=1"})
    check(run.returncode == 0, run.stdout + run.stderr)
    for one, two in zip(history("whole", seconds=False)[:12], history("two", seconds=False)[:12]):
        check(abs(one["compliance"] / two["compliance"] - 1.0) < 1e-6, f"{one['compliance']} by one process, {two['compliance']} by two")


def main():
    pathlib.Path("a.cfg").write_text(CONFIG)
    pathlib.Path("plain.cfg").write_text(PLAIN)
    check_refused()
    check_eroded()
    check_resumed()
    check_resumed('optimization.analysed="all"')
    check_processes()


with work_folder():
    main()
finish()
