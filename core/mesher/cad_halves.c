/* Finds the planes at which the halves of a shape agree: gmsh cuts its faces and solids. */
#include "cad_halves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/vec3.h"

typedef struct cutting {
    hx_cad_halves *halves;
    int rc, is_done;
} cutting;

int hx_cad_take_part(const char *text, const char *word, hx_cad_parts list[HX_CAD_N_KIND])
{
    hx_cad_part part;
    char found[16];
    int kind;
    long long of;
    if (sscanf(text, "hextop %15s %d %d %lld %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", found, &kind,
               &part.place, &of, &part.measure, &part.centre[0], &part.centre[1], &part.centre[2],
               &part.box[0], &part.box[1], &part.box[2], &part.box[3], &part.box[4],
               &part.box[5]) != 14)
        return HX_OK;
    if (strcmp(found, word) != 0 || kind < 0 || kind >= HX_CAD_N_KIND) return HX_OK;
    hx_cad_parts *const to = &list[kind];
    HX_TRY(hx_grow(&to->part, to->n, &to->capacity, sizeof *to->part, "faces of the model"));
    part.of = of;
    to->part[to->n++] = part;
    return HX_OK;
}

static void take_line(void *context, int stream, const char *text)
{
    cutting *const c = context;
    (void)stream;
    if (c->rc == HX_OK) c->rc = hx_cad_take_part(text, "whole", c->halves->whole);
    if (c->rc == HX_OK) c->rc = hx_cad_take_part(text, "cut", c->halves->cut);
    c->is_done |= strncmp(text, "hextop done", 11) == 0;
}

static const char begin[] = "SetFactory(\"OpenCASCADE\");\n"
                            "General.NumThreads = 1;\n"
                            "v() = ShapeFromFile(\"shape.brep\");\n"
                            "s() = Unique(Abs(Boundary{ Volume{v()}; }));\n";

/* place < HX_CAD_REGION: prints the shape, and cuts it at each plane; otherwise above all planes.
 */
static int write_script(const hx_cad_job *job, const hx_cad_halves *halves, int is_region)
{
    hx_atomic_file out;
    char *path = NULL;
    HX_TRY(hx_scratch_path(job->folder, "halves.geo", &path));
    const int rc = hx_atomic_file_open(&out, path);
    free(path);
    HX_TRY(rc);
    fputs(begin, out.stream);
    if (is_region)
        hx_cad_put_cuts(out.stream, halves, halves->plane, halves->n_plane, HX_CAD_REGION);
    else
        hx_cad_put_parts(out.stream, "whole");
    for (int p = 0; p < halves->n_plane && !is_region; p++)
        hx_cad_put_cuts(out.stream, halves, &halves->plane[p], 1, p);
    fputs("Printf(\"hextop done\");\nExit;\n", out.stream);
    return hx_atomic_file_commit(&out);
}

static int cut(const hx_cad_job *job, hx_cad_halves *halves, int is_region)
{
    cutting c = {.halves = halves};
    hx_gmsh_result result = {0};
    const char *const option[] = {"halves.geo", "-0", "-nopopup", "-v", "3", NULL};
    hx_gmsh_job gmsh = hx_cad_gmsh_job(job, option);
    gmsh.line = take_line;
    gmsh.context = &c;
    HX_TRY(write_script(job, halves, is_region));
    const int rc = hx_gmsh_run(job->program, &gmsh, job->notes, &result);
    HX_TRY(c.rc);
    if (c.is_done && result.process.exit_status >= 0) return HX_OK; /* it also counts warnings */
    HX_TRY(rc);
    return HX_RAISE(HX_EINPUT,
                    "%s: gmsh could not cut it at a plane%s%s; without mesh.mirrored it is "
                    "meshed as a whole",
                    job->path, result.error[0] ? ": " : "", result.error);
}

/* --- planes --- */

static void measure_shape(const hx_cad_shape *shape, hx_cad_halves *halves)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double sum = 0.0, volume = 0.0;
    for (size_t i = 0; i < shape->n_source; i++) {
        const hx_cad_solid *const solid = &shape->source[i];
        volume += solid->volume;
        for (int d = 0; d < 3; d++) {
            low[d] = fmin(low[d], solid->box[d]);
            high[d] = fmax(high[d], solid->box[d + 3]);
            halves->middle[d] += solid->volume * solid->centre[d];
        }
    }
    for (int d = 0; d < 3; d++) {
        halves->middle[d] /= volume;
        sum += (high[d] - low[d]) * (high[d] - low[d]);
    }
    halves->size = sqrt(sum);
}

/* A coordinate of the centroid without the rounding of the kernel's integrals. */
static double round_to(double x, double step)
{
    const double whole = pow(10.0, floor(log10(step)));
    return whole < 1.0 ? rint(x / whole) / rint(1.0 / whole) : rint(x / whole) * whole;
}

static void take_planes(const hx_cad_job *job, hx_cad_halves *halves)
{
    const hx_model_options *const options = job->options;
    halves->n_plane = options->n_plane;
    for (int p = 0; p < options->n_plane; p++) {
        const double length = hx_norm3(options->plane[p].normal);
        halves->plane[p] = options->plane[p];
        for (int d = 0; d < 3; d++) halves->plane[p].normal[d] /= length;
    }
    if (options->n_plane > 0) return;
    halves->n_plane = 3;
    for (int p = 0; p < 3; p++) {
        hx_mirror_plane *const plane = &halves->plane[p];
        memset(plane, 0, sizeof *plane);
        plane->point[p] = round_to(halves->middle[p], 1e-8 * halves->size);
        plane->normal[p] = 1.0;
    }
}

static int refuse_plane(const hx_cad_job *job, const hx_mirror_plane *plane, const char *why)
{
    return HX_RAISE(HX_EINPUT,
                    "%s: the halves at the plane through [%g, %g, %g] with the "
                    "normal [%g, %g, %g] differ: %s; without mesh.mirrored it is meshed as a whole",
                    job->path, plane->point[0], plane->point[1], plane->point[2], plane->normal[0],
                    plane->normal[1], plane->normal[2], why);
}

/* Drops plane p and what was found of it. */
static void drop_plane(hx_cad_halves *h, int p)
{
    h->n_plane--;
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) {
        size_t n = 0;
        hx_cad_parts *const list = &h->cut[kind];
        free(h->image[kind][p]);
        for (int q = p; q < h->n_plane; q++) h->image[kind][q] = h->image[kind][q + 1];
        h->image[kind][h->n_plane] = NULL;
        for (size_t i = 0; i < list->n; i++) {
            if (list->part[i].place == p) continue;
            list->part[n] = list->part[i];
            list->part[n].place -= list->part[n].place > p;
            n++;
        }
        list->n = n;
    }
    for (int q = p; q < h->n_plane; q++) h->plane[q] = h->plane[q + 1];
}

/* The pieces above all planes replace those above each. */
static int cut_region(const hx_cad_job *job, hx_cad_halves *halves)
{
    if (halves->n_plane > 1) {
        for (int kind = 0; kind < HX_CAD_N_KIND; kind++) halves->cut[kind].n = 0;
        return cut(job, halves, 1);
    }
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++)
        for (size_t i = 0; i < halves->cut[kind].n; i++)
            halves->cut[kind].part[i].place = HX_CAD_REGION;
    return HX_OK;
}

int hx_cad_find_halves(const hx_cad_job *job, const hx_cad_shape *shape, hx_cad_halves *halves)
{
    const int is_stated = job->options->n_plane > 0;
    char why[512] = "";
    memset(halves, 0, sizeof *halves);
    measure_shape(shape, halves);
    take_planes(job, halves);
    HX_TRY(cut(job, halves, 0));
    if ((int64_t)halves->whole[HX_CAD_FACES].n != shape->n_face ||
        (int64_t)halves->whole[HX_CAD_SOLIDS].n != shape->n_solid)
        return HX_RAISE(HX_EINPUT,
                        "%s: gmsh cut it into other faces when it read it again: %zu, not %lld",
                        job->path, halves->whole[HX_CAD_FACES].n, (long long)shape->n_face);
    for (int p = 0; p < halves->n_plane;) {
        double off = 0.0;
        const int agrees = hx_cad_match_halves(halves, p, &off, why, sizeof why);
        if (agrees < 0) return agrees;
        halves->is_uneven = !agrees && is_stated;
        if (halves->is_uneven) return refuse_plane(job, &halves->plane[p], why);
        if (agrees) halves->off = fmax(halves->off, off);
        if (agrees)
            p++;
        else
            drop_plane(halves, p);
    }
    halves->is_uneven = halves->n_plane == 0;
    if (halves->is_uneven)
        return HX_RAISE(HX_EINPUT,
                        "%s: at none of the planes x, y, z = %g, %g, %g through the "
                        "centroid do the halves agree (the last: %s); state another plane "
                        "by optimization.symmetry, or leave out mesh.mirrored",
                        job->path, halves->middle[0], halves->middle[1], halves->middle[2], why);
    return cut_region(job, halves);
}

void hx_cad_halves_free(hx_cad_halves *halves)
{
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) {
        free(halves->whole[kind].part);
        free(halves->cut[kind].part);
        for (int p = 0; p < HX_MOST_MIRRORS; p++) free(halves->image[kind][p]);
    }
    memset(halves, 0, sizeof *halves);
}
