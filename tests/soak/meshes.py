"""Meshes of the soak test: a description of each (box, sets, bores), and boxes of every kind of cell."""
import random

KUHN = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
# Faces of a hexahedron, from outside against the clock; from inside bases of pyramids.
FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
VTK = {"hexahedron": 12, "wedge": 13, "pyramid": 14, "tetrahedron": 10}


class Part:
    """A mesh as the configs need it. sides: sets that span boundary faces, opposite ones at even and odd indices;
    bores: (set, point on the axis, axis, across); cells: sets of elements; planes: normals of symmetry planes through
    the middle; sets: their definitions."""

    def __init__(self, mesh, box, elements, sides, sets="", bores=(), cells=(), planes=(0, 1, 2), heat=True):
        self.mesh, self.box, self.elements, self.sides, self.sets = mesh, box, elements, sides, sets
        self.bores, self.cells, self.planes, self.heat = bores, cells, planes, heat
        self.size = [hi - lo for lo, hi in zip(*box)]
        self.middle = [0.5 * (lo + hi) for lo, hi in zip(*box)]


def number(value, digits=9):
    """Formats with a fraction, which all numbers of a vector must have."""
    text = "%.*g" % (digits, value)
    return text if set(text) & set(".en") else text + ".0"


def vector(values):
    return "[%s]" % ", ".join(number(v) for v in values)


def box_set(name, low, high):
    return '{ name = "%s"; box = { min = %s; max = %s; }; }' % (name, vector(low), vector(high))


def side_sets(box):
    """The six sides of a box as sets, opposite ones in succession, and a block of elements inside."""
    sets, names = [], []
    for axis, pair in enumerate((("x0", "x1"), ("y0", "y1"), ("z0", "z1"))):
        for end, name in enumerate(pair):
            low, high = list(box[0]), list(box[1])
            low[axis] = high[axis] = box[end][axis]
            sets.append(box_set(name, low, high))
            names.append(name)
    low = [a + 0.3 * (b - a) for a, b in zip(*box)]
    high = [a + 0.6 * (b - a) for a, b in zip(*box)]
    sets.append(box_set("block", low, high))
    return sets, names


def of_box(mesh, box, elements, **more):
    sets, names = side_sets(box)
    return Part(mesh, box, elements, names, ", ".join(sets), cells=("block",), **more)


def cells_of(kind, k, nz):
    """The kind of cells in layer k of nz."""
    if kind != "layers":
        return kind
    change = max(1, nz // 4)  # one layer: quadrilaterals below, triangles above
    if k <= change:
        return "hexahedron" if k < change else "change"
    return "wedge" if k < 3 * nz // 4 else "tetrahedron"


def split(kind, c, centre):
    """Splits a hexahedron with corners c into cells of the kind: [(name, points)]; centre: its middle, a point."""
    if kind == "tetrahedron":
        return [("tetrahedron", [c[i] for i in t]) for t in KUHN]
    if kind == "wedge":
        return [("wedge", [c[0], c[2], c[1], c[4], c[6], c[5]]), ("wedge", [c[0], c[3], c[2], c[4], c[7], c[6]])]
    if kind == "hexahedron":
        return [("hexahedron", list(c))]
    base = [f for f in FACES if kind == "pyramid" or f != (4, 5, 6, 7)]
    out = [("pyramid", [c[i] for i in reversed(f)] + [centre]) for f in base]
    if kind == "change":  # transition from hexahedra below to wedges above: two tetrahedra at the top
        out += [("tetrahedron", [centre, c[4], c[5], c[6]]), ("tetrahedron", [centre, c[4], c[6], c[7]])]
    return out


def write_box(path, kind, n, seed):
    """A box of n[0] x n[1] x n[2] unit cubes, each divided into cells of the kind ("layers": all kinds, one above the
    other), with interior nodes displaced by up to 0.08; returns the number of cells."""
    rng = random.Random(seed)
    nx, ny, nz = n
    points, cells = [], []
    for k in range(nz + 1):
        for j in range(ny + 1):
            for i in range(nx + 1):
                inner = 0 < i < nx and 0 < j < ny and 0 < k < nz
                points.append([v + (rng.uniform(-0.08, 0.08) if inner else 0.0) for v in (i, j, k)])
    at = lambda i, j, k: (k * (ny + 1) + j) * (nx + 1) + i
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                c = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)]
                c += [a + (nx + 1) * (ny + 1) for a in c]
                what, centre = cells_of(kind, k, nz), len(points)
                if what in ("pyramid", "change"):
                    points.append([sum(points[a][d] for a in c) / 8 for d in range(3)])
                cells += split(what, c, centre)
    with open(path, "w") as f:
        f.write("# vtk DataFile Version 3.0\n%s\nASCII\nDATASET UNSTRUCTURED_GRID\n" % kind)
        f.write("POINTS %d double\n" % len(points))
        f.write("".join("%.17g %.17g %.17g\n" % tuple(p) for p in points))
        f.write("CELLS %d %d\n" % (len(cells), sum(1 + len(c) for _, c in cells)))
        f.write("".join("%d %s\n" % (len(c), " ".join(map(str, c))) for _, c in cells))
        f.write("CELL_TYPES %d\n" % len(cells))
        f.write("".join("%d\n" % VTK[name] for name, _ in cells))
    return len(cells)


def generated(rng, most):
    """A mesh of the program's generators, up to about `most` elements."""
    name = rng.choice(("cantilever", "cantilever", "cantilever", "lbeam", "michell", "conrod"))
    extra = ""
    if rng.random() < 0.5:
        extra = " distort = %.2f; seed = %d;" % (rng.uniform(0.05, 0.25), rng.randrange(1000))
    if name == "cantilever":
        n = [rng.randint(6, 30), rng.randint(3, 16), rng.randint(3, 16)]
        while n[0] * n[1] * n[2] > most:
            n = [max(2, v * 3 // 4) for v in n]
        mesh = 'generator = "cantilever"; nx = %d; ny = %d; nz = %d;%s' % (*n, extra)
        return of_box(mesh, ([0, 0, 0], n), n[0] * n[1] * n[2])
    if name == "lbeam":
        n, thick = 5 * rng.randint(2, 7), rng.randint(2, 6)
        while 16 * n * n * thick // 25 > most and n > 5:
            n -= 5
        mesh = 'generator = "lbeam"; nx = %d; ny = %d;%s' % (n, thick, extra)
        return Part(mesh, ([0, 0, 0], [n, thick, n]), 16 * n * n * thick // 25, ["top", "tip"], planes=(1,),
                    sets=box_set("block", [0, 0, 0], [0.3 * n, thick, 0.3 * n]), cells=("block",))
    if name == "michell":
        n, thick = rng.randint(16, 40), rng.randint(2, 3)
        while 0.72 * n * n * thick > most and n > 11:
            n -= 4
        mesh = 'generator = "michell"; nx = %d; ny = %d;%s' % (n, thick, extra)
        return Part(mesh, ([0, 0, 0], [50, 0.8, 40]), int(0.72 * n * n * thick), ["notch", "right", "top", "bottom"],
                    planes=(1, 2))
    n, thick = 2 * rng.randint(6, 12), rng.randint(2, 4)
    while 1.9 * n * n * thick > most and n > 10:
        n -= 2
    mesh = 'generator = "conrod"; nx = %d; ny = %d;%s' % (n, thick, extra)
    return Part(mesh, ([0, 0, 0], [150, 20, 350]), int(1.9 * n * n * thick), ["lower-bore", "upper-bore"],
                bores=(("upper-bore", [75, 10, 275], 1, (0, 2)),), cells=("rings",), planes=(0, 1))


def written(rng, most, folder, name):
    """A box of any kind of cells, in a file of its own."""
    kind = rng.choice(("tetrahedron", "tetrahedron", "wedge", "pyramid", "layers", "layers", "hexahedron"))
    per = {"tetrahedron": 6, "wedge": 2, "pyramid": 6, "layers": 4, "hexahedron": 1}[kind]
    n = [rng.randint(4, 20), rng.randint(3, 10), rng.randint(4, 10)]
    while per * n[0] * n[1] * n[2] > most and max(n) > 4:
        n = [max(4, v * 3 // 4) for v in n]
    elements = write_box("%s/%s.vtk" % (folder, name), kind, n, rng.randrange(10**6))
    return of_box('file = "%s.vtk";' % name, ([0, 0, 0], n), elements)


def from_tree(rng, most, source):
    """A mesh of examples/: every format that hextop reads, and the three parts."""
    def of(path, box, elements, **more):
        return of_box('file = "%s/examples/%s";' % (source, path), box, elements, **more)

    def cylinder(name, point, radius):
        return ('{ name = "%s"; cylinder = { point = %s; axis = [0.0, 0.0, 1.0]; radius = %g; inner = %g; '
                "tolerance = 0.01; }; }" % (name, vector(point), radius, radius))

    which = rng.randrange(0 if most >= 3000 else 6, 12)  # the parts have 3,000 elements
    kinds = ([0, 0, 0], [2.5, 1, 1.5])
    if which < 2:
        bolts = ", ".join((cylinder("upper-bolt", [24, 62, 0], 8.5), cylinder("lower-bolt", [24, -62, 0], 8.5),
                           cylinder("pin", [184, -18, 0], 16),
                           '{ name = "bolts"; or = ["upper-bolt", "lower-bolt"]; }'))
        return Part('file = "%s/examples/bracket/bracket.vtk";' % source, ([0, -85.99, 0], [218, 85.9, 36]), 3100,
                    ["bolts", "pin"], sets=bolts, bores=(("pin", [184, -18, 18], 2, (0, 1)),), planes=(2,))
    if which < 4:
        return Part('file = "%s/examples/bell-crank/bell-crank.msh";' % source, ([-149, -29, -24], [59, 129, 24]), 3256,
                    ["pivot", "output", "pivot", "input"], cells=("hubs",), planes=(2,),
                    bores=(("output", [40, 110, 0], 2, (0, 1)), ("input", [-130, 25, 0], 2, (0, 1))))
    if which < 6:
        return Part('file = "%s/examples/hook/hook.msh";' % source, ([-105, -105, -30], [105, 98.6, 30]), 3280,
                    ["collar", "throat"], planes=(2,))
    if which == 6:
        return of("meshes/%s" % rng.choice(("kinds_22_second.msh", "kinds_41_binary.msh")), kinds, 407, planes=())
    if which == 7:
        return of("meshes/block.inp", ([0, 0, 0], [2, 1, 1]), 16)
    if which == 8:
        return of("meshes/cube.cdb", ([0, 0, 0], [10, 10, 10]), 8)
    if which == 9:
        return of("meshes/blocks_41.msh", ([0, 0, 0], [3, 1, 1]), 16)
    name = rng.choice(("lplate.vtk", "lplate_22.msh", "lplate_22_binary.msh", "lplate_41.msh"))
    box = ([0, 0, 0], [4, 4, 1])
    sets, names = side_sets(box)
    return Part('file = "%s/examples/meshes/%s";' % (source, name), box, 40, names[:2] + names[4:], ", ".join(sets[:6]),
                planes=(2,))
