//! Logarithms and chances as whole numbers, so that every machine decides alike. Knows arithmetic only.

use std::sync::LazyLock;

/// One, as a feature has it.
pub(super) const ONE: i32 = 1 << 10;
/// One, as a weight has it.
pub(super) const WEIGHT: i32 = 1 << 12;
/// What is certain.
pub(super) const CERTAIN: u32 = 1 << 20;

/// Bits behind the point of a binary logarithm while it is worked out.
const FINE: u32 = 20;
/// The natural logarithm of 2, with as many bits.
const LN_2: u64 = 726_817;
/// Numbers whose logarithms are kept.
const N_LOGS: usize = 1 << 11;
/// Steps of a table of chances for each one of the sum, and from where on nothing changes any more.
const STEPS: i32 = 64;
const MAX_SUM: i32 = 14;

/// The binary logarithm of `x`, which is not 0, with [`FINE`] bits: squared again and again, as it is done by hand.
fn log2_fine(x: u64) -> u64 {
    let whole = x.ilog2();
    // Between 1 and 2, with 32 bits.
    let mut rest = if whole > 32 { x >> (whole - 32) } else { x << (32 - whole) };
    let mut bits = u64::from(whole);
    for _ in 0..FINE {
        rest = ((u128::from(rest) * u128::from(rest)) >> 32) as u64;
        bits <<= 1;
        if rest >> 33 != 0 {
            bits |= 1;
            rest >>= 1;
        }
    }
    bits
}

/// Natural logarithms of 1 and more.
static LOGS: LazyLock<Box<[i32]>> = LazyLock::new(|| {
    let ln = |x: usize| ((log2_fine(x as u64) * LN_2) >> (2 * FINE - 10)) as i32;
    (0..N_LOGS).map(|x| if x == 0 { 0 } else { ln(x) }).collect()
});

/// The natural logarithm of `x` and one, as a feature.
pub(super) fn log(x: usize) -> i32 {
    let x = x + 1;
    if x < N_LOGS {
        return LOGS[x];
    }
    let shift = x.ilog2() - (N_LOGS.ilog2() - 1);
    // What is shifted out is less than a thousandth.
    LOGS[x >> shift] + ((u64::from(shift) * LN_2) >> (FINE - 10)) as i32
}

/// Binary logarithms of 1 to 2 in as many steps, with ten bits.
static LOGS_2: LazyLock<Box<[i32]>> = LazyLock::new(|| {
    let log = |step: usize| (log2_fine((N_LOGS + step) as u64) >> (FINE - 10)) as i32;
    (0..N_LOGS).map(|step| log(step) - (N_LOGS.ilog2().cast_signed() << 10)).collect()
});

/// The binary logarithm of `x` and one, with ten bits behind the point.
pub(super) fn log2(x: u64) -> i32 {
    let (x, bits) = (x + 1, N_LOGS.ilog2());
    let whole = x.ilog2();
    let step = if whole > bits { x >> (whole - bits) } else { x << (bits - whole) };
    (whole.cast_signed() << 10) + LOGS_2[step as usize & (N_LOGS - 1)]
}

/// The logistic function of sums from 0 on.
static CHANCES: LazyLock<Box<[u32]>> = LazyLock::new(|| {
    // e to the power of a negative step, with 32 bits.
    let step = u64::pow(2, 32) - u64::pow(2, 32) / 64 + u64::pow(2, 32) / 8_192 - u64::pow(2, 32) / 1_572_864;
    let mut power = 1_u64 << 32;
    (0..=MAX_SUM * STEPS)
        .map(|_| {
            let chance = (u128::from(CERTAIN) << 32) / (u128::from(power) + (1 << 32));
            power = (power * step) >> 32;
            chance as u32
        })
        .collect()
});

/// How likely something is whose features add up to `sum`, in parts of [`CERTAIN`].
pub(super) fn chance(sum: i32) -> u32 {
    let at = (sum.unsigned_abs() / (ONE / STEPS) as u32).min((MAX_SUM * STEPS) as u32);
    let chance = CHANCES[at as usize];
    if sum < 0 { CERTAIN - chance } else { chance }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_close_to_those_with_a_point() {
        for x in (0..5_000).chain([1 << 20, 123_456_789]) {
            let expected = (x as f64 + 1.0).ln();
            assert!((f64::from(log(x)) / f64::from(ONE) - expected).abs() < 0.004, "{x}");
            let expected = (x as f64 + 1.0).log2();
            assert!((f64::from(log2(x as u64)) / 1024.0 - expected).abs() < 0.002, "{x}");
        }
        for sum in -15 * ONE..15 * ONE {
            let expected = 1.0 / (1.0 + (-f64::from(sum) / f64::from(ONE)).exp());
            let found = f64::from(chance(sum)) / f64::from(CERTAIN);
            assert!((found - expected).abs() < 0.004, "{sum}: {found} {expected}");
            assert!(sum == -15 * ONE || chance(sum) >= chance(sum - 1), "{sum}");
        }
    }
}
