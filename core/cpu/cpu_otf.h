/* otf on the CPU, inside: what cpu_otf_blocks.c prepares and the kernels of cpu_otf_lanes.inc and
 * cpu_otf_scalar_lanes.inc read. Not installed.
 *
 * Elements are taken in blocks of consecutive ones. The nodes of a block are its rows: first those
 * of this block alone, whose sums go to y at once, then those that other blocks hold too, whose
 * sums go to a slot each of `partial`; a second pass adds the slots of a node in the order of the
 * blocks. */
#ifndef HX_CPU_OTF_H
#define HX_CPU_OTF_H

#include "../solver/strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HX_OTF_BLOCK = 256, /* elements; a multiple of every number of lanes */
    HX_OTF_MAX_ROW = 8 * HX_OTF_BLOCK,
    HX_OTF_CHUNK = 1024, /* shared nodes a thread takes at a time */
    HX_OTF_SHAPES = 64,  /* parallelepipeds, at most */
    HX_OTF_NO_SHAPE = 255,
    HX_OTF_RS = 9, /* tiles after the nine (k, l): k k + l l, and all three */
    HX_OTF_RT,
    HX_OTF_ST,
    HX_OTF_RST,
    HX_OTF_TILES
};

/* A parallelepiped: cpu_otf_shapes.c. */
typedef struct hx_otf_shape {
    double edge[3][3];            /* modes r, s, t of its coordinates, times 8 */
    double tile[HX_OTF_TILES][9]; /* row-major, of unit modulus */
    float tile_single[HX_OTF_TILES][9];
    double diagonal[8][3]; /* of its stiffness, at the corners */
    int is_box;            /* its edges r, s, t lie along x, y, z */
} hx_otf_shape;

typedef struct hx_otf_block {
    int64_t row;  /* its first in row_node */
    int64_t slot; /* of its first shared row in partial */
    int32_t n_own, n_shared;
} hx_otf_block;

typedef struct hx_cpu_otf_kernel hx_cpu_otf_kernel;

typedef struct hx_cpu_otf {
    const hx_device_model *model; /* (borrowed) */
    const hx_cpu_otf_kernel *kernel;
    int components; /* of a row: 3, or 1 of heat */
    double unit;    /* of length in single precision: a power of two near the element size */
    int64_t n_block, n_row, n_slot, n_shared;
    hx_otf_block *block;     /* [n_block] (owned, as all below) */
    int32_t *row_node;       /* [n_row] */
    uint16_t *corner;        /* [n_block][HX_OTF_BLOCK][8] 4 * row; past the end the last element's;
                                of tetrahedral blocks the four points first, as they turn right */
    uint8_t *is_tetrahedral; /* [n_block] all of its elements are; NULL: no block's,
                                as with one unknown a node */
    uint8_t *block_shape;    /* [n_block] the shape of all of its elements, or HX_OTF_NO_SHAPE;
                                NULL with one unknown a node */
    hx_otf_shape *shape;     /* [HX_OTF_SHAPES] */
    int n_shape;
    void *partial;         /* [n_slot][components], double or float */
    int32_t *shared_node;  /* [n_shared] ascending */
    int64_t *shared_begin; /* [n_shared + 1] */
    uint32_t *shared_slot; /* [n_slot] slots of each shared node, ascending */
    double *sum;           /* x'y of each block's own nodes, then of each chunk of shared ones */
} hx_cpu_otf;

/* Instructions that the vectors are made for. `block` computes one block, `tetrahedra` one of these
 * alone, `one_shape` one of
 * elements of one shape, `shared` the sums of the shared nodes first .. last - 1; of heat `compute`
 * the elements of a block, rows x, y, z, unknown, into f of rows. */
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

/* Of otf with 3 unknowns a node, from what cpu_otf_lanes.inc and its like define. */
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

/* Of otf with `components` unknowns a node: its bytes, and what a strategy's entries do. kernels:
 * fastest first, then NULL; set-up takes the first that runs here. */
size_t hx_cpu_otf_bytes(const hx_mesh *mesh, int components);
int hx_cpu_otf_setup(void **state, const hx_device_model *model, const hx_mesh *mesh,
                     int components, const hx_cpu_otf_kernel *const *kernels);
int hx_cpu_otf_apply(void *state, const double *d_x, double *d_y);
int hx_cpu_otf_apply_dot(void *state, const double *d_x, double *d_y, double *d_sum);
int hx_cpu_otf_apply_single(void *state, const float *d_x, float *d_y);
const char *hx_cpu_otf_variant(void *state, const hx_cpu_otf_kernel *const *kernels, int i);
void hx_cpu_otf_teardown(void *state);

/* From that of one block: own rows to d_diag, shared ones to partial. */
typedef void hx_cpu_otf_block_diagonal(const hx_cpu_otf *s, int64_t block, double *d_diag);
int hx_cpu_otf_diagonal(void *state, hx_cpu_otf_block_diagonal *block, double *d_diag);

static inline int hx_cpu_otf_is_tetrahedral(const hx_cpu_otf *s, int64_t block)
{
    return s->is_tetrahedral && s->is_tetrahedral[block];
}

static inline int hx_cpu_otf_has_shape(const hx_cpu_otf *s, int64_t block)
{
    return s->block_shape && s->block_shape[block] != HX_OTF_NO_SHAPE;
}

/* Sets shape and block_shape of the blocks, which are there already (cpu_otf_shapes.c). */
int hx_cpu_otf_find_shapes(hx_cpu_otf *s, const hx_mesh *mesh);

/* otf with one unknown a node (cpu_otf_scalar.c). */
extern const hx_strategy hx_strategy_cpu_otf_scalar;

#ifdef __cplusplus
}
#endif

#endif
