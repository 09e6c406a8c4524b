#!/bin/sh
# Builds hextop twice and runs the tests: all of them in a normal build with warnings as errors, and
# the quick ones again in a build with the address and undefined-behaviour sanitizers.
#   sh tests/run.sh
#   sh tests/run.sh quick   about two minutes: format, the tests of the tree, and those of the rooms that changed since HEAD,
#                           in build-quick, which the first call sets up; clang-tidy over changed sources
# The last line is "N passed, N failed, N skipped" over both; the exit status is 0 if none failed.
set -u
cd "$(dirname "$0")/.." || exit 1
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
# If python3 is a script of a version manager, it takes half a second of CPU time at each start. More than a hundred tests and
# the calls of shell scripts start it, so the interpreter that it finds comes first.
if [ "$(head -c 2 "$(command -v python3)" 2>/dev/null)" = '#!' ]; then
    PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
fi
# Several tests run at a time and their meshes are small, so waiting threads should not spin.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"

passed=0 failed=0 skipped=0 logs=

finish() {
    status=0
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] || status=1
    # shellcheck disable=SC2086
    [ "$status" -eq 0 ] || python3 tests/failed.py $logs
    echo "$passed passed, $failed failed, $skipped skipped"
    exit "$status"
}

# Counts the lines (tests) with one of the results $2 (a pattern) in the log that Meson writes.
count() {
    grep -cE "\"result\": \"($2)\"" "$1"
}

# Reuses the folder of an earlier run, unless another Meson made it or it is incomplete.
configure() {
    folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        meson setup --reconfigure "$folder" "$@" && return
    fi
    rm -rf "$folder"
    meson setup "$folder" "$@"
}

# build_and_test FOLDER "TEST OPTIONS" SETUP OPTIONS...
build_and_test() {
    folder=$1 test_options=$2
    shift 2
    echo "=== $folder: $*"
    if ! configure "$folder" "$@" || ! meson compile -C "$folder"; then
        echo "error: $folder could not be built"
        failed=$((failed + 1))
        return
    fi
    log=$folder/meson-logs/testlog.json
    rm -f "$log"
    logs="$logs $log"
    # shellcheck disable=SC2086
    meson test -C "$folder" --print-errorlogs $test_options
    status=$?
    if [ ! -s "$log" ]; then
        echo "error: no test ran in $folder"
        failed=$((failed + 1))
        return
    fi
    n_failed=$(count "$log" 'FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS|INTERRUPT')
    [ "$status" -eq 0 ] || [ "$n_failed" -gt 0 ] || n_failed=1
    passed=$((passed + $(count "$log" 'OK|EXPECTEDFAIL')))
    skipped=$((skipped + $(count "$log" 'SKIP|IGNORED')))
    failed=$((failed + n_failed))
}

# Other versions of clang-format break lines differently.
check_format() {
    echo "=== format"
    if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
        echo "skipped: clang-format 14 is not installed"
        skipped=$((skipped + 1))
    elif find app core examples filters gpu lib tests -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) \
        -exec clang-format --dry-run --Werror {} +; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

# Runs after a build, which generates headers. Checks only changed sources, and few of them, because each
# takes seconds.
check_tidy() {
    echo "=== clang-tidy"
    python3 tests/tree/tidy.py build-quick --since HEAD --most 20
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
}

quick() {
    if ! configure build-quick -Dcuda=disabled -Dwerror=true || ! names=$(python3 tests/quick.py build-quick); then
        failed=1
        return
    fi
    set --
    while read -r name; do set -- "$@" "$name"; done <<END
$names
END
    log=build-quick/meson-logs/testlog.json logs=$log
    rm -f "$log"
    meson test -C build-quick --print-errorlogs "$@" || [ -s "$log" ] || failed=1
    [ -s "$log" ] || return
    failed=$((failed + $(count "$log" 'FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS|INTERRUPT')))
    passed=$((passed + $(count "$log" 'OK|EXPECTEDFAIL')))
    skipped=$((skipped + $(count "$log" 'SKIP|IGNORED')))
}

if [ "${1:-}" = quick ]; then
    check_format
    quick
    check_tidy
    finish
elif [ $# -gt 0 ]; then
    echo "usage: sh tests/run.sh [quick]" >&2
    exit 2
fi
if ! sh tests/install_deps.sh test; then
    failed=1
    finish
fi
check_format
# 150 programs are linked, each with most of the library. gold, which comes with binutils, links them in half the time.
cuda_link_args=
if command -v ld.gold >/dev/null 2>&1 && printf 'int main(void) { return 0; }\n' |
    ${CC:-cc} -x c -fuse-ld=gold -o /dev/null - >/dev/null 2>&1; then
    export CC_LD="${CC_LD:-gold}"
    if command -v nvcc >/dev/null 2>&1; then cuda_link_args="-Dcuda_link_args=-Xcompiler=-fuse-ld=$CC_LD"; fi
fi
# Without a GPU, its code is compiled but not run, so it need not be fast.
gpu_optimise=false
if nvidia-smi -L >/dev/null 2>&1; then gpu_optimise=true; fi
# shellcheck disable=SC2086
build_and_test build-test "" -Dwerror=true -Dgpu_optimise=$gpu_optimise $cuda_link_args
# The part of -O2 that makes sanitized loops as fast as -O2 does, in half the compile time. A finding of UBSan ends the program
# with an illegal instruction, and the address sanitizer prints its line: a text per check would be two thirds of the program to
# compile, link and load. Null pointers and accesses beyond an object are left to the address sanitizer: checking them twice
# would take a tenth of the compile time.
sanitized_args="-g1 -fno-sanitize=null,object-size" sanitizers=address,undefined
if ${CC:-cc} --version 2>/dev/null | grep -q 'Free Software'; then
    # Programs that trap do not need UBSan's library, whose six megabytes the leak sanitizer would read at the end of
    # every process.
    sanitizers=address
    sanitized_args="-g1 -fsanitize=undefined -fsanitize-undefined-trap-on-error -fexpensive-optimizations -ftree-pre -ftree-vrp -fstrict-aliasing"
fi
build_and_test build-asan "--suite quick --timeout-multiplier 4" -Doptimization=1 -Ddebug=true \
    "-Dc_args=$sanitized_args" -Db_sanitize=$sanitizers -Dfault_injection=true -Dcuda=disabled -Dwerror=true
finish
