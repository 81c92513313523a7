"""The peer of bench/cpu/cells.tile: one step of PyTorch's LSTM and GRU cells on one thread, in processor time.

usage: OMP_NUM_THREADS=1 taskset -c 0 python3 bench/cpu/cells.py
"""
import statistics
import time

import torch


def microseconds(step, times):
    turns = []
    for _ in range(9):
        begin = time.process_time()
        for _ in range(times):
            step()
        turns.append((time.process_time() - begin) / times * 1e6)
    return statistics.median(turns)


torch.set_num_threads(1)
with torch.no_grad():
    for units in (64, 128, 256, 512, 1024):
        x, h, c = (torch.randn(1, units) for _ in range(3))
        lstm, gru = torch.nn.LSTMCell(units, units), torch.nn.GRUCell(units, units)
        times = max(20, 30000 // units)
        print(f"{units} units: LSTM {microseconds(lambda: lstm(x, (h, c)), times):.2f} us, "
              f"GRU {microseconds(lambda: gru(x, h), times):.2f} us")
