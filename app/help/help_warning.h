/* Help on warnings, from the table of app/diag. */
#ifndef HX_HELP_WARNING_H
#define HX_HELP_WARNING_H

/* Prints what a warning measures and means and what helps, after the text `lead`; `code` may have
 * blanks for '-'. Returns 1, or 0 if no warning has that code. */
int hx_print_warning(const char *code, const char *lead);

/* Prints the codes of all warnings with what they measure. */
void hx_print_warnings(void);

#endif
