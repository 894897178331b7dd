// Minimal cost-complexity pruning (Breiman and others 1984, chapter 3) in one pass from the leaves
// up.
//
// Let f_t(alpha) be the least R + alpha · leaves of the prunings of the subtree of t. It is the
// smaller of R(t) + alpha and the sum of f over the children. Both rise with alpha, the sum faster,
// so that they meet once: there t collapses. The sum is made of straight pieces; each ends where a
// node below collapses. Pieces above the meeting point are never asked again, so that every
// collapse enters a heap once and leaves it once: N log N steps in all, however deep the tree.
#include "trees/pruning/cost_complexity.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sortal::trees {
namespace {

constexpr double equal_within = 1e-12;

// The collapses below a node, the largest alpha first: pairing heaps over the nodes' own numbers.
class Collapses {
  public:
    explicit Collapses(std::size_t n) : alpha_(n), first_(n, none), next_(n, none) {}

    static constexpr std::int32_t none = -1;

    double alpha(std::int32_t heap) const { return alpha_[static_cast<std::size_t>(heap)]; }

    std::int32_t add(std::int32_t heap, std::int32_t node, double alpha) {
        alpha_[static_cast<std::size_t>(node)] = alpha;
        return merged(heap, node);
    }
    std::int32_t merged(std::int32_t a, std::int32_t b) {
        if (a == none) return b;
        if (b == none) return a;
        if (alpha(a) < alpha(b)) std::swap(a, b);
        next(b) = first(a);
        first(a) = b;
        return a;
    }
    // The heap without its largest: its children in pairs, and the pairs from the last to the
    // first.
    std::int32_t without_top(std::int32_t heap) {
        std::int32_t pairs = none;
        for (std::int32_t a = std::exchange(first(heap), none); a != none;) {
            const std::int32_t b = std::exchange(next(a), none);
            const std::int32_t rest = b == none ? none : std::exchange(next(b), none);
            const std::int32_t pair = merged(a, b);
            next(pair) = pairs;
            pairs = pair;
            a = rest;
        }
        std::int32_t all = none;
        while (pairs != none) {
            const std::int32_t rest = std::exchange(next(pairs), none);
            all = merged(all, pairs);
            pairs = rest;
        }
        return all;
    }

  private:
    std::int32_t& first(std::int32_t node) { return first_[static_cast<std::size_t>(node)]; }
    std::int32_t& next(std::int32_t node) { return next_[static_cast<std::size_t>(node)]; }

    std::vector<double> alpha_;
    std::vector<std::int32_t> first_, next_;
};

// A straight piece of the children's sum: risk + alpha · leaves.
struct Piece {
    double risk = 0.0;
    double leaves = 0.0;
};

// Where each node collapses if it is the root: never before 0.
std::vector<double> own_strengths(const Costed& tree) {
    const auto n = static_cast<std::size_t>(tree.n);
    Collapses collapses(n);
    std::vector<std::int32_t> heaps(n, Collapses::none);
    std::vector<Piece> saved(n);  // what the collapse of a node takes away
    std::vector<double> strength(n, 0.0);
    for (std::size_t t = n; t-- > 0;) {
        const std::int64_t from = tree.child_start[t], to = tree.child_start[t + 1];
        if (from == to) continue;
        Piece piece;  // the last one, where every child is a leaf
        std::int32_t heap = Collapses::none;
        for (std::int64_t c = from; c < to; ++c) {
            const auto child = static_cast<std::size_t>(tree.children[c]);
            piece.risk += tree.risk[child];
            piece.leaves += 1.0;
            heap = collapses.merged(heap, heaps[child]);
        }
        // one branch saves no leaf: it is asked with what is below it, or not at all
        const auto meeting = [&] {
            return piece.leaves > 1.0 ? (tree.risk[t] - piece.risk) / (piece.leaves - 1.0) : -1.0;
        };
        while (heap != Collapses::none && meeting() < collapses.alpha(heap)) {
            piece.risk -= saved[static_cast<std::size_t>(heap)].risk;
            piece.leaves += saved[static_cast<std::size_t>(heap)].leaves;
            heap = collapses.without_top(heap);
        }
        const double alpha = meeting();
        if (!(alpha > 0.0)) continue;  // a leaf from the start: nothing below is ever asked
        strength[t] = alpha;
        saved[t] = {tree.risk[t] - piece.risk, piece.leaves - 1.0};
        heaps[t] = collapses.add(heap, static_cast<std::int32_t>(t), alpha);
    }
    return strength;
}

// Numbers so close that rounding may have parted them become the largest of them.
void join_equals(std::vector<double>& strength) {
    std::vector<double> levels(strength);
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    std::vector<double> joined(levels);
    for (std::size_t i = levels.size() - 1; i-- > 0;) {
        if (levels[i] >= joined[i + 1] * (1.0 - equal_within)) joined[i] = joined[i + 1];
    }
    for (double& alpha : strength) {
        const auto place = std::lower_bound(levels.begin(), levels.end(), alpha) - levels.begin();
        alpha = joined[static_cast<std::size_t>(place)];
    }
}

}  // namespace

std::vector<double> collapse_strengths(const Costed& tree) {
    auto strength = own_strengths(tree);
    for (std::size_t t = 0; t < strength.size(); ++t) {
        for (std::int64_t c = tree.child_start[t]; c < tree.child_start[t + 1]; ++c) {
            double& below = strength[static_cast<std::size_t>(tree.children[c])];
            below = std::min(below, strength[t]);
        }
    }
    join_equals(strength);
    return strength;
}

}  // namespace sortal::trees
