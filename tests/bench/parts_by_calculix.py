#!/usr/bin/env python3
"""Judges the parts that `hextop lightest` keeps under limits on stresses and displacements by CalculiX: C3D10 on tetrahedra
of the same surface by gmsh and by tetgen.

    python3 tests/bench/parts_by_calculix.py HEXTOP FOLDER PART [--step FILE] [--try N] [--check]

PART is bracket, mount or plate: tests/bench/part_*.cfg. FOLDER/PART keeps the search; a finished one is not repeated. The
model of the plate is no part of the project: --step names NIST's CTC 1 (AP203), which is in the public domain. --try judges
another try than the kept one. Prints a Markdown table: mass, largest stress outside the zones, the stress that 99.9 % of the
volume outside do not exceed, and each displacement, of the grey design, the 0/1 design, the surface (`hextop verify`) and
CalculiX. --check: exit status 1 if stresses differ by more than 10 % or displacements by more than 3 %, a limit is missed
in CalculiX, or the zones take more than 10 % of the part.

As in surface_analysis.py, supports and loads of CalculiX come from this file and the faces of the config's sets. Zones, too,
are the script's own: elements of the design's mesh, and tetrahedra, whose centroids lie within the radius of a rim of a
held face of the same mesh, and the elements of the sets in `exclude`; a node lies in a zone if all of its tetrahedra do.
Sharp edges, too: where the boundary of CalculiX's mesh turns inwards by more than 30 degrees, between two faces on the
boundary of the model or at a passive solid, tetrahedra at the edge, and within two elements of the design or the radius, have
no limit, if the stress at the edge is at least half the largest elsewhere; the largest stress at these is printed.
CalculiX's stresses are those of its result file: extrapolated to nodes and averaged there without weights. Needs gmsh,
tetgen, ccx and numpy."""
import argparse
import json
import os
import shutil
import sys
import tempfile

import numpy
import limits_calculix as limits
import surface_analysis as made

HERE = os.path.dirname(os.path.abspath(__file__))
ALUMINIUM = {"E": 70000.0, "nu": 0.33}

# As in the configs. limits: name -> set, load case (from 0), direction (None: length), "mean" or "max". tetgen: the largest
# volume of its tetrahedra; gmsh: times that its tetrahedra are split into eight; words: arguments of `lightest`.
PARTS = {
    "bracket": {
        **ALUMINIUM, "held": ["top"], "weights": [1], "loads": [("total", "end", [0, 0, -500], 1)],
        "limits": {"stiff": ("end", 0, [0, 0, -1], "mean")},
        "radius": 2.0, "exclude": ["pad"], "passive": [("pad", 0.0)], "tetgen": 1.0, "gmsh": 0},
    "mount": {
        **ALUMINIUM, "held": ["bolts"], "weights": [1, 1, 1],
        "loads": [("remote", "screws", [0, 0, 4000], 1, [70, 75, 92]), ("remote", "screws", [0, 4000, 0], 2, [70, 75, 92]),
                  ("remote", "screws", [4000, 0, 0], 3, [-90, 75, 92])],
        "limits": {"lift": ("screws", 0, None, "max"), "side": ("screws", 1, None, "max"),
                   "axial": ("screws", 2, [1, 0, 0], "mean")},
        "radius": 7.0, "exclude": [], "passive": [("bolts", 6.0), ("screws", 6.0)], "tetgen": 50.0, "gmsh": 0, "words": ["--refine", "0"]},
    "plate": {
        **ALUMINIUM, "held": ["bolts"], "weights": [1, 1],
        "loads": [("total", "face-10", [0, 0, -30000], 1), ("total", "face-10", [0, 20000, 0], 2)],
        "limits": {"down": ("face-10", 0, [0, 0, -1], "mean"), "across": ("face-10", 1, [0, 1, 0], "mean")},
        "radius": 13.0, "exclude": [], "passive": [("face-10", 20.0), ("bolts", 14.0)], "tetgen": 500.0, "gmsh": 0, "words": ["--refine", "0"]},
}


# --- the search ---


def search(hextop, part, name, folder, step):
    """The folder of the search; runs it unless it has ended."""
    out = os.path.join(folder, name)
    record = os.path.join(out, "lightest.json")
    if not os.path.exists(record) or json.load(open(record, encoding="utf-8"))["status"] != "done":
        words = [f"output.directory={out}"] + ([f"mesh.file={os.path.abspath(step)}"] if step else [])
        words += part.get("words", [])
        resume = ["--resume"] if os.path.exists(record) else []
        made.run(hextop, "lightest", os.path.join(HERE, f"part_{name}.cfg"), *words, *resume)
    return out


# --- zones ---


class Design:
    """The design's mesh, of a VTK file that `hextop mesh` wrote as text: points, cells (rows of eight nodes, -1 where a
    cell has fewer), and a flag per node for each set."""

    def __init__(self, path):
        words = open(path, encoding="ascii").read().split()
        i = words.index("POINTS")
        n = int(words[i + 1])
        self.x = numpy.array(words[i + 3:i + 3 + 3 * n], dtype=float).reshape(-1, 3)
        i = words.index("CELLS")
        at, self.cells = i + 3, numpy.full((int(words[i + 1]), 8), -1)
        for row in self.cells:
            m = int(words[at])
            row[:m] = words[at + 1:at + 1 + m]
            at += m + 1
        self.sets = {}
        for k in range(words.index("POINT_DATA"), len(words) - 6):
            if words[k] == "SCALARS" and words[k + 1].startswith("set_"):
                self.sets[words[k + 1][4:]] = numpy.array(words[k + 6:k + 6 + n], dtype=int) > 0
            elif words[k].startswith("set_") and words[k + 1:k + 4] == ["1", str(n), "int"]:
                self.sets[words[k][4:]] = numpy.array(words[k + 4:k + 4 + n], dtype=int) > 0

    def border(self):
        """Boundary faces: rows of four nodes, or of three."""
        hexahedron = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
        tetrahedron = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
        is_tet = self.cells[:, 4] < 0
        if not (is_tet.all() or (self.cells >= 0).all()):
            raise RuntimeError("zones of a mesh of several kinds of cells")
        faces = numpy.concatenate([self.cells[:, f] for f in (tetrahedron if is_tet[0] else hexahedron)])
        _, first, count = numpy.unique(numpy.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
        return faces[first[count == 1]]

    def size(self):
        """The length of an element, as hextop counts it."""
        if self.cells[0, 4] >= 0:
            corner = self.x[self.cells]
            return numpy.cbrt(numpy.prod(corner.max(axis=1) - corner.min(axis=1), axis=1).mean())
        ends = self.x[self.cells[:, [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]]]
        return numpy.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2).mean()

    def triangles(self, faces):
        """[n, 3, 3] of faces with three or four nodes."""
        return self.x[numpy.concatenate([faces[:, :3], faces[:, [0, 2, 3]]]) if faces.shape[1] == 4 else faces]

    def passive(self, part):
        """1 for passive solid elements: those of a set, or those whose centroids are within a distance of its faces."""
        faces, inside, found = self.border(), self.cells >= 0, numpy.zeros(len(self.cells), bool)
        middle = (self.x[self.cells] * inside[:, :, None]).sum(axis=1) / inside.sum(axis=1)[:, None]
        for name, skin in part["passive"]:
            if skin > 0.0:
                found |= made.distance(middle, self.triangles(faces[self.sets[name][faces].all(axis=1)])) <= skin
            else:
                found |= (self.sets[name][self.cells] | ~inside).all(axis=1)
        return found

    def zone(self, part):
        """1 for the elements without limits."""
        faces, inside = self.border(), self.cells >= 0
        held = numpy.zeros(len(faces), bool)
        for name in part["held"]:
            held |= self.sets[name][faces].all(axis=1)
        rim = numpy.intersect1d(faces[held], faces[~held])
        middle = (self.x[self.cells] * inside[:, :, None]).sum(axis=1) / inside.sum(axis=1)[:, None]
        zone = near(middle, self.x[rim], part["radius"])
        for name in part["exclude"]:
            zone |= (self.sets[name][self.cells] | ~inside).all(axis=1)
        return zone

    def holds(self, zone, points):
        """1 for points in elements of a zone."""
        found = numpy.zeros(len(points), bool)
        for cell in self.cells[zone]:
            corner = self.x[cell[cell >= 0]]
            low, high = corner.min(axis=0), corner.max(axis=0)
            at = numpy.nonzero((points >= low).all(axis=1) & (points <= high).all(axis=1))[0]
            if len(corner) == 8:
                if not (((corner == low) | (corner == high)).all()):
                    raise RuntimeError("zones of hexahedra that are no boxes")
            elif len(at):
                b = numpy.linalg.solve((corner[1:] - corner[0]).T, (points[at] - corner[0]).T)
                at = at[(b >= 0).all(axis=0) & (b.sum(axis=0) <= 1)]
            found[at] = True
        return found


def near(points, others, radius):
    """1 for points within the radius of one of the others."""
    found = numpy.zeros(len(points), bool)
    for other in others:
        found |= ((points - other) ** 2).sum(axis=1) <= radius * radius
    return found


def zone_of(part, design, x, cells, found):
    """1 for the tetrahedra without limits: in the zones of the design's mesh, or near a rim of their own held faces."""
    middle = x[cells[:, :4]].mean(axis=1)
    faces = made.outer_faces(cells)
    held = numpy.concatenate([numpy.unique(found[name][:, :3]) for name in part["held"]])
    is_held = numpy.isin(faces[:, :3], held).all(axis=1)
    rim = numpy.intersect1d(faces[is_held, :3], faces[~is_held, :3])
    return design.holds(design.zone(part), middle) | near(middle, x[rim], part["radius"])


# --- sharp edges ---


def inward_edges(x, cells):
    """Edges at which the boundary of tetrahedra turns inwards by more than 30 degrees: their nodes [n, 2], the corners of
    both faces [n, 2, 3] and their tetrahedra [n, 2]."""
    corner = cells[:, :4]
    face = numpy.concatenate([corner[:, k] for k in ([0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3])])
    owner = numpy.tile(numpy.arange(len(cells)), 4)
    _, first, count = numpy.unique(numpy.sort(face, axis=1), axis=0, return_index=True, return_counts=True)
    face, owner = face[first[count == 1]], owner[first[count == 1]]
    normal = numpy.cross(x[face[:, 1]] - x[face[:, 0]], x[face[:, 2]] - x[face[:, 0]])
    normal /= numpy.linalg.norm(normal, axis=1)[:, None]
    inside = x[corner[owner]].mean(axis=1) - x[face[:, 0]]
    normal[(normal * inside).sum(axis=1) > 0] *= -1.0
    edge = numpy.sort(numpy.concatenate([face[:, [0, 1]], face[:, [1, 2]], face[:, [2, 0]]]), axis=1)
    of = numpy.tile(numpy.arange(len(face)), 3)
    order = numpy.lexsort((edge[:, 1], edge[:, 0]))
    edge, of = edge[order], of[order]
    first = numpy.nonzero((edge[1:] == edge[:-1]).all(axis=1))[0]
    a, b = of[first], of[first + 1]
    ahead = ((x[face[b]].mean(axis=1) - x[face[a]].mean(axis=1)) * normal[a]).sum(axis=1)
    inward = (ahead > 0) & ((normal[a] * normal[b]).sum(axis=1) < numpy.cos(numpy.pi / 6))
    pair = numpy.stack([a, b], axis=1)[inward]
    return edge[first[inward]], face[pair], owner[pair]


def sharp_nodes(part, design, x, cells):
    """Nodes at edges that no design can round."""
    edge, faces, owner = inward_edges(x, cells)
    if not len(edge):
        return numpy.zeros(0, int)
    middle, size = x[faces].mean(axis=2), design.size()
    border = design.triangles(design.border())
    border = border[near_box(border, middle.min(axis=(0, 1)) - size, middle.max(axis=(0, 1)) + size)]
    of_model = made.distance(middle.reshape(-1, 3), border).reshape(-1, 2) < 0.1 * size
    passive = design.holds(design.passive(part), x[cells[owner.ravel(), :4]].mean(axis=1)).reshape(-1, 2)
    return numpy.unique(edge[of_model.all(axis=1) | passive.any(axis=1)])


def near_box(triangles, low, high):
    return ((triangles.max(axis=1) >= low) & (triangles.min(axis=1) <= high)).all(axis=1)


def edge_zone(part, design, x, cells, nodes):
    """1 for the tetrahedra at and near the nodes of sharp edges."""
    zone = near(x[cells[:, :4]].mean(axis=1), x[nodes], min(part["radius"], 2 * design.size()))
    return zone | numpy.isin(cells[:, :4], nodes).any(axis=1)


def outside_of(zone, cells, n):
    """1 for the nodes with a tetrahedron outside a zone."""
    found = numpy.zeros(n, bool)
    found[cells[~zone, :4]] = True
    return found


# --- CalculiX ---


def read_results(path, n, n_case):
    """Displacements [case][n, 3] and von Mises stresses [case][n] of a result file."""
    u, s, case = numpy.zeros((n_case, n, 3)), numpy.zeros((n_case, n, 6)), {"DISP": 0, "STRESS": 0}
    into = None
    for line in open(path, encoding="ascii"):
        if line.startswith(" -4"):
            kind = line.split()[1]
            into = {"DISP": u, "STRESS": s}[kind][case[kind]] if kind in case else None
            if kind in case:
                case[kind] += 1
        elif line.startswith(" -3"):
            into = None
        elif into is not None and line.startswith(" -1"):
            into[int(line[3:13]) - 1] = [float(line[13 + 12 * k:25 + 12 * k]) for k in range(into.shape[1])]
    if set(case.values()) != {n_case}:
        raise RuntimeError(f"{path}: {case} of {n_case} load cases")
    d = s[:, :, [0, 1, 2]] - s[:, :, [1, 2, 0]]
    return u, numpy.sqrt(0.5 * (d ** 2).sum(axis=2) + 3 * (s[:, :, 3:] ** 2).sum(axis=2))


def solve(part, design, x, cells, sets, folder):
    """What CalculiX finds on one mesh: name -> value, place, load case."""
    found, forces = made.place(part, x, cells, sets)
    job = os.path.join(folder, "job.inp")
    made.write_job(job, part, x, cells, found, forces)
    text = open(job, encoding="ascii").read().replace("*NODE PRINT, NSET=NALL\nU\n", "*EL FILE\nS\n*NODE FILE\nU\n")
    with open(job, "w", encoding="ascii") as out:
        out.write(text)
    said = made.run("ccx", "-i", "job", cwd=folder)
    if "*ERROR" in said:
        raise RuntimeError(said[-3000:])
    u, stress = read_results(os.path.join(folder, "job.frd"), len(x), len(forces))
    zone, sharp, largest = zone_of(part, design, x, cells, found), sharp_nodes(part, design, x, cells), stress.max(axis=0)
    outside = outside_of(zone | edge_zone(part, design, x, cells, sharp), cells, len(x))
    sharp = sharp[largest[sharp] >= 0.5 * largest[outside].max()]
    zone |= edge_zone(part, design, x, cells, sharp)
    corner = x[cells[:, :4]]
    volume = numpy.abs(numpy.linalg.det(corner[:, 1:] - corner[:, :1])) / 6
    share = numpy.zeros(len(x))
    numpy.add.at(share, cells[:, :4], numpy.repeat(volume[:, None] / 4, 4, axis=1))
    share[numpy.setdiff1d(cells[zone, :4], cells[~zone, :4])] = 0.0
    used = numpy.nonzero(share)[0]
    order = used[numpy.argsort(largest[used])]
    at = numpy.searchsorted(numpy.cumsum(share[order]), 0.999 * share.sum())
    row = {"volume": volume.sum(), "zones": volume[zone].sum() / volume.sum(), "tetrahedra": len(cells),
           "stress": largest[order[-1]], "at": x[order[-1]], "case": int(stress[:, order[-1]].argmax()) + 1,
           "sharp": largest[sharp].max() if len(sharp) else numpy.nan,
           "quantile": largest[order[min(at, len(order) - 1)]]}
    row.update({name: limits.value_of(limit, x, found[limit[0]], u[limit[1]]) for name, limit in part["limits"].items()})
    return row


# --- the table ---


def of_verify(analysis, names):
    """Values of a design of verify.json, with the names that solve() gives them."""
    stresses = analysis["stresses"]
    row = {"stress": stresses["outside_zones"]["value"], "at": stresses["outside_zones"]["point"],
           "case": stresses["outside_zones"]["case"], "quantile": stresses["quantile_99_9"]}
    row.update({limit["name"]: limit["value"] for limit in analysis["limits"] if limit["name"] in names})
    return row


def bounds(report, names):
    """Name of a limit -> its bound; "stress": that of the stresses."""
    found = {}
    for limit in report["surface"]["analysis"]["limits"]:
        name = "stress" if limit["kind"] == "stress" else limit["name"]
        if name == "stress" or name in names:
            found[name] = limit["max"]
    return found


def print_table(name, rows, bound, density):
    print(f"\n{name}: surface {rows['surface']['tetrahedra']:,} tetrahedra, " + ", ".join(
        f"{key} {row['tetrahedra']:,} (zones {100 * row['zones']:.1f} % of the part)"
        for key, row in rows.items() if key.startswith("CalculiX")))
    print("| | bound | " + " | ".join(rows) + " | off |\n" + "|---" * (3 + len(rows)) + "|")
    mass = [f"{row['volume'] * density * 1e6:.4g}" if "volume" in row else "" for row in rows.values()]
    print("| mass, g | | " + " | ".join(mass) + " | |")
    for key in ["stress", "quantile", "sharp"] + [k for k in rows["surface"] if k in bound and k != "stress"]:
        label = {"stress": "stress, MPa", "quantile": "in 99.9 %, MPa", "sharp": "at sharp edges, MPa"}.get(key, f"{key}, mm")
        off = ", ".join(f"{100 * (rows['surface'][key] / row[key] - 1):+.1f}"
                        for k, row in rows.items() if k.startswith("CalculiX"))
        print(f"| {label} | {bound.get(key, '')} | " + " | ".join(f"{row.get(key, numpy.nan):.4g}" for row in rows.values())
              + f" | {off} % |")
    places = [", ".join(f"{v:.4g}" for v in row["at"]) + f"; {row['case']}" for row in rows.values()]
    print("| largest at; case | | " + " | ".join(places) + " | |", flush=True)


def faults(rows, bound):
    """What misses the targets."""
    wrong = []
    for mesh, row in rows.items():
        if not mesh.startswith("CalculiX"):
            continue
        for key, value in bound.items():
            off, most = rows["surface"][key] / row[key] - 1, 0.10 if key == "stress" else 0.03
            wrong += [f"{mesh}: {key} {100 * off:+.1f} %"] if not abs(off) <= most else []
            wrong += [f"{mesh}: {key} {row[key]:.4g} above {value}"] if not row[key] <= value else []
        wrong += [f"{mesh}: zones take {100 * row['zones']:.1f} %"] if not row["zones"] <= 0.10 else []
    return wrong


def judge(hextop, part, name, result, folder):
    report = json.load(open(os.path.join(result, "verify.json"), encoding="utf-8"))
    stl, vtk = os.path.join(result, "part.stl"), os.path.join(folder, "sets.vtk")
    made.run(hextop, "-q", "mesh", os.path.join(result, "config.cfg"), vtk, "output.format=ascii")
    sets, design = made.read_sets(vtk), Design(vtk)
    rows = {key: of_verify(report[field], part["limits"]) for key, field in (("grey", "grey"), ("0/1", "black_white"))}
    surface = report["surface"]
    split = [p["split_once"] for p in surface["finer_places"] if "split_once" in p]
    rows["surface"] = {**of_verify(surface["analysis"], part["limits"]), "tetrahedra": surface["elements"],
                       "volume": surface["volume_meshed"], "sharp": surface.get("sharp_edges", {}).get("value", numpy.nan)}
    print(f"{name}: largest stresses on tetrahedra that are split once: {', '.join(f'{v:.4g}' for v in split)}")
    for mesher, fill in (("gmsh", lambda: made.fill(stl, part["gmsh"], "g", folder)),
                         ("tetgen", lambda: made.fill_tetgen(stl, part["tetgen"], "t", folder, "2"))):
        rows[f"CalculiX, {mesher}"] = solve(part, design, *fill(), sets, folder)
    bound = bounds(report, part["limits"])
    print_table(name, rows, bound, 2.7e-9)
    return faults(rows, bound)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hextop")
    parser.add_argument("folder")
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--step", help="the CAD model, instead of that of the config")
    parser.add_argument("--try", dest="number", type=int, help="the try to judge, instead of the kept one")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for program, package in (("gmsh", "gmsh"), ("tetgen", "tetgen"), ("ccx", "calculix-ccx")):
        if not shutil.which(program):
            print(f"SKIPPED: no {program} (Debian: {package})")
            return 77
    hextop = os.path.abspath(options.hextop)
    out = search(hextop, PARTS[options.part], options.part, os.path.abspath(options.folder), options.step)
    kept = f"try-{options.number}" if options.number else json.load(
        open(os.path.join(out, "lightest.json"), encoding="utf-8"))["kept"]
    with tempfile.TemporaryDirectory() as folder:
        wrong = judge(hextop, PARTS[options.part], options.part, os.path.join(out, kept), folder)
    for text in wrong:
        print("failed: " + text)
    return 1 if wrong and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
