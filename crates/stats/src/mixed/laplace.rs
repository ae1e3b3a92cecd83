//! The Laplace log-likelihood of the mixed model.
//!
//! Each run touches one model and one case, so the matrix of the penalised
//! problem is diagonal within models and within cases; one Schur complement
//! of the size of the smaller group solves it. Never builds a matrix over
//! all random effects.

use std::collections::BTreeMap;

use super::{Observation, sigmoid};

/// Newton steps that the inner problem may take; it needs about six.
const MAX_STEPS: usize = 200;
/// Factors between 1 and 2 are multiplied up to this before their logarithm is
/// taken: about a hundred of them, each rounded once.
const LARGE_PRODUCT: f64 = 1e30;
/// A Newton step below this leaves an error of its square.
const SMALL_STEP: f64 = 1e-6;

/// Runs of one model on one case under one condition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    model: usize,
    case: usize,
    context: f64,
    runs: f64,
    passes: f64,
}

impl Cell {
    /// Adds up runs of the same model, case and condition.
    pub(super) fn collect(observations: &[Observation]) -> Vec<Self> {
        let mut counts: BTreeMap<(usize, usize, bool), (f64, f64)> = BTreeMap::new();
        for o in observations {
            let (runs, passes) = counts.entry((o.model, o.case, o.context)).or_default();
            *runs += 1.0;
            *passes += f64::from(u8::from(o.passed));
        }
        counts
            .into_iter()
            .map(|((model, case, context), (runs, passes))| Self {
                model,
                case,
                context: f64::from(u8::from(context)),
                runs,
                passes,
            })
            .collect()
    }
}

/// Parameters: sd of models, sd of cases, b0, b_ctx. Standard deviations may
/// have either sign: the likelihood is even in each.
pub(super) type Parameters = [f64; 4];

/// A symmetric positive definite matrix in lower triangular form.
struct Cholesky {
    n: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors a full row-major matrix; `None` if it is not positive definite.
    fn new(n: usize, mut a: Vec<f64>) -> Option<Self> {
        for j in 0..n {
            for i in j..n {
                let mut sum = a[i * n + j];
                for k in 0..j {
                    sum -= a[i * n + k] * a[j * n + k];
                }
                if i == j {
                    if sum.is_nan() || sum <= 0.0 {
                        return None;
                    }
                    a[j * n + j] = sum.sqrt();
                } else {
                    a[i * n + j] = sum / a[j * n + j];
                }
            }
        }
        Some(Self { n, lower: a })
    }

    fn log_det(&self) -> f64 {
        (0..self.n)
            .map(|i| 2.0 * self.lower[i * self.n + i].ln())
            .sum()
    }

    fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            for k in 0..i {
                b[i] -= self.lower[i * n + k] * b[k];
            }
            b[i] /= self.lower[i * n + i];
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                b[i] -= self.lower[k * n + i] * b[k];
            }
            b[i] /= self.lower[i * n + i];
        }
    }
}

/// L'Z'WZL + I, factored: small block eliminated last.
struct Penalised {
    /// Diagonal of the large group.
    large: Vec<f64>,
    /// Coupling, row per small, column per large.
    coupling: Vec<f64>,
    schur: Cholesky,
}

impl Penalised {
    fn log_det(&self) -> f64 {
        self.large.iter().map(|d| d.ln()).sum::<f64>() + self.schur.log_det()
    }

    /// Solves for right-hand sides (small, large) in place.
    fn solve(&self, small: &mut [f64], large: &mut [f64]) {
        let columns = self.large.len();
        // Row of the coupling that belongs to a member of the small group.
        let row = |i: usize| &self.coupling[i * columns..(i + 1) * columns];
        for (i, s) in small.iter_mut().enumerate() {
            for ((c, l), d) in row(i).iter().zip(&*large).zip(&self.large) {
                *s -= c * l / d;
            }
        }
        self.schur.solve(small);
        for (i, s) in small.iter().enumerate() {
            for (l, c) in large.iter_mut().zip(row(i)) {
                *l -= c * s;
            }
        }
        for (l, d) in large.iter_mut().zip(&self.large) {
            *l /= d;
        }
    }
}

/// The likelihood surface of one data set.
#[derive(Debug)]
pub(super) struct Laplace {
    cells: Vec<Cell>,
    models: usize,
    cases: usize,
    /// Standardised modes, models first: kept as the start of the next
    /// evaluation.
    modes: Vec<f64>,
}

impl Laplace {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        let models = cells.iter().map(|c| c.model + 1).max().unwrap_or(0);
        let cases = cells.iter().map(|c| c.case + 1).max().unwrap_or(0);
        Self {
            cells,
            models,
            cases,
            modes: vec![0.0; models + cases],
        }
    }

    fn eta(&self, p: &Parameters, u: &[f64], cell: &Cell) -> f64 {
        p[2] + p[3] * cell.context + p[0] * u[cell.model] + p[1] * u[self.models + cell.case]
    }

    /// The penalised log-likelihood (sum log p(y | eta) - |u|^2 / 2), the matrix
    /// of the penalised problem, and its gradient (models, cases): one pass over
    /// the cells, with one exponential for all three.
    fn linearise(&self, p: &Parameters, u: &[f64]) -> Option<(f64, Penalised, Vec<f64>)> {
        let (m, c) = (self.models, self.cases);
        let mut value = -0.5 * u.iter().map(|x| x * x).sum::<f64>();
        let mut product = 1.0;
        let mut gradient: Vec<f64> = u.iter().map(|x| -x).collect();
        let mut by_model = vec![1.0; m];
        let mut by_case = vec![1.0; c];
        let models_small = m <= c;
        let columns = m.max(c);
        let mut coupling = vec![0.0; m * c];
        for cell in &self.cells {
            let eta = self.eta(p, u, cell);
            let e = (-eta.abs()).exp();
            let mean = if eta >= 0.0 { 1.0 } else { e } / (1.0 + e);
            // log(1 + e^eta) without overflow; single runs share a logarithm.
            value += cell.passes * eta - cell.runs * eta.max(0.0);
            if cell.runs == 1.0 {
                product *= 1.0 + e;
                if product > LARGE_PRODUCT {
                    value -= product.ln();
                    product = 1.0;
                }
            } else {
                value -= cell.runs * e.ln_1p();
            }
            let residual = cell.passes - cell.runs * mean;
            let weight = cell.runs * mean * (1.0 - mean);
            gradient[cell.model] += p[0] * residual;
            gradient[m + cell.case] += p[1] * residual;
            by_model[cell.model] += p[0] * p[0] * weight;
            by_case[cell.case] += p[1] * p[1] * weight;
            let at = if models_small {
                cell.model * columns + cell.case
            } else {
                cell.case * columns + cell.model
            };
            coupling[at] += p[0] * p[1] * weight;
        }
        value -= product.ln();
        let (small, large) = if models_small {
            (by_model, by_case)
        } else {
            (by_case, by_model)
        };
        let n = small.len();
        let mut schur = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..=i {
                let shared: f64 = (0..columns)
                    .map(|j| coupling[i * columns + j] * coupling[k * columns + j] / large[j])
                    .sum();
                schur[i * n + k] = -shared;
            }
            schur[i * n + i] += small[i];
        }
        let schur = Cholesky::new(n, schur)?;
        Some((
            value,
            Penalised {
                large,
                coupling,
                schur,
            },
            gradient,
        ))
    }

    /// Solves the penalised system for a right-hand side (models, cases).
    fn solve(&self, matrix: &Penalised, rhs: &mut [f64]) {
        let (models, cases) = rhs.split_at_mut(self.models);
        if self.models <= self.cases {
            matrix.solve(models, cases);
        } else {
            matrix.solve(cases, models);
        }
    }

    /// Moves `modes` to the mode at `p`; the penalised log-likelihood and the
    /// matrix there.
    fn settle(&mut self, p: &Parameters) -> Option<(f64, Penalised)> {
        if p.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mut u = std::mem::take(&mut self.modes);
        let found = self.newton(p, &mut u);
        if found.is_none() {
            u.iter_mut().for_each(|x| *x = 0.0);
        }
        self.modes = u;
        found
    }

    fn newton(&self, p: &Parameters, u: &mut Vec<f64>) -> Option<(f64, Penalised)> {
        let (mut value, mut matrix, mut step) = self.linearise(p, u)?;
        for _ in 0..MAX_STEPS {
            self.solve(&matrix, &mut step);
            let size = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
            let mut factor = 1.0;
            let (better, next, gradient) = loop {
                let trial: Vec<f64> = u.iter().zip(&step).map(|(x, s)| x + factor * s).collect();
                let there = self.linearise(p, &trial)?;
                // The objective is concave; allow for rounding near the top.
                if there.0 >= value - 1e-9 * (1.0 + value.abs()) || factor < 1e-6 {
                    *u = trial;
                    break there;
                }
                factor *= 0.5;
            };
            (value, matrix, step) = (better, next, gradient);
            // The step taken was quadratic: what is left is at the limit of f64.
            if size < SMALL_STEP && factor == 1.0 {
                return Some((value, matrix));
            }
        }
        None
    }

    /// The Laplace log-likelihood; `None` where it cannot be computed.
    pub(super) fn loglik(&mut self, p: &Parameters) -> Option<f64> {
        let (there, matrix) = self.settle(p)?;
        let value = there - 0.5 * matrix.log_det();
        value.is_finite().then_some(value)
    }

    /// Conditional modes on the logit scale: models, cases.
    pub(super) fn modes(&mut self, p: &Parameters) -> (Vec<f64>, Vec<f64>) {
        let settled = self.settle(p).is_some();
        let scale = |sd: f64, u: &[f64]| -> Vec<f64> {
            u.iter()
                .map(|x| if settled { sd * x } else { 0.0 })
                .collect()
        };
        (
            scale(p[0], &self.modes[..self.models]),
            scale(p[1], &self.modes[self.models..]),
        )
    }

    /// Variances of b0 and b_ctx with the standard deviations taken as known:
    /// the inverse of X'WX - X'WZL (L'Z'WZL + I)^-1 L'Z'WX.
    pub(super) fn fixed_covariance(&mut self, p: &Parameters) -> Option<[f64; 2]> {
        let (_, matrix) = self.settle(p)?;
        let effects = self.models + self.cases;
        let mut cross = [vec![0.0; effects], vec![0.0; effects]];
        let mut information = [[0.0; 2]; 2];
        for cell in &self.cells {
            let mean = sigmoid(self.eta(p, &self.modes, cell));
            let weight = cell.runs * mean * (1.0 - mean);
            let x = [1.0, cell.context];
            for i in 0..2 {
                cross[i][cell.model] += p[0] * weight * x[i];
                cross[i][self.models + cell.case] += p[1] * weight * x[i];
                for k in 0..2 {
                    information[i][k] += weight * x[i] * x[k];
                }
            }
        }
        for k in 0..2 {
            let mut solved = cross[k].clone();
            self.solve(&matrix, &mut solved);
            for i in 0..2 {
                let shared: f64 = cross[i].iter().zip(&solved).map(|(a, b)| a * b).sum();
                information[i][k] -= shared;
            }
        }
        let [[a, b], [c, d]] = information;
        let determinant = a * d - b * c;
        (determinant > 0.0).then(|| [d / determinant, a / determinant])
    }
}
