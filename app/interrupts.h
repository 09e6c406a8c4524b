/* Handling of Ctrl-C and similar signals while hextop waits for another program or has incomplete
 * files. A signal ends that program and removes the files; then hextop ends by the same signal. */
#ifndef HX_INTERRUPTS_H
#define HX_INTERRUPTS_H

#include "session/signal_hooks.h"

extern const hx_signal_hooks hx_interrupts;

#endif
