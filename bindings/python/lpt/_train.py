"""Training: recipes, linear layers, scalers, optimizers."""
from __future__ import annotations

__all__ = ["Linear", "Optimizer", "Recipe", "Scaler", "gradients_measure", "recipe_names", "share_amax", "update"]

from . import capi
from ._codec import call
from ._context import Context, constant, handle_of, values_of
from ._options import options
from ._tensor import Tensor, empty, format_name, format_number, read, state_of, written

TYPE_CHECKING = False  # importing typing would take longer than all else here
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple
    from ._comm import Comm
    from ._tensor import Format


class Recipe:
    """How a linear layer casts the operands of its three products: a name such as "fp8_current" or "nvfp4_pretrain", and
    changes. lpt.recipe_names() lists the names."""

    __slots__ = ("_handle", "_name", "_changes")

    def __init__(self, name: str = "f32") -> None:
        self._handle = capi.lpt_recipe_create(handle_of(None), name)
        self._name = name
        self._changes: List[Tuple[str, tuple, dict]] = []

    def set_cast(self, cast: str, format: Optional[Format], **given: Any) -> "Recipe":
        """Changes one cast: "forward_input", "forward_weight", "dgrad_gradient", "dgrad_weight", "wgrad_gradient" or
        "wgrad_input". Options as of quantize(), without handles and random numbers."""
        keep: list = []
        capi.lpt_recipe_set_cast(handle_of(None), self._handle, constant("LPT_LINEAR_CAST_", cast),
                                 0 if format is None else format_number(format),
                                 options(capi.lpt_quantize_options, given, keep))
        return self._changed("set_cast", (cast, format), given)

    def set_scaler(self, operand: str, **given: Any) -> "Recipe":
        """Changes where tensor scales of "input", "weight" or "gradient" come from. Options: kind, history_length, margin."""
        keep: list = []
        capi.lpt_recipe_set_scaler(handle_of(None), self._handle, constant("LPT_LINEAR_OPERAND_", operand),
                                   options(capi.lpt_scaler_options, given, keep))
        return self._changed("set_scaler", (operand,), given)

    def set_product(self, product: str, **given: Any) -> "Recipe":
        """Changes how "forward", "dgrad" or "wgrad" is made. Options: hadamard_size, hadamard_signs, source, draws, parts."""
        keep: list = []
        capi.lpt_recipe_set_gemm(handle_of(None), self._handle, constant("LPT_LINEAR_GEMM_", product),
                                    options(capi.lpt_linear_gemm_options, given, keep))
        return self._changed("set_product", (product,), given)

    def set_sparsity(self, operand: str, interval: int = 1, **given: Any) -> "Recipe":
        """Makes "weight" or "gradient" sparse; options as of sparse_select()."""
        keep: list = []
        capi.lpt_recipe_set_sparsity(handle_of(None), self._handle, constant("LPT_LINEAR_OPERAND_", operand),
                                     interval, options(capi.lpt_sparse_options, given, keep))
        return self._changed("set_sparsity", (operand, interval), given)

    def raise_product(self, product: str, format: Optional[Format] = None) -> "Recipe":
        """Casts both operands of a product to a format of high precision; None: not at all."""
        number = 0 if format is None else format_number(format)
        capi.lpt_recipe_set_high_precision(handle_of(None), self._handle, constant("LPT_LINEAR_GEMM_", product), number)
        return self._changed("raise_product", (product, format), {})

    def cast_format(self, cast: str) -> Optional[str]:
        """The format of one cast; None: as it comes."""
        number = capi.lpt_recipe_cast_format(handle_of(None), self._handle, constant("LPT_LINEAR_CAST_", cast))
        return format_name(number) if number else None

    def _changed(self, method: str, arguments: tuple, given: dict) -> "Recipe":
        self._changes.append((method, arguments, given))
        return self

    def __reduce__(self) -> Any:
        return _recipe_again, (self._name, self._changes)


def _recipe_again(name: str, changes: Iterable[Tuple[str, tuple, dict]]) -> Recipe:
    recipe = Recipe(name)
    for method, arguments, given in changes:
        getattr(recipe, method)(*arguments, **given)
    return recipe


def recipe_names() -> List[str]:
    """The names that Recipe() takes."""
    return [capi.lpt_recipe_name(index) for index in range(capi.lpt_recipe_count())]


class Linear:
    """A linear layer y = x · wᵀ + bias under a recipe. It owns scalers and the weight's casts, never the weight.

    prepare() after every change of the weight; forward() and backward() per micro-batch; update() once per step.
    """

    __slots__ = ("_handle", "recipe", "input_columns", "output_columns")

    def __init__(self, input_columns: int, output_columns: int, recipe: Any = "f32") -> None:
        self.recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        self.input_columns, self.output_columns = input_columns, output_columns
        shape = capi.lpt_linear_shape()
        shape.input_columns, shape.output_columns = input_columns, output_columns
        self._handle = capi.lpt_linear_create(handle_of(None), self.recipe._handle, shape)

    def prepare(self, weight: Any, *, context: Optional[Context] = None, **given: Any) -> None:
        """Casts the weight (output_columns × input_columns). Options: random."""
        keep: list = []
        capi.lpt_linear_prepare(handle_of(context), self._handle, read(weight),
                                options(capi.lpt_linear_options, given, keep))

    def forward(self, x: Any, *, out: Any = None, inference: bool = False, format: Format = "f32",
                context: Optional[Context] = None, **given: Any) -> Any:
        """y, and what backward needs of this micro-batch; y alone with inference=True. Options: bias, random,
        input_smoothing, first_row."""
        keep: list = []
        handle, source = handle_of(context), read(x)
        shape = source.shape
        rows = source.size // self.input_columns if self.input_columns else 0
        result = empty(shape[:-1] + (self.output_columns,), format, context=context) if out is None else written(out)
        saved = None
        if not inference:
            saved = empty(capi.lpt_linear_saved_size(handle, self._handle, rows), "uint8", context=context)
        capi.lpt_linear_forward(handle, self._handle, source, options(capi.lpt_linear_options, given, keep), saved, result)
        return result if inference else (result, saved)

    def backward(self, saved: Optional[Tensor], output_gradient: Any, *, input_gradient: Any = True,
                 weight_gradient: Any = True, bias_gradient: Any = None, context: Optional[Context] = None,
                 **given: Any) -> Tuple[Optional[Tensor], Optional[Tensor], Optional[Tensor]]:
        """The gradients of x, of w, and of the bias. Each argument: True for a new tensor, None for not wanted, or where to
        write. Options: random, first_row, accumulated (adds to the given weight and bias gradients)."""
        keep: list = []
        gradient = read(output_gradient)
        places = ((input_gradient, lambda: empty(gradient.shape[:-1] + (self.input_columns,), "f32", context=context)),
                  (weight_gradient, lambda: empty((self.output_columns, self.input_columns), "f32", context=context)),
                  (bias_gradient, lambda: empty(self.output_columns, "f32", context=context)))
        results = [make() if place is True else written(place) if place is not None and place is not False else None
                   for place, make in places]
        capi.lpt_linear_backward(handle_of(context), self._handle, saved, gradient,
                                 options(capi.lpt_linear_options, given, keep), *results)
        return results[0], results[1], results[2]

    @property
    def cast_nbytes(self) -> int:
        """Bytes of the weight's casts."""
        return capi.lpt_linear_cast_size(handle_of(None), self._handle)

    def update(self, *, context: Optional[Context] = None) -> None:
        """Ends an optimizer step for the layer's scalers."""
        update([self], context=context)

    def set_recipe(self, recipe: Recipe) -> None:
        """Changes the recipe; prepare() comes next."""
        capi.lpt_linear_set_recipe(handle_of(None), self._handle, recipe._handle)
        self.recipe = recipe

    def mask(self) -> Tensor:
        """The weight's mask since the last prepare(), of a recipe that makes it sparse."""
        mask = empty((self.output_columns, self.input_columns), "uint8")
        capi.lpt_linear_mask_read(handle_of(None), self._handle, mask)
        return mask

    def scaler_values(self, operand: str) -> dict:
        """What the scaler of "input", "weight" or "gradient" knows."""
        values = capi.lpt_scaler_info()
        capi.lpt_linear_scaler_read(handle_of(None), self._handle, constant("LPT_LINEAR_OPERAND_", operand), values)
        return values_of(values)

    def watch(self, watched: bool = True) -> None:
        """Counts what each cast does from now on, or no more."""
        capi.lpt_linear_watch(handle_of(None), self._handle, int(watched))

    def cast_values(self, cast: str) -> dict:
        """What a watched layer's cast did."""
        values = capi.lpt_statistics_info()
        capi.lpt_linear_cast_read(handle_of(None), self._handle, constant("LPT_LINEAR_CAST_", cast), values)
        return values_of(values)

    def state(self) -> bytes:
        """The scalers, saved: portable, with a checksum."""
        return bytes(state_of(capi.lpt_linear_state_size, capi.lpt_linear_state_save, self._handle))

    def load_state(self, state: Any) -> None:
        """Restores the scalers."""
        capi.lpt_linear_state_load(handle_of(None), self._handle, state)

    def __reduce__(self) -> Any:
        return _linear_again, (self.input_columns, self.output_columns, self.recipe, self.state())


def _linear_again(input_columns: int, output_columns: int, recipe: Recipe, state: bytes) -> Linear:
    linear = Linear(input_columns, output_columns, recipe)
    linear.load_state(state)
    return linear


def share_amax(comm: Comm, layers: Sequence[Linear], *, context: Optional[Context] = None) -> None:
    """Gives the scalers of layers the largest amax of any rank; on all ranks, before update()."""
    capi.lpt_linear_share_amax(handle_of(context), comm._handle, [layer._handle for layer in layers])


def update(layers: Sequence[Any], *, context: Optional[Context] = None) -> None:
    """Ends an optimizer step for the scalers of many layers, or for many Scalers."""
    linears = [layer._handle for layer in layers if isinstance(layer, Linear)]
    scalers = [layer._handle for layer in layers if isinstance(layer, Scaler)]
    if len(linears) + len(scalers) != len(layers):
        raise TypeError("update() takes a sequence of Linear and Scaler")
    if linears:
        capi.lpt_linear_update_scalers(handle_of(context), linears)
    if scalers:
        capi.lpt_scaler_update(handle_of(context), scalers)


class Scaler:
    """The memory of amax for one site: give it to quantize() as scaler. Options: kind ("current", "delayed"),
    history_length, margin, history_rule, zero_rule."""

    __slots__ = ("_handle", "_given")

    def __init__(self, **given: Any) -> None:
        keep: list = []
        self._given = given
        self._handle = capi.lpt_scaler_create(handle_of(None), options(capi.lpt_scaler_options, given, keep))

    @property
    def values(self) -> dict:
        """amax, running_amax, update_count."""
        values = capi.lpt_scaler_info()
        capi.lpt_scaler_read(handle_of(None), self._handle, values)
        return values_of(values)

    def state(self) -> bytes:
        """The history, saved."""
        return bytes(state_of(capi.lpt_scaler_state_size, capi.lpt_scaler_state_save, self._handle))

    def load_state(self, state: Any) -> None:
        """Restores the history."""
        capi.lpt_scaler_state_load(handle_of(None), self._handle, state)

    def __reduce__(self) -> Any:
        return _scaler_again, (self._given, self.state())


def _scaler_again(given: dict, state: bytes) -> Scaler:
    scaler = Scaler(**given)
    scaler.load_state(state)
    return scaler


class Optimizer:
    """Steps parameters, and holds their state in few bytes, never the parameters.

    method: "adamw", "adam", "sgd" or "lion". Options: beta1, beta2, epsilon, second_underflow, nesterov. add() tells how
    the state of a parameter is kept; step() changes parameters in place.
    """

    __slots__ = ("_handle", "_given", "_parameters", "_is_shared")

    def __init__(self, method: str = "adamw", **given: Any) -> None:
        keep: list = []
        self._given = dict(given, method=method)
        self._handle = capi.lpt_optimizer_create(handle_of(None), options(capi.lpt_optimizer_options, self._given, keep))
        self._parameters: List[dict] = []
        self._is_shared = False

    def add(self, elements: int, **given: Any) -> int:
        """Makes the state of a parameter; its index. Options: first_moment, second_moment (formats), weight_decay,
        compensation, first_expanded, second_expanded, first_scaling, second_scaling, whole_elements, begin."""
        keep: list = []
        given = dict(given, elements=elements)
        index = capi.lpt_optimizer_add(handle_of(None), self._handle,
                                       options(capi.lpt_optimizer_parameter, given, keep))
        self._parameters.append(given)
        return index

    def set_directory(self, directory: str, resident_bytes: int = 0) -> None:
        """Keeps the state in files."""
        capi.lpt_optimizer_set_directory(handle_of(None), self._handle, directory, resident_bytes)

    def step(self, parameters: Sequence[Any], gradients: Sequence[Any], *, indices: Optional[Sequence[int]] = None,
             context: Optional[Context] = None, **given: Any) -> None:
        """Steps parameters, all that were added or those of indices. Options: learning_rate, gradient_scale, random,
        parameter_rounding, first_moment_rounding, second_moment_rounding, nonfinite_skipped, largest_norm, gradient_norm."""
        keep: list = []
        indices = range(len(self._parameters)) if indices is None else indices
        if not len(parameters) == len(gradients) == len(indices):
            raise ValueError(f"{len(indices)} indices, {len(parameters)} parameters and {len(gradients)} gradients: "
                             "expected as many of each")
        capi.lpt_optimizer_step(handle_of(context), self._handle, indices, [read(gradient) for gradient in gradients],
                                options(capi.lpt_optimizer_step_options, given, keep),
                                [written(parameter) for parameter in parameters])

    def add_shards(self, comm: Comm, parameters: Sequence[dict]) -> List[int]:
        """Makes the state of this rank's shards of whole parameters, each given by the arguments of add(); their indices."""
        keep: list = []
        kinds = [options(capi.lpt_optimizer_parameter, given, keep) for given in parameters]
        indices = capi.lpt_optimizer_add_shards(handle_of(None), comm._handle, self._handle, kinds)
        self._parameters.extend(dict(given) for given in parameters)
        self._is_shared = True
        return indices

    def step_shards(self, comm: Comm, parameters: Sequence[Any], gradients: Sequence[Any], *,
                    indices: Optional[Sequence[int]] = None, reduce: Optional[dict] = None,
                    context: Optional[Context] = None, **given: Any) -> None:
        """Steps whole parameters whose state ranks share, on all ranks. reduce: None where gradients are the same on all ranks
        (ZeRO 1), else options of Comm.all_reduce() by which each rank's own are reduced (ZeRO 2). Options as of step()."""
        keep: list = []
        indices = range(len(self._parameters)) if indices is None else indices
        if not len(parameters) == len(gradients) == len(indices):
            raise ValueError(f"{len(indices)} indices, {len(parameters)} parameters and {len(gradients)} gradients: "
                             "expected as many of each")
        shards = capi.lpt_optimizer_shard_options()
        if reduce is not None:
            reduce_options = options(capi.lpt_reduce_options, reduce, keep) or capi.lpt_reduce_options()
            shards.reduce = reduce_options
        call(keep, capi.lpt_optimizer_step_shards, handle_of(context), comm._handle, self._handle, indices,
             [read(gradient) for gradient in gradients], options(capi.lpt_optimizer_step_options, given, keep), shards,
             [written(parameter) for parameter in parameters])

    @property
    def values(self) -> dict:
        """What the last step came to: gradient_norm, clip_factor, is_skipped, skipped_count."""
        values = capi.lpt_optimizer_info()
        capi.lpt_optimizer_read(handle_of(None), self._handle, values)
        return values_of(values)

    @property
    def nbytes(self) -> int:
        """Bytes of all state."""
        return capi.lpt_optimizer_size(handle_of(None), self._handle)

    def state(self) -> List[bytes]:
        """The state of each parameter, saved."""
        return [bytes(state_of(capi.lpt_optimizer_state_size, capi.lpt_optimizer_state_save, self._handle, index))
                for index in range(len(self._parameters))]

    def load_state(self, states: Sequence[Any]) -> None:
        """Restores the state of each parameter."""
        if len(states) != len(self._parameters):
            raise ValueError(f"{len(states)} states: expected {len(self._parameters)}, one of each parameter")
        for index, state in enumerate(states):
            capi.lpt_optimizer_state_load(handle_of(None), self._handle, index, state)

    def load_state_many(self, states: Sequence[Sequence[Any]]) -> None:
        """Restores the state of each parameter from the state() of several optimizers, whose shards were cut in another way: a
        training that goes on with another number of ranks."""
        for rank, given in enumerate(states):
            if len(given) != len(self._parameters):
                raise ValueError(f"states[{rank}] has {len(given)} states: expected {len(self._parameters)}, one of each parameter")
        for index in range(len(self._parameters)):
            capi.lpt_optimizer_state_load_many(handle_of(None), self._handle, index, [given[index] for given in states])

    def __reduce__(self) -> Any:
        if self._is_shared:
            raise TypeError("an optimizer with shards belongs to its rank: save state() of each rank")
        return _optimizer_again, (self._given, self._parameters, self.state())


def _optimizer_again(given: Dict[str, Any], parameters: Sequence[dict], states: Sequence[bytes]) -> Optimizer:
    optimizer = Optimizer(**given)
    for parameter in parameters:
        optimizer.add(**parameter)
    optimizer.load_state(states)
    return optimizer


def gradients_measure(gradients: Sequence[Any], *, context: Optional[Context] = None) -> dict:
    """sum_of_squares and nonfinite_count of many gradients."""
    values = capi.lpt_gradients_info()
    capi.lpt_gradients_measure(handle_of(context), [read(gradient) for gradient in gradients], values)
    return values_of(values)
