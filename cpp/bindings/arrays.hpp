// What all bindings use: arrays of Python as columns, vectors handed over, checks. Bindings check
// what the loops rely on, release the GIL and hand arrays over; they do no arithmetic.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/types.hpp"
#include "tables/tables.hpp"

namespace nb = nanobind;

namespace sortal::binding {

template <class T>
using Strided = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using WritableMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using CountTable = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

template <class T>
Array<T> hand_over(std::vector<T>&& values, std::vector<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class T>
Array<T> line(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return hand_over(std::move(values), {n});
}

template <class T>
Column<T> column_of(const Strided<T>& x) {
    return {x.data(), x.size() < 2 ? 1 : x.stride(0)};
}

inline void need(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

inline void check_classes(const Vector<std::int32_t>& classes, std::int64_t n_classes) {
    const Column<std::int32_t> codes{classes.data(), 1};
    const auto n = static_cast<std::int64_t>(classes.size());
    need(no_negatives(codes, n) && codes_below(codes, n, n_classes),
         "a class code lies outside 0 .. n_classes - 1");
}

inline Rows rows_of(const Vector<std::int32_t>& classes, std::int64_t n_classes,
                    const std::optional<Vector<std::int64_t>>& units) {
    need(n_classes >= 0, "n_classes is negative");
    need(!units || units->size() == classes.size(), "units and classes differ in length");
    need(classes.size() <= UINT32_MAX, "a block holds more than 2^32 - 1 rows");
    check_classes(classes, n_classes);
    return {static_cast<std::int64_t>(classes.size()), n_classes, classes.data(),
            units ? units->data() : nullptr};
}

}  // namespace sortal::binding
