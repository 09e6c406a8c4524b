/* compare.csv and compare.json: every figure in SI units. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../output/summary.h"
#include "../session/machine.h"
#include "../text/json.h"
#include "compare.h"
#include "core/base/atomic_file.h"

static const char *status_name(hx_compare_status status)
{
    static const char *const name[] = {[HX_COMPARE_OK] = "ok",
                                       [HX_COMPARE_WRONG] = "wrong",
                                       [HX_COMPARE_SKIPPED] = "skipped",
                                       [HX_COMPARE_REFUSED] = "refused"};
    return name[status];
}

static const char *pcg_outcome(const hx_compare_row *row)
{
    return row->pcg_reason == HX_PCG_RUNNING ? NULL : hx_pcg_reason_name(row->pcg_reason);
}

static void csv_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; text && *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text == '\n' ? ' ' : *text, f);
    }
    fputs("\",", f);
}

static void csv_number(FILE *f, const char *separator, double value)
{
    char text[32];
    fputs(separator, f);
    if (isfinite(value)) fputs(hx_format_double(value, text, sizeof text), f);
}

static void csv_row(FILE *f, const hx_compare_group *group, const hx_compare_row *row)
{
    csv_text(f, group->mesh);
    csv_text(f, group->size);
    fprintf(f, "%lld,%lld,", (long long)group->n_elem, (long long)group->n_node);
    csv_text(f, group->ops->name);
    csv_text(f, row->op_kind->name);
    csv_text(f, hx_layout_name(row->layout));
    csv_text(f, row->op_kind->deterministic ? "yes" : "no");
    csv_text(f, status_name(row->status));
    csv_text(f, row->note);
    csv_text(f, pcg_outcome(row));
    csv_number(f, "", group->copy_bandwidth);
#define NUMBER(name) csv_number(f, ",", row->f.name);
    HX_COMPARE_FIGURES(NUMBER)
#undef NUMBER
    fputc('\n', f);
}

static const char *path_of(const char *directory, const char *name, char *path, size_t n_path)
{
    snprintf(path, n_path, "%.3500s/%s", directory, name);
    return path;
}

int hx_compare_write_csv(const hx_compare *c, const char *directory)
{
    char path[PATH_MAX];
    hx_atomic_file file;
    int rc;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path_of(directory, "compare.csv", path, sizeof path)));
    fputs("mesh,size,elements,nodes,device,operator,layout,deterministic,status,note,pcg_outcome,"
          "copy_bytes_per_second",
          file.stream);
#define HEAD(name) fputs("," #name, file.stream);
    HX_COMPARE_FIGURES(HEAD)
#undef HEAD
    fputc('\n', file.stream);
    for (size_t i = 0; i < c->n_row; i++)
        csv_row(file.stream, &c->group[c->row[i].group], &c->row[i]);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

static void write_row(hx_json *json, const hx_compare_row *row)
{
    hx_json_open_object(json, NULL);
    hx_json_string(json, "operator", row->op_kind->name);
    hx_json_string(json, "layout", hx_layout_name(row->layout));
    hx_json_bool(json, "deterministic", row->op_kind->deterministic);
    hx_json_bool(json, "published_in_p1", hx_compare_is_paper(row->op_kind));
    hx_json_string(json, "status", status_name(row->status));
    hx_json_string(json, "note", row->note[0] ? row->note : NULL);
    hx_json_string(json, "pcg_outcome", pcg_outcome(row));
#define NUMBER(name) hx_json_number(json, #name, row->f.name);
    HX_COMPARE_FIGURES(NUMBER)
#undef NUMBER
    hx_json_close_object(json);
}

static void write_group(hx_json *json, const hx_compare *c, const hx_compare_group *group)
{
    hx_json_open_object(json, NULL);
    hx_json_string(json, "mesh", group->mesh);
    hx_json_string(json, "size", group->size[0] ? group->size : NULL);
    hx_json_integer(json, "elements", group->n_elem);
    hx_json_integer(json, "nodes", group->n_node);
    hx_json_integer(json, "points", group->n_point);
    hx_json_integer(json, "unknowns", group->n_dof);
    hx_json_string(json, "physics", hx_physics_name(group->physics));
    hx_json_string(json, "element", hx_element_name(group->element));
    hx_json_string(json, "device", group->ops->name);
    hx_json_string(json, "device_description", group->description);
    hx_json_number(json, "copy_bytes_per_second", group->copy_bandwidth);
    hx_json_number(json, "mesh_seconds", group->mesh_seconds);
    hx_json_open_array(json, "operators");
    for (size_t i = 0; i < group->n_row; i++) write_row(json, &c->row[group->first_row + i]);
    hx_json_close_array(json);
    hx_json_close_object(json);
}

int hx_compare_write_json(const hx_compare *c, const char *directory)
{
    char path[PATH_MAX];
    hx_atomic_file file;
    hx_json json;
    int rc;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path_of(directory, "compare.json", path, sizeof path)));
    hx_json_begin(&json, file.stream);
    hx_json_open_object(&json, NULL);
    hx_json_string(&json, "title", c->session.cfg.title);
    hx_units_write(&c->session.cfg.units, &json, "units");
    hx_json_bool(&json, "paper", c->plan.paper);
    struct utsname system;
    hx_json_open_object(&json, "machine");
    if (uname(&system) >= 0) {
        hx_json_string(&json, "system", system.sysname);
        hx_json_string(&json, "release", system.release);
        hx_json_string(&json, "architecture", system.machine);
    }
    hx_json_integer(&json, "processors", sysconf(_SC_NPROCESSORS_ONLN));
    hx_machine_write_members(&json, NULL);
    hx_json_close_object(&json);
    hx_summary_write_versions(&json);
    hx_json_open_array(&json, "meshes");
    for (size_t i = 0; i < c->n_group; i++) write_group(&json, c, &c->group[i]);
    hx_json_close_array(&json);
    hx_config_write_json(&c->session.cfg, &json, "settings");
    hx_json_close_object(&json);
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}
