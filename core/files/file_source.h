/* A mesh file as a source (mesh/mesh_source.h) of several processes, none of which has the whole:
 * the first reads it, and nodes and elements go to all in turn (mesh_pieces.h). Elements and nodes
 * are numbered as hx_mesh_read does. */
#ifndef HX_FILE_SOURCE_H
#define HX_FILE_SOURCE_H

#include "../base/notes.h"
#include "../mesh/mesh_source.h"
#include "../team/team.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_FILE_WHY = 200 };

/* Legacy VTK, Gmsh and Abaqus, elements of first order. *why becomes "" and the source is open; or
 * says what the file has for which each process must read the whole, and it is not: second order,
 * numbers that do not follow each other, more than 64 sets, loads, elements inside out, or fewer
 * than `least` of them. notes: what the first process has to say; may be NULL. The team outlives
 * the source. HX_EINPUT in all, with file and line or byte: what the reader refuses. Collective.
 * O(n / size) time and memory but for the reading: 24 bytes a node, 32 an element, 8 more where
 * they are in sets; while it is read 30 MB and a bit a node in the first process. */
int hx_file_source_open(hx_mesh_source *source, const hx_team *team, const char *path,
                        int64_t least, hx_notes *notes, char why[HX_FILE_WHY]);

/* Of an open one, once a window was made of it (window.h): notes faces that no element has. */
int hx_file_source_note(const hx_mesh_source *source, const char *path, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
