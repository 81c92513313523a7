/* loads.c: opens a library that tilec has made, which brings the runtime along: this program is not linked with it.
   usage: loads LIBRARY */
#include "sum.h"

#include <dlfcn.h>
#include <stdio.h>

static void *library;

#define FIND(name) __typeof__(&name) name##_found = (__typeof__(&name))dlsym(library, #name)

int main(int argc, char **argv) {
    float a[sum_args_C_0], b[sum_args_C_0], c[sum_args_C_0];
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = 1};
    tile_mesh *mesh;
    sum *instance;
    library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    FIND(tile_mesh_open);
    FIND(tile_stream_sync);
    FIND(sum_open);
    FIND(sum_run);
    for (int i = 0; i < sum_args_C_0; i++) a[i] = (float)i, b[i] = 1, c[i] = 0;
    sum_args args = {.A = a, .B = b, .C = c};
    int code = tile_mesh_open_found(&config, &mesh);
    if (!code) code = sum_open_found(mesh, NULL, &instance);
    if (!code) code = sum_run_found(instance, &args, NULL);
    if (!code) code = tile_stream_sync_found(mesh, NULL);
    printf("code %d, last %g\n", code, (double)c[sum_args_C_0 - 1]);
    return code != 0;
}
