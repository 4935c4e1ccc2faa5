// The instruction set of the inner loops.
#pragma once

namespace trelliswork {

// The set that this process uses: "portable", "avx2" or "avx512".
const char* instruction_set_name();

}  // namespace trelliswork
