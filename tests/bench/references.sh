#!/bin/sh
# Deterministic runs in which a change that moves code must preserve every bit: four configs and three parts, ten
# designs each, on the CPU with 1 and 2 threads or on a GPU.
#   sh tests/bench/references.sh HEXTOP FOLDER [cpu | cuda]
# FOLDER gets one folder per run with densities (VTK), history.csv without its seconds, and config.cfg. Compare
# two
# such folders by `diff -r`; runs with 1 and 2 threads within a folder are compared here.
set -eu
hextop=$1 out=$2 device=${3:-cpu}
cd "$(dirname "$0")/../.."
mkdir -p "$out"

run() { # run NAME THREADS CONFIG
    folder=$out/$1-$2
    OMP_NUM_THREADS=$2 "$hextop" run -q "$3" solver.device="$device" solver.deterministic=true \
        optimization.iterations=10 output.every=5 output.directory="$folder"
    # Columns of seconds and the folder's name differ from run to run.
    awk -F, -v OFS=, '
        NR == 1 { for (i = 1; i <= NF; i++) drop[i] = $i ~ /^seconds/ }
        { line = ""; for (i = 1; i <= NF; i++) if (!drop[i]) line = line (line == "" ? "" : OFS) $i; print line }
    ' "$folder/history.csv" >"$folder/history"
    grep -v 'directory *=' "$folder/config.cfg" >"$folder/config"
    rm "$folder/history.csv" "$folder/config.cfg" "$folder/summary.json" "$folder/run.log"
    rm -f "$folder"/checkpoint* # only written by runs that take a while
}

for config in configs/cantilever.cfg configs/lbeam.cfg configs/michell.cfg configs/conrod.cfg \
    examples/bracket/bracket.cfg examples/hook/hook.cfg examples/bell-crank/bell-crank.cfg; do
    name=$(basename "$config" .cfg)
    run "$name" 2 "$config"
    if [ "$device" = cpu ]; then
        run "$name" 1 "$config"
        sed -i '/threads/d' "$out/$name-1/config" "$out/$name-2/config"
        diff -rq "$out/$name-1" "$out/$name-2"
    fi
    echo "$name: $(tail -n 1 "$out/$name-2/history" | cut -d, -f1-3)"
done
