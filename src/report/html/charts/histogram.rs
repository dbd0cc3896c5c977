//! How many conversations have which value of a figure.

use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color as _;

use super::axis::{Axis, Heights, Scale, count_name};
use super::{AXIS, DATA, Drawn, GRID, INK, MARK, Room, Svg, drawn, label};
use crate::report::Distribution;

/// How high the bars of a distribution stand.
pub(in crate::report::html) fn heights(distribution: &Distribution) -> Heights {
    Heights::of(distribution.bars.iter().map(|bar| bar.count))
}

fn name_of(heights: Heights, named: &[f64], place: f64) -> String {
    let count = named.iter().find(|count| (heights.place(**count) - place).abs() < 1e-9);
    count.map(|count| count_name(*count)).unwrap_or_default()
}

/// The bars of a distribution, with a line at its median.
pub(in crate::report::html) fn histogram(distribution: &Distribution, room: Room) -> Option<Svg> {
    let height = if room == Room::Wide { 260 } else { 190 };
    drawn((room.width(), height), |area| -> Drawn {
        let scale = Scale::of(&distribution.figure);
        let bars = distribution.bars.iter().filter(|bar| bar.count > 0);
        let (from, to) = scale.range(distribution.bars.iter().flat_map(|bar| [bar.from, bar.to]));
        let least = (to - from) / 60.0;
        let most = bars.clone().map(|bar| bar.count).max().unwrap_or(1) as f64;
        let heights = heights(distribution);
        let top = heights.place(most) * 1.05;
        let named: Vec<f64> = heights.ticks(most);
        let ticks = scale.ticks((from, to), if room == Room::Wide { 14 } else { 7 });
        let mut chart = ChartBuilder::on(area)
            .margin_top(8)
            .margin_right(14)
            .x_label_area_size(26)
            .y_label_area_size(46)
            .build_cartesian_2d(
                Axis::new(from..to, ticks),
                Axis::new(0.0..top, named.iter().map(|count| heights.place(*count)).collect()),
            )?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .x_label_formatter(&|place| scale.name(*place))
            .y_label_formatter(&|place| name_of(heights, &named, *place))
            .draw()?;
        chart.draw_series(bars.map(|bar| {
            let (left, right) = (scale.place(bar.from), scale.place(bar.to));
            // A gap between bars that are wide enough for one.
            let gap = (right - left) * 0.06;
            let right = (right - gap).max(left + least.min(to - left));
            Rectangle::new([(left + gap, 0.0), (right, heights.place(bar.count as f64))], DATA.filled())
        }))?;
        let median = scale.place(distribution.p50).clamp(from, to);
        chart.draw_series([PathElement::new([(median, 0.0), (median, top)], MARK.stroke_width(2))])?;
        Ok(())
    })
}
