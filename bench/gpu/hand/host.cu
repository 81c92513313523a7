/* host.cu: launches of the kernels written by hand, for run.py; compiled together with one of them (-DKERNEL=..).
   Functions return 0 or a CUDA error. Pointers are device memory, tensors dense and row-major. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

#include KERNEL

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* Boxes of 64 x rows of bf16 tensors [outer, rows, columns], swizzled by 128 bytes. */
static int tensor_map(tile_tensor_map *map, void *p, int rank, int64_t columns, int64_t rows, int64_t outer, int box) {
    static encode_fn encode;
    cudaDriverEntryPointQueryResult found;
    if (!encode) {
        int error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                                     cudaEnableDefault, &found);
        if (error) return error;
    }
    cuuint64_t dim[3] = {(cuuint64_t)columns, (cuuint64_t)rows, (cuuint64_t)outer};
    cuuint64_t stride[2] = {(cuuint64_t)columns * 2, (cuuint64_t)(columns * rows) * 2};
    cuuint32_t boxes[3] = {64, (cuuint32_t)box, 1}, step[3] = {1, 1, 1};
    return encode((CUtensorMap *)map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, p, dim, stride, boxes, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static int multiprocessors(void) {
    int n = 0, device = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device);
    return n;
}

/* next: four bytes of device memory for the counter of tiles. */
extern "C" int run_attention(void *q, void *k, void *v, void *o, int *next, int B, int H, int G, int S, int T,
                             int causal, cudaStream_t stream) {
    attention_call c = {.next = next, .H = H, .G = G, .S = S, .T = T, .heads = B * H, .causal = causal};
    int section = (int)(32e6 / (4.0 * T * D)) * (H / G);
    c.section = section < 1 ? 1 : section < c.heads ? section : c.heads;
    c.scale = 1.4426950408889634f / sqrtf((float)D);
    int error = tensor_map(&c.q, q, 3, D, S, B * H, 64);
    if (!error) error = tensor_map(&c.k, k, 3, D, T, B * G, KEYS);
    if (!error) error = tensor_map(&c.v, v, 3, D, T, B * G, KEYS);
    if (!error) error = tensor_map(&c.o, o, 3, D, S, B * H, 64);
    if (!error) error = cudaMemsetAsync(next, 0, sizeof *next, stream);
    if (!error) error = cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, ATTENTION_LDS);
    if (!error) attention<<<multiprocessors(), ATTENTION_THREADS, ATTENTION_LDS, stream>>>(c);
    return error ? error : (int)cudaGetLastError();
}
