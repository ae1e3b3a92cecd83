//! Draws every figure with made-up data into a folder, to be looked at.

use std::path::PathBuf;

use faultboard_plot::{Figure, Theme};

#[path = "../tests/data/mod.rs"]
mod data;

use data::{heatmap, pareto};

fn write<F: Figure>(
    folder: &std::path::Path,
    name: &str,
    figure: &F,
) -> Result<(), Box<dyn std::error::Error>> {
    for theme in Theme::ALL {
        let stem = format!("{name}-{}", theme.as_str());
        std::fs::write(folder.join(format!("{stem}.svg")), figure.svg(theme)?)?;
        std::fs::write(folder.join(format!("{stem}.png")), figure.png(theme)?)?;
    }
    std::fs::write(folder.join(format!("{name}.csv")), figure.csv())?;
    std::fs::write(folder.join(format!("{name}.txt")), figure.summary())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder")?);
    std::fs::create_dir_all(&folder)?;
    for (rows, columns) in [(2, 4), (10, 28), (100, 120)] {
        write(
            &folder,
            &format!("heatmap-{rows}x{columns}"),
            &heatmap(rows, columns),
        )?;
    }
    write(&folder, "pareto-2", &pareto(2, true, 3))?;
    write(&folder, "pareto-12", &pareto(12, true, 3))?;
    write(&folder, "pareto-40", &pareto(40, true, 3))?;
    write(&folder, "pareto-steps", &pareto(6, false, 3))?;
    Ok(())
}
