/* One form for every processor, and three for those of x86-64: AVX2, AVX-512 with VNNI, and with
 * VPOPCNTDQ too. */
#include "index/dots.h"

#include "core/processor.h"

#include <stdbool.h>

static int32_t product_portable(const uint8_t *row, const int8_t *question, size_t length)
{
    int32_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        sum += (int32_t)row[i] * question[i];
    }
    return sum;
}

/* The body is the same for both; what a compiler makes of it depends on the processor. */
static inline __attribute__((always_inline)) void count_differences(const uint64_t *codes,
                                                                    const uint64_t *question,
                                                                    size_t words, uint16_t *found)
{
    for (size_t i = 0; i < DOTS_CODES; i++) {
        int sum = 0;
        for (size_t j = 0; j < words; j++) {
            sum += __builtin_popcountll(codes[j * DOTS_CODES + i] ^ question[j]);
        }
        found[i] = (uint16_t)sum;
    }
}

static void differences_portable(const uint64_t *codes, const uint64_t *question, size_t words,
                                 uint16_t found[DOTS_CODES])
{
    count_differences(codes, question, words, found);
}

static const struct dots PORTABLE = {"portable", product_portable, differences_portable};

#ifdef __x86_64__

#include <immintrin.h>

__attribute__((target("avx2"))) static int32_t product_avx2(const uint8_t *row,
                                                            const int8_t *question, size_t length)
{
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < length; i += 16) {
        __m256i a = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(row + i)));
        __m256i b = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(question + i)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
    }
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtsi128_si32(half);
}

__attribute__((target("popcnt"))) static void differences_popcnt(const uint64_t *codes,
                                                                 const uint64_t *question,
                                                                 size_t words,
                                                                 uint16_t found[DOTS_CODES])
{
    count_differences(codes, question, words, found);
}

__attribute__((target("avx512f,avx512vpopcntdq"))) static void differences_vpopcnt(
    const uint64_t *codes, const uint64_t *question, size_t words, uint16_t found[DOTS_CODES])
{
    for (size_t i = 0; i < DOTS_CODES; i += 8) {
        __m512i sum = _mm512_setzero_si512();
        for (size_t j = 0; j < words; j++) {
            __m512i code = _mm512_loadu_si512(codes + j * DOTS_CODES + i);
            __m512i other = _mm512_set1_epi64((long long)question[j]);
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_si512(code, other)));
        }
        _mm_storeu_si128((__m128i *)(found + i), _mm512_cvtepi64_epi16(sum));
    }
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static int32_t product_vnni(
    const uint8_t *row, const int8_t *question, size_t length)
{
    __m512i sum = _mm512_setzero_si512();
    for (size_t i = 0; i < length; i += 64) {
        sum =
            _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(row + i), _mm512_loadu_si512(question + i));
    }
    return _mm512_reduce_add_epi32(sum);
}

static const struct dots AVX2 = {"AVX2", product_avx2, differences_popcnt};
static const struct dots VNNI = {"AVX-512 VNNI", product_vnni, differences_popcnt};
static const struct dots VPOPCNT = {"AVX-512 VPOPCNTDQ", product_vnni, differences_vpopcnt};

const struct dots *dots_choose(enum dots_level most)
{
    bool avx2 = processor_has(PROCESSOR_AVX2 | PROCESSOR_POPCNT);
    bool vnni = avx2 && processor_has(PROCESSOR_AVX512 | PROCESSOR_AVX512_VNNI);
    bool vpopcnt = vnni && processor_has(PROCESSOR_AVX512_VPOPCNTDQ);
    return most >= DOTS_ANY && vpopcnt ? &VPOPCNT
           : most >= DOTS_VNNI && vnni ? &VNNI
           : most >= DOTS_AVX2 && avx2 ? &AVX2
                                       : &PORTABLE;
}

#else

const struct dots *dots_choose(enum dots_level most)
{
    (void)most;
    return &PORTABLE;
}

#endif
