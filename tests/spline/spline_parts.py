"""Small spline volumes for tests: perturbed boxes, a ring, two patches that meet rotated."""
import numpy as np
from splines import Patch, open_knots


def greville(degree, knots):
    n = len(knots) - degree - 1
    return np.array([knots[i + 1:i + degree + 1].mean() for i in range(n)])


def box(*sizes):
    """Corners of a box: control points of degree 1."""
    return np.stack(np.meshgrid(*[(0.0, s) for s in sizes], indexing="ij"), 3)


def random_patch(degrees, spans, seed, double=False, trivial=False, rational=True, move=0.08):
    """A box whose control points and weights (not a tensor product) are perturbed at random, by `move` of
    their distance. double: a knot of the second direction is repeated, so continuity is lower there;
    trivial: the first direction has a knot of full multiplicity, C0, and uneven spans."""
    rng = np.random.default_rng(seed)
    knots = [open_knots(p, n) for p, n in zip(degrees, spans)]
    if double and degrees[1] > 1:
        knots[1] = np.sort(np.r_[knots[1], knots[1][degrees[1] + 1]])
    if trivial:
        knots[0] = np.sort(np.r_[knots[0], [0.5] * (degrees[0] - np.count_nonzero(knots[0] == 0.5))])
        knots[1] = knots[1] ** 1.5
    at = [greville(p, k) for p, k in zip(degrees, knots)]
    x = np.stack(np.meshgrid(*at, indexing="ij"), 3)
    step = np.array([np.diff(a).min() for a in at])
    x = x * (2.0, 1.5, 1.0) + move * step * rng.uniform(-1, 1, x.shape)
    return Patch(degrees, knots, x, rng.uniform(0.7, 1.4, x.shape[:3]) if rational else None)


def quarter_ring(a, b, height):
    """A quarter ring of radii a to b in the first quadrant with this height: radial, around, along z."""
    around = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    w = np.array([1.0, np.sqrt(0.5), 1.0])
    x = np.zeros((2, 3, 2, 3))
    x[..., :2] = np.array([a, b])[:, None, None, None] * around[None, :, None]
    x[..., 2] = np.array([0.0, height])
    return Patch([1, 2, 1], [open_knots(1, 1), open_knots(2, 1), open_knots(1, 1)], x,
                 np.broadcast_to(w[None, :, None], (2, 3, 2)))


def curved():
    """A rational patch of degrees 2, 3, 2 whose side u+ is not flat."""
    return random_patch([2, 3, 2], [2, 2, 1], 11, double=True, move=0.1)


def pair(patch):
    """The patch and a longer mirror image beyond the plane through its largest x: only control points of
    that side, u+, are moved into the plane. The second is rotated: its directions are permuted."""
    points = patch.points.copy()
    points[-1, :, :, 0] = points[..., 0].max()
    first = Patch(patch.degrees, patch.knots, points, patch.weights)
    image = points.copy()
    image[..., 0] = 2.3 * points[..., 0].max() - 1.3 * points[..., 0]
    second = Patch(patch.degrees, patch.knots, image, patch.weights)
    # mirrored: reversing one direction makes it right-handed, then all three are permuted
    return [first, second.turned((0, 1, 2), (1, 0, 0)).turned((2, 0, 1), (0, 1, 1))]
