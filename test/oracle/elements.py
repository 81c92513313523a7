"""Element types as docs/reference/language.md has them: their arithmetic type, rounding, wrapping, and files.

Values of floats are kept in float64, those of integers in int64. Nothing here comes from the compiler.
"""
import numpy as np

# name: bits of the fraction, lowest exponent of a normal number, largest finite value, is infinity next
FLOATS = {
    "f64": (52, -1022, np.finfo(np.float64).max, True),
    "f32": (23, -126, float(np.finfo(np.float32).max), True),
    "f16": (10, -14, 65504.0, True),
    "bf16": (7, -126, float.fromhex("0x1.fep127"), True),
    "f8e5m2": (2, -14, 57344.0, False),
    "f8e4m3": (3, -6, 448.0, False),
    "f8e4m3fnuz": (3, -7, 240.0, False),
}
INTEGERS = {"i64": 64, "i32": 32, "i16": 16, "i8": 8, "u8": 8, "i4": 4, "t2": 2}
RANGE = {"u8": (0, 255), "t2": (-1, 1)}
ALL = [*FLOATS, *INTEGERS, "bool"]


def is_float(elem):
    return elem in FLOATS


def is_integer(elem):
    return elem in INTEGERS


def kind(elem):
    return "float" if is_float(elem) else "integer" if is_integer(elem) else "bool"


def width(elem):
    """Bits of an element."""
    return INTEGERS.get(elem) or {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}.get(elem, 8)


def bounds(elem):
    bits = INTEGERS[elem]
    return RANGE.get(elem, (-(1 << bits - 1), (1 << bits - 1) - 1))


def computed(elem):
    """The type that arithmetic on one such operand has: small floats are computed in f32, packed integers in i32."""
    if elem in ("f16", "bf16") or elem.startswith("f8"):
        return "f32"
    return "i32" if elem in ("i4", "t2") else elem


def arithmetic(a, b):
    """The type of both of two operands of one kind: the wider one, and i32 where neither holds the other."""
    a, b = computed(a), computed(b)
    if a == b:
        return a
    if is_float(a):
        return "f64"
    return "i32" if {a, b} == {"i8", "u8"} else max(a, b, key=INTEGERS.get)


def summed(elem):
    """What `sum` and `@` accumulate in."""
    return elem if elem in ("f64", "i64") else "f32" if is_float(elem) else "i32"


def epsilon(elem):
    return 2.0 ** -(FLOATS[elem][0] + 1)


def ulp(elem, x):
    """The distance of neighbours at |x|."""
    fraction, lowest, _, _ = FLOATS[elem]
    exponent = np.frexp(np.abs(np.asarray(x, np.float64)))[1] - 1
    return np.ldexp(1.0, np.maximum(exponent, lowest) - fraction)


def rounded(elem, x):
    """To the nearest, ties to even; beyond the range infinity, or the largest value of 8-bit floats."""
    x = np.asarray(x, np.float64)
    if elem == "f64":
        return x
    if elem in ("f32", "f16"):
        return x.astype(np.float32 if elem == "f32" else np.float16).astype(np.float64)
    largest, has_infinity = FLOATS[elem][2:]
    unit = ulp(elem, np.where(np.isfinite(x), x, 1))
    y = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
    return np.where(np.abs(y) > largest, np.copysign(np.inf if has_infinity else largest, y), y)


def wrapped(elem, x):
    """The integer modulo 2^bits."""
    bits = INTEGERS[elem]
    if bits == 64:
        return x
    low = 0 if elem == "u8" else -(1 << bits - 1)
    return (x - low & (1 << bits) - 1) + low


def _table(elem):
    """The values of all codes of an 8-bit float."""
    fraction, lowest, largest, _ = FLOATS[elem]
    code = np.arange(128)
    exponent, part = code >> fraction, code & (1 << fraction) - 1
    value = np.where(exponent == 0, np.ldexp(part / 2.0**fraction, lowest), np.ldexp(1 + part / 2.0**fraction, exponent - 1 + lowest))
    value[value > largest] = np.nan
    return np.concatenate([value, -value])


TABLES = {elem: _table(elem) for elem in FLOATS if elem.startswith("f8")}


def encoded(elem, x):
    """The array of a .npy file."""
    if elem == "bf16":
        return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
    if elem in TABLES:
        table = TABLES[elem][:128]
        code = np.argmin(np.where(np.isnan(table), np.inf, np.abs(table - np.abs(x)[..., None])), axis=-1)
        return np.where(np.asarray(x) < 0, code + 128, code).astype(np.uint8).view("V1")
    types = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "u8": "u1", "bool": "?"}
    return np.asarray(x).astype(types.get(elem, "i1"))


def decoded(elem, x):
    if elem == "bf16":
        return (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if elem in TABLES:
        return TABLES[elem][x.view(np.uint8)]
    return x if elem == "bool" else x.astype(np.float64 if is_float(elem) else np.int64)
