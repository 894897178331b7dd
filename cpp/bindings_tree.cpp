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
        sortal::TreeColumn column{sortal::Kind::cut, {nullptr, 1}, {nullptr, 1}, 0, false};
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
               Array<double>, Array<bool>, Array<double>, Array<std::int32_t>>;

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
                int threads) {
    auto read = tree_columns(columns, n_values, classes.size());
    need(kinds.size() == columns.size(), "columns and kinds differ in number");
    need(holes.size() == columns.size(), "columns and holes differ in number");
    need(criterion >= 0 && criterion <= 3, "criterion is not 0, 1, 2 or 3");
    need(policy >= 0 && policy <= 3, "policy is not 0, 1, 2 or 3");
    need(policy != 1 || criterion != 3, "CART knows two sides only");
    need(part_bits >= 0 && part_bits < 62 && (part_bits == 0 || policy == 3),
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
        part_bits};
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

template <class T>
std::vector<T> list_of(const Vector<T>& array) {
    return {array.data(), array.data() + array.size()};
}

// A tree from outside may be damaged: every number that is followed is checked.
void check_tree(const sortal::Nodes& t, std::int64_t n_columns) {
    const auto n = static_cast<std::size_t>(t.size());
    need(n > 0, "a tree has at least one node");
    need(t.attribute.size() == n && t.threshold.size() == n && t.heavier.size() == n &&
             t.missing.size() == n && t.child_start.size() == n + 1 && t.value_start.size() == n + 1 &&
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
                 (leaf ? branches == 0 : t.kind[i] == 3 ? branches >= 1
                                                        : branches == 2 || branches == 3) &&
                 t.missing[i] >= sortal::spread && t.missing[i] < std::max<std::int64_t>(branches, 0) &&
                 t.heavier[i] >= -1 && t.heavier[i] < branches,
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

// The arrays of a tree as Python has them.
using TreeArrays = std::tuple<Vector<std::int8_t>, Vector<std::int32_t>, Vector<double>,
                              Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                              Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                              Vector<std::int32_t>>;

sortal::Nodes tree_of(const TreeArrays& arrays) {
    sortal::Nodes tree;
    tree.kind = list_of(std::get<0>(arrays));
    tree.attribute = list_of(std::get<1>(arrays));
    tree.threshold = list_of(std::get<2>(arrays));
    tree.child_start = list_of(std::get<3>(arrays));
    tree.children = list_of(std::get<4>(arrays));
    tree.value_start = list_of(std::get<5>(arrays));
    tree.values = list_of(std::get<6>(arrays));
    tree.branches = list_of(std::get<7>(arrays));
    tree.heavier = list_of(std::get<8>(arrays));
    tree.missing = list_of(std::get<9>(arrays));
    return tree;
}

// A tree and the columns it is asked with, checked against each other.
void check_columns(const sortal::Nodes& tree, const std::vector<sortal::TreeColumn>& columns,
                   std::int64_t n) {
    check_tree(tree, static_cast<std::int64_t>(columns.size()));
    for (std::size_t i = 0; i < tree.kind.size(); ++i) {
        if (tree.kind[i] == 0) continue;
        const auto& column = columns[static_cast<std::size_t>(tree.attribute[i])];
        need((tree.kind[i] == 1) == (column.kind == sortal::Kind::cut),
             "a cut needs numbers, other tests need codes");
        for (std::int64_t v = tree.value_start[i]; v < tree.value_start[i + 1]; ++v) {
            const std::int32_t code = tree.values[static_cast<std::size_t>(v)];
            need(code >= 0 && code < column.n_values, "a value of the tree is no value of its column");
        }
    }
    for (const auto& column : columns) {
        if (column.kind == sortal::Kind::cut) continue;
        need(sortal::codes_below(column.codes, n, column.n_values), "a code is too large");
    }
}

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
    m.def("grow_tree", &grow_tree, "columns"_a.noconvert(), "kinds"_a, "n_values"_a,
          "classes"_a.noconvert(), "n_classes"_a, "units"_a.noconvert().none(), "copies"_a,
          "sizes"_a.noconvert().none(), "holes"_a, "criterion"_a, "leaf_size"_a, "purity"_a,
          "max_depth"_a, "min_size"_a, "min_units"_a, "min_gain"_a, "max_leaves"_a, "max_subset"_a,
          "policy"_a, "part_bits"_a, "threads"_a,
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
