/* Mesh files of Gmsh (https://gmsh.info), the format that its manual calls MSH. */
#ifndef HX_GMSH_H
#define HX_GMSH_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a raw mesh from a file of format 2.0 to 2.2 or 4.1, ASCII or binary of either byte order.
 * Solids of first and second order, the latter as linear ones.
 * Physical groups become sets of their name, without a name "point 3", "curve 3", "surface 3",
 * "volume 3": volumes sets of elements, surfaces of faces, curves and points of nodes. Groups of
 * one name and dimension are one set; of several dimensions, the highest keeps the name, and the
 * others are "surface-NAME", "curve-NAME", "point-NAME" (one set of all in a file that hextop wrote
 * of such a set). Streams through a buffer of 4 MB. HX_EINPUT with line or byte offset and
 * what would be right. notes may be NULL. */
int hx_gmsh_read(const char *path, hx_mesh *mesh, hx_notes *notes);

/* The same into a sink (mesh_import.h). */
struct hx_import_sink;
int hx_gmsh_read_to(const char *path, struct hx_import_sink *sink, hx_notes *notes);

/* Writes a finished mesh as format 4.1, ASCII or binary, in its original order and with the numbers
 * of the file that it came from, from 1 where that had none. Sets become physical groups: elements
 * volumes, faces surfaces, other nodes points. HX_EIO leaves an old file as it was. Memory: 13
 * bytes a node, 8 an element. */
int hx_gmsh_write(const char *path, const hx_mesh *mesh, int is_ascii);

#ifdef __cplusplus
}
#endif

#endif
