"""Prints the network's operations and bytes beside those of the network of depthwise-separable convolutions that the
paper compares with (DS-CNN of Zhang et al., arXiv 1711.07128: 64 channels, four such layers, 8-bit weights)."""
import model

C, R, L, P = model.CHANNELS, model.HIDDEN, model.CLASSES, model.PLACES
DEPTH, NODES = 2, model.NODES


def dense():
    """One addition and one multiplication are an operation, as in the paper's table."""
    weights = 40 * C + 4 * (9 * C + C * C) + C * L
    return 0, 0, P * (40 * C + 4 * (9 * C + C * C)) + C * L, weights, 2 * P * C


def hybrid():
    """Additions of codes, multiplications by scales; codes of 2 bits, scales and biases as keyword_q7 has them."""
    separable = 9 * C + 2 * R * C
    additions = P * (40 * R + C * R + 2 * separable) + (DEPTH + 1) * L * 2 * C + DEPTH * C
    multiplications = P * (R + C + 2 * (C + R + C)) + (DEPTH + 1) * L * 3
    codes = 40 * R + C * R + 2 * separable + 2 * NODES * L * C
    scales = 2 * (R + C + 2 * (2 * C + R)) + 4 * (C + 2 * 2 * C) + (NODES // 2) * C + 2 * 2 * NODES * L
    return additions, multiplications, additions + multiplications, codes / 4 + scales, 2 * P * C


def row(name, additions, multiplications, operations, weights, activations):
    return (f"| {name} | {additions:,} | {multiplications:,} | {operations:,} | {weights / 1000:.1f} | "
            f"{(weights + activations) / 1000:.1f} |")


if __name__ == "__main__":
    a, b = dense(), hybrid()
    print("| network | additions | multiplications | operations | KB of weights | KB with activations of 8 bits |")
    print("|---|---|---|---|---|---|")
    print(row("DS-CNN", *a), row("`keyword_q7`", *b), sep="\n")
    print(f"operations {b[2] / a[2] - 1:+.1%}, weights {b[3] / a[3] - 1:+.1%}, memory {(b[3] + b[4]) / (a[3] + a[4]) - 1:+.1%}")
