#!/bin/sh
# A result as the mesh of the next run, including its densities; the same through other formats; and the part that
# output.threshold leaves.
#     test_mesh_reuse.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/counting.sh"

ok() {
    n=$((n + 1))
    "$@" >log 2>&1 && return
    failed=$((failed + 1))
    echo "failed: $*"
    tail -n 3 log
}

compliance() {
    sed -n 's/.*"compliance": \([0-9.e+-]*\),*/\1/p' "$1/summary.json" | head -n 1
}

cat >common.inc <<'END'
material = { E = 1.0; nu = 0.3; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 6; filter = { radius = 1.5; }; };
solver = { tolerance = 1e-9; operator = "otf"; preconditioner = "jacobi"; };
output = { fields = ("density", "sets"); };
END
cat >first.cfg <<'END'
mesh = { generator = "cantilever"; nx = 12; ny = 6; nz = 6; distort = 0.1; };
@include "common.inc"
END
echo '@include "common.inc"' >again.cfg

ok "$hextop" -q run first.cfg output.directory=six
result=$PWD/six/density_0006.vtk

# Repeats the sixth iteration from its file alone: mesh, sets and densities.
ok "$hextop" -q run again.cfg mesh.file="$result" optimization.initial="$result" \
    optimization.iterations=1 output.directory=once
ok near "$(compliance once)" "$(compliance six)" 1e-6

# Gmsh and Abaqus files give the same mesh, both when written and when read.
ok "$hextop" -q run again.cfg mesh.file="$result" output.directory=vtk
for end in msh inp; do
    ok "$hextop" -q mesh "$result" mesh.$end
    ok "$hextop" -q run again.cfg mesh.file=$PWD/mesh.$end output.directory=$end
    ok near "$(compliance $end)" "$(compliance vtk)" 1e-9
    ok "$hextop" -q mesh mesh.$end back.vtk
    ok "$hextop" -q run again.cfg mesh.file=$PWD/back.vtk output.directory=back
    ok near "$(compliance back)" "$(compliance vtk)" 1e-9
done

# A config's mesh as Gmsh file.
ok "$hextop" -q mesh first.cfg generated.msh output.format=ascii
ok "$hextop" -q run again.cfg mesh.file=$PWD/generated.msh output.directory=generated
ok near "$(compliance generated)" "$(compliance six)" 1e-9

# A part written with output.threshold is also a mesh and has its own densities.
ok "$hextop" -q run first.cfg output.directory=part output.threshold=0.3
part=$PWD/part/density_0006.vtk
ok "$hextop" check again.cfg mesh.file="$part" optimization.initial="$part"
grep -q 'elements' log || failed=$((failed + 1))
ok "$hextop" -q run again.cfg mesh.file="$part" optimization.initial="$part" \
    optimization.iterations=1 output.directory=onward optimization.volume_fraction=0.8

# The printed loads include those by mass of the first design: 0.5 * 2 * 16 * 10.
cat >weight.cfg <<'END'
mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
material = { density = 2.0; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { gravity = [0.0, 0.0, -10.0]; } );
optimization = { volume_fraction = 0.5; };
output = { format = "ascii"; };
END
ok "$hextop" mesh weight.cfg weight.vtk
ok near "$(awk '/load_1/ { on = 1; next } on && NF != 3 { exit } on { sum -= $3 } END { print sum }' \
    weight.vtk)" 160 1e-12

echo "$n checks, $failed failed"
[ $failed = 0 ]
