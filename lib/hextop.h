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
 * Keys and messages are those of the program (`hextop list --keys`). A message has the form
 * FILE:LINE: KEY: what is wrong; what would be right. The library prints nothing, writes only the
 * files that the caller requests and installs no signal handler. After each call the caller's
 * locale and number of threads are restored. Functions that return an int return 0 or more, or a
 * negative code; the handle keeps the message.
 *
 * Sessions are independent: several may run one after another, be open at once, or run in parallel
 * threads. Only one thread may use a handle at a time. The prefix hextop_ marks this interface, hx_
 * the interface of the core, which is another library. */
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

#define HEXTOP_ABI 1 /* increases if a declaration below changes its meaning or is removed */
HEXTOP_API int hextop_abi(void);
HEXTOP_API const char *hextop_version(void); /* for example "0.3.0" */

typedef struct hextop hextop; /* a session */

enum {
    HEXTOP_EINPUT = -1,   /* error in a config, a mesh or an argument */
    HEXTOP_EENV = -2,     /* this machine does not support the request */
    HEXTOP_EIO = -3,      /* error while reading or writing */
    HEXTOP_ENOMEM = -4,   /* out of memory */
    HEXTOP_EDEVICE = -5,  /* error of the device */
    HEXTOP_ENUMERIC = -6, /* the computation broke down */
    HEXTOP_EINTERNAL = -7
};

/* Reads a config. text: the whole config (copied). Messages name it by `path`, and its mesh file
 * and @include files are searched in the folder of `path`; that file need not exist. If text is
 * NULL, the file at `path` is read. *h must be closed even if this call fails; it is NULL only if
 * there is not enough memory. */
HEXTOP_API int hextop_open(hextop **h, const char *text, const char *path);

/* Sets a key as on the command line, for example "solver.threads=2". Call it before the first
 * hextop_prepare or hextop_run. */
HEXTOP_API int hextop_set(hextop *h, const char *key_value);

/* Receives the lines that the program would print. Levels: 0 details, 1 information, 2 warnings and
 * errors. text is one line and valid during the call; the callback must not call this library.
 * NULL: no callback. */
typedef void (*hextop_log)(void *user, int level, const char *text);
HEXTOP_API void hextop_on_log(hextop *h, hextop_log log, void *user);

typedef struct hextop_iteration {
    int32_t iteration, iterations; /* number of this iteration, from 1; the config's maximum */
    int32_t pcg_iterations;        /* sum over all load cases */
    int32_t pcg_converged;         /* 1: all solves converged */
    double compliance, volume;     /* values of the analysed design; volume is a fraction */
    /* largest density change in the next design; mean of 4 rho (1 - rho) */
    double change, greyness;
    double penalty, beta; /* SIMP exponent; steepness of the projection */
    double seconds;
} hextop_iteration;

/* Called after each iteration. It may read arrays and numbers and write files; it must not run or
 * close the session. A nonzero return value stops the run. */
typedef int (*hextop_watch)(void *user, const hextop_iteration *iteration);
HEXTOP_API void hextop_on_iteration(hextop *h, hextop_watch watch, void *user);

/* Checks all keys and creates the mesh, the problem, the solver and the first design. hextop_run
 * calls it if necessary. */
HEXTOP_API int hextop_prepare(hextop *h);

/* Runs at most `most` further iterations, or as many as the config allows if `most` is 0. Returns 1
 * if iterations of the config remain; 0 if all are done or the change is below its tolerance. If
 * the last design then misses a limit that an earlier one with its penalty and beta meets, the best
 * such design is analysed again and takes its place: "iteration" and all results are those of that
 * design. */
HEXTOP_API int hextop_run(hextop *h, int most);

/* Returns an array in the order of the mesh file, stored row by row; shape[2] = {rows, columns}
 * (shape may be NULL). The handle owns the array, whose address does not change until the handle is
 * closed; a call after further iterations overwrites its values. load_case counts from 0. Returns
 * NULL on failure, see hextop_error.
 *
 * available               physics     name            shape
 * after hextop_prepare    all         "points"        [nodes][3]
 *                                     "volumes"       [elements][1]
 * after an iteration      all         "density"       [elements][1]
 *                                     "sensitivity"   [elements][1]
 *                                     "energy"        [elements][1]
 *                                     "compliance"    [load cases][1]
 * after an iteration,     elasticity  "displacement"  [nodes][3]
 * of one load case                    "von_mises"     [elements][1]
 *                         heat        "temperature"   [nodes][1]
 *                                     "heat_flux"     [elements][3] */
HEXTOP_API const double *hextop_array(hextop *h, const char *name, int load_case, int64_t *shape);

/* "cells" [elements][8]: nodes in VTK's order, filled with -1 if a cell has fewer than eight.
 * "cell_types" [elements][1]: VTK's 12, 13, 14, 10 for hexahedron, wedge, pyramid, tetrahedron.
 * Order, ownership and errors like hextop_array. */
HEXTOP_API const int32_t *hextop_indices(hextop *h, const char *name, int64_t *shape);

/* Returns a number. After hextop_prepare: "elements", "nodes", "cases". Of the last iteration:
 * "iteration", "objective" (what is minimized), "compliance", "volume", "change", "greyness",
 * "penalty", "beta", "mass", "pcg_iterations" (of all solves), "seconds", "violation" (largest
 * relative violation of a limit, 0: all are met), "kkt" (residual of the optimality conditions),
 * and the value of each limit by its name. NaN: not available, see hextop_error; "mass" is NaN
 * without material.density, "kkt" with optimality criteria. */
HEXTOP_API double hextop_number(hextop *h, const char *name);

/* Returns the text that the program writes to summary.json. The handle owns the text, which is
 * valid until the next call of this function. NULL: see hextop_error. */
HEXTOP_API const char *hextop_summary(hextop *h);

/* Writes the last design in the format that the extension of `path` names: .vtk with the fields of
 * output.fields; .stl, .ply and others the surface that `hextop surface` makes; .json the summary;
 * .cfg the resolved config. The file appears only once it is complete. */
HEXTOP_API int hextop_write(hextop *h, const char *path);

/* Code and message of the last failed call; 0 and "" if none failed. The handle owns the text,
 * which is valid until its next call. h = NULL: code and message for a handle that could not be
 * created. */
HEXTOP_API int hextop_code(const hextop *h);
HEXTOP_API const char *hextop_error(const hextop *h);

/* Frees the session; h may be NULL. */
HEXTOP_API void hextop_close(hextop *h);

#ifdef __cplusplus
}
#endif

#endif
