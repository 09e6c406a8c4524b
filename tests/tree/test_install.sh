#!/bin/sh
# The files that `meson install` installs are sufficient: for a program built only with pkg-config's flags, for every
# header by itself, and for the installed hextop.
#     test_install.sh BUILDDIR SRCDIR
set -u
build=$1
src=$2
for tool in meson pkg-config cc; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "failed: $1"
    cat "$work/log"
    exit 1
}

meson install -C "$build" --no-rebuild --destdir "$work/root" >"$work/log" 2>&1 || fail "meson install"
pc=$(find "$work/root" -name hextop.pc)
[ -n "$pc" ] || fail "no hextop.pc"
PKG_CONFIG_PATH=$(dirname "$pc")
prefix=$(sed -n 's/^prefix=//p' "$pc")
export PKG_CONFIG_PATH

# The prefix lies under DESTDIR. If CUDA's static runtime is not in its default folder, nvcc prints its path.
cuda=/usr/local/cuda/lib64
[ -e $cuda/libcudart_static.a ] || ! command -v nvcc >/dev/null ||
    cuda=$(nvcc --dryrun -x cu /dev/null 2>&1 | sed -n 's/.* "*-L\([^" ]*\)".*/\1/p' | head -1)
words() {
    pkg-config --define-variable=prefix="$work/root$prefix" --define-variable=cuda_libdir="$cuda" "$@" hextop
}

cd "$work" || exit 1
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror "$src/examples/compliance.c" $(words --cflags --libs) \
    -o compliance >log 2>&1 || fail "compliance.c"
LD_LIBRARY_PATH=$(words --variable=libdir):${LD_LIBRARY_PATH:-} ./compliance >log 2>&1 || fail "running compliance"
# CalculiX 2.20 (C3D8, the same element) gives 122.92158 for this beam and load.
awk '$1 == "compliance" { n++; good = $2 ~ /^[0-9]+[.][0-9]+$/ && $2 > 122.9204 && $2 < 122.9228 }
    END { exit !(n == 1 && good) }' log || fail "compliance is not 122.9216"
cat log

# The library of sessions: its own .pc, no dependency on its parts, no path of this machine.
for file in "$(dirname "$pc")"/*.pc; do
    grep -nF -e "$src" -e "$build" -e "$HOME/" "$file" && fail "$file names this machine"
    grep -v '^prefix=' "$file" | grep -nE -e '-L/' && fail "$file: a folder that is not below its prefix"
done
session() {
    pkg-config --define-variable=prefix="$work/root$prefix" "$@" hextop_session
}
sed -n '/^```c$/,/^```$/p' "$src/lib/README.md" | sed '/^```/d' >part.c
grep -q hextop_run part.c || fail "the program in lib/README.md"
mkdir -p configs && cp "$src/configs/quickstart.cfg" configs
for compiler in "cc -std=c11 -pedantic" "c++ -x c++ -std=c++17"; do
    command -v "${compiler%% *}" >/dev/null || continue
    # shellcheck disable=SC2046,SC2086
    $compiler -Wall -Wextra -Werror part.c $(session --cflags --libs) -o part >log 2>&1 || fail "part.c: $compiler"
    LD_LIBRARY_PATH=$(session --variable=libdir):${LD_LIBRARY_PATH:-} ./part >log 2>&1 || fail "running part"
    awk -F, '{ good = NF == 2 && $1 > 0 && $2 >= 0 && $2 <= 1 } END { exit !(NR == 1 && good) }' log ||
        fail "what part says"
    [ -s part.stl ] || fail "part.stl"
    rm part part.stl
done
[ "$(session --libs-only-l | tr -d ' ')" = -lhextop_session ] || fail "hextop_session.pc: more than the library"

so=$(session --variable=libdir)/libhextop_session.so
nm -D --defined-only "$so" >log 2>&1 || fail "nm"
[ "$(grep -c ' T hextop_' log)" = "$(grep -c '^HEXTOP_API' "$src/lib/hextop.h")" ] || fail "functions that are exported"
grep -vE ' (T hextop_[a-z_]+@@HEXTOP_1|A HEXTOP_1)$' log >other
[ ! -s other ] || fail "exported besides: $(cat other)"
readelf -d "$so" >log 2>&1 || fail "readelf"
grep -q 'SONAME.*libhextop_session.so.1\]' log || fail "soname"
grep -q 'NEEDED.*libconfig' log || fail "libconfig in the library of sessions"
grep -E 'RPATH|RUNPATH' log && fail "a path in $so"
core=$(find "$work/root$prefix" -name 'libhextop.so' -o -name 'libhextop.a')
[ -n "$core" ] || fail "the core's library"
nm $core 2>/dev/null | grep -c 'U config_' | grep -qx 0 || fail "libconfig in the core's library"

include=$(words --variable=includedir)
headers=$(cd "$include" && find hextop -name '*.h')
[ "$(echo "$headers" | wc -l)" -gt 40 ] || fail "headers of the rooms"
for header in $headers; do
    # The C library's headers must still be found: hextop has a memory.h too.
    printf '#include <memory.h>\n#include "%s"\nint main(void) { return memcmp("", "", 0); }\n' \
        "$header" >one.c
    # shellcheck disable=SC2046
    cc -std=c11 -pedantic -Wall -Wextra -Werror $(words --cflags) -c one.c -o one.o >log 2>&1 ||
        fail "$header on its own"
done

LD_LIBRARY_PATH=$(words --variable=libdir):${LD_LIBRARY_PATH:-} "$work/root$prefix/bin/hextop" --version >log 2>&1 ||
    fail "the installed program"

# The man page and the completions are where man, bash and zsh search for them.
for text in man/man1/hextop.1 bash-completion/completions/hextop.bash zsh/site-functions/_hextop; do
    find "$work/root$prefix" -path "*/$text" -size +4k | grep -q . || fail "installed $text"
done
# Some systems have a `man` that only prints where the real one is.
if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man [0-9]'; then
    page=$(find "$work/root$prefix" -name hextop.1)
    man -l "$page" >log 2>&1 </dev/null || fail "man"
    grep -q 'solver.operator' log || fail "what man shows"
fi
