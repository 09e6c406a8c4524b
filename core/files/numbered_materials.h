/* Materials that files identify by numbers (ANSYS, Nastran): collected while a file is read, then
 * reduced to the one isotropic material of all solids, or the reason why there is none
 * (conditions.h). Not installed. */
#ifndef HX_NUMBERED_MATERIALS_H
#define HX_NUMBERED_MATERIALS_H

#include "../problem/conditions.h"

typedef struct hx_numbered_material {
    /* number < 0: a property of that number (with its sign changed) that has no material. line:
     * first statement of the material; 0: only elements name it */
    int64_t number, line;
    double young, poisson, density, conductivity; /* NaN: not stated */
    const char *fault; /* why the material has no constant isotropic values; NULL: it has */
    int is_used;       /* solids use it */
} hx_numbered_material;

typedef struct hx_numbered_materials {
    size_t n, capacity;
    hx_numbered_material *list; /* (owned) */
    size_t last;                /* index of the last one found */
} hx_numbered_materials;

/* Finds or adds the material of that number; valid until the next call. */
int hx_materials_at(hx_numbered_materials *materials, int64_t number,
                    hx_numbered_material **material);

/* `to` receives the values that all used materials share, or nothing if none of them is stated. If
 * the materials differ, or one is not stated, or one is not isotropic and constant, `to` receives
 * the reason as its fault. */
int hx_materials_finish(const hx_numbered_materials *materials, const char *path,
                        hx_file_material *to);

void hx_materials_free(hx_numbered_materials *materials);

#endif
