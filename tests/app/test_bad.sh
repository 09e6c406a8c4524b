#!/bin/sh
# Every bad input must be refused with the right exit status and message, and leave nothing behind.
#     test_bad.sh HEXTOP SRCDIR
# A case is a config in tests/bad that begins with
#     # expect: TEXT    must appear on stderr; may be repeated
#     # exit: STATUS
#     # args: ...       further arguments, in the shell's quoting
#     # needs: no-gpu   skipped if a GPU is found; gpu: skipped if there is none
set -u
hextop=$(realpath "$1")
bad=$2/tests/bad
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0
failed=0

# fault NAME WHAT: reports a failed check with the program's output.
fault() {
    failed=$((failed + 1))
    echo "$1: $2"
    sed 's/^/    /' stderr
}

# check NAME STATUS EXPECTED ARGUMENTS...: runs hextop; EXPECTED may be empty.
check() {
    name=$1 status=$2 expected=$3
    shift 3
    n=$((n + 1))
    "$hextop" "$@" >stdout 2>stderr
    got=$?
    [ "$got" = "$status" ] || fault "$name" "exit status $got instead of $status"
    [ -z "$expected" ] || grep -qF -- "$expected" stderr || fault "$name" "stderr lacks: $expected"
    [ "$status" = 0 ] || grep -q '^hextop: error: .' stderr || fault "$name" "no 'hextop: error:'"
}

has_gpu=no
"$hextop" list | grep -q '^ *cuda  *yes' && has_gpu=yes
echo "a regular file" >file

for cfg in "$bad"/*.cfg; do
    name=$(basename "$cfg" .cfg)
    status=$(sed -n 's/^# exit: //p' "$cfg")
    arguments=$(sed -n 's/^# args: //p' "$cfg")
    if grep -q '^# needs: no-gpu' "$cfg" && [ $has_gpu = yes ]; then
        echo "$name: skipped, there is a GPU"
        continue
    fi
    if grep -q '^# needs: gpu' "$cfg" && [ $has_gpu = no ]; then
        echo "$name: skipped, there is no GPU"
        continue
    fi
    eval "set -- $arguments"
    check "$name" "$status" "" run "$cfg" "$@"
    sed -n 's/^# expect: //p' "$cfg" >expected
    [ -s expected ] || fault "$name" "the case expects nothing"
    while IFS= read -r text; do
        grep -qF -- "$text" stderr || fault "$name" "stderr lacks: $text"
    done <expected
    if [ "$status" = 2 ]; then
        [ ! -e out ] || fault "$name" "left an output folder behind"
        # check refuses every config that run refuses
        check "$name (check)" 2 "$(sed -n 1p expected)" check "$cfg" "$@"
        [ ! -e out ] || fault "$name (check)" "left an output folder behind"
    fi
    [ "$(cat file)" = "a regular file" ] || fault "$name" "changed a file that is not its own"
    rm -rf out
done

good=$bad/base.inc

# The command line.
check "no command" 2 "no command" 
check "unknown command" 2 "unknown command 'rnu', did you mean 'run'?" rnu
check "unknown option" 2 "unknown option '--verbos', did you mean '--verbose'?" run --verbos "$good"
check "no file" 2 "usage: hextop run FILE" run
check "missing file" 2 "cannot read config 'nowhere.cfg': No such file or directory" run nowhere.cfg
check "folder" 2 "it is a folder, not a file" run .
check "no output file" 2 "usage: hextop mesh FILE OUT" mesh "$good"
check "mesh of no format" 2 "'mesh.stl': the name must end with one of .vtk, .msh" mesh "$good" mesh.stl
check "conversion with a key" 2 "only mesh.merge=DISTANCE and output.format=binary or ascii may" \
    mesh "$bad/mesh_good.vtk" good.msh solver.tolerance=1
check "unwritable mesh" 2 "nowhere/mesh.vtk" mesh "$good" nowhere/mesh.vtk
check "place in the source" 2 "raised at" -v run "$good" 'supports[0].set=lfet'
head -c 2000 /dev/urandom >noise.cfg
check "noise" 2 "noise.cfg:" run noise.cfg
rm -rf out

# A run whose PCG does not converge continues by default, with a warning.
check "pcg continues" 0 "PCG did not converge in 2 of 2 iterations" run "$good" \
    solver.max_iterations=3
grep -q '"solves_converged": false' out/summary.json || fault "pcg continues" "summary says converged"
rm -rf out

# A folder without write permission; root may write anywhere.
mkdir locked && chmod a-w locked
if [ "$(id -u)" != 0 ]; then
    check "not writable" 2 "output.directory: cannot write to 'locked" run "$good" \
        output.directory=locked/out
fi

# A full disk: complete files stay complete, and no partial file is left.
"$hextop" -q run "$good" output.directory=out 2>stderr || fault "disk full" "the good config does not run"
cp out/density_0002.vtk kept.vtk
n=$((n + 1))
(
    if [ -n "${HX_LIMIT_LIBRARY:-}" ]; then # limits.py explains this
        export LD_PRELOAD="$HX_LIMIT_LIBRARY" HX_LIMIT_FILES=3072
    else
        ulimit -f 6
    fi
    exec "$hextop" run "$good" output.directory=out mesh.nx=16 mesh.ny=8 mesh.nz=8 >stdout 2>stderr
)
got=$?
[ $got = 1 ] || fault "disk full" "exit status $got instead of 1"
grep -qF 'density_0002.vtk: ' stderr || fault "disk full" "stderr lacks the file's name"
cmp -s out/density_0002.vtk kept.vtk || fault "disk full" "a complete file was damaged"
[ -z "$(find out -name '*.tmp*')" ] || fault "disk full" "a temporary file was left"

echo "$n runs, $failed failed checks"
[ $failed = 0 ]
