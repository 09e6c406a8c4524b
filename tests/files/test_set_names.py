#!/usr/bin/env python3
"""Names of sets that formats cannot store unchanged, tested with each writer and then with each
reader. A set keeps its name and its members, or the change is reported. No writer writes a file that
the reader refuses.

    test_set_names.py HEXTOP

Exit status 0 passed, 1 failed."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

hextop = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="hextop_names_")
os.chdir(work)
atexit.register(shutil.rmtree, work)
os.environ["OMP_NUM_THREADS"] = "1"
n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def run(*args):
    done = subprocess.run([hextop, *args], capture_output=True, timeout=120, check=False)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


# Names with line breaks, quotes, commas, or blanks at the ends; names that formats and jobs use themselves;
# names that differ only in case, or become equal once they are cleaned or truncated; names that begin with a
# digit; long names. In groups, because `new` lists at most 40 sets.
GROUPS = (["a\nb", "a_b", "a b", "A B", "a\tb", 'q"q', "q'q", "x,y", "x;y", "1st", "S_1st", "2", "-dash", "_low", "=", "a=b",
           "50%", "%41", "back\\slash"],
          [" lead", "trail ", "ünï", "NALL", "nall", "EALL", "NALL_2", "EMAT-1", "ESPRING-9", "NRIGID-1_2", "*NODE", "**",
           "$Nodes", "#", "surface 7", "volume 3", "LEFT"],
          ["face-1", "solid-2", "set_x", "point=3", "\x01", "a.b", "L" * 80, "l" * 81, "M" * 127, "M" * 128, "N" * 300,
           "N" * 299 + "O", "ü" * 90])


def escaped(text):
    return "".join("\\x%02x" % ord(c) if ord(c) < 32 or c in '"\\' else c for c in text)


def plain(text):
    return re.sub(r"\\(x[0-9a-f]{2}|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" and len(m[1]) == 3 else m[1], text)


def write_config(names):
    """Each set is a slice of the bar, so its centre identifies it."""
    with open("names.cfg", "w", encoding="utf-8") as file:
        file.write(f'mesh = {{ generator = "cantilever"; nx = {2 * len(names)}; ny = 1; nz = 1; }};\nsets = (\n' + ",\n".join(
            f'{{ name = "{escaped(name)}"; box = {{ min = [{2 * i - 0.1}, -1.0, -1.0]; max = [{2 * i + 2.1}, 9.0, 9.0]; }}; }}'
            for i, name in enumerate(names)) + ');\nsupports = ( { set = "left"; fix = "xyz"; } );\n'
            'loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );\n'
            'optimization = { volume_fraction = 0.4; filter = { kind = "none"; }; };\nsolver = { device = "cpu"; };\n')


def sets_of(path):
    """Names of the sets, by the number of the slice."""
    code, said = run("new", "-v", path)
    check(code == 0, f"new {path}: {said[-300:]}")
    found = {}
    for name, x in re.findall(r'^#   "((?:[^"\\]|\\.)*)": 2 elements, centre ([-+.0-9e]+) ', said, re.M):
        found.setdefault(round((float(x) - 1) / 2), []).append(plain(name))
    return found


def changes(said):
    """The number of names that a writer reports as changed."""
    found = re.search(r"names? of (\d+) sets? (?:is|are) changed", said)
    return int(found[1]) if found else 0


def round_trip(source, expected, path, *how):
    """Writes and reads the file, and compares the sets with the expected ones, slice by slice."""
    code, said = run("mesh", source, path, *how)
    check(code == 0, f"{source} to {path}: {said[-300:]}")
    found = sets_of(path)
    check(sorted(found) == sorted(expected) and all(len(v) == 1 for v in found.values()),
          f"{path}: slices {sorted(set(expected) ^ set(found))} differ, {[v for v in found.values() if len(v) > 1]}")
    n = sum(found.get(i) != expected[i] for i in expected)
    similar = [m[1] for m in re.finditer(r'"([^"\n]{24,})"(?: \(\d+ bytes\))? as "([^"\n]*)"', run("-v", "mesh", source, path, *how)[1])
             if m[1] == m[2]]
    check(not similar, f"{path}: changed names that look like the old ones: {similar}")
    # other names may also change: NALL and EALL of a job, "supports=7" of fields
    check(n <= changes(said) <= n + 3, f"{path}: {n} names differ, and it says {changes(said)}")
    return found


def check_group(names):
    write_config(names)
    own = {i: [name] for i, name in enumerate(names)}
    written = {}
    for path, how in (("a.msh", ()), ("b.msh", ("output.format=ascii",)), ("a.inp", ()), ("a.vtk", ()),
                      ("b.vtk", ("output.format=ascii",))):
        written[path] = round_trip("names.cfg", own, path, *how)
    check(written["a.msh"] == written["b.msh"] and written["a.vtk"] == written["b.vtk"], "binary and text have other names")

    # A name that a format can store stays unchanged, even beside similar names.
    keeps = {"a.msh": set(names) - {"a\nb", "a\tb", 'q"q', "\x01", *(n for n in names if len(n.encode()) > 127)},
             "a.inp": set(names) & {"a_b", "NALL_2", "S_1st", "face-1", "solid-2", "set_x", "L" * 80},
             "a.vtk": {n for n in names if len(n) < 129 and not re.search(r"[ \n\t\x01]", n) and n != "ü" * 90}}
    for path, kept in keeps.items():
        have = {n for v in written[path].values() for n in v}
        check(kept <= have, f"{path} changes {sorted(kept - have)}")
    inp = {n for v in written["a.inp"].values() for n in v}
    check(all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,79}", n) for n in inp), f"words of a job: {sorted(inp)}")
    check(len({n.lower() for n in inp}) == len(names), "names of a job differ in case only")
    msh = {n for v in written["a.msh"].values() for n in v}
    check(all(len(n.encode()) <= 127 and not re.search(r'["\x00-\x1f]', n) for n in msh), f"gmsh cuts {sorted(msh)}")

    # From each format to every other one, and then to the same one again, which changes nothing.
    for source, have in written.items():
        for target in ("c.msh", "c.inp", "c.vtk"):
            again = round_trip(source, have, target)
            if source[-3:] == target[-3:]:
                check(again == have, f"{source} again: {[(have[i], again[i]) for i in have if again.get(i) != have[i]]}")


for group in GROUPS[1:] + GROUPS[:1]:
    check_group(group)
code, said = run("mesh", "names.cfg", "say.inp")
check('"a\\nb" as "a_b_' in said and "\na" not in said.split("changed")[1].split(" more")[0], f"names as they are said: {said}")
n_more = int(re.search(r" and (\d+) more \(-v lists them\)", said)[1])
loud = run("mesh", "-v", "names.cfg", "say.inp")[1]
listed = re.findall(r'^(?:hextop: )?say\.inp: "[^\n]*" as "[^\n]*"$', loud, re.M)
check(len(listed) == n_more and not re.search(r'^say\.inp: "', said, re.M), f"-v lists {len(listed)} more names, not {n_more}: {loud}")
print(f"{n_check} checks, {n_failed} failed")
sys.exit(n_failed > 0)
