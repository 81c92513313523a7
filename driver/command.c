/* command.c: other programs that this command runs, and the folders beside it. */
#include "driver/emit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_runtime(const char *folder, Arena *a) {
    return access(arena_format(a, "%s/device/host.h", folder), R_OK) == 0;
}

/* A folder by its way from the command's; NULL: there is none. */
static const char *beside_command(Arena *a, const char *way) {
    char exe[4096], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash) *slash = 0;
    const char *folder = realpath(arena_format(a, "%s/%s", exe, way), real);
    return folder ? arena_text(a, folder, strlen(folder)) : NULL;
}

/* The build tree and an installed prefix have one shape: the command finds its headers from where it lies itself. */
const char *runtime_folder(Arena *a) {
    const char *given = getenv("TILEC_RUNTIME");
    if (given && *given) return given;
    const char *folder = beside_command(a, TILEC_RUNTIME_FROM_BIN);
    if (folder && is_runtime(folder, a)) return folder;
    fputs("tilec: error: the runtime's headers are not beside the command; TILEC_RUNTIME may name their folder\n", stderr);
    return NULL;
}

/* In the prefix, or in the build tree. */
static const char *library_folder(Arena *a, const char *file) {
    static const char *const way[] = {TILEC_LIBRARY_FROM_BIN, ".."};
    for (int i = 0; i < 2; i++) {
        const char *folder = beside_command(a, way[i]);
        if (folder && access(arena_format(a, "%s/%s", folder, file), R_OK) == 0) return folder;
    }
    return NULL;
}

const char *library_find(Arena *a, const char *file) {
    const char *folder = library_folder(a, file);
    return folder ? arena_format(a, "%s/%s", folder, file) : NULL;
}

const char *libtile_folder(Arena *a) {
    const char *folder = library_folder(a, "libtile.so");
    if (folder) return folder;
    fputs("tilec: error: libtile.so, which a library needs, is not beside the command; link what --emit=obj makes yourself\n",
          stderr);
    return NULL;
}

bool run_command(const char *const *argv) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], (char *const *)argv);
        fprintf(stderr, "tilec: error: cannot run %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
