/* The parts of the report of `hextop check`. */
#ifndef HX_CHECK_H
#define HX_CHECK_H

#include "../diag/diag.h"
#include "../output/output.h"
#include "../session/session.h"
#include "../text/log.h"

typedef struct hx_check {
    hx_session session;
    hx_diags diags; /* all warnings */
    int n_rank;     /* requested number of processes; 0: none */
    int solves;     /* 1: the solid part is analysed */
    int n_fault;    /* errors reported so far; later checks run if they can */
} hx_check;

/* Number of rows of the table of sets without -v. */
enum { HX_CHECK_MOST_SETS = 40 };

/* 1: tables are not printed, so they need not be made. */
static inline int hx_check_is_quiet(void)
{
    return hx_log_get_level() < HX_LOG_NORMAL;
}

/* Reports on the mesh. */
int hx_check_mesh(hx_check *check);
int hx_check_sets(const hx_session *s); /* without the faces of a CAD model */
/* the faces of a CAD model with their shapes; if there are many, only the largest */
int hx_check_faces(const hx_session *s);
int hx_check_is_model_face(const hx_set *set);

/* Reports how n_rank processes would divide the mesh, by each partition of this build: balance, cut
 * and halo. */
int hx_check_dist(const hx_session *s, int n_rank);

/* Reports the device memory of each process, measured for at most eight of them. */
int hx_check_rank_memory(hx_session *s, int n_rank);

/* Reports on the problem. */
int hx_check_material(const hx_session *s);
void hx_check_supports(const hx_session *s);
void hx_check_springs(const hx_session *s);
int hx_check_loads(const hx_session *s);
int hx_check_passive(const hx_session *s);
int hx_check_filter(const hx_session *s);
void hx_check_sweep(const hx_session *s);
void hx_check_local_volumes(const hx_session *s); /* how their means are computed */
void hx_check_groups(const hx_session *s);
void hx_check_volume(const hx_session *s); /* volume available to the design */
void hx_check_continuation(const hx_session *s);

/* Reports the memory on the device, once the operator has been selected. */
int hx_check_memory(hx_check *check);

/* Reports after the set-up of the solver: the peak of host memory, the files, and the time, from a
 * timed PCG iteration. */
void hx_check_peak(const hx_session *s, const hx_output_plan *plan);
void hx_check_output(hx_check *check, const hx_output_plan *plan);
int hx_check_time(hx_session *s);

#endif
