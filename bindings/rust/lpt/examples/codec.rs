//! Two ranks on threads sum a gradient by a custom codec, which sends the upper half of each f32.
use lpt::*;
use std::num::NonZeroI32;

const ELEMENTS: usize = 4096;

struct Halves;

impl Compression for Halves {
    fn bytes_for(&self, count: usize) -> usize {
        2 * count
    }
    fn encode(&self, numbers: &[f32], bytes: &mut [u8]) -> std::result::Result<(), NonZeroI32> {
        for (target, number) in bytes.chunks_exact_mut(2).zip(numbers) {
            target.copy_from_slice(&number.to_le_bytes()[2..]);
        }
        Ok(())
    }
    fn decode(&self, bytes: &[u8], numbers: &mut [f32]) -> std::result::Result<(), NonZeroI32> {
        for (source, number) in bytes.chunks_exact(2).zip(numbers) {
            *number = f32::from_le_bytes([0, 0, source[0], source[1]]);
        }
        Ok(())
    }
}

/// Returns the maximum error of a sum, and the bytes that this rank sent.
fn run(group: &CommGroup, rank: i32, codec: &Codec) -> Result<(f32, i64)> {
    let context = Context::with_options(&ContextOptions::default().thread_count(1))?;
    let mut comm = Comm::local(&context, group, rank, &CommOptions::default())?;
    let number = |i: usize, rank: i32| (i as f32 * 0.37 + rank as f32).sin();
    let mut gradient: Vec<f32> = (0..ELEMENTS).map(|i| number(i, rank)).collect();
    let mut tensor = Tensor::from_mut(&context, &mut gradient, 1, ELEMENTS as i64)?;
    comm.all_reduce(&context, &mut tensor, &ReduceOptions::default().codec(codec))?;
    drop(tensor);
    let error = |(i, sum): (usize, &f32)| (sum - number(i, 0) - number(i, 1)).abs();
    Ok((gradient.iter().enumerate().map(error).fold(0.0, f32::max), comm.values(&context)?.bytes_sent))
}

fn main() -> Result<()> {
    let (group, codec) = (CommGroup::new(2)?, Codec::new("halves", Halves)?);
    let found = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(&group, 1, &codec));
        run(&group, 0, &codec).and_then(|first| other.join().expect("no rank panics").map(|_| first))
    });
    let (error, bytes) = found?;
    println!("{bytes} bytes sent for {} bytes of f32, maximum error {error:.4} for elements up to 2", 4 * ELEMENTS);
    // The error of each cast is less than 2^-7 of its operand: each element is at most 1, and the sum at most 2.
    assert!(error < 4.0 / 128.0 && bytes == 2 * ELEMENTS as i64);
    Ok(())
}
