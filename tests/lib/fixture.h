/* Shared by tests of the solver: a device by its name, distorted boxes, and the chain from the
 * operator to the optimizer. */
#ifndef HX_TEST_FIXTURE_H
#define HX_TEST_FIXTURE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/design/design_ops.h"
#include "core/design/oc.h"
#include "core/design/optimizer.h"
#include "core/generate/generate.h"
#include "core/krylov/pcg_ops.h"
#include "core/linalg/vector_ops.h"
#include "core/operator/element_ops.h"
#include "core/registry.h"
#include "test.h"

/* xorshift64; *state must not be 0. */
static inline double fixture_uniform(uint64_t *state, double low, double high)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

/* 1 for meshes of a few elements, on which threads only wait for each other. */
static inline void fixture_set_threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

static inline int fixture_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* Opens the device that the arguments name (default: "cpu"); *quick: 1 if "quick" is among them.
 * Returns 0, or the exit status of a test that cannot run. */
static inline int fixture_open(hx_device *dev, int argc, char **argv, int *quick)
{
    const char *name = "cpu";
    char why[256];
    *quick = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "quick") == 0)
            *quick = 1;
        else
            name = argv[i];
    const hx_device_ops *const ops = hx_device_find(name);
    if (!ops) TEST_SKIP("this build has no device '%s'", name);
    if (ops->prepare) ops->prepare(0); /* fails silently */
    if (!ops->available(why, sizeof why)) TEST_SKIP("device '%s': %s", name, why);
    if (hx_device_open(dev, ops) == HX_OK) return 0;
    printf("%s (%s)\n", hx_error_message(), hx_error_where());
    return 1;
}

/* 1: the device conducts heat through such elements. */
static inline int fixture_has_heat(const hx_device *dev, hx_element element)
{
    const hx_conduction_ops *const ops = dev->ops->conduction;
    return element == HX_ELEMENT_LINEAR ||
           (element == HX_ELEMENT_SPLINE ? ops->splines : ops->quadratic);
}

/* Opens the device for a test of small meshes: with one thread, and nothing left out when quick. */
static inline int fixture_open_small(hx_device *dev, int argc, char **argv)
{
    int quick;
    const int status = fixture_open(dev, argc, argv, &quick);
    if (status == 0) fixture_set_threads(1);
    return status;
}

/* Switches to another device of this kind; as far as possible, each process gets its own. */
static inline void fixture_move(hx_device *dev, int host_rank)
{
    const hx_device_ops *const ops = dev->ops;
    hx_device_close(dev);
    CHECK_OK(hx_device_open_at(dev, ops, host_rank));
}

/* Copies n doubles to a new field of the device; returns NULL on failure. */
static inline double *fixture_put(hx_device *dev, size_t n, const double *from)
{
    double *d_p = NULL;
    CHECK_OK(dev->ops->alloc(dev, n * sizeof *d_p, &d_p));
    if (d_p && from) CHECK_OK(dev->ops->upload(dev, d_p, from, n * sizeof *d_p));
    return d_p;
}

static inline void fixture_get(hx_device *dev, size_t n, double *to, const double *d_from)
{
    CHECK_OK(dev->ops->download(dev, to, d_from, n * sizeof *to));
}

typedef enum { FIXTURE_IN_ORDER, FIXTURE_SHUFFLED, FIXTURE_REORDERED } fixture_order;

typedef struct fixture_box {
    int n[3];
    double length[3];
    double distort; /* largest fraction of the element size by which a coordinate moves */
    int bulge;      /* 0: nodes of the six faces stay in them; 1: only the corners stay */
} fixture_box;

/* Node (i, j, k) of the raw box. */
static inline int32_t fixture_node(const fixture_box *box, int i, int j, int k)
{
    return (int32_t)((k * (box->n[1] + 1) + j) * (box->n[0] + 1) + i);
}

/* The raw box with all nodes displaced at random, including the surface (which hx_mesh_distort
 * leaves in place), and node sets for six statically determinate supports: origin, corner-x,
 * corner-y, corner-z. */
static inline int fixture_box_create(hx_mesh *mesh, const fixture_box *box)
{
    static const char *const corner_name[4] = {"origin", "corner-x", "corner-y", "corner-z"};
    const int *const n = box->n;
    const double *const l = box->length;
    uint64_t state = 0x2545f4914f6cdd1du;
    HX_TRY(hx_generate_box(mesh, n[0], n[1], n[2], l[0], l[1], l[2]));
    for (int k = 0; k <= n[2]; k++)
        for (int j = 0; j <= n[1]; j++)
            for (int i = 0; i <= n[0]; i++) {
                const int at[3] = {i, j, k};
                double *const x = mesh->xyz + 3 * (int64_t)fixture_node(box, i, j, k);
                int n_face = 0;
                for (int d = 0; d < 3; d++) n_face += at[d] == 0 || at[d] == n[d];
                for (int d = 0; d < 3; d++) {
                    const double move = fixture_uniform(&state, -1.0, 1.0) * box->distort;
                    const int held = box->bulge ? n_face == 3 : at[d] == 0 || at[d] == n[d];
                    if (!held) x[d] += move * l[d] / n[d];
                }
            }
    const int32_t corner[4] = {0, fixture_node(box, n[0], 0, 0), fixture_node(box, 0, n[1], 0),
                               fixture_node(box, 0, 0, n[2])};
    for (int c = 0; c < 4; c++) HX_TRY(hx_mesh_add_node_set(mesh, corner_name[c], 1, &corner[c]));
    return HX_OK;
}

static inline int fixture_finish(hx_mesh *mesh, fixture_order order)
{
    if (order != FIXTURE_IN_ORDER) HX_TRY(hx_mesh_shuffle(mesh, 20));
    if (order == FIXTURE_REORDERED) HX_TRY(hx_mesh_reorder(mesh));
    return hx_mesh_finish(mesh);
}

/* Six supports that prevent exactly the rigid-body motions of a box. */
enum { FIXTURE_N_DETERMINATE = 3 };
static const hx_support_spec fixture_determinate[FIXTURE_N_DETERMINATE] = {
    {.set = "origin", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z},
    {.set = "corner-y", .origin = "test", .fix = HX_FIX_X | HX_FIX_Z},
    {.set = "corner-z", .origin = "test", .fix = HX_FIX_X}};

/* E = 1, nu = 0.3; the caller adds supports and loads. */
static inline hx_problem_params fixture_problem(void)
{
    const hx_problem_params params = {
        .origin = "test", .young = 1.0, .poisson = 0.3, .rho_min = 0.001};
    return params;
}

typedef struct fixture_settings {
    const hx_operator_kind *op_kind; /* NULL: ebe */
    hx_layout layout;
    const char *precond, *filter;
    hx_pcg_params pcg;
    hx_design_params design; /* the fixture points filter_params to its copy */
    hx_filter_params filter_params;
    hx_optimizer_params optimizer;
    const double *density; /* [n_elem] or NULL */
    int follows;           /* 1: extrapolated first guesses */
} fixture_settings;

/* A constant of a schedule. */
static inline hx_schedule fixture_constant(double value)
{
    return (hx_schedule){.value = value, .last = value};
}

/* Solid, p = 3, with a projection. */
static inline hx_design_params fixture_projected(double beta, double eta)
{
    hx_design_params design = hx_design_defaults;
    design.beta = fixture_constant(beta);
    design.eta = eta;
    return design;
}

/* Solid, p = 3. */
static inline fixture_settings fixture_defaults(void)
{
    const fixture_settings settings = {
        .layout = HX_LAYOUT_INTERLEAVED,
        .precond = "jacobi",
        .filter = "none",
        .pcg = {.criterion = HX_PCG_RELATIVE, .tolerance = 1e-12, .max_iterations = 20000},
        .design = hx_design_defaults};
    return settings;
}

/* Everything from the operator to the optimizer. Its parts point to each other, so it must not
 * move. */
typedef struct fixture_solver {
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    hx_analysis analysis;
    hx_design_params design;
    hx_filter filter;
    hx_optimizer opt;
} fixture_solver;

static inline void fixture_solver_free(fixture_solver *s)
{
    hx_optimizer_free(&s->opt);
    hx_filter_free(&s->filter);
    hx_analysis_free(&s->analysis);
    hx_pcg_free(&s->pcg);
    hx_precond_free(&s->pc);
    hx_operator_free(&s->op);
}

static inline int fixture_solver_create(fixture_solver *s, hx_device *dev,
                                        const hx_problem *problem, const fixture_settings *settings)
{
    const hx_operator_kind *const op_kind =
        settings->op_kind ? settings->op_kind : hx_operator_kind_find(dev->ops->name, "ebe");
    int rc;
    memset(s, 0, sizeof *s);
    s->design = settings->design;
    hx_filter_params filter_params = settings->filter_params;
    filter_params.design = &s->design;
    HX_TRY_FAIL(hx_operator_create(&s->op, dev, op_kind, settings->layout, problem, 0));
    HX_TRY_FAIL(
        hx_precond_create(&s->pc, hx_precond_find(settings->precond), &s->op.linear, &s->op));
    HX_TRY_FAIL(hx_pcg_create(&s->pcg, &settings->pcg, &s->op.linear, &s->pc));
    HX_TRY_FAIL(hx_filter_create(&s->filter, hx_filter_find(settings->filter), dev, problem,
                                 &filter_params));
    HX_TRY_FAIL(hx_analysis_create(&s->analysis, &s->op, &s->pc, &s->pcg, 1));
    if (settings->follows) HX_TRY_FAIL(hx_analysis_follow(&s->analysis));
    HX_TRY_FAIL(hx_optimizer_create(&s->opt, &settings->optimizer, &s->analysis, &s->filter,
                                    settings->density));
    return HX_OK;
fail:
    fixture_solver_free(s);
    return rc;
}

/* The next exact (operator, layout) of a device, from *i = *layout = 0; NULL after the last.
 * Operators that state an error are tested by checkop. */
static inline const hx_operator_kind *fixture_next_operator_kind(const hx_device *dev, size_t *i,
                                                                 int *layout, hx_layout *found)
{
    for (; hx_operator_kinds[*i]; ++*i, *layout = 0) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[*i];
        if (strcmp(op_kind->device, dev->ops->name) != 0 || op_kind->error > 0.0) continue;
        while (*layout < HX_N_LAYOUT) {
            *found = (hx_layout)(*layout)++;
            if (op_kind->layouts & HX_LAYOUT_BIT(*found)) return op_kind;
        }
    }
    return NULL;
}

/* The next preconditioner of this build, from *i = 0; NULL after the last. Skips those that lack
 * support by the device, or by PCG in this precision with the operator, and prints the reason. */
static inline const hx_precond_kind *fixture_next_precond(const hx_device *dev,
                                                          const hx_operator_kind *op_kind,
                                                          hx_precision precision, size_t *i)
{
    for (const hx_precond_kind *kind; (kind = hx_preconds[*i]) != NULL;) {
        ++*i;
        if (kind->runs_on && !kind->runs_on(dev->ops)) {
            printf("skipped: '%s' does not run on device '%s'\n", kind->name, dev->ops->name);
        } else if (hx_pcg_check_precision(precision, op_kind, kind) != HX_OK) {
            printf("skipped: %s\n", hx_error_message());
            hx_error_clear();
        } else {
            return kind;
        }
    }
    return NULL;
}

#endif
