#!/usr/bin/env python3
"""A pipe bend between two round flanges as 20 NURBS volumes: exact circles, an exact torus. Writes
pipe_bracket.xml next to this file.

    python3 examples/pipe_bracket/pipe_bracket.py [FILE.xml | FILE.mesh]

Directions of a patch: u along the radius, v around, w along the pipe."""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from splines import Patch, open_knots, write_mfem, write_xml # pylint: disable=wrong-import-position

BORE, WALL, FLANGE = 20.0, 34.0, 60.0 # radii, mm
BEND, THICK = 80.0, 12.0              # radius of the bend's middle line; of a flange
ARC = numpy.sqrt(0.5)                 # weight of the middle point of a quarter of a circle
BEND_SPANS, FLANGE_SPANS = 8, 2       # spans of bend, wall and flange have about the same size


def section(inner, outer, quarter):
    """A quarter of a ring: its points across the first flange [2][3][2] = (x, y), about (0, 0)."""
    corner = numpy.array([[-1.0, 0.0], [-1.0, -1.0], [0.0, -1.0]])
    turn = numpy.array([[0.0, 1.0], [-1.0, 0.0]]).T
    around = corner @ numpy.linalg.matrix_power(turn, quarter)
    return numpy.array([inner, outer])[:, None, None] * around


def straight(ring, start, end):
    """A section along z from start to end."""
    points = numpy.zeros((2, 3, 2, 3))
    points[..., :2] = ring[:, :, None]
    points[..., 2] = [start, end]
    weights = numpy.broadcast_to(numpy.array([1.0, ARC, 1.0])[None, :, None], (2, 3, 2))
    return Patch([1, 2, 1], [open_knots(1, 1), open_knots(2, 1), open_knots(1, 1)], points, weights)


def swept(ring):
    """A section rotated by a quarter turn about the axis x = BEND, z = 0."""
    points = numpy.zeros((2, 3, 3, 3))
    reach = BEND - ring[..., 0]
    points[..., 0] = BEND - reach[..., None] * [1.0, 1.0, 0.0]
    points[..., 1] = ring[..., 1, None]
    points[..., 2] = reach[..., None] * [0.0, 1.0, 1.0]
    weights = numpy.multiply.outer([1.0, 1.0], numpy.multiply.outer([1.0, ARC, 1.0], [1.0, ARC, 1.0]))
    return Patch([1, 2, 2], [open_knots(1, 1), open_knots(2, 1), open_knots(2, 1)], points, weights)


def after_bend(patch):
    """The patch, which lies at z >= 0 before the bend, moved to the bend's other end."""
    points = patch.points.copy()
    points[..., 0] = BEND + patch.points[..., 2]
    points[..., 2] = BEND - patch.points[..., 0]
    return Patch(patch.degrees, patch.knots, points, patch.weights)


def cut(patch, direction, spans):
    return patch.insert(direction, numpy.arange(1, spans) / spans)


def parts():
    """Patches 1 to 4: first flange's end of the pipe; 5 to 8: bend; 9 to 12: the pipe's other end;
    13 to 16 and 17 to 20: the flanges around these ends."""
    pipe = [section(BORE, WALL, q) for q in range(4)]
    flange = [section(WALL, FLANGE, q) for q in range(4)]
    return ([straight(s, -THICK, 0.0) for s in pipe] + [cut(swept(s), 2, BEND_SPANS) for s in pipe] +
            [after_bend(straight(s, 0.0, THICK)) for s in pipe] +
            [cut(straight(s, -THICK, 0.0), 0, FLANGE_SPANS) for s in flange] +
            [cut(after_bend(straight(s, 0.0, THICK)), 0, FLANGE_SPANS) for s in flange])


def volume():
    """Exact volume, by Pappus's theorem."""
    pipe = numpy.pi * (WALL ** 2 - BORE ** 2)
    return pipe * (numpy.pi / 2 * BEND + 2 * THICK) + 2 * THICK * numpy.pi * (FLANGE ** 2 - WALL ** 2)


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else __file__[:-2] + "xml"
    (write_mfem if path.endswith(".mesh") else write_xml)(path, parts())
    print(f"{path}: volume {volume():.2f} mm3")
