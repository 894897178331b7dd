#include "trees/split_scores.hpp"

#include <algorithm>

namespace sortal::trees {
namespace {

// A table pays where more logarithms are asked for than it has.
Logs logs_for(std::int64_t n, std::int64_t n_asked, std::int64_t total) {
    return Logs(std::min(n, n_asked), Logs::shift_for(total));
}

template <class M>
void add_test(SplitScores& out, const M& measure, const Whole& w, double key, double information) {
    out.keys.push_back(key);
    out.scores.push_back(key == none ? 0.0 : measure.score(w, key));
    out.information.push_back(information);
}

std::vector<std::int64_t> sums_of(const std::int64_t* parts, std::int64_t n_parts,
                                  std::int64_t n_classes) {
    std::vector<std::int64_t> units;
    for (std::int64_t p = 0; p < n_parts; ++p) {
        units.push_back(sum_of(parts + p * n_classes, n_classes));
    }
    return units;
}

}  // namespace

PartitionScores score_parts(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                            int shift) {
    const Logs logs(0, shift);
    const Gain gain{&logs};
    const Gini gini;
    const auto units = sums_of(parts, n_parts, w.n_classes);
    const auto whole_units = [](double x) { return static_cast<std::int64_t>(x); };
    PartitionScores out;
    for (std::size_t p = 0; p < units.size(); ++p) {
        const auto at = static_cast<std::int64_t>(p) * w.n_classes;
        out.nothing = out.nothing && side_alike(w, parts + at, units[p]);
    }
    out.entropy = whole_units(-gain.base(w));
    out.split_entropy = whole_units(-sum_of_parts(gain, parts, n_parts, w.n_classes));
    out.split_information = whole_units(split_information(logs, w.n, units.data(), n_parts));
    out.squares = gini.base(w);
    out.gini_decrease = sum_of_parts(gini, parts, n_parts, w.n_classes) - gini.base(w);
    if (n_parts == 2) out.cart = Cart{}.key(w, parts, units[0]);
    return out;
}

SplitScores score_tests(const Whole& w, const std::int64_t* yes, std::int64_t n_tests,
                        Criterion criterion, std::int64_t total) {
    const Logs logs = logs_for(w.n, 2 * n_tests * (w.n_classes + 1), total);
    return with_measure(criterion, logs, [&](const auto& measure) {
        SplitScores out;
        out.base = measure.base(w);
        for (std::int64_t i = 0; i < n_tests; ++i) {
            const std::int64_t* side = yes + i * w.n_classes;
            const std::int64_t n_yes = sum_of(side, w.n_classes);
            const std::int64_t parts[] = {n_yes, w.n - n_yes};
            add_test(out, measure, w, exact_key(measure, w, side, n_yes),
                     split_information(logs, w.n, parts, 2));
        }
        return out;
    });
}

SplitScores score_branches(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                           Criterion criterion, std::int64_t total) {
    const Logs logs = logs_for(w.n, n_parts * (w.n_classes + 1), total);
    return with_measure(criterion, logs, [&](const auto& measure) {
        SplitScores out;
        out.base = measure.base(w);
        const auto units = sums_of(parts, n_parts, w.n_classes);
        const Values values{n_parts, nullptr, parts, nullptr};
        add_test(out, measure, w, multiway_key(measure, w, values, Limits{0, 0, 1}),
                 split_information(logs, w.n, units.data(), n_parts));
        return out;
    });
}

double tie_threshold(double key, std::int64_t n_classes, Criterion criterion) {
    const Logs logs(0, 0);
    return with_measure(criterion, logs,
                        [&](const auto& measure) { return key - measure.tau(key, n_classes); });
}

}  // namespace sortal::trees
