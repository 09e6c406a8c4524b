/* The meaning of "auto": which operator and which preconditioner solve a problem on a device.
 *
 * Operators. The candidates are the exact operator kinds of the device; with `deterministic`, only
 * the deterministic ones; in mixed precision, only those with a product in single precision. With
 * keep_layout, kinds that support the layout are used in that layout only. Candidates are sorted by
 * the memory they store, largest first, with the interleaved layout after the others. These are
 * then excluded: kinds that promise no gain on the mesh; all others, if one is certain to be the
 * fastest; on meshes larger than any cache (16 MB), kinds that store more than 8 times as much as
 * the one that stores least (2 times for quadratic elements, where all kinds store a matrix); and
 * kinds that do not fit into the device memory. If several remain, their products are timed on the
 * problem's own mesh, in this order, so that the most promising one is set up last and need not be
 * set up twice; the fastest is chosen. With `deterministic` nothing is timed, because two runs
 * could then choose differently; the kind that stores least is chosen.
 *
 * Preconditioners. Each kind that may be chosen is meant for meshes from a certain size on
 * (hx_precond_kind.chosen_from); among those for which this mesh is large enough, the one with the
 * largest such size is chosen. In mixed precision, and with the absolute criterion, which measures
 * r in the norm of the preconditioner, only diagonal preconditioners are considered. */
#ifndef HX_CHOOSE_H
#define HX_CHOOSE_H

#include <math.h>

#include "../krylov/pcg.h"

HX_C_BEGIN

typedef struct hx_choose_params {
    const hx_operator_kind *const *op_kinds; /* candidates, NULL-terminated (borrowed) */
    const hx_precond_kind *const *preconds;  /* candidates, NULL-terminated (borrowed) */
    hx_precision precision;
    hx_pcg_criterion criterion;
    int deterministic;
    int keep_layout; /* 1: `layout` is required */
    hx_layout layout;
    size_t other_bytes; /* device bytes needed by others than operator, preconditioner and PCG */
    /* Receives a line about each operator that is excluded or timed. NULL: no report. */
    void (*say)(void *context, const char *line);
    void *context;
} hx_choose_params;

typedef struct hx_choice {
    const hx_operator_kind *op_kind;
    hx_layout layout;
    char note[128]; /* the reason, such as "auto: 1.2 ms per product; next ebe interleaved 2 ms" */
} hx_choice;

/* The size of a mesh in elements, as the choice of a preconditioner counts them: the number of
 * hexahedra with about as many unknowns. For a finished mesh of hexahedra this is the number of
 * elements; for tetrahedra, which are several times more numerous, at most the number of nodes; for
 * quadratic elements, which need several times more iterations with a diagonal, the number of
 * points; for splines, the number of points times the width of their matrix rows relative to the 27
 * of a hexahedral mesh. */
static inline int64_t hx_choose_size(const hx_space *space)
{
    const hx_mesh *mesh = space->mesh;
    if (space->element == HX_ELEMENT_SPLINE) {
        const double order = cbrt((double)space->n_place / (double)mesh->n_elem);
        return (int64_t)((double)space->n_point * pow(2.0 * order - 1.0, 3.0) / 27.0);
    }
    if (space->element != HX_ELEMENT_LINEAR) return space->n_point;
    const int64_t n_elem = hx_mesh_n_elem_all(mesh), n_node = hx_mesh_n_node_all(mesh);
    return !hx_mesh_is_collapsed(mesh) || n_elem < n_node ? n_elem : n_node;
}

/* The preconditioner for n_elem elements (hx_choose_size). NULL if no kind may be chosen. */
const hx_precond_kind *hx_choose_precond(const hx_choose_params *params,
                                         const hx_device_ops *device, int64_t n_elem);

/* Chooses the operator. `op` is zeroed or a freed operator; on return it holds the chosen operator
 * if that was timed last. HX_EINPUT: no operator of the device meets the requirements. If none fits
 * into memory, one is chosen all the same, and hx_operator_create reports the error. */
int hx_choose_operator(hx_choice *choice, const hx_choose_params *params, hx_device *dev,
                       const hx_problem *problem, const hx_precond_kind *kind, hx_operator *op);

/* The operator that hx_choose_operator will choose without timing, determined from the tables and
 * the mesh. NULL if several will be timed or none meets the requirements. */
const hx_operator_kind *hx_choose_foresee(const hx_choose_params *params,
                                          const hx_device_ops *device, const hx_problem *problem);

/* Replaces *kind by the next smaller kind if *kind does not fit into the device memory but the
 * smaller one does. held_bytes are already allocated. */
int hx_choose_smaller_precond(const hx_choose_params *params, hx_device *dev,
                              const hx_problem *problem, const hx_operator_kind *op_kind,
                              hx_layout layout, size_t held_bytes, const hx_precond_kind **kind);

/* Adds the device memory of preconditioner and PCG to the account. O(n_elem). */
void hx_choose_account(hx_account *account, const hx_device_ops *device, const hx_problem *problem,
                       const hx_operator_kind *op_kind, const hx_precond_kind *kind);

/* Device bytes of everything that a solve with this choice needs, including params->other_bytes.
 * One pass over the mesh. */
size_t hx_choose_bytes(const hx_choose_params *params, const hx_device_ops *device,
                       const hx_problem *problem, const hx_operator_kind *op_kind, hx_layout layout,
                       const hx_precond_kind *kind);

/* 1 if "auto" may use this kind in this layout, regardless of speed. */
int hx_choose_is_candidate(const hx_choose_params *params, const hx_device_ops *device,
                           const hx_problem *problem, const hx_operator_kind *op_kind,
                           hx_layout layout);

/* --- choose_less.c: when an allocation fails despite the estimate --- */

/* The choices that may be replaced, and where the replacements go. */
typedef struct hx_choose_less {
    int may_operator, may_precond; /* 1: it was chosen automatically, not named by the user */
    hx_choice *choice;
    const hx_precond_kind **kind;
} hx_choose_less;

/* Called after HX_ENOMEM or HX_EENV. Replaces the operator by the kind that stores least, if that
 * is markedly less; otherwise replaces the preconditioner by the next smaller one. Returns 1 if
 * either has changed, and the note of the choice then contains the reason. Returns 0 if nothing
 * needs less memory. */
int hx_choose_take_less(const hx_choose_params *params, const hx_device *dev,
                        const hx_problem *problem, const hx_choose_less *less);

/* Appends to an out-of-memory message what would fit after held_bytes are freed: "; these operators
 * would fit: otf (1.2 GB), ...". Returns rc. */
int hx_choose_suggest(const hx_choose_params *params, hx_device *dev, const hx_problem *problem,
                      const hx_precond_kind *kind, size_t held_bytes, int rc);

HX_C_END

#endif
