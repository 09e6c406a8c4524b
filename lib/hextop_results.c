/* Numbers, the summary, and files of a session. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output/summary.h"
#include "app/result/members.h"
#include "app/result/part.h"
#include "app/result/round_faces.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/text_stream.h"
#include "core/surface/surface.h"
#include "handle.h"

typedef struct number_kind {
    const char *name;
    int needs_design;
    double (*get)(const hextop *h);
} number_kind;

#define NUMBER(name, expression)                                                                   \
    static double get_##name(const hextop *h)                                                      \
    {                                                                                              \
        return (double)(expression);                                                               \
    }
NUMBER(elements, h->session.mesh.n_elem)
NUMBER(nodes, h->session.mesh.n_node)
NUMBER(cases, h->session.problem.cases.n)
NUMBER(iteration, h->stats.last.iteration)
NUMBER(objective, h->stats.last.objective)
NUMBER(compliance, h->stats.last.compliance)
NUMBER(volume, h->stats.last.volume)
NUMBER(change, h->stats.last.change)
NUMBER(kkt, h->stats.last.kkt)
NUMBER(violation, h->stats.last.violation)
NUMBER(greyness, h->stats.last.greyness)
NUMBER(penalty, h->stats.last.penalty)
NUMBER(beta, h->stats.last.beta)
NUMBER(mass, h->stats.mass)
NUMBER(pcg_iterations, h->stats.pcg_iterations)
NUMBER(seconds, h->stats.last.seconds)

static const number_kind numbers[] = {
    {"elements", 0, get_elements},
    {"nodes", 0, get_nodes},
    {"cases", 0, get_cases},
    {"iteration", 1, get_iteration},
    {"objective", 1, get_objective},
    {"compliance", 1, get_compliance},
    {"volume", 1, get_volume},
    {"change", 1, get_change},
    {"kkt", 1, get_kkt},
    {"violation", 1, get_violation},
    {"greyness", 1, get_greyness},
    {"penalty", 1, get_penalty},
    {"beta", 1, get_beta},
    {"mass", 1, get_mass},
    {"pcg_iterations", 1, get_pcg_iterations},
    {"seconds", 1, get_seconds},
};
enum { N_NUMBER = sizeof numbers / sizeof numbers[0] };

/* The value of a limit; returns 1 if there is one of that name. */
static int get_limit(const hextop *h, const char *name, double *value)
{
    const hx_iteration *const last = &h->stats.last;
    for (int i = 0; i < last->n_response; i++) {
        if (strcmp(last->response[i].name, name) != 0) continue;
        *value = last->response[i].value;
        return 1;
    }
    return 0;
}

static int get_number(hextop *h, const char *name, double *value)
{
    const char *names[N_NUMBER];
    char hint[512];
    for (size_t i = 0; i < N_NUMBER; i++) {
        names[i] = numbers[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        HX_TRY(hx_handle_prepare(h));
        if (numbers[i].needs_design) HX_TRY(hx_handle_need_design(h));
        if (numbers[i].get == get_mass)
            HX_TRY(hx_session_measure_mass(&h->session, h->stats.last.volume, &h->stats.mass));
        *value = numbers[i].get(h);
        return HX_OK;
    }
    if (h->stats.n_iteration > 0 && get_limit(h, name, value)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "unknown number '%s'%s", name,
                    hx_name_hint(name, names, N_NUMBER, hint, sizeof hint));
}

double hextop_number(hextop *h, const char *name)
{
    double value = (double)NAN;
    hx_handle_enter(h);
    (void)hx_handle_leave(h, get_number(h, name, &value));
    return value;
}

int hx_handle_summary(hextop *h, char **text)
{
    hx_text_stream out;
    *text = NULL;
    HX_TRY(hx_handle_need_design(h));
    HX_TRY(hx_text_stream_open(&out, "summary"));
    hx_stats_stop(&h->stats);
    HX_TRY(hx_session_measure_mass(&h->session, h->stats.last.volume, &h->stats.mass));
    int rc = hx_summary_print(&h->session, &h->stats, &h->diags, h->done ? "done" : "interrupted",
                              out.stream);
    if (rc == HX_OK) rc = hx_text_stream_close(&out, text, NULL);
    hx_text_stream_free(&out);
    return rc;
}

static int keep_summary(hextop *h)
{
    char *text = NULL;
    const int rc = hx_handle_summary(h, &text);
    if (rc < 0) {
        free(text);
        return rc;
    }
    free(h->summary);
    h->summary = text;
    return HX_OK;
}

const char *hextop_summary(hextop *h)
{
    hx_handle_enter(h);
    return hx_handle_leave(h, keep_summary(h)) < 0 ? NULL : h->summary;
}

static int write_vtk(hextop *h, const char *path)
{
    if (!h->output.session) HX_TRY(hx_output_take(&h->output, &h->session));
    return hx_output_write_as(&h->output, h->stats.last.iteration, path);
}

static int write_config(hextop *h, const char *path)
{
    return hx_config_write(&h->session.cfg, path);
}

static int write_summary(hextop *h, const char *path)
{
    return hx_summary_write(&h->session, &h->stats, &h->diags, h->done ? "done" : "interrupted",
                            path);
}

/* Intermediate data between densities and a surface. */
typedef struct cut {
    double *rho; /* (owned), like the rest */
    uint8_t *is_solid;
    hx_mesh own;
    const hx_mesh *mesh; /* (borrowed) */
    hx_result_part part;
    hx_fine_image fine;
    hx_surface_field field;
    hx_surface surface;
    hx_surface_repairs repairs;
} cut;

/* Makes the surface that `hextop surface` makes without options. */
static int make_surface(hextop *h, cut *c)
{
    const hx_session *const s = &h->session;
    hx_surface_smoothing smoothing;
    unsigned preserve;
    double threshold, volume, target;
    HX_TRY(hx_alloc_raw(&c->rho, (size_t)s->mesh.n_elem, sizeof *c->rho, "densities"));
    HX_TRY(hx_optimizer_density(&s->opt, c->rho));
    HX_TRY(hx_preserve_read(HX_PRESERVE_DEFAULT, &preserve));
    HX_TRY(hx_part_create(&c->part, s, c->rho, 0, preserve));
    HX_TRY(hx_part_cut(&c->part, s, c->rho, &c->is_solid, &c->own, &c->mesh));
    HX_TRY(hx_part_fine_image(&c->part, s, 0, &c->fine));
    HX_TRY(hx_fine_image_field(&c->fine, &c->field, c->mesh, c->rho, c->is_solid));
    HX_TRY(hx_part_check_target(&c->part, c->part.target));
    target = hx_fine_image_target(&c->fine, &c->field, c->part.target);
    HX_TRY(hx_surface_threshold(&c->field, target, &threshold, &volume));
    HX_TRY(hx_members_repair(&c->field, &c->fine, c->mesh, c->rho, c->is_solid, target, &threshold,
                             &c->repairs, NULL));
    HX_TRY(hx_surface_extract(&c->surface, &c->field, threshold));
    HX_TRY(hx_surface_smooth(&c->surface, &c->field, HX_SURFACE_STEPS, &smoothing));
    return hx_surface_finish(&c->surface, &c->field, &s->mesh, HX_SURFACE_STEPS, 0.0, NULL);
}

static int write_surface(hextop *h, const char *path)
{
    cut c;
    const hx_session *const s = &h->session;
    const hx_surface_about about = {
        .title = s->cfg.title[0] ? s->cfg.title : s->mesh.name,
        .metre = s->cfg.units.metre,
    };
    memset(&c, 0, sizeof c);
    int rc = make_surface(h, &c);
    if (rc == HX_OK)
        rc = hx_surface_write(path, hx_surface_format_of_name(path), &c.surface, &about);
    hx_surface_repairs_free(&c.repairs);
    hx_surface_free(&c.surface);
    hx_surface_field_free(&c.field);
    hx_part_free(&c.part);
    hx_fine_image_free(&c.fine);
    hx_mesh_free(&c.own);
    free(c.is_solid);
    free(c.rho);
    return rc;
}

static int has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    return n > n_ending && strcmp(path + n - n_ending, ending) == 0;
}

static int write_result_file(hextop *h, const char *path)
{
    char endings[128];
    HX_TRY(hx_handle_need_design(h));
    if (has_ending(path, ".vtk")) return write_vtk(h, path);
    if (has_ending(path, ".json")) return write_summary(h, path);
    if (has_ending(path, ".cfg")) return write_config(h, path);
    if (hx_surface_format_of_name(path)) return write_surface(h, path);
    return HX_RAISE(HX_EINPUT, "'%s': the name must end in .vtk, .json, .cfg, %s", path,
                    hx_surface_endings(endings, sizeof endings));
}

int hextop_write(hextop *h, const char *path)
{
    hx_handle_enter(h);
    return hx_handle_leave(h, write_result_file(h, path));
}
