/* c_reserved.c: names that C, its library, C++ and the runtime have taken, in the places where the generated text has names. */
#include "codegen/c.h"

#include <string.h>

/* Keywords and macros without arguments: taken everywhere. t is the task, and what generated text calls stays callable. */
static const char *const words[] = {
    "auto",     "break",     "case",     "char",     "const",  "continue",  "default", "do",     "double",
    "else",     "enum",      "extern",   "float",    "for",    "goto",      "if",      "inline", "int",
    "long",     "register",  "restrict", "return",   "short",  "signed",    "sizeof",  "static", "struct",
    "switch",   "typedef",   "union",    "unsigned", "void",   "volatile",  "while",   "asm",    "typeof",
    "bool",     "true",      "false",    "errno",    "linux",  "unix",      "i386",    "NAN",    "INFINITY",
    "NULL",     "EOF",       "main",     "t",        "exp",    "exp2",      "log",     "log2",   "sqrt",
    "sin",      "cos",       "tanh",     "erf",      "floor",  "ceil",      "rint",    "pow",    "fabs",
    "sinf",     "cosf",      "erff",     "powf",     "sqrtf",  "fabsf",     "floorf",  "ceilf",  "rintf",
    "exp2f",    "log2f",     "memcpy",   "memset",   "assert", "class",     "new",     "delete", "this",
    "template", "namespace", "operator", "private",  "public", "protected", "virtual", "try",    "catch",
    "throw",    "using",     "friend",   "stdin",    "stdout", "stderr",    "and",     "or",     "not",
    "xor",      "typename",  "export",   "explicit", "nullptr", "sched_priority", "math_errhandling",
    "size_t",   "int8_t",    "int16_t",  "int32_t",  "int64_t", "uint8_t",  "uint16_t", "uint32_t", "uint64_t",
    "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "TIME_UTC", "TIMER_ABSTIME",
};

static const char *const macro_prefixes[] = {"_",      "tile_", "TILE_", "INT8_", "INT16_", "INT32_", "INT64_", "INT_",    "INTPTR_",
                                             "INTMAX_", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_ATOMIC_", "CLOCK",
                                             "SCHED_", "CLONE_", "CPU_", "FP_", "M_", "MATH_", "ATOMIC_"};

/* Functions and function-like macros of the headers that generated text includes; with f and l behind them, too. */
static const char *const functions[] = {
    "acos", "acosh", "asctime", "asin", "asinh", "atan", "atan2", "atanh", "bcmp", "bcopy", "bzero", "cbrt", "clock", "copysign",
    "cosh", "ctime", "difftime", "drem", "dysize", "erfc", "exp10", "expm1", "fdim", "ffs", "finite", "fma", "fmax", "fmin",
    "fmod", "fpclassify", "frexp", "gamma", "gmtime", "hypot", "ilogb", "index", "isfinite", "isgreater", "isgreaterequal", "isinf", "isless",
    "islessequal", "islessgreater", "isnan", "isnormal", "isunordered", "j0", "j1", "jn", "kill_dependency", "ldexp", "lgamma",
    "llrint", "llround", "localtime", "log10", "log1p", "logb", "lrint", "lround", "memccpy", "memchr", "memcmp", "memmem", "memmove",
    "memory_order", "mempcpy", "memrchr", "mktime", "modf", "nan", "nanosleep", "nearbyint", "nextafter", "nexttoward", "offsetof",
    "remainder", "remquo", "rindex", "round", "scalb", "scalbln", "scalbn", "signbit", "signgam", "significand", "sincos", "sinh", "stime",
    "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcoll", "strcpy", "strcspn", "strdup", "strerror",
    "strftime", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strptime", "strrchr",
    "strsep", "strsignal", "strspn", "strstr", "strtok", "strxfrm", "tan", "tgamma", "time", "timegm", "timelocal",
    "timespec_get", "timezone", "daylight", "tzname", "trunc", "tzset", "y0", "y1", "yn",
    /* of headers that a program's users include beside its own */
    "abort", "abs", "atoi", "atof", "calloc", "div", "exit", "fopen", "fread", "free", "fwrite", "getc", "getenv", "gets", "kill", "labs",
    "link", "malloc", "perror", "pipe", "printf", "putc", "puts", "qsort", "raise", "rand", "random", "read", "realloc", "remove",
    "rename", "scanf", "select", "signal", "sleep", "sprintf", "srand", "stat", "strtod", "sync", "system", "wait", "write",
};

static bool is_among(const char *name, size_t n, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], n) == 0 && list[i][n] == 0) return true;
    return false;
}

#define AMONG(name, n, list) is_among(name, n, list, sizeof(list) / sizeof *(list))

bool c_is_reserved(const char *name) {
    if (AMONG(name, strlen(name), words)) return true;
    for (size_t i = 0; i < sizeof macro_prefixes / sizeof *macro_prefixes; i++)
        if (strncmp(name, macro_prefixes[i], strlen(macro_prefixes[i])) == 0) return true;
    return false;
}

bool c_is_global(const char *name) {
    static const char *const families[] = {"atomic_", "clock_", "memory_order_", "pthread_", "sched_", "timer_", "hip", "cuda"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(name, families[i], strlen(families[i])) == 0) return true;
    if (n > 2 && (strcmp(name + n - 2, "_t") == 0 || strcmp(name + n - 2, "_r") == 0 || strcmp(name + n - 2, "_l") == 0)) return true;
    bool precise = n > 1 && (name[n - 1] == 'f' || name[n - 1] == 'l');
    return AMONG(name, n, functions) || (precise && (AMONG(name, n - 1, functions) || AMONG(name, n - 1, words)));
}
