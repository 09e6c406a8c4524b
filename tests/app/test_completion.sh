#!/bin/bash
# Man page and shell completion, as printed from the commands' tables and the config's schema: they are well
# formed and complete, and bash completes what a user types. mandoc, groff and zsh check them if installed.
#     test_completion.sh HEXTOP [zsh]
# With zsh: only that shell, 77 if it is not installed.
set -u
hextop=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0
failed=0

ok() { # WHAT COMMAND...
    n=$((n + 1))
    "${@:2}" >log 2>&1 && return
    failed=$((failed + 1))
    echo "failed: $1"
    sed 's/^/    /' log
}

for text in man bash zsh; do
    ok "help --$text" "$hextop" help --$text
    "$hextop" help --$text >$text
done
ok "all lines of the man page are short enough" awk 'length > 400 { exit 1 }' man

# --- zsh ---
check_zsh() {
    ok "zsh takes it" zsh -n zsh
    cp zsh _hextop
    ok "zsh loads it" zsh -f -c 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u; [[ $_comps[hextop] == _hextop ]]'
    # Prints how zsh parses a key, without zsh's own completion system.
    cat >offer.zsh <<'END'
_arguments() { return 1 }
_files() { print files }
compset() { [[ $PREFIX == ${~@[-1]}* ]] && PREFIX=${PREFIX#${~@[-1]}} }
compadd() { for word in ${@[$@[(i)--] + 1, -1]}; do [[ $word == "$PREFIX"* ]] && print -r -- $word; done }
source ./zsh
PREFIX=$1
_hextop_key | LC_ALL=C sort | paste -sd ' '
END
    zsh_offers() { # TYPED WORDS
        got=$(zsh -f offer.zsh "$1" 2>&1)
        [[ $got == "$2" ]] && return
        echo "'$1': offers '$got', not '$2'"
        return 1
    }
    ok "zsh: key" zsh_offers "solver.oper" "solver.operator"
    ok "zsh: value" zsh_offers "solver.operator=o" "otf"
    ok "zsh: list" zsh_offers "output.fields=density,dis" "displacement"
    ok "zsh: entry" zsh_offers "loads[2].press" "loads[2].pressure"
    ok "zsh: value of an entry" zsh_offers "loads[12].coupling=ri" "rigid"
    ok "zsh: file" zsh_offers "mesh.file=part.m" "files"
}

finish() {
    echo "$n checks, $failed failed"
    [ $failed = 0 ]
    exit
}

if [ "${2:-}" = zsh ]; then
    command -v zsh >/dev/null || {
        echo "skipped: zsh is not installed"
        exit 77
    }
    check_zsh
    finish
fi

# Every command, option, key and word of the tables is in all three.
"$hextop" help >usage
"$hextop" list --keys | sed -n 's/^| `\([^`]*\)` | \([a-z/]*\) .*/\1 \2/p' >keys
commands=$(sed -n 's/^  hextop \([a-z]*\) .*/\1/p' usage)
ok "the usage has fourteen commands" test "$(echo "$commands" | wc -w)" = 14
ok "the schema has its keys" test "$(wc -l <keys)" -gt 90
for command in $commands; do
    "$hextop" "$command" --help | sed -n 's/^  \(-[a-z], \)*\(--[a-z-]*\).*/\2/p'
done | sort -u >options
ok "the commands have their options" test "$(wc -l <options)" -ge 24
sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\c$//' man >man_plain
# The words of a file, one per line; [] is written as @.
words_of() {
    sed 's/\[\]/@/g' | tr -c 'A-Za-z0-9_.@\n-' '\n' | sed 's/^\.*//; s/\.*$//' | sort -u
}
has_all() { # FILE: prints the words on stdin that it lacks
    words_of <"$1" >"$1.words"
    sed 's/\[\]/@/g' | LC_ALL=C grep -vxF -f "$1.words" && return 1
    return 0
}
for text in man_plain bash zsh; do
    ok "$text: commands" has_all $text <<<"$commands"
    ok "$text: options" has_all $text <options
    # groups are not keys with values
    awk -v all="$text" 'all == "man_plain" || ($2 != "group" && $2 != "list") { print $1 }' keys >wanted
    ok "$text: keys" has_all $text <wanted
    # words that messages suggest
    for key in solver.operator solver.device solver.preconditioner solver.precision output.format \
        optimization.filter.kind mesh.generator; do
        echo 'mesh = { generator = "cantilever"; }; optimization = { volume_fraction = 0.3; };' >key.cfg
        "$hextop" check key.cfg $key=nothing 2>&1 | sed 's/.*valid: //' | tr -d ' ' | tr , '\n' >words
        ok "$text: $key has words" test "$(wc -l <words)" -ge 2
        ok "$text: words of $key" has_all $text <words
    done
done
"$hextop" mesh a.cfg b.none 2>&1 | sed 's/.* one of //' | tr -d ' .' | tr , '\n' >formats
ok "mesh formats" test "$(wc -l <formats)" -ge 3
for text in bash zsh; do ok "$text: formats" has_all $text <formats; done

# --- the man page ---
for section in NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS "CONFIGURATION KEYS" "EXIT STATUS" FILES EXAMPLES; do
    ok "section $section" grep -qx "\.SH $section" man
done
ok "its name" grep -q '^hextop \\- [a-z]' man
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning man 2>&1 | grep -v 'missing date' >lint
    ok "mandoc finds nothing" test ! -s lint
else
    echo "not judged by mandoc, which is not installed"
fi
if command -v groff >/dev/null; then
    groff -man -ww -z man >lint 2>&1
    ok "groff finds nothing" test ! -s lint
    groff -man -Tascii man 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' | tr -s ' \n' ' ' >shown
    ok "the page shows keys" grep -q "mesh\.size .*1 to 5" shown
    ok "and lists" grep -q "history.csv one line per iteration" shown
else
    echo "not judged by groff, which is not installed"
fi

# --- bash ---
ok "bash takes it" bash -n bash
# shellcheck disable=SC1091
source ./bash

# complete_words LINE: completions that bash would offer at the end of LINE, sorted, on one line. Like in bash, words
# are split at its break characters.
complete_words() {
    local line=$1 rest part
    COMP_WORDS=()
    rest=$line
    while [[ -n $rest ]]; do
        if [[ $rest =~ ^[[:space:]]+ ]]; then
            rest=${rest:${#BASH_REMATCH}}
            continue
        elif [[ $COMP_WORDBREAKS == *=* && $rest =~ ^=+ ]]; then
            part=$BASH_REMATCH
        elif [[ $COMP_WORDBREAKS == *=* ]]; then
            part=${rest%%[[:space:]=]*}
        else
            part=${rest%%[[:space:]]*}
        fi
        COMP_WORDS+=("$part")
        rest=${rest:${#part}}
    done
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _hextop
    if ((${#COMPREPLY[@]})); then printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort -u | paste -sd ' '; fi
}
offers() { # LINE WORDS
    local got
    got=$(complete_words "$1")
    [[ $got == "$2" ]] && return
    echo "'$1': offers '$got', not '$2'"
    return 1
}
case_of() { ok "bash: $1" offers "$1" "$2"; }

rm key.cfg
mkdir folder
touch part.cfg part.vtk part.msh part.stl 'two words.cfg' part.cdb notes.txt
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
case_of "hextop ru" "run"
case_of "hextop " "analyse check compare help lightest list matrix mesh new report run selftest surface verify"
case_of "hextop compare --op" "--operators"
case_of "hextop verify --t" "--threshold --tolerance"
case_of "hextop --qu" "--quiet"
case_of "hextop run --op" ""
case_of "hextop compare --operators war" "warp64"
case_of "hextop compare --operators=war" "warp64"
case_of "hextop compare --operators otf,war" "otf,warp64"
case_of "hextop compare --sizes " ""
case_of "hextop compare --output fo" "folder"
case_of "hextop compare --sizes 1 p" "part.cfg"
case_of "hextop surface part.vtk o.stl --preserve lo" "loads"
case_of "hextop run " "folder part.cfg two words.cfg"
case_of "hextop -v run p" "part.cfg"
case_of "hextop lightest p" "part.cfg"
case_of "hextop lightest part.cfg --vary v" "volume"
case_of "hextop verify p" "part.vtk"
case_of "hextop verify part.vtk p" "part.cfg"
case_of "hextop surface part.vtk p" "part.stl"
case_of "hextop mesh p" "part.cdb part.cfg part.msh part.stl part.vtk"
case_of "hextop run part.cfg solver.oper" "solver.operator="
case_of "hextop run part.cfg solver.operator=o" "otf"
case_of "hextop run part.cfg solver.operator=" \
    "auto bsr bsr32 bsrsym coo csr dedup ebe ebe24 ebe64 ebe8 ell nbn otf sym sym32 voxels warp64"
case_of "hextop run part.cfg mesh.size=2 output.for" "output.format="
case_of "hextop run part.cfg output.fields=density,dis" "density,displacement"
case_of "hextop run part.cfg solver.warm_start=" "false true"
case_of "hextop run part.cfg loads[2].press" "loads[2].pressure="
case_of "hextop run part.cfg loads[2].coup" "loads[2].coupling="
case_of "hextop run part.cfg loads[12].coupling=ri" "rigid"
case_of "hextop run part.cfg springs" "springs[0].per= springs[0].set= springs[0].stiffness="
case_of "hextop run part.cfg mesh.file=part.m" "part.msh"
case_of "hextop help opt" \
    "optimization optimization.constraints optimization.continuation optimization.draw optimization.filter optimization.milling optimization.objective optimization.overhang optimization.projection optimization.repetition optimization.symmetry"
case_of "hextop help sur" "surface"
COMP_WORDBREAKS=$' \t\n"\'><;|&(:' # some users remove = from the break characters
case_of "hextop run part.cfg solver.operator=o" "solver.operator=otf"
case_of "hextop compare --operators=war" "--operators=warp64"
case_of "hextop compare --operators otf,war" "otf,warp64"

finish
