/* The parts of what `hextop check` reports. */
#ifndef HX_CHECK_H
#define HX_CHECK_H

#include "../doubt/doubt.h"
#include "../output/output.h"
#include "../session/session.h"
#include "../text/log.h"

typedef struct hx_check {
    hx_session session;
    hx_doubts doubts; /* all warnings */
    int n_rank;       /* processes asked for; 0: none */
    int n_fault;      /* said already; what can be looked at in spite of them is */
} hx_check;

/* 1 if tables need not be made. */
static inline int hx_check_is_quiet(void)
{
    return hx_log_get_level() < HX_LOG_NORMAL;
}

/* Of the mesh. */
int hx_check_mesh(hx_check *check);
int hx_check_sets(const hx_session *s);  /* without the faces of a CAD model */
int hx_check_faces(const hx_session *s); /* of a CAD model: what each is; if many, the largest */
int hx_check_is_model_face(const hx_set *set);

/* How n_rank processes would share it: balance, cut, halo, each way that this build has. */
int hx_check_ranks(const hx_session *s, int n_rank);

/* What a device would hold in each; for eight of them at most. */
int hx_check_rank_memory(hx_session *s, int n_rank);

/* Of the problem. */
void hx_check_material(const hx_session *s);
void hx_check_supports(const hx_session *s);
void hx_check_springs(const hx_session *s);
int hx_check_loads(const hx_session *s);
int hx_check_passive(const hx_session *s);
int hx_check_filter(const hx_session *s);
void hx_check_ties(const hx_session *s);
void hx_check_volume(const hx_session *s); /* what of it is left to design */
void hx_check_continuation(const hx_session *s);

/* Of the device, the operator chosen. */
int hx_check_memory(hx_check *check);

/* Of the solver, set up. The most host memory at any time; the files; a PCG iteration is timed. */
void hx_check_peak(const hx_session *s, const hx_output_plan *plan);
void hx_check_output(hx_check *check, const hx_output_plan *plan);
int hx_check_time(hx_session *s);

#endif
