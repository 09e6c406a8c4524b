"""Isogeometric analysis in numpy and scipy, small and slow, without any of hextop's C code: the reference
for test_spline.py.

test_iga_reference.py holds it against formulas; without scipy both end with 77.

Functions by scipy.interpolate.BSpline, rational by the quotient rule, degree + 1 Gauss points a
direction, patches glued where faces have the same control points. A cell is a span that is not empty;
cells patch by patch, the first direction fastest."""
import os
import sys
import xml.etree.ElementTree

try:
    import numpy as np
    import scipy.sparse as sp
    import scipy.sparse.linalg as spla
    from scipy.interpolate import BSpline
except ImportError as missing:
    # Debian's packages belong to the system's Python, which need not be the first one in PATH.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("HEXTOP_SYSTEM_PYTHON"):
        os.execve(system, [system] + sys.argv, dict(os.environ, HEXTOP_SYSTEM_PYTHON="1"))
    print(f"SKIPPED: {missing} (Debian: python3-scipy)")
    sys.exit(77)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python"))
# pylint: disable=wrong-import-position
from splines import Patch, interfaces


class Axis:
    """One direction: the functions, Gauss points and weights of each non-empty span."""

    def __init__(self, degree, knots, n_gauss):
        x, w = np.polynomial.legendre.leggauss(n_gauss)
        n = len(knots) - degree - 1
        at = np.flatnonzero(np.diff(knots) > 0.0)
        length = knots[at + 1] - knots[at]
        self.t = knots[at][:, None] + length[:, None] * (1.0 + x) / 2.0
        self.weight = length[:, None] * w / 2.0
        self.index = at[:, None] - degree + np.arange(degree + 1)
        curve = BSpline(knots, np.eye(n), degree)
        rows = np.arange(len(at))[:, None, None], np.arange(len(x))[None, :, None], self.index[:, None, :]
        self.value, self.slope = curve(self.t)[rows], curve(self.t, nu=1)[rows]
        self.n_span = len(at)


def elevated(patch, degree):
    """The volume with directions of a lower degree raised to this one, by collocation at Greville
    points. Continuity at knots is kept, so the multiplicity of each knot increases with the degree."""
    for d in range(3):
        p, u = patch.degrees[d], patch.knots[d]
        gain = degree - p
        if gain <= 0:
            continue
        knots = np.sort(np.r_[u, np.repeat(np.unique(u), gain)])
        patch = resampled(patch, d, degree, knots)
    return patch


def resampled(patch, d, degree, knots):
    old = patch.homogeneous()
    n = len(knots) - degree - 1
    t = np.array([knots[i + 1:i + degree + 1].mean() for i in range(n)])
    a = np.moveaxis(old, d, 0)
    values = BSpline(patch.knots[d], a, patch.degrees[d])(t)
    matrix = BSpline(knots, np.eye(n), degree)(t)
    a = np.moveaxis(np.linalg.solve(matrix, values.reshape(n, -1)).reshape(values.shape), 0, d)
    degrees, every = list(patch.degrees), list(patch.knots)
    degrees[d], every[d] = degree, knots
    return Patch(degrees, every, a[..., :3] / a[..., 3:], None if patch.weights is None else a[..., 3])


def refined(patch, counts):
    """Divides every span of direction d into counts[d] equal parts."""
    for d in range(3):
        u = np.unique(patch.knots[d])
        new = [a + (b - a) * k / counts[d] for a, b in zip(u, u[1:]) for k in range(1, counts[d])]
        patch = patch.insert(d, new)
    return patch


class Part:
    """Glued patches with the data at their Gauss points: degree + 1 + `more` per direction."""

    def __init__(self, patches, degree=0, refine=(1, 1, 1), more=0):
        self.patches = [refined(elevated(p, degree), refine) for p in patches]
        sizes = [p.points[..., 0].size for p in self.patches]
        start = np.r_[0, np.cumsum(sizes)]
        raw = [start[k] + np.arange(n).reshape(p.points.shape[2::-1]).T
               for k, (p, n) in enumerate(zip(self.patches, sizes))]
        new = self.glue(raw, start[-1])
        self.number = [new[r] for r in raw]
        self.n_point = 1 + max(n.max() for n in self.number)
        self.points = np.empty((self.n_point, 3))
        for n, p in zip(self.number, self.patches):
            self.points[n] = p.points
        self.axes = [[Axis(p, k, p + 1 + more) for p, k in zip(patch.degrees, patch.knots)]
                     for patch in self.patches]
        spans = [[a.n_span for a in axes] for axes in self.axes]
        self.first_cell = np.r_[0, np.cumsum([np.prod(s) for s in spans])]
        self.n_cell = self.first_cell[-1]

    def glue(self, raw, n):
        """New number of each control point, in the order of their first occurrence in the patches."""
        one, other = [], []
        for a, side_a, b, side_b, along, flip in interfaces(self.patches):
            in_a = [d for d in range(3) if d != side_a // 2]
            face_a = raw[a].take(-(side_a % 2), axis=side_a // 2)
            face_b = raw[b].take(-(side_b % 2), axis=side_b // 2)
            if along[in_a[0]] > along[in_a[1]]:
                face_b = face_b.T
            for k in range(2):
                face_b = np.flip(face_b, k) if flip[in_a[k]] else face_b
            one.append(face_a.ravel())
            other.append(face_b.ravel())
        if not one:
            return np.arange(n)
        one, other = np.concatenate(one), np.concatenate(other)
        graph = sp.coo_matrix((np.ones(len(one)), (one, other)), shape=(n, n))
        label = sp.csgraph.connected_components(graph, directed=False)[1]
        first = np.unique(label, return_index=True)[1]
        rank = np.empty(len(first), int)
        rank[np.argsort(first)] = np.arange(len(first))
        return rank[label]

    def rows_of_cells(self):
        """For the cells along the first direction of a patch: cells [s], numbers [s][a], gradients
        [s][q][a][3], values [s][q][a], dV [s][q], x [s][q][3]; a and q run first direction fastest."""
        for k, (patch, (u, v, w)) in enumerate(zip(self.patches, self.axes)):
            weights = np.ones(patch.points.shape[:3]) if patch.weights is None else patch.weights
            for kw in range(w.n_span):
                for kv in range(v.n_span):
                    pick = (u.index[:, None, None, :], v.index[kv][:, None], w.index[kw][:, None, None])
                    number = self.number[k][pick].reshape(u.n_span, -1)
                    h = weights[pick].reshape(u.n_span, -1)

                    def product(a, b, c):
                        out = np.einsum("sia,jb,kc->skjicba", a, b[kv], c[kw])
                        return out.reshape(u.n_span, -1, number.shape[1])
                    value = product(u.value, v.value, w.value) * h[:, None]
                    slope = np.stack([product(u.slope, v.value, w.value), product(u.value, v.slope, w.value),
                                      product(u.value, v.value, w.slope)], axis=3) * h[:, None, :, None]
                    total = value.sum(2, keepdims=True)
                    value = value / total
                    slope = (slope - value[..., None] * slope.sum(2, keepdims=True)) / total[..., None]
                    points = self.points[number]
                    jacobian = np.einsum("sqad,sai->sqdi", slope, points)
                    dv = np.linalg.det(jacobian) * np.einsum(
                        "si,j,k->skji", u.weight, v.weight[kv], w.weight[kw]).reshape(u.n_span, -1)
                    gradient = np.einsum("sqid,sqad->sqai", np.linalg.inv(jacobian), slope)
                    first = self.first_cell[k] + u.n_span * (kv + v.n_span * kw)
                    yield first + np.arange(u.n_span), number, gradient, value, dv, value @ points

    def assemble(self, of_cells, per_point):
        """Sparse sum of of_cells(cells, gradient, value, dv) -> [s][n a][n a], n = per_point."""
        rows, columns, values = [], [], []
        for cells, number, gradient, value, dv, _ in self.rows_of_cells():
            dof = (number[..., None] * per_point + np.arange(per_point)).reshape(len(cells), -1)
            block = of_cells(cells, gradient, value, dv)
            rows.append(np.broadcast_to(dof[:, :, None], block.shape).ravel())
            columns.append(np.broadcast_to(dof[:, None, :], block.shape).ravel())
            values.append(block.ravel())
        n = self.n_point * per_point
        return sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
                             shape=(n, n)).tocsr()

    def stiffness(self, young, nu, factor=None):
        """K of isotropic elasticity, cell c times factor[c]."""
        return self.assemble(lambda cells, *at: elastic(young, nu, factor, cells, *at), 3)

    def conduction(self, conductivity, factor=None):
        def block(cells, gradient, _, dv):
            c = conductivity * (np.ones(len(cells)) if factor is None else factor[cells])
            return np.einsum("s,sqai,sq,sqbi->sab", c, gradient, dv, gradient)
        return self.assemble(block, 1)

    def mass(self):
        return self.assemble(lambda cells, g, value, dv: np.einsum("sqa,sq,sqb->sab", value, dv, value), 1)

    def volumes(self):
        out = np.empty(self.n_cell)
        for cells, _, _, _, dv, _ in self.rows_of_cells():
            out[cells] = dv.sum(1)
        return out

    def smallest_volume(self):
        """The smallest dV of a Gauss point: the part is valid if it is positive."""
        return min(dv.min() for _, _, _, _, dv, _ in self.rows_of_cells())

    def energies(self, u, young, nu):
        """u_e' K_e u_e per cell at factor 1, from the strains (not from K): u [3 n_point]."""
        lam, mu = lame(young, nu)
        out = np.empty(self.n_cell)
        for cells, number, gradient, _, dv, _ in self.rows_of_cells():
            grad = np.einsum("sai,sqaj->sqij", u.reshape(-1, 3)[number], gradient)
            strain = (grad + grad.swapaxes(2, 3)) / 2.0
            density = lam * np.trace(strain, axis1=2, axis2=3) ** 2 + 2 * mu * (strain ** 2).sum((2, 3))
            out[cells] = (density * dv).sum(1)
        return out

    def face(self, patch, side):
        """Numbers of the control points of a side."""
        return np.unique(self.number[patch].take(-(side % 2), axis=side // 2))

    def face_loads(self, patch, side):
        """(N, n dA): for each control point the integral of its function over the side [n_point], and the
        same times the outward normal [n_point][3]."""
        p, d = self.patches[patch], side // 2
        b, c = [e for e in range(3) if e != d]
        number = self.number[patch].take(-(side % 2), axis=d)
        face = p.face(side)
        first, second = self.axes[patch][b], self.axes[patch][c]
        scalar, vector = np.zeros(self.n_point), np.zeros((self.n_point, 3))
        for i in range(first.n_span):
            for j in range(second.n_span):
                at = np.ix_(first.index[i], second.index[j])
                x, w = face[at][..., :3], face[at][..., 3]
                value = np.einsum("qa,rb->qrab", first.value[i], second.value[j]) * w
                slope = np.stack([np.einsum("qa,rb->qrab", first.slope[i], second.value[j]),
                                  np.einsum("qa,rb->qrab", first.value[i], second.slope[j])], 4) * w[..., None]
                total = value.sum((2, 3), keepdims=True)
                value = value / total
                slope = (slope - value[..., None] * slope.sum((2, 3), keepdims=True)) / total[..., None]
                tangent = np.einsum("qrabd,abi->qrdi", slope, x)
                normal = np.cross(tangent[:, :, 0], tangent[:, :, 1])
                # (b, c) after d is a right-handed order except for d = 1
                normal *= (1.0 if side % 2 else -1.0) * (-1.0 if d == 1 else 1.0)
                weight = np.outer(first.weight[i], second.weight[j])
                area = np.linalg.norm(normal, axis=2) * weight
                np.add.at(scalar, number[at], np.einsum("qrab,qr->ab", value, area))
                np.add.at(vector, number[at], np.einsum("qrab,qri,qr->abi", value, normal, weight))
        return scalar, vector

    def displacement(self, patch, t, u):
        """u [n_point][any] and the position at parameters t of a patch."""
        p = self.patches[patch]
        n = [BSpline(p.knots[d], np.eye(p.points.shape[d]), p.degrees[d])(t[d]) for d in range(3)]
        shape = np.einsum("i,j,k->ijk", *n) * (1.0 if p.weights is None else p.weights)
        shape /= shape.sum()
        return np.einsum("ijk,ijkc->c", shape, u[self.number[patch]]), np.einsum("ijk,ijkc->c", shape, p.points)


def lame(young, nu):
    return young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 * (1 + nu))


def elastic(young, nu, factor, cells, gradient, _, dv):
    """K_ab = factor (lambda g_a g_b' + mu g_b g_a' + mu g_a.g_b I), summed over Gauss points."""
    lam, mu = lame(young, nu)
    s, q, a, _ = gradient.shape
    flat = gradient.reshape(s, q, 3 * a)
    m = (flat.swapaxes(1, 2) @ (flat * dv[..., None])).reshape(s, a, 3, a, 3)
    k = lam * m + mu * m.swapaxes(2, 4)
    trace = mu * np.trace(m, axis1=2, axis2=4)
    for i in range(3):
        k[:, :, i, :, i] += trace
    if factor is not None:
        k *= factor[cells][:, None, None, None, None]
    return k.reshape(s, 3 * a, 3 * a)


def solve(K, f, fixed):
    """u [n] or [n][cases], 0 where fixed."""
    u = np.zeros_like(f)
    free = np.setdiff1d(np.arange(K.shape[0]), fixed)
    u[free] = spla.splu(K[free][:, free].tocsc()).solve(f[free])
    return u


def read_xml(path):
    """Patches of a G+Smo file."""
    patches = []
    for geometry in xml.etree.ElementTree.parse(path).getroot().iter("Geometry"):
        knots = list(geometry.iter("KnotVector"))
        degrees = [int(k.get("degree")) for k in knots]
        knots = [np.array(k.text.split(), float) for k in knots]
        n = [len(k) - p - 1 for k, p in zip(knots, degrees)]
        numbers = np.array(geometry.find("coefs").text.split(), float)
        weights = next(geometry.iter("weights"), None)
        if weights is not None:
            weights = np.array(weights.text.split(), float).reshape(n[::-1]).T
        patches.append(Patch(degrees, knots, numbers.reshape(n[::-1] + [3]).transpose(2, 1, 0, 3), weights))
    return patches


def read_mfem(path):
    """Patches of an MFEM NURBS mesh in its patches form."""
    with open(path, encoding="ascii") as f:
        words = " ".join(line.split("#")[0] for line in f).split()
    at = words.index("patches") + 1
    patches = []
    while at < len(words):
        at += 2 # knotvectors 3
        degrees, knots = [], []
        for _ in range(3):
            p, n = int(words[at]), int(words[at + 1])
            degrees.append(p)
            knots.append(np.array(words[at + 2:at + 3 + n + p], float))
            at += 3 + n + p
        n = [len(k) - p - 1 for k, p in zip(knots, degrees)]
        kind = words[at + 2] # dimension 3
        numbers = np.array(words[at + 3:at + 3 + 4 * np.prod(n)], float).reshape(n[::-1] + [4]).transpose(2, 1, 0, 3)
        at += 3 + 4 * np.prod(n)
        points = numbers[..., :3] / (1.0 if kind == "controlpoints_cartesian" else numbers[..., 3:])
        patches.append(Patch(degrees, knots, points, numbers[..., 3]))
    return patches
