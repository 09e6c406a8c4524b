#!/usr/bin/env python3
"""An objective with parameters in a run: the displacement of a set, from the config to the report.

    test_objective_keys.py HEXTOP SOURCE"""

import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import bits, check, finish, history, hextop, work_folder

CONFIG = """mesh = { generator = "cantilever"; nx = 12; ny = 6; nz = 4; };
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, { set = "top"; pressure = 0.01; case = 2; } );
weights = [1.0, 0.5];
optimization = { volume_fraction = 0.4; iterations = 6; filter = { kind = "density"; radius = 1.5; };
                 OBJECTIVE };
solver = { device = "cpu"; operator = "otf"; tolerance = 1e-10; };
output = { directory = "out"; fields = ("density", "displacement"); };
"""
DISPLACEMENT = 'objective = { kind = "displacement"; set = "right"; direction = [0.0, 0.0, -2.0]; };'


def write(name, objective):
    pathlib.Path(name).write_text(CONFIG.replace("OBJECTIVE", objective))
    return name


def check_reported():
    code, text = hextop("check", write("d.cfg", DISPLACEMENT))
    check(code == 0 and "objective displacement, set 'right', direction [0, 0, -2]" in text, f"check: {text}")
    check("    objective  " in text, "check counts the memory of the objective")
    code, text = hextop("run", "d.cfg")
    check(code == 0, f"run: {text}")
    check("iter  displacement    compliance" in text, "the progress line has a column of the objective")
    check("\ndisplacement " in text, "the last line has the objective")
    rows = history("out")
    check(len(rows) == 6 and rows[5]["displacement"] < 0.9 * rows[0]["displacement"], "the displacement falls")
    with open("out/summary.json") as stream:
        summary = json.load(stream)
    check(summary["objective"] == "displacement", "summary.json names the objective")
    check(abs(summary["objective_value"] / rows[5]["displacement"] - 1.0) < 1e-11, "its value is in summary.json")
    check(abs(summary["compliance"] / rows[5]["compliance"] - 1.0) < 1e-11, "the compliance stays")
    check(hextop("report", "out")[0] == 0 and ">Objective<" in pathlib.Path("out/report.html").read_text(),
          "the report has the objective")
    return rows


def check_value(rows):
    """The work of a unit force on the set is its mean displacement: the compliance, if no other load acts."""
    code, text = hextop("run", "d.cfg", "weights=[1.0, 1e-30]", "output.directory=one")
    row = history("one")[0]
    check(code == 0 and abs(row["displacement"] / row["compliance_case1"] - 1.0) < 1e-8, f"a load on the set: {row}")
    for setting in ("solver.element=quadratic", "mesh.shuffle=7", "solver.precision=mixed"):
        code, text = hextop("run", "d.cfg", "weights=[1.0, 1e-30]", setting, "solver.operator=", "optimization.iterations=1",
                            "output.directory=other")
        other = history("other")[0]
        check(code == 0 and abs(other["displacement"] / other["compliance_case1"] - 1.0) < 1e-8, f"{setting}: {other}, {text}")
        check(setting != "mesh.shuffle=7" or abs(other["displacement"] / row["displacement"] - 1.0) < 1e-8, "numbering")
    check(rows[0]["displacement"] > row["displacement"], "the second load case adds its part")


def check_resumed():
    code, text = hextop("run", "d.cfg", "output.directory=part", "output.checkpoint=0.000001", "optimization.iterations=3")
    check(code == 0, f"the first three designs: {text}")
    code, text = hextop("run", "d.cfg", "output.directory=part", "output.checkpoint=0.000001", "--resume")
    check(code == 0, f"resume: {text}")
    check(bits("part") == bits("out"), "a resumed run has the same bits")
    check([r["displacement"] for r in history("part")] == [r["displacement"] for r in history("out")],
          "a resumed run has the same history")


def check_words():
    for name, objective in (("plain", ""), ("word", 'objective = "compliance";'),
                            ("group", 'objective = { kind = "compliance"; };')):
        code, text = hextop("run", write(f"{name}.cfg", objective), f"output.directory={name}")
        check(code == 0, f"{name}: {text}")
        check('objective = "compliance";' in pathlib.Path(f"{name}/config.cfg").read_text(),
              f"{name}: written as a word")
        check(bits(name) == bits("plain") and "displacement" not in history(name)[0], f"{name}: the same run")


def check_refused():
    for objective, message in (
            ('objective = "displacement";', "objective 'displacement' needs a set"),
            (DISPLACEMENT.replace("right", "rihgt"), "the mesh has no set 'rihgt', did you mean 'right'?"),
            (DISPLACEMENT.replace("right", "left"), "supports prescribe the displacement of set 'left'"),
            (DISPLACEMENT.replace("-2.0", "0.0"), "optimization.objective: direction: it has the length 0"),
            (DISPLACEMENT.replace("displacement", "compliance"), "optimization.objective: set: objective 'compliance' does not take this key; its keys are kind, case"),
            (DISPLACEMENT.replace("set", "node"), "optimization.objective.node: unknown key"),
            ("objective = 7;", "an integer where a text in quotes is expected; for example objective = \"compliance\"")):
        code, text = hextop("run", write("bad.cfg", objective))
        check(code == 2 and message in text and "bad.cfg:7: " in text, f"{objective}: {code}, {text}")
    code, text = hextop("check", "d.cfg", "--ranks", "2")
    check(code == 0 and "of device memory in the first of 2 processes" in text, f"ranks: {code}, {text}")


def check_loose():
    """Nothing resists a mean displacement of the top, which falls without bound."""
    code, text = hextop("run", "d.cfg", 'optimization.objective={kind="displacement";set="front";direction=[1.0,0.0,0.0];}',
                        "optimization.iterations=40", "output.directory=loose")
    check(code == 0 and "no longer connects the loads to the supports" in text, f"loose: {text}")


def check_prescribed():
    """With prescribed displacements the compliance is negative, so it has no ratio to that of the first design."""
    code, text = hextop("run", "d.cfg", 'supports=({set="left";fix="xyz";},{set="right";fix="z";value=[0.0,0.0,-0.1];})',
                        "loads=", "weights=", "optimization.objective=volume", "optimization.volume_fraction=", "optimization.start=0.6",
                        'optimization.constraints=({kind="reaction";set="right";direction=[0.0,0.0,-1.0];min=0.001;})',
                        "output.directory=prescribed")
    check(code == 0 and history("prescribed")[0]["compliance"] < 0.0, f"prescribed: {text}")
    warnings = json.loads(pathlib.Path("prescribed/summary.json").read_text())["warnings"]
    check("no longer connects" not in text and "no longer connects" not in json.dumps(warnings), f"prescribed: {text}, {warnings}")


def check_word_and_group():
    """A word and the group with only its kind are the same for arguments."""
    word, group = write("word.cfg", 'objective = "worst_compliance";'), write("group.cfg", 'objective = { kind = "worst_compliance"; };')
    place = ["optimization.objective.set=right", "optimization.objective.direction=[0,0,-2]"]
    for config in (word, group):
        code, text = hextop("check", config, "optimization.objective.kind=displacement", *place)
        check(code == 0 and "objective displacement, set 'right', direction [0, 0, -2]" in text, f"{config}: {text}")
        code, text = hextop("check", config, *place)
        check(code == 2 and "optimization.objective: set: objective 'worst_compliance' does not take this key" in text, f"{config}: {text}")
        code, text = hextop("check", config, "optimization.objective.kind=")
        check(code == 0 and "objective worst" not in text, f"{config}, no kind: {text}")
    code, text = hextop("check", write("none.cfg", ""), "optimization.objective=worst_compliance",
                        "optimization.objective.kind=displacement", *place)
    check(code == 0 and "objective displacement, set 'right'" in text, f"both as arguments: {text}")


with work_folder(threads=1):
    check_value(check_reported())
    check_resumed()
    check_words()
    check_refused()
    check_loose()
    check_prescribed()
    check_word_and_group()
finish()
