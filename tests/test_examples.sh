#!/bin/sh
# The bracket of examples/: the mesh that gmsh wrote is read as it is, its holes are found, its design
# improves; where gmsh is installed, the script still makes a mesh of hexahedra only.
#     test_examples.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
bracket=$(realpath "$2")/examples/bracket
. "$(dirname "$0")/scratch.sh"

# says PATTERN: a line of the last check, an extended regular expression.
says() {
    grep -Eq "$1" stdout || fault "check does not say: $1"
}

"$hextop" check "$bracket/bracket.cfg" solver.operator=otf solver.device=cpu >stdout 2>stderr ||
    fault "check refuses: $(cat stderr)"
[ ! -s stderr ] || fault "check warns: $(cat stderr)"
says '3,100 elements, 4,104 nodes'
says 'bodies +1$'
says 'upper-bolt +48 +0 +0$'
says 'lower-bolt +48 +0 +0$'
says 'pin +96 +0 +0$'
says '288 of 12,312 degrees of freedom held'
says 'sum of case 1, weight 1: \[0, -5000, 1500\] N'

# The same pull by a pin: its hole is found from the faces alone. Across the axis 2 F / (pi r L) =
# 2 * 5000 / (pi 16 36) = 5.53 in a round hole; one of 16 flat faces takes 1.3 % more.
"$hextop" check "$bracket/bracket.cfg" solver.operator=otf solver.device=cpu 'loads[0].total_force=' \
    'loads[0].bearing_force=[0,-5000,1500]' 'passive[1]={set="pin";skin=6.0;}' >stdout 2>stderr ||
    fault "check of a pin refuses: $(cat stderr)"
says 'of a pin: radius 15\.7957 mm, axis \[0, 0, 1\] through \[184, -18, 18\] mm, peak pressure 5\.598 MPa'
says 'sum of case 1, weight 1: \[[-0-9.e]*, -5000, 1500\] N'
says 'skin of pin, 6 mm thick: [0-9,]* elements'

# The first compliance is that of the mesh at a uniform density: it changes with the mesh or the model.
"$hextop" -q run "$bracket/bracket.cfg" solver.operator=otf solver.device=cpu solver.tolerance=1e-8 \
    optimization.iterations=4 output.directory=out || fault "run fails"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "compliance") c = i }
         NR > 1 { value[NR - 1] = $c }
         END {
             for (i = 1; i <= 4; i++) printf "%s ", value[i]
             print ""
             off = value[1] / 5628.89872853 - 1
             if (off < 0) off = -off
             exit !(NR == 5 && off < 1e-6 && value[2] < 0.3 * value[1] && value[3] < 0.5 * value[2] &&
                    value[4] < value[3])
         }' out/history.csv || fault "not the compliances of this bracket"

if command -v gmsh >/dev/null 2>&1; then
    gmsh -v 1 -3 "$bracket/bracket.geo" -setnumber h 5 -o fine.vtk >gmsh.log 2>&1 ||
        fault "gmsh fails: $(cat gmsh.log)"
    "$hextop" -q check "$bracket/bracket.cfg" mesh.file="$work/fine.vtk" solver.operator=otf ||
        fault "a mesh made just now is refused"
else
    echo "gmsh is not installed: no mesh made anew"
fi

[ $failed = 0 ]
