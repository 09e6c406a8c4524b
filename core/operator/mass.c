#include "mass.h"

#include <string.h>

#include "interface_ops.h"

static int check_problem(const hx_operator *op)
{
    const hx_problem *const problem = op->problem;
    if (hx_problem_is_heat(problem))
        return HX_RAISE(HX_EINPUT, "physics = \"heat\" has no vibrations");
    if (problem->space.element == HX_ELEMENT_SPLINE)
        return HX_RAISE(HX_EINPUT, "splines have no mass matrix: use element = \"linear\" or "
                                   "\"quadratic\" on the same file");
    if (!op->dev->ops->mass || !op->dev->ops->block)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' does not support vibrations: use solver.device = \"cpu\"",
                        op->dev->ops->name);
    if (problem->density > 0.0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "vibrations need the mass per volume of the solid material: state "
                               "material.density, in the mass unit that makes force = mass * "
                               "acceleration (t/mm^3 with N and mm)");
}

int hx_mass_create(hx_mass *mass, hx_operator *op)
{
    memset(mass, 0, sizeof *mass);
    HX_TRY(check_problem(op));
    mass->op = op;
    mass->elements.density = op->problem->density;
    if (op->problem->space.element == HX_ELEMENT_LINEAR) {
        HX_TRY(hx_device_mesh_need_lists(op->dev, op->mesh));
        op->model.d_node_elem_ptr = op->mesh->d_node_elem_ptr;
        op->model.d_node_elem = op->mesh->d_node_elem;
    }
    const int rc =
        op->dev->ops->mass->setup(op->dev, &op->model, op->problem->mesh, &mass->elements.state);
    if (rc < 0) hx_mass_free(mass);
    return rc;
}

void hx_mass_set_density(hx_mass *mass, const double *d_rho)
{
    mass->elements.d_rho = d_rho;
}

int hx_mass_apply_all(const hx_mass *mass, int n_vector, const double *const d_x[],
                      double *const d_y[])
{
    const hx_operator *const op = mass->op;
    const hx_device_ops *const ops = op->dev->ops;
    HX_TRY(ops->mass->apply(op->dev, &op->model, &mass->elements, n_vector, d_x, d_y));
    for (int k = 0; k < n_vector; k++) HX_TRY(hx_interface_add(op->dev, 3, d_y[k]));
    return HX_OK;
}

int hx_mass_apply(const hx_mass *mass, int n_vector, const double *const d_x[], double *const d_y[])
{
    HX_TRY(hx_mass_apply_all(mass, n_vector, d_x, d_y));
    for (int k = 0; k < n_vector; k++) HX_TRY(hx_operator_restrict(mass->op, d_y[k]));
    return HX_OK;
}

void hx_mass_free(hx_mass *mass)
{
    if (!mass->op) return;
    hx_device *const dev = mass->op->dev;
    if (dev->ops->mass) dev->ops->mass->teardown(dev, mass->elements.state);
    memset(mass, 0, sizeof *mass);
}
