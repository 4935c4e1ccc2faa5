// Checks of input.
#pragma once

#include <stdexcept>
#include <string>

namespace trelliswork {

inline void require(bool condition, const std::string& message) {
    if (!condition) throw std::invalid_argument(message);
}
// Without making a string where the condition holds: for checks in loops.
inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

}  // namespace trelliswork
