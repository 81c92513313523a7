/* run_compile.c: a program compiled to a library in a folder of its own, and loaded; several at a time in processes of
   their own. */
#include "codegen/codegen.h"
#include "driver/device.h"
#include "driver/run.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_library(const Run *r, const char *dir) {
    Outputs out = outputs_of(&r->s, 1);
    bool good = outputs_add_source(&out, r->p, dir) && outputs_write(&out, dir);
    outputs_free(&out);
    return good && emit_plugin(&out, r->p, dir);
}

/* What a process of its own prints, which is shown where it fails. */
static const char *said_path(const Run *r, const char *dir) { return arena_format(r->s.arena, "%s/said", dir); }

static bool load_program(Run *r, const char *dir) {
    void *library = dlopen(library_path(&r->s, r->p, dir), RTLD_NOW | RTLD_LOCAL);
    const char *symbol = arena_format(r->s.arena, "%s_program", c_program_name(r->s.arena, r->p));
    r->program = library ? dlsym(library, symbol) : NULL;
    if (!r->program) fprintf(stderr, "tilec: error: %s\n", dlerror());
    return r->program != NULL;
}

/* What is not there is no error. */
static void remove_folder(const Run *r, const char *dir) {
    static const char *const ending[] = {"c", "h", "json"};
    for (int i = 0; i < 3; i++) unlink(program_path(&r->s, r->p, dir, ending[i]));
    if (r->s.target.gpu) {
        unlink(device_source_path(&r->s, r->p, &r->s.target, dir));
        unlink(device_code_path(&r->s, r->p, &r->s.target, dir));
    }
    unlink(library_path(&r->s, r->p, dir));
    unlink(said_path(r, dir));
    rmdir(dir);
}

static char *make_folder(const Run *r) {
    const char *base = getenv("TMPDIR");
    char *dir = arena_format(r->s.arena, "%s/tilec-XXXXXX", base && *base ? base : "/tmp");
    if (mkdtemp(dir)) return dir;
    fprintf(stderr, "tilec: error: cannot make a folder in %s\n", base ? base : "/tmp");
    return NULL;
}

bool run_compile(Run *r) {
    const char *dir = make_folder(r);
    if (!dir) return false;
    bool good = write_library(r, dir) && load_program(r, dir);
    remove_folder(r, dir);
    return good;
}

/* ---- several at a time ---- */

static void write_apart(const Run *r, const char *dir) {
    int said = open(said_path(r, dir), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (said >= 0) dup2(said, STDERR_FILENO);
    bool good = write_library(r, dir);
    fflush(stderr);
    _exit(good ? 0 : 1);
}

static void print_said(const Run *r, const char *dir) {
    Text text = {0};
    if (!text_read(&text, said_path(r, dir), 1 << 20)) fputs(text_str(&text), stderr);
    text_free(&text);
}

bool run_compile_begin(Run *r) {
    r->folder = make_folder(r);
    if (!r->folder) return false;
    fflush(NULL);
    r->compiler = fork();
    if (r->compiler == 0) write_apart(r, r->folder);
    if (r->compiler > 0) return true;
    fprintf(stderr, "tilec: error: cannot start a process: %s\n", strerror(errno));
    remove_folder(r, r->folder);
    return false;
}

bool run_compile_end(Run *r) {
    int status = -1;
    while (waitpid(r->compiler, &status, 0) < 0 && errno == EINTR) continue;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good) print_said(r, r->folder);
    good = good && load_program(r, r->folder);
    remove_folder(r, r->folder);
    return good;
}
