/* Physical groups of a Gmsh file and the sets made of them. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "gmsh_reader.h"

enum { MOST_GROUPS = 100000, NAME_SIZE = 512 };

/* Indexed by dimension, which equals hx_set_kind. */
static hx_kind_words dim_word = {"point", "curve", "surface", "volume"};

static int add_group(hx_gmsh_reader *r, int64_t dim, int64_t tag, const char *name)
{
    hx_gmsh_group group = {.dim = dim, .tag = tag};
    if (r->n_group == MOST_GROUPS)
        return HX_GMSH_RAISE(r, "more than %d physical groups", MOST_GROUPS);
    if (r->joins_names)
        HX_TRY(hx_import_set_named(&r->import, name, &group.set));
    else
        HX_TRY(hx_import_set_of(&r->import, name, (hx_set_kind)dim, &group.set));
    HX_TRY(hx_grow(&r->group, (size_t)r->n_group, &r->group_capacity, sizeof *r->group,
                   "groups of a mesh file"));
    r->group[r->n_group++] = group;
    return HX_OK;
}

int hx_gmsh_group_set(hx_gmsh_reader *r, int64_t dim, int64_t tag, hx_import_set **set)
{
    char name[64];
    const int64_t positive = tag < 0 ? -tag : tag; /* a negative sign means reversed orientation */
    int64_t found = -1;
    for (int64_t k = 0; k < r->n_group && found < 0; k++) {
        const int64_t i = (r->last_group + k) % r->n_group;
        if (r->group[i].dim == dim && r->group[i].tag == positive) found = i;
    }
    if (found < 0) {
        snprintf(name, sizeof name, "%s %lld", dim_word[dim], (long long)positive);
        HX_TRY(add_group(r, dim, positive, name));
        found = r->n_group - 1;
    }
    r->last_group = found;
    r->group[found].is_met = 1;
    *set = r->group[found].set;
    return HX_OK;
}

/* --- $PhysicalNames --- */

/* Text between the first and the last quote of a line. */
static char *unquote(char *line)
{
    char *const first = strchr(line, '"'), *const last = strrchr(line, '"');
    if (!first || first == last) return NULL;
    *last = '\0';
    return first + 1;
}

int hx_gmsh_read_names(hx_gmsh_reader *r)
{
    char line[NAME_SIZE];
    int found;
    int64_t n;
    const hx_file_number word = {"integer", 8, 'i'};
    const int is_binary = r->scan.is_binary;
    r->scan.is_binary = 0; /* this section is text even in binary files */
    int rc = hx_file_scan_count(&r->scan, "the number of physical names", &n);
    for (int64_t i = 0; rc == HX_OK && i < n; i++) {
        int64_t group[2];
        rc = hx_file_scan_int(&r->scan, &word, 2, group);
        if (rc == HX_OK) rc = hx_file_scan_line(&r->scan, line, sizeof line, &found);
        if (rc < 0) break;
        const char *const name = unquote(line);
        if (!name || !*name || group[0] < 0 || group[0] > 3)
            rc = HX_GMSH_RAISE(r, "a line of $PhysicalNames must be: dimension (0 to 3), number, "
                                  "\"name\"");
        else
            rc = add_group(r, group[0], group[1], name);
    }
    r->scan.is_binary = is_binary;
    return rc;
}

/* Names the groups without elements, which are no sets; in format 4.1, $Entities assigns elements
 * to groups. */
static int note_unmet(const hx_gmsh_reader *r)
{
    enum { MOST_NAMED = 8 };
    char text[600] = "";
    int64_t n = 0;
    for (int64_t i = 0; i < r->n_group; i++) {
        const size_t used = strlen(text);
        if (!r->group[i].set->is_unmet) continue;
        if (n++ < MOST_NAMED)
            snprintf(text + used, sizeof text - used, "%s\"%.60s\"", used ? ", " : "",
                     r->group[i].set->name);
    }
    if (n == 0) return HX_OK;
    const int lacks = r->major == 4 && !r->has_entities;
    return hx_notes_add(
        r->import.notes, lacks ? HX_NOTE_WARNING : HX_NOTE_INFO,
        "%s: %lld of %lld physical groups have no elements and make no sets: %s%s%s", r->scan.path,
        (long long)n, (long long)r->n_group, text, n > MOST_NAMED ? ", ..." : "",
        lacks ? "; the file lacks $Entities, which assigns elements to them" : "");
}

int hx_gmsh_mark_empty_groups(hx_gmsh_reader *r)
{
    r->import.kind_words = &dim_word;
    for (int64_t i = 0; i < r->n_group; i++) r->group[i].set->is_unmet = 1;
    for (int64_t i = 0; i < r->n_group; i++)
        if (r->group[i].is_met) r->group[i].set->is_unmet = 0;
    return note_unmet(r);
}

void hx_gmsh_free_groups(hx_gmsh_reader *r)
{
    free(r->group);
}
