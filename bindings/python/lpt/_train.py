"""Training: recipes, linear layers, scalers and optimizers."""
from __future__ import annotations

__all__ = ["Linear", "Optimizer", "Recipe", "Scaler", "delay_compensate", "gradients_measure", "recipe_names", "share_amax", "update"]

from . import capi
from ._codec import call
from ._context import Context, constant, flag, handle_of, member_handle, values_of
from ._options import options, takes
from ._tensor import Tensor, bytes_of, empty, format_name, format_number, read, state_of, written

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple
    from typing_extensions import Unpack
    from ._comm import Comm
    from ._keywords import (LinearGemmOptions, LinearOptions, OptimizerOptions, OptimizerParameter, OptimizerStepOptions,
                            QuantizeOptions, ReduceOptions, ScalerOptions, SparseOptions)
    from ._tensor import Format


class Recipe:
    """How a linear layer casts the operands of its three GEMMs, and runs these (lpt_recipe).

    name: a recipe such as "fp8_current" or "nvfp4_pretrain"; recipe_names() lists all. The methods change the recipe and
    return it. Existing layers keep their recipe.
    """

    __slots__ = ("_handle", "_name", "_changes", "_composed")

    def __init__(self, name: str = "f32") -> None:
        self._handle = capi.lpt_recipe_create(handle_of(None), name)
        self._name = name
        self._composed: Any = None  # of an Autopilot: how to make it again
        self._changes: List[Tuple[str, Tuple[Any, ...], Dict[str, Any]]] = []

    @takes(capi.lpt_quantize_options)
    def set_cast(self, cast: str, format: Optional[Format], **given: Unpack[QuantizeOptions]) -> "Recipe":
        """Change one cast (lpt_recipe_set_cast()).

        cast: "forward_input", "forward_weight", "dgrad_gradient", "dgrad_weight", "wgrad_gradient" or "wgrad_input".
        format: the format of the cast; None to use the operand without a cast. random and options that are objects are not
        supported.
        """
        keep: List[Any] = []
        capi.lpt_recipe_set_cast(handle_of(None), self._handle, constant("LPT_LINEAR_CAST_", cast),
                                 0 if format is None else format_number(format),
                                 options(capi.lpt_quantize_options, given, keep))
        return self._changed("set_cast", (cast, format), given)

    @takes(capi.lpt_scaler_options)
    def set_scaler(self, operand: str, **given: Unpack[ScalerOptions]) -> "Recipe":
        """Change the source of the tensor scales of an operand (lpt_recipe_set_scaler()).

        operand: "input", "weight" or "gradient".
        """
        keep: List[Any] = []
        capi.lpt_recipe_set_scaler(handle_of(None), self._handle, constant("LPT_LINEAR_OPERAND_", operand),
                                   options(capi.lpt_scaler_options, given, keep))
        return self._changed("set_scaler", (operand,), given)

    @takes(capi.lpt_linear_gemm_options)
    def set_product(self, product: str, **given: Unpack[LinearGemmOptions]) -> "Recipe":
        """Change the options of one GEMM (lpt_recipe_set_gemm()).

        product: the GEMM: "forward", "dgrad" or "wgrad". fast_accumulate: permit a GPU to add FP8 in fewer bits.
        """
        keep: List[Any] = []
        capi.lpt_recipe_set_gemm(handle_of(None), self._handle, constant("LPT_LINEAR_GEMM_", product, "product"),
                                 options(capi.lpt_linear_gemm_options, given, keep))
        return self._changed("set_product", (product,), given)

    @takes(capi.lpt_sparse_options)
    def set_sparsity(self, operand: str, interval: int = 1, **given: Unpack[SparseOptions]) -> "Recipe":
        """Make an operand N:M sparse (lpt_recipe_set_sparsity()).

        operand: "input", "weight" or "gradient". interval: the number of steps between two selections of the mask, 1 for
        inputs and gradients.
        """
        keep: List[Any] = []
        capi.lpt_recipe_set_sparsity(handle_of(None), self._handle, constant("LPT_LINEAR_OPERAND_", operand),
                                     interval, options(capi.lpt_sparse_options, given, keep))
        return self._changed("set_sparsity", (operand, interval), given)

    def raise_product(self, product: str, format: Optional[Format] = None) -> "Recipe":
        """Set both operands of one GEMM to a high precision (lpt_recipe_set_high_precision()).

        product: the GEMM: "forward", "dgrad" or "wgrad". format: the format of the operands; None for no casts.
        """
        number = 0 if format is None else format_number(format)
        capi.lpt_recipe_set_high_precision(handle_of(None), self._handle, constant("LPT_LINEAR_GEMM_", product, "product"), number)
        return self._changed("raise_product", (product, format), {})

    def cast_format(self, cast: str) -> Optional[str]:
        """Return the format of one cast, or None if the operand is not cast."""
        number = capi.lpt_recipe_cast_format(handle_of(None), self._handle, constant("LPT_LINEAR_CAST_", cast))
        return format_name(number) if number else None

    def _changed(self, method: str, arguments: Tuple[Any, ...], given: Mapping[str, Any]) -> "Recipe":
        self._changes.append((method, arguments, dict(given)))
        return self

    def __reduce__(self) -> Any:
        return self._composed or (_recipe_again, (self._name, self._changes))


def _recipe_again(name: str, changes: Iterable[Tuple[str, Tuple[Any, ...], Dict[str, Any]]]) -> Recipe:
    recipe = Recipe(name)
    for method, arguments, given in changes:
        getattr(recipe, method)(*arguments, **given)
    return recipe


def recipe_names() -> List[str]:
    """Return the names of all recipes."""
    return [capi.lpt_recipe_name(index) for index in range(capi.lpt_recipe_count())]


class Linear:
    """A linear layer y = x · wᵀ + bias with a recipe (lpt_linear).

    The layer owns its scalers and the casts of its weight, not the weight. Call prepare() after every change of the weight,
    forward() and backward() for each micro-batch, and update() once per optimizer step.

    recipe: a Recipe or a name.
    """

    __slots__ = ("_handle", "recipe", "input_columns", "output_columns")

    def __init__(self, input_columns: int, output_columns: int, recipe: Any = "f32") -> None:
        self.recipe: Recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        self.input_columns: int = input_columns
        self.output_columns: int = output_columns
        shape = capi.lpt_linear_shape()
        shape.input_columns, shape.output_columns = input_columns, output_columns
        self._handle = capi.lpt_linear_create(handle_of(None), self.recipe._handle, shape)

    @takes(capi.lpt_linear_options)
    def prepare(self, weight: Any, *, context: Optional[Context] = None, **given: Unpack[LinearOptions]) -> None:
        """Cast the weight, output_columns × input_columns, for forward and backward (lpt_linear_prepare())."""
        keep: List[Any] = []
        capi.lpt_linear_prepare(handle_of(context), self._handle, read(weight),
                                options(capi.lpt_linear_options, given, keep))

    @takes(capi.lpt_linear_options)
    def forward(self, x: Any, *, out: Any = None, inference: bool = False, format: Format = "f32",
                context: Optional[Context] = None, **given: Unpack[LinearOptions]) -> Any:
        """Compute y, and save the data for backward (lpt_linear_forward()).

        Returns y and the saved tensor; with inference=True, only y. format: the format of y if out is not given.
        """
        keep: List[Any] = []
        handle, source, inference = handle_of(context), read(x), flag(inference, "inference")
        shape = source.shape
        rows = source.size // self.input_columns if self.input_columns else 0
        result = empty(shape[:-1] + (self.output_columns,), format, context=context) if out is None else written(out)
        saved = None
        if not inference:
            saved = empty(capi.lpt_linear_saved_size(handle, self._handle, rows), "uint8", context=context)
        capi.lpt_linear_forward(handle, self._handle, source, options(capi.lpt_linear_options, given, keep), saved, result)
        return result if inference else (result, saved)

    @takes(capi.lpt_linear_options)
    def backward(self, saved: Optional[Tensor], output_gradient: Any, *, input_gradient: Any = True,
                 weight_gradient: Any = True, bias_gradient: Any = None, context: Optional[Context] = None,
                 **given: Unpack[LinearOptions]) -> Tuple[Optional[Tensor], Optional[Tensor], Optional[Tensor]]:
        """Compute the gradients of x, weight and bias, and return all three (lpt_linear_backward()).

        saved: the tensor that forward() returned. input_gradient, weight_gradient and bias_gradient: True for a new tensor,
        an output tensor, or None to skip the gradient.
        """
        keep: List[Any] = []
        gradient = read(output_gradient)
        outputs = ((input_gradient, lambda: empty(gradient.shape[:-1] + (self.input_columns,), "f32", context=context)),
                   (weight_gradient, lambda: empty((self.output_columns, self.input_columns), "f32", context=context)),
                   (bias_gradient, lambda: empty(self.output_columns, "f32", context=context)))
        results = [make() if output is True else written(output) if output is not None and output is not False else None
                   for output, make in outputs]
        capi.lpt_linear_backward(handle_of(context), self._handle, saved, gradient,
                                 options(capi.lpt_linear_options, given, keep), *results)
        return results[0], results[1], results[2]

    @property
    def cast_nbytes(self) -> int:
        """Number of bytes of the casts of the weight, with masks."""
        return capi.lpt_linear_cast_size(handle_of(None), self._handle)

    def update(self, *, context: Optional[Context] = None) -> None:
        """Complete an optimizer step for the scalers of the layer (lpt_linear_update_scalers())."""
        update([self], context=context)

    def set_recipe(self, recipe: Recipe) -> None:
        """Set the recipe; it applies from the next prepare() on."""
        capi.lpt_linear_set_recipe(handle_of(None), self._handle, member_handle(recipe, "recipe", "Recipe"))
        self.recipe = recipe

    def mask(self) -> Tensor:
        """Return the mask that the last prepare() selected for a sparse weight."""
        mask = empty((self.output_columns, self.input_columns), "uint8")
        capi.lpt_linear_mask_read(handle_of(None), self._handle, mask)
        return mask

    def scaler_values(self, operand: str) -> Dict[str, Any]:
        """Return the state of the scaler of "input", "weight" or "gradient", the members of lpt_scaler_info."""
        values = capi.lpt_scaler_info()
        capi.lpt_linear_scaler_read(handle_of(None), self._handle, constant("LPT_LINEAR_OPERAND_", operand), values)
        return values_of(values)

    def watch(self, watched: bool = True) -> None:
        """Start or stop the collection of statistics of the casts."""
        capi.lpt_linear_watch(handle_of(None), self._handle, int(flag(watched, "watched")))

    def cast_values(self, cast: str) -> Dict[str, Any]:
        """Return the statistics of one cast of a watched layer since watch(); names of casts as for Recipe.set_cast()."""
        values = capi.lpt_statistics_info()
        capi.lpt_linear_cast_read(handle_of(None), self._handle, constant("LPT_LINEAR_CAST_", cast), values)
        return values_of(values)

    def state(self) -> bytes:
        """Return the saved scalers, and the mask of a sparse weight, as portable bytes with a checksum."""
        return bytes(state_of(capi.lpt_linear_state_size, capi.lpt_linear_state_save, self._handle))

    def load_state(self, state: Any) -> None:
        """Restore the scalers, and the mask of a sparse weight; call prepare() next."""
        capi.lpt_linear_state_load(handle_of(None), self._handle, bytes_of(state, "state"))

    def __reduce__(self) -> Any:
        return _linear_again, (self.input_columns, self.output_columns, self.recipe, self.state())


def _linear_again(input_columns: int, output_columns: int, recipe: Recipe, state: bytes) -> Linear:
    linear = Linear(input_columns, output_columns, recipe)
    linear.load_state(state)
    return linear


def share_amax(comm: Comm, layers: Sequence[Linear], *, context: Optional[Context] = None) -> None:
    """Set the recorded amax of the scalers of layers to the maximum over ranks (lpt_linear_share_amax()).

    All ranks call it before update().
    """
    capi.lpt_linear_share_amax(handle_of(context), member_handle(comm, "comm", "Comm"),
                               [member_handle(layer, "layers", "sequence of Linear") for layer in layers])


def update(layers: Sequence[Any], *, context: Optional[Context] = None) -> None:
    """Complete an optimizer step for the scalers of many layers, or for many Scalers; layers may contain both."""
    linears = [layer._handle for layer in layers if isinstance(layer, Linear)]
    scalers = [layer._handle for layer in layers if isinstance(layer, Scaler)]
    if len(linears) + len(scalers) != len(layers):
        raise TypeError("layers contains another object: expected a sequence of Linear and Scaler")
    if linears:
        capi.lpt_linear_update_scalers(handle_of(context), linears)
    if scalers:
        capi.lpt_scaler_update(handle_of(context), scalers)


class Scaler:
    """Records the amax of the casts of one site (lpt_scaler): pass it to quantize() as the option scaler."""

    __slots__ = ("_handle", "_given")

    @takes(capi.lpt_scaler_options)
    def __init__(self, **given: Unpack[ScalerOptions]) -> None:
        """Create a scaler with an empty history."""
        keep: List[Any] = []
        self._given = given
        self._handle = capi.lpt_scaler_create(handle_of(None), options(capi.lpt_scaler_options, given, keep))

    @property
    def values(self) -> Dict[str, Any]:
        """State of the scaler: amax, running_amax, update_count."""
        values = capi.lpt_scaler_info()
        capi.lpt_scaler_read(handle_of(None), self._handle, values)
        return values_of(values)

    def state(self) -> bytes:
        """Return the saved history as bytes."""
        return bytes(state_of(capi.lpt_scaler_state_size, capi.lpt_scaler_state_save, self._handle))

    def load_state(self, state: Any) -> None:
        """Restore the history."""
        capi.lpt_scaler_state_load(handle_of(None), self._handle, bytes_of(state, "state"))

    def __reduce__(self) -> Any:
        return _scaler_again, (self._given, self.state())


def _scaler_again(given: ScalerOptions, state: bytes) -> Scaler:
    scaler = Scaler(**given)
    scaler.load_state(state)
    return scaler


class Optimizer:
    """Optimizer whose state may be stored in 8 bits (lpt_optimizer).

    The optimizer owns the state of parameters, not the parameters. add() sets the formats of the state of one parameter.
    step() updates parameters in place.

    """

    __slots__ = ("_handle", "_given", "_parameters", "_is_shared")

    @takes(capi.lpt_optimizer_options)
    def __init__(self, method: str = "adamw", **given: Unpack[OptimizerOptions]) -> None:
        """Create an optimizer without parameters. method: "adamw", "adam", "sgd" or "lion"."""
        keep: List[Any] = []
        self._given: Dict[str, Any] = dict(given, method=method)
        self._handle = capi.lpt_optimizer_create(handle_of(None), options(capi.lpt_optimizer_options, self._given, keep))
        self._parameters: List[Dict[str, Any]] = []
        self._is_shared = False

    @takes(capi.lpt_optimizer_parameter)
    def add(self, elements: int, *, name: Optional[str] = None, **given: Unpack[OptimizerParameter]) -> int:
        """Add a parameter with zero moments, and return its index (lpt_optimizer_add()).

        elements: the number of elements. name: a unique name, which saved states contain.
        """
        keep: List[Any] = []
        chosen: Dict[str, Any] = dict(given, elements=elements)
        index = capi.lpt_optimizer_add(handle_of(None), self._handle, name,
                                       options(capi.lpt_optimizer_parameter, chosen, keep))
        self._parameters.append(dict(chosen, name=name))
        return index

    def find(self, name: str) -> int:
        """Return the index of the parameter with this name (lpt_optimizer_find())."""
        return capi.lpt_optimizer_find(handle_of(None), self._handle, name)

    def set_directory(self, directory: str, resident_bytes: int = 0) -> None:
        """Store the state in mapped files in directory, for state larger than memory (lpt_optimizer_set_directory())."""
        capi.lpt_optimizer_set_directory(handle_of(None), self._handle, directory, resident_bytes)

    @takes(capi.lpt_optimizer_step_options)
    def step(self, parameters: Sequence[Any], gradients: Sequence[Any], *, indices: Optional[Sequence[int]] = None,
             context: Optional[Context] = None, **given: Unpack[OptimizerStepOptions]) -> None:
        """Step parameters in place (lpt_optimizer_step()).

        indices: the indices of the parameters, as add() returned them; by default all.
        """
        keep: List[Any] = []
        self._check_parameters()
        indices = range(len(self._parameters)) if indices is None else indices
        if not len(parameters) == len(gradients) == len(indices):
            raise ValueError(f"got {len(indices)} indices, {len(parameters)} parameters and {len(gradients)} gradients: "
                             "expected the same number")
        capi.lpt_optimizer_step(handle_of(context), self._handle, indices, [read(gradient) for gradient in gradients],
                                options(capi.lpt_optimizer_step_options, given, keep),
                                [written(parameter) for parameter in parameters])

    def _check_parameters(self) -> None:
        if not self._parameters:
            raise ValueError("the optimizer has no parameters: call add() for each parameter before step()")

    def add_shards(self, comm: Comm, parameters: Sequence[Dict[str, Any]]) -> List[int]:
        """Add this rank's shards of parameters, and return their indices (lpt_optimizer_add_shards()).

        parameters: the arguments of add() for each full parameter, as dicts. Nothing is sent.
        """
        keep: List[Any] = []
        names = [given.get("name") for given in parameters]
        kinds = [options(capi.lpt_optimizer_parameter, {key: value for key, value in given.items() if key != "name"}, keep)
                 for given in parameters]
        indices = capi.lpt_optimizer_add_shards(handle_of(None), member_handle(comm, "comm", "Comm"), self._handle, names, kinds)
        self._parameters.extend(dict(given) for given in parameters)
        self._is_shared = True
        return indices

    @takes(capi.lpt_optimizer_step_options)
    def step_shards(self, comm: Comm, parameters: Sequence[Any], gradients: Sequence[Any], *,
                    indices: Optional[Sequence[int]] = None, reduce: Optional[ReduceOptions] = None,
                    context: Optional[Context] = None, **given: Unpack[OptimizerStepOptions]) -> None:
        """Step full parameters whose state is sharded over ranks (lpt_optimizer_step_shards()); all ranks call it.

        reduce: None if the gradients are the same on all ranks (ZeRO 1). Otherwise, the options of Comm.all_reduce() with
        which the step reduces the gradients of all ranks (ZeRO 2).
        """
        keep: List[Any] = []
        self._check_parameters()
        indices = range(len(self._parameters)) if indices is None else indices
        if not len(parameters) == len(gradients) == len(indices):
            raise ValueError(f"got {len(indices)} indices, {len(parameters)} parameters and {len(gradients)} gradients: "
                             "expected the same number")
        shards = capi.lpt_optimizer_shard_options()
        if reduce is not None:
            reduce_options = options(capi.lpt_reduce_options, reduce, keep) or capi.lpt_reduce_options()
            shards.reduce = reduce_options
        call(keep, capi.lpt_optimizer_step_shards, handle_of(context), member_handle(comm, "comm", "Comm"), self._handle, indices,
             [read(gradient) for gradient in gradients], options(capi.lpt_optimizer_step_options, given, keep), shards,
             [written(parameter) for parameter in parameters])

    @property
    def values(self) -> Dict[str, Any]:
        """Results of the last step: gradient_norm, clip_factor, is_skipped, skipped_count."""
        values = capi.lpt_optimizer_info()
        capi.lpt_optimizer_read(handle_of(None), self._handle, values)
        return values_of(values)

    @property
    def nbytes(self) -> int:
        """Number of bytes of the state of all parameters, with scales."""
        return capi.lpt_optimizer_size(handle_of(None), self._handle)

    def state(self) -> List[bytes]:
        """Return the saved state of each parameter."""
        return [bytes(state_of(capi.lpt_optimizer_state_size, capi.lpt_optimizer_state_save, self._handle, index))
                for index in range(len(self._parameters))]

    def load_state(self, states: Sequence[Any]) -> None:
        """Restore the state of each parameter from the result of state()."""
        if len(states) != len(self._parameters):
            raise ValueError(f"states has {len(states)} states: expected {len(self._parameters)}, one for each parameter")
        for index, state in enumerate(states):
            capi.lpt_optimizer_state_load(handle_of(None), self._handle, index, bytes_of(state, f"states[{index}]"))

    def load_state_many(self, states: Sequence[Sequence[Any]]) -> None:
        """Restore the state of each parameter from saved shards with other cuts (lpt_optimizer_state_load_many()).

        states: the results of state() of the optimizers of all ranks. Use it to continue training with another number of ranks.
        """
        for rank, given in enumerate(states):
            if len(given) != len(self._parameters):
                raise ValueError(f"states[{rank}] has {len(given)} states: expected {len(self._parameters)}, "
                                 "one for each parameter")
            for index, state in enumerate(given):
                bytes_of(state, f"states[{rank}][{index}]")
        for index in range(len(self._parameters)):
            capi.lpt_optimizer_state_load_many(handle_of(None), self._handle, index, [given[index] for given in states])

    def __reduce__(self) -> Any:
        if self._is_shared:
            raise TypeError("an optimizer with shards cannot be pickled: save state() of each rank")
        return _optimizer_again, (self._given, self._parameters, self.state())


def _optimizer_again(given: Dict[str, Any], parameters: Sequence[Dict[str, Any]], states: Sequence[bytes]) -> Optimizer:
    optimizer = Optimizer(**given)
    for parameter in parameters:
        optimizer.add(**parameter)
    optimizer.load_state(states)
    return optimizer


def gradients_measure(gradients: Sequence[Any], *, context: Optional[Context] = None) -> Dict[str, Any]:
    """Return sum_of_squares and nonfinite_count of many gradients as a dict (lpt_gradients_measure())."""
    values = capi.lpt_gradients_info()
    capi.lpt_gradients_measure(handle_of(context), [read(gradient) for gradient in gradients], values)
    return values_of(values)


def delay_compensate(own: Sequence[Any], mean: Sequence[Any], gradients: Sequence[Any], *, strength: float = 0.2,
                     norm: str = "tensor", context: Optional[Context] = None) -> None:
    """Correct gradients of the parameters of this rank for the mean parameters of all ranks, in place (lpt_delay_compensate()).

    own: parameters of which mean is the mean over ranks. strength: norm of the correction, relative to the gradient. norm:
    "tensor", or "global" for one factor of all gradients.
    """
    if not len(own) == len(mean) == len(gradients):
        raise ValueError(f"got {len(own)} tensors of this rank, {len(mean)} means and {len(gradients)} gradients: expected the same "
                         "number")
    keep: List[Any] = []
    given = {"strength": strength, "norm": constant("LPT_DELAY_NORM_", norm, "norm")}
    capi.lpt_delay_compensate(handle_of(context), [read(one) for one in own], [read(one) for one in mean],
                              options(capi.lpt_delay_options, given, keep), [written(one) for one in gradients])
