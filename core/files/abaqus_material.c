/* Materials of an Abaqus input file: the isotropic material of the first element, and others with
 * the sets of their elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "abaqus_reader.h"

enum { MOST_MATERIALS = 1000, MOST_SECTIONS = 100000 };

/* --- what is read --- */

int hx_abaqus_begin_material(hx_abaqus_reader *r)
{
    const char *const name = hx_abaqus_parameter(&r->scan, "NAME");
    if (r->n_material == MOST_MATERIALS)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d materials", MOST_MATERIALS);
    HX_TRY(hx_resize(&r->material, r->n_material, r->n_material + 1, sizeof *r->material,
                     "materials"));
    hx_abaqus_material *const to = &r->material[r->n_material++];
    to->line = r->scan.keyword_line;
    return hx_strdup(&to->name, name ? name : "");
}

static int property_line(hx_abaqus_reader *r, char *line)
{
    char *field;
    hx_abaqus_property *const to = r->property;
    if (to->n++ > 0 || to->type[0]) return HX_OK;
    for (int i = 0; i < 2 && hx_abaqus_field(&line, &field); i++)
        if (*field) HX_TRY(hx_abaqus_real(&r->scan, field, "a property", &to->value[i]));
    return HX_OK;
}

/* A TYPE other than isotropic, and dependence on fields, are kept for the message. */
int hx_abaqus_begin_property(hx_abaqus_reader *r)
{
    const char *const type = hx_abaqus_parameter(&r->scan, "TYPE"), *const word = r->scan.keyword;
    if (r->n_material == 0) return HX_OK;
    hx_abaqus_material *const of = &r->material[r->n_material - 1];
    r->property = strcmp(word, "ELASTIC") == 0   ? &of->elastic
                  : strcmp(word, "DENSITY") == 0 ? &of->density
                                                 : &of->conductivity;
    memset(r->property, 0, sizeof *r->property);
    r->property->line = r->scan.keyword_line;
    if (type && r->property != &of->density && strncasecmp(type, "ISO", 3) != 0)
        snprintf(r->property->type, sizeof r->property->type, "TYPE=%.40s", type);
    if (hx_abaqus_parameter(&r->scan, "DEPENDENCIES"))
        snprintf(r->property->type, sizeof r->property->type, "DEPENDENCIES");
    r->data = property_line;
    return HX_OK;
}

int hx_abaqus_begin_section(hx_abaqus_reader *r)
{
    char word[256];
    hx_abaqus_reference set;
    const char *const name = hx_abaqus_parameter(&r->scan, "ELSET");
    const char *const material = hx_abaqus_parameter(&r->scan, "MATERIAL");
    const int is_composite = hx_abaqus_parameter(&r->scan, "COMPOSITE") != NULL;
    HX_TRY(hx_abaqus_keep_carrier(r));
    if (!name || (!material && !is_composite)) return HX_OK; /* then the elements lack a material */
    if (r->n_section == MOST_SECTIONS)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d sections", MOST_SECTIONS);
    snprintf(word, sizeof word, "%s", name);
    HX_TRY(hx_abaqus_refer(r, HX_KIND_ELEMS, word, &set));
    if (!set.set) return HX_OK;
    HX_TRY(
        hx_grow(&r->section, r->n_section, &r->section_capacity, sizeof *r->section, "sections"));
    hx_abaqus_section *const to = &r->section[r->n_section++];
    memset(to, 0, sizeof *to);
    to->set = set.set;
    to->line = r->scan.keyword_line;
    to->is_composite = is_composite;
    return hx_strdup(&to->material, is_composite ? "COMPOSITE" : material);
}

/* --- the materials of the elements --- */

static const hx_abaqus_material *find_material(const hx_abaqus_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_material; i++)
        if (strcasecmp(r->material[i].name, name) == 0) return &r->material[i];
    return NULL;
}

static int take_property(const hx_abaqus_reader *r, const hx_abaqus_section *s, const char *keyword,
                         const hx_abaqus_property *p, hx_file_material *to, double *value,
                         double *second)
{
    if (p->n == 0) return HX_OK;
    if (p->type[0] || p->n > 1) { /* not a single constant */
        return hx_set_fault(
            &to->fault, "%.200s:%lld: *%s of material '%.60s', of the set '%.60s': %s%s",
            r->import.path, (long long)p->line, keyword, s->material, s->set->name, p->type,
            p->type[0] ? " is not read, only isotropic constants are"
                       : "it depends on temperature or on other fields; only constants are read");
    }
    *value = p->value[0];
    if (second) *second = p->value[1];
    return HX_OK;
}

/* Takes the values of a section's material. */
static int take_section(const hx_abaqus_reader *r, const hx_abaqus_section *s, hx_file_material *to)
{
    const hx_abaqus_material *const m = find_material(r, s->material);
    to->young = to->poisson = to->density = to->conductivity = (double)NAN;
    if (s->is_composite)
        return hx_set_fault(
            &to->fault,
            "%.200s:%lld: *SOLID SECTION of the set '%.60s': COMPOSITE (layers of materials) "
            "is not read",
            r->import.path, (long long)s->line, s->set->name);
    if (!m)
        return hx_set_fault(&to->fault, "%.200s:%lld: there is no *MATERIAL named '%.60s'",
                            r->import.path, (long long)s->line, s->material);
    HX_TRY(take_property(r, s, "ELASTIC", &m->elastic, to, &to->young, &to->poisson));
    HX_TRY(take_property(r, s, "DENSITY", &m->density, to, &to->density, NULL));
    return take_property(r, s, "CONDUCTIVITY", &m->conductivity, to, &to->conductivity, NULL);
}

/* name := that of a set with exactly the elements of section i, which is made if the section's own
 * set has others, too: those of later sections. */
static int name_section_set(const hx_abaqus_reader *r, hx_mesh *mesh, const int32_t *of, int32_t i,
                            char *name, size_t n_name)
{
    const hx_set *const own = hx_mesh_find_set(mesh, r->section[i].set->name);
    int32_t *elem;
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) n += of[e] == i;
    snprintf(name, n_name, "%s", r->section[i].set->name);
    if (own && own->n_elem == n) return HX_OK;
    for (int k = 1; hx_mesh_find_set(mesh, name); k++)
        snprintf(name, n_name, k > 1 ? "material-%.200s-%d" : "material-%.200s",
                 r->section[i].material, k);
    HX_TRY(hx_alloc_raw(&elem, (size_t)n, sizeof *elem, "materials"));
    n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (of[e] == i) elem[n++] = (int32_t)e;
    const int rc = hx_mesh_add_elem_set(mesh, name, n, elem);
    free(elem);
    return rc;
}

/* Adds the material of section i if it differs from the first one. */
static int add_section(const hx_abaqus_reader *r, hx_mesh *mesh, const int32_t *of, int32_t i,
                       hx_file_material *to)
{
    char name[256];
    hx_file_material found = {0};
    int rc = take_section(r, &r->section[i], &found);
    const hx_material_values first = {to->young, to->poisson, to->density, to->conductivity},
                             other = {found.young, found.poisson, found.density,
                                      found.conductivity};
    to->fault = found.fault;
    if (rc < 0 || to->fault || hx_material_values_equal(&first, &other)) return rc;
    HX_TRY(name_section_set(r, mesh, of, i, name, sizeof name));
    return hx_file_material_add(to, r->section[i].material, name, &other);
}

/* Takes the material of the first element, and those of sections that differ from it. */
static int take_sections(const hx_abaqus_reader *r, hx_mesh *mesh, const int32_t *of,
                         uint8_t *is_met, hx_file_material *to)
{
    int32_t first = -1;
    for (int64_t e = 0; e < mesh->n_elem && !to->fault; e++) {
        if (of[e] < 0)
            return hx_set_fault(&to->fault, "%.200s: element %lld has no *SOLID SECTION",
                                r->import.path, (long long)hx_numbers_get(&mesh->elem_number, e));
        if (is_met[of[e]]) continue;
        is_met[of[e]] = 1;
        if (first < 0)
            HX_TRY(take_section(r, &r->section[first = of[e]], to));
        else
            HX_TRY(add_section(r, mesh, of, of[e], to));
    }
    return first < 0 ? HX_OK
                     : hx_strdup(&to->name,
                                 r->section[first].is_composite ? "" : r->section[first].material);
}

/* Returns 1 if a section uses the material, or if there are no sections. */
static int is_used(const hx_abaqus_reader *r, const hx_abaqus_material *m)
{
    for (size_t i = 0; i < r->n_section; i++)
        if (find_material(r, r->section[i].material) == m) return 1;
    return r->n_section == 0;
}

int hx_abaqus_name_materials(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_material; i++) {
        const hx_unread *const beyond = &r->material[i].beyond;
        if (!is_used(r, &r->material[i])) continue;
        for (size_t k = 0; k < beyond->n; k++) {
            const hx_unread_kind *const kind = &beyond->kind[k];
            HX_TRY(hx_unread_add(&r->import.unread, kind->roles, kind->word, kind->what, kind->n,
                                 kind->path, kind->line));
        }
    }
    return HX_OK;
}

int hx_abaqus_find_material(hx_abaqus_reader *r, hx_mesh *mesh, hx_file_material *to)
{
    int32_t *of = NULL;
    uint8_t *is_met;
    if (r->n_material == 0) return HX_OK;
    if (r->n_section == 0) {
        HX_TRY(hx_strdup(&to->name, r->material[0].name));
        return hx_set_fault(&to->fault, "no *SOLID SECTION assigns a material to elements");
    }
    /* section of each element, -1: none; the last section counts */
    HX_TRY(hx_alloc_raw(&of, (size_t)mesh->n_elem, sizeof *of, "materials"));
    for (int64_t e = 0; e < mesh->n_elem; e++) of[e] = -1;
    for (size_t i = 0; i < r->n_section; i++) {
        const hx_set *const set = hx_mesh_find_set(mesh, r->section[i].set->name);
        for (int64_t k = 0; set && k < set->n_elem; k++) of[set->elem[k]] = (int32_t)i;
    }
    int rc = hx_alloc(&is_met, r->n_section, 1, "materials");
    if (rc == HX_OK) rc = take_sections(r, mesh, of, is_met, to);
    free(is_met);
    free(of);
    if (rc == HX_OK && !to->name) return hx_strdup(&to->name, "");
    return rc;
}

void hx_abaqus_free_materials(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_material; i++) {
        free(r->material[i].name);
        hx_unread_free(&r->material[i].beyond);
    }
    for (size_t i = 0; i < r->n_section; i++) free(r->section[i].material);
    free(r->material);
    free(r->section);
}
