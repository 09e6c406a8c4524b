/* Threads of OpenMP; without OpenMP there is one. */
#ifndef HX_THREADS_H
#define HX_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

/* Number of threads of the next parallel region. */
static inline int hx_most_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* Index of the calling thread in its region. */
static inline int hx_this_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

#endif
