/* Collapses and flips edges of a closed surface. */
#include "surface_edit.h"

int hx_fan_list(const hx_half_edges *h, int32_t v, int32_t fan[HX_FAN_MOST])
{
    const int32_t first = h->corner[v];
    int n = 0;
    int64_t c = first;
    do {
        if (n == HX_FAN_MOST) return 0;
        fan[n++] = (int32_t)c;
        c = hx_corner_turn(h->opposite, c);
    } while (c != first);
    return n;
}

int32_t hx_fan_find(const hx_half_edges *h, const int32_t *fan, int n, int32_t b)
{
    for (int i = 0; i < n; i++)
        if (h->tri[hx_corner_next(fan[i])] == b) return fan[i];
    return -1;
}

int hx_fan_may_merge(const hx_half_edges *h, const int32_t *fan_a, int n_a, const int32_t *fan_b,
                     int n_b)
{
    int n_both = 0;
    for (int i = 0; i < n_a; i++)
        for (int j = 0; j < n_b; j++)
            n_both += h->tri[hx_corner_next(fan_a[i])] == h->tri[hx_corner_next(fan_b[j])];
    return n_both == 2 && n_a + n_b - 4 >= 3 && n_a + n_b - 4 <= HX_FAN_MOST;
}

/* Removes the triangle of half-edge c: its two other sides become one. */
static void remove_triangle(const hx_half_edges *h, int64_t c)
{
    const int64_t n = hx_corner_next(c), p = hx_corner_next(n);
    const int64_t x = h->opposite[n], y = h->opposite[p];
    h->opposite[x] = (int32_t)y;
    h->opposite[y] = (int32_t)x;
    /* x starts at the third vertex of the removed triangle and leads to the half-edge that stays */
    h->corner[h->tri[p]] = (int32_t)x;
    h->tri[3 * (c / 3)] = -1;
}

void hx_half_edge_collapse(const hx_half_edges *h, int64_t c, const int32_t *fan_b, int n_b)
{
    const int64_t g = h->opposite[c];
    const int32_t a = h->tri[c], b = h->tri[g];
    const int64_t beside = h->opposite[hx_corner_next(hx_corner_next(c))]; /* starts at a */
    for (int i = 0; i < n_b; i++) h->tri[fan_b[i]] = a;
    remove_triangle(h, c);
    remove_triangle(h, g);
    h->corner[a] = (int32_t)beside;
    h->corner[b] = -1;
}

static void join(const hx_half_edges *h, int64_t c, int32_t from, int32_t opposite)
{
    h->tri[c] = from;
    h->opposite[c] = opposite;
    h->opposite[opposite] = (int32_t)c;
    h->corner[from] = (int32_t)c;
}

void hx_half_edge_flip(const hx_half_edges *h, int64_t c)
{
    const int64_t g = h->opposite[c], s = 3 * (c / 3), t = 3 * (g / 3);
    const int64_t c1 = hx_corner_next(c), c2 = hx_corner_next(c1);
    const int64_t g1 = hx_corner_next(g), g2 = hx_corner_next(g1);
    const int32_t u = h->tri[c], v = h->tri[g], w = h->tri[c2], z = h->tri[g2];
    const int32_t to_w = h->opposite[c1], to_u = h->opposite[c2];
    const int32_t to_z = h->opposite[g1], to_v = h->opposite[g2];
    join(h, s, w, to_u);
    join(h, s + 1, u, to_z);
    join(h, s + 2, z, (int32_t)(t + 2));
    join(h, t, z, to_v);
    join(h, t + 1, v, to_w);
    join(h, t + 2, w, (int32_t)(s + 2));
}
