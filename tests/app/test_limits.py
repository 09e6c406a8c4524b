#!/usr/bin/env python3
"""Limits from the config to the files: names, columns, verdicts, the choice of update and filter, resuming.

    test_limits.py HEXTOP SOURCE"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import bits, check, finish, HEXTOP, history, hextop, summary, work_folder

SOURCE = pathlib.Path(sys.argv[2]).resolve()
CONFIG = """units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 12; ny = 6; nz = 4; };
material = { E = 1000.0; nu = 0.3; density = 1e-9; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, { set = "right"; total_force = [0.0, 2.0, 0.0]; case = 2; } );
optimization = { iterations = 12; filter = { radius = 1.5; };
OPTIMIZATION };
solver = { device = "cpu"; operator = "otf"; tolerance = 1e-9; };
output = { directory = "out"; every = 0; };
"""
DOWN = "direction = [0.0, 0.0, -1.0];"
LEAST = f'''objective = "mass";
constraints = ( {{ kind = "displacement"; set = "right"; {DOWN} max = 0.08; case = 1; name = "tip"; }},
                {{ kind = "compliance"; max = 0.4; }},
                {{ kind = "displacement"; set = "right"; of = "max"; max = 0.3; case = [2]; }} );'''
DENSITY = [("iterations = 12; filter = {", 'iterations = 12; filter = { kind = "density";')]


def write(name, optimization, replace=()):
    text = CONFIG.replace("OPTIMIZATION", optimization)
    for a, b in replace:
        text = text.replace(a, b)
    pathlib.Path(name).write_text(text)
    return name


def check_written():
    code, text = hextop("run", write("least.cfg", LEAST), "optimization.iterations=60")
    check(code == 0, f"run: {text[-900:]}")
    for line in ("objective mass", "limits    tip: at most 0.08 mm; displacement, set 'right', direction [0, 0, -1], case 1",
                 "compliance_1_case2: at most 0.4 N mm", "largest of set 'right', case 2",
                 "update    mma, because there are constraints",
                 "the default, because limits need exact derivatives"):
        check(line in text, f"the header has '{line}': {text[-900:]}")
    check(re.search(r"iter +mass +limits +compliance", text), "the progress line has mass and limits")
    names = ["tip", "compliance_1_case1", "compliance_1_case2", "displacement"]
    rows = history("out")
    header = pathlib.Path("out/history.csv").read_text().split("\n")[0].split(",")
    check(header[-6:] == ["objective", "kkt", *names], f"columns: {header}")
    check(header[:8] == "iteration,compliance,volume,change,greyness,pcg_iterations,pcg_residual,seconds".split(","),
          f"the first columns stay: {header}")
    last = rows[-1]
    check(abs(last["compliance_1_case2"] / last["compliance_case2"] - 1.0) < 1e-9, "a limit is a value of its case")
    check(abs(last["objective"] / last["mass"] - 1.0) < 1e-9, "the objective has its own column")
    check(abs(last["objective"] / (1e-9 * 288.0 * last["volume"]) - 1.0) < 1e-6, f"the mass: {last}")
    # the force of 1 N on the face is shared by area, so its work is the mean displacement
    check(abs(last["tip"] / last["compliance_case1"] - 1.0) < 1e-7, f"the mean displacement: {last}")
    result = summary("out")
    check([o["name"] for o in result["limits"]] == names, "summary.json has the limits")
    check([o["unit"] for o in result["limits"]] == ["mm", "N mm", "N mm", "mm"], "with their units")
    check([o["max"] for o in result["limits"]] == [0.08, 0.4, 0.4, 0.3], "and bounds")
    check(all(o["min"] is None for o in result["limits"]), "and no others")
    for o in result["limits"]:
        check(abs(o["value"] / last[o["name"]] - 1.0) < 1e-9, f"the value of {o}")
        check(o["met"] == (o["value"] < 1.001 * o["max"]), f"the verdict of {o}")
    check(result["limits_met"] == all(o["met"] for o in result["limits"]), "all verdicts")
    check("volume_target" not in result and "volume_met" not in result, "no volume is prescribed")
    check(result["update"] == "mma" and result["filter"] == "density", "update and filter")
    check(result["limits_met"] and 1.0 < last["tip"] / 0.0796, f"the design is at its limit: {last}")
    check(re.search(r"\n *tip +\S+ mm +at most 0.08 mm +met", text), f"the verdict at the end: {text[-1500:]}")
    config = pathlib.Path("out/config.cfg").read_text()
    check('update = "mma";' in config and 'kind = "density";' in config, "config.cfg has what was taken")
    check("volume_fraction" not in config, "config.cfg has no volume")
    code, text = hextop("run", "out/config.cfg", "output.directory=again")
    check(code == 0 and bits("again") == bits("out"), "config.cfg repeats the run")
    # what a run reports is what verify finds for the same design, also the largest value, whose derivative is a p-norm's
    code, text = hextop("verify", "--made", "no", "out")
    made = json.loads(pathlib.Path("out/verify.json").read_text())["grey"]["limits"]
    check(all(abs(o["value"] / last[o["name"]] - 1.0) < 1e-8 for o in made), f"verify finds the values of the run: {made}, {last}")
    code, text = hextop("report", "out")
    page = pathlib.Path("out/report.html").read_text()
    check(code == 0 and page.count('class="level"') == 8 and ">Limits<" in page, "the report draws the limits")
    check("limit 0.08 mm" in page and "Limit tip" in page, "with their values")


def check_arguments():
    group = f'({{kind="displacement";set="right";{DOWN}max=0.08;case=1;name="tip";}})'
    code, text = hextop("run", write("none.cfg", 'objective = "mass";'), f"optimization.constraints={group}",
                        "output.directory=list")
    check(code == 0 and "tip" in history("list")[0], f"a list as an argument: {text[-900:]}")
    code, text = hextop("run", "least.cfg", "optimization.constraints[0].max=0.1", "optimization.constraints[0].name=end",
                        "output.directory=one")
    check(code == 0 and summary("one")["limits"][0]["max"] == 0.1, f"a key of a list as an argument: {text[-900:]}")
    check("end" in history("one")[0], "a name as an argument")
    code, text = hextop("check", "least.cfg", "optimization.constraints[0].max=-1.0", "optimization.constraints[0].magnitude=true")
    check(code == 2 and "argument 'optimization.constraints[0].ma" in text, f"an argument is named: {text[-900:]}")
    code, text = hextop("help", "optimization.constraints")
    check(code == 0 and "optimization.constraints[].of" in text, "help on the group")
    code, text = hextop("help", "optimization.objective.kind")
    check(code == 0 and "worst_compliance" in text and "mass" in text, "help on the kinds of objectives")
    code, text = hextop("help", "optimization.constraints.kind")
    check(code == 0 and "reaction" in text and "worst_compliance" not in text, "help on the kinds of limits")


def check_choices():
    """Which update is taken, and that what is written repeats it."""
    volume = "volume_fraction = 0.4;"
    gravity = [('case = 2; } );', 'case = 2; }, { gravity = [0.0, 0.0, -9.81]; } );')]
    for name, optimization, replace, update, filt, reason in (
            ("plain", volume, (), "oc", "sensitivity", None),
            ("weight", volume, gravity, "mma", "sensitivity", "because with loads by mass"),
            ("stated", volume + ' update = "oc";', gravity, "oc", "sensitivity", None),
            ("moved", volume + f' objective = {{ kind = "displacement"; set = "right"; {DOWN} }};', (), "mma", "density",
             "because the objective is not the compliance"),
            ("worst", volume + ' objective = "worst_compliance";', (), "mma", "density", "because the objective")):
        code, text = hextop("run", write(f"{name}.cfg", optimization, replace), "optimization.iterations=2",
                            f"output.directory={name}")
        check(code == 0, f"{name}: {text[-900:]}")
        check(summary(name)["update"] == update and summary(name)["filter"] == filt, f"{name}: {summary(name)['update']}")
        check((reason in text) if reason else "because" not in text, f"{name}: the reason: {text[-900:]}")
        check(f'update = "{update}";' in pathlib.Path(f"{name}/config.cfg").read_text(), f"{name}: config.cfg")
    check("volume_target" in summary("plain") and summary("weight")["volume_target"] == 0.4, "the volume is prescribed")
    code, text = hextop("run", "plain.cfg", "optimization.iterations=2", "optimization.start=0.6", "output.directory=start")
    check(code == 0 and abs(history("start")[0]["volume"] - 0.6) < 1e-9, f"start: {text[-900:]}")
    code, text = hextop("run", "least.cfg", "optimization.iterations=1", "output.directory=start")
    check(code == 0 and abs(history("start")[0]["volume"] - 0.5) < 1e-9, f"the default of start: {text[-900:]}")


def check_keys():
    """The keys of each kind: in the list, in the manual, and what is refused."""
    code, text = hextop("list")
    rows = text.split("the keys that they take\n")[1].split("\n\n")[0].splitlines()
    manual = (SOURCE / "doc/concepts.md").read_text()
    keys = "set set_2 of case direction magnitude relaxation method exclude exclude_radius radius".split()
    value = {"set": '"left"', "set_2": '"top"', "of": '"mean"', "case": "1", "direction": "[0.0, 0.0, 1.0]", "magnitude": "true",
             "relaxation": "0.5", "method": '"p-norm"', "exclude": '("left")', "exclude_radius": "1.0", "radius": "2.0"}
    for row in rows:
        column = re.split(" {2,}", row.strip())
        kind, takes = column[0], column[1].split(", ") if len(column) == 3 else []
        if kind == "worst_compliance":
            continue
        line = re.search(rf"^\| `{kind}` \|.*\|(.*)\|$", manual, re.M)
        check(line and re.findall("`(.*?)`", line.group(1)) == [key for key in keys if key in takes], f"the manual on {kind}: {takes}")
        for key in set(keys) - set(takes):
            write("key.cfg", f'constraints = ( {{ kind = "{kind}"; {key} = {value[key]}; max = 0.5; }} );')
            code, text = hextop("check", "key.cfg", *(["physics=heat"] if kind == "temperature" else []))
            said = f"{key}: constraint '{kind}' does not take this key"
            check(code == 2 and (said in text or kind == "temperature"), f"{kind}, {key}: {text[-400:]}")


def check_solid():
    """A least compliance that no limit keeps from being solid is warned of."""
    write("stiff.cfg", f'constraints = ( {{ kind = "displacement"; set = "right"; {DOWN} max = 0.08; case = 1; }} );')
    mass = 'optimization.constraints[1]={kind="mass";max=1.5e-7}'
    weight = "loads[2]={gravity=[0.0,0.0,-9.81]}"
    for more, is_warned in (([], True), (["optimization.volume_fraction=0.4"], False), ([mass], False), ([weight], False),
                            (["optimization.objective=mass"], False)):
        code, text = hextop("check", "stiff.cfg", *more)
        check(code == 0 and ("no limit restricts the material" in text) == is_warned, f"{more}: {text[-900:]}")


def check_starts():
    """A least mass is found from a start that misses the limit by far, and from the solid part."""
    write("bend.cfg", '''objective = "mass"; filter = { kind = "density"; radius = 1.5; };
constraints = ( { kind = "displacement"; set = "right"; direction = [0.0, 0.0, -1.0]; max = 0.05; case = 1; } );''',
          [(" filter = { radius = 1.5; };", "")])
    mass = []
    for start in ("0.05", "0.2", "0.6", "1.0"):
        code, text = hextop("run", "bend.cfg", "optimization.iterations=60", f"optimization.start={start}",
                            "output.directory=start")
        rows = history("start")
        check(code == 0 and rows[-1]["displacement"] < 0.05 * 1.001, f"from {start} the limit is met: {rows[-1]}")
        check(min(r["mass"] for r in rows[1:]) > 0.1 * rows[-1]["mass"], f"from {start} the design does not empty")
        mass.append(rows[-1]["mass"])
    check(max(mass) < 1.1 * min(mass), f"masses from four starts: {mass}")


def first_optimal(rows, tolerance):
    """Index of the first design whose residual and change of the objective are below the tolerance."""
    return next(i for i in range(1, len(rows)) if rows[i]["kkt"] < tolerance and
                abs(rows[i]["objective"] - rows[i - 1]["objective"]) < tolerance * rows[i]["objective"])


def check_unmet():
    """Two limits that no design can meet together are named once each, with the least that was reached."""
    both = LEAST.replace("max = 0.08", "max = 0.03").replace(" );", ', { kind = "volume"; max = 0.2; name = "share"; } );')
    write("both.cfg", both)
    code, text = hextop("check", "both.cfg", "--solve") # the measured time of an iteration stops no solve
    check(code == 0 and re.search("share +1 +at most 0.2 +missed", text) and "did not converge" not in text, text[-900:])
    code, text = hextop("run", "both.cfg", "optimization.iterations=45",
                        "optimization.change_tolerance=0.5", "optimization.move=0.51", "output.directory=unmet")
    rows = history("unmet")
    least = min(r["tip"] for r in rows[:20])
    warned = re.findall(r"iteration (\d+): the limit 'tip' has stayed unmet for 20 designs: it is at most 0.03 mm, and the "
                        r"least value reached is ([0-9.e+-]+) mm", text)
    check(code == 0 and len(warned) == 1 and warned[0][0] == "20", f"named once, after 20 designs: {text[-900:]}")
    check(warned and abs(float(warned[0][1]) / least - 1.0) < 1e-4, f"the least that was reached: {warned}, {least}")
    result = summary("unmet")
    check(not result["limits_met"] and result["converged"] is False, "the run has not converged")
    check("a limit is not met" in text and "off by" in text, "the verdict")
    check(any(w["code"] == "limit" for w in result["warnings"]), "the warning of the last design")


def check_resumed():
    code, text = hextop("run", "least.cfg", "output.directory=whole")
    check(code == 0, f"whole: {text[-900:]}")
    common = ["output.directory=part", "output.checkpoint=0.000001"]
    code, text = hextop("run", "least.cfg", *common, "optimization.iterations=5")
    check(code == 0, f"the first part: {text[-900:]}")
    code, text = hextop("run", "least.cfg", *common, "--resume")
    check(code == 0 and "after iteration 5" in text, f"the second part: {text[-900:]}")
    seconds = re.compile("seconds")
    strip = lambda rows: [{k: v for k, v in r.items() if not seconds.search(k)} for r in rows]
    check(bits("part") == bits("whole"), "a resumed run has the same bits")
    check(strip(history("part")) == strip(history("whole")), "a resumed run has the same history")
    # killed anywhere
    run = subprocess.Popen([HEXTOP, "run", "least.cfg", "optimization.iterations=400", "optimization.kkt_tolerance=0.0",
                            "output.directory=killed", "output.checkpoint=0.000001"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    deadline = time.time() + 60.0
    while time.time() < deadline and not pathlib.Path("killed/checkpoint.previous.state").exists():
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    done = len(history("killed")) + 5
    code, text = hextop("run", "least.cfg", f"optimization.iterations={done}", "optimization.kkt_tolerance=0.0",
                        "output.directory=killed", "--resume")
    check(code == 0, f"resume of a killed run: {text[-900:]}")
    code, text = hextop("run", "least.cfg", f"optimization.iterations={done}", "optimization.kkt_tolerance=0.0",
                        "output.directory=whole")
    check(code == 0 and bits("killed") == bits("whole"), "a killed and resumed run has the same bits")
    code, text = hextop("run", "least.cfg", *common, "--resume", "optimization.constraints[0].max=0.09")
    check(code == 2 and "constraints" in text, f"another limit is refused: {text[-900:]}")


def check_converged():
    code, text = hextop("run", "least.cfg", "optimization.iterations=300", "optimization.penalty=1.0", "optimization.start=0.15",
                        "optimization.filter={kind=\"none\";}", "output.directory=converged")
    check(code == 0 and "the design has converged: KKT residual" in text, f"KKT: {text[-1500:]}")
    rows = history("converged")
    check(first_optimal(rows, 1e-3) == len(rows) - 1, "at the first design below the tolerance")
    # the residual falls below 0.12 while the objective still falls by more than that
    code, text = hextop("run", "plain.cfg", "optimization.update=mma", "optimization.filter.kind=density",
                        "optimization.kkt_tolerance=0.12", "output.directory=early")
    early = history("early")
    below = next(i for i, r in enumerate(early) if r["kkt"] < 0.12)
    check(code == 0 and first_optimal(early, 0.12) == len(early) - 1 > below, f"ends while the objective falls: {early}")
    check(summary("converged")["converged"] is True, "summary.json")
    # multipliers of limits that are far from met are huge, so the residual counts from the first design that meets them
    met = next(i for i, r in enumerate(rows) if r["tip"] < 0.08 * 1.001 and r["compliance_1_case1"] < 0.4 * 1.001
               and r["compliance_1_case2"] < 0.4 * 1.001 and r["displacement"] < 0.3 * 1.001)
    check(met > 0 and rows[met]["kkt"] == 1.0, f"the residual is relative to design {met + 1}: {rows[met]}")
    code, text = hextop("run", "least.cfg", "optimization.iterations=300", "optimization.penalty=1.0", "optimization.start=0.15", "optimization.kkt_tolerance=0.0",
                        "optimization.filter={kind=\"none\";}", "output.directory=longer")
    check(abs(rows[-1]["mass"] / history("longer")[-1]["mass"] - 1.0) < 1e-4, f"that is the optimum: {rows[-1]['mass']}")
    code, text = hextop("-q", "run", "least.cfg", "optimization.iterations=2", "output.directory=quiet")
    check(code == 0 and all(line.startswith("hextop: warning:") for line in text.splitlines()), f"--quiet: {text[-900:]}")


def check_first_volume():
    """The volume is an upper limit under mma, and the first design may have any; only the last one is judged."""
    for update in ("mma", "gcmma", "oc"):
        config = write("first.cfg", f'update = "{update}"; volume_fraction = 0.4; start = 0.6;', DENSITY)
        code, text = hextop("run", config, f"output.directory=first-{update}")
        check(code == 0 and history(f"first-{update}")[0]["volume"] > 0.59, f"first volume, {update}: {text[-900:]}")
        check("instead of volume_fraction" not in text and "the volume is not met" not in text, f"no warning, {update}: {text[-900:]}")
    code, text = hextop("run", "first.cfg", "optimization.update=mma", "optimization.iterations=1", "output.directory=short")
    check(code == 0 and "the volume is not met: the last design" in text, f"the last design is judged: {text[-900:]}")


def check_damping():
    """Only oc reads the damping."""
    for update, damping, warns in (("mma", 0.3, 1), ("gcmma", 0.3, 1), ("mma", 0.5, 0), ("oc", 0.3, 0)):
        config = write("damping.cfg", f'update = "{update}"; volume_fraction = 0.4;\ndamping = {damping};', DENSITY)
        for command in (["check"], ["run", "optimization.iterations=1", "output.directory=damping"]):
            code, text = hextop(command[0], config, *command[1:])
            check(code == 0 and (f"optimization.damping: update '{update}' does not use it" in text) == bool(warns),
                  f"damping {damping}, {update}: {text[-900:]}")
            check(not warns or "warning: damping.cfg:8: " in text, f"its line: {text[-900:]}")


def check_alternating():
    """Two limits of largest values: designs that come near them do not alternate about them, as they do if each design
    has its own scale (5 % off in design 17), and the recorded value is the maximum, as a single analysis has it."""
    limits = "".join(f'{{ kind = "displacement"; set = "right"; of = "max"; direction = {along}; max = {most}; name = "{name}"; '
                     f"case = {case}; }}{end}" for along, most, name, case, end in
                     (("[0.0, -1.0, 0.0]", 0.2, "one", 1, ", "), ("[0.0, 0.0, 1.0]", 0.5, "two", 2, "")))
    text = write("two.cfg", f'objective = "mass"; start = 0.6; constraints = ( {limits} );', DENSITY + [
        ("nx = 12; ny = 6; nz = 4", "nx = 24; ny = 12; nz = 4"), ("[0.0, 0.0, -1.0]; }, {", "[0.0, -10.0, 0.0]; }, {"),
        ("[0.0, 2.0, 0.0]; case = 2", "[0.0, 0.0, 3.0]; case = 2")])
    code, said = hextop("run", text, "optimization.iterations=30", "output.directory=two", "output.every=0")
    check(code == 0, f"two largest values: {said[-600:]}")
    rows = history("two")
    off = [max(row["one"] / 0.2, row["two"] / 0.5) - 1.0 for row in rows]
    check(max(off[15:20]) < 0.015, f"designs 16 to 20 are above their limits by {[f'{x:.4f}' for x in off[15:20]]}")
    check(max(map(abs, off[25:])) < 2e-3, f"the last designs: {off[25:]}")
    hextop("verify", "two", "--made", "no")
    for limit in json.loads(pathlib.Path("two/verify.json").read_text())["grey"]["limits"]:
        last = rows[-1][limit["name"]]
        check(abs(limit["value"] / last - 1.0) < 1e-5, f"{limit['name']}: {limit['value']} by verify, {last} by the run")


with work_folder(threads=1):
    check_alternating()
    check_keys()
    check_solid()
    check_starts()
    check_first_volume()
    check_damping()
    check_written()
    check_arguments()
    check_choices()
    check_unmet()
    check_resumed()
    check_converged()
finish()
