// Bindings of counting, ranking and looking up.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "tables/tables.hpp"

using namespace nb::literals;
using namespace sortal::binding;

namespace {

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

void add_terms(WritableMatrix total, Matrix table, Strided<std::int32_t> codes) {
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

std::vector<std::int64_t> count_missing(std::vector<Strided<double>> columns) {
    const std::size_t n = columns.empty() ? 0 : columns[0].size();
    std::vector<sortal::Column<double>> views;
    for (const auto& x : columns) {
        need(x.size() == n, "columns differ in length");
        views.push_back(column_of(x));
    }
    const nb::gil_scoped_release nogil;
    return sortal::count_missing(views, static_cast<std::int64_t>(n));
}

}  // namespace

void bind_tables(nb::module_& m) {
    m.def("count_codes", &count_codes, "codes"_a.noconvert(), "n_values"_a, "classes"_a.noconvert(),
          "n_classes"_a, "units"_a.noconvert().none(),
          "Weights by value and class; negative codes are missing values.");
    m.def("count_integers", &count_integers, "columns"_a.noconvert(), "classes"_a.noconvert(),
          "n_classes"_a, "units"_a.noconvert().none(), "max_span"_a,
          "Per column the lowest value and weights by value and class, or None if too wide.");
    m.def("rank_integers", &rank_integers, "column"_a.noconvert(),
          "The sorted distinct values and each row's rank among them.");
    m.def("place_integers", &place_integers, "columns"_a.noconvert(), "lists"_a.noconvert(), "n"_a,
          "unknown"_a,
          "Codes by (lowest value, codes of the values from there on), a row a column.");
    m.def("add_terms", &add_terms, "total"_a.noconvert(), "table"_a.noconvert(),
          "codes"_a.noconvert(), "Add each row's row of the table; negative codes add nothing.");
    m.def("count_missing", &count_missing, "columns"_a.noconvert(),
          "How many NaN each column holds; -1 where it holds an infinity.");
}
