/* Checks of a config beyond single keys: keys that exclude or require each other. */
#include "config_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../text/json.h"
#include "config_schema.h"
#include "core/base/fit.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "core/design/groups.h"
#include "core/registry.h"

enum { PATH_SIZE = 256 };

int hx_config_fault(const char *origin, const char *key, const char *fmt, ...)
{
    char message[HX_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    hx_fit_args(message, sizeof message, fmt, args);
    va_end(args);
    return HX_RAISE(HX_EINPUT, "%s: %s%s%s", origin, key, key[0] ? ": " : "", message);
}

int hx_config_check_mesh(const hx_config *cfg)
{
    const hx_value *mesh = hx_value_find(cfg->tree, "mesh");
    const char *origin = mesh ? mesh->origin : cfg->path;
    if (cfg->mesh.generator && cfg->mesh.file)
        return hx_config_fault(
            hx_value_find(cfg->tree, "mesh.file")->origin, "mesh.file",
            "mesh has both a generator and a file; keep one of them (an argument "
            "mesh.generator= removes that key)");
    if (!cfg->mesh.generator && !cfg->mesh.file)
        return hx_config_fault(origin, "mesh",
                               "give a generator or a file; for example mesh = { generator = "
                               "\"cantilever\"; size = 1; };");
    for (size_t i = 0; i < hx_n_key; i++) {
        const hx_value *value = hx_value_find(cfg->tree, hx_keys[i].path);
        if (hx_keys[i].generator_only && value && cfg->mesh.file)
            return hx_config_fault(value->origin, hx_keys[i].path,
                                   "applies to a generator, and mesh has a file");
        if (hx_keys[i].file_only && value && cfg->mesh.generator)
            return hx_config_fault(value->origin, hx_keys[i].path,
                                   "applies to a file, and mesh has a generator");
    }
    return HX_OK;
}

/* HX_EINPUT: a written key belongs to the other physics. */
static int check_physics(const hx_config *cfg, const hx_value *group, const char *prefix)
{
    for (size_t i = 0; i < group->n; i++) {
        const hx_value *value = group->child[i];
        const hx_key *key = hx_key_find(prefix, value->name);
        char entry[PATH_SIZE];
        if (key && key->only && key->only != 1 + (int)hx_config_physics(cfg))
            return hx_config_fault(value->origin, key->path,
                                   "applies to physics = \"%s\", and this config has \"%s\"",
                                   hx_physics_name((hx_physics)(key->only - 1)),
                                   hx_physics_name(hx_config_physics(cfg)));
        if (key && key->type == HX_KEY_GROUP) HX_TRY(check_physics(cfg, value, key->path));
        if (!key || key->type != HX_KEY_LIST) continue;
        snprintf(entry, sizeof entry, "%s[]", key->path);
        for (size_t k = 0; k < value->n; k++) HX_TRY(check_physics(cfg, value->child[k], entry));
    }
    return HX_OK;
}

/* HX_EINPUT: a field of the other physics. */
static int check_fields(const hx_config *cfg)
{
    static const char key[] = "output.fields";
    static const struct {
        hx_config_field field;
        hx_physics of;
    } own[] = {{HX_FIELD_DISPLACEMENT, HX_PHYSICS_ELASTICITY},
               {HX_FIELD_VON_MISES, HX_PHYSICS_ELASTICITY},
               {HX_FIELD_TEMPERATURE, HX_PHYSICS_HEAT},
               {HX_FIELD_HEAT_FLUX, HX_PHYSICS_HEAT}};
    const hx_value *const value = hx_value_find(cfg->tree, key);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i].of != hx_config_physics(cfg) && hx_config_has_field(cfg, own[i].field))
            return hx_config_fault(value ? value->origin : cfg->path, key,
                                   "'%s' applies to physics = \"%s\", and this config has \"%s\"",
                                   hx_config_word(key, (int)own[i].field),
                                   hx_physics_name(own[i].of),
                                   hx_physics_name(hx_config_physics(cfg)));
    return HX_OK;
}

const char *hx_config_origin(const hx_config *cfg, const char *key)
{
    const hx_value *value = hx_value_find(cfg->tree, key);
    return value ? value->origin : cfg->path;
}

static int check_heat_support(const hx_config_support *support)
{
    if (support->set && !isnan(support->temperature)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s.%s: required key is missing; for example %s", support->origin,
                    support->set ? "temperature" : "set",
                    support->set ? "temperature = 20.0" : "set = \"...\"");
}

static int check_support(const hx_config_support *support)
{
    if (support->from) {
        if (support->set || support->fix)
            return hx_config_fault(support->origin, "", "from = \"file\" takes no %s",
                                   support->set ? "set" : "fix");
        for (int i = 0; i < 3; i++)
            if (fabs(support->value[i]) > 0.0)
                return hx_config_fault(support->origin, "", "from = \"file\" takes no value");
        return HX_OK;
    }
    if (!support->set || !support->fix)
        return HX_RAISE(HX_EINPUT, "%s.%s: required key is missing; for example %s",
                        support->origin, support->set ? "fix" : "set",
                        support->set ? "fix = \"xyz\"" : "set = \"...\"");
    for (const char *c = support->fix; *c; c++)
        if (!strchr("xyz", *c) || strchr(c + 1, *c))
            return HX_RAISE(
                HX_EINPUT,
                "%s.fix: '%s' is not valid; expected letters of \"xyz\", each at most once",
                support->origin, support->fix);
    for (int i = 0; i < 3; i++)
        if (fabs(support->value[i]) > 0.0 && !strchr(support->fix, "xyz"[i]))
            return HX_RAISE(HX_EINPUT,
                            "%s.value: component %c is prescribed but not held; add '%c' to fix",
                            support->origin, "xyz"[i], "xyz"[i]);
    return HX_OK;
}

static int check_one_of(const char *origin, int n, const char *names)
{
    if (n == 1) return HX_OK;
    return hx_config_fault(origin, "", "%s of %s; give exactly one", n ? "more than one" : "none",
                           names);
}

static int check_heat_load(const hx_config_load *load)
{
    HX_TRY(check_one_of(load->origin,
                        !isnan(load->source) + !isnan(load->heat) + !isnan(load->flux) +
                            !isnan(load->node_heat),
                        "source, heat, flux, node_heat"));
    if (load->set || !isnan(load->source)) return HX_OK;
    return hx_config_fault(load->origin, "set",
                           "required key is missing; for example set = \"...\"");
}

static int check_load(const hx_config_load *load)
{
    const int on_part = !isnan(load->gravity[0]) + load->centrifugal.given + (load->from != NULL);
    const int warms = !isnan(load->temperature_change);
    const int coupled = load->coupling != HX_COUPLING_NOT_GIVEN;
    const int force = !isnan(load->remote_force[0]), remote = force || !isnan(load->moment[0]);
    HX_TRY(check_one_of(load->origin,
                        !isnan(load->node_force[0]) + !isnan(load->total_force[0]) +
                            !isnan(load->traction[0]) + !isnan(load->pressure) +
                            !isnan(load->bearing_force[0]) + remote + on_part + warms,
                        "node_force, total_force, traction, pressure, bearing_force, remote_force "
                        "(or moment), gravity, centrifugal, temperature_change, from"));
    if (!load->set && !on_part && !warms)
        return hx_config_fault(load->origin, "set",
                               "required key is missing; for example set = \"...\"");
    if (load->set && on_part)
        return hx_config_fault(load->origin, "set", "%s; leave the set out",
                               load->from ? "from = \"file\" takes no set"
                                          : "gravity and centrifugal act on the whole part");
    if (force && isnan(load->point[0]))
        return hx_config_fault(
            load->origin, "",
            "remote_force needs the point where it acts; for example point = [0.0, 0.0, 100.0]");
    if (!remote && (!isnan(load->point[0]) || coupled))
        return hx_config_fault(load->origin, "", "%s applies to remote_force or moment",
                               coupled ? "coupling" : "point");
    return HX_OK;
}

static int check_entries(const hx_config *cfg)
{
    const hx_config_support *support = cfg->supports.entry;
    const int is_heat = hx_config_is_heat(cfg);
    for (size_t i = 0; i < cfg->supports.n; i++)
        HX_TRY(is_heat ? check_heat_support(&support[i]) : check_support(&support[i]));
    hx_config_load *load = cfg->loads.entry;
    for (size_t i = 0; i < cfg->loads.n; i++) {
        HX_TRY(is_heat ? check_heat_load(&load[i]) : check_load(&load[i]));
        /* A load without `case` belongs to case 1. Forces of the file without `case` belong to
         * all cases; earlier versions wrote this as 0. */
        if (!(load[i].load_case > 0 || load[i].from)) {
            if (hx_value_member(hx_value_find(cfg->tree, "loads")->child[i], "case"))
                return hx_config_fault(load[i].origin, "case",
                                       "0 is out of range; allowed is [1, 1000]");
            load[i].load_case = 1;
        }
    }
    const hx_config_material *const material = cfg->materials.entry;
    for (size_t i = 0; i < cfg->materials.n; i++)
        if (isnan(material[i].young) && isnan(material[i].density) &&
            isnan(material[i].conductivity) && isnan(material[i].expansion))
            return hx_config_fault(material[i].origin, "", "none of %s; give at least one",
                                   is_heat ? "conductivity, density" : "E, density, expansion");
    const hx_config_set *set = cfg->sets.entry;
    for (size_t i = 0; i < cfg->sets.n; i++)
        HX_TRY(check_one_of(set[i].origin,
                            set[i].plane.given + set[i].box.given + set[i].cylinder.given +
                                set[i].sphere.given + (set[i].all_of.n > 0) +
                                (set[i].any_of.n > 0) + (set[i].none_of.n > 0),
                            "plane, box, cylinder, sphere, and, or, not"));
    return HX_OK;
}

enum { MOST_PLANES = 3 };

static int check_symmetry(const hx_config *cfg)
{
    const hx_value *const value = hx_value_find(cfg->tree, "optimization.symmetry");
    const size_t n = cfg->optimization.symmetry.n;
    if (value && (n == 0 || n > MOST_PLANES))
        return hx_config_fault(value->origin, "optimization.symmetry",
                               "%zu %s; 1 to %d can be given", n, hx_noun(n, "plane", "planes"),
                               MOST_PLANES);
    return HX_OK;
}

/* HX_EINPUT: a mirrored mesh has images at planes perpendicular to each other only. */
static int check_mirrored(const hx_config *cfg)
{
    const hx_config_plane *const plane = cfg->optimization.symmetry.entry;
    if (!cfg->mesh.mirrored) return HX_OK;
    for (size_t i = 0; i < cfg->optimization.symmetry.n; i++)
        for (size_t k = 0; k < i; k++) {
            const double *const a = plane[i].normal, *const b = plane[k].normal;
            const double cosine = hx_dot3(a, b) / (hx_norm3(a) * hx_norm3(b));
            if (!(fabs(cosine) > 1e-9)) continue;
            return hx_config_fault(
                hx_config_origin(cfg, "mesh.mirrored"), "mesh.mirrored",
                "needs planes perpendicular to each other, and those of "
                "optimization.symmetry[%zu] and [%zu] meet at %.4g degrees; state "
                "perpendicular ones, or leave out mesh.mirrored",
                k, i, acos(fmin(1.0, fabs(cosine))) * 180.0 / acos(-1.0));
        }
    return HX_OK;
}

static int check_repetition_entry(const hx_config_repetition *r)
{
    const int is_cyclic = r->kind == HX_REPETITION_CYCLIC;
    const char *const word = is_cyclic ? "cyclic" : "pattern";
    if (is_cyclic ? !isnan(r->step[0]) : !isnan(r->axis[0]))
        return hx_config_fault(r->origin, is_cyclic ? "step" : "axis",
                               "kind = \"%s\" takes no %s; it takes %s", word,
                               is_cyclic ? "step" : "axis",
                               is_cyclic ? "point, axis and copies" : "step, copies and point");
    if (is_cyclic ? isnan(r->axis[0]) : isnan(r->step[0]))
        return hx_config_fault(r->origin, is_cyclic ? "axis" : "step",
                               "kind = \"%s\" needs it; for example %s", word,
                               is_cyclic ? "axis = [0.0, 0.0, 1.0]" : "step = [10.0, 0.0, 0.0]");
    if (is_cyclic && isnan(r->point[0]))
        return hx_config_fault(r->origin, "point",
                               "kind = \"cyclic\" needs a point of the axis; for example "
                               "point = [0.0, 0.0, 0.0]");
    return HX_OK;
}

static int check_repetition(const hx_config *cfg)
{
    const hx_value *const value = hx_value_find(cfg->tree, "optimization.repetition");
    const hx_config_repetition *const entry = cfg->optimization.repetition.entry;
    const size_t n = cfg->optimization.repetition.n;
    if (value && (n == 0 || n > HX_CONFIG_MOST_REPETITIONS))
        return hx_config_fault(value->origin, "optimization.repetition",
                               "%zu %s; 1 to %d can be given, one cyclic and three patterns", n,
                               hx_noun(n, "repetition", "repetitions"), HX_CONFIG_MOST_REPETITIONS);
    for (size_t i = 0; i < n; i++) HX_TRY(check_repetition_entry(&entry[i]));
    return HX_OK;
}

/* The tolerance is a fraction of the load, or of the compliance, so it must be below 1. */
static int check_tolerance(const hx_config *cfg)
{
    static const char key[] = "solver.tolerance";
    const hx_pcg_criterion criterion = cfg->solver.criterion;
    char text[40];
    if (criterion == HX_PCG_ABSOLUTE || cfg->solver.tolerance < 1.0) return HX_OK;
    hx_format_double(cfg->solver.tolerance, text, sizeof text);
    return hx_config_fault(hx_config_origin(cfg, key), key,
                           "%s is out of range; with criterion \"%s\" it is a fraction of the %s: "
                           "below 1, %s is usual",
                           text, hx_config_word("solver.criterion", criterion),
                           criterion == HX_PCG_RELATIVE ? "load" : "compliance",
                           criterion == HX_PCG_RELATIVE ? "1e-5" : "1e-6");
}

int hx_config_check(const hx_config *cfg)
{
    HX_TRY(check_tolerance(cfg));
    HX_TRY(check_physics(cfg, cfg->tree, ""));
    HX_TRY(check_fields(cfg));
    HX_TRY(check_entries(cfg));
    HX_TRY(check_symmetry(cfg));
    HX_TRY(check_mirrored(cfg));
    HX_TRY(check_repetition(cfg));
    static const char beta_max[] = "optimization.projection.beta_max",
                      start[] = "optimization.continuation.penalty_start",
                      erosion[] = "optimization.projection.erosion",
                      dilation[] = "optimization.projection.dilation",
                      projection[] = "optimization.projection";
    const char *const filter = cfg->optimization.filter.kind;
    if (cfg->optimization.continuation.given &&
        cfg->optimization.continuation.penalty_start > cfg->optimization.penalty)
        return hx_config_fault(hx_config_origin(cfg, start), start,
                               "%g is above optimization.penalty = %g, the value that it rises to",
                               cfg->optimization.continuation.penalty_start,
                               cfg->optimization.penalty);
    if (!cfg->optimization.projection.given) return HX_OK;
    if (cfg->optimization.projection.beta > cfg->optimization.projection.beta_max)
        return hx_config_fault(
            hx_config_origin(cfg, beta_max), beta_max, "%g is below beta = %g, from which it rises",
            cfg->optimization.projection.beta_max, cfg->optimization.projection.beta);
    if (cfg->optimization.projection.eta + cfg->optimization.projection.erosion >= 1.0)
        return hx_config_fault(
            hx_config_origin(cfg, erosion), erosion,
            "eta + erosion = %g is the threshold of the eroded design; it must be "
            "below 1",
            cfg->optimization.projection.eta + cfg->optimization.projection.erosion);
    if (cfg->optimization.projection.eta - cfg->optimization.projection.dilation <= 0.0)
        return hx_config_fault(
            hx_config_origin(cfg, dilation), dilation,
            "eta - dilation = %g is the threshold of the dilated design; it must "
            "be above 0",
            cfg->optimization.projection.eta - cfg->optimization.projection.dilation);
    if (hx_filter_find(filter)->is_heuristic)
        return hx_config_fault(
            hx_config_origin(cfg, projection), projection,
            "filter '%s' does not change the densities; a projection needs filtered ones: filter = "
            "{ kind = \"density\"; ... } or \"helmholtz\"",
            filter);
    return HX_OK;
}
