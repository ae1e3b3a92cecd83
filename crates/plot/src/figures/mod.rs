//! One module per figure (or per pair of figures that are drawn alike): its
//! data, and where everything stands. A further figure is one module here and
//! one line in [`ALL`].

pub(crate) mod ablation;
pub(crate) mod behaviour;
pub(crate) mod cdf;
pub(crate) mod context_compare;
pub(crate) mod context_size;
pub(crate) mod coverage;
pub(crate) mod evidence;
pub(crate) mod label_map;
pub(crate) mod lift_by;
pub(crate) mod mixed_model;
pub(crate) mod paired_differences;
pub(crate) mod paired_heatmap;
pub(crate) mod pairwise_matrix;
pub(crate) mod pareto;
pub(crate) mod rank_shift;
pub(crate) mod saturation_contrast;
pub(crate) mod size_vs_pass;
pub(crate) mod stability;
pub(crate) mod step_histograms;
pub(crate) mod systems;

use faultboard_domain::Track;

use crate::figure::{Figure, Form, PlotError};
use crate::scene::Scene;

/// A figure that can be drawn.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its id, in addresses.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it shows and how to read it.
    pub shows: &'static str,
    /// The tracks that it belongs to.
    pub tracks: &'static [Track],
    draw: Draw,
    scene: fn(&[u8]) -> Result<Scene, PlotError>,
}

/// Draws from stored data: rows that are wanted, in a form.
type Draw = fn(&[u8], &dyn Fn(&str) -> bool, Form) -> Result<Drawn, PlotError>;

/// A figure in one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it has rows of configurations, so that a wish to drop some was heard.
    pub has_rows: bool,
}

impl Known {
    /// The figure of an id.
    pub fn find(id: &str) -> Option<&'static Known> {
        ALL.iter().find(|k| k.id == id)
    }

    /// Draws the figure from its data as JSON, with the configurations that are
    /// wanted.
    ///
    /// # Errors
    /// When the data are of another form, or can't be drawn.
    pub fn draw(
        &self,
        json: &[u8],
        wanted: &dyn Fn(&str) -> bool,
        form: Form,
    ) -> Result<Drawn, PlotError> {
        (self.draw)(json, wanted, form)
    }

    /// Where everything of the figure stands, the same in every theme.
    ///
    /// # Errors
    /// When the data are of another form.
    pub fn scene(&self, json: &[u8]) -> Result<Scene, PlotError> {
        (self.scene)(json)
    }
}

fn draw<F: Figure>(
    json: &[u8],
    wanted: &dyn Fn(&str) -> bool,
    form: Form,
) -> Result<Drawn, PlotError> {
    let mut figure: F = serde_json::from_slice(json)?;
    let has_rows = figure.keep(wanted);
    Ok(Drawn {
        bytes: form.of(&figure)?,
        has_rows,
    })
}

const fn known<F: Figure>() -> Known {
    Known {
        id: F::ID,
        title: F::TITLE,
        shows: F::SHOWS,
        tracks: F::TRACKS,
        draw: draw::<F>,
        scene: |json| Ok(serde_json::from_slice::<F>(json)?.scene()),
    }
}

/// Every figure, in the order of the gallery.
pub const ALL: &[Known] = &[
    known::<paired_heatmap::PairedHeatmap>(),
    known::<pareto::Pareto>(),
    known::<rank_shift::RankShift>(),
    known::<pairwise_matrix::PairwiseMatrix>(),
    known::<paired_differences::PairedDifferences>(),
    known::<saturation_contrast::SaturationContrast>(),
    known::<lift_by::LiftByFamily>(),
    known::<lift_by::LiftByTier>(),
    known::<behaviour::Behaviour>(),
    known::<cdf::CdfTokens>(),
    known::<cdf::CdfSteps>(),
    known::<step_histograms::StepHistograms>(),
    known::<size_vs_pass::SizeVsPass>(),
    known::<mixed_model::MixedModel>(),
    known::<context_compare::ContextCompare>(),
    known::<ablation::Ablation>(),
    known::<evidence::EvidenceGrid>(),
    known::<evidence::EvidenceDelta>(),
    known::<systems::PerSystem>(),
    known::<systems::LeaveOneOut>(),
    known::<stability::Stability>(),
    known::<label_map::LabelMap>(),
    known::<context_size::ContextSize>(),
    known::<coverage::Coverage>(),
];
