/* Materials of files that give them numbers (ANSYS, Nastran): collected while a file is read, then
 * the one isotropic material of all solids, or why there is none (conditions.h). Not installed. */
#ifndef HX_NUMBERED_MATERIALS_H
#define HX_NUMBERED_MATERIALS_H

#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_numbered_material {
    int64_t number, line; /* below 0: stands for the property of that number, which has none; line
                             of the first statement of it, 0: only elements name it */
    double young, poisson, density, conductivity; /* NaN: not stated */
    const char *fault; /* why it is not one of constant isotropic numbers; NULL: it is */
    int is_used;       /* by solids */
} hx_numbered_material;

typedef struct hx_numbered_materials {
    size_t n, capacity;
    hx_numbered_material *list; /* (owned) */
    size_t last;                /* found last */
} hx_numbered_materials;

/* The material of that number, added if there is none; valid until the next call. */
int hx_materials_at(hx_numbered_materials *materials, int64_t number,
                    hx_numbered_material **material);

/* *to gets the numbers that all used materials have; nothing if none of them is stated. Its fault:
 * they differ, one is not stated, or one is not isotropic and constant. */
int hx_materials_finish(const hx_numbered_materials *materials, const char *path,
                        hx_file_material *to);

void hx_materials_free(hx_numbered_materials *materials);

#ifdef __cplusplus
}
#endif

#endif
