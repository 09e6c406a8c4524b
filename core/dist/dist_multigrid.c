/* Multigrid over subdomains. The finest level is smoothed by each rank on its subdomain. A
 * replicated coarse grid has the sum of the contributions of all subdomains, and every rank solves
 * it with bitwise the same result, so only contributions from the mesh are communicated. */
#include "local_level.h"

static int power_step(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                      const float *d_s, float *d_v, hx_mg_smoother *d_smoother)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_mg_vector_ops *const plain = dist->multigrid_plain->vector;
    const float *d_own_t, *d_own_v;
    int64_t n_own;
    (void)d_s;
    HX_TRY(hx_dist_need_power(dist));
    HX_TRY(hx_dist_own_single(dist, n, d_t, &dist->d_own_single, &n_own, &d_own_t));
    HX_TRY(hx_dist_own_single(dist, n, d_v, &dist->d_own_again, &n_own, &d_own_v));
    HX_TRY(plain->power_sums(dev, n_own, d_m, d_own_t, d_own_v, dist->d_power));
    HX_TRY(hx_dist_sum_few(dist, 2, dist->d_power));
    return plain->power_end(dev, n, d_m, d_t, dist->d_power, d_v, d_smoother);
}

/* d_own and d_own_single := r and t at own points, 0 elsewhere. */
static int take_own(hx_dist *dist, int64_t n, const double *d_r, const float *d_t)
{
    const double *d_own;
    const float *d_own_single;
    int64_t n_own;
    HX_TRY(hx_dist_own(dist, n, d_r, &n_own, &d_own));
    return hx_dist_own_single(dist, n, d_t, &dist->d_own_single, &n_own, &d_own_single);
}

/* Each point is restricted by its owner; the right-hand side is the sum over all subdomains. */
static int mesh_restrict(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                         const float *d_t, const hx_mg_level *level)
{
    hx_dist *const dist = hx_dist_of(dev);
    const hx_subdomain *const subdomain = &dist->subdomain;
    hx_mg_mesh own = *mesh;
    if (subdomain->space.element == HX_ELEMENT_LINEAR) {
        own.n_other = subdomain->n_other; /* they come last */
    } else if (subdomain->n_other > 0) {
        HX_TRY(take_own(dist, subdomain->whole->components * subdomain->space.n_point, d_r, d_t));
        d_r = dist->d_own;
        d_t = dist->d_own_single;
    }
    HX_TRY(dist->multigrid_plain->transfer->mesh_restrict(dev, &own, d_r, d_t, level));
    return hx_dist_add_right_side(dist, level);
}

/* Copies the backend's tables for the problem's physics and replaces what needs other ranks. */
void hx_dist_set_multigrid(hx_dist *dist)
{
    const int is_heat = hx_problem_is_heat(dist->subdomain.whole);
    const hx_conduction_ops *const conduction = dist->plain->conduction;
    const hx_multigrid_ops *const plain = !is_heat     ? dist->plain->multigrid
                                          : conduction ? conduction->multigrid
                                                       : NULL;
    hx_dist_multigrid *const to = &dist->multigrid;
    if (!plain) return;
    dist->multigrid_plain = plain;
    *to = (hx_dist_multigrid){*plain, *plain->diagonal, {0}, *plain->transfer, *plain->level};
    to->ops.diagonal = &to->diagonal;
    to->ops.transfer = &to->transfer;
    to->ops.level = &to->level;
    to->diagonal.power = power_step;
    to->transfer.mesh_restrict = mesh_restrict;
    hx_dist_set_levels(to);
    if (plain->lines) hx_dist_set_lines(dist);
    if (!is_heat) {
        dist->ops.multigrid = &to->ops;
        return;
    }
    dist->conduction = *conduction;
    dist->conduction.multigrid = &to->ops;
    dist->ops.conduction = &dist->conduction;
}
