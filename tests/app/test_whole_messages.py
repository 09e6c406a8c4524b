#!/usr/bin/env python3
"""Messages and remedies are printed whole: with output folders of more than 200 characters, spaces and apostrophes, and with
remedies of many arguments. Every command in back quotes works as printed.

    test_whole_messages.py HEXTOP SOURCE_ROOT"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HEXTOP = os.path.abspath(sys.argv[1])
N_CHECK = N_FAILED = 0
MODEL = """mesh = { generator = "cantilever"; nx = 8; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
solver = { device = "cpu"; operator = "otf"; threads = 1; };
"""
STEEP = """optimization = { volume_fraction = 0.3; iterations = 1; move = 0.5; change_tolerance = 0.3; damping = 0.9;
penalty = 5.0; filter = { kind = "density"; radius = 1.5; }; projection = { beta = 512.0; beta_max = 512.0; }; };
"""
GREY = "optimization = { volume_fraction = 0.4; iterations = 3; filter = { radius = 1.5; }; };\n"
FOLDER = "/".join(["runs of the bracket's first study, " + "x" * 40] * 4)


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def run(*words):
    return subprocess.run([HEXTOP, *words], capture_output=True, text=True, timeout=100, check=False)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def commands(text):
    """The `hextop` commands in back quotes, as lists of words."""
    try:
        return [shlex.split(words)[1:] for words in re.findall(r"`(hextop [^`]+)`", text)]
    except ValueError as error:
        return [[str(error)]]


def folders():
    """Commands that name the output folder."""
    write("grey.cfg", MODEL + GREY)
    result = run("run", "grey.cfg", "output.directory=" + FOLDER)
    check(result.returncode == 0, f"run: {result.stderr}")
    found = commands(result.stderr)
    check(["verify", FOLDER] in found, f"the warning about greyness names {found}")
    line = next((line for line in result.stdout.splitlines() if "hextop verify" in line), "")
    check(line.count(shlex.quote(FOLDER).replace("'\"'\"'", "'\\''")) == 2, f"after the run: {line}")
    with open(f"{FOLDER}/summary.json", encoding="utf-8") as file:
        kept = [w["remedy"] for w in json.load(file)["warnings"] if w["remedy"]]
    check(all(remedy in result.stderr for remedy in kept), f"summary.json has other remedies: {kept}")
    for words in found:
        done = run(*words)
        check(done.returncode == 0, f"{words}: {done.stderr}")
    # warnings of `verify` name the file and many settings
    done = run("verify", "--made", "no", FOLDER, "loads[0].total_force=[0.0,0.0,-2.0]", "material.nu=0.31", "material.E=2.0",
               "optimization.penalty=2.5", "optimization.rho_min=0.002")
    with open(f"{FOLDER}/verify.json", encoding="utf-8") as file:
        kept = json.load(file)["warnings"]
    shown = re.findall("hextop: warning: (.*)", done.stderr)
    check(kept == shown and any(len(text) > 512 for text in kept), f"verify: {[len(text) for text in kept]}, {shown}")
    # a folder without a series: the hint names a file in it
    os.remove(f"{FOLDER}/density.vtk.series")
    said = run("verify", "--made", "no", FOLDER)
    check(said.returncode == 2 and f"name a file: {FOLDER}/density_0003.vtk" in said.stderr, f"no series: {said.stderr}")
    done = run("run", "grey.cfg", "output.directory=" + FOLDER)
    check(done.returncode == 0, f"second run: {done.stderr}")
    # a folder where a config is expected: the command works without the last words
    said = run("analyse", FOLDER)
    check(said.returncode == 2, f"analyse of a folder: exit {said.returncode}")
    found = commands(said.stderr)
    check(found == [["analyse", FOLDER + "/config.cfg", "--density", FOLDER]], f"analyse of a folder: {found}")
    if found:
        done = run(*found[0])
        check(done.returncode == 0, f"{found[0]}: {done.stderr}")
    resumed()


def resumed():
    """The command that continues the run of optimization.initial."""
    density = MODEL + GREY.replace("radius", 'kind = "density"; radius')
    write("density.cfg", density.replace("iterations = 3", "iterations = 30; projection = { every = 3; }"))
    first = run("run", "density.cfg", "output.directory=" + FOLDER, "output.checkpoint=1e-9")
    check(first.returncode == 0, f"first run: {first.stderr}")
    second = run("run", "density.cfg", "output.directory=second", "optimization.initial=" + FOLDER, "optimization.iterations=1")
    found = [words for words in commands(second.stderr) if words[0] == "run"]
    check(len(found) == 1 and found[0][1] == os.path.abspath(FOLDER) + "/config.cfg" and "--resume" in found[0],
          f"run from a filtered design: {found}, {second.stderr}")
    if found:
        done = run(*found[0])
        check(done.returncode == 0 and "after iteration 30" in done.stdout, f"{found[0]}: {done.stderr}")


def sharpened():
    """The command of `verify` that makes a design black-and-white, from a config without a projection and with overrides. The
    edge is loaded, because members to 16 loaded elements of a face are cut or not by chance on so few elements."""
    write("grey.cfg", MODEL.replace('"right"', '"right-lower-edge"') + GREY)
    folder = FOLDER + "/grey"
    run("run", "grey.cfg", "output.directory=" + folder)
    said = run("verify", "--made", "no", folder, "grey.cfg", "title=it's grey")
    lines = [line for line in said.stderr.splitlines() if "grey design that was optimized" in line]
    found = commands(said.stderr)
    check(len(lines) == 1 and len(found) == 1, f"verify: {said.stderr}")
    if not found:
        return
    check("title=it's grey" in found[0] and f"output.directory={folder}-projection" in found[0], f"verify: {found}")
    done = run(*found[0])
    check(done.returncode == 0, f"{found[0]}: {done.stderr}")
    difference = []
    for name in (folder, folder + "-projection"):
        run("verify", "--made", "no", name)
        with open(name + "/verify.json", encoding="utf-8") as file:
            difference.append(abs(json.load(file)["difference_percent"]["compliance"]))
    check(difference[1] < 0.5 * difference[0] < 1e3, f"the command helps: {difference}")


def continued():
    """The command for more iterations: it continues a run that left a checkpoint; any other run starts from the
    beginning."""
    write("grey.cfg", MODEL + GREY)
    for is_kept, more in ((0, []), (1, ["output.checkpoint=1e-9"])):
        folder = f"{FOLDER}/continued {is_kept}"
        first = run("run", "grey.cfg", "output.directory=" + folder, *more)
        with open(folder + "/summary.json", encoding="utf-8") as file:
            remedy = {w["code"]: w["remedy"] for w in json.load(file)["warnings"]}.get("changing", "")
        typed = re.search(r"with `([^`]+)`$", remedy)
        check(first.returncode == 0 and typed, f"changing: {remedy}, {first.stderr}")
        if not typed:
            continue
        words = shlex.split(typed[1])
        if not is_kept:
            check(remedy.startswith("start again with") and words[0] == "optimization.iterations=" + words[0].split("=")[1] and
                  len(words) == 1, f"without a checkpoint: {remedy}")
            words = ["hextop", "run", "grey.cfg", "output.directory=" + folder, *words]
        done = run(*words[1:])
        check(done.returncode == 0 and ("continuing after iteration 3," in done.stdout) == bool(is_kept), f"{words}: {done.stderr}")
        with open(folder + "/history.csv", encoding="utf-8") as file:
            rows = file.read().splitlines()
        check(len(rows) > 4, f"{words}: {len(rows)} rows of history.csv")


def arguments():
    """The longest remedy of a steep projection."""
    write("steep.cfg", MODEL + STEEP)
    result = run("run", "steep.cfg", "output.directory=steep")
    check(result.returncode == 0, f"steep projection: {result.stderr}")
    with open("steep/summary.json", encoding="utf-8") as file:
        kept = {w["code"]: w["remedy"] for w in json.load(file)["warnings"]}
    for code in ("changing", "grey"):
        remedy = kept.get(code) or ""
        check(re.search(r"optimization\.iterations=\d+` starts flat$", remedy), f"{code}: {remedy}")
        keys = re.findall(r"`(optimization[^`]*)`", remedy)
        done = run("check", "steep.cfg", *shlex.split(keys[-1] if keys else "none"))
        check(done.returncode == 0, f"{keys}: {done.stderr}")


def second_run():
    """The resolved config of a run whose config has a long path is recognized as written by hextop."""
    path = "./" * 300 + "grey.cfg"
    for time in ("first", "second"):
        done = run("run", path, "output.directory=twice", "optimization.iterations=1")
        check(done.returncode == 0, f"{time} run of a config with a long path: {done.stderr[-300:]}")


def ignored():
    """mesh.ignore with every item of a file that has many."""
    kinds = [f"ELEMENT_OF_ANOTHER_PROGRAM_{i:03d}" for i in range(60)]
    corners = ("0, 0, 0", "1, 0, 0", "1, 1, 0", "0, 1, 0", "0, 0, 1", "1, 0, 1", "1, 1, 1", "0, 1, 1")
    write("many.inp", "*NODE\n" + "".join(f"{i + 1}, {c}\n" for i, c in enumerate(corners)) +
          "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n" +
          "".join(f"*{kind}\n1, 2, 3\n" for kind in kinds) +
          "*MATERIAL, NAME=M\n*ELASTIC\n1., 0.3\n*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*BOUNDARY\n1, 1, 3\n2, 1, 3\n"
          "3, 1, 3\n*STEP\n*STATIC\n*CLOAD\n7, 3, -1.\n*END STEP\n")
    write("many.cfg", 'mesh = { file = "many.inp"; };\nsupports = ( { from = "file"; } );\nloads = ( { from = "file"; } );\n'
          'solver = { device = "cpu"; };\noptimization = { volume_fraction = 0.5; filter = { radius = 1.5; }; };\n')
    refused = run("check", "many.cfg")
    found = re.search(r"mesh\.ignore = (\(.*?\))", refused.stderr)
    check(refused.returncode == 2 and found and all(kind in found.group(1) for kind in kinds),
          f"items to ignore: exit {refused.returncode}, {refused.stderr[-600:]}")
    if found:
        done = run("check", "many.cfg", "mesh.ignore=" + found.group(1))
        check("is not among the items" not in done.stderr and "mesh.ignore =" not in done.stderr, f"ignored: {done.stderr[-600:]}")


def errors():
    """An error that names a path of 3,000 characters."""
    path = "/".join(["no such folder"] * 200) + "/part.cfg"
    said = run("check", path)
    check(said.returncode == 2 and path in said.stderr, f"a long path: exit {said.returncode}, {said.stderr[-200:]}")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        folders()
        continued()
        sharpened()
        arguments()
        second_run()
        ignored()
        errors()
        os.chdir("/")
    print(f"{N_CHECK} checks, {N_FAILED} failed")
    sys.exit(N_FAILED > 0)


main()
