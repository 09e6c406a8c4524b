/* Elements of an Abaqus input file by their numbers: indices of the numbers so far, and kinds. */
#include "abaqus_reader.h"

int hx_abaqus_update_places(hx_abaqus_reader *r)
{
    if (!r->elem_place.list || r->elem_place.list->n != r->elem_listed) {
        hx_number_index_free(&r->elem_place);
        HX_TRY(hx_number_index_create(&r->elem_place, &r->import.elem_number));
        r->elem_listed = r->import.elem_number.n;
    }
    if (!r->cell_place.list || r->cell_place.list->n != r->cell_listed) {
        hx_number_index_free(&r->cell_place);
        HX_TRY(hx_number_index_create(&r->cell_place, &r->cell_number));
        r->cell_listed = r->cell_number.n;
    }
    return HX_OK;
}

hx_cell_kind hx_abaqus_kind_of(const hx_abaqus_reader *r, int64_t number)
{
    if (!r->import.solid) return HX_CELL_HEXAHEDRON;
    const int64_t place = hx_number_index_find(&r->elem_place, number);
    return place < 0 ? HX_CELL_HEXAHEDRON : hx_solids[r->import.solid[place]].kind;
}
