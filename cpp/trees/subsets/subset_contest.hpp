// The contest among the subsets of one attribute's values: who leads, and who counts as equal.
//
// Words (beyond those of measures.hpp)
//   values   what a node's rows take on one attribute, m of them, by ascending code
//   groups   values with the same class shares, merged; where nothing is merged, a group a value
//   row      of a table: row[0 .. K) units by class, row[K] units, row[K + 1] size, row[K + 2] how
//            many values; classes that the node lacks are left out
//   V        the side that holds fewer values; on equality the one with the smallest code
//   peak     the largest key met, whatever the limits say
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "trees/measures.hpp"

namespace sortal::trees {

// What is asked of a test: the least size and units of each side, the most values in V.
struct Limits {
    std::int64_t min_size = 1;
    std::int64_t min_units = 1;
    std::int64_t max_subset = std::numeric_limits<std::int64_t>::max();

    // Whether a side may have so many units and rows.
    bool allow(std::int64_t n, std::int64_t size) const {
        return n >= min_units && size >= min_size;
    }
};

// The values of one attribute in a node: ascending codes, counts[v * K + k], no value without
// units; `sizes` is null where the size of a value is its units.
struct Values {
    std::int64_t m;
    const std::int32_t* codes;
    const std::int64_t* counts;
    const std::int64_t* sizes;
};

// The best subset. `key` is the largest of all, `chosen` the key of `yes`, the first of its equals.
struct Subset {
    double key = none;
    std::vector<std::int32_t> yes;
    bool exact = true;
    double candidates = 0.0;
    double chosen = none;
};

struct Table {
    std::int64_t m = 0;
    std::int64_t n_classes = 0;
    std::vector<std::int64_t> cells;

    std::int64_t width() const { return n_classes + 3; }
    const std::int64_t* row(std::int64_t i) const { return cells.data() + i * width(); }
    std::int64_t* row(std::int64_t i) { return cells.data() + i * width(); }
    void reset(std::int64_t n_rows, std::int64_t n_present) {
        m = n_rows;
        n_classes = n_present;
        cells.assign(static_cast<std::size_t>(m * width()), 0);
    }
};

inline void add_row(std::int64_t* to, const std::int64_t* row, std::int64_t width) {
    for (std::int64_t i = 0; i < width; ++i) to[i] += row[i];
}
inline void take_row(std::int64_t* from, const std::int64_t* row, std::int64_t width) {
    for (std::int64_t i = 0; i < width; ++i) from[i] -= row[i];
}

// A contestant: the places of V's values, ascending, and its key.
struct Entry {
    double key;
    std::vector<std::int32_t> places;
};

// A row of a table by a share; `share` is rounded, equal ones are told apart by whole numbers.
struct Ranked {
    double share;
    std::int32_t place;
};

// Memory that one search leaves to the next.
struct Scratch {
    Table values, groups, prefixes;
    std::vector<std::int64_t> total, side;
    std::vector<std::int32_t> group_of, order, rank, places;
    std::vector<Entry> entries;
    std::vector<std::uint64_t> events, spare;
    std::vector<char> inside;
    std::vector<Ranked> ranked;
    std::vector<double> keys;
};

// Writes the node's values as rows, and their sum.
inline void read_values(const Whole& w, const Values& v, Scratch& s) {
    std::int64_t present = 0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) present += w.counts[k] > 0;
    s.values.reset(v.m, present);
    const std::int64_t width = s.values.width();
    s.total.assign(static_cast<std::size_t>(width), 0);
    for (std::int64_t i = 0; i < v.m; ++i) {
        std::int64_t* row = s.values.row(i);
        const std::int64_t* counts = v.counts + i * w.n_classes;
        std::int64_t at = 0, n = 0;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            if (w.counts[k] == 0) continue;
            row[at++] = counts[k];
            n += counts[k];
        }
        row[present] = n;
        row[present + 1] = v.sizes ? v.sizes[i] : n;
        row[present + 2] = 1;
        add_row(s.total.data(), row, width);
    }
}

// Takes candidates as they come. Of those within tau of the best allowed key it keeps every one
// that could still be the choice: none other has both a key as large and a V that goes before.
template <class M>
class SubsetContest {
  public:
    SubsetContest(const M& measure, const Whole& w, const Values& v, const Limits& limits,
                  Scratch& s)
        : measure_(measure), v_(v), limits_(limits), s_(s), fit_classes_(w.n_classes) {
        read_values(w, v, s);
        const std::int64_t K = s.values.n_classes;
        whole_ = {s.total.data(), s.total[static_cast<std::size_t>(K)], K};
        near_ = measure.near(whole_);
        free_ = limits.min_size <= 1 && limits.min_units <= 1 && limits.max_subset >= v.m / 2;
    }
    SubsetContest(const SubsetContest&) = delete;
    SubsetContest& operator=(const SubsetContest&) = delete;

    const Whole& whole() const { return whole_; }
    const Limits& limits() const { return limits_; }
    std::int64_t m() const { return v_.m; }
    bool free() const { return free_; }
    double met() const { return met_; }

    // Candidates to come are of groups (or, with null, of single values again).
    void speak_of(const std::int32_t* group_of) { group_of_ = group_of; }
    void restart() {
        live_ = 0;
        best_ = peak_ = band_ = none;
        met_ = 0.0;
    }

    double key(const std::int64_t* side) const {
        const std::int64_t n = side[whole_.n_classes];
        const double key = measure_.key(whole_, side, n);
        return key > near_ ? key : exact_key(measure_, whole_, side, n);
    }

    bool allowed(const std::int64_t* side) const {
        if (free_) return true;
        const std::int64_t K = whole_.n_classes;
        const std::int64_t n = side[K], size = side[K + 1], values = side[K + 2];
        return limits_.allow(n, size) && limits_.allow(whole_.n - n, whole_.counts[K + 1] - size) &&
               fewer(values) <= limits_.max_subset;
    }

    // One candidate: its sums, and which groups it holds.
    template <class In>
    double meet(const std::int64_t* side, In in) {
        const double key = note(side);
        if (may_lead(key)) meet_again(key, side, in);
        return key;
    }

    // The same in two steps, for series in which many a candidate leads for a moment: `note` all of
    // them, `expect` the best allowed key, `meet_again` those that `may_lead`.
    double note(const std::int64_t* side) {
        const double key = this->key(side);
        met_ += 1.0;
        if (key > peak_) peak_ = key;
        return key;
    }
    void expect(double key) {
        if (key <= best_) return;
        best_ = key;
        // Twice tau: where the unit in the last place doubles, the limit may step back.
        band_ = best_ - 2.0 * tau(best_);
    }
    bool may_lead(double key) const { return key >= band_ && key > none; }
    template <class In>
    void meet_again(double key, const std::int64_t* side, In in) {
        if (allowed(side)) offer(key, side, in);
    }

    // Whether the best allowed candidate is as good as the best of all.
    bool reached() const { return best_ >= peak_ - tau(peak_); }

    // The values of the candidate with the largest key; of equal keys, the one that goes first.
    const std::vector<std::int32_t>* leader() const {
        for (std::size_t i = 0; i < live_; ++i) {
            if (s_.entries[i].key == best_) return &s_.entries[i].places;
        }
        return nullptr;
    }

    // Which of n groups hold the values at these places.
    void read_sides(const std::vector<std::int32_t>& places, std::int64_t n,
                    std::vector<char>& inside) const {
        inside.assign(static_cast<std::size_t>(n), 0);
        for (const std::int32_t i : places) {
            inside[static_cast<std::size_t>(group_of_ ? group_of_[i] : i)] = 1;
        }
    }

    // The choice among those equal to the best, or to `given` where that is larger.
    Subset choice(double given) const {
        Subset found;
        found.key = best_;
        double least = best_ - tau(best_);
        if (given > best_ && best_ >= given - tau(given)) least = given - tau(given);
        const Entry* first = nullptr;
        for (std::size_t i = 0; i < live_; ++i) {
            const Entry& e = s_.entries[i];
            if (e.key >= least && (!first || goes_before(e.places, first->places))) first = &e;
        }
        if (!first) return found;
        found.chosen = first->key;
        found.yes.reserve(first->places.size());
        for (const std::int32_t i : first->places) found.yes.push_back(v_.codes[i]);
        return found;
    }

  private:
    double tau(double key) const { return key > none ? M::tau(key, fit_classes_) : 0.0; }
    std::int64_t fewer(std::int64_t values) const { return std::min(values, v_.m - values); }
    static bool goes_before(const std::vector<std::int32_t>& a,
                            const std::vector<std::int32_t>& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }

    // V as places of values; the side that a candidate names may be the other one.
    template <class In>
    void write_places(const std::int64_t* side, In in) {
        const std::int64_t values = side[whole_.n_classes + 2];
        const auto holds = [&](std::int64_t i) { return in(group_of_ ? group_of_[i] : i); };
        const bool turn = 2 * values > v_.m || (2 * values == v_.m && !holds(0));
        s_.places.clear();
        for (std::int32_t i = 0; i < v_.m; ++i) {
            if (static_cast<bool>(holds(i)) != turn) s_.places.push_back(i);
        }
    }

    template <class In>
    void offer(double key, const std::int64_t* side, In in) {
        // Sets are compared by their size first, which needs no list of values.
        const auto size = static_cast<std::size_t>(fewer(side[whole_.n_classes + 2]));
        for (std::size_t i = 0; i < live_; ++i) {
            const Entry& e = s_.entries[i];
            if (e.key >= key && e.places.size() < size) return;
        }
        write_places(side, in);
        for (std::size_t i = 0; i < live_; ++i) {
            const Entry& e = s_.entries[i];
            if (e.key >= key && !goes_before(s_.places, e.places)) return;
        }
        expect(key);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < live_; ++i) {
            const Entry& e = s_.entries[i];
            const bool beaten = key >= e.key && !goes_before(e.places, s_.places);
            if (e.key < band_ || beaten) continue;
            if (i != kept) std::swap(s_.entries[i], s_.entries[kept]);
            ++kept;
        }
        if (kept == s_.entries.size()) s_.entries.emplace_back();
        s_.entries[kept].key = key;
        s_.entries[kept].places = s_.places;
        live_ = kept + 1;
    }

    const M& measure_;
    const Values& v_;
    const Limits& limits_;
    Scratch& s_;
    std::int64_t fit_classes_;
    Whole whole_{};
    double near_ = 0.0;
    bool free_ = true;
    const std::int32_t* group_of_ = nullptr;
    std::size_t live_ = 0;
    double best_ = none, peak_ = none, band_ = none, met_ = 0.0;
};

}  // namespace sortal::trees
