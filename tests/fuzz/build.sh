#!/bin/sh
# Builds the fuzzer with clang, address and undefined-behaviour sanitizers, and makes its initial corpora:
#   sh tests/fuzz/build.sh [FOLDER]
# FOLDER/fuzz_all (HX_FUZZ_TARGET selects the target), FOLDER/corpus/TARGET, FOLDER/all.dict, and FOLDER/lib with the
# shared libraries that another machine may lack: about 25 MB that can be copied there, for many.sh. Builds in
# FOLDER-build with FUZZ_OPTIMISE (-O1; -O0 takes half the time). Without clang: exit status 77.
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-out/fuzz}
build=$folder-build
clang=${CLANG:-clang}
command -v "$clang" >/dev/null 2>&1 && command -v python3 >/dev/null 2>&1 || {
    echo "SKIPPED: clang and python3 are wanted (sh tests/install_deps.sh test)"
    exit 77
}
mkdir -p "$folder"

# Without OpenMP, because a fuzzer needs one thread.
if [ ! -f "$build/build.ninja" ]; then
    rm -rf "$build"
    CC="${CCACHE:-} $clang" meson setup "$build" -Dfuzz=true -Dbuildtype=plain -Dopenmp=disabled \
        -Dcuda=disabled -Dbench=false -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args="${FUZZ_OPTIMISE:--O1} -gline-tables-only -fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined" \
        >"$build.log" 2>&1 || { cat "$build.log"; exit 77; } # a clang without libFuzzer
fi
ninja -C "$build" tests/fuzz/fuzz_all >"$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 1; }

cp "$build/tests/fuzz/fuzz_all" "$folder/fuzz_all"
cp tests/fuzz/all.dict "$folder/"
mkdir -p "$folder/lib"
# all libraries except the C library's own, which must be those of the machine
ldd "$folder/fuzz_all" | awk '$3 ~ /^\// && $3 !~ /lib(c|m|gcc_s|pthread|dl|rt)\.so/ { print $3 }' | while read -r file; do
    cp -L "$file" "$folder/lib/"
done
python3 tests/fuzz/corpus.py . "$folder/corpus"
