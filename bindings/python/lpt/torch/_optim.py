"""Optimizers of torch.optim whose moments may be stored in 8 bits."""
from __future__ import annotations

from collections import defaultdict
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

import torch

from .. import capi
from .._context import constant, handle_of
from .._tensor import state_of
from .._train import Optimizer as _Optimizer
from ._memory import wrap_dense

Moments = Union[str, Tuple[str, str]]
_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_NAMES = {"dynamic_1x256": capi.LPT_FORMAT_DYNAMIC_1X256}  # a format of moments only, which lpt.formats() does not list
_STATE = "lpt"  # the key of the state of a parameter in state_dict()


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """Return the shard of this rank of a tensor that FSDP shards, or the tensor itself."""
    to_local: Any = getattr(tensor, "to_local", None)
    return tensor if to_local is None else to_local()


def _key(parameter: Any) -> str:
    """Return the key of the state of a parameter, which names the shard of a tensor that FSDP shards.

    torch.distributed.checkpoint saves one tensor for each key.
    """
    mesh = getattr(parameter, "device_mesh", None)
    if mesh is None:
        return _STATE
    places = zip(mesh.get_coordinate(), mesh.shape, parameter.placements)
    return "_".join([_STATE, *(f"{place}of{count}" for place, count, placement in places if placement.is_shard())])


class _Settings(NamedTuple):
    """Options of a parameter group on which the lpt.Optimizer of the group depends."""
    beta1: float
    beta2: float
    epsilon: float
    nesterov: bool
    weight_decay: float
    moments: Tuple[str, str]
    expanded: bool
    compensation: bool


class _Engine(NamedTuple):
    """The lpt.Optimizer of one parameter group."""
    settings: _Settings
    optimizer: _Optimizer
    indices: Dict[int, int]  # in the optimizer, by place in the group, of the parameters that have a state


class _Bytes:
    """The bytes of a state, which torch.optim.Optimizer.load_state_dict() would cast to the type of the parameter."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def cpu(self) -> torch.Tensor:
        return self._tensor.cpu()


def _keep_bytes(_: torch.optim.Optimizer, state_dict: Dict[str, Any]) -> Dict[str, Any]:
    state = {place: {key: _Bytes(value) if key.startswith(_STATE) else value for key, value in one.items()}
             for place, one in state_dict["state"].items()}
    return dict(state_dict, state=state)


class _Base(torch.optim.Optimizer):
    """The common part: groups, steps and saved states. Subclasses set the method and check their options."""

    _method: str

    def __init__(self, params: Any, defaults: Dict[str, Any]) -> None:
        self._engines: Dict[int, _Engine] = {}  # by the index of their group
        self._loaded: Dict[torch.Tensor, bytes] = {}  # states of parameters whose group has no engine yet
        super().__init__(params, defaults)

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        super().add_param_group(param_group)
        try:
            self._check(self.param_groups[-1])
        except Exception:
            self.param_groups.pop()
            raise

    def _check(self, group: Dict[str, Any]) -> None:
        for parameter in group["params"]:
            if parameter.dtype not in _DTYPES or parameter.device.type != "cpu":
                raise TypeError(f"a parameter is {parameter.dtype} on {parameter.device.type}: expected float32, bfloat16 or "
                                "float16 on cpu")
        for name in ("amsgrad", "capturable", "differentiable"):
            if group.get(name):
                raise ValueError(f"{name} is True: {type(self).__name__} of lpt.torch does not support it, expected False")
        if group.get("dampening"):
            raise ValueError(f"dampening is {group['dampening']}: expected 0")
        if float(group["lr"]) < 0:
            raise ValueError(f"lr is {group['lr']}: expected at least 0")
        constant("LPT_ROUNDING_", group["rounding"], "rounding")
        self._add(self._create(self._settings(group)), 0, torch.empty(1, dtype=torch.bfloat16))  # checks the other options

    def _settings(self, group: Dict[str, Any]) -> _Settings:
        beta1, beta2 = group["betas"] if "betas" in group else (group["momentum"], 0.0)
        moments = group["moments"]
        first, second = (moments, moments) if isinstance(moments, str) else moments
        return _Settings(float(beta1), float(beta2), group.get("eps", 1e-8), group.get("nesterov", False), group["weight_decay"],
                         (first, second), group["expanded"], group["compensation"])

    def _create(self, settings: _Settings) -> _Engine:
        nesterov: Dict[str, Any] = {"nesterov": True} if settings.nesterov else {}
        optimizer = _Optimizer(self._method, beta1=settings.beta1, beta2=settings.beta2, epsilon=settings.epsilon, **nesterov)
        return _Engine(settings, optimizer, {})

    def _add(self, engine: _Engine, place: int, parameter: torch.Tensor) -> None:
        """Add a state of zeros for a parameter of the group."""
        settings, (first, second) = engine.settings, engine.settings.moments
        has_errors = settings.compensation and parameter.dtype == torch.bfloat16
        engine.indices[place] = engine.optimizer.add(
            max(1, _local(parameter).numel()), first_moment=_NAMES.get(first, first), second_moment=_NAMES.get(second, second),
            weight_decay=settings.weight_decay, first_expanded=settings.expanded, second_expanded=settings.expanded,
            compensation="bf16" if has_errors else None, random_stream=place)

    def _engine(self, index: int) -> _Engine:
        """Return the engine of a group. If options of the group changed, create another one that continues with its state."""
        group = self.param_groups[index]
        parameters, settings = group["params"], self._settings(group)
        engine = self._engines.get(index)
        if engine is not None and engine.settings == settings:
            return engine
        states = self._states(index)
        engine = self._create(settings)
        for place, (parameter, state) in enumerate(zip(parameters, states)):
            if state is not None:
                self._add(engine, place, parameter)
                capi.lpt_optimizer_state_load(handle_of(None), engine.optimizer._handle, engine.indices[place], state)
                self.state[parameter] = {}
        self._engines[index] = engine
        for parameter in parameters:
            self._loaded.pop(parameter, None)
        return engine

    def _states(self, index: int) -> List[Optional[bytes]]:
        """Return the saved state of each parameter of a group; None: it has no state."""
        parameters = self.param_groups[index]["params"]
        if index in self._engines:
            _, optimizer, indices = self._engines[index]
            return [bytes(state_of(capi.lpt_optimizer_state_size, capi.lpt_optimizer_state_save, optimizer._handle, indices[place]))
                    if place in indices else None for place in range(len(parameters))]
        return [self._loaded.get(parameter) for parameter in parameters]

    @property
    def _step_supports_amp_scaling(self) -> bool:
        """Whether torch.amp.GradScaler leaves gradients scaled, and sets grad_scale and found_inf for the call of step()."""
        return bool(self.defaults.get("fused"))

    @torch.no_grad()
    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Step all parameters that have a gradient, and return the loss of the closure."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        found_inf, grad_scale = getattr(self, "found_inf", None), getattr(self, "grad_scale", None)
        if found_inf is not None and float(found_inf) != 0.0:
            return loss
        scale = 1.0 if grad_scale is None else float(grad_scale)
        for index, group in enumerate(self.param_groups):
            active = [(place, one) for place, one in enumerate(group["params"]) if one.grad is not None]
            if active:
                self._step_group(self._engine(index), group, active, scale)
        return loss

    def _step_group(self, engine: _Engine, group: Dict[str, Any], active: List[Tuple[int, torch.Tensor]],
                    scale: float) -> None:
        if any(_local(one.grad).layout != torch.strided for _, one in active):
            raise RuntimeError(f"{type(self).__name__} of lpt.torch does not support sparse gradients: expected dense ones")
        for place, parameter in active:
            if place not in engine.indices:
                self._add(engine, place, parameter)
                # The engine has the state. torch.distributed.checkpoint would step an optimizer without an entry.
                self.state[parameter] = {}
        active = [(place, one) for place, one in active if _local(one).numel()]
        if not active:  # a shard may be empty
            return
        options, context = capi.lpt_optimizer_step_options(), handle_of(None)
        options.learning_rate = float(group["lr"])
        options.gradient_scale = (-1.0 if group["maximize"] else 1.0) / scale
        options.parameter_rounding = constant("LPT_ROUNDING_", group["rounding"], "rounding")
        if group["rounding"] == "stochastic":
            random = capi.lpt_random()
            random.seed = int(torch.randint(2 ** 63 - 1, ()).item())
            options.random = random
        # Values in another type or with other strides are stepped in a copy.
        parameters = [_local(one.detach()) for _, one in active]
        written = [(one.float() if one.dtype == torch.float16 else one).contiguous() for one in parameters]
        gradients = [_local(one.grad) for _, one in active]
        gradients = [(one if one.dtype in (torch.float32, torch.bfloat16) else one.float()).contiguous() for one in gradients]
        capi.lpt_optimizer_step(context, engine.optimizer._handle, [engine.indices[place] for place, _ in active],
                                [wrap_dense(context, one, 1, one.numel()) for one in gradients], options,
                                [wrap_dense(context, one, 1, one.numel()) for one in written])
        for parameter, value in zip(parameters, written):
            if value.data_ptr() != parameter.data_ptr():
                parameter.copy_(value)
            else:
                torch.autograd.graph.increment_version(parameter)  # LPT has written its memory

    @property
    def nbytes(self) -> int:
        """Number of bytes of the state of all parameters, once they have been stepped."""
        return sum(engine.optimizer.nbytes for engine in self._engines.values())

    def _packed(self) -> Dict[torch.Tensor, Dict[str, torch.Tensor]]:
        """Return the saved states of all parameters as tensors of bytes."""
        return {parameter: {_key(parameter): torch.frombuffer(bytearray(state), dtype=torch.uint8)}
                for index, group in enumerate(self.param_groups)
                for parameter, state in zip(group["params"], self._states(index)) if state is not None}

    def state_dict(self) -> Dict[str, Any]:
        """Return the state as torch.optim.Optimizer.state_dict().

        The state of a parameter is the tensor "lpt" of bytes; that of a shard of FSDP is, for example, "lpt_0of2".
        """
        self.state.update(self._packed())
        try:
            return super().state_dict()
        finally:
            self.state.update((parameter, {}) for parameter in list(self.state))

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Restore the state of state_dict(). Later steps have the bits of those after the save."""
        last_hook = self.register_load_state_dict_pre_hook(_keep_bytes)
        try:
            super().load_state_dict(state_dict)
        finally:
            last_hook.remove()

    def __getstate__(self) -> Dict[str, Any]:
        return dict(super().__getstate__(), state=defaultdict(dict, self._packed()))

    def __setstate__(self, state: Dict[str, Any]) -> None:
        """Restore a copy, a pickle, or the state of load_state_dict()."""
        super().__setstate__(state)
        for group in self.param_groups:  # options that the release that saved them did not have
            group.update({name: value for name, value in self.defaults.items() if name not in group})
        self._engines, self._loaded = {}, {}
        parameters = [one for group in self.param_groups for one in group["params"]]
        for parameter, saved in self.state.items():
            key = _key(parameter)
            if key not in saved:
                place = next((place for place, one in enumerate(parameters) if one is parameter), parameter)
                raise ValueError(f"the state of parameter {place} has {', '.join(map(str, saved))}: expected {key}, "
                                 f"as {type(self).__name__} of lpt.torch saves it")
            self._loaded[parameter] = saved[key].cpu().numpy().tobytes()
        for index, group in enumerate(self.param_groups):
            if any(one in self._loaded for one in group["params"]):
                self._engine(index)


_OPTIONS = """

    Parameters are float32, bfloat16 or float16 on the CPU. A scheduler may change the options of a group. If it changes others
    than lr, the step copies the state once.

    moments: the format of both moments, or a pair of formats: "f32", "bf16", "e4m3fn_1x128", "dynamic_1x256" and others of
    docs/reference/optimizers.md.
    expanded: expand the range of each group of 128 elements of a moment (COAT); requires moments in groups of 128.
    rounding: of parameters that are not float32: "nearest_even", or "stochastic" by a seed of torch's generator.
    compensation: keep the rounding error of bfloat16 parameters for the next step (Kahan summation).
    fused: True divides gradients by the scale of torch.amp.GradScaler in the step, also those of float16 parameters.
    foreach has no effect: one call steps all parameters of a group.
    """


class AdamW(_Base):
    __doc__ = "torch.optim.AdamW whose moments may be stored in 8 bits." + _OPTIONS
    _method = "adamw"

    def __init__(self, params: Any, lr: Union[float, torch.Tensor] = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *, moments: Moments = "f32",
                 expanded: bool = False, rounding: str = "nearest_even", compensation: bool = False, maximize: bool = False,
                 foreach: Optional[bool] = None, capturable: bool = False, differentiable: bool = False,
                 fused: Optional[bool] = None) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
                                  "moments": moments, "expanded": expanded, "rounding": rounding, "compensation": compensation,
                                  "maximize": maximize, "foreach": foreach, "capturable": capturable,
                                  "differentiable": differentiable, "fused": fused})


class Adam(AdamW):
    __doc__ = "torch.optim.Adam whose moments may be stored in 8 bits: weight_decay is added to the gradient." + _OPTIONS
    _method = "adam"

    def __init__(self, params: Any, lr: Union[float, torch.Tensor] = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0.0, amsgrad: bool = False, *, moments: Moments = "f32",
                 expanded: bool = False, rounding: str = "nearest_even", compensation: bool = False, maximize: bool = False,
                 foreach: Optional[bool] = None, capturable: bool = False, differentiable: bool = False,
                 fused: Optional[bool] = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, moments=moments, expanded=expanded, rounding=rounding,
                         compensation=compensation, maximize=maximize, foreach=foreach, capturable=capturable,
                         differentiable=differentiable, fused=fused)


class Lion(_Base):
    __doc__ = "Lion (arXiv 2302.06675), whose moment may be stored in 8 bits." + _OPTIONS
    _method = "lion"

    def __init__(self, params: Any, lr: Union[float, torch.Tensor] = 1e-4, betas: Tuple[float, float] = (0.9, 0.99),
                 weight_decay: float = 0.0, *, moments: Moments = "f32", expanded: bool = False, rounding: str = "nearest_even",
                 compensation: bool = False, maximize: bool = False, fused: Optional[bool] = None) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "moments": moments,
                                  "expanded": expanded, "rounding": rounding, "compensation": compensation,
                                  "maximize": maximize, "fused": fused})


class SGD(_Base):
    __doc__ = "torch.optim.SGD whose momentum may be stored in 8 bits; dampening must be 0." + _OPTIONS
    _method = "sgd"

    def __init__(self, params: Any, lr: Union[float, torch.Tensor] = 1e-3, momentum: float = 0.0, dampening: float = 0.0,
                 weight_decay: float = 0.0, nesterov: bool = False, *, moments: Moments = "f32", expanded: bool = False,
                 rounding: str = "nearest_even", compensation: bool = False, maximize: bool = False,
                 foreach: Optional[bool] = None, differentiable: bool = False, fused: Optional[bool] = None) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "moments": moments, "expanded": expanded, "rounding": rounding,
                                  "compensation": compensation, "maximize": maximize, "foreach": foreach,
                                  "differentiable": differentiable, "fused": fused})
