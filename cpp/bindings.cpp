// Bindings: check what the loops rely on, release the GIL, hand arrays over. No arithmetic.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "choice.hpp"
#include "core.hpp"
#include "scoring.hpp"

using namespace nb::literals;
using namespace sortal::binding;

namespace {

sortal::Rows rows_of(const Vector<std::int32_t>& classes, std::int64_t n_classes,
                     const std::optional<Vector<std::int64_t>>& units) {
    need(n_classes >= 0, "n_classes is negative");
    need(!units || units->size() == classes.size(), "units and classes differ in length");
    need(classes.size() <= UINT32_MAX, "a block holds more than 2^32 - 1 rows");
    const sortal::Column<std::int32_t> codes{classes.data(), 1};
    const auto n = static_cast<std::int64_t>(classes.size());
    need(sortal::no_negatives(codes, n) && sortal::codes_below(codes, n, n_classes),
         "a class code lies outside 0 .. n_classes - 1");
    return {n, n_classes, classes.data(), units ? units->data() : nullptr};
}

Array<std::int64_t> count_codes(Strided<std::int32_t> codes, std::int64_t n_values,
                                Vector<std::int32_t> classes, std::int64_t n_classes,
                                std::optional<Vector<std::int64_t>> units) {
    need(codes.size() == classes.size(), "codes and classes differ in length");
    need(n_values >= 0, "n_values is negative");
    need(n_classes >= 0, "n_classes is negative");
    std::vector<std::int64_t> cells(static_cast<size_t>(n_values * n_classes), 0);
    {
        nb::gil_scoped_release nogil;
        const auto rows = rows_of(classes, n_classes, units);
        const auto column = column_of(codes);
        need(sortal::codes_below(column, rows.n, n_values), "a code is too large");
        sortal::count_codes(column, rows, cells.data());
    }
    return hand_over(std::move(cells),
                     {static_cast<size_t>(n_values), static_cast<size_t>(n_classes)});
}

using Counted = std::optional<std::pair<std::int64_t, Array<std::int64_t>>>;

std::vector<Counted> count_integers(std::vector<Strided<std::int64_t>> columns,
                                    Vector<std::int32_t> classes, std::int64_t n_classes,
                                    std::optional<Vector<std::int64_t>> units,
                                    std::int64_t max_span) {
    std::vector<sortal::Column<std::int64_t>> views;
    for (const auto& x : columns) {
        need(x.size() == classes.size(), "a column and classes differ in length");
        views.push_back(column_of(x));
    }
    std::vector<sortal::ValueTable> tables;
    {
        nb::gil_scoped_release nogil;
        tables = sortal::count_integers(views, rows_of(classes, n_classes, units), max_span);
    }
    std::vector<Counted> counted;
    for (auto& table : tables) {
        if (table.too_wide) {
            counted.emplace_back(std::nullopt);
            continue;
        }
        const auto size = static_cast<size_t>(table.size);
        counted.emplace_back(std::pair{
            table.low, hand_over(std::move(table.cells), {size, static_cast<size_t>(n_classes)})});
    }
    return counted;
}

std::pair<Array<std::int64_t>, Array<std::int32_t>> rank_integers(Strided<std::int64_t> column) {
    need(column.size() <= INT32_MAX, "a block holds more than 2^31 - 1 rows");
    std::vector<std::int64_t> values;
    std::vector<std::int32_t> codes(column.size());
    {
        nb::gil_scoped_release nogil;
        values = sortal::rank_integers(column_of(column), static_cast<std::int64_t>(column.size()),
                                       codes.data());
    }
    const size_t n_values = values.size(), n = codes.size();
    return {hand_over(std::move(values), {n_values}), hand_over(std::move(codes), {n})};
}

Array<std::int32_t> place_integers(std::vector<Strided<std::int64_t>> columns,
                                   std::vector<std::pair<std::int64_t, Vector<std::int32_t>>> lists,
                                   std::int64_t n, std::int32_t unknown) {
    need(columns.size() == lists.size(), "columns and lists differ in number");
    need(n >= 0, "n is negative");
    std::vector<sortal::Column<std::int64_t>> views;
    std::vector<sortal::Lookup> lookups;
    for (size_t j = 0; j < columns.size(); ++j) {
        need(columns[j].size() == static_cast<size_t>(n), "a column is not of length n");
        views.push_back(column_of(columns[j]));
        const auto& codes = lists[j].second;
        lookups.push_back({lists[j].first, static_cast<std::int64_t>(codes.size()), codes.data()});
    }
    std::vector<std::int32_t> out(columns.size() * static_cast<size_t>(n));
    {
        nb::gil_scoped_release nogil;
        sortal::place_integers(views, lookups, n, unknown, out.data());
    }
    return hand_over(std::move(out), {columns.size(), static_cast<size_t>(n)});
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Total = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void add_terms(Total total, Matrix table, Strided<std::int32_t> codes) {
    need(total.shape(0) == codes.size(), "total and codes differ in length");
    need(total.shape(1) == table.shape(1), "total and table differ in classes");
    nb::gil_scoped_release nogil;
    const auto n = static_cast<std::int64_t>(codes.size());
    const auto column = column_of(codes);
    need(sortal::codes_below(column, n, static_cast<std::int64_t>(table.shape(0))),
         "a code is too large");
    sortal::add_terms(column, n, table.data(), static_cast<std::int64_t>(table.shape(1)),
                      total.data());
}

std::tuple<Array<std::int64_t>, Array<double>, Array<double>, Array<double>> class_moments(
    Strided<double> values, Vector<std::int32_t> classes, std::int64_t n_classes,
    std::optional<Vector<std::int64_t>> units, bool wide) {
    need(values.size() == classes.size(), "values and classes differ in length");
    sortal::ColumnMoments m;
    {
        nb::gil_scoped_release nogil;
        m = sortal::class_moments(column_of(values), rows_of(classes, n_classes, units), wide);
    }
    const auto K = static_cast<size_t>(n_classes);
    return {hand_over(std::move(m.units), {K}), hand_over(std::move(m.mean), {K}),
            hand_over(std::move(m.tail), {K}), hand_over(std::move(m.m2), {K})};
}

sortal::Design design_of(const std::vector<Strided<double>>& columns,
                         const std::vector<Strided<std::int32_t>>& codes,
                         const std::vector<std::int64_t>& sizes) {
    need(codes.size() == sizes.size(), "codes and sizes differ in number");
    sortal::Design design{{}, {}, sizes, static_cast<std::int64_t>(columns.size())};
    for (const auto& x : columns) design.numbers.push_back(column_of(x));
    for (const auto& x : codes) design.codes.push_back(column_of(x));
    for (const std::int64_t size : sizes) {
        need(size >= 0 && size <= INT32_MAX, "a size is negative or beyond 2^31 - 1");
        design.n_terms += size;
    }
    return design;
}

// How many rows the columns of a design have; any number where there is no column.
std::size_t length_of(const std::vector<Strided<double>>& columns,
                      const std::vector<Strided<std::int32_t>>& codes) {
    const std::size_t n = !columns.empty() ? columns[0].size()
                          : !codes.empty() ? codes[0].size()
                                           : static_cast<std::size_t>(INT64_MAX);
    for (const auto& x : columns) need(x.size() == n, "columns differ in length");
    for (const auto& x : codes) need(x.size() == n, "columns and codes differ in length");
    return n;
}

std::int64_t center_rows(std::vector<Strided<double>> columns,
                         std::vector<Strided<std::int32_t>> codes, std::vector<std::int64_t> sizes,
                         std::optional<Vector<std::int64_t>> rows, Vector<double> origin,
                         std::optional<Vector<double>> fill, std::optional<Vector<double>> scale,
                         Total out) {
    const auto design = design_of(columns, codes, sizes);
    const auto n_rows = length_of(columns, codes);
    const auto n_terms = static_cast<std::size_t>(design.n_terms);
    const auto n = static_cast<std::int64_t>(out.shape(0));
    need(origin.size() == n_terms, "origin is not of one number a term");
    need(!fill || fill->size() == n_terms, "fill is not of one number a term");
    need(out.shape(1) == n_terms + 2, "out has not two columns more than there are terms");
    need(!rows || rows->size() == out.shape(0), "rows and out differ in length");
    need(rows || out.shape(0) <= n_rows, "out has more rows than the columns");
    need(!scale || scale->size() == out.shape(0), "scale and out differ in length");
    const std::int64_t* chosen = rows ? rows->data() : nullptr;
    nb::gil_scoped_release nogil;
    for (std::int64_t i = 0; chosen && i < n; ++i) {
        need(chosen[i] >= 0 && static_cast<std::size_t>(chosen[i]) < n_rows,
             "a row lies outside the columns");
    }
    for (std::size_t j = 0; j < codes.size(); ++j) {
        need(sortal::codes_below(design.codes[j], chosen, n, sizes[j]), "a code is too large");
    }
    return sortal::center_rows(design, chosen, n, origin.data(), fill ? fill->data() : nullptr,
                               scale ? scale->data() : nullptr, out.data());
}

std::int64_t map_rows(std::vector<Strided<double>> columns, std::vector<Strided<std::int32_t>> codes,
                      std::vector<std::int64_t> sizes, Vector<double> center, Matrix weights,
                      Vector<double> offsets, Total out) {
    const auto design = design_of(columns, codes, sizes);
    const auto n = static_cast<std::int64_t>(out.shape(0));
    need(out.shape(0) <= length_of(columns, codes), "out has more rows than the columns");
    need(center.size() == static_cast<std::size_t>(design.n_terms),
         "center is not of one number a term");
    need(weights.shape(1) == center.size(), "weights are not of one number a term");
    need(weights.shape(0) == out.shape(1), "weights and out differ in functions");
    need(offsets.size() == out.shape(1), "offsets and out differ in functions");
    nb::gil_scoped_release nogil;
    for (std::size_t j = 0; j < codes.size(); ++j) {
        need(sortal::codes_below(design.codes[j], n, sizes[j]), "a code is too large");
    }
    return sortal::map_rows(design, n, center.data(), weights.data(), offsets.data(),
                            static_cast<std::int64_t>(out.shape(1)), out.data());
}

using Matrices = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::int64_t square_rows(std::vector<Strided<double>> columns,
                         std::vector<Strided<std::int32_t>> codes, std::vector<std::int64_t> sizes,
                         Matrix centers, Matrix rests, Matrices triangles, bool wide, Total out) {
    const auto design = design_of(columns, codes, sizes);
    const auto n = static_cast<std::int64_t>(out.shape(0));
    const auto d = static_cast<std::size_t>(design.n_terms);
    need(out.shape(0) <= length_of(columns, codes), "out has more rows than the columns");
    need(centers.shape(1) == d, "centers are not of one number a term");
    need(rests.shape(0) == centers.shape(0) && rests.shape(1) == d, "rests are not as centers are");
    need(triangles.shape(1) == d, "triangles are not of one row a term");
    need(triangles.shape(2) <= d, "triangles have more columns than there are terms");
    need(centers.shape(0) == out.shape(1), "centers and out differ in number");
    need(triangles.shape(0) == out.shape(1), "triangles and out differ in number");
    nb::gil_scoped_release nogil;
    for (std::size_t j = 0; j < codes.size(); ++j) {
        need(sortal::codes_below(design.codes[j], n, sizes[j]), "a code is too large");
    }
    return sortal::square_rows(design, n, centers.data(), rests.data(), triangles.data(),
                               static_cast<std::int64_t>(out.shape(1)),
                               static_cast<std::int64_t>(triangles.shape(2)), wide, out.data());
}

using CountTable = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Scores = std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, double, double,
                          std::optional<double>>;

Scores score_parts(CountTable counts, int shift) {
    const sortal::Counts t{counts.data(), static_cast<std::int64_t>(counts.shape(0)),
                           static_cast<std::int64_t>(counts.shape(1))};
    std::int64_t total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        need(counts.data()[i] >= 0, "a count is negative");
        need(!__builtin_add_overflow(total, counts.data()[i], &total), "counts exceed 2^63");
    }
    need(total > 0, "there is no row to score");
    need(sortal::logs_fit(total, shift), "shift is too large for these counts");
    const auto halves = t.n_parts == 2 ? std::optional<double>(sortal::cart(t)) : std::nullopt;
    return {sortal::says_nothing(t),
            sortal::entropy_units(t, -1, shift),
            sortal::split_entropy_units(t, shift),
            sortal::split_information_units(t, shift),
            sortal::squares(t, -1),
            sortal::gini_decrease(t),
            halves};
}

// What one attribute of a node must be like; `totals` are the class totals of the first.
void check_attribute(const sortal::Attribute& x, std::int64_t n_classes,
                     std::vector<std::int64_t>& totals) {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(n_classes), 0);
    for (std::int64_t v = 0; v < x.m; ++v) {
        const double value = x.values[v];
        need(std::isfinite(value), "a value is not finite");
        need(v == 0 || x.values[v - 1] < value, "values do not ascend");
        need(x.kind == sortal::Kind::cut ||
                 (value >= 0 && value <= INT32_MAX && value == std::floor(value)),
             "a code is not a whole number from 0 to 2^31 - 1");
        need(!x.sizes || x.sizes[v] > 0, "a size is not positive");
        bool empty = true;
        for (std::int64_t k = 0; k < n_classes; ++k) {
            const std::int64_t count = x.counts[v * n_classes + k];
            auto& sum = sums[static_cast<std::size_t>(k)];
            need(count >= 0, "a count is negative");
            need(!__builtin_add_overflow(sum, count, &sum), "counts exceed 2^63");
            empty = empty && count == 0;
        }
        need(!empty, "a value has no units");
    }
    if (totals.empty()) totals = sums;
    need(totals == sums, "attributes differ in class totals");
}

using ChosenTest = std::tuple<std::int64_t, int, double, Array<std::int32_t>, double, double, bool,
                              double>;

std::optional<ChosenTest> best_test(std::vector<int> kinds, std::vector<Vector<double>> values,
                                    std::vector<CountTable> counts,
                                    std::vector<std::optional<Vector<std::int64_t>>> sizes,
                                    std::int64_t total, int criterion, std::int64_t min_size,
                                    std::int64_t min_units, std::int64_t max_subset) {
    need(values.size() == kinds.size() && counts.size() == kinds.size() &&
             sizes.size() == kinds.size(),
         "kinds, values, counts and sizes differ in number");
    need(criterion >= 0 && criterion <= 3, "criterion is not 0, 1, 2 or 3");
    need(min_size >= 0 && min_units >= 0 && max_subset >= 1, "a limit is negative, or max_subset 0");
    if (kinds.empty()) return std::nullopt;
    const auto K = static_cast<std::int64_t>(counts[0].shape(1));
    const sortal::Rules rules{static_cast<sortal::Criterion>(criterion),
                              {min_size, min_units, max_subset}};
    std::vector<sortal::Attribute> attributes;
    for (std::size_t j = 0; j < kinds.size(); ++j) {
        need(kinds[j] >= 1 && kinds[j] <= 3, "a kind is not 1, 2 or 3");
        need(kinds[j] != 3 || criterion != 3, "the CART measure has no multiway tests");
        need(counts[j].shape(1) == counts[0].shape(1), "counts differ in classes");
        need(counts[j].shape(0) == values[j].size(), "values and counts differ in length");
        need(!sizes[j] || sizes[j]->size() == values[j].size(), "values and sizes differ in length");
        attributes.push_back({static_cast<sortal::Kind>(kinds[j]),
                              static_cast<std::int64_t>(values[j].size()), values[j].data(),
                              counts[j].data(), sizes[j] ? sizes[j]->data() : nullptr});
    }
    sortal::Test test;
    {
        nb::gil_scoped_release nogil;
        std::vector<std::int64_t> totals;
        for (const auto& x : attributes) check_attribute(x, K, totals);
        const sortal::Whole whole{totals.data(), sortal::sum_of(totals.data(), K), K};
        need(whole.n > 0 && whole.n <= total, "the node's units are not between 1 and the total");
        need(total < std::int64_t{1} << 62, "the total exceeds 2^62");
        // one call asks for few logarithms: a long table would cost more than it spares
        const sortal::Logs logs(std::min<std::int64_t>(whole.n, 4096),
                                sortal::Logs::shift_for(total));
        test = sortal::best_test(attributes, whole, rules, logs);
    }
    if (test.attribute < 0) return std::nullopt;
    const std::size_t n_yes = test.yes.size();
    return ChosenTest{test.attribute, static_cast<int>(test.kind), test.threshold,
                      hand_over(std::move(test.yes), {n_yes}), test.score, test.gain, test.exact,
                      test.candidates};
}

}  // namespace

// bindings_judging.cpp, bindings_pruning.cpp, bindings_tree.cpp
void bind_judging(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_pruning(nb::module_& m);
void bind_trees(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "Loops over one block of rows; see cpp/core.hpp for the words and the contract.";
    m.def("count_codes", &count_codes, "codes"_a.noconvert(), "n_values"_a,
          "classes"_a.noconvert(), "n_classes"_a, "units"_a.noconvert().none(),
          "Weights by value and class; negative codes are holes.");
    m.def("count_integers", &count_integers, "columns"_a.noconvert(), "classes"_a.noconvert(),
          "n_classes"_a, "units"_a.noconvert().none(), "max_span"_a,
          "Per column the lowest value and weights by value and class, or None if too wide.");
    m.def("rank_integers", &rank_integers, "column"_a.noconvert(),
          "The sorted distinct values and each row's rank among them.");
    m.def("place_integers", &place_integers, "columns"_a.noconvert(), "lists"_a.noconvert(), "n"_a,
          "unknown"_a, "Codes by (lowest value, codes of the values from there on), a row a column.");
    m.def("add_terms", &add_terms, "total"_a.noconvert(), "table"_a.noconvert(),
          "codes"_a.noconvert(), "Add each row's row of the table; negative codes add nothing.");
    m.def("class_moments", &class_moments, "values"_a.noconvert(), "classes"_a.noconvert(),
          "n_classes"_a, "units"_a.noconvert().none(), "wide"_a,
          "Per class units, mean, its tail and squared deviations of the values that are not NaN.");
    m.def("center_rows", &center_rows, "columns"_a.noconvert(), "codes"_a.noconvert(), "sizes"_a,
          "rows"_a.noconvert().none(), "origin"_a.noconvert(), "fill"_a.noconvert().none(),
          "scale"_a.noconvert().none(), "out"_a.noconvert(),
          "Rows minus origin, 1 and squared length; returns how many lengths are not finite.");
    m.def("map_rows", &map_rows, "columns"_a.noconvert(), "codes"_a.noconvert(), "sizes"_a,
          "center"_a.noconvert(), "weights"_a.noconvert(), "offsets"_a.noconvert(),
          "out"_a.noconvert(),
          "Linear functions of centered rows; returns how many rows are not finite.");
    m.def("square_rows", &square_rows, "columns"_a.noconvert(), "codes"_a.noconvert(), "sizes"_a,
          "centers"_a.noconvert(), "rests"_a.noconvert(), "triangles"_a.noconvert(), "wide"_a,
          "out"_a.noconvert(),
          "Squared distances from centers by triangles; returns how many rows are not finite.");
    m.def("score_parts", &score_parts, "counts"_a.noconvert(), "shift"_a,
          "Scores of a partition from its counts, a row a part; logarithms in units of 2**-shift.");
    m.def("best_test", &best_test, "kinds"_a, "values"_a.noconvert(), "counts"_a.noconvert(),
          "sizes"_a.noconvert(), "total"_a, "criterion"_a, "min_size"_a, "min_units"_a,
          "max_subset"_a, "The test of a node from its attributes' tables, or None.");
    bind_judging(m);
    bind_neighbors(m);
    bind_pruning(m);
    bind_trees(m);
}
