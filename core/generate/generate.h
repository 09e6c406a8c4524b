/* Generators of the four examples of P1 (section "Examples"), at the five sizes of that paper or
 * any other. Meshes are stored as unstructured meshes. */
#ifndef HX_GENERATE_H
#define HX_GENERATE_H

#include "../base/c_linkage.h"
#include "../mesh/mesh.h"
#include "../mesh/mesh_source.h"

HX_C_BEGIN

typedef struct hx_generate_params {
    int size; /* 1 to 5: Table 1 of P1; 0: defined by nx, ny, nz */
    /* > 0: overrides `size`, with the meaning in the help of each generator; 0: follows from
     * `size` */
    int nx, ny, nz;
    /* largest random displacement of interior nodes, as a fraction [0, 0.3] of the element size */
    double distort;
    uint64_t seed; /* of the distortion */
    /* host memory per element that the caller will need besides the mesh, for the memory check */
    double other_bytes;
    /* processes that each make a part of the mesh; 0 or 1: one process makes all of it */
    int n_process;
    int n_on_host; /* how many of them run on this machine */
    /* 1: the caller wants the order of hx_mesh_reorder. A box is then generated in that order with
     * its elem_orig set, and a mesh with elem_orig need not be reordered. */
    int in_order;
} hx_generate_params;

typedef struct hx_generator {
    const char *name; /* value of mesh.generator */
    const char *help; /* one line: geometry, meaning of nx, ny and nz, names of the sets */
    /* Opens the source (mesh_source.h) of the raw mesh without distortion; the caller closes it,
     * also after an error. HX_EINPUT: impossible counts; the message names counts that work. */
    int (*open)(hx_mesh_source *source, const hx_generate_params *params);
    double paper_radius[5]; /* filter radius of sizes 1 to 5 in element sizes, from P1 */
} hx_generator;

/* Table of generators, terminated by NULL: cantilever, lbeam, michell, conrod. */
extern const hx_generator *const hx_generators[];
const hx_generator *hx_generator_find(const char *name);

/* Makes the raw mesh; the caller calls hx_mesh_finish. HX_EINPUT: impossible parameters. */
int hx_generate(const hx_generator *generator, hx_mesh *mesh, const hx_generate_params *params);

/* Returns the filter radius of a size, in element sizes: that of the table for sizes 1 to 5;
 * without a size, that of the size with the nearest number of elements. */
double hx_generator_radius(const hx_generator *gen, const hx_generate_params *params,
                           int64_t n_elem);

/* Makes the raw box of nx * ny * nz hexahedra with edge lengths lx, ly, lz and one corner at the
 * origin, with node sets left, right (x), front, back (y), bottom, top (z) and right-lower-edge.
 * For tests and the cantilever. */
int hx_generate_box(hx_mesh *mesh, int nx, int ny, int nz, double lx, double ly, double lz);

/* Displaces interior nodes at random by at most share * local edge length; boundary nodes stay. */
int hx_mesh_distort(hx_mesh *mesh, double share, uint64_t seed);

HX_C_END

#endif
