#!/usr/bin/env python3
"""timeline.json of runs by one and by two processes (output.timeline).

    test_timeline.py HEXTOP SOURCE_ROOT

Spans are nested or consecutive and have names from doc/commands.md; iterations agree with history.csv; without the option
no file is written and the results are equal; files that cannot be written; tests/bench/timeline.py. Two processes are used
if there is mpirun and the build has MPI."""
import collections
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEXTOP, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
N_CHECK = N_FAILED = 0
CANTILEVER = os.path.join(ROOT, "configs", "cantilever.cfg")
HEAT_SINK = os.path.join(ROOT, "examples", "heatsink", "heatsink.cfg")
SCRIPT = os.path.join(ROOT, "tests", "bench", "timeline.py")
SMALL = ["mesh.nx=16", "mesh.ny=8", "mesh.nz=8", "mesh.size=0"]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1")
ON = "output.timeline=true"
DEVICE, CONCURRENT, HOST = 1, 2, 3


def check(condition, text):
    global N_CHECK, N_FAILED
    N_CHECK += 1
    if not condition:
        N_FAILED += 1
        print(f"failed: {text}")


def run(n, folder, config, *keys, env=None):
    words = [] if n == 1 else ["mpirun", "--oversubscribe", "-n", str(n)]
    return subprocess.run([*words, HEXTOP, "run", config, "output.directory=" + folder, "solver.device=cpu",
                           "solver.threads=1", "solver.deterministic=true", *keys],
                          capture_output=True, text=True, timeout=200, env={**ENV, **(env or {})}, check=False)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def documented():
    """Returns a pattern of the names in the table of doc/commands.md, where NUMBER stands for any number."""
    with open(os.path.join(ROOT, "doc", "commands.md"), encoding="utf-8") as file:
        text = file.read()
    table = re.search(r"\n\| span \|.*?\n\n", text, re.S).group(0)
    names = {name for row in table.split("\n") for name in re.findall(r"`([^`]+)`", row.split("|")[1] if "|" in row else "")}
    return re.compile("|".join(re.escape(name).replace("NUMBER", r"\d+") for name in names))


def read(folder, n):
    """Returns {(rank, tid): [events]} after checking each event."""
    events = json.loads(content(os.path.join(folder, "timeline.json")))
    queues = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "M":
            continue
        check(event["ph"] == "X" and event["cat"] in ("stage", "compute", "exchange", "wait"), f"{event}")
        check(event["dur"] >= 0.0 and event["ts"] >= 0.0, f"{event}")
        queues[event["pid"], event["tid"]].append(event)
    check(set(queues) == {(r, t) for r in range(n) for t in (DEVICE, HOST)}, f"{folder}: queues {sorted(queues)}")
    return queues


def check_nesting(name, events):
    """Events must be sorted by their start and lie within the open one or after it; ts is rounded to 1 ns."""
    stack, last = [], 0.0
    for event in events:
        check(event["ts"] >= last, f"{name}: {event} begins before its predecessor")
        last = event["ts"]
        while stack and stack[-1] <= event["ts"] + 0.002:
            stack.pop()
        end = event["ts"] + event["dur"]
        check(not stack or end <= stack[-1] + 0.002, f"{name}: {event} ends after the event that contains it")
        stack.append(end)


def iterations_of(events):
    """Returns {design: iterations of PCG} of a queue, without the solves of a filter."""
    count, design, end = collections.Counter(), 0, 0.0
    for event in events:
        if event["name"] == "PCG":
            end = event["ts"] + event["dur"]
        if match := re.fullmatch(r"design (\d+)", event["name"]):
            design = int(match.group(1))
            count[design] += 0
        count[design] += event["name"] == "iteration" and event["ts"] < end
    return dict(count)


def history_of(folder):
    with open(os.path.join(folder, "history.csv"), encoding="utf-8") as file:
        return {int(row["iteration"]): int(row["pcg_iterations"]) for row in csv.DictReader(file)}


def count_names(events):
    return collections.Counter(event["name"] for event in events)


def check_run(name, n, folder, config, *keys, env=None):
    result = run(n, folder, config, *SMALL * (config == CANTILEVER), "optimization.iterations=3", ON, *keys, env=env)
    check(result.returncode == 0, f"{name}: exit {result.returncode}: {result.stderr}")
    if result.returncode != 0:
        return {}
    known = documented()
    queues = read(folder, n)
    for (rank, tid), events in queues.items():
        check_nesting(f"{name}, process {rank}, {tid}", events)
        for found in set(count_names(events)):
            check(known.fullmatch(found), f"{name}: '{found}' is not in the table of doc/commands.md")
    for rank in range(n):
        found, history = iterations_of(queues[rank, DEVICE]), history_of(folder)
        check(found == history, f"{name}, process {rank}: iterations {found}, history {history}")
        names = count_names(queues[rank, DEVICE])
        check(names == count_names(queues[0, DEVICE]) or "helmholtz" in name, f"{name}: processes differ")
        check(names["send"] == names["receive"] and (names["send"] > 0) == (n > 1), f"{name}: {names}")
        check(count_names(queues[rank, HOST])["output"] == 1, f"{name}: files written")
    return queues


def check_exchanges(name, queues):
    """A sum ends on every rank after it has begun on the last one, if the clocks are synchronised."""
    sums = [[e for e in queues.get((r, DEVICE), []) if e["name"] == "reduction"] for r in range(2)]
    worst = max((max(a["ts"], b["ts"]) - min(a["ts"] + a["dur"], b["ts"] + b["dur"]) for a, b in zip(*sums)), default=1e9)
    check(worst <= 20.0, f"{name}: a sum began {worst} us after another process had it")


def check_same(name, n, folder, on):
    """A run without a timeline: no file, not even an old one, and the same design."""
    shutil.copytree(on, folder)
    result = run(n, folder, CANTILEVER, *SMALL, "optimization.iterations=3")
    check(result.returncode == 0, f"{name} off: {result.stderr}")
    check(not os.path.exists(os.path.join(folder, "timeline.json")), f"{name}: an old timeline is left")
    check(content(os.path.join(folder, "density_0003.vtk")) == content(os.path.join(on, "density_0003.vtk")),
          f"{name}: marks change the design")
    check(b"timeline = true" in content(os.path.join(on, "config.cfg")), f"{name}: config.cfg")


def check_bad(work):
    config = os.path.join(work, "bad.cfg")
    with open(config, "w", encoding="utf-8") as file:
        file.write('mesh:\n{\n  generator = "cantilever";\n};\noutput:\n{\n  timeline = 1;\n};\n')
    result = run(1, os.path.join(work, "bad"), config)
    check(result.returncode == 2 and f"{config}:7: output.timeline" in result.stderr and "true or false" in result.stderr,
          f"a number: {result.returncode} {result.stderr}")
    result = run(1, os.path.join(work, "bad"), CANTILEVER, "output.timeline=out.json")
    check(result.returncode == 2 and "output.timeline" in result.stderr and "true or false" in result.stderr,
          f"a file's name: {result.returncode} {result.stderr}")
    check(not os.path.exists(os.path.join(work, "bad")), "a refused run leaves a folder")
    result = run(1, os.path.join(work, "bad.cfg", "below"), CANTILEVER, *SMALL, ON)
    check(result.returncode == 2 and "cannot write to" in result.stderr, f"below a file: {result.stderr}")


def check_unwritable(work, n):
    folder = os.path.join(work, f"unwritable{n}")
    os.makedirs(os.path.join(folder, "timeline.json", "in the way"))
    result = run(n, folder, CANTILEVER, *SMALL, "optimization.iterations=2", ON)
    check(result.returncode == 1 and "timeline.json" in result.stderr, f"in the way: {result.returncode} {result.stderr}")
    check(os.path.exists(os.path.join(folder, "summary.json")), "in the way: no summary")
    check(not [name for name in os.listdir(folder) if ".tmp." in name], f"left: {os.listdir(folder)}")


def check_resume(work):
    folder = os.path.join(work, "resume")
    keys = [*SMALL, "output.checkpoint=0.00001"]
    run(1, folder, CANTILEVER, *keys, "optimization.iterations=3")
    result = run(1, folder, CANTILEVER, *keys, "optimization.iterations=5", ON, "--resume")
    check(result.returncode == 0, f"resume: {result.stderr}")
    check(list(iterations_of(read(folder, 1)[0, DEVICE])) == [4, 5], "resume: designs 4 and 5")


def table(path, *options):
    result = subprocess.run([sys.executable, SCRIPT, path, *options], capture_output=True, text=True, timeout=60,
                            check=False)
    check(result.returncode == 0, f"timeline.py: {result.stderr}")
    return result


def check_script(work, folder, n):
    path = os.path.join(folder, "timeline.json")
    result = table(path, "--csv")
    rows = [row for row in csv.DictReader(result.stdout.splitlines()) if row["queue"] == "device"]
    history = history_of(folder)
    for rank in range(n):
        of_rank = {row["name"]: row for row in rows if row["rank"] == str(rank)}
        check(int(of_rank["iteration"]["count"]) == sum(history.values()), f"timeline.py: {of_rank['iteration']}")
        check(int(of_rank["design"]["count"]) == 3, f"timeline.py: {of_rank['design']}")
        share = sum(float(row["share"]) for row in of_rank.values())
        check(abs(share - 1.0) < 0.01, f"timeline.py: shares of {share}")
    check(result.stderr.count("not hidden") == n, f"timeline.py: {result.stderr}")
    check(f"1 designs, {history[2]} iterations" in table(path, "--designs", "2-2").stdout, "timeline.py: one design")


def check_overlap(work):
    """Exchanges of two queues, overlapped with computation in the other queue."""
    def event(name, kind, tid, begin, end):
        return {"name": name, "cat": kind, "ph": "X", "ts": begin, "dur": end - begin, "pid": 0, "tid": tid}

    path = os.path.join(work, "overlap.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([event("design 1", "stage", DEVICE, 0.0, 100.0), event("product", "compute", DEVICE, 10.0, 60.0),
                   event("send", "exchange", DEVICE, 20.0, 40.0), event("reduction", "exchange", DEVICE, 70.0, 80.0),
                   event("product", "compute", CONCURRENT, 15.0, 24.0), event("smooth mesh", "compute", CONCURRENT, 36.0, 50.0),
                   event("receive", "exchange", CONCURRENT, 40.0, 50.0)], file)
    result = table(path)
    # queue 1: 20 + 10, of which 8 overlap with queue 2; queue 2: 10, all overlapped by the product
    check("exchange 0.040 ms, not hidden 0.022 ms (22.0% of the designs)" in result.stdout, f"overlap: {result.stdout}")


def by_two(work):
    two = os.path.join(work, "two")
    queues = check_run("two", 2, two, CANTILEVER)
    check_exchanges("two", queues)
    check_same("two", 2, os.path.join(work, "two-off"), two)
    check_script(work, two, 2)
    spans = check_run("two, distributed coarse grids", 2, os.path.join(work, "coarse_grids"), CANTILEVER, "mesh.nx=40", "mesh.ny=16",
                      "mesh.nz=16", env={"HEXTOP_WHOLE_COARSE_GRID": "50"})
    check(any(name == "smooth coarse grid 1" for name in count_names(spans.get((0, DEVICE), []))), "no coarse grid is smoothed")
    check_run("two, messages", 2, os.path.join(work, "messages"), CANTILEVER, env={"HEXTOP_TRANSPORT": "messages"})
    check_run("two, helmholtz", 2, os.path.join(work, "helmholtz"), CANTILEVER, "optimization.filter.kind=helmholtz")
    check_run("two, mixed", 2, os.path.join(work, "mixed"), CANTILEVER, "solver.precision=mixed",
              "solver.preconditioner=jacobi")
    check_unwritable(work, 2)


def starts_two(work):
    if not shutil.which("mpirun"):
        return False
    said = run(2, os.path.join(work, "probe"), CANTILEVER, *SMALL, "optimization.iterations=1")
    return "built without MPI" not in said.stderr and (said.returncode == 0 or "hextop" in said.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        has_two = starts_two(work)
        one = os.path.join(work, "one")
        check_run("one", 1, one, CANTILEVER)
        check_same("one", 1, os.path.join(work, "one-off"), one)
        check_script(work, one, 1)
        check_run("jacobi", 1, os.path.join(work, "jacobi"), CANTILEVER, "solver.preconditioner=jacobi")
        check_run("heat", 1, os.path.join(work, "heat"), HEAT_SINK)
        check_overlap(work)
        check_bad(work)
        check_unwritable(work, 1)
        check_resume(work)
        if has_two:
            by_two(work)
    print(f"{N_CHECK} checks, {N_FAILED} failed" + ("" if has_two else "; two processes skipped: no mpirun or no MPI"))
    sys.exit(N_FAILED > 0)


if __name__ == "__main__":
    main()
