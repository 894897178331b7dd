// Missing values: what rows without a value change about an attribute's tests in a node.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/measures.hpp"

namespace sortal::trees {

// The missing values of an attribute in a node. Where known rows are searched by themselves
// (`apart`), keys of their tests are brought to the scale of the node: key * stretch + shift, the
// key itself without missing values. (S 41)
struct MissingRows {
    std::vector<std::int64_t> counts;  // by class
    std::vector<std::int64_t> known;   // the rest of the node, where apart
    std::int64_t n = 0, size = 0;
    bool apart = false;
    double stretch = 1.0, shift = 0.0;

    void clear() {
        n = size = 0;
        apart = false;
        stretch = 1.0;
        shift = 0.0;
    }
    // The rows that are searched.
    Whole searched(const Whole& w) const {
        return apart ? Whole{known.data(), w.n - n, w.n_classes} : w;
    }
    std::int64_t searched_size(std::int64_t size_of_node) const {
        return apart ? size_of_node - size : size_of_node;
    }
    double in_node(double key) const { return key == none ? none : key * stretch + shift; }
    double in_known(double key) const { return key == none ? none : (key - shift) / stretch; }

    void add(std::int64_t label, std::int64_t units, std::int64_t rows) {
        counts[static_cast<std::size_t>(label)] += units;
        n += units;
        size += rows;
    }
    void begin(std::int64_t n_classes) { counts.assign(static_cast<std::size_t>(n_classes), 0); }

    // The known rows by themselves; with `own_branch`, the missing values are one more part of the
    // partition, else the score is that of the known rows times their share of the node.
    template <class M>
    void set_apart(const M& measure, const Whole& w, bool own_branch) {
        if (n == 0) return;
        apart = true;
        known.resize(counts.size());
        for (std::size_t k = 0; k < counts.size(); ++k) known[k] = w.counts[k] - counts[k];
        if constexpr (M::two_sided) {
            stretch = M::known_stretch(w.n, w.n - n);
        } else {
            shift = own_branch ? measure.part(counts.data(), n, w.n_classes)
                               : measure.base(w) - measure.base(searched(w));
        }
    }
};

}  // namespace sortal::trees
