/* A mesh file as a source (mesh/mesh_source.h) for several ranks, none of which holds the whole
 * mesh: the first rank reads the file and distributes nodes and elements to all ranks in turn
 * (mesh_pieces.h). Elements and nodes are numbered as by hx_mesh_read. */
#ifndef HX_FILE_SOURCE_H
#define HX_FILE_SOURCE_H

#include "../base/notes.h"
#include "../comm/comm.h"
#include "../mesh/mesh_source.h"

enum { HX_FILE_WHY = 200 };

/* Opens a legacy VTK, Gmsh or Abaqus file with elements of first order. On success *why is "" and
 * the source is open. Otherwise the source is not open, and *why names the feature for which each
 * rank must read the whole file: second order, numbers that are not consecutive, more than 64 sets,
 * loads, inverted elements, or fewer than `least` elements. notes: notes of the first rank; may be
 * NULL. The communicator must outlive the source. HX_EINPUT on all ranks, with file and line or
 * byte: the reader refuses the file. Collective. O(n / size) time and memory apart from the
 * reading: 24 bytes per node, 32 per element, 8 more for nodes and elements in sets; during the
 * reading, 30 MB and one bit per node on the first rank. */
int hx_file_source_open(hx_mesh_source *source, const hx_comm *comm, const char *path,
                        int64_t least, hx_notes *notes, char why[HX_FILE_WHY]);

/* Notes faces that no element has. Requires an open source, whose owned and ghost elements have
 * been made on all ranks (dist_mesh.h). */
int hx_file_source_note(const hx_mesh_source *source, const char *path, hx_notes *notes);

#endif
