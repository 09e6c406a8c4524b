/* Runs every kept input of every target once: those in tests/fuzz/seeds/TARGET, and those in
 * tests/fuzz/found/TARGET, which once revealed a fault. Needs no clang.
 *     replay FOLDER_OF_BOTH           all of them
 *     replay TARGET FILE...           only these */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "app/text/log.h"
#include "core/base/clock.h"
#include "fuzz.h"

enum { MOST_BYTES = 1 << 20, MOST_SECONDS = 20 };

static int n_input;

/* Prints the name before the run, so that the last line before a crash shows it. */
static void run_file(const fuzz_target *target, const char *path)
{
    uint8_t *const data = malloc(MOST_BYTES);
    FILE *const f = fopen(path, "rb");
    if (!f || !data) {
        perror(path);
        exit(1);
    }
    const size_t size = fread(data, 1, MOST_BYTES, f);
    fclose(f);
    printf("%s %s\n", target->name, path);
    fflush(stdout);
    const double begin = hx_clock();
    target->run(data, size);
    free(data);
    n_input++;
    if (hx_clock() - begin < MOST_SECONDS) return;
    printf("took %.1f s\n", hx_clock() - begin);
    exit(1);
}

static void run_folder(const fuzz_target *target, const char *root, const char *kind)
{
    char path[PATH_MAX];
    struct dirent **entry;
    snprintf(path, sizeof path, "%s/%s/%s", root, kind, target->name);
    const int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s/%s/%s", root, kind, target->name, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') run_file(target, path);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

int main(int argc, char **argv)
{
    const fuzz_target *const one = argc > 2 ? fuzz_target_find(argv[1]) : NULL;
    (void)hx_log_set_printing(0);
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    for (int i = 2; one && i < argc; i++) run_file(one, argv[i]);
    for (const fuzz_target *t = fuzz_targets; argc == 2 && t->name; t++) {
        const int before = n_input;
        run_folder(t, argv[1], "seeds");
        run_folder(t, argv[1], "found");
        if (n_input > before) continue;
        printf("no input for '%s'\n", t->name);
        return 1;
    }
    printf("%d inputs\n", n_input);
    return n_input > 0 ? 0 : 1;
}
