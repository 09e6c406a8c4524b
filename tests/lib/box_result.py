"""Results on boxes of hexahedra, written by a test."""
import itertools


def write(path, n, density, edge=2):
    """A result: a box of n hexahedra with edges of `edge`, whose density is a number, True (solid) or False (void)."""
    nodes = list(itertools.product(*(range(m + 1) for m in reversed(n)))) # z, y, x
    number = {node: i for i, node in enumerate(nodes)}
    corners = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
    cells = list(itertools.product(*(range(m) for m in reversed(n))))
    with open(path, "w", encoding="ascii") as file:
        file.write("# vtk DataFile Version 3.0\nmembers\nASCII\nDATASET UNSTRUCTURED_GRID\n")
        file.write(f"POINTS {len(nodes)} double\n" + "".join(f"{edge * x} {edge * y} {edge * z}\n" for z, y, x in nodes))
        file.write(f"CELLS {len(cells)} {9 * len(cells)}\n")
        for z, y, x in cells:
            file.write("8 " + " ".join(str(number[z + dz, y + dy, x + dx]) for dz, dy, dx in corners) + "\n")
        file.write(f"CELL_TYPES {len(cells)}\n" + "12\n" * len(cells))
        file.write(f"CELL_DATA {len(cells)}\nSCALARS density double 1\nLOOKUP_TABLE default\n")
        file.write("".join(f"{max(0.001, float(density(x, y, z))):.9g}\n" for z, y, x in cells))
