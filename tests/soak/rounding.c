/* Bounds the effect of double precision on a config's compliance. For each line of a list, the
 * designs are made on the CPU with a stored K. With the K and u of each design,
 *
 *     bound = 2 lambda 2^-53 / C sqrt(sum_ij 2/3 n_ij (K_ij u_i u_j)^2 + sum_i u_i^2 sum_k s_ik^2)
 *
 *     rounding LIST OUT [PART OF]
 *
 * writes OUT/rounding.PART, one line per config: NAME, bound, |u|'|K||u| / u'Ku.
 *
 * Rounding changes K by dK, and u'dK u is the resulting change of the compliance to first order. It
 * is a sum of many small errors, each at most 2^-53 of a number: of the partial sums of an entry
 * (n_ij of them: elements at both nodes times Gauss points; if they grow evenly to the entry, their
 * squares sum to n_ij / 3 of its square; the other half of K has equal errors, hence the 2), and of
 * the partial sums s_ik of a row of K u. Independent errors of mean 0 add to at most lambda times
 * the root of the sum of their squares, except with probability 2 exp(-lambda^2 / 2), which is 1 in
 * 100,000 for lambda = 5 (Hoeffding; Higham and Mary, SIAM J. Sci. Comput. 41, 2019, who confirmed
 * this for sums in practice). The factor 2 in front counts two operators. The worst case, errors of
 * one sign, is 2^-53 n |u|'|K||u|, about a thousand times more for a plate. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/session/session.h"
#include "core/operator/assembled.h"

enum { MOST_TEXT = 4096, MOST_FIELDS = 24, MOST_KEYS = MOST_FIELDS + 4 };
enum { NAME, CONFIG, KIND, DEVICE, EXACT, MESSAGE, FIRST_KEY };

/* Sums of the bound and of |u|'|K||u| over the load cases of a design, weighted. */
typedef struct sums {
    double bound, size;
} sums;

static const double lambda = 5.0;

/* Upper bound of the terms of an entry: elements that share two nodes, times Gauss points. */
static double terms_of_entry(const hx_session *s)
{
    return s->space.element == HX_ELEMENT_LINEAR ? 8.0 * 8.0 : 8.0 * 27.0;
}

static sums of_case(const hx_session *s, const hx_matrix *m, const double *u)
{
    const double n_entry = terms_of_entry(s);
    const double *const value = m->d_value; /* device memory is host memory on the CPU */
    double squares = 0.0, size = 0.0;
    for (int64_t i = 0; i < s->solver.op.linear.n; i++) {
        double partial = 0.0, row = 0.0, of_row = 0.0;
        for (int64_t k = m->d_ptr[i]; k < m->d_ptr[i + 1]; k++) {
            const double term = value[k] * u[m->d_col[k]];
            partial += term;
            of_row += partial * partial + 2.0 / 3.0 * n_entry * term * term;
            row += fabs(term);
        }
        squares += of_row * u[i] * u[i];
        size += row * fabs(u[i]);
    }
    return (sums){lambda * 0x1p-53 * sqrt(squares), size};
}

/* Bounds for the design that was just analysed. */
static int of_design(hx_session *s, double compliance, sums *most)
{
    const hx_matrix *const m = &s->solver.op.op_kind->assembled(s->solver.op.state)->matrix;
    double *const u = malloc((size_t)s->solver.op.linear.n * sizeof *u);
    sums all = {0.0, 0.0};
    int rc = u ? HX_OK : HX_ENOMEM;
    for (int c = 0; c < s->problem.cases.n && rc == HX_OK; c++) {
        rc = hx_analysis_point_displacement(&s->analysis, c, u);
        const sums one = of_case(s, m, u);
        all.bound += s->problem.cases.weight[c] * one.bound;
        all.size += s->problem.cases.weight[c] * one.size;
    }
    free(u);
    most->bound = fmax(most->bound, 2.0 * all.bound / fabs(compliance));
    most->size = fmax(most->size, all.size / fabs(compliance));
    return rc;
}

static int run(hx_session *s, const char *config, int n_key, const char *const *key, sums *most)
{
    HX_TRY(hx_config_read(&s->cfg, config, (size_t)n_key, key));
    HX_TRY(hx_session_open(s));
    for (int k = 0; k < s->cfg.optimization.iterations; k++) {
        hx_iteration it;
        HX_TRY(hx_optimizer_step(&s->opt, &it));
        HX_TRY(of_design(s, it.compliance, most));
    }
    return HX_OK;
}

/* Runs one line, with its keys and those that store K. */
static int run_line(const char *folder, char *text, FILE *out)
{
    static const char *const own[] = {"solver.device=cpu", "solver.operator=csr",
                                      "solver.precision=double"};
    const char *key[MOST_KEYS];
    char *field[MOST_FIELDS], *at = text, path[2 * MOST_TEXT];
    int n_field = 0, n_key = 0;
    hx_session s;
    sums most = {0.0, 0.0};
    text[strcspn(text, "\n")] = '\0';
    for (char *word; n_field < MOST_FIELDS && (word = strsep(&at, "\t"));) field[n_field++] = word;
    if (n_field < FIRST_KEY) return HX_EINPUT;
    if (strcmp(field[KIND], "refused") == 0) return HX_OK;
    for (int k = FIRST_KEY; k < n_field; k++) key[n_key++] = field[k];
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) key[n_key++] = own[k];
    snprintf(path, sizeof path, "%s/%s", folder, field[CONFIG]);
    memset(&s, 0, sizeof s);
    const int rc = run(&s, path, n_key, key, &most);
    if (rc < 0) fprintf(stderr, "%s: %s\n", field[NAME], hx_error_message());
    hx_session_free(&s);
    if (rc >= 0) fprintf(out, "%s\t%.3g\t%.3g\n", field[NAME], most.bound, most.size);
    return rc;
}

int main(int argc, char **argv)
{
    char text[MOST_TEXT], folder[MOST_TEXT], path[MOST_TEXT];
    if (argc != 3 && argc != 5) return 2;
    const int part = argc == 5 ? atoi(argv[3]) : 0, of = argc == 5 ? atoi(argv[4]) : 1;
    const char *const slash = strrchr(argv[1], '/');
    FILE *const list = fopen(argv[1], "r");
    snprintf(path, sizeof path, "%s/rounding.%d", argv[2], part);
    FILE *const out = fopen(path, "w");
    if (!list || !out || !slash || of < 1) {
        fprintf(stderr, "rounding: cannot read %s or write %s\n", argv[1], path);
        return 2;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - argv[1]), argv[1]);
    int failed = 0;
    for (int i = 0; fgets(text, sizeof text, list); i++)
        if (i % of == part && run_line(folder, text, out) < 0) failed = 1;
    fclose(list);
    if (fclose(out) != 0) failed = 1;
    return failed;
}
