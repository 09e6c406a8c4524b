/* What a device does for the preconditioner `multigrid`: smoothing, transfers and Galerkin products
 * between the mesh and the lattices of lattice.h. All vectors but PCG's are floats.
 *
 * `d_` names memory of the device. Operations are queued in order and none waits, except `dense`.
 */
#ifndef HX_MULTIGRID_H
#define HX_MULTIGRID_H

#include <math.h>

#include "../base/host_device.h"
#include "../matrix/matrix.h"
#include "device_mesh.h"
#include "lattice.h"
#include "resident.h"
#include "skyline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_MG_MAX_DEGREE = 8, HX_MG_DOF = 6 };

/* A Chebyshev smoother with the inverse diagonal, for eigenvalues of M^-1 A in
 * [lambda / ratio, lambda] (Adams et al., J. Comput. Phys. 188, 2003). Step i, for the residual r:
 * d = a[i] d + b[i] M^-1 r, x += d. In device memory: recorded steps keep their places when the
 * numbers change. */
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

/* The smoother of the eigenvalue just found, or of most of the one before (`kept` of it is in
 * *least): it changes little from design to design, but a few steps may not find it again where it
 * has moved to. */
static HX_HD void hx_mg_smoother_bound(hx_mg_smoother *s, double *least, double kept, double safety,
                                       double ratio)
{
    s->lambda = fmax(s->lambda, *least);
    *least = kept * s->lambda;
    hx_mg_smoother_set(s, safety, ratio);
}

/* After a power step from v with v'D v = before, t = A v and t'D^-1 t = after: the estimate, and
 * what scales D^-1 t to unit length. */
static HX_HD float hx_mg_power_result(hx_mg_smoother *s, double before, double after)
{
    s->lambda = before > 0.0 ? sqrt(after / before) : 0.0;
    return (float)(after > 0.0 ? 1.0 / sqrt(after) : 0.0);
}

/* Entry k of the start vector: noise in [-1, 1), the same everywhere. */
static HX_HD float hx_mg_start_value(int64_t k)
{
    uint32_t h = (uint32_t)k * 2654435761u ^ (uint32_t)(k >> 32);
    h ^= h >> 16;
    h *= 2246822519u;
    h ^= h >> 13;
    return (float)(h & 0xffffffu) * (1.0f / 8388608.0f) - 1.0f;
}

/* Lines of a lattice's nodes along its shortest step, whose block tridiagonal matrices take the
 * diagonal's place in its smoother (level_line.h). Each own node is in one. */
typedef struct hx_mg_level_lines {
    int next;         /* offset (lattice.h) of a node's next one; 0: none, the diagonal smoothes */
    int most;         /* nodes of the longest, at most HX_LEVEL_LONGEST */
    int64_t n;        /* how many */
    int32_t *d_first; /* [n + 1] first place of each */
    int32_t *d_node;  /* [n_own] nodes, along each */
    float *d_factor;  /* [n_own][HX_LEVEL_LINE_NUMBERS] by place */
} hx_mg_level_lines;
enum { HX_LEVEL_LONGEST = 64 }; /* a device walks along a line, one node after the other */

/* A lattice in device memory: 6 floats a node, displacement and rotation; of heat one, the
 * temperature, and what is 6 x 6 below is a number (conduction_ops.h). */
typedef struct hx_mg_level {
    int64_t n_node, n_own; /* as in hx_lattice_level */
    float step[3];
    int mode[3]; /* hx_lattice_mode */
    float scale; /* its matrix is P'AP times that, of lattices after the first */
    int32_t *d_neighbour, *d_child, *d_parent; /* as in hx_lattice_level */
    float *d_matrix; /* [n_node] rows of 27 blocks of 6 x 6, in the order the device likes */
    uint8_t *d_held; /* [n_node] 1: a support, a spring or a rigid set is near; NULL: not known */
    uint8_t *d_divided; /* as in hx_lattice_level */
    float *d_m;         /* inverse diagonal, or 1 with lines; 0 where the row is empty */
    float *d_b;         /* right-hand side */
    float *d_x, *d_y;   /* two iterates: a smoothing step reads one and writes the other */
    float *d_d;         /* direction of the smoother; its residual in between */
    float *d_v;         /* power iteration */
    hx_mg_smoother *d_smoother;
    hx_mg_level_lines lines;
    struct hx_level_share *share; /* as in hx_lattice_level (owned) */
} hx_mg_level;

/* The mesh in the cells of level 0. */
typedef struct hx_mg_mesh {
    const hx_device_model *model;
    int64_t
        n_other; /* the last so many points are left out of restrictions: others restrict them */
    int64_t n_cell;
    double origin[3], size[3], unit;
    int32_t *d_cell, *d_cell_corner, *d_cell_elem, *d_cell_elem_at, *d_cell_node, *d_cell_node_at;
    int32_t *d_node_cell, *d_coloured;
    float *d_partial; /* [n_cell][8][6 or 1] what a restriction leaves at a cell's corners */
    int32_t colour_at[9];
    float *d_position;
    uint8_t *d_fixed; /* [n_point] bits 1, 2, 4: x, y, z fixed */
    /* For mesh_update. NULL: no such updates. */
    float *d_kept;      /* [n_elem] modulus that the matrix is of */
    int32_t *d_changed; /* [n_cell + 2] which cells it changed in, as the device notes them */
    float
        *d_share; /* [n_cell][HX_MG_SHARE] or NULL: a cell's part of P'KP, in the device's order */
    void *own;    /* the device's, from mesh_prepare; or NULL */
    uint8_t *d_mean; /* [n_cell] HX_MG_MAY_MEAN from mesh_prepare, HX_MG_IS_MEAN from mesh_update;
                      * NULL: the device takes no mean strains */
    int takes_means; /* whether an update may */
} hx_mg_mesh;

/* The K of a cell's part of P'KP may be that of its elements' mean strains if it has so many
 * elements, none of them at a support, and no motion of one of its corners has less than such a
 * share of its energy then, all moduli being equal. It is where besides either no modulus is so
 * many times another one, or one in so many elements lies between the least and the most, ten times
 * from each. Why, and what it costs: doc/notebook/2026-11-28-mean-strains.md. */
enum { HX_MG_MEAN_ELEMS = 27, HX_MG_MEAN_GRADED = 4, HX_MG_MAY_MEAN = 1, HX_MG_IS_MEAN = 2 };
#define HX_MG_MEAN_ENERGY 0.9f
#define HX_MG_MEAN_CONTRAST 1e4f
static HX_HD int hx_mg_is_between(float modulus, float least, float most)
{
    return modulus > 10.0f * least && 10.0f * modulus < most;
}

/* Of an update of a lattice's matrix, what of the last one holds. */
typedef enum {
    HX_MG_NEW,      /* nothing */
    HX_MG_RESTORED, /* d_kept, which came from a checkpoint */
    HX_MG_CHANGED   /* d_kept and d_share */
} hx_mg_update;

enum { HX_MG_PAIRS = 36, HX_MG_SHARE = HX_MG_PAIRS * HX_MG_DOF * HX_MG_DOF }; /* corners a <= b */

/* A modulus is kept until it is off by more than this factor; measured,
 * doc/notebook/2026-11-26-only-what-changed.md. */
#define HX_MG_KEEP 1.25f
static HX_HD int hx_mg_has_changed(float kept, float now)
{
    const float low = kept < now ? kept : now, high = kept < now ? now : kept;
    return !(high <= HX_MG_KEEP * low);
}

/* Weight of a node's child at an offset, and the child's distance from it over the unit. */
static HX_HD float hx_mg_child(const hx_mg_level *fine, const hx_mg_level *coarse, int offset,
                               float d[3])
{
    const int at[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    float w = 1.0f;
    for (int i = 0; i < 3; i++) {
        d[i] = ((float)at[i] - hx_lattice_centre(coarse->mode[i])) * fine->step[i];
        w *= hx_lattice_weight(coarse->mode[i], at[i]);
    }
    return w;
}

/* Weight of the parents of a node, and its distance from the parent at corner 0 of its cell; wide:
 * directions with parents on both sides. first, second: whether it has parents with bit i of the
 * corner 0, 1. */
static HX_HD float hx_mg_parents(const hx_mg_level *fine, const hx_mg_level *coarse,
                                 const int first[3], const int second[3], float d[3], int wide[3])
{
    float w = 1.0f;
    for (int i = 0; i < 3; i++) {
        wide[i] = first[i] && second[i];
        d[i] = wide[i] ? fine->step[i] : 0.0f;
        if (wide[i]) w *= 0.5f;
        if (coarse->mode[i] == HX_LATTICE_COLLAPSE)
            d[i] = second[i] ? 0.5f * fine->step[i] : -0.5f * fine->step[i];
    }
    return w;
}

/* From a node of a lattice to its neighbour at an offset, over the unit. */
static HX_HD void hx_mg_offset(const hx_mg_level *level, int offset, double d[3])
{
    const int at[3] = {offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1};
    for (int i = 0; i < 3; i++) d[i] = at[i] * (double)level->step[i];
}

/* An entry of a diagonal block without what its row makes of a rigid motion, from it and its image:
 * the same for both. */
static HX_HD float hx_mg_restored(float entry, float image, double force, double image_force)
{
    return (float)(0.5 * (((double)entry - force) + ((double)image - image_force)));
}

/* An inverse is made by tiles: rows and columns rounded up to them; doubles on the way. */
enum { HX_MG_TILE = 64 };
static HX_HD int64_t hx_mg_pitch(int64_t n)
{
    return (n + HX_MG_TILE - 1) / HX_MG_TILE * HX_MG_TILE;
}
static HX_HD int64_t hx_mg_inverse_work(int64_t n)
{
    return hx_mg_pitch(n) * (hx_mg_pitch(n) + 2 * HX_MG_TILE + 1) + 2 * HX_MG_TILE * HX_MG_TILE + 1;
}

/* The factors of a lattice's matrix, on the host. */
typedef struct hx_mg_direct {
    int32_t *order; /* [n_node] a node's place in the factors */
    hx_skyline factors;
} hx_mg_direct;

/* Blocks of points whose matrices take the diagonal's place in the smoother of a mesh. */
typedef struct hx_mg_blocks {
    int64_t n;        /* 0: none, the diagonal smoothes */
    int most_points;  /* of a block */
    int32_t *d_first; /* [n + 1] first place of each */
    int32_t *d_point; /* [n_point] points, ascending in each */
    int64_t *d_at;    /* [n + 1] first number of each inverse */
    float *d_inverse; /* [d_at[n]] of its unknowns, point after point */
} hx_mg_blocks;

/* Lines of points along short edges, whose block tridiagonal matrices do the same (line_block.h).
 * Each point is in one. */
typedef struct hx_mg_lines {
    int64_t n, n_point; /* 0: none */
    int32_t *d_first;   /* [n + 1] first place of each */
    int32_t *d_point;   /* [n_point] points, along each */
    float *d_factor;    /* [n_point][HX_LINE_NUMBERS] by place */
    double *d_block;    /* [n_point][6] of K's diagonal, by point */
    void *common;       /* NULL; of a share, of hx_common_ops.share_lines */
} hx_mg_lines;

/* Rows of a sparse matrix: row i, of entry d_at[i] of a vector, none twice, has the entries
 * [d_first[i], d_first[i + 1]). */
typedef struct hx_mg_rows {
    int64_t n, n_entry;
    int64_t *d_first, *d_at, *d_column;
    double *d_value;
} hx_mg_rows;

typedef struct hx_multigrid_ops {
    /* Where entry (r, c) of block o of a node's row is in hx_mg_level.d_matrix, n unknowns a node:
     * 1: ((n o + c) n_node + node) n + r; 0: ((27 node + o) n + c) n + r. */
    int matrix_by_columns;

    /* m = 1 / diag, 0 where diag is not positive. */
    int (*invert)(hx_device *dev, int64_t n, const double *d_diag, float *d_m);

    /* Power iteration: v, a start vector (0 where m is 0); then, given t = A v, lambda's estimate
     * and v := M^-1 t, normalised. */
    int (*power_start)(hx_device *dev, int64_t n, const float *d_m, float *d_v);
    int (*power_step)(hx_device *dev, int64_t n, const float *d_m, const float *d_t, float *d_v,
                      hx_mg_smoother *d_smoother);
    /* Of a lattice, y = M^-1 A x: a step that neither looks nor scales. NULL: the device has none
     * that is faster. */
    int (*power_next)(hx_device *dev, const struct hx_mg_level *level, const float *d_x,
                      float *d_y);

    /* The same on the mesh. */
    int (*mesh_power_start)(hx_device *dev, int64_t n, const float *d_m, float *d_v);
    int (*mesh_power_step)(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                           float *d_v, hx_mg_smoother *d_smoother);
    /* The two halves of a step: d_sum[2] = {v'Dv, t'D^-1 t}; the estimate from such sums, which are
     * lost, and v := M^-1 t, normalised. */
    int (*power_sums)(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                      const float *d_v, double *d_sum);
    int (*power_end)(hx_device *dev, int64_t n, const float *d_m, const float *d_t, double *d_sum,
                     float *d_v, hx_mg_smoother *d_smoother);

    int (*bound)(hx_device *dev, hx_mg_smoother *d_smoother, double *d_least, double kept,
                 double safety, double ratio); /* hx_mg_smoother_bound */

    /* On the mesh. x = d = b[0] M^-1 r; and a step with the residual r - t, whose result goes to z
     * instead of x if z is given. d may be NULL where only one step follows another's start. */
    int (*mesh_start)(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother,
                      const double *d_r, const float *d_m, float *d_d, float *d_x);
    int (*mesh_step)(hx_device *dev, int64_t n, const hx_mg_smoother *d_smoother, int i,
                     const double *d_r, const float *d_t, const float *d_m, float *d_d, float *d_x,
                     double *d_z);
    /* level->b = P'(r - t); x += P y where m is not 0. */
    int (*mesh_restrict)(hx_device *dev, const hx_mg_mesh *mesh, const double *d_r,
                         const float *d_t, const hx_mg_level *level);
    int (*mesh_prolong)(hx_device *dev, const hx_mg_mesh *mesh, const float *d_y, const float *d_m,
                        float *d_x);
    /* Once, before mesh_galerkin, of linear elements: what it keeps of the mesh, and how many bytes
     * at most; it may sort the elements of a cell. NULL: nothing. The second accepts a mesh
     * without. */
    int (*mesh_prepare)(hx_device *dev, hx_mg_mesh *mesh);
    void (*mesh_release)(hx_device *dev, hx_mg_mesh *mesh);
    double (*prepared_bytes)(int64_t n_elem, double n_cell);
    /* level->matrix = P'K P, columns of fixed degrees of freedom left out. */
    int (*mesh_galerkin)(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level);
    /* The same, of mean strains where they may be if takes_means, of the moduli d_kept: those of a
     * cell become the design's as soon as one is off
     * (hx_mg_has_changed), and only such cells are computed where d_share is there. What it leaves
     * depends on d_kept and takes_means alone: the same bits whatever was computed when. NULL: the
     * device has none.
     */
    int (*mesh_update)(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                       hx_mg_update holds);

    /* The same from the rows of K, of any element: a matrix with 3 unknowns a point (of heat 1),
     * full or lower. Symmetric to the bit, and the same bits from both. NULL: the device has none.
     */
    int (*rows_galerkin)(hx_device *dev, const hx_mg_mesh *mesh, const hx_matrix *matrix,
                         const hx_mg_level *level);

    /* matrix += blocks[n][6][6], block i at the offset and node of at[i] = 27 node + offset, none
     * twice. */
    int (*add_blocks)(hx_device *dev, const hx_mg_level *level, int64_t n, const int64_t *d_at,
                      const float *d_block);

    /* For rigid sets. t[dof[i]] = r[dof[i]]. With columns y[n_column][n], six a set: sum[k] -= y_k
     * . b, each in a fixed order; x = -sum over k of c[k] y_k. c = inverse sum,
     * inverse[n_column][n_column].
     */
    int (*match_entries)(hx_device *dev, int64_t n, const int64_t *d_dof, const double *d_r,
                         float *d_t);
    int (*column_dots)(hx_device *dev, int64_t n, int n_column, const float *d_y, const float *d_b,
                       double *d_sum);
    int (*column_combine)(hx_device *dev, int64_t n, int n_column, const float *d_y,
                          const double *d_c, float *d_x);
    int (*add)(hx_device *dev, int64_t n, const float *d_x, float *d_y); /* y += x */
    int (*small_multiply)(hx_device *dev, int n_column, const double *d_inverse,
                          const double *d_sum, double *d_c);

    /* For loose parts: y += factor A x, sums in double in a fixed order. Of x and y each one is
     * given, in double or in single precision. NULL: the device has none. */
    int (*rows_add)(hx_device *dev, const hx_mg_rows *rows, double factor, const double *d_x,
                    const float *d_x_single, double *d_y, float *d_y_single);

    /* On a lattice. y = A x; y = b - A x. */
    int (*multiply)(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
    int (*residual)(hx_device *dev, const hx_mg_level *level, const float *d_x, float *d_y);
    /* Step i from x to y, by the level's lines where it has any; x NULL: from zero. */
    int (*smooth)(hx_device *dev, const hx_mg_level *level, int i, const float *d_x, float *d_y);
    int (*restrict_to)(hx_device *dev, const hx_mg_level *fine, const float *d_r,
                       const hx_mg_level *coarse);
    int (*prolong_from)(hx_device *dev, const hx_mg_level *coarse, const float *d_y,
                        const hx_mg_level *fine, float *d_x);
    /* P'AP times the scale of `coarse`. */
    int (*galerkin)(hx_device *dev, const hx_mg_level *fine, const hx_mg_level *coarse);
    /* Takes out of the diagonal blocks of own nodes that are not held what their rows make of rigid
     * motions, which is rounding. NULL: nothing, as for one unknown a node. */
    int (*restore_rigid)(hx_device *dev, const hx_mg_level *level);
    int (*diagonal)(hx_device *dev, const hx_mg_level *level); /* sets m */
    /* One of two. On a host: the factors of a level's matrix + D, D = `added` of its diagonal
     * (skyline.h), and x = (A + D)^-1 b with them. *fits: 0 where rows had to be left out, since
     * noise is above D. */
    int (*direct_factorise)(hx_device *dev, const hx_mg_level *level, double added,
                            hx_mg_direct *direct, int *fits);
    int (*direct_solve)(hx_device *dev, const hx_mg_level *level, const hx_mg_direct *direct,
                        const float *d_b, float *d_x);
    /* Or in single precision: inverse[n][hx_mg_pitch(n)] of the same, symmetric to the bit, by way
     * of work[hx_mg_inverse_work(n)]; y = inverse b. `inverse` begins, beside what is queued after
     * it, which must not touch the matrix, work or inverse until inverse_fits; that waits. */
    int (*inverse)(hx_device *dev, const hx_mg_level *level, double added, double *d_work,
                   float *d_inverse);
    int (*inverse_fits)(hx_device *dev, int64_t n, double *d_work, int *fits);
    int (*inverse_multiply)(hx_device *dev, int64_t n, const float *d_inverse, const float *d_b,
                            float *d_y);
    /* A cycle of small lattices in one launch (resident.h); NULL: the device has none. So many
     * blocks run at a time (0: not known to), each with so many nodes of a level; 1 if the
     * device runs this one, `level` its first, whose x a trial overwrites, else 0; and that level's
     * x := the cycle's solution for its b, d_inverse the last one's. */
    void (*resident_room)(hx_device *dev, int *n_block, int *n_node);
    int (*resident_fits)(hx_device *dev, const hx_mg_resident *resident, const hx_mg_level *level);
    int (*resident_cycle)(hx_device *dev, const hx_mg_resident *resident, const hx_mg_level *level,
                          const float *d_inverse);
    /* Smoothing by blocks; NULL: the device has none. The inverses of their matrices from rows as
     * rows_galerkin takes them, without the unknowns where m is 0; m becomes 1 elsewhere. */
    int (*blocks_invert)(hx_device *dev, const hx_matrix *matrix, const hx_mg_blocks *blocks,
                         int64_t n, float *d_m);
    /* t := M^-1 (t - r), 0 where m is; c unknowns a point. r NULL: 0. */
    int (*blocks_solve)(hx_device *dev, const hx_mg_blocks *blocks, int c, const double *d_r,
                        float *d_t);
    /* power_step for v with v'M v = 1, what it leaves: t = A v and s = M^-1 t; m is 1, or 0 where s
     * is. */
    int (*blocks_power)(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                        const float *d_s, float *d_v, hx_mg_smoother *d_smoother);
    /* Smoothing by lines; NULL: the device has none. What couples each point with the one before it
     * goes where its L will be, from the elements of a model with lists of the nodes. */
    int (*lines_couple)(hx_device *dev, const hx_device_model *model, const hx_mg_lines *lines);
    /* Factors from that and d_block; unknowns where m is 0 are left out, m becomes 1 elsewhere. */
    int (*lines_factorise)(hx_device *dev, const hx_mg_lines *lines, float *d_m);
    /* t := M^-1 (t - r), 0 where m is. r NULL: 0. */
    int (*lines_solve)(hx_device *dev, const hx_mg_lines *lines, const double *d_r, float *d_t);
    /* Of a lattice's lines; NULL: the device has none. Factors of its matrix, m becomes 1 where it
     * is not 0; t := M^-1 t at own nodes; blocks_power on a lattice. */
    int (*level_factorise)(hx_device *dev, const hx_mg_level *level);
    int (*level_solve)(hx_device *dev, const hx_mg_level *level, float *d_t);
    int (*level_power)(hx_device *dev, int64_t n, const float *d_m, const float *d_t,
                       const float *d_s, float *d_v, hx_mg_smoother *d_smoother);
    /* matrix[6 n][6 n] of a small level, on the host, for tests. Waits. */
    int (*dense)(hx_device *dev, const hx_mg_level *level, double *matrix);
} hx_multigrid_ops;

#ifdef __cplusplus
}
#endif

#endif
