#!/bin/sh
# CAD models as a user handles them: test_cad.sh HEXTOP SRCDIR. Tests that do not need gmsh come first; the
# others are skipped if gmsh is not installed.
hextop=$(realpath "$1")
source=$(realpath "$2")
. "$source/tests/lib/scratch.sh"

sed "0,/ADVANCED_FACE(''/s//ADVANCED_FACE('mounting face'/" "$source/examples/bearing/bearing.step" >part.step
cat >part.cfg <<'END'
units = "N, mm, MPa";
mesh = { file = "part.step"; element_size = 8.0; };
supports = ( { set = "face-12"; fix = "xyz"; }, { set = "face-13"; fix = "xyz"; } );
loads = ( { set = "face-21"; bearing_force = [0.0, 0.0, -1000.0]; } );
passive = ( { set = "bush"; density = 1.0; } );
sets = ( { name = "bottom"; plane = { point = [0.0, 0.0, 0.0]; normal = [0.0, 0.0, 1.0]; }; } );
optimization = { volume_fraction = 0.5; iterations = 2;
                 filter = { radius = 1.5; unit = "element"; }; };
output = { directory = "out"; };
END

# expect STATUS TEXT COMMAND ...: runs the command; its output goes to `said`.
expect() {
    status=$1 text=$2
    shift 2
    "$@" >said 2>&1
    got=$?
    [ $got -eq "$status" ] || fault "exit status $got, not $status: $* : $(cat said)"
    grep -qF -e "$text" said || fault "does not say '$text': $* : $(cat said)"
}

# gone PID: the process ends within two seconds.
gone() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 $(seq 80); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# fake LINE: makes a program that prints gmsh's version, and executes LINE if it is given work.
fake() {
    printf '#!/bin/sh\ncase $1 in --version) echo 4.8.4 >&2; exit 0;; esac\n%s\n' "$1" >fake
    chmod +x fake
}

# --- without gmsh ---
export HEXTOP_GMSH=/no/such/gmsh
expect 2 "apt-get install gmsh" "$hextop" check part.cfg
grep -q "part.cfg:2: mesh.file" said || fault "does not say where: $(cat said)"
HEXTOP_GMSH=$work/fake
fake 'kill -SEGV $$'
expect 2 "gmsh: it crashed: signal 11" "$hextop" check part.cfg
fake 'sleep 60'
expect 2 "gmsh: not finished after" "$hextop" check part.cfg mesh.time_limit=0.3
# A converted file exists only for a moment, so messages name the user's file.
: >empty.med
expect 2 "empty.med: the file is empty" "$hextop" mesh empty.med out.vtk
echo med >part.med
fake 'printf "\$MeshFormat\n4.1 0 8\n\$EndMeshFormat\n" >out.msh'
expect 2 "part.med: gmsh reads the file, but finds no mesh in it" "$hextop" mesh part.med out.vtk
fake 'printf "\$MeshFormat\n2.2 0 8\n\$EndMeshFormat\n\$Nodes\nx\n" >out.msh'
expect 2 "part.med, as gmsh converted it:5: " "$hextop" mesh part.med out.vtk
fake 'printf "\$MeshFormat\n2.2 0 8\n\$EndMeshFormat\n\$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n\$EndNodes\n\$Elements\n1\n1 4 2 1 1 1 2 3 4\n\$EndElements\n" >out.msh'
expect 0 "part.med: 1 nodes" "$hextop" -v mesh part.med out.vtk
fake 'echo $$ >pid.tmp; mv pid.tmp '"$work"'/pid; sleep 60'
for number in INT KILL; do
    rm -f pid
    "$hextop" mesh part.step x.vtk >said 2>&1 &
    program=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s pid ] || sleep 0.2; done
    [ -s pid ] || fault "gmsh was not started: $(cat said)"
    # background processes of a shell ignore SIGINT, so TERM is used instead
    [ $number = INT ] && number=TERM
    kill -$number $program
    wait $program 2>/dev/null
    gone "$(cat pid)" || fault "gmsh outlives hextop after SIG$number"
done
unset HEXTOP_GMSH

# --- files that are no model ---
: >empty.step
mkdir folder.step
echo "no model" >text.step
head -c 20000 part.step >cut.step
expect 2 "empty.step: the file is empty" "$hextop" mesh empty.step x.vtk
expect 2 "folder.step: cannot open it: it is a folder, not a file" "$hextop" mesh folder.step x.vtk
expect 2 "does not begin with ISO-10303-21" "$hextop" mesh text.step x.vtk
expect 2 "No such file" "$hextop" check part.cfg mesh.file=missing.step
expect 2 "allowed is (0, inf)" "$hextop" check part.cfg mesh.element_size=0
expect 2 "--element-size 0: expected a length above 0" "$hextop" mesh part.step x.vtk --element-size 0
expect 2 "applies to CAD models" "$hextop" check part.cfg mesh.file="$source/examples/meshes/lplate.vtk"
expect 2 "applies to CAD models" "$hextop" mesh "$source/examples/meshes/lplate.vtk" x.vtk --element-size 1
sed 's/N, mm, MPa/N, m, Pa/' part.cfg >metre.cfg
expect 2 "metre.cfg:1: units: the unit of length is m, but CAD models are converted to mm" "$hextop" check metre.cfg

command -v gmsh >/dev/null || {
    [ $failed -eq 0 ] || exit 1
    echo "SKIPPED: gmsh is not installed"
    exit 77
}
expect 2 "cut.step: gmsh could not read" "$hextop" mesh cut.step x.vtk
expect 2 "would give about" "$hextop" check part.cfg mesh.element_size=1e-4

# --- keys of gmsh when a model is converted ---
expect 2 "terminated; larger elements or a longer time limit would help" \
    "$hextop" mesh part.step x.vtk mesh.element_size=20 mesh.time_limit=0.01
expect 0 "element size 20" "$hextop" mesh part.step x.vtk mesh.element_size=20 mesh.time_limit=100
expect 2 "'mesh.time_limit=0': expected a number in (0, inf)" "$hextop" mesh part.step x.vtk mesh.time_limit=0
expect 2 "mesh.time_limit applies to CAD models and other files that gmsh reads" \
    "$hextop" mesh "$source/examples/meshes/lplate.vtk" x.vtk mesh.time_limit=10
expect 2 "mesh.element_size applies to CAD models" \
    "$hextop" mesh "$source/examples/meshes/lplate.vtk" x.vtk mesh.element_size=10

# --- an STL file of two cubes whose surface gmsh cannot remesh: a warning, and its own triangles are used ---
awk 'BEGIN {
    n = split("0 3 2 1  4 5 6 7  0 1 5 4  1 2 6 5  2 3 7 6  3 0 4 7", node, " ")
    print "solid two"
    for (body = 0; body < 2; body++) for (side = 0; side < 6; side++) for (t = 2; t < 4; t++) {
        print "facet normal 0 0 0\nouter loop"
        split(1 " " t " " t + 1, corner, " ")
        for (k = 1; k <= 3; k++) {
            a = node[4 * side + corner[k]]
            print "vertex", 3 * body + (a % 4 == 1 || a % 4 == 2), (a % 4 >= 2), (a >= 4)
        }
        print "endloop\nendfacet"
    }
    print "endsolid two"
}' </dev/null >two.stl
expect 0 "2 solids" "$hextop" mesh two.stl x.vtk --element-size 0.25
grep -q "the file's triangles" said && fault "no new triangles: $(cat said)"
fake 'case $1 in shells.geo) exit 1;; esac; exec '"$(command -v gmsh)"' "$@"'
HEXTOP_GMSH=$work/fake expect 0 "meshed with the file's triangles instead: their mean edge is 1.138, and element_size = 0.25" \
    "$hextop" mesh two.stl x.vtk --element-size 0.25

# --- `check`, and the kept mesh ---
expect 0 "no errors" "$hextop" check part.cfg
cp said first
for line in "2 solids" "21 faces" "drawn in mm; box 0 to 80, 0 to 60, 0 to 72 mm; units = \"N, mm, MPa\"" \
    "hollow cylinder, between solids      14" "1 0 0" "bush" "bodies            1"; do
    grep -qF -e "$line" first || fault "check does not say '$line': $(cat first)"
done
grep -Eq "face-21 +hollow cylinder +11 +15[0-9][0-9] +11 30 50 +1 0 0 " first ||
    fault "face-21 is not the bore: $(cat first)"
grep -Eq "face-[0-9]+ +plane .*  mounting face$" first ||
    fault "no face has the file's name: $(cat first)"
grep -Eq "face-12 +hollow cylinder +5 " first || fault "face-12 is no bolt's bore: $(cat first)"
[ -s out/mesh.msh ] || fault "no mesh is kept"
cp out/mesh.msh kept.msh
HEXTOP_GMSH=/no/such/gmsh expect 0 "the mesh kept as out/mesh.msh" "$hextop" check part.cfg
cmp -s out/mesh.msh kept.msh || fault "the kept mesh was written again"
expect 0 "gmsh" "$hextop" check part.cfg mesh.element_size=9
cmp -s out/mesh.msh kept.msh && fault "another size, the same mesh"

# --- `run`; the folder that it writes finds the same mesh from anywhere ---
expect 0 "compliance" "$hextop" run part.cfg
grep -q "file = \"$work/part.step\"" out/config.cfg || fault "config.cfg: $(cat out/config.cfg)"
mkdir elsewhere
cd elsewhere || exit 1
HEXTOP_GMSH=/no/such/gmsh expect 0 "largest von Mises" "$hextop" verify ../out/density_0002.vtk ../out/config.cfg --refine 0
HEXTOP_GMSH=/no/such/gmsh expect 0 "part.stl" "$hextop" surface ../out/density_0002.vtk part.stl
cd .. || exit 1
[ -e elsewhere/out ] && fault "verify made a folder out"

# --- the model is moved away: the kept mesh is used instead ---
mv part.step moved.step
for words in "verify out --refine 0" "surface out left.stl" "analyse out/config.cfg" \
    "run out/config.cfg output.directory=again" "check out/config.cfg"; do
    # shellcheck disable=SC2086
    expect 0 "" "$hextop" $words
    grep -q "part.step: the file no longer exists; the mesh kept for it as .*out/mesh.msh is used" said ||
        fault "$words: does not say that the model is gone: $(cat said)"
done
expect 0 "left.html" "$hextop" report out -o left.html
expect 2 "part.step': No such file or directory; nor is its mesh kept as out/mesh.msh" \
    "$hextop" check out/config.cfg mesh.element_size=9
expect 2 "other.step': No such file or directory; nor is" "$hextop" check out/config.cfg mesh.file=other.step
cp out/mesh.msh whole.msh
tail -c +2 whole.msh | head -c 100000 >out/mesh.msh
expect 2 "out/config.cfg:5: mesh.file: cannot read '$work/part.step': No such file" "$hextop" verify out
mv whole.msh out/mesh.msh
mv moved.step part.step

# --- a file without a config, its unit, its faces in VTK; two conversions at once ---
sed 's/SI_UNIT(.MILLI.,.METRE.)/SI_UNIT(.CENTI.,.METRE.)/' part.step >big.step
expect 0 "drawn in cm, read as mm; box 0 to 800" "$hextop" mesh big.step big.vtk --element-size 80
grep -aq "face" big.vtk || fault "no array 'face' in the VTK file"
rm -r out
"$hextop" check part.cfg >one 2>&1 &
"$hextop" check part.cfg >two 2>&1
wait $!
grep -q "no errors" one && grep -q "no errors" two || fault "two at once: $(cat one two)"
cmp -s out/mesh.msh kept.msh || fault "two at once: another mesh"
ls out | grep -q tmp && fault "left behind: $(ls out)"

[ $failed -eq 0 ] || exit 1
echo "passed"
