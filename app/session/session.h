/* From a config to an optimizer that is ready to step: one object after the other, each borrowing
 * those before it, freed in reverse. */
#ifndef HX_SESSION_H
#define HX_SESSION_H

#include <pthread.h>

#include "../config/config.h"
#include "core/base/hash.h"
#include "core/design/optimizer.h"
#include "core/design/voxels.h"
#include "core/generate/generate.h"
#include "core/mesh/mesh_quality.h"
#include "core/ranks/ranks.h"
#include "core/registry.h"
#include "core/solver/plan.h"
#include "core/spline/spline.h"
#include "core/team/team_all.h"
#include "device_start.h"

/* Steps of the way to the first iteration, in order. */
typedef enum {
    HX_SETUP_MESH, /* generated or read */
    HX_SETUP_SHUFFLE,
    HX_SETUP_REORDER,
    HX_SETUP_FINISH, /* validation, lists of the nodes' elements */
    HX_SETUP_SETS,
    HX_SETUP_PROBLEM,
    HX_SETUP_DEVICE,
    HX_SETUP_SOLVER, /* uploads, operator, vectors */
    HX_SETUP_DESIGN, /* filter, densities, load vectors */
    HX_SETUP_FILES,  /* of a run: output, history, checkpoint and what it tells its mesh by */
    HX_SETUP_CHECK,  /* of a run: quality of the mesh, what is to be warned of */
    HX_N_SETUP
} hx_setup_step;
const char *hx_setup_step_name(hx_setup_step step);

/* Quality of the mesh in a thread of its own, whose team has n_thread. */
typedef struct hx_measuring {
    pthread_t thread;
    int is_running, n_thread, rc;
    const hx_mesh *mesh; /* (borrowed) */
    hx_mesh_quality quality;
} hx_measuring;

typedef struct hx_session {
    hx_config cfg;
    hx_mesh mesh;
    hx_spline spline; /* of a file of splines, whose image `mesh` is: element = cell; else empty */
    hx_conditions conditions; /* what the mesh's file states besides it */
    hx_mesh_quality quality;  /* once hx_session_measure was called */
    int is_measured;
    hx_measuring measuring; /* of quality, while something else goes on */
    hx_space space;         /* of solver.element */
    hx_problem problem;
    hx_plan plan;        /* of the problem's mesh, for the solver */
    hx_notes *lacking;   /* NULL, or where loads and supports that lack are noted (borrowed) */
    hx_ties ties;        /* of symmetry and extrusion */
    const hx_team *team; /* the processes that solve it (borrowed); NULL: one */
    int may_window;    /* 1: the team's processes may each make a part of the mesh, none the whole:
                          of a run */
    int own_folders;   /* 1: and not all of them see the folder that it writes to */
    hx_team_all all;   /* the team, for a mesh that is a window (session_window.c) */
    int64_t *set_size; /* [n_set][2] nodes and elements of its sets in all (owned) */
    hx_ranks ranks;    /* with a team, once the device is open */
    hx_device_start device_start; /* runs while mesh and problem are made */
    hx_device device;
    const hx_strategy *strategy;
    hx_layout layout;
    const hx_precond_kind *precond_kind;
    int chose_operator, chose_precond; /* 1: "auto" did */
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    hx_analysis analysis;
    hx_filter filter;
    double initial_greyness; /* of the densities of optimization.initial; NaN: none */
    hx_least_volume least_volume; /* of any design, once the filter is there */
    hx_optimizer opt;
    double filter_radius; /* length; 0 if the filter has none */
    size_t voxel_bytes;   /* hx_voxels_bytes for it and what this process has of the design; 0: no
                             voxels, or a filter without sums */
    size_t load_bytes;    /* hx_analysis_load_bytes, counted once */
    const hx_problem *loads_of; /* of what; NULL: not yet (borrowed) */
    hx_voxels voxels;           /* for the filter, made while the device's driver started (owned) */
    double setup_seconds[HX_N_SETUP];
    size_t setup_peak[HX_N_SETUP]; /* most host memory the process held until that step's end */
    double other_bytes; /* host bytes an element, besides the mesh, to be sure of before meshing */
    hx_account device_account;     /* operator, vectors, densities, filter */
    size_t device_bytes;           /* its sum */
    size_t host_bytes;             /* mesh and problem */
    hx_hash mesh_hash, order_hash; /* mesh_hash.h, once asked for (identity.h) */
    int has_mesh_hash, has_order_hash;
    int own_element;         /* 1 + solver.element of the config, where a command takes another */
    char operator_note[128]; /* why this operator, when it is not what was written; "" otherwise */
} hx_session;

/* All steps below, in order. The caller zeroed s and filled s->cfg. */
int hx_session_open(hx_session *s);

/* In a process that follows another (core/ranks/ranks.h), in place of it: mesh, problem and solver
 * of its share. */
int hx_session_open_follower(hx_session *s);

/* When all is set up, before the first design. Of a mesh in parts the lists of its nodes' elements
 * go, on the host: what a run does from here on reads none. Nothing of a whole mesh. */
void hx_session_forget_lists(hx_session *s);

/* In that process: its part of the run, until the leader ends it (hx_analysis_dismiss). */
int hx_session_serve(hx_session *s);

/* One by one, for commands that stop earlier or report in between. */
int hx_session_make_mesh(hx_session *s); /* mesh and sets; with a team in its parts */
/* A step begins: a terminal says so until the next line. Returns when. */
double hx_session_begin_step(hx_setup_step step);
void hx_session_end_step(hx_session *s, hx_setup_step step, double begin);

/* Of a session without a team, before the problem is made: its mesh cut as solver.partition has it
 * for n_rank processes; the key becomes the way taken. HX_EINPUT, HX_EENV of hx_partition_make. */
int hx_session_cut_mesh(hx_session *s, int n_rank);
int hx_session_measure(hx_session *s); /* the mesh's quality, once */
/* The same begins beside what follows, where a GPU computes and the host would wait for it; it ends
 * with hx_session_measure. Nothing of what was measured, or of a window. The mesh must stay where
 * and as it is until then. */
void hx_session_measure_meanwhile(hx_session *s);
int hx_session_make_problem(hx_session *s); /* supports, loads, passive elements, radius, ties */
/* Device, strategy and layout; names resolved in cfg. With solver.operator = "auto" the operators
 * are timed, and s->op may hold the one chosen already. */
int hx_session_open_device(hx_session *s);
/* Operator, preconditioner, PCG. What "auto" chose gives way, with a warning, to what stores less
 * where it does not get its memory; so it does in hx_session_make_design. */
int hx_session_make_solver(hx_session *s);
/* Filter, and the least and the most volume of a design: a fraction outside is refused, and a
 * change_tolerance that the move limit alone would meet. */
int hx_session_check_volume(hx_session *s);
int hx_session_make_design(hx_session *s); /* the same, and the optimizer */
/* hx_optimizer_step. Where the device's memory ends in the first design, what "auto" chose gives
 * way as above and the design is begun again; in later ones the message says what would fit. */
int hx_session_step(hx_session *s, hx_iteration *it);

/* Parts of the steps, for commands that go through several devices or operators. The steps above
 * leave alone what is there already. */
/* The device asked for, or with "auto" the first that can run here. */
int hx_session_find_device(const hx_session *s, const hx_device_ops **ops);
/* Threads of the run: solver.threads, or the cores of a process among its machine's. HX_EINPUT:
 * many times more than there are cores, which would only wait for each other. */
int hx_session_set_threads(const hx_session *s);
int hx_session_start_device(hx_session *s, const hx_device_ops *ops); /* no strategy is chosen */
int hx_session_make_operator(hx_session *s); /* of s->strategy and s->layout */
int hx_session_make_filter(hx_session *s);   /* on the device */
/* What optimization.objective and optimization.update name. */
const hx_objective_kind *hx_session_objective(const hx_session *s);
const hx_update_kind *hx_session_update(const hx_session *s);
/* Frees the optimizer, analysis, PCG, preconditioner and operator. */
void hx_session_drop_operator(hx_session *s);

/* What the solver works on: the problem, or a process' share of it, on its device. */
const hx_problem *hx_session_solved(const hx_session *s);
hx_device *hx_session_solver_device(hx_session *s);

/* What the design is of, and where: the whole, or where processes have it in shares as above. */
const hx_problem *hx_session_design(const hx_session *s);
hx_device *hx_session_design_device(hx_session *s);

/* Device bytes that a run takes in one of n_rank processes. Of a session without a team, whose
 * solver is known. HX_EINPUT: the problem runs in one process. O(n_elem). */
int hx_session_rank_bytes(hx_session *s, int n_rank, int rank, size_t *bytes);

/* "2 processes (MPI), 3,072 elements each at most, ...": of a session with a team; returns text. */
const char *hx_session_team_text(const hx_session *s, char *text, size_t n_text);

/* Points of the space, of all processes. */
int64_t hx_session_n_point(const hx_session *s);

/* Nodes and elements of set i of the mesh, of all processes. */
void hx_session_set_size(const hx_session *s, size_t i, int64_t *n_node, int64_t *n_elem);

/* Mass of a design of this volume fraction; NaN without material.density. */
double hx_session_mass(const hx_session *s, double volume_fraction);

/* The densities of optimization.initial, or NULL if the design starts uniform. *density is the
 * caller's to free. */
int hx_session_read_initial(hx_session *s, double **density);

/* "ebe, interleaved, deterministic (in place of ebe24, which needs a GPU)"; returns text. */
const char *hx_session_operator_text(const hx_session *s, char *text, size_t n_text);

/* What "elements" as a unit of length says behind it: " of 1.266 mm" where some are no hexahedra,
 * whose length is no cube root of a volume; "" of hexahedra. Returns text. */
const char *hx_session_element_text(const hx_session *s, char *text, size_t n_text);

/* "24,576 of 24,576 elements in 6,144 groups (2 symmetry planes, extruded)", and what is not exact;
 * returns text. */
const char *hx_session_ties_text(const hx_session *s, char *text, size_t n_text);

/* Device bytes of the filter, at most. */
size_t hx_session_filter_bytes(const hx_session *s);
/* Those of the optimizer, ties included. */
size_t hx_session_optimizer_bytes(const hx_session *s);

/* Adds what will be taken on the device: the operator's items (hx_operator_account),
 * preconditioner, pcg, displacements, loads, densities (all element fields of the design), filter.
 * Needs device and problem. */
void hx_session_device_account(const hx_session *s, hx_account *account);

/* Their sum. */
size_t hx_session_device_bytes(const hx_session *s);

/* Host bytes of the mesh and what its file states. */
size_t hx_session_mesh_bytes(const hx_session *s);

/* Of a checkpoint, in the file and in host memory while it is written: the next design,
 * displacements, a vector of the multigrid. */
size_t hx_session_checkpoint_bytes(const hx_session *s);

/* Accepts a zeroed or half-open session. */
void hx_session_free(hx_session *s);

#endif
