#!/usr/bin/env python3
"""Random configs: each is run, changed in ways that must not change the answer and run again, and compared with a second
finite-element program (second_fe.py).

    random_configs.py BUILD [--configs N] [--seed S] [--jobs J] [--only I] [--keep DIR] [--checks A,B,...] [--all]

BUILD is a build folder, or the program. A config is drawn from the seed and its number only (draw.py), so that
`--seed S --only I` repeats one. Each is checked by `second` and `balance` and by a few of the other checks, drawn too
(--all: by all of them). A difference beyond its bound is printed with both values, and the folder with both configs is
kept in DIR (default: a temporary folder, printed). Bounds follow from solver.tolerance and from the norms of K and of its
inverse, which the second program estimates.

Exit status 0: no difference, 1: differences, 77: skipped (numpy or scipy is missing)."""

import argparse
import collections
import concurrent.futures
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
for variable, value in (("OMPI_MCA_mpi_yield_when_idle", "1"), ("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_btl_vader_single_copy_mechanism", "none")):
    os.environ.setdefault(variable, value)  # processes yield while they wait; shared memory without a search for networks
try:
    import numpy as np
    import scipy.sparse as sp

    import draw
    import second_fe
except ImportError as missing:
    # Debian's packages belong to the system's Python, which may not be the first one in PATH.
    SYSTEM = "/usr/bin/python3"
    if os.path.exists(SYSTEM) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(SYSTEM, [SYSTEM] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-numpy, python3-scipy)")
    sys.exit(77)

HEXTOP = ""
TOLERANCE = 1e-11  # solver.tolerance of every config
MPIRUN = ["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe"]


class Refused(Exception):
    """The program refused a config (exit status 2)."""


class Broken(Exception):
    """The program ended in an unexpected way."""


class Part:
    """A config as drawn or changed, in its own folder: mesh.vtk, part.cfg and the results."""

    def __init__(self, folder, config, grid, shuffle=None):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.config, self.grid = folder, copy.deepcopy(config), grid
        self.config["output"] = dict(self.config["output"], directory=self.path("out"), format="ascii")
        self.node, self.cell = draw.write_vtk(self.path("mesh.vtk"), grid, shuffle)
        self.write()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self):
        with open(self.path("part.cfg"), "w", encoding="ascii") as f:
            f.write(draw.text(self.config))

    def call(self, *words, start=()):
        command = [*start, HEXTOP, "-q", *words]
        with open(self.path("commands"), "a", encoding="utf-8") as f:
            f.write(" ".join(command) + "\n")
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=300)
        except subprocess.TimeoutExpired as late:
            raise Broken("no end within 300 s: " + " ".join(command)) from late
        if done.returncode == 2 and "error:" in done.stderr:
            raise Refused(done.stderr.strip().split("error: ")[1].split("\n")[0].replace(self.folder + "/", ""))
        if done.returncode != 0:
            raise Broken("exit status %d: %s\n%s" % (done.returncode, " ".join(command), done.stderr[-500:]))
        return done.stderr

    def analyse(self, name="whole", density=None, words=()):
        """[Answer] of all load cases."""
        out, vtk = self.path(name + ".json"), self.path(name + ".vtk")
        extra = []
        if density is not None:
            draw.write_vtk(self.path(name + "_density.vtk"), self.grid, density=density)
            extra = ["--density", self.path(name + "_density.vtk")]
        self.call("analyse", self.path("part.cfg"), "--output", out, "--vtk", vtk, *extra, *words)
        with open(out, encoding="utf-8") as f:
            said = json.load(f)
        fields = second_fe.read_vtk(vtk)[1]
        self.volume = said["volume"]
        heat = "physics" in self.config
        answers = []
        for i, case in enumerate(said["cases"]):
            u = fields[("temperature" if heat else "displacement") + ("" if i == 0 else "_%d" % (i + 1))]
            answers.append(Answer(case, u.reshape(len(self.node), -1)[self.node], heat))
        return answers

    def run(self, iterations, words=(), start=(), sensitivity=False):
        """(rows of history.csv as dicts of text, density of each cell of the result, sensitivity or None)."""
        self.call("run", self.path("part.cfg"), "optimization.iterations=%d" % iterations,
                  "optimization.kkt_tolerance=0.0", "--force" if "--resume" not in words else "-q",
                  *words, start=start)
        with open(self.path("out/history.csv"), encoding="ascii") as f:
            lines = f.read().split()
        rows = [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]
        if "output.format=binary" in words:
            return rows, None, None
        with open(self.path("out/summary.json"), encoding="utf-8") as f:
            self.result = json.load(f)["result_iteration"]  # not the last one if a limit is missed
        fields = second_fe.read_vtk(self.path("out/density_%04d.vtk" % self.result))[1]
        return rows, fields["density"][self.cell], fields["sensitivity"][self.cell] if sensitivity else None


class Answer:
    """A load case from the output of `hextop analyse`."""

    def __init__(self, case, u, heat):
        self.compliance, self.u, self.imbalance = case["compliance"], u, case["imbalance"]
        self.strain_energy = case["half_dissipation"] if heat else case["strain_energy"]

        def six(entry):
            if heat:
                return np.array([entry["heat"]])
            return np.array(entry["force"] + entry["moment"])
        self.peak = case["largest"]["heat_flux" if heat else "von_mises"]["value"]
        self.loads, self.reactions = six(case["loads"]), six(case["reactions"])
        self.springs = six(case["spring_forces"]) if "spring_forces" in case else None


class Bounds:
    """Bounds of the difference of a load case: from the solver's tolerance and from rounding in K."""

    def __init__(self, model, case):
        size = max(np.linalg.norm(case.u), 1e-300)
        condition = model.largest * model.inverse
        tolerance = 20 * TOLERANCE + 1e-11 + 1e-15 * condition
        self.compliance = tolerance * size * max(case.rhs, np.linalg.norm(case.total)) + 1e-10 * abs(case.compliance)
        # for loads that cancel on a rigid set, rounding is all that remains
        self.u = model.inverse * (20 * TOLERANCE * case.rhs + 1e-14 * np.linalg.norm(case.total)) + (1e-10 + 1e-15 * condition) * size
        self.force = 1e-8 * (case.rhs + np.linalg.norm(case.reaction) + np.linalg.norm(case.total)) * np.sqrt(len(case.u))
        self.peak = self.u / np.linalg.norm(np.ptp(model.x, axis=0)) * model.modulus().max()
        self.lever = 1 + np.abs(model.x).max()


class Trial:
    """One config: the drawn values, its folder, and the differences found."""

    def __init__(self, seed, number, folder):
        self.name = "%d-%d" % (seed, number)
        self.folder, self.found = os.path.join(folder, self.name), []
        self.draw = draw.Draw(self.name, HEXTOP)
        self.rng = np.random.default_rng([seed, number])
        self.done, self.refused = collections.Counter(), None
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, check, what, got, wanted, bound):
        self.found.append("%s: %s is %.12g, not %.12g: %.2g off, beyond %.2g" % (check, what, got, wanted, abs(got - wanted), bound))

    def near(self, check, what, got, wanted, bound):
        got, wanted = np.atleast_1d(np.asarray(got, float)).ravel(), np.atleast_1d(np.asarray(wanted, float)).ravel()
        off = np.abs(got - wanted) - bound
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        self.done["comparisons"] += 1
        if not off[worst] <= 0:
            self.say(check, what + (" [%d]" % worst if len(got) > 1 else ""), got[worst], wanted[worst], np.atleast_1d(bound)[-1])

    def start(self):
        """The config itself; without linked variables or passive elements if these are refused on this mesh."""
        d = self.draw
        for words in ((), ("constraints", ), ("symmetry", "extrusion", "repetition"), ("passive", )):
            for word in words:
                d.config["optimization"].pop(word, None)
                d.config.pop("passive" if word == "passive" else "", None)
            d.ties &= "symmetry" not in words
            try:
                self.part = Part(self.folder + "/base", d.config, d.grid)
                self.base = self.part.analyse()
                self.volume = self.part.volume
                break
            except Refused as why:
                self.refused = str(why)
        else:
            return False
        self.refused = None
        mesh = second_fe.Mesh(d.grid.points, d.grid.cells, {name: ("cells", members) for name, members in d.grid.sets.items()},
                              d.grid.middles)
        self.model = second_fe.Model(second_fe.parse(draw.text(d.config)), mesh)
        self.cases = self.model.solve()
        self.bounds = [Bounds(self.model, case) for case in self.cases]
        return True

    # Checks

    def same(self, check, answers, change=None, factor=1.0):
        """Compares answers of a changed config with those of the base; factor: of the loads."""
        c = change or draw.Change()
        F, L = c.force * factor, c.length
        heat = self.draw.heat
        for i, (a, b, bound) in enumerate(zip(answers, self.base, self.bounds)):
            unit = F * (c.temperature if heat else L) * factor
            case = "case %d, " % (i + 1)
            self.near(check, case + "compliance", a.compliance / unit, b.compliance, bound.compliance)
            self.near(check, case + "strain energy", a.strain_energy / unit, b.strain_energy, bound.compliance)
            if heat:
                self.near(check, case + "temperatures", a.u / (c.temperature * factor), b.u, bound.u)
                self.near(check, case + "reactions", a.reactions / F, b.reactions, bound.force)
                continue
            back = a.u @ c.R / (L * factor)
            self.near(check, case + "displacements", back, b.u, bound.u)
            for what in ("loads", "reactions", "springs"):
                x, y = getattr(a, what), getattr(b, what)
                if y is None:
                    continue
                force = c.R.T @ x[:3] / F
                moment = c.sign * (c.R.T @ (x[3:] - np.cross(c.shift, x[:3]))) / (F * L)
                far = np.linalg.norm(c.shift) / L + 1
                self.near(check, case + what + ", force", force, y[:3], bound.force)
                self.near(check, case + what + ", moment", moment, y[3:], bound.force * bound.lever * far)

    def changed(self, name, change, shuffle=None):
        d = self.draw
        return Part(self.folder + "/" + name, change.config(d.config), change.grid(d.grid), shuffle)

    def turn(self, reflect=False):
        """A rotation (any, if the config's keys allow it) or a reflection."""
        rng = self.rng
        if self.draw.turns and rng.random() < 0.7:
            R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        else:
            R = np.eye(3)[rng.permutation(3)] * rng.choice((-1.0, 1.0), 3)
        if (np.linalg.det(R) < 0) != reflect:
            R = -R
        return R

    def draw_change(self, name):
        if name == "turned":
            return draw.Change(R=self.turn())
        if name == "moved":
            return draw.Change(shift=self.rng.uniform(-30, 30, 3))
        if name == "mirrored":
            return draw.Change(R=self.turn(True))
        heat = self.draw.heat
        return draw.Change(length=10**self.rng.uniform(-3, 3), force=10**self.rng.uniform(-3, 3),
                           time=1.0 if heat else 10**self.rng.uniform(-2, 2), temperature=10**self.rng.uniform(-1, 1) if heat else 1.0)

    def check_shuffled(self):
        part = Part(self.folder + "/shuffled", self.draw.config, self.draw.grid, self.rng)
        self.same("shuffled", part.analyse())

    def check_changed(self, name):
        change = self.draw_change(name)
        self.same(name, self.changed(name, change).analyse(), change)

    def scaled(self, factor):
        """Multiplies all loads, prescribed displacements and temperatures by a factor."""
        c = copy.deepcopy(self.draw.config)
        c["loads"] = tuple(self.times(e, factor) for e in c["loads"])
        for e in c.get("supports", ()):
            if "value" in e:
                e["value"] = [factor * v for v in e["value"]]
            if "temperature" in e:
                e["temperature"] *= factor
        for e in c.get("convection", ()):
            e["ambient"] *= factor
        for e in c["optimization"].get("constraints", ()):
            e["max"] *= factor
        return c

    @staticmethod
    def times(entry, factor):
        out = dict(entry)
        for key, value in entry.items():
            if key == "centrifugal":
                out[key] = dict(value, speed=value["speed"] * np.sqrt(factor))
            elif key not in ("set", "case", "point", "coupling"):
                out[key] = [factor * v for v in value] if isinstance(value, list) else factor * value
        return out

    def check_doubled(self):
        self.same("doubled", Part(self.folder + "/doubled", self.scaled(2.0), self.draw.grid).analyse(), factor=2.0)

    def halves(self):
        """Splits every load into two that sum to it; the loads of a rigid set are one load."""
        c, loads = copy.deepcopy(self.draw.config), []
        for e in c["loads"]:
            share = self.rng.uniform(0.2, 0.8)
            loads += [e] if "coupling" in e else [self.times(e, share), self.times(e, 1 - share)]
        self.rng.shuffle(loads)
        c["loads"] = tuple(dict(e) for e in loads)
        return c

    def check_split(self):
        self.same("split", Part(self.folder + "/split", self.halves(), self.draw.grid).analyse())

    def check_solver(self):
        d, rng = self.draw, self.rng
        words = ["solver.operator=" + str(rng.choice(d.operators())), "solver.preconditioner=" + str(rng.choice(d.preconditioners()))]
        if words[0].endswith("otf") and not d.rigid and words[1].endswith("=jacobi") and not d.quadratic:
            words.append("solver.precision=mixed")
        words.append("solver.threads=%d" % rng.integers(1, 4))
        if rng.random() < 0.5:
            words.append("mesh.shuffle=%d" % rng.integers(1, 1000))
        if rng.random() < 0.2:
            words.append("mesh.reorder=false")
        self.same("solver (%s)" % " ".join(words), self.part.analyse("solver", words=words))

    def check_converted(self):
        """Reads the mesh that `hextop mesh` writes in another format."""
        if self.draw.grid.middles:
            return  # no writer supports quadratic cells
        part = Part(self.folder + "/converted", self.draw.config, self.draw.grid)
        name = str(self.rng.choice(("mesh.msh", "mesh.inp", "other.vtk")))
        part.call("mesh", part.path("mesh.vtk"), part.path(name))
        part.config["mesh"] = {"file": name}
        part.write()
        self.same("converted to " + name, part.analyse())

    def random_density(self):
        d, o = self.draw, self.draw.config["optimization"]
        rho = self.rng.uniform(o["rho_min"], 1.0, len(d.grid.cells))
        return rho

    def check_second(self):
        """Compares compliance, energies, displacements and sums of forces; K, loads and prescribed unknowns entry by
        entry."""
        self.against("second", self.base, self.model, self.cases, self.bounds)
        d = self.draw
        # With passive elements, the largest value over solid elements is printed; the points of linear wedges depend on
        # their numbering.
        if "passive" not in d.config and (d.quadratic or "wedge6" not in self.model.kinds):
            for i, (a, b, bound) in enumerate(zip(self.base, self.cases, self.bounds)):
                peak = self.model.von_mises(b.u)
                self.near("second", "largest stress or flux of case %d" % (i + 1), a.peak, peak, 1e-7 * peak + 1e3 * bound.peak)
        if not d.grid.middles:  # the volume is that of straight cells
            volume = self.model.density @ self.model.volume
            self.near("second", "volume", self.volume, volume, 1e-9 * volume)
        rho = self.random_density()
        mesh = self.model.mesh
        model = second_fe.Model(second_fe.parse(draw.text(d.config)), mesh, rho)
        cases = model.solve()
        bounds = [Bounds(model, case) for case in cases]
        self.against("second, grey", self.part.analyse("grey", model.density, ["--preserve", "none"]), model, cases, bounds)
        if not d.rigid:
            self.entries(model, cases)

    def against(self, check, answers, model, cases, bounds):
        for i, (a, b, bound) in enumerate(zip(answers, cases, bounds)):
            case = "case %d, " % (i + 1)
            self.near(check, case + "compliance", a.compliance, b.compliance, bound.compliance)
            self.near(check, case + "strain energy", a.strain_energy, b.strain_energy, bound.compliance)
            self.near(check, case + "unknowns", a.u, b.u.reshape(model.n, -1)[:len(a.u)], bound.u)
            self.near(check, case + "reactions", a.reactions, b.reactions, bound.force * bound.lever)
            self.near(check, case + "loads", a.loads, b.loads, bound.force * bound.lever)
            if a.springs is not None and not model.heat:
                self.near(check, case + "springs", a.springs, b.springs, bound.force * bound.lever)

    def entries(self, model, cases):
        names = [self.part.path(n) for n in ("K.npz", "f.npz", "held.npz")]
        self.part.call("matrix", self.part.path("part.cfg"), "-o", names[0], "--rhs", names[1], "--fixed", names[2],
                       "--density", self.part.path("grey_density.vtk"))
        K, f, held = sp.load_npz(names[0]), np.load(names[1])["f"], np.load(names[2])
        self.near("second, entries", "largest difference of K", abs(K - model.K).max(), 0.0, 1e-13 * abs(model.K).max())
        for i, case in enumerate(cases):
            self.near("second, entries", "loads of case %d" % (i + 1), f[:, i], case.total, 1e-12 * np.abs(case.total).max() + 1e-15 * model.largest)
        mine = model.supports()[0]
        value = np.full(len(f), 1e300)
        value[held["index"]] = held["value"]
        wanted = np.full(len(f), 1e300)
        wanted[list(mine)] = list(mine.values())
        # temperatures are stored above the reference, which causes two roundings
        self.near("second, entries", "held unknowns", value, wanted, 1e-15 + 4e-16 * max(map(abs, mine.values()), default=0.0))

    def check_balance(self):
        d = self.draw
        for i, (a, bound) in enumerate(zip(self.base, self.bounds)):
            case = "case %d, " % (i + 1)
            self.near("balance", case + "sum of forces over their size", a.imbalance, 0.0, 1e-7)
            if d.heat:
                continue
            total = a.loads + a.reactions + (0 if a.springs is None else a.springs)
            self.near("balance", case + "forces", total[:3], 0.0, bound.force)
            self.near("balance", case + "moments", total[3:], 0.0, bound.force * bound.lever)
            if not d.displaced and not d.expands and "springs" not in d.config:
                self.near("balance", case + "twice the strain energy", 2 * a.strain_energy, a.compliance, bound.compliance)

    # Checks of designs

    def limits(self):
        return (2e-5, 2e-4) if "projection" in self.draw.config["optimization"] else (1e-6, 1e-5)

    def design(self):
        """Runs three designs of the base, once."""
        if not hasattr(self, "designs"):
            self.designs = self.part.run(3)
            self.result = next(row for row in self.designs[0] if int(row["iteration"]) == self.part.result)
        return self.designs

    def same_design(self, check, got, unit=1.0, energy=0.0):
        """energy: tolerance of the compliance; its square root is the tolerance of displacements and sensitivities."""
        rows, density, _ = got
        compliance, change = self.limits()
        if self.draw.expands:  # the compliance may be small beside the energy, so errors of the design show in it
            compliance = max(compliance, np.sqrt(energy))
        change = max(change, 2 * np.sqrt(energy))
        for mine, base in zip(rows, self.design()[0]):
            wanted = float(base["compliance"])
            self.near(check, "compliance of design " + base["iteration"], float(mine["compliance"]) / unit, wanted, compliance * abs(wanted))
        if density is not None:
            self.near(check, "last densities", density, self.design()[1], change)

    def check_design_shuffled(self):
        self.same_design("design, shuffled", Part(self.folder + "/design_shuffled", self.draw.config, self.draw.grid, self.rng).run(3))

    def check_design_changed(self, name):
        change = self.draw_change(name)
        unit = change.force * (change.temperature if self.draw.heat else change.length)
        self.same_design("design, " + name, self.changed("design_" + name, change).run(3), unit)

    def check_design_doubled(self):
        self.same_design("design, doubled", Part(self.folder + "/design_doubled", self.scaled(2.0), self.draw.grid).run(3), 4.0)

    def check_design_split(self):
        """Splits the loads in two, then each load case into two that share its weight."""
        c = self.halves()
        n = max(e["case"] for e in c["loads"])
        w = list(c.get("weights", [1.0] * n))
        k = int(self.rng.integers(1, n + 1))
        if not self.draw.rigid:
            share = self.rng.uniform(0.2, 0.8)
            c["loads"] += tuple(dict(e, case=n + 1) for e in c["loads"] if e["case"] == k)
            c["weights"] = w + [w[k - 1] * share]
            c["weights"][k - 1] *= 1 - share
        self.same_design("design, split", Part(self.folder + "/design_split", c, self.draw.grid).run(3))

    def check_design_solver(self):
        d, rng = self.draw, self.rng
        words = ["solver.operator=" + str(rng.choice(d.operators())), "solver.preconditioner=" + str(rng.choice(d.preconditioners())),
                 "solver.warm_start=" + str(rng.choice(("true", "false"))), "solver.threads=%d" % rng.integers(1, 3)]
        energy = 1e-10 if rng.random() < 0.25 else 0.0
        if energy > 0:
            words += ["solver.criterion=compliance", "solver.tolerance=%g" % energy]
        part = Part(self.folder + "/design_solver", d.config, d.grid)
        self.same_design("design, solver (%s)" % " ".join(words), part.run(3, words), energy=energy)

    def check_design_read(self):
        """The result, read from its file by `analyse` and by the second program, has the compliance that `run`
        printed."""
        density = self.design()[1]
        c = copy.deepcopy(self.draw.config)
        c["optimization"]["penalty"] = float(self.result["penalty"])
        weights = c.get("weights", [1.0] * len(self.base))
        found = self.part.analyse("last", density, ["--preserve", "none", "optimization.penalty=" + self.result["penalty"]])
        c.pop("passive", None)  # the densities include these already
        cases = second_fe.Model(second_fe.parse(draw.text(c)), self.model.mesh, density).solve()
        wanted = float(self.result["compliance"])
        bound = 1e-8 * sum(w * abs(b.compliance) for w, b in zip(weights, cases)) + sum(b.compliance for b in self.bounds)
        self.near("design, read", "compliance by analyse", sum(w * a.compliance for w, a in zip(weights, found)), wanted, bound)
        self.near("design, read", "compliance by the second program", sum(w * b.compliance for w, b in zip(weights, cases)), wanted, bound)

    def check_processes(self):
        if not shutil.which("mpirun"):
            return
        part = Part(self.folder + "/processes", self.draw.config, self.draw.grid)
        words = [] if self.rng.random() < 0.5 else ["mesh.in_parts=always", "output.format=binary"]
        try:
            self.same_design("two processes " + " ".join(words), part.run(3, words, start=MPIRUN))
        except Refused as why:  # features that a distributed run does not support are refused by name
            if not words:
                raise
            self.done["refused in parts"] += 1
            self.whole_mesh = str(why)

    def check_resumed(self):
        """Stopped after two designs and resumed: every bit equals that of four designs without a stop."""
        whole = Part(self.folder + "/at_once", self.draw.config, self.draw.grid).run(4)
        part = Part(self.folder + "/resumed", self.draw.config, self.draw.grid)
        part.run(2, ["output.checkpoint=1e-9"])
        rows, density, _ = part.run(4, ["--resume"])
        for mine, base in zip(rows, whole[0]):
            for key in ("compliance", "volume", "change"):
                if mine[key] != base[key]:
                    self.say("resumed", key + " of design " + base["iteration"], float(mine[key]), float(base[key]), 0.0)
        if len(rows) != 4 or not np.array_equal(density, whole[1]):
            self.say("resumed", "densities", np.abs(density - whole[1]).max(), 0.0, 0.0)

    def check_derivatives(self):
        """Compares the sensitivities that a run writes with differences of its compliance, along a random direction."""
        c, grid = copy.deepcopy(self.draw.config), self.draw.grid
        o = c["optimization"]
        for key in ("symmetry", "extrusion", "repetition", "continuation", "constraints"):
            o.pop(key, None)
        if o["filter"]["kind"] == "sensitivity":
            o["filter"] = {"kind": "none"}
        o["initial"] = "design.vtk"
        c["output"]["fields"] = ("density", "sensitivity")
        rho = self.rng.uniform(0.35, 0.9, len(grid.cells))
        along = self.rng.uniform(0, 1, len(grid.cells))
        for e in c.get("passive", ()):
            if "skin" in e:
                c.pop("passive")
                break
            members = sorted(grid.sets[e["set"]])
            rho[members], along[members] = e["density"], 0.0
        part = Part(self.folder + "/derivatives", c, grid)

        def value(design):
            draw.write_vtk(part.path("design.vtk"), grid, density=design)
            rows, _, slope = part.run(1, sensitivity=True)
            return float(rows[0]["compliance"]), slope
        h = 1e-4
        middle, slope = value(rho)
        ends = [value(rho + s * h * along)[0] for s in (1, -1, 2, -2)]
        difference = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)  # of fourth order
        size = np.abs(slope) @ along
        if self.draw.expands:  # terms of both signs
            size += np.abs(np.array(ends)).max()
        rounding = 3e-12 * max(abs(v) for v in ends) / h + sum(b.compliance for b in self.bounds) / h * 1e-3
        # the fourth difference of a smooth function is of order h^4, so what remains is noise of the solves, 8 times
        # that of a value
        noise = abs(ends[2] + ends[3] - 4 * (ends[0] + ends[1]) + 6 * middle)
        self.near("derivatives", "sensitivity along a direction", slope @ along, difference, 2e-6 * size + rounding + noise / h / 2)

    CHECKS = {"shuffled": 3, "turned": 2, "moved": 1, "mirrored": 2, "units": 1.5, "doubled": 1, "split": 2, "solver": 3, "converted": 1.5, "design_shuffled": 2,
              "design_turned": 1, "design_moved": 0.7, "design_mirrored": 0.7, "design_units": 0.7, "design_doubled": 0.7, "design_split": 1.5,
              "design_solver": 1.5, "design_read": 2, "processes": 0.7, "resumed": 1.5, "derivatives": 2.5}

    def perform(self, name):
        if name.startswith("design_") or name in ("processes", "resumed", "derivatives"):
            try:
                self.design()
            except Refused as why:  # only `run` finds a volume that no design can have
                self.refused = "run: " + str(why)
                return None
        if hasattr(self, "check_" + name):
            return getattr(self, "check_" + name)()
        is_design, _, change = name.rpartition("_")
        return self.check_design_changed(change) if is_design else self.check_changed(change)

    def all(self, chosen, few):
        if not self.start():
            return
        names, odds = list(self.CHECKS), np.array(list(self.CHECKS.values()))
        if chosen:
            names = [n for n in chosen if n in names]
        elif few:
            names = list(self.rng.choice(names, few, replace=False, p=odds / odds.sum()))
        for name in ["second", "balance"] * (not chosen or "second" in chosen) + names:
            self.done[name] += 1
            try:
                self.perform(str(name))
            except Refused as why:
                self.found.append("%s: refused, and the config as drawn is not: %s" % (name, why))
            except Broken as why:
                self.found.append("%s: %s" % (name, why))


def used(config):
    """Names of the sets with loads or supports."""
    for key in ("supports", "springs", "convection", "loads", "passive"):
        for entry in config.get(key, ()):
            yield entry.get("set", "")


def trial(job):
    seed, number, folder, chosen, few, keep = job
    t = None
    try:
        t = Trial(seed, number, folder)
        t.all(chosen, few)
        found = t.found
    except Broken as why:
        found = [str(why)]
    except Exception:  # pylint: disable=broad-except
        found = ["this test failed: " + traceback.format_exc()]
    d = t.draw if t else None
    what = "" if d is None else " ".join(["quadratic" if d.quadratic else "linear", d.part.kind, "heat" if d.heat else "elasticity",
                                         "ring" if d.part.ring else "box"] + (["unions"] if "+" in str(list(used(d.config))) else []) +
                                        (["ties"] if d.ties else []) + (["curved"] if d.part.curved else []) + (["expansion"] if d.expands else []) + (["limit"] if d.limited else []))
    if t and not found and not keep:
        shutil.rmtree(t.folder, ignore_errors=True)
    return number, what, found, t.refused if t else None, t.done if t else {}


def main():
    global HEXTOP
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--configs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="numbers of configs, with commas between them")
    parser.add_argument("--keep")
    parser.add_argument("--checks", default="")
    parser.add_argument("--few", type=int, default=4, help="checks a config, besides `second` and `balance`")
    parser.add_argument("--lines", type=int, default=12, help="differences printed per config")
    parser.add_argument("--all", action="store_true", help="all checks on every config")
    o = parser.parse_args()
    HEXTOP = os.path.abspath(o.build if os.path.isfile(o.build) else os.path.join(o.build, "app", "hextop"))
    folder = os.path.abspath(o.keep) if o.keep else tempfile.mkdtemp(prefix="hextop_random_")
    numbers = [int(n) for n in o.only.split(",")] if o.only else range(o.first, o.first + o.configs)
    jobs = [(o.seed, n, folder, [c for c in o.checks.split(",") if c], 0 if o.all else o.few, o.only is not None and bool(o.keep)) for n in numbers]
    began, failed, refused, done = time.time(), 0, collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(o.jobs) if o.jobs > 1 else concurrent.futures.ThreadPoolExecutor(1) as pool:
        for number, what, found, why, count in pool.map(trial, jobs):
            done.update(count)
            if why:
                refused[re.sub(r"[0-9.]+", "N", why)[:110]] += 1
            if found:
                failed += 1
                print("config %d-%d (%s); again: %s %s --seed %d --only %d --all --keep DIR\n    files: %s/%d-%d" %
                      (o.seed, number, what, sys.argv[0], o.build, o.seed, number, folder, o.seed, number))
                print("".join("    %s\n" % line for line in found[:o.lines]), end="", flush=True)
                if len(found) > o.lines:
                    print("    ... and %d more" % (len(found) - o.lines), flush=True)
    for why, n in refused.most_common():
        print("refused, %d: %s" % (n, why))
    print("checks: " + ", ".join("%s %d" % item for item in sorted(done.items())))
    print("%d configs (seed %d), %d refused, %d with differences, %.0f s" % (len(jobs), o.seed, sum(refused.values()), failed, time.time() - began))
    if not failed and not o.keep:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
