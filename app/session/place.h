/* The place of a largest value, by the numbers of the mesh's file, for tables and JSON. */
#ifndef HX_PLACE_H
#define HX_PLACE_H

#include "../text/json.h"
#include "core/space/space.h"

typedef enum {
    HX_AT_NODE,
    HX_AT_MIDDLE, /* middle of the edge between two nodes */
    HX_AT_ELEMENT /* inside an element */
} hx_place_kind;

typedef struct hx_place {
    hx_place_kind kind;
    int64_t number; /* original number of the node or element, or of an end of the edge */
    int64_t end;    /* original number of the other end */
} hx_place;

/* The place in `mesh`. node_map, elem_map: [n_node], [n_elem] map nodes and elements to `mesh` if
 * the space is over another mesh, else NULL. */
hx_place hx_place_of(const hx_space_largest *largest, const hx_mesh *mesh, const int32_t *node_map,
                     const int32_t *elem_map);

enum { HX_PLACE_TEXT = 64 };

/* As text: "node 7", "middle of nodes 5 and 6", "element 3"; and for a table with rows of nodes:
 * "7", "middle of 5 and 6", "in element 3". Both return text. */
const char *hx_place_text(const hx_place *place, char text[HX_PLACE_TEXT]);
const char *hx_place_numbers(const hx_place *place, char text[HX_PLACE_TEXT]);

/* Writes "node": 7, "nodes": [5, 6] or "element": 3. */
void hx_place_write(hx_json *json, const hx_place *place);

#endif
