/* libFuzzer's entry point (see run.sh): the first byte chooses the extension of the file name, the
 * others are the file. */
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[sizeof "/dev/shm/hextop_fuzz_1234567890.extension"];
    if (size < 1) return -1;
    const hx_mesh_format *const format = &hx_mesh_formats[data[0] % hx_n_mesh_format];
    snprintf(path, sizeof path, "/dev/shm/hextop_fuzz_%ld%s", (long)getpid(), format->extension);
    (void)fuzz_mesh(path, data + 1, size - 1);
    remove(path);
    return 0;
}
