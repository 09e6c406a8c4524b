/* Shared by the files that open a session. */
#ifndef HX_SESSION_INTERNAL_H
#define HX_SESSION_INTERNAL_H

#include "session.h"

/* A step begins: a terminal says so until the next line. Returns when. */
double hx_session_begin_step(hx_setup_step step);
void hx_session_end_step(hx_session *s, hx_setup_step step, double begin);

/* Puts the key's place before messages about the user's input or machine; returns rc. */
int hx_session_blame(const hx_session *s, const char *key, int rc);

hx_filter_params hx_session_filter_params(const hx_session *s);

/* Adds what the device holds besides the operator. */
void hx_session_other_account(const hx_session *s, hx_account *account);
/* The sum. */
size_t hx_session_other_bytes(const hx_session *s);
/* The same without preconditioner and PCG. */
size_t hx_session_design_bytes(const hx_session *s);

#endif
