/* Materials of Nastran's solids: MAT1 and MAT4 by PSOLID. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nastran_reader.h"

/* The material of the card, whose number is its first field. */
static int open_material(hx_nastran_reader *r, hx_numbered_material **m)
{
    int64_t number;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    if (number < 1) return HX_NASTRAN_RAISE(&r->scan, "the number of a material is expected");
    HX_TRY(hx_materials_at(&r->materials, number, m));
    if ((*m)->line == 0) (*m)->line = r->scan.line;
    return HX_OK;
}

/* MID, E, G, NU, RHO: of E, G and NU two give the third. */
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
        m->fault = "has a G that E and NU do not give";
    return HX_OK;
}

/* MID, K, CP, RHO */
int hx_nastran_take_mat4(hx_nastran_reader *r)
{
    hx_numbered_material *m;
    HX_TRY(open_material(r, &m));
    return hx_nastran_real(&r->scan, 1, NAN, &m->conductivity);
}

/* MAT9 and its like, MATT1, MATS1: more than constant isotropic numbers. */
int hx_nastran_take_mat(hx_nastran_reader *r)
{
    hx_numbered_material *m;
    HX_TRY(open_material(r, &m));
    m->fault = strncmp(r->scan.name, "MATT", 4) == 0   ? "depends on the temperature"
               : strncmp(r->scan.name, "MATS", 4) == 0 ? "is not linear"
                                                       : "is not isotropic";
    return HX_OK;
}

/* PID, MID */
int hx_nastran_take_psolid(hx_nastran_reader *r)
{
    int64_t property, material;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &property));
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &material));
    HX_TRY(hx_numbers_append(&r->psolid, 1, &property));
    return hx_numbers_append(&r->psolid_material, 1, &material);
}

int hx_nastran_find_material(hx_nastran_reader *r, hx_file_material *to)
{
    hx_number_index index = {0};
    HX_TRY(hx_number_index_create(&index, &r->psolid));
    int rc = HX_OK;
    for (int64_t i = 0; i < r->solid_property.n && rc == HX_OK; i++) {
        hx_numbered_material *m;
        const int64_t property = hx_numbers_get(&r->solid_property, i);
        const int64_t at = hx_number_index_find(&index, property);
        const int64_t number = at < 0 ? -property : hx_numbers_get(&r->psolid_material, at);
        rc = hx_materials_at(&r->materials, number, &m); /* below 0: of no PSOLID, not stated */
        if (rc == HX_OK) m->is_used = 1;
    }
    hx_number_index_free(&index);
    return rc < 0 ? rc : hx_materials_finish(&r->materials, r->import.path, to);
}
