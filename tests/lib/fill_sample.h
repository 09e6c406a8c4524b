/* The input of a fill, for any space, in the memory of a device. */
#ifndef HX_TEST_FILL_SAMPLE_H
#define HX_TEST_FILL_SAMPLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/matrix/matrix.h"
#include "core/spline/spline_rule.h"

typedef struct fill_sample {
    hx_device *dev;        /* (borrowed) */
    const hx_space *space; /* (borrowed) */
    double *modulus;       /* [n_cell] 1e-3 .. 1, the first 0 (owned) */
    hx_fill_input input;
    hx_spline_rule rule; /* rule of a spline, in device memory except `first` */
    void *d_owned[12];
    int n_owned;
} fill_sample;

static inline int fill_sample_put(fill_sample *s, const void **d_out, const void *from, size_t n,
                                  size_t size)
{
    if (!from) return HX_OK;
    HX_TRY(hx_device_put(s->dev, &s->d_owned[s->n_owned], from, n * size));
    *d_out = s->d_owned[s->n_owned++];
    return HX_OK;
}

#define FILL_SAMPLE_PUT(sample, to, from, n)                                                       \
    HX_TRY(fill_sample_put(sample, (const void **)&(to), from, (size_t)(n), sizeof *(from)))

static inline int fill_sample_put_incidence(fill_sample *s)
{
    const hx_incidence from = hx_incidence_of_space(s->space);
    hx_incidence *const to = &s->input.incidence;
    *to = from;
    FILL_SAMPLE_PUT(s, to->cell_ptr, from.cell_ptr, from.n_cell + 1);
    FILL_SAMPLE_PUT(s, to->pair_ptr, from.pair_ptr, from.n_cell + 1);
    FILL_SAMPLE_PUT(s, to->place_cell, from.place_cell, from.n_place);
    FILL_SAMPLE_PUT(s, to->kind, from.kind, from.n_cell);
    FILL_SAMPLE_PUT(s, to->point, from.point, from.n_place);
    FILL_SAMPLE_PUT(s, to->point_ptr, from.point_ptr, from.n_point + 1);
    FILL_SAMPLE_PUT(s, to->point_place, from.point_place, from.n_place);
    return HX_OK;
}

static inline int fill_sample_put_rule(fill_sample *s)
{
    const hx_spline_rule *const from = s->space->spline_rule;
    if (!from) return HX_OK;
    s->rule = *from;
    FILL_SAMPLE_PUT(s, s->rule.patch, from->patch, from->n_patch);
    FILL_SAMPLE_PUT(s, s->rule.table, from->table, from->n_table);
    FILL_SAMPLE_PUT(s, s->rule.weight, from->weight, from->n_point);
    s->input.incidence.spline = &s->rule;
    return HX_OK;
}

/* A sample with c unknowns per point and nu = 0.3. Release it, even after a failure; for a spline
 * it must not move. */
static inline int fill_sample_create(fill_sample *s, hx_device *dev, const hx_space *space, int c)
{
    const hx_mesh *const mesh = space->mesh;
    const double nu = 0.3;
    uint64_t state = 5;
    memset(s, 0, sizeof *s);
    s->dev = dev;
    s->space = space;
    s->modulus = malloc((size_t)mesh->n_elem * sizeof *s->modulus);
    if (!s->modulus) return HX_RAISE(HX_ENOMEM, "moduli");
    for (int64_t e = 0; e < mesh->n_elem; e++)
        s->modulus[e] = e == 0 ? 0.0 : pow(10.0, -3.0 * hx_random_unit(hx_random_next(&state)));
    HX_TRY(fill_sample_put_incidence(s));
    HX_TRY(fill_sample_put_rule(s));
    s->input.form = (hx_form){c == 3 ? HX_FORM_ELASTICITY : HX_FORM_CONDUCTION,
                              nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu)};
    s->input.rule = space->rule;
    FILL_SAMPLE_PUT(s, s->input.d_xyz, space->xyz, 3 * space->n_point);
    FILL_SAMPLE_PUT(s, s->input.d_modulus, s->modulus, mesh->n_elem);
    return HX_OK;
}

static inline void fill_sample_free(fill_sample *s)
{
    while (s->n_owned > 0) s->dev->ops->release(s->dev, s->d_owned[--s->n_owned]);
    free(s->modulus);
}

#endif
