/* Mesh files of Gmsh (https://gmsh.info), in the format that its manual calls MSH. */
#ifndef HX_GMSH_H
#define HX_GMSH_H

#include "../base/c_linkage.h"
#include "../base/notes.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

/* Reads a raw mesh from a file of format 2.0 to 2.2 or 4.1, ASCII or binary of either byte order.
 * Solids of first and second order are read, the latter as linear ones. Physical groups become sets
 * of the same name, or "point 3", "curve 3", "surface 3", "volume 3" if they have none: volumes
 * become sets of elements, surfaces sets of faces, curves and points sets of nodes. Groups of one
 * name and dimension form one set. Of groups with one name and several dimensions, the highest
 * keeps the name, and the others become "surface-NAME", "curve-NAME", "point-NAME" (they form one
 * set in a file that hextop wrote for such a set). Streams through a buffer of 4 MB. HX_EINPUT
 * names the line or byte offset and states what would be right. notes may be NULL. */
int hx_gmsh_read(const char *path, hx_mesh *mesh, hx_notes *notes);

/* Like hx_gmsh_read, into a sink (mesh_import.h). */
struct hx_import_sink;
int hx_gmsh_read_to(const char *path, struct hx_import_sink *sink, hx_notes *notes);

/* Writes a finished mesh as format 4.1, ASCII or binary, in its original order and with the numbers
 * of the file that it was read from, or from 1 if that had none. Sets become physical groups:
 * elements as volumes, faces as surfaces, other nodes as points. HX_EIO leaves an existing file
 * unchanged. Memory: 13 bytes per node, 8 per element. */
int hx_gmsh_write(const char *path, const hx_mesh *mesh, int is_ascii);

HX_C_END

#endif
