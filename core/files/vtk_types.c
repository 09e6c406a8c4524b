/* Types of the numbers in a legacy VTK file. */
#include <strings.h>

#include "vtk_reader.h"

/* Sizes in a binary file; VTK writes its vtkIdType as int. */
static const hx_file_number number_list[] = {
    {"unsigned_char", 1, 'u'}, {"char", 1, 'i'},
    {"signed_char", 1, 'i'},   {"unsigned_short", 2, 'u'},
    {"short", 2, 'i'},         {"unsigned_int", 4, 'u'},
    {"int", 4, 'i'},           {"unsigned_long", 8, 'u'},
    {"long", 8, 'i'},          {"vtktypeint32", 4, 'i'},
    {"vtktypeuint32", 4, 'u'}, {"vtktypeint64", 8, 'i'},
    {"vtktypeuint64", 8, 'u'}, {"vtkidtype", 4, 'i'},
    {"float", 4, 'f'},         {"double", 8, 'f'},
    {"bit", 0, 'b'},           {"string", 0, 's'},
    {"utf8_string", 0, 's'},
};

int hx_vtk_read_type(hx_file_scan *scan, const hx_file_number **type)
{
    HX_TRY(hx_file_scan_need(scan, "a type of numbers"));
    for (size_t i = 0; i < sizeof number_list / sizeof number_list[0]; i++) {
        if (strcasecmp(scan->word, number_list[i].name) == 0) {
            *type = &number_list[i];
            return HX_OK;
        }
    }
    return HX_FILE_RAISE(scan,
                         "'%s' is not a type of numbers; VTK's types are double, float, int, "
                         "unsigned_char, vtktypeint64 and a few more",
                         hx_file_scan_shown(scan));
}

int hx_vtk_read_array_head(hx_vtk_reader *r, const char *word, int64_t n,
                           const hx_file_number **type)
{
    int64_t n_value;
    HX_TRY(hx_file_scan_need(&r->scan, word));
    if (strcasecmp(r->scan.word, word) != 0)
        return HX_FILE_RAISE(&r->scan, "'%s' where %s is expected", hx_file_scan_shown(&r->scan),
                             word);
    HX_TRY(hx_vtk_read_type(&r->scan, type));
    HX_TRY(hx_file_scan_begin(&r->scan));
    return hx_file_scan_room(&r->scan, *type, n, 1, word, &n_value);
}
