#!/usr/bin/env python3
"""`hextop new` of heat-transfer jobs: the printed config runs and gives the temperatures of CalculiX 2.20, each
steady step a load case; or it is commented out with the reason and does not run.

    test_new_heat.py HEXTOP SRCDIR

The expected extreme temperatures of each step are those that CalculiX printed; if ccx is installed, the test
runs it and compares, too."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

hextop = os.path.realpath(sys.argv[1])
n_check = n_failed = 0

# A bar of four cubes along x with conductivity 0.5; node 1 + 4 i + 2 j + k lies at (i, j, k).
NODES = "*NODE, NSET=NALL\n" + "".join(
    f"{1 + 4 * i + 2 * j + k}, {i}, {j}, {k}\n" for i in range(5) for j in range(2) for k in range(2))
CELLS = "*ELEMENT, TYPE=C3D8, ELSET=EALL\n" + "".join(
    f"{e + 1}, " + ", ".join(str(4 * e + a) for a in (1, 5, 7, 3, 2, 6, 8, 4)) + "\n" for e in range(4))
MODEL = (NODES + CELLS + "*NSET, NSET=FIX\n1,2,3,4\n*NSET, NSET=TIP\n17,18,19,20\n*ELSET, ELSET=E34\n3,4\n"
         "{sets}*MATERIAL, NAME=S\n*ELASTIC\n210000., .3\n*CONDUCTIVITY\n0.5\n*SOLID SECTION, ELSET=EALL, MATERIAL=S\n"
         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n")
STEP = "*STEP\n*HEAT TRANSFER, STEADY STATE\n"
END = "*NODE PRINT, NSET=NALL\nNT\n*END STEP\n"
HELD = "*BOUNDARY\nFIX,11,11,20.\n"
SOURCE = "*DFLUX\nE34,BF,1.\n"


def steps(*texts):
    return "".join(STEP + (HELD if i == 0 else "") + text + END for i, text in enumerate(texts))


# name: (more sets, steps, (lowest, highest) temperature of each step)
EXACT = {
    "two steps": ("", steps("*CFLUX\nTIP,11,2.\n", "*CFLUX\nTIP,11,3.\n"), [(20, 84), (20, 116)]),
    "a step with OP=NEW": ("", steps("*CFLUX\nTIP,11,2.\n", "*CFLUX, OP=NEW\n17,11,3.\n"), [(20, 84), (20, 57.7124)]),
    "sources replace by element": ("", steps("*DFLUX\nE34,BF,2.\n", "*DFLUX\n4,BF,1.\n"), [(20, 44), (20, 37)]),
    "sources with OP=NEW": ("", steps("*DFLUX\nE34,BF,2.\n", "*DFLUX, OP=NEW\n4,BF,1.\n"), [(20, 44), (20, 27)]),
    "OP=NEW of fluxes keeps sources": (
        "", steps("*DFLUX\nE34,BF,2.\n*CFLUX\nTIP,11,1.\n", "*CFLUX, OP=NEW\n"), [(20, 76), (20, 44)]),
    "OP=NEW of sources keeps films": (
        "", steps("*DFLUX\nE34,BF,2.\n*FILM\n4,F4,10.,1.\n", "*DFLUX, OP=NEW\n4,BF,1.\n"),
        [(13.7778, 20.8889), (11.8889, 20)]),
    "fluxes at nodes add up": (
        "", steps("*CFLUX\nTIP,11,2.\nTIP,11,2.\n*CFLUX\n17,11,1.\n"), [(20, 160.571)]),
    "a node named twice": ("*NSET, NSET=Q\nTIP,17\n", steps("*CFLUX\nQ,11,2.\n"), [(20, 109.142)]),
    "an element named twice": ("*ELSET, ELSET=Q\nE34,3\n", steps("*DFLUX\nQ,BF,1.\n"), [(20, 37)]),
    "a face named twice": ("", steps("*DFLUX\nE34,BF,1.\n*DFLUX\nE34,BF,2.\n4,S3,1.\n4,S3,1.\n"), [(20, 71.101)]),
    "a film for a set replaces": ("", steps(SOURCE + "*FILM\nE34,F3,15.,.3\nE34,F3,10.,2.\n"), [(10.5605, 20)]),
    "a film for a face replaces": ("", steps(SOURCE + "*FILM\nE34,F3,15.,.3\n3,F3,10.,2.\n"), [(12.0655, 20)]),
    "a film of coefficient 0": ("", steps(SOURCE + "*FILM\n4,F4,15.,0.\n"), [(20, 32)]),
    "flux at nodes of two faces": (
        "*NSET, NSET=Q\n13,14,17,18,19\n", steps("*CFLUX\nQ,11,2.\n"), [(20, 96.7375)]),
    "flux at nodes of a side": (
        "*NSET, NSET=Q\n10,12,14,16,18,20\n", steps("*CFLUX\nQ,11,2.\n"), [(20, 96.4541)]),
    "a later temperature of one node": ("", steps("*BOUNDARY\nTIP,11,11,50.\n17,11,11,80.\n"), [(20, 80)]),
    "a later temperature of a set": ("", steps("*BOUNDARY\nFIX,11,11,40.\n*CFLUX\nTIP,11,2.\n"), [(40, 104)]),
    "a temperature before the steps": (
        "*BOUNDARY\nFIX,11,11,30.\n", steps("*BOUNDARY\nFIX,11,11,40.\n*CFLUX\nTIP,11,2.\n"), [(40, 104)]),
    "a static step after it": (
        "", steps("*CFLUX\nTIP,11,2.\n") + "*STEP\n*STATIC\n*BOUNDARY\nFIX,1,3\n*CLOAD\nTIP,3,-25.\n*END STEP\n", [(20, 84)]),
}

# A brick of second order; its face x = 0 has the corners 1, 4, 8, 5 and the middles 12, 20, 16, 17.
SECOND = ("*NODE, NSET=NALL\n" + "".join(f"{n + 1}, {x}, {y}, {z}\n" for n, (x, y, z) in enumerate((
    (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1), (.5, 0, 0), (1, .5, 0),
    (.5, 1, 0), (0, .5, 0), (.5, 0, 1), (1, .5, 1), (.5, 1, 1), (0, .5, 1), (0, 0, .5), (1, 0, .5), (1, 1, .5), (0, 1, .5)))) +
          "*ELEMENT, TYPE=C3D20, ELSET=EALL\n1, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\n16,17,18,19,20\n"
          "*NSET, NSET=FIX\n1,4,5,8,12,16,17,20\n*MATERIAL, NAME=S\n*CONDUCTIVITY\n0.5\n"
          "*SOLID SECTION, ELSET=EALL, MATERIAL=S\n")

# name: (more sets, steps, words of the reason in the config)
REFUSED = {
    "a transient step": ("", "*STEP\n*HEAT TRANSFER\n.1,1.\n" + HELD + "*CFLUX\nTIP,11,2.\n*END STEP\n",
                         "*HEAT TRANSFER without STEADY STATE"),
    "an amplitude": ("*AMPLITUDE, NAME=A\n0.,0.,1.,1.\n", steps("*DFLUX, AMPLITUDE=A\nE34,BF,1.\n"), "*DFLUX, AMPLITUDE is not read"),
    "radiation": ("", steps(SOURCE + "*RADIATE\n1,R4,15.,.3\n"), "*RADIATE is not read"),
    "a film with a label that is not read": ("", steps(SOURCE + "*FILM\n4,F4NU,15.,.3\n"), "*FILM, F4NU is not read"),
    "a flux between elements": ("", steps("*DFLUX\n2,S4,1.\n"), "lie between elements"),
    "other temperatures in a later step": (
        "", steps("*CFLUX\nTIP,11,2.\n", "*BOUNDARY\nTIP,11,11,30.\n"), "differ between the steps"),
    "temperatures removed in a later step": (
        "", steps("*CFLUX\nTIP,11,2.\n", "*BOUNDARY, OP=NEW\nTIP,11,11,30.\n"), "differ between the steps"),
    "OP=NEW on a second keyword": (
        "", steps("*CFLUX\nTIP,11,2.\n", "*CFLUX\nTIP,11,1.\n*CFLUX, OP=NEW\n17,11,3.\n"), "OP=NEW on another *CFLUX"),
    "a negative film": ("", steps(SOURCE + "*FILM\n4,F4,15.,-2.\n"), "film coefficient of -2"),
    "a node without elements": ("*NODE\n99, 9., 9., 9.\n", steps("*CFLUX\n99,11,2.\n"), "no element has"),
    "an equation": ("*EQUATION\n2\n17,11,1.,18,11,-1.\n", steps(SOURCE), "items that hextop does not read"),
    "a side that no tetrahedron has": ("*NODE\n91, 9.,0.,0.\n92, 10.,0.,0.\n93, 9.,1.,0.\n94, 9.,0.,1.\n*ELEMENT, TYPE=C3D4, ELSET=EALL\n9, 91,92,93,94\n", steps("*DFLUX\n9,S5,1.\n"),
                                 "has no such side"),
}


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    n_failed += not condition
    print(("ok: " if condition else "failed: ") + text, flush=True)


def run(*words):
    done = subprocess.run([hextop, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def extremes(said):
    """(lowest, highest) temperature of each load case that `analyse` prints."""
    found = {word: [float(t) for t in re.findall(rf"temperature, {word} +(\S+) K", said)] for word in ("lowest", "highest")}
    return list(zip(found["lowest"], found["highest"]))


def close(found, wanted):
    return len(found) == len(wanted) and all(
        abs(a - b) <= 1e-4 * 100 for p, q in zip(found, wanted) for a, b in zip(p, q))


def calculix(name):
    """(lowest, highest) temperature of each heat-transfer step."""
    subprocess.run(["ccx", "-i", name], capture_output=True, env=dict(os.environ, OMP_NUM_THREADS="1", MALLOC_PERTURB_="0"))
    found = []
    with open(name + ".dat", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if "temperatures" in line:
                found.append([])
            elif found and len(words) == 2 and words[0].isdigit():
                found[-1].append(float(words[1]))
    return [(min(t), max(t)) for t in found if t]


def write(path, sets, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(MODEL.format(sets=sets) + text)


def check_exact(name, sets, text, wanted):
    write("job.inp", sets, text)
    code, config, warned = run("new", "job.inp")
    check(code == 0 and "not read" not in warned, f"{name}: new: {code}: {warned}")
    with open("job.cfg", "w", encoding="utf-8") as f:
        f.write(config)
    code, said, warned = run("analyse", "job.cfg")
    check(code == 0 and "not read" not in warned, f"{name}: the config runs as printed: {code}: {warned}")
    check(close(extremes(said), wanted), f"{name}: temperatures {extremes(said)}, right are {wanted}")
    if shutil.which("ccx"):
        theirs = calculix("job")[:len(wanted)] # a static step prints the temperatures once more
        check(close(theirs, wanted), f"{name}: CalculiX has {theirs}")
    return config


def check_refused(name, sets, text, reason):
    write("job.inp", sets, text)
    code, config, warned = run("new", "job.inp")
    lines = config.split("\n")
    check(code == 0 and any(line.startswith("#") and reason in line for line in lines), f"{name}: {code}: {config}{warned}")
    check(not any(line.startswith("    { set") for line in lines), f"{name}: no line of the file is active: {config}")
    check(any(line.startswith("#   { set") and line.endswith("# of the file") for line in lines), f"{name}: lines as comments")
    with open("job.cfg", "w", encoding="utf-8") as f:
        f.write(config)
    code, said, warned = run("analyse", "job.cfg")
    check(code == 2, f"{name}: the config does not run before a decision: {code}: {warned}")


def check_rest(config):
    """Items that the config names, and the output of other commands."""
    check("# Not in this config: job.inp:" in config and "step 2, *STATIC" in config, "the static step is named")
    write("job.inp", "", steps("*CFLUX\nTIP,11,2.\n"))
    _, said, warned = run("new", "job.inp", "physics=elasticity")
    check("1 *CFLUX (a load of heat" in warned, f"loads of heat are not read for elasticity: {warned}")
    with open("job.cfg", "w", encoding="utf-8") as f:
        f.write(said)
    write("job.inp", "", "*STEP\n*STATIC\n*BOUNDARY\nFIX,1,3\n*CLOAD\nTIP,3,-25.\n*END STEP\n")
    text = open("job.inp", encoding="ascii").read().replace("*CONDUCTIVITY\n0.5\n", "")
    with open("job.inp", "w", encoding="ascii") as f:
        f.write(text)
    _, said, warned = run("new", "job.inp", "physics=heat")
    check("it has no conductivity" in said and "no conductivity" in warned and "modulus" not in said + warned,
          f"a material without conductivity: {warned}")
    check("# Not in this config: the supports and forces of the file" in said, "forces in a config for heat are named")
    for text, reason in (("*DFLUX\n1,BF,1.\n", None), ("*CFLUX\n14,11,1.\n", "a *CFLUX at node 14, which lies in the middle"),
                         ("*BOUNDARY\n18,11,11,30.\n", "a temperature at node 18, in the middle")):
        with open("second.inp", "w", encoding="ascii") as f:
            f.write(SECOND + steps(text))
        _, said, _ = run("new", "second.inp")
        check(('    { set = "FIX"; temperature = 20.0; },' in said) == (reason is None) and (reason or "") in said,
              f"second order, {reason}: {said}")
    # a shell is left out on purpose: then the lines are active
    write("job.inp", "*ELEMENT, TYPE=S4, ELSET=SKIN\n50, 17,18,20,19\n*SHELL SECTION, ELSET=SKIN, MATERIAL=S\n1.\n", steps(SOURCE))
    _, said, _ = run("new", "job.inp")
    check('# ignore = ("S4");' in said and '#   { set = "E34"; source = 1.0; },' in said, "a shell refuses")
    _, said, _ = run("new", "job.inp", 'mesh.ignore=("S4")')
    check('ignore = ("S4");' in said and '    { set = "E34"; source = 1.0; },' in said, "a shell that is left out on purpose")


def check_arguments():
    """Keys of heat are accepted for a heat-transfer job without physics = "heat". Others are refused with the
    message of their physics."""
    write("job.inp", "", steps("*CFLUX\nTIP,11,2.\n"))
    for argument in ("material.conductivity=2.0", "units=W, mm, K", 'supports=({set="FIX";temperature=0.0;})',
                     'loads=({set="TIP";heat=1.0;})', 'convection=({set="TIP";coefficient=1.0;ambient=0.0;})'):
        code, said, warned = run("new", "job.inp", argument)
        check(code == 0 and 'physics = "heat";' in said and argument.split("=", 1)[1].strip('"') in said,
              f"{argument}: {code}: {warned}")
        check("the default, is used" not in warned, f"{argument}: warns of a default: {warned}")
        with open("job.cfg", "w", encoding="utf-8") as f:
            f.write(said)
        code, _, warned = run("check", "job.cfg")
        check(code == 0, f"{argument}: check: {code}: {warned}")
    for argument, reason in (("material.conductivity=-1.0", "-1 is out of range"), ("material.nu=0.9", "0.9 is out of range"),
                             ("output.every=x", "a string where an integer is expected")):
        code, said, warned = run("new", "job.inp", argument)
        check(code == 2 and not said and reason in warned, f"{argument}: {code}: {warned}")
    write("job.inp", "", "*STEP\n*STATIC\n*BOUNDARY\nFIX,1,3\n*CLOAD\nTIP,3,-25.\n*END STEP\n")
    for argument in ("material.conductivity=2.0", "material.conductivity=-1.0", 'loads=({set="TIP";heat=1.0;})'):
        code, said, warned = run("new", "job.inp", argument)
        check(code == 2 and not said and ('this config has "elasticity"' in warned or "out of range" in warned),
              f"elasticity, {argument}: {code}: {warned}")
    code, said, warned = run("new", "job.inp", 'loads=({set="TIP";total_force=[0.0,0.0,-1.0];})')
    check(code == 0 and 'from = "file"' in said and "the default, is used" not in warned, f"a load of one's own: {warned}")
    code, said, warned = run("new", "job.inp", "material.E=5.0")
    check(code == 0 and "material.E = 5 of the config takes precedence" in warned, f"a given modulus: {warned}")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        configs = {name: check_exact(name, *case) for name, case in EXACT.items()}
        for name, case in REFUSED.items():
            check_refused(name, *case)
        check_arguments()
        check_rest(configs["a static step after it"])
        os.chdir("/")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0


sys.exit(main())
