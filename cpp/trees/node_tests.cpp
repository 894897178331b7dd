#include "trees/node_tests.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "trees/node_search.hpp"

namespace sortal::trees {
namespace {

using Places = std::vector<std::int32_t>;
using Units = std::vector<std::int64_t>;

// Up to so many values every set of them is listed: 511 sets.
constexpr std::int64_t most_listed = 10;
// Of more branches than this the score with the missing values in each is not listed.
constexpr std::size_t most_joined = 1000;

bool goes_before(const Places& a, const Places& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// V of m values, fewer values first; of two halves the one with the first value.
std::vector<Places> every_set(std::int64_t m) {
    std::vector<Places> sets;
    for (unsigned bits = 1; m > 0 && bits < 1U << m; ++bits) {
        const int twice = 2 * std::popcount(bits);
        if (twice > m || (twice == m && bits % 2 == 0)) continue;
        Places& set = sets.emplace_back();
        for (std::int32_t i = 0; i < m; ++i) {
            if (bits >> i & 1U) set.push_back(i);
        }
    }
    std::sort(sets.begin(), sets.end(), goes_before);
    return sets;
}

// Lists the tests of one attribute.
template <class M>
class Lister {
  public:
    Lister(const M& measure, const Logs& logs, const Whole& w, const GrowOptions& options,
           const NodeColumn& x)
        : measure_(measure), logs_(logs), w_(w), options_(options), x_(x),
          known_(w.counts, w.counts + w.n_classes), worth_(measure.base(w)) {
        const auto cells = x.m * w.n_classes;
        found_.counts.assign(x.counts, x.counts + cells);
        found_.sizes.assign(x.sizes, x.sizes + x.m);
        known_size_ = std::accumulate(x.sizes, x.sizes + x.m, std::int64_t{0});
        MissingRows& missing = found_.missing;
        missing.counts.assign(x.missing, x.missing + w.n_classes);
        missing.n = sum_of(x.missing, w.n_classes);
        missing.size = x.missing_size;
        for (std::size_t k = 0; k < known_.size(); ++k) known_[k] -= missing.counts[k];
        const bool own_branch = policy() == MissingPolicy::branch;
        const bool by_side = policy() == MissingPolicy::direction;
        beside_ = missing.n > 0 && by_side;
        is_value_ = missing.n > 0 && ((x.kind == Kind::subset && by_side) ||
                                      (x.kind == Kind::multiway && own_branch));
        if (is_value_) {
            found_.counts.insert(found_.counts.end(), x.missing, x.missing + w.n_classes);
            found_.sizes.push_back(x.missing_size);
        }
        found_.codes.resize(found_.sizes.size());
        std::iota(found_.codes.begin(), found_.codes.end(), 0);
        if (by_side || is_value_) return;
        missing.set_apart(measure, w, own_branch);
        // tests of known rows that say nothing still part off the missing values
        if (missing.apart && own_branch && x.m > 0) {
            worth_ = std::max(worth_, exact_key(measure, w, known_.data(), sum(known_)));
        }
    }

    ColumnTests list(std::int64_t total) {
        if (x_.kind == Kind::cut) {
            list_cuts();
        } else if (x_.kind == Kind::subset) {
            list_subsets(total);
        } else {
            list_branches();
        }
        const bool is_last =
            found_.missing.apart && policy() == MissingPolicy::branch && x_.m > 0 &&
            std::count(out_.allowed.begin(), out_.allowed.end(), std::uint8_t{1}) == 0;
        if (is_last) list_known();
        return std::move(out_);
    }

  private:
    MissingPolicy policy() const { return options_.policy; }
    static std::int64_t sum(const Units& units) {
        return sum_of(units.data(), static_cast<std::int64_t>(units.size()));
    }
    static void add_to(Units& units, const std::int64_t* more) {
        for (std::size_t k = 0; k < units.size(); ++k) units[k] += more[k];
    }
    bool is_large(std::int64_t units, std::int64_t size) const {
        return units >= options_.min_units && size >= options_.min_size;
    }

    void judge(double key, double information, bool fits) {
        const double told = key == none ? worth_ : key;
        out_.keys.push_back(key);
        out_.gains.push_back(measure_.score(w_, told));
        out_.scores.push_back(score(told, information));
        out_.information.push_back(information);
        out_.allowed.push_back(fits && key > none);
    }
    // The measure's score, or the gain ratio (S 20).
    double score(double key, double information) const {
        return by_ratio(options_.criterion) ? (key - measure_.base(w_)) / information
                                            : measure_.score(w_, key);
    }

    // Missing values that are on a side are in its units and size. Keys of known rows alone are
    // brought to the scale of the node. (S 41)
    void add(const Units& yes, std::int64_t size, Goes goes) {
        const MissingRows& missing = found_.missing;
        const bool all = goes == Goes::alone;  // every row of the node is on a side
        const Whole rows = all ? w_ : missing.searched(w_);
        const std::int64_t n_yes = sum(yes), n_no = rows.n - n_yes;
        const std::int64_t node_size = known_size_ + missing.size;
        const std::int64_t n_rows = all ? node_size : missing.searched_size(node_size);
        const double key = exact_key(measure_, rows, yes.data(), n_yes);
        const std::int64_t parts[3] = {n_yes, n_no, w_.n - rows.n};
        judge(all ? key : missing.in_node(key), split_information(logs_, w_.n, parts, 3),
              is_large(n_yes, size) && is_large(n_no, n_rows - size));
        for (std::size_t k = 0; k < yes.size(); ++k) {
            out_.yes.push_back(yes[k]);
            out_.no.push_back(rows.counts[k] - yes[k]);
        }
        out_.missing.push_back(static_cast<std::int8_t>(goes));
    }

    // Where missing values go that are on no side, also those that the node has not met.
    Goes go(const Units& yes) const {
        const MissingRows& missing = found_.missing;
        if (missing.n > 0 && policy() == MissingPolicy::branch) return Goes::own_branch;
        if (missing.n > 0 && policy() == MissingPolicy::fractional) return Goes::every_branch;
        return 2 * sum(yes) >= missing.searched(w_).n ? Goes::yes : Goes::no;
    }

    // X <= v between neighboring values; the yes sides hold N_v of (ZM 19.12).
    void list_cuts() {
        const MissingRows& missing = found_.missing;
        Units yes(known_.size(), 0);
        std::int64_t size = 0;
        for (std::int64_t v = 0; v + 1 < x_.m; ++v) {
            add_to(yes, x_.counts + v * w_.n_classes);
            size += x_.sizes[v];
            if (beside_) {
                Units both = yes;
                add_to(both, x_.missing);
                add(both, size + missing.size, Goes::yes);
            }
            add(yes, size, beside_ ? Goes::no : go(yes));
            out_.thresholds.resize(out_.keys.size(),
                                   threshold_between(x_.values[v], x_.values[v + 1]));
        }
        if (beside_ && x_.m > 0) list_known();
        out_.candidates = static_cast<double>(out_.keys.size());
    }

    // Known rows against missing values.
    void list_known() {
        add(known_, known_size_, Goes::alone);
        if (x_.kind == Kind::cut) {
            out_.thresholds.push_back(-none);
        } else {
            out_.sets.emplace_back(static_cast<std::size_t>(x_.m));
            std::iota(out_.sets.back().begin(), out_.sets.back().end(), 0);
        }
    }

    // X in V: all sets (ZM 19.17), or of many values each alone, the best set and the one asked
    // for.
    void list_subsets(std::int64_t total) {
        const std::int64_t m = found_.values().m;
        out_.candidates = subsets_allowed(m, options_.max_subset);
        for (Places& set : m <= most_listed ? every_set(m) : some_sets(total)) {
            Units yes(known_.size(), 0);
            std::int64_t size = 0;
            for (const std::int32_t i : set) {
                add_to(yes, found_.counts.data() + i * w_.n_classes);
                size += found_.sizes[static_cast<std::size_t>(i)];
            }
            add(yes, size, is_value_ ? side_of_missing(set) : go(yes));
            if (static_cast<std::int64_t>(set.size()) > options_.max_subset) {
                out_.allowed.back() = 0;
            }
            out_.sets.push_back(std::move(set));
        }
    }
    Goes side_of_missing(const Places& set) const {
        const bool holds = set.back() == x_.m;
        if (set.size() == (holds ? 1U : static_cast<std::size_t>(x_.m))) return Goes::alone;
        return holds ? Goes::yes : Goes::no;
    }
    std::vector<Places> some_sets(std::int64_t total) {
        const Values values = found_.values();
        const std::vector<double> places(found_.codes.begin(), found_.codes.end());
        const Attribute searched{Kind::subset, values.m, places.data(), values.counts,
                                 values.sizes};
        const Test best = best_test({searched}, found_.missing.searched(w_), options_, total);
        std::vector<Places> sets{best.yes, x_.asked};
        if (best.attribute < 0) {
            out_.exact = out_.candidates <= most_subsets;
        } else {
            out_.exact = best.exact;
            out_.candidates = best.candidates;
        }
        for (const std::int32_t i : found_.codes) sets.push_back({i});
        std::sort(sets.begin(), sets.end(), goes_before);
        sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
        if (sets[0].empty()) sets.erase(sets.begin());
        return sets;
    }

    // One branch a value, where there are two; at least two of them must meet the limits.
    void list_branches() {
        if (found_.codes.size() < 2) return;
        out_.candidates = 1.0;
        Goes goes = is_value_ ? Goes::own_branch : Goes::yes;
        if (beside_) {
            list_joins();
            join_missing(measure_, options_, w_, found_);
            out_.joined = found_.joined;
        } else if (found_.missing.apart && policy() == MissingPolicy::majority) {
            out_.joined = heaviest();
        } else if (found_.missing.apart) {
            goes = Goes::every_branch;
        }
        const Whole rows = found_.missing.searched(w_);
        judge(found_.missing.in_node(key_of_branches(rows)), values_information(logs_, w_, found_),
              multiway_key(measure_, rows, found_.values(), options_) > none);
        out_.missing.push_back(static_cast<std::int8_t>(goes));
    }
    double key_of_branches(const Whole& rows) const {
        return multiway_key(measure_, rows, found_.values(), Limits{0, 0, 1});
    }
    std::int64_t heaviest() const {
        std::int64_t place = 0, most = -1;
        for (std::int64_t v = 0; v < x_.m; ++v) {
            const std::int64_t n = sum_of(x_.counts + v * w_.n_classes, w_.n_classes);
            if (n > most) place = v;
            most = std::max(most, n);
        }
        return place;
    }
    void list_joins() {
        const Units before = found_.counts;
        for (std::size_t v = 0; v < found_.codes.size() && found_.codes.size() <= most_joined;
             ++v) {
            for (std::size_t k = 0; k < known_.size(); ++k) {
                found_.counts[v * known_.size() + k] += found_.missing.counts[k];
            }
            const double key = key_of_branches(w_);
            const double information = values_information(logs_, w_, found_);
            out_.join_scores.push_back(key == none ? 0.0 : score(key, information));
            found_.counts = before;
        }
    }

    const M& measure_;
    const Logs& logs_;
    const Whole& w_;
    const GrowOptions& options_;
    const NodeColumn& x_;
    Units known_;
    double worth_;  // the key of a test that says nothing
    std::int64_t known_size_ = 0;
    bool beside_ = false;    // missing values may be on either side of a test
    bool is_value_ = false;  // they are one more value
    Found found_;            // the values, which missing values may join
    ColumnTests out_;
};

// A test among those of the node. First come those that tie with the best, then others that
// compete, then the rest; within these the larger value.
struct Ranking {
    int tier;
    double value;
    ColumnTests* tests;
    std::size_t at;
};

// What each attribute offers to C4.5's choice: the first of its tests of largest gain.
template <class M>
std::vector<Candidate> offers_of(const Whole& w, std::vector<ColumnTests>& columns) {
    std::vector<Candidate> offers;
    for (ColumnTests& tests : columns) {
        Candidate& offer = offers.emplace_back();
        for (std::size_t i = 0; i < tests.keys.size(); ++i) {
            if (tests.allowed[i]) offer.key = std::max(offer.key, tests.keys[i]);
        }
        for (std::size_t i = 0; i < tests.keys.size() && tests.offer < 0; ++i) {
            if (!tests.allowed[i] || tests.keys[i] < offer.key - M::tau(offer.key, w.n_classes)) {
                continue;
            }
            tests.offer = static_cast<std::int64_t>(i);
            offer.split_information = tests.information[i];
        }
    }
    return offers;
}

// Keys within tau of the largest tie. (S 22) By the gain ratio, some compete by theirs. (S 21)
template <class M>
void rank(const M& measure, const Whole& w, bool by_ratio, std::vector<ColumnTests>& columns) {
    std::vector<double> ratios;
    if (by_ratio) ratios = competing_ratios(measure, w, offers_of<M>(w, columns));
    std::vector<Ranking> order;
    double best = none;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        ColumnTests& tests = columns[j];
        tests.ranks.assign(tests.keys.size(), 0);
        tests.tied.assign(tests.keys.size(), 0);
        tests.competes = !by_ratio || ratios[j] > none;
        for (std::size_t i = 0; i < tests.keys.size(); ++i) {
            if (!tests.allowed[i]) continue;
            const bool offered = by_ratio && tests.offer == static_cast<std::int64_t>(i);
            const bool competes = !by_ratio || (offered && tests.competes);
            const double value = by_ratio && competes ? ratios[j] : tests.keys[i];
            if (competes) best = std::max(best, value);
            order.push_back({competes ? 1 : 2, value, &tests, i});
        }
    }
    const double least = by_ratio ? least_ratio(best) : best - M::tau(best, w.n_classes);
    for (Ranking& r : order) {
        if (r.tier == 1 && r.value >= least) r = {0, 0.0, r.tests, r.at};
    }
    std::stable_sort(order.begin(), order.end(), [](const Ranking& a, const Ranking& b) {
        return a.tier != b.tier ? a.tier < b.tier : a.value > b.value;
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        ColumnTests& tests = *order[i].tests;
        tests.ranks[order[i].at] = static_cast<std::int64_t>(i) + 1;
        tests.tied[order[i].at] = order[i].tier == 0;
        if (tests.offer < 0) tests.offer = static_cast<std::int64_t>(order[i].at);
    }
    for (ColumnTests& tests : columns) tests.competes = tests.competes && tests.offer >= 0;
}

}  // namespace

std::vector<ColumnTests> node_tests(const std::vector<NodeColumn>& columns, const Whole& w,
                                    const GrowOptions& given, std::int64_t total) {
    const GrowOptions options = in_parts(given);
    std::int64_t n_values = 0;
    for (const NodeColumn& x : columns) n_values += x.m;
    // a table pays where more logarithms are asked for than it has
    const Logs logs(std::min(w.n, 2 * n_values * (w.n_classes + 1)), Logs::shift_for(total));
    return with_measure(options.criterion, logs, [&]<class M>(const M& measure) {
        std::vector<ColumnTests> listed;
        for (const NodeColumn& x : columns) {
            listed.push_back(Lister<M>(measure, logs, w, options, x).list(total));
        }
        rank(measure, w, by_ratio(options.criterion), listed);
        for (ColumnTests& tests : listed) {
            for (double& units : tests.information) {
                units = std::ldexp(units, -logs.shift()) / static_cast<double>(w.n);
            }
        }
        return listed;
    });
}

}  // namespace sortal::trees
