#!/usr/bin/env python3
"""The text of a config: integers beyond 32 bits, included files; and environment variables.

    test_config.py HEXTOP SRCDIR"""

import json
import os
import re
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
n_check = n_failed = 0

MESH = """mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
supports = ( { set = "left"; fix = "xyz"; } );
"""
REST = """optimization = { volume_fraction = 0.3; iterations = 1; filter = { radius = 2.0; }; };
solver = { device = "cpu"; operator = "otf"; };
"""
LOAD = 'loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );\n'
STEEL = "material = { E = 1.0; nu = 0.3; };\n"


def check(holds, what):
    global n_check, n_failed
    n_check += 1
    if not holds:
        n_failed += 1
        print(f"failed: {what}")


def run(*arguments, cwd=None, env=None):
    done = subprocess.run([hextop, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                          check=False, cwd=cwd, env={**os.environ, **env} if env else None)
    return done.returncode, done.stdout + done.stderr


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def resolved(text, *arguments, env=None):
    """The values that the program used, as its config.cfg states them."""
    write("c.cfg", text)
    status, said = run("-q", "run", "c.cfg", "output.directory=o", *arguments, env=env)
    check(status == 0, f"{arguments}: exit {status}, {said[-300:]}")
    with open("o/config.cfg", encoding="utf-8") as f:
        return f.read()


def value(text, name):
    found = re.search(rf"\b{name} = ([^;]*);", text)
    return found and found.group(1)


def numbers(text, name):
    return [float(w) for w in re.findall(r"[-\d.e+]+", value(text, name))]


def integers():
    plain = MESH + STEEL + LOAD + REST
    for word, wanted in (("210000000000", 2.1e11), ("2147483648", 2147483648.0), ("2147483647", 2147483647.0),
                         ("210000000000L", 2.1e11), ("0x30E4F9B400", 2.1e11), ("0x80000000", 2147483648.0),
                         ("0x7fffffff", 2147483647.0), ("00000000000210000000000", 2.1e11), ("2100e+000000000008", 2.1e11),
                         ("99999999999999999999", 1e20)):
        taken = resolved(plain, f"material.E={word}")
        check(numbers(taken, "E") == [wanted], f"argument E={word}: {value(taken, 'E')}")
        taken = resolved(plain.replace("E = 1.0", f"E = {word}"))
        check(numbers(taken, "E") == [wanted], f"file E = {word}: {value(taken, 'E')}")
    for word, wanted in (("[0, 0, -3000000000]", [0, 0, -3e9]), ("[-3000000000, 1, 0x80000000]", [-3e9, 1, 2147483648.0]),
                         ("[0, -1, 2]", [0, -1, 2])):
        taken = resolved(plain, f"loads[0].total_force={word}")
        check(numbers(taken, "total_force") == wanted, f"argument {word}: {value(taken, 'total_force')}")
        taken = resolved(plain.replace("[0.0, 0.0, -1.0]", word))
        check(numbers(taken, "total_force") == wanted, f"file {word}: {value(taken, 'total_force')}")
    two = LOAD.replace(" );", ', { set = "right"; total_force = [0.0, 1.0, 0.0]; case = 2; } );')
    taken = resolved(MESH + STEEL + two + REST, "weights=[3000000000, 1]")
    check(numbers(taken, "weights") == [3e9, 1], f"weights: {value(taken, 'weights')}")
    # a config that was written is read with the same value
    taken = resolved(plain, "material.E=210000000000")
    write("again.cfg", taken)
    with open("again.cfg", encoding="utf-8") as f:
        check(numbers(resolved(f.read()), "E") == [2.1e11], "the resolved config is another")
    # texts and comments stay unchanged, and a text may consist of digits
    taken = resolved('title = "210000000000 [3000000000]"; # 3000000000 ]\n' + plain)
    check('"210000000000 [3000000000]"' in taken, "a text was changed")
    check('"210000000000"' in resolved(plain, "title=210000000000"), "a title of digits")
    # integers stay integers
    for word in ("mesh.nx=3000000000", "mesh.nx=0xFFFFFFFFFF", "mesh.nx=-3000000000", "loads[0].case=99999999999999999999"):
        status, said = run("check", "c.cfg", word)
        check(status == 2 and "is too large; at most 2147483647" in said, f"{word}: exit {status}, {said[-300:]}")
    write("f.cfg", plain.replace("nx = 4", "\nnx = 3000000000"))
    status, said = run("check", "f.cfg")
    check(status == 2 and "f.cfg:2: mesh.nx: 3000000000 is too large" in said, f"in a file: exit {status}, {said[-300:]}")


def includes():
    here = os.getcwd()
    os.makedirs("one/two", exist_ok=True)
    write("one/load.inc", LOAD)
    write("one/two/steel.inc", f'# first\n  @include "{here}/one/two/deep.inc"\n')
    write("one/two/deep.inc", STEEL.strip())  # without a final newline
    write("one/mesh.inc", MESH)
    main = '@include "mesh.inc"\n\t@include "%s/one/two/steel.inc" # said\n/* @include "no.inc"\n@include "no.inc" */\n' \
        '# @include "no.inc"\n@include "load.inc" %s' % (here, REST)
    write("one/main.cfg", main)
    for name, folder in (("one/main.cfg", None), ("main.cfg", "one"), (f"{here}/one/main.cfg", "one/two")):
        status, said = run("check", name, cwd=folder)
        check(status == 0, f"{name} in {folder}: exit {status}, {said[-300:]}")
    # the position of an error
    for path, text, wanted in (
            ("one/two/deep.inc", "material = {\n E = 1.0; nuu = 0.3; };", f"{here}/one/two/deep.inc:2: material.nuu"),
            ("one/two/deep.inc", "material = {\n E = = 1.0; };", f"{here}/one/two/deep.inc:2: syntax error"),
            ("one/two/deep.inc", '\n@include "/no/such"\n', f"{here}/one/two/deep.inc:2: cannot include '/no/such'"),
            ("one/two/deep.inc", '@include "none"\n', f"{here}/one/two/deep.inc:1: cannot include 'one/none'"),
            ("one/two/deep.inc", '@include "deep.inc\n', f"{here}/one/two/deep.inc:1: "),
            ("one/two/deep.inc", f'@include "{here}/one/two/deep.inc"', "files include each other"),
            ("one/two/deep.inc", STEEL + "material = { };", f"{here}/one/two/deep.inc:2: duplicate"),
            ("one/main.cfg", main + "bad = 1;\n", "one/main.cfg:8: bad: unknown key")):
        write("one/two/deep.inc", STEEL)
        write("one/main.cfg", main)
        write(path, text)
        status, said = run("check", "one/main.cfg")
        check(status == 2 and wanted in said, f"{path}: {wanted}: exit {status}, {said[-300:]}")
    # text that a config may contain is also accepted in included files
    write("one/main.cfg", main)
    write("one/two/deep.inc", STEEL.replace("1.0", "210000000000"))
    write("one/load.inc", LOAD.replace("-1.0]", "-1.0,]"))
    status, said = run("check", "one/main.cfg")
    check(status == 0, f"a comma and an integer in an included file: exit {status}, {said[-300:]}")


def variables():
    """Environment variables that change a run stand for keys, so config.cfg repeats the run without them."""
    plain = MESH + STEEL + LOAD + REST
    for name, key, word, other, wrong in (("HEXTOP_TRANSPORT", "transport", "messages", "direct", "pigeon"),
                                          ("HEXTOP_WHOLE_COARSE_GRID", "whole_coarse_grid", "50", "60", "few"),
                                          ("HEXTOP_VECTOR", "vector_unit", "baseline", "auto", "avx5")):
        taken = resolved(plain, env={name: word})
        check(value(taken, key).strip('"') == word, f"{name}={word}: {value(taken, key)}")
        again = resolved(taken)
        check(value(again, key) == value(taken, key), f"{key} of config.cfg: {value(again, key)}")
        check(value(resolved(plain, env={name: ""}), key) == value(resolved(plain), key), f"{name} is empty")
        # the key takes precedence, and a message reports it
        taken = resolved(plain, f"solver.{key}={other}", env={name: word})
        check(value(taken, key).strip('"') == other, f"{name}={word} and {key}={other}: {value(taken, key)}")
        status, said = run("check", "c.cfg", f"solver.{key}={other}", env={name: word})
        check(status == 0 and f"{name}='{word}' is ignored" in said, f"{name} and its key: {said[-300:]}")
        status, said = run("check", "c.cfg", f"solver.{key}={word}", env={name: word})
        check(status == 0 and "ignored" not in said, f"{name} as its key: {said[-300:]}")
        # a wrong word is refused, also with one process, and also if the key is given
        for more in ((), (f"solver.{key}={word}",)):
            status, said = run("check", "c.cfg", *more, env={name: wrong})
            check(status == 2 and name in said and wrong in said, f"{name}={wrong}: exit {status}, {said[-300:]}")
        status, said = run("report", "o", env={name: wrong})
        check(status == 2 and name in said and wrong in said, f"report, {name}={wrong}: exit {status}, {said[-300:]}")
    status, said = run("check", "c.cfg", env={"HEXTOP_WHOLE_COARSE_GRID": "0"})
    check(status == 2 and "out of range" in said, f"no node: {said[-300:]}")
    # the bits of the result are those of the vector unit, however it was selected
    histories = set()
    for arguments, env in ((["solver.vector_unit=baseline"], None), ([], {"HEXTOP_VECTOR": "baseline"})):
        resolved(plain, *arguments, env=env)
        with open("o/summary.json", encoding="utf-8") as f:
            check('"vector_unit": "baseline"' in f.read(), f"{arguments}, {env}: another unit")
        with open("o/density_0001.vtk", "rb") as f:
            histories.add(f.read())
    check(len(histories) == 1, "the bits depend on who names the unit")
    units = []
    for arguments, env in (([], None), (["solver.vector_unit=auto"], {"HEXTOP_VECTOR": "baseline"})):
        resolved(plain, *arguments, env=env)
        with open("o/summary.json", encoding="utf-8") as f:
            units.append(json.load(f)["machine"]["vector_unit"])
    check(units[0] == units[1], f"the key says auto: {units}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(os.path.realpath(scratch))
    integers()
    includes()
    variables()
    os.chdir("/")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(1 if n_failed or not n_check else 0)
