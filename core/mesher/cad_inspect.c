/* Inspection of a model: gmsh reads it, cuts touching solids along each other, and prints what it
 * contains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "cad.h"

typedef struct inspection {
    hx_cad_shape *shape;
    size_t capacity, n_name, name_capacity;
    char (*name)[128]; /* [n_name] labels of solids, in the file's order (owned) */
    char root[128];    /* assembly of the first label; labels of other assemblies are left out */
    int is_done, rc;
} inspection;

/* Handles "Info : - Label 'Shapes/assembly/part' (3D)". The parts of the assembly come in the order
 * of its solids, possibly followed by its members on their own. */
static int take_label(inspection *in, const char *text)
{
    const char *const first = strchr(text, '\''), *const last = strrchr(text, '\'');
    if (!first || last <= first + 1 || !strstr(last, "(3D)")) return HX_OK;
    char path[512], *leaf;
    snprintf(path, sizeof path, "%.*s", (int)(last - first - 1), first + 1);
    char *const slash = strchr(path, '/');
    if (!slash) return HX_OK;
    const size_t n_root = strcspn(slash + 1, "/");
    if (in->n_name == 0) snprintf(in->root, sizeof in->root, "%.*s/", (int)n_root, slash + 1);
    if (in->n_name > 0 && slash[1 + n_root] == '/' &&
        strncmp(slash + 1, in->root, strlen(in->root)) != 0)
        return HX_OK;
    leaf = strrchr(path, '/') + 1;
    /* the kernel's default, not a name */
    if (strncmp(leaf, "Open CASCADE STEP translator", 28) == 0) leaf[0] = '\0';
    HX_TRY(hx_grow(&in->name, in->n_name, &in->name_capacity, sizeof *in->name, "names"));
    snprintf(in->name[in->n_name++], sizeof *in->name, "%.127s", leaf);
    return HX_OK;
}

/* Margin by which the kernel's bounding boxes are too large on each side. */
static const double box_margin = 1e-7;

static int take_solid(inspection *in, const char *text)
{
    hx_cad_shape *const shape = in->shape;
    HX_TRY(
        hx_grow(&shape->source, shape->n_source, &in->capacity, sizeof *shape->source, "solids"));
    hx_cad_solid *const s = &shape->source[shape->n_source];
    memset(s, 0, sizeof *s);
    if (sscanf(text, "%lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &s->box[0], &s->box[1], &s->box[2],
               &s->box[3], &s->box[4], &s->box[5], &s->volume, &s->centre[0], &s->centre[1],
               &s->centre[2]) != 10)
        return HX_OK;
    for (int k = 0; k < 6; k++) s->box[k] += k < 3 ? box_margin : -box_margin;
    shape->n_source++;
    return HX_OK;
}

static void take_line(void *context, int stream, const char *text)
{
    inspection *const in = context;
    hx_cad_shape *const shape = in->shape;
    long long n_solid, n_face;
    (void)stream;
    if (in->rc < 0) return;
    if (strstr(text, " - Label '")) in->rc = take_label(in, text);
    if (strncmp(text, "hextop source ", 14) == 0) in->rc = take_solid(in, text + 14);
    if (strncmp(text, "hextop shape ", 13) == 0 &&
        sscanf(text + 13, "%lld %lld %lf %lf", &n_solid, &n_face, &shape->volume, &shape->area) ==
            4) {
        shape->n_solid = n_solid;
        shape->n_face = n_face;
        in->is_done = 1;
    }
}

static const char script[] =
    "v() = Volume{:};\n"
    "For i In {0:#v()-1}\n"
    "  b() = BoundingBox Volume{v(i)};\n"
    "  m = Mass Volume{v(i)};\n"
    "  c() = CenterOfMass Volume{v(i)};\n"
    "  Printf(\"hextop source %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g "
    "%.17g %.17g\", b(0), b(1), b(2), b(3), b(4), b(5), m, c(0), c(1), "
    "c(2));\n"
    "EndFor\n"
    "If (#v() > 1)\n"
    "  w() = BooleanFragments{ Volume{v()}; Delete; }{};\n"
    "  v() = Volume{:};\n"
    "EndIf\n"
    "volume = 0;\narea = 0;\nn = 0;\n"
    "If (#v() > 0)\n"
    "  For i In {0:#v()-1}\n"
    "    volume += Mass Volume{v(i)};\n"
    "  EndFor\n"
    "  s() = Unique(Abs(Boundary{ Volume{v()}; }));\n"
    "  n = #s();\n"
    "  For i In {0:n-1}\n"
    "    area += Mass Surface{s(i)};\n"
    "  EndFor\n"
    "  Save \"shape.brep\";\n"
    "EndIf\n"
    "Printf(\"hextop shape %g %g %.17g %.17g\", #v(), n, volume, area);\n"
    "Exit;\n";

static int write_script(const hx_cad_job *job, const char *file, int heal)
{
    hx_atomic_file out;
    char *path = NULL;
    HX_TRY(hx_scratch_path(job->folder, "inspect.geo", &path));
    const int rc = hx_atomic_file_open(&out, path);
    free(path);
    HX_TRY(rc);
    fprintf(out.stream, "SetFactory(\"OpenCASCADE\");\nGeneral.NumThreads = 1;\n"
                        "Geometry.OCCImportLabels = 1;\n");
    if (heal)
        fprintf(out.stream, "Geometry.OCCFixDegenerated = 1;\nGeometry.OCCFixSmallEdges = 1;\n"
                            "Geometry.OCCFixSmallFaces = 1;\nGeometry.OCCSewFaces = 1;\n"
                            "Geometry.OCCMakeSolids = 1;\n");
    fprintf(out.stream, "General.Verbosity = 4;\nMerge \"%s\";\nGeneral.Verbosity = 3;\n", file);
    fputs(script, out.stream);
    return hx_atomic_file_commit(&out);
}

/* Labels are names if there is one for each solid. */
static void name_solids(const inspection *in)
{
    hx_cad_shape *const shape = in->shape;
    shape->n_label = in->n_name;
    if (in->n_name != shape->n_source) return;
    for (size_t i = 0; i < shape->n_source; i++)
        memcpy(shape->source[i].name, in->name[i], sizeof in->name[i]);
}

hx_gmsh_job hx_cad_gmsh_job(const hx_cad_job *job, const char *const *option)
{
    return (hx_gmsh_job){.folder = job->folder,
                         .option = option,
                         .time_limit = job->options->time_limit,
                         .what = job->path,
                         .is_cancelled = job->options->is_cancelled,
                         .context = job->options->context};
}

static int inspect(const hx_cad_job *job, const char *file, int heal, hx_cad_shape *shape,
                   hx_gmsh_result *result)
{
    inspection in = {.shape = shape};
    const char *const option[] = {"inspect.geo", "-0", "-nopopup", NULL};
    hx_gmsh_job gmsh = hx_cad_gmsh_job(job, option);
    gmsh.line = take_line;
    gmsh.context = &in;
    memset(shape, 0, sizeof *shape);
    HX_TRY(write_script(job, file, heal));
    int rc = hx_gmsh_run(job->program, &gmsh, job->notes, result);
    if (rc == HX_OK) rc = in.rc;
    if (in.is_done && result->process.exit_status >= 0)
        rc = HX_OK; /* the exit status also counts warnings */
    if (rc == HX_OK && !in.is_done)
        rc = HX_RAISE(HX_EINPUT, "%s: gmsh could not read it%s%s", job->path,
                      result->error[0] ? ": " : "", result->error);
    if (rc == HX_OK) name_solids(&in);
    free(in.name);
    shape->is_healed = heal;
    if (rc < 0) hx_cad_shape_free(shape);
    return rc;
}

int hx_cad_inspect(const hx_cad_job *job, const char *file, hx_cad_shape *shape)
{
    hx_gmsh_result result = {0}; /* if gmsh is not started */
    int rc = inspect(job, file, 0, shape, &result);
    if (rc < 0 && (result.process.is_timed_out || result.process.is_cancelled)) return rc;
    if (rc == HX_OK && shape->n_solid > 0 && shape->volume > 0.0) return HX_OK;
    if (rc == HX_OK) hx_cad_shape_free(shape);
    /* Reads the model again, with the kernel's repairs. */
    const int was_read = rc == HX_OK;
    rc = inspect(job, file, 1, shape, &result);
    if (rc < 0) return rc;
    if (shape->n_solid > 0 && shape->volume > 0.0) return HX_OK;
    hx_cad_shape_free(shape);
    if (!was_read || result.n_error > 0)
        return HX_RAISE(HX_EINPUT, "%s: gmsh could not read a solid from it%s%s", job->path,
                        result.error[0] ? ": " : "", result.error);
    return HX_RAISE(HX_EINPUT,
                    "%s: a model of surfaces or curves without a solid, even after its faces were "
                    "sewn together; close it to a solid in the program that made it",
                    job->path);
}

void hx_cad_shape_free(hx_cad_shape *shape)
{
    free(shape->source);
    if (shape->stl) hx_stl_free(shape->stl);
    free(shape->stl);
    memset(shape, 0, sizeof *shape);
}

/* --- how many elements --- */

/* A regular tetrahedron has a volume of 0.1179 times its edge cubed, which is about gmsh's mean.
 * Thin parts have a single layer, with 1.5 tetrahedra for each triangle on both of their sides; a
 * triangle has an area of 0.433 times the edge squared. */
static const double tet_volume = 0.1179, layer_share = 1.5 * 0.5 / 0.433;

double hx_cad_count(const hx_cad_shape *shape, double size)
{
    return shape->volume / (tet_volume * size * size * size) +
           layer_share * shape->area / (size * size);
}

double hx_cad_round_size(double size)
{
    const double step = pow(10.0, floor(log10(size)) - 2.0);
    return step < 1.0 ? rint(size / step) / rint(1.0 / step) : rint(size / step) * step;
}

double hx_cad_size(const hx_cad_shape *shape, double count)
{
    double low = 0.0, high = cbrt(shape->volume / (tet_volume * count)) +
                             sqrt(layer_share * shape->area / count);
    for (int i = 0; i < 60; i++) { /* bisection: the count decreases with the size */
        const double middle = 0.5 * (low + high);
        if (middle > 0.0 && hx_cad_count(shape, middle) < count)
            high = middle;
        else
            low = middle;
    }
    return hx_cad_round_size(high);
}
