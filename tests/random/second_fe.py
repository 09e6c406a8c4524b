#!/usr/bin/env python3
"""A second finite-element program for the configs of hextop, written from its documents and from textbooks, not from its
sources: whatever the two agree on was programmed twice.

    second_fe.py CONFIG [--density RESULT.vtk]     prints compliance, strain energy and sums of forces per load case

It reads the config and the legacy VTK mesh (text) that it names, assembles the stiffness matrix, loads, supports,
springs, rigid sets and convection with the quadrature rules that the documents state, and solves by a sparse LU
factorisation (scipy). Elements: hex8, wedge6, pyramid5, tet4, with solver.element = "quadratic" hex20, wedge15,
pyramid13, tet10, curved where the file is of second order. `NotHere` is raised for what it does not analyse (splines,
loads from a file, sets other than by geometry, arrays and "and", "or", "not").

Shape functions: Zienkiewicz and Taylor, The Finite Element Method, 1; of the pyramid with 13 nodes: Bedrosian, Int. J.
Numer. Methods Eng. 35, 1992. Derivatives are taken by complex steps, so that each function is written once."""

import os
import re
import sys
from itertools import product

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla


class NotHere(Exception):
    """Raised for what this program does not analyse."""


# --- Configs: libconfig's text as dict (group), tuple (list), list (array), str, float, int, bool ---

TOKEN = re.compile(r'\s+|#[^\n]*|//[^\n]*|("(?:[^"\\]|\\.)*")|([A-Za-z_*][\w-]*)|([-+]?(?:0x[0-9a-fA-F]+|\d*\.?\d+(?:[eE][-+]?\d+)?\.?'
                   r'|\d+\.(?:[eE][-+]?\d+)?))|([{}()\[\]=:;,])')


def parse(text):
    """The config's groups as a dict."""
    words, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise NotHere("config: " + text[at:at + 20])
        at = found.end()
        if found.lastgroup is None and found.lastindex:
            words.append((found.lastindex, found.group(found.lastindex)))
    words.reverse()

    def value():
        kind, word = words.pop()
        if kind == 1:
            return word[1:-1].replace('\\"', '"')
        if kind == 2:
            return {"true": True, "false": False}[word.lower()]
        if kind == 3:
            return int(word) if re.fullmatch(r"[-+]?\d+", word) else float(word)
        if word == "{":
            return settings("}")
        end, out = {"(": ")", "[": "]"}[word], []
        while words[-1][1] != end:
            out.append(value())
            if words[-1][1] == ",":
                words.pop()
        words.pop()
        return tuple(out) if end == ")" else out

    def settings(end):
        out = {}
        while words and words[-1][1] != end:
            name = words.pop()[1]
            words.pop()
            out[name] = value()
            while words and words[-1][1] in ";,":
                words.pop()
        if words:
            words.pop()
        return out

    return settings("")


# --- Meshes ---

VTK_KIND = {12: "hex8", 13: "wedge6", 14: "pyramid5", 10: "tet4", 25: "hex8", 26: "wedge6", 27: "pyramid5", 24: "tet4"}
CORNERS = {"hex8": 8, "wedge6": 6, "pyramid5": 5, "tet4": 4}
FACES = {"hex8": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
         "wedge6": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
         "pyramid5": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
         "tet4": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3))}  # corners counter-clockwise from outside
EDGES = {"hex8": ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)),
         "wedge6": ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
         "pyramid5": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)),
         "tet4": ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)),
         3: ((0, 1), (1, 2), (2, 0)), 4: ((0, 1), (1, 2), (2, 3), (3, 0))}


class Mesh:
    """points (n, 3); cells [(kind, corners)] with positive Jacobians, wedges in the order of finite elements (the first
    triangle counter-clockwise seen from the second); sets of integer arrays {name: ("nodes" or "cells", members)};
    middles {edge: position} of quadratic files."""

    def __init__(self, points, cells, arrays=None, middles=None):
        self.middles = middles or {}
        self.points, self.cells, self.arrays = np.asarray(points, float), cells, arrays or {}
        once = {}
        for e, (kind, corners) in enumerate(cells):
            for face in FACES[kind]:
                ring = tuple(corners[i] for i in face)
                key = tuple(sorted(ring))
                once[key] = None if key in once else (ring, e)
        self.faces = {key: face for key, face in once.items() if face}  # boundary faces: ring of corners, cell
        self.edges = sorted({tuple(sorted((c[i], c[j]))) for kind, c in cells for i, j in EDGES[kind]})


def read_vtk(path):
    """(mesh, {name: values}) of a legacy VTK file in text form."""
    with open(path, encoding="latin-1") as f:
        head = [f.readline() for _ in range(3)]
        words = f.read().split()
    if head[2].strip() != "ASCII":
        raise NotHere("binary VTK files")
    at, points, cells, types, where, fields = 0, None, [], [], None, {}
    arrays = {}

    def take(n, name, is_int):
        nonlocal at
        values = np.array(words[at:at + n], float)
        at += n
        fields[name] = values
        if is_int:
            arrays[name] = (where, values)

    while at < len(words):
        word = words[at].upper()
        if word == "POINTS":
            n = int(words[at + 1])
            points = np.array(words[at + 3:at + 3 + 3 * n], float).reshape(n, 3)
            at += 3 + 3 * n
        elif word == "CELLS":
            n, size = int(words[at + 1]), int(words[at + 2])
            numbers, i = list(map(int, words[at + 3:at + 3 + size])), 0
            for _ in range(n):
                cells.append(numbers[i + 1:i + 1 + numbers[i]])
                i += 1 + numbers[i]
            at += 3 + size
        elif word == "CELL_TYPES":
            n = int(words[at + 1])
            types = list(map(int, words[at + 2:at + 2 + n]))
            at += 2 + n
        elif word in ("CELL_DATA", "POINT_DATA"):
            where, count = ("cells" if word == "CELL_DATA" else "nodes"), int(words[at + 1])
            at += 2
        elif word == "SCALARS":
            name, what = words[at + 1], words[at + 2]
            at += 3
            if words[at].upper() != "LOOKUP_TABLE":
                at += 1
            at += 2
            take(count, name, what == "int")
        elif word == "VECTORS":
            name = words[at + 1]
            at += 3
            take(3 * count, name, False)
        elif word == "FIELD":
            left = int(words[at + 2])
            at += 3
            for _ in range(left):
                name, n, what = words[at], int(words[at + 1]) * int(words[at + 2]), words[at + 3]
                at += 4
                take(n, name, what == "int")
        else:
            at += 1
    out, seconds, turn = [], [], (0, 2, 1, 3, 5, 4)
    for what, numbers in zip(types, cells):
        if what not in VTK_KIND:
            raise NotHere("VTK cells of type %d" % what)
        kind = VTK_KIND[what]
        c = numbers[:CORNERS[kind]]
        seconds.append([(c[i], c[j], k) for (i, j), k in zip(EDGES[kind], numbers[len(c):])])  # VTK's order of edges is that of EDGES
        # VTK's wedges have the opposite orientation
        out.append((kind, [c[i] for i in turn] if kind == "wedge6" else c))
    nodes = sorted({i for _, c in out for i in c})  # all other edges have their node in the middle
    number = {old: new for new, old in enumerate(nodes)}
    middles = {tuple(sorted((number[a], number[b]))): points[k] for each in seconds for a, b, k in each}
    out = [(kind, [number[i] for i in c]) for kind, c in out]
    sets = {}
    for name, (kind, values) in arrays.items():
        if name.startswith("set_"):
            values = values if kind == "cells" else values[nodes]
            sets[name[4:]] = (kind, set(map(int, np.flatnonzero(values))))
    return Mesh(points[nodes], out, sets, middles), fields


# --- Elements: shape functions on a reference cell, quadrature ---

HEX = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float)
# Linear cells are hexahedra with repeated corners. In a wedge, the edge along the height that occurs twice is the last
# one here: `turned` puts the shortest edge there.
COLLAPSED = {"hex8": (0, 1, 2, 3, 4, 5, 6, 7), "wedge6": (0, 1, 2, 2, 3, 4, 5, 5), "pyramid5": (0, 1, 2, 3, 4, 4, 4, 4),
             "tet4": (0, 1, 2, 2, 3, 3, 3, 3)}


def gauss(n):
    return np.polynomial.legendre.leggauss(n)


def cube(n):
    x, w = gauss(n)
    return np.array(list(product(x, x, x))), np.array([a * b * c for a, b, c in product(w, w, w)])


def triangle(n):
    """Points (x, y) of the triangle 0, (1, 0), (0, 1): with six points exact for degree 4 (Strang and Fix), otherwise n
    x n points of the collapsed square."""
    if n == 6:
        r = np.sqrt(38 - 44 * np.sqrt(0.4))
        s = np.sqrt(213125 - 53320 * np.sqrt(10))
        points, weights = [], []
        for a, w in (((8 - np.sqrt(10) + r) / 18, (620 + s) / 3720), ((8 - np.sqrt(10) - r) / 18, (620 - s) / 3720)):
            points += [(a, a), (1 - 2 * a, a), (a, 1 - 2 * a)]
            weights += [w / 2] * 3
        return np.array(points), np.array(weights)
    x, w = gauss(n)
    x, w = (x + 1) / 2, w / 2
    return (np.array([(a * (1 - b), b) for a, b in product(x, x)]),
            np.array([v * u * (1 - b) for (v, u), (a, b) in zip(product(w, w), product(x, x))]))


def tetrahedron(n):
    """Exact for degree 2 with four points, otherwise n x n x n points of the collapsed cube."""
    if n == 4:
        a, b = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
        return np.array([(a, a, a), (b, a, a), (a, b, a), (a, a, b)]), np.full(4, 1 / 24)
    x, w = gauss(n)
    x, w = (x + 1) / 2, w / 2
    points, weights = [], []
    for (a, u), (b, v), (c, t) in product(zip(x, w), repeat=3):
        points.append((a * (1 - b) * (1 - c), b * (1 - c), c))
        weights.append(u * v * t * (1 - b) * (1 - c)**2)
    return np.array(points), np.array(weights)


def tetrahedron14():
    """Exact for degree 5 (Walkington, 2000)."""
    points, weights = [], []
    for a, w in ((0.31088591926330060980, 0.11268792571801585080), (0.092735250310891226402, 0.073493043116361949544)):
        points += [(a, a, a), (1 - 3 * a, a, a), (a, 1 - 3 * a, a), (a, a, 1 - 3 * a)]
        weights += [w / 6] * 4
    a = 0.045503704125649649492
    b = 0.5 - a
    points += [(a, a, b), (a, b, a), (b, a, a), (b, b, a), (b, a, b), (a, b, b)]
    return np.array(points), np.array(weights + [0.042546020777081466438 / 6] * 6)


def wedge(tri, n):
    (p, w), (z, v) = triangle(tri), gauss(n)
    return (np.array([(a, b, c) for (a, b), c in product(p, z)]), np.array([u * t for u, t in product(w, v)]))


def pyramid(n):
    """Its collapsed coordinates: base [-1, 1]^2 at z = 0, apex at z = 1, x = a (1 - z), y = b (1 - z)."""
    (x, w) = gauss(n)
    points, weights = [], []
    for (a, u), (b, v), (c, t) in product(zip(x, w), repeat=3):
        z = (1 + c) / 2
        points.append((a * (1 - z), b * (1 - z), z))
        weights.append(u * v * t / 2 * (1 - z)**2)
    return np.array(points), np.array(weights)


def hex8_shape(x):
    return np.stack([(1 + x[0] * h[0]) * (1 + x[1] * h[1]) * (1 + x[2] * h[2]) / 8 for h in HEX])


def collapsed_shape(kind):
    def shape(x):
        corner = hex8_shape(x)
        out = np.zeros((max(COLLAPSED[kind]) + 1, ) + corner.shape[1:], corner.dtype)
        for i, c in enumerate(COLLAPSED[kind]):
            out[c] += corner[i]
        return out
    return shape


def hex20_shape(x):
    out = [(1 + x[0] * h[0]) * (1 + x[1] * h[1]) * (1 + x[2] * h[2]) * (x[0] * h[0] + x[1] * h[1] + x[2] * h[2] - 2) / 8 for h in HEX]
    for i, j in EDGES["hex8"]:
        h = (HEX[i] + HEX[j]) / 2
        out.append(np.prod([1 + x[d] * h[d] if h[d] else 1 - x[d] * x[d] for d in range(3)], axis=0) / 4)
    return np.stack(out)


def wedge15_shape(x):
    L, z = (1 - x[0] - x[1], x[0], x[1]), x[2]
    out = [L[i % 3] * (2 * L[i % 3] - 1) * (1 + s * z) / 2 - L[i % 3] * (1 - z * z) / 2 for i, s in zip(range(6), (-1, -1, -1, 1, 1, 1))]
    out += [2 * L[i] * L[j] * (1 - z) for i, j in ((0, 1), (1, 2), (2, 0))]
    out += [2 * L[i] * L[j] * (1 + z) for i, j in ((0, 1), (1, 2), (2, 0))]
    return np.stack(out + [L[i] * (1 - z * z) for i in range(3)])


def tet10_shape(x):
    L = (1 - x[0] - x[1] - x[2], x[0], x[1], x[2])
    return np.stack([v * (2 * v - 1) for v in L] + [4 * L[i] * L[j] for i, j in EDGES["tet4"]])


def pyramid13_shape(x):
    a, b, z = x
    q = a * b * z / (1 - z)
    up = 1 - z
    out = [(-a - b - 1) * ((1 - a) * (1 - b) - z + q) / 4, (a - b - 1) * ((1 + a) * (1 - b) - z - q) / 4,
           (a + b - 1) * ((1 + a) * (1 + b) - z + q) / 4, (-a + b - 1) * ((1 - a) * (1 + b) - z - q) / 4, z * (2 * z - 1)]
    out += [(up + a) * (up - a) * (up - b) / (2 * up), (up + b) * (up - b) * (up + a) / (2 * up),
            (up + a) * (up - a) * (up + b) / (2 * up), (up + b) * (up - b) * (up - a) / (2 * up)]
    out += [z * (up + s * a) * (up + t * b) / up for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.stack(out)


def tri_shape(quadratic):
    def shape(x):
        L = (1 - x[0] - x[1], x[0], x[1])
        if not quadratic:
            return np.stack(L)
        return np.stack([v * (2 * v - 1) for v in L] + [4 * L[i] * L[j] for i, j in EDGES[3]])
    return shape


def quad_shape(quadratic):
    def shape(x):
        ring = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        if not quadratic:
            return np.stack([(1 + x[0] * a) * (1 + x[1] * b) / 4 for a, b in ring])
        out = [(1 + x[0] * a) * (1 + x[1] * b) * (x[0] * a + x[1] * b - 1) / 4 for a, b in ring]
        return np.stack(out + [(1 - x[0]**2) * (1 - x[1]) / 2, (1 + x[0]) * (1 - x[1]**2) / 2,
                               (1 - x[0]**2) * (1 + x[1]) / 2, (1 - x[0]) * (1 - x[1]**2) / 2])
    return shape


class Rule:
    """Shape functions N (points, nodes), their derivatives D (points, nodes, directions) and weights."""

    def __init__(self, shape, points, weights):
        x = points.T.astype(complex)
        self.N, self.w = shape(x).real.T, weights
        D, h = [], 1e-30
        for d in range(len(x)):
            step = x.copy()
            step[d] += 1j * h
            D.append(shape(step).imag.T / h)
        self.D = np.stack(D, axis=2)


def rules():
    """{(kind, quadratic): (rule of the stiffness, rule of volume loads)}. The second has a higher degree: loads by mass
    and sources are exact on straight cells. Curved cells use the points of the stiffness, and tet10 uses 14."""
    out = {}
    for kind in COLLAPSED:
        shape = collapsed_shape(kind)
        out[kind, False] = Rule(shape, *cube(2)), Rule(shape, *cube(3))
    out["hex8", True] = Rule(hex20_shape, *cube(3)), Rule(hex20_shape, *cube(4))
    out["wedge6", True] = Rule(wedge15_shape, *wedge(6, 3)), Rule(wedge15_shape, *wedge(5, 4))
    out["tet4", True] = Rule(tet10_shape, *tetrahedron(4)), Rule(tet10_shape, *tetrahedron(4 + 1))
    out["pyramid5", True] = Rule(pyramid13_shape, *pyramid(3)), Rule(pyramid13_shape, *pyramid(5))
    out["curved tet"] = Rule(tet10_shape, *tetrahedron14())
    return out


RULES = rules()
x2, w2 = gauss(3)
SQUARE = np.array(list(product(x2, x2))), np.array([a * b for a, b in product(w2, w2)])
x2, w2 = gauss(2)
FOUR = np.array(list(product(x2, x2))), np.array([a * b for a, b in product(w2, w2)])
FACE_RULES = {(n, q, fine): Rule((tri_shape if n == 3 else quad_shape)(q), *(triangle(6) if n == 3 else SQUARE if fine else FOUR))
              for n in (3, 4) for q in (False, True) for fine in (False, True)}


def turned(points, corners):
    """A wedge with its shortest edge along the height in the last place; among equally short ones, the one at the least
    x, y, z."""
    def key(i):
        a, b = points[corners[i]], points[corners[i + 3]]
        return round(float(np.linalg.norm(b - a)), 12), tuple(np.minimum(a, b))
    k = min(range(3), key=key)
    order = [(k + 1) % 3, (k + 2) % 3, k]
    return [corners[i] for i in order] + [corners[3 + i] for i in order]


# --- The model ---

class Faces:
    """Boundary faces of a set: points of each, shape functions, area vectors (including weights)."""

    def __init__(self, model, keys, fine=True):
        self.each = []
        for key in sorted(keys):
            ring = model.mesh.faces[key][0]
            points = list(ring)
            if model.quadratic:
                points += [model.middle[tuple(sorted((ring[i], ring[j])))] for i, j in EDGES[len(ring)]]
            rule = FACE_RULES[len(ring), model.quadratic, fine or model.is_curved]
            x = model.x[points]
            t = np.einsum("gnd,nc->gdc", rule.D, x)
            self.each.append((points, rule.N, rule.N @ x, np.cross(t[:, 0], t[:, 1]) * rule.w[:, None]))
        self.area = sum(np.linalg.norm(dA, axis=1).sum() for _, _, _, dA in self.each)

    def consistent(self, n):
        """Integral of each point's shape function."""
        out = np.zeros(n)
        for points, N, _, dA in self.each:
            np.add.at(out, points, np.linalg.norm(dA, axis=1) @ N)
        return out

    def lumped(self, n):
        """Shares of the area from the diagonal of the consistent mass; for linear faces from the integrals."""
        out = np.zeros(n)
        for points, N, _, dA in self.each:
            a = np.linalg.norm(dA, axis=1)
            share = a @ N if len(points) == N.shape[1] and len(points) <= 4 else a @ N**2
            np.add.at(out, points, share * a.sum() / share.sum())
        return out

    def product(self):
        """Triplets of the integral of N N'."""
        for points, N, _, dA in self.each:
            yield points, np.einsum("g,gi,gj->ij", np.linalg.norm(dA, axis=1), N, N)

    def pressure(self, n, p):
        out = np.zeros((n, 3))
        for points, N, _, dA in self.each:
            np.add.at(out, points, -p * N.T @ dA)
        return out


def distance(p, a, b, c):
    """Distance from a point to a triangle, which may be degenerate to a point."""
    n = np.cross(b - a, c - a)
    if n @ n > 0:
        foot = p - n * ((p - a) @ n) / (n @ n)
        if all(np.cross(v - u, foot - u) @ n >= 0 for u, v in ((a, b), (b, c), (c, a))):
            return np.linalg.norm(p - foot)
    best = np.inf
    for u, v in ((a, b), (b, c), (c, a)):
        t = np.clip((p - u) @ (v - u) / max((v - u) @ (v - u), 1e-300), 0, 1)
        best = min(best, np.linalg.norm(p - u - t * (v - u)))
    return best


class Set:
    """Nodes, edges, boundary faces and cells of a set."""

    def __init__(self, nodes, edges, faces, cells):
        self.nodes, self.edges, self.faces, self.cells = nodes, edges, faces, cells


class Model:
    """config: the dict of `parse`; mesh; density of each element or None (solid except passive elements)."""

    def __init__(self, config, mesh, density=None):
        self.config, self.mesh = config, mesh
        self.heat = config.get("physics", "elasticity") == "heat"
        self.quadratic = config.get("solver", {}).get("element", "linear") == "quadratic"
        self.dim = 1 if self.heat else 3
        n = len(mesh.points)
        self.middle = {edge: n + i for i, edge in enumerate(mesh.edges)} if self.quadratic else {}
        middles = [mesh.middles.get((a, b), (mesh.points[a] + mesh.points[b]) / 2) for a, b in mesh.edges]
        self.x = np.vstack([mesh.points] + middles) if self.quadratic else mesh.points
        self.n = len(self.x)
        self.is_curved = self.quadratic and bool(mesh.middles)
        self.sets = {}
        self.make_sets()
        self.density = np.ones(len(mesh.cells)) if density is None else np.array(density, float)
        for entry in config.get("passive", ()):
            cells = self.skin(self.sets[entry["set"]], entry["skin"]) if "skin" in entry else self.sets[entry["set"]].cells
            self.density[sorted(cells)] = entry.get("density", 1.0)
        for entry in config.get("optimization", {}).get("constraints", ()):
            for name in entry.get("exclude", ()):
                self.density[sorted(self.sets[name].cells)] = 1.0
        self.gather()
        self.stiffness()

    # Sets

    def make_sets(self):
        mesh, x = self.mesh, self.mesh.points
        self.centroids = np.array([x[c].mean(axis=0) for _, c in mesh.cells])
        for name, (kind, members) in mesh.arrays.items():
            if kind == "nodes":
                self.sets[name] = self.spanned(members, set())
            else:
                nodes = {c for e in members for c in mesh.cells[e][1]}
                self.sets[name] = self.spanned(nodes, members)
        for entry in self.config.get("sets", ()):
            self.sets[entry["name"]] = self.combined(entry) or self.spanned(self.inside(entry, x), self.inside(entry, self.centroids))

    def spanned(self, nodes, cells):
        mesh = self.mesh
        return Set(set(nodes), {e for e in mesh.edges if e[0] in nodes and e[1] in nodes},
                   {f for f in mesh.faces if all(c in nodes for c in f)}, set(cells))

    def combined(self, entry):
        word = next((w for w in ("and", "or", "not") if w in entry), None)
        if word is None:
            return None
        parts = [self.sets[name] for name in entry[word]]
        whats = ("nodes", "edges", "faces", "cells")
        if word == "not":
            every = (range(len(self.mesh.points)), self.mesh.edges, self.mesh.faces, range(len(self.mesh.cells)))
            return Set(*(set(all_).difference(*(getattr(p, what) for p in parts)) for what, all_ in zip(whats, every)))
        join = set.union if word == "or" else set.intersection
        return Set(*(join(*(set(getattr(p, what)) for p in parts)) for what in whats))

    def inside(self, entry, x):
        tol = 1e-6 * np.linalg.norm(np.ptp(self.mesh.points, axis=0))
        if "plane" in entry:
            g = entry["plane"]
            n = np.array(g["normal"], float)
            ok = np.abs((x - g["point"]) @ n) / np.linalg.norm(n) <= g.get("tolerance", tol)
        elif "box" in entry:
            g = entry["box"]
            t = g.get("tolerance", tol)
            ok = np.all((x >= np.array(g["min"]) - t) & (x <= np.array(g["max"]) + t), axis=1)
        elif "sphere" in entry:
            g = entry["sphere"]
            t, r = g.get("tolerance", tol), np.linalg.norm(x - np.array(g["center"]), axis=1)
            ok = (r <= g["radius"] + t) & (r >= g.get("inner", 0.0) - t)
        elif "cylinder" in entry:
            g = entry["cylinder"]
            t, a = g.get("tolerance", tol), np.array(g["axis"], float)
            a /= np.linalg.norm(a)
            d = x - np.array(g["point"])
            along = d @ a
            r = np.linalg.norm(d - along[:, None] * a, axis=1)
            ok = (r <= g["radius"] + t) & (r >= g.get("inner", 0.0) - t)
            if g.get("length", 0.0):
                ok &= (along >= -t) & (along <= g["length"] + t)
        else:
            raise NotHere("sets by " + ", ".join(entry))
        return set(map(int, np.flatnonzero(ok)))

    def skin(self, chosen, thick):
        """Cells whose centroid is within `thick` of the set's faces (of its nodes if it has none), and those that touch
        it."""
        x, rings = self.mesh.points, [self.mesh.faces[key][0] for key in chosen.faces]
        touched = {self.mesh.faces[key][1] for key in chosen.faces}
        if not rings:
            touched = {e for e, (_, corners) in enumerate(self.mesh.cells) if chosen.nodes.intersection(corners)}
        triangles = [x[[r[0], r[i], r[i + 1]]] for r in rings for i in range(1, len(r) - 1)] or [x[[i] * 3] for i in chosen.nodes]
        return {e for e in range(len(self.mesh.cells))
                if e in touched or min(distance(self.centroids[e], *t) for t in triangles) <= thick}

    def points_of(self, name):
        """Nodes of a set, and for quadratic elements the mid-side nodes of its edges."""
        s = self.sets[name]
        return sorted(s.nodes) + sorted(self.middle[e] for e in s.edges if e in self.middle)

    # Stiffness

    def gather(self):
        """Cells by kind: {kind: (cell numbers, points (cells, nodes))}."""
        found = {}
        for e, (kind, corners) in enumerate(self.mesh.cells):
            if kind == "wedge6" and not self.quadratic:
                corners = turned(self.mesh.points, corners)
            points = list(corners)
            if self.quadratic:
                points += [self.middle[tuple(sorted((corners[i], corners[j])))] for i, j in EDGES[kind]]
            found.setdefault(kind, ([], []))[0].append(e)
            found[kind][1].append(points)
        self.kinds = {kind: (np.array(e), np.array(p)) for kind, (e, p) in found.items()}

    def geometry(self, rule, points):
        """Gradients of the shape functions, weights times det J, positions."""
        x = self.x[points]
        J = np.einsum("gnd,enc->egdc", rule.D, x)
        det = np.linalg.det(J)
        return np.einsum("egcd,gnd->egnc", np.linalg.inv(J), rule.D), det * rule.w, np.einsum("gn,enc->egc", rule.N, x)

    def modulus(self):
        m, p = self.config["material"], self.config.get("optimization", {}).get("penalty", 3.0)
        if not self.heat:
            return m["E"] * self.density**p
        least = m.get("conductivity_min", 1e-3 * m.get("conductivity", 1.0))
        return least + (m.get("conductivity", 1.0) - least) * self.density**p

    def stiffness(self):
        m, size = self.config["material"], self.n * self.dim
        modulus, self.volume = self.modulus(), np.zeros(len(self.mesh.cells))
        rows, columns, values = [], [], []
        self.element = []  # (cells, unknowns, matrices)
        for kind, (cells, points) in self.kinds.items():
            G, dV, _ = self.geometry(RULES[kind, self.quadratic][0], points)
            if self.heat:
                ke = np.einsum("egic,egjc,eg->eij", G, G, dV)
            else:
                nu = m["nu"]
                lam, mu = nu / ((1 + nu) * (1 - 2 * nu)), 1 / (2 * (1 + nu))
                ke = lam * np.einsum("egia,egjb,eg->eiajb", G, G, dV)
                ke += mu * np.einsum("egib,egja,eg->eiajb", G, G, dV)
                ke += mu * np.einsum("egic,egjc,eg,ab->eiajb", G, G, dV, np.eye(3))
                ke = ke.reshape(len(cells), 3 * points.shape[1], -1)
            ke *= modulus[cells][:, None, None]
            dof = (self.dim * points[:, :, None] + np.arange(self.dim)).reshape(len(cells), -1)
            if np.any(dV <= 0):
                raise NotHere("an element of negative volume")
            self.volume[cells] = dV.sum(axis=1)
            self.element.append((cells, dof, ke))
            rows.append(np.repeat(dof, dof.shape[1], axis=1).ravel())
            columns.append(np.tile(dof, dof.shape[1]).ravel())
            values.append(ke.ravel())
        self.K_part = sp.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (size, size))
        self.K = self.K_part + self.springs() + self.convection()

    def faces(self, name):
        return Faces(self, self.sets[name].faces)

    def springs(self):
        """Diagonal matrix; each entry is stored for its force."""
        self.spring = []
        for entry in self.config.get("springs", ()):
            name, k, per = entry["set"], np.array(entry["stiffness"], float), entry.get("per", "total")
            faces = self.faces(name)
            share = np.zeros(self.n)
            if per == "node" or not faces.each:
                nodes = sorted(self.sets[name].nodes)
                share[nodes] = 1.0 if per == "node" else 1 / len(nodes)
            else:
                share = faces.lumped(self.n) / (faces.area if per == "total" else 1.0)
            self.spring.append((name, (share[:, None] * k).ravel()))
        total = sum((k for _, k in self.spring), np.zeros(self.n * self.dim))
        return sp.diags(total)

    def convection(self):
        rows, columns, values = [], [], []
        self.ambient, self.offset = np.zeros(self.n), 0.0
        for entry in self.config.get("convection", ()):
            h = entry["coefficient"]
            for points, NN in self.faces(entry["set"]).product():
                rows.append(np.repeat(points, len(points)))
                columns.append(np.tile(points, len(points)))
                values.append(h * NN.ravel())
                np.add.at(self.ambient, points, h * entry["ambient"] * NN.sum(axis=1))
                self.offset += h * (entry["ambient"] - self.reference()) ** 2 * NN.sum()
        if not rows:
            return sp.csr_matrix(self.K_part.shape)
        return sp.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), self.K_part.shape)

    def von_mises(self, u):
        """The largest stress at a Gauss point of the stiffness; a linear tetrahedron has one stress. For heat, the
        largest flux."""
        nu, modulus, largest = self.config["material"].get("nu", 0.0), self.modulus(), 0.0
        for kind, (cells, points) in self.kinds.items():
            G, _, _ = self.geometry(RULES[kind, self.quadratic][0], points)
            grad = np.einsum("egja,ejc->egca", G, u.reshape(self.n, self.dim)[points])
            if self.heat:
                size = np.linalg.norm(grad[:, :, 0], axis=2)
            else:
                strain = (grad + np.swapaxes(grad, 2, 3)) / 2  # a free strain is the same in all directions: no deviator
                deviator = strain - np.trace(strain, axis1=2, axis2=3)[..., None, None] / 3 * np.eye(3)
                size = np.sqrt(1.5 * np.einsum("egac,egac->eg", deviator, deviator)) / (1 + nu)
            largest = max(largest, (size * modulus[cells][:, None]).max())
        return largest

    # Loads

    def mass_of(self):
        rho = self.density
        return self.config["material"]["density"] * np.where(rho < 0.1, np.minimum(rho, 6e5 * rho**6 - 5e6 * rho**7), rho)

    def body(self, cells, field):
        """Consistent loads of a field (cells, places) -> value per volume."""
        out = np.zeros((self.n, self.dim))
        for kind, (numbers, points) in self.kinds.items():
            pick = np.isin(numbers, sorted(cells))
            if not pick.any():
                continue
            rule = RULES[kind, self.quadratic][0 if self.is_curved else 1]
            if self.is_curved and kind == "tet4":
                rule = RULES["curved tet"]
            _, dV, x = self.geometry(rule, points[pick])
            f = np.einsum("gn,eg,egc->enc", rule.N, dV, field(numbers[pick], x))
            np.add.at(out, points[pick].ravel(), f.reshape(-1, self.dim))
        return out

    def load(self, entry):
        """Nodal forces."""
        n, cells = self.n, range(len(self.mesh.cells))
        if "gravity" in entry or "centrifugal" in entry:
            mass = self.mass_of()
            if "gravity" in entry:
                return self.body(cells, lambda e, x: mass[e][:, None, None] * np.array(entry["gravity"], float) * np.ones_like(x))
            c = entry["centrifugal"]
            a = np.array(c["axis"], float) / np.linalg.norm(c["axis"])

            def out(e, x):
                d = x - np.array(c["point"], float)
                return mass[e][:, None, None] * c["speed"]**2 * (d - (d @ a)[..., None] * a)
            return self.body(cells, out)
        if "temperature_change" in entry:
            return self.expansion(self.sets[entry["set"]].cells if "set" in entry else cells, entry["temperature_change"])
        if "from" in entry:
            raise NotHere("loads from the file")
        if "source" in entry:
            chosen = self.sets[entry["set"]].cells if "set" in entry else cells
            return self.body(chosen, lambda e, x: np.full(x.shape[:2] + (1, ), float(entry["source"])))
        name = entry["set"]
        faces, nodes = self.faces(name), sorted(self.sets[name].nodes)
        if "node_force" in entry:
            out = np.zeros((n, 3))
            out[nodes] = entry["node_force"]
            return out
        if "bearing_force" in entry:
            return self.bearing(name, np.array(entry["bearing_force"], float))
        if "pressure" in entry:
            return faces.pressure(n, entry["pressure"])
        if "traction" in entry:
            return np.outer(faces.consistent(n), entry["traction"])
        if "flux" in entry:
            return faces.consistent(n)[:, None] * entry["flux"]
        if "heat" in entry and self.sets[name].cells:
            chosen = self.sets[name].cells
            share = self.body(chosen, lambda e, x: np.ones(x.shape[:2] + (1, )))
            return share * (entry["heat"] / share.sum())
        if "total_force" in entry or "heat" in entry:
            return np.outer(self.share(name), entry.get("total_force", entry.get("heat")))
        return self.remote(entry)

    def expansion(self, cells, change):
        """Forces that strain free elements by expansion times the temperature change, at the points of the stiffness."""
        m, modulus, out = self.config["material"], self.modulus(), np.zeros((self.n, 3))
        stress = m["expansion"] * change / (1 - 2 * m["nu"])  # of unit modulus, in all directions
        for kind, (numbers, points) in self.kinds.items():
            G, dV, _ = self.geometry(RULES[kind, self.quadratic][0], points)
            f = np.einsum("egnc,eg->enc", G, dV) * (stress * modulus[numbers] * np.isin(numbers, sorted(cells)))[:, None, None]
            np.add.at(out, points.ravel(), f.reshape(-1, 3))
        return out

    def share(self, name):
        """Shares of a set's points that sum to 1: by area, otherwise equal for all nodes."""
        faces = self.faces(name)
        if faces.each:
            return faces.consistent(self.n) / faces.area
        share = np.zeros(self.n)
        nodes = sorted(self.sets[name].nodes)
        share[nodes] = 1 / len(nodes)
        return share

    def bearing(self, name, F):
        """A pin in a bore, whose axis is that of the cylinder that selects the set. Across the axis: pressure max(0, p0
        . r) along the radius r, with p0 such that the sum is F, per area projected onto the cylinder. Along the axis: a
        uniform traction. Quadrature with 2x2 points on quadrilaterals and six on triangles."""
        bore = next((e["cylinder"] for e in self.config["sets"] if e["name"] == name and "cylinder" in e), None)
        if bore is None:
            raise NotHere("bearing forces on sets that no cylinder selects")
        a = np.array(bore["axis"], float) / np.linalg.norm(bore["axis"])
        faces = Faces(self, self.sets[name].faces, fine=False)
        along = F @ a
        out = np.outer(faces.consistent(self.n) / faces.area, along * a)
        F = F - along * a
        radius, weight = [], []
        for _, _, x, dA in faces.each:
            r = x - np.array(bore["point"], float)
            r -= np.outer(r @ a, a)
            radius.append(r / np.linalg.norm(r, axis=1)[:, None])
            weight.append(-np.sum(radius[-1] * dA, axis=1))
        r, w, p0 = np.vstack(radius), np.concatenate(weight), F
        for _ in range(100 if F @ F > 0 else 0):  # first the pressed half, then p0 from it
            half = r @ p0 > 0
            M = (r[half].T * w[half]) @ r[half]
            p0 = np.linalg.solve(M + np.outer(a, a), F)
        for (points, N, _, _), r, w in zip(faces.each, radius, weight):
            np.add.at(out, points, N.T @ ((np.maximum(0, r @ p0) * w)[:, None] * r))
        return out

    def remote(self, entry):
        w, F, M = self.share(entry["set"]), np.array(entry.get("remote_force", [0, 0, 0]), float), np.array(entry.get("moment", [0, 0, 0]), float)
        centre = w @ self.x
        if "remote_force" in entry:
            M = M + np.cross(np.array(entry["point"]) - centre, F)
        d = self.x - centre
        inertia = sum(wi * (di @ di * np.eye(3) - np.outer(di, di)) for wi, di in zip(w, d) if wi)
        theta = np.linalg.solve(inertia, M)
        return w[:, None] * (F + np.cross(theta, d))

    # Solution

    def rigid_sets(self):
        return sorted({e["set"] for e in self.config.get("loads", ()) if e.get("coupling") == "rigid"})

    def reduce(self):
        """T of u = T q; q has the unknowns of free points, then six for each rigid set."""
        size = self.n * self.dim
        sets = self.rigid_sets()
        if not sets:
            return sp.identity(size, format="csr"), {}
        first = {}
        free = np.ones(size, bool)
        for name in sets:
            points = self.points_of(name)
            for p in points:
                free[3 * p:3 * p + 3] = False
        index = np.cumsum(free) - 1
        rows, columns, values = list(np.flatnonzero(free)), list(index[free]), [1.0] * int(free.sum())
        at = int(free.sum())
        for name in sets:
            centre = self.x[self.points_of(name)].mean(axis=0)
            first[name] = at, centre
            for p in self.points_of(name):
                d = self.x[p] - centre
                for c in range(3):
                    rows.append(3 * p + c), columns.append(at + c), values.append(1.0)
                for axis in range(3):
                    v = np.cross(np.eye(3)[axis], d)
                    for c in range(3):
                        if v[c]:
                            rows.append(3 * p + c), columns.append(at + 3 + axis), values.append(v[c])
            at += 6
        return sp.csr_matrix((values, (rows, columns)), (size, at)), first

    def supports(self):
        """{unknown: value}, and the unknowns of each entry."""
        out, entries = {}, []
        for entry in self.config.get("supports", ()):
            points = self.points_of(entry["set"])
            mine = []
            for p in points:
                if self.heat:
                    out[p] = float(entry["temperature"])
                    mine.append(p)
                    continue
                for c in entry["fix"]:
                    i = "xyz".index(c)
                    out[3 * p + i] = float(entry.get("value", [0.0, 0.0, 0.0])[i])
                    mine.append(3 * p + i)
            entries.append((entry["set"], mine))
        return out, entries

    def solve(self):
        """[Case] of all load cases."""
        loads = self.config.get("loads", ())
        n_case = max([e.get("case", 1) for e in loads] + [1])
        T, first = self.reduce()
        held, self.held_by = self.supports()
        index = np.array(sorted(held), int)
        value = np.array([held[i] for i in index])
        size = self.n * self.dim
        ground = np.full(size, self.reference() if self.heat else 0.0)
        if len(index):
            ground[index] = value
        Kq = (T.T @ self.K @ T).tocsc()
        # prescribed unknowns are never in a rigid set, so their column of T is a unit vector
        held_q = T[index].indices if len(index) else np.array([], int)
        free = np.setdiff1d(np.arange(Kq.shape[0]), held_q)
        self.lu = spla.splu(Kq[free][:, free].tocsc())
        self.norms(Kq[free][:, free])
        out = []
        for case in range(1, n_case + 1):
            f, extra = np.zeros(size), np.zeros(T.shape[1])
            outer, change = np.zeros(6), np.zeros(len(self.mesh.cells))
            for entry in loads:
                if entry.get("case", 1) != case:
                    continue
                if "temperature_change" in entry:
                    change[sorted(self.sets[entry["set"]].cells) if "set" in entry else slice(None)] += entry["temperature_change"]
                if entry.get("coupling") == "rigid":
                    at, centre = first[entry["set"]]
                    F, M = np.array(entry.get("remote_force", [0, 0, 0]), float), np.array(entry.get("moment", [0, 0, 0]), float)
                    point = np.array(entry.get("point", centre), float)
                    extra[at:at + 3] += F
                    extra[at + 3:at + 6] += M + np.cross(point - centre, F)
                    outer += np.concatenate([F, M + np.cross(point, F)])
                else:
                    f += self.load(entry).ravel()
            total = f + (self.ambient if self.heat else 0)
            fq = T.T @ (total - self.K @ ground) + extra
            q = np.zeros(T.shape[1])
            q[free] = self.lu.solve(fq[free])
            q[free] += self.lu.solve(fq[free] - Kq[free][:, free] @ q[free])
            u = T @ q + ground
            out.append(Case(self, u, f, total, extra @ q, outer, index, np.linalg.norm(fq[free]), change))
        return out

    def norms(self, K):
        """Largest and smallest eigenvalue by power iterations; the second is too large by less than half of it."""
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal(K.shape[0]), rng.standard_normal(K.shape[0])
        for _ in range(15):
            x = K @ (x / np.linalg.norm(x))
            y = self.lu.solve(y / np.linalg.norm(y))
        self.largest, self.inverse = np.linalg.norm(x), np.linalg.norm(y)

    def sums(self, f):
        """Force and moment about the origin of nodal forces; for heat, the sum."""
        f = f.reshape(self.n, self.dim)
        if self.heat:
            return np.array([f.sum()])
        return np.concatenate([f.sum(axis=0), np.cross(self.x, f).sum(axis=0)])

    def reference(self):
        """The lowest prescribed or ambient temperature."""
        found = {float(e["temperature"]) for e in self.config.get("supports", ())} | {float(e["ambient"]) for e in self.config.get("convection", ())}
        return min(found)


class Case:
    """One load case: displacements u, compliance, strain energy, sums of loads, reactions and springs."""

    def __init__(self, model, u, f, total, work, outer, held, rhs, change):
        self.u, self.f, self.total, self.rhs = u, f, total, rhs
        residual = model.K @ u - total
        self.reaction = np.zeros(len(u))
        self.reaction[held] = residual[held]
        self.strain_energy = u @ (model.K_part @ u) / 2
        if change.any():  # the energy of the strain beyond the free one
            m = model.config["material"]
            free = m["expansion"] * change
            work_of_free = sum(model.expansion([e], change[e]).ravel() @ u for e in np.flatnonzero(change))
            self.strain_energy += 1.5 / (1 - 2 * m["nu"]) * (model.modulus() * model.volume) @ free**2 - work_of_free
        if model.heat:  # above the reference, whose K T is what the films take
            over, moved = u - model.reference(), total - model.K @ np.full(len(u), model.reference())
            self.compliance = 2 * (moved @ over) - over @ (model.K @ over) - model.offset
        else:
            self.compliance = 2 * (total @ u + work) - u @ (model.K @ u)
        self.spring_energy = sum(u @ (k * u) for _, k in model.spring) / 2
        self.loads = model.sums(f) + (0 if model.heat else outer)
        self.reactions = model.sums(self.reaction)
        self.springs = sum((model.sums(-k * u) for _, k in model.spring), np.zeros(1 if model.heat else 6))


def report(path, result):
    with open(path, encoding="utf-8") as f:
        config = parse(f.read())
    if "file" not in config["mesh"]:
        raise NotHere("generated meshes")
    mesh, _ = read_vtk(os.path.join(os.path.dirname(path), config["mesh"]["file"]))
    density = read_vtk(result)[1]["density"] if result else None
    for i, case in enumerate(Model(config, mesh, density).solve()):
        print("case %d: compliance %.12g, strain energy %.12g" % (i + 1, case.compliance, case.strain_energy))
        for what in ("loads", "reactions", "springs"):
            print("  %-9s" % what, " ".join("%.9g" % v for v in getattr(case, what)))


def main():
    if len(sys.argv) != 2 and not (len(sys.argv) == 4 and sys.argv[2] == "--density"):
        print(__doc__)
        return 2
    try:
        report(sys.argv[1], sys.argv[3] if len(sys.argv) == 4 else None)
    except NotHere as what:
        print("second_fe.py does not analyse " + str(what))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
