//! How a figure is distributed on two sides: bars beside each other, as shares of each side.

use plotters::chart::ChartBuilder;
use plotters::element::Rectangle;
use plotters::style::Color as _;

use super::axis::{Axis, Scale};
use super::{AXIS, DATA, Drawn, GRID, INK, PALE, Room, Svg, drawn, label};
use crate::report::{FigureDrift, numbers};

/// The bars of both sides.
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
