/* The halves of a CAD model at mirror planes: whether they agree, and which face and which solid is
 * the image of which. Internal to this room. */
#ifndef HX_CAD_HALVES_H
#define HX_CAD_HALVES_H

#include "cad.h"

enum { HX_CAD_FACES, HX_CAD_SOLIDS, HX_CAD_N_KIND };

/* A face or a solid of the shape, or a piece of one. */
typedef struct hx_cad_part {
    int place;  /* the plane above which it was cut off, or HX_CAD_REGION; -1: whole */
    int64_t of; /* the face or solid of the shape, from 0 */
    double measure, centre[3], box[6]; /* area mm^2 or volume mm^3; mm; min, max in mm */
} hx_cad_part;

typedef struct hx_cad_parts {
    size_t n, capacity;
    hx_cad_part *part; /* [n] (owned) */
} hx_cad_parts;

/* The region above all planes. */
enum { HX_CAD_REGION = HX_MOST_MIRRORS };

struct hx_cad_halves {
    int n_plane;
    hx_mirror_plane plane[HX_MOST_MIRRORS]; /* unit normals, perpendicular to each other */
    double middle[3], size;                 /* centroid of the shape, diagonal of its box (mm) */
    int is_uneven; /* 1, after HX_EINPUT: the halves differ; 0: gmsh failed for another reason */
    /* largest distance between centre and mirror image of a face, relative to `size` */
    double off;
    hx_cad_parts whole[HX_CAD_N_KIND]; /* in the order of face-1, ... and of the shape's solids */
    hx_cad_parts cut[HX_CAD_N_KIND];   /* pieces above a plane of what the planes cut */
    int64_t *image[HX_CAD_N_KIND][HX_MOST_MIRRORS]; /* [whole[kind].n] each (owned) */
};

/* Lengths up to this fraction of the size are equal; so are areas and volumes, of the largest. */
static const double hx_cad_equal = 1e-6;

/* Cuts the shape at the planes of the options and compares the halves; without planes in the
 * options, at the planes through its centroid normal to the axes, of which those are kept at which
 * the halves agree. HX_EINPUT: the halves differ at a plane of the options, or at all three. The
 * caller frees *halves, also after a failure. Two or three runs of gmsh. */
int hx_cad_find_halves(const hx_cad_job *job, const hx_cad_shape *shape, hx_cad_halves *halves);
void hx_cad_halves_free(hx_cad_halves *halves);

/* Distance of a point above a plane. */
double hx_cad_height(const hx_mirror_plane *plane, const double x[3]);

/* Where a box (min, max) lies along the normal of a plane: *low, *high are distances above it. */
void hx_cad_box_range(const hx_mirror_plane *plane, const double box[6], double *low, double *high);

/* Fills image[kind][p] of plane p from the pieces. Returns 1 if the halves agree; 0: `why` states
 * the largest difference. *off receives the largest distance of centres. HX_ENOMEM. O(n^2) for n
 * faces. */
int hx_cad_match_halves(hx_cad_halves *halves, int p, double *off, char *why, size_t n_why);

/* Writes the commands that make x the box above n of the planes; the commands that print every
 * face and solid of s() and v() ("hextop WORD kind place of measure centre box"); and those that
 * print the pieces inside x of what the planes cut. */
void hx_cad_put_region(FILE *f, const hx_cad_halves *halves, const hx_mirror_plane *plane, int n);
void hx_cad_put_parts(FILE *f, const char *word);
void hx_cad_put_cuts(FILE *f, const hx_cad_halves *halves, const hx_mirror_plane *plane, int n,
                     int place);

/* Reads a line printed by these commands into list[kind]; other lines are left out. */
int hx_cad_take_part(const char *text, const char *word, hx_cad_parts list[HX_CAD_N_KIND]);

/* Turns the raw mesh of the region, with the sets face-1, ... and solid-1, ... of the entities
 * `half`, into that of the whole part, with the numbers of the shape. Nodes on a plane are common.
 * HX_EINPUT: a face of the region is no piece of a face of the shape. O(elements). */
int hx_cad_mirror(const hx_cad_job *job, const hx_cad_parts half[HX_CAD_N_KIND], hx_mesh *mesh);

/* hx_cad_add_names() for a mirrored mesh, which lacks nodes at some corners of the file: the names
 * are found in a coarse mesh of the whole shape. */
int hx_cad_add_mirrored_names(const hx_cad_job *job, const hx_cad_shape *shape, hx_mesh *mesh);

#endif
