#!/bin/sh
# hextop selftest on the CPU passes, as table and JSON; with -q it prints nothing; if a check fails, it exits with
# status 1 and prints the line.
#     test_selftest.sh HEXTOP [SOURCE [DEVICE]]
# On another DEVICE: passes there; 77 where it cannot run.
set -u
hextop=$(realpath "$1")
device=${3:-cpu}
export OMP_NUM_THREADS=1
. "$(dirname "$0")/../lib/counting.sh"

export TMPDIR=$work/tmp
mkdir "$TMPDIR"
if [ "$device" != cpu ]; then
    if ! "$hextop" list | grep -qE "^  $device +yes "; then
        "$hextop" list | grep -E "^  $device " || echo "no device $device in this build"
        echo "SKIPPED: device $device cannot run here"
        exit 77
    fi
    unset OMP_NUM_THREADS
    ok "selftest" "$hextop" selftest --device "$device"
    ok "sum" grep -qE "^[0-9]+ checks, 0 failed, [0-9.]+ s on $device \(.*\)" stdout
    ok "filter sensitivity" grep -qE "^  sensitivity, hexahedra +all pairs .* ok " stdout
    grep FAILED stdout
    echo "$n checks, $failed failed"
    [ $failed = 0 ]
    exit
fi
ok "selftest" "$hextop" selftest --device cpu -o self.json
ok "sum" grep -qE '^[0-9]+ checks, 0 failed, [0-9.]+ s on cpu \(.*\)$' stdout
ok "no failure" sh -c '! grep -q FAILED stdout'
ok "nothing on stderr" test ! -s stderr
ok "lines of at most 120 columns" sh -c '! grep -qE "^.{121}" stdout'
ok "no file left" test -z "$(ls "$TMPDIR")"
for operator in $("$hextop" list | awk '$2 == "cpu" && $3 == "yes" { print $1 }'); do
    ok "operator $operator" grep -qE "^  $operator  +K u summed on the host .* ok " stdout
done
for title in Preconditioners Filters; do
    ok "$title of the registry" test "$(kinds $title | wc -l)" -ge 2
done
for part in $(kinds Preconditioners); do
    ok "preconditioner $part" grep -qE "^  $part, hexahedra +u of CG on the host .* ok " stdout
done
for part in $(kinds Filters); do
    ok "filter $part" grep -qE "^  $part, hexahedra +(all pairs|dense solution|nothing changes) .* ok " stdout
done
ok "JSON" python3 - <<'END'
import json
result = json.load(open("self.json"))
lines = result["lines"]
assert result["checks"] == len(lines) > 100 and result["failed"] == 0, result["checks"]
assert all(line["passed"] and line["error"] <= line["bound"] for line in lines)
assert {line["device"] for line in lines} == {"cpu", "host"}
END

ok "nowhere to write" sh -c 'TMPDIR=/nowhere "$1" -q selftest --device cpu >fails.txt; test $? = 1' sh "$hextop"
ok "a line of each that failed" test "$(grep -c FAILED fails.txt)" = 5
ok "why" contains fails.txt "/nowhere: cannot create a folder here"
ok "the sum" grep -q "checks, 5 failed" fails.txt
ok "nothing else" sh -c '! grep -q " ok " fails.txt'
for words in '--device gpu' '--memory much' 'part.cfg'; do
    # shellcheck disable=SC2086
    "$hextop" selftest $words >stdout 2>stderr
    ok "$words: refused" test $? = 2
    ok "$words: prints it" test -s stderr
done

echo "$n checks, $failed failed"
[ $failed = 0 ]
