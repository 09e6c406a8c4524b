/* MP and MPDATA of ANSYS archives: constants of isotropic materials, and the sets of their
 * elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ansys_reader.h"

static int is_label(const char *word, const char *label)
{
    return strncasecmp(word, label, 4) == 0 && strlen(word) >= strlen(label);
}

/* Sets *to; if it is already set, checks that this value of another direction or name is equal. */
static void set(hx_numbered_material *m, double *to, double value)
{
    if (!isnan(*to) && fabs(*to - value) > 1e-9 * fabs(value)) m->fault = "is not isotropic";
    if (isnan(*to)) *to = value;
}

static int is_read(const char *label)
{
    static const char *const names[] = {"EX",   "EY",   "EZ",   "NUXY", "NUYZ", "NUXZ",
                                        "PRXY", "PRYZ", "PRXZ", "GXY",  "GYZ",  "GXZ",
                                        "DENS", "KXX",  "KYY",  "KZZ"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_label(label, names[i])) return 1;
    return 0;
}

/* Reads label, material and value in fields k, k + 1 and `at`. Further fields would make the value
 * depend on temperature. */
static int take_property(hx_ansys_reader *r, int k, int at)
{
    char label[HX_ANSYS_WORD], word[HX_ANSYS_WORD];
    double number, value, more;
    hx_numbered_material *m;
    hx_ansys_word(r, k, label);
    if (r->solved && is_read(label)) {
        hx_ansys_note_late(r, HX_UNREAD_MATERIAL);
        return HX_OK;
    }
    if (!is_read(label) || !hx_ansys_number(r, k + 1, &number) || number < 1.0 || number > 1e15)
        return HX_OK;
    HX_TRY(hx_materials_at(&r->materials, (int64_t)number, &m));
    if (m->line == 0) m->line = r->line;
    if (!hx_ansys_number(r, at, &value) || hx_ansys_is_nested(r)) {
        m->fault = "has values that only ANSYS computes";
        return HX_OK;
    }
    for (int i = at + 1; i < at + 5; i++)
        if (*hx_ansys_word(r, i, word) && (!hx_ansys_number(r, i, &more) || more != 0.0))
            m->fault = "depends on temperature";
    /* a later statement of the same label replaces an earlier one */
    static const char *const other_nu[] = {"PRXY", "NUYZ", "NUXZ", "PRYZ", "PRXZ"};
    if (is_label(label, "EX")) m->young = value;
    if (is_label(label, "NUXY")) m->poisson = value;
    if (is_label(label, "DENS")) m->density = value;
    if (is_label(label, "KXX")) m->conductivity = value;
    if (is_label(label, "EY") || is_label(label, "EZ")) set(m, &m->young, value);
    if (is_label(label, "KYY") || is_label(label, "KZZ")) set(m, &m->conductivity, value);
    for (int i = 0; i < 5; i++)
        if (is_label(label, other_nu[i])) set(m, &m->poisson, value);
    if (is_label(label, "GXY") || is_label(label, "GYZ") || is_label(label, "GXZ")) {
        const double shear = m->young / (2.0 * (1.0 + m->poisson));
        if (!(fabs(shear - value) <= 1e-3 * fabs(value))) m->fault = "is not isotropic";
    }
    return HX_OK;
}

/* MP,EX,material,value,... */
int hx_ansys_mp(hx_ansys_reader *r)
{
    hx_ansys_look_for_expansion(r);
    return take_property(r, 1, 3);
}

/* MPDATA,R5.0,1,EX,material,1,value,... or MPDATA,EX,material,1,value,... */
int hx_ansys_mpdata(hx_ansys_reader *r)
{
    const int k = hx_ansys_is_unblocked(r) ? 3 : 1;
    double first;
    hx_numbered_material *m;
    hx_ansys_look_for_expansion(r);
    HX_TRY(take_property(r, k, k + 3));
    if (!hx_ansys_number(r, k + 2, &first) || first < 2.0 || r->materials.n == 0) return HX_OK;
    HX_TRY(hx_materials_at(&r->materials, r->materials.list[r->materials.last].number, &m));
    m->fault = "depends on temperature";
    return HX_OK;
}

/* MPDELE,label,material: removes properties of one material, which a later MP may state. */
int hx_ansys_mpdele(hx_ansys_reader *r)
{
    char label[HX_ANSYS_WORD], last[HX_ANSYS_WORD];
    double number;
    hx_numbered_material *m;
    hx_ansys_word(r, 1, label);
    hx_ansys_word(r, 3, last);
    const int is_all = strcasecmp(label, "ALL") == 0;
    const int is_one = hx_ansys_number(r, 2, &number) && number >= 1.0 && number < 1e15 && !*last;
    if (!is_all && !is_read(label)) return HX_OK;
    if (!is_one || hx_ansys_is_nested(r) || r->materials.n == 0)
        return hx_ansys_unread(r, HX_UNREAD_MATERIAL, "MPDELE", "removed materials", r->line);
    HX_TRY(hx_materials_at(&r->materials, (int64_t)number, &m));
    if (is_all) m->fault = NULL;
    if (is_all || is_label(label, "EX")) m->young = NAN;
    if (is_all || is_label(label, "NUXY") || is_label(label, "PRXY")) m->poisson = NAN;
    if (is_all || is_label(label, "DENS")) m->density = NAN;
    if (is_all || is_label(label, "KXX")) m->conductivity = NAN;
    return HX_OK;
}

/* TB,ANEL,material and similar commands: properties that are not constants. */
int hx_ansys_tb(hx_ansys_reader *r)
{
    static const char *const harmless[] = {"FCLI", "CTE", "DFLT", "FLUI"};
    char label[HX_ANSYS_WORD], word[HX_ANSYS_WORD + 8];
    hx_ansys_look_for_expansion(r);
    hx_ansys_word(r, 1, label);
    for (int i = 0; i < 4; i++)
        if (strncasecmp(label, harmless[i], 4) == 0) return HX_OK;
    snprintf(word, sizeof word, "TB,%.40s", label);
    return hx_ansys_unread(r, HX_UNREAD_MATERIAL, word, "material tables", r->line);
}

static void material_set(int64_t number, char *name, size_t n_name)
{
    snprintf(name, n_name, "material-%lld", (long long)number); /* no component has a hyphen */
}

int hx_ansys_name_materials(hx_ansys_reader *r)
{
    hx_file_material first = {0};
    int rc = hx_materials_finish(&r->materials, r->import.path, &first);
    for (size_t i = 0; i < r->materials.n && rc == HX_OK; i++) {
        const hx_numbered_material *const m = &r->materials.list[i];
        hx_import_set *set;
        char name[48];
        if (!m->is_used || !first.name || first.fault || !hx_materials_differ(m, &first)) continue;
        material_set(m->number, name, sizeof name);
        rc = hx_import_set_named(&r->import, name, &set);
        for (int64_t k = 0; k < m->elem.n && rc == HX_OK; k++) {
            const int64_t number = hx_numbers_get(&m->elem, k);
            rc = hx_numbers_append(&set->elem, 1, &number);
        }
    }
    free(first.name);
    free(first.fault);
    return rc;
}

int hx_ansys_find_material(hx_ansys_reader *r, hx_file_material *to)
{
    HX_TRY(hx_materials_finish(&r->materials, r->import.path, to));
    for (size_t i = 0; i < r->materials.n; i++) {
        char name[48];
        material_set(r->materials.list[i].number, name, sizeof name);
        if (r->materials.list[i].is_used)
            HX_TRY(hx_materials_give_set(&r->materials, r->materials.list[i].number, name, to));
    }
    return HX_OK;
}
