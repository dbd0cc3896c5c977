//! How a figure spreads in each of several groups: from p5 to p95 a line, from p25 to p75 a box, the median marked.

use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color as _;

use super::axis::{Axis, Scale};
use super::{AXIS, DATA, Drawn, GRID, INK, MARK, PALE, Room, Svg, drawn, label};
use crate::report::{Distribution, plain};

/// A group and how the figure spreads in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::report::html) struct Spread<'d> {
    /// The name of the group.
    pub(in crate::report::html) name: &'d str,
    /// Its values.
    pub(in crate::report::html) distribution: &'d Distribution,
}

/// The groups, the first on top.
pub(in crate::report::html) fn spreads(spreads: &[Spread<'_>], scale: Scale, room: Room) -> Option<Svg> {
    let (columns, names) = if room == Room::Narrow { (12, 108) } else { (16, 142) };
    drawn((room.width(), spreads.len() as u32 * 30 + 46), |area| -> Drawn {
        let ends = spreads.iter().flat_map(|spread| [spread.distribution.p5, spread.distribution.p95]);
        let (from, to) = scale.range(ends);
        let place = |at: usize| (spreads.len() - at) as f64 - 0.5;
        let name = |at: f64| {
            let at = (spreads.len() as f64 - at - 0.5).round().max(0.0) as usize;
            spreads.get(at).map(|spread| plain::cut(spread.name, columns)).unwrap_or_default()
        };
        let mut chart = ChartBuilder::on(area)
            .margin_top(8)
            .margin_right(18)
            .x_label_area_size(28)
            .y_label_area_size(names)
            .build_cartesian_2d(
                Axis::new(from..to, scale.ticks((from, to), 7)),
                Axis::new(0.0..spreads.len() as f64, (0..spreads.len()).map(place).collect()),
            )?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .x_label_formatter(&|place| scale.name(*place))
            .y_label_formatter(&|at| name(*at))
            .draw()?;
        for (at, Spread { distribution, .. }) in spreads.iter().enumerate() {
            let (y, across) = (place(at), |value| scale.place(value).clamp(from, to));
            let line = |ends: [(f64, f64); 2], color: plotters::style::RGBColor, width| {
                PathElement::new(ends, color.stroke_width(width))
            };
            let (p5, p95, p50) = (across(distribution.p5), across(distribution.p95), across(distribution.p50));
            chart.draw_series([line([(p5, y), (p95, y)], DATA, 2)])?;
            let corners = [(across(distribution.p25), y - 0.26), (across(distribution.p75), y + 0.26)];
            chart
                .draw_series([Rectangle::new(corners, PALE.filled()), Rectangle::new(corners, DATA.stroke_width(1))])?;
            chart.draw_series([line([(p50, y - 0.36), (p50, y + 0.36)], MARK, 3)])?;
        }
        Ok(())
    })
}
