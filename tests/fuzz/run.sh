#!/bin/sh
# Fuzzes the functions that read input, one target after the other:
#   sh tests/fuzz/run.sh [SECONDS [FOLDER [SEED]]]   SECONDS in all, 60
# The seed is 1 unless given, so that a test of one tree tries the same inputs each time, as far as SECONDS allow.
# Longer runs with other seeds (0: from the clock; many.sh) search for new faults. Builds the fuzzer (build.sh) and
# runs libFuzzer. Inputs that reach new code are added to FOLDER/corpus for the next run. An input that crashes,
# leaks, or takes more than 20 s or 2 GB is stored in FOLDER/crash, and can be run by itself: HX_FUZZ_TARGET=TARGET
# FOLDER/fuzz_all FOLDER/crash/TARGET-... (HX_FUZZ_TARGET=mesh HX_FUZZ_ENDING=.xml: only one reader). Once the fault
# is fixed, the input is kept as tests/fuzz/found/TARGET/WHAT.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-60} folder=${2:-out/fuzz} seed=${3:-1}
sh tests/fuzz/build.sh "$folder" || exit $?
mkdir -p "$folder/crash"
targets="config loads mesh models triangles results checkpoint"
failed=0
for target in $targets; do
    log=$folder/$target.log
    # seeds that take long are read first and also count: at most half as long again
    timeout $((seconds / 7 * 3 + 60)) env HX_FUZZ_TARGET="$target" "$folder/fuzz_all" -seed="$seed" -max_total_time=$((seconds / 7 + 1)) \
        -max_len=20000 -timeout=20 -rss_limit_mb=2000 -dict="$folder/all.dict" -artifact_prefix="$folder/crash/$target-" \
        -print_final_stats=1 "$folder/corpus/$target" >"$log" 2>&1
    status=$?
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: ${n:-0} inputs, exit $status"
    if [ "$status" -ne 0 ] || [ "${n:-0}" -lt 30 ]; then
        tail -n 60 "$log"
        failed=1
    fi
done
exit "$failed"
