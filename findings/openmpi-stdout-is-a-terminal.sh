#!/bin/sh
# Open MPI 4.1.4 (Debian 12): under mpirun every process sees a terminal at its standard output, also if that of
# mpirun is a file.
#
# `mpirun -n 2 ./program >file`: isatty(1) is 1 in both processes, whereas `./program >file` gives 0. One expects the
# answer for the file in which the output ends. A program that rewrites a status line on a terminal fills the file
# with escape sequences; it has to print plain lines whenever mpirun started it.
#   sh findings/openmpi-stdout-is-a-terminal.sh     needs apt-get, dpkg, cc; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3 libopenmpi3=4.1.4-3+b1 libpmix2=4.2.2-1+deb12u1 \
    libhwloc15 libevent-core-2.1-7 libevent-pthreads-2.1-7 >apt.log 2>&1 || { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
usr=$folder/root/usr
mpirun() {
    OPAL_PREFIX=$usr PMIX_INSTALL_PREFIX=$usr LD_LIBRARY_PATH=$usr/lib/x86_64-linux-gnu "$usr/bin/mpirun.openmpi" "$@"
}
version=$(mpirun --version | head -n 1)
echo "$version"
[ "$version" = "mpirun.openmpi (OpenRTE) 4.1.4" ]

cat >program.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    fprintf(stderr, "%d\n", isatty(1));
    return 0;
}
END
${CC:-cc} program.c -o program
alone=$(./program 2>&1 >file)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
several=$(mpirun --oversubscribe -n 2 ./program 2>&1 >file | tr -d '\n')
echo "alone: $alone, two processes: $several"
[ "$alone" = 0 ] && [ "$several" = 11 ]
