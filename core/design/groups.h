/* Linked variables (`groups`): groups of elements that share one design density, defined by
 * symmetry planes of the design, repetitions (copies about an axis or along a step) and an extrusion
 * direction. Neither the mesh nor the loads need to be symmetric, repeated or extruded.
 *
 * The reflections and the rotations generate a finite group of isometries, and every step moves a
 * copy onto the others. Every centroid is folded into one chamber of the group in one of these
 * copies, and along the extrusion into a plane. An element belongs to the element (or column
 * of elements) of the chamber whose centroid is nearest to its folded one, if that lies within 1.5
 * times the element's half-widths. On a symmetric mesh the groups are therefore exact images; on
 * another mesh each element is linked to the one that covers its image, and an element without an
 * image within the part stays free. */
#ifndef HX_GROUPS_H
#define HX_GROUPS_H

#include "../base/host_device.h"
#include "../problem/problem.h"
#include "design_ops.h"

HX_C_BEGIN

/* `origin` is the prefix of messages, like in hx_problem_params. */
typedef struct hx_symmetry_plane {
    const char *origin;
    double point[3], normal[3]; /* normal: any length except 0 */
} hx_symmetry_plane;

typedef enum hx_repetition_kind {
    HX_REPETITION_CYCLIC, /* copies about an axis, a full turn divided by `copies` apart */
    HX_REPETITION_PATTERN /* copies one step apart, each as long as the step */
} hx_repetition_kind;

typedef struct hx_repetition {
    const char *origin;
    hx_repetition_kind kind;
    int copies; /* at least 2, the first one included */
    /* point of the axis; of the plane in which the first copy begins: NAN: where the part does */
    double point[3];
    double direction[3]; /* of the axis, of any length except 0; the step: length */
} hx_repetition;

typedef struct hx_groups_params {
    size_t n_plane, n_repetition;
    const hx_symmetry_plane *plane;  /* borrowed during hx_groups_create only */
    const hx_repetition *repetition; /* (borrowed) at most one cyclic, three patterns */
    int is_extruded;
    const char *extrusion_origin;
    double extrusion[3]; /* any length except 0 */
} hx_groups_params;

/* Largest number of images that planes may generate: those of a cube's 9 planes, or of a prism's
 * with 12 sides. */
enum { HX_GROUPS_MOST_IMAGES = 48 };

/* Largest number of images with repetitions, and of copies. */
enum { HX_GROUPS_MOST_REPEATED = 1000 };

typedef struct hx_groups {
    int64_t n_group, n_member; /* groups of two or more; elements in them */
    int32_t *start;            /* [n_group + 1] first member of a group (owned) */
    int32_t *member;           /* [n_member] elements, ascending within a group (owned) */
    int n_image;               /* isometries of planes and repetitions, the identity included */
    int64_t n_alone;           /* free elements that have no image in the part */
    /* elements whose offset from their image exceeds a thousandth of its width */
    int64_t n_shifted;
    double shift; /* the largest of these offsets, in widths of an element */
} hx_groups;

/* Without planes, repetitions and extrusion there are no groups; passive elements are in none. The
 * groups are the same for any element order and for any position, rotation, reflection and unit of
 * mesh, planes and repetitions; the rotation may matter to a cyclic repetition that the mesh does
 * not have, if the mesh has another symmetry. Lengths that differ by less than max(1e-9 of an element, 16 eps max|x|) are equal, and an
 * image at exactly half a width counts. HX_EINPUT: a direction of length 0, planes that generate
 * more than HX_GROUPS_MOST_IMAGES images (parallel or at odd angles) or are oblique to the
 * extrusion, a plane with all elements on one side, a copy without elements, repetitions that do
 * not map planes, extrusion and each other onto themselves, or no element with an image.
 * O(n log n + n images), about 100 bytes per element while it runs. */
int hx_groups_create(hx_groups *groups, const hx_problem *problem, const hx_groups_params *params);

/* Assigns the volume-weighted mean of each group to all its members. On the host. */
void hx_groups_average(const hx_groups *groups, const double *volume, double *density);

size_t hx_groups_bytes(const hx_groups *groups);
void hx_groups_free(hx_groups *groups);

/* The groups on a device. */
struct hx_device_groups {
    int64_t n_group;
    int32_t *d_start, *d_member;
    struct hx_linked *linked; /* with several ranks (groups_dist.h); NULL: one (borrowed) */
};
int hx_device_groups_create(hx_device_groups *groups, hx_device *dev, const hx_groups *host);
/* Accepts a zeroed struct. */
void hx_device_groups_free(hx_device_groups *groups, hx_device *dev);

/* Device operations, one group each; sums are added in the order of the members. */
static HX_HD void hx_groups_spread(const int32_t *member, int64_t begin, int64_t end,
                                   const double *dv, double *dc)
{
    double sum_dc = 0.0, sum_dv = 0.0;
    for (int64_t m = begin; m < end; m++) {
        sum_dc += dc[member[m]];
        sum_dv += dv[member[m]];
    }
    /* the slope of a projection may be 0 */
    const double ratio = sum_dv > 0.0 ? sum_dc / sum_dv : 0.0;
    for (int64_t m = begin; m < end; m++) dc[member[m]] = dv[member[m]] * ratio;
}

static HX_HD void hx_groups_copy_largest(const int32_t *member, int64_t begin, int64_t end,
                                         double *x)
{
    double largest = x[member[begin]];
    for (int64_t m = begin + 1; m < end; m++)
        if (x[member[m]] > largest) largest = x[member[m]];
    for (int64_t m = begin; m < end; m++) x[member[m]] = largest;
}

HX_C_END

#endif
