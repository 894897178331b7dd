// Pessimistic pruning as C4.5 does it (Quinlan 1993, chapter 4): estimates of errors.
#pragma once

namespace sortal::trees {

// What an upper bound of the error rate adds to e errors among n rows. (S 32)
class AddedErrors {
  public:
    explicit AddedErrors(double confidence);
    double operator()(double n, double e) const;

  private:
    double without_errors(double n) const;

    double log_confidence_, coefficient_;
};

}  // namespace sortal::trees
