// The inner loops of a complete first-order automaton, compiled once for each instruction set and
// chosen when the program starts. Rows are padded with neutral values to a multiple of kLanes.
#pragma once

#include <cstdint>

namespace trelliswork {

inline constexpr int kLanes = 8;

// Below this a scaled value may have lost a path. Terms vanish at 2^64 · exp(−708) ≈ 2^-957 at the
// largest: nothing beside it.
inline constexpr double kSmallestSafe = 0x1p-900;

// Internal linkage: files compiled for different instruction sets include this.
[[maybe_unused]] static constexpr int padded(int n) {
    return (n + kLanes - 1) / kLanes * kLanes;
}

// n rows at a time; L labels, stride K = padded(L). Matrices are (L, K), row-major.
struct ChainKernels {
    // e[i, y] = exp(φ[i, y] − best[i]), best[i] = max_y φ[i, y] (0 where the row is all −inf);
    // φ has stride L, e has stride K.
    void (*exponentiate)(std::int64_t n, int n_labels, const double* phi, double* e, double* best);

    // α[i, y] = (Σ_p α[i−1, p] W[p, y]) e[i, y], times a power of two, rescale[i], where the row's
    // maximum leaves 2^±64. Stops after the first row that has a value below the safe range, and
    // returns how many rows it did. α[−1] must be readable.
    std::int64_t (*forward)(std::int64_t n, int n_labels, const double* weights, const double* e,
                            double* alpha, double* rescale);

    // Rows i = n − 1 … 0, β = β̃ of row n − 1 on entry and of the row before the first on return:
    //   posterior[i, y] = α[i, y] β[y]          (stride L)
    //   v[i, y] = e[i, y] β[y] rescale[i]       (in place of e)
    //   β[p] ← Σ_y W[p, y] v[i, y], or 0 where α[i−1, p] = 0
    // transposed[y, p] = W[p, y]. α[−1] must be readable.
    void (*backward)(std::int64_t n, int n_labels, const double* transposed, const double* alpha,
                     const double* rescale, double* e, double* beta, double* posterior);

    // counts[p, y] += Σ_i α[i−1, p] v[i, y]
    void (*count_pairs)(std::int64_t n, int n_labels, const double* alpha, const double* v,
                        double* counts);

    // W[p, y] = exp(x[p, y] − shift), x = constant + positional, both (L, L), constant may be null;
    // returns shift = max x (0 where all are −inf).
    double (*exponentiate_pairs)(int n_labels, const double* constant, const double* positional,
                                 double* weights);

    // One row with weights of its own: β[p] = Σ_y W[p, y] v[y], or 0 where before[p] = 0, and
    // pairs[p, y] = before[p] W[p, y] v[y], (L, L).
    void (*backward_pairs)(int n_labels, const double* weights, const double* before,
                           const double* v, double* beta, double* pairs);

    // α[i, y] = φ[i, y] + max_p (α[i−1, p] + W[p, y]); φ has stride L. Padding is −inf.
    void (*best_forward)(std::int64_t n, int n_labels, const double* weights, const double* phi,
                         double* alpha);
};

const ChainKernels& chain_kernels();

}  // namespace trelliswork
