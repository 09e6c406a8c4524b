#!/bin/sh
# Supports and loads from the mesh's file: a job that hextop writes runs again as it was, files by
# hand and by gmsh give the loads and sets that they state, and what they lack is refused.
#     test_from_file.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
source=$(realpath "$2")
. "$(dirname "$0")/../lib/scratch.sh"

# config MESH: the shortest config that takes all from a file.
config() {
    cat <<END
mesh = { file = "$1"; };
material = { E = 210000.0; nu = 0.3; };
supports = ( { from = "file"; } );
loads = ( { from = "file"; } );
optimization = { volume_fraction = 0.3; filter = { radius = 2.0; }; };
END
}

# says PATTERN: a line of the last output, an extended regular expression.
says() {
    grep -Eq "$1" stdout || fault "hextop does not say: $1"
}

# compliance FOLDER: of the first design.
compliance() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "compliance") c = i } NR == 2 { print $c }' \
        "$1/history.csv"
}

run() {
    "$hextop" -q run "$@" solver.device=cpu solver.operator=otf solver.tolerance=1e-10 \
        optimization.iterations=1 || fault "run fails: $*"
}

# The bracket through a job and back: its rings become free, so it starts uniform here as there.
bracket=$source/examples/bracket/bracket.cfg
"$hextop" -q mesh "$bracket" job.inp || fault "no job"
config job.inp >job.cfg
run "$bracket" passive= optimization.filter.radius=2.0 output.directory=here
run job.cfg output.directory=there mesh.shuffle=3
a=$(compliance here) b=$(compliance there)
awk "BEGIN { off = $a / $b - 1; exit !(off < 1e-8 && off > -1e-8) }" ||
    fault "compliance $a, from the job $b"

# Two steps, one instance; the same cube in an ANSYS archive; prescribed displacements.
config "$source/examples/meshes/cube_job.inp" >cube.cfg
"$hextop" check cube.cfg >stdout 2>stderr || fault "cube refused: $(cat stderr)"
says 'supports  14 of 81 degrees'
says 'sum of case 1, weight 1: \[900, 0, 0\]'
says 'sum of case 2, weight 1: \[0, 0, -90\]'
"$hextop" check cube.cfg 'loads[0].case=1' >stdout 2>stderr || fault "one step refused"
says 'sum of case 1, weight 1: \[900, 0, 0\]'
grep -q 'case 2' stdout && fault "a case that was not asked for"
"$hextop" check cube.cfg mesh.file="$source/examples/meshes/cube.cdb" >stdout 2>stderr ||
    fault "cdb refused: $(cat stderr)"
says 'supports  14 of 81 degrees'
says 'sum of case 1, weight 1: \[900, 0, 0\]'
sed 's/^CUBE-1.3, 2, 3/&\n27, 1, 1, 0.5/' "$source/examples/meshes/cube_job.inp" >moved.inp
"$hextop" -q mesh cube.cfg moved.vtk mesh.file="$work/moved.inp" output.format=ascii ||
    fault "a prescribed displacement is refused"
grep -q prescribed moved.vtk || fault "no prescribed displacement"

# A converted mesh: the surfaces of gmsh's groups are sets of nodes too, for *BOUNDARY and *CLOAD.
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

# Loaded nodes of the file stay solid; a part by output.threshold is the whole result's, though the
# file numbers elements from 1, or from where it likes.
"$hextop" -q run hook.cfg optimization.iterations=4 output.directory=whole || fault "hook.cfg fails"
"$hextop" -q run hook.cfg optimization.iterations=4 output.directory=part output.threshold=0.4 ||
    fault "hook.cfg with a threshold fails"
"$hextop" surface whole/density_0004.vtk hook.stl >stdout || fault "no surface"
says '^config .* [1-9][0-9]* elements are solid whatever their density'
"$hextop" surface part/density_0004.vtk part.stl >stdout || fault "no surface of a part"
for folder in whole part; do
    "$hextop" verify $folder/density_0004.vtk hook.cfg --threshold 0.4 >$folder.txt 2>stderr ||
        fault "verify fails: $(cat stderr)"
    awk '/^ *compliance/ { print $3 }' $folder.txt >$folder.compliance
done
[ -s whole.compliance ] && cmp -s whole.compliance part.compliance ||
    fault "0/1 compliance $(cat whole.compliance), of the part $(cat part.compliance)"

# refused TEXT ARGUMENTS...: hextop says TEXT and gives 2.
refused() {
    text=$1
    shift
    "$hextop" check "$@" >stdout 2>stderr
    [ $? = 2 ] || fault "not refused: $text"
    grep -qF -- "$text" stderr || fault "stderr lacks: $text: $(cat stderr)"
}
refused 'case = 7, but step 7 of cube_job.inp has no force (it has 2 steps)' cube.cfg 'loads[0].case=7'
refused 'states no support' cube.cfg mesh.file="$source/examples/meshes/block.inp"
sed 's/^\*Cload/*Dload\nSet-all, GRAV, 9810., 0., 0., -1.\n&/' "$source/examples/meshes/cube_job.inp" >g.inp
refused 'a load by mass needs material.density' cube.cfg mesh.file="$work/g.inp"
"$hextop" check cube.cfg mesh.file="$work/g.inp" material.density=1e-9 >stdout 2>stderr ||
    fault "gravity is refused: $(cat stderr)"
says 'sum of case 1, weight 1: \[900, 0, -'
sed 's/GRAV/BX/' g.inp >bx.inp
refused 'bx.inp:80: *DLOAD of label BX is not read' cube.cfg mesh.file="$work/bx.inp"
"$hextop" check cube.cfg mesh.file="$work/bx.inp" 'loads=({set="Set-right";total_force=[1.0,0.0,0.0];})' \
    >stdout 2>stderr || fault "an unread load forbids the supports: $(cat stderr)"
refused 'from = "file" takes no set' cube.cfg 'supports[0].set=Set-left'
refused 'from = "file" takes no set' cube.cfg 'loads[0].set=Set-left'
refused 'from = "file" takes no value' cube.cfg 'supports[0].value=[0.0, 0.0, 1.0]'
refused 'allowed is [1, 1000]' "$bracket" 'loads[0].case=0'
sed 's/^\*Element, type=C3D8R/*Element, type=SC8R/' "$source/examples/meshes/cube_job.inp" >q.inp
refused 'element 1 is a SC8R (8 such' cube.cfg mesh.file="$work/q.inp"

# The material from the file, beside keys that differ; of others it is refused with their sets.
sed 's/^material.*/material = { from = "file"; };/; s/^mesh.*/units = "N, mm, MPa"; &/' cube.cfg >steel.cfg
"$hextop" check steel.cfg >stdout 2>stderr || fault "no material: $(cat stderr)"
says "^material 'Steel' of .*cube_job.inp: E 210000 MPa, nu 0.3$"
says '^material  E 210000 MPa, nu 0.3$'
"$hextop" check steel.cfg material.E=70000.0 >stdout 2>stderr || fault "not checked: $(cat stderr)"
says '^material  E 70000 MPa'
grep -qF "material.E = 70000 MPa of the config counts; material 'Steel' of the mesh's file has 210000 MPa" \
    stderr || fault "no warning: $(cat stderr)"
"$hextop" check cube.cfg material.nu=0.25 >stdout 2>stderr || fault "not checked: $(cat stderr)"
grep -qF 'material.nu = 0.25 of the config counts' stderr || fault "no warning: $(cat stderr)"
sed 's/^\*Solid Section/*Shell Section/' "$source/examples/meshes/cube_job.inp" >bare.inp
refused 'no *SOLID SECTION gives a material' steel.cfg mesh.file="$work/bare.inp"
refused 'block.inp states no material' steel.cfg mesh.file="$source/examples/meshes/block.inp"
refused 'belongs to a file, and mesh has a generator' "$source/configs/quickstart.cfg" material.from=file

# An assembly with reference points: both steps, in a run and its verification.
sed 's/cube_job.inp/assembly.inp/' steel.cfg >assembly.cfg
"$hextop" check assembly.cfg >stdout 2>stderr || fault "assembly refused: $(cat stderr)"
says 'foot-nodes +rigid with reference node 1, held in x y z xx yy zz +8 nodes'
says 'sum of case 1, weight 1: \[100, 0, -100\]'
says 'arm 2.end +4 +0 +1 +[0-9.]+'
[ -s stderr ] && grep -q 'no element uses' stderr && fault "reference nodes are warned of"
"$hextop" -q run assembly.cfg optimization.iterations=2 output.directory=l ||
    fault "the assembly fails"
"$hextop" verify l/density_0002.vtk assembly.cfg --threshold 0.01 --element quadratic \
    >stdout 2>stderr || fault "no verification of the assembly: $(cat stderr)"

"$hextop" mesh "$source/examples/meshes/cube_job.inp" plain.inp >stdout 2>stderr ||
    fault "no conversion: $(cat stderr)"
grep -qF 'its supports and loads are not written' stderr || fault "loads left out without a word"
"$hextop" mesh "$source/examples/meshes/block.inp" plain.inp >stdout 2>stderr
[ ! -s stderr ] || fault "a warning without a reason: $(cat stderr)"

# What the file supports is looked for in a design.
"$hextop" -q run cube.cfg output.directory=held optimization.iterations=1 || fault "the run fails"
"$hextop" verify held/density_0001.vtk cube.cfg --threshold 0.1 >stdout 2>stderr ||
    fault "no verification: $(cat stderr)"
grep -q '"nodes_on_largest_piece": 9' held/verify.json || fault "supports: $(cat held/verify.json)"

"$hextop" mesh cube.cfg made.msh >stdout 2>stderr || fault "no mesh: $(cat stderr)"
says 'supports and loads go into .inp and .vtk'
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

# A *SURFACE of all elements of a bar of 4 x 1 x 1: pressure acts on what of it is boundary.
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
grep -qF "loads[0]: 3 of the 4 faces that set 'layers' names lie between two elements" stderr ||
    fault "inner faces: $(cat stderr)"
"$hextop" check bar.cfg 'loads[0].set=inside' >stdout 2>stderr
[ $? -eq 2 ] || fault "a surface inside is not refused"
grep -qF "set 'inside' names 1 face, none on the boundary of the part" stderr ||
    fault "a surface inside: $(cat stderr)"

[ $failed = 0 ]
