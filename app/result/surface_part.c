#include "surface_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "fine_image.h"
#include "surface_gmsh.h"
#include "surface_sets.h"
#include "surface_shells.h"

/* Cells are split into eight as long as there are at most HX_SURFACE_ENOUGH tetrahedra, or at most
 * `most` if the surface must be followed more closely. */
static const double most = 2.5e6;

/* Largest relative difference between the volumes of the tetrahedra and of the surface. Above the
 * second value, the surface belongs to another part. */
static const double close = 0.01, foreign = 0.2;

/* --- the surface --- */

static int check_box(const char *path, const hx_surface_report *r, const hx_mesh *mesh)
{
    double diagonal = 0.0, off = 0.0;
    for (int d = 0; d < 3; d++) {
        diagonal += (mesh->box_max[d] - mesh->box_min[d]) * (mesh->box_max[d] - mesh->box_min[d]);
        off = fmax(off, fmax(mesh->box_min[d] - r->min[d], r->max[d] - mesh->box_max[d]));
    }
    if (off <= fmax(0.5 * mesh->elem_size, 0.01 * sqrt(diagonal))) return HX_OK;
    return HX_RAISE(
        HX_EINPUT,
        "%s: its box is %.6g %.6g %.6g to %.6g %.6g %.6g, that of the mesh %.6g %.6g %.6g to %.6g "
        "%.6g %.6g: the surface belongs to another part, was moved, or has another unit",
        path, r->min[0], r->min[1], r->min[2], r->max[0], r->max[1], r->max[2], mesh->box_min[0],
        mesh->box_min[1], mesh->box_min[2], mesh->box_max[0], mesh->box_max[1], mesh->box_max[2]);
}

static int check_surface(hx_surface_part *p, const char *path, const hx_surface *surface,
                         const hx_mesh *mesh)
{
    hx_surface_report *const r = &p->surface;
    int64_t n_open = 0;
    double point[3];
    HX_TRY(hx_surface_find_open(surface, &n_open, point));
    if (n_open > 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: the surface is not closed: %lld %s have exactly two triangles, "
                        "one in each direction; one of them is at %.6g, %.6g, %.6g",
                        path, (long long)n_open, hx_noun(n_open, "edge does not", "edges do not"),
                        point[0], point[1], point[2]);
    HX_TRY(hx_surface_check(surface, HX_SURFACE_F64, r));
    HX_TRY(check_box(path, r, mesh));
    if (!(fabs(r->volume) > 0.0))
        return HX_RAISE(HX_EINPUT, "%s: the surface encloses no volume", path);
    if (r->volume < 0.0) {
        const int64_t n_outside = r->n_cavity;
        r->n_cavity = r->n_shell;
        r->n_shell = n_outside;
        r->volume = -r->volume;
        HX_TRY(hx_notes_add(&p->notes, HX_NOTE_WARNING,
                            "%s: its triangles face inwards; their orientation is reversed", path));
    }
    if (r->n_crossing > 0)
        HX_TRY(hx_notes_add(&p->notes, HX_NOTE_WARNING,
                            "%s: %lld %s each other: the inside is uncertain there", path,
                            (long long)r->n_crossing,
                            hx_noun(r->n_crossing, "pair of triangles intersects",
                                    "pairs of triangles intersect")));
    return HX_OK;
}

/* Cuts cells that are fine enough; then uses finer ones until the volume agrees with that of the
 * surface. */
static int cut_fine_cells(hx_surface_part *p, const hx_session *s, const hx_surface *surface,
                          const hx_surface_options *options, hx_mesh *raw, int32_t **piece)
{
    const int requested = options->n_refine;
    const double enough = options->enough > 0.0 ? options->enough : HX_SURFACE_ENOUGH;
    int64_t n_tet = 0, n_alone = 0;
    int n_refine = 0;
    if (requested >= 0)
        return hx_cut_mesh_create(raw, surface, &s->mesh, requested, piece, &p->cut);
    if (hx_config_is_by_file(&s->cfg)) HX_TRY(hx_surface_file_alone(s, &n_alone));
    const int may_refine = n_alone == 0;
    HX_TRY(hx_cut_mesh_count(surface, &s->mesh, &n_tet));
    double n = (double)n_tet;
    for (; may_refine && 8.0 * n <= enough; n *= 8.0) n_refine++;
    for (;; n_refine++, n *= 8.0) {
        HX_TRY(hx_cut_mesh_create(raw, surface, &s->mesh, n_refine, piece, &p->cut));
        const double off = fabs(p->cut.volume / p->surface.volume - 1.0);
        if (off <= close || !may_refine || 8.0 * n > most) return HX_OK;
        hx_mesh_free(raw);
        free(*piece);
        *piece = NULL;
    }
}

/* HX_EENV: the cells around the surface make more than `most` tetrahedra, if that is above 0. */
static int check_count(const hx_surface *surface, const hx_mesh *mesh, double most_tets)
{
    int64_t n_tet = 0;
    char a[32];
    if (!(most_tets > 0.0)) return HX_OK;
    HX_TRY(hx_cut_mesh_count(surface, mesh, &n_tet));
    if ((double)n_tet <= most_tets) return HX_OK;
    return HX_RAISE(HX_EENV, "it would take %s tetrahedra", hx_format_count(n_tet, a, sizeof a));
}

static int check_volume(hx_surface_part *p, const char *path)
{
    const double off = p->cut.volume / p->surface.volume - 1.0;
    if (fabs(off) > foreign)
        return HX_RAISE(HX_EINPUT,
                        "%s encloses %.6g, of which %.6g is inside the mesh: the surface belongs "
                        "to another part, or was moved",
                        path, p->surface.volume, p->cut.volume);
    if (fabs(off) <= close) return HX_OK;
    return hx_notes_add(&p->notes, HX_NOTE_WARNING,
                        "the volume of the tetrahedra differs from that of the surface by %+.1f "
                        "%%: the mesh is too coarse for the surface",
                        100.0 * off);
}

/* --- pieces --- */

/* is_held[n_piece] := 1 for pieces with a node of a set that is held. */
static int find_held(const hx_surface_part *p, const hx_mesh *raw, const int32_t *piece,
                     uint8_t *is_held)
{
    uint8_t *flag = NULL;
    HX_TRY(hx_alloc(&flag, (size_t)raw->n_node, 1, "pieces"));
    for (size_t i = 0; i < p->n_set; i++) {
        const hx_surface_set *const set = &p->set[i];
        if (!set->holds && !hx_surface_set_holds(&p->cfg, set->name)) continue;
        for (int64_t k = 0; k < set->n_found; k++) flag[set->node[k]] = 1;
        for (int64_t k = 0; k < set->n_face; k++) {
            int32_t node[4];
            const int n =
                hx_cell_face(raw->conn + 8 * (set->face[k] / 6), (int)(set->face[k] % 6), node);
            for (int a = 0; a < n; a++) flag[node[a]] = 1;
        }
    }
    for (int64_t i = 0; i < p->conditions.n_support; i++) flag[p->conditions.support[i].node] = 1;
    int any = 0;
    for (int64_t k = 0; k < 8 * raw->n_elem; k++) {
        if (flag[raw->conn[k]]) is_held[piece[k / 8]] = 1;
        any |= flag[raw->conn[k]];
    }
    if (!any) is_held[0] = 1;
    free(flag);
    return HX_OK;
}

/* Makes a mesh of the kept tetrahedra; new_node[] and new_elem[] map from the raw mesh, -1: left
 * out. */
static int keep_pieces(hx_surface_part *p, const hx_mesh *raw, const uint8_t *is_kept,
                       int32_t *new_node, int32_t *new_elem)
{
    double *xyz = NULL;
    int32_t *conn = NULL;
    int64_t n_node = 0, n_elem = 0;
    HX_TRY(hx_alloc_raw(&xyz, (size_t)raw->n_node, 3 * sizeof *xyz, "surface part"));
    const int rc = hx_alloc_raw(&conn, (size_t)raw->n_elem, 8 * sizeof *conn, "surface part");
    if (rc < 0) {
        free(xyz);
        return rc;
    }
    for (int64_t a = 0; a < raw->n_node; a++) new_node[a] = -1;
    for (int64_t e = 0; e < raw->n_elem; e++)
        for (int a = 0; is_kept[e] && a < 8; a++) new_node[raw->conn[8 * e + a]] = 0;
    for (int64_t a = 0; a < raw->n_node; a++) {
        if (new_node[a] < 0) continue;
        memcpy(xyz + 3 * n_node, raw->xyz + 3 * a, 3 * sizeof *xyz);
        new_node[a] = (int32_t)n_node++;
    }
    for (int64_t e = 0; e < raw->n_elem; e++) {
        new_elem[e] = is_kept[e] ? (int32_t)n_elem : -1;
        for (int a = 0; is_kept[e] && a < 8; a++)
            conn[8 * n_elem + a] = new_node[raw->conn[8 * e + a]];
        n_elem += is_kept[e];
    }
    return hx_mesh_create(&p->mesh, "surface", n_node, xyz, n_elem, conn);
}

/* Notes what is left out, in pieces counted as by `hextop surface`. */
static int note_pieces(hx_surface_part *p, const hx_shell_count *count)
{
    const int is_one = count->n_left == 1;
    p->n_dropped = count->n_left;
    p->n_fragment = count->n_fragment;
    if (count->n_left > 0)
        HX_TRY(hx_notes_add(
            &p->notes, HX_NOTE_WARNING,
            "%lld piece%s of the surface lack%s supports and %s left out, %.3g %% of its volume",
            (long long)count->n_left, is_one ? "" : "s", is_one ? "s" : "", is_one ? "is" : "are",
            100.0 * count->left / p->surface.volume));
    if (count->n_fragment == 0) return HX_OK;
    return hx_notes_add(
        &p->notes, HX_NOTE_WARNING,
        "where the surface is thin, %lld group%s of tetrahedra lose%s the connection to the part "
        "and %s left out; --refine %d follows the surface more closely",
        (long long)count->n_fragment, count->n_fragment == 1 ? "" : "s",
        count->n_fragment == 1 ? "s" : "", count->n_fragment == 1 ? "is" : "are",
        p->cut.n_refine + 1);
}

/* is_kept[n_elem]: pieces that are held are kept; if none is held, the largest one is (the error is
 * raised when the problem is made). Counts the other pieces. */
static int choose_pieces(hx_surface_part *p, const hx_surface *surface, const hx_mesh *raw,
                         const int32_t *piece, uint8_t *is_kept)
{
    uint8_t *is_held = NULL;
    hx_shell_count count;
    HX_TRY(hx_alloc(&is_held, (size_t)p->cut.n_piece, 1, "pieces"));
    int rc = find_held(p, raw, piece, is_held);
    if (rc == HX_OK) rc = hx_count_shells(surface, raw, piece, p->cut.n_piece, is_held, &count);
    if (rc == HX_OK) rc = note_pieces(p, &count);
    for (int64_t e = 0; e < raw->n_elem; e++) {
        is_kept[e] = is_held[piece[e]];
        if (is_kept[e]) continue;
        const double *x[4];
        const int at[4] = {0, 1, 2, 4};
        for (int i = 0; i < 4; i++) x[i] = raw->xyz + 3 * (int64_t)raw->conn[8 * e + at[i]];
        double u[3], v[3], w[3];
        for (int d = 0; d < 3; d++) {
            u[d] = x[1][d] - x[0][d];
            v[d] = x[2][d] - x[0][d];
            w[d] = x[3][d] - x[0][d];
        }
        p->dropped += hx_triple3(u, v, w) / 6.0;
    }
    free(is_held);
    return rc;
}

static int make_cut_mesh(hx_surface_part *p, const hx_session *s, const hx_surface *surface,
                         const hx_mesh *raw, const int32_t *piece)
{
    int rc;
    int32_t *new_node = NULL, *new_elem = NULL;
    uint8_t *is_kept = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&new_node, (size_t)raw->n_node, sizeof *new_node, "surface part"));
    HX_TRY_FAIL(hx_alloc_raw(&new_elem, (size_t)raw->n_elem, sizeof *new_elem, "surface part"));
    HX_TRY_FAIL(hx_alloc_raw(&is_kept, (size_t)raw->n_elem, 1, "surface part"));
    HX_TRY_FAIL(choose_pieces(p, surface, raw, piece, is_kept));
    HX_TRY_FAIL(keep_pieces(p, raw, is_kept, new_node, new_elem));
    HX_TRY_FAIL(hx_surface_sets_trim(p, raw, new_node, new_elem));
    HX_TRY_FAIL(hx_surface_sets_add(p, new_node, new_elem));
    HX_TRY_FAIL(hx_surface_materials_add(p, s));
    HX_TRY_FAIL(hx_surface_file_forces(p, s, raw, new_node, new_elem));
    hx_surface_file_renumber(p, new_node);
    HX_TRY_FAIL(hx_mesh_reorder(&p->mesh));
    HX_TRY_FAIL(hx_mesh_finish(&p->mesh));
fail:
    free(new_node);
    free(new_elem);
    free(is_kept);
    return rc;
}

static int read_refine(const char *text, int *n_refine)
{
    char *end = NULL;
    *n_refine = -1;
    if (!text) return HX_OK;
    const long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < 0 || n > 4)
        return HX_RAISE(HX_EINPUT, "--refine '%s': expected a whole number from 0 to 4", text);
    *n_refine = (int)n;
    return HX_OK;
}

const char *hx_surface_mesher_word(size_t i)
{
    static const char *const word[HX_N_MESHER] = {"cut", "gmsh", "auto"};
    return i < HX_N_MESHER ? word[i] : NULL;
}

int hx_surface_part_read_options(const char *refine, const char *mesher,
                                 hx_surface_options *options)
{
    const char *valid[HX_N_MESHER];
    char hint[128];
    options->mesher = HX_MESHER_CUT;
    options->most = options->enough = 0.0;
    HX_TRY(read_refine(refine, &options->n_refine));
    for (size_t i = 0; i < HX_N_MESHER; i++) {
        valid[i] = hx_surface_mesher_word(i);
        if (!mesher || strcmp(mesher, valid[i]) != 0) continue;
        options->mesher = (hx_surface_mesher)i;
        return HX_OK;
    }
    if (!mesher) return HX_OK;
    return HX_RAISE(HX_EINPUT, "--mesher: unknown '%s'%s", mesher,
                    hx_name_hint(mesher, valid, HX_N_MESHER, hint, sizeof hint));
}

/* HX_EINPUT: the config has supports, and none of them is on the surface. */
static int check_held(const hx_surface_part *p, const hx_session *s, const char *path)
{
    const hx_config_support *support = s->cfg.supports.entry;
    const char *set = s->cfg.supports.n > 0 ? support[0].set : NULL;
    char what[160] = "the supports that the mesh's file states";
    /* supports and springs that are left on the surface, both from sets and from the mesh's file */
    const hx_config_support *left = p->cfg.supports.entry;
    int any = p->cfg.springs.n > 0 || p->conditions.n_support > 0;
    for (size_t i = 0; i < p->cfg.supports.n; i++) any |= left[i].set != NULL;
    for (size_t i = 0; i < p->n_set; i++) any |= p->set[i].holds;
    if (any || s->cfg.supports.n + s->cfg.springs.n == 0) return HX_OK;
    if (s->cfg.supports.n == 0) set = ((const hx_config_spring *)s->cfg.springs.entry)[0].set;
    if (set)
        snprintf(what, sizeof what, "set '%.100s' of %s", set,
                 s->cfg.supports.n > 0 ? "the supports" : "the springs");
    return HX_RAISE(HX_EINPUT,
                    "%s: nothing holds this surface: nothing of %s is on it, because the design "
                    "is void there or the piece was left out; `hextop surface RESULT OUT "
                    "--preserve loads,supports,passive` makes the elements behind supports solid",
                    path, what);
}

static int create_surface_part(hx_surface_part *p, const hx_session *s, const char *path,
                               const hx_surface *surface, const hx_surface_options *options)
{
    int rc;
    hx_mesh raw = {0};
    int32_t *piece = NULL;
    HX_TRY_FAIL(check_surface(p, path, surface, &s->mesh));
    HX_TRY_FAIL(check_count(surface, &s->mesh, options->most));
    if (options->mesher != HX_MESHER_CUT)
        HX_TRY_FAIL(hx_surface_by_gmsh(p, s, surface, options, path, &raw, &piece));
    if (!raw.conn) {
        HX_TRY_FAIL(cut_fine_cells(p, s, surface, options, &raw, &piece));
        snprintf(p->mesher, sizeof p->mesher, "cut cells");
    }
    HX_TRY_FAIL(check_volume(p, path));
    HX_TRY_FAIL(hx_mesh_finish(&raw));
    HX_TRY_FAIL(hx_surface_sets_find(p, s, &raw));
    if (hx_config_is_by_file(&s->cfg)) HX_TRY_FAIL(hx_surface_file_supports(p, s, &raw));
    HX_TRY_FAIL(check_held(p, s, path));
    HX_TRY_FAIL(make_cut_mesh(p, s, surface, &raw, piece));
fail:
    hx_mesh_free(&raw);
    free(piece);
    return rc;
}

int hx_surface_part_create_from(hx_surface_part *p, const hx_session *s, const char *name,
                                const hx_surface *surface, const hx_surface_options *options)
{
    int rc;
    hx_fine_image fine = {0};
    hx_session finer = *s; /* for a spline: its cells, divided as `hextop surface` divides them */
    const double begin = hx_clock();
    memset(p, 0, sizeof *p);
    HX_TRY_FAIL(hx_fine_image_with_sets(&fine, s));
    if (fine.mesh.conn) finer.mesh = fine.mesh;
    HX_TRY_FAIL(create_surface_part(p, &finer, name, surface, options));
    p->seconds = hx_clock() - begin;
fail:
    hx_fine_image_free(&fine);
    return rc;
}

int hx_surface_part_create(hx_surface_part *p, const hx_session *s, const char *path,
                           const hx_surface_options *options)
{
    hx_surface surface = {0};
    memset(p, 0, sizeof *p);
    int rc = hx_surface_read(path, &surface);
    if (rc == HX_OK) rc = hx_surface_part_create_from(p, s, path, &surface, options);
    hx_surface_free(&surface);
    return rc;
}

void hx_surface_part_free(hx_surface_part *p)
{
    for (size_t i = 0; i < p->n_set; i++) {
        free(p->set[i].name);
        free(p->set[i].node);
        free(p->set[i].face);
    }
    free(p->set);
    free(p->cfg.supports.entry); /* the lists belong to the session */
    free(p->cfg.springs.entry);
    free(p->cfg.loads.entry);
    free(p->cfg.materials.entry);
    for (size_t i = 0; i < p->n_material_set; i++) free(p->material_set[i]);
    free(p->material_set);
    hx_notes_free(&p->notes);
    hx_conditions_free(&p->conditions);
    hx_mesh_free(&p->mesh);
    memset(p, 0, sizeof *p);
}
