//! One number, one text: what a board's page prints is what the API, the
//! downloads and the figures of the same board say, to the last printed digit.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use faultboard_portal::synthetic::{self, Synthetic};
use serde_json::Value;

use crate::site::App;

/// Where a column's number stands in a row of the API, and what it is multiplied
/// with where the page prints it. Written down apart from the product's own list.
const PLACES: &[(&str, &str, f64)] = &[
    ("symptom", "/repair/symptom/mean", 100.0),
    ("context", "/repair/context/mean", 100.0),
    ("lift", "/repair/lift/mean", 100.0),
    ("first-edit", "/repair/first_edit", 1.0),
    ("block", "/diagnosis/block_coverage/mean", 100.0),
    ("block-precision", "/diagnosis/block_precision/mean", 100.0),
    ("strict", "/diagnosis/strict_block_coverage/mean", 100.0),
    ("file", "/diagnosis/file_coverage/mean", 100.0),
    ("function", "/diagnosis/function_coverage/mean", 100.0),
    ("line", "/diagnosis/line_coverage/mean", 100.0),
    ("mention", "/diagnosis/mention_coverage/mean", 100.0),
    ("lines", "/diagnosis/predicted_lines", 1.0),
    ("unstable", "/diagnosis/unstable_cases", 1.0),
    ("cost", "/cost_per_attempt", 1.0),
    ("tokens", "/tokens_per_attempt", 1.0),
    ("steps", "/steps", 1.0),
    ("flagged", "/flagged", 1.0),
];
/// The columns with intervals.
const INTERVALS: [(&str, &str); 4] = [
    ("symptom", "/repair/symptom/ci95"),
    ("context", "/repair/context/ci95"),
    ("lift", "/repair/lift/ci95"),
    ("block", "/diagnosis/block_coverage/ci95"),
];

/// A printed number: its value and its decimals.
fn printed(text: &str) -> (f64, usize) {
    let plain = text
        .replace(['\u{202f}', '\u{2009}', '+'], "")
        .replace("<!>", "")
        .replace('\u{2212}', "-");
    let decimals = plain.split_once('.').map_or(0, |(_, d)| d.len());
    let value = plain
        .parse()
        .unwrap_or_else(|e| panic!("{text:?} is no number: {e}"));
    (value, decimals)
}

/// Whether a text prints a value as well as its digits can.
fn assert_prints(text: &str, value: f64, of: &str) {
    let (shown, decimals) = printed(text);
    let half = 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap());
    assert!(
        (shown - value).abs() <= half * (1.0 + 1e-9),
        "{of}: the page prints {text}, the API says {value}"
    );
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

/// A table's rows: the submission, and the cells of its figures.
fn rows(page: &str) -> BTreeMap<String, Vec<String>> {
    let parts = page.split("<tbody data-row=\"").skip(1);
    parts
        .map(|part| {
            let id = part.split('"').next().unwrap().to_owned();
            let row = part.split("</tr>").next().unwrap();
            let cells = row.split("<td class=\"fig").skip(1);
            (id, cells.map(str::to_owned).collect())
        })
        .collect()
}

fn number_in(cell: &str) -> Option<&str> {
    between(cell, "class=\"num\"", "</span>")?
        .split_once('>')
        .map(|(_, text)| text)
}

async fn board(app: &App, track: &str) -> (String, Value, Vec<BTreeMap<String, String>>) {
    let page = app.get(&format!("/board/{track}")).await;
    assert_eq!(page.status, StatusCode::OK);
    let json = app.get(&format!("/board/{track}.json")).await.json();
    let csv = app.get(&format!("/board/{track}.csv")).await.text();
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let table = lines
        .map(|l| {
            let fields = l.split(',').map(str::to_owned);
            head.iter().map(|h| (*h).to_owned()).zip(fields).collect()
        })
        .collect();
    (page.text(), json, table)
}

/// Compares every cell of a board's page with the API and the CSV; how many numbers.
async fn agrees(app: &App, track: &str) -> usize {
    let (page, json, csv) = board(app, track).await;
    let shown = rows(&page);
    let columns = json["columns"].as_array().unwrap();
    let listed = json["rows"].as_array().unwrap();
    assert_eq!(shown.len(), listed.len());
    let mut compared = 0;
    for row in listed {
        let id = row["submission"].as_str().unwrap();
        let line = csv.iter().find(|l| l["submission"] == id).unwrap();
        let cells = &shown[id];
        assert_eq!(cells.len(), columns.len());
        for (column, cell) in columns.iter().zip(cells) {
            let key = column["key"].as_str().unwrap();
            let of = format!("{track}, {id}, {key}");
            let (_, place, scale) = PLACES.iter().find(|p| p.0 == key).expect(key);
            let value = row.pointer(place).and_then(Value::as_f64);
            let field = &line[&key.replace('-', "_")];
            // A download has the number itself.
            assert_eq!(field.parse().ok(), value, "{of}: the CSV");
            let Some(value) = value else {
                assert!(cell.contains("class=\"unknown\""), "{of}: {cell}");
                continue;
            };
            let scale = match (key, column["unit"].as_str().unwrap()) {
                ("tokens", "M") => 1e-6,
                ("tokens", "k") => 1e-3,
                _ => *scale,
            };
            assert_prints(number_in(cell).expect(&of), value * scale, &of);
            compared += 1;
            if let Some((_, place)) = INTERVALS.iter().find(|i| i.0 == key) {
                let ends = row.pointer(place).and_then(Value::as_array).unwrap();
                let said = between(cell, ", 95 % interval ", "</span>").expect(&of);
                let said = said.split(", p").next().unwrap();
                let (low, high) = said.rsplit_once(" to ").unwrap();
                let low = low.rsplit(' ').next().unwrap();
                for ((text, end), ending) in [low, high].iter().zip(ends).zip(["low", "high"]) {
                    let end = end.as_f64().unwrap();
                    assert_prints(text, end * 100.0, &of);
                    let field = &line[&format!("{}_{ending}", key.replace('-', "_"))];
                    assert_eq!(field.parse::<f64>().unwrap(), end, "{of}: the CSV");
                    compared += 1;
                }
            }
        }
    }
    compared
}

/// The texts of a drawing.
fn drawn(svg: &str) -> Vec<String> {
    svg.split("<text")
        .skip(1)
        .filter_map(|part| between(part, ">", "</text>"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_figures_and_the_api_print_the_same_numbers() {
    let wanted: Vec<Synthetic> = ["repair:20x5", "diagnosis:24x4x3"]
        .iter()
        .map(|w| w.parse().unwrap())
        .collect();
    let app = App::with(|c| synthetic::prepare(&c.portal(), &wanted).unwrap()).await;
    app.portal.load_synthetic(&wanted).await.unwrap();
    app.work_till(async || !app.portal.work_waits().await.unwrap())
        .await;

    let repair = agrees(&app, "repair").await;
    assert!(repair >= 5 * (7 + 6), "only {repair} numbers");
    let diagnosis = agrees(&app, "diagnosis").await;
    assert!(diagnosis >= 4 * (9 + 2), "only {diagnosis} numbers");

    // The figures print what the page prints.
    let (page, json, _) = board(&app, "repair").await;
    let shown = rows(&page);
    let (release, subset) = (&json["release"], &json["subset"]);
    let file = format!(
        "/figures/repair/{}/rank-shift.svg?subset={}",
        release.as_str().unwrap(),
        subset.as_str().unwrap()
    );
    let answer = app.get(&file).await;
    assert_eq!(answer.status, StatusCode::OK, "{file}");
    let mut texts = drawn(&answer.text());
    for cells in shown.values() {
        for cell in &cells[..2] {
            let number = number_in(cell).unwrap();
            let at = texts.iter().position(|t| t == number);
            let at = at.unwrap_or_else(|| panic!("{number} is not drawn: {texts:?}"));
            texts.swap_remove(at);
        }
    }

    // A comparison's page prints what its download says.
    let ids: Vec<&String> = shown.keys().take(2).collect();
    let asked = format!("rows={},{}", ids[0], ids[1]);
    let page = app.get(&format!("/compare?{asked}")).await.text();
    let json = app.get(&format!("/compare.json?{asked}")).await.json();
    let pairs = json["pairs"].as_array().unwrap();
    assert!(!pairs.is_empty());
    for pair in pairs {
        let difference = pair["difference"]["mean"].as_f64().unwrap();
        let close = page
            .split("class=\"num\"")
            .skip(1)
            .filter_map(|part| between(part, ">", "</span>"))
            .filter(|t| t.starts_with(['+', '\u{2212}']) || *t == "0.0")
            .any(|t| (printed(t).0 - difference * 100.0).abs() <= 0.05 + 1e-9);
        assert!(close, "{difference} does not stand on the page");
    }
}
