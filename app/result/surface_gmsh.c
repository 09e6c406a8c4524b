/* The inside of a surface as tetrahedra of gmsh, on the surface's own triangles. If slivers among
 * these cause bad tetrahedra, fewer triangles with better shapes are used. */
#include "surface_gmsh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/signal_hooks.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesher/gmsh_fill.h"
#include "core/mesher/gmsh_program.h"
#include "core/mesher/model_files.h"
#include "core/surface/surface_simplify.h"

/* Tetrahedra below this quality (1: regular) are slivers, with which PCG would not converge. */
static const double least_quality = 0.01;

/* Largest mean distance of the simplified triangles from the surface, relative to the element
 * size. */
static const double most_off = 0.01;

/* Tetrahedra are split into eight as long as there are fewer than this. */
static const double enough = 1e5;

/* Fractions of the surface's triangles that are tried, in this order. */
static const double fractions[] = {1.0, 0.7, 0.5, 0.35};
enum { N_FRACTION = sizeof fractions / sizeof fractions[0] };

typedef struct filling {
    const hx_session *session;
    const hx_surface *surface;
    const hx_surface_options *options;
    const char *path;
    char *folder, *file; /* scratch folder, and the STL file in it (owned) */
    hx_notes *notes;
} filling;

static int copy_surface(const hx_surface *from, hx_surface *to)
{
    memset(to, 0, sizeof *to);
    HX_TRY(hx_alloc_raw(&to->xyz, (size_t)from->n_vertex, 3 * sizeof *to->xyz, "surface"));
    HX_TRY(hx_alloc_raw(&to->tri, (size_t)from->n_tri, 3 * sizeof *to->tri, "surface"));
    memcpy(to->xyz, from->xyz, 3 * (size_t)from->n_vertex * sizeof *to->xyz);
    memcpy(to->tri, from->tri, 3 * (size_t)from->n_tri * sizeof *to->tri);
    to->n_vertex = from->n_vertex;
    to->n_tri = from->n_tri;
    return HX_OK;
}

/* Writes the STL file with that fraction of the triangles. HX_EINPUT: it deviates too far from the
 * surface. */
static int write_fraction(const filling *f, double fraction, hx_surface_simplification *fewer)
{
    hx_surface s = {0};
    hx_surface_report report;
    const hx_surface_about about = {.title = "surface"};
    const double reach = most_off * f->session->mesh.elem_size;
    int rc = copy_surface(f->surface, &s);
    if (rc == HX_OK)
        rc = hx_surface_simplify(&s, (int64_t)(fraction * (double)s.n_tri), 0, NULL, fewer);
    if (rc == HX_OK && fewer->mean > reach)
        rc = HX_RAISE(HX_EINPUT, "with %lld of its triangles, it is off by %.2g on average",
                      (long long)fewer->n_after, fewer->mean);
    if (rc == HX_OK) rc = hx_surface_check(&s, HX_SURFACE_F32, &report);
    if (rc == HX_OK && !report.is_closed_manifold)
        rc = HX_RAISE(HX_EINPUT, "it touches itself, or is not closed in single precision");
    if (rc == HX_OK) rc = hx_surface_write(f->file, hx_surface_format_of_name(f->file), &s, &about);
    hx_surface_free(&s);
    return rc;
}

static int fill_surface(const filling *f, hx_mesh *made)
{
    const double limit = f->session->cfg.mesh.time_limit;
    hx_notes said = {0}; /* notes of one attempt; if it fails, the reason is in the error */
    const hx_fill_options options = {.what = f->path,
                                     .element_size = 2.0 * f->session->mesh.elem_size,
                                     .time_limit = isnan(limit) ? 0.0 : limit,
                                     .is_cancelled = hx_signals_caught};
    const int rc = hx_gmsh_fill(&options, f->folder, f->file, made, &said);
    hx_notes_free(&said);
    return rc;
}

static int count_splits(const filling *f, int64_t n_tet)
{
    int n = 0;
    if (f->options->n_refine >= 0) return f->options->n_refine;
    /* NOLINTNEXTLINE(clang-analyzer-security*): exact powers */
    for (double count = 8.0 * (double)n_tet; count <= enough; count *= 8.0) n++;
    return n;
}

/* Makes *raw with that fraction of the triangles. HX_EINPUT: it has slivers, or gmsh made no
 * mesh. */
static int try_fraction(const filling *f, double fraction, hx_surface_part *p, hx_mesh *raw,
                        int32_t **piece)
{
    hx_mesh made = {0};
    hx_surface_simplification fewer;
    HX_TRY(write_fraction(f, fraction, &fewer));
    HX_TRY(fill_surface(f, &made));
    int rc = hx_cut_mesh_take(raw, &made, 0, piece, &p->cut);
    if (rc == HX_OK && p->cut.worst < least_quality)
        rc = HX_RAISE(HX_EINPUT, "gmsh left tetrahedra of quality %.2g, %lld below 0.05",
                      p->cut.worst, (long long)p->cut.n_poor);
    const int n_refine = count_splits(f, made.n_elem);
    if (rc == HX_OK && n_refine > 0) {
        hx_mesh_free(raw);
        free(*piece);
        *piece = NULL;
        rc = hx_cut_mesh_take(raw, &made, n_refine, piece, &p->cut);
    }
    if (rc == HX_OK && fewer.n_after < fewer.n_before)
        rc = hx_notes_add(
            f->notes, HX_NOTE_INFO,
            "%s: gmsh meshes a surface simplified to %lld of its %lld %s, because the "
            "others were slivers; it is off by %.2g on average, %.2g at most",
            f->path, (long long)fewer.n_after, (long long)fewer.n_before,
            hx_noun(fewer.n_before, "triangle", "triangles"), fewer.mean, fewer.largest);
    hx_mesh_free(&made);
    if (rc == HX_OK) return HX_OK;
    hx_mesh_free(raw);
    free(*piece);
    *piece = NULL;
    return rc;
}

static int open_folder(filling *f)
{
    HX_TRY(hx_scratch_create(&f->folder));
    return hx_scratch_path(f->folder, "part.stl", &f->file);
}

/* If all fractions fail, the error is that of the first one, that is, of the original surface. */
static int try_all(filling *f, hx_surface_part *p, hx_mesh *raw, int32_t **piece)
{
    char first[HX_MESSAGE_SIZE] = "";
    int rc = HX_OK;
    for (int i = 0; i < N_FRACTION; i++) {
        rc = try_fraction(f, fractions[i], p, raw, piece);
        if (rc != HX_EINPUT) return rc;
        if (i == 0) snprintf(first, sizeof first, "%s", hx_error_message());
    }
    return HX_RAISE(HX_EINPUT, "%s", first);
}

int hx_surface_by_gmsh(hx_surface_part *p, const hx_session *s, const hx_surface *surface,
                       const hx_surface_options *options, const char *path, hx_mesh *raw,
                       int32_t **piece)
{
    filling f = {s, surface, options, path, NULL, NULL, &p->notes};
    hx_gmsh_program program = {0};
    int rc = hx_gmsh_find(&program);
    if (rc == HX_OK) snprintf(p->mesher, sizeof p->mesher, "gmsh %s", program.version);
    hx_gmsh_release(&program);
    hx_signals_begin();
    if (rc == HX_OK) rc = open_folder(&f);
    if (rc == HX_OK) rc = try_all(&f, p, raw, piece);
    hx_scratch_remove(f.folder);
    hx_signals_end();
    free(f.file);
    if (rc != HX_EINPUT && (rc != HX_EENV || options->mesher != HX_MESHER_AUTO)) return rc;
    p->mesher[0] = '\0';
    return hx_notes_add(&p->notes,
                        options->mesher == HX_MESHER_AUTO ? HX_NOTE_INFO : HX_NOTE_WARNING,
                        "cut cells instead of gmsh's: %s", hx_error_message());
}
