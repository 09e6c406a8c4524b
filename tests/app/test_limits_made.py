#!/usr/bin/env python3
"""Limits on what is made: `verify` prints each limit for the grey, the 0/1, the quadratic and the surface design and
exits with 4 if the part misses one; `check --solve` and the start of a run judge them on the solid part.

    test_limits_made.py HEXTOP"""
import html
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import program
from program import check, finish, load, work_folder

CONFIG = """
units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 16; ny = 8; nz = 6; };
material = { E = 100.0; nu = 0.3; density = 1e-3; };
sets = ( { name = "pad"; box = { min = [15.0, 0.0, 0.0]; max = [16.0, 8.0, 6.0]; }; },
         { name = "inside"; box = { min = [12.0, 4.0, 3.0]; max = [12.0, 4.0, 3.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; },
          { set = "right"; total_force = [0.0, 0.5, 0.0]; case = 2; } );
passive = ( { set = "pad"; } );
optimization = { objective = "mass"; iterations = 40; projection = { beta = 8.0; every = 10; };
    constraints = ( { kind = "displacement"; set = "right"; direction = [0.0, 0.0, -1.0]; max = 0.4;
                      case = 1; name = "tip"; },
                    { kind = "compliance"; max = 0.3; name = "work"; },
                    { kind = "displacement"; set = "pad"; of = "max"; max = 0.6; case = 1; name = "far"; },
                    { kind = "volume"; max = 0.9; min = 0.05; name = "share"; },
                    { kind = "mass"; max = 0.7; name = "weight"; } );
    filter = { kind = "density"; radius = 2.0; }; };
solver = { tolerance = 1e-10; };
output = { directory = "out"; every = 0; };
"""


def hextop(*words, made=False):
    """made: verify cuts a surface itself, unless the words say otherwise."""
    return program.hextop(*words, *(["--made", "no"] if words[0] == "verify" and not made else []))


def near(a, b, bound, text):
    check(abs(a / b - 1.0) <= bound, f"{text}: {a} and {b}")


def values(analysis):
    return {limit["name"]: limit["value"] for limit in analysis["limits"]}


def compare_values():
    """Each value against another way to the same number."""
    summary, made = load("out/summary.json"), load("out/verify.json")
    for limit in summary["limits"]:
        # a largest value is a scaled p-norm in the run, and exact here
        near(values(made["grey"])[limit["name"]], limit["value"], 2e-2 if limit["name"] == "far" else 1e-6,
             f"grey and the last design of the run: {limit['name']}")
    designs = {"grey": made["grey"], "0/1": made["black_white"], "quadratic": made["quadratic"]["analysis"],
               "surface": made["surface"]["analysis"]}
    for name, design in designs.items():
        found = values(design)
        for case in (1, 2):
            near(found[f"work_case{case}"], design["case_compliance"][case - 1], 1e-9, f"{name}: compliance {case}")
        near(found["tip"], design["case_compliance"][0], 1e-6, f"{name}: a unit force does the work of its displacement")
        near(found["share"], design["volume"], 1e-9, f"{name}: volume")
        near(found["weight"], 1e-3 * design["volume"] * 16 * 8 * 6, 1e-9, f"{name}: mass")
        check(found["tip"] < found["far"] <= design["displacement"]["value"] * (1 + 1e-12), f"{name}: largest value {found}")
    check(values(designs["surface"])["tip"] != values(designs["0/1"])["tip"], "the surface is another part")
    check(made["limits_judged_on"] == "surface", made["limits_judged_on"])


def report():
    """The report has each limit with its value on each design."""
    made = load("out/verify.json")
    check(hextop("report", "out").returncode == 0, "report")
    with open("out/report.html", encoding="utf-8") as file:
        page = file.read()
    rows = re.findall(r'<tr><th scope="row">Limit (\w+), [^<]*</th>(.*?)</tr>', page)
    designs = [made["grey"], made["black_white"], made["quadratic"]["analysis"], made["surface"]["analysis"]]
    check([name for name, _ in rows] == [limit["name"] for limit in made["grey"]["limits"]], f"rows {rows}")
    for i, (name, cells) in enumerate(rows):
        cells = re.findall(r'<td><span class="state (ok|not)">([^<]*)</span>', cells)
        check(len(cells) == len(designs), f"{name}: {cells}")
        for (state, text), design in zip(cells, designs):
            limit = design["limits"][i]
            check((state == "ok") == limit["met"], f"{name}: {state}, {limit}")
            near(float(text.replace("&#8201;", "").replace("\u2009", "").replace(",", "")), limit["value"], 1e-3, f"{name} in the report")


def masses():
    """The mass of each design is the value of the limit on the mass."""
    made = load("out/verify.json")
    for name, design in (("grey", made["grey"]), ("0/1", made["black_white"]), ("quadratic", made["quadratic"]["analysis"]),
                         ("surface", made["surface"]["analysis"])):
        near(design["mass"], values(design)["weight"], 1e-12, f"mass, {name}")


def forced_solid():
    """A least mass below that of the forced elements still has a 0/1 design and a surface: these elements, and the volume
    of the others. With a prescribed volume that design is refused."""
    words = ["output.directory=light", "passive=", "loads=({set=\"top\";total_force=[0.0,0.0,-0.01];})", "optimization.iterations=20",
             "optimization.constraints=({kind=\"displacement\";set=\"top\";max=400.0;name=\"sag\";})", "optimization.projection="]
    said = hextop("run", "case.cfg", *words)
    check(said.returncode == 0, said.stderr)
    said = hextop("verify", "light")
    check(said.returncode in (0, 4) and "keeps the volume of the elements that are not forced solid" in said.stdout,
          f"verify: {said.returncode}, {said.stdout[:900]} {said.stderr[-600:]}")
    made = load("light/verify.json")
    check(made["elements_forced_solid"] == 128 and made["grey"]["volume"] * 768.0 < 128.0, f"the design is light: {made['grey']}")
    check(128.0 < made["volume_target"] < 128.0 + made["grey"]["volume"] * 768.0, f"target {made['volume_target']}")
    said = hextop("surface", "light", "light/part.stl")
    check(said.returncode == 0, f"surface: {said.stderr}")
    said = hextop("verify", "light", "optimization.objective=compliance", "optimization.volume_fraction=0.05")
    check(said.returncode == 2 and "that are forced solid" in said.stderr, f"a prescribed volume: {said.returncode}, {said.stderr}")


def statuses():
    """The most exact analysis of the part decides, and the tolerance is in percent of the limit."""
    made = load("out/verify.json")
    tip = values(made["surface"]["analysis"])["tip"]
    surface = ["--surface", "out/part.stl", "--refine", "0"]
    for share, options, expected in ((1.01, [], 0), (0.995, [], 0), (0.98, [], 4), (0.98, ["--limit-tolerance", "3"], 0),
                                     (0.995, ["--limit-tolerance", "0.1"], 4)):
        said = hextop("verify", "out", f"optimization.constraints[0].max={tip * share:.12g}", *surface, *options,
                      "--output", "other.json")
        check(said.returncode == expected, f"tip at {share} of its value, {options}: {said.returncode}, {said.stderr}")
        check(("limit 'tip' is missed" in said.stderr) == (expected == 4), f"warning at {share}, {options}: {said.stderr}")
        check(load("other.json")["limits_met"] == (expected == 0), "limits_met in the file")
    solid = values(made["black_white"])["tip"]
    limit = f"optimization.constraints[0].max={(solid + tip) / 2:.12g}"
    on_solid, on_surface = hextop("verify", "out", limit, "--limit-tolerance", "1e-6"), hextop("verify", "out", limit, *surface,
                                                                                           "--limit-tolerance", "1e-6")
    check({on_solid.returncode, on_surface.returncode} == {0, 4}, f"0/1 {solid}, surface {tip}: {on_solid.returncode}")
    check("limits, judged on the 0/1 design" in on_solid.stdout and "judged on the surface" in on_surface.stdout, on_solid.stdout)
    check(f"{tip:.6g} mm on the surface, at most" in on_surface.stderr or f"{solid:.6g} mm on the 0/1 design, at most" in on_solid.stderr,
          f"what misses it: {on_solid.stderr} {on_surface.stderr}")
    said = hextop("verify", "out", f"optimization.constraints[0].max={tip / 2:.12g}", "--element", "quadratic", "--output", "other.json")
    check("limits, judged on the 0/1 design with quadratic elements" in said.stdout and
          " mm on the 0/1 design with quadratic elements, at most" in said.stderr, f"quadratic: {said.stdout} {said.stderr}")
    # a set that the surface does not reach cannot be judged
    said = hextop("verify", "out", "optimization.constraints[2].set=inside", "optimization.constraints[2].max=1e9", *surface)
    check(said.returncode == 4 and "'far' cannot be judged" in said.stderr and "unknown" in said.stdout, said.stderr + said.stdout)


def parts_of_sets():
    """A limit whose set lies on the part only partly cannot be judged there, with either mean and as set_2."""
    surface = ["--surface", "out/part.stl", "--refine", "0"]
    for keys in (["optimization.constraints[2].set=top"], ["optimization.constraints[2].set=top", "optimization.constraints[2].of=mean"],
                 ["optimization.constraints[2].set_2=top", "optimization.constraints[2].of=mean"]):
        for options, design in (([], "black_white"), (surface, "surface")):
            said = hextop("verify", "out", *keys, "optimization.constraints[2].max=1e9", *options, "--output", "other.json")
            made = load("other.json")
            share = next((one for one in made.get("surface", {"sets": []})["sets"] if one["set"] == "top"), None)
            found = re.search(r"limit 'far' cannot be judged: only (\S+) % of set 'top' is (on the surface|solid in the 0/1 design); "
                              r"make it solid: passive = \( { set = \"top\"; skin = 1; } \)", said.stderr)
            check(said.returncode == 4 and found, f"{keys} {options}: {said.returncode}, {said.stderr}")
            check(re.search(r"far .* unknown: only \S+ % of set 'top'", said.stdout), f"the table: {said.stdout}")
            check(found and 1.0 < float(found[1]) < 95.0, f"a share: {said.stderr}")
            check(share is None or abs(float(found[1]) - 100.0 * share["area_found"] / share["area"]) < 0.1, f"{found} {share}")
            limits = {one["name"]: one for one in (made["surface"]["analysis"] if options else made[design])["limits"]}
            check(isinstance(limits["far"]["value"], float) and limits["far"]["met"] is False and limits["far"]["violation"] is None
                  and limits["far"]["unknown"] in said.stderr, f"verify.json: {limits['far']}")
            check(not made["limits_met"] and "unknown" not in limits["tip"], f"limits that are known: {limits['tip']}")
            check(all("unknown" not in one for one in made["grey"]["limits"]), "the grey design has every set")
    shutil.copy("out/verify.json", "kept.json")
    shutil.copy("other.json", "out/verify.json")
    said = hextop("report", "out")
    with open("out/report.html", encoding="utf-8") as file:
        page = html.unescape(file.read())
    check(said.returncode == 0 and f'<span class="state not">unknown</span>: {limits["far"]["unknown"]}' in page, "why, in the report")
    shutil.move("kept.json", "out/verify.json")
    # a reaction is a sum, which the rest of a support carries
    said = hextop("verify", "out", 'optimization.constraints[2]={kind="reaction";set="left";max=1e9;case=1;name="far";}', *surface)
    check("cannot be judged" not in said.stderr, f"a reaction: {said.stderr}")


ISLE = """
mesh = { generator = "cantilever"; nx = 24; ny = 4; nz = 12; };
material = { E = 1000.0; nu = 0.3; density = 1e-9; };
sets = ( { name = "isle"; box = { min = [20.0, 0.0, 10.0]; max = [24.0, 4.0, 12.0]; }; },
         { name = "middle"; box = { min = [12.0, 0.0, 0.0]; max = [13.0, 4.0, 1.0]; }; },
         { name = "both"; or = ( "isle", "middle" ); } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "middle"; total_force = [0.0, 0.0, -1.0]; } );
passive = ( { set = "isle"; }, { set = "middle"; } );
optimization = { objective = "mass"; start = 0.5; iterations = 40; filter = { kind = "density"; radius = 1.5; };
    constraints = ( { kind = "displacement"; set = "middle"; direction = [0.0, 0.0, -1.0]; max = 0.1; },
                    { kind = "displacement"; set = "isle"; max = 10.0; name = "isle"; } ); };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "isle"; every = 0; };
"""


def floating():
    """A limit on a set that floats in void cannot be judged, on the 0/1 design or the surface; a spring or a rigid set that
    also lies on a held piece holds it."""
    with open("isle.cfg", "w", encoding="ascii") as file:
        file.write(ISLE)
    check(hextop("run", "isle.cfg").returncode == 0 and hextop("surface", "isle", "isle.stl").returncode == 0, "the isle")
    why = "no part of set 'isle' is on pieces of the 0/1 design that a support, a spring or a rigid set holds"
    for options in ([], ["--surface", "isle.stl", "--refine", "0"]):
        said = hextop("verify", "isle", *options)
        check(said.returncode == 4 and f"limit 'isle' cannot be judged: {why}\n" in said.stderr, f"{options}: {said.stderr}")
        check(re.search(f"isle .* unknown: {why}", said.stdout) is not None, f"the table: {said.stdout}")
    said = hextop("verify", "isle", 'springs=({set="isle";stiffness=[1.0,1.0,1.0];})')
    check(said.returncode == 0 and re.search(r"isle .* met\n", said.stdout), f"held by springs: {said.stdout} {said.stderr}")
    for rigid, code in (("both", 0), ("isle", 4)):
        said = hextop("verify", "isle", f'loads[1]={{set="{rigid}";coupling="rigid";point=[12.0,2.0,6.0];remote_force=[0.0,0.0,-0.1];case=2;}}',
                      "optimization.constraints[1].case=1", "optimization.constraints[0].case=1")
        check(said.returncode == code and (why in said.stderr) == (code == 4), f"{rigid} is rigid: {said.returncode} {said.stdout} {said.stderr}")


STRESS = 'optimization.constraints=({kind="stress";max=MAX;case=1;name="strong";KEYS})'


def stress(bound, keys=""):
    return STRESS.replace("MAX", f"{bound:.12g}").replace("KEYS", keys)


BAR = """
units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
material = { E = 2.0; nu = 0.3; density = 1.0; };
sets = ( { name = "y0"; plane = { point = [0.0, 0.0, 0.0]; normal = [0.0, 1.0, 0.0]; }; },
         { name = "z0"; plane = { point = [0.0, 0.0, 0.0]; normal = [0.0, 0.0, 1.0]; }; },
         { name = "half"; box = { min = [0.0, 0.0, 0.0]; max = [4.0, 4.0, 4.0]; }; } );
supports = ( { set = "left"; fix = "x"; }, { set = "y0"; fix = "y"; }, { set = "z0"; fix = "z"; } );
loads = ( { set = "right"; traction = [0.5, 0.0, 0.0]; }, { gravity = [0.125, 0.0, 0.0]; case = 2; } );
optimization = { objective = "volume"; iterations = 1; start = 1.0; filter = { kind = "density"; radius = 1.0; };
    constraints = ( { kind = "stress"; max = 0.4; case = 1; name = "pull"; exclude_radius = 0.0; },
                    { kind = "stress"; max = 0.4; case = 1; set = "half"; name = "half"; exclude_radius = 0.0; },
                    { kind = "stress"; max = 9.0; case = 2; name = "weight"; exclude_radius = 0.0; },
                    { kind = "stress"; max = 9.0; case = 2; set = "far"; name = "far"; exclude_radius = 0.0; } ); };
solver = { tolerance = 1e-10; };
output = { directory = "bar"; every = 0; };
""".replace("sets = (", 'sets = ( { name = "far"; box = { min = [6.0, 0.0, 0.0]; max = [8.0, 4.0, 4.0]; }; },')


def bar():
    """A bar in tension has the stress of its load everywhere, and under its weight 0.125 times the length beyond it."""
    with open("bar.cfg", "w", encoding="ascii") as file:
        file.write(BAR)
    said = hextop("run", "bar.cfg")
    check(said.returncode == 0, said.stderr)
    surfaces = []
    check(hextop("surface", "bar", "bar/part.ply").returncode == 0, "surface of the bar")
    for words in (["--surface", "bar/part.ply"], ["--made", "yes"], []):
        said = hextop("verify", "bar", "optimization.start=1", "material.strength=0.8", *words, "--refine", "1", made=True)
        check(said.returncode == 4 and "limit 'pull' is missed by 25 %" in said.stderr, f"{words}: {said.returncode} {said.stderr}")
        made = load("bar/verify.json")
        surfaces.append(made["surface"]["analysis"])
        check(made["limits_judged_on"] == "surface" and (made["surface"]["file"] is None) == ("--surface" not in words), f"{words}: file")
        found = values(made["surface"]["analysis"])
        near(found["pull"], 0.5, 1e-6, f"{words}: tension")
        near(found["half"], 0.5, 1e-6, f"{words}: tension of a set")
        near(found["weight"], 1.0, 0.1, f"{words}: all of its weight at the support, which disturbs it")
        # the tetrahedra of a set may reach over its border by a part of a cell
        near(found["far"], 0.25, 0.06, f"{words}: the weight of a set, from x = 6")
        made_of = made["surface"]["analysis"]["stresses"]
        near(made_of["outside_zones"]["value"], found["weight"], 1e-9, f"{words}: the largest of both cases")
        check(made_of["outside_zones"]["case"] == 2 and made_of["outside_zones"]["point"][0] < 1.0, f"{words}: its place {made_of}")
        check(0.5 < made_of["quantile_99_9"] <= found["weight"] and "in_zones" not in made_of, f"{words}: the quantile {made_of}")
        near(made_of["of_element"]["value"], 0.9375, 0.05, f"{words}: the weight at the centre of an element at the support")
        near(made_of["factor_of_safety"], 0.8 / found["weight"], 1e-9, f"{words}: factor of safety")
        check("above material.strength = 0.8 MPa: factor of safety" in said.stderr, f"{words}: the strength is exceeded: {said.stderr}")
        check("factor of safety, from 0.8 " in said.stdout and "in 99.9 % of the volume" in said.stdout, f"{words}: {said.stdout}")
    for one in surfaces[1:]:
        for key, value in values(surfaces[0]).items():
            near(values(one)[key], value, 1e-9, f"the surface in memory and as a file: {key}")
    said = hextop("verify", "bar", "optimization.start=1", "--made", "no", made=True)
    check("surface" not in load("bar/verify.json") and load("bar/verify.json")["limits_judged_on"] == "0/1", "--made no")
    check("factor of safety, from 0.4 " in said.stdout, f"without a strength the least bound: {said.stdout}")
    said = hextop("verify", "bar", "--made", "perhaps", made=True)
    check(said.returncode == 2 and "--made: unknown 'perhaps'" in said.stderr, said.stderr)
    # the zones of the config, by place: half of the bar is not judged
    limits = 'optimization.constraints=({kind="stress";max=9.0;case=2;name="weight";exclude=("half");exclude_radius=0.0;})'
    hextop("verify", "bar", limits, "--made", "yes", "--refine", "1", made=True)
    made = load("bar/verify.json")["surface"]["analysis"]
    near(values(made)["weight"], 0.5, 0.06, "the weight from x = 4")
    check(made["stresses"]["in_zones"]["point"][0] < 1.0 and made["stresses"]["in_zones"]["value"] > 0.9, f"in the zones: {made['stresses']}")


def stresses():
    """A limit of stresses is judged on the surface, and no message has the internal name of the zones."""
    said = hextop("run", "case.cfg", stress(3), "output.directory=stress")
    check(said.returncode == 0, said.stderr)
    check("zones     elements near supports: " in said.stdout, f"zones: {said.stdout[:1500]}")
    texts = [said.stdout, said.stderr]
    check(hextop("surface", "stress", "stress/part.stl", "--keep-largest").returncode == 0, "surface")
    surface = ["--surface", "stress/part.stl", "--refine", "0", "--output", "other.json"]
    hextop("verify", "stress", stress(1e9), *surface)
    value = values(load("other.json")["surface"]["analysis"])["strong"]
    for share, options, expected in ((1.05, [], 0), (0.9, [], 4), (0.9, ["--element", "quadratic-solid"], 4), (0.9, ["--limit-tolerance", "20"], 0)):
        said = hextop("verify", "stress", stress(value * share), *surface, *options)
        made = load("other.json")
        check(said.returncode == expected, f"{share} {options}: {said.returncode} {said.stderr}")
        check((f"{value:.6g} MPa on the surface, at most" in said.stderr) == (expected == 4), f"{share}: {said.stderr}")
        check(made["limits_met"] == (said.returncode == 0), "the file")
        near(values(made["surface"]["analysis"])["strong"], value, 1e-9, "the value does not depend on the bound")
        check("`hextop lightest` do that" in said.stderr or expected == 0, f"what helps: {said.stderr}")
        texts += [said.stdout, said.stderr, json.dumps(made)]
    # a difference above the tolerance is a warning, as for compliances
    for tolerance in ("1", "1e5"):
        said = hextop("verify", "stress", stress(1e9), *surface, "--tolerance", tolerance)
        check(("largest von Mises stress of an element outside the zones" in said.stderr) == (tolerance == "1"), f"--tolerance {tolerance}: {said.stderr}")
    for words in (["check", "case.cfg", stress(3)], ["run", "case.cfg", stress(3), "loads[0].set=rihgt"]):
        said = hextop(*words)
        texts += [said.stdout, said.stderr]
    with open("stress/summary.json", encoding="utf-8") as file:
        texts.append(file.read())
    check(not any("stress_zone" in text for text in texts), "the internal name of the zones")


def solid_part():
    """What the solid part misses: refused if less material cannot help, otherwise a warning."""
    said = hextop("check", "case.cfg", "--solve")
    check(said.returncode == 0 and "solid part" in said.stdout, said.stderr)
    rows = [line.split() for line in said.stdout.splitlines()]
    tip = float(next(row for row in rows if row[:1] == ["tip"])[1])
    near(float(next(row for row in rows if row[:3] == ["compliance,", "case", "1"])[3]), tip, 1e-5, "solid part: compliance and tip")
    tight = f"optimization.constraints[0].max={tip * 0.99:.10g}"
    for words in (["check", "case.cfg", "--solve", tight], ["run", "case.cfg", tight, "output.directory=refused"]):
        said = hextop(*words)
        check(said.returncode == 2 and "limit 'tip' cannot be met: the solid part has" in said.stderr, f"{words}: {said.stderr}")
        check("optimization.constraints[0]" in said.stderr, f"{words}: no key is named: {said.stderr}")
    check(not os.path.exists("refused"), "a refused run has left a folder")
    # the same limit as a lower one on the opposite direction
    opposite = ["optimization.constraints[0]={ kind = \"displacement\"; set = \"right\"; direction = [0.0, 0.0, 1.0]; "
                f"min = {-tip * 0.99:.10g}; case = 1; name = \"tip\"; }}"]
    said = hextop("check", "case.cfg", "--solve", *opposite)
    check(said.returncode == 2 and "'tip' cannot be met" in said.stderr, f"as a lower limit: {said.stderr}")
    # a part that is to bend more needs less material
    said = hextop("check", "case.cfg", "--solve", f"optimization.constraints[0].min={tip * 2:.10g}", f"optimization.constraints[0].max={tip * 3:.10g}")
    check(said.returncode == 0 and "misses limit" not in said.stderr, f"a lower limit: {said.stderr}")
    said = hextop("check", "case.cfg", "--solve", "optimization.constraints[4].min=0.8", "optimization.constraints[4].max=0.9")
    check(said.returncode == 2 and "permits at most 0.6912 t" in said.stderr, f"more mass than the part has: {said.stderr}")
    # a displacement off the loads may be smaller with less material; a weight as well
    weak = [["optimization.constraints[2].max=1e-4"], [tight, 'loads=( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, '
            '{ gravity = [0.0, 0.0, -1e-9]; }, { set = "right"; total_force = [0.0, 0.5, 0.0]; case = 2; } )']]
    for keys in weak:
        said = hextop("check", "case.cfg", "--solve", *keys)
        check(said.returncode == 0 and "the solid part misses limit" in said.stderr, f"{keys}: {said.returncode}, {said.stderr}")


def no_limits():
    keys = ["optimization={ volume_fraction = 0.4; iterations = 2; }", "output.directory=plain"]
    said = hextop("run", "case.cfg", *keys)
    check(said.returncode == 0 and "limits" not in said.stdout and "solid part" not in said.stdout, said.stderr + said.stdout)
    said = hextop("verify", "plain")
    check(said.returncode == 0 and "limits" not in said.stdout, said.stdout + said.stderr)
    check("limits_met" not in load("plain/verify.json"), "limits in verify.json without limits")
    said = hextop("check", "case.cfg", *keys, "--solve")
    solid = hextop("analyse", "case.cfg", "--output", "solid.json")
    check(solid.returncode == 0, solid.stderr)
    for c, case in enumerate(load("solid.json")["cases"], 1):
        row = next(line.split() for line in said.stdout.splitlines() if line.split()[:3] == ["compliance,", "case", str(c)])
        near(float(row[3]), case["compliance"], 1e-5, f"solid part without limits: compliance {c}")


with work_folder(threads=1):
    with open("case.cfg", "w", encoding="ascii") as file:
        file.write(CONFIG)
    said = hextop("run", "case.cfg")
    check(said.returncode == 0 and "in the solid part" in said.stdout, said.stderr)
    said = hextop("surface", "out", "out/part.stl")
    check(said.returncode == 0, said.stderr)
    said = hextop("verify", "out", "--surface", "out/part.stl", "--refine", "0", "--element", "quadratic")
    check(said.returncode in (0, 4), f"verify: {said.returncode}, {said.stderr}")
    compare_values()
    report()
    masses()
    forced_solid()
    statuses()
    parts_of_sets()
    floating()
    stresses()
    bar()
    solid_part()
    no_limits()
finish()
