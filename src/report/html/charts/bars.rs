//! Bars with names at their left.

use plotters::chart::ChartBuilder;
use plotters::element::{Rectangle, Text};
use plotters::style::Color as _;

use super::axis::Axis;
use super::{AXIS, DATA, Drawn, INK, PALE, Room, Svg, beside, drawn, label};
use crate::report::plain;

/// The width of a character at most, on average.
const CHARACTER: f64 = 7.3;

/// A bar.
#[derive(Debug, Clone)]
pub(in crate::report::html) struct Bar {
    /// Its name, of any length and content.
    pub(in crate::report::html) name: String,
    /// A name that is too long loses its beginning: paths differ in their end.
    pub(in crate::report::html) keeps_end: bool,
    /// What it is held against, drawn behind it.
    pub(in crate::report::html) behind: f64,
    /// Its length.
    pub(in crate::report::html) length: f64,
    /// What is written at its end.
    pub(in crate::report::html) says: String,
}

fn short(bar: &Bar, columns: usize) -> String {
    let n = bar.name.chars().count();
    if !bar.keeps_end || n <= columns {
        return plain::cut(&bar.name, columns);
    }
    let end: String = bar.name.chars().skip(n - columns + 1).collect();
    plain::cut(&format!("…{end}"), columns)
}

/// Bars, the first on top.
pub(in crate::report::html) fn bars(bars: &[Bar], room: Room) -> Option<Svg> {
    let (columns, names) = match room {
        Room::Wide => (28, 238),
        Room::Half => (18, 158),
        Room::Narrow => (13, 116),
    };
    // What is written at the ends has room behind the longest bar.
    let written = bars.iter().map(|bar| bar.says.chars().count()).max().unwrap_or_default() as f64 * CHARACTER + 12.0;
    let across = f64::from(room.width() - names);
    let says = written / (across - written).max(across * 0.2);
    let row = 26;
    drawn((room.width(), bars.len() as u32 * row + 12), |area| -> Drawn {
        let most = bars.iter().map(|bar| bar.behind.max(bar.length)).fold(0.0, f64::max).max(1e-9);
        // The first bar is on top: places are counted from below.
        let place = |at: usize| (bars.len() - at) as f64 - 0.5;
        let places: Vec<f64> = (0..bars.len()).map(place).collect();
        let name = |at: f64| {
            let at = (bars.len() as f64 - at - 0.5).round().max(0.0) as usize;
            bars.get(at).map(|bar| short(bar, columns)).unwrap_or_default()
        };
        let mut chart =
            ChartBuilder::on(area).margin_top(4).margin_bottom(4).y_label_area_size(names).build_cartesian_2d(
                Axis::new(0.0..most * (1.0 + says), Vec::new()),
                Axis::new(0.0..bars.len() as f64, places),
            )?;
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(AXIS)
            .label_style(label(room, INK))
            .y_label_formatter(&|at| name(*at))
            .set_all_tick_mark_size(4)
            .draw()?;
        chart.draw_series(bars.iter().enumerate().filter(|(_, bar)| bar.behind > 0.0).map(|(at, bar)| {
            Rectangle::new([(0.0, place(at) - 0.36), (bar.behind, place(at) + 0.36)], PALE.filled())
        }))?;
        chart.draw_series(bars.iter().enumerate().map(|(at, bar)| {
            let half = if bar.behind > 0.0 { 0.2 } else { 0.36 };
            Rectangle::new([(0.0, place(at) - half), (bar.length, place(at) + half)], DATA.filled())
        }))?;
        let style = label(room, INK).pos(beside());
        chart.draw_series(bars.iter().enumerate().map(|(at, bar)| {
            let end = bar.behind.max(bar.length) + most * 0.012;
            Text::new(bar.says.clone(), (end, place(at)), style.clone())
        }))?;
        Ok(())
    })
}
