#include "signal_hooks.h"

#include <stddef.h>

static const hx_signal_hooks *used;

void hx_signal_hooks_set(const hx_signal_hooks *hooks)
{
    used = hooks;
}

void hx_signals_begin(void)
{
    if (used) used->begin();
}

int hx_signals_caught(void *context)
{
    return used ? used->is_caught(context) : 0;
}

void hx_signals_end(void)
{
    if (used) used->end();
}
