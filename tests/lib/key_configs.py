"""Small configs in which each key has an effect, and the files that they read."""

import os
import re
import shutil

PARTS = {
    "mesh": 'mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };',
    "material": "material = { E = 1.0; nu = 0.3; density = 1e-9; };",
    "supports": 'supports = ( { set = "left"; fix = "xyz"; } );',
    "loads": 'loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; } );',
    "optimization": 'optimization = { volume_fraction = 0.5; iterations = 30; filter = { kind = "density"; radius = 1.5; }; '
                    "projection = { }; continuation = { }; };",
    "solver": 'solver = { device = "cpu"; };',
    "output": 'output = { directory = "out/bracket"; };'}
PLAIN = 'optimization = { volume_fraction = 0.5; iterations = 30; filter = { radius = 1.5; }; };'
JOB = {"mesh": 'mesh = { file = "bracket.inp"; };', "material": 'material = { from = "file"; };',
       "supports": 'supports = ( { from = "file"; } );', "loads": 'loads = ( { from = "file"; } );',
       "optimization": PLAIN}
CAD = {"mesh": 'mesh = { file = "bracket.stl"; };', "sets": 'sets = ( { name = "left"; plane = { point = [0.0, 0.0, 0.0]; '
       'normal = [1.0, 0.0, 0.0]; }; }, { name = "right"; plane = { point = [1.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; } );',
       "optimization": PLAIN}
SPLINE = {"mesh": 'mesh = { file = "half_tube.xml"; };', "supports": 'supports = ( { set = "patch1:u-"; fix = "xyz"; } );',
          "loads": 'loads = ( { set = "patch2:u+"; total_force = [0.0, 0.0, -1.0]; } );',
          "optimization": PLAIN.replace("1.5", "3.0")}
HEAT = {"physics": 'physics = "heat";', "material": "material = { conductivity = 1.0; };",
        "supports": 'supports = ( { set = "left"; temperature = 0.0; } );', "loads": "loads = ( { source = 1.0; } );",
        "optimization": PLAIN}
MOUNT = 'sets = ( { name = "mount"; box = { min = [0.0, 0.0, 0.0]; max = [1.0, 4.0, 4.0]; }; } );'
SHAPES = {"plane": "plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; };",
          "box": "box = { min = [-1.0, 0.0, 0.0]; max = [1.0, 4.0, 4.0]; };",
          "cylinder": "cylinder = { point = [0.0, 0.0, 0.0]; axis = [0.0, 1.0, 0.0]; radius = 5.0; };",
          "sphere": "sphere = { center = [0.0, 0.0, 0.0]; radius = 5.0; };"}
PIN = {"mesh": 'mesh = { file = "tube.vtk"; };', "supports": 'supports = ( { set = "foot"; fix = "xyz"; } );',
       "loads": 'loads = ( { set = "bore"; bearing_force = [0.0, 1.0, 0.0]; } );', "optimization": PLAIN}


def load(text):
    return {"loads": f"loads = ( {{ {text} }} );", "optimization": PLAIN}


REMOTE = load('set = "right"; remote_force = [0.0, 0.0, -1.0]; point = [10.0, 2.0, 2.0];')
TURN = load("centrifugal = { point = [0.0, 0.0, 0.0]; axis = [0.0, 0.0, 1.0]; speed = 1.0; };")
TWO = {"loads": 'loads = ( { set = "right"; total_force = [0.0, 0.0, -1.0]; }, { set = "top"; pressure = 1.0; case = 2; } );'}


def base_of(key):
    """The parts of a config in which the key has an effect."""
    group, name = key.split(".")[0].rstrip("[]"), key.split(".")[-1]
    if key in ("mesh.file", "mesh.merge", "material.from", "supports[].from", "loads[].from", "loads[].case"):
        return JOB
    if key == "mesh.ignore":
        return {**JOB, "mesh": 'mesh = { file = "skin.inp"; };'}
    if key in ("mesh.element_size", "mesh.mirrored", "mesh.time_limit"):
        return CAD
    if key in ("mesh.degree", "mesh.refine"):
        return SPLINE
    if group == "convection":
        return {**HEAT, "convection": 'convection = ( { set = "top"; coefficient = 1.0; ambient = 0.0; } );'}
    if key in ("materials[].expansion", "material.expansion", "loads[].temperature_change"):
        return {**load("temperature_change = 1.0;"), "material": "material = { E = 1.0; expansion = 0.1; };", "sets": MOUNT,
                "materials": 'materials = ( { set = "mount"; expansion = 0.2; } );'}
    if group == "materials":
        is_heat = name == "conductivity"
        return {**(HEAT if is_heat else {"optimization": PLAIN}), "sets": MOUNT,
                "materials": f'materials = ( {{ set = "mount"; {"conductivity" if is_heat else "E"} = 2.0; }} );'}
    if key in ("physics", "supports[].temperature") or "conductivity" in key:
        return HEAT
    if key == "loads[].source":
        return HEAT
    if key in ("loads[].heat", "loads[].flux", "loads[].node_heat"):
        return {**HEAT, "loads": f'loads = ( {{ set = "right"; {name} = 1.0; }} );'}
    if key == "loads[].bearing_force":
        return PIN
    if key in ("loads[].remote_force", "loads[].moment", "loads[].point", "loads[].coupling"):
        return REMOTE
    if ".centrifugal" in key:
        return TURN
    if key == "loads[].gravity":
        return load("gravity = [0.0, 0.0, -1.0];")
    if group == "loads" and name not in ("set", "case", "total_force"):
        return load(f'set = "right"; {name} = {"1.0" if name == "pressure" else "[0.0, 0.0, -1.0]"};')
    if name in ("exclude", "exclude_radius", "relaxation", "method") and ".objective." in key:
        return {"sets": MOUNT.replace("mount", "bolts"),
                "optimization": PLAIN.replace("filter", 'objective = { kind = "stress"; }; filter')}
    if name in ("exclude", "exclude_radius", "relaxation", "method"):
        return {"sets": MOUNT.replace("mount", "bolts"),
                "optimization": PLAIN.replace("filter", 'constraints = ( { kind = "stress"; max = 1e9; } ); filter')}
    if key.startswith("optimization.objective."):
        return {"optimization": PLAIN.replace("filter", 'objective = { kind = "displacement"; set = "right"; '
                                              "direction = [0.0, 0.0, -1.0]; }; filter")}
    if key == "optimization.constraints[].radius":
        return {"optimization": PLAIN.replace("filter", 'constraints = ( { kind = "local_volume"; max = 0.6; radius = 2.0; } ); filter')}
    if key.startswith("optimization.constraints["):
        return {**TWO, "optimization": PLAIN.replace("filter", 'constraints = ( { kind = "displacement"; set = "right"; max = 9.0; '
                                                     "direction = [0.0, 0.0, -1.0]; } ); filter")}
    if key == "optimization.kkt_tolerance":
        return {"optimization": PLAIN.replace("filter", 'update = "mma"; filter')}
    if key in ("optimization.minimum_length", "optimization.minimum_gap"):
        length = "minimum_length = 4.0; " if key.endswith("gap") else ""
        return {"optimization": f"optimization = {{ volume_fraction = 0.5; {length}}};"}
    if key in ("optimization.start", "optimization.constraints"):
        return {"optimization": PLAIN}
    if key == "weights":
        return TWO
    if group == "springs":
        return {"springs": 'springs = ( { set = "bottom"; stiffness = [0.0, 0.0, 1.0]; } );', "optimization": PLAIN}
    if group == "passive":
        return {"sets": MOUNT, "passive": 'passive = ( { set = "mount"; } );', "optimization": PLAIN}
    if group == "sets":
        shape = SHAPES.get(key.split(".")[1], f'{name} = ("left", "bottom");' if name in ("and", "or", "not") else SHAPES["box"])
        return {"sets": f'sets = ( {{ name = "mount"; {shape} }} );', "optimization": PLAIN}
    if ".symmetry" in key:
        return {"optimization": PLAIN.replace("};", '}; symmetry = ( { point = [0.0, 2.0, 0.0]; normal = [0.0, 1.0, 0.0]; } );', 1)}
    if ".repetition" in key:
        kind = 'kind = "pattern"; step = [3.0, 0.0, 0.0]' if key.endswith(".step") else \
            'kind = "cyclic"; point = [0.0, 2.0, 2.0]; axis = [1.0, 0.0, 0.0]'
        return {"optimization": PLAIN.replace("};", f"}}; repetition = ( {{ {kind}; copies = 2; }} );", 1)}
    if ".overhang" in key:
        return {"optimization": PLAIN.replace("};", "}; overhang = { direction = [0.0, 0.0, 1.0]; };", 1)}
    if ".draw" in key:
        return {"optimization": PLAIN.replace("};", "}; draw = { direction = [0.0, 0.0, 1.0]; };", 1)}
    if ".milling" in key:
        return {"optimization": PLAIN.replace("};", "}; milling = ( { direction = [0.0, 0.0, 1.0]; } );", 1)}
    if ".thin[]" in key:
        return {"optimization": PLAIN, "solver": 'solver = { device = "cpu"; multigrid = { coarsening = { thin = ( { cells_from '
                '= 3; cells_to = 5; } ); }; }; };'}
    if group == "solver" or key == "optimization.initial":
        return {"optimization": PLAIN}
    return {}


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def config_of(key):
    return "\n".join({**PARTS, **base_of(key)}.values())


def prepare(source, run, check):
    """Writes the files into the current folder; run(*words) runs hextop and returns its exit status and output."""
    meshes = os.path.join(source, "examples", "meshes")
    shutil.copy(os.path.join(meshes, "cube_job.inp"), "bracket.inp")
    # the same with a shell and a point mass, which hextop does not read
    with open("bracket.inp", encoding="utf-8") as f:
        job = f.read()
    cut = re.search(r"^\*End Part", job, re.M | re.I).start()
    write("skin.inp", job[:cut] + "*Element, type=S4, elset=skin\n901, 1, 2, 5, 4\n*Shell Section, elset=skin, material=Steel\n"
          "0.5\n*Element, type=MASS, elset=motor\n902, 1\n*Mass, elset=motor\n0.01\n" + job[cut:])
    shutil.copy(os.path.join(meshes, "half_tube.xml"), "half_tube.xml")
    write("bracket.stl", "solid\nendsolid\n")
    status, said = run("mesh", os.path.join(meshes, "half_tube.xml"), "tube.vtk", "mesh.refine=[16,4,4]")
    check(status == 0, f"tube.vtk: {said[-300:]}")
    write("first.cfg", "\n".join({**PARTS, "optimization": PLAIN}.values()))
    status, said = run("-q", "run", "first.cfg", "optimization.iterations=1")
    check(status == 0, f"the first run: {said[-300:]}")
