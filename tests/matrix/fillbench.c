/* Times a fill (default `gather`) on boxes of one kind of cell, or of all kinds.
 *
 *     fillbench cpu|cuda NX NY NZ hex|wedge|pyramid|tet|tet5|layers [linear|quadratic] [file]
 *               [FILL]
 *
 * NX NY NZ: box cells, each of 1 hexahedron, 2 wedges, 6 pyramids, 6 or 5 tetrahedra. Cells and
 * nodes are in the solver's order, or as generated with `file`. Prints medians and quartiles of the
 * device time; `made` is the wall-clock time of the set-up before the first design. */
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/quantile.h"
#include "core/registry.h"
#include "core/space/space.h"
#include "tests/lib/fill_sample.h"
#include "tests/lib/mixed_mesh.h"

enum { N_WARM = 3, N_RUN = 21 };

/* Options of the command line. */
typedef struct bench_options {
    mixed_box box;
    hx_element element;
    int as_generated;
    hx_fill fill;
} bench_options;

typedef struct bench_case {
    const char *name;
    hx_matrix_spec spec;
} bench_case;

static const bench_case cases[] = {
    {"bsr", {HX_FORMAT_BSR, HX_PART_FULL, 0, 3}},
    {"bsr lower", {HX_FORMAT_BSR, HX_PART_LOWER, 0, 3}},
    {"bsr single", {HX_FORMAT_BSR, HX_PART_FULL, 1, 3}},
    {"sliced", {HX_FORMAT_BSRS, HX_PART_FULL, 0, 3}},
    {"csr", {HX_FORMAT_CSR, HX_PART_FULL, 0, 3}},
    {"bsr, 1 unknown", {HX_FORMAT_BSR, HX_PART_FULL, 0, 1}},
};

static int time_runs(hx_device *dev, void *state, double seconds[N_RUN])
{
    for (int i = -N_WARM; i < N_RUN; i++) {
        HX_TRY(dev->ops->mark(dev, 0));
        HX_TRY(dev->ops->matrix->fill_run(state));
        HX_TRY(dev->ops->mark(dev, 1));
        HX_TRY(dev->ops->sync(dev));
        if (i >= 0) HX_TRY(dev->ops->elapsed(dev, 0, 1, &seconds[i]));
    }
    return HX_OK;
}

static void print_case(const bench_case *c, const fill_sample *s, const hx_matrix *m, size_t kept,
                       double made, double seconds[N_RUN])
{
    const double n_cell = (double)s->space->mesh->n_elem;
    const double bytes = (double)m->n_value * (m->spec.single ? 4.0 : 8.0);
    double q[3];
    hx_sort_values(seconds, N_RUN);
    for (int i = 0; i < 3; i++) q[i] = hx_quantile(seconds, N_RUN, 0.25 * (i + 1));
    printf("%-16s %9.4f ms  (%.4f to %.4f)  %9.2f M elements/s  %7.1f GB/s written  kept %.0f B an "
           "element, made in %.1f ms\n",
           c->name, 1e3 * q[1], 1e3 * q[0], 1e3 * q[2], 1e-6 * n_cell / q[1], 1e-9 * bytes / q[1],
           (double)kept / n_cell, 1e3 * made);
}

static int run_case(hx_device *dev, const bench_case *c, const hx_space *space, hx_fill fill)
{
    const hx_matrix_ops *ops = dev->ops->matrix;
    const hx_pattern_spec pattern_spec = {.part = c->spec.part};
    const unsigned formats = c->spec.part ? ops->lower_formats : ops->formats;
    hx_device_pattern pattern = {0};
    hx_matrix m = {0};
    fill_sample s;
    void *state = NULL;
    double seconds[N_RUN], begin;
    int rc;
    if (!(formats & 1u << c->spec.format)) return HX_OK;
    if (c->spec.single && !(ops->single_formats & 1u << c->spec.format)) return HX_OK;
    HX_TRY_FAIL(fill_sample_create(&s, dev, space, c->spec.components));
    HX_TRY_FAIL(ops->pattern(dev, &s.input.incidence, &pattern_spec, &pattern, NULL));
    HX_TRY_FAIL(hx_matrix_create(&m, dev, &pattern, &c->spec));
    HX_TRY_FAIL(dev->ops->sync(dev));
    begin = hx_clock();
    HX_TRY_FAIL(ops->fill_create(&state, dev, fill, &m, &s.input));
    begin = hx_clock() - begin;
    HX_TRY_FAIL(time_runs(dev, state, seconds));
    print_case(c, &s, &m, ops->fill_bytes(state), begin, seconds);
    rc = HX_OK;
fail:
    if (state) ops->fill_free(state);
    hx_matrix_free(&m, dev);
    hx_device_pattern_free(&pattern, dev);
    fill_sample_free(&s);
    return rc;
}

static int read_options(int argc, char **argv, const hx_device_ops *ops, bench_options *o)
{
    static const char *const word[MIXED_N_KIND] = {"hex", "wedge", "pyramid",
                                                   "tet", "tet5",  "layers"};
    *o = (bench_options){.box = {.kind = MIXED_N_KIND, .distort = 0.15, .seed = 3}};
    for (int d = 0; d < 3; d++) o->box.n[d] = atoi(argv[2 + d]);
    for (int k = 0; k < MIXED_N_KIND; k++)
        if (strcmp(argv[5], word[k]) == 0) o->box.kind = (mixed_kind)k;
    if (o->box.kind == MIXED_N_KIND || o->box.n[0] < 1 || o->box.n[1] < 1 || o->box.n[2] < 1)
        return HX_RAISE(HX_EINPUT, "a box of at least one cell, of a kind");
    for (int i = 6; i < argc; i++)
        if (strcmp(argv[i], "quadratic") == 0)
            o->element = HX_ELEMENT_QUADRATIC;
        else if (strcmp(argv[i], "file") == 0)
            o->as_generated = 1;
        else if (strcmp(argv[i], "linear") != 0)
            HX_TRY(hx_fill_find(argv[i], ops->matrix->fills, ops->name, &o->fill));
    return HX_OK;
}

static int make_mesh(hx_mesh *mesh, const bench_options *o)
{
    HX_TRY(mixed_create(mesh, &o->box));
    if (!o->as_generated) HX_TRY(hx_mesh_reorder(mesh));
    return hx_mesh_finish(mesh);
}

static int run(int argc, char **argv)
{
    const hx_device_ops *const ops = hx_device_find(argv[1]);
    bench_options o;
    hx_device dev = {0};
    hx_mesh mesh = {0};
    hx_space space = {0};
    char text[64];
    int rc;
    if (!ops) return HX_RAISE(HX_EINPUT, "no device '%s'", argv[1]);
    HX_TRY_FAIL(read_options(argc, argv, ops, &o));
    HX_TRY_FAIL(hx_device_open(&dev, ops));
    HX_TRY_FAIL(make_mesh(&mesh, &o));
    HX_TRY_FAIL(hx_space_create(&space, &mesh, o.element));
    printf("%s: %lld elements (%s), %lld points, %s\n", dev.description, (long long)mesh.n_elem,
           o.element ? hx_space_text(&space, text, sizeof text) : argv[5], (long long)space.n_point,
           hx_fill_kinds[o.fill].name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        HX_TRY_FAIL(run_case(&dev, &cases[i], &space, o.fill));
    rc = HX_OK;
fail:
    hx_space_free(&space);
    hx_mesh_free(&mesh);
    hx_device_close(&dev);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: fillbench cpu|cuda NX NY NZ hex|wedge|pyramid|tet|tet5|layers "
                        "[linear|quadratic] [file] [FILL]\n");
        return 2;
    }
    const int rc = run(argc, argv);
    if (rc < 0) fprintf(stderr, "fillbench: %s\n", hx_error_message());
    return rc < 0 ? 1 : 0;
}
