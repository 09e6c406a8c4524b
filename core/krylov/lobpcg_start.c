/* Memory, deflation and start vectors of LOBPCG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/random.h"
#include "../linalg/symmetric_eigen.h"
#include "lobpcg_internal.h"

int hx_lobpcg_block_size(int n_wanted)
{
    const int more = n_wanted / 3;
    return n_wanted + (more > 2 ? more : 2);
}

int hx_lobpcg_vectors(int n_block, int n_motion)
{
    return 9 * n_block + 2 * n_motion + 2;
}

static int alloc_vector(hx_lobpcg *e, double **d_v)
{
    const size_t bytes = (size_t)((e->n + 63) / 64 * 64) * sizeof **d_v;
    HX_TRY(e->dev->ops->alloc(e->dev, bytes, d_v));
    return e->dev->ops->zero(e->dev, *d_v, bytes);
}

static int alloc_block(hx_lobpcg *e, hx_lobpcg_block *block)
{
    for (int j = 0; j < e->params.n_block; j++) {
        HX_TRY(alloc_vector(e, &block->d_v[j]));
        HX_TRY(alloc_vector(e, &block->d_kv[j]));
        HX_TRY(alloc_vector(e, &block->d_mv[j]));
    }
    return HX_OK;
}

static int alloc_all(hx_lobpcg *e)
{
    const size_t square = (size_t)HX_RITZ_MOST * HX_RITZ_MOST;
    HX_TRY(alloc_block(e, &e->x));
    HX_TRY(alloc_block(e, &e->w));
    HX_TRY(alloc_block(e, &e->p));
    HX_TRY(alloc_vector(e, &e->d_diagonal));
    HX_TRY(alloc_vector(e, &e->d_scratch));
    if (e->k->prepare_exact) HX_TRY(e->k->prepare_exact(e->k));
    if (e->k->exact) e->k = e->k->exact;
    return hx_alloc(&e->work, 2 * square + hx_ritz_doubles(), sizeof *e->work, "the eigensolver");
}

int hx_lobpcg_create(hx_lobpcg *e, const hx_lobpcg_params *params, const hx_linear *k,
                     hx_precond *pc, const hx_mass *mass)
{
    memset(e, 0, sizeof *e);
    e->params = *params;
    if (e->params.n_block <= 0) e->params.n_block = hx_lobpcg_block_size(params->n_wanted);
    if (e->params.n_block > HX_LOBPCG_MOST)
        return HX_RAISE(HX_EINPUT,
                        "%d eigenvalues need %d vectors, which is more than %d: ask for 24 or "
                        "fewer",
                        params->n_wanted, e->params.n_block, HX_LOBPCG_MOST);
    if (3 * (int64_t)e->params.n_block > k->n)
        return HX_RAISE(HX_EINPUT, "%d eigenvalues are too many for %lld degrees of freedom",
                        params->n_wanted, (long long)k->n);
    e->dev = k->dev;
    e->k = k;
    e->pc = pc;
    e->mass = mass;
    e->n = k->n;
    const int rc = alloc_all(e);
    if (rc < 0) hx_lobpcg_free(e);
    return rc;
}

/* The motions become orthonormal in M. */
static int orthonormalise(hx_lobpcg *e)
{
    const int n = e->n_motion;
    double g[HX_LOBPCG_MOTIONS * HX_LOBPCG_MOTIONS], t[HX_LOBPCG_MOTIONS * HX_LOBPCG_MOTIONS];
    double work[HX_LOBPCG_MOTIONS * (HX_LOBPCG_MOTIONS + 1)];
    const hx_block_ops *const block = e->dev->ops->block;
    for (int pass = 0; pass < 2; pass++) {
        int n_left;
        HX_TRY(hx_mass_apply(e->mass, n, (const double *const *)e->d_motion, e->d_mass_motion));
        HX_TRY(block->gram(e->dev, e->n, n, (const double *const *)e->d_motion, n,
                           (const double *const *)e->d_mass_motion, g));
        hx_gram_basis(n, g, 1e-10, work, t, &n_left);
        if (n_left < n)
            return HX_RAISE(HX_ENUMERIC, "the rigid motions of the part are not independent");
        HX_TRY(
            block->combine(e->dev, e->n, n, (const double *const *)e->d_motion, n, t, e->d_motion));
    }
    return hx_mass_apply(e->mass, n, (const double *const *)e->d_motion, e->d_mass_motion);
}

int hx_lobpcg_deflate(hx_lobpcg *e, int n_motion, const double *const motion[])
{
    for (int i = 0; i < n_motion; i++) {
        HX_TRY(alloc_vector(e, &e->d_motion[i]));
        HX_TRY(alloc_vector(e, &e->d_mass_motion[i]));
        e->n_motion = i + 1;
        HX_TRY(e->dev->ops->upload(e->dev, e->d_motion[i], motion[i],
                                   (size_t)e->n * sizeof *motion[i]));
        HX_TRY(hx_linear_constrain(e->k, e->d_motion[i]));
    }
    return e->n_motion > 0 ? orthonormalise(e) : HX_OK;
}

/* A wave along a coordinate: cos(rate (x - origin) + phase). */
typedef struct wave {
    double rate, phase;
} wave;

/* Half waves along the longest side of the part grow with the number of the vector. */
static void choose_waves(const hx_mesh *mesh, int j, uint64_t *state, wave of[3][3])
{
    const double pi = 3.14159265358979323846;
    double longest = 0.0;
    for (int d = 0; d < 3; d++) longest = fmax(longest, mesh->box_max[d] - mesh->box_min[d]);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) {
            const double most = (1.0 + 0.25 * j) * pi / (longest > 0.0 ? longest : 1.0);
            of[i][d].rate = most * hx_random_unit(hx_random_next(state));
            of[i][d].phase = 2.0 * pi * hx_random_unit(hx_random_next(state));
        }
}

int hx_lobpcg_put_waves(hx_lobpcg *e)
{
    const hx_problem *const problem = e->mass->op->problem;
    const hx_space *const space = &problem->space;
    const hx_mesh *const mesh = hx_problem_whole(problem)->mesh;
    uint64_t state = 60;
    double *v;
    int rc = HX_OK;
    HX_TRY(hx_alloc_raw(&v, (size_t)e->n, sizeof *v, "start vectors"));
    for (int j = 0; j < e->params.n_block && rc == HX_OK; j++) {
        wave of[3][3];
        choose_waves(mesh, j, &state, of);
#pragma omp parallel for schedule(static)
        for (int64_t p = 0; p < space->n_point; p++)
            for (int i = 0; i < 3; i++) {
                double value = 1.0;
                for (int d = 0; d < 3; d++)
                    value *= cos(of[i][d].rate * (space->xyz[3 * p + d] - mesh->box_min[d]) +
                                 of[i][d].phase);
                v[3 * p + i] = value;
            }
        rc = e->dev->ops->upload(e->dev, e->x.d_v[j], v, (size_t)e->n * sizeof *v);
        if (rc == HX_OK) rc = hx_linear_constrain(e->k, e->x.d_v[j]);
    }
    free(v);
    return rc;
}

int hx_lobpcg_vector(const hx_lobpcg *e, int k, double *vector)
{
    double most = 0.0, sign = 0.0;
    HX_TRY(e->dev->ops->download(e->dev, vector, e->x.d_v[k], (size_t)e->n * sizeof *vector));
    for (int64_t i = 0; i < e->n; i++) most = fmax(most, fabs(vector[i]));
    for (int64_t i = 0; i < e->n && sign == 0.0; i++)
        if (fabs(vector[i]) >= (1.0 - 1e-6) * most) sign = vector[i] < 0.0 ? -1.0 : 1.0;
    for (int64_t i = 0; i < e->n && sign < 0.0; i++) vector[i] = -vector[i];
    return HX_OK;
}

static void free_block(hx_lobpcg *e, hx_lobpcg_block *block)
{
    for (int j = 0; j < HX_LOBPCG_MOST; j++) {
        e->dev->ops->release(e->dev, block->d_v[j]);
        e->dev->ops->release(e->dev, block->d_kv[j]);
        e->dev->ops->release(e->dev, block->d_mv[j]);
    }
}

void hx_lobpcg_free(hx_lobpcg *e)
{
    if (!e->dev) return;
    free_block(e, &e->x);
    free_block(e, &e->w);
    free_block(e, &e->p);
    e->dev->ops->release(e->dev, e->d_diagonal);
    e->dev->ops->release(e->dev, e->d_scratch);
    for (int i = 0; i < HX_LOBPCG_MOTIONS; i++) {
        e->dev->ops->release(e->dev, e->d_motion[i]);
        e->dev->ops->release(e->dev, e->d_mass_motion[i]);
    }
    free(e->work);
    memset(e, 0, sizeof *e);
}
