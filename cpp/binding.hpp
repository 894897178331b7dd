// What all bindings use: arrays of Python as columns, vectors handed over, checks.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "core.hpp"

namespace nb = nanobind;

namespace sortal::binding {

template <class T>
using Strided = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

template <class T>
Array<T> hand_over(std::vector<T>&& values, std::vector<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class T>
sortal::Column<T> column_of(const Strided<T>& x) {
    return {x.data(), x.size() < 2 ? 1 : x.stride(0)};
}

inline void need(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

}  // namespace sortal::binding
