#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/resource.h>

enum { ENOUGH = 1 << 20, GIVEN = 8 << 20 };

typedef struct call {
    int (*main)(int argc, char **argv);
    int argc, result;
    char **argv;
} call;

static void *start_on_stack(void *context)
{
    call *const c = context;
    c->result = c->main(c->argc, c->argv);
    return NULL;
}

/* Returns 0 if the system cannot make such a thread. */
static int run_in_thread(call *c)
{
    pthread_t thread;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) return 0;
    int ok = pthread_attr_setstacksize(&attr, GIVEN) == 0;
#ifdef __GLIBC__
    if (ok) (void)pthread_setattr_default_np(&attr); /* for the threads of OpenMP */
#endif
    ok = ok && pthread_create(&thread, &attr, start_on_stack, c) == 0 &&
         pthread_join(thread, NULL) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

int hx_stack_run(int (*main)(int argc, char **argv), int argc, char **argv)
{
    call c = {main, argc, 0, argv};
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < ENOUGH && run_in_thread(&c))
        return c.result;
    return main(argc, argv);
}
