/* A follower joins in the functions of output_dist.h that the root calls. */
#include <string.h>

#include "../diag/diag.h"
#include "output_dist.h"
#include "trace.h"

/* The follower's part of the warnings before the first design; afterwards the lists of the mesh are
 * not needed. */
static int join_diags(hx_session *s)
{
    const int rc = hx_diags_follow(s);
    hx_session_free_lists(s);
    return rc;
}

static int join_output(hx_output *out, int32_t what)
{
    hx_session *const s = out->session;
    switch (what) {
    case HX_OUTPUT_TAKE:
        return hx_output_take(out, s);
    case HX_OUTPUT_WRITE:
        return hx_output_write_as(out, 0, NULL);
    case HX_OUTPUT_BEGIN_TRACE:
        s->cfg.output.timeline = 1; /* the root's config decides */
        return hx_trace_begin(out);
    case HX_DIAGS_CALL:
        return join_diags(s);
    default:
        return hx_trace_write(out);
    }
}

/* Joins in a call of the root; errors on all processes are reported by the root. */
static int answer(void *context, const hx_dist_call *call)
{
    hx_output *const out = context;
    hx_session *const s = out->session;
    const int rc = join_output(out, call->what);
    out->session = s; /* output whose memory is missing has been freed */
    if (rc < 0 && s->dist.is_lost) return rc;
    if (rc < 0) hx_error_clear();
    return HX_OK;
}

void hx_output_follow(hx_output *out, hx_session *s)
{
    memset(out, 0, sizeof *out);
    out->session = s;
    s->dist.answer = answer;
    s->dist.context = out;
}
