/* Figures that are computed from measured ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

void hx_compare_clear_figures(hx_compare_figures *f)
{
#define CLEAR(name) f->name = NAN;
    HX_COMPARE_FIGURES(CLEAR)
#undef CLEAR
}

int hx_compare_is_measured(const hx_compare_row *row)
{
    return row->status != HX_COMPARE_SKIPPED && row->status != HX_COMPARE_REFUSED;
}

int hx_compare_is_paper(const hx_operator_kind *op_kind)
{
    static const char *const name[] = {"nbn", "ebe", "ebe8", "ebe24", "ebe64"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (strcmp(name[i], op_kind->name) == 0) return 1;
    return 0;
}

int hx_compare_is_matrix(const hx_operator_kind *op_kind)
{
    return op_kind->assembled != NULL;
}

int hx_compare_has_matrix(const hx_compare *c, const hx_compare_group *group)
{
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        if (hx_compare_is_matrix(row->op_kind) && hx_compare_is_measured(row)) return 1;
    }
    return 0;
}

/* Bytes that a product must move: stored data, modulus (8 per element) and connectivity (32 per
 * element), and x read and y written once (16 per degree of freedom). For quadratic elements, whose
 * operators store a matrix, only that matrix and the vectors. */
static double product_bytes(const hx_compare_group *group, const hx_compare_row *row)
{
    const double mesh = group->element == HX_ELEMENT_LINEAR ? 40.0 : 0.0;
    return (double)group->n_elem * (row->f.nominal_bytes_per_element + mesh) +
           16.0 * (double)group->n_dof;
}

const hx_operator_kind *hx_compare_operator(const hx_session *s, const hx_operator_kind *op_kind)
{
    const hx_operator_kind *const of =
        hx_operator_kind_of(op_kind, hx_config_is_heat(&s->cfg) ? 1 : 3);
    const int is_linear = s->cfg.solver.element == HX_ELEMENT_LINEAR;
    return of && (is_linear || of->space_bytes) ? of : NULL;
}

/* The measured row of ebe rowmajor in the group; NULL: there is none. */
static const hx_compare_row *find_baseline(const hx_compare *c, const hx_compare_group *group)
{
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        if (strcmp(row->op_kind->name, "ebe") == 0 && row->layout == HX_LAYOUT_ROWMAJOR &&
            hx_compare_is_measured(row))
            return row;
    }
    return NULL;
}

static int is_otf(const hx_operator_kind *kind)
{
    return strcmp(kind->name, "otf") == 0;
}

/* Median time of the fastest of these operators in any layout; NaN: none was measured. */
static double best_median(const hx_compare *c, const hx_compare_group *group,
                          int (*is_one)(const hx_operator_kind *kind))
{
    double best = NAN;
    for (size_t i = 0; i < group->n_row; i++) {
        const hx_compare_row *row = &c->row[group->first_row + i];
        if (is_one(row->op_kind) && hx_compare_is_measured(row))
            best = fmin(best, row->f.product_median_seconds); /* fmin ignores a NaN */
    }
    return best;
}

void hx_compare_derive(hx_compare *c, size_t index)
{
    const hx_compare_group *group = &c->group[index];
    const hx_compare_row *base = find_baseline(c, group);
    const double best = best_median(c, group, hx_compare_is_paper);
    const double otf = best_median(c, group, is_otf);
    for (size_t i = 0; i < group->n_row; i++) {
        hx_compare_row *row = &c->row[group->first_row + i];
        hx_compare_figures *f = &row->f;
        const double median = f->product_median_seconds;
        f->product_spread =
            (f->product_upper_quartile_seconds - f->product_lower_quartile_seconds) / median;
        f->elements_per_second = (double)group->n_elem / median;
        f->dof_per_second = (double)group->n_dof / median;
        f->bytes_per_second = product_bytes(group, row) / median;
        f->copy_bandwidth_fraction = f->bytes_per_second / group->copy_bandwidth;
        f->speedup_over_ebe = base ? base->f.product_median_seconds / median : NAN;
        f->speedup_over_p1 = best / median;
        f->speedup_over_otf = otf / median;
        f->break_even_products = otf > median ? f->fill_seconds / (otf - median) : NAN;
        f->pcg_vector_seconds = f->pcg_seconds - f->pcg_spmv_seconds;
        f->pcg_spmv_share = f->pcg_spmv_seconds / f->pcg_seconds;
        f->pcg_iteration_seconds = f->pcg_seconds / f->pcg_iterations;
        f->pcg_iteration_products = f->pcg_iteration_seconds / median;
        f->pcg_speedup_over_ebe = base ? base->f.pcg_seconds / f->pcg_seconds : NAN;
        f->spmv_speedup_over_ebe = base ? base->f.pcg_spmv_seconds / f->pcg_spmv_seconds : NAN;
    }
}

double hx_compare_unit(const hx_compare *c, size_t first_row, size_t n_row, const char **letter)
{
    double fastest = 0.0;
    for (size_t i = 0; i < n_row; i++)
        fastest = fmax(fastest, c->row[first_row + i].f.elements_per_second);
    *letter = fastest >= 1e8 ? "G" : "M";
    return fastest >= 1e8 ? 1e9 : 1e6;
}

const char *hx_compare_label(const hx_compare_row *row, char *text, size_t n_text)
{
    const unsigned layouts = row->op_kind->layouts;
    const int several = (layouts & (layouts - 1)) != 0;
    snprintf(text, n_text, "%s%s%s", row->op_kind->name, several ? " " : "",
             several ? hx_layout_name(row->layout) : "");
    return text;
}
