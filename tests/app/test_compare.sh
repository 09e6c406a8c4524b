#!/bin/sh
# hextop compare end to end on tiny models: tables, files, plots, operators that do not fit into memory, wrong usage.
#     test_compare.sh HEXTOP SRCDIR
set -u
export LC_ALL=C
hextop=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0
failed=0

# ok WHAT COMMAND...: the command must succeed.
ok() {
    what=$1
    shift
    n=$((n + 1))
    "$@" >out.txt 2>err.txt && return 0
    failed=$((failed + 1))
    echo "failed: $what"
    sed 's/^/    /' out.txt err.txt
}

# status WHAT WANTED TEXT ARGUMENTS...: checks the exit status of `hextop compare` and its stderr.
status() {
    what=$1 wanted=$2 text=$3
    shift 3
    n=$((n + 1))
    "$hextop" compare "$@" >stdout 2>stderr
    got=$?
    [ $got = "$wanted" ] && { [ -z "$text" ] || grep -qF -- "$text" stderr; } && return 0
    failed=$((failed + 1))
    echo "failed: $what: exit status $got, not $wanted, or stderr lacks '$text'"
    sed 's/^/    /' stdout stderr
}

contains() { grep -qF -- "$2" "$1"; }
is_empty() { [ ! -s "$1" ]; }

cat >small.cfg <<'END_OF_CONFIG'
title = "small";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; distort = 0.2; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; node_force = [0, 0, -1]; case = 1; },
          { set = "right"; total_force = [0, 1, 0]; case = 2; } );
sets = ( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 4, 4]; }; } );
passive = ( { set = "mount"; density = 1.0; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 2; filter = { radius = 2; }; };
solver = { device = "cpu"; };
output = { directory = "out"; };
END_OF_CONFIG
sed 's/nx = 8; ny = 4; nz = 4; //' small.cfg >sized.cfg

# Every operator and layout of the CPU stays within its error bound.
status "compare" 0 "" small.cfg --repeats 3
cp stdout compare.txt
ok "nothing on stderr" is_empty stderr
for text in "128 elements, 225 nodes" "copy bandwidth" "iterations" "converged" "Mel/s"; do
    ok "shows $text" contains compare.txt "$text"
done
for file in compare.csv compare.json compare.gp; do ok "$file" test -s "out/compare/$file"; done
ok "no temporary file" test -z "$(find out -name '*.tmp*' -o -name '*.vtk')"
"$hextop" list | awk '$2 == "cpu" && $3 == "yes" && $5 ~ /yes|no/ {
    for (i = 6; $i ~ /^(rowmajor|interleaved),?$/; i++) { sub(",", "", $i); print $1 "," $i } }' |
    sort >wanted
ok "CPU operators are listed" test "$(wc -l <wanted)" -ge 2
cat >read.awk <<'END_OF_AWK'
# The columns of `want` (names, separated by commas) of compare.csv; no text there holds a comma.
BEGIN { FS = ","; n = split(want, name, ",") }
{ gsub("\"", "") }
NR == 1 { columns = NF; for (i = 1; i <= NF; i++) at[$i] = i; next }
NF != columns { print "line " NR " has " NF " columns, not " columns; next }
{ line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? "," : "") $(at[name[i]]); print line }
END_OF_AWK
column() { awk -v want="$2" -f read.awk "$1"; }
column out/compare/compare.csv operator,layout | sort >got
ok "every operator and layout" cmp wanted got
column out/compare/compare.csv \
    status,error,error_bound,symmetry,product_repeats,product_min_seconds,product_median_seconds,product_max_seconds,elements_per_second,pcg_outcome,pcg_iterations,pcg_seconds,pcg_spmv_seconds,pcg_vector_seconds >figures
ok "figures hold together" awk -F, '
    { for (i = 2; i <= 14; i++) if (i != 10 && $i !~ /^[-+]?[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?$/) exit 1 }
    $1 != "ok" || $2 == "" || $2 > $3 || $3 > 1e-5 || $4 > $3 || $5 != 3 { exit 1 }
    !($6 > 0 && $6 <= $7 && $7 <= $8) || $9 * $7 < 127.9 || $9 * $7 > 128.1 { exit 1 }
    $10 != "converged" || $11 < 20 || $12 <= 0 { exit 1 }
    $13 + $14 < 0.999 * $12 || $13 + $14 > 1.001 * $12 { exit 1 }
    END { if (NR < 2) exit 1 }' figures
ok "ebe rowmajor is the reference" test \
    "$(column out/compare/compare.csv operator,layout,speedup_over_ebe,pcg_speedup_over_ebe |
        grep '^ebe,rowmajor')" = "ebe,rowmajor,1,1"
column out/compare/compare.csv operator,speedup_over_p1 | grep -E '^(nbn|ebe),' >best
ok "the best of P1 has 1" awk -F, '
    $2 > most { most = $2 } END { exit !(most == 1) }' best
ok "the same iterations" test "$(cut -d, -f11 figures | sort -n |
    awk 'NR == 1 { a = $1 } END { print ($1 - a <= 2) }')" = 1
# Stored matrices with 225 rows and (3 8 + 1) (3 4 + 1)^2 blocks: times of the pattern (columns, offsets, slots) and
# of the values. csr also has columns and offsets of its own.
pattern=$((4225 * 4 + 226 * 8 + 128 * 64))
column out/compare/compare.csv operator,layout,matrix_bytes | grep -E '^(bsr|csr),rowmajor' >got
printf '%s\n' "bsr,rowmajor,$((pattern + 4225 * 72))" \
    "csr,rowmajor,$((pattern + 4225 * 9 * 12 + 676 * 8))" >wanted_bytes
ok "bytes of matrix and pattern" cmp wanted_bytes got
column out/compare/compare.csv \
    operator,pattern_seconds,fill_seconds,fill_spread,product_median_seconds,speedup_over_otf,break_even_products >figures_matrix
ok "figures of stored matrices" awk -F, '
    $1 == "otf" { otf = $5; n_otf++ }
    $1 ~ /^(bsr|bsrsym|csr)$/ { n++; if (!($2 > 0 && $3 > 0 && $4 != "")) exit 1; line[n] = $0; next }
    $2 $3 $4 $7 != "" { exit 1 }
    END {
        if (n < 3 || n_otf != 1) exit 1
        for (i = 1; i <= n; i++) {
            split(line[i], f, ",")
            if (f[6] * f[5] < 0.999 * otf || f[6] * f[5] > 1.001 * otf) exit 1
            if ((f[7] != "") != (f[6] > 1)) exit 1
            if (f[7] != "" && (f[7] * (otf - f[5]) < 0.999 * f[3] || f[7] * (otf - f[5]) > 1.001 * f[3])) exit 1
        }
    }' figures_matrix
for text in "pattern ms" "pays after" "csr       rowmajor"; do
    ok "stored matrices: shows $text" contains compare.txt "$text"
done
ok "pays after some products, or never" awk '
    /pays after$/ { table = 1; next }
    table && NF == 0 { exit }
    table { n++; if ($0 !~ /never$|[0-9] products$/) bad = 1 }
    END { exit !(n >= 3 && !bad) }' compare.txt
if command -v python3 >/dev/null; then
    cat >check.py <<'END_OF_PYTHON'
import json, sys
c = json.load(open("out/compare/compare.json"))
mesh, = c["meshes"]
assert mesh["elements"] == 128 and mesh["device"] == "cpu" and mesh["copy_bytes_per_second"] > 1e6
assert c["versions"]["hextop"] and c["machine"]["processors"] >= 1
assert c["settings"]["mesh"]["nx"] == 8
pairs = sorted(o["operator"] + "," + o["layout"] for o in mesh["operators"])
assert pairs == open("wanted").read().split(), pairs
for o in mesh["operators"]:
    assert o["error"] <= o["error_bound"] and o["status"] == "ok", o
    assert o["stage_pcg_seconds"] is None, o
    assert (o["operator"] in ("bsr", "bsrsym", "csr")) == (o["fill_seconds"] is not None), o
END_OF_PYTHON
    ok "compare.json" python3 check.py
fi
if command -v gnuplot >/dev/null; then
    ok "compare.svg" contains out/compare/compare.svg "</svg>"
    ok "compare_pcg.svg" contains out/compare/compare_pcg.svg "ebe rowmajor"
    ok "compare_matrix.svg" contains out/compare/compare_matrix.svg "pattern, once per mesh"
else
    ok "says that there is no gnuplot" contains compare.txt "gnuplot is not installed"
fi

# The forecast names the preconditioner and the number of rows before anything is solved.
status "forecast" 0 "" small.cfg --operators otf,ebe --repeats 1 --iterations 3
ok "forecast: the preconditioner" contains stdout 'forecast  PCG with jacobi (solver.preconditioner is "auto"; to compare'
ok "forecast: how many" grep -q "about .* per operator and layout, .* for 3$" stdout
ok "forecast: before the table" awk '/^forecast/ { seen = 1 } /^  operator/ { exit !seen }' stdout
status "forecast, named" 0 "" small.cfg --operators otf --repeats 1 --iterations 3 solver.preconditioner=multigrid
ok "forecast: as named" contains stdout "forecast  PCG with multigrid: about "
status "no forecast" 0 "" small.cfg --operators otf --repeats 1 --no-pcg
ok "forecast: no PCG, none" test "$(grep -c ^forecast stdout)" = 0

# Without gnuplot there is a message, and pictures of an earlier comparison are removed.
mkdir empty
n=$((n + 1))
PATH="$work/empty" "$hextop" compare small.cfg --repeats 1 --no-pcg >stdout 2>stderr || {
    failed=$((failed + 1))
    echo "failed: without gnuplot"
}
ok "no gnuplot: prints it" contains stdout "no plot: gnuplot is not installed"
ok "no gnuplot: no picture" test ! -e out/compare/compare.svg
ok "--no-pcg: no PCG" test "$(column out/compare/compare.csv pcg_outcome,pcg_seconds | sort -u)" = ,

# Pictures get their final names once all are drawn; if one fails, none is left. A script replaces gnuplot.
mkdir played
cat >played/gnuplot <<'END'
#!/bin/sh
grep -q 'set output "compare.svg"' "$1" || exit 3
echo "<svg></svg>" >compare.svg
[ "$(cat ../compare.svg)" = old ] || echo named >"$PLAYED"
exit "$STATUS"
END
chmod +x played/gnuplot
ln -s ../linked.svg out/compare/compare.svg
for STATUS in 0 1; do
    echo old >out/linked.svg
    export STATUS PLAYED="$work/too-early"
    n=$((n + 1))
    PATH="$work/played:$PATH" "$hextop" compare small.cfg --repeats 1 --no-pcg >stdout 2>stderr ||
        failed=$((failed + 1))
    ok "gnuplot draws elsewhere" test ! -e "$PLAYED"
    ok "no folder is left" test -z "$(find out/compare -name '*.tmp.*')"
    if [ $STATUS = 0 ]; then
        ok "the picture is there" contains out/linked.svg "<svg>"
        ok "the link stays" test -L out/compare/compare.svg
        ok "the picture is named" contains stdout "compare.svg"
    else
        ok "a picture that failed is not there" test ! -e out/compare/compare.svg
        ok "what a link led to stays" contains out/linked.svg old
        ok "that is said" contains stderr "gnuplot failed"
    fi
done
rm -f out/compare/compare.svg

# Densities from a file, quiet output, another folder, one operator.
mkdir -p densities
"$hextop" -q run small.cfg optimization.iterations=1 output.directory=densities ||
    failed=$((failed + 1))
status "density file" 0 "" -q small.cfg optimization.initial=densities/density_0001.vtk \
    --operators nbn --repeats 1 --iterations 5 --output=elsewhere
ok "-q prints nothing" is_empty stdout
ok "one operator" test "$(column elsewhere/compare.csv operator | sort -u)" = nbn
ok "--iterations" test "$(column elsewhere/compare.csv pcg_outcome,pcg_iterations | sort -u)" = \
    max_iterations,10
ok "no reference, no speedup" test -z "$(column elsewhere/compare.csv speedup_over_ebe | tr -d '\n')"

# Matrices without otf to compare with, and no matrices at all.
status "no otf" 0 "" small.cfg --no-pcg --operators bsr --repeats 1
ok "no otf: prints it" contains stdout "no otf"
ok "no otf: no figure" test \
    "$(column out/compare/compare.csv speedup_over_otf,break_even_products)" = ,
status "no matrix" 0 "" small.cfg --no-pcg --operators otf,ebe --repeats 1
ok "no matrix: no such columns" test "$(grep -c 'pays after' stdout)" = 0

# Heat, with one unknown per node, and quadratic elements, with mid-side nodes: every operator that supports them.
cat >heat.cfg <<'END_OF_CONFIG'
physics = "heat";
mesh = { generator = "cantilever"; nx = 8; ny = 4; nz = 4; distort = 0.2; };
supports = ( { set = "left"; temperature = 20.0; } );
convection = ( { set = "top"; coefficient = 1.5; ambient = 5.0; } );
loads = ( { source = 1.0; case = 1; }, { set = "right"; flux = 2.0; case = 2; } );
sets = ( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 4, 4]; }; } );
passive = ( { set = "mount"; density = 1.0; } );
optimization = { volume_fraction = 0.4; iterations = 2; filter = { radius = 2; }; };
solver = { device = "cpu"; };
output = { directory = "heat"; };
END_OF_CONFIG
status "heat" 0 "" heat.cfg --repeats 3
ok "heat: said" contains stdout "128 elements, 225 nodes, heat"
ok "heat: those without are named" contains stdout 'without physics = "heat": ebe, nbn'
ok "heat: operators" test "$(column heat/compare/compare.csv operator | sort | tr '\n' ' ')" = \
    "bsr bsrsym csr otf "
column heat/compare/compare.csv \
    status,error,error_bound,symmetry,dof_per_second,product_median_seconds,pcg_outcome,pcg_iterations,bytes_per_second,nominal_bytes_per_element >heat_figures
ok "heat: figures" awk -F, '
    $1 != "ok" || $2 == "" || $2 > $3 || $3 > 1e-5 || $4 > $3 || $7 != "converged" || $8 < 20 { exit 1 }
    $5 * $6 < 224.9 || $5 * $6 > 225.1 { exit 1 }
    { moved = 128 * ($10 + 40) + 225 * 16 }
    $9 * $6 < 0.999 * moved || $9 * $6 > 1.001 * moved { exit 1 }
    END { if (NR != 4) exit 1 }' heat_figures
status "heat: an operator without" 2 "--operators: 'ebe' does not support physics = \"heat\"" heat.cfg --operators otf,ebe
status "heat: --paper" 0 "" --paper heat.cfg mesh.nx=0 mesh.ny=0 mesh.nz=0 --sizes 6x3x3 --operators otf \
    --repeats 1 --output heat_paper
status "quadratic" 0 "" small.cfg solver.element=quadratic mesh.nx=4 mesh.ny=3 mesh.nz=2 --repeats 3 --output quadratic
ok "quadratic: said" contains stdout "24 elements, 60 nodes, 193 points, hex20"
ok "quadratic: those without are named" contains stdout "without quadratic elements: ebe, nbn, otf"
ok "quadratic: operators" test "$(column quadratic/compare.csv operator | sort | tr '\n' ' ')" = "bsr bsrsym csr "
# bytes that a product reads: blocks of 72 bytes, their columns and pointers; x and y
column quadratic/compare.csv \
    operator,status,error,error_bound,symmetry,dof_per_second,product_median_seconds,pcg_outcome,bytes_per_second,matrix_bytes,nominal_bytes_per_element >quadratic_figures
ok "quadratic: figures" awk -F, '
    $2 != "ok" || $3 == "" || $3 > $4 || $4 > 1e-5 || $5 > $4 || $8 != "converged" { exit 1 }
    $6 * $7 < 578.9 || $6 * $7 > 579.1 { exit 1 }
    { moved = 24 * $11 + 579 * 16 }
    $9 * $7 < 0.999 * moved || $9 * $7 > 1.001 * moved { exit 1 }
    $1 == "bsr" { slots = 24 * 400; if (24 * $11 + slots != $10) exit 1 }
    END { if (NR != 3) exit 1 }' quadratic_figures
status "quadratic heat" 0 "" heat.cfg solver.element=quadratic mesh.nx=4 mesh.ny=3 mesh.nz=2 \
    'sets=( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 3, 2]; }; } )' --no-pcg --repeats 3 --output quadratic_heat
ok "quadratic heat: said" contains stdout "24 elements, 60 nodes, 193 points, hex20, heat"
column quadratic_heat/compare.csv operator,status,error,error_bound,symmetry >quadratic_heat_figures
ok "quadratic heat: figures" awk -F, '
    $2 != "ok" || $3 == "" || $3 > $4 || $4 > 1e-5 || $5 > $4 { exit 1 }
    END { if (NR != 3) exit 1 }' quadratic_heat_figures
status "quadratic: an operator without" 2 "--operators: 'otf' does not support quadratic elements" small.cfg \
    solver.element=quadratic --operators otf

# The figures of P1 over sizes.
status "--paper" 0 "" --paper sized.cfg --sizes 6x3x3,8x4x4 --operators ebe --repeats 1 \
    --iterations 20 --output paper
for text in "Figures 11 to 14" "Table 3" "Figure 15" "97.5 to 99.4 %" "cantilever 8x4x4"; do
    ok "--paper shows $text" contains stdout "$text"
done
ok "--paper: both sizes" test "$(column paper/compare.csv size,elements | sort -u | tr '\n' ' ')" = \
    "6x3x3,54 8x4x4,128 "
column paper/compare.csv \
    stage_precomputation_seconds,stage_pcg_seconds,stage_compliance_seconds,stage_filter_seconds,stage_update_seconds,stage_output_seconds >stages
ok "--paper: stages" awk -F, '
    { for (i = 1; i <= 6; i++) if ($i !~ /^[0-9]/) exit 1 }
    !($1 > 0 && $2 > 0 && $3 > 0 && $4 > 0 && $5 > 0 && $6 > 0) { exit 1 }
    END { if (NR != 4) exit 1 }' stages
ok "--paper leaves no density" test -z "$(find paper -name '*.vtk*')"
if command -v gnuplot >/dev/null; then
    for name in compare compare_pcg compare_speedup compare_stages; do
        ok "$name.svg" contains "paper/$name.svg" "</svg>"
    done
fi

# Operators that do not fit are listed and skipped. (Sanitizers reserve more than any limit.)
if (ulimit -v 400000 && exec "$hextop" compare small.cfg --no-pcg --repeats 1) >/dev/null 2>&1; then
    (
        ulimit -v 400000
        OMP_NUM_THREADS=1 exec "$hextop" compare sized.cfg mesh.distort=0 mesh.nx=70 mesh.ny=35 \
            mesh.nz=35 --no-pcg --repeats 1 --operators ebe,nbn >stdout 2>stderr
    )
    got=$?
    ok "too large: exit status 2" test $got = 2
    ok "too large: in the table" contains stdout "ebe rowmajor: does not fit into memory: "
    ok "too large: the others are tried" contains stdout "nbn rowmajor: does not fit into memory: "
    ok "too large: why" contains stderr "no operator fits into memory"
    ok "too large: no plot" test "$(grep -c 'plotted in' stdout)" = 0
    ok "too large: in the file" test "$(grep -c '"skipped"' out/compare/compare.csv)" = 4
fi

# Bad usage.
status "unknown operator" 2 "--operators: unknown 'ebee', did you mean 'ebe'?" small.cfg --operators ebee
status "operator of a GPU" 2 "--operators: 'ebe64' " small.cfg --operators ebe64 solver.device=cpu
status "unwritable folder" 2 "--output: cannot write to 'small.cfg/x'" small.cfg --output small.cfg/x
status "unknown option" 2 "unknown option '--operator', did you mean '--operators'?" small.cfg \
    --operator ebe
status "no value" 2 "--repeats needs a value" small.cfg --repeats
status "bad number" 2 "--repeats 0: expected a whole number from 1" small.cfg --repeats 0
status "bad size" 2 "--sizes: '6' is not a size" sized.cfg --paper --sizes 1,6
status "size twice" 2 "--sizes: '16x8x8' is given twice" sized.cfg --paper --sizes 16x8x8,1,16x8x8
status "counts of the config" 2 "nx, ny and nz take precedence over the sizes" small.cfg --paper
status "sizes alone" 2 "--sizes needs --paper" sized.cfg --sizes 1
status "paper without PCG" 2 "leave --no-pcg out" sized.cfg --paper --no-pcg
status "density of another mesh" 2 "optimization.initial" small.cfg mesh.nx=9 \
    optimization.initial=densities/density_0001.vtk
n=$((n + 1))
"$hextop" run small.cfg --paper >stdout 2>stderr
[ $? = 2 ] || failed=$((failed + 1))
ok "option of another command" contains stderr "--paper is an option of \`hextop compare\`"
"$hextop" help compare >stdout
ok "help shows options" contains stdout "--all-devices"

echo "$n checks, $failed failed"
[ $failed = 0 ]
