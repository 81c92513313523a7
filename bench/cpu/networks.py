"""Convolutions of networks for one image: (count, height, width, channels, outputs, rows, columns, step, above, beside).

No outputs: depthwise. VGG-16, ResNet-50 (v1.5), MobileNet 1.0, SqueezeNet 1.0 take 224 x 224 pixels, Inception-v3 299 x 299.
"""


def square(count, size, channels, outputs, weights, step=1, border=None):
    border = weights // 2 if border is None else border
    return count, size, size, channels, outputs, weights, weights, step, border, border


def vgg16():
    pairs = ((1, 224, 3, 64), (1, 224, 64, 64), (1, 112, 64, 128), (1, 112, 128, 128), (1, 56, 128, 256), (2, 56, 256, 256),
             (1, 28, 256, 512), (2, 28, 512, 512), (3, 14, 512, 512))
    return [square(*pair, 3) for pair in pairs]


def resnet50():
    layers = [square(1, 224, 3, 64, 7, 2)]
    before, size = 64, 56
    for blocks, width in (3, 64), (4, 128), (6, 256), (3, 512):
        step = 1 if width == 64 else 2
        layers += [square(1, size, before, width, 1), square(1, size, width, width, 3, step), square(1, size, before, 4 * width, 1, step)]
        before, size = 4 * width, size // step
        layers += [square(blocks, size, width, before, 1), square(blocks - 1, size, before, width, 1), square(blocks - 1, size, width, width, 3)]
    return layers


def mobilenet():
    layers, size = [square(1, 224, 3, 32, 3, 2)], 112
    for count, channels, outputs, step in ((1, 32, 64, 1), (1, 64, 128, 2), (1, 128, 128, 1), (1, 128, 256, 2), (1, 256, 256, 1),
                                           (1, 256, 512, 2), (5, 512, 512, 1), (1, 512, 1024, 2), (1, 1024, 1024, 1)):
        layers += [square(count, size, channels, 0, 3, step), square(count, size // step, channels, outputs, 1)]
        size //= step
    return layers


def squeezenet():
    layers = [square(1, 224, 3, 96, 7, 2, 0)]
    for size, channels, squeezed, outputs in ((54, 96, 16, 64), (54, 128, 16, 64), (54, 128, 32, 128), (27, 256, 32, 128), (27, 256, 48, 192),
                                              (27, 384, 48, 192), (27, 384, 64, 256), (13, 512, 64, 256)):
        layers += [square(1, size, channels, squeezed, 1), square(1, size, squeezed, outputs, 1), square(1, size, squeezed, outputs, 3)]
    return layers + [square(1, 13, 512, 1000, 1)]


def line(size, channels, outputs, length):
    """A row of weights."""
    return 1, size, size, channels, outputs, 1, length, 1, 0, length // 2


def column(size, channels, outputs, length):
    return 1, size, size, channels, outputs, length, 1, 1, length // 2, 0


def inception():
    layers = [square(1, 299, 3, 32, 3, 2, 0), square(1, 149, 32, 32, 3, 1, 0), square(1, 147, 32, 64, 3), square(1, 73, 64, 80, 1), square(1, 73, 80, 192, 3, 1, 0)]
    for channels, pooled in (192, 32), (256, 64), (288, 64):
        layers += [square(1, 35, channels, n, 1) for n in (64, 48, 64, pooled)]
        layers += [square(1, 35, 48, 64, 5), square(1, 35, 64, 96, 3), square(1, 35, 96, 96, 3)]
    layers += [square(1, 35, 288, 384, 3, 2, 0), square(1, 35, 288, 64, 1), square(1, 35, 64, 96, 3), square(1, 35, 96, 96, 3, 2, 0)]
    for n in 128, 160, 160, 192:
        layers += [square(2, 17, 768, 192, 1), square(2, 17, 768, n, 1), line(17, n, n, 7), column(17, n, 192, 7)]
        layers += [column(17, n, n, 7), line(17, n, n, 7), column(17, n, n, 7), line(17, n, 192, 7)]
    layers += [square(2, 17, 768, 192, 1), square(1, 17, 192, 320, 3, 2, 0), line(17, 192, 192, 7), column(17, 192, 192, 7), square(1, 17, 192, 192, 3, 2, 0)]
    for channels in 1280, 2048:
        layers += [square(1, 8, channels, n, 1) for n in (320, 384, 448, 192)] + [square(1, 8, 448, 384, 3)]
        layers += 2 * [line(8, 384, 384, 3), column(8, 384, 384, 3)]
    return layers


NETWORKS = {"VGG-16": vgg16, "ResNet-50": resnet50, "MobileNet": mobilenet, "SqueezeNet": squeezenet, "Inception-v3": inception}


def layers_of(name):
    """The network's layers, each once, with how often it occurs."""
    counts = {}
    for count, *layer in NETWORKS[name]():
        counts[tuple(layer)] = counts.get(tuple(layer), 0) + count
    return counts
