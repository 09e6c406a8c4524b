#!/usr/bin/env python3
"""Only absolute temperatures depend on the zero of the scale. Checked are: thermal compliance of analyse and of designs
with several prescribed and ambient temperatures, percentages of verify, and its report page; compliances whose zero depends on the frame have no percentage.
Limits of temperatures are measured from the lowest prescribed one.

    test_heat_zero.py HEXTOP
"""
import json
import os
import subprocess
import sys
import tempfile

HEXTOP = os.path.abspath(sys.argv[1])
failed = []


def check(is_right, what):
    if not is_right:
        failed.append(what)
        print("failed: " + what)


def run(*words, status=0):
    result = subprocess.run([HEXTOP, *words], capture_output=True, text=True)
    check(result.returncode == status, "%s: exit status %d\n%s" % (" ".join(words), result.returncode, result.stderr))
    return result.stdout + result.stderr


def near(got, wanted, relative=1e-8):
    return abs(got - wanted) <= relative * abs(wanted)


def write(name, text):
    with open(name, "w", encoding="ascii") as f:
        f.write(text)


MODEL = """physics = "heat";
mesh = { generator = "cantilever"; nx = 12; ny = 4; nz = 6; };
sets = ( { name = "spot"; box = { min = [12.0, 0.0, 0.0]; max = [12.0, 2.0, 3.0]; }; } );
supports = ( { set = "left"; temperature = %.17g; } );
%s
optimization = { volume_fraction = 0.4; iterations = 4; };
solver = { device = "cpu"; threads = 1; deterministic = true; %s };
output = { directory = "%s"; };
"""


def analysed(held, rest, solver):
    write("a.cfg", MODEL % (held, rest, solver, "out"))
    run("analyse", "a.cfg", "--output", "a.json")
    with open("a.json", encoding="utf-8") as f:
        return json.load(f)["cases"][0]


def check_analyse():
    """Without sources the compliance is minus the sum of heat flow times temperature difference; with sources it is the
    same for every zero of the scale."""
    for solver in ("", 'criterion = "compliance";', "tolerance = 1e-9;"):
        for low, high in ((0.0, 10.0), (10.0, 0.0), (273.15, 283.15), (-1000.0, -990.0)):
            rest = "convection = ( { set = \"spot\"; coefficient = 1.0; ambient = %.17g; } );" % high
            case = analysed(low, rest, solver)
            driven = abs(case["reactions"]["heat"]) * abs(high - low)
            check(near(case["compliance"], -126.333, 1e-5) and near(case["compliance"], -driven, 1e-5),
                  "%g and %g, %s: %.12g, not %.12g" % (low, high, solver, case["compliance"], -driven))
    rest = "convection = ( { set = \"spot\"; coefficient = 1.0; ambient = %.17g; } ); loads = ( { source = 0.01; } );"
    one = analysed(20.0, rest % 20.0, "")["compliance"]
    two = analysed(20.0, rest % 20.0000000001, "")["compliance"]
    check(near(one, two, 1e-7), "a second temperature that is all but the first: %.12g, not %.12g" % (two, one))


def check_designs():
    rest = "convection = ( { set = \"spot\"; coefficient = 0.5; ambient = %.17g; } ); loads = ( { source = 0.01; } );"
    rows = []
    for i, zero in enumerate((0.0, 273.15)):
        write("d.cfg", MODEL % (zero + 5.0, rest % zero, "", "d%d" % i))
        run("run", "d.cfg", "-q")
        with open("d%d/history.csv" % i, encoding="ascii") as f:
            rows.append([line.split(",")[:2] for line in f.read().split()[1:]])
    for a, b in zip(*rows):
        check(near(float(a[1]), float(b[1]), 1e-7), "compliance of design %s: %s in degC, %s in K" % (a[0], a[1], b[1]))


def check_verify():
    rise, percent = [], []
    for zero in (0.0, 20.0, 1000.0):
        write("v.cfg", MODEL % (zero, "loads = ( { source = 0.001; } );", "", "v"))
        run("run", "v.cfg", "-q", "--force")
        said = run("verify", "v", "--tolerance", "1")
        with open("v/verify.json", encoding="utf-8") as f:
            found = json.load(f)
        for design in ("grey", "black_white"):
            check(near(found[design]["temperature"]["value"], zero + found[design]["temperature_above_reference"]), "above the reference")
            check(found[design]["reference_temperature"] == zero, "the reference")
        a, b = (found[d]["temperature_above_reference"] for d in ("grey", "black_white"))
        rise.append((a, b))
        percent.append(found["difference_percent"]["temperature"])
        check("highest temperature above %g " % zero in said.split("grey design that was optimized")[1], "the warning at %g\n%s" % (zero, said))
        check(near(percent[-1], 100 * (b - a) / a), "the percentage at %g" % zero)
        run("report", "v", "-o", "v.html")
        with open("v.html", encoding="utf-8") as f:
            check("Highest temperature above %g" % zero in f.read(), "the row of the page at %g" % zero)
    for got in rise[1:]:
        check(near(got[0], rise[0][0], 1e-6) and near(got[1], rise[0][1], 1e-6), "temperatures above the reference: %s" % rise)
    check(all(near(p, percent[0], 1e-5) for p in percent), "percentages: %s" % percent)


SHIFTED = """mesh = { generator = "cantilever"; nx = 12; ny = 4; nz = 6; };
material = { E = 1000.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; value = [0.0, 0.0, %.3f]; } );
loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.4; iterations = 4; };
solver = { device = "cpu"; threads = 1; };
output = { directory = "%s"; };
"""


def compared(name, text):
    """Output of verify and report of the run's compliance, and verify.json."""
    write("s.cfg", text)
    run("run", "s.cfg", "-q", "--force")
    said = run("verify", name)
    with open(name + "/verify.json", encoding="utf-8") as f:
        found = json.load(f)
    run("report", name, "-o", "s.html")
    with open("s.html", encoding="utf-8") as f:
        row = [line for line in f.read().split("<tr>") if line.startswith('<th scope="row">Compliance')]
    table = [line.split() for line in said.split("\n") if line.startswith("  compliance ")]
    return said, table[0][-1], row[-1], found


def check_no_ratio():
    """Compliances that depend on the zero of the scale have no percentage, even if both are positive."""
    two = MODEL % (20.0, "loads = ( { source = %g; } );", "", "n")
    two = two.replace("temperature = 20; }", "temperature = 20; }, { set = \"spot\"; temperature = 50.0; }")
    for name, text in (("n", two % 0.0001), ("n", two % 10.0), ("m", SHIFTED % (0.02, "m")), ("m", SHIFTED % (-5.0, "m"))):
        said, cell, row, found = compared(name, text)
        check(cell == "-", "%s: no percentage, but %s" % (name, cell))
        check("no percentage for compliances: prescribed" in said, name + ": the reason")
        check("optimized: compliance" not in said, name + ": a warning\n" + said)
        check("%" not in row, name + ": a percentage on the page: " + row)
        check(found["difference_percent"]["compliance"] is None and found["compliance_has_ratio"] is False, name + ": verify.json")
    for name, text in (("o", MODEL % (20.0, "loads = ( { source = 0.001; } );", "", "o")), ("p", SHIFTED % (0.0, "p"))):
        said, cell, row, found = compared(name, text)
        check(cell in ("%", "times") and found["compliance_has_ratio"] is True, "%s: a percentage, not %s" % (name, cell))
        check("%" in row or "times" in row, name + ": a percentage on the page: " + row)


LIMITED = """physics = "heat";
units = "W, mm, %s";
mesh = { generator = "cantilever"; nx = 16; ny = 16; nz = 3; };
material = { conductivity = 0.2; conductivity_min = 0.0002; };
sets = ( { name = "sink"; box = { min = [0.0, 4.0, 0.0]; max = [0.0, 12.0, 3.0]; }; },
         { name = "rim"; plane = { point = [16.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; } );
supports = ( { set = "sink"; temperature = %.17g; } );
loads = ( { source = %g; } );
optimization = { objective = %s; constraints = ( { kind = "temperature"; set = "rim"; %s }%s ); update = "%s"; iterations = 30; start = 0.7;
                 filter = { kind = "density"; radius = 1.8; unit = "length"; }; projection = { every = 10; }; };
solver = { device = "cpu"; threads = 1; deterministic = true; };
output = { directory = "%s"; };
"""


def limits_of(name):
    with open(name, encoding="utf-8") as f:
        found = json.load(f)
    return found["black_white"]["limits"][0] if "black_white" in found else found["limits"][0]


def history(folder):
    with open(folder + "/history.csv", encoding="ascii") as f:
        rows = [line.split(",") for line in f.read().split()]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def check_violations():
    """A limit of a temperature is measured from the lowest prescribed one: the same designs, violations and exit status in
    K and in degC, with which sink and bound are far from 0, near it, and equal to it."""
    volume = ', { kind = "volume"; max = 0.4; }'
    for objective, more, update in (('"volume"', "", "mma"), ('"volume"', "", "gcmma"), ('{ kind = "temperature"; set = "rim"; }', volume, "mma")):
        all_rows, violations = [], []
        for unit, sink in (("K", 300.0), ("degC", 26.85), ("degC", -1.0)):
            bound = 'of = "max"; max = %.17g;' % (sink + 1.0)
            write("l.cfg", LIMITED % (unit, sink, 5e-4, objective, bound, more, update, "l"))
            run("run", "l.cfg", "-q", "--force")
            said = run("verify", "l", status=4)
            made, last = limits_of("l/verify.json"), limits_of("l/summary.json")
            for limit in (made, last):
                wanted = max(0.0, (limit["value"] - sink - 1.0) / 1.0)
                check(abs(limit["violation"] - wanted) < 1e-9, "%s, %g %s: violation %g, not %g" % (update, sink, unit, limit["violation"], wanted))
            check(made["met"] is False and "missed by" in said, "the verdict in " + unit)
            check(f"of its distance from {sink:g} {unit}: " in said, "the warning in " + unit)
            violations.append((made["violation"], last["violation"]))
            all_rows.append([(float(r["volume"]), float(r["change"]), float(r["temperature"]) - sink) for r in history("l")])
        for rows, found in zip(all_rows[1:], violations[1:]):
            check(len(rows) == len(all_rows[0]), "%s: %d designs, not %d" % (update, len(rows), len(all_rows[0])))
            for i, (a, b) in enumerate(zip(rows, all_rows[0])):
                check(all(abs(p - q) <= 2e-9 * max(1.0, abs(q)) for p, q in zip(a, b)), "%s, design %d: %s, not %s" % (update, i + 1, a, b))
            check(all(abs(p - q) < 1e-9 for p, q in zip(found, violations[0])), "%s: violations %s, not %s" % (update, found, violations[0]))


def check_bounds():
    """Bounds that no design meets, or that have no distance from the lowest temperature."""
    def tried(sink, source, bound, status, text):
        write("b.cfg", LIMITED % ("degC", sink, source, '"volume"', bound, "", "mma", "b"))
        said = run("run", "b.cfg", "-q", "--force", "optimization.iterations=1", status=status)
        check(text in said, "sink %g, source %g, %s: %s" % (sink, source, bound, said))

    tried(20.0, 5e-4, "max = 19.0;", 2, "max = 19 degC cannot be met: the lowest prescribed or ambient temperature is 20 degC")
    tried(20.0, 5e-4, "max = 20.0;", 2, "max = 20 degC is the lowest prescribed or ambient temperature")
    tried(20.0, -5e-4, "min = 20.0;", 2, "min = 20 degC is the lowest prescribed or ambient temperature")
    tried(20.0, 5e-4, "min = 10.0;", 2, "min = 10 degC limits nothing")
    tried(0.0, 5e-4, "max = 0.0;", 2, "max = 0 degC is the lowest prescribed or ambient temperature")
    tried(0.0, 5e-4, 'set_2 = "sink"; max = 0.0;', 2, "a limit of 0 has no scale")
    tried(-20.0, 5e-4, "max = 0.0;", 0, "")
    tried(20.0, -5e-4, "min = 0.0;", 0, "")
    tried(20.0, -5e-4, "max = 19.0;", 0, "")


def check_lightest():
    """The search takes the same steps above a sink of 300 K as above one of 0 degC."""
    found = []
    for unit, sink in (("K", 300.0), ("degC", 0.0)):
        write("s.cfg", LIMITED % (unit, sink, 5e-4, '"volume"', 'of = "max"; max = %.17g;' % (sink + 1.0), "", "mma", "s" + unit))
        subprocess.run([HEXTOP, "lightest", "s.cfg", "--tries", "3", "-q"], capture_output=True, check=False)
        with open("s" + unit + "/lightest.json", encoding="utf-8") as f:
            found.append(json.load(f))
    check(found[0]["end"] == found[1]["end"] and len(found[0]["tries"]) == len(found[1]["tries"]) == 3,
          "lightest ends with '%s' after %d tries in K, '%s' after %d in degC" %
          tuple(x for f in found for x in (f["end"], len(f["tries"]))))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_analyse()
    check_designs()
    check_verify()
    check_no_ratio()
    check_violations()
    check_bounds()
    check_lightest()
    os.chdir("/")
print("%d failed" % len(failed))
sys.exit(1 if failed else 0)
