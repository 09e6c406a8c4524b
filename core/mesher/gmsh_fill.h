/* Fills a closed triangle surface with tetrahedra by gmsh, keeping the surface's triangles. */
#ifndef HX_GMSH_FILL_H
#define HX_GMSH_FILL_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

typedef struct hx_fill_options {
    const char *what; /* name of the surface, for messages */
    /* largest size of elements inside (length); at the surface, they have the size of its
     * triangles */
    double element_size;
    double time_limit;                  /* time limit for gmsh in seconds; 0: HX_MODEL_TIME_LIMIT */
    int (*is_cancelled)(void *context); /* as in process.h, or NULL */
    void *context;
} hx_fill_options;

/* mesh := a raw mesh of the volume enclosed by the STL file `file`, without cavities; folder: a
 * scratch folder (gmsh_program.h). HX_EENV: gmsh is not installed. HX_EINPUT: the surface is not
 * closed, or gmsh made no mesh of it or one with another volume; the message contains gmsh's last
 * error. */
int hx_gmsh_fill(const hx_fill_options *options, const char *folder, const char *file,
                 hx_mesh *mesh, hx_notes *notes);

HX_C_END

#endif
