#!/usr/bin/env python3
"""Checks rules that no compiler checks: which room may include which, file names, headers, and where output is allowed.

    python3 tests/tree/test_layers.py SOURCE_ROOT

Prints one line per violation; exit status 1 if there is one. First, it must find all violations in a made-up tree.
--rooms prints the rooms, their floors (the number of rooms below) and their arrows (includes).
--circles prints the circles of calls between the files of a room; their number may only fall."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# room: the rooms whose headers it may include, besides its own. Rooms that are not listed are not allowed.
CORE = {
    "core/base": [],
    "core/mesh": ["core/base"],
    "core/spline": ["core/base", "core/mesh"],
    "core/space": ["core/base", "core/mesh", "core/spline"],
    "core/generate": ["core/base", "core/mesh"],
    "core/partition": ["core/base", "core/mesh"],
    "core/comm": ["core/base"],
    "core/dist_mesh": ["core/base", "core/mesh", "core/partition", "core/comm"],
    "core/surface": ["core/base", "core/mesh"],
    "core/problem": ["core/base", "core/mesh", "core/spline", "core/space"],
    "core/stress": ["core/base", "core/mesh", "core/spline", "core/space", "core/problem"],
    "core/files": ["core/base", "core/mesh", "core/spline", "core/space", "core/problem", "core/comm"],
    "core/mesher": ["core/base", "core/mesh", "core/problem", "core/files"],
    "core/device": ["core/base"],
    "core/matrix": ["core/base", "core/mesh", "core/spline", "core/space", "core/problem", "core/device"],
    "core/linalg": ["core/base", "core/device"],
}
SOLVER = ["core/operator", "core/krylov", "core/multigrid", "core/solver"]  # each may include the ones before it
BELOW = ["core/base", "core/mesh", "core/spline", "core/space", "core/problem", "core/device", "core/matrix", "core/linalg"]
for i, room in enumerate(SOLVER):
    CORE[room] = BELOW + SOLVER[:i]
CORE["core/dist"] = BELOW + SOLVER + ["core/partition", "core/comm"]
CORE["core/design"] = BELOW + SOLVER + ["core/comm", "core/dist"]
CORE["core"] = ["core/base", "core/device", "core/matrix", "core/linalg"] + SOLVER + ["core/design"]
BACKEND = BELOW + SOLVER + ["core/comm", "core/dist", "core/design"]
BACKENDS = ["core/cpu", "gpu"]  # mirror images
BACKEND_ROOMS = ["device", "matrix", "operator", "multigrid", "design"]  # each may include the ones before it
APP = ["app/text", "app/config", "app/session", "app/result", "app/diag", "app/output"]  # each may include the ones before it
COMMANDS = ["app/analyse", "app/check", "app/compare", "app/help", "app/lightest", "app/matrix", "app/mesh", "app/new",
            "app/report", "app/run", "app/selftest", "app/surface", "app/verify"]
ALL_CORE = list(CORE)  # all except core/cpu, which no room includes

MAY = dict(CORE)
for i, room in enumerate(BACKEND_ROOMS):
    for home in BACKENDS:
        MAY[f"{home}/{room}"] = BACKEND + [f"{home}/{below}" for below in BACKEND_ROOMS[:i]]
MAY["filters"] = BACKEND + ["core"]
for i, room in enumerate(APP):
    MAY[room] = ALL_CORE + APP[:i]
for room in COMMANDS:
    MAY[room] = ALL_CORE + APP
MAY["app"] = ALL_CORE + APP + COMMANDS
MAY["lib"] = ALL_CORE + APP
MAY["examples"] = ALL_CORE + ["lib"]

# Files of a room that call one another in a circle, so that none can be read by itself. A room that is not listed has
# none; a number that has fallen is lowered here.
CIRCLES = {}

CUDA = r"cuda|cub/|thrust/|cooperative_groups|nv[a-z]*\.h|curand|cublas|cusparse|cusolver"
NEVER = {"core": CUDA + "|libconfig", "filters": CUDA + "|libconfig", "gpu": "libconfig",
         "app": CUDA, "lib": CUDA + "|libconfig", "examples": CUDA, "tests": CUDA}  # system headers, by the top folder
TOPS = list(NEVER)
NOT_BUILT = ["examples"]  # by the programs that use them
SOURCES = (".c", ".h", ".inc", ".cu", ".cuh")


def is_generated(path):
    return path.endswith(".in")


def find_files(root):
    found = []
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            if os.path.relpath(folder, root) == "tests/bad":
                continue  # configs and what they include
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names
                      if name.endswith(SOURCES)]
    return sorted(found)


def room_of(path):
    return os.path.dirname(path)


def may_include(room):
    """Tests are outside the layers: they may include all of core, and their own library."""
    if room.startswith("tests"):
        own = {"tests/gpu": [f"gpu/{below}" for below in BACKEND_ROOMS] + ["app/text"],
               "tests/cpu": [f"core/cpu/{below}" for below in BACKEND_ROOMS],
               "tests/app": ["app/config", "app/diag", "app/matrix", "app/output", "app/selftest", "app/session", "app/text"],
               "tests/bench": ["app/text", "app/config", "app/session", "app/matrix"],
               "tests/soak": ["app/session"], "tests/tree": ["app/text", "app/config"],
               "tests/fuzz": ["app/text", "app/config", "app/session", "app/result", "app/output", "app/report", "app/run"]}
        return ALL_CORE + ["lib", "tests/lib", "tests/fuzz"] + own.get(room, [])
    return MAY.get(room)


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def read_includes(root, files):
    """(file, header as written, the included file of the tree or None)."""
    home = {os.path.basename(path): path for path in files}
    edges = []
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as text:
            for mark, header in INCLUDE.findall(text.read()):
                known = home.get(os.path.basename(header)) if mark == '"' else None
                edges.append((path, header, known))
    return edges


def cycle_of(arrows):
    """A cycle of the graph {node: set of nodes} as a list, or None."""
    state, stack = {}, []

    def visit(node):
        state[node] = 1
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if state.get(other) == 1:
                return stack[stack.index(other):] + [other]
            if other not in state:
                found = visit(other)
                if found:
                    return found
        state[node] = 2
        stack.pop()
        return None

    for node in sorted(arrows):
        if node not in state:
            found = visit(node)
            if found:
                return found
    return None


def check_names(files):
    seen = {}
    for path in files:
        name = os.path.basename(path)
        if name in seen:
            yield f"{seen[name]} {path}: the same file name twice"
        seen[name] = path


def check_rooms(files):
    for path in files:
        if may_include(room_of(path)) is None:
            yield f"{path}: {room_of(path)}/ is no room; the rooms stand in tests/tree/test_layers.py"


def check_builds(root, files):
    """Each room has a meson.build of its own that lists what is built there."""
    for room in sorted({room_of(path) for path in files}):
        if not os.path.exists(os.path.join(root, room, "meson.build")) and room not in NOT_BUILT:
            yield f"{room}/: has no meson.build"


def check_includes(edges):
    for path, header, known in edges:
        room, top = room_of(path), path.split("/")[0]
        allowed = may_include(room)
        if known and allowed is not None:
            if room_of(known) != room and room_of(known) not in allowed:
                yield f"{path}: includes {known}; {room}/ may include only: {' '.join(allowed)}"
        elif not known and re.match(NEVER[top], header):
            yield f"{path}: includes <{header}>, which {top}/ must not know"


def room_arrows(edges):
    arrows = {}
    for path, _, known in edges:
        if known and room_of(known) != room_of(path):
            arrows.setdefault(room_of(path), set()).add(room_of(known))
    return arrows


def check_cycles(edges):
    file_arrows = {}
    for path, _, known in edges:
        if known and known != path:
            file_arrows.setdefault(path, set()).add(known)
    for what, arrows in (("rooms", room_arrows(edges)), ("files", file_arrows)):
        cycle = cycle_of(arrows)
        if cycle:
            yield f"a cycle of {what}: {' -> '.join(cycle)}"


TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)
PRINTS = re.compile(r"(?<![A-Za-z0-9_])(?:(v?printf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|"
                    r"abort) *\(|(stdout|stderr|cout|cerr)(?![A-Za-z0-9_]))")


def check_output(root, files):
    """Below app/, and in lib/, nothing prints or ends the program. Comments and strings do not count."""
    for path in files:
        if path.split("/")[0] not in ("core", "filters", "gpu", "lib"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as text:
            code = TOKEN.sub(lambda m: "\n" * m.group().count("\n") + " ", text.read())
        for number, line in enumerate(code.split("\n"), 1):
            found = PRINTS.search(line)
            if found:
                yield f"{path}:{number}: {found.group(1) or found.group(2)}: nothing prints or exits below app/"


def check_headers(root, files):
    """Every header of core compiles by itself, as C and, for the CUDA files, as C++."""
    jobs = []
    with tempfile.TemporaryDirectory() as folder:
        compilers = [("c", os.environ.get("CC", "cc").split() + ["-std=c11"])]
        cxx = os.environ.get("CXX", "c++").split()
        if shutil.which(cxx[0]):
            compilers.append(("c++", cxx + ["-std=c++17"]))

        def compiles(header, language, compiler):
            source = os.path.join(folder, f"{os.path.basename(header)}.{language}")
            with open(source, "w", encoding="utf-8") as text:
                text.write(f'#include "{header}"\ntypedef int alone;\n')
            done = subprocess.run(
                compiler + ["-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-pedantic", "-Werror",
                            f"-I{root}", "-x", language, "-fsyntax-only", source],
                capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return None
            first = next((line for line in done.stderr.split("\n") if re.search("error|warning", line)),
                         "?")
            return f"{header}: does not compile alone as {language}: {first}"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for header in files:
                if header.endswith(".h") and (header.startswith("core/") or header == "lib/hextop.h"):
                    jobs += [pool.submit(compiles, header, *compiler) for compiler in compilers]
            for job in jobs:
                if job.result():
                    yield job.result()


DEFINES = re.compile(r"^(?!static\b)[A-Za-z_][\w \t*<>,]*?[ *](hx_\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*\{", re.M)


def circles_of(arrows):
    """Strongly connected components of more than one node, by depth-first search, each sorted."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
                on_stack.discard(part[-1])
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted(found)


def room_circles(root, files):
    """{room: its circles}: a file calls another of its room if it names a function that the other defines."""
    code = {}
    for path in files:
        if path.endswith((".c", ".cu")) and not path.startswith("tests/"):
            with open(os.path.join(root, path), encoding="utf-8") as text:
                code[path] = TOKEN.sub(" ", text.read())
    home = {name: path for path in code for name in DEFINES.findall(code[path])}
    calls = {}
    for path, text in code.items():
        for name in set(re.findall(r"\bhx_\w+", text)):
            other = home.get(name, path)
            if other != path and room_of(other) == room_of(path):
                calls.setdefault(room_of(path), {}).setdefault(path, set()).add(other)
    found = {room: circles_of(arrows) for room, arrows in calls.items()}
    return {room: circles for room, circles in found.items() if circles}


def check_circles(root, files):
    """Compares the number of files in circles with CIRCLES."""
    now = {room: sum(map(len, circles)) for room, circles in room_circles(root, files).items()}
    for room in sorted(set(now) | (set(CIRCLES) & {room_of(path) for path in files})):
        if now.get(room, 0) > CIRCLES.get(room, 0):
            yield f"{room}/: {now[room]} files call one another in circles, at most {CIRCLES.get(room, 0)}; --circles lists them"
        elif now.get(room, 0) < CIRCLES.get(room, 0):
            yield f"{room}/: only {now.get(room, 0)} files are in circles: lower CIRCLES in tests/tree/test_layers.py"


def draw_circles(root, files):
    circles = room_circles(root, files)
    for room in sorted(circles, key=lambda r: (-sum(map(len, circles[r])), r)):
        for circle in circles[room]:
            print(f"{room:16} {len(circle):2} files: {' '.join(map(os.path.basename, circle))}")
    print(f"{sum(map(len, circles.values()))} circles, {sum(len(c) for room in circles.values() for c in room)} files")


def floors(arrows):
    """Number of rooms below each, along the longest path down."""
    depth = {}

    def of(room):
        if room not in depth:
            depth[room] = 1 + max((of(below) for below in arrows.get(room, ())), default=-1)
        return depth[room]

    for room in set(arrows) | {below for all_below in arrows.values() for below in all_below}:
        of(room)
    return depth


def draw(files, edges):
    arrows = room_arrows(edges)
    cycle = cycle_of(arrows)
    if cycle:
        sys.exit(f"a cycle of rooms: {' -> '.join(cycle)}")
    depth = floors(arrows)
    for room in sorted({room_of(path) for path in files}, key=lambda r: (depth.get(r, 0), r)):
        n = sum(room_of(path) == room for path in files)
        print(f"{depth.get(room, 0):2}  {room:14} {n:3} files  -> {' '.join(sorted(arrows.get(room, ())))}")


def judge(root, files, edges):
    return [*check_names(files), *check_rooms(files), *check_builds(root, files),
            *check_includes(edges), *check_cycles(edges), *check_circles(root, files), *check_output(root, files),
            *check_headers(root, files)]


BAD_HOUSE = {  # file: (text, the expected message)
    "core/base/low.h": ('#include "../mesh/high.h"\n', "may include only"),
    "core/mesh/high.h": ('#include "../base/low.h"\n', "a cycle of rooms"),
    "core/mesh/self.c": ('#include "other.h"\n', None),
    "core/mesh/other.h": ('#include "another.h"\n', None),
    "core/mesh/another.h": ('#include "other.h"\n', "a cycle of files"),
    "core/cellar/hidden.c": ("int hidden;\n", "is no room"),
    "core/problem/unbuilt.c": ("int unbuilt;\n", "core/problem/: has no meson.build"),
    "core/solver/backend.c": ('#include "../cpu/device/pcg_fast.h"\n', "core/solver/backend.c: includes core/cpu"),
    "core/cpu/device/pcg_fast.h": ("typedef int fast;\n", None),
    "core/cpu/matrix/up.c": ('#include "../design/fields.h"\n', "core/cpu/matrix/up.c: includes core/cpu/design"),
    "core/cpu/design/fields.h": ("typedef int fields;\n", None),
    "core/cpu/cellar/far.c": ("int far;\n", "core/cpu/cellar/ is no room"),
    "core/solver/cuda.c": ("#include <cuda_runtime.h>\n", "must not know"),
    "app/run/low.h": ("typedef int low;\n", "the same file name twice"),
    "core/device/loud.c": ('static void f(void) { printf("x"); }\n', "nothing prints"),
    "core/device/broken.h": ("size_t missing(void);\n", "does not compile alone"),
    "core/stress/hen.c": ("int hx_hen(int n)\n{\n    return hx_egg(n - 1);\n}\n", "core/stress/: 2 files call one another"),
    "core/stress/egg.c": ("int hx_egg(\n    int n)\n{\n    return n > 0 ? hx_hen(n) : 0;\n}\n", None),
}


def check_itself():
    """Violations that are not found in a made-up tree that contains all of them."""
    with tempfile.TemporaryDirectory() as root:
        for path, (text, _) in BAD_HOUSE.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
        files = find_files(root)
        said = "\n".join(judge(root, files, read_includes(root, files)))
    return [f"this test does not find: {expected}" for _, expected in BAD_HOUSE.values()
            if expected and expected not in said]


def main():
    words = [word for word in sys.argv[1:] if word not in ("--rooms", "--circles")]
    if len(words) != 1:
        sys.exit("usage: test_layers.py SOURCE_ROOT [--rooms | --circles]")
    root = words[0]
    files = find_files(root)
    if not any(path.startswith("core/") for path in files):
        sys.exit(f"{root}: no source files; is this the root of the source?")
    edges = read_includes(root, files)
    if "--rooms" in sys.argv:
        draw(files, edges)
        return
    if "--circles" in sys.argv:
        draw_circles(root, files)
        return
    violations = check_itself() + judge(root, files, edges)
    print("".join(line + "\n" for line in violations), end="")
    print(f"{len(files)} files, {len({room_of(path) for path in files})} rooms, "
          f"{len(edges)} includes, {len(violations)} violations")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
