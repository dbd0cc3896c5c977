//! What every chart is drawn with: colours, the room that there is, and a plane with two axes. Colours are those of the
//! light page; the style of the page replaces them one by one where it is dark. Knows `plotters`, no figure.

use std::ops::Range;

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingAreaErrorKind, IntoDrawingArea as _};
use plotters::style::{Color as _, FontFamily, IntoFont as _, RGBColor, TextStyle};

use super::axis::Axis;

/// Labels and names.
const INK: RGBColor = RGBColor(0x57, 0x60, 0x6a);
/// Lines behind the data.
const GRID: RGBColor = RGBColor(0xe1, 0xe6, 0xeb);
/// Axes.
const AXIS: RGBColor = RGBColor(0xb4, 0xbd, 0xc7);
/// What the data says.
pub(super) const DATA: RGBColor = RGBColor(0x0b, 0x63, 0xa8);
/// What it is held against, such as the size before.
pub(super) const PALE: RGBColor = RGBColor(0xb7, 0xd2, 0xea);
/// What is marked out, such as the median.
pub(super) const MARK: RGBColor = RGBColor(0xc2, 0x4e, 0x00);
/// From few to many.
pub(super) const HEAT: [RGBColor; 6] = [
    RGBColor(0xd6, 0xe6, 0xf4),
    RGBColor(0xab, 0xcf, 0xe6),
    RGBColor(0x6a, 0xae, 0xd6),
    RGBColor(0x37, 0x87, 0xc1),
    RGBColor(0x10, 0x5b, 0xa5),
    RGBColor(0x08, 0x30, 0x6c),
];

/// A drawn chart. Only this module makes one, and `plotters` escapes the texts in it.
#[derive(Debug)]
pub(in crate::report::html) struct Svg(String);

impl Svg {
    /// The element.
    pub(in crate::report::html) fn markup(&self) -> &str {
        &self.0
    }
}

/// For which room a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report::html) enum Room {
    /// The width of a page.
    Wide,
    /// Half the width of a page.
    Half,
    /// The width of a phone.
    Narrow,
}

impl Room {
    /// Its width in units that are about as large as a pixel.
    pub(super) fn width(self) -> u32 {
        match self {
            Self::Wide => 1040,
            Self::Half => 500,
            Self::Narrow => 340,
        }
    }

    /// How labels are written; the unit of `plotters` is larger than a pixel.
    pub(super) fn label(self) -> TextStyle<'static> {
        let size = if self == Self::Narrow { 15.5 } else { 15.0 };
        TextStyle { color: INK.to_backend_color(), ..TextStyle::from((FontFamily::SansSerif, size).into_font()) }
    }
}

pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
pub(super) type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// A side of a plane.
pub(super) struct Side<'s> {
    places: Range<f64>,
    /// Places with a name.
    named: Vec<f64>,
    name: &'s dyn Fn(f64) -> String,
    /// How much room the names take.
    area: u32,
    /// Whether lines stand behind the data at these places.
    has_lines: bool,
}

impl<'s> Side<'s> {
    pub(super) fn new(places: Range<f64>, named: Vec<f64>, name: &'s dyn Fn(f64) -> String, area: u32) -> Self {
        Self { places, named, name, area, has_lines: true }
    }

    pub(super) fn without_lines(self) -> Self {
        Self { has_lines: false, ..self }
    }
}

/// A plane with two axes, on which `draw` draws.
pub(super) fn plane(
    (room, height): (Room, u32),
    across: Side<'_>,
    up: Side<'_>,
    title: Option<&str>,
    draw: impl FnOnce(&mut Plane<'_, '_>) -> Drawn,
) -> Option<Svg> {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, (room.width(), height)).into_drawing_area();
        let mut plane = ChartBuilder::on(&area)
            .margin_top(8)
            .margin_right(14)
            .x_label_area_size(across.area)
            .y_label_area_size(up.area)
            .build_cartesian_2d(Axis::new(across.places, across.named), Axis::new(up.places, up.named))
            .ok()?;
        let (x_name, y_name) = (|place: &f64| (across.name)(*place), |place: &f64| (up.name)(*place));
        let mut mesh = plane.configure_mesh();
        mesh.bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(room.label())
            .x_label_formatter(&x_name)
            .y_label_formatter(&y_name);
        if !across.has_lines {
            mesh.disable_x_mesh();
        }
        if !up.has_lines {
            mesh.disable_y_mesh();
        }
        if let Some(title) = title {
            mesh.x_desc(title).axis_desc_style(room.label());
        }
        mesh.draw().ok()?;
        draw(&mut plane).ok()?;
        drop(plane);
        area.present().ok()?;
    }
    Some(Svg(out))
}

#[cfg(test)]
mod tests {
    use super::{AXIS, DATA, GRID, HEAT, INK, MARK, PALE};

    #[test]
    fn the_style_knows_every_colour() {
        let style = include_str!("../style.css");
        for color in [INK, GRID, AXIS, DATA, PALE, MARK].iter().chain(&HEAT) {
            let name = format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2);
            for attribute in ["fill", "stroke"] {
                assert!(style.contains(&format!("[{attribute}=\"{name}\"]")), "{attribute} {name}");
            }
        }
    }
}
