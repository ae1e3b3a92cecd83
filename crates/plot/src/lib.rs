//! Figures: data in, drawing out. Each figure is a plain struct that knows how to
//! lay itself out; the crate draws the layout as SVG and PNG with plotters, and
//! gives the same data as CSV, JSON and a few sentences.
//!
//! Pure: it never knows where data come from, never reads a clock or a file, and
//! the same data always give the same bytes.

mod axis;
mod bitmap;
mod figure;
mod figures;
mod kit;
mod place;
mod scene;
mod svg;
mod text;
mod theme;

pub use figure::{About, Figure, Form, PlotError};
pub use figures::ablation::{Ablation, AblationPart};
pub use figures::behaviour::{Behaviour, BehaviourClass, BehaviourMeasure};
pub use figures::cdf::{CdfPanel, CdfSteps, CdfTokens};
pub use figures::context_compare::{ContextCompare, ContextPair};
pub use figures::context_size::{BundleSize, ContextSize};
pub use figures::coverage::{Coverage, CoveredCase};
pub use figures::evidence::{DeltaCell, EvidenceCell, EvidenceDelta, EvidenceGrid};
pub use figures::label_map::{LabelMap, MapBlock, MapRow};
pub use figures::lift_by::{LiftByFamily, LiftByTier, LiftGroup};
pub use figures::mixed_model::{Effect, MixedEstimates, MixedModel};
pub use figures::paired_differences::{DifferenceRow, PairedDifferences};
pub use figures::paired_heatmap::{
    CaseColumn, ConfigurationRow, PairCell, PairState, PairedHeatmap,
};
pub use figures::pairwise_matrix::{PairwiseMatrix, Panel, PanelPair, PanelRow};
pub use figures::pareto::{Measure, Pareto, ParetoPoint};
pub use figures::rank_shift::{Place, RankRow, RankShift};
pub use figures::saturation_contrast::{ContrastRow, SaturationContrast};
pub use figures::size_vs_pass::{SizePoint, SizeVsPass};
pub use figures::stability::{CaseRange, Stability, StabilityRow};
pub use figures::step_histograms::{StepHistograms, StepPanel};
pub use figures::systems::{LeaveOneOut, PerSystem, SystemRow, SystemValue};
pub use figures::{ALL, Drawn, Known};
pub use scene::{Anchor, Area, Item, Label, Mark, Point, Scene, Shape};
pub use text::Weight;
pub use theme::{Paint, Rgb, Theme, stylesheet};
