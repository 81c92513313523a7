"""Random whole-tensor expressions of every element type, conversions inside, against the typing rule and the values as
stated here. Usage: conversions.py TILEC FOLDER PROGRAMS [FIRST SEED]. A program assigns 24 expressions to names without
a type, and each name to a result of the type that the rule gives: another type is an error of the compiler.

The rule (docs/reference/language.md, whole-tensor expressions): a tensor has its type, a conversion what it names, a comparison is bool; an
operation has the wider of its operands' types; two types of one width give i32 or f32. A number takes the type of what it meets, or,
where that does not hold it, i32."""
import pathlib
import random
import subprocess
import sys

import numpy as np

N = 6
BITS = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTS = ["i8", "u8", "i16", "i32", "i64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
NUMPY = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16,
         "f32": np.float32, "f64": np.float64, "bool": np.bool_}


def is_float(e):
    return e in FLOATS


def rounded_bf16(x):
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def converted(x, e):
    with np.errstate(all="ignore"):
        if e == "bf16":
            return rounded_bf16(x)
        if e in INTS and x.dtype.kind == "f":
            x = np.clip(np.trunc(x), np.iinfo(NUMPY[e]).min, np.iinfo(NUMPY[e]).max).astype(np.int64)
        return x.astype(NUMPY[e])


class Term:
    """text: as written; type: what it says of itself, None: a number; value: computed in at least 32 bits."""

    def __init__(self, text, type, value, bound):
        self.text, self.type, self.value, self.bound = text, type, value, bound


def holding(e, number):
    """The type, or i32 where it does not hold the number; numbers here fit i32."""
    info = np.iinfo(NUMPY[e])
    return e if info.min <= number <= info.max else "i32"


def wider(one, other):
    a, b = one.type, other.type
    if a is None and b in INTS or b is None and a in INTS:
        return holding(a or b, int((one if a is None else other).value[0]))
    if a is None or b is None or a == b:
        return b if a is None else a
    if BITS[a] != BITS[b]:
        return a if BITS[a] > BITS[b] else b
    return "f32" if is_float(a) else "i32"


def computed(x):
    """The value of a tensor or conversion as arithmetic takes it: floats in at least 32 bits, integers in their own."""
    return x.astype(np.float32) if x.dtype.kind == "f" and x.dtype.itemsize < 8 else x


def brought(a, b):
    """Both values as an operation takes them."""
    type = wider(a, b)
    dtype = NUMPY[type] if type in INTS else np.result_type(a.value.dtype, b.value.dtype)
    return a.value.astype(dtype), b.value.astype(dtype)


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.inputs = {"s" + e: self.numbers(e) for e in INTS + FLOATS if e != "bf16"}
        self.scalars = {"k32": np.float32(self.r.choice([0.5, -2, 3])), "n32": np.int32(self.r.randint(-3, 3))}

    def numbers(self, e):
        low, high = (0, 255) if e == "u8" else (-128, 127) if e == "i8" else (-200, 200)
        if is_float(e):
            return np.array([self.r.randint(-8, 8) / 2 for _ in range(N)], NUMPY[e])
        return np.array([self.r.randint(low, high) for _ in range(N)], NUMPY[e])

    def leaf(self, floats):
        kind = self.r.randrange(8)
        if kind == 0:
            n = self.r.choice([0.5, 2.0, 1.5]) if floats else self.r.choice([1, 2, 3, 4, 5, 200, 3000])
            return Term(f"{n}", None, np.full(N, n, np.float32 if floats else np.int32), abs(n))
        if kind == 1:
            name = "k32" if floats else "n32"
            return Term(name, "f32" if floats else "i32", np.full(N, self.scalars[name]), 4)
        e = self.r.choice(FLOATS if floats else INTS)
        source = "sf32" if e == "bf16" else "s" + e
        text = f"bf16({source})" if e == "bf16" and kind < 4 else "tb" if e == "bf16" else source
        return Term(text, e, computed(converted(self.inputs[source], e)), 4 if floats else 255)

    def joined(self, a, op, b):
        type = wider(a, b)
        with np.errstate(all="ignore"):
            x, y = brought(a, b)
            value = {"+": np.add, "-": np.subtract, "*": np.multiply, "max": np.maximum, "min": np.minimum}[op](x, y)
        text = f"{op}({a.text}, {b.text})" if op[0] == "m" else f"({a.text} {op} {b.text})"
        return Term(text, type, value, a.bound * b.bound if op == "*" else a.bound + b.bound)

    def cast(self, depth, floats):
        a = self.draw(depth - 1, self.r.randrange(2) == 0)
        e = self.r.choice(FLOATS if floats else INTS)
        if is_float(e) and a.type in INTS and e in ("f16", "bf16") and a.bound > 60000:
            e = "f32"
        if a.type is None:
            return Term(f"{e}({a.text})", e, computed(converted(a.value, e)), a.bound)
        narrow = not floats and a.bound >= 2 ** 31
        if (is_float(a.type) and not floats and a.bound > 120) or narrow:
            return a if floats == is_float(a.type) else self.leaf(floats)
        return Term(f"{e}({a.text})", e, computed(converted(a.value, e)), a.bound if floats else max(a.bound, 255))

    def condition(self, depth):
        floats = self.r.randrange(2) == 0
        a, b = self.draw(depth - 1, floats), self.leaf(floats)
        if a.type is None and b.type is None:
            return self.condition(0)
        op = self.r.choice(["<", ">=", "=="])
        x, y = brought(a, b)
        value = x < y if op == "<" else x >= y if op == ">=" else x == y
        return Term(f"({a.text} {op} {b.text})", "bool", value, 1)

    def select(self, depth, floats):
        c, a, b = self.condition(depth), self.draw(depth - 1, floats), self.draw(depth - 1, floats)
        type = wider(a, b) or ("f32" if floats else "i64")
        value = np.where(c.value, *brought(a, b)).astype(np.float64 if type == "f64" else np.float32 if floats else NUMPY[type])
        return Term(f"where({c.text}, {a.text}, {b.text})", type, value, max(a.bound, b.bound))

    def draw(self, depth, floats):
        form = self.r.randrange(9)
        if depth <= 0 or form == 0:
            return self.leaf(floats)
        if form <= 2:
            return self.cast(depth, floats)
        if form == 3:
            return self.select(depth, floats)
        if form == 4:
            a = self.draw(depth - 1, floats)
            if a.type is None and not floats:
                return a
            return Term(f"(-{a.text})", a.type, -a.value, a.bound)
        a, b = self.draw(depth - 1, floats), self.draw(depth - 1, floats)
        op = self.r.choice(["+", "-", "*", "max", "min"])
        if op == "*" and a.bound * b.bound > (60000 if floats else 2 ** 30):
            op = "-"
        return self.joined(a, op, b)

    def expression(self):
        while True:
            t = self.condition(3) if self.r.randrange(8) == 0 else self.draw(3, self.r.randrange(2) == 0)
            uses_tensor = any(name in t.text for name in list(self.inputs) + ["tb"])
            if t.type and t.text.endswith(")") and uses_tensor:
                return t


def program(seed):
    d = Draw(seed)
    terms = [d.expression() for _ in range(24)]
    inputs = ", ".join([f"{n}: {n[1:]}[N]" for n in d.inputs] + ["k32: f32", "n32: i32"])
    outputs = ", ".join(f"y{i}: {t.type}[N]" for i, t in enumerate(terms))
    body = "".join(f"  t{i} = {t.text};\n  y{i} = t{i};\n" for i, t in enumerate(terms))
    used = "".join(f"  u_{n} = {n} + {n};\n  o_{n} = u_{n};\n" for n in d.inputs)
    more = ", ".join(f"o_{n}: {n[1:]}[N]" for n in d.inputs)
    more += ", k: f32[N], n: i32[N], b: bf16[N]"
    used += "  k = k32 * sf32;\n  n = n32 * si32;\n  b = tb;\n"
    return d, terms, f"dim N = {N};\nprogram p({inputs}) -> ({outputs}, {more}) {{\n  tb = bf16(sf32);\n{body}{used}}}\n"


def differences(folder, terms):
    for i, t in enumerate(terms):
        got = np.load(folder / f"y{i}.npy")
        if t.type == "bf16":
            got = (got.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        want = np.broadcast_to(converted(t.value, t.type), (N,))
        if not np.array_equal(got.reshape(N), want, equal_nan=t.type in FLOATS):
            yield f"t{i} = {t.text}: {t.type}: {got} where {want} is meant"


def run(tilec, folder, seed):
    d, terms, text = program(seed)
    source = folder / "conversions.tile"
    source.write_text(text)
    command = [tilec, "run", str(source), "--target=interp", "-Wno-all"]
    for name, value in list(d.inputs.items()) + list(d.scalars.items()):
        np.save(folder / f"{name}.npy", value)
        command.append(f"--in={name}={folder}/{name}.npy")
    command += [f"--out=y{i}={folder}/y{i}.npy" for i in range(len(terms))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return [done.stderr]
    return list(differences(folder, terms))


def main():
    tilec, folder, programs = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    first, wrong = int(sys.argv[4]) if len(sys.argv) > 4 else 0, 0
    for seed in range(first, first + programs):
        for message in run(tilec, folder, seed):
            print(f"seed {seed}: {message}")
            wrong += 1
    print(f"{programs} programs, {wrong} differ")
    sys.exit(wrong > 0)


main()
