/* Materials of Nastran's solids: MAT1 and MAT4 by PSOLID. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nastran_reader.h"

/* Finds or adds the material of a card, whose first field is its number. */
static int open_material(hx_nastran_reader *r, hx_numbered_material **m)
{
    int64_t number;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    if (number < 1) return HX_NASTRAN_RAISE(&r->scan, "the number of a material is expected");
    HX_TRY(hx_materials_at(&r->materials, number, m));
    if ((*m)->line == 0) (*m)->line = r->scan.line;
    return HX_OK;
}

/* MID, E, G, NU, RHO: one of E, G and NU follows from the two others. */
int hx_nastran_take_mat1(hx_nastran_reader *r)
{
    hx_numbered_material *m;
    double shear;
    HX_TRY(open_material(r, &m));
    HX_TRY(hx_nastran_real(&r->scan, 1, NAN, &m->young));
    HX_TRY(hx_nastran_real(&r->scan, 2, NAN, &shear));
    HX_TRY(hx_nastran_real(&r->scan, 3, NAN, &m->poisson));
    HX_TRY(hx_nastran_real(&r->scan, 4, NAN, &m->density));
    if (isnan(m->young)) m->young = 2.0 * shear * (1.0 + m->poisson);
    if (isnan(m->poisson)) m->poisson = m->young / (2.0 * shear) - 1.0;
    if (!isnan(shear) && fabs(m->young / (2.0 * (1.0 + m->poisson)) - shear) > 1e-3 * shear)
        m->fault = "has a G that does not follow from E and NU";
    return HX_OK;
}

/* MID, K, CP, RHO */
int hx_nastran_take_mat4(hx_nastran_reader *r)
{
    hx_numbered_material *m;
    HX_TRY(open_material(r, &m));
    return hx_nastran_real(&r->scan, 1, NAN, &m->conductivity);
}

int hx_nastran_is_other_material(const char *name)
{
    static const char *const other[] = {"MAT2", "MAT5", "MAT8", "MAT10", "MATT2", "MATT5", "MATT8"};
    if (strncmp(name, "MAT", 3) != 0) return 0;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (strcmp(name, other[i]) == 0) return 0;
    return 1;
}

/* MAT9, MATT1, MATS1, MATHP and similar cards: not constants of an isotropic material. */
int hx_nastran_take_mat(hx_nastran_reader *r)
{
    static const char *const row[][2] = {
        {"MATT", "depends on temperature"}, {"MATH", "is hyperelastic"},
        {"MAT3", "is not isotropic"},       {"MAT9", "is not isotropic"},
        {"MAT1", "is not isotropic"},       {"MATO", "is not isotropic"}};
    hx_numbered_material *m;
    HX_TRY(open_material(r, &m));
    m->fault = "is not linear";
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        if (strncmp(r->scan.name, row[i][0], 4) == 0) m->fault = row[i][1];
    return HX_OK;
}

static int take_property(hx_nastran_reader *r, int64_t formulation)
{
    int64_t property, material;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &property));
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &material));
    HX_TRY(hx_numbers_append(&r->psolid, 1, &property));
    HX_TRY(hx_numbers_append(&r->psolid_formulation, 1, &formulation));
    return hx_numbers_append(&r->psolid_material, 1, &material);
}

static int is_one_of(const char *text, const char *const word[4])
{
    for (int i = 0; i < 4 && word[i]; i++)
        if (strcasecmp(text, word[i]) == 0) return 1;
    return 0;
}

/* PID, MID, CORDM, IN, STRESS, ISOP */
int hx_nastran_take_psolid(hx_nastran_reader *r)
{
    static const char *const network[4] = {"2", "3", "TWO", "THREE"};
    static const char *const full[4] = {"1", "FULL", NULL};
    hx_nastran_formulation how = HX_NASTRAN_BUBBLES;
    if (is_one_of(hx_nastran_text(&r->scan, 3), network))
        how = is_one_of(hx_nastran_text(&r->scan, 5), full) ? HX_NASTRAN_FULL : HX_NASTRAN_SHEAR;
    return take_property(r, how);
}

/* PID, MID: recorded as unread. */
int hx_nastran_take_plsolid(hx_nastran_reader *r)
{
    HX_TRY(take_property(r, HX_NASTRAN_FULL));
    return hx_nastran_lose(r, r->scan.name);
}

/* Properties of bricks and wedges of first order that have a PSOLID; without one, as in files from
 * gmsh, no formulation is stated. */
int hx_nastran_note_formulations(hx_nastran_reader *r)
{
    static const char *const text[] = {"bubble functions, PSOLID's default",
                                       "reduced integration of shear"};
    const int is_job = r->conditions.n > 0 || r->import.unread.n > 0;
    int has[3] = {0};
    hx_number_index index = {0};
    HX_TRY(hx_number_index_create(&index, &r->psolid));
    for (int64_t i = 0; i < r->brick_property.n; i++) {
        const int64_t at = hx_number_index_find(&index, hx_numbers_get(&r->brick_property, i));
        if (at >= 0) has[hx_numbers_get(&r->psolid_formulation, at)] = 1;
    }
    hx_number_index_free(&index);
    for (int how = 0; how < HX_NASTRAN_FULL; how++)
        if (has[how])
            HX_TRY(hx_notes_add(r->notes, is_job ? HX_NOTE_WARNING : HX_NOTE_INFO,
                                "%s: CHEXA and CPENTA of first order (%s in Nastran) are analysed "
                                "with full integration: Nastran gives other displacements, with a "
                                "larger difference on coarse meshes",
                                r->import.path, text[how]));
    return HX_OK;
}

/* The material of a property of solids; below 0: the property has no PSOLID and is not defined. */
static int64_t material_of(const hx_nastran_reader *r, const hx_number_index *psolid,
                           int64_t property)
{
    const int64_t at = hx_number_index_find(psolid, property);
    return at < 0 ? -property : hx_numbers_get(&r->psolid_material, at);
}

int hx_nastran_use_materials(hx_nastran_reader *r)
{
    hx_number_index index = {0};
    HX_TRY(hx_number_index_create(&index, &r->psolid));
    int rc = HX_OK;
    for (int64_t i = 0; i < r->solid_property.n && rc == HX_OK; i++) {
        hx_numbered_material *m;
        const int64_t property = hx_numbers_get(&r->solid_property, i);
        rc = hx_materials_at(&r->materials, material_of(r, &index, property), &m);
        if (rc == HX_OK) m->is_used = 1;
    }
    hx_number_index_free(&index);
    return rc;
}

int hx_nastran_find_material(hx_nastran_reader *r, hx_file_material *to)
{
    hx_number_index index = {0};
    HX_TRY(hx_materials_finish(&r->materials, r->import.path, to));
    int rc = hx_number_index_create(&index, &r->psolid);
    for (int64_t i = 0; i < r->solid_property.n && rc == HX_OK; i++) {
        const int64_t property = hx_numbers_get(&r->solid_property, i);
        char set[48];
        hx_nastran_property_name(property, set, sizeof set);
        rc = hx_materials_give_set(&r->materials, material_of(r, &index, property), set, to);
    }
    hx_number_index_free(&index);
    return rc;
}
