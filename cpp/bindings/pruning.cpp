// Bindings of pruning.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <vector>

#include "bindings/arrays.hpp"
#include "trees/pruning/cost_complexity.hpp"
#include "trees/pruning/pessimistic.hpp"

using namespace nb::literals;
using namespace sortal::binding;
namespace trees = sortal::trees;

namespace {

// Every node but the root is the child of one that comes before it.
void check_branches(const Vector<std::int64_t>& child_start, const Vector<std::int32_t>& children,
                    std::size_t n) {
    need(n > 0, "a tree has at least one node");
    need(child_start.size() == n + 1 && children.size() == n - 1,
         "the arrays of the tree differ in length");
    const std::int64_t* start = child_start.data();
    need(start[0] == 0 && start[n] == static_cast<std::int64_t>(children.size()),
         "the lists of the tree do not fit its nodes");
    std::vector<bool> met(n, false);
    for (std::size_t t = 0; t < n; ++t) {
        need(start[t] <= start[t + 1] && start[t + 1] <= start[n],
             "the lists of the tree do not fit its nodes");
        for (std::int64_t c = start[t]; c < start[t + 1]; ++c) {
            const std::int32_t child = children.data()[c];
            need(child > static_cast<std::int64_t>(t) && child < static_cast<std::int64_t>(n) &&
                     !met[static_cast<std::size_t>(child)],
                 "a branch of the tree leads nowhere");
            met[static_cast<std::size_t>(child)] = true;
        }
    }
}

Array<double> collapse_strengths(Vector<std::int64_t> child_start, Vector<std::int32_t> children,
                                 Vector<double> risk) {
    std::vector<double> strengths;
    {
        const nb::gil_scoped_release nogil;
        check_branches(child_start, children, risk.size());
        for (std::size_t t = 0; t < risk.size(); ++t) {
            need(std::isfinite(risk.data()[t]) && risk.data()[t] >= 0.0,
                 "a risk is not a number of at least 0");
        }
        strengths = trees::collapse_strengths({static_cast<std::int64_t>(risk.size()),
                                               child_start.data(), children.data(), risk.data()});
    }
    return line(std::move(strengths));
}

trees::AddedErrors added_by(double confidence) {
    need(confidence > 0.0 && confidence <= 1.0, "confidence is not above 0 and at most 1");
    return trees::AddedErrors(confidence);
}

Array<double> added_errors(Vector<double> n, Vector<double> errors, double confidence) {
    const auto added = added_by(confidence);
    need(n.size() == errors.size(), "n and errors differ in length");
    std::vector<double> out;
    for (std::size_t i = 0; i < n.size(); ++i) {
        const double rows = n.data()[i], wrong = errors.data()[i];
        need(rows > 0.0 && wrong >= 0.0 && wrong <= rows, "errors are not between 0 and n");
        out.push_back(added(rows, wrong));
    }
    return line(std::move(out));
}

}  // namespace

void bind_pruning(nb::module_& m) {
    m.def("collapse_strengths", &collapse_strengths, "child_start"_a.noconvert(),
          "children"_a.noconvert(), "risk"_a.noconvert(),
          "The least alpha at which each node has no test in the minimal tree.");
    m.def("added_errors", &added_errors, "n"_a.noconvert(), "errors"_a.noconvert(), "confidence"_a,
          "What C4.5 adds to the errors of n rows.");
}
