#include "footprint.h"

#include <string.h>

#include "../text/log.h"
#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"

/* 1 if the solver can only run on the host, as far as is known without calling drivers. */
static int stays_on_host(const hx_config *cfg)
{
    const char *name = cfg->solver.device;
    if (!hx_config_is_auto(name)) return strcmp(name, "cpu") == 0;
    return hx_devices[0] && !hx_devices[1];
}

/* 1 if the solver will run on the host. */
static int runs_on_host(const hx_config *cfg)
{
    const char *name = cfg->solver.device;
    char why[256];
    for (size_t i = 0; hx_config_is_auto(name) && hx_devices[i]; i++)
        if (hx_devices[i]->available(why, sizeof why)) name = hx_devices[i]->name;
    return strcmp(name, "cpu") == 0;
}

/* n_file: number of steps in the mesh's file. */
static int count_cases(const hx_config *cfg, int n_file)
{
    const hx_config_load *load = cfg->loads.entry;
    int n_case = 1;
    for (size_t i = 0; i < cfg->loads.n; i++) {
        if (load[i].load_case == 0 && n_file > n_case) n_case = n_file;
        if (load[i].load_case > n_case && load[i].load_case <= 1000) n_case = load[i].load_case;
    }
    return n_case;
}

static size_t components_of(const hx_config *cfg)
{
    return hx_config_is_heat(cfg) ? 1 : 3;
}

/* Lower bounds of what a large mesh has per element. */
typedef struct shape {
    /* points; places in cells; mid-side nodes; entries of the pattern */
    double point, place, edge, entry;
} shape;

/* Linear elements, on a mesh with as many nodes as elements; entry: for hexahedra, to which the
 * stored bytes of operators refer. */
static const shape linear_shape = {1.0, 8.0, 0.0, 27.0};

/* Quadratic cells, indexed by hx_cell_kind, counted on infinite boxes. */
static const shape quadratic_shape[HX_N_CELL_RULE] = {
    [HX_CELL_HEXAHEDRON] = {3.96, 20.0, 2.98, 233.0},
    [HX_CELL_WEDGE] = {2.48, 15.0, 1.99, 110.0},
    [HX_CELL_PYRAMID] = {2.16, 13.0, 1.83, 81.0},
    [HX_CELL_TETRAHEDRON] = {1.32, 10.0, 1.16, 38.0},
};

enum { SPLINE_DEGREE = 2 }; /* degree if the config does not state it, that of most parts */

/* Pairs of functions of one direction that share a span, each counted twice, and each function with
 * itself once. */
static double count_pairs(const hx_knots *axis)
{
    double n = 0.0;
    for (int i = 0, s = 0; i < axis->n; i++) {
        while (s + 1 < axis->n_span && axis->span[s + 1] <= i + axis->degree) s++;
        /* the last function that reaches into the same span */
        n += 1.0 + 2.0 * (axis->span[s] - i);
    }
    return n;
}

/* A glued spline. Entries of its pattern on a face that patches share are counted once, and those
 * on an edge of at least three patches slightly too few times. */
static shape spline_shape(const hx_spline *spline)
{
    const double n_cell = (double)spline->n_cell;
    shape sum = {(double)spline->n_point / n_cell, 0.0, 0.0, 0.0};
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_spline_patch *const patch = &spline->patch[k];
        double place = (double)hx_spline_patch_cells(patch) / n_cell, entry = 1.0 / n_cell;
        for (int d = 0; d < 3; d++) {
            place *= patch->axis[d].degree + 1;
            entry *= count_pairs(&patch->axis[d]);
        }
        sum.place += place;
        sum.entry += entry;
    }
    for (int k = 0; k < spline->n_interface; k++) {
        const hx_spline_side a = spline->interface[k].a;
        double entry = 1.0 / n_cell;
        for (int d = 0; d < 3; d++)
            if (d != a.side / 2) entry *= count_pairs(&spline->patch[a.patch].axis[d]);
        sum.entry -= entry;
    }
    return sum;
}

/* mesh: raw; NULL: one of hexahedra, as generators make it. spline: the spline whose image it is;
 * NULL: none. */
static shape shape_of(const hx_config *cfg, const hx_mesh *mesh, const hx_spline *spline)
{
    int64_t n_kind[HX_N_CELL_RULE] = {0}, n = 0;
    shape sum = {0.0, 0.0, 0.0, 0.0};
    if (cfg->solver.element == HX_ELEMENT_LINEAR) return linear_shape;
    if (cfg->solver.element == HX_ELEMENT_SPLINE && spline && spline->n_patch > 0)
        return spline_shape(spline);
    if (cfg->solver.element == HX_ELEMENT_SPLINE) {
        const double p = cfg->mesh.degree > 0 ? cfg->mesh.degree : SPLINE_DEGREE;
        return (shape){1.0, (p + 1.0) * (p + 1.0) * (p + 1.0), 0.0,
                       (2.0 * p + 1.0) * (2.0 * p + 1.0) * (2.0 * p + 1.0)};
    }
    if (!mesh) return quadratic_shape[HX_CELL_HEXAHEDRON];
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const hx_cell_kind kind = hx_cell_kind_of(mesh->conn + 8 * e);
        if ((int)kind < HX_N_CELL_RULE) n_kind[kind]++, n++;
    }
    for (int k = 0; k < HX_N_CELL_RULE && n > 0; k++) {
        const double fraction = (double)n_kind[k] / (double)n;
        sum.point += fraction * quadratic_shape[k].point;
        sum.place += fraction * quadratic_shape[k].place;
        sum.edge += fraction * quadratic_shape[k].edge;
        sum.entry += fraction * quadratic_shape[k].entry;
    }
    return sum;
}

static void add_footprint(hx_account *account, const char *name, double bytes)
{
    hx_account_add(account, name, (size_t)bytes);
}

/* Bytes of coordinates and lists of a quadratic space, on the host or on a device. */
static double space_bytes(const shape *s)
{
    return 32.0 * s->point + 8.0 * s->place;
}

/* Adds bytes per element of the problem. */
static void add_problem(const hx_config *cfg, const shape *s, int n_case, hx_account *account)
{
    const double vector = (double)components_of(cfg) * s->point * sizeof(double);
    if (cfg->solver.element != HX_ELEMENT_LINEAR)
        add_footprint(account, "points", space_bytes(s) + 8.0 * s->edge);
    add_footprint(account, "supports", s->point);
    hx_account_add(account, "volumes", sizeof(double));
    add_footprint(account, "loads", n_case * vector);
    hx_account_add(account, "first densities", sizeof(double));
    if (cfg->passive.n > 0) hx_account_add(account, "passive", sizeof(double));
    if (cfg->materials.n > 0) hx_account_add(account, "materials", 1);
}

enum { LIST_BYTES_PER_ELEM = 40 }; /* of hx_device_mesh_need_lists */

/* Adds bytes per element of the solver: the vectors r, p, q, and u of each load case; loads are
 * mostly 0. */
static void add_solver(const hx_config *cfg, const shape *s, int n_case, hx_account *account)
{
    const hx_filter_kind *kind = hx_filter_find(cfg->optimization.filter.kind);
    const int is_quadratic = cfg->solver.element != HX_ELEMENT_LINEAR;
    const char *const name =
        /* lower bound */
        is_quadratic && hx_config_is_auto(cfg->solver.op) ? "bsrsym" : cfg->solver.op;
    int substituted = 0;
    const hx_operator_kind *op_kind = hx_operator_kind_of(
        hx_operator_kind_resolve("cpu", name, &substituted), (int)components_of(cfg));
    if (!op_kind) return;
    hx_account_add(account, "mesh",
                   hx_mesh_bytes_per_elem() - (is_quadratic || hx_operator_kind_needs_lists(op_kind)
                                                   ? 0
                                                   : LIST_BYTES_PER_ELEM));
    hx_account_add(account, "modulus", sizeof(double));
    if (is_quadratic) add_footprint(account, "points on the device", space_bytes(s));
    add_footprint(account, "operator", op_kind->bytes_per_elem * s->entry / linear_shape.entry);
    add_footprint(account, "vectors",
                  (3 + n_case) * (double)components_of(cfg) * s->point * sizeof(double));
    hx_account_add(account, "densities",
                   (cfg->passive.n > 0 ? 4 : 3) * sizeof(double)); /* lower bound */
    if (kind) hx_account_add(account, "filter", (size_t)kind->bytes_per_elem);
    /* Adds bytes per element for splines, whose multigrid smooths by blocks of control points:
     * the blocks and their vectors. */
    const char *const precond = cfg->solver.preconditioner;
    const double c = (double)components_of(cfg), points = s->place > 27.5 ? 27.0 : 8.0;
    if (cfg->solver.element != HX_ELEMENT_SPLINE) return;
    if (!hx_config_is_auto(precond) && strcmp(precond, "multigrid") != 0) return;
    add_footprint(account, "preconditioner", (44.0 * c + 4.0 * points * c * c) * s->point);
}

double hx_footprint_planned(const hx_config *cfg)
{
    hx_account account = {0};
    const int n_case = count_cases(cfg, 0);
    const shape s = shape_of(cfg, NULL, NULL);
    add_problem(cfg, &s, n_case, &account);
    if (stays_on_host(cfg)) add_solver(cfg, &s, n_case, &account);
    return (double)hx_account_sum(&account);
}

/* Bytes besides the mesh; whether the solver runs on the host is determined only if it matters,
 * since starting a driver can take long. */
static double bytes_beside_mesh(const hx_session *s, double have)
{
    hx_account account = {0};
    const int n_case = count_cases(&s->cfg, s->conditions.n_case);
    const shape each = shape_of(&s->cfg, &s->mesh, &s->spline);
    add_problem(&s->cfg, &each, n_case, &account);
    const double least = (double)hx_account_sum(&account);
    add_solver(&s->cfg, &each, n_case, &account);
    const double most = (double)hx_account_sum(&account);
    if (stays_on_host(&s->cfg)) return most;
    if (most * (double)s->mesh.n_elem <= have) return least;
    return runs_on_host(&s->cfg) ? most : least;
}

int hx_footprint_check(const hx_session *s)
{
    const double have = (double)hx_host_memory_available();
    const double other = bytes_beside_mesh(s, have);
    const double want = other * (double)s->mesh.n_elem;
    char want_text[32], have_text[32], count[32];
    if (have <= 0.0 || want <= have) return HX_OK;
    return HX_RAISE(HX_ENOMEM,
                    "%s: besides the mesh of %s %s the run needs at least %s of host memory (%.0f "
                    "bytes per element), but %s is available: use a smaller mesh",
                    s->mesh.name, hx_format_count(s->mesh.n_elem, count, sizeof count),
                    hx_noun(s->mesh.n_elem, "element", "elements"),
                    hx_format_bytes(want, want_text, sizeof want_text), other,
                    hx_format_bytes(have, have_text, sizeof have_text));
}

void hx_footprint_print(const hx_session *s, const hx_account *account, int detail)
{
    const hx_log_level least = detail ? HX_LOG_VERBOSE : HX_LOG_NORMAL;
    hx_table table;
    char text[32];
    const size_t sum = hx_account_sum(account);
    if (!hx_log_is_on(least)) return;
    hx_table_begin(&table, "lrr");
    table.level = least;
    hx_table_add(&table, "on the device");
    hx_table_add(&table, "bytes/element");
    hx_table_add(&table, "%s", "");
    for (int i = 0; i <= account->n; i++) {
        const hx_memory_item item =
            i < account->n ? account->item[i] : (hx_memory_item){"total", sum};
        hx_table_add(&table, "%s", item.name);
        hx_table_add(&table, "%.1f", (double)item.bytes / (double)hx_mesh_n_elem_all(&s->mesh));
        hx_table_add(&table, "%s", hx_format_bytes((double)item.bytes, text, sizeof text));
    }
    hx_table_end(&table, 4);
}

void hx_footprint_write(const hx_session *s, hx_json *json)
{
    const double n_elem = (double)hx_mesh_n_elem_all(&s->mesh);
    hx_json_number(json, "device_bytes_per_element", (double)s->device_bytes / n_elem);
    hx_json_open_object(json, "device_items");
    for (int i = 0; i < s->device_account.n; i++) {
        const hx_memory_item *const item = &s->device_account.item[i];
        hx_json_open_object(json, item->name);
        hx_json_integer(json, "bytes", (int64_t)item->bytes);
        hx_json_number(json, "bytes_per_element", (double)item->bytes / n_elem);
        hx_json_close_object(json);
    }
    hx_json_close_object(json);
}
