#!/bin/sh
# Supports and loads from the mesh file: a job that hextop writes gives the same run again, files written by hand and by
# gmsh give the loads and sets that they state, and missing data are refused.
#     test_from_file.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
source=$(realpath "$2")
. "$(dirname "$0")/../lib/scratch.sh"

# config MESH: the shortest config that takes everything from a file.
config() {
    cat <<END
mesh = { file = "$1"; };
material = { E = 210000.0; nu = 0.3; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 0.3; filter = { radius = 2.0; }; };
END
}

# says PATTERN: the last output has a line that matches the extended regular expression.
says() {
    grep -Eq "$1" stdout || fault "hextop does not say: $1"
}

# compliance FOLDER: compliance of the first design.
compliance() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "compliance") c = i } NR == 2 { print $c }' \
        "$1/history.csv"
}

run() {
    "$hextop" -q run "$@" solver.device=cpu solver.operator=otf solver.tolerance=1e-10 \
        optimization.iterations=1 || fault "run fails: $*"
}

# The bracket, run directly and through a job. A job has no passive regions, so the direct run removes them; both runs
# start from uniform densities.
bracket=$source/examples/bracket/bracket.cfg
"$hextop" -q mesh "$bracket" job.inp || fault "no job"
config job.inp >job.cfg
run "$bracket" passive= optimization.filter.radius=2.0 output.directory=here
run job.cfg output.directory=there mesh.shuffle=3
a=$(compliance here) b=$(compliance there)
awk "BEGIN { off = $a / $b - 1; exit !(off < 1e-8 && off > -1e-8) }" ||
    fault "compliance $a, from the job $b"

# Two steps in one instance; the same cube in an ANSYS archive; prescribed displacements.
config "$source/examples/meshes/cube_job.inp" >cube.cfg
"$hextop" check cube.cfg >stdout 2>stderr || fault "cube refused: $(cat stderr)"
says 'supports  14 of 81 degrees'
says 'sum of case 1, weight 1: \[900, 0, 0\]'
says 'sum of case 2, weight 1: \[0, 0, -90\]'
"$hextop" check cube.cfg 'loads[0].case=1' >stdout 2>stderr || fault "one step refused"
says 'sum of case 1, weight 1: \[900, 0, 0\]'
grep -q 'case 2' stdout && fault "a case that was not asked for"
# The archive has a contact element, which would carry load, so the config leaves it out explicitly.
"$hextop" check cube.cfg mesh.file="$source/examples/meshes/cube.cdb" 'mesh.ignore=("CONTA174")' >stdout 2>stderr ||
    fault "cdb refused: $(cat stderr)"
says 'supports  14 of 81 degrees'
says 'sum of case 1, weight 1: \[900, 0, 0\]'
sed 's/^CUBE-1.3, 2, 3/&\n27, 1, 1, 0.5/' "$source/examples/meshes/cube_job.inp" >moved.inp
"$hextop" -q mesh cube.cfg moved.vtk mesh.file="$work/moved.inp" output.format=ascii ||
    fault "a prescribed displacement is refused"
grep -q prescribed moved.vtk || fault "no prescribed displacement"

# A converted mesh: surfaces of gmsh's groups are also node sets, for *BOUNDARY and *CLOAD.
"$hextop" -q mesh "$source/examples/hook/hook.msh" hook.inp || fault "hook.msh is not converted"
cat >>hook.inp <<'END'
*BOUNDARY
collar, 1, 3
*STEP
*CLOAD
throat, 2, -10.0
*END STEP
END
config hook.inp >hook.cfg
"$hextop" check hook.cfg >stdout 2>stderr || fault "hook.inp refused: $(cat stderr)"
says 'sum of case 1, weight 1: \[0, -[0-9]*0, 0\]'

# Loaded nodes of the file stay solid. A part written with output.threshold equals that of the whole result, although
# the file numbers elements from 1, or from any other number.
"$hextop" -q run hook.cfg optimization.iterations=4 output.directory=whole || fault "hook.cfg fails"
"$hextop" -q run hook.cfg optimization.iterations=4 output.directory=part output.threshold=0.4 ||
    fault "hook.cfg with a threshold fails"
"$hextop" surface whole/density_0004.vtk hook.stl >stdout || fault "no surface"
says '^config .* [1-9][0-9]* elements are forced solid'
"$hextop" surface part/density_0004.vtk part.stl >stdout || fault "no surface of a part"
for folder in whole part; do
    "$hextop" verify --made no $folder/density_0004.vtk hook.cfg --threshold 0.4 >$folder.txt 2>stderr ||
        fault "verify fails: $(cat stderr)"
    awk '/^ *compliance/ { print $3 }' $folder.txt >$folder.compliance
done
[ -s whole.compliance ] && cmp -s whole.compliance part.compliance ||
    fault "0/1 compliance $(cat whole.compliance), of the part $(cat part.compliance)"

# refused TEXT ARGUMENTS...: hextop prints TEXT and exits with status 2.
refused() {
    text=$1
    shift
    "$hextop" check "$@" >stdout 2>stderr
    [ $? = 2 ] || fault "not refused: $text"
    grep -qF -- "$text" stderr || fault "stderr lacks: $text: $(cat stderr)"
}
refused 'case = 7, but step 7 of cube_job.inp has no load (the file has 2 steps)' cube.cfg 'loads[0].case=7'
refused 'cube.cdb:49: not read: 1 CONTA174 (contact or constraint elements)' cube.cfg mesh.file="$source/examples/meshes/cube.cdb"
refused 'has no support' cube.cfg mesh.file="$source/examples/meshes/block.inp"
sed 's/^\*Cload/*Dload\nSet-all, GRAV, 9810., 0., 0., -1.\n&/' "$source/examples/meshes/cube_job.inp" >g.inp
refused 'a load by mass needs material.density' cube.cfg mesh.file="$work/g.inp"
"$hextop" check cube.cfg mesh.file="$work/g.inp" material.density=1e-9 >stdout 2>stderr ||
    fault "gravity is refused: $(cat stderr)"
says 'sum of case 1, weight 1: \[900, 0, -'
sed 's/GRAV/BX/' g.inp >bx.inp
refused 'bx.inp:80: not read: 2 *DLOAD, BX (only labels P1 to P6, GRAV and CENTRIF are read)' cube.cfg \
    mesh.file="$work/bx.inp"
refused 'leave it out on purpose with mesh.ignore = ("*DLOAD, BX")' cube.cfg mesh.file="$work/bx.inp"
"$hextop" check cube.cfg mesh.file="$work/bx.inp" 'loads=({set="Set-right";total_force=[1.0,0.0,0.0];})' \
    >stdout 2>stderr || fault "an unread load forbids the supports: $(cat stderr)"
refused 'from = "file" takes no set' cube.cfg 'supports[0].set=Set-left'
refused 'from = "file" takes no set' cube.cfg 'loads[0].set=Set-left'
refused 'from = "file" takes no value' cube.cfg 'supports[0].value=[0.0, 0.0, 1.0]'
refused 'allowed is [1, 1000]' "$bracket" 'loads[0].case=0'
"$hextop" check cube.cfg 'loads[0].case=0' >stdout 2>stderr || # config.cfg of earlier versions contains it
    fault "case = 0 with from: $(cat stderr)"
sed 's/^\*Element, type=C3D8R/*Element, type=SC8R/' "$source/examples/meshes/cube_job.inp" >q.inp
refused 'element 1 is a SC8R (the file has 8' cube.cfg mesh.file="$work/q.inp"

# The material from the file, with different keys in the config; several materials with their sets.
sed 's/^material.*/material = { from = "file"; };/; s/^mesh.*/units = "N, mm, MPa"; &/' cube.cfg >steel.cfg
"$hextop" check steel.cfg >stdout 2>stderr || fault "no material: $(cat stderr)"
says "^material 'Steel' of .*cube_job.inp: E 210000 MPa, nu 0.3$"
says '^material  E 210000 MPa, nu 0.3$'
"$hextop" check steel.cfg material.E=70000.0 >stdout 2>stderr || fault "not checked: $(cat stderr)"
says '^material  E 70000 MPa'
grep -qF "material.E = 70000 MPa of the config takes precedence; material 'Steel' of the mesh's file has 210000 MPa" \
    stderr || fault "no warning: $(cat stderr)"
"$hextop" check cube.cfg material.nu=0.25 >stdout 2>stderr || fault "not checked: $(cat stderr)"
grep -qF 'material.nu = 0.25 of the config takes precedence' stderr || fault "no warning: $(cat stderr)"
"$hextop" check cube.cfg material= >stdout 2>stderr || fault "not checked: $(cat stderr)"
grep -qF "material.E = 1, the default, is used; material 'Steel' of the mesh's file has 210000, which material.from" \
    stderr || fault "no warning of a default: $(cat stderr)"
"$hextop" check cube.cfg >stdout 2>stderr || fault "not checked: $(cat stderr)"
grep -qF 'counts; material' stderr && fault "the same material is warned of: $(cat stderr)"
sed 's/^\*Material, name=Steel/*Material, name=Soft\n*Elastic\n1., 0.3\n&/; s/^\*End Part/*Elset, elset=one\n1\n*Solid Section, elset=one, material=Soft\n&/' \
    "$source/examples/meshes/cube_job.inp" >two.inp
"$hextop" check cube.cfg mesh.file="$work/two.inp" >stdout 2>stderr || fault "not checked: $(cat stderr)"
grep -q 'warning: the material of the config is used for all elements; .*two.inp states several materials, which material.from' \
    stderr || fault "several materials: $(cat stderr)"
"$hextop" check steel.cfg mesh.file="$work/two.inp" >stdout 2>stderr || fault "not checked: $(cat stderr)"
says "^material 'Soft' of .*two.inp: E 1 MPa, nu 0.3$"
says "^material 'Steel' of the set 'material-Steel': E 210000 MPa$"
says '^materials material-Steel: E 210000 MPa; 7 elements, 87.5 % of the volume$'
"$hextop" check steel.cfg mesh.file="$work/two.inp" 'materials=({set="Set-left";E=5.0;})' >stdout 2>stderr
grep -q 'warning: materials of the config takes precedence over the other materials' stderr ||
    fault "materials of the config: $(cat stderr)"
sed 's/^1., 0.3/1., 0.2/' two.inp >nu.inp
refused "'Soft' has nu 0.2, and 'Steel' of the set 'material-Steel' has 0.3; all must have the same Poisson's ratio" \
    steel.cfg mesh.file="$work/nu.inp"

# A material that one E and nu cannot describe: a warning with the config's values, and a comment by `new`.
# of_material NUMBERS PARAMETERS MESSAGE COMMENT
of_material() {
    sed "s/^ 210000., 0.3/$1/; s/^\*Elastic/&$2/" "$source/examples/meshes/cube_job.inp" >other.inp
    "$hextop" -q check cube.cfg mesh.file="$work/other.inp" >stdout 2>stderr || fault "$1: $(cat stderr)"
    grep -qF "$3" stderr || fault "no warning of $3: $(cat stderr)"
    refused "$3" steel.cfg mesh.file="$work/other.inp"
    "$hextop" -q new other.inp >new.cfg 2>stderr || fault "no config: $(cat stderr)"
    grep -qF "$3" stderr || fault "new has no warning of $3: $(cat stderr)"
    grep -q "^ *# .*other.inp:$4" new.cfg || fault "new has no comment on $4"
}
of_material '1., 1., 1., .3, .3, .3, 4., 4.\n4.' ', type=Engineering Constants' \
    "69: *ELASTIC of material 'Steel', of the set 'Set-all': TYPE=Engineering Constants is not read" \
    '69: .ELASTIC of material .*: TYPE=Engineering Constants is not read'
of_material '2., 0.3, 0.\n1., 0.3, 100.' '' \
    "69: *ELASTIC of material 'Steel', of the set 'Set-all': it depends on temperature" \
    '69: .*depends on temperature'
of_material ' 210000., 0.3\n*Plastic\n100., 0.' '' '71: not read: 1 *PLASTIC (not linear elastic)' \
    '71: 1 .PLASTIC (not linear elastic)'
grep -q '# ignore = ("\*PLASTIC");' new.cfg || fault "new has no mesh.ignore of *PLASTIC"
grep -q '^material = { from = "file"; };' new.cfg || fault "new takes no material beside *PLASTIC"
sed 's/material=Steel/composite/' "$source/examples/meshes/cube_job.inp" >other.inp
"$hextop" -q check cube.cfg mesh.file="$work/other.inp" >stdout 2>stderr || fault "layers: $(cat stderr)"
grep -q 'warning: .*: COMPOSITE (layers of materials) is not read' stderr || fault "layers: $(cat stderr)"

# The UTF-8 byte-order mark at the beginning of a config and of a file that it includes.
printf '\357\273\277' | cat - cube.cfg >mark.cfg
printf '\357\273\277@include "mark.cfg"\n' >marks.cfg
"$hextop" -q check marks.cfg >stdout 2>stderr || fault "a byte-order mark: $(cat stderr)"

# All names that the mesh already has are listed in one message; a long list of sets is truncated.
refused 'the mesh has sets with the names of 2 sets of the config: "Set-left", "Set-right"; choose others' cube.cfg \
    'sets=({name="Set-left";not=("Set-right");},{name="mine";not=("Set-right");},{name="Set-right";not=("mine");})'
{
    sed '/^\*SURFACE/,$d' "$source/examples/meshes/block.inp"
    for i in $(seq 60); do printf '*NSET, NSET=n%s\n%s\n' "$i" 1; done
} >many.inp
cat >many.cfg <<END
mesh = { file = "many.inp"; };
supports = ( { set = "wall"; fix = "xyz"; } );
loads = ( { set = "end"; pressure = -2.0; } );
optimization = { volume_fraction = 0.3; filter = { radius = 2.0; }; };
END
"$hextop" check many.cfg >stdout 2>stderr || fault "many sets: $(cat stderr)"
says '^sets, the first 40 of 6[0-9] \(-v: all\)$'
[ "$(grep -c '^  n[0-9]' stdout)" -lt 41 ] || fault "the list of sets is not cut"
"$hextop" -v check many.cfg >stdout 2>stderr || fault "many sets: $(cat stderr)"
[ "$(grep -c '^  n[0-9]' stdout)" = 60 ] || fault "-v does not list all sets"
"$hextop" new many.inp >stdout 2>stderr || fault "no config: $(cat stderr)"
[ "$(grep -c '^#   "' stdout)" = 40 ] || fault "new lists $(grep -c '^#   "' stdout) sets"

sed 's/^\*Solid Section/*Shell Section/' "$source/examples/meshes/cube_job.inp" >bare.inp
refused 'no *SOLID SECTION assigns a material' steel.cfg mesh.file="$work/bare.inp"
refused 'block.inp states no material' steel.cfg mesh.file="$source/examples/meshes/block.inp"
refused 'applies to a file, and mesh has a generator' "$source/configs/quickstart.cfg" material.from=file

# An assembly with reference points: both steps, in a run and in `verify`.
sed 's/cube_job.inp/assembly.inp/' steel.cfg >assembly.cfg
"$hextop" check assembly.cfg >stdout 2>stderr || fault "assembly refused: $(cat stderr)"
says 'foot-nodes +rigid with reference node 1, held in x y z xx yy zz +8 nodes'
says 'sum of case 1, weight 1: \[100, 0, -100\]'
says 'arm 2.end +4 +0 +1 +[0-9.]+'
[ -s stderr ] && grep -q 'no element uses' stderr && fault "reference nodes are warned of"
"$hextop" -q run assembly.cfg optimization.iterations=2 output.directory=l ||
    fault "the assembly fails"
"$hextop" verify --made no l/density_0002.vtk assembly.cfg --threshold 0.01 --element quadratic \
    >stdout 2>stderr || fault "no verification of the assembly: $(cat stderr)"

"$hextop" mesh "$source/examples/meshes/cube_job.inp" plain.inp >stdout 2>stderr ||
    fault "no conversion: $(cat stderr)"
grep -qF 'only its mesh and sets are written, not its supports and loads' stderr || fault "loads left out without a word"
"$hextop" mesh "$source/examples/meshes/block.inp" plain.inp >stdout 2>stderr
[ ! -s stderr ] || fault "a warning without a reason: $(cat stderr)"

# The 0/1 design is checked for supports that the file states.
"$hextop" -q run cube.cfg output.directory=held optimization.iterations=1 || fault "the run fails"
"$hextop" verify --made no held/density_0001.vtk cube.cfg --threshold 0.1 >stdout 2>stderr ||
    fault "no verification: $(cat stderr)"
grep -q '"nodes_on_largest_piece": 9' held/verify.json || fault "supports: $(cat held/verify.json)"

"$hextop" mesh cube.cfg made.msh >stdout 2>stderr || fault "no mesh: $(cat stderr)"
says 'supports and loads are written to .inp and .vtk'
"$hextop" mesh cube.cfg made.cdb >stdout 2>stderr && fault "writes an ANSYS archive"
grep -qF "the name must end with one of .vtk, .msh, .inp" stderr || fault "not refused: made.cdb"

# gmsh's own export: volumes, faces and edges of the groups.
if command -v gmsh >/dev/null 2>&1; then
    gmsh -v 1 -3 "$source/examples/meshes/block.geo" -o made.inp >gmsh.log 2>&1 ||
        fault "gmsh fails: $(cat gmsh.log)"
else
    echo "gmsh is not installed: its file in examples is read"
    cp "$source/examples/meshes/block.inp" made.inp
fi
cat >made.cfg <<END
mesh = { file = "made.inp"; };
supports = ( { set = "wall"; fix = "xyz"; } );
loads = ( { set = "end"; pressure = -2.0; } );
optimization = { volume_fraction = 0.3; filter = { radius = 2.0; }; };
END
"$hextop" check made.cfg >stdout 2>stderr || fault "gmsh's file refused: $(cat stderr)"
says 'wall +9 +0 +4 +[0-9.]+'
says 'edge +3 +0 +0 *$'
says 'part +45 +16 +[0-9]+ +[0-9.]+'
says 'sum of case 1, weight 1: \[2, 0, 0\]'

# A *SURFACE of all elements of a bar of 4 x 1 x 1: pressure acts only on its boundary faces.
{
    echo "*NODE"
    for x in 0 1 2 3 4; do
        n=$((4 * x))
        echo "$((n + 1)), $x, 0, 0"
        echo "$((n + 2)), $x, 1, 0"
        echo "$((n + 3)), $x, 1, 1"
        echo "$((n + 4)), $x, 0, 1"
    done
    echo "*ELEMENT, TYPE=C3D8, ELSET=all"
    for e in 1 2 3 4; do
        n=$((4 * e - 4))
        echo "$e, $((n + 1)), $((n + 2)), $((n + 3)), $((n + 4)), $((n + 5)), $((n + 6)), $((n + 7)), $((n + 8))"
    done
    printf '*NSET, NSET=wall\n1, 2, 3, 4\n*SURFACE, NAME=layers\nall, S2\n*SURFACE, NAME=inside\n1, S2\n'
} >bar.inp
cat >bar.cfg <<END
mesh = { file = "bar.inp"; };
supports = ( { set = "wall"; fix = "xyz"; } );
loads = ( { set = "layers"; pressure = 20.0; } );
optimization = { volume_fraction = 0.3; filter = { radius = 2.0; }; };
END
"$hextop" check bar.cfg >stdout 2>stderr || fault "a surface with inner faces is refused: $(cat stderr)"
says 'sum of case 1, weight 1: \[-20, 0, 0\]'
grep -qF "loads[0]: 3 of the 4 faces of set 'layers' lie between two elements" stderr ||
    fault "inner faces: $(cat stderr)"
"$hextop" check bar.cfg 'loads[0].set=inside' >stdout 2>stderr
[ $? -eq 2 ] || fault "a surface inside is not refused"
grep -qF "set 'inside' has 1 face, all of them between two elements" stderr ||
    fault "a surface inside: $(cat stderr)"

# Every command names the items that the file states and hextop does not read; from = "file" is refused until
# mesh.ignore lists them. Expected values: CalculiX 2.20 (0.0822 without the skin, 0.0503 with it).
job() { # MODEL STEP REST: a bar of four C3D8 with supports; MODEL stands before its step, STEP within it
    sed '/^\*SURFACE/,$d' bar.inp
    printf '*NSET, NSET=tip\n17, 18, 19, 20\n*MATERIAL, NAME=STEEL\n*ELASTIC\n210000., 0.3\n*DENSITY\n7.8e-9\n'
    printf '*SOLID SECTION, ELSET=all, MATERIAL=STEEL\n%b' "$1"
    printf '*STEP\n*STATIC\n*BOUNDARY\nwall, 1, 3\n%b*END STEP\n%b' "$2" "${3:-}"
}
sed 's/^mesh.*/mesh = { file = "job.inp"; };/; s/^units[^;]*; *mesh.*/mesh = { file = "job.inp"; };/' steel.cfg >job.cfg
tip='*CLOAD\ntip, 3, -25.\n'
skin='*ELEMENT, TYPE=S4, ELSET=skin\n100, 3, 4, 8, 7\n101, 7, 8, 12, 11\n'
analysed() { # DISPLACEMENT WORDS: the largest of the file's job, with these left out
    "$hextop" analyse job.cfg mesh.ignore="$2" solver.device=cpu >stdout 2>stderr ||
        fault "not analysed: $(cat stderr)"
    says "^  displacement +$1 "
}
job '' "$tip" >job.inp
"$hextop" analyse job.cfg solver.device=cpu >stdout 2>stderr || fault "the bar fails: $(cat stderr)"
says '^  displacement +0.0822282 '
[ ! -s stderr ] || fault "a warning without a reason: $(cat stderr)"
job "$skin*SHELL SECTION, ELSET=skin, MATERIAL=STEEL\n0.5\n" "$tip" >job.inp
shells=$(($(grep -n 'TYPE=S4' job.inp | cut -d: -f1) + 1))
refused 'material.from: ' job.cfg
refused 'state the supports in the config, or leave it out on purpose with mesh.ignore = ("S4")' \
    job.cfg 'material={E=210000.0;nu=0.3;}'
for command in 'check job.cfg' 'analyse job.cfg' 'run job.cfg' 'mesh job.inp plain.vtk' 'new job.inp'; do
    # shellcheck disable=SC2086 # words
    "$hextop" $command >stdout 2>stderr
    grep -q "warning: .*job.inp:$shells: not read: 2 S4 (shells)" stderr || fault "$command: $(cat stderr)"
done
analysed 0.0822282 '("s4")'
grep -q "warning: .*job.inp:$shells: left out on purpose: 2 S4 (shells)" stderr ||
    fault "not named: $(cat stderr)"
refused 'mesh.ignore: "S5" is not among the items of ' job.cfg 'mesh.ignore=("S5")'
refused 'does not read: ("S4")' job.cfg 'mesh.ignore=("S4","S5")'
job "$skin" "$tip" >job.inp # without a section they only mark faces
"$hextop" check job.cfg >stdout 2>stderr || fault "faces refuse: $(cat stderr)"
grep -q 'not read' stderr && fault "faces are warned of: $(cat stderr)"
refused 'mesh.ignore: "S4": hextop reads everything in ' job.cfg 'mesh.ignore=("S4")'
mass='*ELEMENT, TYPE=MASS, ELSET=m\n300, 20\n*MASS, ELSET=m\n0.01\n'
job "$mass" "$tip" >job.inp # there is no load by mass, so a message names it and the run continues
"$hextop" check job.cfg >stdout 2>stderr || fault "a mass refuses forces: $(cat stderr)"
grep -q 'not read: 1 MASS (point masses)' stderr || fault "a mass is not named: $(cat stderr)"
job "$mass" '*DLOAD\nall, GRAV, 9810., 0., 0., -1.\n' >job.inp
refused 'loads[0]: from = "file": ' job.cfg
refused 'leave it out on purpose with mesh.ignore = ("MASS")' job.cfg
job '*INITIAL CONDITIONS, TYPE=STRESS\n1, 1, 100., 0., 0., 0., 0., 0.\n' "$tip" >job.inp
refused 'not read: 1 *INITIAL CONDITIONS, TYPE=STRESS; state the loads' job.cfg
analysed 0.0822282 '("*Initial Conditions, type=stress")'
# A rigid body acts only if the file's supports or loads are used; otherwise it is named like an item that is
# not read. Expected values: CalculiX 2.20.
rigid='*NODE\n100, 2., 0.5, 0.5\n101, 2., 0.5, 0.5\n*NSET, NSET=mid, GENERATE\n5, 16\n'
job "$rigid*RIGID BODY, NSET=mid, REF NODE=100, ROT NODE=101\n" "$tip" >job.inp
"$hextop" analyse job.cfg solver.device=cpu >stdout 2>stderr || fault "a rigid body: $(cat stderr)"
says '^  displacement +0.0443226 '
[ ! -s stderr ] || fault "a rigid body is warned of: $(cat stderr)"
refused 'mesh.ignore: "*RIGID BODY": hextop reads everything in ' job.cfg 'mesh.ignore=("*RIGID BODY")'
held='supports=({set="wall";fix="xyz";})' loaded='loads=({set="tip";node_force=[0.0,0.0,-25.0];})'
steel='material={E=210000.0;nu=0.3;}'
"$hextop" analyse job.cfg "$loaded" solver.device=cpu >stdout 2>stderr || fault "own loads: $(cat stderr)"
says '^  displacement +0.0443226 '
refused 'material.from: ' job.cfg "$held" "$loaded"
"$hextop" analyse job.cfg "$steel" "$held" "$loaded" solver.device=cpu >stdout 2>stderr ||
    fault "own supports and loads: $(cat stderr)"
says '^  displacement +0.0822282 '
grep -q 'not read: 1 \*RIGID BODY (read only with supports or loads from = "file")' stderr ||
    fault "a rigid body is not named: $(cat stderr)"
"$hextop" check job.cfg "$held" "$loaded" 'mesh.ignore=("*rigidbody")' >stdout 2>stderr ||
    fault "a rigid body left out: $(cat stderr)"
grep -q 'left out on purpose: 1 \*RIGID BODY' stderr || fault "a rigid body left out: $(cat stderr)"
"$hextop" check job.cfg "$steel" "$held" \
    'loads=({set="coupling-100";remote_force=[0.0,0.0,-9.0];point=[2.0,0.5,0.5];coupling="rigid";})' \
    >stdout 2>stderr || fault "the rigid body in the config: $(cat stderr)"
grep -q 'not read' stderr && fault "the rigid body in the config: $(cat stderr)"
# A reference node that is moved in one direction and free in the others: written to a job and read back.
job "$rigid*RIGID BODY, NSET=mid, REF NODE=100, ROT NODE=101\n" "100, 3, 3, -0.1\n$tip" >job.inp
for pass in 1 2; do
    "$hextop" analyse job.cfg solver.device=cpu >stdout 2>stderr || fault "moved in part: $(cat stderr)"
    says '^  displacement +0.22035 '
    "$hextop" -q mesh job.cfg again.inp || fault "no job, pass $pass"
    mv again.inp job.inp
done
job "$rigid*RIGID BODY, NSET=mid, REF NODE=100, ROT NODE=101\n" '100, 1, 3, 0.1\n101, 1, 2\n1, 2\n' |
    sed '/^wall, 1, 3$/d' >job.inp # six components: the bar moves as a whole
refused 'deforms nothing: the prescribed displacements move the part as a rigid body' job.cfg loads=
sed 's/^101, 1, 2$/101, 1, 3/' job.inp >seven.inp
"$hextop" check job.cfg mesh.file=seven.inp >stdout 2>stderr || fault "a job without forces: $(cat stderr)"
refused 'has no force' job.cfg mesh.file=seven.inp "$held" # its displacements are left out, too
"$hextop" check job.cfg loads= mesh.file=seven.inp >stdout 2>stderr || fault "seven components: $(cat stderr)"
job "$rigid*RIGID BODY, PIN NSET=mid, REF NODE=100\n" "$tip" >job.inp
refused 'leave it out on purpose with mesh.ignore = ("*RIGID BODY")' job.cfg "$held" "$loaded"
for command in "check job.cfg $steel" 'mesh job.inp plain.vtk' 'new job.inp'; do
    # shellcheck disable=SC2086 # words
    "$hextop" $command >stdout 2>stderr
    grep -q 'warning: .*not read: 1 \*RIGID BODY (a rigid body is read only with NSET' stderr ||
        fault "$command: $(cat stderr)"
    grep -q coupling-100 stdout && fault "$command lists an empty set"
done
analysed 0.0822282 '("*RIGID BODY")'
job '' "$tip" '*STEP\n*SENSITIVITY\n*END STEP\n' >job.inp
"$hextop" analyse job.cfg solver.device=cpu >stdout 2>stderr || fault "a step refuses: $(cat stderr)"
says '^compliance +8.09213$'
grep -q 'not read: 1 \*SENSITIVITY (no static step)' stderr || fault "a step is not named: $(cat stderr)"
job '' '*FREQUENCY\n5\n' >job.inp
refused 'loads[0]: from = "file": ' job.cfg
"$hextop" check job.cfg 'loads=({set="tip";total_force=[0.0,0.0,-100.0];})' >stdout 2>stderr ||
    fault "a step refuses supports: $(cat stderr)"
job '' '*CLOAD\ntip, 11, 5.\ntip, 0, 5.\n' >job.inp
"$hextop" mesh job.inp plain.vtk >stdout 2>stderr || fault "a load refuses the mesh: $(cat stderr)"
refused 'not read: 1 *CLOAD, component 11 (temperatures), 1 *CLOAD, component 0' job.cfg

[ $failed = 0 ]
