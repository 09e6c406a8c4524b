/* Quality of a session's mesh: measured immediately, or while a GPU solves the first design. */
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "session_internal.h"

static void *measure_machine(void *argument)
{
    hx_measuring *const m = argument;
#ifdef _OPENMP
    omp_set_num_threads(m->n_thread); /* for this thread */
#endif
    m->rc = hx_mesh_measure(m->mesh, &m->quality);
    return NULL;
}

/* One thread less than available, since another one feeds the device. */
static int count_threads(void)
{
#ifdef _OPENMP
    const int n = omp_get_max_threads();
    return n > 1 ? n - 1 : 1;
#else
    return 1;
#endif
}

void hx_session_measure_meanwhile(hx_session *s)
{
    hx_measuring *const m = &s->measuring;
    if (s->is_measured || s->mesh.ownership || m->is_running) return;
    m->mesh = &s->mesh;
    m->n_thread = count_threads();
    m->is_running = pthread_create(&m->thread, NULL, measure_machine, m) == 0;
}

void hx_session_end_measuring(hx_session *s)
{
    hx_measuring *const m = &s->measuring;
    if (!m->is_running) return;
    pthread_join(m->thread, NULL);
    m->is_running = 0;
    if (m->rc < 0) return; /* after a lack of memory it is repeated when it is needed */
    s->quality = m->quality;
    s->is_measured = 1;
}

int hx_session_measure(hx_session *s)
{
    hx_session_end_measuring(s);
    if (s->is_measured || s->mesh.ownership)
        return HX_OK; /* bodies and hinges need the whole mesh */
    HX_TRY(hx_mesh_measure(&s->mesh, &s->quality));
    s->is_measured = 1;
    return HX_OK;
}
