/* Ties: groups of elements that share one design density, from symmetry planes of the design and an
 * extrusion direction. The mesh need not be symmetric or extruded, nor the loads.
 *
 * The reflections generate a finite group of isometries. Every centroid is folded into one chamber
 * of it, and along the extrusion into a plane; an element belongs to the element (or column of
 * elements) of the chamber whose centroid is nearest to its folded one, if the folded one lies
 * within 1.5 times that element's half-widths. So on a mesh that is symmetric groups are exact
 * images, on one that is not each is tied to what covers its image, and what has no image within
 * the part stays free. */
#ifndef HX_TIES_H
#define HX_TIES_H

#include "../base/host_device.h"
#include "../problem/problem.h"
#include "design_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `origin` leads messages, as in hx_problem_params. */
typedef struct hx_symmetry_plane {
    const char *origin;
    double point[3], normal[3]; /* normal: any length but 0 */
} hx_symmetry_plane;

typedef struct hx_ties_params {
    size_t n_plane;
    const hx_symmetry_plane *plane; /* borrowed during hx_ties_create only */
    int is_extruded;
    const char *extrusion_origin;
    double extrusion[3]; /* any length but 0 */
} hx_ties_params;

/* Images that planes may generate: those of a cube's 9, of a prism's with 12 sides. */
enum { HX_TIES_MOST_IMAGES = 48 };

typedef struct hx_ties {
    int64_t n_group, n_member; /* groups of two or more; elements in them */
    int32_t *start;            /* [n_group + 1] first member of a group (owned) */
    int32_t *member;           /* [n_member] elements, ascending within a group (owned) */
    int n_image;               /* isometries of the planes, the identity included */
    int64_t n_alone;           /* free elements that have no image in the part */
    int64_t n_shifted;         /* elements off their image by more than a thousandth of its width */
    double shift;              /* the largest of these offsets, in widths of an element */
} hx_ties;

/* No groups without a plane and extrusion. Passive elements are in none. The same groups for any
 * order of the mesh and for any place, rotation, reflection and unit of mesh and planes; lengths
 * that differ by less than max(1e-9 of an element, 16 eps max|x|) are equal, and an image at
 * exactly half a width counts. HX_EINPUT: no direction, planes that generate more than
 * HX_TIES_MOST_IMAGES images (parallel or at odd angles) or are oblique to the extrusion, a plane
 * with all elements on one side, no element with an image. O(n log n), about 100 bytes per element
 * while it runs. */
int hx_ties_create(hx_ties *ties, const hx_problem *problem, const hx_ties_params *params);

/* The volume-weighted mean of each group, to all its members. Host. */
void hx_ties_average(const hx_ties *ties, const double *volume, double *density);

size_t hx_ties_bytes(const hx_ties *ties);
void hx_ties_free(hx_ties *ties);

/* The same on a device. */
struct hx_device_ties {
    int64_t n_group;
    int32_t *d_start, *d_member;
};
int hx_device_ties_create(hx_device_ties *ties, hx_device *dev, const hx_ties *host);
/* Accepts a zeroed struct. */
void hx_device_ties_free(hx_device_ties *ties, hx_device *dev);

/* Operations of a device, a group each, summed in the order of its members. */
static HX_HD void hx_ties_spread(const int32_t *member, int64_t begin, int64_t end,
                                 const double *dv, double *dc)
{
    double sum_dc = 0.0, sum_dv = 0.0;
    for (int64_t m = begin; m < end; m++) {
        sum_dc += dc[member[m]];
        sum_dv += dv[member[m]];
    }
    const double ratio = sum_dv > 0.0 ? sum_dc / sum_dv : 0.0; /* a projection may be flat */
    for (int64_t m = begin; m < end; m++) dc[member[m]] = dv[member[m]] * ratio;
}

static HX_HD void hx_ties_copy_largest(const int32_t *member, int64_t begin, int64_t end, double *x)
{
    double largest = x[member[begin]];
    for (int64_t m = begin + 1; m < end; m++)
        if (x[member[m]] > largest) largest = x[member[m]];
    for (int64_t m = begin; m < end; m++) x[member[m]] = largest;
}

#ifdef __cplusplus
}
#endif

#endif
