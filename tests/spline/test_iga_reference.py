#!/usr/bin/env python3
"""iga_reference.py against independent results: hex8 by its formula, volumes with pi, rigid motions,
constant strain, divergence, a thick cylinder's energy.

    test_iga_reference.py

Exit status 0 passed, 1 failed, 77 skipped (no scipy)."""
import os
import sys
import tempfile

from iga_reference import Part, np, read_mfem, read_xml, solve
from splines import SIDES, Patch, interfaces, open_knots, write_mfem, write_xml
from spline_parts import box, curved, pair, quarter_ring, random_patch

n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def small(value, bound, text):
    check(bool(value <= bound), f"{text}: {value:.3g} > {bound:.3g}")


def hex8(x, young, nu):
    """K of a trilinear hexahedron by B' D B at 2^3 points: x [2][2][2][3], unknowns first direction
    fastest."""
    lam, mu = young * nu / (1 + nu) / (1 - 2 * nu), young / 2 / (1 + nu)
    D = np.zeros((6, 6))
    D[:3, :3] = lam
    D += np.diag([2 * mu] * 3 + [mu] * 3)
    corners = [(i, j, k) for k in range(2) for j in range(2) for i in range(2)]
    sign = 2 * np.array(corners) - 1
    x = np.array([x[c] for c in corners])
    K = np.zeros((24, 24))
    for q in sign / np.sqrt(3.0):
        one = 1 + sign * q
        slope = np.stack([sign[:, 0] * one[:, 1] * one[:, 2], sign[:, 1] * one[:, 0] * one[:, 2],
                          sign[:, 2] * one[:, 0] * one[:, 1]]) / 8
        J = slope @ x
        g = np.linalg.solve(J, slope)
        B = np.zeros((6, 24))
        for a in range(8):
            gx, gy, gz = g[:, a]
            B[:, 3 * a:3 * a + 3] = [[gx, 0, 0], [0, gy, 0], [0, 0, gz], [gy, gx, 0], [0, gz, gy], [gz, 0, gx]]
        K += np.linalg.det(J) * B.T @ D @ B
    return K


def rigid(x):
    one, zero = np.ones(len(x)), np.zeros(len(x))
    X, Y, Z = x.T
    return [np.stack(m, 1).ravel() for m in ((one, zero, zero), (zero, one, zero), (zero, zero, one),
                                             (-Y, X, zero), (zero, -Z, Y), (Z, zero, -X))]


def check_hex8():
    patch = random_patch([1, 1, 1], [1, 1, 1], 3, rational=False, move=0.2)
    K = Part([patch]).stiffness(7.0, 0.3).toarray()
    small(abs(K - hex8(patch.points, 7.0, 0.3)).max(), 1e-14 * abs(K).max(), "degree 1 is hex8")


def check_kernel(part, text):
    K = part.stiffness(2.0, 0.3)
    scale = abs(K).max()
    small(abs(K - K.T).max() / scale, 1e-13, f"{text}: symmetric")
    for k, motion in enumerate(rigid(part.points)):
        small(abs(K @ motion).max() / scale / abs(motion).max(), 1e-12, f"{text}: rigid motion {k}")
    small(abs(part.conduction(3.0) @ np.ones(part.n_point)).max(), 1e-12, f"{text}: one temperature")
    u = np.random.default_rng(1).standard_normal(3 * part.n_point)
    small(abs(part.energies(u, 2.0, 0.3).sum() / (u @ K @ u) - 1), 1e-12, f"{text}: energies are u' K u")
    small(abs(part.mass().sum() / part.volumes().sum() - 1), 1e-13, f"{text}: mass")


def check_patch_test(part, sides, text, bound):
    """For a linear field K u equals its tractions on the outer sides, and 0 inside."""
    young, nu = 2.0, 0.3
    G = np.array([[0.1, 0.3, -0.2], [0.05, -0.1, 0.4], [0.2, 0.1, 0.3]])
    lam, mu = young * nu / (1 + nu) / (1 - 2 * nu), young / 2 / (1 + nu)
    stress = lam * np.trace(G) * np.eye(3) + mu * (G + G.T)
    r = (part.stiffness(young, nu) @ (part.points @ G.T).ravel()).reshape(-1, 3)
    f = sum(part.face_loads(p, s)[1] for p, s in sides) @ stress
    small(abs(r - f).max() / abs(f).max(), bound, f"{text}: constant stress")
    vector = sum(part.face_loads(p, s)[1] for p, s in sides)
    small(abs(vector.sum(0)).max() / abs(vector).max(), bound, f"{text}: the surface is closed")
    small(abs((part.points * vector).sum() / 3 / part.volumes().sum() - 1), bound, f"{text}: divergence of x")


def lame_error(degree, n):
    """Energy of a quarter of a thick cylinder under pressure, plane strain."""
    a, b, young, nu = 1.0, 2.0, 1.0, 0.3
    part = Part([quarter_ring(a, b, 0.5)], degree, (n, n, 1))
    f = -part.face_loads(0, 0)[1].ravel()
    fixed = np.unique(np.concatenate([3 * part.face(0, 2) + 1, 3 * part.face(0, 3),
                                      3 * part.face(0, 4) + 2, 3 * part.face(0, 5) + 2]))
    u = solve(part.stiffness(young, nu), f, fixed)
    inner = (1 + nu) / young * a ** 2 / (b ** 2 - a ** 2) * ((1 - 2 * nu) * a + b ** 2 / a)
    return 1 - f @ u / (inner * a * np.pi / 2 * 0.5)


def main():
    check_hex8()
    outer = [(0, s) for s in range(6)]
    for p in (1, 2, 3, 4):
        part = Part([random_patch([p, p, p], [2, 3, 2], p, double=True)])
        check(part.smallest_volume() > 0, f"random, degree {p}: valid")
        check_kernel(part, f"random, degree {p}")
        check_patch_test(Part([random_patch([p] * 3, [2, 2, 2], 7, rational=False, move=0.0)]), outer,
                         f"B-spline of a box, degree {p}", 1e-12)
        check_patch_test(Part(part.patches, more=4), outer, f"random, degree {p}, 4 points more", 1e-6)
    mixed = Part([random_patch([1, 2, 3], [2, 2, 1], 5, trivial=True)])
    check(mixed.n_cell == 2 * 2 * 1, f"spans of mixed degrees: {mixed.n_cell}")
    check_kernel(mixed, "degrees 1, 2, 3")
    ring = Part([quarter_ring(1.0, 2.0, 0.5)], 2, (2, 8, 1))
    small(abs(ring.volumes().sum() / (np.pi * 3 / 8) - 1), 1e-9, "volume of a quarter of a ring")
    twin = Part(pair(curved()))
    check(twin.n_point == 2 * Part([curved()]).n_point - Part([curved()]).face(0, 1).size, "glued once")
    check_kernel(twin, "two patches, turned")
    inner = {side for x in interfaces(pair(curved())) for side in (x[:2], x[2:4])}
    whole = [(k, s) for k in range(2) for s in range(6) if (k, s) not in inner]
    check(len(whole) == 10, "outer sides of a pair")
    check_patch_test(Part(twin.patches, more=4), whole, "two patches, 4 points more", 1e-6)
    check_refinement()
    check_files()
    for p, order in ((1, 2), (2, 4), (3, 6)):
        first, second = (lame_error(p, n) for n in (3, 6))
        check(second > 0, f"energy from below, degree {p}")
        rate = np.log2(first / second)
        check(order - 0.4 < rate < order + 1.0, f"energy of a cylinder, degree {p}: order {rate:.2f}")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed else 0


def check_refinement():
    """Degree elevation and refinement leave the map unchanged."""
    coarse = random_patch([1, 2, 2], [2, 2, 2], 9, double=True)
    one, other = Part([coarse], more=6), Part([coarse], 3, (2, 1, 3), more=4)
    small(abs(one.volumes().sum() / other.volumes().sum() - 1), 1e-8, "volume after refinement")
    for t in np.random.default_rng(2).random((20, 3)):
        x = one.displacement(0, t, one.points)[1]
        small(abs(x - other.displacement(0, t, other.points)[1]).max(), 1e-14 * 3, "the same map")


def check_files():
    """Files are read back bitwise; interfaces and sides have their names."""
    check(SIDES[3] == "v+", "names of sides")
    patches = pair(curved())
    with tempfile.TemporaryDirectory() as folder:
        for name, read, write in (("a.xml", read_xml, write_xml), ("b.mesh", read_mfem, write_mfem)):
            path = os.path.join(folder, name)
            write(path, patches)
            for a, b in zip(patches, read(path)):
                check(a.points.tobytes() == b.points.tobytes() and a.degrees == tuple(b.degrees) and
                      all((x == y).all() for x, y in zip(a.knots, b.knots)), f"{name}: as written")
                check((b.weights is None) == (a.weights is None) and
                      (a.weights is None or (a.weights == b.weights).all()), f"{name}: weights")
    check_edges(patches)
    straight = Patch([1, 1, 1], [open_knots(1, 1)] * 3, box(1, 1, 1))
    check(interfaces([straight]) == [], "one patch has no interface")


def check_edges(patches):
    """The four edges of a direction of a patch refer to one knot vector and run along it in the same
    direction, as MFEM requires (NURBSExtension::CheckPatches)."""
    with tempfile.NamedTemporaryFile("r", suffix=".mesh") as file:
        write_mfem(file.name, patches)
        words = file.read().split()

    def section(name, width):
        at = words.index(name)
        n = int(words[at + 1])
        return np.array(words[at + 2:at + 2 + n * width], int).reshape(n, width)
    elements, edges = section("elements", 10)[:, 2:], section("edges", 3)
    knots = {(a, b): (k, True) for k, a, b in edges}
    knots.update({(b, a): (k, False) for k, a, b in edges})
    for c in elements:
        for direction in ((0, 1, 3, 2, 4, 5, 7, 6), (0, 3, 1, 2, 4, 7, 5, 6), (0, 4, 1, 5, 2, 6, 3, 7)):
            found = {knots[c[i], c[j]] for i, j in zip(direction[::2], direction[1::2])}
            check(len(found) == 1, f"edges of {len(patches)} patches: {found}")
    check(len(section("boundary", 6)) == 6 * len(patches) - 2 * len(interfaces(patches)), "outer sides")
    check(len(np.unique(elements)) == int(words[words.index("vertices") + 1]), "vertices")


if __name__ == "__main__":
    sys.exit(main())
