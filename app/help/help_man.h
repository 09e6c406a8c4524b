/* The man page hextop.1, from the commands' tables and the config's schema. */
#ifndef HX_HELP_MAN_H
#define HX_HELP_MAN_H

/* Prints it to stdout, as roff. */
void hx_print_man_page(void);

#endif
