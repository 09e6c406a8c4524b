#include "plot.h"

#include <math.h>
#include <string.h>

#include "../text/html.h"

/* Sizes of the drawing, in its own units. */
enum { WIDTH = 400, HEIGHT = 236, LEFT = 54, RIGHT = 10, TOP = 10, BOTTOM = 38 };
enum { MAX_POINT = 600, MAX_HOVER = 240, MAX_BAR = 100 };

/* --- ticks --- */

/* The nearest of 1, 2, 5 times a power of ten at or below (up: at or above) the value. */
static double nice_value(double value, int up)
{
    static const double part[] = {1.0, 2.0, 5.0, 10.0};
    const double power = pow(10.0, floor(log10(value) + 1e-9)), share = value / power;
    int i = up ? 0 : 3;
    while (up && i < 3 && part[i] < share * (1.0 - 1e-9)) i++;
    while (!up && i > 0 && part[i] > share * (1.0 + 1e-9)) i--;
    return power * part[i];
}

/* Ticks at 1, or at 1, 2 and 5, of every decade; or at 1 of every second, third, ... decade. */
static void make_log(hx_ticks *t, double low, double high, int n)
{
    static const double part[] = {1.0, 2.0, 5.0};
    low = nice_value(low, 0);
    high = nice_value(high, 1);
    const double decades = log10(high / low);
    const int n_part = decades < 0.5 * n ? 3 : 1;
    const int every = decades > n ? (int)ceil(decades / n) : 1;
    t->low = low;
    t->high = high;
    for (int e = (int)floor(log10(low)); e <= (int)ceil(log10(high)); e += every)
        for (int i = 0; i < n_part; i++) {
            const double at = part[i] * pow(10.0, e);
            if (at < low * (1.0 - 1e-9) || at > high * (1.0 + 1e-9)) continue;
            if (t->n < HX_PLOT_MAX_TICK) t->at[t->n++] = at;
        }
}

/* About n ticks for values from low to high, which are positive if is_log. The axis also begins and
 * ends at ticks. If low equals high, the axis is widened. */
static void make_ticks(hx_ticks *t, double low, double high, int n, int is_log)
{
    memset(t, 0, sizeof *t);
    t->is_log = is_log;
    if (!(high > low)) {
        const double room = high != 0.0 ? 0.1 * fabs(high) : 1.0;
        low -= room;
        high += room;
    }
    if (is_log)
        make_log(t, low, high, n);
    else {
        /* A step of 1, 2 or 5 times a power of ten that gives about n steps in the span. */
        const double raw = (high - low) / n, power = pow(10.0, floor(log10(raw)));
        const double share = raw / power;
        const double step = power * (share < 1.5   ? 1.0
                                     : share < 3.5 ? 2.0
                                     : share < 7.5 ? 5.0
                                                   : 10.0);
        t->low = step * floor(low / step + 1e-9);
        t->high = step * ceil(high / step - 1e-9);
        for (double at = t->low; t->n < HX_PLOT_MAX_TICK && at < t->high + 0.5 * step; at += step)
            t->at[t->n++] = fabs(at) < 1e-9 * step ? 0.0 : at;
    }
}

/* Formats such as "0.02", "12000", "3·10⁶"; returns text. */
static const char *tick_text(double value, char *text, size_t n_text)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const double size = fabs(value);
    if (size == 0.0 || (size > 9.99e-4 && size < 99999.5)) {
        snprintf(text, n_text, "%.6g", value);
        return text;
    }
    char number[32];
    snprintf(number, sizeof number, "%.3e", value);
    char *const e = strchr(number, 'e');
    size_t used = (size_t)(e - number);
    while (used > 0 && number[used - 1] == '0') used--;
    if (used > 0 && number[used - 1] == '.') used--;
    const int is_one = used == 1 && number[0] == '1';
    used = (size_t)snprintf(text, n_text, "%.*s%s10%s", is_one ? 0 : (int)used, number,
                            is_one ? "" : "·", e[1] == '-' ? "⁻" : "");
    const char *c = e + 2;
    while (*c == '0' && c[1]) c++;
    for (; *c && used < n_text; c++)
        used += (size_t)snprintf(text + used, n_text - used, "%s", digit[*c - '0']);
    return text;
}

/* --- axes --- */

typedef struct axes {
    FILE *f;
    hx_ticks x, y;
} axes;

static double share_of(const hx_ticks *t, double value)
{
    return t->is_log ? log(value / t->low) / log(t->high / t->low)
                     : (value - t->low) / (t->high - t->low);
}

static double x_of(const axes *a, double value)
{
    return LEFT + share_of(&a->x, value) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const axes *a, double value)
{
    return HEIGHT - BOTTOM - share_of(&a->y, value) * (HEIGHT - TOP - BOTTOM);
}

static void put_axes(const axes *a, const char *x_name)
{
    char text[48];
    fputs("<g class=\"axes\">", a->f);
    for (int i = 0; i < a->y.n; i++) {
        const double y = y_of(a, a->y.at[i]);
        fprintf(a->f, "<path d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" class=\"end\">%s</text>",
                LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4.0,
                tick_text(a->y.at[i], text, sizeof text));
    }
    for (int i = 0; i < a->x.n; i++) {
        const double at = a->x.at[i];
        if (at != floor(at) || at < a->x.low || at > a->x.high) continue;
        fprintf(a->f, "<path class=\"tick\" d=\"M%.1f %dv4\"/><text x=\"%.1f\" y=\"%d\">%s</text>",
                x_of(a, at), HEIGHT - BOTTOM, x_of(a, at), HEIGHT - BOTTOM + 17,
                tick_text(at, text, sizeof text));
    }
    fprintf(a->f, "<path class=\"base\" d=\"M%d %dH%d\"/>", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT);
    fprintf(a->f, "<text x=\"%d\" y=\"%d\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4);
    hx_html_text(a->f, x_name);
    fputs("</text></g>", a->f);
}

/* Ticks of x are whole numbers, and the axis ends at the data. */
static void make_x(hx_ticks *t, double low, double high)
{
    make_ticks(t, low, high, 6, 0);
    t->low = low;
    t->high = high > low ? high : low + 1.0;
}

static void open_figure(const hx_plot *p, FILE *f, const char *what)
{
    fputs("<figure class=\"plot\"><figcaption>", f);
    hx_html_text(f, p->title);
    if (p->unit[0]) {
        fputs("<span>,", f);
        hx_html_text(f, p->unit);
        fputs("</span>", f);
    }
    fprintf(f, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    hx_html_printf(f, "%s %s.%s", p->title, what, p->n_line > 1 ? "" : " ");
    for (size_t i = 0; i < p->n_line; i++) {
        const hx_plot_line *line = &p->line[i];
        if (line->n == 0) continue;
        hx_html_printf(f, " %s%sfrom %.4g to %.4g%s.", p->n_line > 1 ? line->name : "",
                       p->n_line > 1 ? ": " : "", line->y[0], line->y[line->n - 1], p->unit);
    }
    fputs("</title>", f);
}

static void close_figure(FILE *f)
{
    fputs("</svg></figure>\n", f);
}

/* --- lines --- */

/* The next point to draw. Points have equal steps; the last point is always drawn. */
static size_t next_point(size_t k, size_t n)
{
    const size_t step = n / MAX_POINT + 1;
    return k + 1 < n && k + step >= n ? n - 1 : k + step;
}

static void put_plot_line(const axes *a, const hx_plot_line *line)
{
    const char *join = "M";
    fprintf(a->f, "<path class=\"line s%d\" d=\"", line->colour);
    for (size_t k = 0; k < line->n; k = next_point(k, line->n)) {
        if (!isfinite(line->y[k])) {
            join = "M";
            continue;
        }
        fprintf(a->f, "%s%.1f %.1f", join, x_of(a, (double)k + 1.0), y_of(a, line->y[k]));
        join = "L";
    }
    fputs("\"/>", a->f);
    if (line->n == 1)
        fprintf(a->f, "<circle class=\"dot s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", line->colour,
                x_of(a, 1.0), y_of(a, line->y[0]));
}

/* A limit, with its value above the line, or below if that is at the top. */
static void put_level(const axes *a, double level, const char *unit)
{
    const double y = y_of(a, level);
    fprintf(a->f,
            "<path class=\"level\" d=\"M%d %.1fH%d\"/><text class=\"level\" x=\"%d\" "
            "y=\"%.1f\">",
            LEFT, y, WIDTH - RIGHT, WIDTH - RIGHT - 2, y < TOP + 14.0 ? y + 13.0 : y - 4.0);
    hx_html_printf(a->f, "limit %.5g%s", level, unit);
    fputs("</text>", a->f);
}

void hx_plot_lines(const hx_plot *p, FILE *f)
{
    axes a = {.f = f};
    double low, high;
    size_t n;
    low = INFINITY;
    high = -INFINITY;
    n = 0;
    for (size_t i = 0; i < p->n_line; i++) {
        for (size_t k = 0; k < p->line[i].n; k++) {
            const double y = p->line[i].y[k];
            if (!isfinite(y)) continue;
            low = fmin(low, y);
            high = fmax(high, y);
        }
        if (p->line[i].n > n) n = p->line[i].n;
    }
    if (n == 0 || !(high >= low)) return;
    for (size_t i = 0; i < p->n_level; i++) {
        low = fmin(low, p->level[i]);
        high = fmax(high, p->level[i]);
    }
    const int is_log = p->is_log && low > 0.0 && high > 10.0 * low;
    if (p->from_zero && !is_log) low = fmin(low, 0.0);
    make_ticks(&a.y, low, high, 5, is_log);
    make_x(&a.x, 1.0, (double)n);
    open_figure(p, f,
                is_log ? "over the design iterations, on a logarithmic axis"
                       : "over the design iterations");
    put_axes(&a, p->x_name);
    for (size_t i = 0; i < p->n_level; i++) put_level(&a, p->level[i], p->unit);
    for (size_t i = 0; i < p->n_line; i++) put_plot_line(&a, &p->line[i]);
    /* Adds the text that appears when the pointer is over the line. */
    for (size_t i = 0; i < p->n_line; i++) {
        const hx_plot_line *const line = &p->line[i];
        const size_t step = line->n / MAX_HOVER + 1;
        for (size_t k = 0; k < line->n; k += step) {
            if (!isfinite(line->y[k])) continue;
            fprintf(a.f, "<circle class=\"hit s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>",
                    line->colour, x_of(&a, (double)k + 1.0), y_of(&a, line->y[k]));
            if (p->n_line > 1) hx_html_printf(a.f, "%s, ", line->name);
            hx_html_printf(a.f, "%s %zu: %.5g%s", p->x_short, k + 1, line->y[k], p->unit);
            fputs("</title></circle>", a.f);
        }
    }
    close_figure(f);
}

/* --- bars --- */

/* Mean of the layer's values from k to end. */
static double bar_value(const hx_plot_line *layer, size_t k, size_t end)
{
    double sum = 0.0;
    for (size_t i = k; i < end; i++) sum += isfinite(layer->y[i]) ? layer->y[i] : 0.0;
    return sum / (double)(end - k);
}

static void put_bar(const axes *a, const hx_plot *p, size_t k, size_t end)
{
    const double left = x_of(a, (double)k + 0.5), right = x_of(a, (double)end + 0.5);
    const double width = 0.86 * (right - left), from = left + 0.07 * (right - left);
    double sum = 0.0;
    fputs("<g>", a->f);
    for (size_t i = 0; i < p->n_line; i++) {
        const double value = bar_value(&p->line[i], k, end);
        const double y = y_of(a, sum + value), height = y_of(a, sum) - y;
        sum += value;
        if (height < 0.05) continue;
        fprintf(a->f, "<rect class=\"g%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
                p->line[i].colour, from, y, width, height);
    }
    fputs("<title>", a->f);
    if (end - k > 1)
        hx_html_printf(a->f, "%s %zu to %zu, mean: %.3g%s", p->x_short, k + 1, end, sum, p->unit);
    else
        hx_html_printf(a->f, "%s %zu: %.3g%s", p->x_short, end, sum, p->unit);
    fputs("</title></g>", a->f);
}

void hx_plot_bars(const hx_plot *p, FILE *f)
{
    axes a = {.f = f};
    double most = 0.0;
    const size_t n = p->n_line > 0 ? p->line[0].n : 0;
    const size_t step = n / MAX_BAR + 1;
    if (n == 0) return;
    for (size_t k = 0; k < n; k += step) {
        double sum = 0.0;
        for (size_t i = 0; i < p->n_line; i++)
            sum += bar_value(&p->line[i], k, k + step < n ? k + step : n);
        most = fmax(most, sum);
    }
    make_ticks(&a.y, 0.0, most > 0.0 ? most : 1.0, 5, 0);
    make_x(&a.x, 0.5, (double)n + 0.5);
    open_figure(p, f, "of each design iteration, stages on top of each other");
    put_axes(&a, p->x_name);
    for (size_t k = 0; k < n; k += step) put_bar(&a, p, k, k + step < n ? k + step : n);
    close_figure(f);
}
