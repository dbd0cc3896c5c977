//! Charts as SVG that `plotters` draws. Colours are those of the light page; the style of the page replaces them one by
//! one where it is dark. Knows figures, no page.

mod axis;
mod bars;
mod distribution;
mod plane;

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea as _};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontFamily, IntoFont as _, RGBColor, TextStyle};

pub(super) use axis::{Heights, Scale};
pub(super) use bars::{Bar, bars};
pub(super) use distribution::{Spread, heights, histogram, spreads, twin};
pub(super) use plane::{Point, PointKind, density, front, steps};

/// Labels and names.
const INK: RGBColor = RGBColor(0x57, 0x60, 0x6a);
/// Lines behind the data.
const GRID: RGBColor = RGBColor(0xe1, 0xe6, 0xeb);
/// Axes.
const AXIS: RGBColor = RGBColor(0xb4, 0xbd, 0xc7);
/// What the data says.
const DATA: RGBColor = RGBColor(0x0b, 0x63, 0xa8);
/// What it is held against, such as the size before.
const PALE: RGBColor = RGBColor(0xb7, 0xd2, 0xea);
/// What is marked out, such as the median.
const MARK: RGBColor = RGBColor(0xc2, 0x4e, 0x00);
/// From few to many.
const HEAT: [RGBColor; 6] = [
    RGBColor(0xd6, 0xe6, 0xf4),
    RGBColor(0xab, 0xcf, 0xe6),
    RGBColor(0x6a, 0xae, 0xd6),
    RGBColor(0x37, 0x87, 0xc1),
    RGBColor(0x10, 0x5b, 0xa5),
    RGBColor(0x08, 0x30, 0x6c),
];

/// A drawn chart. Only this module makes one, and `plotters` escapes the texts in it.
#[derive(Debug)]
pub(super) struct Svg(String);

impl Svg {
    /// The element.
    pub(super) fn markup(&self) -> &str {
        &self.0
    }
}

/// For which room a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// The width of a page.
    Wide,
    /// Half the width of a page.
    Half,
    /// The width of a phone.
    Narrow,
}

impl Room {
    /// Its width in units that are about as large as a pixel.
    fn width(self) -> u32 {
        match self {
            Self::Wide => 1040,
            Self::Half => 500,
            Self::Narrow => 340,
        }
    }

    /// The size of labels in the unit of `plotters`, which is larger than a pixel.
    fn font(self) -> f64 {
        match self {
            Self::Wide | Self::Half => 15.0,
            Self::Narrow => 15.5,
        }
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// What `draw` draws; `None` when it cannot, and the numbers beneath say it alone.
fn drawn(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> Option<Svg> {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
        draw(&area).ok()?;
        area.present().ok()?;
    }
    Some(Svg(out))
}

fn label(room: Room, color: RGBColor) -> TextStyle<'static> {
    TextStyle { color: color.to_backend_color(), ..TextStyle::from((FontFamily::SansSerif, room.font()).into_font()) }
}

/// At the left of a point, its middle beside it.
const fn beside() -> Pos {
    Pos { h_pos: HPos::Left, v_pos: VPos::Center }
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
