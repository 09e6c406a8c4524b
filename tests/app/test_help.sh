#!/bin/sh
# hextop help: commands with their own options, everything about a key, any word, and similar names.
#     test_help.sh HEXTOP SRCDIR
set -u
hextop=$(realpath "$1")
. "$(dirname "$0")/../lib/counting.sh"
lacks() { ! grep -qF -- "$2" "$1"; }
is_empty() { [ ! -s "$1" ]; }

# Each command has its own options and one line with the common ones, but no options of other commands.
for command in $("$hextop" help | sed -n 's/^  hextop \([a-z]*\) .*/\1/p'); do
    ok "help $command" "$hextop" help "$command"
    ok "$command: one line of common options" test "$(grep -c -e '-q, --quiet; -v, --verbose; ' stdout)" = 1
    ok "$command: none of them explained" lacks stdout "prints only errors and warnings"
    [ "$command" = surface ] || ok "$command: not surface's" lacks stdout "--keep-largest"
done
ok "surface" "$hextop" help surface
ok "its own" contains stdout "--keep-largest"
ok "mesh" "$hextop" help mesh
ok "a command names the keys of its group" contains stdout "mesh.element_size"
ok "help" "$hextop" help
ok "explains common options" contains stdout "prints only errors and warnings"

# One key.
ok "a key" "$hextop" help penalty
for text in "optimization.penalty: SIMP exponent" "  type      number" "  range     [1, 20]" "  default   3.0" \
    "  example   optimization = { penalty = 3.0; };" "  argument  optimization.penalty=3.0" "rho_min, move"; do
    ok "penalty: $text" contains stdout "$text"
done
ok "a key of a list" "$hextop" help 'loads[].total_force'
cp stdout total.txt
for name in total_force loads.total_force 'loads[2].total_force'; do
    ok "as $name" "$hextop" help "$name"
    ok "the same" cmp stdout total.txt
done
ok "its unit" contains stdout "  unit      force"
ok "its example" contains stdout "  example   loads = ( { total_force = [0.0, 0.0, -1000.0]; } );"
ok "its argument" contains stdout "  argument  'loads[0].total_force=[0.0, 0.0, -1000.0]'"
ok "words" "$hextop" help solver.device
ok "all of them" contains stdout "  one of    auto, cpu, cuda"

# Searches for parts of words.
ok "a part" "$hextop" help vol
ok "a key by it" contains stdout "optimization.volume_fraction: share of the volume"
ok "an option by it" contains stdout "--volume of surface"
ok "two words" "$hextop" help "Change Tolerance"
ok "whatever case and gap" contains stdout "optimization.change_tolerance: the run stops"
ok "a preconditioner" "$hextop" help jacobi
ok "is in its group" contains stdout "Preconditioners (solver.preconditioner)"
ok "an operator" "$hextop" help otf
ok "is in its group" contains stdout "Operators (solver.operator)"
ok "a generator" "$hextop" help conrod
ok "is in its group" contains stdout "Generators (mesh.generator)"
ok "a word of the texts" "$hextop" help Taubin
ok "is found" contains stdout "--smooth of surface: number of Taubin's smoothing steps"
ok "a key and options" "$hextop" help threshold
ok "the key" contains stdout "output.threshold: smallest density"
ok "the options" contains stdout "Elsewhere: --threshold of verify, --threshold of analyse, --threshold of mesh, --threshold of surface"

# Every warning that the program can issue is explained, in the words of doc/commands.md.
ok "help warnings" "$hextop" help warnings
sed -n 's/^  \([a-z-]*\): .*/\1/p' stdout >codes
awk '/^const hx_diag_row/ { p = 1 } p' "$2/app/diag/diag.c" | tr '\n' ' ' | sed 's/};.*//' |
    grep -o '= *{"[a-z-]*"' | tr -d '={" ' >coded
ok "all of the table" cmp coded codes
sed -n '/^## Warnings/,/^## Verify/p' "$2/doc/commands.md" | grep '^| `' | sed 's/\[\([^]]*\)\]([^)]*)/\1/g' >rows
while read -r code; do
    ok "help $code" "$hextop" help "$code"
    sed -n "/^$code (a warning)/,/^\$/p" stdout >entry
    for line in meaning remedy issued; do
        ok "$code: $line" grep -Eq "^  $line +[^ ]" entry
    done
    row="| \`$code\` "
    for line in judged "warns if" meaning; do
        row="$row| $(sed -n "s/^  $line  *//p" entry) "
    done
    ok "$code: as in doc/commands.md" grep -qxF "$(echo "$row|" | sed 's/|  |/| |/g; s/|  |/| |/g')" rows
done <codes
ok "in its order" test "$(sed 's/^| `\([a-z-]*\)`.*/\1/' rows)" = "$(cat codes)"
ok "greyness" "$hextop" help greyness
ok "is a word of the warnings" contains stdout "  grey: greyness; "
ok "void cuts" "$hextop" help "void cuts"
ok "is the code" contains stdout "void-cuts (a warning)"

# Searches that find nothing.
near() { # WORD TEXT
    "$hextop" help "$1" >stdout 2>stderr
    ok "$1: exit status 2" test $? = 2
    ok "$1: says $2" contains stderr "$2"
    ok "$1: nothing on stdout" is_empty stdout
}
near raduis "nothing is named 'raduis'; similar names: 'radius'"
near optimization.filter.raduis "similar names: 'radius'"
near gery "similar names: 'grey'"
near gray "similar names: 'grey'"
near grya "no name or help text contains 'grya'"
near verfy "similar names: 'verify'"
near --tolerence "unknown option '--tolerence', did you mean '--tolerance'?"
near multigird "similar names: 'multigrid'"
near xyzzyq "no name or help text contains 'xyzzyq'; \`hextop help\` lists commands"
near "" "no name or help text contains ''"

echo "$n checks, $failed failed"
[ $failed = 0 ]
