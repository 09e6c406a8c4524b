#!/usr/bin/env python3
"""The formulas of doc/theory.md, implemented independently with dense matrices and compared with designs of the
program: element matrices, SIMP law, sensitivities, loads by mass, prescribed displacements, filters, projection,
optimality criteria, symmetry and extrusion, for elasticity and heat, on a distorted mesh.

    test_theory.py HEXTOP [SRCDIR]

Exit status 0 passed, 1 failed, 77 skipped (no numpy)."""
import csv
import itertools
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("no numpy: skipped")
    sys.exit(77)

HEXTOP = os.path.realpath(sys.argv[1])
P, RHO_MIN, VOLUME, MOVE, ETA = 3.0, 0.01, 0.4, 0.2, 0.5
DESIGNS = 4
COMMON = f"""
mesh = {{ generator = "cantilever"; nx = 8; ny = 4; nz = 4; distort = 0.2; }};
optimization = {{ volume_fraction = {VOLUME}; penalty = {P}; rho_min = {RHO_MIN}; iterations = {DESIGNS};
                 move = {MOVE}; damping = {ETA}; filter = {{ kind = "sensitivity"; radius = 1.7; unit = "length"; }}; }};
solver = {{ device = "cpu"; deterministic = true; tolerance = 1e-13; threads = 1; }};
output = {{ directory = "out"; every = 1; format = "ascii"; }};
"""
ELASTIC = COMMON + """
material = { E = 7.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; },
          { set = "right"; total_force = [0.0, 1.0, 0.3]; case = 2; } );
weights = [0.7, 2.5];
"""
HEAT = COMMON + """
physics = "heat";
material = { conductivity = 5.0; conductivity_min = 0.02; };
supports = ( { set = "left"; temperature = 0.0; } );
loads = ( { source = 1.0; } );
"""
# Gravity that depends on the design, and prescribed displacements; only compliance and sensitivities are
# compared.
WEIGHT = COMMON + """
material = { E = 7.0; nu = 0.3; density = 0.4; };
supports = ( { set = "left"; fix = "xyz"; }, { set = "right"; fix = "x"; value = [0.02, 0.0, 0.0]; } );
loads = ( { gravity = [0.0, 0.3, -0.7]; }, { set = "right"; total_force = [0.0, 0.05, 0.0]; } );
"""
SIGN = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
failures = []


def hextop(*words):
    done = subprocess.run([HEXTOP, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")


def read_vtk(path):
    """Points, cells and the named arrays of an ASCII file, each as a flat array of numbers."""
    with open(path, encoding="utf-8") as file:
        words = file.read().split()
    points = words.index("POINTS")
    n_point, cells = int(words[points + 1]), words.index("CELLS")
    n_cell = int(words[cells + 1])
    x = np.array(words[points + 3:points + 3 + 3 * n_point], dtype=float).reshape(-1, 3)
    conn = np.array(words[cells + 3:cells + 3 + 9 * n_cell], dtype=int).reshape(-1, 9)[:, 1:]
    arrays, at, n = {}, cells + 3 + 9 * n_cell, 0
    while at < len(words):
        word = words[at]
        if word in ("CELL_DATA", "POINT_DATA"):
            n, at = int(words[at + 1]), at + 2
        elif word in ("SCALARS", "VECTORS"):
            width = 3 if word == "VECTORS" else 1
            name, at = words[at + 1], at + (3 if word == "VECTORS" else 6)
            arrays[name] = np.array(words[at:at + width * n], dtype=float)
            at += width * n
        elif word == "FIELD":
            at += 3
        elif n and at + 3 < len(words) and words[at + 3] in ("int", "float", "double"):
            width, n_row = int(words[at + 1]), int(words[at + 2])
            arrays[word] = np.array(words[at + 4:at + 4 + width * n_row], dtype=float)
            at += 4 + width * n_row
        else:
            at += 1
    return x, conn, arrays


class Model:
    """A mesh with its loads, and the quantities of a design by the formulas of theory.md."""

    def __init__(self, config, is_heat):
        with open("part.cfg", "w", encoding="utf-8") as file:
            file.write(config)
        hextop("mesh", "part.cfg", "mesh.vtk", "output.format=ascii")
        self.x, self.conn, arrays = read_vtk("mesh.vtk")
        self.is_heat, self.n_elem = is_heat, len(self.conn)
        self.components = 1 if is_heat else 3
        self.solid, self.least = (5.0, 0.02) if is_heat else (7.0, 0.0)
        self.weight = [1.0] if is_heat else [0.7, 2.5]
        self.dof = (self.components * self.conn[:, :, None] + np.arange(self.components)).reshape(self.n_elem, -1)
        free = self.x[:, 0] > 1e-9
        self.free = np.repeat(free, self.components)
        self.volume, self.k, self.centre = np.zeros(self.n_elem), [], self.x[self.conn].mean(axis=1)
        source = np.zeros(len(self.x))
        for e, nodes in enumerate(self.conn):
            k, volume, share = self.element(self.x[nodes])
            self.k.append(k)
            self.volume[e] = volume
            np.add.at(source, nodes, share)
        self.force = [source] if is_heat else [arrays[name] for name in ("load_1", "load_2") if name in arrays]

    def element(self, x):
        """K_e for unit modulus, the volume, and the integrals of the shape functions."""
        nu = 0.3
        lam, mu = nu / (1 + nu) / (1 - 2 * nu), 1 / (2 * (1 + nu))
        n = 8 * self.components
        k, volume, share = np.zeros((n, n)), 0.0, np.zeros(8)
        for q in itertools.product((-1, 1), repeat=3):
            one = 1 + SIGN * np.array(q) / np.sqrt(3)
            d = SIGN / 8 * np.stack([one[:, 1] * one[:, 2], one[:, 0] * one[:, 2], one[:, 0] * one[:, 1]], axis=1)
            jacobian = d.T @ x
            det, g = np.linalg.det(jacobian), d @ np.linalg.inv(jacobian).T
            volume += det
            share += det * one.prod(axis=1) / 8
            if self.is_heat:
                k += det * g @ g.T
                continue
            for a, b in itertools.product(range(8), repeat=2):
                k[3 * a:3 * a + 3, 3 * b:3 * b + 3] += det * (
                    lam * np.outer(g[a], g[b]) + mu * np.outer(g[b], g[a]) + mu * g[a] @ g[b] * np.eye(3))
        return k, volume, share

    def analyse(self, rho):
        """Compliance and its derivative by the physical densities."""
        modulus = self.least + (self.solid - self.least) * rho ** P
        stiffness = np.zeros((len(self.free), len(self.free)))
        for e, dof in enumerate(self.dof):
            stiffness[np.ix_(dof, dof)] += modulus[e] * self.k[e]
        compliance, dc = 0.0, np.zeros(self.n_elem)
        for weight, f in zip(self.weight, self.force):
            u = np.zeros(len(f))
            u[self.free] = np.linalg.solve(stiffness[np.ix_(self.free, self.free)], f[self.free])
            compliance += weight * f @ u
            energy = np.array([u[dof] @ self.k[e] @ u[dof] for e, dof in enumerate(self.dof)])
            dc -= weight * P * (modulus - self.least) / rho * energy
        return compliance, dc

    def cone(self, radius):
        return np.maximum(0, radius - np.linalg.norm(self.centre[:, None] - self.centre[None], axis=2))

    def helmholtz(self, radius):
        """N' A^-1 N V, with gradients at centres and an eighth of the mass at each corner."""
        n_node, length = len(self.x), radius / (2 * np.sqrt(3))
        a, to_nodes = np.zeros((n_node, n_node)), np.zeros((n_node, self.n_elem))
        for e, nodes in enumerate(self.conn):
            jacobian = SIGN.T / 8 @ self.x[nodes]
            g = SIGN / 8 @ np.linalg.inv(jacobian).T
            a[np.ix_(nodes, nodes)] += length ** 2 * self.volume[e] * g @ g.T
            a[nodes, nodes] += self.volume[e] / 8
            to_nodes[nodes, e] += 1 / 8
        return to_nodes.T @ np.linalg.solve(a, to_nodes * self.volume)


def projected(x, beta, eta=0.5):
    t, scale = (x - RHO_MIN) / (1 - RHO_MIN), np.tanh(beta * eta) + np.tanh(beta * (1 - eta))
    return (RHO_MIN + (1 - RHO_MIN) * (np.tanh(beta * eta) + np.tanh(beta * (t - eta))) / scale,
            beta / np.cosh(beta * (t - eta)) ** 2 / scale)


def root(function, low, high):
    """Root of an increasing function, by bisection."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


class Chain:
    """Maps design variables to physical densities, and derivatives back."""

    def __init__(self, matrix, beta=0.0):
        self.matrix, self.beta = matrix, beta

    def forward(self, x):
        filtered = np.clip(x if self.matrix is None else self.matrix @ x, RHO_MIN, 1)
        return projected(filtered, self.beta)[0] if self.beta else filtered

    def backward(self, x, d):
        slope = projected(self.matrix @ x, self.beta)[1] if self.beta else 1.0
        return d if self.matrix is None else self.matrix.T @ (slope * d)


def propose(model, chain, x, dc, dv):
    t = x * np.maximum(0, -dc / dv) ** ETA
    wanted = VOLUME * model.volume.sum()

    def proposal(log_scale):
        return np.clip(np.exp(log_scale) * t, np.maximum(RHO_MIN, x - MOVE), np.minimum(1, x + MOVE))

    return proposal(root(lambda s: chain.forward(proposal(s)) @ model.volume - wanted, -40, 40))


def compare(name, value, wanted, bound):
    error = np.max(np.abs(np.asarray(value) - wanted)) / np.max(np.abs(wanted))
    print(f"{name:44s} {error:8.1e} {bound:8.0e}")
    if not error <= bound:
        failures.append(name)


def check(name, model, chain, words, bound, weights=None, groups=None):
    """Compares designs of the program with those computed here. weights: those of the filter `sensitivity`."""
    hextop("run", "part.cfg", f"output.directory={name}", *words)
    with open(f"{name}/history.csv", encoding="utf-8") as file:
        history = list(csv.DictReader(file))
    wanted = VOLUME * model.volume.sum()
    start = root(lambda s: chain.forward(np.full(model.n_elem, s)) @ model.volume - wanted, RHO_MIN, 1)
    x = np.full(model.n_elem, start)
    for design in range(1, DESIGNS + 1):
        rho = chain.forward(x)
        compliance, dc = model.analyse(rho)
        densities = read_vtk(f"{name}/density_{design:04d}.vtk")[2]["density"]
        compare(f"{name}, densities of design {design}", densities, rho, bound)
        compare(f"{name}, compliance of design {design}", float(history[design - 1]["compliance"]), compliance,
                10 * bound)
        dc, dv = chain.backward(x, dc), chain.backward(x, model.volume)
        if weights is not None:
            dc = weights @ (x * dc) / (x * weights.sum(axis=1))
        for group in groups or []:
            dc[group] = dv[group] * dc[group].sum() / dv[group].sum()
        x = propose(model, chain, x, dc, dv)


def mass(rho):
    s = rho / 0.1
    below = rho < 0.1
    return (np.where(below, 0.1 * (6 * s ** 6 - 5 * s ** 7), rho), np.where(below, 36 * s ** 5 - 35 * s ** 6, 1.0))


def check_weight():
    """Computed from the program's own densities: 2 f'u - u'K u, and 2 u' df/drho - u' dK/drho u."""
    model, name = Model(WEIGHT, False), "weight"
    hextop("run", "part.cfg", f"output.directory={name}", 'output.fields=["density","sensitivity"]',
           'optimization.filter={kind="none";}')
    with open(f"{name}/history.csv", encoding="utf-8") as file:
        history = list(csv.DictReader(file))
    shares = [model.element(model.x[nodes])[2] for nodes in model.conn]
    held, total = model.x[:, 0] > 8 - 1e-9, read_vtk("mesh.vtk")[2]["load_1"].reshape(-1, 3)
    prescribed = np.zeros(len(model.free))
    prescribed[0::3][held] = 0.02
    free = model.free.copy()
    free[0::3] &= ~held
    b = 0.4 * np.array([0.0, 0.3, -0.7])
    first = read_vtk(f"{name}/density_0001.vtk")[2]["density"]
    lowest = 1.0
    for design in range(1, DESIGNS + 1):
        arrays = read_vtk(f"{name}/density_{design:04d}.vtk")[2]
        rho, modulus = arrays["density"], 7.0 * arrays["density"] ** P
        lowest = min(lowest, rho.min())
        f = total.copy()
        for e, nodes in enumerate(model.conn):  # load_1 contains the weight of the first design
            f[nodes] += (mass(rho)[0][e] - mass(first)[0][e]) * shares[e][:, None] * b
        f, stiffness = f.ravel(), np.zeros((len(free), len(free)))
        for e, dof in enumerate(model.dof):
            stiffness[np.ix_(dof, dof)] += modulus[e] * model.k[e]
        u = prescribed.copy()
        u[free] = np.linalg.solve(stiffness[np.ix_(free, free)], (f - stiffness @ prescribed)[free])
        dc = np.array([-P * modulus[e] / rho[e] * u[dof] @ model.k[e] @ u[dof] for e, dof in enumerate(model.dof)])
        for e, nodes in enumerate(model.conn):
            dc[e] += 2 * mass(rho)[1][e] * shares[e] @ u.reshape(-1, 3)[nodes] @ b
        compare(f"{name}, compliance of design {design}", float(history[design - 1]["compliance"]),
                2 * f @ u - u @ stiffness @ u, 1e-9)
        compare(f"{name}, sensitivities of design {design}", arrays["sensitivity"], dc, 2e-7)  # written as floats
    if not lowest < 0.1:
        failures.append("no density below 0.1")


def main():
    check_weight()
    model = Model(ELASTIC, False)
    cone, volume = model.cone(1.7), model.volume
    check("none", model, Chain(None), ['optimization.filter={kind="none";}'], 1e-10)
    check("sensitivity", model, Chain(None), [], 1e-10, cone)
    check("sensitivity-by-volume", model, Chain(None), ["optimization.filter.volume_weighted=true"], 1e-10,
          cone * volume)
    check("density", model, Chain(cone / cone.sum(axis=1)[:, None]), ["optimization.filter.kind=density"], 1e-10)
    weighted = cone * volume
    weighted /= weighted.sum(axis=1)[:, None]
    check("projection", model, Chain(weighted, 4.0),
          ["optimization.filter.kind=density", "optimization.filter.volume_weighted=true",
           "optimization.projection={beta=4.0;}"], 3e-6)
    # The filter's metric of an element is stored in single precision.
    check("helmholtz", model, Chain(model.helmholtz(3.0)),
          ["optimization.filter.kind=helmholtz", "optimization.filter.radius=3.0"], 1e-7)
    model = Model(ELASTIC.replace("distort = 0.2", "distort = 0.0"), False)
    columns = {}
    for e, (x, _, z) in enumerate(np.round(model.centre, 6)):
        columns.setdefault((x, min(z, 4 - z)), []).append(e)
    check("groups", model, Chain(None),
          ["optimization.symmetry=({point=[0.0,2.0,2.0];normal=[0.0,0.0,1.0];})",
           "optimization.extrusion=[0.0,1.0,0.0]"], 1e-10, model.cone(1.7), list(columns.values()))
    model = Model(HEAT, True)
    check("heat", model, Chain(None), [], 1e-10, model.cone(1.7))
    if failures:
        print("failed: " + ", ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        STATUS = main()
        os.chdir("/")
    sys.exit(STATUS)
