/* Rows of a range on the host: waits for them, moves columns to the loads, converts them, and
 * writes them in a thread of its own. */
#include "core/base/clock.h"
#include "matrix_job.h"

static int write_numbers(void *what)
{
    hx_matrix_chunk *const chunk = what;
    hx_matrix_job *const job = chunk->job;
    const double begin = hx_clock();
    HX_TRY(hx_matrix_writer_rows(job->writer, &chunk->numbers.rows));
    job->write_seconds += hx_clock() - begin;
    return HX_OK;
}

int hx_matrix_hand_work(void *what)
{
    hx_matrix_chunk *const chunk = what;
    hx_matrix_job *const job = chunk->job;
    hx_matrix_stages *const st = &job->stages;
    const double begin = hx_clock();
    HX_TRY(st->ops->fetch_wait(st->dev, chunk->slot));
    const double there = hx_clock();
    job->download_seconds += there - begin;
    if (job->sides.moves)
        hx_matrix_sides_move(&job->sides, &job->session.problem, &chunk->range, &chunk->blocks);
    if (!job->writer) return HX_OK;
    HX_TRY(hx_matrix_cut_rows(&job->cut, &job->session.problem, &chunk->range, &chunk->blocks,
                              &chunk->numbers));
    job->cut_seconds += hx_clock() - there;
    return hx_matrix_worker_give(&job->chunks.writer, write_numbers, chunk);
}
