"""Configs drawn at random, as data: what random_configs.py changes without changing the answer.

A config is a dict (groups), with tuples for lists and lists for vectors; `text` writes it for libconfig. A mesh is points
and cells with sets of cells; `write_vtk` writes it, its nodes, cells and corners in any order. `Change` is a rotation or
reflection, a translation and other units, of the mesh and of every key that they concern."""
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import kinds  # pylint: disable=wrong-import-position

KUHN = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
RING = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
VTK = {"hex8": 12, "wedge6": 13, "pyramid5": 14, "tet4": 10}
VTK_SECOND = {"hex8": 25, "wedge6": 26, "pyramid5": 27, "tet4": 24}
# Edges in the order of VTK's quadratic cells.
EDGES = {"hex8": ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)),
         "wedge6": ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
         "pyramid5": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)),
         "tet4": ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))}
VTK_WEDGE = (0, 2, 1, 3, 5, 4)
# Rotations of each kind of cell onto itself, as permutations of its corners; products of these give the others.
TURNS = {"hex8": ((1, 2, 3, 0, 5, 6, 7, 4), (1, 5, 6, 2, 0, 4, 7, 3)), "wedge6": ((1, 2, 0, 4, 5, 3), (3, 5, 4, 0, 2, 1)),
         "pyramid5": ((1, 2, 3, 0, 4), ), "tet4": ((1, 2, 0, 3), (0, 2, 3, 1))}
MIRROR = {"hex8": (0, 3, 2, 1, 4, 7, 6, 5), "wedge6": (0, 2, 1, 3, 5, 4), "pyramid5": (0, 3, 2, 1, 4), "tet4": (0, 2, 1, 3)}


def number(value):
    if isinstance(value, (int, np.integer)):
        return "%d" % value
    word = "%.17g" % value
    return word if set(word) & set(".en") else word + ".0"


def text(value, depth=0):
    """The text of a value for libconfig."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, dict):
        inner = ["%s = %s;" % (k, text(v, depth + 1)) for k, v in value.items()]
        return "\n".join(inner) + "\n" if depth == 0 else "{ %s }" % " ".join(inner)
    if isinstance(value, tuple):
        return "( %s )" % ",\n  ".join(text(v, depth + 1) for v in value)
    if isinstance(value, (list, np.ndarray)):
        return "[%s]" % ", ".join(text(v, depth + 1) if isinstance(v, str) else number(v if isinstance(v, int) else float(v)) for v in value)
    return number(value)


def orders(kind):
    """All permutations of the corners that preserve the cell's orientation."""
    out = [tuple(range(len(MIRROR[kind])))]
    for order in out:
        for turn in TURNS[kind]:
            new = tuple(order[i] for i in turn)
            if new not in out:
                out.append(new)
    return out


ORDERS = {kind: orders(kind) for kind in TURNS}


class Grid:
    """points, cells [(kind, corners)] in the order of finite elements, sets {name: cells}; for quadratic cells, middles
    {edge: position} by the sorted ends of each edge."""

    def __init__(self, points, cells, sets, middles=None):
        self.points, self.cells, self.sets, self.middles = np.array(points, float), cells, sets, middles or {}

    def bend(self, rng, amount):
        """Edges are curved by up to this fraction of their length."""
        for kind, c in self.cells:
            for i, j in EDGES[kind]:
                edge = tuple(sorted((c[i], c[j])))
                if edge not in self.middles:
                    a, b = self.points[list(edge)]
                    off = np.array([rng.uniform(-amount, amount) for _ in range(3)])
                    self.middles[edge] = (a + b) / 2 + np.linalg.norm(b - a) * off


def write_vtk(path, grid, rng=None, density=None):
    """Writes the grid; with a random generator, its nodes, cells and corners are shuffled. Returns the position of each
    node and cell in the file; mid-side nodes do not count as nodes."""
    n, m, edges = len(grid.points), len(grid.cells), sorted(grid.middles)
    node, cell = np.arange(n + len(edges)), np.arange(m)
    if rng is not None:
        rng.shuffle(node)
        rng.shuffle(cell)
    place, where = np.empty(n + len(edges), int), np.empty(m, int)
    place[node], where[cell] = np.arange(n + len(edges)), np.arange(m)
    middle = {edge: place[n + i] for i, edge in enumerate(edges)}
    points = np.vstack([grid.points] + [grid.middles[edge] for edge in edges])
    lines = ["# vtk DataFile Version 3.0", "random", "ASCII", "DATASET UNSTRUCTURED_GRID", "POINTS %d double" % len(points)]
    lines += ["%.17g %.17g %.17g" % tuple(points[i]) for i in node]
    numbers = []
    for e in cell:
        kind, c = grid.cells[e]
        if rng is not None:
            turn = ORDERS[kind][rng.integers(len(ORDERS[kind]))]
            c = [c[i] for i in turn]
        if kind == "wedge6":
            c = [c[i] for i in VTK_WEDGE]
        second = [middle[tuple(sorted((c[i], c[j])))] for i, j in EDGES[kind]] if edges else []
        numbers.append([place[i] for i in c] + second)
    lines += ["CELLS %d %d" % (m, sum(1 + len(c) for c in numbers))]
    lines += ["%d %s" % (len(c), " ".join(map(str, c))) for c in numbers]
    lines += ["CELL_TYPES %d" % m] + ["%d" % (VTK_SECOND if edges else VTK)[grid.cells[e][0]] for e in cell]
    if grid.sets or density is not None:
        lines += ["CELL_DATA %d" % m]
    for name, members in grid.sets.items():
        lines += ["SCALARS set_%s int 1" % name, "LOOKUP_TABLE default"] + ["%d" % (e in members) for e in cell]
    if density is not None:
        lines += ["SCALARS density double 1", "LOOKUP_TABLE default"] + ["%.17g" % density[e] for e in cell]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")
    return np.argsort(np.argsort(place[:n])), where


class Change:
    """x' = length (R x) + shift; forces, times and temperatures in other units. R may be a reflection."""

    def __init__(self, R=None, shift=None, length=1.0, force=1.0, time=1.0, temperature=1.0):
        self.R = np.eye(3) if R is None else np.array(R, float)
        self.shift = np.zeros(3) if shift is None else np.array(shift, float)
        self.length, self.force, self.time, self.temperature = length, force, time, temperature
        self.sign = np.sign(np.linalg.det(self.R))

    def point(self, v):
        return list(self.length * (self.R @ np.array(v, float)) + self.shift)

    def vector(self, v, factor=1.0):
        return list(factor * (self.R @ np.array(v, float)))

    def axial(self, v, factor=1.0):
        return list(factor * self.sign * (self.R @ np.array(v, float)))

    def grid(self, grid):
        cells = grid.cells
        if self.sign < 0:
            cells = [(kind, [c[i] for i in MIRROR[kind]]) for kind, c in cells]
        return Grid([self.point(p) for p in grid.points], cells, grid.sets, {e: self.point(p) for e, p in grid.middles.items()})

    def letters(self, fix):
        """Prescribed components, for an R that maps axes onto axes."""
        return "".join("xyz"[int(np.argmax(np.abs(self.R[:, "xyz".index(c)])))] for c in ("xyz" if set(fix) == set("xyz") else fix)) \
            if set(fix) != set("xyz") else "xyz"

    def diagonal(self, k, factor):
        k = np.array(k, float)
        return list(factor * (np.abs(np.round(self.R)) @ k if len(set(k)) > 1 else k))

    def region(self, entry):
        L, out = self.length, {}
        for key, g in entry.items():
            if not isinstance(g, dict):
                out[key] = g
                continue
            new = dict(g)
            for k, v in g.items():
                if k in ("point", "center"):
                    new[k] = self.point(v)
                elif k in ("normal", "axis"):
                    new[k] = self.vector(v)
                elif k in ("radius", "inner", "length", "tolerance"):
                    new[k] = L * v
            out[key] = new
        return out

    def load(self, entry, heat):
        L, F, T = self.length, self.force, self.time
        out = dict(entry)
        for k, v in entry.items():
            if k in ("node_force", "total_force", "bearing_force", "remote_force"):
                out[k] = self.vector(v, F)
            elif k == "traction":
                out[k] = self.vector(v, F / L**2)
            elif k == "pressure":
                out[k] = v * F / L**2
            elif k == "moment":
                out[k] = self.axial(v, F * L)
            elif k == "point":
                out[k] = self.point(v)
            elif k == "gravity":
                out[k] = self.vector(v, L / T**2)
            elif k == "centrifugal":
                out[k] = {"point": self.point(v["point"]), "axis": self.vector(v["axis"]), "speed": v["speed"] / T}
            elif k == "source":
                out[k] = v * F / L**3
            elif k == "flux":
                out[k] = v * F / L**2
            elif k == "heat":
                out[k] = v * F
            elif k == "temperature_change":
                out[k] = v * self.temperature
        return out

    def config(self, config):
        """With physics = "heat", `force` is the power."""
        L, F, T, K = self.length, self.force, self.time, self.temperature
        out = dict(config)
        m = dict(config["material"])
        for k in m:
            m[k] *= {"E": F / L**2, "density": F * T**2 / L**4, "conductivity": F / (L * K), "conductivity_min": F / (L * K), "expansion": 1 / K}.get(k, 1.0)
        out["material"] = m
        out["sets"] = tuple(self.region(e) for e in config["sets"])
        supports = []
        for e in config.get("supports", ()):
            e = dict(e)
            if "temperature" in e:
                e["temperature"] *= K
            else:
                e["fix"] = self.letters(e["fix"])
                if "value" in e:
                    e["value"] = self.vector(e["value"], L)
            supports.append(e)
        if supports:
            out["supports"] = tuple(supports)
        if "springs" in config:
            out["springs"] = tuple(dict(e, stiffness=self.diagonal(e["stiffness"], F / L**(3 if e["per"] == "area" else 1)))
                                   for e in config["springs"])
        if "convection" in config:
            out["convection"] = tuple(dict(e, coefficient=e["coefficient"] * F / (L * L * K), ambient=e["ambient"] * K)
                                      for e in config["convection"])
        out["loads"] = tuple(self.load(e, "physics" in config) for e in config["loads"])
        if "passive" in config:
            out["passive"] = tuple(dict(e, **({"skin": e["skin"] * L} if "skin" in e else {})) for e in config["passive"])
        o = dict(config["optimization"])
        if "symmetry" in o:
            o["symmetry"] = tuple({"point": self.point(s["point"]), "normal": self.vector(s["normal"])} for s in o["symmetry"])
        if "repetition" in o:
            o["repetition"] = tuple(dict(r, **({"step": self.vector(r["step"], L)} if "step" in r else
                                               {"point": self.point(r["point"]), "axis": self.vector(r["axis"])}))
                                    for r in o["repetition"])
        if "extrusion" in o:
            o["extrusion"] = self.vector(o["extrusion"])
        if "constraints" in o:
            o["constraints"] = tuple(dict(e, max=e["max"] * F / L**2) for e in o["constraints"])
        if o.get("filter", {}).get("unit") == "length":
            o["filter"] = dict(o["filter"], radius=o["filter"]["radius"] * L)
        out["optimization"] = o
        return out


# --- Drawing ---

def pick(rng, odds):
    return rng.choices(list(odds), list(odds.values()))[0]


def split(kind, c, centre):
    """Splits a hexahedron with corners c into cells; centre: a node in its middle."""
    if kind == "tet4":
        return [("tet4", [c[i] for i in t]) for t in KUHN]
    if kind == "wedge6":
        return [("wedge6", [c[0], c[1], c[2], c[4], c[5], c[6]]), ("wedge6", [c[0], c[2], c[3], c[4], c[6], c[7]])]
    if kind == "hex8":
        return [("hex8", list(c))]
    base = [f for f in RING if kind == "pyramid5" or f != (4, 5, 6, 7)]
    out = [("pyramid5", [c[i] for i in reversed(f)] + [centre]) for f in base]
    if kind == "change":  # transition from hexahedra below to wedges above
        out += [("tet4", [c[4], c[5], c[6], centre]), ("tet4", [c[4], c[6], c[7], centre])]
        out[-2:] = [(k, [v[0], v[2], v[1], v[3]]) for k, v in out[-2:]]
    return out


class Part:
    """A box, or a ring about z with a bore, made of cells of one kind or of all kinds."""

    def __init__(self, rng, most):
        self.rng = rng
        self.ring = rng.random() < 0.2
        self.kind = pick(rng, {"hex8": 3, "tet4": 3, "wedge6": 2, "pyramid5": 1.5, "layers": 2.5})
        per = {"tet4": 6, "wedge6": 2, "pyramid5": 6, "layers": 4, "hex8": 1}[self.kind]
        least = 3 if self.kind == "layers" else 1
        self.ring &= 6 * per * least <= most
        n = None
        while n is None or per * np.prod(n) > most:
            n = [rng.randint(6, 14), rng.randint(1, 3), rng.randint(1, 4)] if self.ring else [rng.randint(1, 8), rng.randint(1, 5), rng.randint(1, 5)]
            n[2] = max(n[2], least)
        self.n, nx, ny, nz = n, *n
        self.size = [round(rng.uniform(0.6, 1.6), 3) * (v if not self.ring else 1) for v in n]
        amount = rng.choice((0.0, 0.0, 0.15, 0.25)) if not (self.kind in ("wedge6", "layers") and nz < 2) else 0.0
        wrap = nx if self.ring else nx + 1
        at = lambda i, j, k: (k * (ny + 1) + j) * wrap + i % wrap
        points, cells = [], []
        for k in range(nz + 1):
            for j in range(ny + 1):
                for i in range(wrap):
                    points.append(self.place(i, j, k, amount))
        for k in range(nz):
            for j in range(ny):
                for i in range(nx):
                    c = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)]
                    if self.ring:
                        c = [c[1], c[0], c[3], c[2]]  # here angles decrease with x
                    c += [a + (ny + 1) * wrap for a in c]
                    what, centre = self.kind, len(points)
                    if what == "layers":
                        change = max(1, nz // 4)
                        what = "hex8" if k < change else "change" if k == change else "wedge6" if k < 3 * nz // 4 + 1 else "tet4"
                    if what in ("pyramid5", "change"):
                        points.append(np.mean([points[a] for a in c], axis=0))
                    cells += split(what, c, centre)
        x = np.array(points, float)
        block = self.choose(x, cells)
        self.grid = Grid(x, cells, {"block": block} if block else {})
        self.curved = False
        self.low, self.high = x.min(axis=0), x.max(axis=0)
        self.distorted = amount > 0
        self.regions()

    def place(self, i, j, k, amount):
        rng, n = self.rng, self.n
        t = []
        for axis, (v, m) in enumerate(zip((i, j, k), n)):
            inner = 0 < v < m and not (self.ring and axis < 2)
            t.append((v + (amount * rng.uniform(-1, 1) if inner else 0.0)) / m)
        if not self.ring:
            return [a * s for a, s in zip(t, self.size)]
        inner = 0 < j < n[1]
        a = 2 * np.pi * (i + (amount * rng.uniform(-0.5, 0.5) if inner else 0.0)) / n[0]
        r = 1.0 + self.size[1] * (t[1] + (amount * rng.uniform(-0.5, 0.5) / n[1] if inner else 0.0))
        return [r * np.cos(a), r * np.sin(a), t[2] * self.size[2]]

    def choose(self, x, cells):
        """A set of cells on one side of a plane through no cell's centre."""
        rng = self.rng
        middle = np.array([x[c].mean(axis=0) for _, c in cells])
        d = middle @ np.array([rng.uniform(-1, 1) for _ in range(3)])
        keep = set(map(int, np.flatnonzero(d <= np.median(d) + 1e-9)))
        return keep if 0 < len(keep) < len(cells) else None

    def regions(self):
        """Sides selected by planes, the bore and the rim by cylinders, parts of sides, edges, unions."""
        rng, low, high = self.rng, self.low, self.high
        self.sets, self.sides = [], []
        if self.ring:
            axis = {"point": [0.0, 0.0, 0.0], "axis": [0.0, 0.0, 1.0]}
            self.sets += [{"name": "bore", "cylinder": dict(axis, radius=1.0, inner=1.0)},
                          {"name": "rim", "cylinder": dict(axis, radius=1.0 + self.size[1], inner=1.0 + self.size[1])}]
            self.sides = ["bore", "rim"]
        for d in ((2, ) if self.ring else (0, 1, 2)):
            for name, at in (("xyz"[d] + "0", low[d]), ("xyz"[d] + "1", high[d])):
                point, normal = [float(v) for v in (low + high) / 2], [0.0, 0.0, 0.0]
                point[d], normal[d] = float(at), 1.0
                self.sets.append({"name": name, "plane": {"point": point, "normal": normal}})
                self.sides.append(name)
        a = self.grid.points[rng.randrange(len(self.grid.points))] + np.array([rng.uniform(-0.1, 0.1) * s for s in high - low])
        self.sets.append({"name": "ball", "sphere": {"center": [float(v) for v in a], "radius": float(rng.uniform(0.4, 0.8) * max(high - low))}})
        self.combined = []
        ball = self.sets[-1]["sphere"]
        inside = np.linalg.norm(self.grid.points - np.array(ball["center"]), axis=1) <= ball["radius"]
        # completely fixed elements have no derivative, and rounding would decide where volume goes
        self.small_ball = inside.mean() < 0.3

    def union(self, names):
        name = "+".join(dict.fromkeys(names))
        if "+" in name and name not in self.combined:
            self.combined.append(name)
            self.sets.append({"name": name, "or": list(names)})
        return name

    def rest(self, names):
        """The complement of these sets, which contains the middle of the part."""
        name = "-" + "-".join(names)
        if name not in self.combined:
            self.combined.append(name)
            self.sets.append({"name": name, "not": list(names)})
        return name

    def both(self, names):
        name = "&".join(names)
        if name not in self.combined:
            self.combined.append(name)
            self.sets.append({"name": name, "and": list(names)})
        return name


class Draw:
    """One config with its mesh. second: whether the second program analyses it; turns: whether any rotation maps it
    onto another config, otherwise only those that map axes onto axes; rigid, heat, quadratic, bearing, ties: its
    features."""

    def __init__(self, seed, program, most=160):
        self.program = program
        self.rng = rng = random.Random("random %s" % seed)
        self.quadratic = rng.random() < 0.35
        self.heat = rng.random() < 0.3
        self.part = part = Part(rng, most // 3 if self.quadratic else most)
        self.grid, self.turns = part.grid, True
        if rng.random() < (0.35 if self.quadratic else 0.05):
            part.grid.bend(rng, rng.choice((0.0, 0.05)))
            part.curved = True
        self.rigid = self.bearing = self.displaced = self.mass = False
        self.config = c = {}
        if self.heat:
            c["physics"] = "heat"
        c["mesh"] = {"file": "mesh.vtk"}
        self.material()
        c["sets"] = ()
        sides = rng.sample(part.sides, len(part.sides))
        self.held, self.loaded = sides[0], sides[1:]
        self.taken = {self.held}
        if self.heat:
            self.sinks()
        else:
            self.supports()
        cases = rng.choice((1, 1, 2, 3))
        loads = [self.load(case) for case in range(1, cases + 1)]
        loads += [self.load(rng.randint(1, cases)) for _ in range(rng.choice((0, 1, 2)))]
        if part.curved and not self.heat and rng.random() < 0.7:  # these cases must superpose
            loads += [self.weight(1), self.rotation(rng.randint(1, cases))]
        c["loads"] = tuple(loads + self.expansion(cases))
        if cases > 1 and rng.random() < 0.6:
            c["weights"] = [round(rng.uniform(0.3, 2), 3) for _ in range(cases)]
        self.passive()
        self.optimization()
        self.limit(cases)
        self.solver()
        c["sets"] = tuple(part.sets)
        c["output"] = {"directory": "out"}

    def material(self):
        rng = self.rng
        if self.heat:
            m = {"conductivity": 10**rng.uniform(-1, 1)}
            if rng.random() < 0.5:
                m["conductivity_min"] = m["conductivity"] * 10**rng.uniform(-3, -1)
        else:
            m = {"E": 10**rng.uniform(0, 3), "nu": round(rng.uniform(0.0, 0.4), 2), "density": 10**rng.uniform(-1, 1)}
        self.config["material"] = m

    def direction(self, size=1.0):
        return [size * self.rng.uniform(-1, 1) for _ in range(3)]

    def supports(self):
        rng, c = self.rng, self.config
        how = pick(rng, {"fix": 5, "springs": 2, "both": 2, "rollers": 1.5, "displaced": 1.5, "union": 1.5, "patch": 1})
        entries = [{"set": self.held, "fix": "xyz"}]
        if how in ("springs", "both"):
            k = rng.uniform(0.5, 50) * c["material"]["E"]
            stiffness = [k] * 3 if rng.random() < 0.5 else [k * rng.uniform(0.1, 1) for _ in range(3)]
            self.turns &= len(set(stiffness)) == 1
            where = self.held
            if how == "both" or rng.random() < 0.3:
                other = rng.choice(self.loaded)
                where = self.part.union([self.held, other]) if how == "springs" else other
            c["springs"] = ({"set": where, "stiffness": stiffness, "per": rng.choice(("total", "node", "area"))}, )
            if how == "springs":
                return
        if how == "rollers":
            a = rng.sample(("xyz" if not self.part.ring else "xy"), 2)
            entries = [{"set": self.held, "fix": "xyz"}, {"set": rng.choice(self.loaded), "fix": "".join(sorted(a))[:rng.randint(1, 2)]}]
            self.turns = False
        if how == "displaced":
            side = rng.choice(self.loaded)
            value = self.direction(0.05)
            if rng.random() < 0.5:
                axis = rng.choice("xyz")
                value = [v if d == axis else 0.0 for v, d in zip(value, "xyz")]
                entries.append({"set": side, "fix": axis, "value": value})
                self.turns = False
            else:
                entries.append({"set": side, "fix": "xyz", "value": value})
            if set(self.apart(side)) and self.touches(side, self.held):
                entries = [dict(entries[1], set=self.held, fix="xyz", value=value)]
                self.turns = True
            else:
                self.taken.add(side)
            self.displaced = True
        if how == "union" and not self.part.ring:
            entries[0]["set"] = self.part.union([self.held, rng.choice(self.loaded)])
        if how == "patch" and self.part.small_ball:
            entries.append({"set": "ball", "fix": "xyz"})
        c["supports"] = tuple(entries)

    def apart(self, side):
        return [s for s in self.part.sides if not self.touches(s, side)]

    def touches(self, a, b):
        if self.part.ring:
            return ("z" in a[0]) != ("z" in b[0]) or a == b
        return a[0] != b[0] or a == b

    def sinks(self):
        rng, c = self.rng, self.config
        how = pick(rng, {"held": 3, "convection": 3, "both": 3})
        t = round(rng.uniform(-10, 50), 2)
        if how != "convection":
            c["supports"] = ({"set": self.held, "temperature": t}, )
            if rng.random() < 0.2:
                others = [s for s in self.apart(self.held) if s != self.held]
                if others:
                    c["supports"] += ({"set": others[0], "temperature": round(rng.uniform(-10, 50), 2)}, )
        if how != "held":
            where = rng.choice(self.loaded) if how == "both" else self.held
            if rng.random() < 0.25:
                where = self.part.union(sorted({where, rng.choice(self.loaded)}))
            u = t if rng.random() < 0.5 else round(rng.uniform(-10, 50), 2)
            c["convection"] = ({"set": where, "coefficient": c["material"]["conductivity"] * 10**rng.uniform(-1, 1), "ambient": u}, )

    def target(self):
        """A set that loads act on."""
        rng, part = self.rng, self.part
        side = rng.choice(self.loaded)
        how = pick(rng, {"side": 6, "union": 1.5, "edge": 1, "ball": 0.7, "rest": 1, "side of rest": 1})
        if how == "rest":
            return part.rest([self.held] if rng.random() < 0.5 else [self.held, "ball"])
        if how == "side of rest":
            return part.both([side, part.rest([rng.choice([s for s in part.sides if s != side] + ["ball"])])])
        if how == "union":
            return part.union(rng.sample(part.sides, 2))
        if how == "edge" and not part.ring:
            other = [s for s in part.sides if s[0] != side[0]]
            return part.both([side, rng.choice(other)])
        if how == "ball":
            return "ball"
        return side

    def point(self):
        low, high = self.part.low, self.part.high
        return [float(self.rng.uniform(a - 0.3 * (b - a), b + 0.3 * (b - a))) for a, b in zip(low, high)]

    def weight(self, case):
        return {"gravity": self.direction(), "case": case}

    def rotation(self, case):
        return {"centrifugal": {"point": self.point(), "axis": self.direction(), "speed": self.rng.uniform(0.3, 2)}, "case": case}

    def load(self, case):
        rng = self.rng
        if self.heat:
            kind = pick(rng, {"source": 2, "block": 2, "heat": 2, "flux": 2})
            if kind == "source" or kind == "block" and not self.grid.sets:
                return {"source": rng.uniform(0.1, 2), "case": case}
            if kind == "block":
                return {"set": "block", rng.choice(("source", "heat")): rng.uniform(0.1, 2), "case": case}
            if kind == "flux":
                return {"set": rng.choice(self.loaded), "flux": rng.uniform(-1, 2), "case": case}
            return {"set": self.target(), "heat": rng.uniform(0.1, 2), "case": case}
        kinds = {"node_force": 2, "total_force": 3, "traction": 3, "pressure": 3, "gravity": 1.5, "centrifugal": 1.5, "remote": 2, "moment": 1}
        if self.part.ring and not (self.part.curved and self.quadratic):  # its axis is fitted to curved faces
            kinds["bearing"] = 5
        fixed = self.config.get("supports", ())
        rigid = [s for s in self.loaded if s not in self.taken and not self.touches(s, self.held)]
        if rigid and not self.rigid and not self.displaced and len(fixed) <= 1 and not any("+" in e["set"] for e in fixed):
            kinds["rigid"] = 3
        kind = pick(rng, kinds)
        out = {"set": self.target()}
        if kind == "node_force":
            out["node_force"] = self.direction(0.1)
        elif kind == "total_force":
            out["total_force"] = self.direction()
        elif kind in ("traction", "pressure"):
            out["set"] = pick(rng, {rng.choice(self.loaded): 6, self.part.union(rng.sample(self.part.sides, 2)): 2, self.part.rest([self.held]): 1})
            out[kind] = self.direction() if kind == "traction" else rng.uniform(-1, 1)
        elif kind == "gravity":
            out = self.weight(case)
        elif kind == "centrifugal":
            out = self.rotation(case)
        elif kind in ("remote", "moment"):
            out["set"] = rng.choice(self.loaded)
            self.remote(out, kind)
        elif kind == "rigid":
            out["set"] = rng.choice(rigid)
            self.remote(out, rng.choice(("remote", "moment")))
            out["coupling"] = "rigid"
            self.rigid = True
        elif kind == "bearing":
            a, along = rng.uniform(0, 2 * np.pi), rng.choice((0.0, 0.0, 0.3))
            out = {"set": "bore", "bearing_force": [float(np.cos(a)), float(np.sin(a)), along]}
            self.bearing = True
        out["case"] = case
        return out

    def expansion(self, cases):
        """Changes of temperature of the part or a set, from random numbers of their own."""
        rng, m = random.Random("expansion" + repr(sorted(self.config["material"].items()))), self.config["material"]
        self.expands = not self.heat and rng.random() < 0.25
        if not self.expands:
            return []
        m["expansion"] = rng.uniform(0.1, 1.0) / (50 * m["E"])
        out = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            out.append({"temperature_change": rng.uniform(-50, 50), "case": rng.randint(1, cases)})
            if self.grid.sets and rng.random() < 0.5:
                out[-1]["set"] = "block"
        return out

    def limit(self, cases):
        """A limit on stresses, from random numbers of its own; without zones, which would be passive solid. The cases are
        stated, so that a load case that is split in two keeps one limit."""
        o, c = self.config["optimization"], self.config
        rng = random.Random("limit" + repr(sorted(o.items())))
        self.limited = not self.heat and o["filter"]["kind"] != "sensitivity" and rng.random() < 0.25
        if not self.limited:
            return
        entry = {"kind": "stress", "max": rng.uniform(0.5, 4.0), "exclude_radius": 0.0, "name": "strong",
                 "case": list(range(1, cases + 1)), "method": rng.choice(("lagrangian", "p-norm"))}
        if self.grid.sets and rng.random() < 0.3 and "passive" not in c:
            entry["set"] = "block"
        elif self.grid.sets and rng.random() < 0.5 and "passive" not in c and o["volume_fraction"] >= 0.65:
            entry["exclude"] = ("block", )  # which is solid, and about half of the part
        o["constraints"] = (entry, )

    def remote(self, out, kind):
        if kind == "remote":
            out["remote_force"], out["point"] = self.direction(), self.point()
        if kind == "moment" or self.rng.random() < 0.3:
            out["moment"] = self.direction()

    def passive(self):
        rng, entries = self.rng, []
        self.skin = False
        if self.grid.sets and rng.random() < 0.35:
            entries.append({"set": "block", "density": rng.choice((1.0, 0.5, 0.2, 0.06))})
        if rng.random() < 0.15:
            entries.append({"set": rng.choice(self.loaded), "skin": 0.0791 * float(max(self.part.high - self.part.low))})
            self.skin = True
        if entries:
            self.config["passive"] = tuple(entries)

    def optimization(self):
        rng, part = self.rng, self.part
        filters = kinds.names(self.program, "Filters")
        projected = kinds.accepted(self.program, "optimization.filter.kind", filters, "optimization.projection={}")
        kind = pick(rng, {k: 1 if k == "none" else 3 if k in projected else 2 for k in filters})
        fraction = (0.5, 0.8)
        if any(e.get("density", 1.0) < 1 for e in self.config.get("passive", ())):  # on half of the part
            fraction = (0.3, 0.45)
        o = {"volume_fraction": round(rng.uniform(*fraction), 2), "iterations": 3, "rho_min": rng.choice((0.02, 0.05)),
             "penalty": rng.choice((3.0, 3.0, 2.5, 1.7)), "move": round(rng.uniform(0.1, 0.25), 2)}
        o["filter"] = {"kind": kind}
        if kind != "none":
            o["filter"]["radius"] = round(rng.uniform(1.3, 2.2), 3)
            if rng.random() < 0.3:
                edge = float(np.mean([np.linalg.norm(self.grid.points[c[0]] - self.grid.points[c[1]]) for _, c in self.grid.cells]))
                o["filter"]["radius"], o["filter"]["unit"] = edge * rng.uniform(1.3, 2), "length"
            if kind != "helmholtz" and rng.random() < 0.3:
                o["filter"]["volume_weighted"] = True
        if kind != "none" and kind in projected and rng.random() < 0.3:
            o["projection"] = {"beta": 1.0, "beta_max": 4.0, "every": 2}
        if rng.random() < 0.25 and o["penalty"] > 2:
            o["continuation"] = {"penalty_start": 1.5, "step": 0.5, "every": 1}
        self.ties = False
        if rng.random() < 0.3:
            middle = [float(v) for v in (part.low + part.high) / 2]
            normal = [0.0, 0.0, 0.0]
            normal[rng.choice((2, ) if part.ring else (0, 1, 2))] = 1.0
            o["symmetry"] = ({"point": middle, "normal": normal}, )
            self.ties = True
        if rng.random() < 0.15:
            along = [0.0, 0.0, 0.0]
            along[rng.choice((2, ) if part.ring else (0, 1, 2))] = 1.0
            o["extrusion"] = along
            self.ties = True
        self.repeat(o)
        self.config["optimization"] = o

    def repeat(self, o):
        """Copies about the middle's z axis or along an axis, from random numbers of their own."""
        part, rng = self.part, random.Random(repr(sorted(o.items())))
        if rng.random() < 0.8:
            return
        middle, size = [float(v) for v in (part.low + part.high) / 2], part.high - part.low
        extruded = o.get("extrusion", [0.0, 0.0, 1.0])[2] > 0
        if part.ring or (extruded and part.distorted and rng.random() < 0.5):
            copies = rng.choice([k for k in (2, 3, 4, 5, 6) if part.n[0] % k == 0] or [part.n[0]]) if part.ring else 2
            if part.ring:
                middle = [0.0, 0.0, middle[2]]
            o["repetition"] = ({"kind": "cyclic", "copies": copies, "point": middle, "axis": [0.0, 0.0, 1.0]}, )
        else:
            axis = rng.choice([d for d in (0, 1, 2) if not o.get("extrusion", [0.0] * 3)[d]])
            step = [0.0, 0.0, 0.0]
            step[axis] = float(size[axis]) / 2
            o["repetition"] = ({"kind": "pattern", "copies": 2, "step": step}, )
        self.ties = True

    def solver(self):
        rng = self.rng
        s = {"device": "cpu", "tolerance": 1e-11, "max_iterations": 100000, "threads": 1}
        if self.quadratic:
            s["element"] = "quadratic"
        s["operator"] = rng.choice(self.operators())
        s["preconditioner"] = pick(rng, {p: 1 for p in self.preconditioners()})
        self.config["solver"] = s

    def operators(self):
        return self.accepted("solver.operator", kinds.operators(self.program, "cpu"))

    def preconditioners(self):
        """All but "none", which takes too many iterations."""
        words = [k for k in kinds.names(self.program, "Preconditioners") if k != "none"]
        return self.accepted("solver.preconditioner", tuple(words))

    def accepted(self, key, words):
        keys = ("solver.device=cpu", ) + (("solver.element=quadratic", ) if self.quadratic else ())
        return kinds.accepted(self.program, key, words, *keys, physics="heat" if self.heat else "elasticity")
