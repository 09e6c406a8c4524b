#!/bin/sh
# The parts of examples/ with limits, on coarse meshes: their sets and limits are found, a few designs meet the limits with
# less material, and `lightest` finds a chip cooler. Parts from CAD models need gmsh.
#     test_lightest_parts.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
parts=$(realpath "$2")/examples
. "$(dirname "$0")/../lib/scratch.sh"

# says FILE PATTERN: the file has a line that matches this extended regular expression.
says() {
    grep -Eq "$2" "$1" || fault "$1 does not say: $2"
}

# part NAME SIZE: checks the part and makes 15 designs of it.
part() {
    "$hextop" check "$parts/$1/$1.cfg" --solve "mesh.element_size=$2" output.directory="$1" >"$1.check" 2>"$1.err" ||
        fault "$1: check refuses: $(cat "$1.err")"
    "$hextop" run "$parts/$1/$1.cfg" "mesh.element_size=$2" optimization.projection= optimization.iterations=15 \
        output.directory="$1" >"$1.out" 2>"$1.err" || fault "$1: run fails: $(cat "$1.err")"
}

chip="mesh.nx=16 mesh.ny=16 mesh.nz=7 sets[0].box.min=[5.0,5.0,0.0] sets[0].box.max=[11.0,11.0,0.0]"
chip="$chip sets[1].box.min=[5.0,5.0,0.0] sets[1].box.max=[11.0,11.0,1.0] loads[0].heat=5.0 optimization.iterations=60"
chip="$chip optimization.symmetry[0].point=[8.0,8.0,0.0] optimization.symmetry[1].point=[8.0,8.0,0.0]"
chip="$chip optimization.filter.radius=1.6 optimization.projection.every=10"
# shellcheck disable=SC2086 # words
"$hextop" lightest "$parts/chip-cooler/chip-cooler.cfg" $chip output.directory=chip >chip.out 2>chip.err ||
    fault "chip cooler: lightest fails: $(cat chip.out chip.err)"
says chip.out 'chip +[45][0-9.]* degC  at most 55 degC'
says chip/lightest.json '"kept": "try-[1-8]"'
# shellcheck disable=SC2086
"$hextop" check "$parts/chip-cooler/chip-cooler.cfg" $chip optimization.constraints[0].max=27.0 --solve >tight.out 2>tight.err
says tight.out 'chip +[0-9.]+ degC  at most 27 degC  missed'
says tight.err "warning: .*the solid part misses limit 'chip'"

if ! command -v gmsh >/dev/null 2>&1; then
    echo "gmsh is not installed: no part from a CAD model"
    [ $failed = 0 ]
    exit
fi

part l-bracket 9
says l-bracket.check 'bolts +[0-9]+ +0 +[0-9]+ +8[12][0-9.]+ mm\^2'
says l-bracket.check 'eye +[0-9]+ +0 +[0-9]+ +(29|30)[0-9.]+ mm\^2'
says l-bracket.check 'sum of case 1, weight 1: \[[-0-9.e]*, [-0-9.e]*, -2000\] N'
for limit in down outward sideways; do
    says l-bracket.check "^ *$limit +[0-9.]+ mm +at most [0-9.]+ mm +met"
    says l-bracket.out "^ *$limit +[0-9.]+ mm +at most [0-9.]+ mm +met"
done
part motor-mount 16
says motor-mount.check 'screws +\[4000, 0, 0\] N at \[-90, 75, 92\] mm, distributing'
for limit in lift side axial; do
    says motor-mount.check "^ *$limit +[0-9.]+ mm +at most [0-9.]+ mm +met"
    says motor-mount.out "^ *$limit +[0-9.]+ mm +at most [0-9.]+ mm +met"
done
for name in l-bracket motor-mount; do
    fraction=$(sed -n 's/^compliance .* volume \([0-9.]*\), mass.*/\1/p' "$name.out")
    awk "BEGIN { exit !(\"$fraction\" != \"\" && 0 + \"$fraction\" < 0.55) }" ||
        fault "$name: a volume of '$fraction', more than 0.55"
done

[ $failed = 0 ]
