#!/bin/sh
# The parts of examples/: their meshes, made by gmsh, are read unchanged, sets and loads are found, and
# designs improve. If gmsh is installed, the scripts still make meshes that consist of hexahedra only.
#     test_examples.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
parts=$(realpath "$2")/examples
bracket=$parts/bracket
. "$(dirname "$0")/../lib/scratch.sh"

# says PATTERN: the output of the last check has a line that matches this extended regular expression.
says() {
    grep -Eq "$1" stdout || fault "check does not say: $1"
}

"$hextop" check "$bracket/bracket.cfg" solver.operator=otf solver.device=cpu >stdout 2>stderr ||
    fault "check refuses: $(cat stderr)"
[ ! -s stderr ] || fault "check warns: $(cat stderr)"
says '3,100 elements, 4,104 nodes'
says 'bodies +1$'
says 'upper-bolt +48 +0 +40 +1873.62 mm\^2'
says 'lower-bolt +48 +0 +40 +1873.62 mm\^2'
says 'pin +96 +0 +80 +3595.9 mm\^2'
says 'bolts +96 +0 +80 +3747.24 mm\^2'
says '288 of 12,312 degrees of freedom held'
says 'sum of case 1, weight 1: \[0, -5000, 1500\] N'

# The pull by a pin, whose hole is found from the faces only. The pressure across the axis is 2 F / (pi r L) =
# 2 * 5000 / (pi 16 36) = 5.53 in a round hole, and 1.3 % more in a hole of 16 flat faces.
"$hextop" check "$bracket/bracket.cfg" solver.operator=otf solver.device=cpu 'loads[0].total_force=' \
    'loads[0].bearing_force=[0,-5000,1500]' 'passive[1]={set="pin";skin=6.0;}' >stdout 2>stderr ||
    fault "check of a pin refuses: $(cat stderr)"
says 'of a pin: radius 15\.7957 mm, axis \[0, 0, 1\] through \[184, -18, 18\] mm, peak pressure 5\.598 MPa'
says 'sum of case 1, weight 1: \[[-0-9.e]*, -5000, 1500\] N'
says 'skin of pin, 6 mm thick: [0-9,]* elements'

# follows HISTORY A B C: the compliance of the first design is A (a change of the mesh or the model shows
# there), and those of the next two designs are B and C.
follows() {
    awk -F, -v a="$2" -v b="$3" -v c="$4" '
        function off(x, y) { x = x / y - 1; return x < 0 ? -x : x }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "compliance") column = i }
        NR > 1 { value[NR - 1] = $column }
        END {
            print value[1], value[2], value[3]
            exit !(NR == 4 && value[1] value[2] value[3] ~ /^[-+.e0-9]+$/ && off(value[1], a) < 1e-6 && off(value[2], b) < 1e-4 && off(value[3], c) < 1e-4)
        }' "$1" || fault "$1: not the compliances of this part"
}

# design NAME: three designs of the part.
design() {
    "$hextop" -q run "$parts/$1/$1.cfg" solver.operator=otf solver.device=cpu solver.tolerance=1e-8 \
        optimization.iterations=3 output.directory="$1" 2>stderr || fault "$1: run fails: $(cat stderr)"
}

design bracket
follows bracket/history.csv 5628.89872853 1490.70496 656.417643

"$hextop" check "$parts/hook/hook.cfg" solver.operator=otf solver.device=cpu >stdout 2>stderr ||
    fault "check refuses: $(cat stderr)"
[ ! -s stderr ] || fault "check warns: $(cat stderr)"
says '3,280 elements, 4,158 nodes'
says 'throat .* of a pin: radius 34.9406 mm, axis \[0, 0, 1\] through \[0, 0, 0\] mm'
says 'sum of case 2, weight 0.5: \[5000, -30000, 4000\] N'
says 'skin of throat, 7 mm thick: 240 elements of density 1'
says 'linked +2,960 of 2,960 elements in 1,480 groups'
design hook
follows hook/history.csv 97341.1506 26217.2102 13982.9082

"$hextop" check "$parts/bell-crank/bell-crank.cfg" solver.operator=otf solver.device=cpu >stdout 2>stderr ||
    fault "check refuses: $(cat stderr)"
[ ! -s stderr ] || fault "check warns: $(cat stderr)"
says '3,256 elements, 4,630 nodes'
says 'pivot +\[400000, 400000, 100000\] N/mm +in total'
says 'output +\[0, 0, 250\] N at \[40, 110, 45\] mm, distributing'
design bell-crank
follows bell-crank/history.csv 17366.7474 8910.88544 6988.28717

# Heat: a plate of 30 x 30 x 1 with a sink of width 4. All heat leaves through the sink; the conductor is one piece
# and conducts better than none.
plate="mesh.nx=30 mesh.ny=30 mesh.nz=1 sets[0].box.min=[0.0,13.0,0.0] sets[0].box.max=[0.0,17.0,1.0]"
plate="$plate optimization.symmetry[0].point=[0.0,15.0,0.0] solver.operator=otf solver.device=cpu solver.tolerance=1e-8"
# shellcheck disable=SC2086 # words
"$hextop" -q run "$parts/heatsink/heatsink.cfg" $plate optimization.iterations=3 output.directory=heatsink 2>stderr ||
    fault "heatsink: run fails: $(cat stderr)"
follows heatsink/history.csv 0.107662004812 0.0578654887 0.0488619312
# shellcheck disable=SC2086
"$hextop" -q run "$parts/heatsink/heatsink.cfg" $plate optimization.iterations=40 optimization.continuation.every=5 \
    output.directory=heatsink 2>stderr || fault "heatsink: run fails: $(cat stderr)"
# shellcheck disable=SC2086
"$hextop" verify --made no heatsink/density_0040.vtk "$parts/heatsink/heatsink.cfg" $plate >stdout 2>stderr ||
    fault "heatsink: verify fails: $(cat stderr)"
says 'pieces +1, counting'
says 'highest temperature, K +24\.[0-9]+ +2[67]\.'
grep -q '"heat_in": 0.0899999' heatsink/summary.json && grep -q '"heat_to_prescribed_temperatures": 0.08999' heatsink/summary.json ||
    fault "heatsink: the heat is lost: $(grep heat_ heatsink/summary.json)"

if command -v gmsh >/dev/null 2>&1; then
    gmsh -v 1 -3 "$bracket/bracket.geo" -setnumber h 5 -o fine.vtk >gmsh.log 2>&1 ||
        fault "gmsh fails: $(cat gmsh.log)"
    "$hextop" -q check "$bracket/bracket.cfg" mesh.file="$work/fine.vtk" solver.operator=otf ||
        fault "a mesh made just now is refused"
    for part in hook bell-crank; do
        gmsh -v 1 -3 "$parts/$part/$part.geo" -setnumber h 3 -o "$part.msh" >gmsh.log 2>&1 ||
            fault "$part: gmsh fails: $(cat gmsh.log)"
        "$hextop" -q check "$parts/$part/$part.cfg" mesh.file="$work/$part.msh" solver.operator=otf ||
            fault "$part: a mesh made just now is refused"
    done
else
    echo "gmsh is not installed: no mesh is made"
fi

[ $failed = 0 ]
