"""Synthetic keywords and their features: ten words of moving formants, other words, and silence; a second each.

A word is three formants that move between fixed places, voiced at some pitch. Speakers differ in pitch, speed, length of
the vocal tract and loudness; noise is added. Features are 10 mel-frequency cepstral coefficients of 49 frames.
"""
import numpy as np

RATE, WINDOW, HOP, FRAMES, COEFFICIENTS, MELS = 8000, 320, 160, 49, 10, 40
WORDS, CLASSES = 10, 12  # then `unknown` and `silence`


def trajectories(random, n):
    """Formants at four moments of a word, in Hz: [n, 3 formants, 4 moments]."""
    low = np.array([300.0, 900.0, 2100.0])[None, :, None]
    high = np.array([850.0, 2200.0, 3300.0])[None, :, None]
    return low + (high - low) * random.random((n, 3, 4))


def voices(random, formants):
    """Sound of one word each: [n, RATE]."""
    n = len(formants)
    length, pitch = random.uniform(0.45, 0.8, (n, 1)), random.uniform(90, 230, (n, 1))
    begin = random.uniform(0.02, 0.98 - length)
    tract = random.uniform(0.88, 1.12, (n, 1))
    time = np.arange(RATE, dtype=np.float32) / RATE
    at = np.clip((time - begin.astype(np.float32)) / length.astype(np.float32), 0, 1)
    inside = np.sqrt(np.maximum(np.sin(np.float32(np.pi) * at), 0))
    moment = np.minimum((at * 3).astype(np.int32), 2)
    between = at * 3 - moment
    sound = np.zeros((n, RATE), np.float32)
    for k in range(3):
        f = (tract * formants[:, k] / RATE).astype(np.float32)
        a = np.take_along_axis(f, moment, 1)
        turns = np.cumsum(a + (np.take_along_axis(f, moment + 1, 1) - a) * between, 1, dtype=np.float64) % 1
        sound += np.sin(np.float32(2 * np.pi) * turns.astype(np.float32)) * np.float32(0.5 ** k)
    buzz = np.float32(0.6) + np.float32(0.4) * np.sin((2 * np.pi * pitch).astype(np.float32) * time)
    return (sound * buzz * inside * random.uniform(0.4, 1, (n, 1))).astype(np.float32)


def filters():
    """Triangles on the mel scale: [MELS, frequencies]."""
    mel = np.linspace(2595 * np.log10(1 + 60 / 700), 2595 * np.log10(1 + 3900 / 700), MELS + 2)
    edge = 700 * (10 ** (mel / 2595) - 1)
    f = np.arange(257) * RATE / 512
    up = (f - edge[:-2, None]) / (edge[1:-1] - edge[:-2])[:, None]
    down = (edge[2:, None] - f) / (edge[2:] - edge[1:-1])[:, None]
    return np.maximum(0, np.minimum(up, down)).astype(np.float32)


def features(sound):
    """[n, FRAMES, COEFFICIENTS], of about unit variance."""
    frame = np.lib.stride_tricks.sliding_window_view(sound, WINDOW, axis=1)[:, ::HOP][:, :FRAMES]
    power = np.abs(np.fft.rfft(frame * np.hanning(WINDOW).astype(np.float32), 512)) ** 2
    loud = np.log(power.astype(np.float32) @ filters().T + 1e-3)
    turn = np.cos(np.pi / MELS * (np.arange(MELS) + 0.5) * np.arange(COEFFICIENTS)[:, None])
    cepstrum = loud @ (turn / MELS).T.astype(np.float32)
    middle = np.array([2.8] + [0.0] * 9)
    spread = np.array([1.4, 0.35, 0.35, 0.35, 0.35, 0.3, 0.25, 0.25, 0.2, 0.2])
    return np.clip((cepstrum - middle) / spread, -7.9, 7.9).astype(np.float32)


def samples(n, seed):
    """Features and classes of n sounds. The words are the same for all seeds."""
    words = trajectories(np.random.default_rng(7), WORDS)
    random = np.random.default_rng(seed)
    label = random.integers(0, CLASSES, n)
    formants = np.where((label < WORDS)[:, None, None], words[label % WORDS], trajectories(random, n))
    formants = formants * random.uniform(0.95, 1.05, formants.shape)
    out = np.empty((n, FRAMES, COEFFICIENTS), np.float32)
    for i in range(0, n, 500):
        sound = voices(random, formants[i:i + 500]) * (label[i:i + 500] != CLASSES - 1)[:, None]
        noise = random.standard_normal(sound.shape).astype(np.float32)
        out[i:i + 500] = features(sound + noise * random.uniform(0.01, 0.35, (len(sound), 1)).astype(np.float32))
    return out, label
