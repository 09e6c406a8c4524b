/* Named faces of a STEP file, with enough of their geometry to distinguish them: corners, edges,
 * and the surface if it is of a simple kind. */
#ifndef HX_STEP_FACE_H
#define HX_STEP_FACE_H

#include "step_file.h"

enum { HX_STEP_NAME = 128 };

/* A right-handed frame. */
typedef struct hx_step_frame {
    double origin[3], axis[3][3];
} hx_step_frame;

/* Reads the frame of an item that is an AXIS2_PLACEMENT_3D, with its position times `scale`; 0: it
 * is none. */
int hx_step_frame_read(const hx_step_file *file, hx_step_text item, double scale,
                       hx_step_frame *frame);

typedef enum { HX_STEP_LINE, HX_STEP_ELLIPSE, HX_STEP_POLYLINE } hx_step_curve;

typedef struct hx_step_edge {
    hx_step_curve kind;
    double end[2][3];
    hx_step_frame frame; /* of an ellipse */
    double radius[2];    /* of an ellipse along the frame's x and y; of a circle, both equal */
    double begin, sweep; /* of an ellipse, counter-clockwise angles; sweep in (0, 2 pi] */
    size_t n_point;
    double *point; /* [n_point][3] of a polyline along a curve (owned) */
    double sag;    /* largest distance of the curve from its polyline */
} hx_step_edge;

typedef enum {
    HX_STEP_PLANE,
    HX_STEP_CYLINDER,
    HX_STEP_SPHERE,
    HX_STEP_TORUS,
    HX_STEP_FREE /* another surface, which is not compared */
} hx_step_surface;

typedef struct hx_step_face {
    hx_step_surface kind;
    hx_step_frame frame;
    double radius[2]; /* for a torus: radii of its circle and of its tube */
    size_t n_edge, capacity;
    hx_step_edge *edge; /* [n_edge] (owned) */
} hx_step_face;

/* Reads the ADVANCED_FACE or FACE_SURFACE with that number, with lengths times `scale`. HX_EINPUT:
 * it has an unknown loop or curve, or is damaged. O(its text). */
int hx_step_face_read(const hx_step_file *file, int64_t number, double scale, hx_step_face *face);

/* Sets begin and sweep of the arc of an ellipse between two points, counter-clockwise; equal points
 * give the whole ellipse. */
void hx_step_set_arc(hx_step_edge *edge, const double from[3], const double to[3]);

/* Accepts a zeroed struct. */
void hx_step_face_free(hx_step_face *face);

/* Distance of x from the edge, and from the surface (0 for one that is not compared). */
double hx_step_edge_distance(const hx_step_edge *edge, const double x[3]);
double hx_step_surface_distance(const hx_step_face *face, const double x[3]);

#endif
