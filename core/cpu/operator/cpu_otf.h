/* Internals of the operator kind `otf` on the CPU: the data that cpu_otf_blocks.c prepares for the
 * kernels of cpu_otf_lanes.inc and cpu_otf_scalar_lanes.inc. Not installed.
 *
 * Elements are processed in blocks of consecutive elements. The nodes of a block are its rows:
 * first the nodes that only this block has, whose sums are written to y directly, then the nodes
 * that it shares with other blocks, whose sums each go to a slot of `partial`. A second pass adds
 * the slots of each shared node in the order of the blocks. */
#ifndef HX_CPU_OTF_H
#define HX_CPU_OTF_H

#include "../../operator/operator_kind.h"

enum {
    HX_OTF_BLOCK = 256, /* number of elements; a multiple of every number of lanes */
    HX_OTF_MAX_ROW = 8 * HX_OTF_BLOCK,
    HX_OTF_CHUNK = 1024, /* number of shared nodes that a thread processes at a time */
    HX_OTF_SHAPES = 64,  /* maximum number of different parallelepipeds */
    HX_OTF_NO_SHAPE = 255,
    /* indices of the tiles that follow the nine tiles (k, l): the sums of tiles (k, k) and (l, l)
     * for each pair of modes, and the sum of all three tiles (k, k) */
    HX_OTF_RS = 9,
    HX_OTF_RT,
    HX_OTF_ST,
    HX_OTF_RST,
    HX_OTF_TILES
};

/* A parallelepiped (cpu_otf_shapes.c). */
typedef struct hx_otf_shape {
    double edge[3][3];            /* modes r, s, t of its coordinates, times 8 */
    double tile[HX_OTF_TILES][9]; /* row-major, for unit modulus */
    float tile_single[HX_OTF_TILES][9];
    double diagonal[8][3]; /* diagonal of its stiffness matrix at the corners */
    int is_box;            /* 1: its edges r, s, t are parallel to x, y, z */
} hx_otf_shape;

typedef struct hx_otf_block {
    int64_t row;  /* first row of the block in row_node */
    int64_t slot; /* slot of its first shared row in `partial` */
    int32_t n_own, n_shared;
} hx_otf_block;

typedef struct hx_cpu_otf_kernel hx_cpu_otf_kernel;
typedef struct hx_cpu_otf hx_cpu_otf;

/* Computes the diagonal of one block: its own rows go to d_diag, shared rows to `partial`. */
typedef void hx_cpu_otf_block_diagonal(const hx_cpu_otf *s, int64_t block, double *d_diag);

struct hx_cpu_otf {
    const hx_device_model *model;            /* (borrowed) */
    const hx_cpu_otf_kernel *const *kernels; /* from the fastest on, ending with NULL */
    const hx_cpu_otf_kernel *kernel;         /* the one in use */
    hx_cpu_otf_block_diagonal *block_diagonal;
    int components; /* number of unknowns per row: 3, or 1 for heat conduction */
    double unit;    /* unit of length in single precision: a power of two near the element size */
    int64_t n_block, n_row, n_slot, n_shared;
    hx_otf_block *block; /* [n_block] (owned, like all arrays below) */
    int32_t *row_node;   /* [n_row] */
    /* [n_block][HX_OTF_BLOCK][8] 4 * row of each corner; places beyond the last element repeat its
     * corners. In tetrahedral blocks the four points come first, in right-handed order */
    uint16_t *corner;
    /* [n_block] 1: all elements are tetrahedra; NULL: no block has only tetrahedra, or there is one
     * unknown per node */
    uint8_t *is_tetrahedral;
    /* [n_block] shape of all elements of the block, or HX_OTF_NO_SHAPE; NULL: there is one unknown
     * per node */
    uint8_t *block_shape;
    hx_otf_shape *shape; /* [HX_OTF_SHAPES] */
    int n_shape;
    void *partial;         /* [n_slot][components] double or float */
    int32_t *shared_node;  /* [n_shared] ascending */
    int64_t *shared_begin; /* [n_shared + 1] */
    uint32_t *shared_slot; /* [n_slot] slots of each shared node, ascending */
    /* x'y over the nodes of each block that are not shared, then over each chunk of shared nodes */
    double *sum;
};

/* Kernels for one instruction set. `block` computes any block; `tetrahedra` computes one that has
 * only tetrahedra; `one_shape` computes one whose elements have one shape; `shared` computes the
 * sums of the shared nodes first .. last - 1. For heat conduction, `compute` computes the elements
 * of a block from rows (x, y, z, unknown) into f, one value per row. */
struct hx_cpu_otf_kernel {
    const char *name;
    int (*runs_here)(void);
    void (*block)(const hx_cpu_otf *s, int64_t block, const double *x, double *y);
    void (*tetrahedra)(const hx_cpu_otf *s, int64_t block, const double *x, double *y);
    void (*one_shape)(const hx_cpu_otf *s, int64_t block, const double *x, double *y);
    void (*shared)(const hx_cpu_otf *s, int64_t first, int64_t last, double *y);
    void (*block_single)(const hx_cpu_otf *s, int64_t block, const float *x, float *y);
    void (*tetrahedra_single)(const hx_cpu_otf *s, int64_t block, const float *x, float *y);
    void (*one_shape_single)(const hx_cpu_otf *s, int64_t block, const float *x, float *y);
    void (*shared_single)(const hx_cpu_otf *s, int64_t first, int64_t last, float *y);
    void (*compute)(const uint16_t *corner, const double *row, const double *scale, int n_elem,
                    double *f);
    void (*compute_single)(const uint16_t *corner, const float *row, const float *scale, int n_elem,
                           float *f);
};

/* Initializer for the kernel of otf with 3 unknowns per node, from the functions that
 * cpu_otf_lanes.inc and the files it includes define. */
#define HX_CPU_OTF_KERNEL(isa)                                                                     \
    {                                                                                              \
        .name = #isa, .runs_here = hx_cpu_##isa##_runs, .block = block_##isa,                      \
        .tetrahedra = tetrahedra_##isa, .one_shape = one_shape_##isa, .shared = shared_##isa,      \
        .block_single = block_##isa##_single, .tetrahedra_single = tetrahedra_##isa##_single,      \
        .one_shape_single = one_shape_##isa##_single, .shared_single = shared_##isa##_single       \
    }

extern const hx_cpu_otf_kernel hx_cpu_otf_any, hx_cpu_otf_avx2, hx_cpu_otf_avx512;

int hx_cpu_any_runs(void);
int hx_cpu_avx2_runs(void);
int hx_cpu_avx512_runs(void);

/* otf with `components` unknowns per node: its memory in bytes, and the entries of an operator
 * kind. Set-up chooses the first kernel that runs on this CPU. */
size_t hx_cpu_otf_bytes(const hx_mesh *mesh, int components);
int hx_cpu_otf_setup(void **state, const hx_device_model *model, const hx_mesh *mesh,
                     int components, const hx_cpu_otf_kernel *const *kernels,
                     hx_cpu_otf_block_diagonal *block_diagonal);
int hx_cpu_otf_apply(void *state, const double *d_x, double *d_y);
int hx_cpu_otf_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum);
int hx_cpu_otf_apply_single(void *state, const float *d_x, float *d_y);
int hx_cpu_otf_diagonal(void *state, double *d_diag);
const char *hx_cpu_otf_variant(void *state, int i);
void hx_cpu_otf_teardown(void *state);

static inline int hx_cpu_otf_is_tetrahedral(const hx_cpu_otf *s, int64_t block)
{
    return s->is_tetrahedral && s->is_tetrahedral[block];
}

static inline int hx_cpu_otf_has_shape(const hx_cpu_otf *s, int64_t block)
{
    return s->block_shape && s->block_shape[block] != HX_OTF_NO_SHAPE;
}

/* Sets `shape` and `block_shape` of existing blocks (cpu_otf_shapes.c). */
int hx_cpu_otf_find_shapes(hx_cpu_otf *s, const hx_mesh *mesh);

/* otf with one unknown per node (cpu_otf_scalar.c). */
extern const hx_operator_kind hx_operator_cpu_otf_scalar;

#endif
