/* The follower's part of the output: its answers to the calls of the root (output_dist.h). */
#include <string.h>

#include "../diag/diag.h"
#include "output_dist.h"
#include "trace.h"

/* The follower's part of the warnings before the first design; afterwards the lists of the mesh are
 * not needed. */
static int judge_local(hx_session *s)
{
    const int rc = hx_diags_follow(s);
    hx_session_free_lists(s);
    return rc;
}

static int do_local(hx_output *out, int32_t what)
{
    switch (what) {
    case HX_OUTPUT_TAKE:
        return hx_output_take_local(out);
    case HX_OUTPUT_WRITE:
        return hx_output_write_local(out, 0, NULL, 0);
    case HX_OUTPUT_BEGIN_TRACE:
        return hx_trace_begin_local(out);
    case HX_DIAGS_CALL:
        return judge_local(out->session);
    default:
        return hx_trace_write_local(out);
    }
}

/* Answers a call of the root; errors on all processes are reported by the root. */
static int answer(void *context, const hx_dist_call *call)
{
    hx_output *const out = context;
    const int rc = do_local(out, call->what);
    if (rc < 0 && out->session->dist.is_lost) return rc;
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
