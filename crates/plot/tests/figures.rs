//! The figures as they come out: their exact drawing, that nothing in them
//! collides, and that nothing in their data can break them.

mod data;

use data::more::{Visit, every, nothing};
use data::{about, heatmap, pareto};
use faultboard_domain::case::Family;
use faultboard_plot::{
    Area, CaseColumn, ConfigurationRow, Figure, Item, Measure, PairCell, PairState, PairedHeatmap,
    Pareto, ParetoPoint, Scene, Shape, Theme,
};

fn no_collisions(scene: &Scene, what: &str) {
    assert_eq!(scene.collisions(), Vec::<String>::new(), "{what}");
}

fn marks(scene: &Scene) -> usize {
    scene
        .items
        .iter()
        .filter(|i| matches!(i, Item::Mark(_)))
        .count()
}

/// Every tag that opens closes, in order, and text is escaped.
fn well_formed(svg: &str) {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "unescaped text: {text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.to_owned()));
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().unwrap().to_owned());
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn heatmap_is_drawn_exactly_so() {
    let figure = heatmap(2, 4);
    insta::assert_snapshot!("paired-heatmap.svg", figure.svg(Theme::Light).unwrap());
    insta::assert_snapshot!("paired-heatmap.csv", figure.csv().replace("\r\n", "\n"));
    insta::assert_snapshot!("paired-heatmap.txt", figure.summary());
}

#[test]
fn pareto_is_drawn_exactly_so() {
    let figure = pareto(5, true, 11);
    insta::assert_snapshot!("pareto.svg", figure.svg(Theme::Dark).unwrap());
    insta::assert_snapshot!("pareto.csv", figure.csv().replace("\r\n", "\n"));
    insta::assert_snapshot!("pareto.txt", figure.summary());
}

#[test]
fn heatmaps_of_every_size_stay_legible() {
    for (rows, columns) in [
        (1, 1),
        (2, 4),
        (3, 1),
        (12, 14),
        (10, 28),
        (17, 120),
        (60, 6),
        (100, 120),
    ] {
        let figure = heatmap(rows, columns);
        let scene = figure.scene();
        no_collisions(&scene, &format!("{rows} x {columns}"));
        assert_eq!(marks(&scene), rows * columns);
        assert!(
            scene.labels.iter().all(|l| l.size >= 9.0),
            "{rows} x {columns}: too small to read"
        );
        // Cells stand apart and are large enough to hit.
        for item in &scene.items {
            let Item::Mark(mark) = item else { continue };
            let Shape::Rect { size, .. } = &mark.shapes[0] else {
                panic!("a cell has a ground")
            };
            assert!(size.0 >= 10.0 && size.1 >= 10.0);
        }
    }
}

#[test]
fn rows_are_ranked_and_columns_grouped() {
    let cell = |state| PairCell { state, href: None };
    let figure = PairedHeatmap {
        about: about(),
        cases: vec![
            CaseColumn {
                case: "raft-10".into(),
                family: Family::Concurrency,
            },
            CaseColumn {
                case: "raft-9".into(),
                family: Family::Concurrency,
            },
            CaseColumn {
                case: "etcd-1".into(),
                family: Family::ProtocolRecovery,
            },
        ],
        rows: vec![
            ConfigurationRow {
                name: "nobody".into(),
                cells: vec![],
            },
            ConfigurationRow {
                name: "b".into(),
                cells: vec![
                    cell(PairState::Gain),
                    cell(PairState::TiePass),
                    cell(PairState::TieFail),
                ],
            },
            ConfigurationRow {
                name: "a".into(),
                cells: vec![
                    cell(PairState::TiePass),
                    cell(PairState::TieFail),
                    cell(PairState::Missing),
                ],
            },
        ],
    };
    let csv = figure.csv();
    let order: Vec<(&str, &str)> = csv
        .lines()
        .skip(1)
        .map(|l| {
            let mut f = l.split(',');
            (f.next().unwrap(), f.next().unwrap())
        })
        .collect();
    // a: 1 of 2; b: 1 of 3; nobody: unknown.
    assert_eq!(order[0], ("a", "etcd-1"));
    assert_eq!(order[1], ("a", "raft-9"));
    assert_eq!(order[2], ("a", "raft-10"));
    assert_eq!(order[3].0, "b");
    assert_eq!(order[6].0, "nobody");
    let summary = figure.summary();
    assert!(
        summary.contains("3 configurations on 3 cases") && summary.contains("Of 5 pairs"),
        "{summary}"
    );
    assert!(summary.contains("4 pairs are missing"), "{summary}");
    assert!(
        summary.contains("Context helps most: b, 1 more case."),
        "{summary}"
    );
}

#[test]
fn every_figure_says_n_release_and_date() {
    for scene in [heatmap(3, 5).scene(), pareto(5, true, 3).scene()] {
        let all: String = scene
            .labels
            .iter()
            .map(|l| l.text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        for part in ["n = ", "release 2026.1", "2026-11-30"] {
            assert!(all.contains(part), "{part} is not said");
        }
    }
}

#[test]
fn pareto_names_never_collide() {
    for count in [0, 1, 2, 5, 12, 25, 40] {
        for seed in 0..12 {
            for costs in [true, false] {
                let figure = pareto(count, costs, seed);
                let scene = figure.scene();
                no_collisions(
                    &scene,
                    &format!("{count} points, seed {seed}, costs {costs}"),
                );
                names_keep_off_points(&scene);
            }
        }
    }
}

#[test]
fn pareto_names_never_collide_in_a_heap() {
    // Forty configurations on nearly the same spot.
    let points = (0..40)
        .map(|i| ParetoPoint {
            name: format!("configuration number {i}"),
            symptom_only: Some(Measure {
                rate: 0.5 + f64::from(i % 3) * 0.001,
                ci95: None,
                n: 14,
                cost: Some(1.0 + f64::from(i) * 0.0001),
                steps: None,
            }),
            with_context: Some(Measure {
                rate: 0.6,
                ci95: None,
                n: 14,
                cost: Some(1.1),
                steps: None,
            }),
            href: None,
        })
        .collect();
    let scene = Pareto {
        about: about(),
        points,
    }
    .scene();
    no_collisions(&scene, "a heap");
    // Whoever has no label is named below.
    let all: String = scene
        .labels
        .iter()
        .map(|l| l.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    for i in 0..40 {
        assert!(
            all.contains(&format!("configuration number {i}")),
            "{i} is not named"
        );
    }
}

/// No name lies on a mark.
fn names_keep_off_points(scene: &Scene) {
    for item in &scene.items {
        let Item::Mark(mark) = item else { continue };
        for shape in &mark.shapes {
            if let Shape::Disc { at, radius, .. } = shape {
                let core = Area {
                    left: at.0 - radius * 0.6,
                    top: at.1 - radius * 0.6,
                    right: at.0 + radius * 0.6,
                    bottom: at.1 + radius * 0.6,
                };
                for label in &scene.labels {
                    assert!(!label.area().overlaps(&core), "`{}` on a mark", label.text);
                }
            }
        }
    }
}

#[test]
fn unknown_costs_are_said_and_not_dropped() {
    let figure = pareto(12, true, 3);
    let scene = figure.scene();
    let all: String = scene
        .labels
        .iter()
        .map(|l| l.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        all.contains("Not placed") && all.contains("cost unknown"),
        "{all}"
    );
    assert!(figure.summary().contains("Not placed"));
    let steps = pareto(6, false, 3);
    let all: String = steps
        .scene()
        .labels
        .iter()
        .map(|l| l.text.clone())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        all.contains("median steps per case (no cost is known)"),
        "{all}"
    );
    assert!(
        steps
            .summary()
            .contains("median steps, since no cost is known")
    );
    let mut nothing = pareto(3, false, 3);
    for p in &mut nothing.points {
        for m in [&mut p.symptom_only, &mut p.with_context]
            .into_iter()
            .flatten()
        {
            m.steps = None;
        }
    }
    let all: String = nothing
        .scene()
        .labels
        .iter()
        .map(|l| l.text.clone())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(all.contains("cost and steps unknown"), "{all}");
}

#[test]
fn pictures_are_twice_as_fine_and_always_the_same() {
    let figure = heatmap(3, 6);
    let scene = figure.scene();
    for theme in Theme::ALL {
        let picture = figure.png(theme).unwrap();
        assert_eq!(picture, figure.png(theme).unwrap());
        assert_eq!(&picture[1..4], b"PNG");
        let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
        assert_eq!(
            (side(16), side(20)),
            (
                scene.width.ceil() as u32 * 2,
                scene.height.ceil() as u32 * 2
            )
        );
    }
    assert_eq!(
        figure.svg(Theme::Light).unwrap(),
        figure.svg(Theme::Light).unwrap()
    );
}

#[test]
fn hostile_data_is_drawn_as_text() {
    let evil = "<script>alert(1)</script>\"'&\u{0}\u{202e}\n=1+1 ".repeat(40);
    let figure = PairedHeatmap {
        about: about(),
        cases: vec![CaseColumn {
            case: evil.clone(),
            family: Family::InputCrash,
        }],
        rows: vec![ConfigurationRow {
            name: evil.clone(),
            cells: vec![PairCell {
                state: PairState::Loss,
                href: Some("javascript:alert(1)".into()),
            }],
        }],
    };
    let svg = figure.svg(Theme::Light).unwrap();
    well_formed(&svg);
    assert!(!svg.contains("<script") && !svg.contains("javascript:") && !svg.contains('\0'));
    no_collisions(&figure.scene(), "evil");
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300];
    let points = odd
        .iter()
        .map(|v| ParetoPoint {
            name: evil.clone(),
            symptom_only: Some(Measure {
                rate: *v,
                ci95: Some((*v, *v)),
                n: 0,
                cost: Some(*v),
                steps: Some(*v),
            }),
            with_context: None,
            href: Some("//evil.example".into()),
        })
        .collect();
    let plot = Pareto {
        about: about(),
        points,
    };
    let svg = plot.svg(Theme::Print).unwrap();
    well_formed(&svg);
    assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("//evil"));
    assert!(plot.png(Theme::Print).is_ok());
    let empty = PairedHeatmap {
        about: about(),
        cases: vec![],
        rows: vec![],
    };
    well_formed(&empty.svg(Theme::Light).unwrap());
    assert!(empty.png(Theme::Light).is_ok());
    well_formed(
        &Pareto {
            about: about(),
            points: vec![],
        }
        .svg(Theme::Light)
        .unwrap(),
    );
}

#[test]
fn data_survive_json() {
    let figure = pareto(4, true, 5);
    let again: Pareto = serde_json::from_str(&figure.json()).unwrap();
    assert_eq!(
        again.svg(Theme::Light).unwrap(),
        figure.svg(Theme::Light).unwrap()
    );
    let figure = heatmap(3, 3);
    let again: PairedHeatmap = serde_json::from_str(&figure.json()).unwrap();
    assert_eq!(again, figure);
    well_formed(&figure.svg(Theme::Light).unwrap());
}

#[test]
fn marks_can_be_reached_and_read() {
    let svg = heatmap(2, 4).svg(Theme::Light).unwrap();
    assert_eq!(svg.matches("tabindex=\"0\"").count(), 8);
    assert_eq!(svg.matches("<a class=\"mark\" href=\"/compare/").count(), 8);
    assert!(
        svg.contains("data-state=\"gain\"") && svg.contains(": passes only with context</title>")
    );
    // Thousands of stops would bar the way: then there is one, and scripts move on from it.
    let svg = heatmap(30, 30).svg(Theme::Light).unwrap();
    assert_eq!(svg.matches("tabindex=\"0\"").count(), 1);
}

/// Looks at one figure after another.
struct Check<A>(A);

impl<A: FnMut(&str, &dyn Looked)> Visit for Check<A> {
    fn figure<F: Figure + Clone + PartialEq + std::fmt::Debug>(&mut self, name: &str, figure: &F) {
        (self.0)(name, figure);
    }
}

/// What a look needs, whatever the figure is.
trait Looked {
    fn id(&self) -> &'static str;
    fn shapes(&self) -> Scene;
    fn drawing(&self) -> String;
    fn words(&self) -> String;
    fn numbers(&self) -> String;
    fn again(&self) -> bool;
}

impl<F: Figure + Clone + PartialEq> Looked for F {
    fn id(&self) -> &'static str {
        F::ID
    }
    fn shapes(&self) -> Scene {
        self.scene()
    }
    fn drawing(&self) -> String {
        self.svg(Theme::Light).unwrap()
    }
    fn words(&self) -> String {
        self.summary()
    }
    fn numbers(&self) -> String {
        self.csv()
    }
    fn again(&self) -> bool {
        serde_json::from_str::<F>(&self.json()).unwrap() == *self
    }
}

/// The box of a shape, its stroke not counted.
fn extent(shape: &Shape) -> Area {
    let around = |p: &(f64, f64), r: f64| Area {
        left: p.0 - r,
        top: p.1 - r,
        right: p.0 + r,
        bottom: p.1 + r,
    };
    match shape {
        Shape::Rect { at, size, .. } => Area {
            left: at.0,
            top: at.1,
            right: at.0 + size.0,
            bottom: at.1 + size.1,
        },
        Shape::Disc { at, radius, .. } | Shape::Ring { at, radius, .. } => around(at, *radius),
        Shape::Line { points, .. } | Shape::Polygon { points, .. } => {
            points
                .iter()
                .skip(1)
                .fold(around(&points[0], 0.0), |a, p| Area {
                    left: a.left.min(p.0),
                    top: a.top.min(p.1),
                    right: a.right.max(p.0),
                    bottom: a.bottom.max(p.1),
                })
        }
    }
}

#[test]
fn every_figure_is_legible_in_every_size() {
    let mut seen = std::collections::BTreeSet::new();
    every(&mut Check(|name: &str, figure: &dyn Looked| {
        seen.insert(figure.id());
        let scene = figure.shapes();
        no_collisions(&scene, name);
        assert!(
            scene.labels.iter().all(|l| l.size >= 9.0),
            "{name}: too small to read"
        );
        let sheet = Area {
            left: -1.0,
            top: -1.0,
            right: scene.width + 1.0,
            bottom: scene.height + 1.0,
        };
        for item in &scene.items {
            let shapes = match item {
                Item::Plain(shape) => std::slice::from_ref(shape),
                Item::Mark(mark) => {
                    assert!(!mark.tip.is_empty(), "{name}: a mark says nothing");
                    mark.shapes.as_slice()
                }
            };
            for shape in shapes {
                assert!(
                    sheet.holds(&extent(shape)),
                    "{name}: {shape:?} leaves the sheet"
                );
            }
        }
        let all: String = scene
            .labels
            .iter()
            .map(|l| l.text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        // A name longer than the sheet is cut, and may take the facts with it.
        if !name.starts_with("long-") {
            for part in ["n = ", "release 2026.1", "2026-11-30"] {
                assert!(all.contains(part), "{name}: {part} is not said");
            }
        }
    }));
    let known: std::collections::BTreeSet<&str> =
        faultboard_plot::ALL.iter().map(|k| k.id).collect();
    assert_eq!(seen, known, "every figure is looked at");
}

#[test]
fn every_figure_gives_its_numbers_and_words_away() {
    let mut check = Check(|name: &str, figure: &dyn Looked| {
        well_formed(&figure.drawing());
        assert!(figure.again(), "{name}: data do not survive JSON");
        assert!(figure.words().contains("release 2026.1"), "{name}");
        let csv = figure.numbers();
        let columns = csv.lines().next().unwrap().split(',').count();
        assert!(columns > 2, "{name}: {csv}");
        let known = faultboard_plot::Known::find(figure.id()).expect("in the list");
        assert!(!known.shows.is_empty() && !known.tracks.is_empty());
    });
    every(&mut check);
    nothing(&mut check);
}

#[test]
fn empty_figures_say_what_will_stand_there() {
    nothing(&mut Check(|name: &str, figure: &dyn Looked| {
        let scene = figure.shapes();
        no_collisions(&scene, name);
        assert_eq!(marks(&scene), 0, "{name}");
        // Title, facts, and the reason.
        assert!(scene.labels.len() >= 3, "{name} says nothing");
    }));
}

#[test]
fn every_other_figure_is_drawn_exactly_so() {
    use data::more;
    let small: [(&str, String); 8] = [
        (
            "rank-shift",
            more::rank_shift(3, true, false).svg(Theme::Light).unwrap(),
        ),
        (
            "pairwise-matrix",
            more::pairwise(3, false).svg(Theme::Light).unwrap(),
        ),
        (
            "lift-by-tier",
            more::lift_by_tier().svg(Theme::Light).unwrap(),
        ),
        ("cdf-steps", more::cdf_steps(1, 6).svg(Theme::Dark).unwrap()),
        (
            "mixed-model",
            more::mixed_model(true).svg(Theme::Print).unwrap(),
        ),
        (
            "evidence-grid",
            more::evidence_grid(false, false).svg(Theme::Light).unwrap(),
        ),
        (
            "leave-one-out",
            more::leave_one_out(2, 2, false).svg(Theme::Light).unwrap(),
        ),
        (
            "label-map",
            more::label_map(2, true, false).svg(Theme::Dark).unwrap(),
        ),
    ];
    for (name, svg) in small {
        insta::assert_snapshot!(format!("{name}.svg"), svg);
    }
}

#[test]
fn rows_can_be_left_out_and_pooled_figures_say_that_they_have_none() {
    use faultboard_plot::{Form, Known};
    let figure = data::more::pairwise(5, false);
    let first = figure.panels[0].rows[0].name.clone();
    let known = Known::find("pairwise-matrix").unwrap();
    let drawn = known
        .draw(figure.json().as_bytes(), &|n| n != first, Form::Json)
        .unwrap();
    assert!(drawn.has_rows);
    let again: faultboard_plot::PairwiseMatrix = serde_json::from_slice(&drawn.bytes).unwrap();
    assert_eq!(again.panels[0].rows.len(), 4);
    assert_eq!(again.panels[0].pairs.len(), 6);
    // Each pair still names the rows that it did.
    for pair in &again.panels[0].pairs {
        let names = [pair.a, pair.b].map(|i| again.panels[0].rows[i].name.clone());
        let before = figure.panels[0]
            .pairs
            .iter()
            .find(|p| {
                figure.panels[0].rows[p.a].name == names[0]
                    && figure.panels[0].rows[p.b].name == names[1]
            })
            .expect("the pair was there");
        assert_eq!(before.p, pair.p);
    }
    // Reported rows are not of this board and stay.
    assert_eq!(again.panels[1], figure.panels[1]);
    let pooled = Known::find("lift-by-tier").unwrap();
    let json = data::more::lift_by_tier().json();
    let drawn = pooled
        .draw(json.as_bytes(), &|_| false, Form::Json)
        .unwrap();
    assert!(!drawn.has_rows);
    assert_eq!(drawn.bytes, json.into_bytes());
    assert!(known.draw(b"{}", &|_| true, Form::Csv).is_err());
}

#[test]
fn labels_are_drawn_only_where_they_are_given() {
    let public = data::more::label_map(3, false, false);
    let svg = public.svg(Theme::Light).unwrap();
    assert!(!svg.contains(">labelled<") && !public.csv().contains("labelled"));
    let known = data::more::label_map(3, true, false);
    let svg = known.svg(Theme::Light).unwrap();
    assert!(svg.contains(">labelled<") && known.csv().contains("labelled"));
}

#[test]
fn hostile_blocks_and_numbers_break_no_figure() {
    use faultboard_plot::{LabelMap, MapBlock, MapRow};
    let evil = "</svg><script>alert(1)</script>\u{202e}\0".repeat(20);
    let ends = [0, 1, u64::MAX - 1, u64::MAX];
    let blocks = ends
        .iter()
        .flat_map(|a| ends.iter().map(move |b| (*a, *b)))
        .map(|(start, end)| MapBlock {
            file: evil.clone(),
            start,
            end,
            function: evil.clone(),
            hit: None,
        })
        .collect();
    let figure = LabelMap {
        about: about(),
        case: evil.clone(),
        labels: None,
        attempts: vec![MapRow {
            name: evil.clone(),
            blocks,
            href: Some("javascript:alert(1)".into()),
        }],
    };
    let svg = figure.svg(Theme::Light).unwrap();
    well_formed(&svg);
    assert!(!svg.contains("<script") && !svg.contains("javascript:") && !svg.contains("NaN"));
    no_collisions(&figure.scene(), "hostile blocks");

    let mut odd = data::more::paired_differences(4, false);
    for (row, value) in odd.rows.iter_mut().zip([f64::NAN, f64::INFINITY, -1e300]) {
        row.name.clone_from(&evil);
        if let Some(d) = &mut row.difference {
            d.mean = value;
            d.ci95 = Some((value, -value));
            d.p = Some(value);
        }
    }
    let svg = odd.svg(Theme::Dark).unwrap();
    well_formed(&svg);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let mut odd = data::more::size_vs_pass(4);
    for (case, value) in odd
        .cases
        .iter_mut()
        .zip([f64::NAN, f64::INFINITY, -1.0, 1e300])
    {
        case.fix_size = u32::MAX;
        case.symptom_only = Some(value);
    }
    well_formed(&odd.svg(Theme::Print).unwrap());
    let mut odd = data::more::cdf_tokens(1, 6);
    odd.panels[0].symptom_only = vec![f64::NAN, -1.0, 0.0, 1e300, f64::INFINITY];
    let svg = odd.svg(Theme::Light).unwrap();
    well_formed(&svg);
    assert!(!svg.contains("NaN"));
}
