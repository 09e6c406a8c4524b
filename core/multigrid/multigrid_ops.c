/* Checks that the tables of multigrid are complete. Only entries that are optional here may be
 * NULL; the comment beside such an entry states what its absence means. */
#include "../base/error.h"
#include "multigrid.h"

/* what: whose tables; name: the table */
#define REQUIRED(table, member)                                                                    \
    do {                                                                                           \
        if (!(table)->member)                                                                      \
            return HX_RAISE(HX_EINTERNAL, "%s: entry '%s' of the multigrid table '%s' is missing", \
                            what, #member, name);                                                  \
    } while (0)
#define OPTIONAL(table, member) (void)(table)->member

/* Compiles only for this number of entries: a new one needs a line below. */
#define ENTRIES(type, n) _Static_assert(sizeof(type) == (n) * sizeof(void *), #type)

static int check_vector(const hx_mg_vector_ops *vector, const char *what, const char *name)
{
    ENTRIES(hx_mg_vector_ops, 12);
    REQUIRED(vector, mesh_start);
    REQUIRED(vector, mesh_step);
    REQUIRED(vector, power_start);
    REQUIRED(vector, power_sums);
    REQUIRED(vector, power_end);
    REQUIRED(vector, bound);
    REQUIRED(vector, match_entries);
    REQUIRED(vector, column_dots);
    REQUIRED(vector, column_combine);
    REQUIRED(vector, add);
    REQUIRED(vector, small_multiply);
    REQUIRED(vector, rows_add);
    return HX_OK;
}

/* applies: `apply` is required, because M is not diagonal. has_levels: the smoother is used on
 * coarse grids. has_lines: M consists of lines. */
static int check_smoother(const hx_mg_smoother_ops *smoother, const char *what, const char *name,
                          int applies, int has_levels, int has_lines)
{
    ENTRIES(hx_mg_smoother_ops, 8);
    REQUIRED(smoother, invert);
    if (has_lines) REQUIRED(smoother, couple);
    if (applies) REQUIRED(smoother, apply);
    REQUIRED(smoother, power);
    if (has_levels) REQUIRED(smoother, level_invert);
    if (applies && has_levels) REQUIRED(smoother, level_apply);
    if (has_levels) REQUIRED(smoother, level_power);
    OPTIONAL(smoother, level_power_next); /* each step of a power iteration scales its vector */
    return HX_OK;
}

static int check_transfer(const hx_mg_transfer_ops *transfer, const char *what, const char *name)
{
    ENTRIES(hx_mg_transfer_ops, 11);
    REQUIRED(transfer, mesh_restrict);
    REQUIRED(transfer, mesh_prolong);
    REQUIRED(transfer, restrict_to);
    REQUIRED(transfer, prolong_from);
    OPTIONAL(transfer, mesh_prepare); /* the device keeps nothing of the mesh */
    if (transfer->mesh_prepare) REQUIRED(transfer, mesh_release);
    if (transfer->mesh_prepare) REQUIRED(transfer, prepared_bytes);
    REQUIRED(transfer, mesh_galerkin);
    OPTIONAL(transfer, mesh_update); /* mesh_galerkin computes all cells of each design */
    REQUIRED(transfer, rows_galerkin);
    REQUIRED(transfer, galerkin);
    return HX_OK;
}

static int check_level(const hx_mg_level_ops *level, const char *what, const char *name)
{
    ENTRIES(hx_mg_level_ops, 7); /* with matrix_by_columns */
    REQUIRED(level, multiply);
    REQUIRED(level, residual);
    REQUIRED(level, smooth);
    REQUIRED(level, add_blocks);
    OPTIONAL(level, restore_rigid); /* one unknown per node: there are no rotations */
    REQUIRED(level, dense);
    return HX_OK;
}

static int check_direct(const hx_mg_direct_ops *direct, const char *what, const char *name)
{
    ENTRIES(hx_mg_direct_ops, 3);
    OPTIONAL(direct, begin); /* the device factorizes, in `finish` */
    REQUIRED(direct, finish);
    REQUIRED(direct, solve);
    return HX_OK;
}

static int check_fused(const hx_mg_fused_ops *fused, const char *what, const char *name)
{
    ENTRIES(hx_mg_fused_ops, 3);
    REQUIRED(fused, room);
    REQUIRED(fused, fits);
    REQUIRED(fused, cycle);
    return HX_OK;
}

int hx_multigrid_ops_check(const hx_multigrid_ops *ops, const char *what)
{
    const char *const name = "multigrid";
    ENTRIES(hx_multigrid_ops, 8);
    REQUIRED(ops, vector);
    REQUIRED(ops, diagonal);
    OPTIONAL(ops, blocks); /* splines are smoothed with the diagonal */
    OPTIONAL(ops, lines);  /* stretched elements are smoothed with the diagonal */
    REQUIRED(ops, transfer);
    REQUIRED(ops, level);
    REQUIRED(ops, direct);
    OPTIONAL(ops, fused); /* the steps of the cycle are launched one by one */
    HX_TRY(check_vector(ops->vector, what, "vector"));
    HX_TRY(check_smoother(ops->diagonal, what, "diagonal", 0, 1, 0));
    if (ops->blocks) HX_TRY(check_smoother(ops->blocks, what, "blocks", 1, 0, 0));
    if (ops->lines) HX_TRY(check_smoother(ops->lines, what, "lines", 1, 1, 1));
    HX_TRY(check_transfer(ops->transfer, what, "transfer"));
    HX_TRY(check_level(ops->level, what, "level"));
    HX_TRY(check_direct(ops->direct, what, "direct"));
    return ops->fused ? check_fused(ops->fused, what, "fused") : HX_OK;
}
