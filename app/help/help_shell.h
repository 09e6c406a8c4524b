/* Completion for shells, from the commands' tables and the config's schema. */
#ifndef HX_HELP_SHELL_H
#define HX_HELP_SHELL_H

/* Print to stdout a file that bash sources, or one that zsh loads as _hextop. */
void hx_print_bash_completion(void);
void hx_print_zsh_completion(void);

#endif
