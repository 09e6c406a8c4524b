#include "vtk_faces.h"

#include <string.h>

/* vtkHexahedron, vtkWedge, vtkPyramid, vtkTetra: GetFace. */
const int hx_vtk_side_row[HX_CELL_OTHER][7] = {[HX_CELL_HEXAHEDRON] = {-1, 0, 1, 2, 3, 4, 5},
                                               [HX_CELL_WEDGE] = {-1, 4, 5, 0, 1, 2, -1},
                                               [HX_CELL_PYRAMID] = {-1, 4, 2, 1, 3, 0, -1},
                                               [HX_CELL_TETRAHEDRON] = {-1, 2, 1, 0, 4, -1, -1}};

/* The kind of cell that VTK sees. A collapsed cell in another numbering is written as a
 * hexahedron. */
static const int *side_rows(const int32_t conn[8])
{
    return hx_vtk_side_row[hx_solids[hx_solid_of_cell(conn)].kind];
}

int hx_vtk_face_number(const int32_t conn[8], int face)
{
    const int *const row = side_rows(conn);
    for (int number = 0; number < HX_VTK_CELL_FACES; number++)
        if (row[number + 1] == face) return number;
    return -1;
}

int hx_vtk_face_nodes(const int32_t conn[8], int number, int32_t node[4])
{
    const int row = side_rows(conn)[number + 1];
    const int n = row < 0 ? 0 : hx_cell_face(conn, row, node);
    if (n == 3) node[3] = node[2];
    return n >= 3;
}

const char *hx_vtk_faces_of(const char *array)
{
    const size_t n = strlen(HX_VTK_FACES_OF);
    return strncmp(array, HX_VTK_FACES_OF, n) == 0 && array[n] ? array + n : NULL;
}

int hx_vtk_are_faces(const char *array, int64_t n, const int32_t *value)
{
    if (!hx_vtk_faces_of(array)) return 0;
    for (int64_t i = 0; i < n; i++)
        if (value[i] < 0 || value[i] >> HX_VTK_CELL_FACES) return 0;
    return 1;
}
