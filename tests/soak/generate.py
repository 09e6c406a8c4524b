#!/usr/bin/env python3
"""Draws random configs for soak.c: meshes, loads, filters, operators, physics, elements; among them input that must be
refused and runs that are stopped.
    generate.py HEXTOP SRCDIR FOLDER SEED [N [MOST]]     N configs (40) of at most about MOST elements (16000)
Writes each config and its mesh to FOLDER, and `list` with one line per session and fields separated by tabs:
    name  config  kind  device  exact  text  KEY=VALUE ...
kind is run, pieces (one iteration per call), stop (the callback stops it, then it is closed), resume (stopped, then
continued to the end), nested (the session of the next line runs within its callback), beside (the session of the next
line runs concurrently in another thread) or refused (the message contains `text`); device is "" or the required
device; exact is bits or rounding: how a second run may differ. For a CPU, `fast` has the same sessions with multigrid
and the fastest operator, and `twins` with other operators, preconditioners and numbers of threads than drawn."""
import os
import random
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import kinds
from meshes import from_tree, generated, vector, written

SINGLE = ("sym32", "bsr32")  # store the stiffness in single precision: the design differs by about 1e-7
MIXED = ("otf", "dedup", "voxels")  # have a product in single precision, for mixed precision


def pick(rng, odds):
    """A key drawn from {key: odds}."""
    return rng.choices(list(odds), list(odds.values()))[0]


def force(rng, size=1.0):
    return vector([size * rng.uniform(-1, 1) for _ in range(3)])


class Draw:
    """One config: its entries by group, drawn at random."""

    def __init__(self, rng, part, program):
        self.rng, self.part, self.program = rng, part, program
        self.unordered = [k for k in kinds.unordered(program) if k not in SINGLE]  # a GPU adds in any order
        self.heat = part.heat and rng.random() < 0.25
        self.quadratic = part.elements < 600 and rng.random() < 0.4
        self.rigid = self.mass = self.coarse = False
        self.sets = [part.sets] if part.sets else []
        k = 2 * rng.randrange(len(part.sides) // 2)  # supported here, loaded at the other side
        self.held, self.loaded = part.sides[k : k + 2] if rng.random() < 0.5 else part.sides[k + 1 : k - 1 if k else None : -1]
        self.cases = rng.choice((1, 1, 2, 3))
        self.top, self.groups = [], []
        self.supports() if not self.heat else self.sinks()
        loads = [(self.heat_load if self.heat else self.load)(case) for case in range(1, self.cases + 1)]
        loads += [(self.heat_load if self.heat else self.load)(rng.randint(1, self.cases)) for _ in range(rng.choice((0, 0, 1)))]
        self.top.append("loads = ( %s );" % ",\n          ".join(loads))
        if self.cases > 1 and rng.random() < 0.5:
            self.top.append("weights = %s;" % vector([rng.uniform(0.3, 2) for _ in range(self.cases)]))
        self.passive()
        self.optimization()
        self.solver()

    def supports(self):
        rng = self.rng
        how = pick(rng, {"fix": 6, "springs": 2, "displaced": 1, "both": 1})
        springs = vector([rng.uniform(0.5, 5) for _ in range(3)])
        if how in ("springs", "both"):
            per = rng.choice(("total", "node", "area"))
            set_ = self.held if how == "springs" or self.held != self.part.sides[0] else self.loaded
            self.top.append('springs = ( { set = "%s"; stiffness = %s; per = "%s"; } );' % (set_, springs, per))
        if how == "springs":
            return
        entries = ['{ set = "%s"; fix = "xyz"; }' % self.held]
        if how == "displaced":
            fix = rng.choice("xyz")
            value = vector([rng.uniform(-0.1, 0.1) if c == fix else 0.0 for c in "xyz"])
            entries.append('{ set = "%s"; fix = "%s"; value = %s; }' % (self.loaded, fix, value))
            self.displaced = True
        self.top.append("supports = ( %s );" % ", ".join(entries))

    def load(self, case):
        rng, part = self.rng, self.part
        point = vector([m + rng.uniform(-1, 1) * s for m, s in zip(part.middle, part.size)])
        kinds = {"node_force": 2, "total_force": 3, "traction": 2, "pressure": 2, "remote": 2, "moment": 1,
                 "gravity": 1, "centrifugal": 1}
        if not hasattr(self, "displaced") and not self.rigid and "springs" not in "".join(self.top):
            kinds["rigid"] = 1.5
        bores = [bore for bore in part.bores if bore[0] == self.loaded]
        if bores:
            kinds["bearing"] = 6
        kind = pick(rng, kinds)
        where = 'set = "%s"; ' % self.loaded
        if kind == "bearing":
            set_, middle, axis, across = rng.choice(bores)
            f = [0.0, 0.0, 0.0]
            for c in across:
                f[c] = rng.uniform(-1, 1)
            return '{ set = "%s"; bearing_force = %s; case = %d; }' % (set_, vector(f), case)
        if kind in ("gravity", "centrifugal"):
            self.mass = True
        text = {
            "node_force": lambda: where + "node_force = %s;" % force(rng, 0.01),
            "total_force": lambda: where + "total_force = %s;" % force(rng),
            "traction": lambda: where + "traction = %s;" % force(rng, 0.1),
            "pressure": lambda: where + "pressure = %.4f;" % rng.uniform(-0.1, 0.1),
            "remote": lambda: where + "remote_force = %s; point = %s;" % (force(rng), point),
            "moment": lambda: where + "moment = %s;" % force(rng),
            "rigid": lambda: where + 'remote_force = %s; point = %s; coupling = "rigid";' % (force(rng), point),
            "gravity": lambda: "gravity = %s;" % force(rng, 1e-3),
            "centrifugal": lambda: "centrifugal = { point = %s; axis = %s; speed = %.4f; };"
            % (vector(part.middle), vector([0.0, 0.0, 1.0]), rng.uniform(0.01, 0.1)),
        }[kind]()
        self.rigid |= kind == "rigid"
        return "{ %s case = %d; }" % (text, case)

    def sinks(self):
        rng = self.rng
        how = pick(rng, {"held": 3, "convection": 2, "both": 2})
        at = [self.held, self.loaded]
        if how != "convection":
            self.top.append('supports = ( { set = "%s"; temperature = %.1f; } );' % (at.pop(0), rng.uniform(0, 50)))
        if how != "held":
            self.top.append('convection = ( { set = "%s"; coefficient = %.3g; ambient = %.1f; } );'
                            % (at.pop(0), 10 ** rng.uniform(-2, 0), rng.uniform(0, 30)))

    def heat_load(self, case):
        rng, part = self.rng, self.part
        kind = pick(rng, {"source": 2, "block": 1, "heat": 2, "flux": 1})
        if kind == "block" and part.cells and part.elements > 300:
            return '{ set = "%s"; source = %.3g; case = %d; }' % (part.cells[0], rng.uniform(0.001, 0.1), case)
        if kind in ("source", "block"):
            return "{ source = %.3g; case = %d; }" % (rng.uniform(0.001, 0.1), case)
        return '{ set = "%s"; %s = %.3g; case = %d; }' % (self.loaded, kind, rng.uniform(0.1, 2), case)

    def passive(self):
        rng, part, entries = self.rng, self.part, []
        if part.cells and part.elements > 300 and rng.random() < 0.3:
            hole = part.cells[0] == "block" and not self.quadratic  # rings carry loads
            entries.append('{ set = "%s"; density = %s; }' % (part.cells[0], rng.choice(("1.0", "0.05")) if hole else "1.0"))
        if part.elements > 1000 and rng.random() < 0.25:
            entries.append('{ set = "%s"; skin = %.4g; }' % (self.loaded, 0.03 * max(part.size)))
        if entries:
            self.top.append("passive = ( %s );" % ", ".join(entries))

    def optimization(self):
        rng, part = self.rng, self.part
        self.iterations = rng.randint(2, 5)
        least = "0.05" if self.quadratic else rng.choice(("0.001", "0.01", "0.05"))  # jacobi must also converge
        filters = kinds.names(self.program, "Filters")
        projected = kinds.accepted(self.program, "optimization.filter.kind", filters, "optimization.projection={}")
        kind = pick(rng, {k: 1 if k == "none" else 3 for k in filters})
        lines = ["volume_fraction = %.2f; iterations = %d; move = %.2f;" % (rng.uniform(0.3, 0.6), self.iterations, rng.uniform(0.05, 0.25)),
                 "penalty = %.1f; rho_min = %s; damping = %.1f;" % (rng.uniform(2, 3 if self.quadratic else 4), least, rng.uniform(0.4, 0.6))]
        unit = rng.random()
        radius = "radius = %.2f;" % rng.uniform(1.2, 3.5)
        if unit < 0.2:
            radius = 'radius = %.4g; unit = "length";' % (max(part.size) * rng.uniform(0.08, 0.15))
        weighted = " volume_weighted = true;" if rng.random() < 0.3 and kind != "helmholtz" else ""
        lines.append('filter = { kind = "%s"; %s%s };' % (kind, radius, weighted) if kind != "none" else 'filter = { kind = "none"; };')
        if kind != "none" and kind in projected and rng.random() < 0.4:
            lines.append("projection = { eta = %.2f; beta = 1.0; beta_max = %.0f; factor = 2.0; every = %d; };"
                         % (rng.uniform(0.4, 0.6), rng.choice((4, 8)), rng.choice((1, 2, 25))))
            self.coarse = True
        if rng.random() < 0.25:
            lines.append("continuation = { penalty_start = 1.0; step = 0.5; every = %d; };" % rng.choice((1, 2)))
        self.ties(lines)
        self.groups.append("optimization = { %s };" % "\n                 ".join(lines))

    def ties(self, lines):
        rng, part = self.rng, self.part
        axis = rng.choice(part.planes) if part.planes and rng.random() < 0.3 else None
        if axis is not None:
            normal = [1.0 if i == axis else 0.0 for i in range(3)]
            lines.append("symmetry = ( { point = %s; normal = %s; } );" % (vector(part.middle), vector(normal)))
        if part.planes and rng.random() < 0.15:
            along = [0.0, 0.0, 0.0]
            along[rng.choice(part.planes)] = 1.0
            lines.append("extrusion = %s;" % vector(along))

    def bends(self):
        """Thin plates of quadratic elements: diagonal preconditioners do not converge within 10,000 iterations."""
        return self.quadratic and "michell" in self.part.mesh

    def accepted(self, key, words):
        keys = ("solver.device=cpu", ) + (("solver.element=quadratic", ) if self.quadratic else ())
        return kinds.accepted(self.program, key, words, *keys, physics="heat" if self.heat else "elasticity")

    def operators(self, names):
        """Values of solver.operator; a CPU replaces those that it lacks."""
        return self.accepted("solver.operator", names)

    def preconds(self):
        return self.accepted("solver.preconditioner", kinds.names(self.program, "Preconditioners"))

    def solver(self):
        rng = self.rng
        self.op = "auto" if rng.random() < 0.15 else rng.choice(self.operators(kinds.operators(self.program)))
        if self.quadratic and self.heat:
            self.op = rng.choice(self.operators(kinds.operators(self.program, "cpu")))
        precond = pick(rng, {"auto": 2, **{k: 3 if k == "multigrid" else 0.3 if k == "none" else 1.5 for k in self.preconds()}})
        if precond == "none" and self.part.elements > 500:
            precond = "jacobi"
        if self.bends():
            precond = "multigrid"
        self.mixed = self.op in MIXED and not self.rigid and precond in ("auto", "jacobi", "none") and rng.random() < 0.5
        self.deterministic = self.op not in [*self.unordered, "sym32"] and rng.random() < 0.4
        lines = ['operator = "%s"; preconditioner = "%s"; tolerance = %s;' % (self.op, precond, rng.choice(("1e-10", "1e-11")))]
        if self.quadratic:
            lines.append('element = "quadratic";')
        if self.mixed:
            lines.append('precision = "mixed";')
        if self.deterministic:
            lines.append("deterministic = true;")
        if rng.random() < 0.4:
            lines.append('layout = "%s";' % rng.choice(("rowmajor", "interleaved")))
        if rng.random() < 0.3:
            lines.append("threads = %d;" % rng.randint(1, 3))
        if rng.random() < 0.2:
            lines.append("warm_start = false;")
        self.precond = precond
        self.groups.append("solver = { %s };" % " ".join(lines))

    def text(self, name):
        mesh = self.part.mesh
        if self.rng.random() < 0.3:
            mesh += " shuffle = %d;" % self.rng.randrange(1, 100)
        if self.rng.random() < 0.15:
            mesh += " reorder = false;"
        material = "E = %.3g; nu = %.2f;" % (10 ** self.rng.uniform(0, 5), self.rng.uniform(0.0, 0.45))
        if self.heat:
            material = "conductivity = %.3g;" % 10 ** self.rng.uniform(-1, 2)
        elif self.mass:
            material += " density = %.3g;" % 10 ** self.rng.uniform(-3, 0)
        head = ['title = "%s";' % name, 'physics = "heat";' if self.heat else "", "mesh = { %s };" % mesh,
                "material = { %s };" % material, "sets = ( %s );" % ",\n         ".join(self.sets) if self.sets else ""]
        return "\n".join(line for line in head + self.top + self.groups if line) + "\n"

    def device(self):
        return "cpu" if self.quadratic and self.heat else ""

    def exact(self):
        """`auto` may choose another operator next time. Operators in single precision are compared with each
        other."""
        on_gpu = "bits" if self.op not in [*self.unordered, "sym32", "auto"] or self.deterministic else "rounding"
        return on_gpu + (" single" if self.op in SINGLE else "") + (" coarse" if self.coarse else "")

    def twin(self, rng):
        """Keys that change how a CPU computes, but not the result."""
        pool = self.operators(kinds.operators(self.program, "cpu"))
        preconds = [p for p in self.preconds() if p != "none"]
        if self.part.elements > 2000 or self.bends():
            preconds = ["multigrid", "auto"]
        keys = ["operator=" + rng.choice(pool), "preconditioner=" + rng.choice([p for p in preconds if p != self.precond]),
                "precision=double", "threads=%d" % rng.randint(1, 2)]
        return ["solver." + key for key in keys]

    def fast(self):
        return ["solver.operator=" + ("bsrsym" if self.quadratic else "otf"), "solver.preconditioner=multigrid",
                "solver.precision=double", "solver.threads=2"]


def refusals(source):
    """[(name, config, text, arguments)] of the tests in tests/bad that need nothing else."""
    out, folder = [], os.path.join(source, "tests/bad")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read() if name.endswith(".cfg") else ""
        expect = re.findall(r"^# expect: (.*)$", text, re.M)
        arguments = shlex.split(" ".join(re.findall(r"^# args: (.*)$", text, re.M)))
        if not expect or re.search(r"^# (needs: gpu|needs: no-gpu|exit: 1)", text, re.M):
            continue
        # options, folders and output checks that only the command has
        if any(a.startswith(("-", "output.")) for a in arguments) or "output" in name or "\t" in " ".join(arguments):
            continue
        out.append((name[:-4], path, expect[0], arguments))
    return out


def main():
    program, source, folder, seed = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    n = int(sys.argv[5]) if len(sys.argv) > 5 else 40
    most = int(sys.argv[6]) if len(sys.argv) > 6 else 16000
    rng = random.Random("soak %d" % seed)
    os.makedirs(folder, exist_ok=True)
    bad, lines, twins, fast = refusals(source), [], [], []
    for i in range(n):
        name = "%02d" % i
        limit = int(most * rng.choice((0.05, 0.2, 0.2, 0.5, 1.0)))
        make = pick(rng, {"generated": 3, "written": 3, "tree": 2})
        part = {"generated": lambda: generated(rng, limit), "written": lambda: written(rng, limit, folder, "mesh" + name),
                "tree": lambda: from_tree(rng, limit, source)}[make]()
        draw = Draw(rng, part, program)
        with open(os.path.join(folder, name + ".cfg"), "w") as f:
            f.write(draw.text(name))
        kind = pick(rng, {"run": 6, "pieces": 1, "stop": 1, "resume": 1, "nested": 1, "beside": 1}) if i + 1 < n else "run"
        line = [name, name + ".cfg", kind, draw.device(), draw.exact(), ""]
        lines.append(line)
        twins.append(line + draw.twin(rng))
        fast.append(line + draw.fast())
        if kind not in ("nested", "beside") and rng.random() < 0.5:
            what, path, text, arguments = rng.choice(bad)
            lines.append(["bad %02d %s" % (i, what), path, "refused", "any", "bits", text] + arguments)
            twins.append(lines[-1])
    for name, of in (("list", lines), ("twins", twins), ("fast", fast)):
        with open(os.path.join(folder, name), "w") as f:
            f.write("".join("\t".join(line) + "\n" for line in of))


if __name__ == "__main__":
    main()
