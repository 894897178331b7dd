// Logarithms as whole numbers of units, multiples of 2^-shift, so that sums of them are exact in
// any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace sortal::trees {

// Whether all logarithms up to c log2 c stay below 2^52 units, where a double still tells whole
// numbers apart.
inline bool logs_fit(std::int64_t c, int shift) {
    const auto x = static_cast<double>(c);
    return std::ldexp(x * std::log2(x + 1.0), shift) < 0x1p52;
}

// c log2 c in units, rounded once.
inline std::int64_t log_units(std::int64_t c, int shift) {
    if (c < 2) return 0;
    const auto x = static_cast<double>(c);
    return std::llround(std::ldexp(x * std::log2(x), shift));
}

// c log2 c in units for a whole fit: from a table while counts are small, by `log_units` beyond.
class Logs {
  public:
    // At most this many entries: 8 MB, all counts of a table of a million rows.
    static constexpr std::int64_t most = std::int64_t{1} << 20;

    Logs(std::int64_t n, int shift) : shift_(shift) {
        const std::int64_t size = n < most ? n + 1 : most;
        table_.reserve(static_cast<std::size_t>(size));
        for (std::int64_t c = 0; c < size; ++c) table_.push_back(log_units(c, shift));
    }
    // Logarithms up to n log2 n stay below 2^52 units.
    static int shift_for(std::int64_t n) {
        const auto x = static_cast<double>(n);
        int exponent = 0;
        (void)std::frexp(x * std::log2(x + 1.0), &exponent);
        return 51 - exponent;
    }
    int shift() const { return shift_; }
    std::int64_t operator()(std::int64_t c) const {
        return c < static_cast<std::int64_t>(table_.size()) ? table_[static_cast<std::size_t>(c)]
                                                            : log_units(c, shift_);
    }

  private:
    int shift_;
    std::vector<std::int64_t> table_;
};

}  // namespace sortal::trees
