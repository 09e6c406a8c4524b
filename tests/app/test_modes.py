#!/usr/bin/env python3
"""Natural frequencies by `hextop analyse --modes`: closed forms of bars, double modes of a square bar, a free part,
effective masses, springs, refusals; and CalculiX's *FREQUENCY on the job that `hextop mesh` writes.

    test_modes.py HEXTOP

CalculiX's C3D8 and C3D20 are the elements of hextop, with masses by the same points; it prints seven digits. The mass
of its C3D10 has the 4 points of the stiffness, which are not exact (with the same points hextop's frequencies equal
its own to 2e-7); the difference falls with the fourth power of the element size. Without ccx only that comparison is
left out."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import calculix as ccx
from calculix import check, run, write

BAR = """
units = "N, mm, MPa";
mesh = {{ generator = "cantilever"; nx = {nx}; ny = {ny}; nz = {nz}; }};
material = {{ E = 210000.0; nu = {nu}; density = 7.85e-9; }};
{more}
optimization = {{ volume_fraction = 0.5; }};
"""
WAVE = math.sqrt(210000.0 / 7.85e-9)  # speed of longitudinal waves of a bar, mm/s


def bar(nx, ny, nz, nu, more=""):
    return BAR.format(nx=nx, ny=ny, nz=nz, nu=nu, more=more)


def analyse(hextop, config, n, *more):
    """The object `vibration` of the JSON of an analysis of a config's text."""
    write("part.cfg", config)
    run(hextop, "-q", "analyse", "part.cfg", "solver.device=cpu", *more, "--modes", str(n), "--output", "part.json")
    with open("part.json", encoding="utf-8") as f:
        return json.load(f)["vibration"]


def frequencies(result):
    return [mode["frequency"] for mode in result["modes"]]


def chain(k, elements, length):
    """Frequency of a longitudinal wave of k radians per element in a bar of linear elements with a consistent mass."""
    c = math.cos(k)
    return math.sqrt(6.0 * (1.0 - c) / (2.0 + c)) * WAVE * elements / length / (2.0 * math.pi)


def near(a, b, tolerance):
    return abs(a - b) <= tolerance * abs(b)


def check_bars(hextop):
    """With nu = 0 and sections that stay plane, a bar of hexahedra is a chain of linear elements."""
    plane = 'supports = ( {{ set = "left"; fix = "{left}"; }}, {{ set = "front"; fix = "y"; }}, ' \
            '{{ set = "bottom"; fix = "z"; }}, {{ set = "back"; fix = "y"; }}, {{ set = "top"; fix = "z"; }} );'
    found = frequencies(analyse(hextop, bar(20, 1, 1, 0.0, plane.format(left="xyz")), 4))
    for i, f in enumerate(found):
        exact = chain((2 * i + 1) * math.pi / 40.0, 20, 20.0)
        check(near(f, exact, 1e-9), f"clamped bar, wave {i + 1}: {f:.10g} Hz, closed form {exact:.10g}")
    free = analyse(hextop, bar(20, 1, 1, 0.0, plane.format(left="y")), 3)
    check(free["rigid_motions"] == 1, "a bar that slides has one rigid motion")
    for i, f in enumerate(frequencies(free)):
        exact = chain((i + 1) * math.pi / 20.0, 20, 20.0)
        check(near(f, exact, 1e-9), f"sliding bar, wave {i + 1}: {f:.10g} Hz, closed form {exact:.10g}")


def check_square(hextop):
    """Bending modes of a square bar are double; its frequencies approach those of a slender beam from above."""
    clamp = 'supports = ( { set = "left"; fix = "xyz"; } );'
    result = analyse(hextop, bar(40, 2, 2, 0.0, clamp), 4)
    found = frequencies(result)
    check(near(found[0], found[1], 1e-9), f"the first two modes are double: {found[0]:.12g}, {found[1]:.12g} Hz")
    check(near(found[2], found[3], 1e-9), f"the next two, too: {found[2]:.12g}, {found[3]:.12g} Hz")
    beam = 3.5160152685 ** 2 * (2.0 ** 2 / 12.0) * WAVE ** 2 / 40.0 ** 4
    ratio = (2.0 * math.pi * found[0]) ** 2 / beam
    check(near(ratio, 1.1216, 1e-4), f"omega^2 is {ratio:.4f} of a slender beam's, 1.1216 by an independent program")
    check(near(result["mass"], 160 * 7.85e-9, 1e-12), "the mass is density times volume")
    both = [sum(mode["effective_mass"][i] for mode in result["modes"][:2]) for i in (1, 2)]
    check(near(both[0], both[1], 1e-6) and 0.6 < both[0] < 0.63, f"the double mode moves {both[0]:.4f} of the mass")
    for mode in result["modes"]:
        check(mode["residual"] <= 1e-6, f"mode {mode['mode']}: residual {mode['residual']:.1e}")


def check_free(hextop):
    """A free bar without loads has six rigid motions, and modes that move no mass; those of the same bar on soft
    springs hardly differ."""
    free = analyse(hextop, bar(12, 2, 1, 0.3), 3)
    check(free["rigid_motions"] == 6, "a free bar has six rigid motions")
    check(all(abs(e) < 1e-12 for mode in free["modes"] for e in mode["effective_mass"]), "its modes move no mass")
    soft = 'springs = ( { set = "right"; stiffness = [1e-3, 1e-3, 1e-3]; per = "total"; } );'
    held = frequencies(analyse(hextop, bar(12, 2, 1, 0.3, soft), 9))
    for i, f in enumerate(frequencies(free)):
        check(near(held[6 + i], f, 1e-6), f"free {f:.9g} Hz, on springs {held[6 + i]:.9g}")
    for op, other in (("otf", "ebe"), ("bsr", "csr")):
        first, second = (frequencies(analyse(hextop, bar(12, 2, 1, 0.3), 3, "solver.operator=" + o)) for o in (op, other))
        check(all(near(a, b, 1e-10) for a, b in zip(first, second)), f"the same by {op} and {other}")
    jacobi = frequencies(analyse(hextop, bar(12, 2, 1, 0.3), 3, "solver.preconditioner=jacobi"))
    check(all(near(a, b, 1e-10) for a, b in zip(frequencies(free), jacobi)), "the same with point Jacobi")


def refusal(hextop, config, *more):
    write("bad.cfg", config)
    done = subprocess.run([hextop, "analyse", "bad.cfg", "solver.device=cpu", *more], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def check_refusals(hextop):
    no_density = bar(4, 1, 1, 0.3).replace("density = 7.85e-9;", "")
    for text, more, said in ((no_density, ["--modes", "2"], "material.density"),
                             (bar(4, 1, 1, 0.3), ["--modes", "0"], "--modes"),
                             (bar(4, 1, 1, 0.3), ["--modes", "25"], "24"),
                             (bar(4, 1, 1, 0.3), [], "no load")):
        code, out = refusal(hextop, text, *more)
        check(code == 2 and said in out, f"{' '.join(more) or 'without modes'}: {out.strip().splitlines()[-1]}")


# --- CalculiX ---

SCENE = """
material = { E = 70000.0; nu = 0.33; density = 2.7e-9; };
supports = ( { set = "held"; fix = "xyz"; } );
sets = ( { name = "held"; box = { min = [-0.1, -0.1, -0.1]; max = [0.1, 99.0, 99.0]; }; },
         { name = "end"; box = { min = [END.0, -0.1, -0.1]; max = [END.0, 99.0, 99.0]; }; } );
loads = ( { set = "end"; node_force = [0.0, 0.0, -40.0]; } );
optimization = { volume_fraction = 0.5; filter = { kind = "none"; }; };
"""


def calculix_frequencies(job, n):
    """Frequencies of a job whose static step becomes *FREQUENCY, by name without .inp."""
    text = ccx.read(job + ".inp")
    text = text.replace("*SOLID SECTION", "*DENSITY\n2.7E-9\n*SOLID SECTION")
    text = re.sub(r"\*STATIC\n", f"*FREQUENCY\n{n}\n", text)
    text = re.sub(r"\*CLOAD.*?(?=\*NODE PRINT)", "", text, flags=re.S)
    text = re.sub(r"\*NODE PRINT.*?(?=\*END STEP)", "", text, flags=re.S)
    write(job + ".inp", text)
    run("ccx", "-i", job)
    rows = [line.split() for line in ccx.read(job + ".dat").splitlines()]
    found = [float(row[3]) for row in rows if len(row) == 5 and row[0].isdigit()]
    return found[:n]


def compare(hextop, kind, element, size, n):
    """Frequencies by hextop and by CalculiX of a distorted box of these cells, `size` per direction and of edge 6 /
    size[0]."""
    name = f"{kind}_{element}_{size[0]}"
    ccx.write_box(name + ".vtk", kind, size, 0.12)
    scene = f'mesh = {{ file = "{name}.vtk"; }};\n' + SCENE.replace("END", str(size[0]))
    write("job.cfg", scene)
    run(hextop, "-q", "mesh", "job.cfg", name + ".inp", "solver.element=" + element)
    theirs = calculix_frequencies(name, n)
    ours = frequencies(analyse(hextop, scene, n, "solver.element=" + element))
    check(len(theirs) == n, f"{name}: {len(theirs)} frequencies by CalculiX")
    return [(a - b) / b for a, b in zip(ours, theirs)]


def check_calculix(hextop):
    for kind, element, size in (("hexahedra", "linear", (6, 3, 2)), ("hexahedra", "quadratic", (6, 2, 1))):
        off = compare(hextop, kind, element, size, 6)
        check(max(map(abs, off)) <= 1e-6, f"{kind}, {element}, distorted: {max(map(abs, off)):.1e} from CalculiX")
    coarse, fine = (compare(hextop, "tetrahedra", "quadratic", (n, n // 3, n // 3), 3) for n in (6, 12))
    check(max(map(abs, fine[:2])) <= 1e-5, f"tet10: {max(map(abs, fine[:2])):.1e} from CalculiX")
    for a, b in zip(coarse, fine):
        check(a < b < 0.0 and 8.0 < a / b < 32.0, f"tet10: {a:.2e}, at half the size {b:.2e}")


def main():
    hextop = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_bars(hextop)
        check_square(hextop)
        check_free(hextop)
        check_refusals(hextop)
        if shutil.which("ccx"):
            check_calculix(hextop)
        else:
            print("no ccx: CalculiX's frequencies are left out")
        os.chdir("/")
    return ccx.finish()


if __name__ == "__main__":
    sys.exit(main())
