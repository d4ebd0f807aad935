//! Options: [`Default`] gives the defaults of the library, and builder methods change members.
use crate::{
    Activation, Device, Format, GradientBucketsOrder, Isa, LossScaler, OptimizerMethod, Overflow, PartialScale, ReduceAlgorithm,
    Reduction, Rounding, ScaleRule, ScalerKind, SparseDirection, SparseRule, SparseSolver, Tensor, WeightsStorage,
};
use lpt_sys as sys;
use std::marker::PhantomData;

/// Source of random bits; see `lpt_random` in lpt.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random {
    /// The key.
    pub seed: u64,
    /// Index of the first element of this tensor in the full tensor.
    pub offset: i64,
    /// Columns of the full tensor; 0: columns of this tensor.
    pub row_stride: i64,
    /// One number per site of the program.
    pub stream: u32,
    /// One number per call of the site.
    pub step: u32,
}

impl Random {
    fn raw(self) -> sys::lpt_random {
        let Random { seed, offset, row_stride, stream, step } = self;
        sys::lpt_random { seed, offset, row_stride, stream, step }
    }
}

/// Defines one setter; the word before the member selects its conversion to C.
macro_rules! setter {
    (number $member:ident $type:ty) => {
        /// Sets the member of this name of the struct in lpt.h.
        pub fn $member(mut self, value: $type) -> Self {
            self.raw.$member = value;
            self
        }
    };
    (flag $member:ident $type:ty) => {
        /// Sets the member of this name of the struct in lpt.h.
        pub fn $member(mut self, value: bool) -> Self {
            self.raw.$member = <$type>::from(value);
            self
        }
    };
    (kind $member:ident $type:ty) => {
        /// Sets the member of this name of the struct in lpt.h.
        pub fn $member(mut self, value: $type) -> Self {
            self.raw.$member = value.0;
            self
        }
    };
    (random $member:ident $type:ty) => {
        /// Sets the member of this name of the struct in lpt.h.
        pub fn $member(mut self, value: $type) -> Self {
            self.raw.$member = value.raw();
            self
        }
    };
    (borrowed $member:ident $type:ty) => {
        /// Sets the member of this name of the struct in lpt.h; the options borrow the value.
        pub fn $member(mut self, value: &'a $type) -> Self {
            self.raw.$member = value.as_ptr();
            self
        }
    };
}

macro_rules! options {
    ($(#[$doc:meta])* $name:ident, $raw:ident { $($how:ident $member:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            pub(crate) raw: sys::$raw,
            handles: PhantomData<&'a Tensor<'a>>,
        }

        impl Default for $name<'_> {
            fn default() -> Self {
                Self { raw: Default::default(), handles: PhantomData }
            }
        }

        impl<'a> $name<'a> {
            $(setter!($how $member $type);)*
        }
    };
}

options! {
    /// Options of a context.
    ContextOptions, lpt_context_options {
        number thread_count: i32, kind isa: Isa, kind device: Device, number device_index: i32,
    }
}
options! {
    /// Options of a cast.
    QuantizeOptions, lpt_quantize_options {
        number flags: u64, kind rounding: Rounding, kind overflow: Overflow, kind scale_rule: ScaleRule,
        number stochastic_bits: i32, number philox_rounds: i32, number hadamard_size: i32, random random: Random,
        borrowed smoothing: Tensor<'a>, borrowed hadamard_signs: Tensor<'a>,
    }
}
options! {
    /// Options of a GEMM.
    GemmOptions, lpt_gemm_options {
        number flags: u64, number alpha: f64, number beta: f64, flag is_a_transposed: i32, flag is_b_transposed: i32,
        borrowed bias: Tensor<'a>, kind activation: Activation, borrowed residual: Tensor<'a>,
    }
}
options! {
    /// Options of packed weights.
    WeightsOptions, lpt_weights_options {
        kind storage: WeightsStorage, number tile_rows: i32, number tile_columns: i32,
    }
}
options! {
    /// Options of N:M selection.
    SparseOptions, lpt_sparse_options {
        number kept: i32, number of: i32, kind rule: SparseRule, kind direction: SparseDirection,
        kind solver: SparseSolver, random random: Random, borrowed importance: Tensor<'a>,
    }
}
options! {
    /// Options of one call of a linear layer.
    LinearOptions, lpt_linear_options {
        random random: Random, number first_row: i64, borrowed bias: Tensor<'a>, borrowed input_smoothing: Tensor<'a>,
        flag is_accumulated: i32,
    }
}
options! {
    /// Options of an optimizer.
    OptimizerOptions, lpt_optimizer_options {
        number beta1: f64, number beta2: f64, number epsilon: f64, kind method: OptimizerMethod, flag is_nesterov: i32,
    }
}
options! {
    /// Description of one parameter and of the formats of its state.
    OptimizerParameter, lpt_optimizer_parameter {
        number elements: i64, kind first_moment: Format, kind second_moment: Format, number weight_decay: f64,
        flag is_first_expanded: i32, flag is_second_expanded: i32, kind compensation: Format,
        kind first_scaling: ScalerKind, kind second_scaling: ScalerKind, number whole_elements: i64, number begin: i64,
        number random_stream: i64,
    }
}
options! {
    /// Options of one step of an optimizer.
    OptimizerStepOptions, lpt_optimizer_step_options {
        number learning_rate: f64, number gradient_scale: f64, random random: Random,
        kind first_moment_rounding: Rounding, kind second_moment_rounding: Rounding, kind parameter_rounding: Rounding,
        flag is_nonfinite_skipped: i32, number largest_norm: f64, number gradient_norm: f64,
        borrowed loss_scaler: LossScaler,
    }
}
options! {
    /// Options of a loss scaler.
    LossScalerOptions, lpt_loss_scaler_options {
        number initial_scale: f64, number growth_factor: f64, number backoff_factor: f64, number growth_interval: i64,
        number min_scale: f64, number max_scale: f64,
    }
}
options! {
    /// Options of a communicator.
    CommOptions, lpt_comm_options { number flags: u64, number timeout_seconds: f64, }
}
options! {
    /// Options of a reduction.
    ReduceOptions, lpt_reduce_options {
        kind reduction: Reduction, number factor: f64, kind wire: Format, kind algorithm: ReduceAlgorithm,
        kind rounding: Rounding, random random: Random,
    }
}
options! {
    /// Options of gradient buckets.
    GradientBucketsOptions, lpt_gradient_buckets_options { number bucket_bytes: usize, kind order: GradientBucketsOrder, }
}
options! {
    /// Options of a plan of shared columns.
    PartialPlanOptions, lpt_partial_plan_options {
        number flags: u64, number hidden_columns: i64, number shared_columns: i64, number rank_count: i32,
        kind private_scale: PartialScale, number custom_scale: f64, kind forward_wire: Format, kind backward_wire: Format,
        number chunk_rows: i64, number link_latency_seconds: f64, number link_bytes_per_second: f64,
    }
}
