/* text.c: text buffers and whole files. */
#include "base/text.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void text_reserve(Text *t, size_t more) {
    if (t->cap - t->n > more) return;
    size_t cap = t->cap ? t->cap : 256;
    while (cap - t->n <= more) cap *= 2;
    t->p = mem_realloc(t->p, cap);
    t->cap = cap;
}

void text_add_n(Text *t, const char *s, size_t n) {
    text_reserve(t, n);
    if (n) memcpy(t->p + t->n, s, n);
    t->n += n;
    t->p[t->n] = 0;
}

void text_add(Text *t, const char *s) { text_add_n(t, s, strlen(s)); }

void text_vprintf(Text *t, const char *format, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    if (n < 0) fatal_oom();
    text_reserve(t, (size_t)n);
    vsnprintf(t->p + t->n, (size_t)n + 1, format, again);
    va_end(again);
    t->n += (size_t)n;
}

void text_printf(Text *t, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    text_vprintf(t, format, ap);
    va_end(ap);
}

const char *text_str(Text *t) { return t->p ? t->p : ""; }

void text_free(Text *t) {
    free(t->p);
    *t = (Text){0};
}

const char *text_read(Text *t, const char *path, size_t limit) {
    FILE *f = fopen(path, "rb");
    if (!f) return strerror(errno);
    char piece[65536];
    size_t n;
    while (t->n <= limit && (n = fread(piece, 1, sizeof piece, f)) > 0) text_add_n(t, piece, n);
    int failed = ferror(f) ? errno : 0;
    fclose(f);
    if (failed) return strerror(failed);
    return t->n > limit ? "file too large" : NULL;
}

/* Removed at exit: a process that ends because memory is exhausted leaves nothing half-written. */
static struct {
    char **path;
    int n;
} unfinished;

static void remove_unfinished(void) {
    for (int i = 0; i < unfinished.n; i++)
        if (unfinished.path[i]) unlink(unfinished.path[i]);
}

static int write_all(int fd, const char *p, size_t n) {
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return errno;
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

static mode_t file_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A name in path's folder, for mkstemp; short, since path's own may be as long as names can be. */
static char *temporary_name(const char *path) {
    static const char name[] = ".tilec-XXXXXX";
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *temporary = mem_realloc(NULL, n + sizeof name);
    memcpy(temporary, path, n);
    memcpy(temporary + n, name, sizeof name);
    return temporary;
}

/* Does the path lead to what a process has open, as /dev/stdin does? */
static bool is_opened(const char *path) {
    static const char proc[] = {'/', 'p', 'r', 'o', 'c', '/'};
    char to[sizeof proc];
    return readlink(path, to, sizeof to) == sizeof to && memcmp(to, proc, sizeof proc) == 0;
}

static int temporary_write(const Text *t, const char *path, char **temporary) {
    struct stat held;
    bool exists = stat(path, &held) == 0; /* a device, a pipe or /dev/stdin is not to be replaced by a file */
    if (is_opened(path)) return ENOTSUP;
    if (exists && !S_ISREG(held.st_mode)) return S_ISDIR(held.st_mode) ? EISDIR : ENOTSUP;
    char *name = temporary_name(path);
    int fd = mkstemp(name), failed = fd < 0 ? errno : 0;
    if (failed) return free(name), failed;
    *temporary = name;
    failed = write_all(fd, t->p, t->n);
    if (fchmod(fd, file_mode()) && !failed) failed = errno;
    if (close(fd) && !failed) failed = errno;
    return failed;
}

static int temporaries_rename(const OutFile *file, int n) {
    for (int i = 0; i < n; i++) {
        if (rename(unfinished.path[i], file[i].path)) return errno;
        free(unfinished.path[i]);
        unfinished.path[i] = NULL;
    }
    return 0;
}

static void temporaries_forget(void) {
    for (int i = 0; i < unfinished.n; i++) free(unfinished.path[i]);
    free(unfinished.path);
    unfinished.path = NULL;
    unfinished.n = 0;
}

const char *files_write(const OutFile *file, int n, const char **culprit) {
    static bool registered;
    if (!registered) registered = atexit(remove_unfinished) == 0;
    int failed = 0;
    size_t bytes = sizeof *unfinished.path * (size_t)n;
    unfinished.path = mem_realloc(NULL, bytes);
    memset(unfinished.path, 0, bytes);
    unfinished.n = n;
    for (int i = 0; i < n && !failed; i++) {
        *culprit = file[i].path;
        failed = temporary_write(file[i].text, file[i].path, &unfinished.path[i]);
    }
    if (!failed) failed = temporaries_rename(file, n);
    remove_unfinished();
    temporaries_forget();
    return failed ? strerror(failed) : NULL;
}

const char *text_write(const Text *t, const char *path) {
    const char *culprit;
    return files_write(&(OutFile){t, path}, 1, &culprit);
}

uint64_t text_hash(const char *s, size_t n) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(1099511628211);
    return h;
}

int utf8_length(const char *text, size_t n) {
    const unsigned char *p = (const unsigned char *)text;
    if (n == 0 || p[0] < 0x20 || p[0] == 0x7f) return 0;
    if (p[0] < 0x80) return 1;
    int len = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    if (len == 0 || n < (size_t)len) return 0;
    for (int i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    bool too_long = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool no_scalar = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
    bool control = p[0] == 0xc2 && p[1] < 0xa0;
    return too_long || no_scalar || control ? 0 : len;
}
