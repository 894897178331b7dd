#include "trees/split_scores.hpp"

namespace sortal::trees {

PartitionScores score_parts(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                            int shift) {
    const Logs logs(0, shift);
    const Gain gain{&logs};
    const Gini gini;
    std::vector<std::int64_t> units;
    for (std::int64_t p = 0; p < n_parts; ++p) {
        units.push_back(sum_of(parts + p * w.n_classes, w.n_classes));
    }
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

}  // namespace sortal::trees
