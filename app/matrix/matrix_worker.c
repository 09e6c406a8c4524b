/* A thread that runs one task after the other. It keeps its own OpenMP threads, which a new thread
 * for each task would have to start. */
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "matrix_job.h"

static void do_it(hx_matrix_worker *worker, int (*work)(void *what), void *what)
{
    worker->rc = work(what);
    if (worker->rc < 0) snprintf(worker->message, sizeof worker->message, "%s", hx_error_message());
}

static void *run_worker(void *of_worker)
{
    hx_matrix_worker *const worker = of_worker;
#ifdef _OPENMP
    omp_set_num_threads(worker->n_thread);
#endif
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (!worker->work && !worker->ends) pthread_cond_wait(&worker->change, &worker->lock);
        if (!worker->work) break;
        pthread_mutex_unlock(&worker->lock);
        /* no other thread reads it while `work` is set */
        do_it(worker, worker->work, worker->what);
        pthread_mutex_lock(&worker->lock);
        worker->work = NULL;
        pthread_cond_broadcast(&worker->change);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

static int begin_worker(hx_matrix_worker *worker)
{
#ifdef _OPENMP
    worker->n_thread = omp_get_max_threads();
#endif
    if (pthread_mutex_init(&worker->lock, NULL) != 0) return 0;
    if (pthread_cond_init(&worker->change, NULL) == 0) {
        worker->runs = pthread_create(&worker->thread, NULL, run_worker, worker) == 0;
        if (!worker->runs) pthread_cond_destroy(&worker->change);
    }
    if (!worker->runs) pthread_mutex_destroy(&worker->lock);
    return worker->runs;
}

int hx_matrix_worker_wait(hx_matrix_worker *worker)
{
    if (worker->runs) {
        pthread_mutex_lock(&worker->lock);
        while (worker->work) pthread_cond_wait(&worker->change, &worker->lock);
        pthread_mutex_unlock(&worker->lock);
    }
    const int rc = worker->rc;
    worker->rc = HX_OK;
    return rc < 0 ? HX_RAISE(rc, "%s", worker->message) : HX_OK;
}

int hx_matrix_worker_give(hx_matrix_worker *worker, int (*work)(void *what), void *what)
{
    HX_TRY(hx_matrix_worker_wait(worker));
    if (!worker->runs && !begin_worker(worker)) { /* without a thread the task runs here */
        do_it(worker, work, what);
        return HX_OK;
    }
    pthread_mutex_lock(&worker->lock);
    worker->what = what;
    worker->work = work;
    pthread_cond_broadcast(&worker->change);
    pthread_mutex_unlock(&worker->lock);
    return HX_OK;
}

void hx_matrix_worker_end(hx_matrix_worker *worker)
{
    if (!worker->runs) return;
    pthread_mutex_lock(&worker->lock);
    worker->ends = 1;
    pthread_cond_broadcast(&worker->change);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->change);
    pthread_mutex_destroy(&worker->lock);
    worker->runs = worker->ends = 0;
}
