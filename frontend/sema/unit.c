/* unit.c: files, imports and the names that they declare.
   Takes a path; gives parsed units, each file once, and a table of declarations without duplicates. */
#include "frontend/sema/unit.h"
#include "frontend/sema/library.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void unit_enter(Front *, const Unit *, const char *folder, bool own);

/* ---- names ---- */

const char *decl_kind_text(const Decl *d) {
    static const char *const text[] = {
        [DECL_DIM] = "dim",       [DECL_MESH] = "mesh axis", [DECL_KERNEL] = "kernel", [DECL_PROGRAM] = "program",
        [DECL_RECORD] = "record", [DECL_FORMAT] = "format",  [DECL_IMPORT] = "import"};
    return text[d->kind];
}

static void decl_enter(Front *f, Decl *d, bool own) {
    const Decl *held = ptrmap_get(&f->visible, d->name);
    if (held) {
        diag_error(f->diags, d->loc, "redefined", "'%s' is already a %s", d->name, decl_kind_text(held));
        diag_note(f->diags, held->loc, "declared here; choose another name");
        return;
    }
    ptrmap_put(f->arena, &f->visible, d->name, d);
    vec_push(f->arena, &f->lower.decl, d);
    if (own) vec_push(f->arena, &f->own, d);
}

static const Unit *library_parse(Front *f, const LibraryFile *file) {
    return parse_source(f->arena, f->names, f->diags, diags_file(f->diags, file->path, file->text, file->len));
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* "kernel NAME" at the start of a line, or another declaration that a library has. */
static bool file_declares(const LibraryFile *file, Name name) {
    static const char *const words[] = {"kernel ", "program ", "format ", "record "};
    size_t n = strlen(name);
    for (const char *at = file->text; (at = strstr(at, name)); at += n) {
        const char *line = at;
        while (line > file->text && line[-1] != '\n') line--;
        for (size_t i = 0; i < sizeof words / sizeof *words && !is_name_char(at[n]); i++)
            if (line + strlen(words[i]) == at && strncmp(line, words[i], strlen(words[i])) == 0) return true;
    }
    return false;
}

/* The files of the library that declare the name; NULL: all of them. */
static void library_read(Front *f, Name name) {
    if (!f->library_read) f->library_read = ARENA_ARRAY(f->arena, bool, library_count);
    for (int i = 0; i < library_count; i++) {
        if (f->library_read[i] || (name && !file_declares(&library_files[i], name))) continue;
        f->library_read[i] = true;
        const Unit *u = library_parse(f, &library_files[i]);
        for (int k = 0; k < u->decls.n; k++) ptrmap_put(f->arena, &f->library, u->decls.p[k]->name, u->decls.p[k]);
    }
}

const Decl *front_find(Front *f, Name name) {
    Decl *d = ptrmap_get(&f->visible, name);
    if (d || (d = ptrmap_get(&f->library, name)) || ptrmap_get(&f->sought, name)) return d;
    ptrmap_put(f->arena, &f->sought, name, f);
    library_read(f, name);
    return ptrmap_get(&f->library, name);
}

static void names_collect(const PtrMap *map, const char **list, int *n) {
    for (int i = 0; i < map->cap; i++)
        if (map->slot[i].key) list[(*n)++] = map->slot[i].key;
}

const char *front_near(Front *f, Name name) {
    library_read(f, NULL);
    const char **list = ARENA_ARRAY(f->arena, const char *, f->visible.n + f->library.n + 1);
    int n = 0;
    names_collect(&f->visible, list, &n);
    names_collect(&f->library, list, &n);
    return spelling_nearest(name, list, n);
}

const char *front_near_kind(Front *f, Name name, DeclKind kind) {
    const char **list = ARENA_ARRAY(f->arena, const char *, f->lower.decl.n + 1);
    int n = 0;
    for (int i = 0; i < f->lower.decl.n; i++)
        if (f->lower.decl.p[i]->kind == kind) list[n++] = f->lower.decl.p[i]->name;
    return spelling_nearest(name, list, n);
}

/* ---- files ---- */

static bool file_seen(Front *f, const char *path) {
    for (int i = 0; i < f->seen.n; i++)
        if (strcmp(f->seen.p[i], path) == 0) return true;
    vec_push(f->arena, &f->seen, path);
    return false;
}

static const char *folder_of(Front *f, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return slash == path ? "/" : arena_text(f->arena, path, (size_t)(slash - path));
}

/* Its number in diags; 0 after an error. */
static int file_read(Front *f, const char *path, Loc at) {
    Text text = {0};
    const char *failed = text_read(&text, path, SYNTAX_BYTES);
    if (failed) {
        diag_error(f->diags, at, "cannot-read", "cannot read %s: %s", path, failed);
        text_free(&text);
        return 0;
    }
    const char *kept = arena_text(f->arena, text_str(&text), text.n);
    int file = diags_file(f->diags, arena_text(f->arena, path, strlen(path)), kept, text.n);
    text_free(&text);
    if (f->files) vec_push(f->arena, f->files, f->diags->file.p[file - 1].path);
    return file;
}

static bool file_parse(Front *f, const char *path, Loc at) {
    int file = file_read(f, path, at);
    if (file) unit_enter(f, parse_source(f->arena, f->names, f->diags, file), folder_of(f, path), true);
    return file != 0;
}

/* The real path of an existing file, in the arena; NULL when there is none. */
static const char *path_real(Front *f, const char *path) {
    char real[PATH_MAX];
    return realpath(path, real) ? arena_text(f->arena, real, strlen(real)) : NULL;
}

static bool path_below(Front *f, const char *path, const char *folder) {
    const char *root = path_real(f, folder);
    size_t n = root ? strlen(root) : 0;
    return root && (n == 1 || (strncmp(path, root, n) == 0 && path[n] == '/'));
}

static bool path_allowed(Front *f, const char *real) {
    if (path_below(f, real, f->home)) return true;
    for (int i = 0; i < f->lower.options->nroot; i++)
        if (path_below(f, real, f->lower.options->root[i])) return true;
    return false;
}

/* Where an import's file is: beside the importing file, else below a root. NULL: nowhere; *outside: it may not be read.
 */
static const char *import_find(Front *f, const char *path, const char *folder, bool *outside) {
    for (int i = -1; i < f->lower.options->nroot; i++) {
        const char *from = i < 0 ? folder : f->lower.options->root[i];
        const char *joined = arena_format(f->arena, "%s/%s", from, path), *real = path_real(f, joined);
        if (!real) continue;
        if (path_allowed(f, real)) return strcmp(from, ".") ? joined : arena_text(f->arena, path, strlen(path));
        *outside = true;
    }
    return NULL;
}

static bool import_library(Front *f, const Decl *d) {
    for (int i = 0; i < library_count; i++) {
        if (strcmp(library_files[i].path, d->name) != 0) continue;
        if (!file_seen(f, library_files[i].path)) unit_enter(f, library_parse(f, &library_files[i]), ".", false);
        return true;
    }
    return false;
}

static void file_missing(Front *f, const char *path, Loc at, bool outside) {
    if (outside) {
        diag_error(f->diags, at, "import-outside", "'%s' lies outside the file's folder and every -I folder", path);
        diag_note(f->diags, at, "allow its folder with -I");
    } else
        diag_error(f->diags, at, "import-not-found", "there is no file '%s'", path);
}

static void import_missing(Front *f, const Decl *d, bool outside) {
    file_missing(f, d->name, d->loc, outside);
    if (outside) return;
    const char **list = ARENA_ARRAY(f->arena, const char *, library_count + 1);
    for (int i = 0; i < library_count; i++) list[i] = library_files[i].path;
    const char *near = spelling_nearest(d->name, list, library_count);
    if (near) diag_note(f->diags, d->loc, "did you mean '%s'?", near);
}

static void import_enter(Front *f, const Decl *d, const char *folder) {
    bool outside = d->name[0] == '/';
    if (import_library(f, d)) return;
    const char *path = outside ? NULL : import_find(f, d->name, folder, &outside);
    if (!path)
        import_missing(f, d, outside);
    else if (!file_seen(f, path_real(f, path)))
        file_parse(f, path, d->loc);
}

static void unit_enter(Front *f, const Unit *u, const char *folder, bool own) {
    for (int i = 0; i < u->decls.n; i++) {
        Decl *d = u->decls.p[i];
        if (d->kind == DECL_IMPORT)
            import_enter(f, d, folder);
        else
            decl_enter(f, d, own);
    }
}

int front_open(Front *f, const char *path, Loc at) {
    bool outside = path[0] == '/';
    const char *found = outside ? NULL : import_find(f, path, folder_of(f, f->diags->file.p[at.file - 1].path), &outside);
    if (!found) return file_missing(f, path, at, outside), 0;
    Name name = name_of(f->names, path_real(f, found));
    intptr_t file = (intptr_t)ptrmap_get(&f->opened, name);
    if (!file) ptrmap_put(f->arena, &f->opened, name, (void *)(file = file_read(f, found, at)));
    return (int)file;
}

bool front_read(Front *f, const char *path) {
    f->home = folder_of(f, path);
    f->file = f->diags->file.n + 1;
    const char *real = path_real(f, path);
    if (real) file_seen(f, real);
    return file_parse(f, path, (Loc){0});
}
