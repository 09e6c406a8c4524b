/* Multigrid over subdomains. The finest level is smoothed by each rank on its subdomain. A
 * replicated coarse grid has the sum of the contributions of all subdomains, and every rank solves
 * it with bitwise the same result, so only contributions from the mesh are communicated. */
#include "level_share.h"

static int power_start(hx_device *dev, int64_t n, const float *d_m, float *d_v)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    HX_TRY(ranks->multigrid_plain->power_start(dev, n, d_m, d_v));
    /* the random start depends on positions in a vector: interface points take the value of their
     * owner */
    HX_TRY(hx_ranks_leave_own_single(ranks, n, d_v));
    return ranks->ops.common->add_single(dev, hx_ranks_components(ranks, n), d_v);
}

static int power_step(hx_device *dev, int64_t n, const float *d_m, const float *d_t, float *d_v,
                      hx_mg_smoother *d_smoother)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    const hx_multigrid_ops *const plain = ranks->multigrid_plain;
    const float *d_own_t, *d_own_v;
    int64_t n_own;
    HX_TRY(hx_ranks_need_power(ranks));
    HX_TRY(hx_ranks_own_single(ranks, n, d_t, &ranks->d_own_single, &n_own, &d_own_t));
    HX_TRY(hx_ranks_own_single(ranks, n, d_v, &ranks->d_own_again, &n_own, &d_own_v));
    HX_TRY(plain->power_sums(dev, n_own, d_m, d_own_t, d_own_v, ranks->d_power));
    HX_TRY(hx_ranks_sum_few(ranks, 2, ranks->d_power));
    return plain->power_end(dev, n, d_m, d_t, ranks->d_power, d_v, d_smoother);
}

/* d_own and d_own_single := r and t at own points, 0 elsewhere. */
static int take_own(hx_ranks *ranks, int64_t n, const double *d_r, const float *d_t)
{
    const double *d_own;
    const float *d_own_single;
    int64_t n_own;
    HX_TRY(hx_ranks_own(ranks, n, d_r, &n_own, &d_own));
    return hx_ranks_own_single(ranks, n, d_t, &ranks->d_own_single, &n_own, &d_own_single);
}

/* Each point is restricted by its owner; the right-hand side is the sum over all subdomains. */
static int restrict_own(hx_ranks *ranks, const hx_multigrid_ops *plain, int components, int dof,
                        const hx_mg_mesh *mesh, const double *d_r, const float *d_t,
                        const hx_mg_level *level)
{
    hx_device *const dev = &ranks->dev;
    const hx_share *const share = &ranks->share;
    hx_mg_mesh own = *mesh;
    if (share->space.element == HX_ELEMENT_LINEAR) {
        own.n_other = share->n_other; /* they come last */
    } else if (share->n_other > 0) {
        HX_TRY(take_own(ranks, components * share->space.n_point, d_r, d_t));
        d_r = ranks->d_own;
        d_t = ranks->d_own_single;
    }
    HX_TRY(plain->mesh_restrict(dev, &own, d_r, d_t, level));
    return hx_ranks_add_right_side(ranks, dof, level);
}

static int mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                         const float *d_t, const hx_mg_level *level)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    return restrict_own(ranks, ranks->multigrid_plain, 3, HX_MG_DOF, mesh, d_r, d_t, level);
}

static int scalar_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                           const float *d_t, const hx_mg_level *level)
{
    hx_ranks *const ranks = hx_ranks_of(dev);
    return restrict_own(ranks, ranks->plain->conduction->multigrid, 1, 1, mesh, d_r, d_t, level);
}

void hx_ranks_set_multigrid(hx_ranks *ranks)
{
    const hx_conduction_ops *const conduction = ranks->plain->conduction;
    ranks->multigrid_plain = ranks->plain->multigrid;
    if (!ranks->multigrid_plain) return;
    ranks->multigrid = *ranks->multigrid_plain;
    ranks->multigrid.mesh_power_start = power_start;
    ranks->multigrid.mesh_power_step = power_step;
    ranks->multigrid.mesh_restrict = mesh_restrict;
    hx_ranks_set_lines(ranks);
    hx_ranks_set_levels(&ranks->multigrid, HX_MG_DOF);
    ranks->ops.multigrid = &ranks->multigrid;
    if (!conduction) return;
    ranks->conduction = *conduction;
    if (conduction->multigrid) {
        ranks->scalar = *conduction->multigrid;
        ranks->scalar.mesh_restrict = scalar_restrict;
        hx_ranks_set_levels(&ranks->scalar, 1);
        ranks->conduction.multigrid = &ranks->scalar;
    }
    ranks->ops.conduction = &ranks->conduction;
}
