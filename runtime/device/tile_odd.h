/* tile_odd.h: runs of elements that begin anywhere in memory, by the vectors that hold them, shifted into place. Part
   of tile_gpu.h. A machine's header has tile_funnel(high, low, bytes): the low word of (high:low) >> 8 bytes, bytes <
   4; or TILE_OWN_ODD and the loads themselves. */
#ifndef TILE_DEVICE_TILE_ODD_H
#define TILE_DEVICE_TILE_ODD_H

#ifndef TILE_OWN_ODD
TILE_FN uint32_t tile_either(int first, uint32_t a, uint32_t b) { return first ? a : b; }

/* So many bytes from anywhere, by the vector in which they begin and the next one, (bytes, words) = (8, 2) or (16, 4).
 */
#define TILE_LOAD_ODD(bytes, words, T)                                                                                 \
    TILE_FN void tile_load_odd##bytes(const void *from, void *regs, bool wanted) {                                     \
        const int past = (int)((uintptr_t)from % bytes);                                                               \
        const char *first = (const char *)from - past, *second = first + bytes;                                        \
        uint32_t w[2 * words] = {0};                                                                                   \
        if (wanted) {                                                                                                  \
            tile_check(first, bytes, TILE_COVERS, 0);                                                                  \
            tile_check(second, bytes, TILE_COVERS, 0);                                                                 \
            T low = *(TILE_GLOBAL const T *)first, high = *(TILE_GLOBAL const T *)second;                              \
            __builtin_memcpy(w, &low, bytes);                                                                          \
            __builtin_memcpy(w + words, &high, bytes);                                                                 \
        }                                                                                                              \
        _Pragma("unroll") for (int i = 0; words == 4 && i < 6; i++) w[i] = tile_either(past & 8, w[i + 2], w[i]);      \
        _Pragma("unroll") for (int i = 0; i <= words; i++) w[i] = tile_either(past & 4, w[i + 1], w[i]);               \
        _Pragma("unroll") for (int i = 0; i < words; i++) w[i] = tile_funnel(w[i + 1], w[i], past & 3);                \
        __builtin_memcpy(regs, w, bytes);                                                                              \
    }

TILE_LOAD_ODD(8, 2, tile_v8)
TILE_LOAD_ODD(16, 4, tile_v16)
#endif

/* n elements, 8 or 16 bytes in all, if `wanted`, else 0. 2 n elements from there on lie in the tensor then. What is not
   wanted as a whole tile_load_rest loads: its first `exist` elements. */
#define TILE_ODD_TYPED(name, T, bytes)                                                                                 \
    TILE_FN void tile_load_odd_##name(const T *from, T *regs, int n, bool wanted) {                                    \
        _Pragma("unroll") for (int i = 0; i < n; i++) if (wanted) tile_check(from + i, bytes, TILE_LOADS, 0);          \
        if (n * bytes == 16)                                                                                           \
            tile_load_odd16(from, regs, wanted);                                                                       \
        else                                                                                                           \
            tile_load_odd8(from, regs, wanted);                                                                        \
    }                                                                                                                  \
    TILE_FN void tile_load_rest_##name(const T *from, T *regs, int n, bool wanted, int64_t exist) {                    \
        if (!wanted && exist > 0) {                                                                                    \
            _Pragma("unroll") for (int i = 0; i < n; i++) if (i < exist) regs[i] = tile_load_##name(from + i);         \
        }                                                                                                              \
    }

TILE_SHORT_TYPES(TILE_ODD_TYPED)

/* ---- rows whose places are aligned: n elements from column `at` on, the row's own vector; those behind the last of
   `places` columns are the first ones. `size` columns exist. ---- */

#define TILE_ROLLED(name, T, bytes)                                                                                    \
    /* 0 where the vector does not exist as a whole. */                                                                \
    TILE_FN void tile_load_aligned_##name(const T *row, T *regs, int n, int at, int64_t size) {                         \
        _Pragma("unroll") for (int i = 0; i < n; i++) regs[i] = 0;                                                     \
        if (at + n <= size) {                                                                                          \
            TILE_BY_SIZE(tile_load, row + at, regs, n * bytes)                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    /* Those elements of which less than `room` columns behind exist. */                                               \
    TILE_FN void tile_load_ends_##name(const T *row, T *regs, int n, int at, int64_t size, int room, int places) {     \
        if (at + room > size && (at < size || at + n > places)) {                                                      \
            _Pragma("unroll") for (int i = 0; i < n; i++) {                                                            \
                const int column = (at + i) & (places - 1);                                                            \
                if (column < size) regs[i] = tile_load_##name(row + column);                                           \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    TILE_FN void tile_store_aligned_##name(T *row, const T *regs, int n, int at, int64_t size, int places) {            \
        if (at + n <= size) {                                                                                          \
            TILE_BY_SIZE(tile_store, row + at, regs, n * bytes)                                                        \
        } else if (at < size || at + n > places) {                                                                     \
            _Pragma("unroll") for (int i = 0; i < n; i++) {                                                            \
                const int column = (at + i) & (places - 1);                                                            \
                if (column < size) tile_store_##name(row + column, regs[i]);                                           \
            }                                                                                                          \
        }                                                                                                              \
    }

TILE_TYPES(TILE_ROLLED)

#endif
