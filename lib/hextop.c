/* Opening, closing, errors, and entry and exit of each call. */
#include "hextop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "app/session/machine.h"
#include "app/text/log.h"
#include "core/base/memory.h"
#include "core/version.h"
#include "handle.h"

int hextop_abi(void)
{
    return HEXTOP_ABI;
}

const char *hextop_version(void)
{
    return HX_VERSION;
}

static int get_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static void set_threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

static void hear(void *user, hx_log_kind kind, const char *text)
{
    const hextop *const h = user;
    static const int level[] = {
        [HX_LOG_DETAIL] = 0, [HX_LOG_INFO] = 1, [HX_LOG_WARNING] = 2, [HX_LOG_ERROR] = 2};
    if (h->log) h->log(h->log_user, level[kind], text);
}

void hx_handle_enter(hextop *h)
{
    if (h->depth++ > 0) return;
    const hx_log_sink sink = {HX_LOG_VERBOSE, hear, NULL, h};
    h->callers_locale = uselocale(h->locale);
    h->callers_threads = get_threads();
    if (h->threads > 0) set_threads(h->threads);
    h->callers_printing = hx_log_set_printing(0);
    if (h->log) (void)hx_log_add_sink(&sink);
    hx_error_clear();
}

int hx_handle_leave(hextop *h, int rc)
{
    if (rc < 0 && h->depth > 0) {
        const char *const message = hx_error_message();
        h->code = rc;
        snprintf(h->message, sizeof h->message, "%s", message[0] ? message : hx_error_text(rc));
    }
    if (--h->depth > 0) return rc;
    hx_log_remove_sink(h);
    hx_log_set_printing(h->callers_printing);
    h->threads = get_threads();
    set_threads(h->callers_threads);
    uselocale(h->callers_locale);
    return rc;
}

static int open_tree(hextop *h, const char *text, const char *path)
{
    if (!path)
        return HX_RAISE(HX_EINPUT,
                        "path is NULL: a config needs a path, at least as its name in messages");
    HX_TRY(hx_strdup(&h->path, path));
    return text ? hx_value_read_text(&h->tree, text, path) : hx_value_read_file(&h->tree, path);
}

int hextop_open(hextop **h, const char *text, const char *path)
{
    *h = calloc(1, sizeof **h);
    if (!*h) return HX_ENOMEM;
    (*h)->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!(*h)->locale) {
        free(*h);
        *h = NULL;
        return HX_ENOMEM;
    }
    hx_handle_enter(*h);
    int rc = hx_machine_pin();
    if (rc >= 0) rc = open_tree(*h, text, path);
    if (rc < 0) (*h)->state = HX_HANDLE_FAILED;
    return hx_handle_leave(*h, rc);
}

static int set_key(hextop *h, const char *key_value)
{
    if (!h->tree)
        return HX_RAISE(HX_EINPUT,
                        "'%s': keys must be set after a config was read and before the first run",
                        key_value);
    return hx_value_override(h->tree, key_value);
}

int hextop_set(hextop *h, const char *key_value)
{
    hx_handle_enter(h);
    return hx_handle_leave(h, set_key(h, key_value));
}

void hextop_on_log(hextop *h, hextop_log log, void *user)
{
    h->log = log;
    h->log_user = user;
}

void hextop_on_iteration(hextop *h, hextop_watch watch, void *user)
{
    h->watch = watch;
    h->watch_user = user;
}

int hextop_code(const hextop *h)
{
    return h ? h->code : HX_ENOMEM;
}

const char *hextop_error(const hextop *h)
{
    return h ? h->message : hx_error_text(HX_ENOMEM);
}

void hextop_close(hextop *h)
{
    if (!h) return;
    hx_handle_enter(h);
    hx_output_free(&h->output);
    hx_stats_free(&h->stats);
    hx_diags_free(&h->diags);
    hx_session_free(&h->session);
    hx_value_free(h->tree);
    for (size_t i = 0; i < h->n_array; i++) free(h->array[i].value);
    free(h->array);
    free(h->summary);
    free(h->path);
    (void)hx_handle_leave(h, HX_OK);
    freelocale(h->locale);
    free(h);
}
