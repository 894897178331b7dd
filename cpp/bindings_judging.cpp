// Bindings of judging: check what scores rely on.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "judging.hpp"

using namespace nb::literals;
using namespace sortal::binding;

namespace {

using CountTable = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Judgment = std::tuple<Array<double>, Array<double>, Array<double>, double>;

sortal::Criterion criterion_of(int criterion) {
    need(criterion >= 0 && criterion <= 3, "criterion is not 0, 1, 2 or 3");
    return static_cast<sortal::Criterion>(criterion);
}

// Class totals of the parts of a node, which must fit into the fit's total.
std::vector<std::int64_t> totals_of(const CountTable& parts, std::int64_t total) {
    const std::size_t K = parts.shape(1);
    std::vector<std::int64_t> totals(K, 0);
    std::int64_t n = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t count = parts.data()[i];
        need(count >= 0, "a count is negative");
        need(!__builtin_add_overflow(n, count, &n), "counts exceed 2^63");
        totals[i % K] += count;
    }
    need(n > 0 && n <= total, "the node's units are not between 1 and the total");
    need(total < std::int64_t{1} << 62, "the total exceeds 2^62");
    return totals;
}

sortal::Logs logs_for(std::int64_t n, std::int64_t n_asked, std::int64_t total) {
    // a table pays where more logarithms are asked for than it has
    return sortal::Logs(std::min(n, n_asked), sortal::Logs::shift_for(total));
}

Judgment hand_over_judged(sortal::Judged&& judged) {
    const std::size_t n = judged.keys.size();
    return {hand_over(std::move(judged.keys), {n}), hand_over(std::move(judged.scores), {n}),
            hand_over(std::move(judged.information), {n}), judged.base};
}

Judgment judge_tests(CountTable node, CountTable yes, std::int64_t total, int criterion) {
    const auto chosen = criterion_of(criterion);
    need(node.shape(0) == 1 && node.shape(1) == yes.shape(1), "node is not one row of yes' classes");
    sortal::Judged judged;
    {
        const nb::gil_scoped_release nogil;
        const auto totals = totals_of(node, total);
        const auto K = static_cast<std::int64_t>(totals.size());
        for (std::size_t i = 0; i < yes.size(); ++i) {
            const std::int64_t count = yes.data()[i];
            need(count >= 0 && count <= totals[i % totals.size()], "a side exceeds its node");
        }
        const sortal::Whole whole{totals.data(), sortal::sum_of(totals.data(), K), K};
        const auto n_tests = static_cast<std::int64_t>(yes.shape(0));
        const auto logs = logs_for(whole.n, 2 * n_tests * (K + 1), total);
        judged = sortal::judge_tests(whole, yes.data(), n_tests, chosen, logs);
    }
    return hand_over_judged(std::move(judged));
}

Judgment judge_parts(CountTable parts, std::int64_t total, int criterion) {
    const auto chosen = criterion_of(criterion);
    need(chosen != sortal::Criterion::cart, "the CART measure has no multiway tests");
    sortal::Judged judged;
    {
        const nb::gil_scoped_release nogil;
        const auto totals = totals_of(parts, total);
        const auto K = static_cast<std::int64_t>(totals.size());
        const sortal::Whole whole{totals.data(), sortal::sum_of(totals.data(), K), K};
        const auto n_parts = static_cast<std::int64_t>(parts.shape(0));
        const auto logs = logs_for(whole.n, n_parts * (K + 1), total);
        judged = sortal::judge_parts(whole, parts.data(), n_parts, chosen, logs);
    }
    return hand_over_judged(std::move(judged));
}

double equal_from(double key, std::int64_t n_classes, int criterion) {
    return sortal::equal_from(key, n_classes, criterion_of(criterion));
}

Array<double> thresholds_between(Vector<double> values) {
    const std::size_t n = values.size() < 2 ? 0 : values.size() - 1;
    std::vector<double> thresholds(n);
    for (std::size_t i = 0; i < n; ++i) {
        need(values.data()[i] < values.data()[i + 1], "values do not ascend");
        thresholds[i] = sortal::threshold_between(values.data()[i], values.data()[i + 1]);
    }
    return hand_over(std::move(thresholds), {n});
}

}  // namespace

void bind_judging(nb::module_& m) {
    m.def("judge_tests", &judge_tests, "node"_a.noconvert(), "yes"_a.noconvert(), "total"_a,
          "criterion"_a, "Keys, scores and split information of tests by their yes sides; the base.");
    m.def("judge_parts", &judge_parts, "parts"_a.noconvert(), "total"_a, "criterion"_a,
          "The same of one test with a branch a part.");
    m.def("equal_from", &equal_from, "key"_a, "n_classes"_a, "criterion"_a,
          "The least key that counts as equal to the largest.");
    m.def("thresholds_between", &thresholds_between, "values"_a.noconvert(),
          "The thresholds between neighbors of ascending values.");
}
