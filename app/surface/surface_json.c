#include "surface_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../output/summary.h"
#include "../session/result_path.h"
#include "../text/json.h"
#include "core/base/atomic_file.h"

static void write_members(hx_json *json, const char *key, const hx_lost_members *lost)
{
    hx_json_open_array(json, key);
    for (size_t i = 0; i < lost->n; i++) {
        hx_json_open_object(json, NULL);
        hx_json_numbers(json, "place", 3, lost->member[i].place);
        hx_json_integer(json, "elements", lost->member[i].n_elem);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

static void write_rims(hx_json *json, const hx_surface_rims *rims)
{
    hx_json_number(json, "rim_length", rims->length);
    hx_json_number(json, "rim_turn_back", rims->high);
    hx_json_number(json, "worst_rim_turn_back", rims->worst);
}

/* Shares of the area, from 0 to 1. */
static void write_made(hx_json *json, const hx_surface_made *made)
{
    if (!made->name) return;
    hx_json_string(json, "manufacturing", made->name);
    hx_json_number(json, made->angle > 0.0 ? "overhang_share" : "unreached_share", made->share);
}

static void write_thickness(hx_json *json, const hx_thickness *least)
{
    hx_json_number(json, "least_thickness", least->value);
    if (!isnan(least->value)) hx_json_numbers(json, "thinnest_place", 3, least->place);
}

static void write_shape(hx_json *json, const hx_surface_report *r)
{
    hx_json_number(json, "volume", r->volume);
    hx_json_number(json, "area", r->area);
    hx_json_numbers(json, "min", 3, r->min);
    hx_json_numbers(json, "max", 3, r->max);
    hx_json_integer(json, "triangles", r->n_tri);
    hx_json_integer(json, "vertices", r->n_vertex);
    hx_json_number(json, "worst_quality", r->worst_quality);
    hx_json_number(json, "low_quality", r->low_quality);
    hx_json_integer(json, "intersections", r->n_crossing);
    hx_json_integer(json, "pieces", r->n_shell);
    hx_json_integer(json, "through_holes", r->genus);
    hx_json_integer(json, "cavities", r->n_cavity);
}

/* Paths are relative to the folder of the file, so that the folder can be moved. */
static int write_path(hx_json *json, const char *key, const char *from, const char *file)
{
    char *shown = NULL;
    HX_TRY(hx_path_seen_from(from, file, &shown));
    hx_json_string(json, key, shown);
    free(shown);
    return HX_OK;
}

int hx_surface_json_write(const hx_surface_summary *s, const char *path)
{
    int rc;
    hx_atomic_file file;
    hx_json json;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    hx_json_begin(&json, file.stream);
    hx_json_open_object(&json, NULL);
    hx_units_write(s->units, &json, "units");
    HX_TRY_FAIL(write_path(&json, "result", path, s->result));
    HX_TRY_FAIL(write_path(&json, "file", path, s->file));
    hx_json_number(&json, "threshold", s->threshold);
    hx_json_number(&json, "volume_target", s->target);
    write_shape(&json, s->report);
    write_rims(&json, s->rims);
    write_made(&json, s->made);
    write_thickness(&json, s->thickness);
    hx_json_open_object(&json, "design");
    hx_json_integer(&json, "pieces", s->repairs->design.n_piece);
    hx_json_integer(&json, "through_holes", s->repairs->design.n_hole);
    hx_json_integer(&json, "cavities", s->repairs->design.n_cavity);
    write_thickness(&json, s->design_thickness);
    hx_json_close_object(&json);
    write_members(&json, "members_repaired", &s->repairs->found);
    write_members(&json, "members_cut", &s->repairs->left);
    hx_summary_write_versions(&json);
    hx_json_close_object(&json);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}
