#include "cut_members.h"

#include "../text/json_read.h"
#include "core/base/error.h"
#include "core/base/names.h"

int hx_cut_members_check(const char *path)
{
    hx_json_tree tree = {0};
    HX_TRY(hx_json_read(&tree, path));
    const hx_json_value *const cut = hx_json_at(tree.root, "members_cut");
    int rc = HX_OK;
    if (!cut) rc = HX_RAISE(HX_EINPUT, "%s: there is no member 'members_cut'", path);
    if (cut && cut->n > 0) {
        const hx_json_value *const place = hx_json_at(cut->first, "place");
        double x[3] = {0.0};
        int d = 0;
        for (const hx_json_value *v = place ? place->first : NULL; v && d < 3; v = v->next)
            x[d++] = v->number;
        rc = HX_RAISE(
            HX_ENUMERIC,
            "the surface cuts %lld %s of the 0/1 design, one at %.4g, %.4g, %.4g; a larger "
            "filter radius or a finer mesh makes thicker members",
            (long long)cut->n, hx_noun((int64_t)cut->n, "member", "members"), x[0], x[1], x[2]);
    }
    hx_json_free(&tree);
    return rc;
}
