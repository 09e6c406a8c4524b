/* Rows of a range on the host: moved to the loads, cut, written. */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "matrix_job.h"

static int write_rows(hx_matrix_job *job, const hx_row_range *range, const hx_matrix_rows *blocks)
{
    const double begin = hx_clock();
    HX_TRY(hx_matrix_cut_rows(&job->cut, &job->session.problem, range, blocks, &job->numbers));
    const double cut = hx_clock();
    HX_TRY(hx_matrix_writer_rows(job->writer, &job->numbers.rows));
    job->cut_seconds += cut - begin;
    job->write_seconds += hx_clock() - cut;
    return HX_OK;
}

static void *work(void *of_hand)
{
    hx_matrix_hand *const hand = of_hand;
    hx_matrix_job *const job = hand->job;
    if (job->sides.moves)
        hx_matrix_sides_move(&job->sides, &job->session.problem, &hand->range, &hand->blocks);
    hand->rc = job->writer ? write_rows(job, &hand->range, &hand->blocks) : HX_OK;
    if (hand->rc < 0) snprintf(hand->message, sizeof hand->message, "%s", hx_error_message());
    return NULL;
}

int hx_matrix_hand_end(hx_matrix_hand *hand)
{
    if (hand->running) pthread_join(hand->thread, NULL);
    hand->running = 0;
    hx_row_range_free(&hand->range);
    hx_matrix_rows_free(&hand->blocks);
    const int rc = hand->rc;
    hand->rc = HX_OK;
    return rc < 0 ? HX_RAISE(rc, "%s", hand->message) : HX_OK;
}

int hx_matrix_hand_give(hx_matrix_hand *hand, hx_row_range *range, hx_matrix_rows *blocks)
{
    const int rc = hx_matrix_hand_end(hand);
    hand->range = *range;
    hand->blocks = *blocks;
    memset(range, 0, sizeof *range);
    memset(blocks, 0, sizeof *blocks);
    if (rc < 0) return rc;
    hand->running = pthread_create(&hand->thread, NULL, work, hand) == 0;
    if (!hand->running) work(hand); /* no thread to be had: here */
    return HX_OK;
}
