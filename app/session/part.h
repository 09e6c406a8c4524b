/* The part that a result stands for, the same to `hextop verify` and `hextop surface`: which volume
 * it has to have, which elements are solid and which void whatever their density. */
#ifndef HX_PART_H
#define HX_PART_H

#include "fine_image.h"

/* What --preserve keeps solid; springs count as supports. */
enum { HX_PRESERVE_LOADS = 1, HX_PRESERVE_SUPPORTS = 2, HX_PRESERVE_PASSIVE = 4 };

/* The words of the option, then NULL; what it is without one, and its help. */
const char *hx_preserve_word(size_t i);
#define HX_PRESERVE_DEFAULT "loads,passive"
#define HX_PRESERVE_HELP                                                                           \
    "elements that are forced solid at any density: those behind loads or supports, passive "      \
    "ones, or none"

/* Words with commas between them. HX_EINPUT. */
int hx_preserve_read(const char *text, unsigned *preserve);

typedef enum { HX_PART_FREE, HX_PART_SOLID, HX_PART_VOID } hx_part_state;

/* Solid are passive elements of a density of at least 0.9, and the elements behind what is loaded
 * or supported: of a set (or of what the mesh's file loads) those that own its faces - faces that
 * the mesh names or boundary faces all of whose nodes it holds - or all of whose nodes it holds;
 * and of nodes that none of these have, as on an edge, all elements around. Void, before all, are
 * passive elements of a density of at most 0.1. */
typedef struct hx_result_part {
    uint8_t *state;      /* [n_elem] hx_part_state (owned) */
    uint8_t *is_kept;    /* [n_elem] 1: solid as a load or support has it, not passive (owned) */
    uint8_t *kept_face;  /* [n_elem] bit f: face f is loaded or supported (owned) */
    int64_t n_solid;     /* elements that are solid whatever their density */
    int64_t n_void;      /* elements that are void whatever their density */
    double solid_volume; /* of the solid ones (length^3) */
    double target;       /* the volume asked for: sum of density * volume but of the void ones */
} hx_result_part;

/* Of a session with mesh and problem; density: [n_elem], below rho_min taken as rho_min. O(n_elem)
 * a set. */
int hx_part_create(hx_result_part *part, const hx_session *s, const double *density,
                   unsigned preserve);
/* Accepts a zeroed struct. */
void hx_part_free(hx_result_part *part);

/* What a surface is cut from: *mesh is the session's or, without passive void, own (zeroed before,
 * the caller's to free as *is_solid is). rho: [n_elem] of the session's mesh, then of *mesh;
 * is_solid: [n_elem] of *mesh, as hx_surface_field_create takes it. HX_EINPUT: all is void. */
int hx_part_cut(const hx_result_part *part, const hx_session *s, double *rho, uint8_t **is_solid,
                hx_mesh *own, const hx_mesh **mesh);

/* The finer image of what hx_part_cut keeps, of a session with a spline; as hx_fine_image_create.
 */
int hx_part_fine_image(const hx_result_part *part, const hx_session *s, int asked,
                       hx_fine_image *fine);

/* 1 if element e is solid by its density, which a void one is not. */
static inline int hx_part_is_dense(const hx_result_part *part, const double *density,
                                   double threshold, int64_t e)
{
    return part->state[e] != HX_PART_VOID && density[e] >= threshold;
}

/* HX_EINPUT: the solid elements alone have more than that volume. */
int hx_part_check_target(const hx_result_part *part, double target);

/* *threshold: such that the solid elements and the free ones of at least that density have the
 * volume nearest to the target. HX_EINPUT: the solid ones alone have more. */
int hx_part_threshold(const hx_result_part *part, const hx_session *s, const double *density,
                      double *threshold);

#endif
