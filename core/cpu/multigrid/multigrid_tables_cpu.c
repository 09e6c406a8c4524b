/* The contribution of a cell to P'K P from the tables of its class (multigrid_classes_cpu.c). */
#include <stdlib.h>
#include <string.h>

#include "multigrid_classes_cpu.h"

enum {
    N_MODEL = HX_MG_PLACE_MODELS,
    N_ELEM = HX_MG_PLACE_ELEMS,
    LANES = 8,
    STRIP = HX_CPU_STRIP,
    N_STRIP = HX_MG_SHARE / STRIP
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

void hx_cpu_classes_free(hx_device *dev, hx_mg_mesh *mesh)
{
    struct hx_cpu_classes *const s = mesh->own;
    (void)dev;
    if (!s) return;
    for (int m = 0; m < s->n; m++) free(s->of[m].table);
    free(s->cell);
    free(s->elem);
    free(s);
    mesh->own = NULL;
}

/* share = sum of modulus times table over the elements. */
HX_INLINED void sum_tables_lanes(int n, const float *modulus, const float *table, float *share)
{
    for (int strip = 0; strip < N_STRIP; strip++, share += STRIP) {
        lanes sum[STRIP / LANES];
        memset(sum, 0, sizeof sum);
        for (int k = 0; k < n; k++, table += STRIP)
            for (int i = 0; i < STRIP / LANES; i++) {
                lanes t;
                memcpy(&t, table + LANES * i, sizeof t);
                sum[i] += modulus[k] * t;
            }
        memcpy(share, sum, sizeof sum);
    }
}
HX_VERSIONS(sum_tables, (int n, const float *modulus, const float *table, float *share),
            (n, modulus, table, share))

int hx_cpu_classes_share(const hx_mg_mesh *mesh, int64_t cell, float *share)
{
    const struct hx_cpu_classes *const s = mesh->own;
    float modulus[N_ELEM];
    if (!s || s->cell[cell] == N_MODEL || !s->of[s->cell[cell]].table) return 0;
    const hx_cpu_class *const c = &s->of[s->cell[cell]];
    const int32_t *const elem = s->elem + mesh->d_cell_elem_at[cell];
    for (int k = 0; k < c->n_elem; k++) modulus[k] = hx_cpu_modulus(mesh, elem[k]);
    sum_tables(c->n_elem, modulus, c->table, share);
    return 1;
}
