#include "iterations_guess.h"

#include <math.h>

#include "core/spline/spline.h"

/* With multigrid: the iterations of both spline examples at 1e-5 on either device, 12 to 36 for
 * degrees 2 and 3. With the diagonal the number is larger roughly by the factor of the degree. */
static hx_iterations_guess guess_spline(double with_diagonal, int own, int degree)
{
    if (own > 0) return (hx_iterations_guess){20.0, 10.0, 50.0};
    return (hx_iterations_guess){with_diagonal * degree, with_diagonal * degree / 3.0,
                                 with_diagonal * degree * 3.0};
}

/* Fitted to the examples of P1 at 1e-5: 31,250 elements take about 700 iterations with the
 * diagonal, and the count grows with the fifth root of their number. */
hx_iterations_guess hx_guess_iterations(const hx_session *s)
{
    const double all = -log10(s->cfg.solver.tolerance), /* energies are squares */
        digits = fmax(1.0, s->cfg.solver.criterion == HX_PCG_COMPLIANCE ? 0.5 * all : all);
    const double with_diagonal = 700.0 * pow((double)s->mesh.n_elem / 31250.0, 0.2);
    const double limit = (double)s->cfg.solver.max_iterations;
    const int own = s->solver.precond->iterations;
    const double n = own > 0 ? own : with_diagonal;
    hx_iterations_guess g = {n, n / 3.0, n * 3.0};
    if (s->space.element == HX_ELEMENT_SPLINE)
        g = guess_spline(with_diagonal, own, hx_spline_degree(s->space.spline));
    return (hx_iterations_guess){fmin(g.likely * digits / 5.0, limit),
                                 fmin(g.least * digits / 5.0, limit),
                                 fmin(g.most * digits / 5.0, limit)};
}
