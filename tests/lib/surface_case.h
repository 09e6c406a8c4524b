/* A mesh with densities, their field and its surface. */
#ifndef HX_TEST_SURFACE_CASE_H
#define HX_TEST_SURFACE_CASE_H

#include "core/surface/surface.h"
#include "tests/lib/fixture.h"

/* Data of one case. */
typedef struct part {
    hx_mesh mesh;
    double *rho;
    hx_surface_field field;
    hx_surface surface;
} part;

static inline void part_free(part *p)
{
    hx_surface_free(&p->surface);
    hx_surface_field_free(&p->field);
    free(p->rho);
    hx_mesh_free(&p->mesh);
    memset(p, 0, sizeof *p);
}

/* A finished box with densities 1 and its field. */
static inline void make_box(part *p, const fixture_box *box)
{
    memset(p, 0, sizeof *p);
    CHECK_OK(fixture_box_create(&p->mesh, box));
    CHECK_OK(fixture_finish(&p->mesh, FIXTURE_SHUFFLED));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    for (int64_t e = 0; e < p->mesh.n_elem; e++) p->rho[e] = 1.0;
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, NULL));
}

#endif
