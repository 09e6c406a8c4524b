/* The first coarse grid of multigrid from the elements of the mesh, on the host: the contribution
 * of each cell to P'K P, in vector lanes.
 *
 * K = U + U', where U contains the tiles of nodes a <= b of each element, halved for a = b. The
 * contribution is P'U P + (P'U P)', which is bitwise symmetric. The tiles of eight elements at a
 * time are computed from their coordinates, with one element per lane. U P is summed node by node
 * over the node's elements, with the eight corners of the cell in lanes. Each node's rows are then
 * added to the corners once.
 *
 * Rotations and moments are about the cell's first corner until the end, and then about the
 * corners. */
#include <string.h>

#include "multigrid_cpu.h"

enum {
    DOF = HX_MG_DOF,
    BLOCK = DOF * DOF,
    ROW = 27 * BLOCK,
    LANES = 8, /* number of elements at a time, and of corners of a cell */
    POINTS = 8,
    TILES = 36,     /* number of pairs of nodes a <= b */
    N_NODE = 192,   /* maximum number of nodes of a cell at a time */
    N_PLACE = 1024, /* size of the hash table that finds them: a power of two */
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

/* Rows [corner][component] by columns [component], with corners in lanes. */
typedef lanes cell_matrix[LANES][DOF][DOF];

/* Nodes of a cell, and the current sums of their rows. */
typedef struct nodes {
    lanes row[N_NODE][DOF][DOF]; /* rows of U P: [component], columns as above */
    lanes weight[N_NODE];
    float x[N_NODE][3];
    int32_t node[N_NODE];
    int16_t place[N_PLACE]; /* index of the node, or -1 */
    int n;
} nodes;

/* Eight elements, one per lane. */
typedef struct group {
    lanes tile[TILES][3][DOF]; /* [row][column]: columns 3 to 5 are those of rotations */
    lanes h[POINTS][24];       /* gradients times det J, unscaled; see fill_points */
    lanes ch[POINTS][24];      /* h times the modulus over 512 det J */
    double x[24][LANES];       /* coordinates relative to the first corner, divided by the unit */
    lanes mode[7][3];          /* modes of the coordinates, as in cpu_otf_lanes.inc */
    lanes free[24], at[24];    /* free: 1 if a displacement is free; at: positions in the cell */
    float scale[LANES];
    int16_t node[LANES][8];
    int n, any_fixed;
} group;

typedef struct work {
    nodes nodes;
    group group;
    cell_matrix matrix;
} work;

static void clear_nodes(nodes *s)
{
    s->n = 0;
    memset(s->place, 0xff, sizeof s->place);
}

HX_INLINED int find_node(const hx_mg_mesh *mesh, int64_t cell, int32_t node, nodes *s)
{
    uint32_t at = (uint32_t)node * 2654435761u >> 22;
    while (s->place[at] >= 0 && s->node[s->place[at]] != node) at = (at + 1) % N_PLACE;
    if (s->place[at] >= 0) return s->place[at];
    const int n = s->n++;
    float w[LANES];
    s->place[at] = (int16_t)n;
    s->node[n] = node;
    hx_cpu_locate(mesh, cell, node, w, s->x[n]);
    memcpy(&s->weight[n], w, sizeof w);
    memset(s->row[n], 0, 3 * sizeof s->row[n][0]);
    return n;
}

/* Loads elements first .. first + n - 1 of the mesh's list by cell, with unit modulus or their own.
 * Lanes without an element repeat the last one, with modulus 0. */
HX_INLINED void gather_elements(const hx_mg_mesh *mesh, int is_unit, int64_t cell,
                                const int32_t *list, int n, nodes *s, group *g)
{
    const hx_device_model *model = mesh->model;
    g->n = n;
    g->any_fixed = 0;
    for (int l = 0; l < LANES; l++) {
        const int64_t elem = list[l < n ? l : n - 1];
        const int32_t *conn = model->d_conn + 8 * elem;
        const double *origin = model->d_xyz + 3 * (int64_t)conn[0];
        const double scale =
            mesh->unit / 512.0 * (is_unit ? 1.0 : (double)hx_cpu_modulus(mesh, elem));
        g->scale[l] = l < n ? (float)scale : 0.0f;
        for (int a = 0; a < 8; a++) {
            const double *x = model->d_xyz + 3 * (int64_t)conn[a];
            const int k = find_node(mesh, cell, conn[a], s);
            g->node[l][a] = (int16_t)k;
            for (int i = 0; i < 3; i++) {
                g->x[3 * a + i][l] = x[i] - origin[i];
                g->at[3 * a + i][l] = s->x[k][i];
            }
            g->any_fixed |= mesh->d_fixed[conn[a]];
        }
    }
    if (!g->any_fixed) return;
    for (int l = 0; l < LANES; l++)
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++)
                g->free[3 * a + i][l] =
                    mesh->d_fixed[s->node[g->node[l][a]]] >> i & 1u ? 0.0f : 1.0f;
}

/* Modes of the coordinates times 8, computed in double precision until they are as small as the
 * element. */
HX_INLINED void fill_modes(double inverse_unit, group *g)
{
    const double c = 0.57735026918962576451, c2 = 1.0 / 3.0;
    for (int i = 0; i < 3; i++) {
        float mode[7][LANES];
        for (int l = 0; l < LANES; l++) {
            double v[8];
            for (int a = 0; a < 8; a++) v[a] = inverse_unit * g->x[3 * a + i][l];
            const double a0 = v[1] + v[0], d0 = v[1] - v[0], a1 = v[2] + v[3], d1 = v[2] - v[3];
            const double a2 = v[5] + v[4], d2 = v[5] - v[4], a3 = v[6] + v[7], d3 = v[6] - v[7];
            const double r0 = d0 + d1, rs0 = d1 - d0, s0 = a1 - a0, n0 = a1 + a0;
            const double r1 = d2 + d3, rs1 = d3 - d2, s1 = a3 - a2, n1 = a3 + a2;
            mode[0][l] = (float)(r0 + r1);
            mode[1][l] = (float)(s0 + s1);
            mode[2][l] = (float)(n1 - n0);
            mode[3][l] = (float)(c * (rs0 + rs1));
            mode[4][l] = (float)(c * (r1 - r0));
            mode[5][l] = (float)(c * (s1 - s0));
            mode[6][l] = (float)(c2 * (rs1 - rs0));
        }
        for (int m = 0; m < 7; m++) memcpy(&g->mode[m][i], mode[m], sizeof mode[m]);
    }
}

HX_INLINED void cross(const lanes a[3], const lanes b[3], lanes c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* With x' = 8 x for coordinates, d' = 8 dN and adj' = adj(J') = 64 adj(J), det' = 512 det:
 * h = adj' d' = 512 det g, and det g g' = h h' / (512 det'). */
HX_INLINED void fill_points(group *g)
{
    const float c = 0.57735026918962576451f;
    lanes scale;
    memcpy(&scale, g->scale, sizeof scale);
    for (int q = 0; q < POINTS; q++) {
        const float r = q & 1 ? 1.0f : -1.0f, s = q & 2 ? 1.0f : -1.0f, t = q & 4 ? 1.0f : -1.0f;
        lanes xr[3], xs[3], xt[3], ar[3], as[3], at[3];
        for (int i = 0; i < 3; i++) {
            xr[i] = g->mode[0][i] + s * g->mode[3][i] + t * g->mode[4][i] + s * t * g->mode[6][i];
            xs[i] = g->mode[1][i] + r * g->mode[3][i] + t * g->mode[5][i] + r * t * g->mode[6][i];
            xt[i] = g->mode[2][i] + r * g->mode[4][i] + s * g->mode[5][i] + r * s * g->mode[6][i];
        }
        cross(xs, xt, ar);
        cross(xt, xr, as);
        cross(xr, xs, at);
        const lanes over = scale / (xr[0] * ar[0] + xr[1] * ar[1] + xr[2] * ar[2]);
        for (int a = 0; a < 8; a++) {
            const float ra = (a + 1) >> 1 & 1 ? 1.0f : -1.0f, sa = a >> 1 & 1 ? 1.0f : -1.0f,
                        ta = a >> 2 & 1 ? 1.0f : -1.0f;
            const float nr = 1.0f + ra * r * c, ns = 1.0f + sa * s * c, nt = 1.0f + ta * t * c;
            for (int i = 0; i < 3; i++) {
                const lanes h = ra * ns * nt * ar[i] + sa * nr * nt * as[i] + ta * nr * ns * at[i];
                g->h[q][3 * a + i] = h;
                g->ch[q][3 * a + i] = over * h;
            }
        }
    }
}

/* Tile (a, b): sums of products of gradients are converted to stiffnesses, then the columns of
 * rotations are added. */
HX_INLINED void fill_tile(group *g, int a, int b, float lambda, float mu, lanes tile[3][DOF])
{
    const float half = a == b ? 0.5f : 1.0f;
    const lanes *y = g->at + 3 * b;
    lanes s[3][3], k[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) s[i][j] = g->h[0][3 * a + i] * g->ch[0][3 * b + j];
    for (int q = 1; q < POINTS; q++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) s[i][j] += g->h[q][3 * a + i] * g->ch[q][3 * b + j];
    const lanes trace = (half * mu) * (s[0][0] + s[1][1] + s[2][2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            k[i][j] = (half * lambda) * s[i][j] + (half * mu) * s[j][i];
            if (i == j) k[i][j] += trace;
            if (g->any_fixed) k[i][j] *= g->free[3 * b + j];
        }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) tile[i][j] = k[i][j];
        tile[i][3] = y[1] * k[i][2] - y[2] * k[i][1];
        tile[i][4] = y[2] * k[i][0] - y[0] * k[i][2];
        tile[i][5] = y[0] * k[i][1] - y[1] * k[i][0];
    }
}

/* Adds the rows of U P of one lane's element to its nodes. */
HX_INLINED void add_rows(const group *g, int l, nodes *s)
{
    for (int a = 0, first = 0; a < 8; first += 8 - a, a++) {
        lanes(*const row)[DOF] = s->row[g->node[l][a]];
        for (int i = 0; i < 3; i++) {
            lanes sum[DOF];
            for (int c = 0; c < DOF; c++) sum[c] = row[i][c];
            for (int b = a; b < 8; b++) {
                const lanes w = s->weight[g->node[l][b]];
                const lanes *const column = g->tile[first + b - a][i];
                for (int c = 0; c < DOF; c++) sum[c] += w * column[c][l];
            }
            for (int c = 0; c < DOF; c++) row[i][c] = sum[c];
        }
    }
}

/* Adds the moments of the nodes' rows. Rows of fixed nodes are 0. */
HX_INLINED void finish_rows(const hx_mg_mesh *mesh, nodes *s)
{
    for (int n = 0; n < s->n; n++) {
        const unsigned fixed = mesh->d_fixed[s->node[n]];
        const float *x = s->x[n];
        lanes(*const row)[DOF] = s->row[n];
        for (int i = 0; i < 3; i++)
            if (fixed >> i & 1u) memset(row[i], 0, sizeof row[i]);
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < DOF; c++)
                row[3 + i][c] =
                    x[(i + 1) % 3] * row[(i + 2) % 3][c] - x[(i + 2) % 3] * row[(i + 1) % 3][c];
    }
}

/* matrix += P' (U P) over the nodes, two corners at a time. */
HX_INLINED void add_nodes(const nodes *s, cell_matrix matrix)
{
    for (int r = 0; r < DOF; r++)
        for (int corner = 0; corner < LANES; corner += 2) {
            lanes one[DOF], two[DOF];
            for (int c = 0; c < DOF; c++) {
                one[c] = matrix[corner][r][c];
                two[c] = matrix[corner + 1][r][c];
            }
            for (int n = 0; n < s->n; n++) {
                const float *const w = (const float *)&s->weight[n];
                for (int c = 0; c < DOF; c++) {
                    const lanes row = s->row[n][r][c];
                    one[c] += w[corner] * row;
                    two[c] += w[corner + 1] * row;
                }
            }
            for (int c = 0; c < DOF; c++) {
                matrix[corner][r][c] = one[c];
                matrix[corner + 1][r][c] = two[c];
            }
        }
}

/* Converts rotations and moments to those about the corners themselves. */
HX_INLINED void shift_matrix(const float edge[3], cell_matrix matrix)
{
    float all[3][LANES];
    lanes at[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < LANES; k++) all[i][k] = k >> i & 1 ? edge[i] : 0.0f;
    memcpy(at, all, sizeof at);
    for (int corner = 0; corner < LANES; corner++) {
        lanes(*const row)[DOF] = matrix[corner];
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            for (int c = 0; c < DOF; c++)
                row[3 + i][c] -= all[j][corner] * row[l][c] - all[l][corner] * row[j][c];
        }
        for (int r = 0; r < DOF; r++)
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                row[r][3 + i] -= at[j] * row[r][l] - at[l] * row[r][j];
            }
    }
}

/* P'U P for some elements of a cell. */
HX_INLINED void cell_product_lanes(const hx_mg_mesh *mesh, int is_unit, int64_t cell,
                                   const int32_t *elem, int n_elem, const float edge[3], work *s)
{
    const float lambda = (float)mesh->model->lambda, mu = (float)mesh->model->mu;
    group *const g = &s->group;
    memset(s->matrix, 0, sizeof s->matrix);
    clear_nodes(&s->nodes);
    for (int k = 0; k < n_elem; k += LANES) {
        const int n = n_elem - k < LANES ? n_elem - k : LANES;
        if (s->nodes.n > N_NODE - 8 * LANES) {
            finish_rows(mesh, &s->nodes);
            add_nodes(&s->nodes, s->matrix);
            clear_nodes(&s->nodes);
        }
        gather_elements(mesh, is_unit, cell, elem + k, n, &s->nodes, g);
        fill_modes(1.0 / mesh->unit, g);
        fill_points(g);
        for (int a = 0, pair = 0; a < 8; a++)
            for (int b = a; b < 8; b++, pair++) fill_tile(g, a, b, lambda, mu, g->tile[pair]);
        for (int l = 0; l < g->n; l++) add_rows(g, l, &s->nodes);
    }
    finish_rows(mesh, &s->nodes);
    add_nodes(&s->nodes, s->matrix);
    shift_matrix(edge, s->matrix);
}
HX_VERSIONS(cell_product,
            (const hx_mg_mesh *mesh, int is_unit, int64_t cell, const int32_t *elem, int n_elem,
             const float edge[3], work *s),
            (mesh, is_unit, cell, elem, n_elem, edge, s))

/* Adds the matrix and its transpose: blocks [column][row] of corners a <= b. */
static void fold_matrix(cell_matrix matrix, float *share)
{
    const float *const from = (const float *)matrix;
    for (int a = 0; a < LANES; a++)
        for (int b = a; b < LANES; b++, share += BLOCK) {
            const float *const ab = from + BLOCK * LANES * a + b, *const ba =
                                                                      from + BLOCK * LANES * b + a;
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++)
                    share[DOF * c + r] = ab[LANES * (DOF * r + c)] + ba[LANES * (DOF * c + r)];
        }
}

void hx_cpu_element_share(const hx_mg_mesh *mesh, int64_t cell, int32_t elem, float *share)
{
    float edge[3];
    work s;
    hx_cpu_cell_edges(mesh, edge);
    cell_product(mesh, 1, cell, &elem, 1, edge, &s);
    fold_matrix(s.matrix, share);
}

/* Adds a cell's contribution to the rows of its corners. */
static void add_share(const hx_mg_level *level, const int32_t *corner, const float *share)
{
    for (int a = 0; a < LANES; a++)
        for (int b = a; b < LANES; b++, share += BLOCK) {
            const int offset =
                ((b & 1) - (a & 1)) + 3 * ((b >> 1 & 1) - (a >> 1 & 1)) + 9 * ((b >> 2) - (a >> 2));
            float *const to =
                level->d_matrix + (ROW * (int64_t)corner[a] + BLOCK * (HX_COARSE_CENTRE + offset));
            float *const back =
                level->d_matrix + (ROW * (int64_t)corner[b] + BLOCK * (HX_COARSE_CENTRE - offset));
            for (int k = 0; k < BLOCK; k++) to[k] += share[k];
            if (a == b) continue;
            for (int c = 0; c < DOF; c++)
                for (int r = 0; r < DOF; r++) back[DOF * r + c] += share[DOF * c + r];
        }
}

/* Contribution of a cell to P'K P. */
static void find_share(const hx_mg_mesh *mesh, int64_t cell, const float edge[3], work *s,
                       float *share)
{
    const int32_t *const at = mesh->d_cell_elem_at + cell;
    if (hx_cpu_classes_share(mesh, cell, share)) return;
    cell_product(mesh, 0, cell, mesh->d_cell_elem + at[0], at[1] - at[0], edge, s);
    fold_matrix(s->matrix, share);
}

/* level->d_matrix = sum of the cells' contributions, taken from d_share or computed here. */
static void sum_shares(const hx_mg_mesh *mesh, const hx_mg_level *level, const float *d_share)
{
    float edge[3];
    hx_cpu_cell_edges(mesh, edge);
    memset(level->d_matrix, 0, ROW * (size_t)level->n_node * sizeof *level->d_matrix);
#pragma omp parallel
    {
        work s;
        float own[HX_MG_SHARE];
        for (int colour = 0; colour < 8; colour++) {
#pragma omp for schedule(dynamic, 4)
            for (int32_t k = mesh->colour_at[colour]; k < mesh->colour_at[colour + 1]; k++) {
                const int64_t cell = mesh->d_coloured[k];
                if (!d_share) find_share(mesh, cell, edge, &s, own);
                add_share(level, mesh->d_cell_corner + 8 * cell,
                          d_share ? d_share + HX_MG_SHARE * cell : own);
            }
        }
    }
}

int hx_cpu_mesh_galerkin(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level)
{
    hx_mg_mesh now = *mesh;
    (void)dev;
    now.d_kept = NULL;
    sum_shares(&now, level, NULL);
    return HX_OK;
}

/* Returns 1 if the stored moduli of the cell were replaced by those of the design. */
static int keep_moduli(const hx_mg_mesh *mesh, int64_t cell, hx_mg_update holds)
{
    const int32_t *const elem = mesh->d_cell_elem, begin = mesh->d_cell_elem_at[cell],
                         end = mesh->d_cell_elem_at[cell + 1];
    const double *const modulus = mesh->model->d_modulus;
    int changed = holds == HX_MG_NEW;
    for (int32_t k = begin; k < end && !changed; k++)
        changed = hx_mg_has_changed(mesh->d_kept[elem[k]], (float)modulus[elem[k]]);
    for (int32_t k = begin; k < end && changed; k++)
        mesh->d_kept[elem[k]] = (float)modulus[elem[k]];
    return changed;
}

int hx_cpu_mesh_update(hx_device *dev, const hx_mg_mesh *mesh, const hx_mg_level *level,
                       hx_mg_update holds)
{
    float edge[3];
    (void)dev;
    hx_cpu_cell_edges(mesh, edge);
#pragma omp parallel
    {
        work s;
#pragma omp for schedule(dynamic, 4)
        for (int64_t cell = 0; cell < mesh->n_cell; cell++)
            if ((keep_moduli(mesh, cell, holds) || holds != HX_MG_CHANGED) && mesh->d_share)
                find_share(mesh, cell, edge, &s, mesh->d_share + HX_MG_SHARE * cell);
    }
    sum_shares(mesh, level, mesh->d_share);
    return HX_OK;
}
