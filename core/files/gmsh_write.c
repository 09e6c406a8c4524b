/* Gmsh files of format 4.1. Sets are physical groups; because an element lies on only one entity,
 * there is one entity for each combination of sets that occurs. */
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sort.h"
#include "../mesh/set_rules.h"
#include "gmsh.h"
#include "gmsh_reader.h"
#include "set_classes.h"
#include "set_names.h"
#include "solid.h"

/* The elements written for the sets in one dimension. Points stand for nodes that do not belong to
 * members of higher dimension, quadrangles and triangles for faces; the last layer has the
 * solids. */
typedef struct layer {
    int dim;   /* in the format */
    int64_t n; /* number of elements in this layer */
    int64_t first_number;
    int64_t *item; /* [n] node or face of element i (owned); NULL: solid i in the file's order */
    hx_set_classes classes;
    int32_t *entity; /* [classes.n] number of the class's entity, from 1; 0: none (owned) */
    int64_t n_entity, n_block;
} layer;

enum { POINTS, FACES, VOLUMES, N_LAYER };

typedef struct writer {
    FILE *f;
    int is_ascii;
    const hx_mesh *mesh;
    int32_t *node_at, *elem_at; /* indexed by original number (owned); NULL: identity */
    int keeps_node_numbers, keeps_elem_numbers;
    int64_t max_elem_number;
    uint8_t *in_group; /* [n_set][N_LAYER] 1: the set is a group of that dimension (owned) */
    layer layer[N_LAYER];
} writer;

/* --- numbers --- */

static void put_int(writer *w, int64_t value)
{
    const int32_t narrow = (int32_t)value;
    if (w->is_ascii)
        fprintf(w->f, "%ld ", (long)narrow);
    else
        fwrite(&narrow, sizeof narrow, 1, w->f);
}

static void put_size(writer *w, int64_t value)
{
    const uint64_t wide = (uint64_t)value;
    if (w->is_ascii)
        fprintf(w->f, "%lld ", (long long)value);
    else
        fwrite(&wide, sizeof wide, 1, w->f);
}

static void put_reals(writer *w, int n, const double *value)
{
    if (!w->is_ascii) {
        fwrite(value, sizeof *value, (size_t)n, w->f);
        return;
    }
    for (int i = 0; i < n; i++) fprintf(w->f, "%.17g ", value[i]);
}

static void end_line(writer *w)
{
    if (w->is_ascii) fputc('\n', w->f);
}

static void end_section(writer *w, const char *name)
{
    fprintf(w->f, "%s$End%s\n", w->is_ascii ? "" : "\n", name);
}

/* The file's own numbers if all of them are above 0; otherwise positions in the order, from 1. */
static int64_t node_number(const writer *w, int64_t node)
{
    const hx_mesh *const mesh = w->mesh;
    if (w->keeps_node_numbers) return hx_mesh_node_number(mesh, node);
    return 1 + (mesh->node_orig ? mesh->node_orig[node] : node);
}

static int64_t elem_number(const writer *w, int64_t elem)
{
    const hx_mesh *const mesh = w->mesh;
    if (w->keeps_elem_numbers) return hx_mesh_elem_number(mesh, elem);
    return 1 + (mesh->elem_orig ? mesh->elem_orig[elem] : elem);
}

static int are_positive(const hx_numbers *list)
{
    int64_t min = INT64_MAX;
    for (int64_t i = 0; i < list->n; i++)
        if (hx_numbers_get(list, i) < min) min = hx_numbers_get(list, i);
    return list->n > 0 && min > 0;
}

/* --- sets --- */

/* Adds the nodes of the set that are not nodes of its elements and faces. */
static int add_points(writer *w, const hx_set *set, int32_t index, uint8_t *flag, int32_t *node)
{
    int64_t n = 0;
    const int64_t n_face = hx_set_stated_faces(w->mesh, set);
    hx_flag_set_nodes(w->mesh, set, n_face, flag, 1);
    for (int64_t i = 0; i < set->n_node; i++)
        if (!flag[set->node[i]]) node[n++] = set->node[i];
    hx_flag_set_nodes(w->mesh, set, n_face, flag, 0);
    const int is_empty = set->n_node == 0 && set->n_elem == 0;
    w->in_group[N_LAYER * index + POINTS] = (uint8_t)(n > 0 || is_empty);
    return hx_set_classes_add(&w->layer[POINTS].classes, index, n, node);
}

static int classify_nodes(writer *w)
{
    int rc = HX_OK;
    uint8_t *flag = NULL;
    int32_t *node = NULL;
    const hx_mesh *const mesh = w->mesh;
    HX_TRY_FAIL(hx_set_classes_create(&w->layer[POINTS].classes, mesh->n_node));
    HX_TRY_FAIL(hx_alloc(&flag, (size_t)mesh->n_node, 1, "flags of nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)mesh->n_node, sizeof *node, "nodes of a set"));
    for (size_t i = 0; i < mesh->n_set; i++)
        HX_TRY_FAIL(add_points(w, &mesh->set[i], (int32_t)i, flag, node));
fail:
    free(flag);
    free(node);
    return rc;
}

static int classify_elements(writer *w)
{
    const hx_mesh *const mesh = w->mesh;
    hx_set_classes *const classes = &w->layer[VOLUMES].classes;
    HX_TRY(hx_set_classes_create(classes, mesh->n_elem));
    for (size_t i = 0; i < mesh->n_set; i++) {
        HX_TRY(hx_set_classes_add(classes, (int32_t)i, mesh->set[i].n_elem, mesh->set[i].elem));
        w->in_group[N_LAYER * i + VOLUMES] = mesh->set[i].n_elem > 0;
    }
    return HX_OK;
}

/* Collects all faces of all sets, ascending, each once. */
static int collect_faces(writer *w)
{
    const hx_mesh *const mesh = w->mesh;
    layer *const faces = &w->layer[FACES];
    int64_t n = 0;
    for (size_t i = 0; i < mesh->n_set; i++) n += hx_set_stated_faces(mesh, &mesh->set[i]);
    HX_TRY(hx_alloc_raw(&faces->item, (size_t)n, sizeof *faces->item, "faces of sets"));
    n = 0;
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        const int64_t n_stated = hx_set_stated_faces(mesh, set);
        if (n_stated == 0) continue;
        memcpy(faces->item + n, set->face, (size_t)n_stated * sizeof *faces->item);
        n += n_stated;
    }
    hx_sort_i64(faces->item, n);
    faces->n = hx_unique_i64(faces->item, n);
    if (faces->n > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "the sets have %lld %s, which is too many", (long long)faces->n,
                        hx_noun(faces->n, "face", "faces"));
    return HX_OK;
}

static int classify_faces(writer *w)
{
    int rc = HX_OK;
    int32_t *place = NULL;
    const hx_mesh *const mesh = w->mesh;
    layer *const faces = &w->layer[FACES];
    HX_TRY_FAIL(collect_faces(w));
    HX_TRY_FAIL(hx_set_classes_create(&faces->classes, faces->n));
    HX_TRY_FAIL(hx_alloc_raw(&place, (size_t)faces->n, sizeof *place, "faces of a set"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        const int64_t n_stated = hx_set_stated_faces(mesh, set);
        int64_t k = 0;
        for (int64_t j = 0; j < n_stated; j++) {
            while (faces->item[k] != set->face[j]) k++; /* both lists ascend */
            place[j] = (int32_t)k;
        }
        HX_TRY_FAIL(hx_set_classes_add(&faces->classes, (int32_t)i, n_stated, place));
        w->in_group[N_LAYER * i + FACES] = n_stated > 0;
    }
fail:
    free(place);
    return rc;
}

/* Class of element i of a layer. */
static int32_t class_of(const writer *w, const layer *l, int64_t i)
{
    if (l == &w->layer[POINTS]) return l->classes.of[l->item[i]];
    if (l == &w->layer[FACES]) return l->classes.of[i];
    return l->classes.of[w->elem_at ? w->elem_at[i] : i];
}

/* Lists the nodes of a face around it, only three for a triangle; returns their number. */
static int face_nodes(const hx_mesh *mesh, int64_t face, int32_t node[4])
{
    const int32_t *const conn = mesh->conn + 8 * (face / 6);
    const int *const corner = hx_hex_face[face % 6];
    int n = 0;
    for (int k = 0; k < 4; k++)
        if (conn[corner[k]] != conn[corner[(k + 3) % 4]]) node[n++] = conn[corner[k]];
    return n;
}

/* Lists the nodes of element i of a layer; returns their number. */
static int element_nodes(const writer *w, const layer *l, int64_t i, int32_t node[8])
{
    if (l->dim == 0) {
        node[0] = (int32_t)l->item[i];
        return 1;
    }
    if (l->dim == 2) return face_nodes(w->mesh, l->item[i], node);
    const int32_t *const conn = w->mesh->conn + 8 * (w->elem_at ? w->elem_at[i] : i);
    const hx_solid_id id = hx_solid_of_cell(conn);
    const int *const corner = hx_solid_nodes(id);
    for (int k = 0; k < hx_solids[id].n_node; k++) node[k] = conn[corner[k]];
    return hx_solids[id].n_node;
}

/* Gmsh's type of element i of a layer. */
static int type_of(const writer *w, const layer *l, int64_t i)
{
    enum { POINT = 15, TRIANGLE = 2, QUADRANGLE = 3 };
    /* indexed by the number of nodes */
    static const int solid[9] = {[4] = 4, [5] = 7, [6] = 6, [8] = 5};
    int32_t node[8];
    const int n = element_nodes(w, l, i, node);
    if (l->dim == 3) return solid[n];
    return n == 1 ? POINT : n == 3 ? TRIANGLE : QUADRANGLE;
}

/* Returns 1 if element i begins a block: its class or type differs from that of the previous
 * element. */
static int begins_block(const writer *w, const layer *l, int64_t i)
{
    return i == 0 || class_of(w, l, i - 1) != class_of(w, l, i) ||
           type_of(w, l, i - 1) != type_of(w, l, i);
}

static int count_entities(writer *w, layer *l)
{
    HX_TRY(hx_alloc(&l->entity, (size_t)l->classes.n, sizeof *l->entity, "entities"));
    for (int64_t i = 0; i < l->n; i++) {
        const int32_t c = class_of(w, l, i);
        if (l->entity[c] == 0) l->entity[c] = (int32_t)++l->n_entity;
        l->n_block += begins_block(w, l, i);
    }
    return HX_OK;
}

static int prepare_writer(writer *w)
{
    int64_t number;
    HX_TRY(hx_alloc(&w->in_group, w->mesh->n_set * N_LAYER, 1, "groups"));
    const hx_mesh *const mesh = w->mesh;
    HX_TRY(hx_mesh_invert(mesh->n_node, mesh->node_orig, &w->node_at));
    HX_TRY(hx_mesh_invert(mesh->n_elem, mesh->elem_orig, &w->elem_at));
    w->keeps_node_numbers = are_positive(&mesh->node_number);
    w->keeps_elem_numbers = are_positive(&mesh->elem_number);
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (elem_number(w, e) > w->max_elem_number) w->max_elem_number = elem_number(w, e);
    HX_TRY(classify_nodes(w));
    HX_TRY(classify_faces(w));
    HX_TRY(classify_elements(w));
    /* nodes in some class become the elements of the layer of points */
    layer *const points = &w->layer[POINTS];
    const int32_t *const of = points->classes.of;
    const int64_t n_node = w->mesh->n_node;
    points->n = n_node - points->classes.count[0];
    HX_TRY(hx_alloc_raw(&points->item, (size_t)points->n, sizeof *points->item, "points of sets"));
    points->n = 0;
    for (int64_t i = 0; i < n_node; i++) {
        const int64_t a = w->node_at ? w->node_at[i] : i;
        if (of[a] > 0) points->item[points->n++] = a;
    }
    w->layer[VOLUMES].n = w->mesh->n_elem;
    number = w->max_elem_number + 1;
    for (int k = 0; k < N_LAYER; k++) {
        layer *const l = &w->layer[k];
        l->dim = k == POINTS ? 0 : k + 1;
        l->first_number = number;
        if (k != VOLUMES) number += l->n;
        HX_TRY(count_entities(w, l));
    }
    return HX_OK;
}

/* --- sections --- */

static void write_format(writer *w)
{
    fprintf(w->f, "$MeshFormat\n4.1 %d 8\n", w->is_ascii ? 0 : 1);
    if (!w->is_ascii) {
        put_int(w, 1);
        fputc('\n', w->f);
    }
    fputs("$EndMeshFormat\n", w->f);
}

/* A set with members of several dimensions is written as several groups; the reader joins them to
 * one set. */
static void write_joins(writer *w)
{
    int is_joined = 0;
    for (size_t i = 0; i < w->mesh->n_set; i++) {
        const uint8_t *const in = w->in_group + N_LAYER * i;
        is_joined |= in[POINTS] + in[FACES] + in[VOLUMES] > 1;
    }
    if (is_joined) fputs("$Comments\n" HX_GMSH_JOINS "\n$EndComments\n", w->f);
}

/* Writes the rules of combined sets. Every program understands the rest of the file. */
static int write_rules(writer *w)
{
    hx_set_names names;
    char *text = NULL;
    HX_TRY(hx_set_names_make(w->mesh, &hx_gmsh_name_rule, &names));
    const int rc = hx_set_rules_text(w->mesh, names.name, "", &text);
    if (text) fprintf(w->f, "$Comments\n%s$EndComments\n", text);
    free(text);
    hx_set_names_free(&names);
    return rc;
}

static int n_byte(unsigned char c)
{
    return c >= 32 && c != 127 && c != '"';
}

static unsigned char instead(unsigned char c)
{
    return c == '"' ? '\'' : '_';
}

/* gmsh truncates longer names */
const hx_set_name_rule hx_gmsh_name_rule = {.most = 127, .n_byte = n_byte, .instead = instead};

static int write_names(writer *w)
{
    const hx_mesh *const mesh = w->mesh;
    hx_set_names names;
    int64_t n = 0;
    for (size_t i = 0; i < N_LAYER * mesh->n_set; i++) n += w->in_group[i];
    if (n == 0) return HX_OK;
    HX_TRY(hx_set_names_make(mesh, &hx_gmsh_name_rule, &names));
    fprintf(w->f, "$PhysicalNames\n%lld\n", (long long)n);
    for (size_t i = 0; i < mesh->n_set; i++)
        for (int k = 0; k < N_LAYER; k++) {
            if (!w->in_group[N_LAYER * i + (size_t)k]) continue;
            fprintf(w->f, "%d %zu \"%s\"\n", w->layer[k].dim, i + 1, names.name[i]);
        }
    fputs("$EndPhysicalNames\n", w->f);
    hx_set_names_free(&names);
    return HX_OK;
}

/* Writes number, bounding box (for a point: position) and groups of the entity of class c. */
static void write_entity(writer *w, const layer *l, int32_t c, const double *place)
{
    int64_t n = 0;
    put_int(w, l->entity[c]);
    if (l->dim == 0) {
        put_reals(w, 3, place);
    } else {
        put_reals(w, 3, w->mesh->box_min);
        put_reals(w, 3, w->mesh->box_max);
    }
    for (int32_t k = c; k > 0; k = l->classes.parent[k]) n++;
    put_size(w, n);
    for (int32_t k = c; k > 0; k = l->classes.parent[k]) put_int(w, l->classes.set[k] + 1);
    if (l->dim > 0) put_size(w, 0); /* bounding entities */
    end_line(w);
}

static void write_entities(writer *w)
{
    fputs("$Entities\n", w->f);
    put_size(w, w->layer[POINTS].n_entity);
    put_size(w, 0); /* curves */
    put_size(w, w->layer[FACES].n_entity);
    put_size(w, w->layer[VOLUMES].n_entity);
    end_line(w);
    for (int k = 0; k < N_LAYER; k++) {
        const layer *const l = &w->layer[k];
        int64_t next = 1;
        for (int64_t i = 0; i < l->n && next <= l->n_entity; i++) {
            const int32_t c = class_of(w, l, i);
            if (l->entity[c] != next) continue; /* entities are numbered by first occurrence */
            next++;
            write_entity(w, l, c, k == POINTS ? w->mesh->xyz + 3 * l->item[i] : NULL);
        }
    }
    end_section(w, "Entities");
}

/* Writes all nodes in one block, on the first volume. */
static void write_nodes(writer *w)
{
    const hx_mesh *const mesh = w->mesh;
    int64_t min = INT64_MAX, max = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t number = node_number(w, a);
        if (number < min) min = number;
        if (number > max) max = number;
    }
    fputs("$Nodes\n", w->f);
    put_size(w, 1);
    put_size(w, mesh->n_node);
    put_size(w, min);
    put_size(w, max);
    end_line(w);
    put_int(w, 3);
    put_int(w, 1);
    put_int(w, 0);
    put_size(w, mesh->n_node);
    end_line(w);
    for (int64_t i = 0; i < mesh->n_node; i++) {
        put_size(w, node_number(w, w->node_at ? w->node_at[i] : i));
        end_line(w);
    }
    for (int64_t i = 0; i < mesh->n_node; i++) {
        put_reals(w, 3, mesh->xyz + 3 * (w->node_at ? w->node_at[i] : i));
        end_line(w);
    }
    end_section(w, "Nodes");
}

/* Writes number and nodes of element i of a layer. */
static void write_element(writer *w, const layer *l, int64_t i)
{
    int32_t node[8];
    const int n = element_nodes(w, l, i, node);
    if (l->dim == 3)
        put_size(w, elem_number(w, w->elem_at ? w->elem_at[i] : i));
    else
        put_size(w, l->first_number + i);
    for (int k = 0; k < n; k++) put_size(w, node_number(w, node[k]));
    end_line(w);
}

/* Writes one block per run of elements of one class and type, which preserves their order. */
static void write_layer(writer *w, const layer *l)
{
    int64_t end;
    for (int64_t i = 0; i < l->n; i = end) {
        for (end = i + 1; end < l->n && !begins_block(w, l, end);) end++;
        put_int(w, l->dim);
        put_int(w, l->entity[class_of(w, l, i)]);
        put_int(w, type_of(w, l, i));
        put_size(w, end - i);
        end_line(w);
        for (int64_t k = i; k < end; k++) write_element(w, l, k);
    }
}

static void write_elements(writer *w)
{
    int64_t n_block = 0, n = 0, min = INT64_MAX;
    for (int k = 0; k < N_LAYER; k++) {
        n_block += w->layer[k].n_block;
        n += w->layer[k].n;
    }
    for (int64_t e = 0; e < w->mesh->n_elem; e++)
        if (elem_number(w, e) < min) min = elem_number(w, e);
    fputs("$Elements\n", w->f);
    put_size(w, n_block);
    put_size(w, n);
    put_size(w, min);
    put_size(w, w->max_elem_number + w->layer[POINTS].n + w->layer[FACES].n);
    end_line(w);
    for (int k = 0; k < N_LAYER; k++) write_layer(w, &w->layer[k]);
    end_section(w, "Elements");
}

static int write_gmsh_file(writer *w, const char *path)
{
    int rc = HX_OK;
    hx_atomic_file file;
    memset(&file, 0, sizeof file);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    w->f = file.stream;
    setvbuf(w->f, NULL, _IOFBF, 1 << 20);
    write_format(w);
    write_joins(w);
    HX_TRY_FAIL(write_rules(w));
    HX_TRY_FAIL(write_names(w));
    write_entities(w);
    write_nodes(w);
    write_elements(w);
    HX_TRY_FAIL(hx_atomic_file_commit(&file));
    return HX_OK;
fail:
    hx_atomic_file_free(&file);
    return rc;
}

int hx_gmsh_write(const char *path, const hx_mesh *mesh, int is_ascii)
{
    writer w;
    memset(&w, 0, sizeof w);
    w.mesh = mesh;
    w.is_ascii = is_ascii;
    int rc = prepare_writer(&w);
    if (rc == HX_OK) rc = write_gmsh_file(&w, path);
    for (int k = 0; k < N_LAYER; k++) {
        free(w.layer[k].item);
        free(w.layer[k].entity);
        hx_set_classes_free(&w.layer[k].classes);
    }
    free(w.in_group);
    free(w.node_at);
    free(w.elem_at);
    return rc;
}
