//! Draws every figure with made-up data into a folder, to be looked at. A second
//! argument names the figures that are wanted, by the beginning of their names.

use std::path::PathBuf;

use faultboard_plot::{Figure, Theme};

#[path = "../tests/data/mod.rs"]
mod data;

use data::more::{Visit, every};

struct Writer {
    folder: PathBuf,
    wanted: String,
    failed: Option<Box<dyn std::error::Error>>,
}

impl Writer {
    fn write<F: Figure>(&self, name: &str, figure: &F) -> Result<(), Box<dyn std::error::Error>> {
        for theme in Theme::ALL {
            let stem = format!("{name}-{}", theme.as_str());
            std::fs::write(self.folder.join(format!("{stem}.svg")), figure.svg(theme)?)?;
            std::fs::write(self.folder.join(format!("{stem}.png")), figure.png(theme)?)?;
        }
        std::fs::write(self.folder.join(format!("{name}.csv")), figure.csv())?;
        std::fs::write(self.folder.join(format!("{name}.txt")), figure.summary())?;
        Ok(())
    }
}

impl Visit for Writer {
    fn figure<F: Figure + Clone + PartialEq + std::fmt::Debug>(&mut self, name: &str, figure: &F) {
        if name.starts_with(&self.wanted)
            && self.failed.is_none()
            && let Err(e) = self.write(name, figure)
        {
            self.failed = Some(e);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder")?);
    std::fs::create_dir_all(&folder)?;
    let mut writer = Writer {
        folder,
        wanted: arguments.next().unwrap_or_default(),
        failed: None,
    };
    every(&mut writer);
    writer.failed.map_or(Ok(()), Err)
}
