#include "mg_params.h"

#include "multigrid.h"

const hx_mg_params hx_mg_defaults = {
    .coarsening =
        {
            .elements = 4.0,
            .elements_narrow = 2.5,
            .narrow_most = 500000,
            .elements_other = 2.0,
            .proportion_aspect = 3.0,
            .sheet_ratio = 1.5,
            .sheet_elements = 2.25,
            .slender_along = 10.0,
            .slender_across = 3.0,
            .slender_elements = 2.0,
            .places = 64,
            .sample = 100000,
            .last_nodes = 64,
            .n_thin = 2,
            .thin =
                {
                    {.cells_from = 3, .cells_to = 5, .longest = 2.0},
                    /* Further nodes of a small grid cost little. */
                    {.cells_from = 6, .cells_to = 8, .longest = 2.0, .nodes_most = 4000},
                },
        },
    .lines = {.aspect = 6.0, .element_aspect = 3.0, .longest = 64},
    .smoothing =
        {
            .mesh_few = {2, 6.0},
            .mesh_many = {4, 16.0},
            .mesh_most = {6, 30.0},
            .few_below = 5.0,
            .many_below = 10.0,
            .first = {2, 8.0},
            .others = {4, 16.0},
            .few = {3, 10.0},
            .few_nodes = 1100,
            .visits = 2,
            .weight = 1.5,
        },
    .spectrum =
        {
            .safety = 1.3,
            .kept = 0.97,
            .steps_begin = 20,
            .steps_mesh = 2,
            .steps_uneven = 8,
            .steps_first = 6,
            .steps_others = 16,
            .steps_refresh = 40,
            .steps_unscaled = 8,
        },
    .direct =
        {
            .operations = 15000.0,
            .factor_nodes = 20000,
            .inverse_nodes = 600,
            .added = 3e-6,
            .added_factor = 4.0,
            .added_most = 1e-2,
        },
    .update = {.stored_bytes = 1e9, .stored_room = 0.1, .means_iterations = 20, .means_cells = 32},
    .rigid = {.cycles = 4, .added = 1e-6},
    .deflation =
        {
            .stiff = {1e-2, 1e-3, 1e-4},
            .softness = 30.0,
            .components = 100,
            .spare_nodes = 100000, /* 30 MB */
            .held_nodes = 1000,
            .diagonal = 0.25,
            .held_pivot = 1e-8,
            .energy_pivot = 1e-13,
            .column_pivot = 1e-10,
            .coupled_pivot = 1e-15,
            .pause = 8,
        },
    .monitoring =
        {
            .earliest = 16,
            .every = 4,
            .far = 60,
            .deflate_after = 30,
            .patience = 40,
            .decades = 1.0,
        },
};

/* A smoother with its name. */
typedef struct named_smoothing {
    const char *name;
    const hx_mg_chebyshev *smoother;
    int least; /* smallest degree */
} named_smoothing;

static int check_smoothing(const named_smoothing *s, const char **member)
{
    *member = s->name;
    if (s->smoother->degree < s->least || s->smoother->degree > HX_MG_MAX_DEGREE)
        return HX_RAISE(HX_EINPUT, "the degree %d is out of range; allowed is [%d, %d]",
                        s->smoother->degree, s->least, HX_MG_MAX_DEGREE);
    if (!(s->smoother->ratio > 1.0))
        return HX_RAISE(HX_EINPUT, "the ratio %g must be above 1", s->smoother->ratio);
    return HX_OK;
}

/* On the mesh a second step follows the first. */
static int check_smoothers(const hx_mg_smoothing_params *s, const char **member)
{
    const named_smoothing all[] = {
        {"smoothing.mesh_few", &s->mesh_few, 2},   {"smoothing.mesh_many", &s->mesh_many, 2},
        {"smoothing.mesh_most", &s->mesh_most, 2}, {"smoothing.first", &s->first, 1},
        {"smoothing.others", &s->others, 1},       {"smoothing.few", &s->few, 1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        HX_TRY(check_smoothing(&all[i], member));
    if (s->few_below <= s->many_below) return HX_OK;
    *member = "smoothing.many_below";
    return HX_RAISE(HX_EINPUT, "%g is below few_below = %g; the limits must ascend", s->many_below,
                    s->few_below);
}

static int check_thin(const hx_mg_coarsening_params *c, const char **member)
{
    *member = "coarsening.thin";
    if (c->n_thin < 0 || c->n_thin > HX_MG_THIN_RULES)
        return HX_RAISE(HX_EINPUT, "%d rules; at most %d are allowed", c->n_thin, HX_MG_THIN_RULES);
    for (int k = 0; k < c->n_thin; k++)
        if (c->thin[k].cells_from < 2 || c->thin[k].cells_from > c->thin[k].cells_to)
            return HX_RAISE(HX_EINPUT,
                            "[%d]: cells_from = %d must be at least 2 and at most cells_to = %d", k,
                            c->thin[k].cells_from, c->thin[k].cells_to);
    return HX_OK;
}

int hx_mg_params_check(const hx_mg_params *params, const char **member)
{
    const double *const stiff = params->deflation.stiff;
    HX_TRY(check_smoothers(&params->smoothing, member));
    HX_TRY(check_thin(&params->coarsening, member));
    *member = "deflation.stiff";
    if (!(stiff[0] >= stiff[1] && stiff[1] >= stiff[2]))
        return HX_RAISE(HX_EINPUT, "[%g, %g, %g] must descend", stiff[0], stiff[1], stiff[2]);
    return HX_OK;
}
