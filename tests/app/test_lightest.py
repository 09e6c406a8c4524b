#!/usr/bin/env python3
"""hextop lightest: the search by limits and by volume, what it keeps, resuming, exit status 4, refused input.

    test_lightest.py HEXTOP SOURCE"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HEXTOP = pathlib.Path(sys.argv[1]).resolve()
CONFIG = """units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 10; ny = 4; nz = 6; };
material = { E = 1000.0; nu = 0.3; density = 1e-9; };
sets = ( { name = "pad"; box = { min = [10.0, 0.0, 2.0]; max = [10.0, 4.0, 4.0]; }; },
         { name = "pad-in"; box = { min = [8.0, 0.0, 2.0]; max = [10.0, 4.0, 4.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "pad"; total_force = [0.0, 0.0, -1.0]; }, { set = "pad"; total_force = [0.0, 1.0, 0.0]; case = 2; } );
passive = ( { set = "pad-in"; } );
optimization = { objective = "mass"; iterations = 24; filter = { kind = "density"; radius = 1.5; };
    constraints = ( { kind = "displacement"; set = "pad"; direction = [0.0, 0.0, 1.0]; min = -0.017; case = 1; name = "tip"; },
                    { kind = "displacement"; set = "pad"; max = 0.03; name = "move"; } ); };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { directory = "out"; };
"""
FAST = ["--refine", "0"]
failed = 0


def check(holds, what):
    global failed
    if not holds:
        failed += 1
        print(f"failed: {what}")


def hextop(*arguments):
    done = subprocess.run([HEXTOP, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def read(path):
    return json.loads(pathlib.Path(path).read_text())


def usage(limit, value):
    """Share of its bounds that a value uses, in the words of the issue."""
    shares = []
    for bound, is_max in ((limit["max"], True), (limit["min"], False)):
        if bound is None:
            continue
        inverse = (bound < 0) == is_max
        shares.append(bound / value if inverse else value / bound)
    return max(shares)


def check_tries(folder, low=0.95):
    """The files of a search agree with one another; returns its tries."""
    search = read(f"{folder}/lightest.json")
    check(search["status"] == "done", f"{folder}: status")
    names = [limit["name"] for limit in search["limits"]]
    check(names == ["tip", "move_case1", "move_case2"], f"{folder}: limits {names}")
    check([limit["constraint"] for limit in search["limits"]] == [0, 1, 1], "constraints of the limits")
    check([(limit["min"], limit["max"]) for limit in search["limits"]] == [(-0.017, None), (None, 0.03), (None, 0.03)],
          "the bounds are those of the file")
    for one in search["tries"]:
        verified = read(f"{folder}/{one['folder']}/verify.json")
        designs = {"grey": verified["grey"], "black_white": verified["black_white"],
                   "surface": verified["surface"]["analysis"]}
        for key, design in designs.items():
            values = [limit["value"] for limit in design["limits"]]
            check(values == [limit[key] for limit in one["limits"]], f"{one['folder']}: values of {key}")
            worst = max(usage(limit, value) for limit, value in zip(search["limits"], values))
            check(abs(worst - one["usage"][key]) < 1e-12, f"{one['folder']}: usage of {key}: {worst} {one['usage']}")
            check([limit["max"] for limit in design["limits"]] == [None, 0.03, 0.03], "judged by the bounds of the file")
        check(one["met"] == (one["usage"]["surface"] <= 1.0), f"{one['folder']}: verdict")
        check(abs(one["mass"] / (1e-9 * verified["surface"]["volume_enclosed"]) - 1.0) < 1e-9, "the mass of the part")
        check("other settings" not in " ".join(verified["warnings"]), "bounds given to verify are no surprise")
    met = [one for one in search["tries"] if one["met"]]
    kept = min(met, key=lambda one: one["volume"]) if met else None
    check(search["kept"] == (kept and kept["folder"]), f"{folder}: kept {search['kept']}")
    if kept and low:
        check(low <= kept["usage"]["surface"] <= 1.0, f"{folder}: the window: {kept['usage']}")
    return search["tries"]


def check_limits():
    code, text = hextop("lightest", "part.cfg", *FAST)
    check(code == 0, f"limits: {code} {text[-900:]}")
    tries = check_tries("out")
    check(2 <= len(tries) <= 8, f"limits: {len(tries)} tries")
    check(tries[0]["min"] == [-0.017, None] and tries[0]["max"] == [None, 0.03], "the first try takes the file's bounds")
    for one, next_one in zip(tries[:2], tries[1:3]):
        worst = max(one["limits"][1:], key=lambda limit: limit["surface"])
        for bound, at, limit in ((-0.017, ("min", 0), one["limits"][0]), (0.03, ("max", 1), worst)):
            wanted = 0.975 * bound * limit["grey"] / limit["surface"]
            check(abs(next_one[at[0]][at[1]] / wanted - 1.0) < 1e-5, f"the next bound is {wanted}: {next_one}")
    check(tries[-1]["mass"] < tries[0]["mass"], "the grey design was too stiff, so the part becomes lighter")
    last = f"out/{tries[-1]['folder']}"
    check(f"the lightest part that meets all limits is that of try {len(tries)}" in text, f"the kept try: {text[-900:]}")
    check(f"{last}/part.stl" in text and re.search(r"tip +-0\.0\S+ mm +at least -0.017 mm +0\.\d", text), "its limits")
    files = set(os.listdir(last))
    check({"config.cfg", "summary.json", "history.csv", "part.stl", "verify.json"} <= files, f"a result folder: {files}")
    check(sum(name.endswith(".vtk") for name in files) == 1, "one design")
    check(hextop("report", last)[0] == 0, "its report")
    code, text = hextop("-q", "lightest", "part.cfg", *FAST, "--resume")
    check(code == 0 and "try 1" not in text and read("out/lightest.json")["tries"] == tries, f"nothing is repeated: {text}")


def check_volume():
    code, text = hextop("lightest", "part.cfg", *FAST, "--vary", "volume", "output.directory=volume")
    check(code == 0, f"volume: {code} {text[-900:]}")
    tries = check_tries("volume")
    check(tries[0]["volume_fraction"] == 0.5 and len(tries) >= 2, f"volume: {tries}")
    check(all(one["max"] == [None, 0.12] and one["min"] == [-0.068, None] for one in tries), "bounds that do not bind")
    volumes = sorted((one["volume_fraction"], one["usage"]["surface"]) for one in tries)
    check(volumes[0][1] > 1.0 > volumes[-1][1], f"a smaller volume uses more: {volumes}")
    config = pathlib.Path(f"volume/{tries[-1]['folder']}/config.cfg").read_text()
    check('objective = "compliance"' in config or 'kind = "compliance"' in config, "the stiffest part")
    check(f"volume_fraction = {tries[-1]['volume_fraction']:g}" in config, "of a volume")


def check_not_met():
    code, text = hextop("lightest", "part.cfg", *FAST, "--tries", "1", "optimization.constraints[0].min=-0.016",
                        "output.directory=one")
    check(code == 0 and re.search(r"a lighter part may exist: all tries are used up; `hextop lightest part.cfg [^`]*"
                                  r"min=-0.016'? output.directory=one --refine 0 --tries 2 --resume` continues the search",
                                  text), f"one try: {code} {text[-900:]}")
    code, text = hextop("lightest", "part.cfg", *FAST, "--tries", "1", "--vary", "volume", "optimization.start=0.3",
                        "output.directory=soft")
    search = read("soft/lightest.json")
    check(code == 4 and search["kept"] is None and search["end"] == "tries", f"none passes: {code} {text[-900:]}")
    check(search["tries"][0]["usage"]["surface"] > 1.0 and "no try meets all limits" in text
          and "the nearest is try 1, whose limit '" in text, f"nearest: {text[-900:]}")
    check("try 1: the design is not black-and-white" in text, f"the warnings of the nearest: {text[-1500:]}")
    command = re.search(r"`hextop lightest part.cfg optimization.start=0.3 [^`]* --vary volume --refine 0 --tries 2 "
                        r"--resume` continues the search", text)
    check(command, f"what would help: {text[-900:]}")
    # not even the solid part is that stiff
    code, text = hextop("lightest", "part.cfg", *FAST, "--vary", "volume", "optimization.start=0.8",
                        "optimization.constraints[0].min=-0.004", "output.directory=solid")
    search = read("solid/lightest.json")
    check(code == 4 and search["end"] == "solid" and search["tries"][-1]["volume_fraction"] == 1.0, f"solid: {code} {text}")
    check("more material does not help" in text, f"what would help: {text[-900:]}")


def check_broken():
    """A part that falls apart counts as one that misses its limits, and the search goes on."""
    code, text = hextop("lightest", "part.cfg", *FAST, "--vary", "volume", "optimization.start=0.11", "--tries", "4",
                        "output.directory=broken", "optimization.constraints[0].min=-0.03",
                        "optimization.constraints[1].max=0.06", "optimization.iterations=8")
    tries = read("broken/lightest.json")["tries"]
    broken = [one for one in tries if "error" in one]
    check(broken and "not connected to a support" in broken[0]["error"], f"a part that falls apart: {text[-1500:]}")
    check(all(one["limits"][0]["surface"] is None and not one["met"] for one in broken), "has no values")
    check(code == 0 and any(one["met"] for one in tries), f"a later part does not: {code} {text[-900:]}")
    code, text = hextop("lightest", "part.cfg", *FAST, "--vary", "volume", "optimization.start=0.11", "--tries", "4",
                        "output.directory=broken", "optimization.constraints[0].min=-0.03",
                        "optimization.constraints[1].max=0.06", "optimization.iterations=8", "--resume")
    check(code == 0 and read("broken/lightest.json")["tries"] == tries, f"it is read again: {code} {text[-900:]}")


def check_heat():
    """The 0/1 design is judged, and temperatures count above that of the sink."""
    pathlib.Path("heat.cfg").write_text("""physics = "heat";
units = "W, mm, K";
mesh = { generator = "cantilever"; nx = 12; ny = 12; nz = 2; };
material = { conductivity = 0.2; conductivity_min = 0.0002; };
sets = ( { name = "sink"; box = { min = [0.0, 4.0, 0.0]; max = [0.0, 8.0, 2.0]; }; },
         { name = "chip"; box = { min = [10.0, 4.0, 0.0]; max = [12.0, 8.0, 2.0]; }; } );
supports = ( { set = "sink"; temperature = 20.0; } );
loads = ( { set = "chip"; heat = 0.5; } );
passive = ( { set = "chip"; } );
optimization = { objective = "volume"; iterations = 24; filter = { kind = "density"; radius = 1.5; };
    constraints = ( { kind = "temperature"; set = "chip"; of = "max"; max = 45.0; } ); };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { directory = "heat"; };
""")
    code, text = hextop("lightest", "heat.cfg")
    search = read("heat/lightest.json")
    first, second = search["tries"][:2]
    check(code == 0 and search["end"] in ("bracket", "repeats", "tries", "found"), f"heat: {code} {text[-900:]}")
    for one in search["tries"]:
        limit = one["limits"][0]
        check(abs(one["usage"]["black_white"] - (limit["black_white"] - 20.0) / 25.0) < 1e-9, f"above the sink: {one}")
        check(limit["surface"] is None and one["met"] == (limit["black_white"] <= 45.0), f"judged as a 0/1 design: {one}")
    # this thin conductor breaks as a 0/1 design: the ratio counts as 4
    check(first["usage"]["black_white"] > 4.0 and abs(second["max"][0] - (20.0 + 0.975 * 25.0 / 4.0)) < 1e-3,
          f"the next bound: {second}")
    met, missed = ([one["max"][0] for one in search["tries"] if one["met"] == verdict] for verdict in (True, False))
    check(max(met) < min(missed), f"bounds that pass are stricter: {met} {missed}")
    for i, one in enumerate(search["tries"][2:], 2):
        before = search["tries"][:i]
        low, high = (choose(o["max"][0] for o in before if o["met"] == verdict) for choose, verdict in ((max, True), (min, False)))
        check(low < one["max"][0] < high, f"try {i + 1} lies between known bounds: {low} {one['max']} {high}")


def interrupt(arguments, ready):
    process = subprocess.Popen([HEXTOP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + 60.0
    while not ready() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    text = process.communicate()[0]
    return process.returncode, text


def count_lines(path):
    return pathlib.Path(path).read_text().count("\n") if pathlib.Path(path).exists() else 0


def check_resume():
    key = "output.directory=again"
    code, text = interrupt(["lightest", "part.cfg", *FAST, key], lambda: count_lines("again/try-2/history.csv") > 3)
    check(code == 3, f"interrupted: {code} {text[-600:]}")
    command = re.search(r"`hextop (lightest [^`]*)` continues the search", text)
    check(command, f"the command that continues: {text[-600:]}")
    search = read("again/lightest.json")
    check(search["status"] == "unfinished" and len(search["tries"]) == 1 and search["started"] == 2, "half a search")
    check(pathlib.Path("again/try-2/checkpoint.state").exists(), "the checkpoint of the try")
    first = os.stat("again/try-1/verify.json").st_mtime_ns
    for arguments, code, message in (
            ([key], 2, "is of a search that did not end: continue it with --resume"),
            ([key, "--resume", "optimization.penalty=2.5"], 2,
             "'optimization.penalty = 3.0', and this one has 'optimization.penalty = 2.5'"),
            ([key, "--resume", "--vary", "volume"], 2, "resume it with --vary limits")):
        got, said = hextop("lightest", "part.cfg", *FAST, *arguments)
        check(got == code and message in said, f"{arguments}: {got} {said}")
    code, text = hextop(*command.group(1).replace("'", "").split())
    check(code == 0, f"resumed: {code} {text[-600:]}")
    check("continuing after iteration" in pathlib.Path("again/try-2/run.log").read_text(), "the run is continued")
    check(os.stat("again/try-1/verify.json").st_mtime_ns == first, "a finished try is not repeated")
    there, here = check_tries("out"), check_tries("again")
    for one in there + here:
        one.pop("seconds")
    check(there == here, "the resumed search gives the same tries, bit by bit")


def check_other_mesh():
    code, text = hextop("mesh", "part.cfg", "block.vtk")
    config = pathlib.Path("part.cfg").read_text().replace('generator = "cantilever"; nx = 10; ny = 4; nz = 6;', 'file = "block.vtk";')
    pathlib.Path("file.cfg").write_text(re.sub(r"sets = .*?\);\n", "", config, flags=re.S))  # the file has them
    key, volume = "output.directory=mesh", ["--vary", "volume", "optimization.start=0.3"]
    code, text = hextop("lightest", "file.cfg", *FAST, key, "--tries", "1", *volume)
    check(code == 4, f"a mesh from a file: {code} {text[-600:]}")
    hextop("mesh", "part.cfg", "block.vtk", "mesh.nx=11")
    code, text = hextop("lightest", "file.cfg", *FAST, key, "--tries", "2", "--resume", *volume)
    check(code == 2 and "the mesh is another one than in the tries before" in text, f"another mesh: {code} {text[-600:]}")


def check_refused():
    for arguments, message in (
            (["optimization.constraints=", "optimization.objective=compliance", "optimization.volume_fraction=0.5"], "there are no limits that the lightest part has to meet"),
            (["optimization.objective=compliance", "optimization.volume_fraction=0.5"],
             "'compliance' does not make a part lighter; take \"volume\" or \"mass\""),
            (["--vary", "volume", 'optimization.constraints[1]={kind="volume";max=0.5;}'], "leave this limit out"),
            (["--vary", "mass"], "--vary mass: expected limits or volume"),
            (["--tries", "0"], "--tries 0: expected a whole number from 1 to 100"),
            (["--resume"], "there is no none/lightest.json"),
            (["optimization.penalty=0"], "optimization.penalty")):
        code, text = hextop("lightest", "part.cfg", "output.directory=none", *arguments)
        check(code == 2 and text.count("error") == 1 and message in text, f"{arguments}: {code} {text}")
    if shutil.which("mpirun"):
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", HEXTOP, "lightest", "part.cfg",
                               "output.directory=none"], capture_output=True, text=True,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:handle_sigill=1"})  # leaks inside MPI
        check(done.returncode == 2 and "start it without mpirun" in done.stderr, f"several processes: {done}")
    check(not pathlib.Path("none").exists(), "refused input leaves no folder")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("part.cfg").write_text(CONFIG)
    check_refused()
    check_limits()
    check_volume()
    check_not_met()
    check_broken()
    check_heat()
    check_resume()
    check_other_mesh()
print(f"{failed} failed")
sys.exit(failed > 0)
