//! Callbacks in Rust: their arguments, and panics, which become errors.
use local_ranks::on_ranks;
use lpt::*;
use std::num::NonZeroI32;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

mod local_ranks;

fn single() -> Context {
    Context::with_options(&ContextOptions::default().thread_count(1)).unwrap()
}

fn cast(context: &Context) -> Result<Tensor<'static>> {
    let numbers = [1.5f32; 64];
    let mut fp8 = Tensor::new(context, Format::E4M3FN, &[8, 8])?;
    context.quantize(&*Tensor::from_slice(context, &numbers, 8, 8)?, &mut fp8, &QuantizeOptions::default())?;
    Ok(fp8)
}

#[test]
fn a_log_receives_lines_until_it_is_cleared() {
    let (mut context, received) = (single(), Arc::new(Mutex::new(Vec::new())));
    let writer = received.clone();
    context
        .set_log(LogLevel::DISPATCH, move |level, line| writer.lock().unwrap().push((level, line.to_owned())))
        .unwrap();
    cast(&context).unwrap();
    let lines = received.lock().unwrap().len();
    assert!(lines > 0);
    assert!(received.lock().unwrap().iter().all(|(_, line)| !line.is_empty()));
    context.clear_log().unwrap();
    cast(&context).unwrap();
    assert_eq!(received.lock().unwrap().len(), lines);
    assert_eq!(Arc::strong_count(&received), 1, "the log function is dropped");
}

#[test]
fn a_log_that_panics_returns_an_error_after_the_operation() {
    let mut context = single();
    context.set_log(LogLevel::DISPATCH, |_, _| panic!("no paper")).unwrap();
    let (numbers, mut fp8) = ([1.5f32; 64], Tensor::new(&context, Format::E4M3FN, &[8, 8]).unwrap());
    let source = Tensor::from_slice(&context, &numbers, 8, 8).unwrap();
    let error = context.quantize(&source, &mut fp8, &QuantizeOptions::default()).unwrap_err();
    assert_eq!((error.status, error.text.as_str()), (Status::INTERNAL, "log panicked: no paper"));
    context.clear_log().unwrap();
    assert!(fp8.part(&context, TensorPart::PAYLOAD).unwrap().bytes(&context).unwrap().iter().all(|&code| code == 0x3c));
    context.quantize(&source, &mut fp8, &QuantizeOptions::default()).unwrap();
}

#[test]
fn progress_is_reported_and_cancels_a_call() {
    let (mut context, most) = (single(), Arc::new(AtomicUsize::new(0)));
    let writer = most.clone();
    let follow = move |done, total| {
        assert_eq!(total, 64);
        writer.fetch_max(done as usize, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    context.set_progress(follow).unwrap();
    cast(&context).unwrap();
    assert_eq!(most.load(Ordering::Relaxed), 64);
    context.set_progress(|_, _| ControlFlow::Break(())).unwrap();
    assert_eq!(cast(&context).err().unwrap().status, Status::CANCELLED);
    context.set_progress(|_, _| panic!("{} o'clock", 12)).unwrap();
    let error = cast(&context).err().unwrap();
    assert_eq!(error.status, Status::CANCELLED);
    assert!(error.text.ends_with("; progress panicked: 12 o'clock"), "{error}");
    context.clear_progress().unwrap();
    cast(&context).unwrap();
}

thread_local!(static OWN: Context = single());

#[test]
fn a_callback_must_not_use_a_context_of_its_thread() {
    let mut context = single();
    context.set_log(LogLevel::DISPATCH, |_, _| OWN.with(|own| drop(cast(own)))).unwrap();
    assert_eq!(cast(&context).err().unwrap().text, "log panicked: a callback must not use a context");
    OWN.with(|own| cast(own).map(drop)).unwrap();
}

/// Encodes the upper half of each float, which is exact for small integers.
struct Halves {
    calls: Arc<AtomicUsize>,
    fails: fn(&str) -> std::result::Result<(), NonZeroI32>,
}

impl Compression for Halves {
    fn bytes_for(&self, count: usize) -> usize {
        (self.fails)("bytes_for").ok();
        // Violates the contract: the library must use the first result.
        2 * count + 64 * self.calls.fetch_add(1, Ordering::Relaxed).min(1) * count
    }
    fn encode(&self, numbers: &[f32], bytes: &mut [u8]) -> std::result::Result<(), NonZeroI32> {
        (self.fails)("encode")?;
        bytes.fill(0);
        for (target, number) in bytes.chunks_exact_mut(2).zip(numbers) {
            target.copy_from_slice(&number.to_le_bytes()[2..]);
        }
        Ok(())
    }
    fn decode(&self, bytes: &[u8], numbers: &mut [f32]) -> std::result::Result<(), NonZeroI32> {
        (self.fails)("decode")?;
        for (source, number) in bytes.chunks_exact(2).zip(numbers) {
            *number = f32::from_le_bytes([0, 0, source[0], source[1]]);
        }
        Ok(())
    }
}

fn halves(fails: fn(&str) -> std::result::Result<(), NonZeroI32>) -> Codec {
    Codec::new("halves", Halves { calls: Arc::default(), fails }).unwrap()
}

#[test]
fn messages_are_encoded_by_a_codec() {
    let codec = halves(|_| Ok(()));
    let sums = on_ranks(|context, mut comm, rank| {
        let mut numbers: Vec<f32> = (0..3000).map(|i| (i % 7) as f32 + rank as f32 * 0.001).collect();
        let mut tensor = Tensor::from_mut(context, &mut numbers, 30, 100).unwrap();
        comm.all_reduce(context, &mut tensor, &ReduceOptions::default().codec(&codec)).unwrap();
        let (part, mut whole) = ([5f32, 6.0], [0f32; 4]);
        let part = Tensor::from_slice(context, &part, 1, 2).unwrap();
        comm.all_gather(context, Some(&codec), &part, None, &mut Tensor::from_mut(context, &mut whole, 2, 2).unwrap())
            .unwrap();
        assert_eq!(whole, [5.0, 6.0, 5.0, 6.0]);
        drop(tensor);
        numbers
    });
    assert_eq!(sums[0], sums[1]);
    let upper_half = |number: f32| f32::from_bits(number.to_bits() & 0xffff_0000);
    for (i, &sum) in sums[0].iter().enumerate() {
        let other = upper_half((i % 7) as f32 + 0.001);
        assert_eq!(sum, upper_half((i % 7) as f32 + other), "{i}");
    }
}

#[test]
fn a_codec_may_be_dropped_during_a_reduction() {
    on_ranks(|context, mut comm, _| {
        let tensor = Tensor::new(context, Format::F32, &[64, 64]).unwrap();
        let codec = halves(|_| Ok(()));
        let future = comm.all_reduce_start(context, tensor, &ReduceOptions::default().codec(&codec)).unwrap();
        drop(codec);
        future.wait().unwrap();
    });
}

#[test]
fn a_codec_that_fails_or_panics_ends_the_reduction() {
    let error_of = |fails| {
        let (context, group) = (single(), CommGroup::new(1).unwrap());
        let (codec, mut numbers) = (halves(fails), [1f32; 64]);
        let mut comm = Comm::local(&context, &group, 0, &CommOptions::default()).unwrap();
        let mut tensor = Tensor::from_mut(&context, &mut numbers, 8, 8).unwrap();
        comm.all_reduce(&context, &mut tensor, &ReduceOptions::default().codec(&codec)).unwrap_err()
    };
    let number = error_of(|function| if function == "encode" { Err(NonZeroI32::new(41).unwrap()) } else { Ok(()) });
    assert_eq!(number.status, Status::ABORTED);
    assert!(number.text.contains("codec halves: encode gives 41"), "{number}");
    let panic = error_of(|function| if function == "decode" { panic!("dice") } else { Ok(()) });
    assert_eq!(panic.status, Status::ABORTED);
    assert!(panic.text.contains("decode gives -1") && panic.text.ends_with("; decode panicked: dice"), "{panic}");
    let size = error_of(|function| if function == "bytes_for" { panic!("dice") } else { Ok(()) });
    assert_eq!(size.status, Status::INVALID_ARGUMENT);
    assert!(size.text.ends_with("; bytes_for panicked: dice"), "{size}");
}

#[test]
fn a_codecs_name_is_short() {
    let error = Codec::new("name of 16 bytes", Halves { calls: Arc::default(), fails: |_| Ok(()) }).err().unwrap();
    assert_eq!(error.text, "name is \"name of 16 bytes\": expected 1 to 12 bytes of ASCII");
}
