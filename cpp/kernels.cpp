// Chooses the inner loops for the processor at hand.
#include "chain_kernels.hpp"
#include "feature_kernels.hpp"

namespace trelliswork {

#define TRELLISWORK_DECLARE_KERNELS(isa)         \
    namespace isa {                              \
    extern const ChainKernels chain_kernels;     \
    extern const FeatureKernels feature_kernels; \
    }

TRELLISWORK_DECLARE_KERNELS(portable)
#ifdef TRELLISWORK_X86_KERNELS
TRELLISWORK_DECLARE_KERNELS(avx2)
TRELLISWORK_DECLARE_KERNELS(avx512)
#endif

namespace {

template <class Kernels>
const Kernels& choose([[maybe_unused]] const Kernels& for_avx512,
                      [[maybe_unused]] const Kernels& for_avx2, const Kernels& for_any) {
#ifdef TRELLISWORK_X86_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
        return for_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return for_avx2;
#endif
    return for_any;
}

}  // namespace

#ifndef TRELLISWORK_X86_KERNELS
namespace avx2 = portable;
namespace avx512 = portable;
#endif

const ChainKernels& chain_kernels() {
    static const ChainKernels& chosen =
        choose(avx512::chain_kernels, avx2::chain_kernels, portable::chain_kernels);
    return chosen;
}

const FeatureKernels& feature_kernels() {
    static const FeatureKernels& chosen =
        choose(avx512::feature_kernels, avx2::feature_kernels, portable::feature_kernels);
    return chosen;
}

}  // namespace trelliswork
