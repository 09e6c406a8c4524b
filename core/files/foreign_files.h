/* Files of other programs that are not read, and what turns them into one that is. A format is one
 * line of a table in foreign_files.c. Not installed. */
#ifndef HX_FOREIGN_FILES_H
#define HX_FOREIGN_FILES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "a CGNS mesh: meshio convert part.cgns part.vtu" into text, by the file's first bytes (`head`
 * ends with a 0; "" or NULL: not known) or its name; returns text, NULL: nothing is known of it. */
const char *hx_foreign_hint(const char *path, const char *head, char *text, size_t n_text);

/* What makes an unstructured grid of VTK's data of another kind ("ImageData", "PolyData",
 * "STRUCTURED_POINTS"), in parentheses after a space; "": nothing is known of it. Verified with VTK
 * 9.1, whose vtkAppendFilter is ParaView's Append Datasets: of a surface it keeps faces only. */
const char *hx_foreign_vtk_remedy(const char *kind);

/* 1: a file that begins so is one of those, whatever its name. */
int hx_foreign_is_head(const char *head);

/* 1: the file is one of those, by its first bytes or its name. */
int hx_foreign_is_file(const char *path);

#ifdef __cplusplus
}
#endif

#endif
