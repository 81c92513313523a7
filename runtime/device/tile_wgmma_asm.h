/* tile_wgmma_asm.h: the instructions of tile_wgmma.h. */
#ifndef TILE_DEVICE_TILE_WGMMA_ASM_H
#define TILE_DEVICE_TILE_WGMMA_ASM_H

/* ---- operands of asm by the width n of D: TEXT of d, then where a, b and the predicate stand ---- */

#define TILE_TEXT_8 "%0, %1, %2, %3"
#define TILE_SUMS_8(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define TILE_TEXT_16 TILE_TEXT_8 ", %4, %5, %6, %7"
#define TILE_SUMS_16(d) TILE_SUMS_8(d), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define TILE_TEXT_24 TILE_TEXT_16 ", %8, %9, %10, %11"
#define TILE_SUMS_24(d) TILE_SUMS_16(d), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define TILE_TEXT_32 TILE_TEXT_24 ", %12, %13, %14, %15"
#define TILE_SUMS_32(d) TILE_SUMS_24(d), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define TILE_TEXT_40 TILE_TEXT_32 ", %16, %17, %18, %19"
#define TILE_SUMS_40(d) TILE_SUMS_32(d), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define TILE_TEXT_48 TILE_TEXT_40 ", %20, %21, %22, %23"
#define TILE_SUMS_48(d) TILE_SUMS_40(d), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define TILE_TEXT_56 TILE_TEXT_48 ", %24, %25, %26, %27"
#define TILE_SUMS_56(d) TILE_SUMS_48(d), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define TILE_TEXT_64 TILE_TEXT_56 ", %28, %29, %30, %31"
#define TILE_SUMS_64(d) TILE_SUMS_56(d), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define TILE_TEXT_72 TILE_TEXT_64 ", %32, %33, %34, %35"
#define TILE_SUMS_72(d) TILE_SUMS_64(d), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define TILE_TEXT_80 TILE_TEXT_72 ", %36, %37, %38, %39"
#define TILE_SUMS_80(d) TILE_SUMS_72(d), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define TILE_TEXT_88 TILE_TEXT_80 ", %40, %41, %42, %43"
#define TILE_SUMS_88(d) TILE_SUMS_80(d), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define TILE_TEXT_96 TILE_TEXT_88 ", %44, %45, %46, %47"
#define TILE_SUMS_96(d) TILE_SUMS_88(d), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define TILE_TEXT_104 TILE_TEXT_96 ", %48, %49, %50, %51"
#define TILE_SUMS_104(d) TILE_SUMS_96(d), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define TILE_TEXT_112 TILE_TEXT_104 ", %52, %53, %54, %55"
#define TILE_SUMS_112(d) TILE_SUMS_104(d), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define TILE_TEXT_120 TILE_TEXT_112 ", %56, %57, %58, %59"
#define TILE_SUMS_120(d) TILE_SUMS_112(d), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define TILE_TEXT_128 TILE_TEXT_120 ", %60, %61, %62, %63"
#define TILE_SUMS_128(d) TILE_SUMS_120(d), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define TILE_TEXT_136 TILE_TEXT_128 ", %64, %65, %66, %67"
#define TILE_SUMS_136(d) TILE_SUMS_128(d), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define TILE_TEXT_144 TILE_TEXT_136 ", %68, %69, %70, %71"
#define TILE_SUMS_144(d) TILE_SUMS_136(d), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define TILE_TEXT_152 TILE_TEXT_144 ", %72, %73, %74, %75"
#define TILE_SUMS_152(d) TILE_SUMS_144(d), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define TILE_TEXT_160 TILE_TEXT_152 ", %76, %77, %78, %79"
#define TILE_SUMS_160(d) TILE_SUMS_152(d), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define TILE_TEXT_168 TILE_TEXT_160 ", %80, %81, %82, %83"
#define TILE_SUMS_168(d) TILE_SUMS_160(d), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define TILE_TEXT_176 TILE_TEXT_168 ", %84, %85, %86, %87"
#define TILE_SUMS_176(d) TILE_SUMS_168(d), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define TILE_TEXT_184 TILE_TEXT_176 ", %88, %89, %90, %91"
#define TILE_SUMS_184(d) TILE_SUMS_176(d), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define TILE_TEXT_192 TILE_TEXT_184 ", %92, %93, %94, %95"
#define TILE_SUMS_192(d) TILE_SUMS_184(d), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define TILE_TEXT_200 TILE_TEXT_192 ", %96, %97, %98, %99"
#define TILE_SUMS_200(d) TILE_SUMS_192(d), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define TILE_TEXT_208 TILE_TEXT_200 ", %100, %101, %102, %103"
#define TILE_SUMS_208(d) TILE_SUMS_200(d), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define TILE_TEXT_216 TILE_TEXT_208 ", %104, %105, %106, %107"
#define TILE_SUMS_216(d) TILE_SUMS_208(d), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define TILE_TEXT_224 TILE_TEXT_216 ", %108, %109, %110, %111"
#define TILE_SUMS_224(d) TILE_SUMS_216(d), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define TILE_TEXT_232 TILE_TEXT_224 ", %112, %113, %114, %115"
#define TILE_SUMS_232(d) TILE_SUMS_224(d), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define TILE_TEXT_240 TILE_TEXT_232 ", %116, %117, %118, %119"
#define TILE_SUMS_240(d) TILE_SUMS_232(d), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define TILE_TEXT_248 TILE_TEXT_240 ", %120, %121, %122, %123"
#define TILE_SUMS_248(d) TILE_SUMS_240(d), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define TILE_TEXT_256 TILE_TEXT_248 ", %124, %125, %126, %127"
#define TILE_SUMS_256(d) TILE_SUMS_248(d), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

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

#define TILE_WGMMA_TEXT(n, k, type, operands, p, tail)                                                                 \
    "{.reg .pred p; setp.ne.b32 p, " p ", 0; wgmma.mma_async.sync.aligned.m64n" #n "k" #k ".f32." #type "." #type      \
    " {" TILE_TEXT_##n "}, " operands ", p, 1, 1" tail ";}"
#define TILE_WGMMA_ASM(n, k, type, where, tail) TILE_WGMMA_TEXT_(n, k, type, where, tail)
#define TILE_WGMMA_TEXT_(n, k, type, operands, p, tail) TILE_WGMMA_TEXT(n, k, type, operands, p, tail)

#define TILE_WGMMA_SS(n, k, type, ta, tb)                                                                              \
    TILE_FN void tile_wgmma_ss_n##n##_##type##_##ta##tb(float d[n / 2], uint64_t a, uint64_t b, int add) {             \
        asm volatile(TILE_WGMMA_ASM(n, k, type, TILE_SS_##n, ", " #ta ", " #tb)                                        \
                     : TILE_SUMS_##n(d)                                                                                \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

/* The first half of the columns to d, the second one to e. */
#define TILE_WGMMA_PAIR(half, n, k, type, ta, tb)                                                                      \
    TILE_FN void tile_wgmma_pair_n##half##_##type##_##ta##tb(float d[half / 2], float e[half / 2], uint64_t a,         \
                                                             uint64_t b, int add) {                                    \
        asm volatile(TILE_WGMMA_ASM(n, k, type, TILE_SS_##n, ", " #ta ", " #tb)                                        \
                     : TILE_SUMS_##half(d), TILE_SUMS_##half(e)                                                        \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

#define TILE_WGMMA_SS8(n, type)                                                                                        \
    TILE_FN void tile_wgmma_ss_n##n##_##type(float d[n / 2], uint64_t a, uint64_t b, int add) {                        \
        asm volatile(TILE_WGMMA_ASM(n, 32, type, TILE_SS_##n, "")                                                      \
                     : TILE_SUMS_##n(d)                                                                                \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }

#define TILE_WGMMA_RS(n, k, type, tb)                                                                                  \
    TILE_FN void tile_wgmma_rs_n##n##_##type##_##tb(float d[n / 2], const uint32_t a[4], uint64_t b, int add) {        \
        asm volatile(TILE_WGMMA_ASM(n, k, type, TILE_RS_##n, ", " #tb)                                                 \
                     : TILE_SUMS_##n(d)                                                                                \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                                  \
    }

/* ---- order ---- */

/* Before the first product that touches registers which other instructions wrote. */
TILE_FN void tile_wgmma_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TILE_FN void tile_wgmma_commit(void) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/* The next product's rows of A from n on count for nothing: others may be writing there. */
TILE_FN void tile_wgmma_rows(int) {}

/* What was computed into `d` so far stays before what follows. */
TILE_FN void tile_wgmma_keep(float *d, int n) {
    _Pragma("unroll") for (int i = 0; i < n; i++) asm volatile("" : "+f"(d[i])::"memory");
}

/* x, of which nvcc knows nothing: a loop of few steps around products stays a loop, whose registers are fewer. */
TILE_FN int tile_unknown(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* Until at most `pending` groups are in flight; then the sums of the others may be read: `d` stays behind the wait. */
#define TILE_WGMMA_WAIT(pending)                                                                                       \
    TILE_FN void tile_wgmma_wait##pending(float *d, int n) {                                                           \
        asm volatile("wgmma.wait_group.sync.aligned " #pending ";" ::: "memory");                                      \
        tile_wgmma_keep(d, n);                                                                                         \
    }

#endif
