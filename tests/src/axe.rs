//! The accessibility rules of axe-core, applied to the page in the browser.

use anyhow::{Context, Result, anyhow};

use crate::browser::Browser;
use crate::machine;

const RUN: &str = "\
const done = arguments[arguments.length - 1];
axe.run(document, {runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}})
  .then(r => done({violations: r.violations.map(v => v.id + ': ' + v.help + ' | ' +
    v.nodes.slice(0, 5).map(n => n.target.join(' ') + ' (' + (n.failureSummary || '').replace(/\\s+/g, ' ') + ')').join(' ; '))}))
  .catch(e => done({error: String(e)}));";

/// What the present page does against WCAG 2.2 AA, as far as axe can tell; one
/// line per rule.
pub async fn violations(browser: &Browser) -> Result<Vec<String>> {
    let script = machine::axe_script().map_err(|e| anyhow!(e))?;
    let axe = std::fs::read_to_string(script)?;
    browser.js(&format!("{axe}\nreturn typeof axe;")).await?;
    let answer = browser.js_async(RUN).await?;
    let list = answer["violations"]
        .as_array()
        .with_context(|| format!("axe gave no result: {answer}"))?;
    Ok(list
        .iter()
        .map(|v| v.as_str().unwrap_or_default().to_owned())
        .collect())
}
