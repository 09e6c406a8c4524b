/* Files of other programs that are not read, and how to convert them to a format that is. A format
 * is one line of a table in foreign_files.c. Not installed. */
#ifndef HX_FOREIGN_FILES_H
#define HX_FOREIGN_FILES_H

#include <stddef.h>

/* Writes a hint like "a CGNS mesh, which is not read; instead: meshio convert part.cgns part.vtu"
 * into text, by the file's first bytes (`head` ends with a 0; "" or NULL: not known) or by its
 * name. Returns text, or NULL if the format is unknown. */
const char *hx_foreign_hint(const char *path, const char *head, char *text, size_t n_text);

/* Returns how to turn VTK data of another kind ("ImageData", "PolyData", "STRUCTURED_POINTS") into
 * an unstructured grid, in parentheses after a space; "" if unknown. Verified with VTK 9.1, whose
 * vtkAppendFilter is ParaView's Append Datasets: from a surface it keeps only faces. */
const char *hx_foreign_vtk_remedy(const char *kind);

/* Returns 1 if the first bytes belong to one of these formats, whatever the name of the file. */
int hx_foreign_is_head(const char *head);

/* Returns 1 if the file has one of these formats, by its first bytes or its name. */
int hx_foreign_is_file(const char *path);

#endif
