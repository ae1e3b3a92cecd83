//! One module per figure: its data, and where everything stands. A further
//! figure is one module here and one line in [`ALL`].

pub(crate) mod paired_heatmap;
pub(crate) mod pareto;

use crate::figure::Figure;
use paired_heatmap::PairedHeatmap;
use pareto::Pareto;

/// A figure that can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its id, in addresses.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
}

const fn known<F: Figure>() -> Known {
    Known {
        id: F::ID,
        title: F::TITLE,
    }
}

/// Every figure.
pub const ALL: &[Known] = &[known::<PairedHeatmap>(), known::<Pareto>()];
