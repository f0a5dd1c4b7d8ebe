#include <cstdint>

template <typename T>
static void segment_mean(const T* x, const int32_t* offsets, const int64_t* starts, const int64_t* slots, const T* weight, T* total, T* mean, int64_t segments, int64_t cols, int32_t weighted, float gain) {
    for (int64_t s = 0; s < segments; ++s)
        for (int64_t c = 0; c < cols; ++c) {
            double sum = 0;
            const int32_t length = offsets[s + 1] - offsets[s];
            for (int32_t t = 0; t < length; ++t)
                sum += double(x[starts[s] + t * cols + c]) * (weighted ? double(weight[offsets[s] + t]) : 1.0);
            const T value = T(length ? sum / length * gain : 0.0);
            mean[slots[s] * cols + c] = value;
            total[slots[s] * cols + c] += value;
        }
}

extern "C" void segment_mean_float32(const float* x, const int32_t* offsets, const int64_t* starts, const int64_t* slots, const float* weight, float* total, float* mean, int64_t segments, int64_t cols,
                                     int32_t weighted, float gain) {
    segment_mean(x, offsets, starts, slots, weight, total, mean, segments, cols, weighted, gain);
}

extern "C" void segment_mean_float16(const _Float16* x, const int32_t* offsets, const int64_t* starts, const int64_t* slots, const _Float16* weight, _Float16* total, _Float16* mean, int64_t segments,
                                     int64_t cols, int32_t weighted, float gain) {
    segment_mean(x, offsets, starts, slots, weight, total, mean, segments, cols, weighted, gain);
}
