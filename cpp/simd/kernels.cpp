// Chooses the inner loops for the processor at hand.
#include <cstdlib>
#include <string_view>

#include "simd/block_kernels.hpp"
#include "simd/chain_kernels.hpp"
#include "simd/feature_kernels.hpp"
#include "simd/instruction_set.hpp"
#include "simd/segment_kernels.hpp"

namespace trelliswork {

#define TRELLISWORK_DECLARE_KERNELS(isa)         \
    namespace isa {                              \
    extern const BlockKernels block_kernels;     \
    extern const ChainKernels chain_kernels;     \
    extern const FeatureKernels feature_kernels; \
    extern const SegmentKernels segment_kernels; \
    }

TRELLISWORK_DECLARE_KERNELS(portable)
#ifdef TRELLISWORK_X86_KERNELS
TRELLISWORK_DECLARE_KERNELS(avx2)
TRELLISWORK_DECLARE_KERNELS(avx512)
#endif

namespace {

enum class InstructionSet { portable, avx2, avx512 };

// The best set that the processor has, or the lower one that TRELLISWORK_ISA asks for.
InstructionSet instruction_set() {
    static const InstructionSet chosen = [] {
#ifdef TRELLISWORK_X86_KERNELS
        const char* variable = std::getenv("TRELLISWORK_ISA");
        const std::string_view wanted = variable == nullptr ? "" : variable;
        if (wanted == "portable") return InstructionSet::portable;
        if (wanted != "avx2" && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw")) {
            return InstructionSet::avx512;
        }
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            return InstructionSet::avx2;
        }
#endif
        return InstructionSet::portable;
    }();
    return chosen;
}

template <class T>
const T& choose(const T& for_avx512, const T& for_avx2, const T& for_any) {
    switch (instruction_set()) {
        case InstructionSet::avx512:
            return for_avx512;
        case InstructionSet::avx2:
            return for_avx2;
        default:
            return for_any;
    }
}

}  // namespace

#ifndef TRELLISWORK_X86_KERNELS
namespace avx2 = portable;
namespace avx512 = portable;
#endif

const char* instruction_set_name() {
    static constexpr const char* names[] = {"avx512", "avx2", "portable"};
    return choose(names[0], names[1], names[2]);
}

const BlockKernels& block_kernels() {
    return choose(avx512::block_kernels, avx2::block_kernels, portable::block_kernels);
}

const ChainKernels& chain_kernels() {
    return choose(avx512::chain_kernels, avx2::chain_kernels, portable::chain_kernels);
}

const SegmentKernels& segment_kernels() {
    return choose(avx512::segment_kernels, avx2::segment_kernels, portable::segment_kernels);
}

const FeatureKernels& feature_kernels() {
    return choose(avx512::feature_kernels, avx2::feature_kernels, portable::feature_kernels);
}

}  // namespace trelliswork
