/* Text that is formatted into memory of a fixed size: it either fits, or shows that it was cut. */
#ifndef HX_FIT_H
#define HX_FIT_H

#include <stdarg.h>
#include <stddef.h>

#include "error.h"

/* Formats into text[n_text] like snprintf; a text that does not fit ends in " ...". Returns the
 * number of characters that text holds, so sums of it never pass n_text. */
size_t hx_fit(char *text, size_t n_text, const char *fmt, ...) HX_PRINTF(3, 4);
size_t hx_fit_args(char *text, size_t n_text, const char *fmt, va_list args) HX_PRINTF(3, 0);

/* Formats into text[n_text], or into memory of its own if the text does not fit, which the caller
 * frees if the result is not `text`. Without such memory, the text is cut like that of hx_fit. */
char *hx_fit_all(char *text, size_t n_text, const char *fmt, va_list args) HX_PRINTF(3, 0);

#endif
