// The module: every function is bound in the file that is named as its part of the core.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_tables(nb::module_& m);
void bind_moments(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_pruning(nb::module_& m);
void bind_trees(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() =
        "Loops over one block of rows; see cpp/core/types.hpp for the words and the contract.";
    bind_tables(m);
    bind_moments(m);
    bind_scores(m);
    bind_neighbors(m);
    bind_pruning(m);
    bind_trees(m);
}
