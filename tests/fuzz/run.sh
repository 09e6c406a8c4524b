#!/bin/sh
# Fuzzes the readers of mesh files with clang's libFuzzer, with address and undefined-behaviour
# sanitizers: sh tests/fuzz/run.sh [SECONDS [FOLDER]]. The corpus stays in FOLDER for the next run;
# an input that crashes is left there as crash-*, to be run alone: FOLDER/fuzz_mesh FOLDER/crash-...
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600} folder=${2:-out/fuzz}
mkdir -p "$folder/corpus"

# Without OpenMP: a fuzzer wants one thread. The problem is there for the writers of jobs.
clang -std=c11 -g -O1 -D_GNU_SOURCE -I. -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=undefined tests/fuzz/fuzz_mesh.c \
    core/base/*.c core/mesh/*.c core/problem/*.c core/files/*.c -lm -o "$folder/fuzz_mesh"

# Seeds: small files, with the byte that chooses the ending before them.
i=0
for file in tests/bad/*.vtk tests/bad/*.msh tests/bad/*.inp tests/bad/*.cdb examples/meshes/*; do
    [ -f "$file" ] || continue
    case $file in
    *.vtk) byte='\000' ;; *.msh) byte='\001' ;; *.inp) byte='\002' ;; *.cdb) byte='\003' ;;
    *) continue ;;
    esac
    i=$((i + 1))
    # shellcheck disable=SC2059
    { printf "$byte"; cat "$file"; } >"$folder/corpus/seed$i"
done

"$folder/fuzz_mesh" -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=2000 \
    -dict=tests/fuzz/mesh.dict -artifact_prefix="$folder/" -print_final_stats=1 "$folder/corpus"
