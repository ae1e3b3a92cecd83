//! The search for the maximum of the Laplace likelihood, and the observed
//! information there.
//!
//! A simplex search from several starts, refined by Newton steps on finite
//! differences. The likelihood is even in each standard deviation, so the
//! search runs over all reals and folds them back; logarithms would never
//! reach an estimate of zero.

use super::{
    DIVERGED, NoEstimate, ZERO_SD,
    laplace::{Laplace, Parameters},
};

const SIMPLEX_STEPS: usize = 2_000;
const NEWTON_STEPS: usize = 60;

/// Maximises over all four parameters from coefficients of a plain logistic
/// regression. Standard deviations come back non-negative, and exactly 0
/// where the maximum lies there.
pub(super) fn maximize(
    surface: &mut Laplace,
    coefficients: [f64; 2],
) -> Result<Parameters, NoEstimate> {
    let mut best: Option<(f64, Parameters)> = None;
    for [sd_model, sd_case] in [[1.0, 1.0], [0.3, 2.0], [2.0, 0.3]] {
        let start = [
            sd_model,
            sd_case,
            1.3 * coefficients[0],
            1.3 * coefficients[1],
        ];
        // Roughly: the best of them is what is refined.
        let found = simplex(surface, start, &[0.5], 1e-4);
        if best.is_none_or(|(value, _)| found.0 > value) {
            best = Some(found);
        }
    }
    let (_, rough) = best.ok_or(NoEstimate::NotConverged)?;
    check_bounds(&rough)?;
    let (mut value, mut point) = simplex(surface, rough, &[0.1], 1e-7);
    check_bounds(&point)?;
    // An sd that is zero up to the accuracy of the search is tried at zero.
    for i in 0..2 {
        point[i] = point[i].abs();
        let mut at_zero = point;
        at_zero[i] = 0.0;
        if point[i] < 0.05
            && let Some(there) = surface.loglik(&at_zero)
            && there >= value - 1e-9
        {
            (value, point) = (there, at_zero);
        }
    }
    let point = refine(surface, value, point)?;
    check_bounds(&point)?;
    Ok(point)
}

fn check_bounds(point: &Parameters) -> Result<(), NoEstimate> {
    if point.iter().any(|v| !v.is_finite() || v.abs() > DIVERGED) {
        Err(NoEstimate::Diverging)
    } else {
        Ok(())
    }
}

/// Nelder-Mead, restarted with a simplex of each size. Returns the best value
/// and point once the corners' values differ by less than the tolerance,
/// relative to their size.
fn simplex(
    surface: &mut Laplace,
    start: Parameters,
    sizes: &[f64],
    tolerance: f64,
) -> (f64, Parameters) {
    let mut evaluate = |p: &Parameters| surface.loglik(p).unwrap_or(f64::NEG_INFINITY);
    let mut best = (evaluate(&start), start);
    for scale in sizes {
        let mut corners = vec![best];
        for i in 0..4 {
            let mut corner = best.1;
            corner[i] += scale * (1.0 + corner[i].abs());
            corners.push((evaluate(&corner), corner));
        }
        for _ in 0..SIMPLEX_STEPS {
            corners.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (top, bottom) = (corners[0].0, corners[4].0);
            if top - bottom < tolerance * (1.0 + top.abs())
                || corners[0].1[3].abs() > 2.0 * DIVERGED
            {
                break;
            }
            let mut centre = [0.0; 4];
            for (_, corner) in &corners[..4] {
                for i in 0..4 {
                    centre[i] += corner[i] / 4.0;
                }
            }
            let worst = corners[4].1;
            let along = |t: f64| -> Parameters {
                std::array::from_fn(|i| centre[i] + t * (centre[i] - worst[i]))
            };
            let reflected = (evaluate(&along(1.0)), along(1.0));
            corners[4] = if reflected.0 > top {
                let expanded = (evaluate(&along(2.0)), along(2.0));
                if expanded.0 > reflected.0 {
                    expanded
                } else {
                    reflected
                }
            } else if reflected.0 > corners[3].0 {
                reflected
            } else {
                let t = if reflected.0 > bottom { 0.5 } else { -0.5 };
                let contracted = (evaluate(&along(t)), along(t));
                if contracted.0 > bottom.max(reflected.0) {
                    contracted
                } else {
                    let top_point = corners[0].1;
                    for corner in &mut corners[1..] {
                        corner.1 = std::array::from_fn(|i| 0.5 * (corner.1[i] + top_point[i]));
                        corner.0 = evaluate(&corner.1);
                    }
                    continue;
                }
            };
        }
        corners.sort_by(|a, b| b.0.total_cmp(&a.0));
        best = corners[0];
    }
    best
}

/// Parameters that are estimated in the interior: a standard deviation at
/// zero is held there. Its cross derivatives vanish by symmetry, so leaving
/// it out changes nothing for the others.
fn free(point: &Parameters) -> Vec<usize> {
    (0..4).filter(|i| *i >= 2 || point[*i] != 0.0).collect()
}

fn shifted(point: &Parameters, moves: &[(usize, f64)]) -> Parameters {
    let mut p = *point;
    for (i, by) in moves {
        p[*i] += by;
    }
    p
}

fn step_of(value: f64) -> f64 {
    1e-3 * value.abs().max(1.0)
}

/// Gradient and Hessian over the free parameters by central differences.
fn derivatives(
    surface: &mut Laplace,
    point: &Parameters,
    free: &[usize],
) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
    let n = free.len();
    let here = surface.loglik(point)?;
    let mut sides: Vec<f64> = Vec::with_capacity(n);
    let (mut gradient, mut hessian) = (vec![0.0; n], vec![vec![0.0; n]; n]);
    for a in 0..n {
        let (i, h) = (free[a], step_of(point[free[a]]));
        let up = surface.loglik(&shifted(point, &[(i, h)]))?;
        let down = surface.loglik(&shifted(point, &[(i, -h)]))?;
        gradient[a] = (up - down) / (2.0 * h);
        hessian[a][a] = (up - 2.0 * here + down) / (h * h);
        sides.push(up + down);
        for b in 0..a {
            let (j, k) = (free[b], step_of(point[free[b]]));
            // Two opposite corners do, with the sides that are known.
            let mut corner = |x: f64, y: f64| surface.loglik(&shifted(point, &[(i, x), (j, y)]));
            let corners = corner(h, k)? + corner(-h, -k)?;
            let mixed = corners + 2.0 * here - sides[a] - sides[b];
            hessian[a][b] = mixed / (2.0 * h * k);
            hessian[b][a] = hessian[a][b];
        }
    }
    Some((gradient, hessian))
}

/// Inverse by Gauss-Jordan with partial pivoting; `None` if singular.
fn invert(mut a: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = a.len();
    let mut inverse: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|x, y| a[*x][column].abs().total_cmp(&a[*y][column].abs()))?;
        let scale = a[pivot][column];
        if !scale.is_finite() || scale == 0.0 {
            return None;
        }
        a.swap(column, pivot);
        inverse.swap(column, pivot);
        for j in 0..n {
            a[column][j] /= scale;
            inverse[column][j] /= scale;
        }
        for i in (0..n).filter(|i| *i != column) {
            let factor = a[i][column];
            for j in 0..n {
                a[i][j] -= factor * a[column][j];
                inverse[i][j] -= factor * inverse[column][j];
            }
        }
    }
    Some(inverse)
}

/// Newton steps from the simplex' answer, each taken only if it climbs.
fn refine(
    surface: &mut Laplace,
    mut value: f64,
    mut point: Parameters,
) -> Result<Parameters, NoEstimate> {
    for _ in 0..NEWTON_STEPS {
        let free = free(&point);
        let (gradient, hessian) =
            derivatives(surface, &point, &free).ok_or(NoEstimate::NotConverged)?;
        let Some(inverse) = invert(hessian) else {
            break;
        };
        let step: Vec<f64> = inverse
            .iter()
            .map(|row| -row.iter().zip(&gradient).map(|(h, g)| h * g).sum::<f64>())
            .collect();
        let size = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
        let mut factor = 1.0;
        let mut climbed = false;
        while factor > 1e-4 {
            let moves: Vec<(usize, f64)> = free
                .iter()
                .zip(&step)
                .map(|(i, s)| (*i, factor * s))
                .collect();
            let trial = shifted(&point, &moves);
            if let Some(there) = surface.loglik(&trial)
                && there > value
            {
                (value, point, climbed) = (there, trial, true);
                break;
            }
            factor *= 0.5;
        }
        // Quadratic: what is left after such a step is its square.
        if !climbed || size < 1e-5 {
            break;
        }
    }
    for sd in &mut point[..2] {
        *sd = sd.abs();
        if *sd < ZERO_SD {
            *sd = 0.0;
        }
    }
    Ok(point)
}

/// Variances of b0 and b_ctx: diagonal of the inverse observed information
/// over all parameters.
pub(super) fn covariance(
    surface: &mut Laplace,
    point: &Parameters,
) -> Result<[f64; 2], NoEstimate> {
    let free = free(point);
    let (_, hessian) = derivatives(surface, point, &free).ok_or(NoEstimate::NotConverged)?;
    let information = hessian
        .into_iter()
        .map(|row| row.into_iter().map(|v| -v).collect())
        .collect();
    let inverse = invert(information).ok_or(NoEstimate::NotConverged)?;
    let n = free.len();
    let variances = [inverse[n - 2][n - 2], inverse[n - 1][n - 1]];
    if variances.iter().all(|v| v.is_finite() && *v > 0.0) {
        Ok(variances)
    } else {
        Err(NoEstimate::NotConverged)
    }
}
