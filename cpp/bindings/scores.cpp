// Bindings of the scores of partitions and tests, and of the choice among tests.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/tree_arrays.hpp"
#include "trees/best_test.hpp"
#include "trees/node_tests.hpp"
#include "trees/split_scores.hpp"

using namespace nb::literals;
using namespace sortal::binding;
namespace trees = sortal::trees;

namespace {

std::vector<std::string> criterion_names() {
    return {trees::criterion_names.begin(), trees::criterion_names.end()};
}

void add_count(std::int64_t& sum, std::int64_t count) {
    need(count >= 0, "a count is negative");
    need(count <= INT64_MAX - sum, "counts exceed 2^63");
    sum += count;
}

// The class totals of a node, which must fit into the fit's total.
trees::Whole whole_of(const std::vector<std::int64_t>& totals, std::int64_t total) {
    const auto K = static_cast<std::int64_t>(totals.size());
    const trees::Whole whole{totals.data(), trees::sum_of(totals.data(), K), K};
    need(whole.n > 0 && whole.n <= total, "the node's units are not between 1 and the total");
    need(total < std::int64_t{1} << 62, "the total exceeds 2^62");
    return whole;
}

// The class totals of the parts of a node.
std::vector<std::int64_t> totals_of(const CountTable& parts) {
    const std::size_t K = parts.shape(1);
    std::vector<std::int64_t> totals(K, 0);
    std::int64_t n = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        add_count(n, parts.data()[i]);
        totals[i % K] += parts.data()[i];
    }
    return totals;
}

using Scores = std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, double, double,
                          std::optional<double>>;

Scores score_parts(CountTable counts, int shift) {
    const auto totals = totals_of(counts);
    const auto K = static_cast<std::int64_t>(totals.size());
    const trees::Whole w{totals.data(), trees::sum_of(totals.data(), K), K};
    need(w.n > 0, "there is no row to score");
    need(trees::logs_fit(w.n, shift), "shift is too large for these counts");
    const auto s =
        trees::score_parts(w, counts.data(), static_cast<std::int64_t>(counts.shape(0)), shift);
    return {s.nothing, s.entropy,       s.split_entropy, s.split_information,
            s.squares, s.gini_decrease, s.cart};
}

// What one attribute of a node must be like; `totals` are the class totals of the first. Rows
// without a value, where there are, are `missing`.
void check_attribute(const trees::Attribute& x, std::int64_t n_classes,
                     std::vector<std::int64_t>& totals, const std::int64_t* missing = nullptr) {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(n_classes), 0);
    for (std::int64_t k = 0; missing && k < n_classes; ++k) {
        add_count(sums[static_cast<std::size_t>(k)], missing[k]);
    }
    for (std::int64_t v = 0; v < x.m; ++v) {
        const double value = x.values[v];
        need(std::isfinite(value), "a value is not finite");
        need(v == 0 || x.values[v - 1] < value, "values do not ascend");
        need(x.kind == trees::Kind::cut ||
                 (value >= 0 && value <= INT32_MAX && value == std::floor(value)),
             "a code is not a whole number from 0 to 2^31 - 1");
        need(!x.sizes || x.sizes[v] > 0, "a size is not positive");
        bool empty = true;
        for (std::int64_t k = 0; k < n_classes; ++k) {
            const std::int64_t count = x.counts[v * n_classes + k];
            add_count(sums[static_cast<std::size_t>(k)], count);
            empty = empty && count == 0;
        }
        need(!empty, "a value has no units");
    }
    if (totals.empty()) totals = sums;
    need(totals == sums, "attributes differ in class totals");
}

using ChosenTest =
    std::tuple<std::int64_t, int, double, Array<std::int32_t>, double, double, bool, double>;

std::optional<ChosenTest> best_test(std::vector<int> kinds, std::vector<Vector<double>> values,
                                    std::vector<CountTable> counts,
                                    std::vector<std::optional<Vector<std::int64_t>>> sizes,
                                    std::int64_t total, int criterion, std::int64_t min_size,
                                    std::int64_t min_units, std::int64_t max_subset) {
    need(values.size() == kinds.size() && counts.size() == kinds.size() &&
             sizes.size() == kinds.size(),
         "kinds, values, counts and sizes differ in number");
    const trees::Rules rules{{min_size, min_units, max_subset}, criterion_of(criterion)};
    check_limits(rules);
    if (kinds.empty()) return std::nullopt;
    const auto K = static_cast<std::int64_t>(counts[0].shape(1));
    std::vector<trees::Attribute> attributes;
    for (std::size_t j = 0; j < kinds.size(); ++j) {
        need(counts[j].shape(1) == counts[0].shape(1), "counts differ in classes");
        need(counts[j].shape(0) == values[j].size(), "values and counts differ in length");
        need(!sizes[j] || sizes[j]->size() == values[j].size(),
             "values and sizes differ in length");
        attributes.push_back({kind_of(kinds[j], rules.criterion),
                              static_cast<std::int64_t>(values[j].size()), values[j].data(),
                              counts[j].data(), sizes[j] ? sizes[j]->data() : nullptr});
    }
    trees::Test test;
    {
        const nb::gil_scoped_release nogil;
        std::vector<std::int64_t> totals;
        for (const auto& x : attributes) check_attribute(x, K, totals);
        test = trees::best_test(attributes, whole_of(totals, total), rules, total);
    }
    if (test.attribute < 0) return std::nullopt;
    return ChosenTest{test.attribute, static_cast<int>(test.kind),
                      test.threshold, line(std::move(test.yes)),
                      test.score,     test.gain,
                      test.exact,     test.candidates};
}

using TestArrays =
    std::tuple<Array<std::int64_t>, Array<std::int64_t>, Array<double>,
               std::vector<std::vector<std::int32_t>>, Array<std::int8_t>, Array<double>,
               Array<double>, Array<double>, Array<bool>, Array<bool>, Array<std::int64_t>, bool,
               double, std::int64_t, bool, std::int64_t, Array<double>>;

TestArrays hand_over_tests(trees::ColumnTests&& t, std::size_t K) {
    const std::size_t n = t.yes.size() / K;
    return {hand_over(std::move(t.yes), {n, K}),
            hand_over(std::move(t.no), {n, K}),
            line(std::move(t.thresholds)),
            std::move(t.sets),
            line(std::move(t.missing)),
            line(std::move(t.scores)),
            line(std::move(t.gains)),
            line(std::move(t.information)),
            flags(t.allowed),
            flags(t.tied),
            line(std::move(t.ranks)),
            t.exact,
            t.candidates,
            t.offer,
            t.competes,
            t.joined,
            line(std::move(t.join_scores))};
}

// Kind, values, counts and sizes, missing values and their size, a set that is listed.
using NodeColumn = std::tuple<int, Vector<double>, CountTable, Vector<std::int64_t>,
                              Vector<std::int64_t>, std::int64_t, std::vector<std::int32_t>>;

trees::NodeColumn node_column(const NodeColumn& column, trees::Criterion criterion, std::size_t K) {
    const auto& [kind, values, counts, sizes, missing, missing_size, asked] = column;
    need(counts.shape(1) == K && missing.size() == K, "columns differ in classes");
    need(counts.shape(0) == values.size() && sizes.size() == values.size(),
         "values, counts and sizes differ in length");
    const auto m = static_cast<std::int64_t>(values.size());
    for (const std::int32_t place : asked) {
        need(place >= 0 && place < m + (missing_size > 0), "a set holds no value of its column");
    }
    return {{kind_of(kind, criterion), m, values.data(), counts.data(), sizes.data()},
            missing.data(),
            missing_size,
            asked};
}

std::vector<TestArrays> node_tests(std::vector<NodeColumn> given, std::int64_t total,
                                   const trees::GrowOptions& options) {
    need(!given.empty() && std::get<4>(given[0]).size() > 0, "there is no column or no class");
    check_limits(options);
    const std::size_t K = std::get<4>(given[0]).size();
    std::vector<trees::ColumnTests> listed;
    {
        const nb::gil_scoped_release nogil;
        std::vector<std::int64_t> totals;
        std::vector<trees::NodeColumn> columns;
        for (const NodeColumn& column : given) {
            columns.push_back(node_column(column, options.criterion, K));
            check_attribute(columns.back(), static_cast<std::int64_t>(K), totals,
                            columns.back().missing);
        }
        listed = trees::node_tests(columns, whole_of(totals, total), options, total);
    }
    std::vector<TestArrays> out;
    for (auto& tests : listed) out.push_back(hand_over_tests(std::move(tests), K));
    return out;
}

}  // namespace

void bind_scores(nb::module_& m) {
    m.def("criterion_names", &criterion_names, "The criteria, by their numbers.");
    m.def("score_parts", &score_parts, "counts"_a.noconvert(), "shift"_a,
          "Scores of a partition from its counts, a row a part; logarithms in units of 2**-shift.");
    m.def("best_test", &best_test, "kinds"_a, "values"_a.noconvert(), "counts"_a.noconvert(),
          "sizes"_a.noconvert(), "total"_a, "criterion"_a, "min_size"_a, "min_units"_a,
          "max_subset"_a, "The test of a node from its attributes' tables, or None.");
    m.def("node_tests", &node_tests, "columns"_a.noconvert(), "total"_a, "options"_a,
          "All tests of a node by attribute, judged and ranked.");
}
