//! Charts as SVG. Knows what is drawn, no page.

mod axis;
mod draw;
mod plane;

use axis::Heights;
use draw::MAX_BARS;

pub(super) use draw::steps;
pub(super) use plane::{Room, Svg};

use crate::report::view::Chart;

/// The chart; `None` when it cannot be drawn, and the numbers beneath say it alone.
pub(super) fn draw(chart: &Chart<'_>, room: Room) -> Option<Svg> {
    match chart {
        Chart::Histogram(distribution) => draw::histogram(distribution, room),
        Chart::Spreads(distributions) => draw::spreads(distributions, room),
        Chart::Density(facts) => draw::density(facts, room),
        Chart::Twin(figure) => draw::twin(figure, room),
        Chart::Bars(bars) => draw::bars(bars, room),
        Chart::Front(points) => draw::front(points, room),
    }
}

/// What must be said of how it is drawn.
pub(super) fn remark(chart: &Chart<'_>) -> String {
    match chart {
        Chart::Bars(bars) if bars.len() > MAX_BARS => format!("· the largest {MAX_BARS} of {}", bars.len()),
        Chart::Histogram(found) if Heights::of_bars(found) == Heights::Logarithmic => {
            "· counts on a logarithmic scale".to_owned()
        }
        _ => String::new(),
    }
}
