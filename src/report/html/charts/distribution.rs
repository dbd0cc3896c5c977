//! How a figure is distributed: over all conversations, on two sides beside each other, and in each of several groups.

use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle};
use plotters::style::{Color as _, RGBColor};

use super::axis::{Axis, Heights, Scale, count_name};
use super::{AXIS, DATA, Drawn, GRID, INK, MARK, PALE, Room, Svg, drawn, label};
use crate::report::{Distribution, FigureDrift, numbers, plain};

/// A group and how the figure spreads in it: from p5 to p95 a line, from p25 to p75 a box, the median marked.
#[derive(Debug, Clone, Copy)]
pub(in crate::report::html) struct Spread<'d> {
    /// The name of the group.
    pub(in crate::report::html) name: &'d str,
    /// Its values.
    pub(in crate::report::html) distribution: &'d Distribution,
}

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

/// The bars of both sides, as shares of each side.
pub(in crate::report::html) fn twin(figure: &FigureDrift, room: Room) -> Option<Svg> {
    drawn((room.width(), 200), |area| -> Drawn {
        let scale = Scale::of(&figure.figure);
        let bars = figure.bars.iter().filter(|bar| bar.before + bar.after > 0);
        let (from, to) = scale.range(bars.clone().flat_map(|bar| [bar.from, bar.to]));
        let (before, after) = figure.bars.iter().fold((0, 0), |sums, bar| (sums.0 + bar.before, sums.1 + bar.after));
        let share = |count: u64, all: u64| count as f64 / all.max(1) as f64;
        let most = bars.clone().map(|bar| share(bar.before, before).max(share(bar.after, after))).fold(0.01, f64::max);
        let step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].into_iter().find(|step| most / step <= 4.5).unwrap_or(0.25);
        let ticks: Vec<f64> = (0..=5).map(|at| f64::from(at) * step).filter(|tick| *tick <= most * 1.001).collect();
        let mut chart = ChartBuilder::on(area)
            .margin_top(8)
            .margin_right(14)
            .x_label_area_size(26)
            .y_label_area_size(50)
            .build_cartesian_2d(Axis::new(from..to, scale.ticks((from, to), 7)), Axis::new(0.0..most * 1.05, ticks))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .x_label_formatter(&|place| scale.name(*place))
            .y_label_formatter(&|share| numbers::percent(*share).replace(".0 ", " "))
            .draw()?;
        for (color, part, is_after) in [(PALE, 0.06..0.5, false), (DATA, 0.5..0.94, true)] {
            chart.draw_series(bars.clone().map(|bar| {
                let (left, right) = (scale.place(bar.from), scale.place(bar.to));
                let at = |part: f64| left + (right - left) * part;
                let height = if is_after { share(bar.after, after) } else { share(bar.before, before) };
                Rectangle::new([(at(part.start), 0.0), (at(part.end), height)], color.filled())
            }))?;
        }
        Ok(())
    })
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
            let line =
                |ends: [(f64, f64); 2], color: RGBColor, width| PathElement::new(ends, color.stroke_width(width));
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
