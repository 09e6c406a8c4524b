/* What the processes of a run decide together. */
#include "core/base/memory.h"
#include "session.h"

int hx_session_is_first(const hx_session *s)
{
    return !s->comm || s->comm->rank == HX_DIST_ROOT;
}

int hx_session_agree(const hx_session *s, int rc)
{
    if (!s->comm || (rc < 0 && s->dist.is_lost)) return rc;
    HX_TRY(hx_dist_check(&s->dist));
    return hx_comm_agree(s->comm, rc);
}

int hx_session_share(hx_session *s, void *data, size_t bytes)
{
    if (!s->comm) return HX_OK;
    HX_TRY(hx_dist_check(&s->dist));
    return hx_session_note_error(s, s->comm->ops->broadcast(s->comm, HX_DIST_ROOT, data, bytes));
}

int hx_session_note_error(hx_session *s, int rc)
{
    return s->comm ? hx_dist_note_error(&s->dist, rc) : rc;
}

int hx_session_alloc_whole(const hx_session *s, void *pointer, int64_t n, size_t size,
                           const char *what)
{
    *(void **)pointer = NULL;
    return hx_session_agree(s, hx_session_is_first(s) ? hx_alloc_raw(pointer, (size_t)n, size, what)
                                                      : HX_OK);
}
