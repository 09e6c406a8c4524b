#!/bin/sh
# The tests of matrices on a GPU under compute-sanitizer, a line each: what the tool found, or the
# first lines of its report.
#   sh tests/gpu/sanitize.sh [BUILD [LOGS]]      BUILD: build folder (build-gpu); LOGS: a new one
# LIMIT: seconds a test (150); TOOLS: "memcheck racecheck synccheck", or other tools of it.
# Exit status 0: no errors; 1: errors, a failed test, or one without a verdict (out of time, say);
# 77: no GPU or no compute-sanitizer that works with it.
set -u
build=${1:-build-gpu} limit=${LIMIT:-150} failed=0 n_run=0
logs=${2:-$(mktemp -d)}
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || {
    echo "skipped: no compute-sanitizer"
    exit 77
}
[ -x "$build/tests/test_matrix" ] || {
    echo "no tests in $build"
    exit 1
}
mkdir -p "$logs" || exit 1
can_exclude=$(compute-sanitizer --help 2>/dev/null | grep -m 1 -e '--kernel-name-exclude' || true)

# "N errors", from the last summary of a log; nothing if there is none.
count_errors() {
    sed -n -e 's/^=* *ERROR SUMMARY: \([0-9]* errors*\).*/\1/p' \
        -e 's/^=* *RACECHECK SUMMARY:.*(\([0-9]* errors*\),.*/\1/p' "$1" | tail -n 1
}

# The first lines of the report and of failed checks; of a log without them its end.
show() {
    grep -e '^=========' -e 'failed' "$1" | grep -v 'COMPUTE-SANITIZER' >"$logs/report"
    [ -s "$logs/report" ] || tail -n 5 "$1" >"$logs/report"
    head -n 20 "$logs/report" | sed 's/^/    /'
    echo "    ... $1"
}

examine() { # examine TOOL TEST ARGUMENTS...
    tool=$1 name=$2
    shift 2
    log=$logs/$tool-$(echo "$name $* $kernels" | tr -c 'A-Za-z0-9\n' -).log
    [ -x "$build/tests/$name" ] || {
        echo "$tool $name: not built"
        return
    }
    api=
    # What a call of CUDA says is the program's to judge: it asks for memory that may not be there.
    [ "$tool" != memcheck ] || api="--report-api-errors no"
    # CUB's kernels take most of racecheck's time, and are not ours.
    only=${kernels:+--kernel-name kns=$kernels}
    [ "$tool" != racecheck ] || [ -z "$can_exclude" ] || [ -n "$only" ] ||
        only="--kernel-name-exclude kns=cub"
    begin=$(date +%s)
    # shellcheck disable=SC2086 # none, or two words each
    timeout -k 10 "$limit" compute-sanitizer --tool "$tool" $api $only --error-exitcode 99 \
        "$build/tests/$name" "$@" >"$log" 2>&1
    rc=$?
    took=$(($(date +%s) - begin))
    if grep -q 'Device not supported' "$log"; then
        echo "skipped: compute-sanitizer says that the device is not supported"
        exit 77
    fi
    [ "$rc" != 77 ] || {
        echo "$tool $name: skipped, $(grep -i -m 1 skip "$log")"
        return
    }
    n_run=$((n_run + 1))
    found=$(count_errors "$log")
    if [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
        verdict="not done in $limit s"
    elif [ -z "$found" ]; then
        verdict="no summary, exit status $rc"
    elif [ "$rc" != 0 ] && [ "$rc" != 99 ]; then
        verdict="$found, but the test fails with $rc"
    elif [ "$rc" = 99 ] || [ "${found% *}" != 0 ]; then
        verdict=$found
    else
        echo "$tool $name${*:+ $*}${kernels:+ ($kernels)}: $found, $took s"
        return
    fi
    failed=1
    echo "$tool $name: $verdict"
    show "$log"
}

# Under racecheck whole tests of matrices take too long: the fill gather of small meshes of each
# kind, and of the tests the kernels of lower products.
races() {
    examine racecheck test_device_pattern cuda quick
    examine racecheck matrix/fillbench cuda 8 8 8 hex
    examine racecheck matrix/fillbench cuda 6 6 6 tet
    for kind in hex tet wedge layers; do
        examine racecheck matrix/fillbench cuda 4 4 4 "$kind" quadratic
    done
    for kernels in runs_kernel list_kernel; do
        examine racecheck test_matrix cuda quick
    done
    kernels=
}

kernels= # of a test that are watched, part of their name; empty: all
for tool in ${TOOLS:-memcheck racecheck synccheck}; do
    if [ "$tool" = racecheck ]; then
        races
        continue
    fi
    for test in device_pattern matrix fill_kinds assembled; do
        examine "$tool" "test_$test" cuda quick
    done
done
[ "$failed" = 0 ] || exit 1
[ "$n_run" != 0 ] || exit 77
