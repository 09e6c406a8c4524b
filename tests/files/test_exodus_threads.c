/* Several threads read Exodus files at once. The Exodus library is searched for once, and only one
 * thread at a time uses it.
 *     test_exodus_threads FILE ...   exit status 77: this program has no Exodus */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../lib/test.h"
#include "core/files/mesh_files.h"
#include "core/mesh/mesh_hash.h"

enum { N_THREAD = 8, N_TURN = 40, MOST_FILES = 8 };

typedef struct reader {
    int n_file, first;
    char *const *file;
    hx_hash hash[MOST_FILES]; /* hash of the first reading */
    int n_failed, n_other;
    char message[256];
} reader;

static int differ(hx_hash a, hx_hash b)
{
    return a.a != b.a || a.b != b.b;
}

static int read_one(const char *path, hx_hash *hash)
{
    hx_mesh mesh;
    HX_TRY(hx_mesh_read(path, 0.0, &mesh, NULL, NULL));
    *hash = hx_mesh_order_hash(&mesh);
    hx_mesh_free(&mesh);
    return HX_OK;
}

static void *read_all(void *context)
{
    reader *const r = context;
    for (int i = 0; i < N_TURN; i++) {
        const int k = (r->first + i) % r->n_file;
        hx_hash hash = {0, 0};
        if (read_one(r->file[k], &hash) < 0) {
            r->n_failed++;
            snprintf(r->message, sizeof r->message, "%s", hx_error_message());
            continue;
        }
        if (i < r->n_file) r->hash[k] = hash;
        r->n_other += differ(hash, r->hash[k]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[N_THREAD];
    static reader all[N_THREAD];
    const int n_file = argc - 1 < MOST_FILES ? argc - 1 : MOST_FILES;
    CHECK(n_file > 0);
#ifndef HX_HAVE_EXODUS
    return 77;
#endif
    for (int t = 0; t < N_THREAD; t++) {
        all[t].n_file = n_file;
        all[t].first = t;
        all[t].file = argv + 1;
        CHECK(pthread_create(&thread[t], NULL, read_all, &all[t]) == 0);
    }
    for (int t = 0; t < N_THREAD; t++) CHECK(pthread_join(thread[t], NULL) == 0);
    for (int t = 0; t < N_THREAD; t++)
        CHECK_MSG(all[t].n_failed == 0 && all[t].n_other == 0,
                  "thread %d: %d failed, %d differ: %s", t, all[t].n_failed, all[t].n_other,
                  all[t].message);
    for (int k = 0; k < n_file; k++) {
        hx_hash alone = {0, 0};
        CHECK_OK(read_one(argv[1 + k], &alone));
        for (int t = 0; t < N_THREAD; t++) CHECK(!differ(alone, all[t].hash[k]));
    }
    TEST_END();
}
