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

/* Signals that are ignored, for example by nohup, stay ignored. */
static void begin_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    caught = 0;
    for (int i = 0; i < N_NUMBER; i++) {
        sigaction(number[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(number[i], &action, NULL);
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
    if (caught) raise(caught);
}

const hx_signal_hooks hx_interrupts = {begin_interrupts, is_caught, end};
