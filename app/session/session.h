/* From a config to an optimizer that is ready to step. Each object borrows those before it, and
 * they are freed in reverse order. */
#ifndef HX_SESSION_H
#define HX_SESSION_H

#include <pthread.h>

#include "../config/config.h"
#include "core/base/hash.h"
#include "core/comm/comm_reduce.h"
#include "core/design/optimizer.h"
#include "core/design/voxels.h"
#include "core/dist/dist.h"
#include "core/generate/generate.h"
#include "core/mesh/mesh_quality.h"
#include "core/mesher/model_files.h"
#include "core/multigrid/plan_coarse.h"
#include "core/operator/plan_operator.h"
#include "core/registry.h"
#include "core/spline/spline.h"
#include "device_start.h"
#include "limits.h"
#include "output_names.h"
#include "stress_zones.h"

/* Steps before the first iteration, in order. */
typedef enum {
    HX_SETUP_MESH, /* generated or read */
    HX_SETUP_SHUFFLE,
    HX_SETUP_REORDER,
    HX_SETUP_FINISH, /* validation, lists of elements around nodes */
    HX_SETUP_SETS,
    HX_SETUP_PROBLEM,
    HX_SETUP_DEVICE,
    HX_SETUP_SOLVER, /* uploads, operator, vectors */
    HX_SETUP_DESIGN, /* filter, densities, load vectors */
    HX_SETUP_FILES,  /* in a run: output, history, checkpoint, and the hash of the mesh */
    HX_SETUP_CHECK,  /* in a run: quality of the mesh, warnings */
    HX_N_SETUP
} hx_setup_step;
const char *hx_setup_step_name(hx_setup_step step);

/* Measurement of the mesh's quality in a thread of its own, with n_thread OpenMP threads. */
typedef struct hx_measuring {
    pthread_t thread;
    int is_running, n_thread, rc;
    const hx_mesh *mesh; /* (borrowed) */
    hx_mesh_quality quality;
} hx_measuring;

typedef struct hx_session {
    hx_config cfg;
    hx_mesh mesh;
    /* spline of a spline file; its image `mesh` has one element per cell; otherwise empty */
    hx_spline spline;
    hx_conditions conditions; /* supports, loads and material that the mesh's file states */
    /* files that the command writes; none may be one that is read (borrowed); NULL: none */
    const hx_output_names *outputs;
    int is_draft; /* 1: the config is yet to be written; its defaults are not used (`hextop new`) */
    int n_mirror; /* planes at which the mesh of a CAD model is mirrored */
    hx_mirror_plane mirror[HX_MOST_MIRRORS];
    int has_physics_of_file; /* 1: the physics is that of the mesh's file (`hextop new`) */
    hx_mesh_quality quality; /* set by hx_session_measure */
    int is_measured;
    hx_measuring measuring; /* measurement of `quality`, concurrent with other work */
    hx_space space;         /* for solver.element */
    hx_problem problem;
    hx_design_params design; /* borrowed by filter and optimizer */
    hx_stress_zones zones;
    /* names of the sets without stress limits (borrowed from config and mesh) */
    const char *zone[HX_MOST_ZONES];
    int n_zone;
    hx_limits limits; /* the constraints of the config, one per load case */
    /* lists of the problem's mesh made in advance, used by the solver */
    hx_operator_plan operator_plan;
    hx_coarse_plan coarse_plan;
    /* notes on missing supports and loads are added here (borrowed); NULL: they are errors */
    hx_notes *lacking;
    hx_groups groups;    /* linked variables, by symmetry, repetition and extrusion */
    const hx_comm *comm; /* the processes of the run (borrowed); NULL: one */
    /* 1: the processes may each make a part of the mesh, and none the whole: in a run */
    int may_distribute_mesh;
    int judges_solid;       /* 1: hx_session_open judges the limits on the solid part */
    int has_checked_volume; /* 1: hx_session_check_volume has passed */
    int own_folders;        /* 1: not all of them see the output folder */
    /* reductions over the communicator, for a distributed mesh (session_dist_mesh.c) */
    hx_comm_reduce reduce;
    /* [n_set][2] numbers of nodes and elements of its sets over all processes (owned) */
    int64_t *set_size;
    hx_dist dist;                 /* with several processes, once the device is open */
    hx_device_start device_start; /* runs while mesh and problem are made */
    hx_device device;
    /* its note: reason for the operator if it differs from the config */
    hx_solver solver;
    hx_analysis analysis;
    hx_filter filter;
    double initial_greyness; /* greyness of the densities of optimization.initial; NaN: none */
    /* least volume of any design, set once the filter has been made */
    hx_least_volume least_volume;
    hx_optimizer opt;
    /* KKT residual of the first design that meets all limits, relative to that of the first design;
     * 0: none has met them */
    double first_kkt;
    double filter_radius; /* length; 0 if the filter has none */
    /* hx_voxels_bytes for the filter and the design of this process; 0: no voxels, or a filter
     * without sums */
    size_t voxel_bytes;
    size_t load_bytes;          /* hx_analysis_load_bytes, computed once */
    const hx_problem *loads_of; /* for which problem (borrowed); NULL: not yet */
    hx_sweep sweep;   /* of optimization.overhang, draw or milling; n_graph = 0: none (owned) */
    hx_voxels voxels; /* for the filter, made while the device's driver started (owned) */
    double setup_seconds[HX_N_SETUP];
    size_t setup_peak[HX_N_SETUP]; /* peak of the process' host memory up to the end of that step */
    /* host bytes per element, besides the mesh, whose availability is checked before meshing */
    double other_bytes;
    hx_account device_account;     /* operator, vectors, densities, filter */
    size_t device_bytes;           /* sum of device_account */
    size_t host_bytes;             /* host bytes of mesh and problem */
    hx_hash mesh_hash, order_hash; /* mesh_hash.h, computed when needed (identity.h) */
    int has_mesh_hash, has_order_hash;
    int own_element; /* 1 + solver.element of the config, if a command takes another element */
} hx_session;

/* Describes the sweep, which exists, in a line. */
const char *hx_session_sweep_text(const hx_session *s, char *text, size_t n_text);

/* Runs all steps below, in order, on every process of a run. The caller zeroed s and filled
 * s->cfg. */
int hx_session_open(hx_session *s);

/* After the set-up, before the first design: frees the lists of elements around nodes on the host
 * if the mesh is distributed, since a run does not read them afterwards. Does nothing otherwise. */
void hx_session_free_lists(hx_session *s);

/* The steps one by one, for commands that stop earlier or print in between. */
int hx_session_make_mesh(hx_session *s); /* mesh and sets, distributed with a communicator */
/* Begins a step, which a terminal shows until the next line. Returns the time. */
double hx_session_begin_step(hx_setup_step step);
void hx_session_end_step(hx_session *s, hx_setup_step step, double begin);

/* Divides the mesh of a session without a communicator for n_rank processes by solver.partition,
 * before the problem is made; the key is set to the partition used. Errors: those of
 * hx_partition_make. */
int hx_session_cut_mesh(hx_session *s, int n_rank);
int hx_session_measure(hx_session *s); /* measures the mesh's quality, once */
/* Starts the measurement concurrently if a GPU computes and the host would wait; hx_session_measure
 * ends it. Does nothing if the quality is known or the mesh is distributed. The mesh must not
 * change until then. */
void hx_session_measure_meanwhile(hx_session *s);
/* supports, loads, passive elements, radius, linked variables */
int hx_session_make_problem(hx_session *s);
/* Selects device, operator and layout, and resolves their names in cfg. With solver.operator =
 * "auto" the operators are timed, and s->solver.op may hold the selected one. */
int hx_session_open_device(hx_session *s);
/* Makes operator, preconditioner and PCG. If a selection of "auto" does not get its memory, one
 * that stores less replaces it, with a warning; likewise in hx_session_make_design. */
int hx_session_make_solver(hx_session *s);
/* Makes the filter and computes the least and largest volume of a design. HX_EINPUT: a volume
 * fraction outside of that, or a change_tolerance that the move limit would always meet. */
int hx_session_check_volume(hx_session *s);
int hx_session_make_design(hx_session *s); /* hx_session_check_volume, then the optimizer */
/* hx_optimizer_step. If device memory runs out in the first design, a selection of "auto" is
 * replaced as above and the design is restarted; in later designs the message states what would
 * fit. */
int hx_session_step(hx_session *s, hx_iteration *it);
/* hx_optimizer_return_result */
int hx_session_return_result(hx_session *s, const hx_iteration *last, hx_iteration *it);

/* Parts of the steps, for commands that use several devices or operators. The steps above keep
 * objects that exist already. */
/* The requested device, or with "auto" the first that can run here. */
int hx_session_find_device(const hx_session *s, const hx_device_ops **ops);
/* Sets the threads of the run: solver.threads, or the cores of this process. HX_EINPUT: many times
 * more than there are cores. */
int hx_session_set_threads(const hx_session *s);
/* without selecting an operator */
int hx_session_start_device(hx_session *s, const hx_device_ops *ops);
int hx_session_make_operator(hx_session *s); /* as s->solver has chosen */
int hx_session_make_filter(hx_session *s);   /* on the device */
/* The kinds named by optimization.objective and optimization.update. */
const hx_response_kind *hx_session_response_kind(const char *name);
const hx_response_kind *hx_session_objective(const hx_session *s);
hx_response_params hx_session_objective_params(const hx_session *s);
/* Its name if it is not the compliance, which is reported in any case; else NULL. */
const char *hx_session_other_objective(const hx_session *s);
/* That name, unless it is the volume, which is a column of its own. */
const char *hx_session_objective_column(const hx_session *s);
/* "displacement, set 'tip', direction [0, 0, -1]"; returns text. */
const char *hx_session_objective_text(const hx_session *s, char *text, size_t n_text);
/* The update of the config; "auto" is resolved for the problem. */
const hx_update_kind *hx_session_update(const hx_session *s);
/* Why "auto" does not take optimality criteria; NULL: it does, or the config states the update. */
const char *hx_session_update_reason(const hx_session *s);
/* Once the problem is made: resolves "auto" in the config. HX_EINPUT: a kkt_tolerance that the
 * update does not support. */
int hx_session_choose_update(hx_session *s);
/* 1 if the config states no filter and exact derivatives made the default another one. */
int hx_session_chose_filter(const hx_session *s);
/* The config's, or the default of its update. */
double hx_session_kkt_tolerance(const hx_session *s);
/* volume_fraction; NaN: no volume is prescribed. */
double hx_session_volume_wanted(const hx_session *s);
/* Density of a uniform design for forecasts: the prescribed volume, or the first density. */
double hx_session_typical_density(const hx_session *s);
/* 1 if the design has converged: changes or the KKT residual are below their tolerance, penalty and
 * beta have their final values, and all limits are met. */
int hx_session_has_converged(const hx_session *s, const hx_iteration *it);
/* Frees the optimizer, analysis, PCG, preconditioner and operator. */
void hx_session_drop_operator(hx_session *s);

/* The problem that the solver works on, or a process' subdomain of it, and its device. */
const hx_problem *hx_session_solved(const hx_session *s);
hx_device *hx_session_solver_device(hx_session *s);

/* Device bytes of a run on one of n_rank processes, for a session without a communicator whose
 * solver has been selected. HX_EINPUT: the problem runs only on one process. O(n_elem). */
int hx_session_rank_bytes(hx_session *s, int n_rank, int rank, size_t *bytes);

/* session_ranks.c: all processes of a run execute the same program. With one process these
 * functions communicate nothing. */

/* 1 on the first process, which prints, writes what is small, and has arrays of the whole mesh. */
int hx_session_is_first(const hx_session *s);
/* Turns an error of any process into an error of all. Collective. */
int hx_session_agree(const hx_session *s, int rc);
/* data[bytes] := that of the first process. Collective. */
int hx_session_share(hx_session *s, void *data, size_t bytes);
/* rc is the result of a step that must succeed on all processes or on none: after a failure on only
 * one they are out of step, and this process enters no collective function. Returns rc. */
int hx_session_note_error(hx_session *s, int rc);
/* *pointer := memory for n values of that size on the first process, NULL on the others; the caller
 * frees it. Collective: HX_ENOMEM on all. */
int hx_session_alloc_whole(const hx_session *s, void *pointer, int64_t n, size_t size,
                           const char *what);

/* "2 processes (MPI), ...; at most 3,072 elements each, ...", for a session with a communicator;
 * returns text. */
const char *hx_session_comm_text(const hx_session *s, char *text, size_t n_text);

/* Points of the space over all processes. */
int64_t hx_session_n_point(const hx_session *s);

/* Numbers of nodes and elements of set i of the mesh over all processes. */
void hx_session_set_size(const hx_session *s, size_t i, int64_t *n_node, int64_t *n_elem);

/* The material of an entry of `materials`, such as "bolts: E 210000 MPa; 96 elements, 3.1 % of the
 * volume"; returns text. */
const char *hx_session_material_text(const hx_session *s, size_t i, char *text, size_t n_text);

/* Mass of a design with this volume fraction, if all elements have one material; NaN without
 * material.density. */
double hx_session_mass(const hx_session *s, double volume_fraction);

/* *mass of the design just analysed, which has this volume fraction, with the materials of its
 * elements; NaN without material.density. With several processes it is collective. O(n_elem) if
 * there are several materials. */
int hx_session_measure_mass(hx_session *s, double volume_fraction, double *mass);

/* The uniform densities of the first design, without optimization.initial; NULL: no load depends on
 * them. The caller frees *density. */
int hx_session_first_density(const hx_session *s, double **density);

/* The densities of optimization.initial; NULL: the design starts uniform. The caller frees
 * *density. */
int hx_session_read_initial(hx_session *s, double **density);

/* "ebe, interleaved, deterministic (instead of ebe24, which needs a GPU)"; returns text. */
const char *hx_session_operator_text(const hx_session *s, char *text, size_t n_text);

/* Size of "elements" as a unit of length: " of 1.266 mm" if not all elements are hexahedra, whose
 * length is the cube root of the volume; else "". Returns text. */
const char *hx_session_element_text(const hx_session *s, char *text, size_t n_text);

/* "24,576 of 24,576 elements in 6,144 groups (2 symmetry planes, extruded)", and inexact images;
 * returns text. */
const char *hx_session_groups_text(const hx_session *s, char *text, size_t n_text);

/* Upper bound of the filter's device bytes. */
size_t hx_session_filter_bytes(const hx_session *s);
/* Upper bound of the optimizer's device bytes, including linked variables. */
size_t hx_session_optimizer_bytes(const hx_session *s);

/* Adds the future device memory: items of the operator (hx_operator_account), preconditioner, pcg,
 * displacements, loads, densities (all element fields of the design), filter. Needs device and
 * problem. */
void hx_session_device_account(const hx_session *s, hx_account *account);

/* Their sum. */
size_t hx_session_device_bytes(const hx_session *s);

/* Host bytes of the mesh and of the data that its file states. */
size_t hx_session_mesh_bytes(const hx_session *s);

/* Bytes of a checkpoint, in the file and in host memory while it is written: the next design,
 * displacements, and a vector of the multigrid. */
size_t hx_session_checkpoint_bytes(const hx_session *s);

/* Accepts a zeroed or half-open session. */
void hx_session_free(hx_session *s);

#endif
