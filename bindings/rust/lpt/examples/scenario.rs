//! tests/bindings/scenario.c in Rust.
use lpt::*;

const ROWS: i64 = 4;
const COLUMNS: i64 = 32;
const OUTPUTS: i64 = 8;

fn print_bytes(name: &str, bytes: impl IntoIterator<Item = u8>) {
    let digest = bytes
        .into_iter()
        .fold(0xcbf29ce484222325u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x100000001b3));
    println!("{name} {digest:016x}");
}

fn print_numbers(name: &str, numbers: &[f32]) {
    print_bytes(name, numbers.iter().flat_map(|number| number.to_ne_bytes()));
}

fn print_part(name: &str, context: &Context, tensor: &Tensor, part: TensorPart) -> Result<()> {
    print_bytes(name, tensor.part(context, part)?.bytes(context)?.iter().copied());
    Ok(())
}

fn filled(count: i64, step: f32) -> Vec<f32> {
    (0..count).map(|i| (i * 7 % 13 - 6) as f32 * step).collect()
}

fn quantize_both(context: &Context) -> Result<()> {
    let numbers = filled(ROWS * COLUMNS, 0.25);
    let mut restored = numbers.clone();
    let source = Tensor::from_slice(context, &numbers, ROWS, COLUMNS)?;
    let mut nvfp4 = Tensor::new(context, Format::NVFP4, &[ROWS, COLUMNS])?;
    let mut fp8 = Tensor::new(context, Format::from_name("e4m3fn_row")?, &[ROWS, COLUMNS])?;
    context.quantize(&source, &mut nvfp4, &QuantizeOptions::default())?;
    context.dequantize(&nvfp4, &mut Tensor::from_mut(context, &mut restored, ROWS, COLUMNS)?)?;
    print_part("nvfp4.payload", context, &nvfp4, TensorPart::PAYLOAD)?;
    print_part("nvfp4.block_scales", context, &nvfp4, TensorPart::BLOCK_SCALES)?;
    print_part("nvfp4.tensor_scale", context, &nvfp4, TensorPart::TENSOR_SCALE)?;
    print_numbers("nvfp4.numbers", &restored);
    context.quantize(&source, &mut fp8, &QuantizeOptions::default())?;
    context.dequantize(&fp8, &mut Tensor::from_mut(context, &mut restored, ROWS, COLUMNS)?)?;
    print_part("e4m3fn.payload", context, &fp8, TensorPart::PAYLOAD)?;
    print_numbers("e4m3fn.numbers", &restored);
    let random = Random { seed: 7, ..Random::default() };
    let stochastic = QuantizeOptions::default().rounding(Rounding::STOCHASTIC).random(random);
    context.quantize(&source, &mut fp8, &stochastic)?;
    print_part("e4m3fn.stochastic", context, &fp8, TensorPart::PAYLOAD)
}

fn multiply(context: &Context) -> Result<()> {
    let (a_numbers, b_numbers) = (filled(ROWS * COLUMNS, 1.0), filled(OUTPUTS * COLUMNS, 1.0));
    let mut c_numbers = vec![0f32; (ROWS * OUTPUTS) as usize];
    let a = Tensor::from_slice(context, &a_numbers, ROWS, COLUMNS)?;
    let b = Tensor::from_slice(context, &b_numbers, OUTPUTS, COLUMNS)?;
    let options = GemmOptions::default().is_b_transposed(true);
    context.gemm(&a, &b, &mut Tensor::from_mut(context, &mut c_numbers, ROWS, OUTPUTS)?, &options)?;
    print_numbers("gemm.f32", &c_numbers);
    let mut fp8 = Tensor::new(context, Format::E4M3FN, &[OUTPUTS, COLUMNS])?;
    context.quantize(&b, &mut fp8, &QuantizeOptions::default())?;
    let state = context.weights_state_save(&context.weights_pack(&fp8, &WeightsOptions::default())?)?;
    print_bytes("weights.state", state.iter().copied());
    let loaded = context.weights_state_load(&state)?;
    let mut c = Tensor::from_mut(context, &mut c_numbers, ROWS, OUTPUTS)?;
    context.gemm(&a, &loaded, &mut c, &options.alpha(0.5))?;
    let error = context.gemm(&a, &b, &mut c, &GemmOptions::default()).unwrap_err();
    drop(c);
    print_numbers("gemm.loaded", &c_numbers);
    println!("gemm.error {error}");
    Ok(())
}

fn train_layer(context: &Context) -> Result<()> {
    let (x_numbers, w_numbers) = (filled(ROWS * COLUMNS, 1.0), filled(OUTPUTS * COLUMNS, 1.0));
    let (mut y_numbers, mut dw_numbers) = (filled(ROWS * OUTPUTS, 0.0), filled(OUTPUTS * COLUMNS, 0.0));
    let (options, dy_numbers) = (LinearOptions::default(), filled(ROWS * OUTPUTS, 1.0));
    let x = Tensor::from_slice(context, &x_numbers, ROWS, COLUMNS)?;
    let dy = Tensor::from_slice(context, &dy_numbers, ROWS, OUTPUTS)?;
    let mut linear = Linear::new(context, &Recipe::new(context, "mxfp8")?, COLUMNS, OUTPUTS)?;
    linear.prepare(context, &*Tensor::from_slice(context, &w_numbers, OUTPUTS, COLUMNS)?, &options)?;
    let mut saved = linear.new_saved(context, ROWS)?;
    let mut y = Tensor::from_mut(context, &mut y_numbers, ROWS, OUTPUTS)?;
    linear.forward(context, &x, Some(&mut saved), &mut y, &options)?;
    drop(y);
    print_numbers("linear.output", &y_numbers);
    let mut dw = Tensor::from_mut(context, &mut dw_numbers, OUTPUTS, COLUMNS)?;
    linear.backward(context, &saved, &dy, [None, Some(&mut dw), None], &options)?;
    drop(dw);
    print_numbers("linear.weight_gradient", &dw_numbers);
    Ok(())
}

fn adamw(context: &Context) -> Result<Optimizer> {
    let mut optimizer = Optimizer::new(context, &OptimizerOptions::default())?;
    let moment = Format::E4M3FN_1X128;
    let parameter = OptimizerParameter::default().elements(ROWS * COLUMNS).weight_decay(0.125);
    optimizer.add(context, &parameter.first_moment(moment).second_moment(moment))?;
    Ok(optimizer)
}

fn optimize(context: &Context) -> Result<()> {
    let (mut numbers, gradient_numbers) = (filled(ROWS * COLUMNS, 0.25), filled(ROWS * COLUMNS, 1.0));
    let gradient = Tensor::from_slice(context, &gradient_numbers, ROWS, COLUMNS)?;
    let (first, second) = (adamw(context)?, adamw(context)?);
    let options = OptimizerStepOptions::default().learning_rate(0.5);
    let step = |mut optimizer: Optimizer, numbers: &mut [f32]| -> Result<Optimizer> {
        let mut parameter = Tensor::from_mut(context, numbers, ROWS, COLUMNS)?;
        optimizer.step(context, &[0], &[&*gradient], &mut [&mut parameter], &options)?;
        Ok(optimizer)
    };
    let first = step(first, &mut numbers)?;
    print_numbers("adamw.parameter", &numbers);
    let mut state = first.state_save(context, 0)?;
    print_bytes("adamw.state", state.iter().copied());
    let mut second = second;
    second.state_load(context, 0, &state)?;
    drop(first);
    let mut second = step(second, &mut numbers)?;
    print_numbers("adamw.loaded", &numbers);
    let middle = state.len() / 2;
    state[middle] ^= 1;
    println!("adamw.damaged {}", second.state_load(context, 0, &state).unwrap_err().status);
    Ok(())
}

fn mask(context: &Context) -> Result<()> {
    let numbers = filled(ROWS * COLUMNS, 0.25);
    let mut chosen = Tensor::new(context, Format::UINT8, &[ROWS, COLUMNS])?;
    let source = Tensor::from_slice(context, &numbers, ROWS, COLUMNS)?;
    let counted = context.sparse_mask_select(&source, &mut chosen, &SparseOptions::default())?;
    print_part("mask.2_4", context, &chosen, TensorPart::PAYLOAD)?;
    let offences = context.sparse_mask_check(&chosen, 2, 4, SparseDirection::ROW)?;
    println!("mask.counts {} {offences}", counted.kept_count);
    Ok(())
}

fn reduce(context: &Context) -> Result<()> {
    let mut tensor = Tensor::new(context, Format::F32, &[ROWS, COLUMNS])?;
    write_numbers(tensor.bytes_mut(context)?, &filled(ROWS * COLUMNS, 1.0));
    let mut comm = Comm::local(context, &CommGroup::new(1)?, 0, &CommOptions::default())?;
    let future = comm.all_reduce_start(context, tensor, &ReduceOptions::default().factor(0.5))?;
    print_bytes("reduce.numbers", future.wait()?.bytes(context)?.iter().copied());
    Ok(())
}

fn write_numbers(bytes: &mut [u8], numbers: &[f32]) {
    for (place, number) in bytes.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
}

fn outlive() -> Result<()> {
    let context = Context::new()?;
    let tensor = Tensor::new(&context, Format::F32, &[ROWS, COLUMNS])?;
    let mut part = tensor.into_part(&context, TensorPart::PAYLOAD)?;
    drop(context);
    let context = Context::new()?;
    write_numbers(part.bytes_mut(&context)?, &filled(ROWS * COLUMNS, 0.25));
    print_bytes("part.alone", part.bytes(&context)?.iter().copied());
    Ok(())
}

fn main() -> Result<()> {
    let context = Context::new()?;
    println!("abi {}", abi_level());
    quantize_both(&context)?;
    multiply(&context)?;
    train_layer(&context)?;
    optimize(&context)?;
    mask(&context)?;
    reduce(&context)?;
    outlive()
}
