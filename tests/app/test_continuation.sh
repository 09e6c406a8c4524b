#!/bin/sh
# Runs with filtered densities, projection and increasing penalty: volume, columns, messages, when they stop, and that
# config.cfg repeats them.
#     test_continuation.sh HEXTOP
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/scratch.sh"

cat >small.cfg <<'END'
mesh = { generator = "cantilever"; nx = 12; ny = 6; nz = 4; distort = 0.1; };
supports = ( { set = "left"; fix = "xyz"; } );
loads = ( { set = "right-lower-edge"; total_force = [0.0, 0.0, -1.0]; } );
sets = ( { name = "mount"; box = { min = [0, 0, 0]; max = [1, 6, 4]; }; } );
passive = ( { set = "mount"; density = 1.0; } );
optimization = { volume_fraction = 0.4; rho_min = 0.01; iterations = 12;
                 filter = { kind = "density"; radius = 2.0; }; };
solver = { device = "cpu"; };
output = { directory = "out"; every = 0; };
END

# column FOLDER NAME: a column of the history.
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i }
                          NR > 1 { print $k }' "$1/history.csv" | tr '\n' ' '
}

# says FILE TEXT
says() {
    grep -qF -- "$2" "$1" || fault "$1 does not say: $2"
}

# met FOLDER: every analysed design meets the target volume.
met() {
    column "$1" volume | tr ' ' '\n' |
        awk 'NF { n++; if ($1 !~ /^0[.][0-9]+$/ || $1 - 0.4 > 1e-5 || 0.4 - $1 > 1e-5) bad = 1 }
             END { exit !(n > 0 && !bad) }' || fault "$1: volume $(column "$1" volume)"
}

run() {
    folder=$1
    shift
    "$hextop" run small.cfg output.directory="$folder" "$@" >"$folder.txt" 2>"$folder.err" ||
        fault "$folder does not run: $(cat "$folder.err")"
}

n_filter=0 n_projected=0
for kind in $(kinds Filters); do
    n_filter=$((n_filter + 1))
    run $kind optimization.filter.kind=$kind optimization.continuation.every=3
    met $kind
    [ "$(column $kind penalty)" = "1 1 1 1.5 1.5 1.5 2 2 2 2.5 2.5 2.5 " ] ||
        fault "$kind: penalty $(column $kind penalty)"
    [ "$(column $kind beta)" = "0 0 0 0 0 0 0 0 0 0 0 0 " ] || fault "$kind: beta"
    says $kind.txt "schedule  penalty 1 to 3 by 0.5 every 3 iterations"
    says $kind.txt "penalty 1.5 from here on"
    says $kind.txt ", greyness "
    says $kind.err "ends the run before penalty reaches its final value, which may take 12"
    grep -q "\"filter\": \"$kind\"" $kind/summary.json || fault "$kind: summary.json has no filter"
done

for kind in $(kinds Filters); do
    if ! "$hextop" check small.cfg optimization.filter.kind="$kind" optimization.projection.every=3 >check.txt 2>check.err; then
        says check.err "filter '$kind' does not change the densities; a projection needs filtered ones"
        continue
    fi
    n_projected=$((n_projected + 1))
    run p$kind optimization.filter.kind=$kind optimization.projection.every=3 \
        optimization.projection.beta_max=5 optimization.filter.volume_weighted=true
    met p$kind
    [ "$(column p$kind beta)" = "1 1 1 2 2 2 4 4 4 5 5 5 " ] || fault "beta $(column p$kind beta)"
    [ "$(column p$kind penalty)" = "3 3 3 3 3 3 3 3 3 3 3 3 " ] || fault "p$kind: penalty"
    says p$kind.txt "penalty 3, beta 2 from here on"
    says p$kind.txt "projected at eta 0.5, beta 1"
    grep -q "ends the run before" p$kind.err && fault "p$kind warns: $(cat p$kind.err)"
    grep -q '"beta": 5' p$kind/summary.json || fault "p$kind: beta in summary.json"
    "$hextop" -q run p$kind/config.cfg output.directory=again || fault "config.cfg does not run"
    for name in compliance volume greyness penalty beta; do
        [ "$(column again $name)" = "$(column p$kind $name)" ] || fault "$kind again: $name differs"
    done
    sed 1d p$kind/config.cfg >a && sed 1d again/config.cfg | sed "s/\"again\"/\"p$kind\"/" >b
    cmp a b || fault "config.cfg is no fixed point"
done
[ $n_filter -ge 2 ] && [ $n_projected -ge 2 ] || fault "$n_filter filters, $n_projected with a projection"

# A design that changes by less than the tolerance takes the next step of the schedule at once; the run ends only
# after the last step. In this run every design changes so little.
run early optimization.change_tolerance=0.9 optimization.move=1 optimization.projection.every=4 \
    optimization.projection.beta_max=4 optimization.continuation.every=100 optimization.iterations=100
[ "$(column early beta)" = "1 2 4 4 4 " ] || fault "early: beta $(column early beta)"
[ "$(column early penalty)" = "1 1.5 2 2.5 3 " ] || fault "early: penalty $(column early penalty)"
met early

"$hextop" check small.cfg optimization.continuation.every=9 >check.txt 2>check.err ||
    fault "check fails"
says check.txt "penalty 1 to 3 by 0.5 every 9 iterations"
says check.txt "1 warning"
says check.err "which may take 36 iterations"
echo "$failed failed"
[ $failed = 0 ]
