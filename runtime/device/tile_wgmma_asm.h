/* tile_wgmma_asm.h: the instructions of tile_wgmma.h. */
#ifndef TILE_DEVICE_TILE_WGMMA_ASM_H
#define TILE_DEVICE_TILE_WGMMA_ASM_H

/* ---- operands of asm by the width n of D: TEXT of d, then where a, b and the predicate stand ---- */

#define TILE_TEXT_8 "%0, %1, %2, %3"
#define TILE_SUMS_8(c, d) c(d[0]), c(d[1]), c(d[2]), c(d[3])
#define TILE_TEXT_16 TILE_TEXT_8 ", %4, %5, %6, %7"
#define TILE_SUMS_16(c, d) TILE_SUMS_8(c, d), c(d[4]), c(d[5]), c(d[6]), c(d[7])
#define TILE_TEXT_24 TILE_TEXT_16 ", %8, %9, %10, %11"
#define TILE_SUMS_24(c, d) TILE_SUMS_16(c, d), c(d[8]), c(d[9]), c(d[10]), c(d[11])
#define TILE_TEXT_32 TILE_TEXT_24 ", %12, %13, %14, %15"
#define TILE_SUMS_32(c, d) TILE_SUMS_24(c, d), c(d[12]), c(d[13]), c(d[14]), c(d[15])
#define TILE_TEXT_40 TILE_TEXT_32 ", %16, %17, %18, %19"
#define TILE_SUMS_40(c, d) TILE_SUMS_32(c, d), c(d[16]), c(d[17]), c(d[18]), c(d[19])
#define TILE_TEXT_48 TILE_TEXT_40 ", %20, %21, %22, %23"
#define TILE_SUMS_48(c, d) TILE_SUMS_40(c, d), c(d[20]), c(d[21]), c(d[22]), c(d[23])
#define TILE_TEXT_56 TILE_TEXT_48 ", %24, %25, %26, %27"
#define TILE_SUMS_56(c, d) TILE_SUMS_48(c, d), c(d[24]), c(d[25]), c(d[26]), c(d[27])
#define TILE_TEXT_64 TILE_TEXT_56 ", %28, %29, %30, %31"
#define TILE_SUMS_64(c, d) TILE_SUMS_56(c, d), c(d[28]), c(d[29]), c(d[30]), c(d[31])
#define TILE_TEXT_72 TILE_TEXT_64 ", %32, %33, %34, %35"
#define TILE_SUMS_72(c, d) TILE_SUMS_64(c, d), c(d[32]), c(d[33]), c(d[34]), c(d[35])
#define TILE_TEXT_80 TILE_TEXT_72 ", %36, %37, %38, %39"
#define TILE_SUMS_80(c, d) TILE_SUMS_72(c, d), c(d[36]), c(d[37]), c(d[38]), c(d[39])
#define TILE_TEXT_88 TILE_TEXT_80 ", %40, %41, %42, %43"
#define TILE_SUMS_88(c, d) TILE_SUMS_80(c, d), c(d[40]), c(d[41]), c(d[42]), c(d[43])
#define TILE_TEXT_96 TILE_TEXT_88 ", %44, %45, %46, %47"
#define TILE_SUMS_96(c, d) TILE_SUMS_88(c, d), c(d[44]), c(d[45]), c(d[46]), c(d[47])
#define TILE_TEXT_104 TILE_TEXT_96 ", %48, %49, %50, %51"
#define TILE_SUMS_104(c, d) TILE_SUMS_96(c, d), c(d[48]), c(d[49]), c(d[50]), c(d[51])
#define TILE_TEXT_112 TILE_TEXT_104 ", %52, %53, %54, %55"
#define TILE_SUMS_112(c, d) TILE_SUMS_104(c, d), c(d[52]), c(d[53]), c(d[54]), c(d[55])
#define TILE_TEXT_120 TILE_TEXT_112 ", %56, %57, %58, %59"
#define TILE_SUMS_120(c, d) TILE_SUMS_112(c, d), c(d[56]), c(d[57]), c(d[58]), c(d[59])
#define TILE_TEXT_128 TILE_TEXT_120 ", %60, %61, %62, %63"
#define TILE_SUMS_128(c, d) TILE_SUMS_120(c, d), c(d[60]), c(d[61]), c(d[62]), c(d[63])
#define TILE_TEXT_136 TILE_TEXT_128 ", %64, %65, %66, %67"
#define TILE_SUMS_136(c, d) TILE_SUMS_128(c, d), c(d[64]), c(d[65]), c(d[66]), c(d[67])
#define TILE_TEXT_144 TILE_TEXT_136 ", %68, %69, %70, %71"
#define TILE_SUMS_144(c, d) TILE_SUMS_136(c, d), c(d[68]), c(d[69]), c(d[70]), c(d[71])
#define TILE_TEXT_152 TILE_TEXT_144 ", %72, %73, %74, %75"
#define TILE_SUMS_152(c, d) TILE_SUMS_144(c, d), c(d[72]), c(d[73]), c(d[74]), c(d[75])
#define TILE_TEXT_160 TILE_TEXT_152 ", %76, %77, %78, %79"
#define TILE_SUMS_160(c, d) TILE_SUMS_152(c, d), c(d[76]), c(d[77]), c(d[78]), c(d[79])
#define TILE_TEXT_168 TILE_TEXT_160 ", %80, %81, %82, %83"
#define TILE_SUMS_168(c, d) TILE_SUMS_160(c, d), c(d[80]), c(d[81]), c(d[82]), c(d[83])
#define TILE_TEXT_176 TILE_TEXT_168 ", %84, %85, %86, %87"
#define TILE_SUMS_176(c, d) TILE_SUMS_168(c, d), c(d[84]), c(d[85]), c(d[86]), c(d[87])
#define TILE_TEXT_184 TILE_TEXT_176 ", %88, %89, %90, %91"
#define TILE_SUMS_184(c, d) TILE_SUMS_176(c, d), c(d[88]), c(d[89]), c(d[90]), c(d[91])
#define TILE_TEXT_192 TILE_TEXT_184 ", %92, %93, %94, %95"
#define TILE_SUMS_192(c, d) TILE_SUMS_184(c, d), c(d[92]), c(d[93]), c(d[94]), c(d[95])
#define TILE_TEXT_200 TILE_TEXT_192 ", %96, %97, %98, %99"
#define TILE_SUMS_200(c, d) TILE_SUMS_192(c, d), c(d[96]), c(d[97]), c(d[98]), c(d[99])
#define TILE_TEXT_208 TILE_TEXT_200 ", %100, %101, %102, %103"
#define TILE_SUMS_208(c, d) TILE_SUMS_200(c, d), c(d[100]), c(d[101]), c(d[102]), c(d[103])
#define TILE_TEXT_216 TILE_TEXT_208 ", %104, %105, %106, %107"
#define TILE_SUMS_216(c, d) TILE_SUMS_208(c, d), c(d[104]), c(d[105]), c(d[106]), c(d[107])
#define TILE_TEXT_224 TILE_TEXT_216 ", %108, %109, %110, %111"
#define TILE_SUMS_224(c, d) TILE_SUMS_216(c, d), c(d[108]), c(d[109]), c(d[110]), c(d[111])
#define TILE_TEXT_232 TILE_TEXT_224 ", %112, %113, %114, %115"
#define TILE_SUMS_232(c, d) TILE_SUMS_224(c, d), c(d[112]), c(d[113]), c(d[114]), c(d[115])
#define TILE_TEXT_240 TILE_TEXT_232 ", %116, %117, %118, %119"
#define TILE_SUMS_240(c, d) TILE_SUMS_232(c, d), c(d[116]), c(d[117]), c(d[118]), c(d[119])
#define TILE_TEXT_248 TILE_TEXT_240 ", %120, %121, %122, %123"
#define TILE_SUMS_248(c, d) TILE_SUMS_240(c, d), c(d[120]), c(d[121]), c(d[122]), c(d[123])
#define TILE_TEXT_256 TILE_TEXT_248 ", %124, %125, %126, %127"
#define TILE_SUMS_256(c, d) TILE_SUMS_248(c, d), c(d[124]), c(d[125]), c(d[126]), c(d[127])

#define TILE_SS_8 "%4, %5", "%6"
#define TILE_SS_16 "%8, %9", "%10"
#define TILE_SS_24 "%12, %13", "%14"
#define TILE_SS_32 "%16, %17", "%18"
#define TILE_SS_40 "%20, %21", "%22"
#define TILE_SS_48 "%24, %25", "%26"
#define TILE_SS_56 "%28, %29", "%30"
#define TILE_SS_64 "%32, %33", "%34"
#define TILE_SS_72 "%36, %37", "%38"
#define TILE_SS_80 "%40, %41", "%42"
#define TILE_SS_88 "%44, %45", "%46"
#define TILE_SS_96 "%48, %49", "%50"
#define TILE_SS_104 "%52, %53", "%54"
#define TILE_SS_112 "%56, %57", "%58"
#define TILE_SS_120 "%60, %61", "%62"
#define TILE_SS_128 "%64, %65", "%66"
#define TILE_SS_136 "%68, %69", "%70"
#define TILE_SS_144 "%72, %73", "%74"
#define TILE_SS_152 "%76, %77", "%78"
#define TILE_SS_160 "%80, %81", "%82"
#define TILE_SS_168 "%84, %85", "%86"
#define TILE_SS_176 "%88, %89", "%90"
#define TILE_SS_184 "%92, %93", "%94"
#define TILE_SS_192 "%96, %97", "%98"
#define TILE_SS_200 "%100, %101", "%102"
#define TILE_SS_208 "%104, %105", "%106"
#define TILE_SS_216 "%108, %109", "%110"
#define TILE_SS_224 "%112, %113", "%114"
#define TILE_SS_232 "%116, %117", "%118"
#define TILE_SS_240 "%120, %121", "%122"
#define TILE_SS_248 "%124, %125", "%126"
#define TILE_SS_256 "%128, %129", "%130"

#define TILE_RS_8 "{%4, %5, %6, %7}, %8", "%9"
#define TILE_RS_16 "{%8, %9, %10, %11}, %12", "%13"
#define TILE_RS_24 "{%12, %13, %14, %15}, %16", "%17"
#define TILE_RS_32 "{%16, %17, %18, %19}, %20", "%21"
#define TILE_RS_40 "{%20, %21, %22, %23}, %24", "%25"
#define TILE_RS_48 "{%24, %25, %26, %27}, %28", "%29"
#define TILE_RS_56 "{%28, %29, %30, %31}, %32", "%33"
#define TILE_RS_64 "{%32, %33, %34, %35}, %36", "%37"
#define TILE_RS_72 "{%36, %37, %38, %39}, %40", "%41"
#define TILE_RS_80 "{%40, %41, %42, %43}, %44", "%45"
#define TILE_RS_88 "{%44, %45, %46, %47}, %48", "%49"
#define TILE_RS_96 "{%48, %49, %50, %51}, %52", "%53"
#define TILE_RS_104 "{%52, %53, %54, %55}, %56", "%57"
#define TILE_RS_112 "{%56, %57, %58, %59}, %60", "%61"
#define TILE_RS_120 "{%60, %61, %62, %63}, %64", "%65"
#define TILE_RS_128 "{%64, %65, %66, %67}, %68", "%69"
#define TILE_RS_136 "{%68, %69, %70, %71}, %72", "%73"
#define TILE_RS_144 "{%72, %73, %74, %75}, %76", "%77"
#define TILE_RS_152 "{%76, %77, %78, %79}, %80", "%81"
#define TILE_RS_160 "{%80, %81, %82, %83}, %84", "%85"
#define TILE_RS_168 "{%84, %85, %86, %87}, %88", "%89"
#define TILE_RS_176 "{%88, %89, %90, %91}, %92", "%93"
#define TILE_RS_184 "{%92, %93, %94, %95}, %96", "%97"
#define TILE_RS_192 "{%96, %97, %98, %99}, %100", "%101"
#define TILE_RS_200 "{%100, %101, %102, %103}, %104", "%105"
#define TILE_RS_208 "{%104, %105, %106, %107}, %108", "%109"
#define TILE_RS_216 "{%108, %109, %110, %111}, %112", "%113"
#define TILE_RS_224 "{%112, %113, %114, %115}, %116", "%117"
#define TILE_RS_232 "{%116, %117, %118, %119}, %120", "%121"
#define TILE_RS_240 "{%120, %121, %122, %123}, %124", "%125"
#define TILE_RS_248 "{%124, %125, %126, %127}, %128", "%129"
#define TILE_RS_256 "{%128, %129, %130, %131}, %132", "%133"

/* types: text of those of D, A and B. tail: what follows the predicate. */
#define TILE_WGMMA_TEXT(n, k, types, operands, p, tail)                                                                \
    "{.reg .pred p; setp.ne.b32 p, " p ", 0; wgmma.mma_async.sync.aligned.m64n" #n "k" #k "." types                    \
    " {" TILE_TEXT_##n "}, " operands ", p" tail ";}"
#define TILE_WGMMA_ASM(n, k, types, where, tail) TILE_WGMMA_TEXT_(n, k, types, where, tail)
#define TILE_WGMMA_TEXT_(n, k, types, operands, p, tail) TILE_WGMMA_TEXT(n, k, types, operands, p, tail)

#define TILE_WGMMA_SS(n, k, type, ta, tb)                                                                              \
    TILE_FN void tile_wgmma_ss_n##n##_##type##_##ta##tb(float d[n / 2], uint64_t a, uint64_t b, int add) {             \
        asm volatile(TILE_WGMMA_ASM(n, k, "f32." #type "." #type, TILE_SS_##n, ", 1, 1, " #ta ", " #tb)                \
                     : TILE_SUMS_##n("+f", d)                                                                          \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

/* The first half of the columns to d, the second one to e. */
#define TILE_WGMMA_PAIR(half, n, k, type, ta, tb)                                                                      \
    TILE_FN void tile_wgmma_pair_n##half##_##type##_##ta##tb(float d[half / 2], float e[half / 2], uint64_t a,         \
                                                             uint64_t b, int add) {                                    \
        asm volatile(TILE_WGMMA_ASM(n, k, "f32." #type "." #type, TILE_SS_##n, ", 1, 1, " #ta ", " #tb)                \
                     : TILE_SUMS_##half("+f", d), TILE_SUMS_##half("+f", e)                                            \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

#define TILE_WGMMA_PAIR8(half, n, type)                                                                                \
    TILE_FN void tile_wgmma_pair_n##half##_##type(float d[half / 2], float e[half / 2], uint64_t a, uint64_t b,        \
                                                  int add) {                                                           \
        asm volatile(TILE_WGMMA_ASM(n, 32, "f32." #type "." #type, TILE_SS_##n, ", 1, 1")                              \
                     : TILE_SUMS_##half("+f", d), TILE_SUMS_##half("+f", e)                                            \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

#define TILE_WGMMA_SS8(n, op, a_type, b_type)                                                                          \
    TILE_FN void tile_wgmma_ss_n##n##_##op(float d[n / 2], uint64_t a, uint64_t b, int add) {                          \
        asm volatile(TILE_WGMMA_ASM(n, 32, "f32." #a_type "." #b_type, TILE_SS_##n, ", 1, 1")                          \
                     : TILE_SUMS_##n("+f", d)                                                                          \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

#define TILE_WGMMA_SSI(n, op, a_type, b_type)                                                                          \
    TILE_FN void tile_wgmma_ss_n##n##_##op(int32_t d[n / 2], uint64_t a, uint64_t b, int add) {                        \
        asm volatile(TILE_WGMMA_ASM(n, 32, "s32." #a_type "." #b_type, TILE_SS_##n, "")                                \
                     : TILE_SUMS_##n("+r", d)                                                                          \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

#define TILE_WGMMA_RS(n, k, type, tb)                                                                                  \
    TILE_FN void tile_wgmma_rs_n##n##_##type##_##tb(float d[n / 2], const uint32_t a[4], uint64_t b, int add) {        \
        asm volatile(TILE_WGMMA_ASM(n, k, "f32." #type "." #type, TILE_RS_##n, ", 1, 1, " #tb)                         \
                     : TILE_SUMS_##n("+f", d)                                                                          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                                  \
    }

/* ---- order ---- */

/* Before the first product that touches registers which other instructions wrote. */
TILE_FN void tile_wgmma_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TILE_FN void tile_wgmma_commit(void) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/* What was computed into `d` so far stays before what follows. */
TILE_FN void tile_wgmma_keep(float *d, int n) {
    _Pragma("unroll") for (int i = 0; i < n; i++) asm volatile("" : "+f"(d[i])::"memory");
}
TILE_FN void tile_wgmma_keep(int32_t *d, int n) {
    _Pragma("unroll") for (int i = 0; i < n; i++) asm volatile("" : "+r"(d[i])::"memory");
}

/* x, of which nvcc knows nothing: a loop of few steps around products stays a loop, whose registers are fewer. */
TILE_FN int tile_unknown(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* Until at most `pending` groups are in flight; then the sums of the others may be read: `d` stays behind the wait. */
#define TILE_WGMMA_WAIT(pending)                                                                                       \
    template <typename T> TILE_FN void tile_wgmma_wait##pending(T *d, int n) {                                         \
        asm volatile("wgmma.wait_group.sync.aligned " #pending ";" ::: "memory");                                      \
        tile_wgmma_keep(d, n);                                                                                         \
    }

#endif
