//! Statistics, comparisons and breakdowns on generated boards of the sizes that
//! the two benchmarks have: what the job stores, what pages and downloads show,
//! and that all of them agree.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use faultboard_domain::clock::SystemClock;
use faultboard_domain::rounding;
use faultboard_domain::view::{
    BoardQuery, BoardRow, BoardView, CompareQuery, CompareState, CompareView, MeasureKind,
};
use faultboard_domain::{Actor, Track};
use faultboard_plot::Known;
use faultboard_portal::synthetic::{self, Synthetic};
use faultboard_portal::{Portal, PortalError, Settings};
use faultboard_sandbox::{FakeRun, FakeRuntime};

struct Site {
    portal: Arc<Portal>,
    stop: tokio::sync::watch::Sender<bool>,
    workers: tokio::task::JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Site {
    async fn generate(sizes: &[&str]) -> Self {
        let wanted: Vec<Synthetic> = sizes.iter().map(|s| s.parse().unwrap()).collect();
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            data_dir: folder.path().join("data"),
            min_free_bytes: 0,
            ..Settings::default()
        };
        synthetic::prepare(&settings, &wanted).unwrap();
        let portal = Portal::open_on(
            settings,
            Arc::new(SystemClock),
            Arc::new(FakeRuntime::new(&[], |_| FakeRun::default())),
        )
        .await
        .unwrap();
        let made = portal.load_synthetic(&wanted).await.unwrap();
        let rows: u32 = wanted.iter().map(|w| w.configurations).sum();
        assert_eq!(made as u32, rows);
        assert_eq!(
            portal.load_synthetic(&wanted).await.unwrap(),
            0,
            "nothing is made twice"
        );
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopped));
        let site = Self {
            portal,
            stop,
            workers,
            _folder: folder,
        };
        site.quiet().await;
        site
    }

    async fn quiet(&self) {
        let deadline = Instant::now() + Duration::from_secs(600);
        while self.portal.work_waits().await.unwrap() {
            assert!(Instant::now() < deadline, "the jobs did not end");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn end(self) {
        self.stop.send_replace(true);
        self.workers.await.unwrap();
        self.portal.close().await;
    }

    async fn board(&self, track: Track, slice: Option<&str>) -> BoardView {
        self.portal
            .board(&Actor::Anonymous, &query(track, slice))
            .await
            .unwrap()
    }

    async fn text(&self, track: Track, format: &str) -> String {
        let file = self
            .portal
            .board_file(&Actor::Anonymous, &query(track, None), format)
            .await
            .unwrap();
        String::from_utf8(file.bytes.to_vec()).unwrap()
    }

    async fn ready(&self, asked: &CompareQuery) -> CompareView {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let view = self.portal.compare(&Actor::Anonymous, asked).await.unwrap();
            if view.state == CompareState::Ready {
                return view;
            }
            assert!(Instant::now() < deadline, "the comparison was not computed");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// What a figure's data say of the board's rows: the figure, where in it a row's
/// number stands, and what the board says of the same row.
type Claim = (
    &'static str,
    fn(&serde_json::Value) -> Option<f64>,
    fn(&BoardRow) -> Option<f64>,
);

const CLAIMS: &[Claim] = &[
    ("pareto", |v| v["symptom_only"]["rate"].as_f64(), symptom),
    ("pareto", |v| v["with_context"]["rate"].as_f64(), context),
    (
        "rank-shift",
        |v| v["symptom_only"]["rate"].as_f64(),
        symptom,
    ),
    (
        "rank-shift",
        |v| v["with_context"]["rate"].as_f64(),
        context,
    ),
    ("per-system", |v| v["block"].as_f64(), blocks),
    ("leave-one-out", |v| v["block"].as_f64(), blocks),
    ("stability", |v| v["within_case_sd"].as_f64(), spread),
];

fn symptom(row: &BoardRow) -> Option<f64> {
    Some(row.repair.as_ref()?.symptom?.mean)
}

fn context(row: &BoardRow) -> Option<f64> {
    Some(row.repair.as_ref()?.context?.mean)
}

fn blocks(row: &BoardRow) -> Option<f64> {
    Some(row.diagnosis.as_ref()?.block_coverage.mean)
}

fn spread(row: &BoardRow) -> Option<f64> {
    row.diagnosis.as_ref()?.within_case_sd
}

const SVG: &str = "http://www.w3.org/2000/svg";

/// Every figure of a board can be read in every theme, each download opens, and
/// its numbers are the board's to the last bit.
async fn figures_are_in_order(site: &Site, track: Track, board: &BoardView) {
    let gallery = site
        .portal
        .gallery(&Actor::Anonymous, &query(track, None))
        .await
        .unwrap();
    assert!(!gallery.figures.is_empty());
    let mut compared = 0;
    for card in &gallery.figures {
        let id = card.id.as_str();
        // It needs published rates of the board's own models, and these are made up.
        if id == "saturation-contrast" {
            assert!(card.computed.is_none());
            continue;
        }
        assert!(card.computed.is_some(), "{id} was not computed");
        let file = async |format: &str, theme: Option<&str>| {
            let query = query(track, None);
            let portal = &site.portal;
            let file = portal.figure_file(&Actor::Anonymous, id, format, &query, theme);
            file.await.unwrap().bytes
        };
        let data = file("json", None).await;
        let scene = Known::find(id).unwrap().scene(&data).unwrap();
        assert_eq!(scene.collisions(), Vec::<String>::new(), "{id}");
        for theme in ["light", "dark", "print"] {
            let svg = file("svg", Some(theme)).await;
            let drawing = roxmltree::Document::parse(std::str::from_utf8(&svg).unwrap()).unwrap();
            for tag in ["title", "desc"] {
                assert!(drawing.descendants().any(|n| n.has_tag_name((SVG, tag))));
            }
            let png = file("png", Some(theme)).await;
            let reader = png::Decoder::new(&png[..]).read_info();
            let mut reader = reader.unwrap();
            let mut pixels = vec![0; reader.output_buffer_size()];
            let frame = reader.next_frame(&mut pixels).unwrap();
            assert_eq!(f64::from(frame.width), (scene.width * 2.0).round(), "{id}");
        }
        let csv = file("csv", None).await;
        let lines = std::str::from_utf8(&csv).unwrap().lines().count();
        // Parts of a context bundle were not tried singly.
        assert_eq!(lines > 1, id != "ablation", "{id}: {lines} lines");

        let data: serde_json::Value = serde_json::from_slice(&data).unwrap();
        for (_, said, truth) in CLAIMS.iter().filter(|claim| claim.0 == id) {
            let lists = ["points", "rows"].map(|part| data[part].as_array());
            for entry in lists.into_iter().flatten().flatten() {
                let href = entry["href"].as_str().unwrap();
                let row = board
                    .rows
                    .iter()
                    .find(|r| href.ends_with(r.submission.as_str()))
                    .unwrap();
                assert!(said(entry).is_some(), "{id}: {entry}");
                assert_eq!(said(entry), truth(row), "{id}: {entry}");
                compared += 1;
            }
        }
    }
    assert_eq!(
        compared,
        if track == Track::Repair { 4 } else { 3 } * board.rows.len()
    );
}

fn query(track: Track, slice: Option<&str>) -> BoardQuery {
    BoardQuery {
        track,
        release: None,
        subset: None,
        slice: slice.map(str::to_owned),
        sort: None,
        reverse: false,
        agent: None,
        model: None,
        open_weights: false,
    }
}

/// The fields of a CSV by the head's names.
fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), head.len(), "{line}");
            head.iter()
                .zip(fields)
                .map(|(k, v)| ((*k).to_owned(), v.to_owned()))
                .collect()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repair_board_of_60_cases_and_10_configurations() {
    let site = Site::generate(&["repair:60x10"]).await;
    let board = site.board(Track::Repair, None).await;
    assert_eq!((board.rows.len(), board.n_cases), (10, 60));
    let tiers: Vec<u32> = board
        .slices
        .iter()
        .filter(|s| s.key.starts_with("tier-"))
        .map(|s| s.cases)
        .collect();
    assert_eq!(tiers, vec![31, 15, 14]);
    let whole = board.statistics.as_deref().expect("the job has run");
    assert_eq!(whole.panel.len(), 45);
    assert!(whole.power.is_some() && whole.pooled_flips.is_some());
    let mixed = whole.mixed.as_ref().unwrap();
    assert_eq!(mixed.attempts, 1_200);
    let fit = mixed.fit.as_ref().expect("an estimate");
    assert!(
        mixed.reading.contains(&rounding::points(fit.marginal)),
        "{}",
        mixed.reading
    );

    // The row's breakdown says what the slice's own board says, to the last bit.
    for slice in &board.slices {
        let own = site.board(Track::Repair, Some(&slice.key)).await;
        for row in &own.rows {
            let whole = board
                .rows
                .iter()
                .find(|r| r.submission == row.submission)
                .unwrap();
            let statistics = whole.statistics.as_deref().unwrap();
            let group = statistics
                .groups
                .iter()
                .find(|g| g.key == slice.key)
                .unwrap();
            let cells = row.repair.as_ref().unwrap();
            assert_eq!(group.symptom, cells.symptom, "{}", slice.key);
            assert_eq!(group.context, cells.context, "{}", slice.key);
            assert_eq!(group.lift, cells.lift, "{}", slice.key);
        }
    }

    // Who beats whom is what the panel's p values say.
    for row in &board.rows {
        let wins = whole
            .panel
            .iter()
            .filter(|p| p.difference.p.is_some_and(|p| p < 0.05))
            .filter(|p| {
                let winner = if p.difference.mean > 0.0 { &p.a } else { &p.b };
                *winner == row.submission
            })
            .count();
        assert_eq!(row.rank.as_ref().unwrap().beats as usize, wins);
    }

    // A comparison shows the panel's numbers, and is there without waiting.
    let rows: Vec<_> = board
        .rows
        .iter()
        .take(3)
        .map(|r| r.submission.clone())
        .collect();
    let asked = CompareQuery { rows, slice: None };
    let view = site
        .portal
        .compare(&Actor::Anonymous, &asked)
        .await
        .unwrap();
    assert_eq!(
        view.state,
        CompareState::Ready,
        "pairs of the panel are computed before"
    );
    for p in view
        .pairs
        .iter()
        .filter(|p| p.measure == MeasureKind::Symptom)
    {
        let (a, b) = (&view.rows[p.a].submission, &view.rows[p.b].submission);
        let known = whole.panel.iter().find(|k| k.a == *a && k.b == *b).unwrap();
        assert_eq!(Some(known.difference), p.difference);
        assert!(p.p_holm >= p.difference.unwrap().p);
        assert!(p.power.is_some() && p.flips.is_some());
        // The estimates are the board's.
        let row = board.rows.iter().find(|r| r.submission == *a).unwrap();
        assert_eq!(
            view.rows[p.a].estimates[0],
            row.repair.as_ref().unwrap().symptom
        );
    }
    let again = CompareQuery {
        rows: asked.rows.iter().rev().cloned().collect(),
        slice: None,
    };
    let turned = site
        .portal
        .compare(&Actor::Anonymous, &again)
        .await
        .unwrap();
    let (x, y) = (
        view.pairs[0].difference.unwrap(),
        turned.pairs[2].difference.unwrap(),
    );
    assert_eq!((x.mean, x.p), (-y.mean, y.p));

    // Another cut is computed by a job that the first reader asks for.
    let slice = CompareQuery {
        slice: Some("tier-1".to_owned()),
        ..asked.clone()
    };
    let first = site
        .portal
        .compare(&Actor::Anonymous, &slice)
        .await
        .unwrap();
    assert_ne!(first.state, CompareState::Ready);
    assert!(matches!(
        site.portal
            .compare_file(&Actor::Anonymous, &slice, "csv")
            .await,
        Err(PortalError::TooMany { .. })
    ));
    let cut = site.ready(&slice).await;
    assert_eq!((cut.n_cases, cut.cases.len()), (31, 31));
    assert!(cut.pairs.iter().all(|p| p.difference.unwrap().n == 31));

    // What can't be compared is refused with a reason.
    for rows in [vec![asked.rows[0].clone()], vec![asked.rows[0].clone(); 2]] {
        let refused = CompareQuery { rows, slice: None };
        assert!(matches!(
            site.portal.compare(&Actor::Anonymous, &refused).await,
            Err(PortalError::Invalid(_))
        ));
    }
    let unknown = CompareQuery {
        slice: Some("tier-9".to_owned()),
        ..asked.clone()
    };
    assert!(matches!(
        site.portal.compare(&Actor::Anonymous, &unknown).await,
        Err(PortalError::NotFound)
    ));

    figures_are_in_order(&site, Track::Repair, &board).await;

    // CSV and JSON are the same numbers.
    let json: BoardView = serde_json::from_str(&site.text(Track::Repair, "json").await).unwrap();
    let csv = table(&site.text(Track::Repair, "csv").await);
    assert_eq!((json.rows.len(), csv.len()), (10, 10));
    for (row, line) in json.rows.iter().zip(&csv) {
        let symptom = row.repair.as_ref().unwrap().symptom.unwrap();
        assert_eq!(line["symptom"].parse::<f64>().unwrap(), symptom.mean);
        assert_eq!(
            line["symptom_low"].parse::<f64>().unwrap(),
            symptom.ci95.unwrap().0
        );
        assert_eq!(line["release"], "0.1");
    }
    let breakdowns = site
        .portal
        .breakdowns_file(&Actor::Anonymous, &query(Track::Repair, None), "csv")
        .await
        .unwrap();
    let lines = table(std::str::from_utf8(&breakdowns.bytes).unwrap());
    assert_eq!(lines.len(), 10 * board.slices.len());
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diagnosis_board_of_120_cases_17_configurations_and_3_attempts() {
    let site = Site::generate(&["diagnosis:120x17x3"]).await;
    let board = site.board(Track::Diagnosis, None).await;
    assert_eq!((board.rows.len(), board.n_cases), (17, 120));
    let whole = board.statistics.as_deref().expect("the job has run");
    assert_eq!(whole.panel.len(), 17 * 16 / 2);
    assert!(whole.mixed.is_none());
    for row in &board.rows {
        let cells = row.diagnosis.as_ref().unwrap();
        let s = row.statistics.as_deref().unwrap();
        let stability = s.stability.as_ref().unwrap();
        assert_eq!(Some(stability.within_case_sd), cells.within_case_sd);
        assert_eq!(stability.unstable.len() as u32, cells.unstable_cases);
        assert!(
            stability
                .unstable
                .windows(2)
                .all(|w| w[0].high - w[0].low >= w[1].high - w[1].low)
        );
        assert_eq!(s.leave_one_out.len(), 6);
        for l in &s.leave_one_out {
            let rest = l.block.unwrap();
            assert_eq!(l.delta, Some(rest.mean - cells.block_coverage.mean));
        }
    }
    let rows: Vec<_> = board
        .rows
        .iter()
        .take(6)
        .map(|r| r.submission.clone())
        .collect();
    let view = site.ready(&CompareQuery { rows, slice: None }).await;
    assert_eq!(view.pairs.len(), 2 * 15);
    assert!(
        view.cases
            .iter()
            .all(|c| c.cells.iter().all(|cell| cell.attempts.len() == 3))
    );
    figures_are_in_order(&site, Track::Diagnosis, &board).await;
    site.end().await;
}
