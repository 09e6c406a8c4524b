/* What happens to signals while another program works for us, gmsh for one, or while files are half
 * written. */
#ifndef HX_SIGNAL_HOOKS_H
#define HX_SIGNAL_HOOKS_H

typedef struct hx_signal_hooks {
    void (*begin)(void);             /* signals are noted from here on */
    int (*is_caught)(void *context); /* 1: end the other program, or the writing */
    void (*end)(void);               /* and do what they do; may not return */
} hx_signal_hooks;

/* The program's, for its whole life; NULL, as in the library: signals do what they do. */
void hx_signal_hooks_set(const hx_signal_hooks *hooks);

/* Around such work. is_caught: as hx_process_options.is_cancelled, or NULL. Whatever
 * is left behind must be gone before hx_signals_end. */
void hx_signals_begin(void);
int hx_signals_caught(void *context);
void hx_signals_end(void);

#endif
