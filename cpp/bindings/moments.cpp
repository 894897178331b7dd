// Bindings of moments and of scores that are linear or quadratic in a row.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "moments/moments.hpp"

using namespace nb::literals;
using namespace sortal::binding;

namespace {

std::tuple<Array<std::int64_t>, Array<double>, Array<double>, Array<double>> class_moments(
    Strided<double> values, Vector<std::int32_t> classes, std::int64_t n_classes,
    std::optional<Vector<std::int64_t>> units) {
    need(values.size() == classes.size(), "values and classes differ in length");
    sortal::ColumnMoments m;
    {
        nb::gil_scoped_release nogil;
        m = sortal::class_moments(column_of(values), rows_of(classes, n_classes, units));
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

// Of the chosen rows, or the first n.
void check_codes(const sortal::Design& design, const std::int64_t* chosen, std::int64_t n) {
    for (std::size_t j = 0; j < design.codes.size(); ++j) {
        need(sortal::codes_below(design.codes[j], chosen, n, design.sizes[j]),
             "a code is too large");
    }
}

std::int64_t center_rows(std::vector<Strided<double>> columns,
                         std::vector<Strided<std::int32_t>> codes, std::vector<std::int64_t> sizes,
                         std::optional<Vector<std::int64_t>> rows, Vector<double> origin,
                         std::optional<Vector<double>> fill, std::optional<Vector<double>> scale,
                         WritableMatrix out) {
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
    check_codes(design, chosen, n);
    return sortal::center_rows(design, chosen, n, origin.data(), fill ? fill->data() : nullptr,
                               scale ? scale->data() : nullptr, out.data());
}

std::int64_t map_rows(std::vector<Strided<double>> columns,
                      std::vector<Strided<std::int32_t>> codes, std::vector<std::int64_t> sizes,
                      Vector<double> center, Matrix weights, Vector<double> offsets,
                      WritableMatrix out) {
    const auto design = design_of(columns, codes, sizes);
    const auto n = static_cast<std::int64_t>(out.shape(0));
    need(out.shape(0) <= length_of(columns, codes), "out has more rows than the columns");
    need(center.size() == static_cast<std::size_t>(design.n_terms),
         "center is not of one number a term");
    need(weights.shape(1) == center.size(), "weights are not of one number a term");
    need(weights.shape(0) == out.shape(1), "weights and out differ in functions");
    need(offsets.size() == out.shape(1), "offsets and out differ in functions");
    nb::gil_scoped_release nogil;
    check_codes(design, nullptr, n);
    return sortal::map_rows(design, n, center.data(), weights.data(), offsets.data(),
                            static_cast<std::int64_t>(out.shape(1)), out.data());
}

using Matrices = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::int64_t square_rows(std::vector<Strided<double>> columns,
                         std::vector<Strided<std::int32_t>> codes, std::vector<std::int64_t> sizes,
                         Matrix centers, Matrix rests, Matrices triangles, bool wide,
                         WritableMatrix out) {
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
    check_codes(design, nullptr, n);
    return sortal::square_rows(design, n, centers.data(), rests.data(), triangles.data(),
                               static_cast<std::int64_t>(out.shape(1)),
                               static_cast<std::int64_t>(triangles.shape(2)), wide, out.data());
}

}  // namespace

void bind_moments(nb::module_& m) {
    m.def("class_moments", &class_moments, "values"_a.noconvert(), "classes"_a.noconvert(),
          "n_classes"_a, "units"_a.noconvert().none(),
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
}
