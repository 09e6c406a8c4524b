#!/usr/bin/env python3
"""Stresses on the page of `hextop report`: the numbers of the legend are those of verify.json, the colours those of the
file of `verify --vtk`, zones without limits are masked, and stresses of another design are not shown.

    test_report_stress.py HEXTOP SRCDIR"""

import json
import os
import re
import shutil
import struct
import sys
import tempfile

import report_page
from report_page import Page, check, run

CONFIG = """
title = "A cantilever with a limit on stresses";
units = "N, mm, MPa";
mesh = { generator = "cantilever"; nx = 12; ny = 2; nz = 5; };
material = { E = 70000.0; nu = 0.3; density = 2.7e-9; strength = 250.0; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -30.0]; }, { set = "right"; total_force = [0.0, 20.0, 0.0]; case = 2; } );
optimization = { objective = "mass"; iterations = 3; start = 0.9;
  constraints = ( { kind = "stress"; max = 40.0; name = "strong"; exclude_radius = 2.0; } );
  filter = { kind = "density"; radius = 1.5; }; };
solver = { device = "cpu"; operator = "otf"; };
output = { directory = "one"; every = 0; };
"""



def read_field(path, name):
    """Values of a cell field of one float, and the centroids of the cells."""
    with open(path, "rb") as file:
        data = file.read()
    n = int(re.search(rb"\nPOINTS (\d+) double\n", data)[1])
    at = re.search(rb"\nPOINTS \d+ double\n", data).end()
    points = [struct.unpack_from(">3d", data, at + 24 * i) for i in range(n)]
    m = int(re.search(rb"\nCELLS (\d+) ", data)[1])
    at = re.search(rb"\nCELLS \d+ \d+\n", data).end()
    cells = [struct.unpack_from(">9i", data, at + 36 * i)[1:] for i in range(m)]
    at = re.search(rb"\n" + name + rb" 1 \d+ float\n", data).end()
    centres = [tuple(sum(points[k][d] for k in cell) / 8.0 for d in range(3)) for cell in cells]
    return struct.unpack_from(f">{m}f", data, at), centres


def vertices(part):
    """Place, stress and zone of each vertex of the page."""
    about, data = part["about"], part["data"]
    n = about["vertices"]
    q = struct.unpack(f"<{3 * n}H", data["places"])
    low, high = about["ranges"][about["fields"].index("stress")]
    for v in range(n):
        x = [about["min"][d] + about["step"][d] * q[3 * v + d] for d in range(3)]
        yield x, low + (high - low) * data["stress"][v] / 255.0, data["zone"][v] > 127


def legend(page):
    return re.search(r'<ul class="marks" data-field="stress" hidden>(.*?)</ul>', page.source, re.S)


def check_colours(page, values, centres, largest):
    """Each colour lies between the values of the cells around its vertex; the top of the scale stands for all above."""
    high = page.parts[0]["about"]["ranges"][0][1]
    found = outside = 0
    most = 0.0
    for x, stress, is_zone in vertices(page.parts[0]):
        near = [min(v, high) for v, c in zip(values, centres) if v > 0.0 and max(abs(a - b) for a, b in zip(x, c)) < 1.6]
        found += 1
        check(near and min(near) - high / 250.0 <= stress <= max(near) + high / 250.0,
              f"stress {stress} at {x}, cells around have {min(near, default=0)} to {max(near, default=0)}")
        if not is_zone:
            outside += 1
            most = max(most, stress)
        if x[0] < 1.0:
            check(is_zone, f"{x} is near the support and not in a zone")
        if x[0] > 4.0:
            check(not is_zone, f"{x} is far from the support and in a zone")
    check(0 < outside < found, f"{outside} of {found} vertices outside the zones")
    check(0.5 * min(largest, high) <= most <= high, f"largest colour {most}, largest stress {largest}, scale to {high}")


def test_surface(hextop):
    with open("one.cfg", "w", encoding="utf-8") as out:
        out.write(CONFIG)
    run(hextop, "-q", "run", "one.cfg")
    run(hextop, "-q", "verify", "one", "--made", "yes", "--vtk", "one/made.vtk", status=4)
    run(hextop, "-q", "report", "one")
    page = Page("one/report.html")
    with open("one/verify.json", encoding="utf-8") as file:
        stresses = json.load(file)["surface"]["analysis"]["stresses"]
    largest = stresses["outside_zones"]
    about = page.parts[0]["about"]
    check(about["fields"] == ["stress", "density"] and about["stress"]["mask"] == "zone", f"fields: {about}")
    check(about["stress"]["largest"] == largest["value"] and about["stress"]["point"] == largest["point"],
          f"largest: {about['stress']}, {largest}")
    high = about["ranges"][0][1]
    check(len(about["stress"]["marks"]) == 1 and abs(about["stress"]["marks"][0] * high - 40.0) < 1e-6,
          f"the limit in the legend: {about['stress']}")
    check(abs(about["stress"]["over"] * high - 40.0) < 1e-6, f"colours above the limit: {about['stress']}")
    found = legend(page)
    if check(found, "there is no legend of stresses"):
        text = re.sub(r"<[^>]*>", "", found[1]).replace("&#39;", "'")
        point = ", ".join(f"{x:.4g}" for x in largest["point"])
        for what in ("limit 'strong_case1': 40 MPa", "material.strength: 250 MPa", "above 40 MPa",
                     f"largest outside the zones: {largest['value']:.5g} MPa at {point}, case {largest['case']}",
                     f"factor of safety: {stresses['factor_of_safety']:.5g}, from 250 MPa",
                     "zones without limits: elements near supports", f"largest in them {stresses['in_zones']['value']:.5g} MPa"):
            check(what in text, f"the legend lacks '{what}': {text}")
    check("Von Mises stress in the surface, worst case" in page.words(), "the name of the field")
    check_colours(page, *read_field("one/made.vtk", b"von_mises_surface"), largest["value"])


def page_of(hextop, name, change):
    """The page of a copy of the folder, whose file of verify is changed."""
    shutil.copytree("one", name)
    with open(f"{name}/made.vtk", "rb") as file:
        data = file.read()
    with open(f"{name}/made.vtk", "wb") as file:
        file.write(change(data))
    run(hextop, "-q", "report", name)
    return Page(f"{name}/report.html")


def test_other_files(hextop):
    """Without the stresses of the surface those of the 0/1 design; none that are of another design or another call."""
    page = page_of(hextop, "solid", lambda data: data.replace(b"von_mises_surface", b"something_else_00"))
    with open("one/verify.json", encoding="utf-8") as file:
        solid = json.load(file)["black_white"]["stresses"]["outside_zones"]
    check("in the surface" not in page.words() and page.parts[0]["about"]["stress"]["largest"] == solid["value"],
          f"stresses of the 0/1 design: {page.parts[0]['about']}")

    def scale(data, name, kind, size, factor):
        at = re.search(rb"\n" + name + rb" 1? ?(\d*) ?" + kind + rb"\n|\nSCALARS " + name + rb" double 1\nLOOKUP_TABLE default\n",
                       data).end()
        n = int(re.search(rb"\nCELLS (\d+) ", data)[1])
        code = f">{n}{'d' if size == 8 else 'f'}"
        values = [factor * v for v in struct.unpack_from(code, data, at)]
        return data[:at] + struct.pack(code, *values) + data[at + size * n:]

    page = page_of(hextop, "twice", lambda data: scale(data, b"von_mises_surface", b"float", 4, 2.0))
    check("point" not in page.parts[0]["about"]["stress"] and "are not of one call of" in page.words(),
          "a largest stress that is not that of the field")
    page = page_of(hextop, "other", lambda data: scale(data, b"density", b"double", 8, 0.9))
    check(page.parts[0]["about"]["fields"] == ["density"] and "analysed another design" in page.words(),
          "stresses of another design")


def test_try(hextop):
    """A try of `hextop lightest` is judged by the bounds of the search, whatever those of its run are."""
    shutil.copytree("one", "search/try-2")
    with open("one/summary.json", encoding="utf-8") as file:
        limit = json.load(file)["limits"][0]
    for most in (30.0, 40.0):
        with open("search/lightest.json", "w", encoding="utf-8") as file:
            json.dump({"limits": [{"name": limit["name"], "max": most, "min": None}]}, file)
        run(hextop, "-q", "report", "search/try-2")
        page = Page("search/try-2/report.html")
        words = page.words()
        check(("at most 30 MPa; in this run at most 40 MPa" in words) == (most == 30.0), f"{most}: bounds in the table")
        check(("`hextop verify` judges it" in words) == (most == 30.0), f"{most}: verify.json was made with 40")
    with open("search/try-2/verify.json", encoding="utf-8") as file:
        verified = json.load(file)
    verified["grey"]["limits"][0].update({"max": 30.0, "violation": 0.5, "met": False})
    with open("search/try-2/verify.json", "w", encoding="utf-8") as file:
        json.dump(verified, file)
    with open("search/lightest.json", "w", encoding="utf-8") as file:
        json.dump({"limits": [{"name": limit["name"], "max": 30.0, "min": None}]}, file)
    run(hextop, "-q", "report", "search/try-2")
    check("off by 50" in Page("search/try-2/report.html").words(), "the state by verify.json")


def main(hextop):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_surface(hextop)
        test_other_files(hextop)
        test_try(hextop)
        os.chdir("/")
    print(f"stresses in the report: {report_page.n_failed} failed")
    return 1 if report_page.n_failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
