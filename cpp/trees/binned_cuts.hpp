// Cuts: the best x <= v of a column of which only counts by bin are known.
//
// Between two bins the key of a cut follows from the counts. Within a bin it depends on the order
// of the bin's rows, but every key there is bounded: keys are convex in the units on the yes side,
// and these lie in the box from the units before the bin to those after it. Only bins whose bound
// reaches what is already found have to be sorted: 1,879 bins for the 253 tests of depth 8 on
// 500,000 x 20 numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/measures.hpp"

namespace sortal::trees {

// A convex function on a box is largest at a corner: where classes are few, all corners are looked
// at.
constexpr std::int64_t corner_classes = 6;

template <class M>
double corner_bound(const M& measure, const Whole& w, const Between& b) {
    std::int64_t corner[corner_classes];
    double bound = std::max(b.key_before, b.key_after);
    for (std::int64_t c = 1; c + 1 < std::int64_t{1} << w.n_classes; ++c) {
        std::int64_t n_yes = b.n_before;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const std::int64_t more = (c >> k) & 1 ? b.inside[k] : 0;
            corner[k] = b.before[k] + more;
            n_yes += more;
        }
        bound = std::max(bound, measure.key(w, corner, n_yes));
    }
    return bound;
}
// At least the key of every cut within the bin (S 27), or any number below `need` where that is.
template <class M>
double bin_bound(const M& measure, const Whole& w, const Between& b, double need) {
    const double slack = measure.bound_slack(w);
    const double bound = measure.linear_bound(w, b, need - slack) + slack;
    if (bound < need || w.n_classes > corner_classes) return bound;
    return std::min(bound, corner_bound(measure, w, b) + slack);
}

// A cut that may be the node's: after a bin, or within it after its row `place` in order of values.
struct CutRecord {
    static constexpr std::int64_t after = std::numeric_limits<std::int64_t>::max();
    double key;
    std::int64_t n_yes;
    std::int64_t bin;    // 0 where there are none
    std::int64_t place;  // `after`: the cut between this bin and the next that has rows
    double below, above;
    bool missing_yes = false;  // on which side missing values are

    bool operator<(const CutRecord& other) const {
        if (bin != other.bin) return bin < other.bin;
        return place != other.place ? place < other.place : missing_yes && !other.missing_yes;
    }
};

// The best cuts of a column: for any target within tau of the best key, the lowest cut that reaches
// it is among the records.
struct BestCuts {
    double best = none;
    double sequence_best = best;
    std::vector<CutRecord> records;

    void clear() {
        best = sequence_best = none;
        records.clear();
    }
    // Cuts come in sequences of rising thresholds; one that does not exceed those before it in its
    // sequence can never be the lowest to reach a target.
    void begin_sequence() { sequence_best = none; }
    template <class M>
    void add(const CutRecord& record, std::int64_t n_classes) {
        if (record.key <= sequence_best) return;
        sequence_best = record.key;
        // twice tau: the node's best may lie where the next power of two makes tau larger
        if (record.key < best && record.key < best - 2.0 * M::tau(best, n_classes)) return;
        best = std::max(best, record.key);
        records.push_back(record);
    }
    const CutRecord* lowest(double target) const {
        const CutRecord* found = nullptr;
        for (const auto& record : records) {
            if (record.key >= target && (!found || record < *found)) found = &record;
        }
        return found;
    }
};

}  // namespace sortal::trees
