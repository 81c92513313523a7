/* Opens a mesh on a GPU and prints what the runtime says. */
#include "tile.h"

#include <stdio.h>

int main(void) {
    tile_mesh_config c = {.size = sizeof c, .nranks = 1, .target = "gpu"};
    tile_mesh *m = NULL;
    int code = tile_mesh_open(&c, &m);
    printf("%s: %s\n", tile_error_name(code), code ? tile_last_error() : "");
    tile_mesh_close(m);
    return 0;
}
