// What bindings of trees use: columns of a table, trees from outside, a look for Ctrl-C.
#pragma once

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <variant>
#include <vector>

#include "binding.hpp"
#include "tree.hpp"

namespace sortal::binding {

using AnyColumn = std::variant<Strided<double>, Strided<std::int32_t>>;

inline std::size_t length_of(const AnyColumn& column) {
    return std::visit([](const auto& x) { return x.size(); }, column);
}

// Columns of numbers ask for cuts, columns of codes for the other tests.
inline std::vector<sortal::TreeColumn> tree_columns(const std::vector<AnyColumn>& columns,
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

template <class T>
Array<T> line(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return hand_over(std::move(values), {n});
}

inline Array<bool> flags(const std::vector<std::uint8_t>& values) {
    auto* kept = new bool[values.size() + 1];
    std::copy(values.begin(), values.end(), kept);
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    const std::size_t n = values.size();
    return Array<bool>(kept, 1, &n, owner);
}

template <class T>
std::vector<T> list_of(const Vector<T>& array) {
    return {array.data(), array.data() + array.size()};
}

// A tree from outside may be damaged: every number that is followed is checked.
inline void check_tree(const sortal::Nodes& t, std::int64_t n_columns) {
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
                 t.heavier[i] >= -1 && t.heavier[i] < std::max<std::int64_t>(branches, 0),
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

// The arrays of a tree as Python has them.
using TreeArrays = std::tuple<Vector<std::int8_t>, Vector<std::int32_t>, Vector<double>,
                              Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                              Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                              Vector<std::int32_t>>;

inline sortal::Nodes tree_of(const TreeArrays& arrays) {
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
inline void check_columns(const sortal::Nodes& tree, const std::vector<sortal::TreeColumn>& columns,
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

}  // namespace sortal::binding
