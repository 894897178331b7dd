// Bindings of trees: check what growing and routing rely on.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <tuple>
#include <variant>

#include "binding.hpp"
#include "tree.hpp"

using namespace nb::literals;
using namespace sortal::binding;

namespace {

using AnyColumn = std::variant<Strided<double>, Strided<std::int32_t>>;

std::size_t length_of(const AnyColumn& column) {
    return std::visit([](const auto& x) { return x.size(); }, column);
}

// Columns of numbers ask for cuts, columns of codes for the other tests.
std::vector<sortal::TreeColumn> tree_columns(const std::vector<AnyColumn>& columns,
                                             const std::vector<std::int64_t>& n_values,
                                             std::size_t n) {
    need(columns.size() == n_values.size(), "columns and n_values differ in number");
    std::vector<sortal::TreeColumn> out;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        need(length_of(columns[j]) == n, "columns differ in length");
        sortal::TreeColumn column{sortal::Kind::cut, {nullptr, 1}, {nullptr, 1}, 0};
        if (const auto* numbers = std::get_if<Strided<double>>(&columns[j])) {
            column.numbers = column_of(*numbers);
        } else {
            column.kind = sortal::Kind::subset;
            column.codes = column_of(std::get<Strided<std::int32_t>>(columns[j]));
            column.n_values = n_values[j];
            need(column.n_values >= 0, "n_values is negative");
        }
        out.push_back(column);
    }
    return out;
}

// Asks Python, at most every 50 ms, whether Ctrl-C was pressed.
class Watch {
  public:
    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return;
        last_ = now;
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

using Grown =
    std::tuple<Array<std::int8_t>, Array<std::int32_t>, Array<double>, Array<std::int64_t>,
               Array<std::int32_t>, Array<std::int64_t>, Array<std::int32_t>, Array<std::int32_t>,
               Array<std::int32_t>, Array<std::int64_t>, Array<std::int64_t>, Array<double>,
               Array<double>, Array<bool>, Array<double>>;

template <class T>
Array<T> line(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return hand_over(std::move(values), {n});
}

Array<bool> flags(const std::vector<std::uint8_t>& values) {
    auto* kept = new bool[values.size() + 1];
    std::copy(values.begin(), values.end(), kept);
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    const std::size_t n = values.size();
    return Array<bool>(kept, 1, &n, owner);
}

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
            line(std::move(t.candidates))};
}

void check_column(const sortal::TreeColumn& column, std::int64_t n) {
    if (column.kind == sortal::Kind::cut) return;  // binning looks whether numbers are finite
    need(sortal::no_negatives(column.codes, n) &&
             sortal::codes_below(column.codes, n, column.n_values),
         "a code lies outside 0 .. n_values - 1");
}

Grown grow_tree(std::vector<AnyColumn> columns, std::vector<int> kinds,
                std::vector<std::int64_t> n_values, Vector<std::int32_t> classes,
                std::int64_t n_classes, std::optional<Vector<std::int64_t>> units, bool copies,
                int criterion, std::int64_t leaf_size, double purity, std::int64_t max_depth,
                std::int64_t min_size, std::int64_t min_units, double min_gain,
                std::int64_t max_leaves, std::int64_t max_subset, int threads) {
    auto read = tree_columns(columns, n_values, classes.size());
    need(kinds.size() == columns.size(), "columns and kinds differ in number");
    need(criterion >= 0 && criterion <= 3, "criterion is not 0, 1, 2 or 3");
    need(classes.size() > 0, "there is no row to grow from");
    for (std::size_t j = 0; j < read.size(); ++j) {
        need(kinds[j] >= 1 && kinds[j] <= 3, "a kind is not 1, 2 or 3");
        need((kinds[j] == 1) == (read[j].kind == sortal::Kind::cut),
             "a cut needs numbers, other tests need codes");
        need(kinds[j] != 3 || criterion != 3, "CART knows two sides only");
        read[j].kind = static_cast<sortal::Kind>(kinds[j]);
    }
    const auto n = static_cast<std::int64_t>(classes.size());
    const sortal::TreeRows rows{n, n_classes, classes.data(), units ? units->data() : nullptr,
                                copies};
    const sortal::Growth growth{
        {static_cast<sortal::Criterion>(criterion), {min_size, min_units, max_subset}},
        {leaf_size, purity, max_depth, min_gain},
        max_leaves,
        threads};
    sortal::Nodes nodes;
    {
        const nb::gil_scoped_release nogil;
        const sortal::Column<std::int32_t> labels{classes.data(), 1};
        need(sortal::no_negatives(labels, n) && sortal::codes_below(labels, n, n_classes),
             "a class code lies outside 0 .. n_classes - 1");
        need(!units || units->size() == classes.size(), "units and classes differ in length");
        for (std::int64_t i = 0; rows.units && i < n; ++i) {
            need(rows.units[i] > 0, "a row has no weight");
        }
        for (const auto& column : read) check_column(column, n);
        Watch watch;
        nodes = sortal::grow_tree(read, rows, growth, [&watch] { watch(); });
    }
    return hand_over_nodes(std::move(nodes));
}

template <class T>
std::vector<T> list_of(const Vector<T>& array) {
    return {array.data(), array.data() + array.size()};
}

// A tree from outside may be damaged: every number that is followed is checked.
void check_tree(const sortal::Nodes& t, std::int64_t n_columns) {
    const auto n = static_cast<std::size_t>(t.size());
    need(n > 0, "a tree has at least one node");
    need(t.attribute.size() == n && t.threshold.size() == n && t.heavier.size() == n &&
             t.child_start.size() == n + 1 && t.value_start.size() == n + 1 &&
             t.values.size() == t.branches.size(),
         "the arrays of the tree differ in length");
    need(t.child_start[0] == 0 && t.child_start[n] == static_cast<std::int64_t>(t.children.size()) &&
             t.value_start[0] == 0 && t.value_start[n] == static_cast<std::int64_t>(t.values.size()),
         "the lists of the tree do not fit its nodes");
    for (std::size_t i = 0; i < n; ++i) {
        need(t.child_start[i] <= t.child_start[i + 1] && t.value_start[i] <= t.value_start[i + 1],
             "the lists of the tree do not fit its nodes");
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t branches = t.child_start[i + 1] - t.child_start[i];
        const bool leaf = t.kind[i] == 0;
        need(t.kind[i] >= 0 && t.kind[i] <= 3 && branches >= 0 && leaf == (t.attribute[i] < 0) &&
                 t.attribute[i] < n_columns &&
                 (leaf ? branches == 0 : t.kind[i] == 3 ? branches >= 1 : branches == 2),
             "a node of the tree makes no sense");
        for (std::int64_t b = t.child_start[i]; b < t.child_start[i + 1]; ++b) {
            const std::int32_t child = t.children[static_cast<std::size_t>(b)];
            need(child > static_cast<std::int32_t>(i) && child < static_cast<std::int32_t>(n),
                 "a branch of the tree leads nowhere");
        }
        need(leaf || t.children[static_cast<std::size_t>(t.child_start[i])] ==
                         static_cast<std::int32_t>(i) + 1,
             "the nodes of the tree are not in preorder");
        for (std::int64_t v = t.value_start[i]; v < t.value_start[i + 1]; ++v) {
            const std::int32_t branch = t.branches[static_cast<std::size_t>(v)];
            need(branch >= 0 && branch < branches, "a value of the tree has no branch");
        }
    }
}

std::vector<bool> not_finite(std::vector<Strided<double>> columns) {
    std::vector<sortal::Column<double>> views;
    const std::size_t n = columns.empty() ? 0 : columns[0].size();
    for (const auto& x : columns) {
        need(x.size() == n, "columns differ in length");
        views.push_back(column_of(x));
    }
    const nb::gil_scoped_release nogil;
    return sortal::not_finite(views, static_cast<std::int64_t>(n));
}

using Out = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void route_rows(Vector<std::int8_t> kind, Vector<std::int32_t> attribute, Vector<double> threshold,
                Vector<std::int64_t> child_start, Vector<std::int32_t> children,
                Vector<std::int64_t> value_start, Vector<std::int32_t> values,
                Vector<std::int32_t> branches, Vector<std::int32_t> heavier,
                std::vector<AnyColumn> columns, std::vector<std::int64_t> n_values, Out out,
                std::optional<Out> fallback) {
    const auto read = tree_columns(columns, n_values, out.size());
    need(!fallback || fallback->size() == out.size(), "fallback and out differ in length");
    const nb::gil_scoped_release nogil;
    sortal::Nodes tree;
    tree.kind = list_of(kind);
    tree.attribute = list_of(attribute);
    tree.threshold = list_of(threshold);
    tree.child_start = list_of(child_start);
    tree.children = list_of(children);
    tree.value_start = list_of(value_start);
    tree.values = list_of(values);
    tree.branches = list_of(branches);
    tree.heavier = list_of(heavier);
    check_tree(tree, static_cast<std::int64_t>(read.size()));
    for (std::size_t i = 0; i < tree.kind.size(); ++i) {
        if (tree.kind[i] == 0) continue;
        const auto& column = read[static_cast<std::size_t>(tree.attribute[i])];
        need((tree.kind[i] == 1) == (column.kind == sortal::Kind::cut),
             "a cut needs numbers, other tests need codes");
        for (std::int64_t v = tree.value_start[i]; v < tree.value_start[i + 1]; ++v) {
            const std::int32_t code = tree.values[static_cast<std::size_t>(v)];
            need(code >= 0 && code < column.n_values, "a value of the tree is no value of its column");
        }
    }
    const auto n = static_cast<std::int64_t>(out.size());
    for (const auto& column : read) {
        if (column.kind == sortal::Kind::cut) continue;
        need(sortal::codes_below(column.codes, n, column.n_values), "a code is too large");
    }
    sortal::route_rows(tree, read, n, out.data(), fallback ? fallback->data() : nullptr);
}

}  // namespace

void bind_trees(nb::module_& m) {
    m.def("not_finite", &not_finite, "columns"_a.noconvert(),
          "Which columns hold a NaN or an infinity.");
    m.def("grow_tree", &grow_tree, "columns"_a.noconvert(), "kinds"_a, "n_values"_a,
          "classes"_a.noconvert(), "n_classes"_a, "units"_a.noconvert().none(), "copies"_a,
          "criterion"_a, "leaf_size"_a, "purity"_a, "max_depth"_a, "min_size"_a, "min_units"_a,
          "min_gain"_a, "max_leaves"_a, "max_subset"_a, "threads"_a,
          "A tree's nodes in preorder, as arrays; see cpp/tree.hpp.");
    m.def("route_rows", &route_rows, "kind"_a.noconvert(), "attribute"_a.noconvert(),
          "threshold"_a.noconvert(), "child_start"_a.noconvert(), "children"_a.noconvert(),
          "value_start"_a.noconvert(), "values"_a.noconvert(), "branches"_a.noconvert(),
          "heavier"_a.noconvert(), "columns"_a.noconvert(), "n_values"_a, "out"_a.noconvert(),
          "fallback"_a.noconvert().none(), "The node where each row ends.");
}
