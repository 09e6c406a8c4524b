/* The part that a result stands for, as used by `hextop verify` and `hextop surface`: its target
 * volume, and the elements that are forced solid or void. */
#ifndef HX_PART_H
#define HX_PART_H

#include <limits.h>

#include "fine_image.h"

/* Elements that --preserve forces solid; springs count as supports. FIT: if they exceed the target
 * volume, only passive elements are forced solid; if these exceed it, too, no element is. */
enum {
    HX_PRESERVE_LOADS = 1,
    HX_PRESERVE_SUPPORTS = 2,
    HX_PRESERVE_PASSIVE = 4,
    HX_PRESERVE_FIT = 8,
    HX_PRESERVE_USUAL = HX_PRESERVE_LOADS | HX_PRESERVE_PASSIVE
};

/* The words of the option, then NULL; its default (HX_PRESERVE_USUAL); its help text. */
const char *hx_preserve_word(size_t i);
#define HX_PRESERVE_DEFAULT "loads,passive"
#define HX_PRESERVE_HELP                                                                           \
    "elements that are forced solid at any density: those behind loads or supports, passive "      \
    "ones, or none"

/* Reads words separated by commas. HX_EINPUT. */
int hx_preserve_read(const char *text, unsigned *preserve);

typedef enum { HX_PART_FREE, HX_PART_SOLID, HX_PART_VOID } hx_part_state;

/* State of an element. Passive elements with a density of at least 0.9 are forced solid, and so are
 * the elements behind loads and supports; supports that drive the part (hx_part_is_driven_by) count
 * as loads. For a set (or the nodes that the mesh's file loads), these are the elements that own
 * its faces (faces that the mesh names, or boundary faces all of whose nodes are in the set), and
 * the elements all of whose nodes are in the set. Around nodes that none of these elements contain,
 * for example on an edge, all elements are forced solid. Passive elements with a density of at most
 * 0.1 are forced void, which takes precedence. */
typedef struct hx_result_part {
    uint8_t *state;      /* [n_elem] hx_part_state (owned) */
    uint8_t *is_kept;    /* [n_elem] 1: forced solid by a load or support, not passive (owned) */
    uint8_t *kept_face;  /* [n_elem] bit f: face f is loaded or supported (owned) */
    int64_t n_solid;     /* number of elements that are forced solid */
    int64_t n_void;      /* number of elements that are forced void */
    double solid_volume; /* volume of the forced-solid elements (length^3) */
    double open_volume;  /* volume of all elements that are not forced void */
    double mass;         /* sum of density * volume, without void elements */
    double wanted;       /* volume that volume_fraction leaves to the elements that are not void;
                          * NaN: no volume is prescribed */
    int may_have_less;   /* 1: `wanted` is an upper limit, or NaN */
    /* target volume. With a prescribed volume: mass, or for a result that lacks elements the smaller
     * of `wanted` and the volume that the result has. Without one: the forced-solid elements, and
     * the mass of the others. */
    double target;
    int64_t n_missing; /* number of elements that the result lacks */
    unsigned preserve; /* HX_PRESERVE_* that were applied, without FIT */
} hx_result_part;

/* Needs mesh and problem of the session. density: [n_elem]; values below rho_min count as rho_min;
 * NULL: densities of a run that has not begun, with the volume that volume_fraction states.
 * n_missing: number of elements that the result lacks because it was written with a threshold;
 * their density is at most rho_min. O(n_elem) per set. Collective if the mesh is distributed:
 * counts and volumes are those of the whole. */
int hx_part_create(hx_result_part *part, const hx_session *s, const double *density,
                   int64_t n_missing, unsigned preserve);

/* 1 if the support drives the part, so that it counts as a load: a prescribed displacement other
 * than 0, or a temperature other than the reference in a load case without loads. Needs the
 * problem of the session. */
int hx_part_is_driven_by(const hx_session *s, const hx_config_support *support);

/* 1 if prescribed displacements of the mesh's file drive the part. */
int hx_part_is_driven_by_file(const hx_session *s);

/* Size of the text below: a path, and words. */
enum { HX_PART_TEXT = PATH_MAX + 512 };

/* A warning if the result lacks elements that its 0/1 design needs; NULL if it does not. Returns
 * text. */
const char *hx_part_short_text(const hx_result_part *part, const char *result, char *text,
                               size_t n_text);
/* Accepts a zeroed struct. */
void hx_part_free(hx_result_part *part);

/* The mesh from which a surface is cut. *mesh is that of the session or, if passive void is left
 * out, `own` (zeroed before; the caller frees it and *is_solid). rho: on entry [n_elem] of the
 * session's mesh, on return of *mesh. is_solid: [n_elem] of *mesh, as in hx_surface_field_create.
 * HX_EINPUT: all elements are void. */
int hx_part_cut(const hx_result_part *part, const hx_session *s, double *rho, uint8_t **is_solid,
                hx_mesh *own, const hx_mesh **mesh);

/* The finer image of the mesh that hx_part_cut keeps, for a session with a spline; see
 * hx_fine_image_create. */
int hx_part_fine_image(const hx_result_part *part, const hx_session *s, int requested,
                       hx_fine_image *fine);

/* 1 if element e is solid by its density and not forced void. */
static inline int hx_part_is_dense(const hx_result_part *part, const double *density,
                                   double threshold, int64_t e)
{
    return part->state[e] != HX_PART_VOID && density[e] >= threshold;
}

/* 1 if a cell at nodal point i is solid by its density. Other solid cells are solid only because
 * they are forced. */
int hx_part_is_grown(const hx_result_part *part, const hx_space *space, const double *density,
                     double threshold, int64_t i);

/* "the threshold that keeps the volume": of what hx_part_threshold keeps it. */
const char *hx_part_threshold_text(const hx_result_part *part);

/* HX_EINPUT: the elements that are forced solid have more than that volume. */
int hx_part_check_target(const hx_result_part *part, double target);

/* *threshold := density above which free elements must be solid so that the volume is nearest to
 * the target. HX_EINPUT: the volume of the elements that are forced solid exceeds the target. */
int hx_part_threshold(const hx_result_part *part, const hx_session *s, const double *density,
                      double *threshold);

#endif
