/* The stages of P2 on one mesh: S1 pattern (preprocessor), S2 indices, S3 values. */
#include "paper_stages.h"

#include <math.h>
#include <string.h>

#include "app/text/log.h"
#include "core/base/names.h"

const char *const hx_bench_preconds[HX_BENCH_N_SOLVE] = {"jacobi", "block-jacobi"};

hx_format hx_bench_stages_format(const hx_matrix_ops *ops)
{
    static const hx_format order[] = {HX_FORMAT_ELL, HX_FORMAT_CSR, HX_FORMAT_BSR};
    size_t i = 0;
    while (i < 2 && !(ops->formats & 1u << order[i])) i++;
    return order[i];
}

void hx_bench_stages_clear(hx_bench_stages *s, const hx_p2_row *paper, const hx_bench_plan *plan)
{
    memset(s, 0, sizeof *s);
    s->paper = paper;
    s->plan = *plan;
    s->s1 = s->bytes = s->paper_bytes = (double)NAN;
    s->call = s->s2 = hx_bench_no_time;
    for (int i = 0; i < HX_N_FILL; i++) s->fill[i].run = hx_bench_no_time;
    for (int i = 0; i < HX_BENCH_N_SOLVE; i++) s->solve[i].seconds = (double)NAN;
}

/* Runs the fills with one thread per cell or per entry, and gather, with which the others are
 * compared. */
static int run_fills(hx_bench_stages *s, const hx_bench_site *site, const hx_matrix *m,
                     hx_bench_check *check)
{
    static const hx_fill fill[] = {HX_FILL_GATHER, HX_FILL_ATOMIC, HX_FILL_SEPARATE, HX_FILL_COLOUR,
                                   HX_FILL_NZ};
    for (size_t i = 0; i < sizeof fill / sizeof fill[0]; i++)
        if (site->dev->ops->matrix->fills & 1u << fill[i])
            HX_TRY(hx_bench_fill_run(&s->fill[fill[i]], site, m, fill[i], check));
    return HX_OK;
}

static void note_bytes(hx_bench_stages *s, const hx_bench_site *site, const hx_matrix *m)
{
    const double n = (double)m->n_value, n_dof = 3.0 * (double)m->pattern.n_row;
    const hx_incidence *in = &site->input.incidence;
    s->s1_bytes = hx_bench_pattern_bytes(site, &m->pattern);
    s->s2_bytes = m->spec.format == HX_FORMAT_BSR ? (double)NAN
                                                  : 4.0 * (double)m->pattern.n_entry + 4.0 * n +
                                                        (m->d_ptr ? 8.0 * (n_dof + 1.0) : 0.0);
    s->s3_bytes =
        8.0 * n + 4.0 * (double)in->n_place + 24.0 * (double)in->n_point + 8.0 * (double)in->n_cell;
    s->bytes = (double)(hx_matrix_bytes(m, site->dev) + hx_device_pattern_bytes(&m->pattern));
    s->paper_bytes = 8.0 * (double)m->pattern.n_point * m->pattern.max_row;
}

static int run_on_space(hx_paper_bench *bench, hx_bench_stages *s, const hx_space *space)
{
    const double nu = 0.3;
    const hx_form form = {HX_FORM_ELASTICITY, nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
                          0.5 / (1.0 + nu)};
    const hx_matrix_spec spec = {hx_bench_stages_format(bench->shared.dev->ops->matrix),
                                 HX_PART_FULL, 0, 3};
    hx_bench_site site = {0};
    hx_bench_pattern pattern = {0};
    hx_bench_check check = {0};
    hx_matrix m = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_site_open(&site, bench->shared.dev, space, form, NULL));
    HX_TRY_FAIL(hx_bench_pattern_make(&pattern, &site, HX_BUILD_THREE_STAGE, HX_PART_FULL, 0));
    s->s1 = pattern.in_steps;
    s->call = pattern.call;
    HX_TRY_FAIL(hx_bench_create(&s->s2, &m, bench->shared.dev, &pattern.pattern, &spec));
    note_bytes(s, &site, &m);
    HX_TRY_FAIL(hx_bench_check_open(&check, &bench->shared, bench->shared.dev, 3 * space->n_point));
    HX_TRY_FAIL(run_fills(s, &site, &m, &check));
fail:
    hx_matrix_free(&m, bench->shared.dev);
    hx_bench_check_close(&check);
    hx_bench_pattern_free(&pattern);
    hx_bench_site_close(&site);
    return rc;
}

static int run_on_part(hx_paper_bench *bench, hx_bench_stages *s, const hx_bench_part *part)
{
    const int is_cube = s->plan.shape == HX_BENCH_CUBE && s->plan.element == HX_BENCH_HEX8;
    int rc = run_on_space(bench, s, &part->space);
    for (int i = 0; is_cube && i < HX_BENCH_N_SOLVE && rc == HX_OK; i++)
        rc =
            hx_bench_solve_cube(&s->solve[i], bench->shared.dev, &part->mesh, hx_bench_preconds[i]);
    return rc;
}

int hx_bench_stages_run(hx_paper_bench *bench, hx_bench_stages *s)
{
    hx_bench_part part;
    if (hx_bench_plan_size(&s->plan) > (double)bench->most) return HX_OK;
    if (hx_log_is_terminal())
        hx_log_status("P2, stages: %s, %s, %lld %s", hx_bench_shape_name(s->plan.shape),
                      hx_bench_element_name(s->plan.element), (long long)s->plan.n_elem,
                      hx_noun(s->plan.n_elem, "element", "elements"));
    int rc = hx_bench_part_make(&part, &s->plan);
    if (rc == HX_OK) {
        rc = run_on_part(bench, s, &part);
        hx_bench_part_free(&part);
    }
    return hx_bench_is_left_out(rc, s->note, sizeof s->note) ? HX_OK : rc;
}

int hx_bench_stages_is_measured(const hx_bench_stages *s)
{
    return s->call.n > 0;
}

double hx_bench_stages_fill(const hx_bench_stages *s, hx_fill fill)
{
    return s->fill[fill].run.median;
}

double hx_bench_stages_sum(const hx_bench_stages *s, hx_fill fill)
{
    return s->call.median + s->s2.median + s->fill[fill].prepare_seconds +
           hx_bench_stages_fill(s, fill);
}
