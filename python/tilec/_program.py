"""Programs that can be called."""
from __future__ import annotations

import ctypes
import html
import os
import sys
from collections import namedtuple
from operator import and_
from typing import Any, Callable, Iterable, NamedTuple

from tilec import _cache, _tensor
from tilec._check import Check, check_program
from tilec._errors import ArgumentError, Error
from tilec._explain import Cost, Explanation
from tilec._runtime import ENDED, Instance, library_open, mesh_of
from tilec._signature import CELLS, Argument, Signature, number_of
from tilec._source import Source, source_of
from tilec._tool import demand

DESCRIBE = _tensor.DESCRIBE
MOST_PLANS = 256  # of a program: kinds of calls that are remembered


class Plan(NamedTuple):
    """What calls with arguments of one kind share: same types, shapes, strides, devices."""
    instance: Instance
    call: Callable  # tile_instance_run
    sync: Callable  # tile_stream_sync
    makers: list[Callable[[], Any]]  # of results
    address: Callable[[Any], int]  # of what makers make
    finish: Callable[[Any], Any] | None
    arguments: Any  # void *[]
    dims: Any       # int64_t []
    cells: list     # of scalars
    order: list[int]  # places of all tensors among the arguments: those of the call, then results
    masks: list[int]  # of their addresses' bits that are 0
    bytes: list[int]
    written: list[int]  # which of them the program writes
    stream: Callable[[], int] | None  # PyTorch's current one
    waits: bool     # before the call returns
    device: int | None  # of PyTorch, which the runtime makes the thread's device


def load(source: str | os.PathLike, program: str | None = None, *, target: str | None = None,
         include: Iterable[str | os.PathLike] = (), tuned: str | os.PathLike | None = None, ranks: int | None = None,
         group: Any = None, workers: int = 0, options: Iterable[str] = (), dims: dict[str, int] | None = None,
         **more_dims: int) -> Program:
    """A program of a .tile file, or of a text (a string with a brace or a line's end).

    program   its name; may be left out if there is one
    M=4096    values of dimensions; `dims` takes them as a dict
    target    "host", "sm_90a", "gfx942", several with commas (`tilec targets`); None: as the first call's arrays need it
    include   folders for imports
    tuned     a file of measured sizes, as `tilec tune` writes it
    ranks     ranks of the mesh's only axis; group: torch.distributed's process group that they are, None: as a launcher
              set RANK and WORLD_SIZE
    workers   threads on the host; 0: as many as there are cores
    options   further words of `tilec compile`

    Raises CompileError with the compiler's messages. The compiled library is cached by content.
    """
    made = source_of(source, program, {**(dims or {}), **more_dims}, include, tuned, ranks, options)
    return Program(made, target, group, workers)


class Program:
    """A compiled program: call it with its inputs and states in order, or by name.

    Results are new arrays of the first argument's library, or those that `out=` gives. Run-time sizes come from shapes; one
    that is no array's extent is passed by name. On a GPU a call only enqueues, on PyTorch's current stream; on the host it
    returns when the results are there. Threads may call the same program.
    """
    _torchdynamo_disable = True  # torch.compile does not look inside; torch_op makes an operator of it

    def __init__(self, source: Source, target: str | None, group: Any, workers: int):
        entry = _cache.compile_source(source, target or "host", "lib" if target else "src")
        self.source, self.target, self.group, self.workers = source, target, group, workers
        self.signature = Signature(entry.manifest)
        self.__name__, self.__doc__ = self.signature.program, str(self.signature)
        self.__signature__ = self.signature.for_inspect()
        self._tensors = [(i, a) for i, a in enumerate(self.signature.parameters) if not a.is_scalar]
        self._scalars = [(i, a) for i, a in enumerate(self.signature.parameters) if a.is_scalar]
        self._all = [a for _, a in self._tensors] + self.signature.results  # tensors, in the order of a call's addresses
        self._writes = any(a.role == "state" for a in self.signature.parameters)
        self._results: Any = namedtuple("Results", [  # type: ignore[misc]
            a.name.replace(".", "_") for a in self.signature.results], rename=True)
        self._plans: dict[tuple, Plan] = {}
        self._instances: dict[tuple, Instance] = {}

    def __repr__(self) -> str:
        return f"<tilec program {self.signature}>"

    def __call__(self, *args: Any, out: Any = None, **named: Any) -> Any:
        sizes: tuple = ()
        if named or len(args) != len(self.signature.parameters) or not self.signature.flat:
            args, sizes = self.signature.bind(args, named)  # type: ignore[assignment]
        key, places, alive = self._look(self._tensors_of(args))
        outs = None
        if out is not None:
            outs = self.signature.results_of(out)
            more, there, kept = self._look(zip(self.signature.results, outs))
            key, places, alive = key + more, places + there, alive + kept
        plan = self._plans.get((sizes, *key))
        if plan is None or plan.instance.handle.value is None:
            plan = self._plan(args, outs, key, sizes)
        if outs is None:
            outs = [make() for make in plan.makers]
            places += [plan.address(x) for x in outs]
        if any(map(and_, places, plan.masks)):
            self._odd_refuse(places, plan)
        if out is not None or self._writes:
            self._overlaps_refuse(places, plan)
        self._run(plan, places, [self._number(a, args[i]) for i, a in self._scalars])
        if plan.finish and out is None:
            outs = [plan.finish(x) for x in outs]
        return outs[0] if len(outs) == 1 else self._results(*outs) if outs else None

    def _tensors_of(self, args: Any) -> list[tuple[Argument, Any]]:
        return [(a, args[i]) for i, a in self._tensors]

    def _look(self, pairs: Iterable[tuple[Argument, Any]]) -> tuple[list, list[int], list]:
        """Keys and addresses of arrays, and what must live on; an error names the argument."""
        key, places, alive = [], [], []
        for a, x in pairs:
            try:
                own, place, kept = DESCRIBE.get(type(x), _tensor.describe_new)(x)
            except ArgumentError as e:
                raise self.signature.wrong(a, str(e)) from None
            except Exception as e:  # of the array's library: sparse, without memory, deleted
                raise self.signature.wrong(a, f"{type(x).__name__} cannot be read: {e}") from e
            key.append(own)
            places.append(place)
            if kept:
                alive.append(kept)
        return key, places, alive

    def _run(self, plan: Plan, places: list[int], numbers: list) -> None:
        mesh, instance = plan.instance.mesh, plan.instance
        stream = plan.stream() if plan.stream else None
        before = plan.device if plan.device is None else sys.modules["torch"].cuda.current_device()
        with mesh.lock:
            arguments = plan.arguments
            for i, place in zip(plan.order, places):
                arguments[i] = place
            for cell, number in zip(plan.cells, numbers):
                cell.value = number
            if instance.handle.value is None:  # closed since the plan was looked up
                raise Error(ENDED)
            code = plan.call(instance.handle, arguments, plan.dims, stream)
            if not code and plan.waits:
                code = plan.sync(mesh.handle, stream)
            if before != plan.device:
                sys.modules["torch"].cuda.set_device(before)
            if code:
                mesh.fail(code)

    def _number(self, a: Argument, value: Any) -> Any:
        try:
            return number_of(a, value)
        except ArgumentError as e:
            raise self.signature.wrong(a, str(e)) from None

    def _odd_refuse(self, places: list[int], plan: Plan) -> None:
        for a, place, mask in zip(self._all, places, plan.masks):
            if place & mask:
                raise self.signature.wrong(a, f"lies at no multiple of {a.alignment} bytes: copy it")

    def _overlaps_refuse(self, places: list[int], plan: Plan) -> None:
        """What is written lies apart from everything else."""
        sizes = plan.bytes
        for k in plan.written:
            begin, end = places[k], places[k] + sizes[k]
            for i, other in enumerate(places):
                if i != k and begin < other + sizes[i] and other < end and sizes[i] and sizes[k]:
                    raise self.signature.wrong(self._all[k], "is written by the program, but shares memory with "
                                               f"'{self._all[i].name}'")

    # Plans.

    def _plan(self, args: Any, outs: list | None, key: list, sizes: tuple) -> Plan:
        """Checks everything that a key says, and compiles for its device."""
        given = self._tensors_of(args) + list(zip(self.signature.results, outs or ()))
        facts = [(a, self._facts(a, x, own)) for (a, x), own in zip(given, key)]
        for a, f in facts:
            self.signature.type_check(a, f)
        dims = self.signature.sizes_of(facts, sizes)
        device = self._device(facts)
        library = _tensor.library_of(given[0][1]) if given else _tensor.NUMPY
        family = facts[0][1].family if facts else "numpy"
        instance = self._instance(device)
        on_torch = family == "torch" and device != _tensor.HOST
        runtime = instance.mesh.library
        plan = Plan(instance=instance, call=runtime.tile_instance_run, sync=runtime.tile_stream_sync,
                    makers=[] if outs else self._makers(library, dims, device), address=library.address,
                    finish=_tensor.finish_jax if family in ("jax", "jaxlib") else None,
                    arguments=(ctypes.c_void_p * (len(self.signature.arguments) + 1))(),
                    dims=(ctypes.c_int64 * (len(dims) + 1))(*dims), cells=[CELLS[a.elem]() for _, a in self._scalars],
                    order=[a.index for a in self._all], masks=[a.alignment - 1 for a in self._all],
                    bytes=[a.bytes_at(dims) for a in self._all],
                    written=[k for k, a in enumerate(self._all) if a.role != "input"],
                    stream=_tensor.stream_torch(device[1]) if on_torch else None, waits=not on_torch,
                    device=device[1] if on_torch else None)
        for (_, a), cell in zip(self._scalars, plan.cells):
            plan.arguments[a.index] = ctypes.addressof(cell)
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        known = (sizes, *key)
        self._plans[known] = plan
        return plan

    def _facts(self, a: Argument, x: Any, own: tuple) -> _tensor.Facts:
        try:
            return _tensor.library_of(x).facts(own)
        except ArgumentError as e:
            raise self.signature.wrong(a, str(e)) from None

    def _device(self, facts: list) -> tuple[int, int]:
        """The one of all arrays; a program without arrays runs on the host."""
        if not facts:
            return _tensor.HOST
        first, device = facts[0][0], facts[0][1].device
        for a, f in facts:
            if f.device != device:
                raise self.signature.wrong(a, f"lies on {_tensor.device_name(f.device)}, '{first.name}' on "
                                              f"{_tensor.device_name(device)}")
        fits = self.target is None or any((t == "host") == (device == _tensor.HOST) for t in self.target.split(","))
        if not fits:
            raise self.signature.wrong(first, f"lies on {_tensor.device_name(device)}; the program was loaded for {self.target}")
        return device

    def _makers(self, library: _tensor.Library, dims: list[int], device: tuple) -> list:
        makers = []
        for a in self.signature.results:
            packed = a.elem not in _tensor.ELEMENTS
            shape = (a.bytes_at(dims),) if packed else a.shape_at(dims)
            try:
                makers.append(library.maker("uint8" if packed else _tensor.ELEMENTS[a.elem][0], shape, device))
            except ArgumentError as e:
                raise self.signature.wrong(a, str(e)) from None
        return makers

    def _instance(self, device: tuple[int, int]) -> Instance:
        """The program on a device: compiled, loaded and opened once."""
        known = self._instances.get(device)
        if known and known.handle.value is not None:
            return known
        target = self.target or _tensor.target_of(device)
        entry = _cache.compile_source(self.source, target, "lib")
        assert entry.library
        library = library_open(entry.library)
        ranks = 1
        for n in self.signature.axes.values():
            ranks *= n
        mesh = mesh_of(library, None if device == _tensor.HOST else device[1], ranks, self.group, self.workers)
        name = os.path.basename(entry.library)[3:-3]
        self._instances[device] = Instance(library, mesh, name)
        return self._instances[device]

    def synchronize(self) -> None:
        """Waits for all calls on all devices, and raises what went wrong in them."""
        for instance in list(self._instances.values()):
            if instance.handle.value is not None:
                instance.mesh.sync()

    # What the compiler says.

    def explain(self, target: str | None = None) -> Explanation:
        """What each pass decided and why, what was removed, predicted times: `tilec explain`."""
        return Explanation(self._ask("explain", target), str(self.signature))

    def cost(self, target: str | None = None) -> Cost:
        """Predicted times of the program and its kernels, run-time sizes at their bounds."""
        return Cost.read(self._ask("explain", target))

    def check(self, *args: Any, reference: Callable | None = None, tolerance: float | None = None, seed: int = 1,
              **named: Any) -> Check:
        """Compares results with the interpreter's, whose error bounds they must meet; with `reference`, a function of the
        same arguments as arrays of NumPy, with its results to a tolerance. Without arguments they are drawn from a seed, and
        run-time sizes may be named. Raises Mismatch."""
        return check_program(self, args, named, reference, tolerance, seed)

    def _ask(self, what: str, target: str | None) -> str:
        target = target or self._target_seen()
        return demand([what, *self.source.words, f"--target={target}"], self.source.text)

    def _target_seen(self) -> str:
        """That of the first call, or what was loaded for."""
        if self.target:
            return self.target.split(",")[0]
        return next((_tensor.target_of(device) for device in self._instances), "host")

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self.signature))}</code>"
