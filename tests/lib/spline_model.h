/* A glued spline with its image mesh and the space over it, for tests. */
#ifndef HX_TEST_SPLINE_MODEL_H
#define HX_TEST_SPLINE_MODEL_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mesh/mesh.h"
#include "core/space/space.h"
#include "core/spline/spline_glue.h"
#include "fixture.h"
#include "spline_box.h"

/* Its parts point to each other, so it must not move. */
typedef struct spline_model {
    hx_spline spline;
    hx_mesh mesh; /* the image; sets "patch1:u-" and the like as faces */
    hx_space space;
} spline_model;

static inline void spline_model_free(spline_model *m)
{
    hx_space_free(&m->space);
    hx_mesh_free(&m->mesh);
    hx_spline_free(&m->spline);
}

/* The node at x; a new one if no node is within the tolerance. */
static inline int32_t spline_model_node(double *xyz, int64_t *n, const double x[3])
{
    for (int64_t a = 0; a < *n; a++)
        if (fabs(xyz[3 * a] - x[0]) + fabs(xyz[3 * a + 1] - x[1]) + fabs(xyz[3 * a + 2] - x[2]) <
            1e-9)
            return (int32_t)a;
    memcpy(xyz + 3 * *n, x, 3 * sizeof *x);
    return (int32_t)(*n)++;
}

static inline void spline_model_corner(const hx_spline_patch *patch, const int span[3], int a,
                                       double x[3])
{
    const int end[3] = {(a + 1) >> 1 & 1, a >> 1 & 1, a >> 2 & 1};
    double t[3];
    for (int d = 0; d < 3; d++) t[d] = patch->axis[d].knot[patch->axis[d].span[span[d]] + end[d]];
    hx_spline_map(patch, t, x, NULL);
}

/* A set of each side of each patch. */
static inline int spline_model_sets(spline_model *m)
{
    static const int local[6] = {0, 1, 2, 3, 4, 5}; /* of hx_hex_face: u-, u+, v-, v+, w-, w+ */
    for (int k = 0; k < m->spline.n_patch; k++)
        for (int side = 0; side < 6; side++) {
            const hx_spline_patch *const patch = &m->spline.patch[k];
            const int d = side / 2, last = side % 2 ? patch->axis[d].n_span - 1 : 0;
            char name[64];
            int64_t *face, n = 0;
            HX_TRY(hx_alloc(&face, (size_t)hx_spline_patch_cells(patch), sizeof *face, "faces"));
            for (int64_t e = 0; e < hx_spline_patch_cells(patch); e++) {
                int span[3];
                hx_spline_patch_spans(patch, patch->first_cell + e, span);
                if (span[d] == last) face[n++] = 6 * (patch->first_cell + e) + local[side];
            }
            const int rc = hx_mesh_add_face_set(
                &m->mesh, hx_spline_side_text((hx_spline_side){k, side}, name, sizeof name), n,
                face);
            free(face);
            HX_TRY(rc);
        }
    return HX_OK;
}

/* Image and space of the patches of m->spline, which it glues. */
static inline int spline_model_finish(spline_model *m)
{
    double *xyz = NULL;
    int32_t *conn = NULL;
    int64_t n = 0;
    HX_TRY(hx_spline_find_interfaces(&m->spline, NULL));
    HX_TRY(hx_spline_glue(&m->spline));
    HX_TRY(hx_alloc(&xyz, 24 * (size_t)m->spline.n_cell, sizeof *xyz, "nodes"));
    HX_TRY(hx_alloc(&conn, 8 * (size_t)m->spline.n_cell, sizeof *conn, "elements"));
    for (int k = 0; k < m->spline.n_patch; k++) {
        const hx_spline_patch *const patch = &m->spline.patch[k];
        for (int64_t e = patch->first_cell; e < patch->first_cell + hx_spline_patch_cells(patch);
             e++) {
            int span[3];
            hx_spline_patch_spans(patch, e, span);
            for (int a = 0; a < 8; a++) {
                double x[3];
                spline_model_corner(patch, span, a, x);
                conn[8 * e + a] = spline_model_node(xyz, &n, x);
            }
        }
    }
    HX_TRY(hx_mesh_create(&m->mesh, "spline", n, xyz, m->spline.n_cell, conn));
    HX_TRY(spline_model_sets(m));
    HX_TRY(hx_mesh_finish(&m->mesh));
    return hx_space_create_spline(&m->space, &m->mesh, &m->spline);
}

/* Weights between 0.5 and 1.5 that are not a tensor product; 1 on the sides, so that patches
 * conform. */
static inline int spline_model_weigh(hx_spline *spline)
{
    uint64_t state = 11;
    for (int k = 0; k < spline->n_patch; k++) {
        hx_spline_patch *const p = &spline->patch[k];
        const int64_t n = hx_spline_patch_points(p);
        HX_TRY(hx_alloc(&p->weight, (size_t)n, sizeof *p->weight, "weights"));
        for (int64_t i = 0; i < n; i++) {
            const int at[3] = {(int)(i % p->axis[0].n), (int)(i / p->axis[0].n % p->axis[1].n),
                               (int)(i / p->axis[0].n / p->axis[1].n)};
            int is_inside = 1;
            for (int d = 0; d < 3; d++) is_inside &= at[d] > 0 && at[d] < p->axis[d].n - 1;
            p->weight[i] = is_inside || k == 0 ? fixture_uniform(&state, 0.5, 1.5) : 1.0;
            if (k == 0 && spline->n_patch > 1 && !is_inside) p->weight[i] = 1.0;
        }
    }
    return HX_OK;
}

/* A row of patches along x, with control points moved by `map` (NULL: not moved). */
static inline int spline_model_row(spline_model *m, int n, const int degree[3], const int n_span[3],
                                   const int twice[3], int is_rational,
                                   void (*map)(const double x[3], double y[3]))
{
    memset(m, 0, sizeof *m);
    if (box_row(&m->spline, n, degree, n_span, twice) < 0) return HX_EINTERNAL;
    for (int k = 0; map && k < n; k++)
        for (int64_t i = 0; i < hx_spline_patch_points(&m->spline.patch[k]); i++) {
            double y[3];
            map(m->spline.patch[k].point + 3 * i, y);
            memcpy(m->spline.patch[k].point + 3 * i, y, sizeof y);
        }
    if (is_rational) HX_TRY(spline_model_weigh(&m->spline));
    return spline_model_finish(m);
}

#endif
