/* c_reserved.c: names that C, its library, C++ and the runtime have taken: generated text has to avoid them. */
#include "codegen/c.h"

#include <string.h>

/* Keywords and macros without arguments: taken everywhere. t is the task; what generated text calls stays callable. */
static const char words[] =
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "asm typeof bool true false errno linux unix i386 NAN INFINITY NULL EOF main t exp exp2 log log2 sqrt sin cos "
    "tanh erf floor ceil rint pow fabs sinf cosf erff powf sqrtf fabsf floorf ceilf rintf exp2f log2f memcpy memset "
    "assert class new delete this template namespace operator private public protected virtual try catch throw "
    "using friend stdin stdout stderr and or not xor typename export explicit nullptr sched_priority "
    "math_errhandling size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t HUGE_VAL HUGE_VALF "
    "HUGE_VALL TIME_UTC TIMER_ABSTIME";

static const char macro_prefixes[] =
    "_ tile_ TILE_ INT8_ INT16_ INT32_ INT64_ INT_ INTPTR_ INTMAX_ UINT SIZE_ PTRDIFF_ WCHAR_ WINT_ SIG_ATOMIC_ "
    "CLOCK SCHED_ CLONE_ CPU_ FP_ M_ MATH_ ATOMIC_";

/* Functions and function-like macros of the headers that generated text includes, and some that its users include:
   taken at file scope, also with f or l behind them. */
static const char functions[] =
    "acos acosh asctime asin asinh atan atan2 atanh bcmp bcopy bzero cbrt clock copysign cosh ctime difftime drem "
    "dysize erfc exp10 expm1 fdim ffs finite fma fmax fmin fmod fpclassify frexp gamma gmtime hypot ilogb index "
    "isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isunordered j0 j1 jn "
    "kill_dependency ldexp lgamma llrint llround localtime log10 log1p logb lrint lround memccpy memchr memcmp "
    "memmem memmove memory_order mempcpy memrchr mktime modf nan nanosleep nearbyint nextafter nexttoward offsetof "
    "remainder remquo rindex round scalb scalbln scalbn signbit signgam significand sincos sinh stime stpcpy "
    "stpncpy strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncasecmp "
    "strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep strsignal strspn strstr strtok strxfrm "
    "tan tgamma time timegm timelocal timespec_get timezone daylight tzname trunc tzset y0 y1 yn abort abs atoi "
    "atof calloc div exit fopen fread free fwrite getc getenv gets kill labs link malloc perror pipe printf putc "
    "puts qsort raise rand random read realloc remove rename scanf select signal sleep sprintf srand stat strtod "
    "sync system wait write";

static const char function_prefixes[] = "atomic_ clock_ memory_order_ pthread_ sched_ timer_ hip cuda";

/* list: words with a blank between them. prefix: one of them begins the name, else it is the name. */
static bool is_among(const char *name, size_t n, const char *list, bool prefix) {
    for (size_t each; *list; list += each + (list[each] == ' ')) {
        each = strcspn(list, " ");
        if ((prefix ? each <= n : each == n) && strncmp(name, list, each) == 0) return true;
    }
    return false;
}

static bool ends_with(const char *name, size_t n, const char *end) { return n > 2 && strcmp(name + n - 2, end) == 0; }

bool c_is_reserved(const char *name) {
    size_t n = strlen(name);
    return is_among(name, n, words, false) || is_among(name, n, macro_prefixes, true);
}

bool c_is_global(const char *name) {
    size_t n = strlen(name);
    if (is_among(name, n, functions, false) || is_among(name, n, function_prefixes, true)) return true;
    if (ends_with(name, n, "_t") || ends_with(name, n, "_r") || ends_with(name, n, "_l")) return true;
    bool precise = n > 1 && (name[n - 1] == 'f' || name[n - 1] == 'l');
    return precise && (is_among(name, n - 1, functions, false) || is_among(name, n - 1, words, false));
}
