#!/bin/sh
# libconfig 1.5 (Debian 12): an integer of more than 32 bits is reduced modulo 2^32 without an error.
#
# Steel in pascals is written `E = 210000000000;`. config_read_string accepts it, the setting is a 32-bit
# integer of value -453397504, and reading it as a number gives that value. One expects 2.1e11, a 64-bit
# setting or an error. `210000000000L` and `2.1e11` are read correctly. A program that only checks the
# return codes computes with a negative modulus; one has to look at the digits in the text.
#   sh findings/libconfig-wide-integer.sh     needs apt-get, dpkg, cc; exit 0: seen as described
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q libconfig9=1.5-0.4 libconfig-dev=1.5-0.4 >apt.log 2>&1 || { cat apt.log; exit 1; }
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$folder/root/usr/lib/x86_64-linux-gnu

cat >read.c <<'END'
#include <libconfig.h>
#include <stdio.h>
int main(void)
{
    const char *text = "plain = 210000000000; wide = 210000000000L; real = 2.1e11;";
    const char *name[] = {"plain", "wide", "real"};
    config_t config;
    config_init(&config);
    if (!config_read_string(&config, text)) return puts("not accepted");
    config_set_auto_convert(&config, 1);
    for (int i = 0; i < 3; i++) {
        double value = 0;
        config_lookup_float(&config, name[i], &value);
        printf("%s=%.0f ", name[i], value);
    }
    puts("");
    config_destroy(&config);
}
END
${CC:-cc} -I root/usr/include read.c -o read "$lib/libconfig.so.9"
seen=$(LD_LIBRARY_PATH=$lib ./read)
echo "$seen"
[ "$seen" = "plain=-453397504 wide=210000000000 real=210000000000 " ]
