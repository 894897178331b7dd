// What bindings of trees use: columns and rows of a table, trees from outside, their options.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "trees/tree.hpp"

namespace sortal::binding {

inline trees::Criterion criterion_of(int criterion) {
    need(criterion >= 0 && criterion < static_cast<int>(trees::criterion_names.size()),
         "criterion is not the number of a criterion");
    return static_cast<trees::Criterion>(criterion);
}

inline trees::Kind kind_of(int kind, trees::Criterion criterion) {
    need(kind >= 1 && kind <= 3, "a kind is not 1, 2 or 3");
    const auto asked = static_cast<trees::Kind>(kind);
    need(asked != trees::Kind::multiway || !trees::is_two_sided(criterion),
         "this criterion has no multiway tests");
    return asked;
}

inline trees::MissingPolicy policy_of(int policy) {
    need(policy >= 0 && policy <= 3, "policy is not 0, 1, 2 or 3");
    return static_cast<trees::MissingPolicy>(policy);
}

inline void check_limits(const trees::Limits& limits) {
    need(limits.min_size >= 0 && limits.min_units >= 0 && limits.max_subset >= 1,
         "a limit is negative, or max_subset 0");
}

using AnyColumn = std::variant<Strided<double>, Strided<std::int32_t>>;

inline std::size_t length_of(const AnyColumn& column) {
    return std::visit([](const auto& x) { return x.size(); }, column);
}

// Columns of numbers ask for cuts, columns of codes for the other tests.
inline std::vector<trees::TreeColumn> tree_columns(const std::vector<AnyColumn>& columns,
                                                   const std::vector<std::int64_t>& n_values,
                                                   std::size_t n) {
    need(columns.size() == n_values.size(), "columns and n_values differ in number");
    std::vector<trees::TreeColumn> out;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        need(length_of(columns[j]) == n, "columns differ in length");
        trees::TreeColumn column{trees::Kind::cut, {nullptr, 1}, {nullptr, 1}, 0, false};
        if (const auto* numbers = std::get_if<Strided<double>>(&columns[j])) {
            column.numbers = column_of(*numbers);
        } else {
            column.kind = trees::Kind::subset;
            column.codes = column_of(std::get<Strided<std::int32_t>>(columns[j]));
            column.n_values = n_values[j];
            need(column.n_values >= 0, "n_values is negative");
        }
        out.push_back(column);
    }
    return out;
}

// Units, whether they are copies of rows, and sizes.
using Weights =
    std::tuple<std::optional<Vector<std::int64_t>>, bool, std::optional<Vector<std::int64_t>>>;

inline trees::TreeRows tree_rows(const Vector<std::int32_t>& classes, std::int64_t n_classes,
                                 const Weights& weights) {
    const auto& [units, copies, sizes] = weights;
    check_classes(classes, n_classes);
    need(!units || units->size() == classes.size(), "units and classes differ in length");
    need(!sizes || (sizes->size() == classes.size() && units && !copies),
         "sizes are for weights that are no copies, one a row");
    const auto n = static_cast<std::int64_t>(classes.size());
    const trees::TreeRows rows{n,
                               n_classes,
                               classes.data(),
                               units ? units->data() : nullptr,
                               copies,
                               sizes ? sizes->data() : nullptr};
    for (std::int64_t i = 0; units && i < n; ++i) {
        need(rows.units[i] > 0 && (!sizes || rows.sizes[i] > 0), "a row has no weight");
    }
    return rows;
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
inline void check_tree(const trees::Nodes& t, std::int64_t n_columns) {
    const auto n = static_cast<std::size_t>(t.size());
    need(n > 0, "a tree has at least one node");
    need(t.attribute.size() == n && t.threshold.size() == n && t.heavier.size() == n &&
             t.missing.size() == n && t.child_start.size() == n + 1 &&
             t.value_start.size() == n + 1 && t.values.size() == t.branches.size(),
         "the arrays of the tree differ in length");
    need(
        t.child_start[0] == 0 && t.child_start[n] == static_cast<std::int64_t>(t.children.size()) &&
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
                 (leaf             ? branches == 0
                  : t.kind[i] == 3 ? branches >= 1
                                   : branches == 2 || branches == 3) &&
                 t.missing[i] >= trees::spread &&
                 t.missing[i] < std::max<std::int64_t>(branches, 0) && t.heavier[i] >= -1 &&
                 t.heavier[i] < std::max<std::int64_t>(branches, 0),
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
using TreeArrays =
    std::tuple<Vector<std::int8_t>, Vector<std::int32_t>, Vector<double>, Vector<std::int64_t>,
               Vector<std::int32_t>, Vector<std::int64_t>, Vector<std::int32_t>,
               Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>>;

inline trees::Nodes tree_of(const TreeArrays& arrays) {
    trees::Nodes tree;
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
inline void check_columns(const trees::Nodes& tree, const std::vector<trees::TreeColumn>& columns,
                          std::int64_t n) {
    check_tree(tree, static_cast<std::int64_t>(columns.size()));
    for (std::size_t i = 0; i < tree.kind.size(); ++i) {
        if (tree.kind[i] == 0) continue;
        const auto& column = columns[static_cast<std::size_t>(tree.attribute[i])];
        need((tree.kind[i] == 1) == (column.kind == trees::Kind::cut),
             "a cut needs numbers, other tests need codes");
        for (std::int64_t v = tree.value_start[i]; v < tree.value_start[i + 1]; ++v) {
            const std::int32_t code = tree.values[static_cast<std::size_t>(v)];
            need(code >= 0 && code < column.n_values,
                 "a value of the tree is no value of its column");
        }
    }
    for (const auto& column : columns) {
        if (column.kind == trees::Kind::cut) continue;
        need(codes_below(column.codes, n, column.n_values), "a code is too large");
    }
}

}  // namespace sortal::binding
