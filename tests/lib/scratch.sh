# shellcheck shell=sh
# Sourced by tests of the program. Provides a scratch folder to work in, which is removed at the end,
# and a count of failed checks. Paths in arguments are made absolute first; tests_lib is the folder of
# this file.
tests_lib=$(cd "$(dirname "$0")/../lib" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# kinds TITLE: the names that `hextop list` prints under a title, such as Filters, Preconditioners or Generators.
kinds() { "$hextop" list | sed -n "/^$1\\( (.*)\\)*\$/,/^\$/s/^  \\([a-z0-9_-]*\\) .*/\\1/p"; }

# fault WHAT: reports a failed check.
fault() {
    failed=$((failed + 1))
    echo "$1"
}
