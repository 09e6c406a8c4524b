/* otf on the CPU, inside: what strategy_cpu_otf.c prepares and the kernels of cpu_otf_lanes.inc
 * read. Not installed.
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
    HX_OTF_CHUNK = 1024 /* shared nodes a thread takes at a time */
};

typedef struct hx_otf_block {
    int64_t row;  /* its first in row_node */
    int64_t slot; /* of its first shared row in partial */
    int32_t n_own, n_shared;
} hx_otf_block;

typedef struct hx_cpu_otf_kernel hx_cpu_otf_kernel;
typedef struct hx_cpu_otf_scalar hx_cpu_otf_scalar;

typedef struct hx_cpu_otf {
    const hx_device_model *model; /* (borrowed) */
    const hx_cpu_otf_kernel *kernel;
    const hx_cpu_otf_scalar *scalar; /* of heat, in place of it */
    int components;                  /* of a row: 3, or 1 of heat */
    double unit; /* of length in single precision: a power of two near the element size */
    int64_t n_block, n_row, n_slot, n_shared;
    hx_otf_block *block;     /* [n_block] (owned, as all below) */
    int32_t *row_node;       /* [n_row] */
    uint16_t *corner;        /* [n_block][HX_OTF_BLOCK][8] 4 * row; past the end the last element's;
                                of tetrahedral blocks the four points first, as they turn right */
    uint8_t *is_tetrahedral; /* [n_block] all of its elements are; NULL: no block's,
                                as with one unknown a node */
    void *partial;           /* [n_slot][components], double or float */
    int32_t *shared_node;    /* [n_shared] ascending */
    int64_t *shared_begin;   /* [n_shared + 1] */
    uint32_t *shared_slot;   /* [n_slot] slots of each shared node, ascending */
    double *sum;             /* x'y of each block's own nodes, then of each chunk of shared ones */
} hx_cpu_otf;

/* Instructions that the vectors are made for. `block` computes one block, `tetrahedra` one of these
 * alone, `shared` the sums of the shared nodes first .. last - 1. */
struct hx_cpu_otf_kernel {
    const char *name;
    int (*runs_here)(void);
    void (*block)(const hx_cpu_otf *s, int64_t block, const double *x, double *y);
    void (*tetrahedra)(const hx_cpu_otf *s, int64_t block, const double *x, double *y);
    void (*shared)(const hx_cpu_otf *s, int64_t first, int64_t last, double *y);
    void (*block_single)(const hx_cpu_otf *s, int64_t block, const float *x, float *y);
    void (*tetrahedra_single)(const hx_cpu_otf *s, int64_t block, const float *x, float *y);
    void (*shared_single)(const hx_cpu_otf *s, int64_t first, int64_t last, float *y);
};

/* The same with one unknown a node: the elements of a block, rows x, y, z, unknown; f of rows. */
struct hx_cpu_otf_scalar {
    const char *name;
    int (*runs_here)(void);
    void (*compute)(const uint16_t *corner, const double *row, const double *scale, int n_elem,
                    double *f);
    void (*compute_single)(const uint16_t *corner, const float *row, const float *scale, int n_elem,
                           float *f);
};

/* Fastest first, the last one (name NULL) an end mark. setup takes the first that runs here. */
extern const hx_cpu_otf_kernel hx_cpu_otf_kernels[];

/* Of otf with `components` unknowns a node: its bytes; its blocks over a mesh and the unit of
 * length, into a zeroed struct; all that is owned, and the struct itself. */
size_t hx_cpu_otf_bytes(const hx_mesh *mesh, int components);
int hx_cpu_otf_build(hx_cpu_otf *s, const hx_mesh *mesh, int components);
void hx_cpu_otf_free(hx_cpu_otf *s);

/* Sums that x'y is made of: one per block, one per chunk of shared nodes. */
int64_t hx_cpu_otf_count_sums(int64_t n_block, int64_t n_shared);

/* otf with one unknown a node (cpu_otf_scalar.c). */
extern const hx_strategy hx_strategy_cpu_otf_scalar;

#ifdef __cplusplus
}
#endif

#endif
