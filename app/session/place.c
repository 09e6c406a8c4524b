#include "place.h"

#include <stdio.h>

static int64_t node_number(const hx_mesh *mesh, const int32_t *map, int64_t node)
{
    return hx_mesh_node_number(mesh, map ? map[node] : node);
}

hx_place hx_place_of(const hx_space_largest *l, const hx_mesh *mesh, const int32_t *node_map,
                     const int32_t *elem_map)
{
    if (l->node < 0) {
        const int64_t e = elem_map ? elem_map[l->cell] : l->cell;
        return (hx_place){HX_AT_ELEMENT, hx_mesh_elem_number(mesh, e), 0};
    }
    const int64_t number = node_number(mesh, node_map, l->node);
    if (l->end < 0) return (hx_place){HX_AT_NODE, number, 0};
    return (hx_place){HX_AT_MIDDLE, number, node_number(mesh, node_map, l->end)};
}

const char *hx_place_numbers(const hx_place *place, char text[HX_PLACE_TEXT])
{
    if (place->kind == HX_AT_MIDDLE)
        snprintf(text, HX_PLACE_TEXT, "middle of %lld and %lld", (long long)place->number,
                 (long long)place->end);
    else
        snprintf(text, HX_PLACE_TEXT, "%s%lld", place->kind == HX_AT_ELEMENT ? "in element " : "",
                 (long long)place->number);
    return text;
}

const char *hx_place_text(const hx_place *place, char text[HX_PLACE_TEXT])
{
    if (place->kind == HX_AT_MIDDLE)
        snprintf(text, HX_PLACE_TEXT, "middle of nodes %lld and %lld", (long long)place->number,
                 (long long)place->end);
    else
        snprintf(text, HX_PLACE_TEXT, "%s %lld", place->kind == HX_AT_ELEMENT ? "element" : "node",
                 (long long)place->number);
    return text;
}

void hx_place_write(hx_json *json, const hx_place *place)
{
    if (place->kind == HX_AT_NODE) {
        hx_json_integer(json, "node", place->number);
    } else if (place->kind == HX_AT_ELEMENT) {
        hx_json_integer(json, "element", place->number);
    } else {
        hx_json_open_array(json, "nodes");
        hx_json_integer(json, NULL, place->number);
        hx_json_integer(json, NULL, place->end);
        hx_json_close_array(json);
    }
}
