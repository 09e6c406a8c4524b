/* Signal handling while hextop waits for another program, such as gmsh, or while files are
 * incomplete. */
#ifndef HX_SIGNAL_HOOKS_H
#define HX_SIGNAL_HOOKS_H

typedef struct hx_signal_hooks {
    void (*begin)(void);             /* signals are recorded from here on */
    int (*is_caught)(void *context); /* 1: end the other program, or the writing */
    /* restores the handling of signals and raises recorded ones; may not return */
    void (*end)(void);
} hx_signal_hooks;

/* Hooks of the program, for its lifetime; NULL, as in the library: signals keep their default
 * handling. */
void hx_signal_hooks_set(const hx_signal_hooks *hooks);

/* Enclose such work. is_caught: as hx_process_options.is_cancelled, or NULL. Remove everything
 * incomplete before hx_signals_end. */
void hx_signals_begin(void);
int hx_signals_caught(void *context);
void hx_signals_end(void);

#endif
