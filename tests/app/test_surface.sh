#!/bin/sh
# hextop surface: files, elements that the config keeps solid or void, volumes, pieces, invalid input.
#     test_surface.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
bracket=$(realpath "$2")/examples/bracket/bracket.vtk
meshes=$(realpath "$2")/examples/meshes
. "$(dirname "$0")/../lib/scratch.sh"

# surface ARGUMENTS...: must succeed.
surface() {
    "$hextop" surface "$@" >stdout 2>stderr || fault "surface $*: $(cat stderr)"
}

# refused STATUS TEXT ARGUMENTS...: must fail with this status and text, and leave no file.
refused() {
    status=$1 text=$2
    shift 2
    "$hextop" surface "$@" >stdout 2>stderr
    got=$?
    [ $got = "$status" ] || fault "surface $*: exit status $got instead of $status"
    grep -qF -- "$text" stderr || fault "surface $*: stderr lacks '$text': $(cat stderr)"
    [ -z "$(find . -name 'bad*' -o -name '*.tmp*')" ] || fault "surface $*: left a file behind"
}

says() {
    grep -Eq -- "$1" stdout || fault "surface does not say: $1"
}

# number of triangles of a binary STL, from its header and from its size
stl_count() {
    od -An -tu4 -j80 -N4 "$1" | tr -d ' '
}

check_stl() {
    n=$(stl_count "$1")
    [ "$(wc -c <"$1")" = $((84 + 50 * n)) ] || fault "$1: $n triangles do not fit its size"
    [ "$(head -c 5 "$1")" != solid ] || fault "$1: reads as a text file"
}

cat >part.cfg <<'END'
title = "part";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; shuffle = 3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0, 0, -1]; } );
sets = ( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 4, 4]; }; },
         { name = "bore"; box = { min = [3, 0, 0]; max = [5, 4, 2]; }; } );
passive = ( { set = "mount"; density = 1.0; }, { set = "bore"; density = 0.01; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 5; filter = { radius = 1.5; }; };
solver = { operator = "otf"; device = "cpu"; };
output = { directory = "out"; every = 0; };
END
"$hextop" -q run part.cfg || fault "the run fails"
result=out/density_0005.vtk

# The config beside the result is found: 16 elements of the mount, 4 of the load, 16 of void.
surface $result part.stl
says 'config +out/config.cfg, beside the result: 20 elements are forced solid'
says '20 of it in elements that are forced solid'
says '16 elements of passive void are left out'
says 'closed, manifold'
check_stl part.stl
awk '$1 == "volume" { sub(",", "", $2); off = $2 / $4 - 1; good = $2 ~ /^[0-9]/ && off * off < 1e-6 }
    END { exit !good }' stdout ||
    fault "not the volume of the densities: $(grep volume stdout)"

# Everything except void is solid: exactly its volume, with flat faces after any smoothing.
surface $result whole.ply --threshold 0.001 --smooth 20
says 'volume +112, that of the densities'
says 'box +0 0 0 to 8 4 4'
grep -qa '^property double x' whole.ply || fault "whole.ply: not what a PLY begins with"
surface --config none --threshold=0.001 $result whole.stl
says 'volume +128,'
says 'config +none'
surface $result all.stl --preserve supports,passive,loads
says ': 20 elements are forced solid' # the support is the mount's
surface $result none.stl --preserve none
says ': 0 elements are forced solid'

# If everything else is void, the forced-solid elements are the whole part, with their volume and faces up to
# rounding.
surface $result bare.ply --threshold 0.999999 --smooth 20
says 'volume +20, that of the densities'
says 'shape +2 pieces'
says 'area +66$' # of 1 x 4 x 4 and 1 x 4 x 1
surface $result mount.ply --threshold 0.999999 --preserve passive
says 'volume +16, that of'
says 'box +0 0 0 to 1 4 4$'

# The part is the one that verify analyses, with the same target volume and the same solid elements.
for preserve in loads,passive supports passive none; do
    surface $result same.stl --preserve $preserve
    asked=$(awk '$1 == "volume" { print $NF }' stdout)
    solid=$(sed -n 's/.*beside the result: \([0-9]*\) elements are forced solid.*/\1/p' stdout)
    "$hextop" -q verify $result out/config.cfg --preserve $preserve --output same.json 2>/dev/null ||
        fault "verify --preserve $preserve"
    grep -q "\"elements_forced_solid\": $solid," same.json ||
        fault "--preserve $preserve: $solid elements are solid in surface, not in verify"
    grep -q '"elements_forced_void": 16,' same.json || fault "verify has other void"
    awk -v a="$asked" '/volume_target/ { off = $2 / a - 1; exit !(off * off < 1e-10) }' same.json ||
        fault "--preserve $preserve: asked for $asked in surface, not in verify"
    awk '/volume_target/ { a = $2 + 0 } /volume_solid/ { off = $2 - a; exit !(off * off <= 0.25) }' \
        same.json || fault "--preserve $preserve: verify is off by more than half an element"
done
refused 2 "20 elements that are forced solid (passive or loaded) have 20" $result bad.stl --volume 10
surface $result v.stl --volume 60 --smooth 0
says 'target 60$'
grep -q smoothing stdout && fault "--smooth 0 smooths"

# If units are stated, every figure has its unit.
{ echo 'units = "N, mm, MPa";'; cat part.cfg; } >units.cfg
surface --config units.cfg $result units.stl
says 'volume +[0-9.]+ mm\^3, (that of the densities|target) [0-9.]+ mm\^3$'
says 'area +[0-9.]+ mm\^2$'
says 'box .* mm$'

# Any number of threads gives the same bytes.
OMP_NUM_THREADS=1 "$hextop" -q surface $result one.stl
OMP_NUM_THREADS=3 "$hextop" -q surface $result three.stl
cmp -s one.stl three.stl || fault "the surface depends on the number of threads"

# A result with only the denser elements has density 0 elsewhere; without the config, it is a mesh of its own.
"$hextop" -q run part.cfg output.directory=dense output.threshold=0.5 || fault "the run fails"
surface dense/density_0005.vtk dense.stl
says 'elements below output.threshold are not in the file'
says '20 elements are forced solid'
surface dense/density_0005.vtk alone.stl --config none --threshold 0.001
check_stl alone.stl

# The file's own element numbers, which need not start at 0, are not their positions in the file.
cat >lplate.cfg <<END
mesh = { file = "$meshes/lplate_22.msh"; shuffle = 5; };
supports = ( { set = "top end"; fix = "xyz"; } );
loads = ( { set = "surface 7"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; iterations = 8; filter = { radius = 1.5; unit = "element"; }; };
solver = { operator = "otf"; device = "cpu"; };
END
"$hextop" -q run lplate.cfg output.directory=plate || fault "the run fails"
"$hextop" -q run lplate.cfg output.directory=plate_part output.threshold=0.01 ||
    fault "the run fails"
surface plate/density_0008.vtk plate.stl --threshold 0.5
whole=$(awk '/^volume/ { print $2 }' stdout)
surface plate_part/density_0008.vtk plate_part.stl --threshold 0.5
says '[1-9][0-9]* elements below output.threshold are not in the file'
awk '/^volume/ { off = $2 / whole - 1; good = $2 ~ /^[0-9]/ && off < 0.02 && off > -0.02 }
    END { exit !good }' "whole=$whole" stdout ||
    fault "volume $whole, of a part of a mesh with numbers of its own: $(cat stdout)"

# Elements behind loads and supports that the mesh's file states are solid.
cat >cube.cfg <<END
mesh = { file = "$meshes/cube_job.inp"; shuffle = 3; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 0.5; iterations = 2; filter = { radius = 1.0; unit = "element"; }; };
solver = { operator = "otf"; device = "cpu"; };
output = { directory = "cube"; };
END
"$hextop" -q run cube.cfg || fault "the run fails"
surface cube/density_0002.vtk cube.stl
says 'beside the result: 4 elements are forced solid'
surface cube/density_0002.vtk cube.stl --preserve loads,supports --threshold 0.5
says 'beside the result: 8 elements are forced solid'
refused 2 "8 elements that are forced solid (passive or loaded) have 1000: give a --threshold" \
    cube/density_0002.vtk bad.stl --preserve loads,supports

# Elements behind prescribed displacements other than 0 are solid, like loaded ones. Without them the set is not on the
# surface, which is refused with the name of the set.
cat >driven.cfg <<'END'
mesh = { generator = "cantilever"; nx = 16; ny = 6; nz = 4; };
material = { E = 1000.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; }, { set = "right"; fix = "z"; value = [0.0, 0.0, -0.1]; } );
loads = ( );
optimization = { volume_fraction = 0.4; iterations = 12; filter = { kind = "sensitivity"; radius = 1.5; }; };
solver = { operator = "otf"; device = "cpu"; };
output = { directory = "driven"; };
END
"$hextop" -q run driven.cfg 2>stderr || fault "the run fails: $(cat stderr)"
surface driven/density_0012.vtk driven.stl
says 'beside the result: 24 elements are forced solid'
says '^box +0 0 0 to 16 6 4'
surface driven/density_0012.vtk all.stl --preserve loads,supports
says 'beside the result: 48 elements are forced solid'
surface driven/density_0012.vtk lost.stl --preserve passive
says 'beside the result: 0 elements are forced solid'
# driven_refused MESSAGE SURFACE: verify refuses the surface.
driven_refused() {
    "$hextop" -q verify driven --surface "$2" >stdout 2>stderr
    [ $? = 2 ] && grep -qF -- "$1" stderr || fault "verify --surface $2: not refused with: $1: $(cat stderr)"
}
driven_refused "no part of set 'right', whose prescribed displacement drives the part, is on the surface" lost.stl
driven_refused "the part is in pieces that are not connected, the prescribed displacements move each of them" driven.stl
driven_refused "the part is in pieces that are not connected" all.stl
"$hextop" -q check driven.cfg optimization.volume_fraction=0.05 >stdout 2>stderr
grep -qF "the 24 elements that are forced solid in a 0/1 design" stderr || fault "check counts others: $(cat stderr)"

# Also for displacements that the mesh's file prescribes: 4 elements at its right end.
awk '/^\*Cload/ { skip = 1; next } /^\*/ { skip = 0 } !skip { print } /^CUBE-1.7, 3, 3/ { print "Set-right, 1, 1, 0.1" }' \
    "$meshes/cube_job.inp" >pulled.inp
"$hextop" -q run cube.cfg mesh.file=pulled.inp 'loads=()' output.directory=pulled 2>stderr ||
    fault "the run fails: $(cat stderr)"
surface pulled/density_0002.vtk pulled.stl
says 'beside the result: 4 elements are forced solid'

# The 0/1 design of a driven part in which the driven set is void: nothing deforms the rest, so it is refused.
"$hextop" -q analyse driven.cfg --density driven/density_0012.vtk --solid-only --threshold 0.6 --preserve none \
    >stdout 2>stderr
[ $? = 2 ] && grep -qF "case 1: all of its prescribed displacement other than 0 is on void" stderr ||
    fault "analyse: a driven set on void: $(cat stderr)"

# Temperatures other than the reference drive a load case without other loads.
cat >hot.cfg <<'END'
physics = "heat";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
material = { conductivity = 1.0; };
supports = ( { set = "left"; temperature = 20.0; }, { set = "right"; temperature = 80.0; } );
optimization = { volume_fraction = 0.5; iterations = 2; filter = { radius = 1.5; }; };
solver = { operator = "otf"; device = "cpu"; };
output = { directory = "hot"; };
END
"$hextop" -q run hot.cfg 2>stderr || fault "the run fails: $(cat stderr)"
surface hot/density_0002.vtk hot.stl
says 'beside the result: 16 elements are forced solid'
"$hextop" -q run hot.cfg output.directory=heated 'loads=({source=1.0;})' 2>stderr || fault "the run fails: $(cat stderr)"
surface heated/density_0002.vtk hot.stl
says 'beside the result: 0 elements are forced solid'

# Pieces: two posts without material between them.
awk 'BEGIN {
    print "# vtk DataFile Version 3.0\nposts\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 48 double"
    for (k = 0; k < 2; k++) for (j = 0; j < 2; j++) for (i = 0; i < 12; i++) print i, j, k
    print "CELLS 11 99"
    for (i = 0; i < 11; i++)
        print 8, i, i + 1, i + 13, i + 12, i + 24, i + 25, i + 37, i + 36
    print "CELL_TYPES 11"
    for (i = 0; i < 11; i++) print 12
    print "CELL_DATA 11\nSCALARS density double 1\nLOOKUP_TABLE default"
    for (i = 0; i < 11; i++) print (i < 3 || i > 5) ? 1 : 0
}' >posts.vtk
surface posts.vtk posts.stl --threshold 0.5
says 'shape +2 pieces, 0 through holes, 0 closed cavities'
grep -q '2 separate pieces; the largest has 6' stderr ||
    fault "no warning of the pieces: $(cat stderr)"
surface posts.vtk largest.stl --threshold 0.5 --keep-largest
says 'shape +1 piece,'
grep -q '1 pieces* left out' stderr || fault "no warning of what is left out: $(cat stderr)"

# Far from the origin, double precision can represent the part, but single precision cannot.
awk 'NR > 5 && NR <= 53 { $1 += 1e9 } { print }' posts.vtk >far.vtk
refused 1 "in the single precision of binary STL; write a .ply" far.vtk bad.stl --threshold 0.5
surface far.vtk far.ply --threshold 0.5

refused 2 "usage: hextop surface RESULT OUT" $result
refused 2 "must end in .stl, .ply, .3mf, .obj or .glb" $result bad.doc
refused 2 "one argument too many" $result bad.stl mesh.size=2
refused 2 "cannot read 'nowhere.vtk'" nowhere.vtk bad.stl
refused 1 "nowhere/bad.stl" $result nowhere/bad.stl
refused 2 "--smooth -1: expected a whole number" $result bad.stl --smooth -1
for value in 1.5 1 0; do
    refused 2 "--threshold $value: expected a number above 0 and below 1" $result bad.stl --threshold $value
done
refused 2 "--preserve loads,none: 'none' excludes other words" $result bad.stl --preserve loads,none
refused 2 "--threshold x: expected" $result bad.stl --threshold x
refused 2 "--volume 0: expected a number above 0" $result bad.stl --volume 0
refused 2 "give only one of them" $result bad.stl --volume 3 --threshold 0.5
refused 2 "--preserve: unknown 'load', did you mean 'loads'" $result bad.stl --preserve load
refused 2 "the solid cannot have volume 500" $result bad.stl --volume 500
refused 2 "no cell array 'density'" "$bracket" bad.stl
refused 2 "--config needs a value: --config FILE" $result bad.stl --config
"$hextop" run part.cfg --smooth 3 2>stderr && fault "run takes --smooth"
grep -q "is an option of .hextop surface., not of .hextop run." stderr || fault "--smooth with run"

# A result and a config that do not belong together.
sed 's/nx = 8/nx = 9/' part.cfg >other.cfg
refused 2 "$result" $result bad.stl --config other.cfg
cp posts.vtk out/posts.vtk
refused 2 "--config none does without" out/posts.vtk bad.stl

[ $failed = 0 ]
