// Bindings of trees: check what growing and routing rely on.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "binding_tree.hpp"

using namespace nb::literals;
using namespace sortal::binding;

namespace {

using Grown =
    std::tuple<Array<std::int8_t>, Array<std::int32_t>, Array<double>, Array<std::int64_t>,
               Array<std::int32_t>, Array<std::int64_t>, Array<std::int32_t>, Array<std::int32_t>,
               Array<std::int32_t>, Array<std::int64_t>, Array<std::int64_t>, Array<double>,
               Array<double>, Array<bool>, Array<double>, Array<std::int32_t>>;

Grown hand_over_nodes(sortal::Nodes&& t) {
    const auto n = static_cast<std::size_t>(t.size()), K = static_cast<std::size_t>(t.n_classes);
    auto units = hand_over(std::move(t.units), {n, K});
    return {line(std::move(t.kind)),        line(std::move(t.attribute)),
            line(std::move(t.threshold)),   line(std::move(t.child_start)),
            line(std::move(t.children)),    line(std::move(t.value_start)),
            line(std::move(t.values)),      line(std::move(t.branches)),
            line(std::move(t.heavier)),     std::move(units),
            line(std::move(t.sizes)),       line(std::move(t.score)),
            line(std::move(t.gain)),        flags(t.exact),
            line(std::move(t.candidates)),  line(std::move(t.missing))};
}

void check_column(const sortal::TreeColumn& column, std::int64_t n) {
    if (column.kind == sortal::Kind::cut) return;  // binning looks whether numbers are finite
    need(sortal::no_negatives(column.codes, n) &&
             sortal::codes_below(column.codes, n, column.n_values + column.holes),
         "a code lies outside 0 .. n_values - 1, or n_values for holes");
}

Grown grow_tree(std::vector<AnyColumn> columns, std::vector<int> kinds,
                std::vector<std::int64_t> n_values, Vector<std::int32_t> classes,
                std::int64_t n_classes, std::optional<Vector<std::int64_t>> units, bool copies,
                std::optional<Vector<std::int64_t>> sizes, std::vector<bool> holes, int criterion, std::int64_t leaf_size, double purity, std::int64_t max_depth,
                std::int64_t min_size, std::int64_t min_units, double min_gain,
                std::int64_t max_leaves, std::int64_t max_subset, int policy, int part_bits,
                int unit_bits, int threads) {
    auto read = tree_columns(columns, n_values, classes.size());
    need(kinds.size() == columns.size(), "columns and kinds differ in number");
    need(holes.size() == columns.size(), "columns and holes differ in number");
    need(criterion >= 0 && criterion <= 3, "criterion is not 0, 1, 2 or 3");
    need(policy >= 0 && policy <= 3, "policy is not 0, 1, 2 or 3");
    need(policy != 1 || criterion != 3, "CART knows two sides only");
    need(unit_bits >= 0 && part_bits >= unit_bits && part_bits < 62 &&
             (part_bits == 0 || policy == 3),
         "only rows that spread have parts");
    need(classes.size() > 0, "there is no row to grow from");
    for (std::size_t j = 0; j < read.size(); ++j) {
        need(kinds[j] >= 1 && kinds[j] <= 3, "a kind is not 1, 2 or 3");
        need((kinds[j] == 1) == (read[j].kind == sortal::Kind::cut),
             "a cut needs numbers, other tests need codes");
        need(kinds[j] != 3 || criterion != 3, "CART knows two sides only");
        read[j].kind = static_cast<sortal::Kind>(kinds[j]);
        read[j].holes = holes[j];
    }
    const auto n = static_cast<std::int64_t>(classes.size());
    const sortal::TreeRows rows{n, n_classes, classes.data(), units ? units->data() : nullptr,
                                copies, sizes ? sizes->data() : nullptr};
    const sortal::Growth growth{
        {static_cast<sortal::Criterion>(criterion), {min_size, min_units, max_subset}},
        {leaf_size, purity, max_depth, min_gain},
        max_leaves,
        threads,
        static_cast<sortal::HolePolicy>(policy),
        part_bits,
        unit_bits};
    sortal::Nodes nodes;
    {
        const nb::gil_scoped_release nogil;
        const sortal::Column<std::int32_t> labels{classes.data(), 1};
        need(sortal::no_negatives(labels, n) && sortal::codes_below(labels, n, n_classes),
             "a class code lies outside 0 .. n_classes - 1");
        need(!units || units->size() == classes.size(), "units and classes differ in length");
        need(!sizes || (sizes->size() == classes.size() && units && !copies),
             "sizes are for weights that are no copies, one a row");
        for (std::int64_t i = 0; rows.units && i < n; ++i) {
            need(rows.units[i] > 0 && (!sizes || rows.sizes[i] > 0), "a row has no weight");
        }
        for (const auto& column : read) check_column(column, n);
        Watch watch;
        nodes = sortal::grow_tree(read, rows, growth, [&watch] { watch(); });
    }
    return hand_over_nodes(std::move(nodes));
}

std::vector<sortal::Column<double>> number_columns(const std::vector<Strided<double>>& columns,
                                                   std::size_t n) {
    std::vector<sortal::Column<double>> views;
    for (const auto& x : columns) {
        need(x.size() == n, "columns differ in length");
        views.push_back(column_of(x));
    }
    return views;
}

std::vector<bool> not_finite(std::vector<Strided<double>> columns) {
    const std::size_t n = columns.empty() ? 0 : columns[0].size();
    const auto views = number_columns(columns, n);
    const nb::gil_scoped_release nogil;
    return sortal::not_finite(views, static_cast<std::int64_t>(n));
}

std::vector<std::int64_t> count_holes(std::vector<Strided<double>> columns) {
    const std::size_t n = columns.empty() ? 0 : columns[0].size();
    const auto views = number_columns(columns, n);
    const nb::gil_scoped_release nogil;
    return sortal::count_holes(views, static_cast<std::int64_t>(n));
}

using Out = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void route_rows(TreeArrays arrays, std::vector<AnyColumn> columns,
                std::vector<std::int64_t> n_values, Out out, std::optional<Out> fallback) {
    const auto read = tree_columns(columns, n_values, out.size());
    need(!fallback || fallback->size() == out.size(), "fallback and out differ in length");
    const nb::gil_scoped_release nogil;
    const sortal::Nodes tree = tree_of(arrays);
    const auto n = static_cast<std::int64_t>(out.size());
    check_columns(tree, read, n);
    sortal::route_rows(tree, read, n, out.data(), fallback ? fallback->data() : nullptr);
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Array<double> spread_answers(TreeArrays arrays, std::vector<AnyColumn> columns,
                             std::vector<std::int64_t> n_values, std::size_t n,
                             Vector<double> weights, Matrix answers) {
    const auto read = tree_columns(columns, n_values, n);
    std::vector<double> out(n * answers.shape(1));
    {
        const nb::gil_scoped_release nogil;
        const sortal::Nodes tree = tree_of(arrays);
        check_columns(tree, read, static_cast<std::int64_t>(n));
        need(weights.size() == tree.kind.size() && answers.shape(0) == tree.kind.size(),
             "weights, answers and nodes differ in number");
        sortal::spread_answers(tree, read, static_cast<std::int64_t>(n), weights.data(),
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
        const sortal::Nodes tree = tree_of(arrays);
        const auto n = static_cast<std::int64_t>(classes.size());
        check_columns(tree, read, n);
        need(weights.size() == nodes, "weights and nodes differ in number");
        need(row_weights.size() == classes.size(), "row_weights and classes differ in length");
        const sortal::Column<std::int32_t> labels{classes.data(), 1};
        need(sortal::no_negatives(labels, n) && sortal::codes_below(labels, n, n_classes),
             "a class code lies outside 0 .. n_classes - 1");
        sortal::spread_counts(tree, read, n, weights.data(), classes.data(), row_weights.data(),
                              n_classes, out.data());
    }
    return hand_over(std::move(out), {nodes, static_cast<std::size_t>(n_classes)});
}

}  // namespace

void bind_trees(nb::module_& m) {
    m.def("not_finite", &not_finite, "columns"_a.noconvert(),
          "Which columns hold a NaN or an infinity.");
    m.def("count_holes", &count_holes, "columns"_a.noconvert(),
          "How many NaN each column holds; -1 where it holds an infinity.");
    m.def("grow_tree", &grow_tree, "columns"_a.noconvert(), "kinds"_a, "n_values"_a,
          "classes"_a.noconvert(), "n_classes"_a, "units"_a.noconvert().none(), "copies"_a,
          "sizes"_a.noconvert().none(), "holes"_a, "criterion"_a, "leaf_size"_a, "purity"_a,
          "max_depth"_a, "min_size"_a, "min_units"_a, "min_gain"_a, "max_leaves"_a, "max_subset"_a,
          "policy"_a, "part_bits"_a, "unit_bits"_a, "threads"_a,
          "A tree's nodes in preorder, as arrays; see cpp/tree.hpp.");
    m.def("route_rows", &route_rows, "tree"_a, "columns"_a.noconvert(), "n_values"_a,
          "out"_a.noconvert(), "fallback"_a.noconvert().none(), "The node where each row ends.");
    m.def("spread_answers", &spread_answers, "tree"_a, "columns"_a.noconvert(), "n_values"_a, "n"_a,
          "weights"_a.noconvert(), "answers"_a.noconvert(),
          "What nodes answer, by the parts of each row that end there.");
    m.def("spread_counts", &spread_counts, "tree"_a, "columns"_a.noconvert(), "n_values"_a,
          "weights"_a.noconvert(), "classes"_a.noconvert(), "row_weights"_a.noconvert(),
          "n_classes"_a, "The weight of each class that comes to each node.");
}
