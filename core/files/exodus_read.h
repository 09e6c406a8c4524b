/* Reader of Exodus II files (.exo, .e, .ex2, .g), written by Cubit, Sierra, MOOSE and ParaView. */
#ifndef HX_EXODUS_READ_H
#define HX_EXODUS_READ_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

/* Reads a raw mesh. Blocks of solids become sets of elements, side sets become sets of faces, node
 * sets stay node sets. They keep their names; sets without a name are called "block-1",
 * "sideset-1", "nodeset-1" with the file's numbers. Blocks of triangles and quadrangles become sets
 * of faces. Results are not read. HX_EINPUT: not such a file, damaged, or without solids; HX_EENV:
 * no Exodus library. */
int hx_exodus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);

#endif
