#include "chain_kernels.hpp"

namespace trelliswork {

namespace portable {
extern const ChainKernels kernels;
}
#ifdef TRELLISWORK_X86_KERNELS
namespace avx2 {
extern const ChainKernels kernels;
}
namespace avx512 {
extern const ChainKernels kernels;
}
#endif

const ChainKernels& chain_kernels() {
#ifdef TRELLISWORK_X86_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
        return avx512::kernels;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kernels;
#endif
    return portable::kernels;
}

}  // namespace trelliswork
