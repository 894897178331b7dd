// Estimates of errors as C4.5 makes them (Quinlan 1993, chapter 4).
#include "trees/pruning/pessimistic.hpp"

#include <cmath>
#include <cstddef>

namespace sortal::trees {
namespace {

// Upper tails of the normal distribution and the deviates they begin at, as C4.5 tabulates them.
constexpr double tails[] = {0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
constexpr double deviates[] = {4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};

double deviate(double confidence) {
    std::size_t i = 1;
    while (confidence > tails[i]) ++i;
    const double part = (confidence - tails[i - 1]) / (tails[i] - tails[i - 1]);
    return deviates[i - 1] + (deviates[i] - deviates[i - 1]) * part;
}

}  // namespace

AddedErrors::AddedErrors(double confidence)
    : log_confidence_(std::log(confidence)),
      coefficient_(deviate(confidence) * deviate(confidence)) {}

// The rate at which n rows without an error are as likely as the confidence says.
double AddedErrors::without_errors(double n) const {
    return n * (1.0 - std::exp(log_confidence_ / n));
}

double AddedErrors::operator()(double n, double e) const {
    if (e < 1e-6) return without_errors(n);
    if (e < 0.9999) return without_errors(n) + e * ((*this)(n, 1.0) - without_errors(n));
    const double middle = e + 0.5;
    if (middle >= n) return 0.67 * (n - e);
    const double spread = coefficient_ * (middle * (1.0 - middle / n) + coefficient_ / 4.0);
    const double rate = (middle + coefficient_ / 2.0 + std::sqrt(spread)) / (n + coefficient_);
    return n * rate - e;
}

}  // namespace sortal::trees
