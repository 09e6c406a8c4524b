/* The parts of what `hextop check` reports. */
#ifndef HX_CHECK_H
#define HX_CHECK_H

#include "../output/output.h"
#include "../session/session.h"
#include "../text/log.h"

typedef struct hx_check {
    hx_session session;
    int n_warning;
} hx_check;

#define HX_CHECK_WARN(check, ...) ((check)->n_warning++, hx_log_warning(__VA_ARGS__))

/* 1 if tables need not be made. */
static inline int hx_check_is_quiet(void)
{
    return hx_log_get_level() < HX_LOG_NORMAL;
}

/* Of the mesh. */
int hx_check_mesh(hx_check *check);
void hx_check_sets(const hx_mesh *mesh);

/* Of the problem. */
void hx_check_material(hx_check *check);
void hx_check_supports(const hx_session *s);
void hx_check_springs(const hx_session *s);
int hx_check_loads(hx_check *check);
int hx_check_passive(hx_check *check);
int hx_check_filter(hx_check *check);
void hx_check_ties(hx_check *check);
void hx_check_volume(const hx_session *s); /* what of it is left to design */
void hx_check_continuation(hx_check *check);

/* Of the device, the operator chosen. */
int hx_check_memory(hx_check *check);

/* Of the solver, set up. The most host memory at any time; the files; a PCG iteration is timed. */
void hx_check_peak(const hx_session *s, const hx_output_plan *plan);
void hx_check_output(hx_check *check, const hx_output_plan *plan);
int hx_check_time(hx_session *s);

#endif
