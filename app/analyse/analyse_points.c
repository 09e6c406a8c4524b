/* The table of Gauss points: comma-separated values, one line per point and case. */
#include <stdio.h>

#include "../text/json.h"
#include "analyse.h"

void hx_analyse_write_head(const hx_analyse *a, FILE *stream)
{
    fputs(hx_problem_is_heat(&a->session->problem)
              ? "case,element,point,x,y,z,volume,density,qx,qy,qz\n"
              : "case,element,point,x,y,z,volume,density,sxx,syy,szz,sxy,syz,sxz,von_mises,s1,s2,"
                "s3\n",
          stream);
}

static void write_values(FILE *stream, int n, const double *value)
{
    char text[40];
    for (int i = 0; i < n; i++) {
        fputc(',', stream);
        fputs(hx_format_double(value[i], text, sizeof text), stream);
    }
}

void hx_analyse_write_points(const hx_analyse *a, int load_case, int64_t first, int64_t n,
                             const hx_cell_stress *cell, FILE *stream)
{
    for (int64_t k = 0; k < n; k++)
        for (int q = 0; q < cell[k].n; q++) {
            const double *const value = cell[k].value[q];
            double of[4];
            fprintf(stream, "%d,%lld,%d", load_case + 1,
                    (long long)hx_mesh_elem_number(&a->session->mesh, first + k), q + 1);
            write_values(stream, 3, cell[k].x[q]);
            write_values(stream, 1, &cell[k].volume[q]);
            write_values(stream, 1, &a->rho[first + k]);
            write_values(stream, a->stress.n_component, value);
            if (a->stress.n_component == HX_STRESS_COMPONENTS) {
                of[0] = hx_von_mises(value);
                hx_principal_stresses(value, of + 1);
                write_values(stream, 4, of);
            }
            fputc('\n', stream);
        }
}
