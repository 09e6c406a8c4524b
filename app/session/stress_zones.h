/* Zones without stress limits: elements near point loads, rims of supports, rigid sets and
 * re-entrant edges of passive solids, where stresses grow without bound as the mesh is refined, and
 * the sets that the config excludes. They are solid, because an optimizer would empty elements
 * without a limit (doc/theory.md). */
#ifndef HX_STRESS_ZONES_H
#define HX_STRESS_ZONES_H

#include "../config/config.h"
#include "core/problem/problem.h"

/* Name of the element set of the zones that radii define. It is internal, with a name that no file
 * gives, and no list shows it. */
#define HX_STRESS_ZONE " stress_zone"

enum { HX_MOST_ZONES = 64 };

/* Names of the sets without stress limits, of the objective and all constraints, each once; at most
 * HX_MOST_ZONES, ended by HX_STRESS_ZONE if the mesh has that set. Returns their number. They are
 * passive solid (config_problem.c). */
int hx_stress_zone_names(const hx_config *cfg, const hx_mesh *mesh,
                         const char *name[HX_MOST_ZONES]);

/* What the zones lie about. */
typedef struct hx_stress_zones {
    double radius;     /* length; 0: no zone */
    unsigned kinds;    /* bits HX_ZONE_* of stress_zone_nodes.h */
    char unzoned[400]; /* what has no zone, and why; "": nothing */
} hx_stress_zones;

/* Adds the set HX_STRESS_ZONE to a finished mesh, if a stress is limited or minimized and the
 * radius is not 0; nothing if the mesh has it. conditions: what the mesh file states.
 * filter_radius: length, 0: none. O(n_elem). */
int hx_stress_zones_add(hx_stress_zones *zones, const hx_config *cfg, hx_mesh *mesh,
                        const hx_conditions *conditions, double filter_radius);

/* is_zone[n_elem] := 1 for the cells of another mesh of the same part near its own supports,
 * springs, point loads and rigid sets, such as the edge of its footprint on a held face; other
 * values stay. cfg and conditions name sets and nodes of that mesh. radius: that of
 * hx_stress_zones; 0: none. Passive regions are not considered. O(n_elem). */
int hx_stress_zones_mark(const hx_config *cfg, const hx_mesh *mesh, const hx_conditions *conditions,
                         double radius, uint8_t *is_zone);

/* is_zone[n_elem] := 1 for cells whose centroids are within the radius of a marked node; other
 * values stay. O(n_elem). */
int hx_stress_zones_mark_near(const hx_mesh *mesh, const uint8_t *is_marked, double radius,
                              uint8_t *is_zone);

/* "'bolts', elements near supports and point loads: 120 elements, 3.1 % of the volume"; "" if there
 * are none. Returns text. */
const char *hx_stress_zone_text(const hx_stress_zones *zones, const hx_config *cfg,
                                const hx_problem *problem, char *text, size_t n_text);

#endif
