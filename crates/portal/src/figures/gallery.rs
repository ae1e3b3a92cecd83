//! Figures as readers get them: the gallery, one figure's page, and its forms to
//! take away. All of it is read from what the job stored; with a filter of rows
//! or other paper the stored data are drawn again, two at a time at most.

use std::collections::BTreeSet;

use faultboard_domain::view::{
    BoardQuery, BoardView, FigureCard, FigurePage, FigureView, GalleryView,
};
use faultboard_domain::{Actor, Track};
use faultboard_plot::{ALL, Form, Known, Theme};
use faultboard_store::boards::BoardKey;
use faultboard_store::figures::{self as stored, StoredFigure};
use tokio::sync::Semaphore;

use super::{DRAWN_ROWS, count, first_rows};
use crate::downloads::FileBody;
use crate::{Portal, PortalError, Result};

/// Drawings that are made at the same time.
static DRAWING: Semaphore = Semaphore::const_new(2);

/// The figures that stand on a board's own page; the gallery has all.
const fn on_board(track: Track) -> &'static [&'static str] {
    match track {
        Track::Repair | Track::Recovery => &["paired-heatmap", "pareto", "rank-shift"],
        Track::Diagnosis => &["paired-differences", "evidence-grid", "per-system"],
    }
}

/// A figure that belongs to one case's attempts stands on their pages.
const OF_ATTEMPTS: &str = "label-map";

/// Names of the rows that are wanted; none: all of them.
type Wanted = Option<BTreeSet<String>>;

/// The figures of a track, in the order of the gallery.
fn of_track(track: Track) -> impl Iterator<Item = &'static Known> {
    ALL.iter()
        .filter(move |k| k.tracks.contains(&track) && k.id != OF_ATTEMPTS)
}

/// The query string that names the same data.
fn query_string(key: &BoardKey, query: &BoardQuery) -> String {
    let mut out = format!("subset={}", key.subset);
    for (name, value) in [
        ("slice", Some(key.slice.as_str())),
        ("agent", query.agent.as_deref()),
        ("model", query.model.as_deref()),
    ] {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            out.push_str(&format!("&{name}="));
            for b in value.bytes() {
                if b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
                    out.push(char::from(b));
                } else {
                    out.push_str(&format!("%{b:02X}"));
                }
            }
        }
    }
    if query.open_weights {
        out.push_str("&open_weights=1");
    }
    out
}

fn is_filtered(query: &BoardQuery) -> bool {
    query.agent.is_some() || query.model.is_some() || query.open_weights
}

/// The rows that the filters ask for.
fn wanted(view: &BoardView, query: &BoardQuery) -> Wanted {
    if !is_filtered(query) {
        return None;
    }
    let mut kept = view.clone();
    kept.arrange(query);
    Some(kept.rows.into_iter().map(|r| r.configuration).collect())
}

/// What a page draws of a figure.
#[derive(Clone, Default)]
struct Part {
    /// The rows drawn.
    wanted: Wanted,
    /// How many there would be, if they are not all of them.
    of_rows: Option<u32>,
    /// Whether the drawing that was stored for pages shows this part.
    is_stored: bool,
}

impl Part {
    fn of(view: Option<&BoardView>, query: &BoardQuery) -> Self {
        let Some(view) = view else {
            return Self::default();
        };
        let mut kept = std::borrow::Cow::Borrowed(view);
        if is_filtered(query) {
            kept.to_mut().arrange(query);
        }
        let many = kept.rows.len() > DRAWN_ROWS;
        Self {
            wanted: if many {
                Some(first_rows(&kept.rows))
            } else {
                wanted(view, query)
            },
            of_rows: many.then(|| count(kept.rows.len())),
            is_stored: !is_filtered(query),
        }
    }
}

/// Draws stored data off the async threads.
async fn redraw(figure: StoredFigure, wanted: Wanted, form: Form) -> Result<(Vec<u8>, bool)> {
    let known = Known::find(&figure.figure).ok_or(PortalError::NotFound)?;
    let _turn = DRAWING.acquire().await.map_err(PortalError::internal)?;
    tokio::task::spawn_blocking(move || {
        let keep = |name: &str| wanted.as_ref().is_none_or(|w| w.contains(name));
        known
            .draw(&figure.data, &keep, form)
            .map(|d| (d.bytes, d.has_rows))
            .map_err(PortalError::internal)
    })
    .await
    .map_err(PortalError::internal)?
}

impl Portal {
    /// The gallery of a board's figures.
    pub async fn gallery(&self, actor: &Actor, query: &BoardQuery) -> Result<GalleryView> {
        let board = self.board(actor, query).await?;
        let key = self.key(query).await?;
        let have = stored::list(&mut *self.store.reader().await?, &key).await?;
        let query_text = query_string(&key, query);
        let figures = of_track(key.track)
            .map(|known| {
                let found = have.iter().find(|h| h.0 == known.id);
                FigureCard {
                    id: known.id.to_owned(),
                    title: known.title.to_owned(),
                    shows: known.shows.to_owned(),
                    computed: found.map(|f| f.2),
                    path: format!("/figures/{}/{}/{}", key.track, key.release, known.id),
                    query: query_text.clone(),
                }
            })
            .collect();
        Ok(GalleryView { board, figures })
    }

    /// One figure's page.
    pub async fn figure_page(
        &self,
        actor: &Actor,
        id: &str,
        query: &BoardQuery,
    ) -> Result<FigurePage> {
        let key = self.key(query).await?;
        let known = of_track(key.track)
            .find(|k| k.id == id)
            .ok_or(PortalError::NotFound)?;
        let stored = self
            .stored_board(&mut *self.store.reader().await?, &key)
            .await?;
        let part = Part::of(stored.as_deref(), query);
        let board = self.board(actor, query).await?;
        let found = self.figure_view(&key, query, known, &part).await?;
        let (figure, heard) = match found {
            Some((view, heard)) => (Some(view), heard),
            None => (None, true),
        };
        Ok(FigurePage {
            board,
            id: known.id.to_owned(),
            title: known.title.to_owned(),
            shows: known.shows.to_owned(),
            figure,
            heard,
        })
    }

    /// A figure for a page, and whether a filter of rows was heard.
    async fn figure_view(
        &self,
        key: &BoardKey,
        query: &BoardQuery,
        known: &Known,
        part: &Part,
    ) -> Result<Option<(FigureView, bool)>> {
        let found = stored::get(&mut *self.store.reader().await?, key, known.id).await?;
        let Some(found) = found else {
            return Ok(None);
        };
        let computed = found.computed;
        let filtered = !part.is_stored;
        let (summary, svg, heard) = if filtered || found.svg.is_empty() {
            let wanted = part.wanted.clone();
            let text = |bytes| String::from_utf8(bytes).map_err(PortalError::internal);
            let (svg, heard) =
                redraw(found.clone(), wanted.clone(), Form::Svg(Theme::Light)).await?;
            let (summary, _) = redraw(found, wanted, Form::Summary).await?;
            (text(summary)?, text(svg)?, heard || !filtered)
        } else {
            (found.summary, found.svg, true)
        };
        let view = FigureView {
            id: known.id.to_owned(),
            title: known.title.to_owned(),
            shows: known.shows.to_owned(),
            summary,
            svg,
            of_rows: part.of_rows,
            computed,
            path: format!("/figures/{}/{}/{}", key.track, key.release, known.id),
            query: query_string(key, query),
        };
        Ok(Some((view, heard)))
    }

    /// The figures that stand on a board's own page.
    pub async fn board_figures(
        &self,
        _actor: &Actor,
        query: &BoardQuery,
    ) -> Result<Vec<FigureView>> {
        let key = self.key(query).await?;
        let stored = self
            .stored_board(&mut *self.store.reader().await?, &key)
            .await?;
        let part = Part::of(stored.as_deref(), query);
        let mut views = Vec::new();
        for known in on_board(key.track).iter().filter_map(|id| Known::find(id)) {
            let found = self.figure_view(&key, query, known, &part).await?;
            views.extend(found.map(|(view, _)| view));
        }
        Ok(views)
    }

    /// One form of a figure.
    pub async fn figure_file(
        &self,
        _actor: &Actor,
        id: &str,
        format: &str,
        query: &BoardQuery,
        theme: Option<&str>,
    ) -> Result<FileBody> {
        let theme = match theme {
            None => Theme::Light,
            Some(word) => Theme::parse(word).ok_or(PortalError::NotFound)?,
        };
        let (form, content_type) = form_of(format, theme)?;
        let key = self.key(query).await?;
        let mut c = self.store.reader().await?;
        let found = stored::get(&mut c, &key, id).await?;
        let view = self.stored_board(&mut c, &key).await?;
        drop(c);
        let found = found.ok_or(PortalError::NotFound)?;
        let wanted = view.as_ref().and_then(|v| wanted(v, query));
        let is_whole = view.is_none_or(|v| v.rows.len() <= DRAWN_ROWS);
        let name = format!("{}-{id}-{}-{}.{format}", key.track, key.release, key.subset);
        let bytes = match (&wanted, form) {
            (None, Form::Svg(Theme::Light)) if is_whole && !found.svg.is_empty() => {
                found.svg.into_bytes()
            }
            _ => redraw(found, wanted, form).await?.0,
        };
        Ok(FileBody::new(bytes.into(), content_type, name))
    }
}

/// The form and the media type of a file's ending.
pub(super) fn form_of(format: &str, theme: Theme) -> Result<(Form, &'static str)> {
    Ok(match format {
        "svg" => (Form::Svg(theme), "image/svg+xml"),
        "png" => (Form::Png(theme), "image/png"),
        "csv" => (Form::Csv, "text/csv; charset=utf-8"),
        "json" => (Form::Json, "application/json"),
        _ => return Err(PortalError::NotFound),
    })
}
