// Bindings of nearest rows; a search keeps its rows alive.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/interrupt.hpp"
#include "neighbors/neighbors.hpp"

using namespace nb::literals;
using namespace sortal::binding;
namespace neighbors = sortal::neighbors;

namespace {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = Rows<std::int32_t>;

template <class T>
neighbors::NumberRows<T> rows_of(const Rows<T>& x) {
    return {x.data(), static_cast<std::int64_t>(x.shape(0)), static_cast<std::int64_t>(x.shape(1))};
}
neighbors::CodeRows codes_of(const Codes& x) {
    return {x.data(), static_cast<std::int64_t>(x.shape(0)), static_cast<std::int64_t>(x.shape(1))};
}
neighbors::Metric metric_of(const Vector<double>& factors, double power, std::int64_t n_columns) {
    need(power >= 1.0, "power is below 1");
    return {power, {factors.data(), factors.data() + factors.size()}, n_columns};
}

// An index and the arrays that it reads.
struct Search {
    nb::object numbers, codes;
    std::int64_t m, c;
    std::unique_ptr<neighbors::Index> index;
};

template <class T>
Search* scan(Rows<T> numbers, Codes codes, Vector<double> factors, double power,
             std::int64_t n_columns) {
    need(numbers.shape(0) == codes.shape(0), "numbers and codes differ in rows");
    need(factors.size() == numbers.shape(1), "numbers and factors differ in columns");
    const auto rows = rows_of(numbers);
    auto index =
        neighbors::scan_index<T>(rows, codes_of(codes), metric_of(factors, power, n_columns));
    return new Search{nb::cast(numbers), nb::cast(codes), rows.m,
                      static_cast<std::int64_t>(codes.shape(1)), std::move(index)};
}

// A search over numbers alone; `make` makes its index from rows, metric and workers.
template <class T, class Make>
Search* indexed(const Rows<T>& numbers, const Vector<double>& factors, double power, int threads,
                Make make) {
    need(factors.size() == numbers.shape(1), "numbers and factors differ in columns");
    const auto rows = rows_of(numbers);
    need(rows.n > 0 && rows.m > 0, "there is no row");
    std::unique_ptr<neighbors::Index> index;
    {
        const nb::gil_scoped_release nogil;
        sortal::Workers workers(threads, InterruptCheck());
        index = make(rows, metric_of(factors, power, rows.m), workers);
    }
    return new Search{nb::cast(numbers), nb::none(), rows.m, 0, std::move(index)};
}

template <class T>
Search* tree(Rows<T> numbers, Vector<double> factors, double power, int threads) {
    return indexed<T>(numbers, factors, power, threads, neighbors::tree_index<T>);
}

template <class T>
Search* bytes(Rows<T> numbers, Vector<double> factors, double power, int threads, int wide) {
    need(power == 1.0 || power == 2.0, "bytes know powers 1 and 2");
    need(numbers.shape(1) <= 30000, "there are too many columns");
    return indexed<T>(numbers, factors, power, threads,
                      [&](auto rows, auto metric, sortal::Workers& workers) {
                          return neighbors::byte_index<T>(rows, metric, workers, wide);
                      });
}

template <class T>
double tree_visits(Rows<T> numbers, std::int64_t step, Vector<double> factors, double power,
                   std::int64_t k, std::int64_t n_queries) {
    need(factors.size() == numbers.shape(1), "numbers and factors differ in columns");
    const auto rows = rows_of(numbers);
    need(rows.n > 0 && rows.m > 0 && step > 0 && k > 0 && n_queries > 0,
         "there is nothing to look at");
    const nb::gil_scoped_release nogil;
    return neighbors::tree_visits<T>(rows, step, metric_of(factors, power, rows.m), k, n_queries);
}

Search* bits(Codes codes, std::vector<std::int64_t> sizes, int wide) {
    need(codes.shape(1) == sizes.size(), "codes and sizes differ in columns");
    const auto rows = codes_of(codes);
    for (std::int64_t j = 0; j < rows.c; ++j) {
        const sortal::Column<std::int32_t> column{rows.data + j, rows.c};
        need(sortal::no_negatives(column, rows.n) &&
                 sortal::codes_below(column, rows.n, sizes[static_cast<std::size_t>(j)]),
             "a code lies outside 0 .. size - 1");
    }
    const nb::gil_scoped_release nogil;
    return new Search{nb::object(), nb::object(), 0, rows.c,
                      neighbors::bit_index(rows, sizes, wide)};
}

std::pair<Array<double>, Array<std::int64_t>> search(const Search& self, Rows<double> numbers,
                                                     Codes codes, std::int64_t k,
                                                     std::optional<Vector<std::int64_t>> exclude,
                                                     int threads) {
    need(numbers.shape(0) == codes.shape(0), "numbers and codes differ in rows");
    need(static_cast<std::int64_t>(numbers.shape(1)) == self.m &&
             static_cast<std::int64_t>(codes.shape(1)) == self.c,
         "queries and rows differ in columns");
    need(k > 0, "k is below 1");
    need(!exclude || exclude->size() == numbers.shape(0), "queries and exclude differ in length");
    const std::size_t q = numbers.shape(0);
    std::vector<double> keys(q * static_cast<std::size_t>(k));
    std::vector<std::int64_t> positions(keys.size());
    {
        const nb::gil_scoped_release nogil;
        sortal::Workers workers(threads, InterruptCheck());
        const neighbors::Queries queries{rows_of(numbers), codes_of(codes),
                                         exclude ? exclude->data() : nullptr};
        self.index->search(queries, {k, keys.data(), positions.data()}, workers);
    }
    const std::vector<std::size_t> shape{q, static_cast<std::size_t>(k)};
    return {hand_over(std::move(keys), shape), hand_over(std::move(positions), shape)};
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::class_<Search>(m, "Search", "Rows among which the nearest are found.")
        .def("find", &search, "numbers"_a.noconvert(), "codes"_a.noconvert(), "k"_a,
             "exclude"_a.noconvert().none(), "threads"_a,
             "Keys and positions of the k nearest rows of each query, by (key, position).");
    const auto both = [&]<class T>(T) {
        m.def("scan_rows", &scan<T>, "numbers"_a.noconvert(), "codes"_a.noconvert(),
              "factors"_a.noconvert(), "power"_a, "n_columns"_a, nb::rv_policy::take_ownership,
              "A search that looks at every row.");
        m.def("tree_rows", &tree<T>, "numbers"_a.noconvert(), "factors"_a.noconvert(), "power"_a,
              "threads"_a, nb::rv_policy::take_ownership,
              "A search by a kd-tree; no missing values.");
        m.def("tree_visits", &tree_visits<T>, "numbers"_a.noconvert(), "step"_a,
              "factors"_a.noconvert(), "power"_a, "k"_a, "n_queries"_a,
              "The share of its rows that a kd-tree of every step-th row looks at, for queries "
              "like them.");
        m.def("byte_rows", &bytes<T>, "numbers"_a.noconvert(), "factors"_a.noconvert(), "power"_a,
              "threads"_a, "wide"_a, nb::rv_policy::take_ownership,
              "A search by rows rounded to bytes; powers 1 and 2, no missing values.");
    };
    both(float{});
    both(double{});
    m.def("bit_rows", &bits, "codes"_a.noconvert(), "sizes"_a, "wide"_a,
          nb::rv_policy::take_ownership,
          "A search over codes alone by counts of bits; no missing values.");
}
