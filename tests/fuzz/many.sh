#!/bin/sh
# Runs a folder that build.sh made, on a machine that needs neither clang nor this tree's libraries:
#   sh tests/fuzz/many.sh FOLDER SECONDS JOBS [SEED]
# Runs JOBS processes for SECONDS each, over all targets; a process that found a fault is restarted. Prints executions
# by target, and collects crashing inputs, their logs, and inputs that reached new code in FOLDER/back.tar.gz. Exit
# status 1 if a fault was found, or if nothing ran.
set -u
folder=$1 seconds=$2 jobs=$3 seed=${4:-0}
LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
rm -rf "$folder/crash" "$folder/new" "$folder/log"
mkdir -p "$folder/crash" "$folder/new" "$folder/log"
end=$(($(date +%s) + seconds))

run() { # target, number
    round=0
    mkdir -p "$folder/new/$1.$2"
    while left=$((end - $(date +%s))) && [ "$left" -gt 2 ] && [ "$round" -lt 40 ]; do
        round=$((round + 1))
        HX_FUZZ_TARGET=$1 "$folder/fuzz_all" -seed=$((seed * 10000 + $2 * 100 + round)) -max_total_time=$left -max_len=20000 -timeout=20 \
            -rss_limit_mb=2500 -dict="$folder/all.dict" -artifact_prefix="$folder/crash/$1-" -print_final_stats=1 \
            "$folder/new/$1.$2" "$folder/corpus/$1" >"$folder/log/$1.$2.$round" 2>&1
    done
}

# Targets with most inputs run more often.
order="config loads mesh results checkpoint triangles models mesh loads config mesh results"
job=0
while [ "$job" -lt "$jobs" ]; do
    for target in $order; do
        [ "$job" -lt "$jobs" ] || break
        job=$((job + 1))
        run "$target" "$job" &
    done
done
wait

for target in config loads mesh models triangles results checkpoint; do
    cat "$folder"/log/$target.* 2>/dev/null | awk -v t=$target '
        /^stat::number_of_executed_units:/ { n += $2 } END { printf "%-12s %12d executions\n", t, n }'
done
grep -h "SUMMARY" "$folder"/log/* | sort | uniq -c
n_crash=$(find "$folder/crash" -type f | wc -l)
echo "$n_crash inputs in crash"
for log in "$folder"/log/*; do # of the other logs, the end is enough
    grep -q SUMMARY "$log" || { tail -n 30 "$log" >"$log.end" && mv "$log.end" "$log"; }
done
(cd "$folder" && tar czf back.tar.gz crash log new)
n_run=$(grep -l '^stat::number_of_executed_units: *[1-9]' "$folder"/log/* | wc -l)
[ "$n_run" -gt 0 ] || echo "nothing ran: $(head -q -n 1 "$folder"/log/* | head -n 1)"
[ "$n_crash" -eq 0 ] && [ "$n_run" -gt 0 ]
