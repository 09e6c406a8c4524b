/* A preconditioner M ~ A of a linear operator: one const table per kind, hx_precond_<name>. */
#ifndef HX_PRECOND_H
#define HX_PRECOND_H

#include "../device/snapshot.h"
#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_precond hx_precond;

typedef struct hx_precond_kind {
    const char *name, *help;
    int vectors;        /* device vectors it holds, for the memory check */
    int rigid_vectors;  /* more where sets are rigid */
    int identity;       /* M is the identity */
    int needs_operator; /* of K itself, not of any A: what it takes from it stands in its file */
    int rounded; /* applied in single precision: PCG takes the flexible rule, one more pass */
    /* Iterations of a solve to 1e-5, roughly, on any mesh; 0: as with the diagonal, the more the
     * larger the mesh. */
    int iterations;
    /* What is chosen by itself (choose.h) takes it from so many elements on; 0: on no mesh. */
    int chosen_from;
    /* 1 if the device has what it needs; NULL: all have. */
    int (*runs_on)(const hx_device_ops *device);
    /* Device bytes it holds besides those vectors; NULL: none. O(n_elem). */
    size_t (*bytes)(const hx_problem *problem, const hx_device_ops *device,
                    const hx_strategy *strategy);
    /* Fills what of the plan (plan.h) is the kind's, before the device is there; NULL: nothing.
     * O(n_elem). */
    int (*plan)(struct hx_plan *plan, const hx_problem *problem, const hx_device_ops *device);
    /* After it, what create would make of it on the host; NULL: nothing. */
    int (*plan_more)(struct hx_plan *plan, const hx_problem *problem);
    /* Allocates for pc->a. */
    int (*create)(hx_precond *pc);
    /* After each change of A (hx_operator_update). */
    int (*setup)(hx_precond *pc);
    /* z = M^-1 r; NULL when d_inverse_diagonal is all there is to it. What it queues depends on
     * neither the design nor r, but for what `version` tells: PCG may record it. Hot. */
    int (*apply)(hx_precond *pc, const double *d_r, double *d_z);
    /* Where apply leaves z in single precision when d_z is NULL, which saves a vector: memory that
     * stays where it is. NULL, or returns NULL: apply wants a d_z. */
    const float *(*single_z)(const hx_precond *pc);
    /* A solve takes long, its residual rises again and again, or r'z < 0: look again, with more
     * work, at what setup only estimated. Returns 1 if the preconditioner has changed: PCG starts
     * anew from where it is. NULL: nothing was estimated. */
    int (*revise)(hx_precond *pc);
    /* A solve takes longer than most: look once for what can be mended. Returns as `revise`; NULL:
     * nothing can. */
    int (*mend)(hx_precond *pc);
    /* What the next set-up takes from this one (snapshot.h). NULL: nothing. */
    int (*snapshot)(hx_precond *pc, hx_snapshot *image);
    /* The next set-up takes nothing from this one. NULL: it never does. */
    void (*forget)(hx_precond *pc);
    void (*destroy)(hx_precond *pc);
} hx_precond_kind;

struct hx_precond {
    const hx_precond_kind *kind;
    const hx_linear *a;         /* (borrowed) */
    const hx_operator *op;      /* NULL, or K, whose linear a is (borrowed) */
    double *d_inverse_diagonal; /* [n] or NULL; PCG fuses it into its vector passes (owned) */
    int version;                /* another one: what `apply` queues is another */
    int iterations;             /* most of a solve since the last set-up */
    void *impl;                 /* (owned by the kind) */
};

/* op: the operator whose linear a is, for kinds that need more than that; else it may be NULL.
 * HX_EINPUT: the kind needs it, or more components, than there are. */
int hx_precond_create(hx_precond *pc, const hx_precond_kind *kind, const hx_linear *a,
                      const hx_operator *op);
int hx_precond_setup(hx_precond *pc);
/* Device bytes it holds, vectors included. O(n_elem). */
size_t hx_precond_bytes(const hx_precond_kind *kind, const hx_problem *problem,
                        const hx_device_ops *device, const hx_strategy *strategy);
void hx_precond_free(hx_precond *pc);

#ifdef __cplusplus
}
#endif

#endif
