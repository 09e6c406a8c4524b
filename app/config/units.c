#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/names.h"

typedef enum { FORCE, LENGTH, STRESS, TIME, POWER, TEMPERATURE, N_KIND } unit_kind;

typedef struct unit {
    const char *name;
    unit_kind kind;
    double si;
} unit;

#define POUND 4.4482216152605 /* newtons of a pound-force, exactly */
#define INCH 0.0254

static const unit known[] = {
    {"N", FORCE, 1.0},
    {"mN", FORCE, 1e-3},
    {"uN", FORCE, 1e-6},
    {"kN", FORCE, 1e3},
    {"MN", FORCE, 1e6},
    {"kgf", FORCE, 9.80665},
    {"lbf", FORCE, POUND},
    {"kip", FORCE, 1e3 * POUND},
    {"m", LENGTH, 1.0},
    {"cm", LENGTH, 1e-2},
    {"mm", LENGTH, 1e-3},
    {"um", LENGTH, 1e-6},
    {"in", LENGTH, INCH},
    {"ft", LENGTH, 12.0 * INCH},
    {"Pa", STRESS, 1.0},
    {"kPa", STRESS, 1e3},
    {"MPa", STRESS, 1e6},
    {"GPa", STRESS, 1e9},
    {"TPa", STRESS, 1e12},
    {"psi", STRESS, POUND / (INCH * INCH)},
    {"ksi", STRESS, 1e3 * POUND / (INCH * INCH)},
    {"psf", STRESS, POUND / (144.0 * INCH * INCH)},
    {"s", TIME, 1.0},
    {"ms", TIME, 1e-3},
    {"W", POWER, 1.0},
    {"mW", POWER, 1e-3},
    {"uW", POWER, 1e-6},
    {"kW", POWER, 1e3},
    {"MW", POWER, 1e6},
    {"K", TEMPERATURE, 1.0},
    {"degC", TEMPERATURE, 1.0},
    {"mK", TEMPERATURE, 1e-3},
};
enum { N_KNOWN = sizeof known / sizeof known[0], WORD = 32 };

static const char *const kind_name[N_KIND] = {"force", "length", "stress",
                                              "time",  "power",  "temperature"};
enum {
    MECHANICAL = 1 << FORCE | 1 << LENGTH | 1 << STRESS | 1 << TIME,
    THERMAL = 1 << POWER | 1 << LENGTH | 1 << TEMPERATURE
};

static int is_near_factor(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static const unit *find_unit(const char *name)
{
    for (int i = 0; i < N_KNOWN; i++)
        if (strcmp(known[i].name, name) == 0) return &known[i];
    return NULL;
}

/* "N/mm^2"; if that stress has a name of its own, "MPa". Returns 1 if it has one. */
static int name_stress(const unit *force, const unit *length, char *text, size_t n_text)
{
    const double si = force->si / (length->si * length->si);
    for (int i = 0; i < N_KNOWN; i++)
        if (known[i].kind == STRESS && is_near_factor(known[i].si, si)) {
            snprintf(text, n_text, "%s", known[i].name);
            return 1;
        }
    snprintf(text, n_text, "%s/%s^2", force->name, length->name);
    return 0;
}

/* Reads a word of the list as a unit of one of the kinds (bits); *made receives a composed one such
 * as "N/cm^2". */
static int read_word(const char *word, int kinds, unit *made, const unit **found)
{
    char force[WORD], length[WORD], hint[512];
    const char *name[N_KNOWN];
    size_t n = 0;
    *found = find_unit(word);
    if (*found && (kinds >> (*found)->kind & 1)) return HX_OK;
    if (*found)
        return HX_RAISE(HX_EINPUT, "'%s' is a unit of %s, which physics = \"%s\" does not use",
                        word, kind_name[(*found)->kind], kinds == THERMAL ? "heat" : "elasticity");
    int end = 0;
    if (kinds == MECHANICAL &&
        sscanf(word, "%31[A-Za-z]/%31[A-Za-z]^2%n", force, length, &end) == 2 && end > 0 &&
        word[end] == '\0') {
        const unit *f = find_unit(force), *l = find_unit(length);
        if (f && l && f->kind == FORCE && l->kind == LENGTH) {
            *made = (unit){word, STRESS, f->si / (l->si * l->si)};
            *found = made;
            return HX_OK;
        }
    }
    for (int i = 0; i < N_KNOWN; i++)
        if (kinds >> known[i].kind & 1) name[n++] = known[i].name;
    return HX_RAISE(HX_EINPUT, "unknown unit '%s'%s%s", word,
                    hx_name_hint(word, name, n, hint, sizeof hint),
                    kinds == MECHANICAL ? ", or a stress such as N/cm^2" : "");
}

/* The next word of a list separated by commas or spaces; 0 at the end. */
static int next_word(const char **text, char word[WORD])
{
    *text += strspn(*text, ", \t");
    const size_t n = strcspn(*text, ", \t");
    snprintf(word, WORD, "%.*s", n < WORD ? (int)n : WORD - 1, *text);
    *text += n;
    return n > 0;
}

static int check_stress(const char *text, const unit *const unit_of[N_KIND])
{
    const unit *force = unit_of[FORCE], *length = unit_of[LENGTH], *stress = unit_of[STRESS];
    char right[2 * WORD], is[4 * WORD] = "", pairs[128] = "";
    if (is_near_factor(stress->si, force->si / (length->si * length->si))) return HX_OK;
    if (name_stress(force, length, right, sizeof right))
        snprintf(is, sizeof is, "1 %s / %s^2 is 1 %s, so ", force->name, length->name, right);
    for (int f = 0; f < N_KNOWN; f++) /* units that fit the lengths or forces already given */
        for (int l = 0; l < N_KNOWN; l++) {
            const size_t used = strlen(pairs);
            if (known[f].kind != FORCE || known[l].kind != LENGTH) continue;
            if (&known[f] != force && &known[l] != length) continue;
            if (is_near_factor(stress->si, known[f].si / (known[l].si * known[l].si)))
                snprintf(pairs + used, sizeof pairs - used, "%s%s and %s", used ? ", or " : "",
                         known[f].name, known[l].name);
        }
    return HX_RAISE(HX_EINPUT,
                    "\"%s\" is not consistent: %swith %s and %s stresses (E, pressure) are in "
                    "%s%s%s%s%s",
                    text, is, force->name, length->name, right, pairs[0] ? "; " : "",
                    pairs[0] ? stress->name : "", pairs[0] ? " goes with " : "", pairs);
}

/* Names the unit of mass: "t", "kg", ..., or "lbf s^2/in", and that of density. */
static void name_mass(hx_units *units, const unit *const unit_of[N_KIND])
{
    static const struct {
        const char *name;
        double kg;
    } named[] = {{"g", 1e-3}, {"kg", 1.0}, {"t", 1e3}, {"kt", 1e6}, {"mg", 1e-6}, {"ug", 1e-9}};
    const char *force = unit_of[FORCE]->name, *length = unit_of[LENGTH]->name;
    const char *time = unit_of[TIME]->name;
    const double second = unit_of[TIME]->si;
    const double metre = unit_of[LENGTH]->si;
    const double kg = unit_of[FORCE]->si * second * second / metre;
    units->mass_si = kg;
    units->density_si = kg / (metre * metre * metre);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (!is_near_factor(named[i].kg, kg)) continue;
        snprintf(units->mass, sizeof units->mass, " %s", named[i].name);
        snprintf(units->density, sizeof units->density, " %s/%s^3", named[i].name, length);
        return;
    }
    snprintf(units->mass, sizeof units->mass, " %s %s^2/%s", force, time, length);
    snprintf(units->density, sizeof units->density, " %s %s^2/%s^4", force, time, length);
}

/* Chooses the step of the unit that is easiest to read: for t, kt and units that are not a step
 * themselves, the first step below the mass; for other units, a step only if the number would have
 * more than three zeros. -1: the unit itself. */
static int find_step(const hx_units *units, double mass, const double *step_kg, int n)
{
    const double kg = fabs(mass) * units->mass_si;
    int own = -1, k = 0;
    for (int i = 0; i < n; i++)
        if (is_near_factor(step_kg[i], units->mass_si)) own = i;
    const int stays = own >= 0 && step_kg[own] < 1e3;
    if (stays && !(fabs(mass) < 1e-3)) return -1;
    if (own > 0) k = own;
    while (k + 1 < n && kg < step_kg[k]) k++;
    return k;
}

double hx_units_mass_scale(const hx_units *units, double mass, const char **name)
{
    enum { N_STEP = 8 };
    static const char *const step[N_STEP] = {" kt", " t", " kg", " g", " mg", " ug", " ng", " pg"};
    static const double kg[N_STEP] = {1e6, 1e3, 1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15};
    *name = units->mass;
    if (!(units->mass_si > 0.0) || !isfinite(mass) || mass == 0.0) return 1.0;
    const int k = find_step(units, mass, kg, N_STEP);
    if (k < 0) return 1.0;
    *name = step[k];
    return units->mass_si / kg[k];
}

const char *hx_units_mass_like(const hx_units *units, double mass, double like, char *text,
                               size_t n_text)
{
    const char *name;
    const double scale = hx_units_mass_scale(units, like, &name);
    snprintf(text, n_text, "%.6g%s", scale * mass, name);
    return text;
}

const char *hx_units_mass_text(const hx_units *units, double mass, char *text, size_t n_text)
{
    return hx_units_mass_like(units, mass, mass, text, n_text);
}

static void name_units(hx_units *units, const unit *const unit_of[N_KIND])
{
    const char *force = unit_of[FORCE]->name, *length = unit_of[LENGTH]->name;
    const char *stress = unit_of[STRESS]->name, *time = unit_of[TIME]->name;
    const size_t size = HX_UNIT_SIZE;
    snprintf(units->system, sizeof units->system, "%s, %s, %s%s%s", force, length, stress,
             unit_of[TIME]->si == 1.0 ? "" : ", ", unit_of[TIME]->si == 1.0 ? "" : time);
    snprintf(units->force, size, " %s", force);
    snprintf(units->length, size, " %s", length);
    snprintf(units->stress, size, " %s", stress);
    snprintf(units->time, size, " %s", time);
    snprintf(units->area, size, " %s^2", length);
    snprintf(units->volume, size, " %s^3", length);
    snprintf(units->work, size, " %s %s", force, length);
    snprintf(units->acceleration, size, " %s/%s^2", length, time);
    snprintf(units->stiffness, size, " %s/%s", force, length);
    snprintf(units->rate, size, " rad/%s", time);
    units->second = unit_of[TIME]->si;
    units->metre = unit_of[LENGTH]->si;
    units->pascal = unit_of[STRESS]->si;
    name_mass(units, unit_of);
}

/* Reads the units in a text, one of each kind. made and stress provide memory for composed
 * units. */
static int read_units(const char *text, int kinds, const unit *unit_of[N_KIND], unit *made,
                      char stress[WORD])
{
    const char *rest = text;
    const unit *found;
    char word[WORD];
    while (next_word(&rest, word)) {
        HX_TRY(read_word(word, kinds, made, &found));
        if (unit_of[found->kind])
            return HX_RAISE(HX_EINPUT, "\"%s\" has two units of %s, %s and %s", text,
                            kind_name[found->kind], unit_of[found->kind]->name, found->name);
        if (found == made) { /* the unit's name is stored in word */
            snprintf(stress, WORD, "%s", word);
            made->name = stress;
        }
        unit_of[found->kind] = found;
    }
    return HX_OK;
}

int hx_units_parse(hx_units *units, const char *text)
{
    const unit *unit_of[N_KIND] = {NULL};
    char stress[WORD];
    unit made;
    memset(units, 0, sizeof *units);
    if (!text) return HX_OK;
    HX_TRY(read_units(text, MECHANICAL, unit_of, &made, stress));
    for (int kind = FORCE; kind <= STRESS; kind++)
        if (!unit_of[kind])
            return HX_RAISE(HX_EINPUT,
                            "\"%s\" has no unit of %s; give a force, a length and a stress, and a "
                            "time if it is not s: \"N, mm, MPa\"",
                            text, kind_name[kind]);
    if (!unit_of[TIME]) unit_of[TIME] = find_unit("s");
    HX_TRY(check_stress(text, unit_of));
    name_units(units, unit_of);
    return HX_OK;
}

int hx_units_parse_heat(hx_units *units, const char *text)
{
    const unit *unit_of[N_KIND] = {NULL};
    const int needed[] = {POWER, LENGTH, TEMPERATURE};
    char unused[WORD];
    unit made;
    memset(units, 0, sizeof *units);
    if (!text) return HX_OK;
    HX_TRY(read_units(text, THERMAL, unit_of, &made, unused));
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!unit_of[needed[i]])
            return HX_RAISE(HX_EINPUT,
                            "\"%s\" has no unit of %s; give a power, a length and a temperature: "
                            "\"W, mm, K\"",
                            text, kind_name[needed[i]]);
    const char *p = unit_of[POWER]->name, *l = unit_of[LENGTH]->name;
    const char *t = unit_of[TEMPERATURE]->name;
    units->metre = unit_of[LENGTH]->si;
    units->watt = unit_of[POWER]->si;
    const size_t size = HX_UNIT_SIZE;
    snprintf(units->system, sizeof units->system, "%s, %s, %s", p, l, t);
    snprintf(units->length, size, " %s", l);
    snprintf(units->area, size, " %s^2", l);
    snprintf(units->volume, size, " %s^3", l);
    snprintf(units->work, size, " %s %s", p, t);
    snprintf(units->power, size, " %s", p);
    snprintf(units->temperature, size, " %s", t);
    snprintf(units->conductivity, size, " %s/(%s %s)", p, l, t);
    snprintf(units->film, size, " %s/(%s^2 %s)", p, l, t);
    snprintf(units->source, size, " %s/%s^3", p, l);
    snprintf(units->flux, size, " %s/%s^2", p, l);
    /* Nothing relates the density to the other units, so its own unit is part of that of masses. */
    snprintf(units->mass, size, " [density] %s^3", l);
    return HX_OK;
}

void hx_units_write(const hx_units *units, hx_json *json, const char *key)
{
    if (!units->system[0]) return;
    const struct {
        const char *key, *name;
    } entry[] = {{"force", units->force},
                 {"length", units->length},
                 {"stress", units->stress},
                 {"time", units->time},
                 {"volume", units->volume},
                 {"moment", units->work},
                 {"compliance", units->work},
                 {"mass", units->mass},
                 {"density", units->density},
                 {"acceleration", units->acceleration},
                 {"rotation", units->rate},
                 {"stiffness", units->stiffness},
                 {"power", units->power},
                 {"temperature", units->temperature},
                 {"conductivity", units->conductivity}};
    hx_json_open_object(json, key);
    for (size_t i = 0; i < sizeof entry / sizeof entry[0]; i++)
        if (entry[i].name[0]) hx_json_string(json, entry[i].key, entry[i].name + 1);
    hx_json_close_object(json);
}
