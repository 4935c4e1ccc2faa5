// A small counter-based random stream (SplitMix64: Steele, Lea and Flood 2014). Each sequence of a
// batch has a stream of its own, so that samples do not depend on the number of threads.
#pragma once

#include <cstdint>

namespace trelliswork {

class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
        state_ = next() ^ (stream * 0xD1B54A32D192ED03ULL);
    }

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

    // Uniform on [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

}  // namespace trelliswork
