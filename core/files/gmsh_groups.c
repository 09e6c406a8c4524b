/* Physical groups of a Gmsh file and the sets that they become. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "gmsh_reader.h"

enum { MOST_GROUPS = 100000, NAME_SIZE = 512 };

static const char *const dim_word[4] = {"point", "curve", "surface", "volume"};

/* 1: a group of that name has another dimension and the name itself for its set. */
static int is_of_other_dim(const hx_gmsh_reader *r, int64_t dim, const char *name)
{
    for (int64_t i = 0; i < r->n_group; i++)
        if (r->group[i].dim != dim && strcmp(r->group[i].set->name, name) == 0) return 1;
    return 0;
}

static int add_group(hx_gmsh_reader *r, int64_t dim, int64_t tag, const char *name)
{
    char apart[NAME_SIZE + 16]; /* no name has a line break: it is replaced at the end */
    hx_gmsh_group group = {.dim = dim, .tag = tag};
    if (r->n_group == MOST_GROUPS)
        return HX_GMSH_RAISE(r, "more than %d physical groups", MOST_GROUPS);
    snprintf(apart, sizeof apart, "%s\n%s", dim_word[dim], name);
    const int is_apart = !r->joins_names && is_of_other_dim(r, dim, name);
    r->has_apart |= is_apart;
    HX_TRY(hx_import_set_named(&r->import, is_apart ? apart : name, &group.set));
    HX_TRY(hx_grow(&r->group, (size_t)r->n_group, &r->group_capacity, sizeof *r->group,
                   "groups of a mesh file"));
    HX_TRY(hx_strdup(&group.name, name));
    r->group[r->n_group++] = group;
    return HX_OK;
}

int hx_gmsh_group_set(hx_gmsh_reader *r, int64_t dim, int64_t tag, hx_import_set **set)
{
    char name[64];
    const int64_t positive = tag < 0 ? -tag : tag; /* a sign says: turned round */
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
    r->scan.is_binary = 0; /* this section is text in every file */
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

/* --- one name, several dimensions --- */

/* The set of a name in one dimension; NULL: no such group, or with members_only none that is met.
 */
static hx_import_set *find_set(const hx_gmsh_reader *r, const char *name, int dim, int members_only)
{
    for (int64_t i = 0; i < r->n_group; i++) {
        const hx_gmsh_group *const g = &r->group[i];
        if (g->dim == dim && (g->is_met || !members_only) && strcmp(g->name, name) == 0)
            return g->set;
    }
    return NULL;
}

static int is_taken(const hx_gmsh_reader *r, const char *name)
{
    for (size_t i = 0; i < r->import.n_set; i++)
        if (strcmp(r->import.set[i]->name, name) == 0) return 1;
    return 0;
}

/* "surface-fix", or "surface-fix-2" if another set is called so. */
static int rename_set(hx_gmsh_reader *r, hx_import_set *set, int dim, const char *name)
{
    char text[NAME_SIZE + 40];
    const int n = snprintf(text, sizeof text, "%s-%s", dim_word[dim], name);
    for (int k = 2; is_taken(r, text); k++) snprintf(text + n, sizeof text - (size_t)n, "-%d", k);
    free(set->name);
    return hx_strdup(&set->name, text);
}

/* The highest dimension with members keeps the name. */
static int keep_apart(hx_gmsh_reader *r, const char *name, int *n_noted)
{
    enum { MOST_SHOWN = 5 };
    char text[3 * (NAME_SIZE + 80)] = "";
    hx_import_set *set[4];
    int n_dim = 0, keeps = -1;
    size_t n = 0;
    for (int dim = 0; dim < 4; dim++) {
        set[dim] = find_set(r, name, dim, 0);
        n_dim += set[dim] != NULL;
        if (find_set(r, name, dim, 1)) keeps = dim;
    }
    for (int dim = 3; dim >= 0 && keeps < 0; dim--)
        if (set[dim]) keeps = dim;
    if (n_dim < 2) return HX_OK;
    for (int dim = 3; dim >= 0; dim--) {
        if (!set[dim] || dim == keeps) continue;
        HX_TRY(rename_set(r, set[dim], dim, name));
        n += (size_t)snprintf(text + n, sizeof text - n, ", the %ss '%s'", dim_word[dim],
                              set[dim]->name);
    }
    free(set[keeps]->name);
    HX_TRY(hx_strdup(&set[keeps]->name, name));
    return hx_notes_add(r->import.notes, (*n_noted)++ < MOST_SHOWN ? HX_NOTE_INFO : HX_NOTE_DETAIL,
                        "%s: physical groups of %d dimensions are named '%s': the %ss are set "
                        "'%s'%s",
                        r->import.path, n_dim, name, dim_word[keeps], name, text);
}

int hx_gmsh_name_sets(hx_gmsh_reader *r)
{
    int n_noted = 0;
    for (int64_t i = 0; i < r->n_group && r->has_apart; i++) {
        int is_first = 1;
        for (int64_t k = 0; k < i && is_first; k++)
            is_first = strcmp(r->group[k].name, r->group[i].name) != 0;
        if (is_first) HX_TRY(keep_apart(r, r->group[i].name, &n_noted));
    }
    return HX_OK;
}

void hx_gmsh_free_groups(hx_gmsh_reader *r)
{
    for (int64_t i = 0; i < r->n_group; i++) free(r->group[i].name);
    free(r->group);
}
