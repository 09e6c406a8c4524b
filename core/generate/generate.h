/* Generators of the paper's four examples (P1, section "Examples"), at the paper's five sizes or
 * any other. Every mesh is stored unstructured. */
#ifndef HX_GENERATE_H
#define HX_GENERATE_H

#include "../mesh/mesh.h"
#include "../mesh/mesh_source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_generate_params {
    int size;       /* 1..5: the paper's Table 1; 0: by nx, ny, nz */
    int nx, ny, nz; /* > 0 wins over size; meaning per generator, see its help; 0: from size */
    double distort; /* interior nodes moved at random by up to this share of the element size, [0,
                       0.3] */
    uint64_t seed;  /* of the distortion */
    double other_bytes; /* host bytes an element that the caller will need besides the mesh, for the
                           memory check */
    int n_process;      /* that each take a part of it, not the whole; 0, 1: one */
    int n_on_host;      /* of these on this machine */
    int in_order; /* 1: hx_mesh_reorder follows. Where the mesh has an elem_orig it is not needed
                     any more: a box comes in that order at once */
} hx_generate_params;

typedef struct hx_generator {
    const char *name; /* the word in mesh.generator */
    const char *help; /* one line: geometry, meaning of nx, ny, nz, names of its sets */
    /* What tells the raw mesh without its distortion (mesh_source.h); the caller closes it, also
     * when this failed. HX_EINPUT: impossible counts, the message says what would do. */
    int (*open)(hx_mesh_source *source, const hx_generate_params *params);
    double paper_radius[5]; /* filter radius of sizes 1..5, in element sizes (REFERENCE) */
} hx_generator;

/* NULL-terminated table: cantilever, lbeam, michell, conrod. */
extern const hx_generator *const hx_generators[];
const hx_generator *hx_generator_find(const char *name);

/* Builds the raw mesh (hx_mesh_finish is the caller's). HX_EINPUT: what cannot be, as above. */
int hx_generate(const hx_generator *generator, hx_mesh *mesh, const hx_generate_params *params);

/* Filter radius in element sizes that belongs to a size: the table's value for 1..5; without a
 * size, the radius of the size whose element count is nearest. */
double hx_generator_radius(const hx_generator *gen, const hx_generate_params *params,
                           int64_t n_elem);

/* The raw box of nx * ny * nz hexes, edge lengths lx, ly, lz, origin at 0, with node sets left,
 * right (x), front, back (y), bottom, top (z) and right-lower-edge. For tests and the cantilever.
 */
int hx_generate_box(hx_mesh *mesh, int nx, int ny, int nz, double lx, double ly, double lz);

/* Moves interior nodes at random by up to share * local edge length (boundary nodes stay). */
int hx_mesh_distort(hx_mesh *mesh, double share, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
