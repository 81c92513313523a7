/* reserved.c: names that C, its library, C++, CUDA and the runtime have taken: generated text has to avoid them. */
#include "codegen/text/name.h"
#include "ir/ir.h"

#include <string.h>

/* Keywords and macros without arguments: taken everywhere. t is the task; what generated text calls stays
   callable, as do the functions of ops.def. */
static const char words[] =
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm "
    "typeof bool true false errno linux unix i386 NAN INFINITY NULL EOF main t pow erff powf exp2f log2f memcpy memset assert "
    "class new delete this template namespace operator private public protected virtual try catch throw using friend "
    "stdin stdout stderr and or not xor typename export explicit nullptr sched_priority math_errhandling size_t "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t HUGE_VAL HUGE_VALF HUGE_VALL TIME_UTC "
    "TIMER_ABSTIME mutable typeid dynamic_cast static_cast const_cast reinterpret_cast thread_local wchar_t char8_t "
    "char16_t char32_t constexpr consteval constinit decltype alignas alignof noexcept static_assert concept requires "
    "co_await co_return co_yield bitand bitor compl and_eq not_eq or_eq xor_eq std threadIdx blockIdx blockDim "
    "gridDim warpSize";

static const char macro_prefixes[] =
    "_ tile_ TILE_ INT8_ INT16_ INT32_ INT64_ INT_ INTPTR_ INTMAX_ UINT SIZE_ PTRDIFF_ WCHAR_ WINT_ SIG_ATOMIC_ "
    "CLOCK SCHED_ CLONE_ CPU_ FP_ M_ MATH_ ATOMIC_";

/* Functions, types and function-like macros of the headers that generated text includes, those of CUDA that nvcc
   includes, and some that users include: taken at file scope, also with the suffixes of other floats. */
static const char functions[] =
    "FILE abort abs acos acosh aligned_alloc all alloca any arc4random asctime asin asinh asprintf at_quick_exit atan "
    "atan2 atanh atexit atof atoi atol atoll ballot basename bcmp bcopy bsearch bzero calloc canonicalize "
    "canonicalize_file_name cbrt clearenv clearerr clock clock64 copysign cosh cospi ctermid ctime cuserid "
    "cyl_bessel_i0 cyl_bessel_i1 dadd daylight ddiv dfma difftime dim3 div dmul double2int double2ll double2uint "
    "double2ull dprintf drand48 drem dsqrt dsub dysize ecvt erand48 erfc erfcinv erfcx erfinv exit exp10 "
    "explicit_bzero expm1 fadd fclose fcloseall fcvt fd_mask fd_set fdim fdiv fdivide fdopen feof ferror fflush ffma "
    "ffs ffsll fgetc fgetpos fgets fileno finite float2double flockfile fma fmax fmaximum fmaximum_mag "
    "fmaximum_mag_num fmaximum_num fmaxmag fmemopen fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag "
    "fmod fmul fopen fopencookie fpclassify fprintf fputc fputs fread free freopen frexp fromfp fromfpx fscanf fseek "
    "fseeko fsetpos fsqrt fsub ftell ftello ftrylockfile funlockfile fwrite gamma gcvt getc getchar getdate getdelim "
    "getenv getline getloadavg getpayload getpt gets getsubopt getw gmtime grantpt hypot ilogb index initstate "
    "int2double isalnum isalpha isascii isblank iscanonical iscntrl isctype isdigit iseqsig isfinite isgraph "
    "isgreater isgreaterequal isinf isless islessequal islessgreater islower isnan isnormal isprint ispunct "
    "issignaling isspace isunordered isupper isxdigit iszero j0 j1 jn jrand48 kill kill_dependency labs lcong48 ldexp "
    "ldiv lgamma link ll2double llabs lldiv llmax llmin llogb llrint llround localtime log10 log1p logb lrand48 lrint "
    "lround malloc max mblen mbstowcs mbtowc memccpy memchr memcmp memfrob memmem memmove memory_order mempcpy "
    "memrchr min mkdtemp mkstemp mktemp mktime modf mrand48 nan nanosleep nearbyint nextafter nextdown nexttoward "
    "nextup norm norm3d norm4d normcdf normcdfinv nrand48 offsetof on_exit open_memstream pclose perror pipe popen "
    "posix_memalign printf pselect ptsname putc putchar putenv puts putw qsort quick_exit raise rand random rawmemchr "
    "rcbrt read realloc reallocarray realpath remainder remove remquo rename rewind rhypot rindex rnorm rnorm3d "
    "rnorm4d round roundeven rpmatch rsqrt scalb scalbln scalbn scanf seed48 select setbuf setbuffer setenv "
    "setlinebuf setpayload setpayloadsig setstate setvbuf signal signbit signgam significand sincos sincospi sinh "
    "sinpi sleep snprintf sprintf srand srand48 srandom sscanf stat stime stpcpy stpncpy strcasecmp strcasestr strcat "
    "strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strfromd strfry strftime strlen strncasecmp "
    "strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep strsignal strspn strstr strto strtod "
    "strtof strtok strtol strtold strtoll strtoq strtoul strtoull strtouq strverscmp strxfrm sync system tan tempnam "
    "tgamma time timegm timelocal timespec_get timezone tmpfile tmpnam toascii tolower totalorder totalordermag "
    "toupper trunc tzname tzset u_char u_int u_long u_short ufromfp ufromfpx uint uint2double ull2double ullmax "
    "ullmin ulong umax umin ungetc unlockpt unsetenv ushort va_list valloc vasprintf vdprintf vfprintf vfscanf "
    "vprintf vscanf vsnprintf vsprintf vsscanf wait wcstombs wctomb write y0 y1 yn";

/* Types of CUDA with a number from 1 to 4 behind them. */
static const char vectors[] = "char double float int long longlong short uchar uint ulong ulonglong ushort";

static const char function_prefixes[] =
    "atomic_ clock_ memory_order_ pthread_ sched_ timer_ hip cuda atomicAdd atomicAnd atomicCAS atomicDec atomicExch "
    "atomicInc atomicMax atomicMin atomicOr atomicSub atomicXor make_ surf1D surf2D surf3D surfCubemap syncthreads_ "
    "tex1D tex2D tex3D texCubemap CUDA";

/* list: words with a blank between them. prefix: one of them begins the name, else it is the name. */
static bool is_among(const char *name, size_t n, const char *list, bool prefix) {
    for (size_t each; *list; list += each + (list[each] == ' ')) {
        each = strcspn(list, " ");
        if ((prefix ? each <= n : each == n) && strncmp(name, list, each) == 0) return true;
    }
    return false;
}

static bool ends_with(const char *name, size_t n, const char *end) { return n > 2 && strcmp(name + n - 2, end) == 0; }

/* Of the versions of a function for other types of floats. */
static size_t suffix_length(const char *name, size_t n) {
    static const char *const suffix[] = {"f32x", "f64x", "f32", "f64", "f", "l"};
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        size_t len = strlen(suffix[i]);
        if (n > len && strcmp(name + n - len, suffix[i]) == 0) return len;
    }
    return 0;
}

/* The text is a call of the function of this name. */
static bool is_call(const char *text, const char *name, size_t n) {
    return text && strncmp(text, name, n) == 0 && text[n] == '(';
}

static bool is_word(const char *name, size_t n) {
    for (int i = 0; i < OP_COUNT; i++)
        if (is_call(op_info[i].c_f32, name, n) || is_call(op_info[i].c_f64, name, n)) return true;
    return is_among(name, n, words, false);
}

bool c_is_reserved(const char *name) {
    size_t n = strlen(name);
    return is_word(name, n) || is_among(name, n, macro_prefixes, true);
}

bool c_is_global(const char *name) {
    size_t n = strlen(name);
    if (is_among(name, n, functions, false) || is_among(name, n, function_prefixes, true)) return true;
    if (ends_with(name, n, "_t") || ends_with(name, n, "_r") || ends_with(name, n, "_l")) return true;
    if (n > 1 && strchr("1234", name[n - 1]) && is_among(name, n - 1, vectors, false)) return true;
    n -= suffix_length(name, n);
    return is_among(name, n, functions, false) || is_word(name, n);
}
