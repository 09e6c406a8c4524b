#!/usr/bin/env python3
"""The key `materials`: messages, config.cfg, resume, mass, renumbering, and the made part.

    test_materials.py HEXTOP SRCDIR

A bar of two materials in tension has a closed form, which `analyse`, `verify` and `verify --surface` must give. Runs must
be the same from config.cfg, after a resume and with any order of elements."""

import csv
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import program
from program import check, finish, summary, work_folder

BAR = """mesh = { generator = "cantilever"; nx = 12; ny = 4; nz = 4; };
material = { E = 1000.0; nu = 0.0; density = 2.0; };
sets = ( { name = "half"; box = { min = [6.0, -1.0, -1.0]; max = [13.0, 9.0, 9.0]; }; },
         { name = "end"; box = { min = [10.0, -1.0, -1.0]; max = [13.0, 9.0, 9.0]; }; } );
materials = (
    { set = "half"; E = 4000.0; density = 6.0; }
);
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [16.0, 0.0, 0.0]; } );
solver = { operator = "ebe"; };
optimization = { volume_fraction = 0.5; filter = { kind = "density"; radius = 1.5; }; iterations = 8; };
output = { directory = "out"; };
"""
EXACT = 16.0 * (6.0 / 1000.0 + 6.0 / 4000.0) # compliance: the stress is 1


def hextop(*arguments, code=0):
    said = program.hextop(*arguments)
    check(said.returncode == code, f"{' '.join(arguments)}: status {said.returncode}: {said.stderr}")
    return said.stdout + said.stderr


def refused(text, *keys):
    said = hextop("check", "bar.cfg", *keys, code=2)
    check(text in said and said.count("error:") == 1, f"no message '{text}': {said}")


def history(folder):
    with open(os.path.join(folder, "history.csv"), newline="", encoding="ascii") as file:
        return [{k: v for k, v in row.items() if not k.startswith("seconds")} for row in csv.DictReader(file)]


def near(a, b, tolerance=1e-8):
    return abs(a - b) <= tolerance * abs(b)


def check_messages():
    with open("nu.cfg", "w", encoding="ascii") as file:
        file.write(BAR.replace("density = 6.0; }", "nu = 0.3; }"))
    said = hextop("check", "nu.cfg", code=2)
    check("nu.cfg:6: materials[0]: nu: all materials have the Poisson's ratio of material.nu" in said, f"nu: {said}")
    refused("materials[0]: none of E, density, expansion; give at least one", 'materials=({set="half";})')
    refused("set 'end' overlaps set 'half' of an earlier material: element 10 belongs to both",
            'materials=({set="half";E=2.0;},{set="end";E=3.0;})')
    refused("set 'right' contains no element to give a material", "materials[0].set=right")
    refused("did you mean 'half'", "materials[0].set=hal")
    refused("density = 6 needs material.density", "material={E=1.0;nu=0.0;}")
    refused("materials[0].E: 0 is out of range", "materials[0].E=0.0")
    refused("materials[0].set: required key is missing", "materials=({E=2.0;})")
    refused('applies to physics = "elasticity"', "physics=heat", "material=", "loads=", "supports=")
    refused("conductivity = 1e-05 must be above that of void", "physics=heat", "material={conductivity=1.0;}",
            'materials=({set="half";conductivity=1e-5;})', 'supports=({set="left";temperature=0.0;})',
            'loads=({set="right";heat=1.0;})')
    said = hextop("check", "bar.cfg", "units=N, mm, MPa", "materials[0].E=4e9")
    check("materials[0].E = 4e+09 MPa is above that of diamond" in said, f"a unit: {said}")
    check("materials[].conductivity" in hextop("help", "materials"), "help")


def check_bar():
    said = hextop("check", "bar.cfg")
    check("materials half: E 4000, density 6; 96 elements, 50 % of the volume" in said, f"check: {said}")
    check("mass 768 solid, 384 at the volume fraction, spread evenly over the materials" in said, f"mass: {said}")
    hextop("-q", "analyse", "bar.cfg", "--output", "bar.json")
    with open("bar.json", encoding="utf-8") as file:
        found = json.load(file)
    check(near(found["compliance"], EXACT), f"compliance {found['compliance']}, exact {EXACT}")
    check(near(found["mass"], 768.0), f"mass {found['mass']}")


def check_runs():
    said = hextop("run", "bar.cfg")
    check("materials half: E 4000, density 6" in " ".join(said.split()), f"run: {said}")
    first, mass = history("out"), summary("out")["mass"]
    hextop("-q", "analyse", "out/config.cfg", "--density", "out", "--output", "grey.json")
    with open("grey.json", encoding="utf-8") as file:
        grey = json.load(file)
    check(near(grey["mass"], mass, 1e-6), f"mass {mass} of the run, {grey['mass']} of its last design")
    check(not near(mass, 0.5 * 768.0, 1e-3), f"the material is not spread evenly: mass {mass}")

    hextop("-q", "run", "out/config.cfg", "output.directory=again")
    check(history("again") == first, "a run of config.cfg differs")
    hextop("-q", "run", "bar.cfg", "output.directory=parts", "optimization.iterations=4", "output.checkpoint=0.000001")
    hextop("-q", "run", "bar.cfg", "output.directory=parts", "output.checkpoint=0.000001", "--resume")
    check(history("parts") == first and near(summary("parts")["mass"], mass, 1e-12), "a resumed run differs")
    said = hextop("-q", "run", "bar.cfg", "output.directory=parts", "--resume", "materials[0].E=4001.0",
                  "optimization.iterations=9", code=2)
    check("materials" in said, f"a resume with another material: {said}")
    hextop("-q", "run", "bar.cfg", "output.directory=shuffled", "mesh.shuffle=5", "solver.tolerance=1e-10")
    hextop("-q", "run", "bar.cfg", "output.directory=exact", "solver.tolerance=1e-10")
    for a, b in zip(history("exact"), history("shuffled")):
        check(near(float(a["compliance"]), float(b["compliance"])), f"another order: {b['compliance']}, {a['compliance']}")
    hextop("-q", "run", "bar.cfg", "output.directory=base", "materials=")
    hextop("-q", "run", "bar.cfg", "output.directory=equal", 'materials=({set="half";E=1000.0;density=2.0;})')
    check(history("base") == history("equal") != first, "a material equal to the base changes the run")


def check_mass_objective():
    """The objective mass weighs each material."""
    with open("least.cfg", "w", encoding="ascii") as file:
        file.write(BAR.replace("volume_fraction = 0.5;", 'objective = "mass"; constraints = ( { kind = "compliance"; max = 1.0; } );'))
    hextop("-q", "run", "least.cfg", "output.directory=least")
    last = history("least")[-1]
    check(near(float(last["objective"]), summary("least")["mass"]), f"mass {summary('least')['mass']}, objective {last}")


def check_made_part():
    """The solid bar by every way of verify; the surface has rounded edges."""
    solid = ("optimization.volume_fraction=1.0", "optimization.iterations=1", "output.directory=solid")
    hextop("-q", "run", "bar.cfg", *solid)
    hextop("-q", "surface", "solid", "bar.stl")
    said = hextop("verify", "solid", "--element", "quadratic", "--surface", "bar.stl", "--mesher", "cut", "--output",
                  "verify.json", "--tolerance", "1e5")
    check("material of set 'half':" in said, f"materials of the surface: {said}")
    with open("verify.json", encoding="utf-8") as file:
        found = json.load(file)
    for name, value, tolerance in (("grey", found["grey"], 1e-6), ("0/1", found["black_white"], 1e-6),
                                   ("quadratic", found["quadratic"]["analysis"], 1e-6),
                                   ("surface", found["surface"]["analysis"], 0.1)):
        check(near(value["compliance"], EXACT, tolerance), f"{name}: compliance {value['compliance']}, exact {EXACT}")
    hextop("-q", "mesh", "solid/config.cfg", "job.inp", "--surface", "bar.stl", "--mesher", "cut")
    with open("job.inp", encoding="ascii") as file:
        check(file.read().count("*MATERIAL") == 2, "a job of the surface has two materials")
    hextop("-q", "mesh", "bar.cfg", "bar.vtk", "output.format=ascii")
    with open("bar.vtk", encoding="ascii") as file:
        words = file.read().split()
    at = words.index("material") + 4
    check(sorted(words[at:at + 192]) == 96 * ["0"] + 96 * ["1"], "the field `material` of a mesh for ParaView")


def main():
    with work_folder():
        with open("bar.cfg", "w", encoding="ascii") as file:
            file.write(BAR)
        check_messages()
        check_bar()
        check_runs()
        check_mass_objective()
        check_made_part()
    finish()


main()
