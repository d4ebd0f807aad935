//! Additions of the safe layer to lpt.h: errors before the library is called, lifetimes and threads. The crate itself
//! checks which types are Send and Sync.
use local_ranks::on_ranks;
use lpt::*;

mod local_ranks;

#[test]
fn a_slice_too_short_is_rejected() {
    let context = Context::new().unwrap();
    let error_of =
        |rows, columns| Tensor::from_slice(&context, &[0f32; 11], rows, columns).err().map(|error| error.text);
    assert_eq!(error_of(3, 4).unwrap(), "numbers has 11 elements: expected 3 rows of 4");
    assert_eq!(error_of(-1, -4).unwrap(), "numbers has 11 elements: expected -1 rows of -4");
    assert!(error_of(i64::MAX, 4).is_some());
    assert_eq!(error_of(11, 1), None);
}

#[test]
fn errors_have_status_and_text() {
    let options = ContextOptions::default().thread_count(-1);
    let error = Context::with_options(&options).err().unwrap();
    assert_eq!(error.status, Status::INVALID_ARGUMENT);
    assert!(error.to_string().starts_with("invalid argument: thread_count is -1"), "{error}");
}

#[test]
fn formats_have_names() {
    assert_eq!(Format::from_name("mxfp8_e4m3").unwrap(), Format::MXFP8_E4M3);
    assert_eq!(Format::MXFP8_E4M3.name().unwrap(), "mxfp8_e4m3");
    assert_eq!(Format::from_name("e9m9").unwrap_err().text, "name is 'e9m9': expected a format");
    assert!(Format(-5).name().is_err());
}

#[test]
fn defaults_are_the_librarys() {
    let defaults = lpt_sys::lpt_gemm_options::default();
    assert_eq!(defaults.struct_size, std::mem::size_of::<lpt_sys::lpt_gemm_options>());
    assert_eq!((defaults.alpha, defaults.beta), (1.0, 0.0));
    assert_eq!(lpt_sys::lpt_optimizer_step_options::default().learning_rate, 1e-3);
}

#[test]
fn ranks_reduce_across_threads() {
    let sums = on_ranks(|context, mut comm, rank| -> Result<f32> {
        let mut number = [1.5 + rank as f32];
        let mut tensor = Tensor::from_mut(context, &mut number, 1, 1)?;
        comm.broadcast(context, 1, &mut tensor)?;
        comm.barrier(context)?;
        comm.all_reduce(context, &mut tensor, &ReduceOptions::default())?;
        drop(tensor);
        Ok(number[0])
    });
    assert_eq!(sums, [Ok(5.0), Ok(5.0)]);
}

#[test]
fn a_future_that_is_dropped_waits() {
    let context = Context::new().unwrap();
    let mut comm = Comm::local(&context, &CommGroup::new(1).unwrap(), 0, &CommOptions::default()).unwrap();
    let tensor = Tensor::new(&context, Format::F32, &[64, 64]).unwrap();
    drop(comm.all_reduce_start(&context, tensor, &ReduceOptions::default()).unwrap());
    comm.barrier(&context).unwrap();
}

#[test]
fn a_step_needs_as_many_gradients_as_indices() {
    let context = Context::new().unwrap();
    let mut optimizer = Optimizer::new(&context, &OptimizerOptions::default()).unwrap();
    let error = optimizer.step(&context, &[0], &[], &mut [], &OptimizerStepOptions::default()).unwrap_err();
    assert_eq!(error.text, "gradients has 0 elements, parameters has 0: expected as many as indices, 1");
}

// A step with an infinite gradient is skipped: the update halves the scale. The next step divides its gradient by the scale.
#[test]
fn a_loss_scaler_skips_and_backs_off() {
    let context = Context::new().unwrap();
    let mut optimizer =
        Optimizer::new(&context, &OptimizerOptions::default().method(OptimizerMethod::SGD).beta1(0.0)).unwrap();
    optimizer.add(&context, &OptimizerParameter::default().elements(2)).unwrap();
    let options = LossScalerOptions::default().initial_scale(8.0).growth_interval(1);
    let mut scaler = LossScaler::new(&context, &options).unwrap();
    let mut step = |gradients: [f32; 2], scaler: &LossScaler| {
        let mut parameters = [1.0f32, 2.0];
        let gradient = Tensor::from_slice(&context, &gradients, 1, 2).unwrap();
        let mut parameter = Tensor::from_mut(&context, &mut parameters, 1, 2).unwrap();
        let options = OptimizerStepOptions::default().learning_rate(1.0).loss_scaler(scaler);
        optimizer.step(&context, &[0], &[&gradient], &mut [&mut parameter], &options).unwrap();
        drop(parameter);
        parameters
    };
    assert_eq!(step([f32::INFINITY, 0.0], &scaler), [1.0, 2.0]);
    assert!(scaler.read(&context).unwrap().is_skipped);
    scaler.update(&context).unwrap();
    let expected = LossScalerInfo { scale: 4.0, finite_count: 0, skipped_count: 1, is_skipped: false };
    assert_eq!(scaler.read(&context).unwrap(), expected);
    assert_eq!(step([2.0, -4.0], &scaler), [0.5, 3.0]);
    let state = scaler.state_save(&context).unwrap();
    scaler.update(&context).unwrap();
    assert_eq!(scaler.read(&context).unwrap().scale, 8.0);
    scaler.state_load(&context, &state).unwrap();
    assert_eq!(scaler.read(&context).unwrap(), expected);
    assert!(scaler.state_load(&context, &state[1..]).is_err());
    assert!(LossScaler::new(&context, &LossScalerOptions::default().growth_factor(0.5)).is_err());
}
