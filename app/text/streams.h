/* The standard streams: descriptors that the caller closed must not become those of files. */
#ifndef HX_STREAMS_H
#define HX_STREAMS_H

/* Before anything is opened: puts /dev/null on descriptors 0, 1 and 2 where they are closed, opened
 * the other way round, so that reading and writing fail as if it were not there. 0, or -1 if that
 * is impossible. */
int hx_streams_open(void);

/* At the end: the exit status, 1 in place of 0 if text for the standard output was lost, which is
 * said on stderr. Where stdout was closed from the start, or is a pipe that nobody reads any
 * more, that is an error only of a command whose purpose is to print. */
int hx_streams_close(int status, int is_to_print);

#endif
