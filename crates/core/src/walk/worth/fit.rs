//! Logistic regression: the weights under which what was seen is most likely (Newton's method, with a penalty on large weights).
//! The same examples in the same order give the same weights on every machine: sums and products alone are used.

use super::scale::{ONE, WEIGHT};

/// The penalty: half of this times the square of each weight.
const PENALTY: f64 = 3.0;
/// Steps at most, the longest change of a weight in one, and from where on they are over.
const MAX_STEPS: usize = 15;
const MAX_CHANGE: f64 = 2.0;
const LEAST_CHANGE: f64 = 1e-4;

/// What was known, and what happened.
#[derive(Debug, Clone)]
pub(super) struct Example<const N: usize> {
    features: [f32; N],
    is_right: bool,
    weight: f32,
}

impl<const N: usize> Example<N> {
    /// One that counts so much; there are as many features as there should be.
    pub(super) fn new(features: impl Iterator<Item = i32>, is_right: bool, weight: f32) -> Self {
        let mut all = [0.0; N];
        for (place, feature) in all.iter_mut().zip(features) {
            *place = feature as f32 / ONE as f32;
        }
        Self { features: all, is_right, weight }
    }
}

/// Weights, in whole numbers.
pub(super) fn fit<const N: usize>(examples: &[Example<N>]) -> Vec<i32> {
    let mut weights = vec![0.0; N];
    for _ in 0..MAX_STEPS {
        let step = step(examples, &weights);
        let longest = step.iter().fold(0.0, |longest: f64, change| longest.max(change.abs()));
        let scale = if longest > MAX_CHANGE { MAX_CHANGE / longest } else { 1.0 };
        for (weight, change) in weights.iter_mut().zip(&step) {
            *weight += scale * change;
        }
        if longest < LEAST_CHANGE {
            break;
        }
    }
    weights.iter().map(|weight| (weight * f64::from(WEIGHT)).round() as i32).collect()
}

/// By how much the weights change: the gradient over the curvature.
fn step<const N: usize>(examples: &[Example<N>], weights: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; N];
    let mut curvature = vec![vec![0.0; N]; N];
    for example in examples {
        let features = example.features.map(f64::from);
        let sum: f64 = features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
        let (likelihood, n) = (logistic(sum), f64::from(example.weight));
        let rest = n * (if example.is_right { 1.0 } else { 0.0 } - likelihood);
        let bend = n * likelihood * (1.0 - likelihood);
        for (row, &feature) in features.iter().enumerate().filter(|(_, feature)| **feature != 0.0) {
            gradient[row] += rest * feature;
            let bent = bend * feature;
            for (place, other) in curvature[row][..=row].iter_mut().zip(&features) {
                *place += bent * other;
            }
        }
    }
    for row in 0..N {
        gradient[row] -= PENALTY * weights[row];
        curvature[row][row] += PENALTY;
    }
    solve(curvature, gradient)
}

/// Solves `matrix · x = right` for a symmetric matrix that is given by its lower half and bends upwards (Cholesky).
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for row in 0..n {
        for column in 0..=row {
            let (above, below) = matrix.split_at(row);
            let of_column = if column == row { &below[0] } else { &above[column] };
            let done: f64 = below[0][..column].iter().zip(of_column).map(|(a, b)| a * b).sum();
            let rest = below[0][column] - done;
            let diagonal = if column == row { 1.0 } else { above[column][column] };
            matrix[row][column] = if column == row { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / diagonal };
        }
    }
    for row in 0..n {
        let done: f64 = matrix[row][..row].iter().zip(&right).map(|(a, b)| a * b).sum();
        right[row] = (right[row] - done) / matrix[row][row];
    }
    for row in (0..n).rev() {
        let done: f64 = (row + 1..n).map(|below| matrix[below][row] * right[below]).sum();
        right[row] = (right[row] - done) / matrix[row][row];
    }
    right
}

/// The logistic function, of sums and products: e to the power of x as the square of the square … of a short series.
fn logistic(sum: f64) -> f64 {
    let x = sum.clamp(-40.0, 40.0) / 1_024.0;
    let mut power = 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0)));
    for _ in 0..10 {
        power *= power;
    }
    power / (1.0 + power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_found_again() {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / f64::from(1 << 24)
        };
        let examples: Vec<Example<3>> = (0..20_000)
            .map(|_| {
                let features = [1.0, next() * 4.0 - 2.0, next() * 4.0 - 2.0];
                let sum = -1.0 + 2.0 * features[1] - 0.5 * features[2];
                let features = features.map(|feature| (feature * f64::from(ONE)) as i32);
                Example::new(features.into_iter(), next() < logistic(sum), 1.0)
            })
            .collect();
        let found = fit(&examples);
        for (found, expected) in found.iter().zip([-1.0, 2.0, -0.5]) {
            assert!((f64::from(*found) / f64::from(WEIGHT) - expected).abs() < 0.1, "{found} {expected}");
        }
        assert_eq!(found, fit(&examples), "the same twice");
    }

    #[test]
    fn the_logistic_function_is_what_it_is() {
        for sum in [-39.0_f64, -3.0, -0.1, 0.0, 0.5, 7.0, 39.0] {
            assert!((logistic(sum) - 1.0 / (1.0 + (-sum).exp())).abs() < 1e-9, "{sum}");
        }
    }
}
