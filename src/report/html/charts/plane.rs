//! The ratio against another figure: how many conversations have both, and option sets as points.

use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::style::{Color as _, RGBColor};

use super::axis::{Axis, Scale};
use super::{AXIS, DATA, Drawn, GRID, HEAT, INK, MARK, PALE, Room, Svg, drawn, label};
use crate::report::DensityFacts;

/// An option set.
#[derive(Debug, Clone, Copy)]
pub(in crate::report::html) struct Point {
    /// Its ratio: the value, and the ends of its interval.
    pub(in crate::report::html) ratio: (f64, Option<(f64, f64)>),
    /// Its figure, in the same way.
    pub(in crate::report::html) figure: (f64, Option<(f64, f64)>),
    /// What it is.
    pub(in crate::report::html) kind: PointKind,
}

/// What an option set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::report::html) enum PointKind {
    /// One of many.
    Other,
    /// None is better in both.
    Front,
    /// The one that is recommended.
    Recommended,
}

impl PointKind {
    fn color(self) -> RGBColor {
        match self {
            Self::Other => PALE,
            Self::Front => DATA,
            Self::Recommended => MARK,
        }
    }
}

/// The smallest count of each colour that `density` uses, from the palest on.
pub(in crate::report::html) fn steps(density: &DensityFacts) -> Vec<u64> {
    let most = density.cells.iter().map(|cell| cell.count).max().unwrap_or(1).max(1);
    let n = HEAT.len() as f64;
    // Equal steps of the logarithm: a few conversations are seen beside many.
    let mut steps: Vec<u64> =
        (0..HEAT.len()).map(|at| (most as f64).powf(at as f64 / n).ceil().max(1.0) as u64).collect();
    steps.dedup();
    steps
}

/// The cells of a density, the darker the more.
pub(in crate::report::html) fn density(density: &DensityFacts, room: Room) -> Option<Svg> {
    drawn((room.width(), 300), |area| -> Drawn {
        let (across, up) = (Scale::Ratio, Scale::of(&density.figure));
        let (from, to) = across.range(density.cells.iter().flat_map(|cell| [cell.ratio_from, cell.ratio_to]));
        let steps = steps(density);
        let mut chart = ChartBuilder::on(area)
            .margin_top(8)
            .margin_right(14)
            .x_label_area_size(44)
            .y_label_area_size(42)
            .build_cartesian_2d(
                Axis::new(from..to, across.ticks((from, to), 8)),
                Axis::new(0.0..1.0, up.ticks((0.0, 1.0), 5)),
            )?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .x_label_formatter(&|place| across.name(*place))
            .y_label_formatter(&|place| up.name(*place))
            .x_desc("ratio")
            .axis_desc_style(label(room, INK))
            .draw()?;
        chart.draw_series(density.cells.iter().map(|cell| {
            let color = HEAT[steps.iter().rposition(|least| cell.count >= *least).unwrap_or(0)];
            let corners = [(across.place(cell.ratio_from), cell.from), (across.place(cell.ratio_to), cell.to)];
            Rectangle::new(corners, color.filled())
        }))?;
        Ok(())
    })
}

/// The points with their intervals; what is more important is drawn above.
pub(in crate::report::html) fn front(points: &[Point], room: Room) -> Option<Svg> {
    drawn((room.width(), 300), |area| -> Drawn {
        let ends = |(value, interval): (f64, Option<(f64, f64)>)| interval.unwrap_or((value, value));
        let marked = points.iter().filter(|point| point.kind != PointKind::Other);
        let values = points.iter().map(|point| point.ratio.0).chain(marked.clone().map(|point| ends(point.ratio).1));
        let (from, to) = Scale::Ratio.range(values);
        let lowest = points.iter().map(|point| point.figure.0).chain(marked.map(|point| ends(point.figure).0));
        let lowest = lowest.fold(1.0_f64, f64::min).max(0.0);
        let step = [0.01, 0.02, 0.05, 0.1, 0.2].into_iter().find(|step| (1.0 - lowest) / step <= 5.0).unwrap_or(0.25);
        let bottom = ((lowest / step).floor() * step).max(0.0);
        let ticks: Vec<f64> =
            (0..=6).map(|at| bottom + f64::from(at) * step).filter(|tick| *tick <= 1.0 + 1e-9).collect();
        let mut chart = ChartBuilder::on(area)
            .margin_top(10)
            .margin_right(18)
            .x_label_area_size(44)
            .y_label_area_size(46)
            .build_cartesian_2d(
                Axis::new(from - 0.01..to + 0.01, Scale::Ratio.ticks((from, to), 8)),
                Axis::new(bottom..1.0, ticks),
            )?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .x_label_formatter(&|place| Scale::Ratio.name(*place))
            .y_label_formatter(&|share| Scale::Share.name(*share))
            .x_desc("ratio")
            .axis_desc_style(label(room, INK))
            .draw()?;
        let mut points = points.to_vec();
        points.sort_by_key(|point| point.kind);
        for point in points {
            let (x, y, color) = (Scale::Ratio.place(point.ratio.0), point.figure.0, point.kind.color());
            if point.kind != PointKind::Other {
                let (left, right) = ends(point.ratio);
                let (low, high) = ends(point.figure);
                let (left, right) = (Scale::Ratio.place(left).max(from - 0.01), Scale::Ratio.place(right));
                let lines = [[(left, y), (right, y)], [(x, low.max(bottom)), (x, high.min(1.0))]];
                chart.draw_series(lines.map(|line| PathElement::new(line, color.stroke_width(1))))?;
            }
            chart.draw_series([Circle::new((x, y), 4, color.filled())])?;
        }
        Ok(())
    })
}
