"""The runtime, as compiled libraries bring it: meshes of this process, and programs on them."""
from __future__ import annotations

import atexit
import ctypes
import os
import threading
import weakref
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_void_p
from typing import Any, Callable

from tilec._errors import Error, RunError

ALLGATHER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_size_t)
TIMEOUT, POISONED = -4, -5  # runtime/include/tile.h
ENDED = "the interpreter ends: programs run no more"


class Config(ctypes.Structure):
    """tile_mesh_config of runtime/include/tile.h."""
    _fields_ = [("size", c_size_t), ("rank", c_int), ("nranks", c_int), ("device", c_int), ("allgather", ALLGATHER),
                ("ctx", c_void_p), ("workers", c_int), ("timeout_ms", c_int), ("group", c_char_p), ("target", c_char_p)]


PROTOTYPES = {
    "tile_last_error": (c_char_p, []),
    "tile_error_name": (c_char_p, [c_int]),
    "tile_mesh_open": (c_int, [POINTER(Config), POINTER(c_void_p)]),
    "tile_mesh_close": (None, [c_void_p]),
    "tile_mesh_recover": (c_int, [c_void_p]),
    "tile_stream_sync": (c_int, [c_void_p, c_void_p]),
    "tile_instance_open": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "tile_instance_run": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "tile_instance_close": (None, [c_void_p]),
}


def library_open(path: str) -> ctypes.CDLL:
    """A compiled program's library; through it the functions of the runtime that it is linked with."""
    library = ctypes.CDLL(path)
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def demand(library: ctypes.CDLL, code: int) -> None:
    """Raises what the runtime says."""
    if code:
        raise RunError(library.tile_error_name(code).decode(), library.tile_last_error().decode("utf-8", "replace"))


def exchange_over(group: Any) -> Callable:
    """torch.distributed's process group as the mesh's exchange."""
    import torch.distributed as distributed

    def allgather(_: Any, given: int, taken: int, each: int) -> int:
        try:
            parts = [b""] * distributed.get_world_size(group)
            distributed.all_gather_object(parts, ctypes.string_at(given, each), group=group)
            ctypes.memmove(taken, b"".join(parts), each * len(parts))
            return 0
        except Exception:  # the runtime says that the exchange failed
            return -1
    return ALLGATHER(allgather)


class Mesh:
    """A mesh of one device, which all programs on it share; one thread at a time drives it."""

    def __init__(self, library: ctypes.CDLL, config: Config):
        self.library, self.config, self.lock = library, config, threading.RLock()
        self.handle = c_void_p()
        demand(library, library.tile_mesh_open(ctypes.byref(config), ctypes.byref(self.handle)))

    def fail(self, code: int) -> None:
        """Raises what the runtime says. A mesh of one rank goes on after a fault."""
        try:
            demand(self.library, code)
        finally:
            if code in (TIMEOUT, POISONED) and self.config.nranks == 1:
                self.library.tile_mesh_recover(self.handle)

    def sync(self, stream: int | None = None) -> None:
        """Waits until what was enqueued on the stream has run."""
        with self.lock:
            code = self.library.tile_stream_sync(self.handle, stream) if self.handle.value else 0
            if code:
                self.fail(code)


class Instance:
    """A compiled program on a mesh."""

    def __init__(self, library: ctypes.CDLL, mesh: Mesh, name: str):
        self.library, self.mesh, self.handle = library, mesh, c_void_p()
        program = ctypes.addressof(c_char.in_dll(library, name + "_program"))
        with mesh.lock:
            demand(library, library.tile_instance_open(mesh.handle, program, ctypes.byref(self.handle)))
        live_instances.add(self)
        weakref.finalize(self, instance_close, os.getpid(), library, mesh, self.handle).atexit = False


meshes: dict[tuple, Mesh] = {}
live_instances: weakref.WeakSet[Instance] = weakref.WeakSet()
opening = threading.RLock()
ended = threading.Event()  # the interpreter ends


def instance_close(pid: int, library: ctypes.CDLL, mesh: Mesh, handle: c_void_p) -> None:
    """In a child of the process there is nothing to close: the runtime's threads are the parent's."""
    if pid == os.getpid() and handle.value and mesh.handle.value:
        with mesh.lock:
            library.tile_instance_close(handle)
            handle.value = None


def mesh_of(library: ctypes.CDLL, device: int | None, ranks: int, group: Any, workers: int) -> Mesh:
    """The mesh on a device (None: the host); opened by the first program. With several ranks all of them come here."""
    runtime = ctypes.cast(library.tile_mesh_open, c_void_p).value
    key = (runtime, device, ranks, id(group), workers)
    with opening:
        if ended.is_set():
            raise Error(ENDED)
        if key not in meshes:
            config = Config(size=ctypes.sizeof(Config), nranks=1, workers=workers, device=device or 0,
                            target=b"host" if device is None else b"gpu")
            if ranks > 1 and group is None:
                config.nranks = 0  # from the environment, as launchers set it
            elif ranks > 1:
                import torch.distributed as distributed
                config.rank, config.nranks = distributed.get_rank(group), ranks
                config.allgather = exchange_over(group)
            meshes[key] = Mesh(library, config)
        return meshes[key]


@atexit.register
def close_all() -> None:
    """Before the interpreter ends: instances, then their meshes. Threads that still call get an error."""
    with opening:
        ended.set()
    for instance in list(live_instances):
        instance_close(os.getpid(), instance.library, instance.mesh, instance.handle)
    for mesh in meshes.values():
        with mesh.lock:
            mesh.library.tile_mesh_close(mesh.handle)
            mesh.handle.value = None
    meshes.clear()


def forget_all() -> None:
    """In a child of fork: handles are the parent's."""
    global opening
    opening = threading.RLock()
    for instance in list(live_instances):
        instance.handle.value = None
    live_instances.clear()
    meshes.clear()


os.register_at_fork(after_in_child=forget_all)
