#!/bin/sh
# The parts of examples/ that gmsh meshes with tetrahedra and with every kind of element. Their scripts run on
# coarse meshes with few designs, from geometry to a closed surface. Skipped if gmsh is missing.
#     test_kinds.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
parts=$(realpath "$2")/examples
. "$(dirname "$0")/../lib/scratch.sh"
if ! command -v gmsh >/dev/null; then
    echo "SKIPPED: gmsh is not installed"
    exit 77
fi

# part NAME SIZE: runs the script of the part with two designs.
part() {
    mkdir "$1-script"
    cp "$parts/$1/$1.geo" "$1-script"
    sed 's/iterations      = 60/iterations = 2/; s/projection = .*//' "$parts/$1/$1.cfg" >"$1-script/$1.cfg"
    sed 's/density_0060/density_0002/' "$parts/$1/run.sh" >"$1-script/run.sh"
    PATH=$(dirname "$hextop"):$PATH sh "$1-script/run.sh" "$2" "$1" >"$1.log" 2>&1 ||
        fault "$1: $(tail -n 3 "$1.log")"
    grep -q 'closed, manifold, without self-intersections' "$1.log" || fault "$1: the surface is not closed"
    grep -q '^CELL_TYPES' "$1/density_0002.vtk" || fault "$1: no result"
    [ -s "$1/$1.stl" ] || fault "$1: no STL"
    "$hextop" check "$parts/$1/$1.cfg" mesh.file="$PWD/$1/$1.msh" solver.device=cpu >"$1.check" 2>&1 ||
        fault "$1: check refuses: $(cat "$1.check")"
}

part yoke 8
grep -Eq 'eye +[0-9]+ +0 +[1-9][0-9]* +[0-9.]+ mm' yoke.check || fault "yoke: no faces of the eye"
grep -q 'sum of case 1, weight 1: \[12000, ' yoke.check || fault "yoke: another load"
part lever 8
grep -q 'sum of case 1, weight 1: \[[-0-9.e]*, [-0-9.e]*, -6000\] N' lever.check || fault "lever: another load"
"$hextop" mesh lever/lever.msh lever.vtk output.format=ascii >/dev/null 2>&1 || fault "lever: no VTK"
for type in 10 12 13 14; do
    grep -q -x $type lever.vtk || fault "lever: no cell of type $type"
done

# The smallest value of the field is the one that check prints, also for tetrahedra and wedges.
"$hextop" mesh "$parts/lever/lever.cfg" look.vtk mesh.file="$PWD/lever/lever.msh" output.format=ascii >/dev/null 2>&1 ||
    fault "lever: no fields"
least=$(awk '/^[A-Za-z]/ { on = ($1 == "scaled_jacobian" || $2 == "scaled_jacobian" || on && /^LOOKUP/); next }
    on { for (i = 1; i <= NF; i++) if (!n++ || $i < least) least = $i } END { printf "%.3f", least }' look.vtk)
said=$(sed -n 's/.*scaled Jacobian *\([0-9.]*\) at.*/\1/p' lever.check)
[ -n "$said" ] && awk "BEGIN { exit !($least > 0.05 && ($least - $said)^2 < 2e-6) }" ||
    fault "lever: the field's least scaled Jacobian is $least, check says '$said'"

[ $failed = 0 ]
