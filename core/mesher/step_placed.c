#include "step_placed.h"

#include <math.h>
#include <stdlib.h>

#include "../base/grow.h"
#include "../base/sort.h"
#include "step_face.h"

/* ITEM_DEFINED_TRANSFORMATION(name, description, from, to) */
static int moves(const hx_step_file *file, hx_step_text list)
{
    hx_step_frame frame[2];
    double far = 0.0, size = 1.0;
    for (int i = 0; i < 2; i++)
        if (!hx_step_frame_read(file, hx_step_item(list, 2 + i), 1.0, &frame[i])) return 1;
    for (int c = 0; c < 3; c++) {
        size = fmax(size, fabs(frame[0].origin[c]));
        far = fmax(far, fabs(frame[0].origin[c] - frame[1].origin[c]) / size);
        for (int k = 0; k < 3; k++)
            far = fmax(far, fabs(frame[0].axis[c][k] - frame[1].axis[c][k]));
    }
    return far > 1e-9;
}

int hx_step_find_placed(const hx_step_file *file, int *has_placed)
{
    int64_t *child = NULL, n = 0;
    size_t capacity = 0;
    int rc = HX_OK;
    *has_placed = 0;
    for (size_t i = 0; i < file->n && !*has_placed; i++) {
        const hx_step_text entity = hx_step_entity_text(file, i);
        const hx_step_text usage = hx_step_record(entity, "NEXT_ASSEMBLY_USAGE_OCCURRENCE");
        const hx_step_text transformation = hx_step_record(entity, "ITEM_DEFINED_TRANSFORMATION");
        *has_placed = hx_step_record(entity, "MAPPED_ITEM").at ||
                      hx_step_record(entity, "CARTESIAN_TRANSFORMATION_OPERATOR_3D").at ||
                      (transformation.at && moves(file, transformation));
        if (!usage.at) continue;
        HX_TRY_FAIL(hx_grow(&child, (size_t)n, &capacity, sizeof *child, "usages of parts"));
        child[n++] = hx_step_number(hx_step_item(usage, 4));
    }
    hx_sort_i64(child, n);
    if (hx_unique_i64(child, n) != n) *has_placed = 1;
fail:
    free(child);
    return rc;
}
