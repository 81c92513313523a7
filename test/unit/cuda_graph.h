/* cuda_graph.h: what tests of programs on NVIDIA's GPUs need of the driver: streams and captured graphs. */
#ifndef TILEC_TEST_CUDA_GRAPH_H
#define TILEC_TEST_CUDA_GRAPH_H

#include <dlfcn.h>
#include <stdbool.h>

typedef struct {
    int (*stream_create)(void **, unsigned), (*begin)(void *, int), (*end)(void *, void **);
    int (*instantiate)(void **, void *, unsigned long long), (*launch)(void *, void *), (*sync)(void *);
} Cuda;

static inline bool cuda_open(Cuda *c) {
    static const char *const name[] = {"cuStreamCreate",     "cuStreamBeginCapture_v2",
                                       "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                                       "cuGraphLaunch",      "cuStreamSynchronize"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW), **slot = (void **)c;
    for (int i = 0; i < 6; i++)
        if (!library || !(slot[i] = dlsym(library, name[i]))) return false;
    return true;
}

#endif
