/* What a device does for the preconditioner `multigrid`: smoothing, and transfers and Galerkin
 * products between the mesh and the coarse grids of coarse.h. All vectors except those of PCG are
 * floats.
 *
 * `d_` names device memory. Operations are queued in order; none waits, except `dense` and the
 * direct solve's `finish`. */
#ifndef HX_MULTIGRID_H
#define HX_MULTIGRID_H

#include <math.h>

#include "../base/host_device.h"
#include "../linalg/skyline.h"
#include "../matrix/matrix.h"
#include "../operator/device_mesh.h"
#include "coarse.h"
#include "fused_cycle.h"

HX_C_BEGIN

enum { HX_MG_MAX_DEGREE = 8, HX_MG_DOF = 6 };

/* A Chebyshev smoother with the inverse diagonal, for eigenvalues of M^-1 A in [lambda / ratio,
 * lambda] (Adams et al., J. Comput. Phys. 188, 2003). Step i, with residual r: d = a[i] d + b[i]
 * M^-1 r, x += d. It is stored in device memory, so that recorded steps stay valid when the numbers
 * change. */
typedef struct hx_mg_smoother {
    double lambda; /* largest eigenvalue, by power iteration from the vector of the last design */
    float a[HX_MG_MAX_DEGREE], b[HX_MG_MAX_DEGREE];
} hx_mg_smoother;

static HX_HD void hx_mg_smoother_set(hx_mg_smoother *s, double safety, double ratio)
{
    const double high = safety * s->lambda, low = high / ratio;
    const double theta = 0.5 * (high + low), delta = 0.5 * (high - low);
    const double sigma = (ratio + 1.0) / (ratio - 1.0); /* theta / delta, also for lambda = 0 */
    double rho = 1.0 / sigma;
    s->a[0] = 0.0f;
    s->b[0] = (float)(high > 0.0 ? 1.0 / theta : 0.0);
    for (int i = 1; i < HX_MG_MAX_DEGREE; i++) {
        const double next = 1.0 / (2.0 * sigma - rho);
        s->a[i] = (float)(next * rho);
        s->b[i] = (float)(high > 0.0 ? 2.0 * next / delta : 0.0);
        rho = next;
    }
}

/* Sets the smoother for the eigenvalue just found, or for the largest part of the previous one
 * (*least holds `kept` times that): the eigenvalue changes little from design to design, but a few
 * steps may not find its mode if that has moved elsewhere in the mesh. */
static HX_HD void hx_mg_smoother_bound(hx_mg_smoother *s, double *least, double kept, double safety,
                                       double ratio)
{
    s->lambda = fmax(s->lambda, *least);
    *least = kept * s->lambda;
    hx_mg_smoother_set(s, safety, ratio);
}

/* Evaluates a power step from v with v'D v = before, t = A v and t'D^-1 t = after: sets the
 * estimate, and returns the factor that scales D^-1 t to unit length. */
static HX_HD float hx_mg_power_result(hx_mg_smoother *s, double before, double after)
{
    s->lambda = before > 0.0 ? sqrt(after / before) : 0.0;
    return (float)(after > 0.0 ? 1.0 / sqrt(after) : 0.0);
}

/* Entry k of the random start vector, in [-1, 1); the same on all devices. */
static HX_HD float hx_mg_start_value(int64_t k)
{
    uint32_t h = (uint32_t)k * 2654435761u ^ (uint32_t)(k >> 32);
    h ^= h >> 16;
    h *= 2246822519u;
    h ^= h >> 13;
    return (float)(h & 0xffffffu) * (1.0f / 8388608.0f) - 1.0f;
}

/* Lines of coarse nodes along the shortest step of the grid. The smoother uses their block
 * tridiagonal matrices in place of the diagonal (level_line.h). Each owned node is in one line. */
typedef struct hx_mg_level_lines {
    int next;         /* offset (coarse.h) to the next node of a line; 0: no lines, point Jacobi */
    int most;         /* largest number of nodes of a line */
    int64_t n;        /* number of lines */
    int32_t *d_first; /* [n + 1] first place of each line */
    int32_t *d_node;  /* [n_own] nodes in the order of the lines */
    float *d_factor;  /* [n_own][HX_LEVEL_LINE_NUMBERS] by place */
} hx_mg_level_lines;

/* A coarse grid in device memory, with 6 floats per node: displacement and rotation. For heat
 * conduction there is one, the temperature, and each 6 x 6 block below is a number
 * (conduction_ops.h). */
typedef struct hx_mg_level {
    int64_t n_node, n_own; /* as in hx_coarse_level */
    float step[3];
    int mode[3]; /* hx_coarse_mode */
    float scale; /* on levels after the first: the matrix is P'AP times this */
    int32_t *d_neighbour, *d_child, *d_parent; /* as in hx_coarse_level */
    float *d_matrix; /* [n_node] rows of 27 blocks of 6 x 6, in the order that the device prefers */
    /* [n_node] 1: a support, a spring or a rigid set is near; NULL: not computed yet */
    uint8_t *d_held;
    uint8_t *d_divided; /* as in hx_coarse_level */
    float *d_m;         /* inverse diagonal, or 1 with lines; 0 in empty rows */
    float *d_b;         /* right-hand side */
    float *d_x, *d_y;   /* two iterates: a smoothing step reads one and writes the other */
    float *d_d;         /* direction of the smoother; its residual in between */
    float *d_v;         /* vector of the power iteration */
    hx_mg_smoother *d_smoother;
    hx_mg_level_lines lines;
    struct hx_local_level *local; /* as in hx_coarse_level (owned) */
} hx_mg_level;

/* The mesh, sorted into the cells of level 0. */
typedef struct hx_mg_mesh {
    const hx_device_model *model;
    int64_t
        /* number of points at the end that restrictions leave out because other ranks restrict
         * them */
        n_other;
    int64_t n_cell;
    double origin[3], size[3], unit;
    int32_t *d_cell, *d_cell_corner, *d_cell_elem, *d_cell_elem_at, *d_cell_node, *d_cell_node_at;
    int32_t *d_node_cell, *d_coloured;
    /* [n_cell][8][6 or 1] contributions of a restriction at the corners of each cell */
    float *d_partial;
    int32_t colour_at[9];
    float *d_position;
    uint8_t *d_fixed; /* [n_point] bits 1, 2, 4: x, y, z fixed */
    /* For mesh_update. NULL: such updates are not available. */
    float *d_kept; /* [n_elem] modulus that the current matrix was computed with */
    /* [n_cell + 2] list of the cells with changes, in the device's own format */
    int32_t *d_changed;
    float
        /* [n_cell][HX_MG_SHARE] or NULL: contribution of each cell to P'KP, in the device's own
         * order */
        *d_share;
    void *own; /* data of the device from mesh_prepare; may be NULL */
    /* [n_cell] HX_MG_MAY_MEAN from mesh_prepare, HX_MG_IS_MEAN from mesh_update; NULL: the device
     * does not support mean strains */
    uint8_t *d_mean;
    int takes_means; /* 1: an update may use mean strains */
} hx_mg_mesh;

/* A cell's contribution to P'KP may be computed from the mean strains of its elements if the cell
 * has at least HX_MG_MEAN_ELEMS elements, none of them at a support, and if with equal moduli no
 * motion of one of its corners has less than a fraction HX_MG_MEAN_ENERGY of its energy then. In
 * addition, either no modulus of the cell is more than HX_MG_MEAN_CONTRAST times another one, or at
 * least one in HX_MG_MEAN_GRADED elements lies between the smallest and the largest, at a factor of
 * more than ten from each. Reasons and cost:
 * doc/notebook/2026-11-28-mean-strains.md. */
enum { HX_MG_MEAN_ELEMS = 27, HX_MG_MEAN_GRADED = 4, HX_MG_MAY_MEAN = 1, HX_MG_IS_MEAN = 2 };
#define HX_MG_MEAN_ENERGY 0.9f
#define HX_MG_MEAN_CONTRAST 1e4f
static HX_HD int hx_mg_is_between(float modulus, float least, float most)
{
    return modulus > 10.0f * least && 10.0f * modulus < most;
}

/* What an update of a coarse matrix can reuse from the last update. */
typedef enum {
    HX_MG_NEW,      /* nothing */
    HX_MG_RESTORED, /* d_kept, from a checkpoint */
    HX_MG_CHANGED   /* d_kept and d_share */
} hx_mg_update;

/* pairs of corners a <= b */
enum { HX_MG_PAIRS = 36, HX_MG_SHARE = HX_MG_PAIRS * HX_MG_DOF * HX_MG_DOF };

/* A stored modulus is kept until it differs by more than this factor; measured,
 * doc/notebook/2026-11-26-only-what-changed.md. */
#define HX_MG_KEEP 1.25f
static HX_HD int hx_mg_has_changed(float kept, float now)
{
    const float low = kept < now ? kept : now, high = kept < now ? now : kept;
    return !(high <= HX_MG_KEEP * low);
}

/* Weight of the child of a node at an offset; d is the child's distance from the node divided by
 * the unit. */
static HX_HD float hx_mg_child(const hx_mg_level *fine, const hx_mg_level *coarse, int offset,
                               float d[3])
{
    const int at[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    float w = 1.0f;
    for (int i = 0; i < 3; i++) {
        d[i] = ((float)at[i] - hx_coarse_centre(coarse->mode[i])) * fine->step[i];
        w *= hx_coarse_weight(coarse->mode[i], at[i]);
    }
    return w;
}

/* Weight of the parents of a node; d is its distance from the parent at corner 0 of its cell; wide
 * marks directions with parents on both sides. first, second: 1 if the node has parents whose
 * corner has bit i = 0, 1. */
static HX_HD float hx_mg_parents(const hx_mg_level *fine, const hx_mg_level *coarse,
                                 const int first[3], const int second[3], float d[3], int wide[3])
{
    float w = 1.0f;
    for (int i = 0; i < 3; i++) {
        wide[i] = first[i] && second[i];
        d[i] = wide[i] ? fine->step[i] : 0.0f;
        if (wide[i]) w *= 0.5f;
        if (coarse->mode[i] == HX_COARSE_COLLAPSE)
            d[i] = second[i] ? 0.5f * fine->step[i] : -0.5f * fine->step[i];
    }
    return w;
}

/* Vector from a coarse node to its neighbour at an offset, divided by the unit. */
static HX_HD void hx_mg_offset(const hx_mg_level *level, int offset, double d[3])
{
    const int at[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    for (int i = 0; i < 3; i++) d[i] = at[i] * (double)level->step[i];
}

/* An entry of a diagonal block after removing the forces that its row exerts for a rigid motion;
 * computed from the entry and its mirror image, so that the result is symmetric. */
static HX_HD float hx_mg_restored(float entry, float image, double force, double image_force)
{
    return (float)(0.5 * (((double)entry - force) + ((double)image - image_force)));
}

/* An inverse is computed in tiles, in double precision; rows and columns are padded to whole
 * tiles. */
enum { HX_MG_TILE = 64 };
static HX_HD int64_t hx_mg_pitch(int64_t n)
{
    return (n + HX_MG_TILE - 1) / HX_MG_TILE * HX_MG_TILE;
}
static HX_HD int64_t hx_mg_inverse_work(int64_t n)
{
    return hx_mg_pitch(n) * (hx_mg_pitch(n) + 2 * HX_MG_TILE + 1) + 2 * HX_MG_TILE * HX_MG_TILE + 1;
}

/* The direct solve on the last level: on the host, the factors of its matrix; on a device that
 * inverts, its inverse. */
typedef struct hx_mg_direct {
    int64_t n;      /* number of unknowns */
    int32_t *order; /* [n_node] position of each node in the factors */
    hx_skyline factors;
    float *d_inverse; /* [n][hx_mg_pitch(n)] */
    double *d_work;   /* [hx_mg_inverse_work(n)] */
} hx_mg_direct;

/* Blocks of points whose matrices replace the diagonal in the smoother on the mesh. */
typedef struct hx_mg_blocks {
    int64_t n;        /* 0: no blocks, point Jacobi */
    int most_points;  /* largest number of points of a block */
    int32_t *d_first; /* [n + 1] first place of each block */
    int32_t *d_point; /* [n_point] points, ascending in each block */
    int64_t *d_at;    /* [n + 1] index of the first number of each inverse */
    float *d_inverse; /* [d_at[n]] inverses of the blocks, unknowns point after point */
} hx_mg_blocks;

/* Lines of points along short edges, whose block tridiagonal matrices replace the diagonal
 * (line_block.h). Each point is in one line. */
typedef struct hx_mg_lines {
    int64_t n, n_point; /* 0: no lines */
    int32_t *d_first;   /* [n + 1] first place of each line */
    int32_t *d_point;   /* [n_point] points in the order of the lines */
    float *d_factor;    /* [n_point][HX_LINE_NUMBERS] by place */
    double *d_block;    /* [n_point][6] diagonal blocks of K, by point */
    void *interface;    /* on a subdomain: data of hx_interface_ops.split_lines; otherwise NULL */
} hx_mg_lines;

/* A sparse matrix by rows: row i, which is entry d_at[i] of a vector, has the entries d_first[i] ..
 * d_first[i + 1]. No index occurs twice in d_at. */
typedef struct hx_mg_rows {
    int64_t n, n_entry;
    int64_t *d_first, *d_at, *d_column;
    double *d_value;
} hx_mg_rows;

/* Operations on vectors of the mesh or of a coarse grid, for any number of unknowns per point. */
typedef struct hx_mg_vector_ops {
    /* A Chebyshev step on the mesh. mesh_start: x = d = b[0] M^-1 r with the diagonal. mesh_step:
     * step i with the residual r - t; if z is given, the result goes to z instead of x. With blocks
     * or lines, t is -M^-1 of the residual, m is 1 and r is 0. d may be NULL if at most one step
     * follows mesh_start. */
    int (*mesh_start)(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother,
                      const double *d_r, const float *d_m, float *d_d, float *d_x);
    int (*mesh_step)(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, int i,
                     const double *d_r, const float *d_t, const float *d_m, float *d_d, float *d_x,
                     double *d_z);
    /* v := a random vector, 0 where m is 0. */
    int (*power_start)(hx_device *dev, int64_t n, const float *d_m, float *d_v);
    /* The two halves of hx_mg_smoother_ops.power for the diagonal: power_sums computes d_sum[2] =
     * {v'Dv, t'D^-1 t}; power_end estimates lambda from such sums, overwrites them, and sets v :=
     * M^-1 t, normalized. */
    int (*power_sums)(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                      const float *d_v, double *d_sum);
    int (*power_end)(hx_device *dev, int64_t n, const float *d_m, const float *d_t, double *d_sum,
                     float *d_v, hx_mg_smoother *d_smoother);
    int (*bound)(hx_device *dev, hx_mg_smoother *d_smoother, double *d_least, double kept,
                 double safety, double ratio); /* hx_mg_smoother_bound */

    /* For rigid sets, with columns y[n_column][n], six per set. match_entries: t[dof[i]] =
     * r[dof[i]]. column_dots: sum[k] -= y_k . b, in a fixed order. column_combine: x = -sum over k
     * of c[k] y_k. small_multiply: c = inverse sum, with inverse[n_column][n_column]. */
    int (*match_entries)(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_r,
                         float *d_t);
    int (*column_dots)(hx_device *dev, int64_t n, int n_column, const float *d_y, const float *d_b,
                       double *d_sum);
    int (*column_combine)(hx_device *dev, int64_t n, int n_column, const float *d_y,
                          const double *d_c, float *d_x);
    int (*add)(hx_device *dev, int64_t n, const float *d_x, float *d_y); /* y += x */
    int (*small_multiply)(hx_device *dev, int n_column, const double *d_inverse,
                          const double *d_sum, double *d_c);
    /* For deflation: y += factor A x, summed in double precision in a fixed order. x and y are each
     * given either in double or in single precision, and the other pointer is NULL. */
    int (*rows_add)(hx_device *dev, const hx_mg_rows *rows, double factor, const double *d_x,
                    const float *d_x_single, double *d_y, float *d_y_single);
} hx_mg_vector_ops;

/* What the matrix M of a smoother on the mesh is computed from, and its inverse. Each kind reads
 * its own members; all are borrowed. */
typedef struct hx_mg_splitting {
    int64_t n;               /* number of unknowns */
    int components;          /* unknowns per point */
    const double *d_diag;    /* diagonal: [n] the diagonal of K, for `invert` only */
    const hx_matrix *matrix; /* blocks: the rows of K, as in rows_galerkin */
    const hx_mg_blocks *blocks;
    const hx_mg_lines *lines;
    float *d_m; /* [n] diagonal: M^-1, 0 if diag is not positive; otherwise 1, or 0 in rows that M
                 * leaves out */
} hx_mg_splitting;

/* A kind of smoother: M is the diagonal of A, or consists of its blocks of points or of its lines
 * of points. Heat conduction has no lines. */
typedef struct hx_mg_smoother_ops {
    /* Sets M^-1 and m for a new design. Blocks and lines leave out the rows with m = 0, and m is 1
     * elsewhere afterwards; the diagonal comes first. Lines are factorised from the blocks that
     * `couple` stored and from d_block. */
    int (*invert)(hx_device *dev, const hx_mg_splitting *splitting);
    /* Stores the block that couples each point of a line with its predecessor where L will be,
     * computed from the elements; the model must have node lists. */
    int (*couple)(hx_device *dev, const hx_device_model *model, const hx_mg_lines *lines);
    /* t := M^-1 (t - r), 0 where m is 0; r = NULL stands for 0. */
    int (*apply)(hx_device *dev, const hx_mg_splitting *splitting, const double *d_r, float *d_t);
    /* A power step: given t = A v, and s = M^-1 t if there is `apply`, estimates lambda and sets v
     * := M^-1 t, normalized: v'D v = 1 with the diagonal, otherwise v'M v = 1. */
    int (*power)(hx_device *dev, int64_t n, const float *d_m, const float *d_t, const float *d_s,
                 float *d_v, hx_mg_smoother *d_smoother);

    /* On a coarse grid, at owned nodes. level_invert uses its matrix. */
    int (*level_invert)(hx_device *dev, const hx_mg_level *level);
    int (*level_apply)(hx_device *dev, const hx_mg_level *level, float *d_t);
    int (*level_power)(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                       const float *d_s, float *d_v, hx_mg_smoother *d_smoother);
    /* y = M^-1 A x: a power step without estimate and scaling. */
    int (*level_power_next)(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
} hx_mg_smoother_ops;

/* Transfers and Galerkin products, between the mesh and the first coarse grid (mesh_) and between
 * two coarse grids. */
typedef struct hx_mg_transfer_ops {
    /* mesh_restrict: level->d_b = P'(r - t). mesh_prolong: x += P y where m is not 0. */
    int (*mesh_restrict)(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                         const float *d_t, const hx_mg_level *level);
    int (*mesh_prolong)(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y, const float *d_m,
                        float *d_x);
    /* restrict_to: coarse->d_b = P'r. prolong_from: x += P y. */
    int (*restrict_to)(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                       const hx_mg_level *coarse);
    int (*prolong_from)(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                        const hx_mg_level *fine, float *d_x);
    /* Called once before mesh_galerkin, for linear elements. mesh_prepare computes what the device
     * keeps of the mesh, and may sort the elements within each cell; prepared_bytes is an upper
     * bound on its size. mesh_release accepts a mesh that was not prepared. */
    int (*mesh_prepare)(hx_device *dev, hx_mg_mesh *mesh);
    void (*mesh_release)(hx_device *dev, hx_mg_mesh *mesh);
    double (*prepared_bytes)(int64_t n_elem, double n_cell);
    /* level->d_matrix = P'K P, without the columns of fixed degrees of freedom. */
    int (*mesh_galerkin)(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level);
    /* mesh_galerkin with the stored moduli d_kept, and with mean strains where allowed if
     * takes_means is set. The moduli of a cell are replaced by those of the design as soon as one
     * of them differs too much (hx_mg_has_changed); if d_share is available, only such cells are
     * recomputed. The result depends only on d_kept and takes_means, bitwise, whatever was
     * recomputed when. */
    int (*mesh_update)(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                       hx_mg_update holds);
    /* level->d_matrix = P'K P from the rows of K, for any element: a matrix with 3 unknowns per
     * point (1 for heat conduction), full or lower. The result is bitwise symmetric and equal for
     * both storage forms. */
    int (*rows_galerkin)(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                         const hx_mg_level *level);
    /* P'AP times the scale of `coarse`. */
    int (*galerkin)(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse);
} hx_mg_transfer_ops;

/* Operations on a coarse grid. */
typedef struct hx_mg_level_ops {
    /* Position of entry (r, c) of block o of a node's row in hx_mg_level.d_matrix, for n unknowns
     * per node: 1: ((n o + c) n_node + node) n + r; 0: ((27 node + o) n + c) n + r. */
    int matrix_by_columns;
    /* multiply: y = A x. residual: y = b - A x. */
    int (*multiply)(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
    int (*residual)(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
    /* Step i of the smoother from x to y, with the level's lines if it has any; x = NULL: from
     * zero. */
    int (*smooth)(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y);
    /* matrix += blocks[n][6][6]; block i belongs to the offset and node of at[i] = 27 node +
     * offset. No position occurs twice. */
    int (*add_blocks)(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
                      const float *d_block);
    /* Removes from the diagonal blocks of owned nodes that are not held the forces that their rows
     * exert for rigid motions, which are rounding noise. */
    int (*restore_rigid)(hx_device *dev, const hx_mg_level *level);
    /* matrix[6 n][6 n] of a small level, copied to the host, for tests. Waits. */
    int (*dense)(hx_device *dev, const hx_mg_level *level, double *matrix);
} hx_mg_level_ops;

/* The direct solve on the last level, with the matrix A + D, where D is `added` times the diagonal
 * of A: a host has Cholesky factors (skyline.h), a device the inverse in single precision, bitwise
 * symmetric. */
typedef struct hx_mg_direct_ops {
    /* Starts to invert, concurrently with work queued later, which must not touch the matrix or
     * hx_mg_direct until `finish` has waited for it. */
    int (*begin)(hx_device *dev, const hx_mg_level *level, double added, hx_mg_direct *direct);
    /* Factorizes, or waits for the inverse. *fits = 0: rows had to be left out, because rounding
     * noise exceeds D. */
    int (*finish)(hx_device *dev, const hx_mg_level *level, double added, hx_mg_direct *direct,
                  int *fits);
    /* x = (A + D)^-1 b. */
    int (*solve)(hx_device *dev, const hx_mg_level *level, const hx_mg_direct *direct,
                 const float *d_b, float *d_x);
} hx_mg_direct_ops;

/* The cycle over small coarse grids in one kernel launch (fused coarse cycle, fused_cycle.h). */
typedef struct hx_mg_fused_ops {
    /* How many blocks run at the same time (0: unknown), and how many nodes of a level each can
     * hold. */
    void (*room)(hx_device *dev, int *n_block, int *n_node);
    /* Returns 1 if the device can run the given cycle with first level `level`, whose x a trial run
     * overwrites, and otherwise 0. */
    int (*fits)(hx_device *dev, const hx_mg_fused *fused, const hx_mg_level *level);
    /* Sets x of the first level to the result of the cycle for its b; d_inverse is the inverse of
     * the last level. */
    int (*cycle)(hx_device *dev, const hx_mg_fused *fused, const hx_mg_level *level,
                 const float *d_inverse);
} hx_mg_fused_ops;

/* The tables of a device for one physics: elasticity (hx_device_ops.multigrid) or heat conduction
 * (hx_conduction_ops.multigrid). Which entries are optional, and what their absence means, is
 * listed in multigrid_ops.c; all others are required. */
typedef struct hx_multigrid_ops {
    const hx_mg_vector_ops *vector;
    const hx_mg_smoother_ops *diagonal, *blocks, *lines;
    const hx_mg_transfer_ops *transfer;
    const hx_mg_level_ops *level;
    const hx_mg_direct_ops *direct;
    const hx_mg_fused_ops *fused;
} hx_multigrid_ops;

/* HX_EINTERNAL: a required entry is missing; the message names it. `what` names the tables. */
int hx_multigrid_ops_check(const hx_multigrid_ops *ops, const char *what);

HX_C_END

#endif
