#!/bin/sh
# Whether a result belongs to a config: the hashes in the titles of VTK files, compared by verify, analyse and surface;
# and checkpoints written with another vector unit.
#     test_origin.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
source=$(realpath "$2")
command -v python3 >/dev/null || {
    echo "SKIPPED: no python3"
    exit 77
}
. "$(dirname "$0")/../lib/counting.sh"

cat >part.cfg <<'END_CONFIG'
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; shuffle = 2; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; traction = [0, 0, -1]; } );
optimization = { volume_fraction = 0.9; rho_min = 0.1; iterations = 2; };
solver = { device = "cpu"; threads = 1; preconditioner = "jacobi"; };
output = { directory = "out"; every = 0; format = "ascii"; fields = ["density", "sets"]; };
END_CONFIG

# origin VERDICT [KEY]: verify.json has this verdict, and a warning appears unless everything matches.
cat >origin.py <<'END_PYTHON'
import json, sys
v = json.load(open("v.json"))
o, told = v["origin"], [w for w in v["warnings"] if "other settings" in w or "another mesh" in w or "differ from those" in w]
assert o["verdict"] == sys.argv[1], o
assert o.get("keys", []) == sys.argv[3:], o
assert len(told) == int(sys.argv[2]), (told, v["warnings"])
END_PYTHON
verify() { "$hextop" verify --made no "$@" --output v.json >stdout 2>stderr; }
origin() { python3 origin.py "$@"; }

ok "run" "$hextop" -q run part.cfg
title=$(sed -n 2p out/density_0002.vtk)
cat >title.py <<'END_PYTHON'
import json, re, sys
i = json.load(open(sys.argv[1] + "/summary.json"))["identity"]
title = open(sys.argv[1] + "/density_0002.vtk", errors="replace").read().split("\n")[1]
assert len(title) < 256 and title.endswith(" | mesh=%(mesh)s settings=%(settings)s density=%(density)s" % i), (title, i)
END_PYTHON
ok "the title has the summary's hashes" python3 title.py out
ok "a long title keeps them" "$hextop" -q run part.cfg output.directory=long "title=\"$(printf '%0300d' 0)\""
ok "they are whole" python3 title.py long

ok "verify" verify out
ok "it is of this config" origin "this config" 0
ok "and says so" contains stdout "origin    of this config"
ok "of the config as written" verify out part.cfg
ok "too" origin "this config" 0
ok "with keys that change no result" verify out part.cfg solver.tolerance=1e-8 solver.operator=ebe title=x
ok "too" origin "this config" 0
ok "with quadratic elements beside" verify out --element quadratic
ok "too" origin "this config" 0

sed 's/rho_min = 0.1/rho_min = 0.05/; s/volume_fraction = 0.9/volume_fraction = 0.8/' part.cfg >other.cfg
ok "of other settings" verify out other.cfg
ok "they are named" origin "other settings" 1 optimization.volume_fraction optimization.rho_min
ok "with both values" contains stderr "optimization.rho_min = 0.1, here 0.05"
ok "asked for on the command line" verify out optimization.rho_min=0.05
ok "no warning" origin "other settings" 0 optimization.rho_min
ok "but it is reported" contains stdout "with other settings: optimization.rho_min = 0.1, here 0.05"
sed '/^loads/s/} );$/}, { set = "left"; traction = [0, 0, 1]; } );/' part.cfg >more.cfg
ok "one load more" verify out more.cfg
ok "it is named" origin "other settings" 1 entry "loads[].set" "loads[].traction" "loads[].case"
mkdir alone
cp out/density_0002.vtk alone
ok "without the config of then" verify alone/density_0002.vtk other.cfg
ok "the keys are not known" origin "other settings" 1
ok "it says why" contains stderr "unknown without the config.cfg"
sed 's/rho_min = 0.1/rho_min = 0.2/' out/config.cfg >alone/config.cfg
ok "a config.cfg that was changed" verify alone/density_0002.vtk
ok "it is not that of then" origin "other settings" 1

# A file of the generator's mesh counts as the same mesh. With two elements exchanged it is another mesh, although
# elements can be found by their corners.
ok "its mesh as a file" "$hextop" mesh part.cfg same.vtk
filed="mesh={file=\"same.vtk\"} optimization.filter.radius=1.5"
# shellcheck disable=SC2086
ok "the same mesh" verify out part.cfg $filed
ok "it is" contains v.json '"same_mesh": true'
awk '/^CELLS/ { first = NR + 1 } first && NR == first { held = $0; next } first && NR == first + 1 { print; print held; next } { print }' \
    out/density_0002.vtk >swapped.vtk
ok "another mesh" verify out part.cfg "mesh={file=\"swapped.vtk\"}" optimization.filter.radius=1.5
ok "it is" contains v.json '"verdict": "another mesh"'
ok "it is reported" contains stderr "is of another mesh"

# A density that differs in its last digit; a file without hashes.
awk '/LOOKUP_TABLE/ { first = NR + 1 } NR == first { sub(/^[0-9.e-]+/, "0.51") } { print }' out/density_0002.vtk >out/changed.vtk
ok "changed densities" verify out/changed.vtk
ok "they are" origin "changed densities" 1
ok "it is reported" contains stderr "its densities differ from those that the run wrote"
sed '2s/ | mesh.*//' out/density_0002.vtk >out/old.vtk
ok "an older file" verify out/old.vtk
ok "is of none" origin unknown 0
ok "it is reported" contains stdout "origin    unknown: the result was written by another program"
sed '2s/density=[0-9a-f]*/density=12/' out/density_0002.vtk >out/cut.vtk
ok "hashes cut short" verify out/cut.vtk
ok "are none" origin unknown 0

# Parts and binary files: the hash is that of the file's contents.
ok "a part" "$hextop" -q run part.cfg output.directory=cut output.threshold=0.9 output.format=binary
ok "verify it" verify cut
ok "it is of its config" origin "this config" 0

# The other commands.
ok "analyse" "$hextop" analyse part.cfg --density out --output a.json
ok "says it" contains stdout "origin    of this config"
ok "JSON" contains a.json '"verdict": "this config"'
ok "analyse with another" "$hextop" analyse other.cfg --density out
ok "warns" contains stderr "with other settings: optimization.volume_fraction = 0.9, here 0.8"
ok "surface" "$hextop" surface out part.stl
ok "says it" contains stdout "origin     of this config"
ok "surface of changed densities" "$hextop" surface out/changed.vtk part.stl
ok "warns" contains stderr "its densities differ from those that the run wrote"

# The properties on which the last bits depend are printed and stored in checkpoints, and a change of them
# causes a warning.
python3 - <<'END_PYTHON' || failed=$((failed + 1))
import json
m = json.load(open("out/summary.json"))["machine"]
assert m["vector_unit"] in ("baseline", "avx2", "avx512") and len(m["mathematics"]) == 8, m
assert m["build"] is None or len(m["build"]) >= 16, m
END_PYTHON
run() { "$hextop" run part.cfg solver.deterministic=true output.directory=state "$@" >stdout 2>stderr; }
ok "a checkpoint" run output.checkpoint=0.000001
ok "goes on" run --resume optimization.iterations=4
ok "without a word" sh -c '! grep -q "last digits" stderr'
if [ "$("$hextop" list | sed -n 's/^Vector unit of the CPU: \([a-z0-9]*\);.*/\1/p')" != baseline ]; then
    HEXTOP_VECTOR=baseline ok "on another vector unit" run --resume optimization.iterations=6
    ok "warns" grep -q 'is from a run with vector unit avx.*, and this one has vector unit baseline: the last digits' stderr
fi

# A folder that was moved after its run: the mesh is found by its path relative to the result, and by its hash.
mkdir -p project/meshes
cp "$source/tests/bad/mesh_good.vtk" project/meshes/part.vtk
cat >project/part.cfg <<'END_CONFIG'
mesh = { file = "meshes/part.vtk"; };
sets = ( { name = "left"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; },
         { name = "right"; plane = { point = [2.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right"; node_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.9; iterations = 1; filter = { kind = "none"; }; };
solver = { device = "cpu"; threads = 1; };
END_CONFIG
ok "run in a project" "$hextop" -q run project/part.cfg output.directory=project/out
mv project moved
ok "verify after the move" "$hextop" verify --made no moved/out
ok "says where the mesh is" contains stdout "moved/meshes/part.vtk is the mesh of this run and is taken"
ok "surface after the move" "$hextop" surface moved/out part.stl
ok "mesh after the move" "$hextop" mesh moved/out/config.cfg moved.inp
ok "analyse after the move" "$hextop" analyse moved/out/config.cfg --density moved/out
refused() { "$hextop" verify --made no moved/out >stdout 2>stderr && return 1; grep -q "$1" stderr; }
sed -i 's/^2 0 0$/2.1 0 0/' moved/meshes/part.vtk
ok "another mesh is refused" refused "part.vtk has this name, but is another mesh: write the path of the run's mesh here"
mv moved/meshes moved/elsewhere
ok "none is found" refused "if it was moved, write its new path here, or add mesh.file=PATH"
sed -i 's/^2.1 0 0$/2 0 0/' moved/elsewhere/part.vtk
ok "by mesh.file" "$hextop" verify --made no moved/out mesh.file=../elsewhere/part.vtk

echo "$n checks, $failed failed"
[ $failed = 0 ]
