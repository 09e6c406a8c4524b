#!/usr/bin/env python3
"""Stresses from the config to the files: limits by both methods, the objective, zones, names, refusals.

    test_stresses.py HEXTOP SOURCE"""

import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, history, hextop, work_folder

CONFIG = """units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 16; ny = 4; nz = 8; };
material = { E = 1000.0; nu = 0.3; };
sets = ( { name = "corner"; box = { min = [14.0, 0.0, 6.0]; max = [16.0, 4.0, 8.0]; }; },
         { name = "middle"; box = { min = [4.0, 0.0, 0.0]; max = [12.0, 4.0, 8.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, { set = "right"; total_force = [0.0, 2.0, 0.0]; case = 2; } );
optimization = { iterations = 12; filter = { radius = 1.5; };
OPTIMIZATION };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "out"; every = 0; };
"""


def write(name, optimization):
    pathlib.Path(name).write_text(CONFIG.replace("OPTIMIZATION", optimization))
    return name


LIMIT = 'objective = "volume"; constraints = ( { kind = "stress"; max = 3.0; KEYS } );'


def check_lagrangian():
    text_of = LIMIT.replace("KEYS", 'exclude = ("corner"); exclude_radius = 1.1;')
    code, text = hextop("run", write("least.cfg", text_of), "optimization.iterations=40")
    check(code == 0, f"run: {text[-900:]}")
    for line in ("stress_case1: at most 3 MPa; stress, case 1", "stress_case2: at most 3 MPa",
                 "zones     'corner', elements near supports and point loads", "solid, without a stress limit"):
        check(line in text, f"the header has '{line}': {text[:1500]}")
    inside = [float(value) for value in re.findall(r"stress_case[12] in its zones, without a limit: ([0-9.]+) MPa", text)]
    check(len(inside) == 2 and min(inside) > 0.05, f"the largest stresses in the zones: {inside}")
    rows = history("out")
    check(rows[-1]["volume"] < 0.45, f"the volume falls: {rows[-1]['volume']}")
    check(all(row["stress_case1"] > 0.0 and row["stress_case2"] > 0.0 for row in rows), "stresses are recorded")
    # single designs of a short run may exceed the limit by far, depending on rounding
    late = [max(row["stress_case1"], row["stress_case2"]) for row in rows[-15:]]
    check(min(late) < 3.6, f"stresses near the limit: {late}")
    # the rim of the left face and the corner
    share = re.search(r"zones .*: ([0-9]+) elements, ([0-9.]+) %", text)
    check(share and int(share.group(1)) == 16 + 20, f"elements of the zones: {share and share.group(0)}")


def check_norm():
    keys = 'method = "p-norm"; exclude_radius = 0.0; relaxation = 0.6; case = 1; set = "middle"; name = "strength";'
    code, text = hextop("run", write("norm.cfg", LIMIT.replace("KEYS", keys)), "output.directory=norm")
    check(code == 0 and "strength: at most 3 MPa; stress, set 'middle', case 1" in text, f"p-norm: {text[-900:]}")
    check("zones" not in text, "no zones with a radius of 0")
    check("strength" in history("norm")[0], "the column has the name of the limit")


def check_objective():
    of = 'volume_fraction = 0.5; objective = { kind = "stress"; exclude_radius = 0.0; };'
    code, text = hextop("run", write("objective.cfg", of), "output.directory=objective", "optimization.iterations=30")
    check(code == 0, f"objective: {text[-900:]}")
    rows = history("objective")
    # the first design is uniform
    check(rows[-1]["objective"] < 0.9 * rows[0]["objective"],
          f"the largest stress falls: {rows[0]['objective']} to {rows[-1]['objective']}")


def check_refused():
    for keys, message in (
            ('set = "right";', "set 'right' has no elements, and stresses are those of elements"),
            ('set = "midle";', "no set 'midle', did you mean 'middle'?"),
            ('min = 0.1;', "stress can only be limited from above"),
            ('exclude = ("midle");', "no set 'midle'"),
            ('exclude = ("middle"); set = "middle";', "no element is left"),
            ('method = "norm";', "p-norm"),
            ('of = "max";', "of: constraint 'stress' does not take this key")):
        code, text = hextop("check", write("bad.cfg", LIMIT.replace("KEYS", keys)))
        if code == 0:
            code, text = hextop("run", "bad.cfg", "output.directory=bad")
        check(code == 2 and message in text, f"{keys} is refused, {code}: {text[-500:]}")
    code, text = hextop("check", write("bad.cfg", 'volume_fraction = 0.5; objective = { kind = "compliance"; relaxation = 0.5; };'))
    check(code == 2 and "relaxation: objective 'compliance' does not take this key" in text, f"relaxation of the compliance: {text[-300:]}")
    code, text = hextop("run", write("bad.cfg", LIMIT.replace("KEYS", "") + ' update = "gcmma";'), "output.directory=bad")
    check(code == 2 and "compares designs by one function" in text, f"gcmma: {text[-300:]}")


with work_folder(threads=1):
    check_lagrangian()
    check_norm()
    check_objective()
    check_refused()
finish()
