"""Parts that are spline volumes, written for hextop: G+Smo XML and MFEM's NURBS mesh v1.0.

A part is a list of Patch. Faces of two patches that have the same control points are glued. Needs
only numpy."""
import numpy

# Directions across and along a face; sides are 2 direction + (0: start, 1: end), "patch1:u-" is 0.
SIDES = ("u-", "u+", "v-", "v+", "w-", "w+")
CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))


class Patch:
    """degrees, knots: degree and open knot vector of each of the three directions; points: [n0][n1][n2][3];
    weights: [n0][n1][n2], or None for a B-spline."""

    def __init__(self, degrees, knots, points, weights=None):
        self.degrees = tuple(degrees)
        self.knots = [numpy.asarray(k, float) for k in knots]
        self.points = numpy.asarray(points, float)
        self.weights = None if weights is None else numpy.asarray(weights, float)
        n = tuple(len(k) - p - 1 for k, p in zip(self.knots, self.degrees))
        if self.points.shape != n + (3,) or weights is not None and self.weights.shape != n:
            raise ValueError(f"the knots need {n} control points, but there are {self.points.shape}")

    def homogeneous(self):
        """[n0][n1][n2][4]: w x, w y, w z, w."""
        w = numpy.ones(self.points.shape[:3]) if self.weights is None else self.weights
        return numpy.concatenate([self.points * w[..., None], w[..., None]], axis=3)

    def face(self, side):
        """Control points and weights of a side: [n][m][4], its directions in ascending order."""
        w = numpy.ones(self.points.shape[:3]) if self.weights is None else self.weights
        both = numpy.concatenate([self.points, w[..., None]], axis=3)
        return both.take(-(side % 2), axis=side // 2)

    def insert(self, direction, knots):
        """This volume with knots inserted in a direction (Boehm's algorithm)."""
        p, u = self.degrees[direction], self.knots[direction]
        a = numpy.moveaxis(self.homogeneous(), direction, 0)
        for t in knots:
            k = numpy.searchsorted(u, t, side="right") - 1
            new = numpy.empty((len(a) + 1,) + a.shape[1:])
            new[: k - p + 1], new[k + 1:] = a[: k - p + 1], a[k:]
            for i in range(k - p + 1, k + 1):
                s = (t - u[i]) / (u[i + p] - u[i])
                new[i] = s * a[i] + (1.0 - s) * a[i - 1]
            a, u = new, numpy.insert(u, k + 1, t)
        a = numpy.moveaxis(a, 0, direction)
        knots = [u if d == direction else self.knots[d] for d in range(3)]
        w = None if self.weights is None else a[..., 3]
        return Patch(self.degrees, knots, a[..., :3] / a[..., 3:], w)

    def turned(self, along, flip=(0, 0, 0)):
        """This volume with direction along[d] as direction d, reversed if flip[d]."""
        def turn(a):
            a = a.transpose(tuple(along) + tuple(range(3, a.ndim)))
            for d in range(3):
                a = numpy.flip(a, d) if flip[d] else a
            return a
        knots = [self.knots[d] for d in along]
        knots = [k[0] + k[-1] - k[::-1] if f else k for k, f in zip(knots, flip)]
        return Patch([self.degrees[d] for d in along], knots, turn(self.points),
                     None if self.weights is None else turn(self.weights))


def open_knots(degree, spans):
    """Uniform knots from 0 to 1 with ends of multiplicity degree + 1."""
    return numpy.r_[numpy.zeros(degree), numpy.linspace(0.0, 1.0, spans + 1), numpy.ones(degree)]


def interfaces(patches, tolerance=1e-9):
    """(patch a, side a, patch b, side b, along, flip) of faces with the same control points: direction d
    of a runs along direction along[d] of b, backwards if flip[d]."""
    size = max(numpy.ptp(p.points.reshape(-1, 3), axis=0).max() for p in patches)
    faces = [(k, side, p.face(side)) for k, p in enumerate(patches) for side in range(6)]
    found = []
    for i, (a, side_a, face_a) in enumerate(faces):
        for b, side_b, face_b in faces[i + 1:]:
            if a == b or len(face_a) * face_a.shape[1] != len(face_b) * face_b.shape[1]:
                continue
            # bounding boxes are compared first, because most faces are far from each other
            if abs(face_a.min((0, 1)) - face_b.min((0, 1))).max() > tolerance * size:
                continue
            for how in range(8):
                swap, flips = how & 1, (how >> 1 & 1, how >> 2 & 1)
                turned = face_b.swapaxes(0, 1) if swap else face_b
                turned = turned[::-1] if flips[0] else turned
                turned = turned[:, ::-1] if flips[1] else turned
                if turned.shape == face_a.shape and abs(turned - face_a).max() <= tolerance * size:
                    found.append((a, side_a, b, side_b) + orientation(side_a, side_b, swap, flips))
                    break
    return found


def orientation(side_a, side_b, swap, flips):
    """along and flip of the three directions, from the two directions in the face."""
    in_a = [d for d in range(3) if d != side_a // 2]
    in_b = [d for d in range(3) if d != side_b // 2]
    along, flip = [0] * 3, [0] * 3
    along[side_a // 2], flip[side_a // 2] = side_b // 2, int(side_a % 2 != side_b % 2)
    for k in range(2):
        along[in_a[k]], flip[in_a[k]] = in_b[1 - k if swap else k], flips[k]
    return along, flip


def rows(values):
    return "\n".join(" ".join(repr(float(x) + 0.0) for x in row) for row in values)


def in_file_order(a):
    """Rows with the first direction fastest."""
    return a.transpose((2, 1, 0) + tuple(range(3, a.ndim))).reshape(-1, *a.shape[3:])


def write_xml(path, patches, boundary=True):
    """G+Smo XML: a geometry per patch and, for more than one, the MultiPatch that glues them."""
    with open(path, "w", encoding="ascii") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?>\n<xml>\n')
        for k, patch in enumerate(patches):
            kind = "Nurbs" if patch.weights is not None else "BSpline"
            f.write(f' <Geometry type="Tensor{kind}3" id="{k}">\n')
            if kind == "Nurbs":
                f.write('  <Basis type="TensorNurbsBasis3">\n')
            f.write('  <Basis type="TensorBSplineBasis3">\n')
            for d in range(3):
                knots = " ".join(repr(float(x)) for x in patch.knots[d])
                f.write(f'   <Basis type="BSplineBasis" index="{d}">\n'
                        f'    <KnotVector degree="{patch.degrees[d]}">{knots}</KnotVector>\n   </Basis>\n')
            f.write("  </Basis>\n")
            if kind == "Nurbs":
                f.write("  <weights>\n" + rows(in_file_order(patch.weights)[:, None]) +
                        "\n  </weights>\n  </Basis>\n")
            f.write('  <coefs geoDim="3">\n' + rows(in_file_order(patch.points)) + "\n  </coefs>\n </Geometry>\n")
        if len(patches) > 1:
            write_multipatch(f, patches, boundary)
        f.write("</xml>\n")


def write_multipatch(f, patches, boundary):
    glued = interfaces(patches)
    f.write(f' <MultiPatch parDim="3" id="{len(patches)}">\n'
            f'  <patches type="id_range">0 {len(patches) - 1}</patches>\n  <interfaces>\n')
    for a, side_a, b, side_b, along, flip in glued:
        words = [a, side_a + 1, b, side_b + 1, *along, *(1 - int(x) for x in flip)]
        f.write(" ".join(str(x) for x in words) + "\n")
    f.write("  </interfaces>\n")
    if boundary:
        inner = {(x[0], x[1]) for x in glued} | {(x[2], x[3]) for x in glued}
        f.write("  <boundary>\n" + "".join(f"{k} {side + 1}\n" for k in range(len(patches))
                                            for side in range(6) if (k, side) not in inner) + "  </boundary>\n")
    f.write(" </MultiPatch>\n")


def write_mfem(path, patches, attribute=lambda patch, side: 1, homogeneous=False):
    """MFEM NURBS mesh v1.0, patches form: coincident corners are glued, edges refer to shared knot
    vectors, and faces that are not interfaces form the boundary with these attributes."""
    glued = interfaces(patches)
    corner, where = [], []
    size = max(numpy.ptp(p.points.reshape(-1, 3), axis=0).max() for p in patches)
    for patch in patches:
        for at in CORNERS:
            x = patch.points[tuple(-i for i in at)]
            for k, y in enumerate(where):
                if abs(x - y).max() <= 1e-9 * size:
                    break
            else:
                k = len(where)
                where.append(x)
            corner.append(k)
    corner = numpy.array(corner).reshape(-1, 8)
    inner = {(x[0], x[1]) for x in glued} | {(x[2], x[3]) for x in glued}
    with open(path, "w", encoding="ascii") as f:
        f.write("MFEM NURBS mesh v1.0\n\n# SEGMENT = 1, SQUARE = 3, CUBE = 5\n\ndimension\n3\n\n"
                f"elements\n{len(patches)}\n")
        f.write("".join("1 5 " + " ".join(map(str, c)) + "\n" for c in corner))
        # counter-clockwise as seen from outside
        around = ((0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (2, 3, 7, 6), (0, 3, 2, 1), (4, 5, 6, 7))
        outer = [(k, s) for k in range(len(patches)) for s in range(6) if (k, s) not in inner]
        f.write(f"\nboundary\n{len(outer)}\n")
        for k, side in outer:
            f.write(f"{attribute(k, side)} 3 " + " ".join(str(corner[k][i]) for i in around[side]) + "\n")
        edges = edges_of(corner)
        f.write(f"\nedges\n{len(edges)}\n" + "".join(f"{k} {a} {b}\n" for (a, b), k in edges.items()))
        f.write(f"\nvertices\n{len(where)}\n\npatches\n")
        for patch in patches:
            f.write("\nknotvectors\n3\n")
            for p, knots in zip(patch.degrees, patch.knots):
                f.write(f"{p} {len(knots) - p - 1} " + " ".join(repr(float(x)) for x in knots) + "\n")
            f.write("\ndimension\n3\n\ncontrolpoints" + ("" if homogeneous else "_cartesian") + "\n")
            whole = patch.homogeneous()
            if not homogeneous:
                whole[..., :3] = patch.points
            f.write(rows(in_file_order(whole)) + "\n")


def edges_of(corner):
    """{(from, to): knot vector} of all patches, in the direction of the knots. The four edges of a
    direction of a patch share a knot vector, and so do patches that share an edge."""
    ends = (((0, 1), (3, 2), (4, 5), (7, 6)), ((0, 3), (1, 2), (4, 7), (5, 6)), ((0, 4), (1, 5), (2, 6), (3, 7)))
    users = {}
    for k, c in enumerate(corner):
        for d in range(3):
            for i, j in ends[d]:
                users.setdefault(frozenset((c[i], c[j])), []).append((k, d, c[i], c[j]))
    number, found = {}, {}
    for k in range(len(corner)):
        for d in range(3):
            if (k, d) in number:
                continue
            n = len(set(number.values()))
            number[k, d] = n
            queue = [(k, d, False)]
            while queue:
                a, direction, back = queue.pop()
                for i, j in ends[direction]:
                    start, end = (corner[a][j], corner[a][i]) if back else (corner[a][i], corner[a][j])
                    found[frozenset((start, end))] = (start, end, n)
                    for b, other, first, _ in users[frozenset((start, end))]:
                        if (b, other) not in number:
                            number[b, other] = n
                            queue.append((b, other, first != start))
    return {(start, end): n for start, end, n in found.values()}
