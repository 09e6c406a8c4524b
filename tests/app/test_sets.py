#!/usr/bin/env python3
"""Sets combined from others: loads, springs, films and supports of a union equal those of its parts, in linear and
quadratic elements, with several processes, in files that `hextop mesh` writes and in the part that `hextop verify`
analyses; `hextop check` prints the faces of a set.

    test_sets.py HEXTOP SOURCE_ROOT"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from counts import check, result # noqa: E402

HEXTOP = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1", OMP_NUM_THREADS="1")
TAIL = 'optimization = { volume_fraction = 0.9; filter = { kind = "none"; }; };\n' \
       'solver = { device = "cpu"; tolerance = 1e-12; criterion = "relative"; };\n'
# a plate one element thick: all corners of its rim are also corners of its two faces
PLATE = 'mesh = { generator = "cantilever"; nx = 8; ny = 1; nz = 4; };\n'
SETS = 'sets = ( { name = "both"; or = ("front", "back"); }, { name = "rest"; not = ("both", "left", "right"); },\n' \
       '{ name = "corner"; and = ("bottom", "right"); }, { name = "half"; box = { min = [4, -1, -1]; max = [9, 2, 5]; }; },\n' \
       '{ name = "near"; and = ("front", "half"); }, { name = "round"; or = ("both", "top", "bottom"); },\n' \
       '{ name = "not both"; not = ("both"); }, { name = "level"; and = ("round", "not both"); } );\n'
STEEL = "material = { E = 1.0; nu = 0.3; };\n"
LEFT = 'supports = ( { set = "left"; fix = "xyz"; } );\n'


def hextop(*words, n=1):
    start = ["mpirun", "--oversubscribe", "-n", str(n)] if n > 1 else []
    env = ENV if n == 1 else {**ENV, "ASAN_OPTIONS": "detect_leaks=0:handle_sigill=1"}  # leaks inside MPI
    return subprocess.run([*start, HEXTOP, *words], capture_output=True, text=True, timeout=120, env=env)


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)
    return name


def compliance(config, *keys):
    said = hextop("analyse", config, *keys)
    found = re.search(r"^compliance +([-+0-9.e]+)", said.stdout, re.M)
    check(said.returncode == 0 and found, f"{config} {keys}: {said.returncode} {said.stderr}")
    return float(found[1]) if found else 0.0


def same(config, other, *keys):
    a, b = compliance(config, *keys), compliance(other, *keys)
    check(abs(a - b) <= 2e-6 * abs(a) and a != 0.0, f"{config} {a}, {other} {b} {keys}")


def each(entry, *sets):
    """A list with one entry per set."""
    return "( " + ", ".join("{ set = \"" + name + "\"; " + entry + " }" for name in sets) + " );\n"


def acts_as_its_parts():
    """One entry for the union, compared with two for its parts."""
    pull = '{ set = "right"; traction = [0.0, 0.0, -0.1]; }'
    for entry in ("pressure = 1.0;", "traction = [0.3, 1.0, 0.2];"):
        for name, sets in (("two.cfg", ("front", "back")), ("union.cfg", ("both",))):
            write(name, PLATE + STEEL + SETS + LEFT + "loads = " + each(entry, *sets) + TAIL)
        same("two.cfg", "union.cfg")
        same("two.cfg", "union.cfg", "solver.element=quadratic")
    for name, sets in (("two.cfg", ("front", "back")), ("union.cfg", ("both",))):
        write(name, PLATE + STEEL + SETS + "springs = " + each('stiffness = [1.0, 2.0, 0.5]; per = "area";', *sets) +
              f"loads = ( {pull} );\n" + TAIL)
    same("two.cfg", "union.cfg")
    same("two.cfg", "union.cfg", "solver.element=quadratic")
    for name, sets in (("two.cfg", ("front", "back")), ("union.cfg", ("both",))): # y of the faces' own middles
        write(name, PLATE + STEEL + SETS + LEFT[:-4] + ", " + each('fix = "y";', *sets)[2:] +
              f"loads = ( {pull} );\n" + TAIL)
    same("two.cfg", "union.cfg", "solver.element=quadratic")
    for name, sets in (("two.cfg", ("front", "back")), ("union.cfg", ("both",))):
        write(name, 'physics = "heat";\n' + PLATE + "material = { conductivity = 1.0; };\n" + SETS +
              "convection = " + each("coefficient = 0.4; ambient = 0.0;", *sets) +
              "loads = ( " + each("flux = 1.0;", *sets)[2:-4] + ', { set = "right"; flux = 2.0; } );\n' + TAIL)
    same("two.cfg", "union.cfg")
    same("two.cfg", "union.cfg", "solver.element=quadratic")


def check_prints_faces():
    """32 faces in front, 32 behind; 8 above and 8 below; 16 on half of the front; none at an edge."""
    write("union.cfg", PLATE + STEEL + SETS + LEFT + "loads = " + each("pressure = 1.0;", "both") + TAIL)
    said = hextop("check", "union.cfg").stdout
    rows = dict(re.findall(r"^  (\S+) +\S+ +\S+ +(\d.*?) *$", said, re.M))
    for name, row in (("front", "32  32"), ("both", "64  64"), ("rest", "16  16"), ("corner", "0"), ("near", "16  16"),
                      ("round", "80  80"), ("level", "16  16")):
        check(rows.get(name) == row, f"check shows {name} as {rows.get(name)!r}, not {row!r}\n{said}")


def written_and_read():
    """Every written file contains the definition of a union, and also its faces for readers that ignore the
    definition."""
    want = compliance("union.cfg")
    for ending in ("msh", "inp", "vtk"):
        said = hextop("mesh", "union.cfg", "out." + ending)
        check(said.returncode == 0, f"mesh out.{ending}: {said.stderr}")
        write("again.cfg", f'mesh = {{ file = "out.{ending}"; }};\n' + STEEL + LEFT + "loads = " +
              each("pressure = 1.0;", "both") + TAIL)
        found = compliance("again.cfg")
        check(abs(found - want) <= 2e-6 * want, f"out.{ending}: {found}, not {want}")


def without_rules():
    """A .vtk file also has the faces of a set that is not combined from others; each process takes its part of them."""
    write("skin.cfg", PLATE.replace("8", "24") + STEEL + SETS + LEFT + "loads = " + each("pressure = 1.0;", "both") + TAIL)
    want = compliance("skin.cfg")
    check(hextop("mesh", "skin.cfg", "skin.msh", "output.format=ascii").returncode == 0, "mesh skin.msh")
    with open("skin.msh", encoding="ascii") as file:
        text = file.read()
    check(text.count("hextop: set") > 10, "skin.msh has no rules")
    write("skin.msh", re.sub("hextop: set .*\n", "", text))
    check(hextop("mesh", "skin.msh", "skin.vtk").returncode == 0, "mesh skin.vtk")
    write("again.cfg", 'mesh = { file = "skin.vtk"; };\n' + STEEL + LEFT + "loads = " + each("pressure = 1.0;", "both") + TAIL)
    found = compliance("again.cfg")
    check(abs(found - want) <= 2e-6 * want, f"skin.vtk: {found}, not {want}")
    found = []
    for n in (1, 2) if shutil.which("mpirun") else ():
        said = hextop("run", "again.cfg", "output.directory=run", "optimization.iterations=1", 'mesh.in_parts="always"', n=n)
        if n > 1 and "MPI" in said.stderr and "build" in said.stderr:
            return # a build without MPI
        check(said.returncode == 0, f"skin.vtk by {n}: {said.stderr}")
        with open("run/history.csv", encoding="ascii") as file:
            found.append(float(file.readlines()[-1].split(",")[1]))
        shutil.rmtree("run")
    check(not found or abs(found[1] - found[0]) <= 1e-9 * found[0], f"skin.vtk by processes: {found}")


def edited_rules():
    """A set that was changed in the file is used as listed, with a warning."""
    check(hextop("mesh", "union.cfg", "edited.inp").returncode == 0, "mesh edited.inp")
    with open("edited.inp", encoding="ascii") as file:
        text = file.read()
    write("edited.inp", re.sub(r'(set "both", or) "back"', r'\1 "top"', text))
    write("again.cfg", 'mesh = { file = "edited.inp"; };\n' + STEEL + LEFT + "loads = " + each("pressure = 1.0;", "both") + TAIL)
    said = hextop("check", "again.cfg")
    check(said.returncode == 0 and "the set 'both' is listed with other nodes or faces" in said.stderr,
          f"edited.inp: {said.returncode} {said.stderr}")


def united_by_the_file():
    """An *NSET made of sets has the faces of its parts, if these name faces; otherwise check prints that faces are
    found by nodes."""
    want = compliance("union.cfg")
    write("plain.cfg", PLATE + STEEL + LEFT + "loads = " + each("pressure = 1.0;", "front") + TAIL)
    check(hextop("mesh", "plain.cfg", "plain.inp").returncode == 0, "mesh plain.inp")
    with open("plain.inp", encoding="ascii") as file:
        mesh = file.read().split("*SOLID SECTION")[0]
    united = "*NSET, NSET=both\nfront, back\n"
    sides = "".join(f"*SURFACE, TYPE=ELEMENT, NAME={name}\n" + "".join(f"{e}, {side}\n" for e in range(1, 33))
                    for name, side in (("front", "S3"), ("back", "S5")))
    for text, has_faces in ((mesh + united + sides, True), (mesh + united, False)):
        write("united.inp", text)
        write("again.cfg", 'mesh = { file = "united.inp"; };\n' + STEEL + LEFT + "loads = " + each("pressure = 1.0;", "both") + TAIL)
        said = hextop("check", "again.cfg")
        check(said.returncode == 0 and ("faces of 'both' are found by nodes" in said.stdout) != has_faces,
              f"united, faces {has_faces}: {said.stdout} {said.stderr}")
        if has_faces:
            found = compliance("again.cfg")
            check(abs(found - want) <= 2e-6 * want, f"united by the file: {found}, not {want}")


def united_beside_other_kinds():
    """The union of node sets has the surfaces with the names of its parts, even if element sets also have these names,
    and also in a part with one instance. An element set with the name of the union keeps its elements."""
    want = compliance("union.cfg")
    with open("plain.inp", encoding="ascii") as file:
        mesh = file.read().split("*SOLID SECTION")[0]
    united = "*NSET, NSET=both\nfront, back\n"
    sides = "".join(f"*SURFACE, TYPE=ELEMENT, NAME={name}\n" + "".join(f"{e}, {side}\n" for e in range(1, 33))
                    for name, side in (("front", "S3"), ("back", "S5")))
    elems = "".join(f"*ELSET, ELSET={name}, GENERATE\n1, 32\n" for name in ("front", "both"))
    write("kinds.inp", mesh + united + sides + elems)
    inside = "*HEADING\n*PART, NAME=P\n" + mesh[mesh.index("*NODE"):] + united + sides + "*END PART\n"
    write("instance.inp", inside + "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n*END INSTANCE\n*END ASSEMBLY\n")
    for name in ("kinds", "instance"):
        write("again.cfg", f'mesh = {{ file = "{name}.inp"; }};\n' + STEEL + LEFT + "loads = " + each("pressure = 1.0;", "both") + TAIL)
        found = compliance("again.cfg")
        check(abs(found - want) <= 2e-6 * want, f"{name}.inp: united beside other kinds: {found}, not {want}")
        said = hextop("check", "again.cfg").stdout
        check("are found by nodes" not in said, f"{name}.inp: {said}")
        check(re.search(r"^ +both +90 +(\d+) ", said, re.M)[1] == ("32" if name == "kinds" else "0"), f"{name}.inp: elements: {said}")


def by_processes():
    last = {}
    keys = ["optimization.iterations=2", "output.every=0", "mesh.nx=24", "mesh.nz=8"]
    for name, sets in (("two.cfg", ("front", "back")), ("union.cfg", ("both",)), ("rest.cfg", ("rest",))):
        write(name, PLATE + STEEL + SETS + LEFT + "loads = " + each("pressure = 1.0;", *sets) + TAIL)
        for n in (1, 2, 3) if shutil.which("mpirun") else (1,):
            said = hextop("run", name, "output.directory=run", *keys, n=n)
            if n > 1 and "MPI" in said.stderr and "build" in said.stderr:
                continue # a build without
            check(said.returncode == 0, f"{name} by {n}: {said.stderr}")
            with open("run/history.csv", encoding="ascii") as file:
                last.setdefault(name, []).append(float(file.readlines()[-1].split(",")[1]))
            shutil.rmtree("run")
    for same in (last["two.cfg"] + last["union.cfg"], last["rest.cfg"]):
        check(max(same) - min(same) <= 1e-9 * same[0], f"by processes: {last}")


def part_of_a_result():
    """The solid part has the faces of a combined set, but no faces that removed elements expose."""
    for two, one in ((("front", "back"), "both"), (("top", "bottom"), "level")):
        verify_both(two, one)


def verify_both(two, one):
    found = []
    for name, sets in (("two.cfg", two), ("union.cfg", (one,))):
        thick = PLATE.replace("ny = 1", "ny = 3") + STEEL + SETS.replace("[9, 2, 5]", "[9, 4, 5]")
        write(name, thick + LEFT + "loads = " + each("pressure = 1.0;", *sets) +
              TAIL.replace("0.9", "0.8").replace('"none"', '"density"; radius = 1.5'))
        said = hextop("run", name, "output.directory=part", "optimization.iterations=3")
        check(said.returncode == 0, f"{name}: {said.stderr}")
        said = hextop("verify", "--made", "no", "part/density_0003.vtk", "part/config.cfg", "--element", "quadratic-solid", "--output",
                      "verify.json")
        check(said.returncode == 0, f"verify of {name}: {said.stderr}")
        with open("verify.json", encoding="utf-8") as file:
            found.append(re.findall(r'"compliance": ([-+0-9.e]+)', file.read()))
        shutil.rmtree("part")
    check(len(found[0]) > 1 and len(found[0]) == len(found[1]) and
          all(abs(float(a) - float(b)) <= 1e-6 * abs(float(a)) for a, b in zip(*found)), f"verify with {one}: {found}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        acts_as_its_parts()
        check_prints_faces()
        written_and_read()
        without_rules()
        edited_rules()
        united_by_the_file()
        united_beside_other_kinds()
        by_processes()
        part_of_a_result()
        os.chdir("/")
    return result()


if __name__ == "__main__":
    sys.exit(main())
