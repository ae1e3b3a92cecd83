//! The gallery of figures, and the page of one figure. Every filter stands in
//! the address, so that what is shown can be cited.

use faultboard_domain::Track;
use faultboard_domain::view::{BoardQuery, BoardView, Choice, FigureCard, FigurePage, GalleryView};
use leptos::prelude::*;

use super::board::{select, text};
use crate::components::frame::title;
use crate::components::{figure, notice, when};
use crate::{data, format, query};

/// `/figures`.
#[component]
pub fn Gallery() -> impl IntoView {
    let text = super::query_string();
    let pairs = query::pairs(&text);
    let track = query::get(&pairs, "track")
        .and_then(|t| t.parse::<Track>().ok())
        .unwrap_or(Track::Repair);
    let asked = query::board(track, &text);
    let shown = asked.clone();
    data::load(
        move |portal, actor| async move { portal.gallery(&actor, &asked).await },
        move |view| gallery(&view, &shown),
    )
}

/// `/figures/:track/:release/:id`.
#[component]
pub fn One() -> impl IntoView {
    let Ok(track) = super::param("track").parse::<Track>() else {
        return data::not_found();
    };
    let Ok(release) = super::param("release").parse() else {
        return data::not_found();
    };
    let asked = BoardQuery {
        release: Some(release),
        ..query::board(track, &super::query_string())
    };
    let (id, shown) = (super::param("id"), asked.clone());
    data::load(
        move |portal, actor| async move { portal.figure_page(&actor, &id, &asked).await },
        move |view| one(&view, &shown),
    )
}

fn facts(board: &BoardView) -> String {
    format!(
        "{} · release {} · n = {}",
        board.track.title().to_lowercase(),
        board.release,
        format::counted(u64::from(board.n_cases), "case", "cases")
    )
}

/// The filters; `action` is where they lead.
fn filters(board: &BoardView, asked: &BoardQuery, action: String, releases: bool) -> AnyView {
    let release = releases.then(|| {
        let all: Vec<Choice> = board
            .releases
            .iter()
            .map(|r| Choice {
                key: r.to_string(),
                label: r.to_string(),
                cases: 0,
            })
            .collect();
        select("release", "release", &all, board.release.as_str())
    });
    let track = releases.then(|| {
        view! { <input type="hidden" name="track" value=board.track.as_str()/> }
    });
    let everything = Choice {
        key: String::new(),
        label: "all cases".to_owned(),
        cases: 0,
    };
    let slices: Vec<Choice> = std::iter::once(everything)
        .chain(board.slices.iter().cloned())
        .collect();
    view! {
        <form method="get" action=action class="filters" aria-label="Filters">
            {track}
            {release}
            {select("subset", "subset", &board.subsets, board.subset.as_str())}
            {select("slice", "cases", &slices, &board.slice)}
            {text("agent", asked.agent.as_deref())}
            {text("model", asked.model.as_deref())}
            <label class="check"><input type="checkbox" name="open_weights" id="f-open" value="1" checked=asked.open_weights/>"open weights"</label>
            <button class="button small">"Apply"</button>
        </form>
    }
    .into_any()
}

/// The gallery.
pub fn gallery(view: &GalleryView, asked: &BoardQuery) -> AnyView {
    let board = &view.board;
    let tabs: Vec<AnyView> = [Track::Repair, Track::Diagnosis]
        .into_iter()
        .map(|t| {
            let current = (t == board.track).then_some("page");
            view! { <li><a href=format!("/figures?track={t}") aria-current=current>{t.title()}</a></li> }
                .into_any()
        })
        .collect();
    let (drawn, others): (Vec<&FigureCard>, Vec<&FigureCard>) =
        view.figures.iter().partition(|f| f.computed.is_some());
    let cards: Vec<AnyView> = drawn.iter().map(|f| card(f)).collect();
    let waiting = (!others.is_empty()).then(|| {
        let items: Vec<AnyView> = others
            .iter()
            .map(|f| {
                view! { <li><strong>{f.title.clone()}</strong>" "{f.shows.clone()}</li> }.into_any()
            })
            .collect();
        view! {
            <section class="waiting">
                <h2>"Not for this selection"</h2>
                <p class="remark">"These need published configurations, or stand for all cases of a subset only. They are drawn by themselves as soon as there is something to draw."</p>
                <ul>{items}</ul>
            </section>
        }
    });
    let content = if cards.is_empty() {
        notice::empty(
            "Figures of published results stand here.",
            view! { "They are drawn a moment after a configuration is published. "<a href=format!("/board/{}", board.track)>"See the board"</a> },
        )
    } else {
        view! { <div class="gallery">{cards}</div> }.into_any()
    };
    view! {
        {title(format!("Figures, {}", board.track.title().to_lowercase()))}
        <div class="page wide-page">
            <nav class="tabs" aria-label="Tracks"><ul>{tabs}</ul></nav>
            <div class="head-row">
                <h1>"Figures"</h1>
                <p class="head-facts num">{facts(board)}</p>
            </div>
            <p class="lede">"Every figure of the benchmark, drawn from the live scores. Each has a page of its own to cite, and its data to take away."</p>
            <div class="toolbar">{filters(board, asked, "/figures".to_owned(), true)}</div>
            {content}
            {waiting}
        </div>
    }
    .into_any()
}

fn card(f: &FigureCard) -> AnyView {
    let page = query::href(&f.path, &f.query);
    let image = |theme: &str| {
        let mut filters = f.query.clone();
        if !filters.is_empty() {
            filters.push('&');
        }
        query::href(
            &format!("{}.svg", f.path),
            &format!("{filters}theme={theme}"),
        )
    };
    view! {
        <article class="card" id=f.id.clone()>
            <h2><a href=page.clone()>{f.title.clone()}</a></h2>
            <p class="remark">{f.shows.clone()}</p>
            // The heading's link says the same in words.
            <a class="thumb" href=page tabindex="-1" aria-hidden="true">
                <img class="on-light" src=image("light") alt="" loading="lazy"/>
                <img class="on-dark" src=image("dark") alt="" loading="lazy"/>
            </a>
            {figure::downloads(&f.path, &f.query)}
        </article>
    }
    .into_any()
}

/// One figure.
pub fn one(view: &FigurePage, asked: &BoardQuery) -> AnyView {
    let board = &view.board;
    let path = format!("/figures/{}/{}/{}", board.track, board.release, view.id);
    let unheard = (!view.heard).then(|| {
        notice::remark(
            "warn",
            view! { <p>"This figure pools all configurations, so that the filters of agent, model and weights change nothing here. The filters of cases do."</p> },
        )
    });
    let content = match &view.figure {
        Some(f) => view! {
            <div class="figure">{figure::canvas(f)}</div>
            <p class="remark">"Computed "{when::when(f.computed)}"."</p>
        }
        .into_any(),
        None => notice::empty(
            "This figure is not there for this selection.",
            view! { "It needs published configurations on these cases, or stands for all cases of a subset only. "<a href=path.clone()>"See it without filters"</a> },
        ),
    };
    let back = query::href(
        "/figures",
        &query::string([
            ("track", board.track.as_str()),
            ("release", board.release.as_str()),
            ("subset", board.subset.as_str()),
            ("slice", board.slice.as_str()),
        ]),
    );
    view! {
        {title(format!("{}, {} {}", view.title, board.track.title().to_lowercase(), board.release))}
        <div class="page wide-page">
            <p class="crumbs"><a href=back>"Figures"</a></p>
            <div class="head-row">
                <h1>{view.title.clone()}</h1>
                <p class="head-facts num">{facts(board)}</p>
            </div>
            <p class="lede">{view.shows.clone()}</p>
            <div class="toolbar">{filters(board, asked, path, false)}</div>
            {unheard}
            {content}
        </div>
    }
    .into_any()
}
