#include "names.h"

#include <stdio.h>
#include <string.h>

#include "fit.h"

enum { LONGEST_NAME = 63 };

/* Returns the edit distance in which two neighbours that are exchanged count as one edit, using at
 * most LONGEST_NAME characters of each. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[3][LONGEST_NAME + 1]; /* of the last two characters of a, and of this one */
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST_NAME) na = LONGEST_NAME;
    if (nb > LONGEST_NAME) nb = LONGEST_NAME;
    for (size_t j = 0; j <= nb; j++) row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *const now = row[i % 3], *const last = row[(i - 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t substitute = last[j - 1] + (a[i - 1] != b[j - 1]);
            const size_t other = (last[j] < now[j - 1] ? last[j] : now[j - 1]) + 1;
            now[j] = substitute < other ? substitute : other;
            if (i < 2 || j < 2 || a[i - 1] != b[j - 2] || a[i - 2] != b[j - 1]) continue;
            const size_t exchange = row[(i - 2) % 3][j - 2] + 1;
            if (exchange < now[j]) now[j] = exchange;
        }
    }
    return row[na % 3][nb];
}

const char *hx_nearest_name(const char *word, const char *const *name, size_t n)
{
    const char *nearest = NULL;
    const size_t length = strlen(word);
    size_t smallest = length < 2 ? 1 : (length + 1) / 3 + 1;
    for (size_t i = 0; i < n; i++) {
        const size_t distance = edit_distance(word, name[i]);
        if (distance < smallest) {
            smallest = distance;
            nearest = name[i];
        }
    }
    return nearest;
}

const char *hx_name_list(const char *const *name, size_t n, char *text, size_t n_text)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += hx_fit(text + used, n_text - used, "%s%s", i > 0 ? ", " : "", name[i]);
    return text;
}

const char *hx_name_hint(const char *word, const char *const *name, size_t n, char *text,
                         size_t n_text)
{
    if (n == 0) {
        snprintf(text, n_text, ", there are none");
        return text;
    }
    const char *nearest = hx_nearest_name(word, name, n);
    size_t used = 0;
    if (nearest) used = hx_fit(text, n_text, ", did you mean '%s'?", nearest);
    used += hx_fit(text + used, n_text - used, nearest ? " valid: " : "; valid: ");
    hx_name_list(name, n, text + used, n_text - used);
    return text;
}

const char *hx_noun(int64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}
