/* compare.gp: a script for gnuplot that contains the figures; it is run if gnuplot is installed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "core/base/atomic_file.h"

/* A figure, by its place among the figures of a row. */
#define FIGURE(name) (offsetof(hx_compare_figures, name) / sizeof(double))

static double figure_of(const hx_compare_row *row, size_t figure)
{
    return ((const double *)&row->f)[figure];
}

/* First of the last mesh's groups, one per device. */
static size_t last_groups(const hx_compare *c)
{
    size_t first = c->n_group - 1;
    while (first > 0 && strcmp(c->group[first - 1].size, c->group[first].size) == 0) first--;
    return first;
}

static int has_several_devices(const hx_compare *c)
{
    return last_groups(c) + 1 < c->n_group;
}

/* 1 if the figure is known for a row of this or a later group. */
static int is_known(const hx_compare *c, size_t first_group, size_t figure)
{
    if (c->n_group == 0) return 0;
    for (size_t i = c->group[first_group].first_row; i < c->n_row; i++)
        if (isfinite(figure_of(&c->row[i], figure))) return 1;
    return 0;
}

static void put_label(FILE *f, const hx_compare *c, const hx_compare_row *row)
{
    char label[96];
    fprintf(f, "\"%s", hx_compare_label(row, label, sizeof label));
    if (has_several_devices(c)) fprintf(f, ", %s", row->op_kind->device);
    fputs("\"", f);
}

static void put_plot_number(FILE *f, double value)
{
    if (isfinite(value))
        fprintf(f, " %.9g", value);
    else
        fputs(" ?", f);
}

/* "cantilever 5, 1024000 elements, NVIDIA H200" */
static void put_title(FILE *f, const hx_compare *c, const char *what)
{
    const hx_compare_group *group = &c->group[c->n_group - 1];
    char description[160];
    snprintf(description, sizeof description, "%s", group->description);
    for (char *p = description; *p; p++)
        if (*p == '"' || *p == '\\') *p = ' ';
    fprintf(f, "set title \"%s: %s%s%s, %lld elements%s%s\"\n", what, group->mesh,
            group->size[0] ? " " : "", group->size, (long long)group->n_elem,
            has_several_devices(c) ? "" : "; ", has_several_devices(c) ? "" : description);
}

static void put_product_plot(FILE *f, const hx_compare *c)
{
    const size_t first = last_groups(c);
    const size_t first_row = c->group[first].first_row;
    const char *letter;
    const double unit = hx_compare_unit(c, first_row, c->n_row - first_row, &letter);
    if (!is_known(c, first, FIGURE(elements_per_second))) return;
    fputs("\n$product << EOD\n", f);
    for (size_t i = first_row; i < c->n_row; i++) {
        const hx_compare_row *row = &c->row[i];
        if (!isfinite(row->f.elements_per_second)) continue;
        put_label(f, c, row);
        put_plot_number(f, row->f.elements_per_second / unit);
        fputc('\n', f);
    }
    fputs("EOD\n", f);
    put_title(f, c, "Product y = K x");
    fprintf(f, "set output \"compare.svg\"\nset ylabel \"%s elements/s\"\n", letter);
    fputs("set yrange [0:*]\n"
          "set offsets 0, 0, graph 0.06, 0\n" /* room for three numbers */
          "unset key\n"
          "plot $product using 0:2:xtic(1) with boxes linecolor rgb \"#4477aa\", \\\n"
          "     $product using 0:2:(sprintf(\"%.3g\", $2)) with labels offset 0,0.6\n"
          "unset offsets\n",
          f);
}

/* Milliseconds of pattern, fill and product of stored matrices, on a logarithmic axis. */
static void put_matrix_plot(FILE *f, const hx_compare *c)
{
    const size_t first = last_groups(c);
    if (!is_known(c, first, FIGURE(fill_seconds))) return;
    fputs("\n"
          "$matrix << EOD\n"
          "\"operator\" \"pattern, once per mesh\" \"fill, per design\" \"product\"\n",
          f);
    for (size_t i = c->group[first].first_row; i < c->n_row; i++) {
        const hx_compare_row *row = &c->row[i];
        if (!isfinite(row->f.fill_seconds)) continue;
        put_label(f, c, row);
        put_plot_number(f, 1e3 * row->f.pattern_seconds);
        put_plot_number(f, 1e3 * row->f.fill_seconds);
        put_plot_number(f, 1e3 * row->f.product_median_seconds);
        fputc('\n', f);
    }
    fputs("EOD\n", f);
    put_title(f, c, "Stored matrices");
    fputs("set output \"compare_matrix.svg\"\n"
          "set ylabel \"ms\"\n"
          "set logscale y\nset yrange [*:*]\n"
          "set key top right autotitle columnhead\n"
          "set style data histograms\n"
          "set style histogram clustered\n"
          "plot $matrix using 2:xtic(1), $matrix using 3, $matrix using 4\n"
          "unset logscale\n",
          f);
}

/* Milliseconds of a PCG iteration: products and vector operations, stacked. */
static void put_iteration_plot(FILE *f, const hx_compare *c)
{
    const size_t first = last_groups(c);
    if (c->plan.paper || !is_known(c, first, FIGURE(pcg_iteration_seconds))) return;
    fputs("\n"
          "$iteration << EOD\n"
          "\"operator\" \"products\" \"vector operations\"\n",
          f);
    for (size_t i = c->group[first].first_row; i < c->n_row; i++) {
        const hx_compare_row *row = &c->row[i];
        const double ms = 1e3 / row->f.pcg_iterations;
        if (!isfinite(row->f.pcg_iteration_seconds)) continue;
        put_label(f, c, row);
        put_plot_number(f, ms * row->f.pcg_spmv_seconds);
        put_plot_number(f, ms * row->f.pcg_vector_seconds);
        fputc('\n', f);
    }
    fputs("EOD\n", f);
    put_title(f, c, "PCG");
    fputs("set output \"compare_pcg.svg\"\n"
          "set ylabel \"ms per iteration\"\n"
          "set yrange [0:*]\n"
          "set key top right autotitle columnhead\n"
          "set style data histograms\n"
          "set style histogram rowstacked\n"
          "plot $iteration using 2:xtic(1), $iteration using 3\n",
          f);
}

/* Lines of a plot: a colour per operator, dashes for row-major. */
static void put_lines(FILE *f, const hx_compare *c, const char *name, size_t n_row)
{
    static const char *const colour[] = {"#332288", "#cc6677", "#117733", "#88ccee",
                                         "#882255", "#44aa99", "#999933", "#aa4499",
                                         "#dd7733", "#666666", "#000000"};
    const size_t n_colour = sizeof colour / sizeof colour[0];
    size_t n_operator = 0;
    for (size_t i = 0; i < n_row; i++) {
        const hx_compare_row *row = &c->row[i];
        n_operator += i == 0 || row->op_kind != c->row[i - 1].op_kind;
        fprintf(f,
                "%s $%s using 1:%zu:xtic(1) with linespoints linecolor rgb \"%s\" dashtype %d "
                "pointtype %zu",
                i == 0 ? "plot" : ", \\\n    ", name, i + 2, colour[(n_operator - 1) % n_colour],
                row->layout == HX_LAYOUT_ROWMAJOR ? 2 : 1, 3 + n_operator);
    }
    fputc('\n', f);
}

/* A plot over the number of elements with a line per operator. */
static void put_line_plot(FILE *f, const hx_compare *c, const char *name, const char *file,
                          const char *title, size_t figure)
{
    const size_t step = c->n_group - last_groups(c);
    const hx_compare_group *first = &c->group[0], *last = &c->group[c->n_group - 1];
    const size_t n_row = c->group[step - 1].first_row + c->group[step - 1].n_row;
    double low = (double)first->n_elem, high = low;
    if (!is_known(c, 0, figure)) return;
    fprintf(f, "\n$%s << EOD\n\"elements\"", name);
    for (size_t i = 0; i < n_row; i++) {
        fputc(' ', f);
        put_label(f, c, &c->row[i]);
    }
    for (size_t g = 0; g < c->n_group; g += step) {
        fprintf(f, "\n%lld", (long long)c->group[g].n_elem);
        for (size_t k = g; k < g + step; k++)
            for (size_t i = 0; i < c->group[k].n_row; i++)
                put_plot_number(f, figure_of(&c->row[c->group[k].first_row + i], figure));
        low = fmin(low, (double)c->group[g].n_elem);
        high = fmax(high, (double)c->group[g].n_elem);
    }
    fputs("\nEOD\n", f);
    fprintf(f,
            "set title \"%s: %s%s%s\"\n"
            "set output \"%s\"\n"
            "set xlabel \"elements\"\nset ylabel \"speedup over ebe rowmajor\"\n"
            "set xtics norotate\nset logscale xy\nset xrange [%.9g:%.9g]\nset yrange [*:*]\n"
            "set key outside right autotitle columnhead\n",
            title, first->mesh, has_several_devices(c) ? "" : "; ",
            has_several_devices(c) ? "" : last->description, file, 0.8 * low, 1.25 * high);
    put_lines(f, c, name, n_row);
    fputs("unset logscale\nunset xlabel\nset xrange [*:*]\n", f);
}

static void put_stages_plot(FILE *f, const hx_compare *c)
{
    const size_t first = last_groups(c);
    if (!is_known(c, first, FIGURE(stage_output_seconds))) return;
    fputs("\n$stages << EOD\n\"operator\" \"pre-computation\" \"PCG\" \"compliance\" \"filter\" "
          "\"update\" \"output\"\n",
          f);
    for (size_t i = c->group[first].first_row; i < c->n_row; i++) {
        const hx_compare_figures *s = &c->row[i].f;
        if (!isfinite(s->stage_output_seconds)) continue;
        put_label(f, c, &c->row[i]);
        put_plot_number(f, s->stage_precomputation_seconds);
        put_plot_number(f, s->stage_pcg_seconds);
        put_plot_number(f, s->stage_compliance_seconds);
        put_plot_number(f, s->stage_filter_seconds);
        put_plot_number(f, s->stage_update_seconds);
        put_plot_number(f, s->stage_output_seconds);
        fputc('\n', f);
    }
    fputs("EOD\n", f);
    put_title(f, c, "One design iteration");
    fputs("set output \"compare_stages.svg\"\n"
          "set xtics rotate by -35\n"
          "set ylabel \"share of the time, %\"\n"
          "set yrange [0:100]\n"
          "set key outside right autotitle columnhead\n"
          "set style data histograms\n"
          "set style histogram rowstacked\n"
          "total(x) = column(2) + column(3) + column(4) + column(5) + column(6) + column(7)\n"
          "plot $stages using (100 * $2 / total(0)):xtic(1), \\\n"
          "     for [i = 3:7] $stages using (100 * column(i) / total(0))\n",
          f);
}

static int write_script(const hx_compare *c, const char *directory)
{
    char path[PATH_MAX];
    hx_atomic_file file;
    int rc;
    memset(&file, 0, sizeof file);
    snprintf(path, sizeof path, "%.3500s/compare.gp", directory);
    HX_TRY_FAIL(hx_atomic_file_open(&file, path));
    fputs("# gnuplot compare.gp\n"
          "set terminal svg size 960,540 noenhanced font \"sans,13\" background \"white\"\n"
          "set datafile missing \"?\"\n"
          "set grid ytics\n"
          "set style fill solid\n"
          "set boxwidth 0.7\n"
          "set xtics rotate by -35\n",
          file.stream);
    put_product_plot(file.stream, c);
    put_matrix_plot(file.stream, c);
    put_iteration_plot(file.stream, c);
    if (c->plan.paper) {
        put_line_plot(file.stream, c, "speedup", "compare_speedup.svg", "Product",
                      FIGURE(speedup_over_ebe));
        put_line_plot(file.stream, c, "pcg", "compare_pcg.svg", "PCG wall time",
                      FIGURE(pcg_speedup_over_ebe));
        put_stages_plot(file.stream, c);
    }
    rc = hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

enum { NO_PROGRAM = 127, NO_FOLDER = 126 };

/* Runs `gnuplot ../compare.gp` in the folder below, which receives its plots. Returns the exit
 * status, or -1. */
static int run_gnuplot(const char *directory)
{
    int status;
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        const int null = open("/dev/null", O_RDWR);
        if (null >= 0) {
            dup2(null, STDIN_FILENO);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
        }
        if (chdir(directory) != 0) _exit(NO_FOLDER);
        execlp("gnuplot", "gnuplot", "../compare.gp", (char *)NULL);
        _exit(NO_PROGRAM);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *const picture[] = {"compare.svg", "compare_matrix.svg", "compare_pcg.svg",
                                      "compare_speedup.svg", "compare_stages.svg"};
enum { N_PICTURE = sizeof picture / sizeof picture[0] };

static int is_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

/* Removes plots of an earlier comparison. Links are kept, so that new plots are written through
 * them; they are removed only if `all` is set. */
static void remove_pictures(const char *directory, int all)
{
    char path[PATH_MAX];
    for (int i = 0; i < N_PICTURE; i++) {
        snprintf(path, sizeof path, "%.3500s/%s", directory, picture[i]);
        if (all || !is_link(path)) hx_atomic_file_remove(path);
    }
}

/* Once gnuplot has made all plots, moves a plot to its final name; a link of that name is followed,
 * as for other files. Returns 0, or -1 on failure. */
static int place_picture(const char *directory, const char *folder, const char *name)
{
    char from[PATH_MAX], to[PATH_MAX], *target = NULL;
    snprintf(from, sizeof from, "%.3500s/%s", folder, name);
    snprintf(to, sizeof to, "%.3500s/%s", directory, name);
    if (access(from, F_OK) != 0) {
        hx_atomic_file_remove(to);
        return 0;
    }
    if (hx_atomic_file_target(to, &target) < 0) return -1;
    const int status = rename(from, target);
    free(target);
    return status;
}

/* Runs gnuplot in a new folder beside the script. If it succeeds, the plots are moved out of the
 * folder. The folder is then removed in any case. Returns the status of run_gnuplot. */
static int draw_pictures(const char *directory)
{
    char folder[PATH_MAX], path[PATH_MAX];
    snprintf(folder, sizeof folder, "%.3400s/compare.tmp.%ld", directory, (long)getpid());
    if (mkdir(folder, 0777) != 0) return -1;
    int status = run_gnuplot(folder);
    for (int i = 0; i < N_PICTURE; i++) {
        if (status == 0 && place_picture(directory, folder, picture[i]) != 0) status = -1;
        snprintf(path, sizeof path, "%.3500s/%s", folder, picture[i]);
        unlink(path); /* left by a gnuplot that failed */
    }
    rmdir(folder);
    return status;
}

int hx_compare_plot(const hx_compare *c, const char *directory)
{
    HX_TRY(write_script(c, directory));
    remove_pictures(directory, 0);
    const int status = draw_pictures(directory);
    if (status != 0) remove_pictures(directory, 1);
    if (status == 0) {
        char path[PATH_MAX], names[256] = "";
        for (int i = 0; i < N_PICTURE; i++) {
            const size_t used = strlen(names);
            snprintf(path, sizeof path, "%.3500s/%s", directory, picture[i]);
            if (access(path, R_OK) == 0)
                snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", picture[i]);
        }
        hx_log_info("plotted in %s: %s (`gnuplot compare.gp` there repeats it)", directory, names);
    } else if (status == NO_PROGRAM)
        hx_log_info("no plot: gnuplot is not installed; `gnuplot compare.gp` in %s draws it",
                    directory);
    else
        hx_log_warning("no plot: gnuplot failed; `gnuplot compare.gp` in %s prints why", directory);
    return HX_OK;
}
