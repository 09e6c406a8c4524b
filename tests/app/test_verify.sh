#!/bin/sh
# hextop verify: a solid bar against the closed form, thresholds, separate pieces, parts, invalid input.
#     test_verify.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
meshes=$(realpath "$2")/examples/meshes
. "$(dirname "$0")/../lib/counting.sh"

# refused WHAT MESSAGE ARGUMENTS...: verify must exit with status 2 and this message.
refused() {
    what=$1 message=$2
    shift 2
    n=$((n + 1))
    "$hextop" verify --made no "$@" >stdout 2>stderr
    status=$?
    [ $status = 2 ] && grep -qF -- "$message" stderr && return 0
    failed=$((failed + 1))
    echo "failed: $what: exit status $status, stderr lacks: $message"
    sed 's/^/    /' stderr
}

# row NAME COLUMN: grey (1) or 0/1 (2) of a row of the table on stdout.
row() { sed -n "s/^ *$1  *//p" stdout | awk -v c="$2" '{ print $c; exit }'; }

lacks() { ! grep -qF -- "$2" "$1"; }
is_empty() { [ ! -s "$1" ]; }

. "$tests_lib/bar.sh"
ok "verify it" "$hextop" verify --made no bar/density_0001.vtk bar.cfg
for column in 1 2; do
    ok "compliance, column $column" near "$(row compliance $column)" 16 1e-5
    ok "displacement, column $column" near "$(row 'largest displacement' $column)" 2.044505 1e-5
    ok "von Mises, column $column" near "$(row 'largest von Mises' $column)" 0.5 1e-5
    ok "volume, column $column" near "$(row 'volume fraction' $column)" 1 1e-9
done
ok "the far corner" contains stdout "8, 4, 4"
ok "no warning" is_empty stderr
ok "says so" contains stdout "differences below 10 %, one piece, all attached"
ok "verify.json is beside the result" test -s bar/verify.json
if command -v python3 >/dev/null; then
    cat >check_json.py <<'END'
import json
v = json.load(open("bar/verify.json"))
for design in ("grey", "black_white"):
    d = v[design]
    assert abs(d["compliance"] - 16) < 1e-7 and abs(d["volume"] - 1) < 1e-12
    assert abs(d["displacement"]["value"] - 4.18 ** 0.5) < 1e-7
    assert d["displacement"]["point"] == [8, 4, 4] and d["displacement"]["node"] == 224
    assert abs(d["von_mises"]["value"] - 0.5) < 1e-6 and d["pcg_outcome"] == "converged"
assert v["threshold"] == 1 and v["elements_solid"] == 128 and v["warnings"] == []
assert all(abs(p) < 1e-6 for p in v["difference_percent"].values())
assert v["pieces"]["joined_by_nodes"] == v["pieces"]["joined_by_faces"] == 1
assert [s["set"] for s in v["supports"]] == ["left", "y0", "z0"]
assert v["supports"][0]["nodes_on_largest_piece"] == 25 and v["loads"][0]["nodes_on_void"] == 0
assert v["cases"][0]["force_on_void"] == 0 and abs(v["cases"][0]["force_on_largest_piece"] - 8) < 1e-12
END
    ok "verify.json" python3 check_json.py
fi

# A bar with a gap: elements with i = 5 are void, so the loaded end is not connected.
awk '/^SCALARS density/ { print; rho = 1; next }
    rho && /^[0-9]/ { for (f = 1; f <= NF; f++) { print (e % 8 == 5 ? 0.001 : 1); e++ }; next }
    { print }' bar/density_0001.vtk >gap.vtk
ok "a bar with a gap" "$hextop" verify --made no gap.vtk bar.cfg --output gap.json
ok "its pieces" contains stderr "the solid falls into 2 pieces: 32 elements are not connected to the largest"
ok "its load" contains stderr "loads[0]: set 'right' is not attached to the largest piece"
ok "the load's nodes" contains stderr "case 1: 25 loaded nodes, with 100.0 % of the force, are on"
ok "supports are attached" lacks stderr "supports["
ok "both columns are the same" near "$(row compliance 1)" "$(row compliance 2)" 1e-5
ok "and soft" awk -v c="$(row compliance 1)" 'BEGIN { exit !(c ~ /^[0-9]/ && c > 1e7) }'
ok "springs" "$hextop" verify --made no gap.vtk bar.cfg --output gap.json \
    'springs=({set="right"; stiffness=[1.0, 1.0, 1.0];})'
ok "that do not hold" contains stderr "springs[0]: set 'right' is not attached to the largest piece"
ok "--output" contains gap.json '"joined_by_nodes": 2'
ok "nothing beside it" test ! -e verify.json
ok "its surface is not analysed" "$hextop" verify gap.vtk bar.cfg --output gap.json
ok "because it falls apart" contains stdout "surface   not analysed: surface of this result: bar.cfg: the supports leave"
refused "its surface by request" "the supports leave the body" gap.vtk bar.cfg --made yes --output gap.json

# A run with two load cases, the second on a solid plate.
cat >run.cfg <<'END'
mesh = { generator = "cantilever"; nx = 16; ny = 8; nz = 8; distort = 0.2; };
sets = ( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 8, 8]; }; },
         { name = "plate"; box = { min = [15, 0, 0]; max = [16, 8, 8]; }; } );
passive = ( { set = "plate"; density = 1.0; } );
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0, 0, -1]; case = 1; },
          { set = "right"; total_force = [0, 4, 0]; case = 2; } );
optimization = { volume_fraction = 0.4; iterations = 25; filter = { radius = 1.7; }; };
solver = { tolerance = 1e-6; };
output = { directory = "run"; every = 0; };
END
ok "run" "$hextop" -q run run.cfg
ok "verify" "$hextop" verify --made no run/density_0025.vtk run.cfg --vtk verified.vtk
ok "the grey compliance is the run's" near "$(row compliance 1)" \
    "$(sed -n 's/^  "compliance": \(.*\),/\1/p' run/summary.json)" 1e-4
ok "the grey volume is the run's" near "$(row 'volume fraction' 1)" 0.4 1e-5
ok "the volume is kept within an element" near "$(row 'volume fraction' 2)" 0.4 0.0045

# The compliance of the 0/1 design equals that of a run that starts from it, with the same material law.
ok "the 0/1 design as text" "$hextop" verify --made no run/density_0025.vtk run.cfg --vtk text.vtk \
    output.format=ascii
ok "it is 0/1" awk '/^density01 / { on = 1; next } /^[A-Za-z]/ { on = 0 }
    on { for (f = 1; f <= NF; f++) { n[$f]++; all++ } }
    END { exit !(all == 1024 && n[1] > 300 && n[1] + n["0.001"] == all) }' text.vtk
sed -e 's/^SCALARS density /SCALARS grey /' -e 's/^density01 /density /' text.vtk >start.vtk
zero_one=$(row compliance 2)
ok "run from the 0/1 design" "$hextop" -q run run.cfg optimization.initial=start.vtk \
    optimization.iterations=1 output.directory=zero_one
ok "has the compliance of verify" near "$zero_one" \
    "$(sed -n 's/^  "compliance": \(.*\),/\1/p' zero_one/summary.json)" 1e-5
ok "a load that makes its elements solid" "$hextop" verify --made no run/density_0025.vtk run.cfg \
    'loads[1].set=back' --output void.json
ok "is said" contains stderr "of the force acts on elements below the threshold that --preserve"
ok "how many" grep -qE '"elements_solid_below_threshold": [1-9]' void.json
ok "the volume is kept all the same" near "$(row 'volume fraction' 2)" 0.4 0.0045
ok "a load on void" "$hextop" verify --made no run/density_0025.vtk run.cfg 'loads[1].set=back' \
    --preserve none --output void.json
ok "is said, too" contains stderr "of the force, are on void or on pieces that are not connected"
ok "verify again" "$hextop" verify --made no run/density_0025.vtk run.cfg --vtk verified.vtk
ok "a row a case" contains stdout "case 2, weight 1"
ok "warns of what differs" contains stderr "than the grey design that was optimized: compliance "
ok "in one warning" test "$(grep -c "grey design that was optimized" stderr)" = 1
ok "the 0/1 design" grep -aq "^density01 1 [0-9]* double" verified.vtk
for field in "displacement double" "displacement_2 double" "von_mises float" "von_mises_2 float" \
    "piece int" "density double"; do
    ok "field $field" grep -aqE "^((SCALARS|VECTORS) $field|${field% *} [13] [0-9]+ ${field#* })" verified.vtk
done
ok "--tolerance" "$hextop" verify --made no run/density_0025.vtk run.cfg --tolerance 90
ok "silences differences" lacks stderr "grey design that was optimized"
ok "the order of the mesh does not matter" "$hextop" verify --made no run/density_0025.vtk run.cfg \
    mesh.shuffle=3 mesh.reorder=false
cp stdout shuffled.txt
ok "verify with a threshold" "$hextop" verify --made no run/density_0025.vtk run.cfg --threshold 0.5
ok "prints that it was given" contains stdout "density >= 0.5, as given"
compliance=$(row compliance 2)
volume=$(row 'volume fraction' 2)
cp shuffled.txt stdout
ok "shuffled, the grey compliance is the same" near "$(row compliance 1)" \
    "$(sed -n 's/^  "compliance": \(.*\),/\1/p' run/summary.json)" 1e-4

# A part with only the dense elements has the same 0/1 design.
ok "a part" "$hextop" -q run run/config.cfg output.directory=part output.threshold=0.5
ok "verify a part" "$hextop" verify --made no part/density_0025.vtk run.cfg --threshold 0.5
ok "the same volume" near "$(row 'volume fraction' 2)" "$volume" 1e-9
ok "the same compliance" near "$(row compliance 2)" "$compliance" 1e-4
ok "warns of the missing elements" contains stderr "elements below output.threshold"

# Without --threshold, the target volume of such a part is that of the run, not that of its densities. If the file has
# enough elements, the 0/1 design is the same; otherwise a warning states both volumes.
ok "verify the whole" "$hextop" verify --made no run/density_0025.vtk run.cfg
asked=$(sed -n 's/^volume .*, target //p' stdout)
volume=$(row 'volume fraction' 2)
compliance=$(row compliance 2)
ok "a larger part" "$hextop" -q run run/config.cfg output.directory=most output.threshold=0.2
ok "verify it" "$hextop" verify --made no most/density_0025.vtk run.cfg
ok "has the target" near "$(sed -n 's/^volume .*, target //p' stdout)" "$asked" 1e-4
ok "the same solid" near "$(row 'volume fraction' 2)" "$volume" 1e-9
ok "and compliance" near "$(row compliance 2)" "$compliance" 1e-4
ok "with nothing short" lacks stderr "has elements with a volume of"
ok "a small part" "$hextop" -q run run/config.cfg output.directory=few output.threshold=0.7
for command in "verify few --refine 0" "analyse run.cfg --density few --black-white" "surface few few.stl" \
    "mesh run.cfg few.vtk --density few"; do
    # shellcheck disable=SC2086
    ok "$command" "$hextop" $command
    ok "$command: short" contains stderr "and the 0/1 design of this run has $(printf %.4g "$asked")"
    # shellcheck disable=SC2086
    ok "$command --threshold" "$hextop" $command --threshold 0.7
    ok "$command: as asked for" lacks stderr "and the 0/1 design of this run"
done

# A mesh file that does not number its elements from 0.
cat >plate.cfg <<END
mesh = { file = "$meshes/lplate_22.msh"; shuffle = 5; };
supports = ( { set = "top end"; fix = "xyz"; } );
loads = ( { set = "surface 7"; total_force = [0.0, 0.0, -1.0]; } );
optimization = { volume_fraction = 0.5; iterations = 5; filter = { radius = 1.5; unit = "element"; }; };
solver = { operator = "otf"; device = "cpu"; };
END
ok "a mesh with numbers of its own" "$hextop" -q run plate.cfg output.directory=plate
ok "a part of it" "$hextop" -q run plate.cfg output.directory=plate_part output.threshold=0.3
ok "verify the whole" "$hextop" verify --made no plate/density_0005.vtk plate.cfg --threshold 0.5
compliance=$(row compliance 2)
ok "verify the part" "$hextop" verify --made no plate_part/density_0005.vtk plate.cfg --threshold 0.5
ok "which is the same solid" near "$(row compliance 2)" "$compliance" 1e-9

# Densities of a result are physical, so no filter or projection is applied to them; gravity is included.
for keys in "optimization.filter.kind=density optimization.projection.beta=4" \
    "optimization.filter.kind=helmholtz" "loads[1].set= loads[1].total_force= loads[1].gravity=[0,0,-0.1]"; do
    # shellcheck disable=SC2086
    ok "run $keys" "$hextop" -q run run.cfg output.directory=other optimization.iterations=4 \
        material.density=0.5 $keys
    # shellcheck disable=SC2086
    ok "verify $keys" "$hextop" verify --made no other/density_0004.vtk run.cfg material.density=0.5 $keys
    ok "the grey compliance is the run's with $keys" near "$(row compliance 1)" \
        "$(sed -n 's/^  "compliance": \(.*\),/\1/p' other/summary.json)" 1e-4
done

# A passive region of intermediate density also becomes solid or void in the 0/1 design.
ok "run with grey passive elements" "$hextop" -q run run.cfg output.directory=grey \
    optimization.iterations=3 'passive[1]={set="mount"; density=0.6;}'
ok "verify it with all of it solid" "$hextop" verify --made no grey/density_0003.vtk run.cfg \
    'passive[1]={set="mount"; density=0.6;}' --threshold 0.001
ok "that is a solid block" near "$(row 'volume fraction' 2)" 1 1e-9
solid=$(row compliance 2)
ok "a solid block" "$hextop" -q run run.cfg output.directory=solid optimization.iterations=1 \
    optimization.volume_fraction=1
ok "has the same compliance" near "$solid" \
    "$(sed -n 's/^  "compliance": \(.*\),/\1/p' solid/summary.json)" 1e-4

# Bad input.
refused "nothing" "usage: hextop verify RESULT [CONFIG]"
refused "no config" "there is no config.cfg beside ./text.vtk; name the config of the run" ./text.vtk
refused "no result" "nowhere.vtk" nowhere.vtk run.cfg
refused "a config that is none" "cannot read config" run/density_0025.vtk nowhere.cfg
refused "another mesh" "1024 cells; the mesh of this run has 2" run/density_0025.vtk bar.cfg mesh.nx=2 \
    mesh.ny=1 mesh.nz=1
refused "a larger mesh" "1024 cells; the mesh of this run has 1152" run/density_0025.vtk run.cfg mesh.nx=18
sed 's/^SCALARS density/SCALARS weight/' bar/density_0001.vtk >weight.vtk
refused "no density" "no cell array 'density' of one component; the file has weight" weight.vtk bar.cfg
awk '/^SCALARS density/ { rho = 1 } rho && /^1/ && !done { $1 = 1.5; done = 1 } { print }' \
    bar/density_0001.vtk >dense.vtk
refused "a density above 1" "the density of element 0 is 1.5, not in [0, 1]" dense.vtk bar.cfg
refused "threshold of text" "--threshold 'half' is not a number above 0 and at most 1" \
    bar/density_0001.vtk bar.cfg --threshold half
refused "tolerance below 0" "--tolerance '-3' is not a number above 0" bar/density_0001.vtk bar.cfg \
    --tolerance=-3
sed "s/^1\$/0.001/" bar/density_0001.vtk >void.vtk
refused "threshold above all" "no element has a density of at least 0.9; the largest is 0.001" void.vtk bar.cfg \
    --threshold 0.9 --preserve none
refused "more solid than volume" "and 16 elements that are forced solid (passive or loaded) have 16" \
    void.vtk bar.cfg
refused "nothing and something to preserve" "--preserve none,loads: 'none' excludes other words" void.vtk bar.cfg \
    --preserve none,loads
refused "no such thing to preserve" "--preserve: unknown 'load', did you mean 'loads'?" void.vtk bar.cfg \
    --preserve load
refused "nowhere to write" "cannot write 'nowhere/v.json'" bar/density_0001.vtk bar.cfg --output \
    nowhere/v.json
refused "no such folder for the VTK" "cannot write 'nowhere/v.vtk'" bar/density_0001.vtk bar.cfg \
    --vtk nowhere/v.vtk
refused "an option of compare" "--paper is an option of \`hextop compare\`, not of \`hextop verify\`" \
    --paper bar/density_0001.vtk bar.cfg
n=$((n + 1))
"$hextop" run bar.cfg --vtk x.vtk 2>stderr >stdout
if [ $? != 2 ] || ! contains stderr "--vtk is an option of \`hextop verify\`"; then
    failed=$((failed + 1))
    echo "failed: run takes an option of verify"
fi

echo "$n checks, $failed failed"
[ $failed = 0 ]
