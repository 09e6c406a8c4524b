#include "interrupts.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static const int number[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_NUMBER = sizeof number / sizeof number[0] };

static struct sigaction before[N_NUMBER];
static volatile sig_atomic_t caught; /* number of the signal; 0: none */

static void note(int which)
{
    caught = which;
}

/* A SIGHUP that is ignored, for example by nohup, stays so; see `hextop run` for the others, which
 * shells ignore for background jobs of scripts. */
static void begin_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    caught = 0;
    for (int i = 0; i < N_NUMBER; i++) {
        sigaction(number[i], NULL, &before[i]);
        if (number[i] == SIGHUP && before[i].sa_handler == SIG_IGN) continue;
        sigaction(number[i], &action, NULL);
    }
}

static int is_caught(void *context)
{
    (void)context;
    return caught != 0;
}

static void end(void)
{
    for (int i = 0; i < N_NUMBER; i++) sigaction(number[i], &before[i], NULL);
    if (!caught) return;
    struct sigaction now;
    sigaction(caught, NULL, &now);
    if (now.sa_handler == SIG_IGN) signal(caught, SIG_DFL);
    raise(caught);
}

const hx_signal_hooks hx_interrupts = {begin_interrupts, is_caught, end};
