//! Options: [`Default`] is what the library says, builder style changes a member.
use crate::{
    Activation, Device, Format, GradientBucketsOrder, Isa, OptimizerMethod, Overflow, PartialScale, ReduceAlgorithm,
    Reduction, Rounding, ScaleRule, ScalerKind, SparseDirection, SparseRule, SparseSolver, Tensor, WeightsStorage,
};
use lpt_sys as sys;
use std::marker::PhantomData;

/// Where random bits come from; see `lpt_random` in lpt.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random {
    /// The key.
    pub seed: u64,
    /// Index of this tensor's first element in the whole one.
    pub offset: i64,
    /// Columns of the whole tensor; 0: of this one.
    pub row_stride: i64,
    /// One per site of the program.
    pub stream: u32,
    /// One per call of the site.
    pub step: u32,
}

impl Random {
    fn raw(self) -> sys::lpt_random {
        let Random { seed, offset, row_stride, stream, step } = self;
        sys::lpt_random { seed, offset, row_stride, stream, step }
    }
}

/// One setter; the word before the member says how it is written in C.
macro_rules! setter {
    (number $member:ident $type:ty) => {
        /// See the member of lpt.h's struct of this name.
        pub fn $member(mut self, value: $type) -> Self {
            self.raw.$member = value;
            self
        }
    };
    (truth $member:ident $type:ty) => {
        /// See the member of lpt.h's struct of this name.
        pub fn $member(mut self, value: bool) -> Self {
            self.raw.$member = <$type>::from(value);
            self
        }
    };
    (kind $member:ident $type:ty) => {
        /// See the member of lpt.h's struct of this name.
        pub fn $member(mut self, value: $type) -> Self {
            self.raw.$member = value.0;
            self
        }
    };
    (random $member:ident $type:ty) => {
        /// See the member of lpt.h's struct of this name.
        pub fn $member(mut self, value: $type) -> Self {
            self.raw.$member = value.raw();
            self
        }
    };
    (tensor $member:ident $type:ty) => {
        /// See the member of lpt.h's struct of this name. Borrowed as long as the options live.
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
    /// What a new context should be.
    ContextOptions, lpt_context_options {
        number thread_count: i32, kind isa: Isa, kind device: Device, number device_index: i32,
    }
}
options! {
    /// How to quantize.
    QuantizeOptions, lpt_quantize_options {
        number flags: u64, kind rounding: Rounding, kind overflow: Overflow, kind scale_rule: ScaleRule,
        number stochastic_bits: i32, number philox_rounds: i32, number hadamard_size: i32, random random: Random,
        tensor smoothing: Tensor<'a>, tensor hadamard_signs: Tensor<'a>,
    }
}
options! {
    /// How to multiply.
    GemmOptions, lpt_gemm_options {
        number flags: u64, number alpha: f64, number beta: f64, truth is_a_transposed: i32, truth is_b_transposed: i32,
        tensor bias: Tensor<'a>, kind activation: Activation, tensor residual: Tensor<'a>,
    }
}
options! {
    /// How to pack weights.
    WeightsOptions, lpt_weights_options {
        kind storage: WeightsStorage, number tile_rows: i32, number tile_columns: i32,
    }
}
options! {
    /// How to select N of M.
    SparseOptions, lpt_sparse_options {
        number kept: i32, number of: i32, kind rule: SparseRule, kind direction: SparseDirection,
        kind solver: SparseSolver, random random: Random, tensor importance: Tensor<'a>,
    }
}
options! {
    /// One call of a linear layer.
    LinearOptions, lpt_linear_options {
        random random: Random, number first_row: i64, tensor bias: Tensor<'a>, tensor input_smoothing: Tensor<'a>,
        truth is_accumulated: i32,
    }
}
options! {
    /// What a new optimizer should be.
    OptimizerOptions, lpt_optimizer_options {
        number beta1: f64, number beta2: f64, number epsilon: f64, kind method: OptimizerMethod, truth is_nesterov: i32,
    }
}
options! {
    /// A parameter's state: elements, formats of its moments, decay.
    OptimizerParameter, lpt_optimizer_parameter {
        number elements: i64, kind first_moment: Format, kind second_moment: Format, number weight_decay: f64,
        truth is_first_expanded: i32, truth is_second_expanded: i32, kind compensation: Format,
        kind first_scaling: ScalerKind, kind second_scaling: ScalerKind, number whole_elements: i64, number begin: i64,
    }
}
options! {
    /// One step of an optimizer.
    OptimizerStepOptions, lpt_optimizer_step_options {
        number learning_rate: f64, number gradient_scale: f64, random random: Random,
        kind first_moment_rounding: Rounding, kind second_moment_rounding: Rounding, kind parameter_rounding: Rounding,
        truth is_nonfinite_skipped: i32, number largest_norm: f64, number gradient_norm: f64,
    }
}
options! {
    /// How ranks meet.
    CommOptions, lpt_comm_options { number flags: u64, number timeout_seconds: f64, }
}
options! {
    /// How to reduce.
    ReduceOptions, lpt_reduce_options {
        kind reduction: Reduction, number factor: f64, kind wire: Format, kind algorithm: ReduceAlgorithm,
        kind rounding: Rounding, random random: Random,
    }
}
options! {
    /// How gradients fill buckets.
    GradientBucketsOptions, lpt_gradient_buckets_options { number bucket_bytes: usize, kind order: GradientBucketsOrder, }
}
options! {
    /// How columns are shared.
    PartialPlanOptions, lpt_partial_plan_options {
        number flags: u64, number hidden_columns: i64, number shared_columns: i64, number rank_count: i32,
        kind private_scale: PartialScale, number custom_scale: f64, kind forward_wire: Format, kind backward_wire: Format,
        number chunk_rows: i64, number link_latency_seconds: f64, number link_bytes_per_second: f64,
    }
}
