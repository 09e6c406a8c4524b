// dedup: congruent parallelepipeds share one stiffness, applied in the modes of the trilinear map
// (hex8_parity.cuh); all other elements of the mesh go on the fly, as in otf. Any connectivity, any
// order: classes are found by geometry alone.
//
// Patches of 128 elements of one class, and patches of 64 general elements, with common partial
// sums for the nodes that patches share.
#include <cstdlib>

#include "core/congruence.h"
#include "core/memory.h"
#include "core/strategy.h"
#include "hex8_parity.cuh"
#include "otf_cuda.cuh"

namespace
{

#ifndef HX_DEDUP_PATCH
#define HX_DEDUP_PATCH 128
#endif
constexpr int SIZE = HX_DEDUP_PATCH, ROWS = 9 * SIZE / 4;
constexpr int N_RESIDENT = 512 / SIZE; // blocks a multiprocessor, by shared memory

// Patches of a class.
struct patch_class {
    int32_t number, is_box;
};

template <class T> struct body {
    const patch_class *of_patch;
    const T *matrices; // [class][HX_N_PARITY]
    T *matrix;         // in shared memory
    int n_patch;
    patch_class now, next; // of the patch at hand and the one after

    // The matrices of the patch's class, when it is another one than before.
    __device__ __forceinline__ void begin(int patch, char *extra)
    {
        const int old = now.number, ahead = patch + static_cast<int>(gridDim.x);
        now = next;
        if (ahead < n_patch) next = of_patch[ahead];
        if (now.number == old) return;
        matrix = reinterpret_cast<T *>(extra);
        for (int i = static_cast<int>(threadIdx.x); i < HX_N_PARITY; i += SIZE)
            matrix[i] = matrices[HX_N_PARITY * now.number + i];
        __syncthreads();
    }

    template <bool BOX>
    __device__ __forceinline__ void product(const T u[HX_N_MODE][3], T modulus, T *column) const
    {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            T f[HX_N_MODE], v[8];
            hx_parity_product<BOX>(matrix, u, i, f);
#pragma unroll
            for (int m = 0; m < HX_N_MODE; m++) f[m] *= modulus;
            hx_from_modes(f, static_cast<T>(1), v);
#pragma unroll
            for (int a = 0; a < 8; a++) column[(8 * i + a) * SIZE] = v[a];
        }
    }

    __device__ __forceinline__ void element(const hx_eight &corner, const T *,
                                            const T *displacements, T modulus, T *column) const
    {
        T v[8], m[HX_N_MODE], u[HX_N_MODE][3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_gather_corners(displacements, corner, i, v);
            hx_drop_translation(v);
            hx_to_modes(v, m);
#pragma unroll
            for (int k = 0; k < HX_N_MODE; k++) u[k][i] = m[k];
        }
        if (now.is_box)
            product<true>(u, modulus, column);
        else
            product<false>(u, modulus, column);
    }
};

template <class T>
__global__ void __launch_bounds__(SIZE, N_RESIDENT)
    kernel(hx_patch_view g, const patch_class *__restrict__ of_patch,
           const T *__restrict__ matrices, const int32_t *__restrict__ elem,
           const double *__restrict__ modulus, T *__restrict__ partial, const T *__restrict__ x,
           T *__restrict__ y)
{
    body<T> b = {of_patch, matrices, nullptr, g.n_patch, {-1, 0}, of_patch[blockIdx.x]};
    hx_run_patches<T, SIZE, 1, ROWS>(g, elem, modulus, nullptr, partial, x, y, b);
}

template <class T>
constexpr int N_BYTE = hx_patch_memory<T, SIZE, 1, ROWS>::own + HX_N_PARITY * sizeof(T);

struct dedup {
    hx_device *dev;
    const hx_device_model *model;
    hx_cuda_patches patches;
    int32_t *d_elem;                   // of each place
    patch_class *d_of_patch;           // of the first group
    double *d_matrices;                // [n_class][HX_N_PARITY]
    float *d_matrices_single;          // one for each of single precision
    double *d_row_xyz;                 // of the general rows
    float *d_row_xyz_single;           // nullptr until prepared                  // [n_row][3]
    int n_block[2], n_block_single[2]; // by group
};

// What setup works on, on the host.
struct plan {
    hx_congruence congruence;
    hx_patch_group group[2];
    int32_t *elem;         // items of both groups: classes with a -1 after each, general elements
    patch_class *of_patch; // [patches of the first]
    double matrices[HX_MAX_CLASS * HX_N_PARITY];
    float matrices_single[HX_MAX_CLASS * HX_N_PARITY];
    hx_patches patches;
};

void free_plan(plan *p)
{
    hx_congruence_free(&p->congruence);
    hx_patches_free(&p->patches);
    free(p->elem);
    free(p->of_patch);
    free(p);
}

bool is_box(const double j[3][3])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            if (i != k && fabs(j[k][i]) > HX_CONGRUENCE_TOLERANCE * fabs(j[k][k])) return false;
    return true;
}

// Items of both groups, each class and the general elements in ascending order.
int list_elements(plan *p, const hx_mesh *mesh)
{
    const hx_congruence *c = &p->congruence;
    int64_t n_general = mesh->n_elem, next[HX_MAX_CLASS + 1], n_item = 0;
    for (int k = 0; k < c->n_class; k++) {
        next[k] = n_item;
        n_item += c->n_member[k] + 1;
        n_general -= c->n_member[k];
    }
    next[c->n_class] = n_item;
    p->group[0].n_item = n_item;
    p->group[1].n_item = n_general;
    HX_TRY(hx_alloc_raw(&p->elem, static_cast<size_t>(n_item + n_general), sizeof *p->elem,
                        "classes of elements"));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int k = c->elem_class[e];
        p->elem[next[k < 0 ? c->n_class : k]++] = static_cast<int32_t>(e);
    }
    for (int k = 0; k < c->n_class; k++) p->elem[next[k]] = -1;
    p->group[0].size = SIZE;
    p->group[0].max_row = ROWS;
    p->group[0].elem = p->elem;
    p->group[1].size = HX_OTF_PATCH;
    p->group[1].max_row = HX_OTF_ROWS;
    p->group[1].elem = p->elem + n_item;
    return HX_OK;
}

// The class of each patch is that of its first element.
int list_classes(plan *p)
{
    const hx_patch_group &g = p->patches.group[0];
    HX_TRY(hx_alloc_raw(&p->of_patch, static_cast<size_t>(g.n_patch), sizeof *p->of_patch,
                        "classes of elements"));
    for (int64_t i = 0; i < g.n_patch; i++) {
        const int k = p->congruence.elem_class[p->elem[p->patches.span[g.first_patch + i].first]];
        p->of_patch[i] = {k, is_box(p->congruence.jacobian[k])};
    }
    return HX_OK;
}

int make_plan(plan *p, const hx_device_model *model, const hx_mesh *mesh)
{
    HX_TRY(hx_congruence_create(&p->congruence, mesh, SIZE));
    for (int k = 0; k < p->congruence.n_class; k++)
        hx_parity_matrices(p->congruence.jacobian[k], model->lambda, model->mu,
                           p->matrices + HX_N_PARITY * k);
    for (int i = 0; i < HX_MAX_CLASS * HX_N_PARITY; i++)
        p->matrices_single[i] = static_cast<float>(p->matrices[i]);
    HX_TRY(list_elements(p, mesh));
    const int rc = hx_patches_create(&p->patches, mesh, 2, p->group);
    if (rc < 0) return hx_error_prefix("operator 'dedup': "), rc;
    return list_classes(p);
}

template <class T> int put(hx_device *dev, T **d_to, const T *from, int64_t n)
{
    const size_t n_bytes = static_cast<size_t>(n) * sizeof(T);
    HX_TRY(dev->ops->alloc(dev, n_bytes, d_to));
    return dev->ops->upload(dev, *d_to, from, n_bytes);
}

template <class T> int count_blocks(const dedup *s, int n_block[2])
{
    const hx_patch_group &g = s->patches.group[0];
    if (g.n_patch > 0)
        HX_TRY(hx_resident_blocks(s->dev, kernel<T>, SIZE, N_BYTE<T>, g.n_patch, &n_block[0]));
    return hx_otf_blocks<T>(s->patches, 1, &n_block[1]);
}

int put_plan(dedup *s, const plan *p)
{
    const int64_t n_item = p->group[0].n_item + p->group[1].n_item;
    HX_TRY(hx_cuda_patches_put(&s->patches, s->dev, &p->patches));
    HX_TRY(put(s->dev, &s->d_elem, p->elem, n_item));
    HX_TRY(put(s->dev, &s->d_of_patch, p->of_patch, p->patches.group[0].n_patch));
    HX_TRY(put(s->dev, &s->d_matrices, p->matrices, HX_MAX_CLASS * HX_N_PARITY));
    HX_TRY(put(s->dev, &s->d_matrices_single, p->matrices_single, HX_MAX_CLASS * HX_N_PARITY));
    HX_TRY(hx_otf_coordinates<double>(s->patches, 1, *s->model, &s->d_row_xyz));
    return count_blocks<double>(s, s->n_block);
}

size_t bytes(const hx_mesh *mesh, hx_layout)
{
    return hx_patches_bytes(mesh, HX_OTF_PATCH, HX_OTF_ROWS, 3 * sizeof(double)) +
           sizeof(int32_t) * static_cast<size_t>(mesh->n_elem);
}

void teardown(void *state)
{
    dedup *s = static_cast<dedup *>(state);
    void *const owned[] = {s->d_elem,    s->d_of_patch,      s->d_matrices, s->d_matrices_single,
                           s->d_row_xyz, s->d_row_xyz_single};
    for (void *d_p : owned) s->dev->ops->release(s->dev, d_p);
    hx_cuda_patches_free(&s->patches);
    free(s);
}

int setup(void **state, hx_device *dev, const hx_device_model *model, const hx_mesh *mesh,
          hx_layout)
{
    dedup *s;
    plan *p = nullptr;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "operator dedup"));
    s->dev = dev;
    s->model = model;
    int rc = hx_alloc(&p, 1, sizeof *p, "operator dedup");
    if (rc == HX_OK) rc = make_plan(p, model, mesh);
    if (rc == HX_OK) rc = put_plan(s, p);
    if (p) free_plan(p);
    if (rc < 0) {
        teardown(s);
        return rc;
    }
    *state = s;
    return HX_OK;
}

template <class T>
int launch(const dedup &s, const T *matrices, const T *row_xyz, const int n_block[2], const T *d_x,
           T *d_y)
{
    const hx_patch_group &g = s.patches.group[0];
    if (g.n_patch > 0) {
        kernel<T><<<n_block[0], SIZE, N_BYTE<T>, hx_cuda_of(s.dev)->stream>>>(
            hx_view(s.patches, 0), s.d_of_patch, matrices, s.d_elem, s.model->d_modulus,
            reinterpret_cast<T *>(s.patches.d_partial), d_x, d_y);
        HX_TRY_LAUNCH("dedup");
    }
    HX_TRY(hx_otf_launch<T>(s.patches, 1, *s.model, s.d_elem + g.n_item, row_xyz, n_block[1], d_x,
                            d_y));
    return hx_cuda_add_shared<T>(s.patches, d_y);
}

int apply(void *state, const double *d_x, double *d_y)
{
    const dedup &s = *static_cast<dedup *>(state);
    return launch<double>(s, s.d_matrices, s.d_row_xyz, s.n_block, d_x, d_y);
}

int prepare_single(void *state)
{
    dedup *s = static_cast<dedup *>(state);
    if (s->d_row_xyz_single) return HX_OK;
    HX_TRY(hx_otf_coordinates<float>(s->patches, 1, *s->model, &s->d_row_xyz_single));
    return count_blocks<float>(s, s->n_block_single);
}

int apply_single(void *state, const float *d_x, float *d_y)
{
    const dedup &s = *static_cast<dedup *>(state);
    return launch<float>(s, s.d_matrices_single, s.d_row_xyz_single, s.n_block_single, d_x, d_y);
}

hx_strategy table()
{
    hx_strategy t = {};
    t.name = "dedup";
    t.device = "cuda";
    t.help = "one Ke for all congruent parallelepipeds; other elements as otf";
    t.deterministic = 1;
    t.bytes_per_elem = 120;
    t.layouts = HX_LAYOUT_BIT(HX_LAYOUT_INTERLEAVED);
    t.bytes = bytes;
    t.setup = setup;
    t.apply = apply;
    t.prepare_single = prepare_single;
    t.apply_single = apply_single;
    t.teardown = teardown;
    return t;
}

} // namespace

extern "C" const hx_strategy hx_strategy_cuda_dedup = table();
