// Bindings of growing and routing.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "bindings/interrupt.hpp"
#include "bindings/tree_arrays.hpp"

using namespace nb::literals;
using namespace sortal::binding;
namespace trees = sortal::trees;

namespace {

using Grown =
    std::tuple<Array<std::int8_t>, Array<std::int32_t>, Array<double>, Array<std::int64_t>,
               Array<std::int32_t>, Array<std::int64_t>, Array<std::int32_t>, Array<std::int32_t>,
               Array<std::int32_t>, Array<std::int64_t>, Array<std::int64_t>, Array<double>,
               Array<double>, Array<bool>, Array<double>, Array<std::int32_t>>;

Grown hand_over_nodes(trees::Nodes&& t) {
    const auto n = static_cast<std::size_t>(t.size()), K = static_cast<std::size_t>(t.n_classes);
    auto units = hand_over(std::move(t.units), {n, K});
    return {line(std::move(t.kind)),       line(std::move(t.attribute)),
            line(std::move(t.threshold)),  line(std::move(t.child_start)),
            line(std::move(t.children)),   line(std::move(t.value_start)),
            line(std::move(t.values)),     line(std::move(t.branches)),
            line(std::move(t.heavier)),    std::move(units),
            line(std::move(t.sizes)),      line(std::move(t.score)),
            line(std::move(t.gain)),       flags(t.exact),
            line(std::move(t.candidates)), line(std::move(t.missing))};
}

void check_options(const trees::GrowOptions& options) {
    check_limits(options);
    need(options.policy != trees::MissingPolicy::branch || !trees::is_two_sided(options.criterion),
         "this criterion has no branch for missing values");
    need(options.unit_bits >= 0 && options.part_bits >= options.unit_bits &&
             options.part_bits < 62 &&
             (options.part_bits == 0 || options.policy == trees::MissingPolicy::fractional),
         "only rows that spread have parts");
}

void check_column(const trees::TreeColumn& column, std::int64_t n) {
    if (column.kind == trees::Kind::cut) return;  // binning looks whether numbers are finite
    need(sortal::no_negatives(column.codes, n) &&
             sortal::codes_below(column.codes, n, column.n_values + column.has_missing),
         "a code lies outside 0 .. n_values - 1, or n_values for missing values");
}

Grown grow_tree(std::vector<AnyColumn> columns, std::vector<int> kinds,
                std::vector<std::int64_t> n_values, std::vector<bool> has_missing,
                Vector<std::int32_t> classes, std::int64_t n_classes, Weights weights,
                const trees::GrowOptions& options, int threads) {
    check_options(options);
    auto read = tree_columns(columns, n_values, classes.size());
    need(kinds.size() == columns.size(), "columns and kinds differ in number");
    need(has_missing.size() == columns.size(), "columns and has_missing differ in number");
    need(classes.size() > 0, "there is no row to grow from");
    for (std::size_t j = 0; j < read.size(); ++j) {
        const auto kind = kind_of(kinds[j], options.criterion);
        need((kind == trees::Kind::cut) == (read[j].kind == trees::Kind::cut),
             "a cut needs numbers, other tests need codes");
        read[j].kind = kind;
        read[j].has_missing = has_missing[j];
    }
    trees::Nodes nodes;
    {
        const nb::gil_scoped_release nogil;
        const auto rows = tree_rows(classes, n_classes, weights);
        for (const auto& column : read) check_column(column, rows.n);
        InterruptCheck check;
        nodes = trees::grow_tree(read, rows, options, threads, [&check] { check(); });
    }
    return hand_over_nodes(std::move(nodes));
}

using Out = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void route_rows(TreeArrays arrays, std::vector<AnyColumn> columns,
                std::vector<std::int64_t> n_values, Out out, std::optional<Out> fallback) {
    const auto read = tree_columns(columns, n_values, out.size());
    need(!fallback || fallback->size() == out.size(), "fallback and out differ in length");
    const nb::gil_scoped_release nogil;
    const trees::Nodes tree = tree_of(arrays);
    const auto n = static_cast<std::int64_t>(out.size());
    check_columns(tree, read, n);
    trees::route_rows(tree, read, n, out.data(), fallback ? fallback->data() : nullptr);
}

Array<double> spread_answers(TreeArrays arrays, std::vector<AnyColumn> columns,
                             std::vector<std::int64_t> n_values, Vector<double> weights,
                             Matrix answers) {
    need(!columns.empty(), "there is no column");
    const std::size_t n = length_of(columns[0]);
    const auto read = tree_columns(columns, n_values, n);
    std::vector<double> out(n * answers.shape(1));
    {
        const nb::gil_scoped_release nogil;
        const trees::Nodes tree = tree_of(arrays);
        check_columns(tree, read, static_cast<std::int64_t>(n));
        need(weights.size() == tree.kind.size() && answers.shape(0) == tree.kind.size(),
             "weights, answers and nodes differ in number");
        trees::spread_answers(tree, read, static_cast<std::int64_t>(n), weights.data(),
                              answers.data(), static_cast<std::int64_t>(answers.shape(1)),
                              out.data());
    }
    return hand_over(std::move(out), {n, answers.shape(1)});
}

Array<double> spread_counts(TreeArrays arrays, std::vector<AnyColumn> columns,
                            std::vector<std::int64_t> n_values, Vector<double> weights,
                            Vector<std::int32_t> classes, Vector<double> row_weights,
                            std::int64_t n_classes) {
    const auto read = tree_columns(columns, n_values, classes.size());
    const std::size_t nodes = std::get<0>(arrays).size();
    std::vector<double> out(nodes * static_cast<std::size_t>(n_classes), 0.0);
    {
        const nb::gil_scoped_release nogil;
        const trees::Nodes tree = tree_of(arrays);
        const auto n = static_cast<std::int64_t>(classes.size());
        check_columns(tree, read, n);
        need(weights.size() == nodes, "weights and nodes differ in number");
        need(row_weights.size() == classes.size(), "row_weights and classes differ in length");
        check_classes(classes, n_classes);
        trees::spread_counts(tree, read, n, weights.data(), classes.data(), row_weights.data(),
                             n_classes, out.data());
    }
    return hand_over(std::move(out), {nodes, static_cast<std::size_t>(n_classes)});
}

}  // namespace

void bind_trees(nb::module_& m) {
    using Options = trees::GrowOptions;
    nb::class_<Options>(m, "GrowOptions", "How a tree grows; see cpp/trees/tree.hpp.")
        .def(nb::init<>())
        .def_prop_rw(
            "criterion", [](const Options& o) { return static_cast<int>(o.criterion); },
            [](Options& o, int criterion) { o.criterion = criterion_of(criterion); })
        .def_rw("leaf_size", &Options::leaf_size)
        .def_rw("purity", &Options::purity)
        .def_rw("max_depth", &Options::max_depth)
        .def_rw("min_size", &Options::min_size)
        .def_rw("min_units", &Options::min_units)
        .def_rw("min_gain", &Options::min_gain)
        .def_rw("max_leaves", &Options::max_leaves)
        .def_rw("max_subset", &Options::max_subset)
        .def_prop_rw(
            "policy", [](const Options& o) { return static_cast<int>(o.policy); },
            [](Options& o, int policy) { o.policy = policy_of(policy); })
        .def_rw("part_bits", &Options::part_bits)
        .def_rw("unit_bits", &Options::unit_bits);
    m.def("grow_tree", &grow_tree, "columns"_a.noconvert(), "kinds"_a, "n_values"_a,
          "has_missing"_a, "classes"_a.noconvert(), "n_classes"_a, "weights"_a.noconvert(),
          "options"_a, "threads"_a,
          "A tree's nodes in preorder, as arrays; see cpp/trees/tree.hpp.");
    m.def("route_rows", &route_rows, "tree"_a, "columns"_a.noconvert(), "n_values"_a,
          "out"_a.noconvert(), "fallback"_a.noconvert() = nb::none(),
          "The node where each row ends.");
    m.def("spread_answers", &spread_answers, "tree"_a, "columns"_a.noconvert(), "n_values"_a,
          "weights"_a.noconvert(), "answers"_a,
          "What nodes answer, by the parts of each row that end there.");
    m.def("spread_counts", &spread_counts, "tree"_a, "columns"_a.noconvert(), "n_values"_a,
          "weights"_a.noconvert(), "classes"_a.noconvert(), "row_weights"_a.noconvert(),
          "n_classes"_a, "The weight of each class that comes to each node.");
}
