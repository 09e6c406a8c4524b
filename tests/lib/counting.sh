# shellcheck shell=sh
# Sourced by tests of the program that count what they check: scratch.sh, and checks by commands. Needs
# $hextop.
. "$(dirname "$0")/../lib/scratch.sh"
n=0

# ok WHAT COMMAND...: the command must succeed.
ok() {
    what=$1
    shift
    n=$((n + 1))
    "$@" >"$work/out.txt" 2>"$work/err.txt"
    status=$?
    if [ "$1" = "$hextop" ]; then # its output, for the checks that follow
        cp "$work/out.txt" "$work/stdout"
        cp "$work/err.txt" "$work/stderr"
    fi
    [ $status = 0 ] && return 0
    failed=$((failed + 1))
    echo "failed: $what"
    sed 's/^/    /' "$work/out.txt" "$work/err.txt"
}

# near A B TOLERANCE: relative difference. A value that is not a finite number is near nothing: some awks take NaN <= 1
# for true.
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN {
        number = "^[-+]?[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?$"
        d = a - b; if (d < 0) d = -d; if (b < 0) b = -b
        print a, b, d; exit !(a ~ number && b ~ number && b != 0 && d <= t * b)
    }'
}

if near nan 1 1 >/dev/null || near 1 nan 1 >/dev/null || near inf inf 1 >/dev/null || near '' 1 2 >/dev/null; then
    failed=$((failed + 1))
    echo "failed: near takes what is no number"
fi

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1"; }
