/* A stack that is large enough: under a small limit (`ulimit -s 128`), the blocks on which
 * operators work would not fit. */
#ifndef HX_STACK_H
#define HX_STACK_H

/* Runs main(argc, argv). If the stack limit is too low, runs it on a stack that is large enough;
 * threads made from then on also have such a stack. Returns the value of main. */
int hx_stack_run(int (*main)(int argc, char **argv), int argc, char **argv);

#endif
