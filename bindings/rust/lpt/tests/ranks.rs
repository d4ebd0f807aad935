//! Devices, and collectives: buckets, shards, sequences.
use local_ranks::on_ranks;
use lpt::*;

mod local_ranks;

#[test]
fn devices_are_described() {
    let cpu = Device::CPU.describe(0).unwrap();
    assert!(cpu.is_usable && cpu.reason.is_empty() && cpu.processor_count > 0, "{cpu:?}");
    let absent = Device::CUDA.describe(1000).unwrap();
    assert!(!absent.is_usable && !absent.reason.is_empty(), "{absent:?}");
    assert_eq!(Device(77).describe(0).unwrap_err().status, Status::INVALID_ARGUMENT);
    let unusable = Context::with_options(&ContextOptions::default().device(Device::CUDA).device_index(1000));
    assert_eq!(unusable.err().unwrap().status, Status::UNSUPPORTED);
}

#[test]
fn tensors_are_copied() {
    let (context, numbers, mut copied) = (Context::new().unwrap(), [1f32, 2.0, 3.0, 4.0], [0f32; 4]);
    let source = Tensor::from_slice(&context, &numbers, 2, 2).unwrap();
    context.tensor_copy(&source, &mut Tensor::from_mut(&context, &mut copied, 2, 2).unwrap()).unwrap();
    assert_eq!(copied, numbers);
}

fn numbers_of(context: &Context, tensor: &Tensor) -> Vec<f32> {
    let four = |bytes: &[u8]| f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    tensor.bytes(context).unwrap().chunks_exact(4).map(four).collect()
}

fn write(context: &Context, tensor: &mut Tensor, numbers: &[f32]) {
    for (target, number) in tensor.bytes_mut(context).unwrap().chunks_exact_mut(4).zip(numbers) {
        target.copy_from_slice(&number.to_ne_bytes());
    }
}

#[test]
fn gradients_are_accessible_except_during_reduction() {
    on_ranks(|context, mut comm, rank| {
        let gradients = (1..4).map(|i| Tensor::new(context, Format::F32, &[i, i]).unwrap()).collect();
        let options = GradientBucketsOptions::default().bucket_bytes(16).order(GradientBucketsOrder::REVERSED);
        let mut buckets = GradientBuckets::new(context, &mut comm, gradients, &options).unwrap();
        for index in 0..3 {
            let mut gradient = buckets.gradient(context, index).unwrap();
            write(context, &mut gradient, &[rank as f32 + index as f32; 9]);
        }
        buckets.begin(context, true, &ReduceOptions::default().reduction(Reduction::AVERAGE)).unwrap();
        buckets.ready(context, 2).unwrap();
        let error_of =
            |buckets: &mut GradientBuckets, index| buckets.gradient(context, index).err().map(|error| error.text);
        assert_eq!(error_of(&mut buckets, 2).unwrap(), "gradients[2] is in reduction: call wait() first");
        assert_eq!(error_of(&mut buckets, 1), None);
        assert_eq!(error_of(&mut buckets, 3).unwrap(), "index is 3: expected less than gradients, 3");
        let error = buckets.wait(context).unwrap_err();
        assert!(error.text.contains("gradients[0], gradients[1] of 3"), "{error}");
        assert!(error_of(&mut buckets, 2).is_some(), "the pass continues");
        buckets.ready(context, 1).unwrap();
        buckets.ready(context, 0).unwrap();
        buckets.wait(context).unwrap();
        for index in 0..3 {
            let found = numbers_of(context, &buckets.gradient(context, index).unwrap());
            assert!(found.iter().all(|&number| number == index as f32 + 0.5), "{found:?}");
        }
        // The caller may access gradients of micro-batches; buckets keep the comm alive.
        buckets.begin(context, false, &ReduceOptions::default()).unwrap();
        buckets.ready(context, 2).unwrap();
        assert_eq!(error_of(&mut buckets, 2), None);
        comm.barrier(context).unwrap();
        drop(comm);
        assert_eq!(buckets.values(context).unwrap().bucket_count, 3);
    });
}

fn filled(count: usize, factor: f32) -> Vec<f32> {
    (0..count).map(|i| (i * 7 % 13) as f32 * factor - factor).collect()
}

const SIZES: [usize; 2] = [9000, 40];

fn parameter(elements: usize) -> OptimizerParameter<'static> {
    let moment = Format::E4M3FN_1X128;
    OptimizerParameter::default().elements(elements as i64).first_moment(moment).second_moment(moment)
}

/// Steps without ranks, and returns the parameters and the state of the first parameter.
fn step_full(steps: usize) -> (Vec<Vec<f32>>, Vec<u8>) {
    let context = Context::new().unwrap();
    let mut optimizer = Optimizer::new(&context, &OptimizerOptions::default()).unwrap();
    let mut numbers: Vec<_> = SIZES.iter().map(|&size| filled(size, 0.25)).collect();
    let slopes: Vec<_> = SIZES.iter().map(|&size| filled(size, 1.0)).collect();
    for &size in &SIZES {
        optimizer.add(&context, &parameter(size)).unwrap();
    }
    for _ in 0..steps {
        let [first, second] = [0, 1].map(|i| Tensor::from_slice(&context, &slopes[i], 1, SIZES[i] as i64).unwrap());
        let (left, right) = numbers.split_at_mut(1);
        let mut one = Tensor::from_mut(&context, &mut left[0], 1, SIZES[0] as i64).unwrap();
        let mut two = Tensor::from_mut(&context, &mut right[0], 1, SIZES[1] as i64).unwrap();
        let options = OptimizerStepOptions::default().learning_rate(0.01);
        optimizer.step(&context, &[0, 1], &[&*first, &*second], &mut [&mut one, &mut two], &options).unwrap();
    }
    let state = optimizer.state_save(&context, 0).unwrap();
    (numbers, state)
}

#[test]
fn functions_of_a_transport_fail_with_their_text() {
    use std::ffi::{c_char, c_void};

    #[allow(clippy::too_many_arguments)]
    unsafe extern "C" fn exchange(
        _: *mut c_void,
        _: *mut c_void,
        _: *const *const c_void,
        _: *const i64,
        _: *const *mut c_void,
        _: *const i64,
        _: f64,
        error: *mut c_char,
        _: usize,
    ) -> i32 {
        std::ptr::copy_nonoverlapping(c"no cable".as_ptr(), error, 9);
        lpt_sys::LPT_WORK_FAILED
    }
    unsafe extern "C" fn close(user: *mut c_void) {
        *user.cast::<i32>() += 1;
    }
    let mut functions = lpt_sys::lpt_comm_functions { exchange: Some(exchange), close: Some(close), ..Default::default() };
    functions.name[0] = b'x' as c_char;
    let context = Context::new().unwrap();
    let mut closes = 0i32;
    let user: *mut c_void = (&raw mut closes).cast();
    let options = CommOptions::default();
    let error = unsafe { Comm::custom(&context, &functions, user, 0, 2, &options) }.err().unwrap();
    assert!(error.to_string().contains("functions->exchange failed: no cable"), "{error}");
    let comm = unsafe { Comm::custom(&context, &functions, user, 0, 1, &options) }.unwrap();
    assert_eq!(comm.values(&context).unwrap().rank_count, 1);
    drop(comm);
    assert_eq!(closes, 2);
}

#[test]
fn shards_step_like_the_full_parameter() {
    let shards = on_ranks(|context, mut comm, rank| {
        let mut optimizer = Optimizer::new(context, &OptimizerOptions::default()).unwrap();
        let indices = optimizer.add_shards(context, &comm, &SIZES.map(parameter)).unwrap();
        assert_eq!(indices, [0, 1]);
        let mut numbers: Vec<_> = SIZES.iter().map(|&size| filled(size, 0.25)).collect();
        // The gradients of rank 1 are zero.
        let slopes: Vec<_> = SIZES.iter().map(|&size| filled(size, if rank == 0 { 1.0 } else { 0.0 })).collect();
        let [first, second] = [0, 1].map(|i| Tensor::from_slice(context, &slopes[i], 1, SIZES[i] as i64).unwrap());
        let (left, right) = numbers.split_at_mut(1);
        let mut one = Tensor::from_mut(context, &mut left[0], 1, SIZES[0] as i64).unwrap();
        let mut two = Tensor::from_mut(context, &mut right[0], 1, SIZES[1] as i64).unwrap();
        let (options, sum) = (OptimizerStepOptions::default().learning_rate(0.01), ReduceOptions::default());
        let (gradients, parameters) = (&[&*first, &*second], &mut [&mut one, &mut two]);
        optimizer.step_shards(context, &mut comm, &indices, gradients, parameters, &options, Some(&sum)).unwrap();
        let short = optimizer.step_shards(context, &mut comm, &[0], &[], &mut [], &options, None).unwrap_err();
        assert_eq!(short.text, "gradients has 0 elements, parameters has 0: expected as many as indices, 1");
        drop((one, two));
        (numbers, optimizer.state_save(context, 0).unwrap())
    });
    let (expected, state) = step_full(1);
    assert!(shards.iter().all(|(numbers, _)| *numbers == expected));

    let context = Context::new().unwrap();
    let mut together = Optimizer::new(&context, &OptimizerOptions::default()).unwrap();
    together.add(&context, &parameter(SIZES[0])).unwrap();
    together.state_load_many(&context, 0, &[&shards[1].1, &shards[0].1]).unwrap();
    assert_eq!(together.state_save(&context, 0).unwrap(), state);
    let half = together.state_load_many(&context, 0, &[&shards[1].1]).unwrap_err();
    assert_eq!(half.status, Status::INVALID_STATE);
}

#[test]
fn sequences_are_gathered_and_scattered() {
    on_ranks(|context, mut comm, rank| {
        let counts = [1, 2];
        let mine = vec![rank as f32 + 1.0; 4 * (rank + 1)];
        let (mut all, mut back) = (vec![0f32; 12], vec![0f32; mine.len()]);
        let input = Tensor::from_slice(context, &mine, rank as i64 + 1, 4).unwrap();
        let mut output = Tensor::from_mut(context, &mut all, 3, 4).unwrap();
        comm.sequence_gather(context, None, &input, Some(&counts), &mut output).unwrap();
        let mut own = Tensor::from_mut(context, &mut back, rank as i64 + 1, 4).unwrap();
        comm.sequence_scatter(context, None, PartialPass::BACKWARD, &output, Some(&counts), &mut own).unwrap();
        let short = comm.sequence_gather(context, None, &input, Some(&[3]), &mut output).unwrap_err();
        assert_eq!(short.text, "counts has 1 elements: expected one for each rank, 2");
        let options = PartialPlanOptions::default().hidden_columns(4).shared_columns(2).rank_count(2);
        let plan = PartialPlan::new(context, &options.private_scale(PartialScale::ONE)).unwrap();
        let private = comm.sequence_gather(context, Some(&plan), &input, Some(&counts), &mut output).unwrap_err();
        assert_eq!(private.status, Status::UNSUPPORTED);
        comm.partial_all_reduce(context, &plan, PartialPass::FORWARD, &mut output).unwrap();
        drop((output, own));
        assert_eq!(all, [2f32, 2.0, 1.0, 1.0, 4.0, 4.0, 2.0, 2.0, 4.0, 4.0, 2.0, 2.0]);
        assert!(back.iter().all(|&number| number == 2.0 * (rank as f32 + 1.0)), "{back:?}");
    });
}
