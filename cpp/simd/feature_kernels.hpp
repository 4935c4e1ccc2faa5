// The two inner loops of learn/feature_weights.cpp, compiled for each instruction set.
#pragma once

#include <cstdint>

namespace trelliswork {

inline constexpr int kScoreRows = 4;

// A run of tokens, dense and sparse features apart; see learn/feature_weights.hpp.
struct FeatureRun {
    std::int64_t n_tokens;
    int n_outputs;
    const std::int64_t* dense_offsets;
    const std::int64_t* sparse_offsets;
    const std::int32_t* dense_rows;
    const std::int32_t* sparse_starts;
    const std::uint16_t* sparse_counts;
    const std::uint16_t* outputs;  // of the run's first sparse feature and on
    const double* dense_values;    // or null
    const double* sparse_values;   // or null
};

struct FeatureKernels {
    // rows (kScoreRows, stride) is scratch.
    void (*score)(const FeatureRun& run, const double* dense, const double* listed, double* rows,
                  double* out);
    // row (stride,) is scratch.
    void (*scatter)(const FeatureRun& run, const double* signal, double* row, double* dense,
                    double* listed);
};

const FeatureKernels& feature_kernels();

}  // namespace trelliswork
