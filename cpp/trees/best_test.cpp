// The test of one node from its tables, in three stages: what is cheap and a floor, what may still
// reach the floor, the choice.
#include "trees/best_test.hpp"

namespace sortal::trees {
namespace {

// One attribute's part: its codes where it is a subset attribute, and what was found of each kind.
struct Search {
    std::vector<std::int32_t> codes;
    CutChoice cut;
    Subset subset;
};

Values values_of(const Attribute& x, const Search& search) {
    return {x.m, search.codes.data(), x.counts, x.sizes};
}

// Units of the branches: of "yes" and "no", or of every value.
std::vector<std::int64_t> parts_of(const Attribute& x, const Search& search, const Whole& w) {
    std::vector<std::int64_t> units;
    for (std::int64_t v = 0; v < x.m; ++v) {
        units.push_back(sum_of(x.counts + v * w.n_classes, w.n_classes));
    }
    if (x.kind == Kind::multiway) return units;
    std::int64_t yes = 0;
    std::size_t at = 0;
    for (std::int64_t v = 0; v < x.m; ++v) {
        const auto i = static_cast<std::size_t>(v);
        const bool in_V = x.kind == Kind::subset && at < search.subset.yes.size() &&
                          search.subset.yes[at] == search.codes[i];
        if (in_V) ++at;
        if (in_V || (x.kind == Kind::cut && v <= search.cut.cut)) yes += units[i];
    }
    return {yes, w.n - yes};
}

template <class M>
class Node {
  public:
    Node(const M& measure, const std::vector<Attribute>& attributes, const Whole& w,
         const Rules& rules, const Logs& logs)
        : measure_(measure), attributes_(attributes), w_(w), rules_(rules), logs_(logs),
          searches_(attributes.size()), found_(attributes.size()) {}

    Test test() {
        for (std::size_t j = 0; j < found_.size(); ++j) look(j);
        for (std::size_t j = 0; j < found_.size(); ++j) {
            if (attributes_[j].kind == Kind::subset) search(j);
        }
        if (by_ratio()) weigh();
        return choose();
    }

  private:
    bool by_ratio() const { return trees::by_ratio(rules_.criterion); }

    // Cuts and multiway tests in full; of subsets a bound, their number and a first candidate.
    void look(std::size_t j) {
        const Attribute& x = attributes_[j];
        Candidate& c = found_[j];
        c.kind = x.kind;
        if (x.kind == Kind::cut) {
            searches_[j].cut = best_cut(measure_, w_, x, rules_);
            c.key = searches_[j].cut.key;
        } else if (x.kind == Kind::multiway) {
            c.key = multiway_key(measure_, w_, values_of(x, searches_[j]), rules_);
        } else {
            for (std::int64_t v = 0; v < x.m; ++v) {
                searches_[j].codes.push_back(static_cast<std::int32_t>(x.values[v]));
            }
            const Values values = values_of(x, searches_[j]);
            c.all = subsets_allowed(x.m, rules_.max_subset);
            c.bound = measure_.subset_bound(w_, values.counts, values.m);
            searches_[j].subset = first_subset(measure_, w_, values, rules_, scratch_);
            floor_ = std::max(floor_, searches_[j].subset.key);
        }
        floor_ = std::max(floor_, c.key);
    }

    void search(std::size_t j) {
        Candidate& c = found_[j];
        const double least = floor_ == none ? none : floor_ - M::tau(floor_, w_.n_classes);
        if (!by_ratio() && c.bound < least) return;
        Subset& subset = searches_[j].subset;
        if (!subset.exact) {
            const Values values = values_of(attributes_[j], searches_[j]);
            subset = best_subset(measure_, w_, values, rules_, none, scratch_);
        }
        c.key = subset.key;
        c.exact = subset.exact;
        c.candidates = subset.candidates;
    }

    void weigh() {
        for (std::size_t j = 0; j < found_.size(); ++j) {
            if (found_[j].key == none) continue;
            const auto parts = parts_of(attributes_[j], searches_[j], w_);
            found_[j].split_information = split_information(
                logs_, w_.n, parts.data(), static_cast<std::int64_t>(parts.size()));
        }
    }

    Test choose() {
        Test test;
        double best = none;
        test.attribute = choose_attribute(measure_, w_, rules_, found_, &best);
        if (test.attribute < 0) return test;
        const auto j = static_cast<std::size_t>(test.attribute);
        test.kind = attributes_[j].kind;
        if (test.kind == Kind::cut) {
            take_cut(j, best, test);
        } else if (test.kind == Kind::subset) {
            take_subset(j, best, test);
        } else {
            test.key = found_[j].key;
        }
        test.gain = measure_.score(w_, test.key);
        test.score =
            by_ratio() ? (test.key - measure_.base(w_)) / found_[j].split_information : test.gain;
        certify<M>(w_, rules_, found_, best, test);
        return test;
    }

    // A choice among an attribute's own equals stands if it is among the node's equals too.
    void take_cut(std::size_t j, double best, Test& test) {
        CutChoice cut = searches_[j].cut;
        if (best > cut.key) cut = best_cut(measure_, w_, attributes_[j], rules_, best);
        test.key = cut.chosen;
        test.cut = cut.cut;
        test.threshold =
            threshold_between(attributes_[j].values[cut.cut], attributes_[j].values[cut.cut + 1]);
    }

    void take_subset(std::size_t j, double best, Test& test) {
        Subset& subset = searches_[j].subset;
        if (subset.chosen < best - M::tau(best, w_.n_classes)) {
            const Values values = values_of(attributes_[j], searches_[j]);
            subset = best_subset(measure_, w_, values, rules_, best, scratch_);
        }
        test.key = subset.chosen;
        test.yes = subset.yes;
    }

    const M& measure_;
    const std::vector<Attribute>& attributes_;
    const Whole& w_;
    const Rules& rules_;
    const Logs& logs_;
    std::vector<Search> searches_;
    std::vector<Candidate> found_;
    Scratch scratch_;
    double floor_ = none;
};

}  // namespace

Test best_test(const std::vector<Attribute>& attributes, const Whole& w, const Rules& rules,
               std::int64_t total) {
    // one call asks for few logarithms: a long table would cost more than it spares
    const Logs logs(std::min<std::int64_t>(w.n, 4096), Logs::shift_for(total));
    return with_measure(rules.criterion, logs, [&]<class M>(const M& measure) {
        return Node<M>(measure, attributes, w, rules, logs).test();
    });
}

}  // namespace sortal::trees
