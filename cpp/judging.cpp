#include "judging.hpp"

namespace sortal {
namespace {

// Calls f with the measure of a criterion.
template <class F>
auto with_measure(Criterion criterion, const Logs& logs, F&& f) {
    if (criterion == Criterion::gini) return f(Gini{});
    if (criterion == Criterion::cart) return f(Cart{});
    return f(Gain{&logs});
}

template <class M>
void add_test(Judged& judged, const M& measure, const Whole& w, double key, double information) {
    judged.keys.push_back(key);
    judged.scores.push_back(key == none ? 0.0 : measure.score(w, key));
    judged.information.push_back(information);
}

}  // namespace

Judged judge_tests(const Whole& w, const std::int64_t* yes, std::int64_t n_tests,
                   Criterion criterion, const Logs& logs) {
    return with_measure(criterion, logs, [&](const auto& measure) {
        Judged judged;
        judged.base = measure.base(w);
        for (std::int64_t i = 0; i < n_tests; ++i) {
            const std::int64_t* side = yes + i * w.n_classes;
            const std::int64_t n_yes = sum_of(side, w.n_classes);
            const std::int64_t parts[] = {n_yes, w.n - n_yes};
            add_test(judged, measure, w, exact_key(measure, w, side, n_yes),
                     split_information(logs, w.n, parts, 2));
        }
        return judged;
    });
}

Judged judge_parts(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                   Criterion criterion, const Logs& logs) {
    return with_measure(criterion, logs, [&](const auto& measure) {
        Judged judged;
        judged.base = measure.base(w);
        std::vector<std::int64_t> units;
        for (std::int64_t p = 0; p < n_parts; ++p) {
            units.push_back(sum_of(parts + p * w.n_classes, w.n_classes));
        }
        const Values values{n_parts, nullptr, parts, nullptr};
        add_test(judged, measure, w, multiway_key(measure, w, values, Limits{0, 0, 1}),
                 split_information(logs, w.n, units.data(), n_parts));
        return judged;
    });
}

double equal_from(double key, std::int64_t n_classes, Criterion criterion) {
    const Logs logs(0, 0);
    return with_measure(criterion, logs, [&](const auto& measure) {
        return key - measure.tau(key, n_classes);
    });
}

}  // namespace sortal
