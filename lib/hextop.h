/* hextop as a library: from a config text to a design.
 *
 *     hextop *h;
 *     int64_t shape[2];
 *     if (hextop_open(&h, text, "bracket.cfg") < 0 || hextop_set(h, "mesh.size=2") < 0 ||
 *         hextop_run(h, 0) < 0 || hextop_write(h, "part.stl") < 0)
 *         fprintf(stderr, "%s\n", hextop_error(h));
 *     else
 *         use(hextop_array(h, "density", 0, shape), shape[0]);
 *     hextop_close(h);
 *
 * The keys are those of the program (`hextop list --keys`), so are messages: FILE:LINE: KEY: what
 * is wrong; what would be right. Nothing is printed, written without being asked for, or caught;
 * locale and number of threads of the caller are what they were after each call. Functions that
 * return an int give 0 or more, or a negative code, whose message stays with the handle.
 *
 * Sessions are independent: one after the other, several open, or at once in a thread each. A
 * handle is used by one thread at a time. (Here and in hextop's other headers: hextop_ names this
 * interface; hx_ names the core's, another library.) */
#ifndef HEXTOP_H
#define HEXTOP_H

#include <stdint.h>

#if defined(__GNUC__)
#define HEXTOP_API __attribute__((visibility("default")))
#else
#define HEXTOP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HEXTOP_ABI 1 /* rises when something below changes its meaning or goes */
HEXTOP_API int hextop_abi(void);
HEXTOP_API const char *hextop_version(void); /* "0.1.0" */

typedef struct hextop hextop; /* a session */

enum {
    HEXTOP_EINPUT = -1,   /* config, mesh or argument */
    HEXTOP_EENV = -2,     /* this machine cannot do what was asked */
    HEXTOP_EIO = -3,      /* reading or writing */
    HEXTOP_ENOMEM = -4,   /* memory */
    HEXTOP_EDEVICE = -5,  /* the device */
    HEXTOP_ENUMERIC = -6, /* the computation broke down */
    HEXTOP_EINTERNAL = -7
};

/* Reads a config. text: the whole of it (copied), which messages call `path` and whose mesh file
 * and
 * @include are looked for in the folder of `path`, which need not exist; NULL: the file at `path`
 * is read. *h is to be closed also where this fails; NULL only without memory. */
HEXTOP_API int hextop_open(hextop **h, const char *text, const char *path);

/* "KEY=VALUE" as on the command line, before the first hextop_prepare or hextop_run:
 * "solver.threads=2". */
HEXTOP_API int hextop_set(hextop *h, const char *key_value);

/* What the program would show: level 0 details, 1 information, 2 warnings. text is one line, valid
 * during the call, which must not call back here. NULL: nobody listens. */
typedef void (*hextop_log)(void *user, int level, const char *text);
HEXTOP_API void hextop_on_log(hextop *h, hextop_log log, void *user);

typedef struct hextop_iteration {
    int32_t iteration, iterations; /* from 1; the config's most */
    int32_t pcg_iterations;        /* of all load cases */
    int32_t pcg_converged;         /* 1: all of them */
    double compliance, volume;     /* of the design analysed; volume is a fraction */
    double change, greyness; /* largest change of a density to come; mean of 4 rho (1 - rho) */
    double penalty, beta;    /* SIMP's exponent, steepness of the projection */
    double seconds;
} hextop_iteration;

/* Called after each; may read arrays and numbers and write, not run or close. Not 0: no further. */
typedef int (*hextop_watch)(void *user, const hextop_iteration *iteration);
HEXTOP_API void hextop_on_iteration(hextop *h, hextop_watch watch, void *user);

/* Checks all keys, makes mesh, problem, solver and first design. hextop_run does it where it was
 * not done. */
HEXTOP_API int hextop_prepare(hextop *h);

/* Up to `most` iterations more; 0: as many as the config says. Returns 1 if the config asks for
 * more of them, 0 if not (its iterations are done, or the change is below its tolerance). */
HEXTOP_API int hextop_run(hextop *h, int most);

/* Arrays in the order of the mesh's file, row by row, shape[2] = {rows, columns} (may be NULL).
 * They are the handle's and stay where they are until it is closed; asking again after more
 * iterations fills them anew. load_case counts from 0. NULL: see hextop_error. of the mesh, after
 * hextop_prepare   "points" [nodes][3], "volumes" [elements][1] of the design analysed last
 * "density", "sensitivity", "energy" [elements][1], "compliance" [cases][1] and of a load case of
 * it            "displacement" [nodes][3], "von_mises" [elements][1]; of heat "temperature"
 * [nodes][1], "heat_flux" [elements][3]
 */
HEXTOP_API const double *hextop_array(hextop *h, const char *name, int load_case, int64_t *shape);

/* "cells" [elements][8]: nodes in VTK's order, -1 behind those of cells with less than eight;
 * "cell_types" [elements][1]: VTK's 12, 13, 14, 10 for hexahedron, wedge, pyramid, tetrahedron. */
HEXTOP_API const int32_t *hextop_indices(hextop *h, const char *name, int64_t *shape);

/* "elements", "nodes", "cases" after hextop_prepare; "iteration", "compliance", "volume", "change",
 * "greyness", "penalty", "beta", "mass", "pcg_iterations" (of all solves), "seconds" of the last
 * iteration. NaN: unknown, see hextop_error; a mass without material.density. */
HEXTOP_API double hextop_number(hextop *h, const char *name);

/* What the program writes as summary.json; the handle's, until asked for again. NULL: see
 * hextop_error. */
HEXTOP_API const char *hextop_summary(hextop *h);

/* Writes the last design by the ending of `path`: .vtk with the fields of output.fields; the
 * surface that `hextop surface` makes (.stl, .ply, ...); .json the summary; .cfg the config as
 * resolved. A file appears when it is complete. */
HEXTOP_API int hextop_write(hextop *h, const char *path);

/* Code and message of the last call that failed; 0 and "" if none did. The text is the handle's,
 * until its next call. h = NULL: of one that could not be made. */
HEXTOP_API int hextop_code(const hextop *h);
HEXTOP_API const char *hextop_error(const hextop *h);

/* Frees all; h may be NULL. */
HEXTOP_API void hextop_close(hextop *h);

#ifdef __cplusplus
}
#endif

#endif
