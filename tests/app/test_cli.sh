#!/bin/sh
# The program end to end on a tiny model: files, formats, overrides, repeatability.
#     test_cli.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
src=$2
. "$(dirname "$0")/../lib/counting.sh"

# number KEY FILE: a top-level number of a summary.
number() {
    sed -n "s/^  \"$1\": \([-0-9.e+]*\),*$/\1/p" "$2"
}

lacks() { ! grep -qF -- "$2" "$1"; }
is_empty() { [ ! -s "$1" ]; }

cat >small.cfg <<'END'
title = "small \"quoted\" case";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0, 0, -1]; case = 1; },
          { set = "right"; total_force = [0, 1, 0]; case = 2; } );
weights = [1.0, 0.5];
sets = ( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 4, 4]; }; } );
passive = ( { set = "mount"; density = 1.0; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 5;
                 filter = { radius = 2; }; };
solver = { operator = "otf"; tolerance = 1e-9; };
output = { directory = "out"; every = 2; };
END

# A run and its files.
ok "run" "$hextop" run small.cfg
cp stdout run.txt
for file in density_0002.vtk density_0004.vtk density_0005.vtk density.vtk.series history.csv \
    summary.json config.cfg run.log; do
    ok "$file exists" test -s "out/$file"
done
ok "nothing else" test "$(ls out | wc -l)" = 8
ok "header shows the title" contains run.txt 'small "quoted" case'
ok "header shows the mesh" contains run.txt "128 elements, 225 nodes"
ok "a plain line an iteration" test "$(grep -c '^ *[1-5] of 5  ' run.txt)" = 5
ok "no control characters" test "$(tr -d '\033\r' <run.txt | wc -c)" = "$(wc -c <run.txt)"
ok "table of stages" contains run.txt "matrix-vector products"
ok "prints what to open" contains run.txt "out/density.vtk.series"

head -1 out/history.csv >header
printf '%s' "iteration,compliance,volume,change,greyness,pcg_iterations,pcg_residual,seconds" >wanted
printf '%s' ",compliance_case1,pcg_iterations_case1,compliance_case2,pcg_iterations_case2" >>wanted
printf '%s' ",seconds_pcg,seconds_spmv,seconds_preconditioner,seconds_vector,seconds_compliance,seconds_filter" >>wanted
printf '%s\n' ",seconds_update,seconds_output,penalty,beta,objective" >>wanted
ok "history.csv header" cmp header wanted
ok "history.csv lines" test "$(wc -l <out/history.csv)" = 6
ok "history.csv columns" awk -F, 'NF != 23 { exit 1 }' out/history.csv
ok "compliance is the weighted sum" awk -F, 'NR > 1 {
    d = $2 - $9 - 0.5 * $11; if (d < 0) d = -d
    if ($2 !~ /^[0-9]/ || d > 1e-9 * $2) { bad = 1; exit }; n++ }
    END { exit !(n == 5 && !bad) }' out/history.csv
ok "volume is met" near "$(tail -1 out/history.csv | cut -d, -f3)" 0.4 1e-6

if command -v python3 >/dev/null; then
    ok "summary.json parses" python3 -m json.tool out/summary.json
    ok "the series parses" python3 -m json.tool out/density.vtk.series
    cat >check_summary.py <<'END'
import json
s = json.load(open("out/summary.json"))
assert s["status"] == "done" and s["converged"] is None and s["solves_converged"] is True and s["solves_not_converged"] == 0
assert s["title"] == 'small "quoted" case'
assert s["elements"] == 128 and s["nodes"] == 225 and s["iterations"] == 5
assert abs(s["volume"] - 0.4) < 1e-6 and s["compliance"] > 0
for key in ("device", "operator", "layout", "preconditioner", "memory", "versions", "mesh"):
    assert s[key], key
assert set(s["timings"]) == {"precomputation", "pcg", "spmv", "preconditioner", "vector", "compliance", "filter",
                             "update", "output", "total"}
memory = s["memory"]
items = memory["device_items"]
assert sum(item["bytes"] for item in items.values()) == memory["device_bytes"]
assert items["coordinates"]["bytes"] == 225 * 24 and items["connectivity"]["bytes"] == 128 * 32
assert items["coordinates"]["bytes_per_element"] == 225 * 24 / 128
assert items["loads"]["bytes"] == 16 * (5 + 25) and items["preconditioner"]["bytes"] == 225 * 24
setup = s["setup"]
first = setup.pop("until_first_product")
assert set(setup) == {"mesh", "shuffle", "reorder", "finish", "sets", "problem", "device", "solver",
                      "design", "files", "check"}
assert 0 < sum(setup.values()) < first < s["timings"]["total"], (setup, first)
parts = sum(s["shares"][k] for k in s["shares"] if k not in ("spmv", "preconditioner", "vector"))
assert 50 < parts <= 100.5, parts
assert s["settings"]["optimization"]["filter"]["radius"] == 2
assert s["settings"]["solver"]["device"] == s["device"]
for case in s["cases"]:
    for load, reaction in zip(case["load_sum"], case["reaction_sum"]):
        assert abs(load + reaction) < 1e-5, case
assert abs(s["cases"][0]["load_sum"][2] + 5) < 1e-12
assert abs(s["cases"][1]["load_sum"][1] - 1) < 1e-12
series = json.load(open("out/density.vtk.series"))
assert [f["name"] for f in series["files"]] == ["density_000%d.vtk" % i for i in (2, 4, 5)]
assert [f["time"] for f in series["files"]] == [2, 4, 5]
END
    ok "summary.json content" python3 check_summary.py
fi
# Output of dense elements only: a small part keeps its original numbers; a part without elements causes a
# warning.
ok "run with a threshold" "$hextop" run small.cfg output.threshold=0.6 output.directory=part
ok "header shows the threshold" contains stdout "elements of density >= 0.6"
ok "fewer elements are written" test "$(wc -c <part/density_0005.vtk)" -lt \
    "$(wc -c <out/density_0005.vtk)"
ok "with their original numbers" grep -aq "^vtkOriginalCellIds 1 [0-9]* int" part/density_0005.vtk
ok "which whole files lack" lacks out/density_0005.vtk vtkOriginalCellIds
ok "the resolved config has the threshold" contains part/config.cfg "threshold = 0.6"
ok "threshold above all densities" "$hextop" run small.cfg passive= output.threshold=1 \
    optimization.iterations=1 output.directory=none
ok "warns that the file is empty" contains stderr \
    "none/density_0001.vtk is empty: no element reaches output.threshold = 1"
ok "an empty grid" grep -aq "CELLS 0 0" none/density_0001.vtk

compliance=$(number compliance out/summary.json)
ok "last history line has the summary's compliance" \
    near "$(tail -1 out/history.csv | cut -d, -f2)" "$compliance" 1e-10

# Repeatable: from the resolved config, from another folder, and after renumbering.
mkdir elsewhere
ok "rerun of config.cfg" "$hextop" -q run out/config.cfg output.directory=again
ok "-q prints nothing" is_empty stdout
ok "the same result" near "$(number compliance again/summary.json)" "$compliance" 1e-12
sed 1d out/config.cfg >a && sed 1d again/config.cfg | sed 's/"again"/"out"/' >b
ok "config.cfg is a fixed point" cmp a b
for keys in "mesh.shuffle=7 mesh.reorder=false" "mesh.shuffle=7" "mesh.reorder=false" \
    "solver.operator=nbn" "solver.layout=rowmajor" "solver.threads=1" \
    "solver.preconditioner=none" "solver.preconditioner=block-jacobi"; do
    # shellcheck disable=SC2086
    ok "run $keys" "$hextop" -q run small.cfg output.directory=other $keys
    ok "the same compliance with $keys" \
        near "$(number compliance other/summary.json)" "$compliance" 1e-6
done

# Mixed precision with each operator of the CPU that supports it; the others refuse it.
n_refused=0
for operator in $("$hextop" list | awk '$2 == "cpu" && $3 == "yes" { print $1 }' | sort -u); do
    mixed=$("$hextop" list | awk -v o="$operator" '$1 == o && $2 == "cpu" { print $5 }')
    set -- small.cfg output.directory=mixed solver.device=cpu "solver.operator=$operator" \
        solver.precision=mixed
    if [ "$mixed" = yes ]; then
        ok "mixed $operator" "$hextop" run "$@"
        ok "mixed $operator: header" contains stdout "mixed precision"
        ok "mixed $operator: the same compliance" \
            near "$(number compliance mixed/summary.json)" "$compliance" 1e-6
        ok "mixed $operator: summary" contains mixed/summary.json '"precision": "mixed"'
        ok "mixed $operator: not finished in double" contains mixed/summary.json \
            '"solves_finished_in_double_precision": 0'
    else
        n_refused=$((n_refused + 1))
        "$hextop" run "$@" >stdout 2>stderr
        ok "mixed $operator: refused" test $? = 2
        ok "mixed $operator: says why" contains stderr "solver.precision: operator '$operator'"
    fi
done
ok "nbn has no single precision" test $n_refused -ge 1
ok "mixed, no operator named" "$hextop" run small.cfg output.directory=mixed solver.device=cpu \
    solver.precision=mixed solver.operator=
ok "mixed takes one that has it" grep -qE '^  operator  otf, .* \(auto: ' stdout
ok "header shows the precision" contains run.txt "double precision"
ok "distorted" "$hextop" -q run small.cfg output.directory=other mesh.distort=0.2

# The operator chosen by timing is written to the resolved config, and naming it gives the same result.
ok "auto" "$hextop" -v run small.cfg output.directory=auto solver.device=cpu solver.operator=auto
ok "auto logs its candidates" test "$(grep -c '^  auto  .* ms per product$' stdout)" -ge 2
ok "auto prints its selection" grep -qE '^  operator  .* \(auto: .* ms per product; next ' stdout
ok "the same compliance with auto" near "$(number compliance auto/summary.json)" "$compliance" 1e-6
chosen=$(sed -n 's/^  operator  \([a-z0-9]*\), .*/\1/p' stdout)
ok "config.cfg names the operator chosen" contains auto/config.cfg "operator = \"$chosen\";"
ok "summary.json names it" contains auto/summary.json "\"operator\": \"$chosen\""
ok "auto keeps a layout that was asked for" "$hextop" -v run small.cfg output.directory=auto \
    solver.device=cpu solver.operator=auto solver.layout=rowmajor
ok "the other layout of ebe was not timed" lacks stdout "ebe, interleaved"
ok "auto on a larger mesh" "$hextop" -v check small.cfg solver.device=cpu solver.operator=auto \
    mesh.nx=32 mesh.ny=16 mesh.nz=16
ok "auto leaves out what stores much more" contains stdout "ebe, interleaved: stores too much"
ok "auto sets up and times no single candidate" lacks stdout "ms per product"
ok "auto takes what stores least" grep -q '^operator  otf, .* (auto: no other can be faster)' stdout
ok "deterministic" "$hextop" -v run small.cfg output.directory=auto solver.deterministic=true
ok "deterministic times nothing" lacks stdout "ms per product"
ok "the log says deterministic" grep -qE '^  operator  [a-z0-9]*, [a-z]*, deterministic' stdout
ok "summary.json contains it" contains auto/summary.json '"operator_deterministic": true'

# A mesh file, with a path relative to the config, and its sets by name.
mkdir model
ok "mesh" "$hextop" mesh small.cfg model/block.vtk
ok "mesh holds its fields" contains model/block.vtk "load_2"
cat >model/block.cfg <<'END'
mesh = { file = "block.vtk"; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0, 0, -1]; case = 1; },
          { set = "right"; total_force = [0, 1, 0]; case = 2; } );
weights = [1.0, 0.5];
passive = ( { set = "mount"; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 5;
                 filter = { radius = 2; }; };
solver = { tolerance = 1e-9; };
END
ok "run of a mesh file" "$hextop" -q run model/block.cfg output.directory=file
from_file=$(number compliance file/summary.json)
ok "the same compliance from the file" near "$from_file" "$compliance" 1e-6
(cd elsewhere && "$hextop" -q run ../file/config.cfg output.directory=here) ||
    failed=$((failed + 1))
ok "its config.cfg runs from elsewhere" \
    near "$(number compliance elsewhere/here/summary.json)" "$from_file" 1e-9

# A restart continues from the densities of another run.
ok "restart" "$hextop" -q run small.cfg output.directory=other \
    optimization.initial=out/density_0005.vtk optimization.iterations=1
ok "restart starts there" near "$(number compliance other/summary.json)" "$compliance" 1e-6

# The run stops when the design has converged.
ok "change_tolerance" "$hextop" -q run small.cfg output.directory=early \
    optimization.change_tolerance=0.9 optimization.move=1 optimization.iterations=40
ok "stopped after one iteration" test "$(number iterations early/summary.json)" = 1

# Symmetry and extrusion: cell (i, j, k) of the ASCII file and its images have the same text.
ok "run with ties" "$hextop" run small.cfg output.directory=ties output.format=ascii \
    'optimization.symmetry=({point=[4,0,0];normal=[1,0,0];})' 'optimization.extrusion=[0,0,2]'
ok "header shows the ties" contains stdout "elements in 16 groups (1 symmetry plane, extruded)"
ok "summary shows the ties" contains ties/summary.json '"elements_without_image": 0'
ok "images are equal" awk '
    /^SCALARS density/ { n = -1; next }
    n != "" { for (f = 1; f <= NF && /^[0-9]/; f++) rho[++n] = $f }
    END {
        for (e = 0; e < 128; e++) {
            i = e % 8; j = int(e / 8) % 4; a = i < 4 ? i : 7 - i
            if (i == 0 || i == 7) continue # one end is passive
            if (rho[e] != rho[8 * j + a] || rho[e] == "") exit 1
            if (rho[e] != rho[8 * 0 + a]) differ = 1
        }
        exit !differ
    }' ties/density_0005.vtk
ok "config.cfg has the ties" "$hextop" -q run ties/config.cfg output.directory=ties2
ok "and gives the same design" cmp ties/density_0005.vtk ties2/density_0005.vtk
# Repetition: one end is passive, so the copies between the ends are compared.
repetition='optimization.repetition=({kind="cyclic";point=[0.0,2.0,2.0];axis=[1,0,0];copies=2;},{kind="pattern";step=[2,0,0];copies=4;})'
ok "run with a repetition" "$hextop" run small.cfg output.directory=copies output.format=ascii "$repetition"
ok "header shows the copies" contains stdout "(2 copies about an axis, 4 copies along a step)"
ok "copies are equal" awk '
    /^SCALARS density/ { n = -1; next }
    n != "" { for (f = 1; f <= NF && /^[0-9]/; f++) rho[++n] = $f }
    END {
        for (e = 0; e < 128; e++) {
            i = e % 8; j = int(e / 8) % 4; k = int(e / 32)
            if (i < 2 || i > 5 || rho[e] == "") continue
            if (rho[e] != rho[32 * k + 8 * j + 2 + i % 2]) exit 1
            if (rho[e] != rho[32 * (3 - k) + 8 * (3 - j) + i]) exit 1
            if (rho[e] != rho[2]) differ = 1
        }
        exit !differ
    }' copies/density_0005.vtk
ok "config.cfg has the repetition" "$hextop" -q run copies/config.cfg output.directory=copies2
ok "and gives the same design" cmp copies/density_0005.vtk copies2/density_0005.vtk
ok "check shows the ties" "$hextop" check small.cfg \
    'optimization.symmetry=({point=[2.6,0.0,0.0];normal=[1,0,0];})'
ok "and warns of a plane beside the middle" contains stderr "have no image in the part"

# Fields and formats.
ok "all fields" "$hextop" -q run small.cfg output.directory=fields output.format=ascii \
    output.fields=density,displacement,sensitivity,energy,von_mises,sets
for field in density sensitivity energy von_mises von_mises_2 displacement displacement_2 \
    set_left set_mount; do
    ok "field $field" grep -qE "^((SCALARS|VECTORS) $field|$field [13] [0-9]+) " fields/density_0005.vtk
done
ok "of each kind one outside FIELD, for VTK's reader" awk '/_DATA/ { n[0] = n[1] = 0 }
    /^(SCALARS|VECTORS)/ { all++; if (n[/^V/]++) exit 1 } END { if (all < 3) exit 1 }' fields/density_0005.vtk
ok "ascii" contains fields/density_0005.vtk "ASCII"

# A run that fails leaves older results complete.
cp out/summary.json before.json && cp out/density_0005.vtk before.vtk
n=$((n + 1))
"$hextop" run small.cfg 'loads[0].set=nowhere' >stdout 2>stderr && failed=$((failed + 1))
ok "the summary is kept" cmp out/summary.json before.json
ok "the densities are kept" cmp out/density_0005.vtk before.vtk

# check reports, and changes no file.
mkdir untouched && cp small.cfg untouched/ && cd untouched || exit 1
ok "check" "$hextop" check small.cfg
cp ../stdout ../check.txt
ok "check changes nothing" test "$(ls)" = small.cfg
cd ..
ok "check with auto" "$hextop" check small.cfg solver.operator=auto
ok "check names what auto takes" grep -q '^operator  .* (auto: ' stdout
for text in "128 elements" "scaled Jacobian" "mount" "right-lower-edge" "sum of case 2" "passive" \
    "neighbours" "memory" "bytes/element" "connectivity" "time" "no errors"; do
    ok "check shows $text" contains check.txt "$text"
done

# check predicts the peak of host memory. (Sanitizers use more.)
large="mesh.nx=100 mesh.ny=40 mesh.nz=40 passive= sets= optimization.iterations=1"
large="$large solver.max_iterations=3 solver.device=cpu solver.operator=otf output.directory=large"
# shellcheck disable=SC2086
ok "check of a larger mesh" "$hextop" check small.cfg $large
cp stdout large.txt
ok "says how large the files are" contains large.txt "1 VTK file of"
# shellcheck disable=SC2086
ok "run of a larger mesh" "$hextop" run small.cfg $large
peak=$(sed -n 's/.*"host_peak_bytes": \([0-9]*\).*/\1/p' large/summary.json)
foretold=$(sed -n 's/^  peak *\([0-9.]*\) MB on the host.*/\1/p' large.txt)
if [ "${HX_SANITIZE:-none}" != none ]; then
    echo "SKIPPED: the memory foretold ($foretold MB) is taken: the sanitizer ($HX_SANITIZE) takes its own"
    ok "the memory foretold is a number, the peak is known" awk "BEGIN { exit !(${foretold:-0} > 0 && ${peak:-0} > 0) }"
else
    ok "the memory foretold is taken" near "${foretold}e6" "$peak" 0.15
fi

ok "check divides the mesh" "$hextop" check small.cfg --ranks 3
ok "... along the curve" grep -q '^  curve  *42  *43  *1\.0[0-9]* ' stdout
refused_ranks() { # WORDS: argument of --ranks and the expected message
    "$hextop" check small.cfg --ranks "$1" >stdout 2>stderr
    [ $? = 2 ] && grep -qF -- "$2" stderr
}
ok "half a process is refused" refused_ranks 2.5 "not a number of processes"
ok "more processes than elements are refused" refused_ranks 129 "129 ranks for 128 elements"
ok "one iteration" "$hextop" run small.cfg optimization.iterations=1 output.directory=one
ok "is in the singular" contains stdout " after 1 iteration ("
"$hextop" check small.cfg mesh.nx=1 mesh.ny=1 mesh.nz=1 --ranks 4 >stdout 2>stderr
ok "one element, too" contains stderr ": 4 ranks for 1 element;"
mkdir -p empty
"$hextop" analyse one >stdout 2>stderr
ok "analyse of a run's folder: exit status 2" test $? = 2
ok "analyse of a run's folder: what to type" contains stderr "\`hextop analyse one/config.cfg --density one\`"
ok "which works" "$hextop" analyse one/config.cfg --density one
"$hextop" analyse empty >stdout 2>stderr
ok "analyse of another folder: exit status 2" test $? = 2
ok "analyse of another folder" contains stderr "'empty' is a folder, not a config"
"$hextop" check small.cfg optimization.filter.radius=0.8 >stdout 2>warnings
ok "check warns of a small radius" contains warnings "hextop: warning: the filter radius"
"$hextop" check small.cfg mesh.nx=16 optimization.filter.radius=11 >stdout 2>warnings
ok "check warns of a large radius" contains warnings "blurs the design"
"$hextop" check small.cfg 'passive[0].density=0.01' \
    'loads[2]={set="left"; node_force=[0,0,1]; case=1;}' 'supports[0].set=back' >stdout 2>warnings
ok "check warns of loads on void" contains warnings "touch passive void only"

ok "check lists passive sets" contains check.txt "  mount: 16 elements of density 1"
ok "several warnings" "$hextop" check small.cfg optimization.filter.radius=0.8 \
    optimization.initial=part/density_0005.vtk 'passive[0].density=0.01' \
    'loads[2]={set="left"; node_force=[0,0,1]; case=1;}' 'supports[0].set=back'
ok "several are there" test "$(grep -c '^hextop: warning:' stderr)" -gt 2
ok "and counted, all of them" contains stdout "no errors, $(grep -c '^hextop: warning:' stderr) warnings"

# A mesh larger than any host's memory is refused before it is created.
for command in run check; do
    "$hextop" "$command" small.cfg mesh.nx=800 mesh.ny=800 mesh.nz=800 solver.device=cpu \
        solver.operator=ebe output.directory=huge >stdout 2>stderr
    ok "$command refuses what no host holds" test $? = 1
    ok "$command prints how much it takes" \
        contains stderr "512000000 elements take at least 2.6 TB of host memory"
done
ok "nothing is written" test ! -e huge

# Help and lists.
for command in run check mesh list; do
    ok "$command --help" "$hextop" "$command" --help
    ok "$command --help shows usage" contains stdout "Usage: hextop $command"
done
ok "--help" "$hextop" --help
ok "--version" "$hextop" --version
ok "version" contains stdout "libconfig"
ok "help config" "$hextop" help config
ok "all keys have help" contains stdout "optimization.filter.volume_weighted"
ok "help help" "$hextop" help help
ok "help help is the help" contains stdout "Usage"
ok "and has its options" contains stdout "  --man "
ok "help on keys" "$hextop" help filter
ok "help on keys has them" contains stdout "optimization.filter.radius: filter radius"
ok "help on keys has them alone" lacks stdout "solver.operator"
ok "help of a command, not the keys of its name" "$hextop" help mesh
ok "help mesh is of the command" contains stdout "Usage: hextop mesh"

# A mesh, a result or a CAD model instead of a config, and missing files.
refused() { # WHAT TEXT ARGUMENT...
    what=$1 text=$2
    shift 2
    "$hextop" "$@" >stdout 2>stderr
    ok "$what: exit status 2" test $? = 2
    ok "$what: prints the error" contains stderr "$text"
}
refused "help on nothing" "no name or help text contains 'nothingness'" help nothingness
refused "run of a mesh" "'part.msh' is a mesh or a result, but a config is expected here" run part.msh
refused "check of a CAD model" "makes one from a CAD model" check part.STEP
refused "verify the other way round" "'out.vtk' is a mesh or a result" verify small.cfg out.vtk
refused "verify of nothing" "cannot read 'nowhere/a.vtk': No such file" verify nowhere/a.vtk small.cfg
refused "options before their command" "cannot read 'nowhere/a.vtk': No such file" --threshold 0.5 verify nowhere/a.vtk small.cfg
refused "--keys of another command" "--keys is an option of \`hextop list\`, not of \`hextop run\`" run --keys small.cfg
refused "surface of nothing" "cannot read 'nowhere/a.vtk': No such file" surface nowhere/a.vtk a.stl

# Without solver.operator, the fastest operator is used.
ok "no operator" "$hextop" check small.cfg solver.operator=
ok "no operator: auto" contains stdout "(auto: "

ok "list" "$hextop" list
for text in cpu ebe nbn jacobi sensitivity cantilever conrod deterministic auto; do
    ok "list shows $text" contains stdout "$text"
done
ok "list shows what stands in" contains stdout "ebe8 as ebe"
ok "list names the element of the bytes" contains stdout "bytes/hex8: stored bytes per linear hexahedron"
# Valid on every build, with or without a GPU.
for operator in ebe8 ebe24 ebe64 warp64 sym sym32 dedup voxels bsr bsrsym csr ell coo bsr32; do
    ok "operator $operator" "$hextop" -q check small.cfg solver.device=cpu solver.operator=$operator
done
ok "list --keys" "$hextop" list --keys
ok "keys table" contains stdout '| `solver.max_iterations` | integer |'
cp stdout listed
ok "help --markdown" "$hextop" help --markdown
ok "list --keys prints the same" cmp stdout listed
ok "doc/config.md is what the program prints" cmp stdout "$src/doc/config.md"
# Every key with a value has an example, which test_examples.py tries.
sed -n 's/^| `[^|]*` | \([a-z/]*\) .*| \([^|]*\) |$/\1 \2/p' stdout | grep -v -e '^group' -e '^list' >shown
ok "help --markdown shows keys" test "$(wc -l <shown)" -gt 100
ok "an example for every key" test "$(grep -c '`$' shown)" = "$(wc -l <shown)"

# Every example config is accepted.
for config in "$src"/configs/*.cfg; do
    grep -q generator "$config" || continue # files that the others include
    ok "$(basename "$config")" "$hextop" -q check "$config"
    ok "$(basename "$config") without warnings" is_empty stderr
done

# Ctrl-C finishes the iteration and writes the results so far.
"$hextop" run small.cfg output.directory=stopped optimization.iterations=100000 \
    output.every=100000 >stdout 2>stderr &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -f stopped/history.csv ] && [ "$(wc -l <stopped/history.csv)" -gt 2 ] && break
    sleep 0.5
done
"$hextop" -q run small.cfg output.directory=stopped 2>second
ok "a second run into the same folder is refused" test $? = 2
ok "it says why" contains second "a running hextop (process $pid) writes to 'stopped/history.csv'"
kill -TERM "$pid"
wait "$pid"
status=$?
cp stderr said
ok "interrupted: exit status 3" test "$status" = 3
ok "interrupted: prints it" contains said "interrupted"
ok "interrupted: summary" contains stopped/summary.json '"status": "interrupted"'
ok "interrupted: density" test "$(ls stopped | grep -c '^density_.*vtk$')" = 1

# A run that fails immediately leaves nothing of the previous run in its log.
"$hextop" -q run small.cfg output.directory=stopped 2>stderr
ok "its checkpoint is not replaced" test $? = 2
ok "it says how" contains stderr "continue it with --resume"
"$hextop" -q run small.cfg output.directory=stopped material.E=1e-20 \
    'loads[1].total_force=[0,0,1e30]' solver.preconditioner=multigrid --force 2>stderr
ok "not finite: exit status 1" test $? = 1
ok "no summary of the run before" contains stopped/summary.json '"status": "failed"'
ok "no series of the run before" test "$(grep -c density_ stopped/density.vtk.series)" = 1
ok "its own" contains stopped/density.vtk.series density_0001.vtk

# Every word of a key with a list of words is written as it was read; the mesh file obeys output.format.
cat >words.cfg <<'END'
mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
supports = ( { set = "left"; fix = "xyz"; } );
springs = ( { set = "right"; stiffness = [0.1, 0.1, 0.1]; per = "total"; } );
loads = ( { set = "right"; remote_force = [0.0, 0.0, -1.0]; point = [5.0, 1.0, 1.0]; coupling = "rigid"; } );
optimization = { volume_fraction = 0.5; iterations = 1; filter = { radius = 2.0; }; };
output = { directory = "words"; };
END
cat >heat.cfg <<'END'
physics = "heat";
mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
supports = ( { set = "left"; temperature = 20.0; } );
convection = ( { set = "right"; coefficient = 0.1; ambient = 20.0; } );
loads = ( { source = 1.0; } );
optimization = { volume_fraction = 0.5; iterations = 1; filter = { radius = 2.0; }; };
output = { directory = "words"; };
END
"$hextop" check heat.cfg 'loads=( { set = "right"; flux = 1.0; } )' 'passive=( { set = "end"; density = 0.001; } )' \
    'sets=( { name = "end"; box = { min = [3.0, 0.0, 0.0]; max = [4.0, 2.0, 2.0]; }; } )' >stdout 2>warnings
ok "check counts the heated nodes on void" contains warnings "9 heated nodes touch passive void only: their temperature"
"$hextop" help --zsh | sed -n "s/^    ('\(.*\)') echo '\(.*\)' ;;/\1 \2/p" >choices
ok "keys have words" test "$(wc -l <choices)" -ge 15
while read -r key choices; do
    case $key in
    springs* | loads*coupling) entry=$(echo "$key" | sed 's/\[\]/[0]/') ;;
    optimization.filter.unit | solver.criterion | solver.on_failure | output.format | output.fields) entry=$key ;;
    *) continue ;; # names of plug-ins that depend on the machine
    esac
    for word in $choices; do
        config=words.cfg
        case $word in temperature | heat_flux) config=heat.cfg ;; esac
        ok "$entry=$word" "$hextop" -q run $config "$entry=$word"
        ok "$entry=$word: config.cfg has it" grep -q "^ *${entry##*.} = (*\"$word\")*;" words/config.cfg
        ok "$entry=$word: summary.json has it" grep -q "\"$word\"" words/summary.json
    done
done <choices
ok "text file" "$hextop" -q mesh words.cfg words.vtk output.format=ascii
ok "text file is text" test "$(sed -n 3p words.vtk)" = ASCII

# Gravity in a job for CalculiX: the nodal forces of the solid part add up to its weight; springs.
cat >weight.cfg <<'END'
mesh = { generator = "cantilever"; nx = 4; ny = 2; nz = 2; };
material = { density = 2.5; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { gravity = [0.0, 0.0, -3.0]; } );
optimization = { volume_fraction = 0.3; iterations = 2; filter = { radius = 2.0; }; };
END
ok "job with weight" "$hextop" mesh weight.cfg weight.inp
weight=$(awk -F, '/^\*CLOAD/ { f = 1; next } /^\*/ { f = 0 } f && $2 == 3 { s += $3 } END { print s }' weight.inp)
ok "sum of its forces" near "$weight" -120 1e-9
ok "job with springs" "$hextop" mesh weight.cfg springs.inp 'springs=( { set = "right"; stiffness = [1.0, 0.0, 2.0]; } )'
ok "a spring for each node and direction" test "$(awk '/^\*/ { f = /SPRING1/ } f && !/^\*/ { n++ } END { print n }' springs.inp)" = 18
# A run: reactions balance the weight of the design.
ok "run with weight" "$hextop" -q run weight.cfg output.directory=weight
if command -v python3 >/dev/null; then
ok "weight of the design" sh -c 'python3 - weight/summary.json <<END
import json, sys
case = json.load(open(sys.argv[1]))["cases"][0]
assert -120 < case["load_sum"][2] < 0, case
assert abs(case["load_sum"][2] + case["reaction_sum"][2]) < 1e-3 * abs(case["load_sum"][2]), case
END'
fi

echo "$n checks, $failed failed"
[ $failed = 0 ]
