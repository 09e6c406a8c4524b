#!/usr/bin/env python3
"""A control arm as six cubic B-spline volumes: a hub of three, with an arm on each. Writes
spline_part.xml next to this file.

    python3 examples/spline_part/spline_part.py [FILE.xml | FILE.mesh]

Each patch is a patch of the plane, its outline of cubic curves, lifted to a curved middle surface and
thickened. Outlines of neighbours run into each other without a kink. w is across the thickness."""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from splines import Patch, open_knots, write_mfem, write_xml # pylint: disable=wrong-import-position

ACROSS, LONG = 2, 5 # spans across and along an arm
# Arms: direction at the hub, end, direction there, half widths along the arm (mm, degrees).
ARMS = ((0.0, (150.0, 0.0), 0.0, (27.0, 18.0, 14.0, 22.0)),
        (125.0, (-95.0, 95.0), 150.0, (27.0, 20.0, 15.0, 18.0)),
        (235.0, (-95.0, -95.0), 210.0, (27.0, 20.0, 15.0, 18.0)))
ROOT, FILLET = 34.0, 18.0 # from the middle of the hub to an arm; length of the tangents between arms


def unit(degrees):
    return numpy.array([numpy.cos(numpy.radians(degrees)), numpy.sin(numpy.radians(degrees))])


def left(direction):
    return numpy.array([-direction[1], direction[0]])


def line(a, b):
    return a + numpy.multiply.outer(numpy.arange(4) / 3.0, b - a)


def cubic(points, spans):
    """The Bezier curve of four points [4][2] as a B-spline with `spans` spans: [spans + 3][2]."""
    curve = numpy.zeros((4, 2, 2, 3))
    curve[..., :2] = points[:, None, None]
    curve[:, 1, :, 0] += 1.0 # a volume, so that Patch can insert knots
    curve[:, :, 1, 2] = 1.0
    whole = Patch([3, 1, 1], [open_knots(3, 1), open_knots(1, 1), open_knots(1, 1)], curve)
    return whole.insert(0, numpy.arange(1, spans) / spans).points[:, 0, 0, :2]


def coons(south, north, west, east):
    """Control points [n][m][2] between four outlines: south and north [n], west and east [m]."""
    def greville(n):
        knots = open_knots(3, n - 3)
        return numpy.array([knots[i + 1:i + 4].mean() for i in range(n)])
    s = greville(len(south))[:, None, None]
    t = greville(len(west))[None, :, None]
    net = (1 - t) * south[:, None] + t * north[:, None] + (1 - s) * west[None] + s * east[None]
    net -= ((1 - s) * ((1 - t) * south[0] + t * north[0]) + s * ((1 - t) * south[-1] + t * north[-1]))
    net[:, 0], net[:, -1], net[0], net[-1] = south, north, west, east # bitwise equal, for gluing
    return net


def solid(net):
    """Makes a plane patch a volume: raised towards the end of the first arm, thicker at the hub and the
    ends."""
    x, y = net[..., 0], net[..., 1]
    r = numpy.hypot(x, y)
    middle = 22.0 * (numpy.clip(x, 0.0, None) / 150.0) ** 2
    thick = 22.0 + 8.0 * numpy.exp(-(r / 45.0) ** 2) + 6.0 * (r / 130.0) ** 4
    points = numpy.stack([numpy.concatenate([net, (middle + side * thick / 2)[..., None]], 2)
                          for side in (-1, 1)], 2)
    n, m = net.shape[:2]
    knots = [open_knots(3, n - 3), open_knots(3, m - 3), open_knots(1, 1)]
    return Patch([3, 3, 1], knots, numpy.round(points, 6))


def parts():
    """Patches 1 to 3: the hub, u from its middle; 4 to 6: the arms, u from the hub to the end, v across."""
    rim, side, arms = [], [], []
    for angle, end, last, widths in ARMS:
        a, b = unit(angle), unit(last)
        root, end = ROOT * a, numpy.array(end)
        reach = numpy.linalg.norm(end - root) / 3.0
        centre = numpy.array([root, root + reach * a, end - reach * b, end])
        across = numpy.array([left(a), left(a), left(b), left(b)]) * numpy.array(widths)[:, None]
        right, other = cubic(centre - across, LONG), cubic(centre + across, LONG)
        start = cubic(line(right[0], other[0]), ACROSS)
        arms.append(coons(right, other, start, cubic(line(right[-1], other[-1]), ACROSS)))
        rim += [right[0], other[0]]
        side.append((start, a))
    middle = numpy.zeros(2)
    hub = []
    spokes = [cubic(line(middle, rim[2 * k]), ACROSS) for k in range(3)]
    for k in range(3):
        start, a = side[k]
        after, b = rim[(2 * k + 2) % 6], side[(k + 1) % 3][1]
        corner = rim[2 * k + 1]
        free = cubic(numpy.array([corner, corner - FILLET * a, after - FILLET * b, after]), ACROSS)
        # u from the middle to the arm's first corner, v towards the next arm's
        hub.append(coons(spokes[k], free[::-1], spokes[(k + 1) % 3], start))
    # one arm and one patch of the hub have other directions, so their faces meet rotated
    patches = [solid(net) for net in hub + arms]
    patches[1] = patches[1].turned((1, 0, 2), (1, 0, 0))
    patches[4] = patches[4].turned((0, 1, 2), (1, 0, 1))
    return patches


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else __file__[:-2] + "xml"
    (write_mfem if path.endswith(".mesh") else write_xml)(path, parts())
    print(f"{path}: {len(parts())} patches")
