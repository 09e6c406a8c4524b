"""Kinds of the registry, from the program itself: what `hextop list` prints, and what `hextop check` accepts."""
import functools
import os
import re
import subprocess
import tempfile

PART = {"elasticity": """mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; traction = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; filter = { radius = 1.5; }; };
""", "heat": """mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
physics = "heat";
material = { conductivity = 1.0; };
supports = ( { set = "left"; temperature = 0.0; } );
loads = ( { source = 1.0; } );
optimization = { volume_fraction = 0.5; filter = { radius = 1.5; }; };
"""}


@functools.lru_cache(maxsize=None)
def rows(program, title):
    """The lines that `hextop list` prints under a title, such as Filters, as tuples of words."""
    text = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout
    block = re.search(rf"^{title}\b.*\n((?:  .*\n?)*)", text, re.M)
    if not block:
        raise RuntimeError(f"`hextop list` has no {title}")
    return tuple(tuple(line.split()) for line in block.group(1).splitlines())


def names(program, title):
    """Names of preconditioners, filters, objectives, updates or generators."""
    return tuple(row[0] for row in rows(program, title))


def operators(program, device=None):
    """Names of operators: of a device, or every name that users may give, with those that a device replaces."""
    table = rows(program, "Operators")
    table = table[table.index(next(row for row in table if row[:2] == ("name", "device"))) + 1:]
    if device:
        return tuple(row[0] for row in table if row[1] == device)
    text = " ".join(next((" ".join(row) for row in rows(program, "Operators") if row[:3] == ("a", "device", "replaces")), "").split())
    return tuple(dict.fromkeys([row[0] for row in table] + re.findall(r"(\w+) as \w+", text)))


def unordered(program):
    """Names of operators whose bits depend on the order of threads, on any device."""
    return tuple(dict.fromkeys(row[0] for row in rows(program, "Operators") if len(row) > 3 and row[3] == "no"))


@functools.lru_cache(maxsize=None)
def accepted(program, key, words, *keys, physics="elasticity"):
    """The words that `hextop check` accepts as the value of the key, with other keys."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.cfg")
        with open(path, "w", encoding="ascii") as file:
            file.write(PART[physics])
        status = {word: subprocess.run([program, "-q", "check", path, f"{key}={word}", *keys], capture_output=True,
                                       check=False).returncode for word in words}
    broken = [word for word in words if status[word] not in (0, 2)]
    if broken:
        raise RuntimeError(f"`hextop check` fails with {key} = {', '.join(broken)}")
    return tuple(word for word in words if status[word] == 0)
