/* main.c: two tile programs, one after the other, on a mesh of one rank. */
#include "smooth.h"
#include "total.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, D = 64 };

static float a[N * D], b[N * D], s[N];

static void demand(int code) {
    if (code == TILE_OK) return;
    fprintf(stderr, "%s: %s\n", tile_error_name(code), tile_last_error());
    exit(1);
}

int main(void) {
    tile_mesh *mesh;
    smooth *first;
    total *second;
    for (int i = 0; i < N * D; i++) a[i] = 1;
    demand(tile_mesh_open(&(tile_mesh_config){.size = sizeof(tile_mesh_config), .nranks = 1}, &mesh));
    demand(smooth_open(mesh, NULL, &first));
    demand(total_open(mesh, NULL, &second));
    demand(smooth_run(first, &(smooth_args){.a = a, .b = b}, NULL));
    demand(total_run(second, &(total_args){.b = b, .s = s}, NULL)); /* begins when the first has ended */
    demand(tile_stream_sync(mesh, NULL));
    printf("row 0: %.1f, row 1: %.1f\n", s[0], s[1]);
    smooth_close(first);
    total_close(second);
    tile_mesh_close(mesh);
    return 0;
}
