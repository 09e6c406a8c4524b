/* Problems for tests of operators, and vectors for products, with references per element
 * (stiffness_reference.h). */
#ifndef HX_TEST_OPERATOR_MODEL_H
#define HX_TEST_OPERATOR_MODEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/operator/operator.h"
#include "tests/lib/fan.h"
#include "tests/lib/mixed_model.h"
#include "tests/lib/stiffness_reference.h"

static uint64_t random_state = 88172645463325252u;

static inline double uniform(double low, double high)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (high - low) * (double)(random_state >> 11) * 0x1p-53;
}

/* A supported box or connecting rod, distorted and shuffled; a problem on it. */
typedef struct model {
    hx_mesh mesh;
    hx_problem problem;
} model;

/* Change of the half of a box with large x. */
typedef enum { AS_IT_IS, HALF_DISTORTED, HALF_SHEARED } change;

static inline void change_half(hx_mesh *mesh, change half)
{
    double low = mesh->xyz[0], high = low;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        test_least(&low, mesh->xyz[3 * a]);
        test_worst(&high, mesh->xyz[3 * a]);
    }
    for (int64_t a = 0; a < mesh->n_node; a++) {
        double *x = mesh->xyz + 3 * a;
        const double beyond = x[0] - 0.5 * (low + high);
        if (half == AS_IT_IS || beyond <= 0.0) continue;
        for (int i = 0; i < 3; i++)
            x[i] += half == HALF_SHEARED ? (0.3 - 0.2 * i) * beyond : uniform(-0.2, 0.2);
    }
}

/* A problem on the finished mesh, supported at one set and loaded at another. */
static inline int make_problem(model *m, const char *held, const char *loaded, double nu)
{
    const hx_support_spec support = {
        .set = held, .origin = "checkop", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    const hx_load_spec load = {.set = loaded,
                               .origin = "checkop",
                               .kind = HX_LOAD_NODE_FORCE,
                               .value = {0.0, 0.0, -1.0},
                               .load_case = 1};
    const hx_problem_params problem = {.origin = "checkop",
                                       .young = 1.0,
                                       .poisson = nu,
                                       .rho_min = 0.001,
                                       .n_support = 1,
                                       .support = &support,
                                       .n_load = 1,
                                       .load = &load};
    return hx_problem_create(&m->problem, &m->mesh, &problem);
}

static inline int make_model(model *m, const char *generator, const hx_generate_params *params,
                             double nu, int shuffled, change half)
{
    memset(m, 0, sizeof *m);
    HX_TRY(hx_generate(hx_generator_find(generator), &m->mesh, params));
    change_half(&m->mesh, half);
    if (shuffled)
        HX_TRY(hx_mesh_shuffle(&m->mesh, 7));
    else
        HX_TRY(hx_mesh_reorder(&m->mesh));
    HX_TRY(hx_mesh_finish(&m->mesh));
    const int is_box = strcmp(generator, "cantilever") == 0;
    return make_problem(m, is_box ? "left" : "lower-bore", is_box ? "right" : "upper-bore", nu);
}

/* Collapsed cells: the numbering of every cell is rotated at random, then shuffled or reordered. */
static inline int make_mixed_model(model *m, const mixed_box *box, int shuffled)
{
    memset(m, 0, sizeof *m);
    HX_TRY(mixed_create_part(&m->mesh, box, shuffled ? FIXTURE_SHUFFLED : FIXTURE_REORDERED));
    return make_problem(m, "left", "corner-x", 0.3);
}

/* Wedges or tetrahedra around an axis; every node of the axis belongs to all cells of a layer. */
static inline int make_fan_model(model *m, int n, int tetrahedra)
{
    memset(m, 0, sizeof *m);
    HX_TRY(tetrahedra ? fan_create_tetrahedra(&m->mesh, n) : fan_create_wedges(&m->mesh, n, 2));
    HX_TRY(hx_mesh_shuffle(&m->mesh, 7));
    HX_TRY(hx_mesh_finish(&m->mesh));
    return make_problem(m, "rim", "axis", 0.3);
}

static inline void free_model(model *m)
{
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

/* The reference of a model for several x, shared by all its operators: first x in double precision,
 * then x that single precision represents. */
enum { N_DOUBLE = 2, N_SAMPLE = 3 };

typedef struct vectors {
    int64_t n_dof;
    double *x, *y, *z, *modulus, *energy;
    double *at[N_SAMPLE], *energy_ref[N_SAMPLE];
    real *ref[N_SAMPLE], *diag;
    real (*ke)[24][24]; /* element matrices of the reference; NULL without one */
    double *d_x, *d_y;
    float *single, *d_single_x, *d_single_y;
} vectors;

static inline int make_vectors(vectors *v, hx_device *dev, const hx_mesh *mesh)
{
    const size_t n = 3 * (size_t)mesh->n_node;
    memset(v, 0, sizeof *v);
    v->n_dof = (int64_t)n;
    HX_TRY(hx_alloc(&v->x, n, sizeof(double), "x"));
    HX_TRY(hx_alloc(&v->y, n, sizeof(double), "y"));
    HX_TRY(hx_alloc(&v->z, n, sizeof(double), "z"));
    HX_TRY(hx_alloc(&v->modulus, (size_t)mesh->n_elem, sizeof(double), "modulus"));
    HX_TRY(hx_alloc(&v->energy, (size_t)mesh->n_elem, sizeof(double), "energy"));
    HX_TRY(hx_alloc(&v->single, n, sizeof(float), "x in single precision"));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(float), &v->d_single_x));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(float), &v->d_single_y));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &v->d_x));
    HX_TRY(dev->ops->alloc(dev, n * sizeof(double), &v->d_y));
    for (int64_t e = 0; e < mesh->n_elem; e++) v->modulus[e] = pow(10.0, uniform(-9.0, 0.0));
    return HX_OK;
}

static inline void free_vectors(vectors *v, hx_device *dev)
{
    void *const host[] = {v->x, v->y, v->z, v->modulus, v->energy, v->diag, v->ke, v->single};
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) free(host[i]);
    for (int i = 0; i < N_SAMPLE; i++) {
        free(v->at[i]);
        free(v->energy_ref[i]);
        free(v->ref[i]);
    }
    dev->ops->release(dev, v->d_x);
    dev->ops->release(dev, v->d_y);
    dev->ops->release(dev, v->d_single_x);
    dev->ops->release(dev, v->d_single_y);
}

/* Computes the reference of every element and for every x. */
static inline int make_references(vectors *v, const model *m)
{
    const size_t n = (size_t)v->n_dof, n_elem = (size_t)m->mesh.n_elem;
    HX_TRY(make_reference(&m->mesh, m->problem.poisson, &v->ke));
    HX_TRY(hx_alloc(&v->diag, n, sizeof(real), "reference"));
    for (int k = 0; k < N_SAMPLE; k++) {
        HX_TRY(hx_alloc(&v->at[k], n, sizeof(double), "x"));
        HX_TRY(hx_alloc(&v->energy_ref[k], n_elem, sizeof(double), "energy"));
        HX_TRY(hx_alloc(&v->ref[k], n, sizeof(real), "reference"));
        for (size_t i = 0; i < n; i++) {
            const double x = uniform(-1.0, 1.0);
            v->at[k][i] = k < N_DOUBLE ? x : (double)(float)x;
        }
        reference_product(&m->mesh, v->ke, v->modulus, v->at[k], v->ref[k], v->diag,
                          v->energy_ref[k]);
    }
    return HX_OK;
}

#endif
