#!/usr/bin/env python3
"""Every format of `hextop surface` is read back according to its specification. The triangles must be those of the
STL file, closed, with the same volume and with the units of the config.

    test_surface_formats.py HEXTOP SRCDIR

If Assimp is installed (Debian: assimp-utils), it reads them, too. Exit status 0 passed, 1 failed."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile

CORE = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"
n_check = 0
n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def read_stl(path):
    with open(path, "rb") as file:
        data = file.read()
    n = struct.unpack_from("<I", data, 80)[0]
    return [tuple(struct.unpack_from("<3f", data, 84 + 50 * t + 12 + 12 * k) for k in range(3)) for t in range(n)]


def read_obj(path):
    points, faces = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == "v":
                points.append(tuple(float(word) for word in words[1:]))
            elif words[0] == "f":
                faces.append(tuple(int(word) - 1 for word in words[1:]))
            else:
                check(words[0] in ("#", "o"), f"{path}: {line}")
    return points, faces


def read_3mf(path):
    with zipfile.ZipFile(path) as archive:
        check(archive.testzip() is None, f"{path}: damaged")
        check(archive.namelist() == ["[Content_Types].xml", "_rels/.rels", "3D/3dmodel.model"],
              f"{path}: {archive.namelist()}")
        types = ElementTree.fromstring(archive.read("[Content_Types].xml"))
        check({e.get("Extension") for e in types} == {"rels", "model"}, f"{path}: types")
        target = ElementTree.fromstring(archive.read("_rels/.rels"))[0].get("Target")
        check(target == "/3D/3dmodel.model", f"{path}: {target}")
        model = ElementTree.fromstring(archive.read(target[1:]))
    found = model.find(f"{CORE}resources/{CORE}object")
    check(model.find(f"{CORE}build/{CORE}item").get("objectid") == found.get("id"), f"{path}: nothing to build")
    points = [tuple(float(v.get(c)) for c in "xyz") for v in found.iter(f"{CORE}vertex")]
    faces = [tuple(int(t.get(c)) for c in ("v1", "v2", "v3")) for t in found.iter(f"{CORE}triangle")]
    title = model.find(f"{CORE}metadata[@name='Title']").text
    return points, faces, model.get("unit"), title


def read_glb(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, length, n_json, kind = struct.unpack_from("<4sIII4s", data)
    check((magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON"), f"{path}: header")
    document = json.loads(data[20:20 + n_json])
    n_bin, kind = struct.unpack_from("<I4s", data, 20 + n_json)
    check(kind == b"BIN\0" and n_json % 4 == 0 and n_bin % 4 == 0 and 28 + n_json + n_bin == len(data), f"{path}: chunks")
    check(document["buffers"][0]["byteLength"] == n_bin, f"{path}: buffer")
    blob = data[28 + n_json:]

    def rows(index, letter, width):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        check(view["byteLength"] == 4 * width * accessor["count"], f"{path}: view {index}")
        values = struct.unpack_from(f"<{width * accessor['count']}{letter}", blob, view["byteOffset"])
        return [values[i:i + width] for i in range(0, len(values), width)], accessor

    primitive = document["meshes"][0]["primitives"][0]
    points, accessor = rows(primitive["attributes"]["POSITION"], "f", 3)
    for word, take in (("min", min), ("max", max)):
        limits = [take(p[d] for p in points) for d in range(3)]
        check([single(x) for x in accessor[word]] == limits, f"{path}: {word} {accessor[word]}, {limits}")
    normals = rows(primitive["attributes"]["NORMAL"], "f", 3)[0]
    check(all(abs(sum(c * c for c in n) - 1) < 1e-5 for n in normals), f"{path}: normals")
    corners = rows(primitive["indices"], "I", 1)[0]
    faces = [tuple(c[0] for c in corners[i:i + 3]) for i in range(0, len(corners), 3)]
    return points, faces, document["nodes"][0]["matrix"], normals


def volume(triangles):
    return sum(a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]) for a, b, c in triangles) / 6


def check_triangles(path, stl, points, faces):
    """The triangles equal those of the STL, in its order; each edge occurs once in each direction."""
    triangles = [tuple(tuple(single(x) for x in points[v]) for v in face) for face in faces]
    check(triangles == stl, f"{path}: other triangles than the STL's")
    edges = [(f[k], f[(k + 1) % 3]) for f in faces for k in range(3)]
    check(len(set(edges)) == len(edges) and set(edges) == {(b, a) for a, b in edges}, f"{path}: not closed")
    check(abs(volume(triangles) / volume(stl) - 1) < 1e-12, f"{path}: volume {volume(triangles)}")
    check(len({v for f in faces for v in f}) == len(points), f"{path}: vertices that no triangle has")


def check_direction(points, faces, normals):
    """Normals at vertices point to the same side as those of the triangles."""
    wrong = 0
    for face in faces:
        a, b, c = (points[v] for v in face)
        u, w = [y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)]
        n = (u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0])
        mean = [sum(normals[v][d] for v in face) for d in range(3)]
        wrong += sum(x * y for x, y in zip(n, mean)) < 0
    check(wrong < 0.01 * len(faces), f"{wrong} of {len(faces)} triangles look away from their normals")


def check_assimp(path, n_face):
    if not shutil.which("assimp"):
        print("assimp is not there")
        return
    said = subprocess.run(["assimp", "info", path], capture_output=True, text=True, check=False)
    lines = [line.split() for line in said.stdout.splitlines()]
    faces = [int(words[1]) for words in lines if words and words[0] == "Faces:"]
    check(faces == [n_face], f"assimp: {path}: {faces} faces, not {n_face}: {said.stdout[-300:]}")


def surface(hextop, config, path):
    done = subprocess.run([hextop, "surface", "out/density_0003.vtk", path, "--config", config],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{path}: {done.stderr}")
    return done.stdout


def main():
    hextop, source = (os.path.abspath(word) for word in sys.argv[1:])
    base = ["-q", "run", f"{source}/configs/quickstart.cfg", "title=a \"b\" <c> & d", "mesh.distort=0.2",
            "solver.device=cpu", "solver.operator=otf", "optimization.iterations=3", "output.directory=out"]
    units = {"mm": ("N, mm, MPa", "millimeter", 1e-3), "in": ("lbf, in, psi", "inch", 0.0254),
             "m": ("N, m, Pa", "meter", 1.0), "none": (None, "millimeter", 1e-3)}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([hextop, *base], check=True)
        with open("out/config.cfg", encoding="utf-8") as text:
            config = text.read()
        stl = None
        for name, (stated, unit, metre) in units.items():
            with open(f"{name}.cfg", "w", encoding="utf-8") as out:
                out.write("\n".join(line for line in config.split("\n") if not line.startswith("units")))
                if stated:
                    out.write(f'units = "{stated}";\n')
            if stl is None:
                surface(hextop, f"{name}.cfg", "part.stl")
                stl = read_stl("part.stl")
                check(len(stl) > 500, f"{len(stl)} triangles")
                surface(hextop, f"{name}.cfg", "part.obj")
                check_triangles("part.obj", stl, *read_obj("part.obj"))
            said = surface(hextop, f"{name}.cfg", "part.3mf")
            check(("the config has no `units`" if stated is None else f"unit       {name}, from the config") in said,
                  f"{name}: unit not said: {said}")
            points, faces, got, title = read_3mf("part.3mf")
            check(got == unit and title == 'a "b" <c> & d', f"3MF of {name}: {got}, {title}")
            surface(hextop, f"{name}.cfg", "part.glb")
            matrix = read_glb("part.glb")[2]
            wanted = [metre, 0, 0, 0, 0, 0, -metre, 0, 0, metre, 0, 0, 0, 0, 0, 1]
            check(matrix == wanted, f"glb of {name}: {matrix}")
        check_triangles("part.3mf", stl, points, faces)
        points, faces, _, normals = read_glb("part.glb")
        check_triangles("part.glb", stl, points, faces)
        check_direction(points, faces, normals)
        for ending in ("3mf", "obj", "glb"):
            check_assimp(f"part.{ending}", len(stl))
        before = set(os.listdir("."))
        done = subprocess.run([hextop, "surface", "out/density_0003.vtk", "nowhere/part.3mf"], capture_output=True,
                              text=True, check=False)
        check(done.returncode == 1 and "nowhere/part.3mf" in done.stderr, done.stderr)
        check(set(os.listdir(".")) == before, "files are left behind")
        os.chdir("/")
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or n_check == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
