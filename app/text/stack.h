/* A stack of known size: under a small limit (`ulimit -s 128`) the blocks that operators work on
 * would not fit. */
#ifndef HX_STACK_H
#define HX_STACK_H

/* main(argc, argv), where the limit is below what is needed on a stack that is large enough, and
 * so those of all threads made from then on. Returns what it returned. */
int hx_stack_run(int (*main)(int argc, char **argv), int argc, char **argv);

#endif
