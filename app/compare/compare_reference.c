/* The product that operators are held against, from the element formulas alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/base/sum.h"
#include "core/mesh/hex8.h"

/* Uniform in [-1, 1], from the index alone. */
static double random_entry(uint64_t index, uint64_t stream)
{
    return 2.0 * hx_random_unit(hx_random_mix((index + 1) * HX_RANDOM_STEP + stream)) - 1.0;
}

/* The densities that the first design iteration starts from, before any filter. */
static int make_density(hx_session *s, double **density)
{
    const hx_problem *problem = &s->problem;
    const int64_t n = s->mesh.n_elem;
    HX_TRY(hx_session_read_initial(s, density));
    const int given = *density != NULL;
    if (!given) HX_TRY(hx_alloc_raw(density, (size_t)n, sizeof **density, "densities"));
    for (int64_t e = 0; e < n; e++) {
        double rho = given ? (*density)[e] : problem->initial_density;
        if (problem->passive.density && !isnan(problem->passive.density[e]))
            rho = problem->passive.density[e];
        if (!(rho >= 0.0 && rho <= 1.0))
            return hx_config_blame(&s->cfg, "optimization.initial",
                                   HX_RAISE(HX_EINPUT,
                                            "density of element %lld is %g, not in "
                                            "[0, 1]",
                                            (long long)hx_mesh_elem_number(&s->mesh, e), rho));
        (*density)[e] = fmax(rho, problem->rho_min);
    }
    return HX_OK;
}

/* Forces of one element on its corners: modulus Ke x_e. */
static void element_forces(const hx_session *s, double modulus, const double *x, int64_t e,
                           double *force)
{
    const int32_t *conn = s->mesh.conn + 8 * e;
    double xe[24], ue[24], ke[576];
    for (int a = 0; a < 8; a++) {
        memcpy(xe + 3 * a, s->mesh.xyz + 3 * (int64_t)conn[a], 3 * sizeof *xe);
        memcpy(ue + 3 * a, x + 3 * (int64_t)conn[a], 3 * sizeof *ue);
    }
    hx_hex8_stiffness(xe, s->problem.lambda, s->problem.mu, ke);
    for (int m = 0; m < 24; m++) {
        double sum = 0.0;
        for (int n = 0; n < 24; n++) sum += ke[24 * m + n] * ue[n];
        force[m] = modulus * sum;
    }
}

/* kx = K x: the elements of a chunk at the same time, their forces added one after the other. */
static int product(const hx_session *s, hx_compare_reference *ref)
{
    enum { CHUNK = 8192 };
    const int64_t n_elem = s->mesh.n_elem;
    double *force;
    HX_TRY(hx_alloc_raw(&force, (size_t)CHUNK * 24, sizeof *force, "element forces"));
    memset(ref->kx, 0, (size_t)ref->n_dof * sizeof *ref->kx);
    for (int64_t first = 0; first < n_elem; first += CHUNK) {
        const int64_t n = first + CHUNK < n_elem ? CHUNK : n_elem - first;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            element_forces(s, ref->modulus[first + i], ref->x, first + i, force + 24 * i);
        for (int64_t i = 0; i < 8 * n; i++) {
            double *row = ref->kx + 3 * (int64_t)s->mesh.conn[8 * first + i];
            for (int k = 0; k < 3; k++) row[k] += force[3 * i + k];
        }
    }
    free(force);
    return HX_OK;
}

static int fill(hx_compare_reference *ref, hx_session *s)
{
    const size_t n = (size_t)ref->n_dof;
    double **const vector[] = {&ref->x, &ref->z, &ref->kx, &ref->y};
    HX_TRY(hx_alloc_raw(&ref->modulus, (size_t)s->mesh.n_elem, sizeof *ref->modulus, "moduli"));
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++)
        HX_TRY(hx_alloc_raw(vector[i], n, sizeof **vector[i], "vectors of the check"));
    HX_TRY(make_density(s, &ref->density));
    hx_problem_modulus(&s->problem, ref->density, ref->modulus);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < ref->n_dof; i++) {
        ref->x[i] = random_entry((uint64_t)i, 1);
        ref->z[i] = random_entry((uint64_t)i, 2);
    }
    HX_TRY(product(s, ref));
    ref->z_norm = sqrt(hx_dot(ref->n_dof, ref->z, ref->z));
    ref->kx_norm = sqrt(hx_dot(ref->n_dof, ref->kx, ref->kx));
    return HX_OK;
}

int hx_compare_reference_create(hx_compare_reference *ref, hx_session *s)
{
    memset(ref, 0, sizeof *ref);
    ref->n_dof = 3 * s->mesh.n_node;
    const int rc = fill(ref, s);
    if (rc < 0) hx_compare_reference_free(ref);
    return rc;
}

void hx_compare_reference_free(hx_compare_reference *ref)
{
    free(ref->density);
    free(ref->modulus);
    free(ref->x);
    free(ref->z);
    free(ref->kx);
    free(ref->y);
    memset(ref, 0, sizeof *ref);
}
