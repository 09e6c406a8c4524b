#!/bin/sh
# The config that hextop new prints runs once a support and a load are named, for every example mesh and, if gmsh is
# installed, for a CAD model; for generators it runs as printed.
#     test_new.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
meshes=$(realpath "$2")/examples/meshes
export OMP_NUM_THREADS=1
. "$(dirname "$0")/../lib/counting.sh"
lacks() { ! grep -qF -- "$2" "$1"; }
is_empty() { [ ! -s "$1" ]; }

# name CONFIG SUPPORT LOAD: uncomments the entries of these sets; "" leaves all as comments.
name() {
    awk -v support="$2" -v load="$3" '
        /^supports = \(/ { set = support } /^loads = \(/ { set = load } /^\);/ { set = "" }
        set != "" && index($0, "#   { set = \"" set "\";") == 1 { sub(/^#/, " ") }
        { print }' "$1"
}

# light CONFIG: takes the lines about limits, as printed, in place of those above them.
light() {
    sed -e '/^    volume_fraction/d; /^    iterations/d; /^    change_tolerance/d; /^    filter/d' \
        -e '/# objective = /,/# projection/s/# //' "$1"
}

# lightens PART CONFIG: it is accepted with these lines.
lightens() {
    light "$2" >light.cfg
    ok "$1, limits: four lines and a projection" test \
        "$(grep -Ec '^    (objective|constraints|iterations|filter|projection) = ' light.cfg)" = 5
    ok "$1, limits: check" "$hextop" check light.cfg
}

# runs PART CONFIG SUPPORT LOAD: the config is refused as printed, and accepted with these two.
runs() {
    part=$1
    "$hextop" check "$2" >stdout 2>stderr
    ok "$part: not without a load" test $? = 2
    ok "$part: prints it" contains stderr "load case 1 has no load: add an entry to loads"
    name "$2" "" "$4" >loaded.cfg
    "$hextop" check loaded.cfg >stdout 2>stderr
    ok "$part: nor without a support" test $? = 2
    ok "$part: prints it" contains stderr "the model has no support"
    name "$2" "$3" "$4" >named.cfg
    ok "$part: two lines differ" test "$(diff "$2" named.cfg | grep -c '^>')" = 2
    ok "$part: check" "$hextop" check named.cfg
    ok "$part: no complaint of the filter" lacks stderr "filter radius"
    ok "$part: run" "$hextop" run named.cfg optimization.iterations=2 solver.device=cpu
    lightens "$part" named.cfg
}

# Statements of the file, including couplings between bodies.
ok "an assembly" "$hextop" new "$meshes/assembly.inp"
cp stdout assembly.cfg
ok "its supports and loads" test "$(grep -c '^    { from = "file"; },' assembly.cfg)" = 2
ok "its material" contains assembly.cfg 'material = { from = "file"; };'
ok "are enough" "$hextop" check assembly.cfg

# The path of the mesh is relative to the config, wherever the config is written.
mkdir sub other
cp "$meshes/block.inp" sub/x.inp
"$hextop" -q new sub/x.inp >sub/part.cfg
ok "beside it" contains sub/part.cfg 'file = "x.inp"'
"$hextop" -q new sub/x.inp >other/part.cfg
ok "in another folder" contains other/part.cfg "file = \"$(realpath sub/x.inp)\""
"$hextop" -q new sub/x.inp | cat >above.cfg
ok "through a pipe: from where we are" contains above.cfg 'file = "sub/x.inp"'
rm -r sub other above.cfg

# Sets with faces, which loads can use, in the order of their list.
faces() { sed -n '/^loads/,$s/^#   { set = "\(.*\)"; total_force.*# over.*/\1/p; /^loads/,$s/^#   { set = "\([xyz]-m[inax]*\)".*/\1/p' "$1"; }

for mesh in "$meshes"/*.inp "$meshes"/*.cdb "$meshes"/*.msh "$meshes"/*.vtk; do
    cp "$mesh" .
    mesh=$(basename "$mesh")
    [ "$mesh" != assembly.inp ] || continue # two bodies, which its couplings hold: from = "file"
    ok "new $mesh" "$hextop" new "$mesh"
    cp stdout "$mesh.cfg"
    if [ "$(grep -c '^    { from = "file"; },' "$mesh.cfg")" = 2 ]; then # runs as printed
        sed -i 's/# ignore/ignore/' "$mesh.cfg" # what it leaves out is in a comment
        [ "$mesh" = second.cdb ] || # this leaves a rigid-body motion
            ok "$mesh: run" "$hextop" run "$mesh.cfg" optimization.iterations=2 solver.device=cpu
        [ "$mesh" = second.cdb ] || lightens "$mesh" "$mesh.cfg"
        continue
    fi
    ok "a set is listed, or made" grep -Eq '^(#   "|    \{ name = ")' "$mesh.cfg"
    support=$(faces "$mesh.cfg" | head -1) load=$(faces "$mesh.cfg" | sed -n 2p)
    # sets that hextop new defines if the part has too few
    grep -q 'name = "x-min"; .*},$' "$mesh.cfg" && support=x-min load=x-max
    runs "$mesh" "$mesh.cfg" "$support" "$load"
    ok "output beside others" test -s "out/${mesh%.*}/density_0002.vtk"
done
# The lines about limits, in place of those above them.
named=$(faces block.inp.cfg | sed -n 2p)
name block.inp.cfg "$(faces block.inp.cfg | head -1)" "$named" >named.cfg
light named.cfg >light.cfg
ok "limits: of a displacement" grep -q '^    constraints = ( { kind = "displacement"; set = "[^"]*"; max = 0\.' light.cfg
ok "limits: check" "$hextop" check light.cfg "optimization.constraints[0].max=1e6" --solve
ok "limits: met by the solid part" grep -q 'at most 1e+06 mm  met' stdout
ok "sets with what they are" contains block.inp.cfg '#   "end": plane, 4 faces, area 1, centre 2 0.5 0.5'
ok "of the nodes" contains block.inp.cfg '#   "edge": 3 nodes, centre 2 0.5 0'
ok "of elements" contains block.inp.cfg '#   "part": 16 elements, centre 1 0.5 0.5'
ok "elements hold nothing" lacks block.inp.cfg '#   { set = "part"'
ok "2.5 edges" contains block.inp.cfg 'radius = 1.25; unit = "length"'
for text in '    { from = "file"; },   # the 14 that the file states' \
    '    { from = "file"; },   # the 18 that the file states, each of its 2 steps a case' \
    'material = { from = "file"; };' "# 'Steel' of the file, in its own units: E 210000, nu 0.3"; do
    ok "what the file states: $text" contains cube_job.inp.cfg "$text"
done
ok "an archive's, with steel" contains cube.cdb.cfg 'material = {            # steel'

# Items that are not read need the line that leaves them out.
sed -e '/^\*End Part/i\
*Element, type=S4, elset=skin\
901, 1, 2, 5, 4\
*Shell Section, elset=skin, material=Steel\
0.5' "$meshes/cube_job.inp" >skin.inp
ok "new skin.inp" "$hextop" new skin.inp
cp stdout skin.cfg
ok "the line that leaves it out" contains skin.cfg '    # ignore = ("S4");'
ok "what it leaves out" grep -q '^    # skin.inp:[0-9]*: 1 S4 (shells)$' skin.cfg
"$hextop" check skin.cfg >stdout 2>stderr
ok "refused until then" test $? = 2
sed 's/# ignore/ignore/' skin.cfg >left.cfg
ok "then it runs" "$hextop" run left.cfg optimization.iterations=1 solver.device=cpu
ok "by an argument" "$hextop" new skin.inp mesh.ignore=S4 -o by.cfg
ok "it is written" contains by.cfg 'ignore = ("S4");'
ok "and runs" "$hextop" check by.cfg

# Pressures on single faces, as FreeCAD writes them, become one set, and the config runs as printed.
{
    sed '/^\*Step/,$d' "$meshes/cube_job.inp"
    printf '*Step\n*Static\n*Boundary\nSet-left, 1, 3\n*Dload\nCUBE-1.5, P2, 2.\nCUBE-1.6, P2, 2.\n'
    printf 'CUBE-1.7, P2, 2.\nCUBE-1.8, P2, 2.\n*End Step\n'
} >faces.inp
ok "new faces.inp" "$hextop" new faces.inp
cp stdout faces.cfg
ok "one set" contains faces.cfg '#   "dload-1": plane, 4 faces, area 100, centre 5 5 10'
ok "no other" lacks faces.cfg dload-2
ok "as printed: check" "$hextop" check faces.cfg
ok "its pressure" contains stdout 'sum of case 1, weight 1: [0, 0, -200] N'
ok "as printed: run" "$hextop" run faces.cfg optimization.iterations=1 solver.device=cpu

# Steel in other units, with other values.
ok "in m" "$hextop" new block.inp 'units=N, m, Pa' optimization.volume_fraction=0.4 'title="a \"b\""' -o metres.cfg
ok "nothing on stdout" is_empty stdout
for text in 'units = "N, m, Pa";' 'E = 2.1e+11;' 'density = 7850.0;' 'volume_fraction = 0.4;' 'title = "a \"b\"";'; do
    ok "has $text" contains metres.cfg "$text"
done
ok "which is read" "$hextop" run metres.cfg 'supports=({set="wall"; fix="xyz";})' \
    'loads=({set="end"; total_force=[0,0,-1];})' optimization.iterations=1 solver.device=cpu
mkdir -p configs parts
cp block.inp parts/
ok "from another folder" "$hextop" new parts/block.inp -o configs/a.cfg
ok "a whole path" contains configs/a.cfg "file = \"$(realpath parts/block.inp)\""
ok "beside it" "$hextop" new parts/block.inp -o parts/a.cfg
ok "its name" contains parts/a.cfg 'file = "block.inp"'

# Configs of generators run as printed.
ok "new" "$hextop" new
cp stdout new.cfg
ok "new cantilever" "$hextop" new cantilever
ok "is the same" cmp stdout new.cfg
ok "runs" "$hextop" run new.cfg mesh.nx=8 optimization.iterations=2 solver.device=cpu
for generator in $(kinds Generators | grep -vx cantilever); do
    ok "new $generator" "$hextop" new "$generator" mesh.nx=20
    cp stdout "$generator.cfg"
    ok "check it" "$hextop" check "$generator.cfg"
    ok "new mesh.generator=$generator" "$hextop" new "mesh.generator=$generator" mesh.nx=20
    ok "is the same" cmp stdout "$generator.cfg"
    ok "in place of another" "$hextop" new cantilever mesh.nx=20 "mesh.generator=\"$generator\""
    ok "is the same" cmp stdout "$generator.cfg"
done
for generator in $(kinds Generators); do
    ok "new $generator, as it is" "$hextop" new "mesh.generator=$generator"
    cp stdout new.cfg
    ok "check it" "$hextop" check new.cfg
    lightens "$generator" new.cfg
    for physics in elasticity heat; do
        # the smallest size that the generator accepts
        ok "new $generator of $physics" "$hextop" new "$generator" mesh.nx=20 "physics=$physics" -o "$generator-$physics.cfg"
        ok "check it" "$hextop" check "$generator-$physics.cfg" mesh.nx=10
        lightens "$generator of $physics" "$generator-$physics.cfg"
        ok "run it" "$hextop" run "$generator-$physics.cfg" mesh.nx=10 optimization.iterations=1 solver.device=cpu
    done
done
ok "new mesh.file" "$hextop" new mesh.file=block.inp
cp stdout file.cfg
ok "new of a file" "$hextop" new block.inp
ok "is the same" cmp stdout file.cfg
ok "a material that cannot be taken" "$hextop" new "$meshes/part.bdf"
ok "what is there instead" contains stderr "the config has steel, because the file's material '1' cannot be taken"
ok "and why" contains stderr "cannot be taken: part.bdf: elements of property 2 have no material"

refused() { # WHAT TEXT ARGUMENT...
    what=$1 text=$2
    shift 2
    "$hextop" new "$@" >stdout 2>stderr
    ok "$what: exit status 2" test $? = 2
    ok "$what: its message" contains stderr "$text"
    ok "$what: nothing on stdout" is_empty stdout
}
cp metres.cfg before.cfg
refused "a file that is there" "'metres.cfg' exists" block.inp -o metres.cfg
ok "is left alone" cmp metres.cfg before.cfg
refused "nothing of that name" "'cantilver' is neither a file nor a generator, did you mean 'cantilever'?" cantilver
refused "a config" "'new.cfg' is not a mesh" new.cfg
refused "a key with no place" "argument 'solver.tolerance=1e-3': \`hextop new\` does not write this key" block.inp \
    solver.tolerance=1e-3
refused "an unknown key" "did you mean 'volume_fraction'?" block.inp optimization.volume_fractoin=0.3
refused "a wrong value" "optimization.volume_fraction" block.inp optimization.volume_fraction=3

# Every key of a printed config is taken from an argument, and the list of keys in a refusal has it.
paths() { # CONFIG: "optimization.filter.radius" for each of its keys outside of lists
    python3 - "$1" <<'END'
import re, sys
depth, group = 0, []
for line in open(sys.argv[1]):
    line = line.split("#")[0]
    for token in re.findall(r'"(?:\\.|[^"\\])*"|(\w+) = (?=(\{)|(\()|)|([(){}])', line):
        name, opens, lists, bracket = token
        if name and depth == 0:
            print(".".join(group + [name])) if not opens else group.append(name)
        depth += (bracket == "(") - (bracket == ")")
        if bracket == "}" and depth == 0:
            group.pop()
END
}
for part in "cantilever physics=elasticity" "cantilever physics=heat" "block.inp title=x"; do
    set -- $part
    ok "new $part" "$hextop" new "$@"
    cp stdout keys.cfg
    "$hextop" new "$@" solver.tolerance=1e-3 >stdout 2>stderr
    ok "refuses another key" test $? = 2
    for key in $(paths keys.cfg); do
        ok "$part: lists $key" grep -Eq " $key(,|\$)" stderr
    done
    ok "$part: lists units" grep -Eq " units(,|\$)" stderr
    ok "$part: suggests nothing" lacks stderr "did you mean"
done
ok "a density" "$hextop" new mesh.nx=8 material.density=3.0 -o density.cfg
ok "is written" contains density.cfg "density = 3.0;"
ok "which least mass needs" contains density.cfg '# objective = "mass";'
lightens "a density" density.cfg
ok "no density, no mass" contains new.cfg '# objective = "volume";'
ok "of a file" "$hextop" new block.inp material.density=3e-9 -o density.cfg.2
ok "is written" contains density.cfg.2 "density = 3e-9;"
ok "is no steel" lacks density.cfg.2 "steel"
ok "supports and loads" "$hextop" new block.inp 'supports=({set="wall"; fix="xyz";})' \
    'loads=({set="end"; total_force=[0,0,-1];})' -o given.cfg
ok "are written" "$hextop" check given.cfg
ok "and complete" contains stdout "no errors"
ok "a key removed" "$hextop" new cantilever mesh.nx=8 optimization.change_tolerance= -o removed.cfg
ok "is not written" lacks removed.cfg change_tolerance
ok "and runs" "$hextop" check removed.cfg
ok "PART after a key" "$hextop" new physics=heat block.inp -o last.cfg
ok "is the part" contains last.cfg 'file = "block.inp"'

# Comments are true for values that arguments give.
ok "heat" "$hextop" new physics=heat material.conductivity=3 optimization.filter.radius=3 'units=W, m, K' -o true.cfg
ok "no steel" lacks true.cfg "steel"
ok "no mean edges" lacks true.cfg "mean edges"
ok "no file" lacks true.cfg "file's"
ok "what a length is" contains true.cfg "# lengths of the generator are taken as m"
ok "in elements" "$hextop" new block.inp optimization.filter.unit=element -o elements.cfg
ok "2.5 of them" contains elements.cfg 'radius = 2.5; unit = "element"; };   # 2.5 mean edges'

if command -v gmsh >/dev/null 2>&1; then
    cat >plate.geo <<'END'
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 40, 20, 5};
Cylinder(2) = {30, 10, 0, 0, 0, 5, 4};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
END
    gmsh -0 plate.geo -o plate.brep >log 2>&1 || fault "gmsh makes no model: $(cat log)"
    ok "new of a model" "$hextop" new plate.brep mesh.element_size=3.42
    cp stdout plate.cfg
    ok "its size" contains plate.cfg "element_size = 3.42;"
    ok "its faces" test "$(grep -c '^#   "face-[0-9]*": .*[0-9]* faces, area ' plate.cfg)" = 7
    ok "the bore" grep -q ': hollow cylinder of radius 4, [0-9]* faces, area 1[0-9.]*, centre 30 10 2.5' plate.cfg
    ok "the mesh is kept" test -s out/plate/mesh.msh
    runs plate.brep plate.cfg face-1 face-2
else
    echo "no gmsh: no CAD model is tried"
fi

echo "$n checks, $failed failed"
[ $failed = 0 ]
