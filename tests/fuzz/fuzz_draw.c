/* Draws a config from bytes (fuzz_loads.h): each byte decides one thing, so that changing a byte
 * changes one thing. Unknown words and absurd numbers occur now and then. */
#include <stdio.h>
#include <stdlib.h>

#include "core/registry.h"
#include "fuzz_loads.h"

typedef struct drawer {
    const uint8_t *at, *end;
    FILE *out;
    int is_heat;
} drawer;

/* Returns 0 after the last byte. */
static unsigned draw(drawer *d)
{
    return d->at < d->end ? *d->at++ : 0;
}

static unsigned below(drawer *d, unsigned n)
{
    return draw(d) % n;
}

/* --- words and numbers --- */

static const char *const mesh_names[] = {"m0.vtk", "m1.vtk", "m2.vtk", "m3.vtk",
                                         "m4.vtk", "m5.vtk", "job.inp"};
static const char *const set_names[] = {"s0",   "s1",     "s2",       "s3",          "s4",
                                        "s5",   "origin", "corner-x", "corner-y",    "corner-z",
                                        "foot", "tip",    "top",      "arm-1.Set-1", "nowhere"};

static const char *set_name(drawer *d)
{
    return set_names[below(d, sizeof set_names / sizeof set_names[0])];
}

static void put_number(drawer *d)
{
    static const char *const rare[] = {"0.0",   "1e-300",         "1e300", "-1e300",
                                       "1e-12", "1e12",           "-0.0",  "1e16",
                                       "3",     "0.999999999999", "1e155", "-1e-155"};
    const unsigned k = draw(d);
    if (k < 200)
        fprintf(d->out, "%.4f", (k - 80.0) / 40.0);
    else
        fputs(rare[k % 12], d->out);
}

/* A number that most keys accept. */
static void put_positive(drawer *d)
{
    const unsigned k = draw(d);
    if (k < 240)
        fprintf(d->out, "%.4f", (k + 1.0) / 60.0);
    else
        fputs(k % 2 ? "1e-200" : "1e200", d->out);
}

static void put_vector(drawer *d)
{
    const unsigned k = draw(d);
    if (k < 96) {
        fprintf(d->out, "[%.1f, %.1f, %.1f]", k % 3 == 0 ? 1.0 : 0.0, k % 3 == 1 ? -2.0 : 0.0,
                k % 3 == 2 ? 2.0 : 0.0);
        return;
    }
    fputs("[", d->out);
    for (int c = 0; c < 3; c++) {
        put_number(d);
        fputs(c < 2 ? ", " : "]", d->out);
    }
}

static void put_vector_key(drawer *d, const char *key)
{
    fprintf(d->out, "%s = ", key);
    put_vector(d);
    fputs("; ", d->out);
}

static void put_positive_key(drawer *d, const char *key)
{
    fprintf(d->out, "%s = ", key);
    put_positive(d);
    fputs("; ", d->out);
}

static void put_number_key(drawer *d, const char *key)
{
    fprintf(d->out, "%s = ", key);
    put_number(d);
    fputs("; ", d->out);
}

static void put_set_key(drawer *d)
{
    fprintf(d->out, "set = \"%s\"; ", set_name(d));
}

/* --- lists --- */

static void put_plane(drawer *d)
{
    const unsigned side = below(d, 8), axis = side / 2;
    if (side < 6) { /* a side of the box */
        const double at = side % 2 ? (axis == 2 ? 2.0 : 2.0) : 0.0;
        fprintf(d->out, "plane = { point = [%.1f, %.1f, %.1f]; normal = [%d, %d, %d]; }; ",
                axis == 0 ? at : 0.0, axis == 1 ? at : 0.0, axis == 2 ? at : 0.0, axis == 0,
                axis == 1, axis == 2);
        return;
    }
    fputs("plane = { ", d->out);
    put_vector_key(d, "point");
    put_vector_key(d, "normal");
    if (side == 7) put_positive_key(d, "tolerance");
    fputs("}; ", d->out);
}

static void put_round(drawer *d, const char *shape, const char *first, const char *second)
{
    fprintf(d->out, "%s = { ", shape);
    put_vector_key(d, first);
    if (second) put_vector_key(d, second);
    put_positive_key(d, "radius");
    if (below(d, 2)) put_positive_key(d, "inner");
    if (second && below(d, 2)) put_positive_key(d, "length");
    fputs("}; ", d->out);
}

static void put_set(drawer *d, int i)
{
    static const char *const join[] = {"and", "or", "not"};
    fprintf(d->out, "  { name = \"s%d\"; ", i);
    switch (below(d, 8)) {
    case 0:
    case 1:
    case 2:
        put_plane(d);
        break;
    case 3:
        fputs("box = { min = [-1.0, -1.0, -1.0]; ", d->out);
        put_vector_key(d, "max");
        fputs("}; ", d->out);
        break;
    case 4:
        put_round(d, "cylinder", "point", "axis");
        break;
    case 5:
        put_round(d, "sphere", "center", NULL);
        break;
    default:
        fprintf(d->out, "%s = (\"%s\"", join[below(d, 3)], set_name(d));
        for (unsigned n = below(d, 3); n > 0; n--) fprintf(d->out, ", \"%s\"", set_name(d));
        fputs("); ", d->out);
    }
    fputs("}", d->out);
}

static void put_support(drawer *d, int i)
{
    static const char *const fix[] = {"x", "y", "z", "xyz", "xyz", "xy", "xz", "q"};
    (void)i;
    fputs("  { ", d->out);
    if (!d->is_heat && below(d, 8) == 7) {
        fputs("from = \"file\"; }", d->out);
        return;
    }
    put_set_key(d);
    if (d->is_heat) {
        put_positive_key(d, "temperature");
    } else {
        fprintf(d->out, "fix = \"%s\"; ", fix[below(d, 8)]);
        if (below(d, 4) == 3) put_vector_key(d, "value");
    }
    fputs("}", d->out);
}

static void put_spring(drawer *d, int i)
{
    static const char *const per[] = {"total", "node", "area"};
    (void)i;
    fputs("  { ", d->out);
    put_set_key(d);
    put_vector_key(d, "stiffness");
    if (below(d, 2)) fprintf(d->out, "per = \"%s\"; ", per[below(d, 3)]);
    fputs("}", d->out);
}

static void put_convection(drawer *d, int i)
{
    (void)i;
    fputs("  { ", d->out);
    put_set_key(d);
    put_positive_key(d, "coefficient");
    put_positive_key(d, "ambient");
    fputs("}", d->out);
}

static void put_force(drawer *d)
{
    static const char *const vector[] = {"node_force", "total_force", "traction", "bearing_force",
                                         "gravity"};
    const unsigned kind = below(d, 11);
    if (kind == 10) {
        put_positive_key(d, "temperature_change");
    } else if (kind < 5) {
        put_vector_key(d, vector[kind]);
    } else if (kind == 5) {
        put_positive_key(d, "pressure");
    } else if (kind == 6) {
        fputs("centrifugal = { ", d->out);
        put_vector_key(d, "point");
        put_vector_key(d, "axis");
        put_positive_key(d, "speed");
        fputs("}; ", d->out);
    } else {
        const unsigned parts = below(d, 4);
        if (parts != 1) put_vector_key(d, "remote_force");
        if (parts != 0) put_vector_key(d, "moment");
        if (parts != 1) put_vector_key(d, "point");
        if (below(d, 2)) fputs("coupling = \"rigid\"; ", d->out);
    }
}

static void put_load(drawer *d, int i)
{
    static const char *const heat[] = {"source", "heat", "flux"};
    (void)i;
    fputs("  { ", d->out);
    if (!d->is_heat && below(d, 8) == 7) {
        fprintf(d->out, "from = \"file\"; }");
        return;
    }
    if (below(d, 8) != 7) put_set_key(d);
    if (d->is_heat)
        put_positive_key(d, heat[below(d, 3)]);
    else
        put_force(d);
    const unsigned load_case = below(d, 6);
    if (load_case > 2) fprintf(d->out, "case = %u; ", load_case - 2);
    fputs("}", d->out);
}

static void put_passive(drawer *d, int i)
{
    (void)i;
    fputs("  { ", d->out);
    put_set_key(d);
    if (below(d, 3) == 2) put_positive_key(d, "skin");
    if (below(d, 3) == 2) fprintf(d->out, "density = %.3f; ", (below(d, 250) + 1.0) / 250.0);
    fputs("}", d->out);
}

static void put_symmetry(drawer *d, int i)
{
    (void)i;
    fputs("    { ", d->out);
    fputs("point = [1.0, 1.0, 1.0]; ", d->out);
    put_vector_key(d, "normal");
    fputs("}", d->out);
}

static void put_repetition(drawer *d, int i)
{
    (void)i;
    const int is_cyclic = below(d, 2) == 1;
    fprintf(d->out, "    { kind = \"%s\"; copies = %u; ", is_cyclic ? "cyclic" : "pattern",
            2 + (unsigned)below(d, 5));
    if (is_cyclic || below(d, 3) == 2) fputs("point = [1.0, 1.0, 1.0]; ", d->out);
    put_vector_key(d, is_cyclic ? "axis" : "step");
    fputs("}", d->out);
}

/* Prints NAME = ( entries ). A byte determines the number of entries; without entries, prints
 * nothing. */
static void put_list(drawer *d, const char *name, unsigned most, void (*put)(drawer *d, int i))
{
    const unsigned n = below(d, most + 1);
    if (n == 0) return;
    fprintf(d->out, "%s = (\n", name);
    for (unsigned i = 0; i < n; i++) {
        put(d, (int)i);
        fputs(i + 1 < n ? ",\n" : " );\n", d->out);
    }
}

static void put_limit(drawer *d, int i)
{
    static const char *const method[] = {"lagrangian", "p-norm", "q"};
    fprintf(d->out, "    { kind = \"stress\"; name = \"l%d\"; ", i);
    put_positive_key(d, below(d, 8) == 7 ? "min" : "max");
    if (below(d, 3) == 2) put_set_key(d);
    if (below(d, 3) == 2) fprintf(d->out, "exclude = (\"%s\"); ", set_name(d));
    if (below(d, 3) == 2) put_positive_key(d, "exclude_radius");
    if (below(d, 2)) fprintf(d->out, "method = \"%s\"; ", method[below(d, 3)]);
    if (below(d, 3) == 2) put_positive_key(d, "relaxation");
    if (below(d, 4) == 3) fprintf(d->out, "case = %u; ", below(d, 4));
    fputs("}", d->out);
}

/* --- groups --- */

static void put_mesh(drawer *d)
{
    const unsigned merge = below(d, 6);
    fprintf(d->out, "mesh = { file = \"%s\"; ", mesh_names[below(d, 7)]);
    if (merge > 3) fprintf(d->out, "merge = %s; ", merge == 4 ? "0.0" : "0.3");
    const unsigned flag = below(d, 8);
    if (flag % 4 == 3) fputs("reorder = false; ", d->out);
    if (flag > 5) fprintf(d->out, "mirrored = %s; ", flag == 6 ? "true" : "false");
    if (below(d, 4) == 3) fputs("shuffle = 3; ", d->out);
    fputs("};\nmaterial = { ", d->out);
    if (below(d, 8) == 7) fputs("from = \"file\"; ", d->out);
    if (below(d, 2)) put_positive_key(d, d->is_heat ? "conductivity" : "E");
    if (below(d, 2)) put_positive_key(d, "density");
    if (d->is_heat && below(d, 2)) put_positive_key(d, "conductivity_min");
    if (!d->is_heat && below(d, 2)) put_number_key(d, "expansion");
    if (!d->is_heat && below(d, 4) == 3) put_positive_key(d, "strength");
    if (!d->is_heat && below(d, 2)) fprintf(d->out, "nu = %.3f; ", (below(d, 149) - 99.0) / 100.0);
    fputs("};\n", d->out);
}

static void put_optimization(drawer *d)
{
    unsigned n = 0;
    while (hx_filters[n]) n++;
    fprintf(d->out, "optimization = { volume_fraction = %.3f; ", (below(d, 200) + 1.0) / 200.0);
    if (below(d, 3) == 2) fprintf(d->out, "rho_min = %.6f; ", (below(d, 200) + 1.0) / 1000.0);
    fprintf(d->out, "filter = { kind = \"%s\"; ", hx_filters[below(d, n)]->name);
    put_positive_key(d, "radius");
    if (below(d, 3) == 2) fputs("unit = \"length\"; ", d->out);
    if (below(d, 3) == 2) fputs("volume_weighted = true; ", d->out);
    fputs("};\n", d->out);
    put_list(d, "  constraints", 2, put_limit);
    put_list(d, "  symmetry", 3, put_symmetry);
    put_list(d, "  repetition", 2, put_repetition);
    if (below(d, 4) == 3) put_vector_key(d, "extrusion");
    if (below(d, 4) == 3) fputs("projection = { }; ", d->out);
    if (below(d, 4) == 3) fputs("continuation = { }; ", d->out);
    fputs("};\n", d->out);
}

static void put_solver(drawer *d)
{
    unsigned n_op = 0, n_pc = 0;
    while (hx_operator_names[n_op].name) n_op++;
    while (hx_preconds[n_pc]) n_pc++;
    const char *const op = hx_operator_names[below(d, n_op)].name;
    const unsigned pc = below(d, n_pc + 1);
    fputs("solver = { device = \"cpu\"; ", d->out);
    fprintf(d->out, "operator = \"%s\"; preconditioner = \"%s\"; ", op,
            pc < n_pc ? hx_preconds[pc]->name : "auto");
    if (below(d, 4) == 3) fputs("element = \"quadratic\"; ", d->out);
    if (below(d, 4) == 3) fputs("precision = \"mixed\"; ", d->out);
    fputs("};\n", d->out);
}

char *fuzz_draw_config(const uint8_t *data, size_t size)
{
    char *text = NULL;
    size_t n = 0;
    drawer d = {data, data + size, open_memstream(&text, &n), 0};
    if (!d.out) abort();
    fputs("# drawn\n", d.out);
    d.is_heat = below(&d, 4) == 3;
    if (d.is_heat) fputs("physics = \"heat\";\n", d.out);
    put_mesh(&d);
    put_list(&d, "sets", 6, put_set);
    put_list(&d, "supports", 4, put_support);
    put_list(&d, "loads", 5, put_load);
    if (d.is_heat) put_list(&d, "convection", 3, put_convection);
    if (!d.is_heat) put_list(&d, "springs", 3, put_spring);
    put_list(&d, "passive", 3, put_passive);
    put_optimization(&d);
    put_solver(&d);
    const unsigned n_weight = below(&d, 8);
    if (n_weight > 4) fprintf(d.out, "weights = [%s];\n", n_weight > 5 ? "1.0, 2.0" : "1.0");
    fclose(d.out);
    return text;
}
