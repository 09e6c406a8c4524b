/* Protects the standard streams: a file must not get a standard descriptor that the caller
 * closed. */
#ifndef HX_STREAMS_H
#define HX_STREAMS_H

/* Called before anything is opened. If descriptors 0, 1 or 2 are closed, opens /dev/null on them in
 * the opposite direction, so that reading and writing fail as on a closed descriptor. Returns 0, or
 * -1 if that is impossible. */
int hx_streams_open(void);

/* Called at the end. Returns the exit status; if output to stdout was lost, returns 1 instead of 0,
 * with a message on stderr. If stdout was closed from the start, or is a pipe without a reader,
 * that is an error only for a command whose purpose is to print. */
int hx_streams_close(int status, int is_to_print);

#endif
