#!/bin/sh
# Runs that are stopped or killed and then resumed: the last design, the history and the series equal those of an
# uninterrupted run; what does not match is refused.
#
#     test_resume.sh HEXTOP SOURCE [KILLS]
set -u
hextop=$(realpath "$1")
source=$(realpath "$2")
kills=${3:-6}
seed=${4:-1}
. "$(dirname "$0")/../lib/counting.sh"

common="$source/configs/quickstart.cfg mesh.nx=24 mesh.ny=12 mesh.nz=12 optimization.iterations=16
    output.every=8 solver.operator=otf solver.threads=1"
run() { # folder, keys and options
    folder=$1
    shift
    # shellcheck disable=SC2086
    "$hextop" run $common "output.directory=$folder" "$@" >out 2>err
}
columns() { cut -d, -f1-7,23-24 "$1/history.csv"; } # without seconds
says() { grep -q -- "$2" "$1"; } # FILE PATTERN
same_run() { # name, folder, the uninterrupted one's
    last=$(printf 'density_%04d.vtk' "$(tail -1 "$3/history.csv" | cut -d, -f1)")
    ok "$1: the last design" cmp "$3/$last" "$2/$last"
    columns "$2" >a
    columns "$3" >b
    ok "$1: the history" cmp a b
}

ok "whole run" run whole
ok "whole run: no checkpoint" test ! -e whole/checkpoint.state

# A checkpoint at every iteration, and one long run in two parts.
ok "first part" run parts optimization.iterations=7 output.checkpoint=0.000001
ok "checkpoint" test -e parts/checkpoint.state
ok "the one before" test -e parts/checkpoint.previous.state
ok "second part" run parts --resume
ok "says where it goes on" says out "after iteration 7"
same_run "two parts" parts whole
ok "nothing is left" run parts --resume
ok "says so" says out "nothing is left to do"
ok "of another number of threads" run parts --resume solver.threads=2 optimization.iterations=20
ok "long run" run long optimization.iterations=20
same_run "two numbers of threads" parts long

# The identity of a run: hashes of mesh and settings, which exclude numbering, threads and folder, and of all bits of the
# densities.
identity() { grep -A3 '"identity"' "$1/summary.json"; }
identity parts >a
identity long >b
ok "identity: the same run" cmp a b
ok "identity: hashes" says a '"density": "[0-9a-f]\{32\}"'
identity whole >b
ok "identity: other densities" sh -c "! grep -F \"\$(grep density a)\" b"
ok "identity: the same mesh" sh -c "grep -F \"\$(grep mesh a)\" b"
ok "in another order" run shuffled mesh.shuffle=3 optimization.iterations=1
identity shuffled >b
ok "identity: whatever the order" sh -c "grep -F \"\$(grep mesh a)\" b"
ok "distorted" run distorted mesh.distort=0.05 optimization.iterations=1
identity distorted >b
ok "identity: another mesh" sh -c "! grep -F \"\$(grep mesh a)\" b"

# Resumes with every kind of state that a design leaves for the next one.
more="optimization.filter.kind=density optimization.projection={every=3;} solver.deterministic=true
    optimization.continuation={every=4;}"
# shellcheck disable=SC2086
ok "projection" run projected $more
# shellcheck disable=SC2086
ok "projection: first part" run projected2 $more optimization.iterations=9 output.checkpoint=0.000001
# shellcheck disable=SC2086
ok "projection: second part" run projected2 $more --resume
same_run "projection" projected2 projected

# A signal; a SIGHUP that was ignored at the start, like with nohup, stays ignored.
signals="INT TERM HUP"
[ "$(sed -n 's/^SigIgn:.*\(.\)$/\1/p' /proc/$$/status | tr -d '02468ace')" = "" ] || signals="INT TERM"
for signal in $signals; do
    run stopped optimization.iterations=3000 &
    pid=$!
    waited=0
    while [ "$(cat stopped/history.csv 2>/dev/null | wc -l)" -lt 4 ] && [ $waited -lt 600 ]; do
        sleep 0.05
        waited=$((waited + 1))
    done
    pkill -"$signal" -P $pid 2>/dev/null || kill -"$signal" $pid
    wait $pid
    ok "SIG$signal: exit status 3" test $? = 3
    ok "SIG$signal: a checkpoint" test -e stopped/checkpoint.state
    last=$(($(tail -1 stopped/history.csv | cut -d, -f1) + 3))
    ok "SIG$signal: goes on" run stopped --resume "optimization.iterations=$last"
    ok "SIG$signal: the log's command" says stopped/run.log "^command .*--resume"
    ok "SIG$signal: one log" test "$(grep -c '^started ' stopped/run.log)" = 2
    ok "SIG$signal: without a gap" test "$(tail -1 stopped/history.csv | cut -d, -f1)" = $last
    rm -r stopped
done

# Cases that are refused, without any change to files.
refused() { # name, text, keys
    name=$1
    text=$2
    shift 2
    cp -r parts kept
    run parts --resume "$@"
    ok "$name: exit status 2" test $? = 2
    ok "$name: says why" says err "$text"
    ok "$name: nothing changed" diff -r parts kept
    rm -r kept
}
refused "another penalty" "optimization.penalty = 3.0.*optimization.penalty = 2.0" optimization.penalty=2.0
refused "another load" "with 'loads.*and this one has 'loads" 'loads=({set="right-lower-edge";total_force=[0.0,1.0,0.0];})'
refused "another mesh" "another mesh" mesh.distort=0.1
refused "another order" "another mesh, not to 'mesh.reorder = false'" mesh.reorder=false
refused "fewer iterations" "more than optimization.iterations" optimization.iterations=5
ok "of a density filter" run dense optimization.filter.kind=density optimization.iterations=2 output.checkpoint=0.000001
run dense --resume optimization.filter.kind=density 'optimization.projection={}'
ok "a projection: names what the user changed" says err \
    "from a run with 'nothing', and this one has 'optimization.projection"
run dense --resume optimization.filter.kind=density optimization.move=0.15 'optimization.projection={}'
ok "a projection and a move" says err "with 'optimization.move = 0.2', and this one has 'optimization.move = 0.15'"
size=$(wc -c <parts/checkpoint.state)
printf 'x' | dd of=parts/checkpoint.state bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
refused "damaged" "the checksum of .*checkpoint.previous.state"
head -c $((size / 3)) parts/checkpoint.previous.state >parts/checkpoint.state
refused "cut short" "truncated.*checkpoint.previous.state"
printf 'no checkpoint' >parts/checkpoint.state
refused "something else" "not a checkpoint of hextop"
run whole --resume
ok "no checkpoint: exit status 2" test $? = 2
ok "no checkpoint: refused" says err "no checkpoint to continue from"

# Files in the output folder that a run would destroy.
kept() { # name, text, folder, keys
    name=$1 text=$2 folder=$3
    shift 3
    cp -r "$folder" kept
    run "$folder" "$@"
    ok "$name: exit status 2" test $? = 2
    ok "$name: says why" says err "$text"
    ok "$name: nothing changed" diff -r "$folder" kept
    rm -r kept
}
ok "unfinished" run unfinished output.checkpoint=0.000001 optimization.iterations=3
sed 's/"done"/"interrupted"/' unfinished/summary.json >a && mv a unfinished/summary.json
kept "a checkpoint" "did not end: continue it with --resume" unfinished
ok "a checkpoint: --force" run unfinished --force optimization.iterations=3
ok "a run that ended" run unfinished optimization.iterations=3
kept "the first design" "optimization.initial.*has the name of a file that the run writes" unfinished \
    optimization.initial="$PWD/unfinished/density_0003.vtk"
kept "the mesh" "mesh.file: .*has the name of a file that the run writes" unfinished \
    "mesh={file=\"$PWD/unfinished/density_0003.vtk\";}"
ln -s "$PWD/unfinished/density_0003.vtk" mesh.vtk
kept "the mesh by link" "mesh.file: .*has the name of a file that the run writes" unfinished \
    "mesh={file=\"$PWD/mesh.vtk\";}"
kept "the first design by folder" "optimization.initial.*density_0003.vtk has the name of a file" unfinished \
    optimization.initial="$PWD/unfinished"
kept "the first design by series" "optimization.initial.*density_0003.vtk has the name of a file" unfinished \
    optimization.initial="$PWD/unfinished/density.vtk.series"
mkdir linked && ln -s ../unfinished/density_0003.vtk linked/first.vtk
kept "the first design by link" "optimization.initial.*has the name of a file" unfinished \
    optimization.initial="$PWD/linked/first.vtk"
ln -s ../keep.vtk linked/density_0002.vtk && cp unfinished/density_0003.vtk keep.vtk
kept "a link to the first design" "optimization.initial.*has the name of a file" linked \
    optimization.initial="$PWD/keep.vtk" optimization.iterations=3
ln unfinished/density_0003.vtk hard.vtk # keeps its contents
ok "a hard link" run unfinished optimization.initial="$PWD/hard.vtk" optimization.iterations=3
ok "the first design, forced" run unfinished --force optimization.initial="$PWD/unfinished" optimization.iterations=3
ok "the first design, forced: warns" says err "density_0003.vtk.*does not repeat this run"
ok "fewer iterations" run unfinished optimization.initial="$PWD/unfinished" optimization.iterations=2
ok "fewer iterations: keeps the first design" test -e unfinished/density_0003.vtk
ok "fewer iterations: no warning" test "$(grep -c 'does not repeat' err)" = 0
ok "with units" run units 'units="N, mm, MPa"' output.checkpoint=0.000001 optimization.iterations=3
ok "with units, once more" run units 'units="N, mm, MPa"' optimization.iterations=3
echo "# mine" >unfinished/config.cfg
kept "a config" "not a config that hextop wrote" unfinished
"$hextop" mesh unfinished/density_0003.vtk unfinished/density_0003.vtk 2>err
ok "a mesh onto itself" says err "is the file that is read"
"$hextop" verify --made no whole --vtk whole/density_0016.vtk 2>err
ok "a result onto itself" says err "is the file that is read"

# Killed at random moments, also during writes, until the run is done.
n_kill=0 loss=0
goes_on() { grep -c 'continuing after' killed/run.log 2>/dev/null; }
while [ $n_kill -lt "$kills" ]; do
    rm -rf killed
    option=
    while :; do
        n_design=$(cat killed/history.csv 2>/dev/null | wc -l) n_resumed=$(goes_on)
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        # shellcheck disable=SC2086
        "$hextop" run $common output.directory=killed output.checkpoint=0.000001 output.every=1 \
            $option >out 2>err &
        pid=$!
        sleep "0.$(printf '%03d' $((seed / 65536 % 400 + 20)))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        status=$?
        if [ "$(goes_on)" != "$n_resumed" ]; then # designs that are computed twice
            from=$(sed -n 's/.*continuing after iteration \([0-9]*\).*/\1/p' killed/run.log | tail -n 1)
            [ $((n_design - 1 - from)) -le $loss ] || loss=$((n_design - 1 - from))
        fi
        [ $status = 137 ] || break
        n_kill=$((n_kill + 1))
        option=
        [ ! -e killed/checkpoint.state ] || option=--resume
        [ $n_kill -lt "$kills" ] || break
    done
    [ $status = 137 ] && run killed $option
    [ $status = 0 ] || [ $status = 137 ] || cat err
    same_run "after $n_kill kills" killed whole
    ok "after $n_kill kills: no leftovers" test "$(find killed -name '*.tmp.*' | wc -l)" = 0
done
# A checkpoint is due after every design, but only one is written at a time, so on a slow disk some designs get none.
echo "$n_kill kills; at most $loss designs were computed again"
echo "$n checks, $failed failed"
[ "$failed" = 0 ]
