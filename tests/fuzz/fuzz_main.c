/* libFuzzer's entry point: the environment variable HX_FUZZ_TARGET names the target. */
#include <stdio.h>
#include <stdlib.h>

#include "app/text/log.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const name = getenv("HX_FUZZ_TARGET");
    (void)argc;
    (void)argv;
    target = name ? fuzz_target_find(name) : NULL;
    if (!target) {
        fprintf(stderr, "HX_FUZZ_TARGET names no target:");
        for (const fuzz_target *t = fuzz_targets; t->name; t++) fprintf(stderr, " %s", t->name);
        fputc('\n', stderr);
        exit(2);
    }
    (void)hx_log_set_printing(0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target->run(data, size);
    return 0;
}
