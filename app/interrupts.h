/* Handling of Ctrl-C and similar signals while hextop waits for another program or has incomplete
 * files: ends that program, removes the files, then ends by the same signal. */
#ifndef HX_INTERRUPTS_H
#define HX_INTERRUPTS_H

#include "session/signal_hooks.h"

extern const hx_signal_hooks hx_interrupts;

#endif
