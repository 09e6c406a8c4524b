/* Batches of iterations between two status checks: recording and replay, and samples of the time.
 * A device that can record does so once and replays the recording for the same vectors. What cannot
 * be recorded is queued normally, and reports its error there if it fails. */
#include <stdio.h>
#include <string.h>

#include "../device/timeline.h"
#include "pcg_internal.h"

static void free_recording(hx_pcg *pcg, hx_pcg_recording *recording)
{
    if (recording->batch) pcg->dev->ops->record_free(pcg->dev, recording->batch);
    recording->batch = NULL;
}

void hx_pcg_reset_recordings(hx_pcg *pcg)
{
    for (int i = 0; i < HX_PCG_RECORDINGS; i++) free_recording(pcg, &pcg->recording[i]);
}

/* Makes the recording for this solve the first of the list; if there is none, its place is free,
 * for which the one that was used longest ago goes. Frees those of an older version. */
static void bring_forward(hx_pcg_run *s)
{
    hx_pcg *const pcg = s->pcg;
    const hx_pcg_recording wanted = {
        .d_u = s->is_single ? NULL : s->d_u, .a = s->a, .version = s->pc->version};
    int at = HX_PCG_RECORDINGS - 1;
    for (int i = 0; i < HX_PCG_RECORDINGS; i++) {
        hx_pcg_recording *const of = &pcg->recording[i];
        if (of->version != wanted.version) free_recording(pcg, of);
        if (of->batch && of->d_u == wanted.d_u && of->a == wanted.a) at = i;
    }
    hx_pcg_recording first = pcg->recording[at];
    if (first.d_u != wanted.d_u || first.a != wanted.a || !first.batch) {
        free_recording(pcg, &first);
        first = wanted;
    }
    memmove(pcg->recording + 1, pcg->recording, (size_t)at * sizeof *pcg->recording);
    pcg->recording[0] = first;
}

/* rc: HX_OK, or the error of a recording, from now on a reason to record no more. */
static void keep_recording_error(hx_pcg *pcg, int rc)
{
    pcg->cannot_record = rc;
    if (rc >= 0) return;
    hx_pcg_reset_recordings(pcg);
    snprintf(pcg->not_recorded, sizeof pcg->not_recorded, "%s", hx_error_message());
    hx_error_clear();
}

/* 1 for the first iteration of a solve that computes z late. Its z exists already, so it differs
 * from the later iterations and is not recorded. */
static int is_first(const hx_pcg_run *s)
{
    return s->is_z_late && s->has_z;
}

int hx_pcg_begin_batch(hx_pcg_run *s)
{
    hx_pcg *const pcg = s->pcg;
    if (is_first(s)) return 1;
    bring_forward(s);
    if (pcg->recording[0].batch) return 0;
    if (s->dev->ops->record_begin && !pcg->cannot_record) {
        keep_recording_error(pcg, s->dev->ops->record_begin(s->dev));
        s->is_recording = !pcg->cannot_record;
    }
    return pcg->params.check_every;
}

int hx_pcg_begin_iteration(hx_pcg_run *s, int is_marked)
{
    s->is_marked = is_marked;
    HX_TRY(hx_span_begin(s->dev, HX_SPAN_ITERATION, -1));
    return hx_pcg_mark_event(s, HX_PCG_MARK_BEGIN);
}

int hx_pcg_end_iteration(hx_pcg_run *s)
{
    HX_TRY(hx_pcg_mark_event(s, HX_PCG_MARK_END));
    return hx_span_end(s->dev, HX_SPAN_ITERATION);
}

/* Reading the timers makes the device wait, so time is sampled only after the first status checks
 * and every few of the later ones. */
enum { SAMPLES_FIRST = 2, SAMPLES_EVERY = 8 };

/* has_first_z: z was computed before the iteration, so its time is added. */
static int sample(hx_pcg_run *s, int has_first_z)
{
    double product, precond = 0.0, all;
    HX_TRY(s->dev->ops->elapsed(s->dev, HX_PCG_MARK_PRODUCT, HX_PCG_MARK_PRODUCT_END, &product));
    HX_TRY(s->dev->ops->elapsed(s->dev, HX_PCG_MARK_BEGIN, HX_PCG_MARK_END, &all));
    if (s->is_z_vector)
        HX_TRY(
            s->dev->ops->elapsed(s->dev, HX_PCG_MARK_PRECOND, HX_PCG_MARK_PRECOND_END, &precond));
    s->spmv_sampled += product;
    s->precond_sampled += precond;
    s->all_sampled += has_first_z ? precond + all : all;
    return HX_OK;
}

int hx_pcg_end_batch(hx_pcg_run *s, int rc, int *has_run)
{
    hx_pcg *const pcg = s->pcg;
    *has_run = 1;
    if (s->is_recording) {
        const int rc_end = s->dev->ops->record_end(s->dev, &pcg->recording[0].batch);
        s->is_recording = 0;
        keep_recording_error(pcg, rc < 0 ? rc : rc_end);
        *has_run = !pcg->cannot_record;
        if (!*has_run) return HX_OK;
    } else {
        HX_TRY(rc);
    }
    if (is_first(s)) { /* its time is used only if it remains the only sample */
        s->has_z = 0;
        HX_TRY(hx_pcg_read_state(s));
        return s->all_sampled > 0.0 || s->state.reason == HX_PCG_RUNNING ? HX_OK : sample(s, 1);
    }
    if (pcg->recording[0].batch) HX_TRY(s->dev->ops->replay(s->dev, pcg->recording[0].batch));
    HX_TRY(hx_pcg_read_state(s));
    if (s->n_look++ >= SAMPLES_FIRST && s->n_look % SAMPLES_EVERY != 0) return HX_OK;
    return sample(s, 0);
}
