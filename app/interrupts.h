/* Ctrl-C and the like while another program works for us, or files are half written: that one is
 * ended, and they are removed, before we end by the same signal. */
#ifndef HX_INTERRUPTS_H
#define HX_INTERRUPTS_H

#include "session/signal_hooks.h"

extern const hx_signal_hooks hx_interrupts;

#endif
