/* Help on warnings, from the table of app/diag. */
#ifndef HX_HELP_WARNING_H
#define HX_HELP_WARNING_H

/* Prints the text `lead`, and then what a warning measures, what it means and what helps. `code`
 * may have blanks instead of '-'. Returns 1, or 0 if no warning has that code. */
int hx_print_warning(const char *code, const char *lead);

/* Prints the codes of all warnings, with the numbers that they measure. */
void hx_print_warnings(void);

#endif
