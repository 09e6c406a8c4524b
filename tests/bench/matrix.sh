#!/bin/sh
# Measures the figures on matrices in the documents: pattern, fills and products of hextop, the tables
# of the papers (by paperbench of the same build), and the same with other libraries.
#   sh tests/bench/matrix.sh HEXTOP FOLDER [cuda | cpu]
# Writes one log per step to FOLDER. On a GPU this takes some minutes: BUDGET (480) limits the seconds
# of all steps together, and steps that do not fit are reported and skipped; each step also has a
# limit of its own. On a CPU the meshes are small. Exit status 1 if a step failed or was skipped.
set -u
hextop=$1 papers=$(dirname "$1")/../tests/bench/paperbench out=$2 device=${3:-cuda} failed=0
cd "$(dirname "$0")/../.." || exit 1
mkdir -p "$out" || exit 1
end=$(($(date +%s) + ${BUDGET:-480}))

if [ "$device" = cpu ]; then
    box='mesh.nx=40 mesh.ny=20 mesh.nz=10' large='mesh.nx=40 mesh.ny=20 mesh.nz=20'
    operators=otf,bsr,bsrsym,csr peers=20,20,20
else
    box='mesh.nx=200 mesh.ny=100 mesh.nz=50' large='mesh.nx=320 mesh.ny=160 mesh.nz=160'
    operators=otf,bsr,bsr32,bsrsym,csr,ell,coo,sym,ebe24 peers=100,100,100
fi
config="configs/cantilever.cfg mesh.distort=0.2 solver.device=$device"

step() { # step NAME SECONDS COMMAND...: prints a verdict and the time; the log has the output
    name=$1 limit=$2 begin=$(date +%s)
    shift 2
    left=$((end - begin))
    [ "$limit" -le "$left" ] || limit=$left
    if [ "$limit" -lt 1 ]; then
        echo "=== $name: left out, no time"
        failed=1
        return
    fi
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1
    rc=$?
    took=$(($(date +%s) - begin))
    if [ "$rc" = 0 ]; then
        echo "=== $name: $took s"
    elif [ "$rc" = 77 ]; then
        echo "=== $name: $(tail -n 1 "$out/$name.log")"
    elif [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
        echo "=== $name: not done in $limit s"
        failed=1
    else
        echo "=== $name: FAILED with $rc"
        tail -n 5 "$out/$name.log"
        failed=1
    fi
}

# stage WORD: median and range of a line's time over the logs of separate processes.
stage() {
    sed -n "s/^$1  *\([a-z-]*\)  *\([0-9.e+-]*\) \(m*s\).*/\1 \2 \3/p" "$out"/matrix-[1-5].log |
        awk '{ print ($3 == "ms" ? $2 : 1e3 * $2), $1 }' | sort -g |
        awk -v word="$1" '{ t[NR] = $1; name = $2 }
            END { if (NR) printf "%-10s %s %.4g ms (%.4g to %.4g, %d processes)\n", word, name,
                      t[int((NR + 1) / 2)], t[1], t[NR], NR }'
}

# shellcheck disable=SC2086 # words
{
    rm -f "$out"/matrix-[1-5].log
    for i in 1 2 3 4 5; do step matrix-$i 15 "$hextop" matrix $config $box; done
    for word in pattern values; do stage $word; done | tee "$out/matrix.txt"
    step compare 40 "$hextop" compare $config $box --operators $operators --no-pcg \
        --output "$out/compare"
    step peers 90 python3 tests/bench/matrix_peers.py "$hextop" "$out/peers" --n $peers \
        --device "$device"
    step bench-all 60 "$hextop" matrix $config $box --bench all
    step compare-large 70 "$hextop" compare $config $large --operators $operators --no-pcg \
        --output "$out/compare-large"
    for paper in p2 p3 p4 p5; do step bench-$paper 180 "$papers" $config --papers $paper; done
}
exit "$failed"
