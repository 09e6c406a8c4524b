#!/bin/sh
# The soak test: for each seed, 40 random configs run in one process through the library, round after round on a GPU.
# Every result is compared with one computed before on the CPU, and the memory of process and device must not grow.
#     sh tests/soak/run.sh BUILD SECONDS [-d DEVICE] [-n CONFIGS] [-m ELEMENTS] [-s] [-v] SEED...
# BUILD is built with CUDA (or -d cpu: then results are compared with those of other operators, preconditioners and
# numbers of threads). Rounds begin during SECONDS, at least three, on a GPU at least 32 (3 minutes), because a driver
# allocates memory in steps. -s if others use the device, -v for one line per config.
# The CPU's results are computed first, by half as many processes as there are cores. An H200 with 16 cores and -m
# 2500 takes less than 4 minutes per seed.
set -u
build=$1 seconds=$2 device=cuda n=40 most=16000 shared= each=
shift 2
while [ $# -gt 0 ]; do
    case $1 in
    -d) device=$2 && shift 2 ;;
    -n) n=$2 && shift 2 ;;
    -m) most=$2 && shift 2 ;;
    -s) shared=--shared && shift ;;
    -v) each=-v && shift ;;
    *) break ;;
    esac
done
here=$(cd "$(dirname "$0")" && pwd)
soak=$build/tests/soak/soak
rounding=$build/tests/soak/rounding
[ -x "$soak" ] && [ $# -gt 0 ] || { echo "usage: run.sh BUILD SECONDS [-d DEVICE] [-n CONFIGS] [-m ELEMENTS] [-s] [-v] SEED..." >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
# otherwise freed memory counts as used: in a thread's cache, and in one arena per thread (8 per core), whose ends
# malloc_trim keeps
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1
failed=0
rounds=3
[ "$device" = cpu ] || rounds=32 # a pool that fills gives a step, and the first rounds show nothing else
parts=$(($(nproc) / 2))
[ "$parts" -ge 1 ] || parts=1
for seed in "$@"; do
    echo "=== seed $seed, $device"
    folder=$work/$seed
    python3 "$here/generate.py" "$build/app/hextop" "$here/../.." "$folder" "$seed" "$n" "$most" || exit 1
    list=fast
    [ "$device" != cpu ] || list=twins
    part=0 processes=
    while [ $part -lt "$parts" ]; do
        mkdir -p "$folder/cpu$part"
        (OMP_NUM_THREADS=2 "$soak" "$folder/$list" cpu "$folder/cpu$part" 1 0 $part "$parts" >"$folder/log$part" 2>&1
        status=$?
        OMP_NUM_THREADS=2 "$rounding" "$folder/fast" "$folder/cpu$part" $part "$parts" && exit $status) &
        processes="$processes $!"
        part=$((part + 1))
    done
    for process in $processes; do
        wait "$process" || failed=$((failed + 1))
    done
    grep -hv ' 0 failed$' "$folder"/log*
    "$soak" "$folder/list" "$device" "$folder/out" "$rounds" "$seconds" || failed=$((failed + 1))
    limit=4096
    [ "$device" = cpu ] || limit=65536 # the driver's own
    python3 "$here/compare.py" "$folder/list" "$folder"/cpu[0-9]* "$folder/out" --flat $limit $shared $each || failed=$((failed + 1))
done
[ $failed = 0 ]
