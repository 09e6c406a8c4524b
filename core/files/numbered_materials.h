/* Materials that files identify by numbers (ANSYS, Nastran): collected while a file is read, then
 * reduced to the isotropic materials of the solids, or the reason why there are none (conditions.h).
 * Not installed. */
#ifndef HX_NUMBERED_MATERIALS_H
#define HX_NUMBERED_MATERIALS_H

#include "../base/numbers.h"
#include "../problem/conditions.h"

typedef struct hx_numbered_material {
    /* number < 0: a property of that number (with its sign changed) that has no material. line:
     * first statement of the material; 0: only elements name it */
    int64_t number, line;
    double young, poisson, density, conductivity; /* NaN: not stated */
    const char *fault; /* why the material has no constant isotropic values; NULL: it has */
    int is_used;       /* solids use it */
    hx_numbers elem;   /* their numbers, if the reader collects them (owned) */
} hx_numbered_material;

typedef struct hx_numbered_materials {
    size_t n, capacity;
    hx_numbered_material *list; /* (owned) */
    size_t last;                /* index of the last one found */
} hx_numbered_materials;

/* Finds or adds the material of that number; valid until the next call. */
int hx_materials_at(hx_numbered_materials *materials, int64_t number,
                    hx_numbered_material **material);

/* `to` receives the values of the first used material, or nothing if none of them is stated. If a
 * used one is not stated, or not isotropic and constant, `to` receives the reason as its fault. */
int hx_materials_finish(const hx_numbered_materials *materials, const char *path,
                        hx_file_material *to);

/* 1 if a used material differs from the first one, which `to` has. */
int hx_materials_differ(const hx_numbered_material *material, const hx_file_material *to);

/* Adds the material of a set of the mesh to `to`, unless it equals the first one. Call after
 * hx_materials_finish. */
int hx_materials_give_set(hx_numbered_materials *materials, int64_t number, const char *set,
                          hx_file_material *to);

void hx_materials_free(hx_numbered_materials *materials);

#endif
