/* Members of the 0/1 design that a surface cuts, from the surface.json of `hextop surface`. */
#ifndef HX_CUT_MEMBERS_H
#define HX_CUT_MEMBERS_H

/* HX_ENUMERIC: the surface cuts members; the message has their number and the place of one.
 * HX_EINPUT: the file cannot be read, or is not a surface.json. */
int hx_cut_members_check(const char *path);

#endif
