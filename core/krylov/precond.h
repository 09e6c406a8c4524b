/* A preconditioner M ~ A of a linear operator. Each kind is one const table named
 * hx_precond_<name>. */
#ifndef HX_PRECOND_H
#define HX_PRECOND_H

#include "../device/snapshot.h"
#include "../operator/operator.h"

HX_C_BEGIN

typedef struct hx_precond hx_precond;

typedef struct hx_precond_kind {
    const char *name, *help;
    int vectors;       /* number of device vectors it holds, for the memory estimate */
    int rigid_vectors; /* additional vectors if the problem has rigid sets */
    int identity;      /* M is the identity */
    /* 1: works only for the stiffness operator K, not for any A; the file of the kind states what
     * it reads from K */
    int needs_operator;
    /* 1: applied in single precision, so PCG uses the flexible rule for beta, which costs one more
     * pass over the vectors */
    int rounded;
    /* Rough number of iterations of a solve to 1e-5 on any mesh; 0: like Jacobi, the number grows
     * with the mesh. */
    int iterations;
    /* The automatic choice (choose.h) considers this kind for meshes of at least this many
     * elements; 0: never. */
    int chosen_from;
    /* 1 if the device provides what the kind needs. NULL: every device does. */
    int (*runs_on)(const hx_device_ops *device);
    /* Device bytes that it holds besides its vectors. O(n_elem). NULL: none. */
    size_t (*bytes)(const hx_problem *problem, const hx_device_ops *device,
                    const hx_operator_kind *op_kind);
    /* Fills the plan of the kind's coarse grids (plan_coarse.h) before the device is available.
     * O(n_elem). NULL: nothing to plan. */
    int (*plan)(struct hx_coarse_plan *plan, const hx_problem *problem,
                const hx_device_ops *device);
    /* After `plan`: does on the host what `create` would do there. NULL: nothing. */
    int (*plan_more)(struct hx_coarse_plan *plan, const hx_problem *problem);
    /* Allocates memory for pc->a. */
    int (*create)(hx_precond *pc);
    /* Called after each change of A (hx_operator_update). */
    int (*setup)(hx_precond *pc);
    /* z = M^-1 r. NULL if M is given by d_inverse_diagonal. The queued work depends neither on the
     * design nor on r unless `version` changes, so that PCG may record it. Hot. */
    int (*apply)(hx_precond *pc, const double *d_r, double *d_z);
    /* Where `apply` leaves z in single precision if d_z is NULL, which saves a vector. The address
     * must not change. NULL, or a NULL result: `apply` needs a d_z. */
    const float *(*single_z)(const hx_precond *pc);
    /* Refreshes, with more work, what `setup` only estimated. PCG calls it if a solve takes
     * long, if the residual rises repeatedly, or if r'z < 0 (hx_precond.monitoring). Returns 1
     * if the preconditioner has changed; PCG then restarts from the current u. NULL: nothing is
     * estimated. */
    int (*refresh)(hx_precond *pc);
    /* Enables deflation if that helps. PCG calls it at most once per solve, if the solve takes
     * longer than most. Returns like `refresh`. NULL: there is no deflation. */
    int (*enable_deflation)(hx_precond *pc);
    /* Saves or restores what the next set-up reuses from this one (snapshot.h). NULL: nothing. */
    int (*snapshot)(hx_precond *pc, hx_snapshot *image);
    /* Resets the kind, so that the next set-up reuses nothing. NULL: it never reuses anything. */
    void (*reset)(hx_precond *pc);
    void (*destroy)(hx_precond *pc);
    /* Passes lines of text about what the kind has chosen, for detailed output. NULL: nothing. */
    void (*describe)(const hx_precond *pc, void (*say)(void *context, const char *line),
                     void *context);
} hx_precond_kind;

/* When PCG calls `enable_deflation` and `refresh` in the course of a solve (pcg_monitor.c).
 * Counts are iterations. Notebook: 2026-11-28-loose-parts.md for deflation and `decades`,
 * 2026-11-26-lines.md for refreshes, 2026-11-29-fewer-constants.md for rules that are gone. */
typedef struct hx_precond_monitoring {
    /* Deflation is enabled at most once per solve: after deflate_after iterations, or after at
     * least `earliest` iterations, checked every `every`, if recent convergence predicts at least
     * `far` iterations in all. */
    int earliest, every, far, deflate_after;
    int patience; /* estimates are refreshed after so many, a limit that is doubled each time */
    /* Decades that must be left to reduce for early deflation, and for a refresh because of r'z <
     * 0, which costs as much as several iterations. The residual varies by a third of a decade
     * within two iterations, so closer to the end recent convergence predicts little. */
    double decades;
} hx_precond_monitoring;

struct hx_precond {
    const hx_precond_kind *kind;
    const hx_linear *a;         /* (borrowed) */
    const hx_operator *op;      /* the operator K that `a` belongs to, or NULL (borrowed) */
    double *d_inverse_diagonal; /* [n] or NULL; PCG fuses it into its vector passes (owned) */
    int version;                /* changes if `apply` would queue different work */
    int iterations;             /* largest iteration count of a solve since the last set-up */
    /* set by `create` of a kind with `refresh` or `enable_deflation`; NULL: these are not called
     * (borrowed) */
    const hx_precond_monitoring *monitoring;
    void *impl; /* (owned by the kind) */
};

/* op is the operator that `a` belongs to; it may be NULL for kinds that do not need it. HX_EINPUT
 * if the kind needs an operator, or more components, and there is none. */
int hx_precond_create(hx_precond *pc, const hx_precond_kind *kind, const hx_linear *a,
                      const hx_operator *op);
int hx_precond_setup(hx_precond *pc);
/* Device bytes of the preconditioner, including its vectors. O(n_elem). */
size_t hx_precond_bytes(const hx_precond_kind *kind, const hx_problem *problem,
                        const hx_device_ops *device, const hx_operator_kind *op_kind);
void hx_precond_free(hx_precond *pc);

HX_C_END

#endif
