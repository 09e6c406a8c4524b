/* hextop check: the mesh and its sets. */
#include <stdio.h>
#include <stdlib.h>

#include "../text/table.h"
#include "check.h"
#include "core/base/names.h"
#include "core/mesh/load_faces.h"
#include "core/mesher/model_files.h"
#include "core/spline/spline_image.h"

/* Prints the number of elements of each kind, if not all are hexahedra. */
static void report_kinds(const hx_mesh *mesh)
{
    static const char *const name[HX_N_SOLID] = {"hexahedra", "wedges", "pyramids", "tetrahedra"};
    char line[256] = "", text[32];
    size_t n = 0;
    if (!hx_mesh_is_collapsed(mesh)) return;
    for (int kind = 0; kind < HX_N_SOLID; kind++) {
        if (mesh->n_kind[kind] == 0) continue;
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s %s", n > 0 ? ", " : "",
                              hx_format_count(mesh->n_kind[kind], text, sizeof text), name[kind]);
    }
    hx_log_info("  kinds             %s", line);
}

/* Reports on the spline whose image the mesh is. */
static void report_spline(const hx_session *s)
{
    char text[120];
    double image, exact;
    if (s->spline.n_patch == 0) return;
    hx_spline_image_volumes(&s->mesh, &image, &exact);
    hx_log_info("  spline            %s", hx_spline_text(&s->spline, text, sizeof text));
    hx_log_info("  spline volume     %.9g%s; %.9g with a hexahedron for each knot span", exact,
                s->cfg.units.volume, image);
}

int hx_check_mesh(hx_check *check)
{
    hx_session *s = &check->session;
    const hx_mesh *mesh = &s->mesh;
    const hx_units *u = &s->cfg.units;
    char a[32], b[32];
    HX_TRY(hx_session_measure(s));
    const hx_mesh_quality *const q = &s->quality;
    hx_log_info("mesh      %s, %s %s, %s %s", mesh->name,
                hx_format_count(mesh->n_elem, a, sizeof a),
                hx_noun(mesh->n_elem, "element", "elements"),
                hx_format_count(mesh->n_node, b, sizeof b), hx_noun(mesh->n_node, "node", "nodes"));
    report_kinds(mesh);
    report_spline(s);
    hx_log_info("  box               %g to %g, %g to %g, %g to %g%s", mesh->box_min[0],
                mesh->box_max[0], mesh->box_min[1], mesh->box_max[1], mesh->box_min[2],
                mesh->box_max[2], u->length);
    hx_log_info("  volume            %.6g%s, mean element size %.4g%s%s", mesh->total_volume,
                u->volume, mesh->elem_size, u->length,
                hx_mesh_is_collapsed(mesh) ? " (of other elements than hexahedra the mean edge)"
                                           : "");
    hx_log_info("  element volumes   %.4g to %.4g%s", q->min_volume, q->max_volume, u->volume);
    hx_log_info("  scaled Jacobian   %.3f at worst (element %lld), %.3f on average",
                q->min_scaled_jacobian, (long long)q->worst_elem, q->mean_scaled_jacobian);
    hx_log_info("  edge ratio        %.2f at worst (element %lld)", q->max_aspect,
                (long long)q->aspect_elem);
    hx_log_info("  bodies            %lld", (long long)q->n_body);
    hx_diag_mesh(&check->diags, s);
    return HX_OK;
}

/* Adds the boundary faces on which a load on the set acts, and their area; inner faces are left
 * out. */
static int add_face_rows(hx_table *table, const hx_session *s, const hx_set *set)
{
    char count[32], area[64] = "", inside[96] = "";
    int64_t n = 0, *face = NULL;
    const int64_t n_inside = hx_set_inner_faces(&s->mesh, set);
    const int rc = hx_load_faces(&s->mesh, set, &n, &face);
    if (rc == HX_EINPUT) hx_error_clear(); /* all of these faces lie inside the part */
    if (rc < 0 && rc != HX_EINPUT) return rc;
    if (n > 0)
        snprintf(area, sizeof area, "%.6g%s%s", hx_faces_area(&s->mesh, n, face), s->cfg.units.area,
                 n_inside > 0 ? ", " : "");
    if (n_inside > 0)
        snprintf(inside, sizeof inside, "without %s inside the part",
                 hx_format_count(n_inside, count, sizeof count));
    hx_table_add(table, "%s", hx_format_count(n, count, sizeof count));
    hx_table_add(table, "%s%s", area, inside);
    free(face);
    return HX_OK;
}

/* A set that the file unites from node sets may span faces that none of those sets spans. */
static void print_united(const hx_mesh *mesh)
{
    enum { MOST = 5 };
    char names[400] = "";
    size_t n = 0, used = 0;
    for (size_t i = 0; i < mesh->rules.n; i++) {
        if (mesh->rules.rule[i].is_listed || n++ >= MOST) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s'%.60s'", n > 1 ? ", " : "",
                                 mesh->rules.rule[i].set.name);
    }
    if (n == 0) return;
    hx_log_info("  faces of %s%s are found by nodes, because the file combines node sets: a face "
                "belongs to the set if all its corners do",
                names, n > MOST ? " and others" : "");
}

int hx_check_sets(const hx_session *s)
{
    const hx_mesh *const mesh = &s->mesh;
    const int is_model = s->cfg.mesh.file && hx_model_is_cad(s->cfg.mesh.file);
    hx_table table;
    char text[32];
    size_t n_all = 0, n_shown = 0;
    for (size_t i = 0; i < mesh->n_set; i++)
        n_all += !mesh->set[i].is_internal && (!is_model || !hx_check_is_model_face(&mesh->set[i]));
    if (hx_check_is_quiet() || n_all == 0) return HX_OK;
    const int is_cut = n_all > HX_CHECK_MOST_SETS && hx_log_get_level() < HX_LOG_VERBOSE;
    if (is_cut)
        hx_log_info("\nsets, the first %d of %zu (-v: all)", HX_CHECK_MOST_SETS, n_all);
    else
        hx_log_info("\nsets");
    hx_table_begin(&table, "lrrrl");
    hx_table_add_words(&table, "name|nodes|elements|faces|area");
    for (size_t i = 0; i < mesh->n_set; i++) {
        if (mesh->set[i].is_internal) continue;
        if (is_model && hx_check_is_model_face(&mesh->set[i])) continue;
        if (is_cut && n_shown++ == HX_CHECK_MOST_SETS) break;
        hx_table_add(&table, "%s", mesh->set[i].name);
        hx_table_add(&table, "%s", hx_format_count(mesh->set[i].n_node, text, sizeof text));
        hx_table_add(&table, "%s", hx_format_count(mesh->set[i].n_elem, text, sizeof text));
        HX_TRY(add_face_rows(&table, s, &mesh->set[i]));
    }
    hx_table_end(&table, 2);
    print_united(mesh);
    return HX_OK;
}
