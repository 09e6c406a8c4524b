#include "help_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../config/config_schema.h"
#include "core/base/old_names.h"

/* A test looks up every key and every page that is named here. */
const hx_term hx_terms[] = {
    /* the boundary value problem */
    {{"boundary condition"},
     "supports prescribe displacements or temperatures (Dirichlet), loads prescribe forces or heat "
     "(Neumann), springs and convection combine both (Robin)",
     "supports[].fix loads[].total_force springs[].stiffness convection[].coefficient",
     "theory.md#boundary-value-problems"},
    {{"Dirichlet", "Dirichlet condition", "prescribed displacement", "prescribed temperature",
      "essential boundary condition"},
     "a displacement or temperature that a support prescribes",
     "supports[].fix supports[].value supports[].temperature",
     "theory.md#boundary-value-problems"},
    {{"Neumann", "Neumann condition", "natural boundary condition"},
     "a force, traction, pressure or heat flux that a load prescribes",
     "loads[].total_force loads[].traction loads[].pressure loads[].flux",
     "theory.md#loads"},
    {{"Robin", "Robin condition", "elastic foundation"},
     "a traction or heat flux proportional to the displacement or temperature: springs, convection",
     "springs[].stiffness convection[].coefficient",
     "theory.md#boundary-value-problems"},
    {{"right-hand side", "load vector"},
     "the nodal forces or heat of one load case; each case is solved separately",
     "loads[].case loads[].total_force",
     "theory.md#loads"},
    {{"RBE2", "RBE3", "rigid body element", "distributing coupling"},
     "a force at a point apart from the part, which acts on a set of nodes",
     "loads[].remote_force loads[].point loads[].coupling",
     "cookbook.md#springs-and-a-force-that-acts-elsewhere"},
    {{"quadrature point", "Gauss point", "integration point", "quadrature"},
     "a point at which an element's integrand is evaluated",
     "solver.element",
     "theory.md#elements-and-quadrature"},
    {{"natural frequency", "eigenfrequency", "modal analysis", "vibration"},
     "a frequency at which the part swings without a load, with its shape, the mode; found by "
     "`hextop analyse --modes`",
     "material.density",
     "commands.md#frequencies"},
    /* the design */
    {{"SIMP", "material interpolation", "power law"},
     "the stiffness of an element as a power of its density",
     "optimization.penalty optimization.rho_min",
     "concepts.md#densities-and-simp"},
    {{"compliance", "strain energy"},
     "the work of the loads, which is minimized; twice the strain energy of a linear part",
     "optimization.objective",
     "concepts.md#compliance"},
    {{"sensitivity", "gradient", "adjoint"},
     "the derivative of the objective with respect to a density",
     "optimization.objective",
     "theory.md#objective-and-sensitivities"},
    {{"Heaviside", "Heaviside projection"},
     "a smooth step that moves filtered densities towards 0 and 1",
     "optimization.projection.beta optimization.projection.eta",
     "theory.md#filters-and-projection"},
    {{"least thickness", "minimum length", "robust formulation", "eroded design"},
     "the thickness that no member of the design falls below, held by the analysis of an eroded "
     "design",
     "optimization.minimum_length optimization.minimum_gap optimization.projection.erosion",
     "concepts.md#least-thickness"},
    {{"greyness", "measure of non-discreteness"},
     "4 rho (1 - rho), averaged over the volume: 0 if every element is solid or void",
     "optimization.projection",
     "concepts.md#greyness-and-projection"},
    {{"0/1 design", "black-and-white design", "extracted part"},
     "the design with every element solid or void, by a threshold that keeps the volume",
     "optimization.projection",
     "theory.md#from-densities-to-a-part"},
    {{"optimality criteria", "OC"},
     "the update of the densities in each design iteration",
     "optimization.update optimization.move optimization.damping",
     "theory.md#optimality-criteria"},
    {{"linked variables", "groups", "variable linking"},
     "densities that symmetry, repetition or extrusion makes equal, so that they are one design "
     "variable",
     "optimization.symmetry optimization.repetition optimization.extrusion",
     "theory.md#symmetry-repetition-and-extrusion"},
    {{"cyclic symmetry", "pattern repetition", "rotational symmetry"},
     "a design of equal copies, about an axis or along steps, for any loads",
     "optimization.repetition[].kind optimization.repetition[].copies",
     "theory.md#symmetry-repetition-and-extrusion"},
    {{"schedule", "continuation schedule"},
     "the iterations at which penalty and beta increase",
     "optimization.continuation.every optimization.projection.every",
     "concepts.md#greyness-and-projection"},
    {{"passive element", "non-design space", "frozen element"},
     "an element with a prescribed density, solid or void",
     "passive[].set passive[].density",
     "cookbook.md#regions-that-stay-solid-or-void"},
    {{"bins", "neighbour search"},
     "the cells by which a filter finds the elements within its radius",
     "optimization.filter.radius",
     "theory.md#filters-and-projection"},
    /* the solver */
    {{"conjugate gradients", "CG", "PCG"},
     "the iterative solver of K u = f, with a preconditioner",
     "solver.preconditioner solver.tolerance solver.max_iterations",
     "theory.md#conjugate-gradients"},
    {{"residual"},
     "f - K u, by which the solver stops",
     "solver.criterion solver.tolerance",
     "theory.md#conjugate-gradients"},
    {{"tolerance", "stopping criterion"},
     "the solver stops at a relative residual or error; the run stops at a change of the "
     "densities, or at a "
     "residual of the optimality conditions",
     "solver.tolerance solver.criterion optimization.change_tolerance optimization.kkt_tolerance",
     "theory.md#conjugate-gradients"},
    {{"operator kind", "matrix-free", "element by element"},
     "how K u is computed: from element matrices, from the mesh, or with a stored matrix",
     "solver.operator solver.layout",
     "theory.md#operators"},
    {{"coarse grid", "lattice", "multigrid level", "grid hierarchy"},
     "a regular grid of cubes over the mesh, on which multigrid corrects smooth errors",
     "solver.preconditioner solver.whole_coarse_grid",
     "theory.md#coarse-grids-and-prolongation"},
    {{"prolongation", "restriction", "interpolation"},
     "the transfer of a correction from a coarse grid to the next finer one; restriction is its "
     "transpose",
     "solver.preconditioner",
     "theory.md#coarse-grids-and-prolongation"},
    {{"smoother", "Chebyshev", "smoothing step"},
     "the iteration by which each level of multigrid reduces oscillating errors",
     "solver.preconditioner",
     "theory.md#smoother"},
    {{"W-cycle", "V-cycle", "multigrid cycle", "fused coarse cycle", "persistent kernel"},
     "the order in which multigrid visits its levels",
     "solver.preconditioner",
     "theory.md#cycle"},
    {{"Galerkin matrix", "coarse matrix"},
     "the stiffness matrix of a coarse grid, P' K P with the prolongation P",
     "solver.preconditioner",
     "theory.md#galerkin-matrices"},
    {{"deflation", "deflation space", "floating component", "enable_deflation", "loose parts"},
     "removes the rigid-body motions of components that only void connects to the supports from "
     "the residual of the solver",
     "solver.preconditioner",
     "theory.md#deflation-of-floating-components"},
    {{"near-null space", "rigid-body motion", "rigid-body mode", "kernel"},
     "the motions that hardly strain a part without supports; `hextop matrix --near-null` writes "
     "them",
     "solver.preconditioner",
     "commands.md#matrix"},
    {{"mixed precision", "iterative refinement"},
     "inner iterations in single precision, corrected by residuals in double precision",
     "solver.precision",
     "theory.md#conjugate-gradients"},
    {{"concurrent", "fork", "join"},
     "independent steps that a GPU executes at the same time",
     "solver.device",
     "theory.md#operators-on-a-gpu"},
    /* several processes */
    {{"communicator", "comm", "MPI", "mpirun", "rank"},
     "the processes that solve each design together: `mpirun -n 4 hextop run FILE`",
     "solver.partition solver.transport solver.device",
     "theory.md#several-processes-and-reproducibility"},
    {{"subdomain", "domain decomposition", "partition"},
     "the elements and nodes of one process",
     "solver.partition mesh.in_parts",
     "theory.md#several-processes-and-reproducibility"},
    {{"halo exchange", "halo", "ghost", "exchange", "interface dofs"},
     "the transfer of values at nodes and elements that several subdomains need",
     "solver.transport",
     "theory.md#several-processes-and-reproducibility"},
    {{"transport", "remote buffer"},
     "how processes exchange values: direct copies, NCCL or MPI",
     "solver.transport",
     "theory.md#several-processes-and-reproducibility"},
    {{"make_consistent", "consistent vector"},
     "adds the contributions of all subdomains at their interface nodes",
     "solver.transport",
     "theory.md#several-processes-and-reproducibility"},
    {{"reduction", "reduce", "dot product", "allreduce"},
     "a sum over all processes, in an order that does not depend on the number of threads",
     "solver.deterministic",
     "theory.md#several-processes-and-reproducibility"},
    {{"reproducibility", "bitwise reproducibility"},
     "what a run needs to give the same bits each time",
     "solver.deterministic solver.operator solver.vector_unit",
     "commands.md#bitwise-reproducibility"},
    {{"distributed mesh", "dist", "dist_mesh", "owned elements"},
     "a mesh that no process has as a whole",
     "mesh.in_parts",
     "cookbook.md#a-mesh-too-large-for-the-memory"},
    /* the program */
    {{"diagnostics", "diag", "doubtful result"},
     "warnings with a code, a number, a limit and a remedy; `hextop help warnings` lists them",
     "",
     "commands.md#warnings"},
    {{"HEXTOP_GMSH"},
     "environment variable: path of a gmsh program that is not in PATH",
     "mesh.file",
     "commands.md#commands"},
};
const size_t hx_n_term = sizeof hx_terms / sizeof hx_terms[0];

/* Members of a JSON file, separated by blanks. Settings in summary.json have the names of keys. */
typedef struct json_file {
    const char *name, *command, *page;
    const char *members;
} json_file;

static const json_file json_files[] = {
    {"summary.json", "run", "commands.md#run",
     "beta bodies box_max box_min build bytes bytes_per_element c_library case cases "
     "change check coarse_nodes coarse_seconds code compiler compliance "
     "compliance_error compliance_has_ratio connectivity converged coordinates cuda "
     "densities density design designs_off_volume device device_bytes "
     "device_bytes_per_element device_description device_items displacements element "
     "element_size elements elements_without_exact_image elements_without_image "
     "exchange_seconds exchanges files filter filter_bytes filter_radius finish gpu "
     "gpu_software greyness groups halo_bytes halo_exchanges halo_seconds heat_in "
     "heat_to_convection heat_to_prescribed_temperatures hextop hinge_nodes "
     "host_peak_bytes identity iterations largest_offset layout libconfig limit "
     "linked_variables load_sum loads machine mass mathematics max max_aspect "
     "max_volume mean_scaled_jacobian median memory mesh mesh_bytes min "
     "min_scaled_jacobian min_volume modulus name node nodes operator operator_bytes "
     "objective objective_value operator_deterministic optimizer_bytes output pcg "
     "pcg_iterations_total "
     "pcg_outcome pcg_refinements penalty physics points poor_elements precision "
     "precomputation preconditioner problem problem_bytes processor quality rank ranks "
     "reaction_sum reduction_seconds reductions remedy reorder result_iteration seconds "
     "seconds_per_iteration sent_bytes sets settings setup shares shuffle "
     "solve_seconds solver solves_converged solves_finished_in_double_precision "
     "solves_finished_with_exact_product solves_not_converged spmv spring_sum status "
     "supports text timings title total transport until_first_product update value "
     "vector vector_bytes vector_unit versions volume volume_met volume_target "
     "warnings weight"},
    {"verify.json", "verify", "commands.md#verify",
     "analysis area area_found black_white build by_nodes bytes c_library case "
     "case_compliance cases cells_split compiler compliance compliance_has_ratio "
     "config cuda densities_as_written difference_percent displacement element "
     "elements elements_forced_solid elements_forced_void elements_missing "
     "elements_solid elements_solid_below_threshold factor_of_safety file "
     "force_on_floating_pieces design hinge_edges hinge_nodes hinge_places largest_hinge "
     "least_gap least_thickness minimum_gap minimum_length narrowest_place thickness "
     "thinnest_place finer_places "
     "force_on_largest_piece force_on_void grey heat_flux hextop in_zones joined_by_faces "
     "joined_by_nodes keys largest_elements largest_volume libconfig limits_of loads machine "
     "mathematics mean_quality mesh_seconds mesher node nodes nodes_found "
     "nodes_on_floating_pieces nodes_on_largest_piece nodes_on_void of_element origin "
     "outside_zones overrides "
     "pcg_iterations pcg_outcome pcg_residual pieces pieces_left_out point points "
     "processor quadratic quantile_99_9 radius reference_temperature result rho_min same_mesh "
     "same_settings "
     "seconds set sets sharp_edges solid_only split_once split_twice springs stresses supports "
     "surface "
     "surface_shells temperature "
     "temperature_above_reference threshold threshold_keeps_volume tolerance_percent "
     "triangles unsplit value vector_unit verdict versions volume volume_enclosed "
     "volume_meshed volume_solid volume_target von_mises warnings worst_quality zones_share"},
    {"surface.json", "surface", "commands.md#surface",
     "area build c_library cavities compiler cuda design elements file hextop intersections keys "
     "least_thickness libconfig low_quality manufacturing mathematics max members_cut "
     "members_repaired min overhang_share pieces place result rim_length rim_turn_back "
     "thinnest_place threshold through_holes triangles "
     "units unreached_share vertices versions volume volume_target worst_quality "
     "worst_rim_turn_back"},
    {"compare.json", "compare", "commands.md#compare",
     "architecture copy_bytes_per_second deterministic device device_description "
     "element elements layout machine mesh mesh_seconds meshes nodes note operator "
     "operators paper pcg_outcome physics points processors published_in_p1 release "
     "size status system title unknowns"},
    {"the analysis's JSON file", "analyse --output", "commands.md#analyse",
     "build c_library case cases compiler compliance compression config convection "
     "cuda design displacement effective_mass eigenvalue element elements elements_counted "
     "elements_missing force frequency gauss_point half_dissipation heat heat_flux heat_flux_node "
     "hextop "
     "imbalance iterations largest libconfig loads lowest_temperature machine mass mathematics "
     "mode modes moment node nodes_without_softer_elements participation "
     "pcg_iterations pcg_outcome "
     "pcg_residual point processor reactions residual result rigid_motions seconds set springs "
     "strain_energy sum "
     "supports temperature tension threshold tolerance value vector_unit versions "
     "vibration volume von_mises von_mises_node warnings weight"},
    {"the selftest's JSON file", "selftest --output", "commands.md#selftest",
     "bound build c_library check checks compiler cuda device devices error failed "
     "hextop libconfig lines machine mathematics note passed processor reference "
     "seconds section vector_unit versions"},
    {"timeline.json", "run", "commands.md#where-the-time-goes", "args cat dur name ph pid tid ts"},
};

/* Length of a word without a plural's "s". */
static size_t stem_length(const char *word)
{
    const size_t n = strlen(word);
    return n > 3 && tolower((unsigned char)word[n - 1]) == 's' && word[n - 2] != 's' ? n - 1 : n;
}

/* 1 if the words are equal, ignoring case and a plural's "s"; '-', '_' and blanks are equal. */
static int is_same_word(const char *a, const char *b)
{
    const size_t n = stem_length(a);
    if (n != stem_length(b)) return 0;
    for (size_t i = 0; i < n; i++) {
        const int p = tolower((unsigned char)a[i]), q = tolower((unsigned char)b[i]);
        if (p != q && !(strchr("-_ ", p) && strchr("-_ ", q))) return 0;
    }
    return 1;
}

int hx_term_is_named(const hx_term *term, const char *word)
{
    for (size_t i = 0; i < HX_TERM_NAMES && term->name[i]; i++)
        if (is_same_word(term->name[i], word)) return 1;
    return 0;
}

const hx_term *hx_term_of(const char *name)
{
    size_t i = 0;
    while (i + 1 < hx_n_term && !hx_term_is_named(&hx_terms[i], name)) i++;
    return &hx_terms[i];
}

/* Prints the files that have a member of this name. Returns 1 if there are any. */
static size_t print_member(const char *word)
{
    const size_t n = strlen(word);
    size_t n_found = 0;
    if (n == 0 || strchr(word, ' ')) return 0;
    for (size_t i = 0; i < sizeof json_files / sizeof json_files[0]; i++) {
        const json_file *const file = &json_files[i];
        for (const char *at = strstr(file->members, word); at; at = strstr(at + n, word)) {
            if ((at > file->members && at[-1] != ' ') || (at[n] != ' ' && at[n] != '\0')) continue;
            if (n_found++ == 0) printf("%s: a member of ", word);
            printf("%s%s, written by `hextop %s` (doc/%s)", n_found > 1 ? "; of " : "", file->name,
                   file->command, file->page);
            break;
        }
    }
    if (n_found > 0) printf("\n\n");
    return n_found > 0;
}

/* Prints the current names of a word of earlier versions. Warnings are left out, since
 * hx_print_warning explains them, and so are entries of checkpoints, which users never type. */
static size_t print_old_names(const char *word)
{
    static const char *const what[] = {[HX_OLD_JSON] = "The member %s of JSON files",
                                       [HX_OLD_VARIABLE] = "The environment variable %s",
                                       [HX_OLD_SPAN] = "The span %s of timeline.json"};
    size_t n = 0;
    for (const hx_old_name *row = hx_old_names; row->old; row++) {
        if (row->kind == HX_OLD_WARNING || row->kind == HX_OLD_CHECKPOINT) continue;
        if (!is_same_word(row->old, word)) continue;
        printf(what[row->kind], row->old);
        printf(" is now called %s.\n\n", row->now);
        n += 1 + (row->kind == HX_OLD_JSON ? print_member(row->now) : 0);
    }
    return n;
}

/* The key that an environment variable sets. */
static size_t print_variable(const char *word)
{
    size_t n = 0;
    for (size_t i = 0; i < hx_n_key; i++) {
        const char *const name = hx_keys[i].variable;
        const char *const old = name ? hx_name_before(HX_OLD_VARIABLE, name, 0) : NULL;
        if (!name || !(strcmp(name, word) == 0 || (old && strcmp(old, word) == 0))) continue;
        printf("%s: environment variable that is used without the key %s\n\n", name,
               hx_keys[i].path);
        n++;
    }
    return n;
}

size_t hx_print_words(const char *word)
{
    size_t n = print_old_names(word) + print_variable(word);
    for (size_t i = 0; i < hx_n_term; i++) {
        if (!hx_term_is_named(&hx_terms[i], word)) continue;
        printf("%s", hx_terms[i].name[0]);
        for (size_t k = 1; k < HX_TERM_NAMES && hx_terms[i].name[k]; k++)
            printf("%s%s", k == 1 ? " (also " : ", ", hx_terms[i].name[k]);
        printf("%s: %s\n", hx_terms[i].name[1] ? ")" : "", hx_terms[i].meaning);
        if (hx_terms[i].keys[0]) printf("  keys      %s\n", hx_terms[i].keys);
        printf("  described in doc/%s\n\n", hx_terms[i].page);
        n++;
    }
    return n + print_member(word);
}
