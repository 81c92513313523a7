#include "small.h"
#include "large.h"

#include <stdio.h>

/* Both sizes of one source in one binary. */
int main(void) {
    tile_mesh *mesh = NULL;
    small *a = NULL;
    large *b = NULL;
    static float x[32], y[32];
    for (int i = 0; i < 32; i++) x[i] = (float)i;
    int bad = tile_mesh_open(&(tile_mesh_config){.size = sizeof(tile_mesh_config), .nranks = 1}, &mesh) || small_open(mesh, NULL, &a) || large_open(mesh, NULL, &b);
    bad = bad || small_run(a, &(small_args){.x = x, .y = y}, NULL) || tile_stream_sync(mesh, NULL);
    printf("%d %g %g\n", small_args_x_0, (double)y[7], (double)y[8]);
    bad = bad || large_run(b, &(large_args){.x = x, .y = y}, NULL) || tile_stream_sync(mesh, NULL);
    printf("%d %g %g\n", large_args_x_0, (double)y[7], (double)y[31]);
    return bad;
}
