//! How many conversations have which value of a figure.

use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color as _;

use super::axis::{Axis, Scale, count_name, count_ticks};
use super::{AXIS, DATA, Drawn, GRID, INK, MARK, Room, Svg, drawn, label};
use crate::report::Distribution;

/// The bars of a distribution, with a line at its median.
pub(in crate::report::html) fn histogram(distribution: &Distribution, room: Room) -> Option<Svg> {
    let height = if room == Room::Wide { 260 } else { 190 };
    drawn((room.width(), height), |area| -> Drawn {
        let scale = Scale::of(&distribution.figure);
        let bars = distribution.bars.iter().filter(|bar| bar.count > 0);
        let (from, to) = scale.range(distribution.bars.iter().flat_map(|bar| [bar.from, bar.to]));
        let least = (to - from) / 60.0;
        let most = bars.clone().map(|bar| bar.count).max().unwrap_or(1) as f64;
        let ticks = scale.ticks((from, to), if room == Room::Wide { 14 } else { 7 });
        let mut chart = ChartBuilder::on(area)
            .margin_top(8)
            .margin_right(14)
            .x_label_area_size(26)
            .y_label_area_size(46)
            .build_cartesian_2d(
                Axis::new(from..to, ticks),
                Axis::new(0.0..most * 1.05, count_ticks(most, 4)),
            )?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .x_label_formatter(&|place| scale.name(*place))
            .y_label_formatter(&|count| count_name(*count))
            .draw()?;
        chart.draw_series(bars.map(|bar| {
            let (left, right) = (scale.place(bar.from), scale.place(bar.to));
            // A gap between bars that are wide enough for one.
            let gap = (right - left) * 0.06;
            let right = (right - gap).max(left + least.min(to - left));
            Rectangle::new([(left + gap, 0.0), (right, bar.count as f64)], DATA.filled())
        }))?;
        let median = scale.place(distribution.p50).clamp(from, to);
        chart.draw_series([PathElement::new([(median, 0.0), (median, most * 1.05)], MARK.stroke_width(2))])?;
        Ok(())
    })
}
