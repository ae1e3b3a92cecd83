//! Scenes as PNG, two pixels to one of the figure. plotters fills shapes without
//! smoothing, so they are drawn twice as fine again and averaged, in bands, so
//! that a large figure needs little memory. Text is set in final pixels.

use plotters::backend::{BitMapBackend, DrawingBackend};

use crate::figure::PlotError;
use crate::scene::Scene;
use crate::svg::draw;
use crate::text;
use crate::theme::{Paint, Theme};

/// Pixels of the picture per pixel of the figure.
pub(crate) const SCALE: usize = 2;
/// Finer pixels per pixel, each way.
const FINER: usize = 3;
/// Rows of one band.
const BAND: usize = 96;
/// Pixels of a picture that are drawn; a figure is never this large.
const MAX_PIXELS: usize = 64_000_000;

pub(crate) fn render(scene: &Scene, theme: Theme) -> Result<Vec<u8>, PlotError> {
    let width = (scene.width.ceil() as usize).saturating_mul(SCALE);
    let height = (scene.height.ceil() as usize).saturating_mul(SCALE);
    if width == 0 || height == 0 || width.saturating_mul(height) > MAX_PIXELS {
        return Err(PlotError::Size);
    }
    let mut picture = vec![0_u8; width * height * 3];
    let mut top = 0;
    while top < height {
        let rows = BAND.min(height - top);
        band(scene, theme, width, top, rows, &mut picture)?;
        top += rows;
    }
    for label in &scene.labels {
        let colour = theme.colour(label.paint);
        let (x, y) = label.origin();
        let scale = SCALE as f64;
        text::pixels(
            &label.text,
            label.size * scale,
            label.weight,
            (x * scale, y * scale),
            label.upward,
            &mut |px, py, cover| {
                let (Ok(px), Ok(py)) = (usize::try_from(px), usize::try_from(py)) else {
                    return;
                };
                if px < width && py < height {
                    blend(&mut picture[(py * width + px) * 3..][..3], colour, cover);
                }
            },
        );
    }
    encode(&picture, width, height)
}

/// Draws some rows of the picture.
fn band(
    scene: &Scene,
    theme: Theme,
    width: usize,
    top: usize,
    rows: usize,
    picture: &mut [u8],
) -> Result<(), PlotError> {
    let (fine_width, fine_rows) = (width * FINER, rows * FINER);
    let (r, g, b) = theme.colour(Paint::Paper);
    let mut fine: Vec<u8> = [r, g, b].repeat(fine_width * fine_rows);
    {
        let size = (fine_width as u32, fine_rows as u32);
        let mut backend = BitMapBackend::with_buffer(&mut fine, size);
        let above = top as f64 / SCALE as f64;
        let below = (top + rows) as f64 / SCALE as f64;
        for shape in scene.shapes() {
            let (from, to) = shape.span();
            if to >= above - 1.0 && from <= below + 1.0 {
                draw(&mut backend, shape, theme, (SCALE * FINER) as f64, above)?;
            }
        }
        backend
            .present()
            .map_err(|e| PlotError::Draw(e.to_string()))?;
    }
    let share = (FINER * FINER) as u32;
    for row in 0..rows {
        for column in 0..width {
            let to = ((top + row) * width + column) * 3;
            for channel in 0..3 {
                let mut sum = share / 2;
                for y in 0..FINER {
                    let start = ((row * FINER + y) * fine_width + column * FINER) * 3 + channel;
                    for x in 0..FINER {
                        sum += u32::from(fine[start + x * 3]);
                    }
                }
                picture[to + channel] = (sum / share) as u8;
            }
        }
    }
    Ok(())
}

fn blend(pixel: &mut [u8], (r, g, b): (u8, u8, u8), cover: f32) {
    for (old, new) in pixel.iter_mut().zip([r, g, b]) {
        let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * cover;
        *old = mixed.round() as u8;
    }
}

fn encode(picture: &[u8], width: usize, height: usize) -> Result<Vec<u8>, PlotError> {
    let mut out = Vec::new();
    let fault = |e: png::EncodingError| PlotError::Draw(e.to_string());
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Default);
    encoder.set_filter(png::FilterType::Up);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        // 192 to the inch: twice what a screen's pixel is.
        xppu: 7_559,
        yppu: 7_559,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header().map_err(fault)?;
    writer.write_image_data(picture).map_err(fault)?;
    writer.finish().map_err(fault)?;
    Ok(out)
}
