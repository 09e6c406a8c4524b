#!/usr/bin/env python3
"""hextop lightest: the search by limits and by volume, what it keeps, resuming, exit status 4, refused input.

    test_lightest.py HEXTOP SOURCE"""

import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from program import check, finish, HEXTOP, hextop, load, MPI, work_folder

# A bar in tension: its stiffness grows with its volume for any cross section, so outcomes are certain. The bounds are
# set by reference values, those of `check --solve` and of one try.
CONFIG = """units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 12; ny = 6; nz = 6; };
material = { E = 1000.0; nu = 0.3; density = 1e-9; };
sets = ( { name = "plate"; box = { min = [10.0, 0.0, 0.0]; max = [12.0, 6.0, 6.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [1.0, 0.0, 0.0]; }, { set = "right"; total_force = [0.0, 0.01, 0.0]; case = 2; } );
passive = ( { set = "plate"; } );
optimization = { objective = "mass"; iterations = 24; filter = { kind = "density"; radius = 1.5; };
    constraints = ( { kind = "displacement"; set = "right"; direction = [-1.0, 0.0, 0.0]; min = -TIP; case = 1; name = "tip"; },
                    { kind = "displacement"; set = "right"; max = 0.03; name = "move"; } ); };
solver = { device = "cpu"; operator = "otf"; threads = 1; };
output = { directory = "out"; };
"""
AIM = 0.975
FAST = ["--refine", "0"]


def usage(limit, value):
    """Share of its bounds that a value uses, in the words of the issue."""
    shares = []
    for bound, is_max in ((limit["max"], True), (limit["min"], False)):
        if bound is None:
            continue
        inverse = (bound < 0) == is_max
        shares.append(bound / value if inverse else value / bound)
    return max(shares)


def inside(path):
    """Volume inside a binary STL file."""
    data = pathlib.Path(path).read_bytes()
    volume = 0.0
    for k in range(struct.unpack_from("<I", data, 80)[0]):
        a, b, c = (struct.unpack_from("<3f", data, 84 + 50 * k + 12 * n) for n in (1, 2, 3))
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                   + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6.0
    return volume


def check_tries(folder, tip, low=0.95):
    """The files of a search agree with one another; returns its tries."""
    search = load(f"{folder}/lightest.json")
    check(search["status"] == "done", f"{folder}: status")
    names = [limit["name"] for limit in search["limits"]]
    check(names == ["tip", "move_case1", "move_case2"], f"{folder}: limits {names}")
    check([limit["constraint"] for limit in search["limits"]] == [0, 1, 1], "constraints of the limits")
    check([(limit["min"], limit["max"]) for limit in search["limits"]] == [(-tip, None), (None, 0.03), (None, 0.03)],
          "the bounds are those of the file")
    for one in search["tries"]:
        verified = load(f"{folder}/{one['folder']}/verify.json")
        designs = {"grey": verified["grey"], "black_white": verified["black_white"],
                   "surface": verified["surface"]["analysis"]}
        for key, design in designs.items():
            values = [limit["value"] for limit in design["limits"]]
            check(values == [limit[key] for limit in one["limits"]], f"{one['folder']}: values of {key}")
            worst = max(usage(limit, value) for limit, value in zip(search["limits"], values))
            check(abs(worst - one["usage"][key]) < 1e-12, f"{one['folder']}: usage of {key}: {worst} {one['usage']}")
            check([limit["max"] for limit in design["limits"]] == [None, 0.03, 0.03], "judged by the bounds of the file")
        check(one["met"] == (one["usage"]["surface"] <= 1.0), f"{one['folder']}: verdict")
        enclosed = inside(f"{folder}/{one['folder']}/part.stl")
        check(abs(one["volume"] / enclosed - 1.0) < 1e-5 and abs(one["mass"] / (1e-9 * one["volume"]) - 1.0) < 1e-9
              and one["volume"] == verified["surface"]["volume_enclosed"], f"{one['folder']}: the mass of the part: {one}")
        text = " ".join(verified["warnings"])
        check("other settings" not in text, "bounds given to verify are no surprise")
        check("tighten it" not in text and "hextop run" not in text and "a part made from" not in text,
              f"advice for a single run: {text}")
    met = [one for one in search["tries"] if one["met"]]
    kept = min(met, key=lambda one: one["volume"]) if met else None
    check(search["kept"] == (kept and kept["folder"]), f"{folder}: kept {search['kept']}")
    if kept and low:
        check(search["end"] == "found" and low <= kept["usage"]["surface"] <= 1.0, f"{folder}: the window: {kept['usage']}")
    return search["tries"]


def is_further(a, b, one):
    """Which of two bounds (of minus the elongation, or of a temperature) changes more in the direction that helps."""
    return max(a, b, key=abs) if one < AIM else min(a, b, key=abs)


def check_limits():
    code, text = hextop("lightest", "part.cfg", *FAST)
    check(code == 0, f"limits: {code} {text[-900:]}")
    tries = check_tries("out", TIP)
    check(len(tries) <= 8, f"limits: {len(tries)} tries")
    check(tries[0]["min"] == [-TIP, None] and tries[0]["max"] == [None, 0.03], "the first try takes the file's bounds")
    for one, next_one in zip(tries[:1], tries[1:2]):
        tip, worst = one["limits"][0], max(one["limits"][1:], key=lambda limit: limit["surface"])
        wanted = is_further(AIM * -TIP * tip["grey"] / tip["surface"], AIM * -TIP * -TIP / tip["surface"],
                            one["usage"]["surface"])
        check(abs(next_one["min"][0] / wanted - 1.0) < 1e-5, f"the next bound is {wanted}: {next_one}")
        wanted = AIM * 0.03 * worst["grey"] / worst["surface"]
        check(abs(next_one["max"][1] / wanted - 1.0) < 1e-5, f"the next bound is {wanted}: {next_one}")
    last = f"out/{tries[-1]['folder']}"
    check(f"the lightest part that meets all limits is that of try {len(tries)}" in text, f"the kept try: {text[-900:]}")
    check(f"{last}/part.stl" in text and re.search(r"tip +-0\.0\S+ mm +at least -\S+ mm +(0\.9|1\.000)", text), "its limits")
    check("mass of part" in text and "inside the surface part.stl" in text, f"what the column is: {text[:300]}")
    files = set(os.listdir(last))
    check({"config.cfg", "summary.json", "history.csv", "part.stl", "verify.json"} <= files, f"a result folder: {files}")
    check(sum(name.endswith(".vtk") for name in files) == 1, "one design")
    check(hextop("report", last)[0] == 0, "its report")
    code, text = hextop("verify", last, *FAST)
    said = load(f"{last}/verify.json")
    check(code == 0 and "the bounds are those of the search" in text and "the run of this try had tip at least -" in text,
          f"the bounds of the search: {code} {text[-900:]}")
    check(said["limits_of"] == "../lightest.json" and [said["grey"]["limits"][0]["min"], said["grey"]["limits"][1]["max"]] == [-TIP, 0.03],
          f"the bounds in verify.json: {said['grey']['limits']}")
    code, text = hextop("verify", last, *FAST, "optimization.constraints[0].min=-1e-4")
    check(code == 4 and "the bounds are those of the search" not in text, f"bounds of an argument: {code} {text[-900:]}")
    hextop("verify", last, *FAST, *(f"optimization.constraints[{k}]" for k in ("0].min=-1", "1].max=1")))
    code, text = hextop("-q", "lightest", "part.cfg", *FAST, "--resume")
    check(code == 0 and "try 1" not in text and load("out/lightest.json")["tries"] == tries, f"nothing is repeated: {text}")


def check_volume():
    """By volume, from one that misses the limit by 40 %."""
    one = ["lightest", "part.cfg", *FAST, "--vary", "volume"]
    code, text = hextop(*one, "--tries", "1", "output.directory=reference")
    first = load("reference/lightest.json")["tries"][0]
    tip = float(f"{-first['limits'][0]['surface'] / 1.4:.6g}")
    code, text = hextop(*one, "output.directory=volume", f"optimization.constraints[0].min=-{tip}")
    check(code == 0, f"volume: {code} {text[-900:]}")
    tries = check_tries("volume", tip)
    check(tries[0]["volume_fraction"] == 0.5 and abs(tries[0]["usage"]["surface"] - 1.4) < 0.1, f"volume: {tries[0]}")
    check(all(one["max"] == [None, 0.12] and abs(one["min"][0] / tip + 4.0) < 1e-5 for one in tries), "bounds that do not bind")
    volumes = sorted((one["volume_fraction"], one["usage"]["surface"]) for one in tries)
    check(volumes[0][1] > 1.0 > volumes[-1][1] and len(tries) >= 2, f"a smaller volume uses more: {volumes}")
    check(tries[-1]["mass"] > tries[0]["mass"], "the part becomes heavier")
    config = pathlib.Path(f"volume/{tries[-1]['folder']}/config.cfg").read_text()
    check('objective = "compliance"' in config or 'kind = "compliance"' in config, "the stiffest part")
    check(f"volume_fraction = {tries[-1]['volume_fraction']:g}" in config, "of a volume")
    return tip


def check_not_met(tip):
    one = ["lightest", "part.cfg", *FAST, "--vary", "volume", "--tries", "1"]
    code, text = hextop(*one, f"optimization.constraints[0].min={-2.0 * tip:.6g}", "output.directory=one")
    check(code == 0 and re.search(r"a lighter part may exist: all tries are used up; `hextop lightest part.cfg [^`]*"
                                  r"min=-\S+ output.directory=one --vary volume --refine 0 --tries 2 --resume` continues the "
                                  r"search", text), f"one try: {code} {text[-900:]}")
    code, text = hextop(*one, f"optimization.constraints[0].min=-{tip}", "output.directory=soft")
    search = load("soft/lightest.json")
    check(code == 4 and search["kept"] is None and search["end"] == "tries", f"none passes: {code} {text[-900:]}")
    check(search["tries"][0]["usage"]["surface"] > 1.0 and "no try meets all limits" in text
          and "the nearest is try 1, whose limit '" in text, f"nearest: {text[-900:]}")
    check("try 1: limit 'tip' is missed by" in text, f"the warnings of the nearest: {text[-1500:]}")
    command = re.search(r"`hextop lightest part.cfg [^`]* --vary volume --refine 0 --tries 2 --resume` continues the search", text)
    check(command, f"what would help: {text[-900:]}")
    # not even the solid part is that stiff
    stiff = [*one[:-1], "8", "optimization.start=0.8", "output.directory=solid"]
    code, text = hextop(*stiff, f"optimization.constraints[0].min={-0.7 * SOLID:.6g}")
    check(code == 2 and text.count("error") == 1 and "limit 'tip' cannot be met: the solid part has" in text
          and not os.path.exists("solid"), f"refused at the start: {code} {text}")
    for _ in range(2): # a search whose first run is refused has not begun
        code, text = hextop("lightest", "part.cfg", *FAST, f"optimization.constraints[0].min={-0.7 * SOLID:.6g}", "output.directory=first")
        check(code == 2 and text.count("error") == 1 and "try 1, run: " in text and "cannot be met" in text, f"first: {code} {text}")
    # of a magnitude, more material might make it worse, so it is tried
    code, text = hextop(*stiff, f"optimization.constraints[1].max={0.7 * SOLID:.6g}")
    search = load("solid/lightest.json")
    check(code == 4 and search["end"] == "solid" and search["tries"][-1]["volume_fraction"] == 1.0, f"solid: {code} {text}")
    check("more material does not help" in text, f"what would help: {text[-900:]}")


def check_unknown():
    """A limit on a set that the part contains only partly is not met, however small its value; resuming keeps that."""
    one = ["lightest", "part.cfg", *FAST, "output.directory=partly", "--tries", "3",
           'optimization.constraints[2]={kind="displacement";set="top";max=1.0;case=1;name="roof";}']
    code, text = hextop(*one)
    search = load("partly/lightest.json")
    tries = search["tries"]
    check(code == 4 and search["kept"] is None and search["end"] == "unknown" and len(tries) == 2, f"unknown: {code} {text[-900:]}")
    check(all(not t["met"] and t["worst_limit"] == "roof" for t in tries), f"unknown: {tries}")
    check(all(0.0 < t["limits"][3]["surface"] < 1.0 and t["limits"][3]["usage"] is None for t in tries), "the value, without a share")
    check(all(re.fullmatch(r"only \S+ % of set 'top' is on the surface", t["limits"][3]["unknown"]) for t in tries), f"why: {tries}")
    check(tries[1]["max"][2] < tries[0]["max"][2], "more material")
    check("limit 'roof' cannot be judged" in text and 'passive = ( { set = "top"; skin = 1; } )' in text, f"advice: {text[-900:]}")
    again, text = hextop(*one, "--resume")
    check(again == 4 and load("partly/lightest.json") == search, f"resumed: {again} {text[-500:]}")


def check_window():
    """Bounds that are closer than both aims stay in order, and no run is refused."""
    one = ["lightest", "part.cfg", *FAST, "output.directory=window", "--tries", "3"]
    low, high = 0.96 * TIP, TIP
    window = f"optimization.constraints[0].max={-low:.9g}"
    for sign, key in ((-1, window), (1, 'optimization.constraints[0]={kind="displacement";set="right";direction=[1.0,0.0,0.0];'
                                    f'min={low:.9g};max={high:.9g};case=1;name="tip";}}')):
        code, text = hextop(*one, f"output.directory=window{sign}", key)
        tries = load(f"window{sign}/lightest.json")["tries"]
        check(code in (0, 4) and not any("refused" in t for t in tries), f"window: {code} {text[-900:]}")
        check(len(tries) > 1, f"the search goes on: {text[-600:]}")
        for before, t in zip(tries, tries[1:]):
            check(t["min"][0] < t["max"][0], f"in order: {t['min']} {t['max']}")
            tip = before["limits"][0]
            middle = sign * (low * high) ** 0.5 * tip["grey"] / tip["surface"]
            found = sign * (t["min"][0] * t["max"][0]) ** 0.5
            check(abs(found / middle - 1.0) < 1e-4, f"the middle is {middle}: {t}")
            ratio = max(t["min"][0] / t["max"][0], t["max"][0] / t["min"][0])
            check(abs(ratio - (high / low) ** 0.5) < 1e-4, f"half the window: {t}")


def check_again(arguments, code, tries):
    got, text = hextop("lightest", "part.cfg", *FAST, *arguments, "--resume")
    folder = arguments[-1].split("=")[1]
    check(got == code and load(f"{folder}/lightest.json")["tries"] == tries, f"{folder} is read again: {got} {text[-900:]}")


def check_no_part():
    """A part that falls apart, or without a 0/1 design, misses its limits, and the search goes on."""
    loose = [f"optimization.constraints[0].min={-1e4 * TIP:.6g}", "optimization.constraints[1].max=1e4"]
    words = ["--vary", "volume", "optimization.start=0.19", *loose, "optimization.iterations=4", "output.directory=broken"]
    code, text = hextop("lightest", "part.cfg", *FAST, *words)
    tries = load("broken/lightest.json")["tries"]
    broken = [one for one in tries if "error" in one]
    check(any(re.search("not connected to a support|nothing holds this surface", one["error"]) for one in broken),
          f"a part that falls apart: {broken}")
    check(all(one["limits"][0]["surface"] is None and one["limits"][0]["black_white"] is not None and one["mass"] > 0.0
              and not one["met"] for one in broken), f"has no values on the surface: {broken}")
    check(code == 0 and any(one["met"] for one in tries) and "not analysed" in text, f"a later part does not: {code} {text[-900:]}")
    check_again(words, 0, tries)
    words = ["--vary", "volume", "optimization.start=0.1", "passive=", "loads=({set=\"top\";total_force=[0.0,0.0,-1e-4];})",
             # the loaded set is solid, so limits can be judged there
             "optimization.constraints[0].set=top", "optimization.constraints[1].set=top",
             *loose, "--tries", "6", "output.directory=forced"]
    code, text = hextop("lightest", "part.cfg", *FAST, *words)
    search = load("forced/lightest.json")
    first = search["tries"][0]
    check(code == 0 and "that are forced solid" in first["error"] and search["kept"], f"no 0/1 design: {code} {text[-1500:]}")
    check(first["limits"][0]["grey"] is not None and first["limits"][0]["black_white"] is None and first["mass"] is None
          and not os.path.exists("forced/try-1/verify.json"), f"values of the grey design: {first}")
    check(re.search(r"\n +1 +- +\S+ +- +- +no part", text), f"the table names it: {text[:900]}")
    check_again(words, 0, search["tries"])
    # the only try
    code, text = hextop("lightest", "part.cfg", *FAST, *words[:-3], "--tries", "1", "output.directory=alone")
    check(code == 4 and "no try has a part that can be analysed" in text and "forced solid" in text, f"alone: {code} {text[-600:]}")


def check_run_refused():
    """A later run that is refused: by a volume that does not fit, by a bound that the solid part misses."""
    hole = "{name=\"hole\";box={min=[4.0,0.0,2.0];max=[7.0,6.0,4.0];};}"
    words = ["--vary", "volume", "optimization.start=0.85", f"optimization.constraints[1].max={0.9 * SOLID:.6g}",
             f"sets[1]={hole}", "passive[1]={set=\"hole\";density=0.001;}", "output.directory=full"]
    code, text = hextop("lightest", "part.cfg", *FAST, *words)
    search = load("full/lightest.json")
    refused = [one for one in search["tries"] if one.get("refused")]
    check(code == 4 and search["end"] == "solid" and refused and "cannot be met" in refused[0]["error"],
          f"more than passive void leaves: {code} {search['end']} {text[-900:]}")
    ran = max(one["volume_fraction"] for one in search["tries"] if not one.get("refused"))
    check(ran < min(one["volume_fraction"] for one in refused) < 1.01 * ran, f"the largest volume: {search['tries']}")
    check("run refused" in text and "more material does not help" in text, f"the table names it: {text[:900]}")
    check_again(words, 4, search["tries"])
    # linear elements, two over the height, are far too stiff in bending, so the surface misses what the solid part meets
    words = ["mesh.nx=8", "mesh.ny=2", "mesh.nz=2", "sets=", "passive=", "loads=({set=\"right\";total_force=[0.0,0.0,-1.0];})",
             "optimization.constraints=({kind=\"displacement\";set=\"right\";direction=[0.0,0.0,-1.0];max=1.0;name=\"sag\";})"]
    sag = read_solid(hextop("check", "part.cfg", "--solve", *words)[1], "sag")
    words += [f"optimization.constraints[0].max={1.05 * sag:.6g}", "optimization.start=0.95", "output.directory=strict"]
    code, text = hextop("lightest", "part.cfg", *FAST, *words)
    search = load("strict/lightest.json")
    refused = [one for one in search["tries"] if one.get("refused")]
    check(code == 4 and search["end"] == "refused" and refused and "the solid part has" in refused[0]["error"],
          f"stricter than the solid part: {code} {search['end']} {text[-900:]}")
    check(all(one["max"][0] < sag for one in refused), f"only bounds that the solid part misses are refused: {sag} {refused}")
    check("runs with bounds that are stricter by 1 % are refused" in text and "-volume --vary volume" in text
          and text.count("output.directory=strict") == text.count("output.directory=strict-volume"), f"advice: {text[-900:]}")
    check_again(words, 4, search["tries"])


def check_amount():
    """A limit of the mass that is met does not end the search, and its bound stays."""
    first = load("out/lightest.json")["tries"][0]
    # the limit takes the mass of the tetrahedra
    most = float(f"{load('out/try-1/verify.json')['surface']['analysis']['mass'] / 0.975:.6g}")
    code, text = hextop("lightest", "part.cfg", *FAST, f"optimization.constraints[2]={{kind=\"mass\";max={most};name=\"weight\";}}",
                        "output.directory=amount")
    search = load("amount/lightest.json")
    one = search["tries"][0]
    check(code == 0 and abs(one["limits"][3]["usage"] - 0.975) < 0.02, f"mass: {code} {one} {text[-900:]}")
    check(abs(one["usage"]["surface"] - one["limits"][0]["usage"]) < 1e-12 and one["worst_limit"] == "tip", f"the worst: {one}")
    check(first["usage"]["surface"] >= 0.94 or len(search["tries"]) > 1, f"the search goes on: {search['tries']}")
    check(all(one["max"][2] == most for one in search["tries"]), f"its bound: {search['tries']}")
    # materials: a plate of another density
    code, text = hextop("lightest", "part.cfg", *FAST, "--tries", "1", "materials=({set=\"plate\";density=5e-9;})",
                        "output.directory=materials")
    one = load("materials/lightest.json")["tries"][0]
    check(abs(one["mass"] / (1e-9 * one["volume"] + 4e-9 * 72.0) - 1.0) < 0.03, f"two densities: {one}")


def check_heat(*words):
    """The 0/1 design is judged, with quadratic elements unless --element linear is given, and temperatures count above that of
    the sink."""
    made = "black_white" if words else "quadratic"
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
    code, text = hextop("lightest", "heat.cfg", "material.density=1e-9", "optimization.objective=mass", f"output.directory={made}", *words)
    search = load(f"{made}/lightest.json")
    tries = search["tries"]
    check(code == (0 if search["kept"] else 4) and search["end"] in ("bracket", "repeats", "tries", "found"),
          f"heat: {code} {text[-900:]}")
    for one in tries:
        limit = one["limits"][0]
        check(abs(one["usage"]["black_white"] - (limit["black_white"] - 20.0) / 25.0) < 1e-9, f"above the sink: {one}")
        check(limit["surface"] is None and one["met"] == (limit[made] <= 45.0), f"judged as a 0/1 design: {one}")
        check(abs(one["usage"][made] - (limit[made] - 20.0) / 25.0) < 1e-9, f"usage of the judged design: {one}")
        verified = load(f"{made}/{one['folder']}/verify.json")
        check(("quadratic" in verified) == (limit["quadratic"] is not None) == (made == "quadratic"), f"elements of verify: {one}")
        if made == "quadratic":
            check(limit["quadratic"] == verified["quadratic"]["analysis"]["limits"][0]["value"], f"the value of verify: {one}")
            check(limit["quadratic"] > limit["black_white"], f"linear elements are too cold: {one}")
        enclosed = inside(f"{made}/{one['folder']}/part.stl")
        check(abs(one["mass"] / (1e-9 * enclosed) - 1.0) < 1e-5, f"mass of the part: {one['mass']}, {enclosed}")
    check("mass of part" in text and not re.search(r"0/1 +surface", text), f"the columns: {text[:400]}")
    check(bool(re.search(r"0/1 +quadratic +worst", text)) == (made == "quadratic"), f"the third column: {text[:400]}")
    for one, next_one in zip(tries[:1], tries[1:2]):
        limit = one["limits"][0]
        ratio = max(0.25, min(4.0, (limit[made] - 20.0) / (limit["grey"] - 20.0)))
        wanted = is_further(AIM * 25.0 / ratio, AIM * 25.0 / one["usage"][made], one["usage"][made])
        check(abs(next_one["max"][0] - (20.0 + wanted)) < 1e-3, f"the next bound {wanted}: {next_one}")
    for i, one in enumerate(tries[2:], 2):
        missed = min((o["max"][0] for o in tries[:i] if not o["met"]), default=None)
        met = max((o["max"][0] for o in tries[:i] if o["met"] and missed and o["max"][0] < missed), default=None)
        check(not met or met < one["max"][0] < missed, f"try {i + 1} lies between known bounds: {met} {one['max']} {missed}")


def check_stress():
    """A limit of stresses is judged on the surface, and tightened by the ratio of surface and grey design."""
    limit = 'optimization.constraints=({kind="stress";max=MAX;name="strong";})'
    code, text = hextop("lightest", "part.cfg", "output.directory=strong", limit.replace("MAX", "0.1"), "--refine", "0", "--tries", "3")
    search = load("strong/lightest.json")
    tries = search["tries"]
    check(code == (0 if search["kept"] else 4), f"stress: {code} {text[-900:]}")
    for one in tries:
        if "error" in one:
            continue
        value, verified = one["limits"][0], load(f"strong/{one['folder']}/verify.json")
        judged = verified["surface"]["analysis"]["limits"][0]  # the larger one of both, which another mesh may show
        check(value["surface"] == max(judged["value"], judged.get("split_once") or 0.0), f"the value of verify: {one}")
        check(abs(one["usage"]["surface"] - value["surface"] / 0.1) < 1e-9 and one["met"] == (value["surface"] <= 0.1), f"judged on the surface: {one}")
    check(tries[0]["max"] == [0.1] and "error" not in tries[0], f"the first try: {tries[0]}")
    for one, next_one in zip(tries[:1], tries[1:2]):
        ratio = max(0.25, min(4.0, one["limits"][0]["surface"] / one["limits"][0]["grey"]))
        wanted = is_further(AIM * 0.1 / ratio, AIM * 0.1 / one["usage"]["surface"], one["usage"]["surface"])
        check(abs(next_one["max"][0] / wanted - 1.0) < 1e-4, f"the next bound {wanted}: {next_one}")
    code, text = hextop("lightest", "part.cfg", "output.directory=none", "--element", "cubic")
    check(code == 2 and "--element cubic: expected linear or quadratic" in text, f"--element cubic: {code} {text}")


def interrupt(arguments, ready, number=signal.SIGINT, ignored=()):
    """Sends a signal to a process that is started with some signals ignored."""
    process = subprocess.Popen([HEXTOP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=lambda: [signal.signal(n, signal.SIG_IGN) for n in ignored])
    end = time.monotonic() + 60.0
    while not ready() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(number)
    text = process.communicate()[0]
    return process.returncode, text


def count_lines(path):
    return pathlib.Path(path).read_text().count("\n") if pathlib.Path(path).exists() else 0


def check_background(tip):
    """A shell ignores SIGINT for background jobs of a script: a signal while the part is analysed still ends the search,
    except a SIGHUP that nohup ignores."""
    for number, ignored, wanted in ((signal.SIGINT, [signal.SIGINT], 3), (signal.SIGTERM, [signal.SIGTERM], 3),
                                    (signal.SIGHUP, [signal.SIGHUP], 0)):
        folder = f"background-{number.name}"
        words = ["--vary", "volume", f"optimization.constraints[0].min=-{tip}", f"output.directory={folder}"]
        code, text = interrupt(["lightest", "part.cfg", *FAST, *words],
                               lambda at=folder: pathlib.Path(at, "try-1/part.stl").exists(), number, ignored)
        check(code == wanted, f"{number.name} in the background: {code} {text[-600:]}")


def check_resume(tip):
    key = "output.directory=again"
    words = ["--vary", "volume", f"optimization.constraints[0].min=-{tip}"]
    code, text = interrupt(["lightest", "part.cfg", *FAST, *words, key], lambda: count_lines("again/try-2/history.csv") > 3)
    check(code == 3, f"interrupted: {code} {text[-600:]}")
    command = re.search(r"`hextop (lightest [^`]*)` continues the search", text)
    check(command, f"the command that continues: {text[-600:]}")
    search = load("again/lightest.json")
    check(search["status"] == "unfinished" and len(search["tries"]) == 1 and search["started"] == 2, "half a search")
    check(pathlib.Path("again/try-2/checkpoint.state").exists(), "the checkpoint of the try")
    first = os.stat("again/try-1/verify.json").st_mtime_ns
    for arguments, message in (
            ([*FAST], "is of a search that did not end: continue it with --resume"),
            ([*FAST, "--resume", "optimization.penalty=2.5"],
             "'optimization.penalty = 3.0', and this one has 'optimization.penalty = 2.5'"),
            ([*FAST, "--resume", "optimization.iterations=25"],
             "'optimization.iterations = 24', and this one has 'optimization.iterations = 25'"),
            ([*FAST, "--resume", "solver.tolerance=1e-6"], "and this one has 'solver.tolerance = 1e-06'"),
            (["--refine", "1", "--resume"], "'--refine = 0', and this one has '--refine = 1'; resume it with the former"),
            (["--resume"], "'--refine = 0', and this one has '--refine = not given'"),
            ([*FAST, "--resume", "--mesher", "gmsh"], "'--mesher = not given', and this one has '--mesher = gmsh'"),
            ([*FAST, "--resume", "--vary", "limits"], "resume it with --vary volume")):
        got, said = hextop("lightest", "part.cfg", *words, key, *arguments)
        check(got == 2 and said.count("error") == 1 and message in said, f"{arguments}: {got} {said}")
    code, text = hextop(*command.group(1).replace("'", "").split())
    check(code == 0, f"resumed: {code} {text[-600:]}")
    check("continuing after iteration" in pathlib.Path("again/try-2/run.log").read_text(), "the run is continued")
    check(os.stat("again/try-1/verify.json").st_mtime_ns == first, "a finished try is not repeated")
    there, here = check_tries("volume", tip), check_tries("again", tip)
    for one in there + here:
        one.pop("seconds")
    check(there == here, "the resumed search gives the same tries, bit by bit")


def check_other_mesh():
    code, text = hextop("mesh", "part.cfg", "block.vtk")
    config = re.sub(r"generator = [^}]*", 'file = "block.vtk"; ', pathlib.Path("part.cfg").read_text())
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
            (["--vary", "volume", 'optimization.constraints[1]={kind="volume";max=0.5;}'],
             "kind = \"volume\": --vary volume searches the amount of material itself; leave this limit out"),
            (["--vary", "volume", 'optimization.constraints[1]={kind="mass";max=1e-6;}'], "kind = \"mass\": --vary volume searches"),
            (["--vary", "volume", 'optimization.constraints[1]={kind="mass";min=1e-9;}'], "leave this limit out"),
            (["--vary", "mass"], "--vary mass: expected limits or volume"),
            (["--tries", "0"], "--tries 0: expected a whole number from 1 to 100"),
            (["--resume"], "there is no none/lightest.json"),
            (["optimization.penalty=0"], "optimization.penalty")):
        code, text = hextop("lightest", "part.cfg", "output.directory=none", *arguments)
        check(code == 2 and text.count("error") == 1 and message in text, f"{arguments}: {code} {text}")
    if shutil.which("mpirun"):
        done = subprocess.run(["mpirun", "-n", "2", HEXTOP, "lightest", "part.cfg", "output.directory=none"], capture_output=True,
                              text=True, env={**os.environ, **MPI}, check=False)
        check(done.returncode == 2 and "start it without mpirun" in done.stderr, f"several processes: {done}")
    check(not pathlib.Path("none").exists(), "refused input leaves no folder")


def read_solid(text, name):
    """Magnitude of a limit's value for the solid part, as `check --solve` prints it."""
    return abs(float(re.search(rf"\n  {name} +(\S+) mm", text).group(1)))


with work_folder():
    pathlib.Path("part.cfg").write_text(CONFIG.replace("TIP", "1"))
    SOLID = read_solid(hextop("check", "part.cfg", "--solve")[1], "tip")
    TIP = float(f"{2.6 * SOLID:.6g}")
    pathlib.Path("part.cfg").write_text(CONFIG.replace("TIP", repr(TIP)))
    check_refused()
    check_limits()
    tip_of_volume = check_volume()
    check_not_met(tip_of_volume)
    check_no_part()
    check_unknown()
    check_window()
    check_run_refused()
    check_amount()
    check_heat()
    check_heat("--element", "linear", "--tries", "2")
    check_stress()
    check_resume(tip_of_volume)
    check_background(tip_of_volume)
    check_other_mesh()
finish()
