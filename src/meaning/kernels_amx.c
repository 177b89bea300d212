/* Kernels for x86 processors with AMX, which multiplies 16 rows with 16 columns at once; the rest
 * is that of AVX-512. Weights lie as its tiles want them. */
#if defined(__x86_64__)

#define EXTENSIONS "avx512f,avx512bw,avx512vl,avx512vnni,fma,amx-tile,amx-int8"
#define TARGET     __attribute__((target(EXTENSIONS)))
#define LANES      16
#define TILE_ROWS  64u

#include "meaning/kernels_body.h"

#include <immintrin.h>

static inline TARGET vec multiply_add(vec a, vec b, vec sum)
{
    return _mm512_fmadd_ps(a, b, sum);
}

#define STEP        64u /* numbers of a row that a tile holds */
#define BLOCK       16u /* rows of a tile */
#define PANEL_BYTES 64u

/* Tiles by their numbers. 0 to 3 are sums side by side, since a step of one takes as long as three
 * others. */
#define ROWS_OF 4
#define WEIGHTS 5

#define ADD_TO(N)                                                                                  \
    if (count > (N)*BLOCK) {                                                                       \
        _tile_loadd(ROWS_OF, rows + (N)*BLOCK * depth + d, depth);                                 \
        _tile_dpbusd(N, ROWS_OF, WEIGHTS);                                                         \
    }

#define STORE(N)                                                                                   \
    if (count > (N)*BLOCK) {                                                                       \
        _tile_stored(N, sums[(N)*BLOCK], sizeof *sums);                                            \
    }

static TARGET size_t tile(const uint8_t *rows, size_t count, const int8_t *panel, size_t depth,
                          int32_t (*sums)[KERNEL_PANEL])
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t d = 0; d < depth; d += STEP) {
        _tile_loadd(WEIGHTS, panel + d * KERNEL_PANEL, PANEL_BYTES);
        ADD_TO(0)
        ADD_TO(1)
        ADD_TO(2)
        ADD_TO(3)
    }
    STORE(0)
    STORE(1)
    STORE(2)
    STORE(3)
    return count < TILE_ROWS ? count : TILE_ROWS;
}

static TARGET void multiply_by_tiles(const struct kernel_matrix *matrix,
                                     const struct kernel_bytes *in, size_t rows, float *out)
{
    static const struct {
        uint8_t palette, start, unused[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } ALL_FULL = {
        .palette = 1,
        .row_bytes = {STEP, STEP, STEP, STEP, STEP, STEP},
        .rows = {BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK},
    };
    if (matrix->depth % STEP) {
        KERNELS_AVX512.multiply(matrix, in, rows, out);
        return;
    }
    _tile_loadconfig(&ALL_FULL);
    multiply(matrix, in, rows, out);
    _tile_release();
}

const struct kernels KERNELS_AMX = {
    .name = "AMX",
    .multiply = multiply_by_tiles,
    .quantise = quantise,
    .normalise = normalise,
    .gelu = gelu,
    .attend = attend,
};

#endif
