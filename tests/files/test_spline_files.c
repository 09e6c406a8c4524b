/* Files of splines: both formats give the same part, and every error is refused with its position
 * in the file.
 *     test_spline_files */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/mesh_files.h"
#include "tests/lib/test.h"

static char folder[] = "/tmp/hextop_spline_files_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Two unit boxes along x. The first one has weights (all 2, so it is not rational); the first
 * direction of the second one is along y. Both formats state the interface and the names. */
static const char xml[] =
    "<?xml version=\"1.0\"?>\n"
    "<xml>\n"
    " <Geometry type=\"TensorBSpline2\" id=\"7\"><coefs>1</coefs></Geometry>\n"
    " <Geometry type=\"TensorNurbs3\" id=\"3\">\n"
    "  <Basis type=\"TensorNurbsBasis3\">\n"
    "   <Basis type=\"TensorBSplineBasis3\">\n"
    "    <Basis type=\"BSplineBasis\" index=\"0\">\n"
    "     <KnotVector degree=\"2\">0 0 0 1 1 1</KnotVector>\n"
    "    </Basis>\n"
    "    <Basis type=\"BSplineBasis\" index=\"1\">\n"
    "     <KnotVector degree=\"1\">0 0 0.5 1 1</KnotVector>\n"
    "    </Basis>\n"
    "    <Basis type=\"BSplineBasis\" index=\"2\">\n"
    "     <KnotVector degree=\"1\">0 0 1 1</KnotVector>\n"
    "    </Basis>\n"
    "   </Basis>\n"
    "   <weights>1 0.8 1 1 0.7 1 1 0.9 1 1 1.1 1 1 1 1 1 1.2 1</weights>\n"
    "  </Basis>\n"
    "  <coefs geoDim=\"3\">\n"
    "   0 0 0  0.5 0 0  1 0 0  0 0.5 0  0.5 0.5 0  1 0.5 0  0 1 0  0.5 1 0  1 1 0\n"
    "   0 0 1  0.5 0 1  1 0 1  0 0.5 1  0.5 0.5 1  1 0.5 1  0 1 1  0.5 1 1  1 1 1\n"
    "  </coefs>\n"
    " </Geometry>\n"
    " <Geometry type=\"TensorBSpline3\" id=\"4\">\n"
    "  <Basis type=\"TensorBSplineBasis3\">\n"
    "   <Basis type=\"BSplineBasis\"><KnotVector degree=\"1\">4 4 5 6 6</KnotVector></Basis>\n"
    "   <Basis type=\"BSplineBasis\"><KnotVector degree=\"1\">0 0 1 1</KnotVector></Basis>\n"
    "   <Basis type=\"BSplineBasis\"><KnotVector degree=\"1\">0 0 1 1</KnotVector></Basis>\n"
    "  </Basis>\n"
    "  <coefs geoDim=\"3\">1 1 0  1 0.5 0  1 0 0  2 1 0  2 0.5 0  2 0 0 <!-- below -->\n"
    "   1 1 1  1 0.5 1  1 0 1  2 1 1  2 0.5 1  2 0 1</coefs>\n"
    " </Geometry>\n"
    " <MultiPatch parDim=\"3\" id=\"9\">\n"
    "  <patches type=\"id_range\">3 4</patches>\n"
    "  <interfaces>3 2 4 3 1 0 2 1 0 1</interfaces>\n"
    "  <boundary>3 1 4 4</boundary>\n"
    "  <boundary name=\"boundary-2\">3 1 4 4</boundary>\n"
    " </MultiPatch>\n"
    "</xml>\n";

static const char mfem[] = "MFEM NURBS mesh v1.0\n"
                           "# two boxes\n"
                           "dimension\n3\n"
                           "elements\n2\n"
                           "1 5 0 1 4 3 6 7 10 9\n"
                           "1 5 4 1 2 5 10 7 8 11\n"
                           "boundary\n2\n"
                           "2 3 0 6 9 3\n"
                           "2 3 2 5 11 8\n"
                           "edges\n1\n0 0 1\n"
                           "vertices\n12\n"
                           "patches\n"
                           "knotvectors\n3\n2 3 0 0 0 1 1 1\n1 3 0 0 0.5 1 1\n1 2 0 0 1 1\n"
                           "dimension\n3\n"
                           "controlpoints_cartesian\n"
                           "0 0 0 1\n0.5 0 0 0.8\n1 0 0 1\n0 0.5 0 1\n0.5 0.5 0 0.7\n1 0.5 0 1\n"
                           "0 1 0 1\n0.5 1 0 0.9\n1 1 0 1\n"
                           "0 0 1 1\n0.5 0 1 1.1\n1 0 1 1\n0 0.5 1 1\n0.5 0.5 1 1\n1 0.5 1 1\n"
                           "0 1 1 1\n0.5 1 1 1.2\n1 1 1 1\n"
                           "# the second\n"
                           "knotvectors\n3\n1 3 4 4 5 6 6\n1 2 0 0 1 1\n1 2 0 0 1 1\n"
                           "dimension\n3\n"
                           "controlpoints_homogeneous\n"
                           "1 1 0 1\n1 0.5 0 1\n1 0 0 1\n2 1 0 1\n2 0.5 0 1\n2 0 0 1\n"
                           "1 1 1 1\n1 0.5 1 1\n1 0 1 1\n2 1 1 1\n2 0.5 1 1\n2 0 1 1\n";

static void write_text(const char *path, const char *text, size_t n)
{
    FILE *const f = fopen(path, "wb");
    CHECK(f != NULL);
    if (!f) return;
    CHECK(fwrite(text, 1, n, f) == n);
    fclose(f);
}

static void compare_patches(const hx_spline_patch *a, const hx_spline_patch *b)
{
    const int64_t n = hx_spline_patch_points(a);
    double worst = 0.0;
    CHECK(n == hx_spline_patch_points(b) && !a->weight == !b->weight);
    for (int d = 0; d < 3; d++) CHECK(a->axis[d].degree == b->axis[d].degree);
    for (int64_t i = 0; i < n; i++) {
        CHECK(a->number[i] == b->number[i]);
        if (a->weight) test_worst(&worst, fabs(a->weight[i] - b->weight[i]));
        for (int c = 0; c < 3; c++)
            test_worst(&worst, fabs(a->point[3 * i + c] - b->point[3 * i + c]));
    }
    CHECK_ABS(worst, 0.0, 1e-15);
}

static void test_both(void)
{
    hx_spline spline[2];
    hx_mesh mesh[2];
    hx_notes notes = {0};
    char path[2][256];
    snprintf(path[0], sizeof path[0], "%s", in_folder("boxes.xml"));
    snprintf(path[1], sizeof path[1], "%s", in_folder("boxes.mesh"));
    write_text(path[0], xml, strlen(xml));
    write_text(path[1], mfem, strlen(mfem));
    for (int k = 0; k < 2; k++) {
        const int part[3] = {2, 0, 0};
        const hx_spline_options options = {2, 3, part};
        CHECK(hx_mesh_is_spline(path[k]));
        CHECK_OK(hx_mesh_read_spline(path[k], &options, &spline[k], &mesh[k], &notes));
        CHECK(spline[k].n_patch == 2 && spline[k].n_interface == 1 && spline[k].n_boundary == 1);
        CHECK(hx_mesh_find_set(&mesh[k], "boundary-2") != NULL);
        CHECK_OK(hx_mesh_finish(&mesh[k]));
        CHECK_REL(mesh[k].total_volume, 2.0, 1e-8); /* sides are planes, whatever the weights */
    }
    CHECK(mesh[0].n_elem == mesh[1].n_elem && mesh[0].n_set == mesh[1].n_set);
    for (int k = 0; k < 2; k++) compare_patches(&spline[0].patch[k], &spline[1].patch[k]);
    /* one note for a geometry that is left out, and one for each file's contents */
    CHECK(notes.n == 3);
    for (int k = 0; k < 2; k++) {
        hx_mesh image;
        hx_spline_free(&spline[k]);
        hx_mesh_free(&mesh[k]);
        CHECK_OK(hx_mesh_read(path[k], (double)NAN, &image, NULL, NULL));
        CHECK(image.n_elem == 2 + 2);
        hx_mesh_free(&image);
    }
    hx_notes_free(&notes);
}

/* Without stated interfaces, coincident sides are glued, with a note. */
static void test_found(void)
{
    hx_spline spline;
    hx_mesh mesh;
    hx_notes notes = {0};
    const char *const at = strstr(xml, "<interfaces>"), *const end = strstr(xml, "  <boundary>");
    char text[sizeof xml];
    const size_t n = (size_t)(at - xml);
    memcpy(text, xml, n);
    strcpy(text + n, end);
    write_text(in_folder("found.xml"), text, strlen(text));
    CHECK_OK(hx_mesh_read_spline(in_folder("found.xml"), NULL, &spline, &mesh, &notes));
    CHECK(spline.n_interface == 1 && spline.n_point == 18 + 12 - 6);
    int is_said = 0;
    for (size_t i = 0; i < notes.n; i++) is_said |= strstr(notes.note[i].text, "is glued") != NULL;
    CHECK(is_said);
    hx_notes_free(&notes);
    hx_spline_free(&spline);
    hx_mesh_free(&mesh);
}

/* A file in which the first `from` after `after` is replaced by `to`, and the expected message. */
typedef struct fault {
    const char *after, *from, *to, *message;
} fault;

static const fault of_xml[] = {
    {"", "0 0 0 1 1 1<", "0 0 0 1 0.9 1<",
     "faulty.xml:4: <Geometry id=\"3\">: direction u: the knots decrease from 1 to 0.9 at knot 4"},
    {"", "degree=\"2\"", "degree=\"5\"",
     "direction u: there are 6 knots; degree 5 needs at least 12"},
    {"", "degree=\"2\">0 0 0 1 1 1", "degree=\"5\">0 0 0 0 0 0 1 1 1 1 1 1",
     "direction u: the degree is 5; it must be 1 to 4"},
    {"", "degree=\"2\">", ">", "<KnotVector> needs degree"},
    {"", "0 0 0.5 1 1<", "0 0 0.5 0.5 1 1<", "occurs more than 1 times"},
    {"", "0 0 0.5 1 1<", "0 0.1 0.5 1 1<", "direction v: the knot vector is not open"},
    {"", "0 0 0.5 1 1<", "0 0 0.5 1 x1<", "faulty.xml:11: 'x1' is not a number"},
    {"", "0 0 0.5 1 1<", "0 0 nan 1 1<", "direction v: knot 2 is not finite"},
    {"", "0 1 1  0.5 1 1", "0 1 1  0.5 1", "53 coordinates, but 3 x 3 x 2 control points need 54"},
    {"", "0 1 1  0.5 1 1", "0 1 1  0.5 1 1e999", "control point 16: coordinate z is not finite"},
    {"", "1.2 1</weights>", "1.2</weights>", "17 weights, but 3 x 3 x 2 control points need 18"},
    {"", "1.2 1</weights>", "1.2 0</weights>", "control point 17 has weight 0"},
    {"", "1.2 1</weights>", "-1.2 1</weights>", "control point 16 has weight -1.2"},
    {"", "<weights>", "<weights format=\"B64Float64\">", "format=\"B64Float64\"; only text"},
    {"", "geoDim=\"3\"", "geoDim=\"2\"", "geoDim=\"2\"; control points of a volume"},
    {"", "TensorBSplineBasis3", "THBSplineBasis3", "a <Basis> of type \"THBSplineBasis3\""},
    {"", "id_range\">3 4", "id_range\">3 5", "there is no <Geometry id=\"5\">"},
    {"", "id_range\">3 4", "id_index\">3 7",
     "faulty.xml:3: <Geometry id=\"7\"> of type \"TensorBSpline2\"; only volumes are read"},
    {"", "id_range\">3 4", "id_index\">3 3", "geometry 3 twice"},
    {"", "id_range\">3 4", "some\">3 4", "type=\"id_range\" or \"id_index\""},
    {"", "<interfaces>3 2 4 3 1 0 2", "<interfaces>3 2 8 3 1 0 2",
     "faulty.xml:35: <interfaces> refers to patch 8"},
    {"", "<interfaces>3 2 4 3 1 0 2", "<interfaces>3 2 4 9 1 0 2",
     "<interfaces> refers to side 9 of patch 4"},
    {"", "<interfaces>3 2 4 3 1 0 2", "<interfaces>3 2 4 3 1 1 2", "each must occur once"},
    {"", "<interfaces>3 2 4 3 1 0 2", "<interfaces>3 2 4 3 1 0", "9 numbers; each has 10"},
    {"", "<interfaces>3 2 4 3 1 0 2 1 0 1", "<interfaces>3 2 4 3 1 0 2 1 1 1",
     "patch1:u+ and patch2:v- do not conform: control point 2"},
    {"", "<interfaces>3 2 4 3 1 0 2", "<interfaces>3 2 4 3 1.5 0 2", "1.5 where an integer"},
    {"", "<boundary name=\"boundary-2\">3 1", "<boundary name=\"boundary-2\">3 0",
     "<boundary> refers to side 0 of patch 3"},
    {"", "<boundary>3 1 4 4", "<boundary>3 1 4", "3 numbers; pairs of patch and side"},
    {"", "4 4 5 6 6", "4 4 5.5 6 6", "knot 2 is at 0.5 of the range along v and at 0.25"},
    {"", "1 1 0  1 0.5 0  1 0 0 ", "1 1 0  1 0.6 0  1 0 0 ", "do not conform: control point 5"},
    {"", "2 1 0  2 0.5 0  2 0 0", "2 1 0  2 0.5 0  0.2 0 0", "patch 2, span (2, 1, 1): det J is -"},
    {"", "</coefs></Geometry>", "</coefs></Geometri>", "</Geometri> where </Geometry>"},
    {"", "<coefs geoDim=\"3\">\n   0 0 0", "<coefs geoDim=\"3\"><b/>\n   0 0 0",
     "<b> within <coefs>"},
};

static const fault of_mfem[] = {
    {"", "mesh v1.0", "mesh v1.1", "faulty.mesh:1: the file does not begin with"},
    {"", "dimension\n3", "dimension\n2", "faulty.mesh:4: a mesh in 2 dimensions"},
    {"", "1 5 0 1", "1 4 0 1", "faulty.mesh:7: geometry 4 in 'elements'; it must be 5"},
    {"", "1 5 0 1", "1 5 0 12",
     "faulty.mesh:5: vertex 12 does not exist; the file has 12, counted from 0"},
    {"", "1 5 0 1", "1 5 1 1", "element 1 names vertex 1 twice"},
    {"", "2 3 0 6 9 3", "2 3 0 6 9 4",
     "faulty.mesh:9: boundary 1 (vertices 0 6 9 4) is not a side"},
    {"", "elements\n2", "elements\n200", "do not fit into the"},
    {"", "patches\n", "",
     "faulty.mesh:18: knot vectors of the whole mesh are not read; save the form with"},
    {"", "patches\n", "patchs\n", "section 'patchs' is not read"},
    {"", "2 3 0 0 0 1 1 1", "2 3 0 0 0 1 0.5 1",
     "faulty.mesh:19: patch 1: direction u: the knots decrease from 1 to 0.5 at knot 4"},
    {"", "2 3 0 0 0 1 1 1", "2 4 0 0 0 1 1 1", "faulty.mesh:22: a knot vector of degree 3 with 0"},
    {"", "0.5 0 0 0.8", "0.5 0 0 0", "control point 1 of patch 1 has weight 0"},
    {"", "0.5 0 0 0.8", "0.5 0 0 a", "faulty.mesh:28: 'a' where a number"},
    {"", "controlpoints_cartesian", "points", "'points' where 'controlpoints_cartesian'"},
    {"", "knotvectors\n3", "knotvectors\n2", "2 knot vectors; a patch has three"},
    {"# the second", "\n2 0 1 1\n", "\n2 0 1\n", "faulty.mesh:"},
    {"# the second", "1 1 0 1\n", "1 1 0.1 1\n", "do not conform: control point"},
    {"# the second", "2 1 0 1\n2 0.5 0 1\n2 0 0 1\n", "2 1 0 1\n2 0.5 0 1\n0.2 0 0 1\n",
     "patch 2, span (2, 1, 1): det J is -"},
    {"", "1 5 4 1 2 5 10 7 8 11", "1 5 4 1 2 5 7 10 8 11", "in different cyclic orders"},
};

static void test_faults(const char *name, const char *text, size_t n, const fault *list)
{
    char faulty[sizeof xml + sizeof mfem];
    for (size_t i = 0; i < n; i++) {
        hx_mesh mesh;
        const char *const after = strstr(text, list[i].after);
        const char *const at = after ? strstr(after, list[i].from) : NULL;
        CHECK_MSG(at != NULL, "%s", list[i].from);
        if (!at) continue;
        snprintf(faulty, sizeof faulty, "%.*s%s%s", (int)(at - text), text, list[i].to,
                 at + strlen(list[i].from));
        write_text(in_folder(name), faulty, strlen(faulty));
        CHECK_FAILS(hx_mesh_read(in_folder(name), (double)NAN, &mesh, NULL, NULL), HX_EINPUT,
                    list[i].message);
        CHECK(strstr(hx_error_message(), name) != NULL && !mesh.xyz);
    }
}

/* A file that is cut at any byte is refused, or is still complete. */
static void test_cut(const char *name, const char *text)
{
    int n_whole = 0;
    for (size_t n = 1; n <= strlen(text); n += 7) {
        hx_mesh mesh;
        write_text(in_folder(name), text, n);
        const int rc = hx_mesh_read(in_folder(name), (double)NAN, &mesh, NULL, NULL);
        CHECK(rc == HX_OK || rc == HX_EINPUT);
        n_whole += rc == HX_OK;
        hx_mesh_free(&mesh);
    }
    CHECK(n_whole <= 1);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_both();
    test_found();
    test_faults("faulty.xml", xml, sizeof of_xml / sizeof of_xml[0], of_xml);
    test_faults("faulty.mesh", mfem, sizeof of_mfem / sizeof of_mfem[0], of_mfem);
    test_cut("cut.xml", xml);
    test_cut("cut.mesh", mfem);
    static const char *const name[] = {"boxes.xml",   "boxes.mesh", "found.xml", "faulty.xml",
                                       "faulty.mesh", "cut.xml",    "cut.mesh"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) remove(in_folder(name[i]));
    CHECK(rmdir(folder) == 0);
    TEST_END();
}
