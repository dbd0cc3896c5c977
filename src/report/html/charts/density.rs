//! How many conversations have which ratio together with which value of another figure.

use plotters::chart::ChartBuilder;
use plotters::element::Rectangle;
use plotters::style::Color as _;

use super::axis::{Axis, Scale};
use super::{AXIS, Drawn, GRID, HEAT, INK, Room, Svg, drawn, label};
use crate::report::DensityFacts;

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
