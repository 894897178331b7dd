// A look for Ctrl-C from within a long call.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace sortal::binding {

// Asks Python, at most every 50 ms, whether Ctrl-C was pressed.
class InterruptCheck {
  public:
    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return;
        last_ = now;
        const nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace sortal::binding
