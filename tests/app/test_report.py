#!/usr/bin/env python3
"""`hextop report`: the page is complete and self-contained, escapes text from files, shows the part that `hextop
surface` writes, and states what is missing.

    test_report.py HEXTOP SRCDIR"""

import fcntl
import json
import os
import re
import shutil
import struct
import sys
import tempfile

import report_page
from report_page import Page, check, decode_triangles, make_run, run

EVIL = '<script>alert(1)</script> &amp; \\"x\\" \' é'


def check_part(page, i, what):
    """The surface is closed, oriented outwards, and fills the box that the page states."""
    part = page.parts[i]
    about, data = part["about"], part["data"]
    n, m = about["vertices"], about["triangles"]
    places = struct.unpack(f"<{3 * n}H", data["places"])
    corners = decode_triangles(data["triangles"])
    check(len(corners) == 3 * m and min(corners) == 0 and max(corners) == n - 1, f"{what}: corners")
    edges = set()
    for t in range(0, 3 * m, 3):
        a, b, c = corners[t:t + 3]
        for edge in ((a, b), (b, c), (c, a)):
            check(edge not in edges, f"{what}: an edge twice in one direction")
            edges.add(edge)
    check(all((b, a) in edges for a, b in edges), f"{what}: the surface is open")
    for d in range(3):
        check(min(places[d::3]) == 0 and max(places[d::3]) == 65535, f"{what}: box")
    step = about["step"]
    volume = 0.0
    for t in range(0, 3 * m, 3):
        x = [[places[3 * v + d] * step[d] for d in range(3)] for v in corners[t:t + 3]]
        volume += (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1])
                   - x[0][1] * (x[1][0] * x[2][2] - x[1][2] * x[2][0])
                   + x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) / 6.0
    for name in about["fields"]:
        check(len(data[name]) == n and len(set(data[name])) > 3, f"{what}: colours {name}")
    return m, volume


def check_drawings(page):
    """Every point of the plots lies inside its picture, and the axes have ticks."""
    points = [float(x) for tag, words in page.tags if tag == "path" and "line" in words.get("class", "")
              for x in re.findall(r"-?\d+\.?\d*", words["d"])]
    check(points and min(points) >= 0 and max(points) <= 400, "a point of a plot is outside")
    check(sum(tag == "svg" for tag, _ in page.tags) >= 8, "plots")
    for box in (words for tag, words in page.tags if tag == "rect"):
        x, y, w, h = (float(box[k]) for k in ("x", "y", "width", "height"))
        check(x >= 0 and y >= 0 and x + w <= 400 and y + h <= 236, f"a bar is outside: {box}")


def test_whole(hextop):
    make_run(hextop, "one", title=EVIL)
    run(hextop, "-q", "verify", "one/density_0004.vtk", "one/config.cfg", "--vtk", "one/solid.vtk")
    said = run(hextop, "report", "one")
    page = Page("one/report.html")
    title = EVIL.replace("\\", "")
    check("<script>alert" not in page.source, "a title became a script")
    check(page.texts_of("h1") == [title] and page.texts_of("title")[0] == title, f"title {page.texts_of('h1')}")
    check(len(page.scripts) == 1, f"{len(page.scripts)} scripts")
    for word in ("http:", "https:", "@import", "url(", "fetch(", "XMLHttp"):
        check(word not in page.source.split("</style>")[0] + page.scripts[0], f"the page has {word}")
    words = page.words()
    for word in ("done", "Compliance", "N mm", "Mass", "PCG: preconditioner", "optimization.volume_fraction", "0.4",
                 "Von Mises stress", "MPa", "The design as it would be made", "0/1", "Largest displacement",
                 "Mesh and machine", "Settings"):
        check(word in words, f"the page does not have: {word}")
    check("Not in this report" not in words, "something is missing of a whole run")
    check_drawings(page)
    run(hextop, "-q", "surface", "one/density_0004.vtk", "one.ply")
    with open("one.ply", "rb") as ply:
        faces = int(re.search(rb"element face (\d+)", ply.read(400)).group(1))
    m, volume = check_part(page, 0, "one")
    check(m == faces and f"{m:,} triangles" in said, f"{m} triangles, {faces} in the PLY")
    check(abs(volume / (0.4 * 12 * 6 * 6) - 1.0) < 0.03, f"volume {volume}")
    check(page.parts[0]["about"]["fields"] == ["stress", "density"], "fields")
    return m, volume


def test_simplified(hextop, m, volume):
    said = run(hextop, "report", "one", "-o", "few.html", "--triangles", "300")
    page = Page("few.html")
    few, small = check_part(page, 0, "few")
    check(290 <= few <= 300, f"{few} triangles of 300")
    check(abs(small / volume - 1.0) < 0.03, f"volume {small}, {volume} before")
    off = re.search(r"at most ([0-9.e-]+) mm", page.words())
    check(off and 0.001 < float(off.group(1)) < 0.5 and f"simplified from {m:,}" in page.words(), "the caption")
    check(f"300 triangles of {m:,}" in said or f"{few} triangles of {m:,}" in said, said)


def test_several(hextop):
    make_run(hextop, "two", volume=0.3, iterations=3)
    run(hextop, "report", "one", "two", "-o", "both.html")
    page = Page("both.html")
    words = page.words()
    check_part(page, 0, "one of two")
    check_part(page, 1, "two of two")
    rows = [text for tag, text in page.text if tag == "code"]
    differ = rows[:rows.index("mesh.generator")] if "mesh.generator" in rows else rows
    check("optimization.volume_fraction" in differ and "optimization.iterations" in differ, f"differences {differ}")
    check("material.E" not in differ[:4] and "output.directory" not in differ[:4], f"differences {differ[:4]}")
    check("Turn all together" in words and "2 runs side by side" in words, "side by side")
    check(sum("s1" in w.get("class", "").split() for t, w in page.tags if t == "path") >= 6, "lines of the second run")


def test_other_part(hextop):
    """Percentages appear only for runs of the same part, on any mesh; masses are in kg or g."""
    for name in ("like", "longer"):
        shutil.copytree("two", name)
        with open(f"{name}/summary.json", encoding="utf-8") as file:
            summary = json.load(file)
        mesh = summary["mesh"]
        mesh["volume"] *= 2.0 if name == "longer" else 1.001
        mesh["box_max"][0] *= 2.0 if name == "longer" else 1.001
        with open(f"{name}/summary.json", "w", encoding="utf-8") as file:
            json.dump(summary, file)
    for other, n in (("like", 1), ("longer", 0)):
        run(hextop, "report", "one", other, "-o", "other.html")
        page = Page("other.html")
        table = page.source.split('<table class="compare">')[1].split("</table>")[0]
        row = re.search(r"<tr><th[^>]*>Compliance.*?</tr>", table, re.S)[0]
        check(row.count("%</small>") + row.count("times</small>") == n, f"{other}: {row}")
        check(("Percentages are left out" in page.words()) == (n == 0), f"{other}: the note on percentages")
        check(re.search(r"<th[^>]*>Mass,(&nbsp;| )*g<", table), f"mass: {re.findall('<th[^>]*>Mass.*?</tr>', table)}")


def test_states(hextop):
    """Runs that are unfinished, interrupted or failed, or whose files were lost."""
    def report(name, change):
        shutil.copytree("two", name)
        change()
        run(hextop, "report", name)
        page = Page(f"{name}/report.html")
        return page, page.words()

    page, words = report("cut", lambda: (os.remove("cut/summary.json"),
                                         open("cut/history.csv", "a", encoding="utf-8").write("4,1.0,0.")))
    check("not finished" in words and "There is no summary.json" in words, "a run without summary")
    check("optimization.volume_fraction" in words and len(page.parts) == 1, "settings and part without summary")

    shutil.copytree("cut", "going")
    with open("going/history.csv", "a", encoding="utf-8") as history:
        fcntl.lockf(history, fcntl.LOCK_EX)
        run(hextop, "report", "going")
    check("still running" in Page("going/report.html").words(), "a run that goes")

    def fail():
        with open("failed/summary.json", encoding="utf-8") as file:
            summary = json.load(file)
        summary.update(status="failed", volume_met=False, solves_not_converged=2)
        summary.pop("warnings")  # from a version that had none
        with open("failed/summary.json", "w", encoding="utf-8") as file:
            json.dump(summary, file)
    _, words = report("failed", fail)
    check("failed" in words and "The volume is 0." in words, "a run that failed")
    check("PCG did not converge in 2 design iterations" in words, "solves that failed")

    page, words = report("bare", lambda: [os.remove(f"bare/{f}") for f in os.listdir("bare") if "density" in f])
    check(not page.parts and "There is no density_*.vtk" in words and "Compliance" in words, "no densities")

    page, words = report("old", lambda: open("old/config.cfg", "a", encoding="utf-8").write("no_such_key = 1;\n"))
    check("no_such_key" in words and "from the densities only" in words and len(page.parts) == 1, "another hextop's config")

    _, words = report("torn", lambda: open("torn/summary.json", "w", encoding="utf-8").write('{\n"title": }'))
    check("torn/summary.json:2: not valid JSON: expected a value" in words, "a torn summary")

    def lines():
        os.remove("lines/density.vtk.series")
        with open("lines/history.csv", "a", encoding="utf-8") as file:
            file.write("5,x,1\n")
        with open("lines/run.log", "w", encoding="utf-8") as file:
            file.write("hextop: warning: <b>bold</b> & more\nno\n")
    page, words = report("lines", lines)
    check("lines/history.csv:5: 3 fields" in words and "density_0003.vtk" in words, "a torn history")
    check("<b>bold</b> & more" in words and "<b>" not in page.source, "warnings of run.log")


def test_other_runs(hextop):
    make_run(hextop, "part", fields='"density"')
    with open("part.cfg", "a", encoding="utf-8") as out:
        out.write("")
    run(hextop, "-q", "run", "part.cfg", "output.threshold=0.5")
    said = run(hextop, "report", "part")
    words = Page("part/report.html").words()
    check("No stresses" in words and "triangles" in said, "a run with a threshold")
    with open("heat.cfg", "w", encoding="utf-8") as out:
        out.write('physics = "heat"; units = "W, mm, K"; mesh = { generator = "cantilever"; nx = 8; ny = 8; nz = 2; };'
                  'material = { conductivity = 2.0; conductivity_min = 0.01; };'
                  'supports = ( { set = "left"; temperature = 20.0; } ); loads = ( { source = 0.01; } );'
                  'optimization = { volume_fraction = 0.4; iterations = 3; filter = { kind = "none"; }; };'
                  'solver = { device = "cpu"; }; output = { directory = "heat"; };')
    run(hextop, "-q", "run", "heat.cfg")
    run(hextop, "report", "heat", "one", "-o", "mixed.html")
    page = Page("mixed.html")
    check(page.parts[0]["about"]["fields"] == ["density"] and "W K" in page.words(), "a run of heat")
    check("Compliance, N mm" not in page.words().split("Settings that differ")[0], "a unit of one run only")


def test_refused(hextop):
    os.mkdir("empty")
    for words, said in ((["nowhere"], "cannot read 'nowhere'"), (["one.cfg"], "'one.cfg' is not a folder"),
                        (["empty"], "'empty' is not the folder of a run"), (["one"] * 9, "at most 8"),
                        (["one", "--triangles", "5"], "--triangles 5: expected a whole number"),
                        (["one", "empty"], "'empty' is not the folder of a run"), ([], "usage: hextop report")):
        text = run(hextop, "report", *words, status=2)
        check(said in text and text.count("\n") == 1, f"{words}: {text}")
    run(hextop, "report", "one", "-o", "empty", status=1)
    check(not any(".tmp." in f for _, _, files in os.walk(".") for f in files), "a temporary file is left")


def main(hextop):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_simplified(hextop, *test_whole(hextop))
        test_several(hextop)
        test_other_part(hextop)
        test_states(hextop)
        test_other_runs(hextop)
        test_refused(hextop)
        os.chdir("/")
    print(f"report: {report_page.n_failed} failed")
    return 1 if report_page.n_failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
