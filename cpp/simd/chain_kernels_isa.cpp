// Compiled several times, with TRELLISWORK_ISA naming the instruction set. Only plain loops over
// raw pointers and vector types: nothing here may be shared with code compiled for another set.
#include <cstdint>

#include "simd/chain_kernels.hpp"
#include "simd/lanes_isa.hpp"
#include "simd/row_sums_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

// exp to about one unit in the last place for x ≤ 0; 0 below −708 (no denormals).
inline double exp_nonpositive(double x) {
    constexpr double log2_e = 1.4426950408889634074;
    constexpr double ln2_high = 6.93147180369123816490e-01;
    constexpr double ln2_low = 1.90821492927058770002e-10;
    constexpr double round_to_integer = 0x1.8p52;
    const bool vanishes = !(x >= -708.0);
    const double safe = vanishes ? 0.0 : x;
    const double shifted = safe * log2_e + round_to_integer;
    const double n = shifted - round_to_integer;
    const double r = (safe - n * ln2_high) - n * ln2_low;
    // Taylor polynomial of degree 13 on |r| ≤ ln 2 / 2: truncation below 1e-17.
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::int64_t bits = __builtin_bit_cast(std::int64_t, shifted);
    const double scale = __builtin_bit_cast(double, (bits + 1023) << 52);
    return vanishes ? 0.0 : p * scale;
}

void exponentiate(std::int64_t n, int n_labels, const double* __restrict phi, double* __restrict e,
                  double* __restrict best) {
    const int stride = padded(n_labels);
    for (std::int64_t i = 0; i < n; ++i) {
        const double* row = phi + i * n_labels;
        double* out = e + i * stride;
        double largest = row[0];
        for (int y = 1; y < n_labels; ++y) largest = row[y] > largest ? row[y] : largest;
        if (!(largest > -__builtin_inf())) largest = 0.0;
        best[i] = largest;
        for (int y = 0; y < n_labels; ++y) out[y] = row[y] - largest;
        for (int y = n_labels; y < stride; ++y) out[y] = -__builtin_inf();
        for (int y = 0; y < stride; ++y) out[y] = exp_nonpositive(out[y]);
    }
}

// 2^−exponent(x) for a positive normal x.
inline double inverse_power_of_two(double x) {
    const std::int64_t exponent = (__builtin_bit_cast(std::int64_t, x) >> 52) - 1023;
    return __builtin_bit_cast(double, (1023 - exponent) << 52);
}

std::int64_t forward(std::int64_t n, int n_labels, const double* __restrict weights,
                     const double* __restrict e, double* alpha, double* __restrict rescale) {
    const int stride = padded(n_labels);
    double guard[kLanes];  // 1 in the padding of the last vector, which is zero by design
    for (int k = 0; k < kLanes; ++k) guard[k] = stride - kLanes + k < n_labels ? 0.0 : 1.0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double* before = alpha + (i - 1) * stride;
        double* row = alpha + i * stride;
        const double* e_row = e + i * stride;
        Vec largest = {};
        Vec smallest = Vec{} + 1.0;
        over_columns(stride, [&]<int V>(int y) {
            Vec sums[V];
            weighted_rows<V>(before, n_labels, weights + y, stride, sums);
            for (int v = 0; v < V; ++v) {
                const Vec value = sums[v] * load(e_row + y + kLanes * v);
                store(row + y + kLanes * v, value);
                const bool last = y + kLanes * (v + 1) == stride;
                const Vec guarded = last ? value + load(guard) : value;
                largest = larger(largest, value);
                smallest = smallest < guarded ? smallest : guarded;
            }
        });
        double max = 0.0;
        double min = 1.0;
        for (int k = 0; k < kLanes; ++k) {
            max = largest[k] > max ? largest[k] : max;
            min = smallest[k] < min ? smallest[k] : min;
        }
        rescale[i] = 1.0;
        if (max > 0.0 && (max < 0x1p-64 || max > 0x1p+64)) {
            rescale[i] = max >= 0x1p-1000 ? inverse_power_of_two(max) : 0x1p+1000;
            for (int y = 0; y < stride; ++y) row[y] *= rescale[i];
        }
        if (min < kSmallestSafe) return i + 1;
    }
    return n;
}

void backward(std::int64_t n, int n_labels, const double* __restrict transposed,
              const double* __restrict alpha, const double* __restrict rescale,
              double* __restrict e, double* __restrict beta, double* __restrict posterior) {
    const int stride = padded(n_labels);
    for (std::int64_t i = n - 1; i >= 0; --i) {
        const double* row = alpha + i * stride;
        const double* before = alpha + (i - 1) * stride;
        double* v_row = e + i * stride;
        if (posterior != nullptr) {
            for (int y = 0; y < n_labels; ++y) posterior[i * n_labels + y] = row[y] * beta[y];
        }
        const double factor = rescale[i];
        for (int y = 0; y < stride; ++y) v_row[y] *= beta[y] * factor;
        over_columns(stride, [&]<int V>(int p) {
            Vec sums[V];
            weighted_rows<V>(v_row, n_labels, transposed + p, stride, sums);
            for (int v = 0; v < V; ++v) {
                const Vec reached = load(before + p + kLanes * v);
                store(beta + p + kLanes * v, reached > 0.0 ? sums[v] : Vec{});
            }
        });
    }
}

// Four rows of counts at a time stay in registers over all n positions.
template <int V, int R>
inline void count_piece(std::int64_t n, int stride, const double* a, const double* v_rows,
                        double* counts) {
    Vec sums[R][V];
    for (int r = 0; r < R; ++r) {
        for (int v = 0; v < V; ++v) sums[r][v] = load(counts + r * stride + kLanes * v);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        Vec ahead[V];
        for (int v = 0; v < V; ++v) ahead[v] = load(v_rows + i * stride + kLanes * v);
        for (int r = 0; r < R; ++r) {
            for (int v = 0; v < V; ++v) sums[r][v] += a[(i - 1) * stride + r] * ahead[v];
        }
    }
    for (int r = 0; r < R; ++r) {
        for (int v = 0; v < V; ++v) store(counts + r * stride + kLanes * v, sums[r][v]);
    }
}

void count_pairs(std::int64_t n, int n_labels, const double* __restrict alpha,
                 const double* __restrict v, double* __restrict counts) {
    const int stride = padded(n_labels);
    over_columns(stride, [&]<int V>(int y) {
        int p = 0;
        for (; p + 4 <= n_labels; p += 4) {
            count_piece<V, 4>(n, stride, alpha + p, v + y, counts + p * stride + y);
        }
        for (; p < n_labels; ++p) {
            count_piece<V, 1>(n, stride, alpha + p, v + y, counts + p * stride + y);
        }
    });
}

double exponentiate_pairs(int n_labels, const double* __restrict constant,
                          const double* __restrict positional, double* __restrict weights) {
    const int stride = padded(n_labels);
    double largest = -__builtin_inf();
    for (int p = 0; p < n_labels; ++p) {
        double* row = weights + p * stride;
        for (int y = 0; y < n_labels; ++y) {
            row[y] = positional[p * n_labels + y];
            if (constant != nullptr) row[y] += constant[p * n_labels + y];
            largest = row[y] > largest ? row[y] : largest;
        }
        for (int y = n_labels; y < stride; ++y) row[y] = -__builtin_inf();
    }
    if (!(largest > -__builtin_inf())) largest = 0.0;
    for (int i = 0; i < n_labels * stride; ++i) weights[i] = exp_nonpositive(weights[i] - largest);
    return largest;
}

void backward_pairs(int n_labels, const double* __restrict weights, const double* __restrict before,
                    const double* __restrict v, double* __restrict beta, double* __restrict pairs) {
    const int stride = padded(n_labels);
    for (int p = 0; p < n_labels; ++p) {
        const double* row = weights + p * stride;
        Vec sums = {};
        for (int y = 0; y < stride; y += kLanes) sums += load(row + y) * load(v + y);
        double sum = 0.0;
        for (int k = 0; k < kLanes; ++k) sum += sums[k];
        beta[p] = before[p] > 0.0 ? sum : 0.0;
        for (int y = 0; y < n_labels; ++y) pairs[p * n_labels + y] = before[p] * row[y] * v[y];
    }
}

void best_forward(std::int64_t n, int n_labels, const double* __restrict weights,
                  const double* __restrict phi, double* alpha) {
    const int stride = padded(n_labels);
    for (std::int64_t i = 0; i < n; ++i) {
        const double* before = alpha + (i - 1) * stride;
        double* row = alpha + i * stride;
        over_columns(stride, [&]<int V>(int y) {
            Vec sums[V];
            best_rows<V>(before, n_labels, weights + y, stride, sums);
            for (int v = 0; v < V; ++v) store(row + y + kLanes * v, sums[v]);
        });
        const double* phi_row = phi + i * n_labels;
        for (int y = 0; y < n_labels; ++y) row[y] += phi_row[y];
    }
}

}  // namespace

extern const ChainKernels chain_kernels;
const ChainKernels chain_kernels = {exponentiate,       forward,        backward,    count_pairs,
                                    exponentiate_pairs, backward_pairs, best_forward};

}  // namespace trelliswork::TRELLISWORK_ISA
