/* The standard streams: descriptors that the caller closed must not become those of files. */
#ifndef HX_STREAMS_H
#define HX_STREAMS_H

/* Call before anything is opened: opens /dev/null on descriptors 0, 1 and 2 if they are closed, in
 * the opposite direction, so that reading and writing fail as on a closed descriptor. Returns 0, or
 * -1 if that is impossible. */
int hx_streams_open(void);

/* Call at the end: returns the exit status, 1 instead of 0 if output to stdout was lost, with a
 * message on stderr. If stdout was closed from the start, or is a pipe without a reader, that is an
 * error only for a command whose purpose is to print. */
int hx_streams_close(int status, int is_to_print);

#endif
