/* Solids of every kind, order and format, one per file: volume, faces by labels and by surface
 * elements, second-order nodes on straight and curved edges, and mirrored and degenerate solids.
 * The orders of nodes are written here, node by node, as the manuals draw them: "2" is a corner,
 * "02" lies between corners 0 and 2. Also tested: a cell gives the same element in any numbering.
 * test_solids */
#include <ctype.h>

#include "core/files/mesh_files.h"
#include "core/files/solid.h"
#include "core/mesh/hex8.h"
#include "core/mesh/mesh_check.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/vtk_sample.h"

/* --- the solids --- */

typedef struct shape {
    const char *name;
    double volume; /* before `map` is applied */
    int n_corner;
    double corner[8][3];
    const char *side[6]; /* S1 to S6 of Abaqus, by corners; NULL: no more */
} shape;

static const shape shapes[] = {
    {"tetrahedron",
     1.0 / 6.0,
     4,
     {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     {"012", "031", "132", "230"}},
    {"wedge",
     0.5,
     6,
     {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
     {"012", "354", "0341", "1452", "2530"}},
    {"pyramid",
     1.0 / 3.0,
     5,
     {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.3, 0.2, 1}},
     {"0123", "041", "142", "243", "340"}},
    {"hexahedron",
     1.0,
     8,
     {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
     {"0123", "4765", "0451", "1562", "2673", "3740"}},
};
enum { TETRAHEDRON, WEDGE, PYRAMID, HEXAHEDRON };

/* A sheared and stretched box: volumes times 2.6 * 1.7 * 0.9. */
static const double map[3][3] = {{2.6, 0.4, -0.3}, {0.0, 1.7, 0.5}, {0.0, 0.0, 0.9}};
static const double scale = 2.6 * 1.7 * 0.9;

#define TET10 "0 1 2 3 01 12 02 03 13 23"
#define WEDGE15 "0 1 2 3 4 5 01 12 02 34 45 35 03 14 25"
#define PYRAMID13 "0 1 2 3 4 01 12 23 03 04 14 24 34"
#define HEX20 "0 1 2 3 4 5 6 7 01 12 23 03 45 56 67 47 04 15 26 37"
#define GMSH_WEDGE15 "0 1 2 3 4 5 01 02 03 12 14 25 34 35 45"
#define GMSH_PYRAMID13 "0 1 2 3 4 01 03 04 12 14 23 24 34"
#define GMSH_HEX20 "0 1 2 3 4 5 6 7 01 03 04 12 15 23 26 37 45 47 56 67"

typedef struct type {
    /* format: file extension; name: type of Abaqus, otherwise the type's number */
    const char *format, *name;
    int shape;
    const char *order;
} type;

static const type types[] = {
    {".inp", "C3D4", TETRAHEDRON, "0 1 2 3"},
    {".inp", "C3D4H", TETRAHEDRON, "0 1 2 3"},
    {".inp", "C3D10", TETRAHEDRON, TET10},
    {".inp", "C3D10M", TETRAHEDRON, TET10},
    {".inp", "C3D6", WEDGE, "0 1 2 3 4 5"},
    {".inp", "C3D15", WEDGE, WEDGE15},
    {".inp", "C3D5", PYRAMID, "0 1 2 3 4"},
    {".inp", "C3D8", HEXAHEDRON, "0 1 2 3 4 5 6 7"},
    {".inp", "C3D20", HEXAHEDRON, HEX20},
    {".inp", "C3D20R", HEXAHEDRON, HEX20},
    {".inp", "C3D27", HEXAHEDRON, HEX20 " 01234567 0123 4567 0145 1256 2367 0347"},
    {".msh", "4", TETRAHEDRON, "0 1 2 3"},
    {".msh", "5", HEXAHEDRON, "0 1 2 3 4 5 6 7"},
    {".msh", "6", WEDGE, "0 1 2 3 4 5"},
    {".msh", "7", PYRAMID, "0 1 2 3 4"},
    {".msh", "11", TETRAHEDRON, "0 1 2 3 01 12 02 03 23 13"},
    {".msh", "12", HEXAHEDRON, GMSH_HEX20 " 0123 0145 0347 1256 2367 4567 01234567"},
    {".msh", "13", WEDGE, GMSH_WEDGE15 " 0134 0235 1245"},
    {".msh", "14", PYRAMID, GMSH_PYRAMID13 " 0123"},
    {".msh", "17", HEXAHEDRON, GMSH_HEX20},
    {".msh", "18", WEDGE, GMSH_WEDGE15},
    {".msh", "19", PYRAMID, GMSH_PYRAMID13},
    {".vtk", "10", TETRAHEDRON, "0 1 2 3"},
    {".vtk", "11", HEXAHEDRON, "0 1 3 2 4 5 7 6"},
    {".vtk", "12", HEXAHEDRON, "0 1 2 3 4 5 6 7"},
    {".vtk", "13", WEDGE, "0 2 1 3 5 4"}, /* VTK's own orientation, and that of other programs */
    {".vtk", "13", WEDGE, "0 1 2 3 4 5"},
    {".vtk", "14", PYRAMID, "0 1 2 3 4"},
    {".vtk", "24", TETRAHEDRON, TET10},
    {".vtk", "25", HEXAHEDRON, HEX20},
    {".vtk", "26", WEDGE, WEDGE15},
    {".vtk", "27", PYRAMID, PYRAMID13},
    {".vtk", "29", HEXAHEDRON, HEX20 " 0347 1256 0145 2367 0123 4567 01234567"},
    {".vtk", "32", WEDGE, WEDGE15 " 0134 1245 0235"},
    {".vtk", "33", HEXAHEDRON, HEX20 " 0347 1256 0145 2367"},
    {".cdb", "285", TETRAHEDRON, "0 1 2 3"},
    {".cdb", "185", TETRAHEDRON, "0 1 2 2 3 3 3 3"},
    {".cdb", "185", WEDGE, "0 1 2 2 3 4 5 5"},
    {".cdb", "185", PYRAMID, "0 1 2 3 4 4 4 4"},
    {".cdb", "185", HEXAHEDRON, "0 1 2 3 4 5 6 7"},
    {".cdb", "187", TETRAHEDRON, TET10},
    {".cdb", "186", HEXAHEDRON, HEX20},
    {".cdb", "186", TETRAHEDRON, "0 1 2 2 3 3 3 3 01 12 2 02 3 3 3 3 03 13 23 23"},
    {".cdb", "186", WEDGE, "0 1 2 2 3 4 5 5 01 12 2 02 34 45 5 35 03 14 25 25"},
    {".cdb", "186", PYRAMID, "0 1 2 3 4 4 4 4 01 12 23 03 4 4 4 4 04 14 24 34"},
    /* bricks with repeated nodes in other numberings */
    {".inp", "C3D8", TETRAHEDRON, "0 1 2 3 3 3 3 3"}, /* LS-DYNA's */
    {".msh", "5", TETRAHEDRON, "3 3 3 3 0 2 1 1"},
    {".inp", "C3D8", WEDGE, "0 3 4 1 2 5 5 2"}, /* LS-DYNA's */
    {".vtk", "12", WEDGE, "0 2 5 3 1 1 4 4"},
    {".msh", "5", PYRAMID, "4 4 4 4 0 3 2 1"},
    {".vtk", "12", PYRAMID, "4 0 3 4 4 1 2 4"},
};

/* --- files --- */

enum { MOST_NODES = 27 };

/* The words of an order: each different word is a node, numbered in the order in which words first
 * occur. */
typedef struct part {
    const shape *shape;
    int n_node, n_word, mirrored, bent;
    int word[MOST_NODES + 8]; /* node of each word */
    unsigned corners[MOST_NODES + 8];
} part;

static unsigned corners_of(const char *word)
{
    unsigned bits = 0;
    for (; isdigit((unsigned char)*word); word++) bits |= 1u << (*word - '0');
    return bits;
}

static void parse(part *p, const shape *of, const char *order)
{
    memset(p, 0, sizeof *p);
    p->shape = of;
    for (const char *c = order; *c; c += strspn(c, " ")) {
        const unsigned bits = corners_of(c);
        int i = 0;
        while (i < p->n_node && p->corners[i] != bits) i++;
        if (i == p->n_node) p->corners[p->n_node++] = bits;
        p->word[p->n_word++] = i;
        c += strcspn(c, " ");
    }
}

/* The position of the node: the mean of its corners. In a bent part, nodes on edges are moved away
 * from it. */
static void place(const part *p, unsigned corners, double x[3])
{
    double mean[3] = {0.0, 0.0, 0.0};
    int n = 0;
    for (int c = 0; c < 8; c++) n += corners >> c & 1;
    for (int c = 0; c < 8; c++)
        for (int d = 0; d < 3; d++)
            if (corners >> c & 1) mean[d] += p->shape->corner[c][d] / n;
    for (int d = 0; d < 3; d++)
        x[d] = map[d][0] * mean[0] + map[d][1] * mean[1] + map[d][2] * mean[2] +
               (p->bent && n == 2 ? 0.03 * sin(corners + 3.0 * d) : 0.0);
    if (p->mirrored) x[0] = -x[0];
}

/* The node at that corner: its number in a file, or its index from 0 in VTK. */
static int node_of(const part *p, int corner)
{
    int i = 0;
    while (p->corners[i] != 1u << corner) i++;
    return i;
}

static int number_of(int node)
{
    return 11 + 7 * node;
}

/* One line per node: its number in the format `head` (NULL: no number), and its position. */
static int add_nodes(const part *p, const char *head, const char *separator, char *text)
{
    int n = 0;
    for (int i = 0; i < p->n_node; i++) {
        double x[3];
        place(p, p->corners[i], x);
        if (head) n += sprintf(text + n, head, number_of(i));
        for (int d = 0; d < 3; d++)
            n += sprintf(text + n, "%s%25.16E", d > 0 ? separator : "", x[d]);
        n += sprintf(text + n, "\n");
    }
    return n;
}

/* The numbers that follow an element's own number, each after the separator; eight per line. */
static int add_words(const part *p, const char *separator, char *text)
{
    int n = 0;
    for (int i = 0; i < p->n_word; i++)
        n += sprintf(text + n, "%s%s%d", separator, i == 8 ? "\n" : "", number_of(p->word[i]));
    return n;
}

static int is_brick(const type *t)
{
    return t->shape != HEXAHEDRON && strcmp(t->name, "C3D8") == 0;
}

/* The sides as surfaces, a set of all nodes, and forces. */
static void write_abaqus(const part *p, const type *t, char *text)
{
    text += sprintf(text, "*NODE, NSET=all\n");
    text += add_nodes(p, "%d, ", ", ", text);
    text += sprintf(text, "*ELEMENT, TYPE=%s, ELSET=part\n5", t->name);
    text += add_words(p, ", ", text);
    *text++ = '\n';
    for (int s = 0; s < 6 && p->shape->side[s] && !is_brick(t); s++)
        text += sprintf(text, "*SURFACE, NAME=side%d\npart, S%d\n", s + 1, s + 1);
    text += sprintf(text, "*STEP\n*STATIC\n*CLOAD\nall, 3, 2.\n*END STEP\n");
}

/* A face in the file: the node numbers of the corners in its label. */
static int add_face(const part *p, const char *side, char *text)
{
    int n = 0;
    for (const char *c = side; *c; c++)
        n += sprintf(text + n, " %d", number_of(node_of(p, *c - '0')));
    return n;
}

static int count_sides(const part *p)
{
    int n = 0;
    while (n < 6 && p->shape->side[n]) n++;
    return n;
}

/* The head of a Gmsh file, and the names of its sides. */
static int add_names(const char *version, int n_side, char *text)
{
    int n =
        sprintf(text, "$MeshFormat\n%s 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n", version, n_side);
    for (int s = 0; s < n_side; s++) n += sprintf(text + n, "2 %d \"side%d\"\n", s + 1, s + 1);
    return n + sprintf(text + n, "$EndPhysicalNames\n");
}

static void write_gmsh_2(const part *p, const type *t, char *text)
{
    const int n_side = count_sides(p);
    text += add_names("2.2", n_side, text);
    text += sprintf(text, "$Nodes\n%d\n", p->n_node);
    text += add_nodes(p, "%d ", " ", text);
    text += sprintf(text, "$EndNodes\n$Elements\n%d\n", n_side + 1);
    for (int s = 0; s < n_side; s++) {
        const int is_quad = strlen(p->shape->side[s]) == 4;
        text += sprintf(text, "%d %d 2 %d 1", s + 10, is_quad ? 3 : 2, s + 1);
        text += add_face(p, p->shape->side[s], text);
        *text++ = '\n';
    }
    text += sprintf(text, "5 %s 2 9 1", t->name);
    text += add_words(p, " ", text);
    sprintf(text, "\n$EndElements\n");
}

static void write_gmsh_4(const part *p, const type *t, char *text)
{
    const int n_side = count_sides(p);
    text += add_names("4.1", n_side, text);
    text += sprintf(text, "$Entities\n0 0 %d 1\n", n_side);
    for (int s = 0; s < n_side; s++) text += sprintf(text, "%d 0 0 0 0 0 0 1 %d 0\n", s + 1, s + 1);
    text += sprintf(text, "1 0 0 0 0 0 0 0 0\n$EndEntities\n$Nodes\n1 %d 1 1000\n3 1 0 %d\n",
                    p->n_node, p->n_node);
    for (int i = 0; i < p->n_node; i++) text += sprintf(text, "%d\n", number_of(i));
    text += add_nodes(p, NULL, " ", text);
    text += sprintf(text, "$EndNodes\n$Elements\n%d %d 1 1000\n3 1 %s 1\n5", n_side + 1, n_side + 1,
                    t->name);
    text += add_words(p, " ", text);
    for (int s = 0; s < n_side; s++) {
        const int is_quad = strlen(p->shape->side[s]) == 4;
        text += sprintf(text, "\n2 %d %d 1\n%d", s + 1, is_quad ? 3 : 2, s + 10);
        text += add_face(p, p->shape->side[s], text);
    }
    sprintf(text, "\n$EndElements\n");
}

static void write_vtk(const part *p, const type *t, int major, char *text)
{
    text += sprintf(text, "# vtk DataFile Version %d.%d\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n",
                    major, major == 5);
    text += sprintf(text, "POINTS %d double\n", p->n_node);
    text += add_nodes(p, NULL, " ", text);
    if (major == 5)
        text += sprintf(text, "CELLS 2 %d\nOFFSETS vtktypeint64\n0 %d\nCONNECTIVITY vtktypeint64\n",
                        p->n_word, p->n_word);
    else
        text += sprintf(text, "CELLS 1 %d\n%d", p->n_word + 1, p->n_word);
    for (int i = 0; i < p->n_word; i++) text += sprintf(text, " %d", p->word[i]);
    text += sprintf(text, "\nCELL_TYPES 1\n%s\nPOINT_DATA %d\n", t->name, p->n_node);
    for (int s = 0; s < 6 && p->shape->side[s]; s++) {
        text += sprintf(text, "SCALARS set_side%d int\nLOOKUP_TABLE default\n", s + 1);
        for (int i = 0; i < p->n_node; i++)
            text += sprintf(text, "%d\n", (p->corners[i] & ~corners_of(p->shape->side[s])) == 0);
    }
}

static void write_ansys(const part *p, const type *t, char *text)
{
    text +=
        sprintf(text, "/COM,ANSYS\n/PREP7\nET,1,%s\nNBLOCK,6,SOLID\n(3i9,6e25.17e3)\n", t->name);
    text += add_nodes(p, "%9d        0        0", "", text);
    text += sprintf(text, "N,R5.3,LOC,-1,\nEBLOCK,19,SOLID\n(19i9)\n");
    const int head[11] = {1, 1, 1, 1, 0, 0, 0, 0, p->n_word, 0, 5};
    for (int i = 0; i < 11; i++) text += sprintf(text, "%9d", head[i]);
    for (int i = 0; i < p->n_word; i++)
        text += sprintf(text, "%s%9d", i == 8 ? "\n" : "", number_of(p->word[i]));
    text += sprintf(text, "\n       -1\n");
    for (int s = 0; s < 6 && p->shape->side[s]; s++) {
        int n = 0;
        for (int i = 0; i < p->n_node; i++)
            n += (p->corners[i] & ~corners_of(p->shape->side[s])) == 0;
        text += sprintf(text, "CMBLOCK,side%d,NODE,%8d\n(1i10)\n", s + 1, n);
        for (int i = 0; i < p->n_node; i++)
            if ((p->corners[i] & ~corners_of(p->shape->side[s])) == 0)
                text += sprintf(text, "%10d\n", number_of(i));
    }
}

/* --- checks --- */

/* The set of a side has its corners, and its face if the format names faces. */
static void check_side(const hx_mesh *mesh, const part *p, const type *t, int side)
{
    char name[16];
    const int is_vtk = strcmp(t->format, ".vtk") == 0;
    const int has_faces = strcmp(t->format, ".inp") == 0 || strcmp(t->format, ".msh") == 0;
    const char *const label = p->shape->side[side];
    snprintf(name, sizeof name, "side%d", side + 1);
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    CHECK_MSG(set && set->n_node == (int64_t)strlen(label) && set->n_face == has_faces,
              "%s %s %s: %s has %lld nodes, %lld faces", t->format, t->name, t->order, name,
              set ? (long long)set->n_node : -1, set ? (long long)set->n_face : -1);
    for (const char *c = label; set && *c; c++) {
        const int node = node_of(p, *c - '0');
        int found = 0;
        for (int64_t i = 0; i < set->n_node; i++)
            found |= hx_mesh_node_number(mesh, set->node[i]) == (is_vtk ? node : number_of(node));
        CHECK_MSG(found, "%s %s %s: %s lacks corner %c", t->format, t->name, t->order, name, *c);
    }
}

/* Every cell gets the same numbering, whether it is mirrored or not. */
static void check_numbering(const hx_mesh *mesh, const type *t)
{
    static const hx_solid_id id[] = {HX_SOLID_TET4, HX_SOLID_WEDGE6, HX_SOLID_PYRAMID5,
                                     HX_SOLID_HEX8};
    CHECK_MSG(hx_solid_of_cell(mesh->conn) == id[t->shape], "%s %s %s: %d", t->format, t->name,
              t->order, (int)hx_solid_of_cell(mesh->conn));
}

/* The sum of the forces is twice the number of nodes, and they act only on corners. */
static void check_forces(const hx_mesh *mesh, const part *p, const hx_conditions *stated)
{
    double sum = 0.0, moment[2] = {0.0, 0.0}, expected[2] = {0.0, 0.0};
    int32_t *node = NULL;
    CHECK_OK(hx_conditions_nodes(mesh, stated->n_force, stated->force, &node));
    for (int64_t i = 0; i < stated->n_force; i++) {
        sum += stated->force[i].value;
        for (int d = 0; d < 2; d++)
            moment[d] += stated->force[i].value * mesh->xyz[3 * (int64_t)node[i] + d];
    }
    for (int i = 0; i < p->n_node; i++) {
        double x[3];
        place(p, p->corners[i], x);
        for (int d = 0; d < 2; d++) expected[d] += 2.0 * x[d];
    }
    CHECK_REL(sum, 2.0 * p->n_node, 1e-14);
    CHECK(stated->n_force == mesh->n_node);
    for (int d = 0; d < 2; d++) CHECK_ABS(moment[d], expected[d], 1e-12 * p->n_node);
    free(node);
}

static int count_notes(const hx_notes *notes, const char *text)
{
    int n = 0;
    for (size_t i = 0; i < notes->n; i++) n += strstr(notes->note[i].text, text) != NULL;
    return n;
}

static void check_notes(const hx_notes *notes, const part *p, const type *t)
{
    char left_out[64];
    const int n_middle = p->n_node - p->shape->n_corner;
    snprintf(left_out, sizeof left_out, " with %d mid-side nodes, which", n_middle);
    CHECK_MSG(count_notes(notes, "\"linear\" leaves out") == (n_middle > 0) &&
                  count_notes(notes, left_out) == (n_middle > 0),
              "%s %s: not '%s'", t->format, t->name, left_out);
    CHECK_MSG(count_notes(notes, "\"quadratic\" uses those on edges") == (p->bent && n_middle > 0),
              "%s %s", t->format, t->name);
    CHECK_MSG(count_notes(notes, "\"quadratic\" replaces by its own") == (!p->bent && n_middle > 0),
              "%s %s", t->format, t->name);
}

static int is_edge(unsigned corners)
{
    int n = 0;
    for (int c = 0; c < 8; c++) n += corners >> c & 1;
    return n == 2;
}

/* The corner of the part that a node of the mesh is. */
static int corner_of(const hx_mesh *mesh, const part *p, const type *t, int32_t node)
{
    const int is_vtk = strcmp(t->format, ".vtk") == 0;
    int c = 0;
    while (c < p->shape->n_corner) {
        const int of_file = is_vtk ? node_of(p, c) : number_of(node_of(p, c));
        if (hx_mesh_node_number(mesh, node) == of_file) break;
        c++;
    }
    return c;
}

/* For a bent part, the mesh has every node on an edge, with its ends and position; otherwise
 * none. */
static void check_middles(const hx_mesh *mesh, const part *p, const type *t)
{
    const hx_middles *m = &mesh->middles;
    int n_edge = 0, n_found = 0;
    for (int i = 0; i < p->n_node; i++) n_edge += is_edge(p->corners[i]);
    CHECK_MSG(m->n == (p->bent ? n_edge : 0), "%s %s: %lld", t->format, t->name, (long long)m->n);
    for (int64_t k = 0; k < m->n; k++) {
        const unsigned corners = 1u << corner_of(mesh, p, t, m->end[2 * k]) |
                                 1u << corner_of(mesh, p, t, m->end[2 * k + 1]);
        for (int i = 0; i < p->n_node; i++) {
            double x[3];
            if (p->corners[i] != corners) continue;
            place(p, corners, x);
            n_found++;
            for (int d = 0; d < 3; d++) CHECK_ABS(m->xyz[3 * k + d], x[d], 1e-15);
        }
    }
    CHECK_MSG(n_found == m->n, "%s %s: %d", t->format, t->name, n_found);
}

static void test_file(const type *t, const char *text, const part *p)
{
    char name[32];
    hx_mesh mesh;
    hx_notes notes = {0};
    hx_conditions stated = {0};
    snprintf(name, sizeof name, "solid%s", t->format);
    write_bytes(in_folder(name), text, strlen(text));
    const int rc = hx_mesh_read(in_folder(name), (double)NAN, &mesh, &stated, &notes);
    CHECK_MSG(rc == HX_OK, "%s %s %s: %s", t->format, t->name, t->order, hx_error_message());
    if (rc == HX_OK) CHECK_OK(hx_mesh_finish(&mesh));
    if (rc == HX_OK && mesh.node_elem_ptr) {
        CHECK(mesh.n_node == p->shape->n_corner && mesh.n_elem == 1);
        CHECK_REL(mesh.total_volume, scale * p->shape->volume, 1e-13);
        check_numbering(&mesh, t);
        for (int s = 0; s < 6 && p->shape->side[s] && !is_brick(t); s++) check_side(&mesh, p, t, s);
        if (strcmp(t->format, ".inp") == 0 && !p->bent) check_forces(&mesh, p, &stated);
        check_middles(&mesh, p, t);
        check_notes(&notes, p, t);
        if (t->shape != HEXAHEDRON && strcmp(t->name, "13") != 0)
            CHECK_MSG(count_notes(&notes, "inverted and have been corrected") == p->mirrored,
                      "%s %s %s", t->format, t->name, t->order);
    }
    hx_conditions_free(&stated);
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

static void test_type(const type *t, int mirrored, int bent)
{
    static char text[20000];
    part p;
    parse(&p, &shapes[t->shape], t->order);
    p.mirrored = mirrored;
    p.bent = bent;
    if (strcmp(t->format, ".inp") == 0) {
        write_abaqus(&p, t, text);
        test_file(t, text, &p);
    } else if (strcmp(t->format, ".msh") == 0) {
        write_gmsh_2(&p, t, text);
        test_file(t, text, &p);
        write_gmsh_4(&p, t, text);
        test_file(t, text, &p);
    } else if (strcmp(t->format, ".vtk") == 0) {
        write_vtk(&p, t, 3, text);
        test_file(t, text, &p);
        write_vtk(&p, t, 5, text);
        test_file(t, text, &p);
    } else {
        write_ansys(&p, t, text);
        test_file(t, text, &p);
    }
}

/* Points, lines and faces in a VTK file make no elements, but sets of their points. Values of
 * results are those of the solids. Mid-side nodes of a second-order triangle are replaced by the
 * ends of their edges. Point 11 belongs to no solid. */
static void test_bounded(void)
{
    static const char text[] =
        "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 12 double\n"
        "0 0 0\n1 0 0\n0 1 0\n0 0 1\n.5 0 0\n.5 .5 0\n0 .5 0\n0 0 .5\n.5 0 .5\n0 .5 .5\n"
        "1 1 1\n9 9 9\nCELLS 4 25\n1 11\n6 0 1 2 4 5 6\n10 0 1 2 3 4 5 6 7 8 9\n4 1 2 3 10\n"
        "CELL_TYPES 4\n1\n22\n24\n10\nCELL_DATA 4\nSCALARS CellEntityIds int 1\n"
        "LOOKUP_TABLE default\n1\n7\n5\n7\nSCALARS rho double 1\nLOOKUP_TABLE default\n"
        "9\n8\n0.25\n0.75\n";
    hx_mesh mesh;
    hx_vtk_result result;
    hx_notes notes = {0};
    write_bytes(in_folder("bounded.vtk"), text, strlen(text));
    CHECK_OK(hx_mesh_read(in_folder("bounded.vtk"), (double)NAN, &mesh, NULL, &notes));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(mesh.n_node == 5 && mesh.n_elem == 2 && mesh.n_set == 7);
    CHECK_REL(mesh.total_volume, 1.0 / 6.0 + 1.0 / 3.0, 1e-14);
    CHECK(hx_mesh_elem_number(&mesh, 0) == 2 && hx_mesh_node_number(&mesh, 4) == 10);
    const hx_set *const seven = hx_mesh_find_set(&mesh, "CellEntityIds=7");
    const hx_set *const one = hx_mesh_find_set(&mesh, "CellEntityIds=1");
    CHECK(seven && seven->n_node == 5 && seven->n_elem == 1); /* a triangle and an element */
    CHECK(one && one->n_node == 0 && one->n_elem == 0);
    CHECK(seven && seven->n_face == 1 && seven->face[0] / 6 == 0);      /* the triangle is a face */
    const hx_set *const surface = hx_mesh_find_set(&mesh, "surface 7"); /* as gmsh's .msh has it */
    const hx_set *const volume = hx_mesh_find_set(&mesh, "volume 7");
    CHECK(surface && surface->n_node == 3 && surface->n_face == 1 && seven &&
          surface->face[0] == seven->face[0]);
    CHECK(volume && volume->n_face == 0 && volume->n_elem == 1 && volume->elem[0] == 1);
    CHECK(hx_mesh_find_set(&mesh, "volume 5") && hx_mesh_find_set(&mesh, "point 1"));
    CHECK(count_notes(&notes, " with 6 mid-side nodes, which") == 1);
    CHECK(count_notes(&notes, "2 points, lines and faces among the cells") == 1);
    CHECK_OK(hx_vtk_read_result(in_folder("bounded.vtk"), "rho", &result));
    CHECK(result.cells.n_elem == 2 && result.value[0] == 0.25 && result.value[1] == 0.75);
    hx_vtk_result_free(&result);
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

/* --- the element that a cell is, in any numbering --- */

/* The stiffness by the cell's points, row-major [3 n][3 n]. */
static void stiffness_of(const double *xyz, const int32_t conn[8], int n, double *k)
{
    double x[24], ke[576];
    for (int i = 0; i < 24; i++) x[i] = xyz[3 * conn[i / 3] + i % 3];
    hx_hex8_stiffness(x, 0.6, 0.4, ke);
    memset(k, 0, 9 * (size_t)(n * n) * sizeof *k);
    for (int r = 0; r < 24; r++)
        for (int c = 0; c < 24; c++)
            k[(3 * conn[r / 3] + r % 3) * 3 * n + 3 * conn[c / 3] + c % 3] += ke[24 * r + c];
}

/* The numberings of a solid: the base begins at any corner, wedges stand on either triangle, and
 * each point of a tetrahedron is its top in turn. Mirrored: corners 0 and 2 of the base and 3 and 5
 * of the top are exchanged. */
static void number_solid(hx_cell_kind kind, int turn, int over, int mirrored, int node[6])
{
    static const int tops[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    int from[6] = {0, 1, 2, 3, 4, 5};
    const int n_base = kind == HX_CELL_PYRAMID ? 4 : 3;
    if (kind == HX_CELL_WEDGE && over)
        for (int i = 0; i < 6; i++) from[i] = 5 - i;
    if (kind == HX_CELL_TETRAHEDRON) memcpy(from, tops[over], sizeof tops[over]);
    memcpy(node, from, sizeof from);
    for (int i = 0; i < n_base; i++) node[i] = from[(i + turn) % n_base];
    for (int i = 0; i < 3 && kind == HX_CELL_WEDGE; i++) node[3 + i] = from[3 + (i + turn) % 3];
    if (!mirrored) return;
    const int base = node[0], top = node[3];
    node[0] = node[2];
    node[2] = base;
    if (kind != HX_CELL_WEDGE) return;
    node[3] = node[5];
    node[5] = top;
}

/* The largest difference between the stiffness of a finished cell with that numbering, with its
 * hexahedron rotated in every way, and the first stiffness of all, relative to the largest
 * entry. */
static double compare_numbering(hx_solid_id id, const double (*xyz)[3], const int node[6],
                                double *first)
{
    const int n = hx_solids[id].n_node, *const corner = hx_solid_corners(id);
    double worst = 0.0, largest = 0.0, k[18 * 18];
    for (int number = 0; number < 24; number++) {
        int turn[8];
        hx_mesh mesh;
        hx_renumbered_list list;
        hx_normalize_report report;
        double *const x = malloc((size_t)n * sizeof *xyz);
        int32_t *const conn = malloc(8 * sizeof *conn);
        if (!x || !conn) abort();
        memcpy(x, xyz, (size_t)n * sizeof *xyz);
        mixed_rotation(number, turn);
        for (int a = 0; a < 8; a++) conn[a] = node[corner[turn[a]]];
        CHECK_OK(hx_mesh_create(&mesh, "cell", n, x, 1, conn));
        CHECK_OK(hx_normalize_cells(&mesh, &list, &report));
        CHECK(report.bad < 0 && hx_solid_of_cell(mesh.conn) == id);
        stiffness_of(mesh.xyz, mesh.conn, n, k);
        if (isnan(first[0])) memcpy(first, k, sizeof k);
        for (int i = 0; i < 9 * n * n; i++) test_worst(&largest, fabs(first[i]));
        for (int i = 0; i < 9 * n * n; i++) test_worst(&worst, fabs(k[i] - first[i]));
        hx_renumbered_free(&list);
        hx_mesh_free(&mesh);
    }
    return worst / largest;
}

/* Distorted cells: K differs by rounding only. */
static void test_numberings(void)
{
    static const struct {
        hx_solid_id id;
        int n_turn, n_over;
        double xyz[6][3];
    } cell[] = {
        {HX_SOLID_WEDGE6,
         3,
         2,
         {{0, 0, 0}, {1.1, 0.1, 0}, {0.2, 0.9, 0.1}, {0, 0.1, 1}, {0.9, 0, 1.3}, {0.1, 1, 0.8}}},
        {HX_SOLID_WEDGE6,
         3,
         2, /* edges of one length */
         {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0.6, 0.8}, {-0.6, 1, 0.8}}},
        {HX_SOLID_WEDGE6,
         3,
         2, /* a prism */
         {{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5}, {0.2, 0, 1}, {1.2, 0, 1}, {0.2, 1, 1.5}}},
        {HX_SOLID_PYRAMID5,
         4,
         1,
         {{0, 0, 0}, {1.1, 0.1, 0}, {1, 0.9, 0.2}, {0, 1, 0}, {0.4, 0.6, 1}}},
        {HX_SOLID_TET4, 3, 4, {{0, 0, 0}, {1.1, 0.1, 0}, {0.2, 0.9, 0.1}, {0.3, 0.4, 0.9}}}};
    for (size_t i = 0; i < sizeof cell / sizeof cell[0]; i++) {
        double first[18 * 18] = {NAN}, worst = 0.0;
        for (int k = 0; k < cell[i].n_turn * cell[i].n_over * 2; k++) {
            int node[6];
            number_solid(hx_solids[cell[i].id].kind, k / 2 % cell[i].n_turn, k / 2 / cell[i].n_turn,
                         k % 2, node);
            test_worst(&worst, compare_numbering(cell[i].id, cell[i].xyz, node, first));
        }
        printf("%s: K differs by %.1e between numberings\n",
               hx_cell_kind_name(hx_solids[cell[i].id].kind), worst);
        CHECK_ABS(worst, 0.0, 1e-14);
    }
}

int main(void)
{
    if (make_folder() != 0) return 1;
    test_numberings();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int k = 0; k < 4; k++) test_type(&types[i], k % 2, k / 2);
    test_bounded();
    remove_folder();
    TEST_END();
}
