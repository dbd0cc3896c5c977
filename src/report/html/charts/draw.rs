//! One function for each kind of chart.

use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, RGBColor};

use super::axis::{Heights, Scale, count_name};
use super::plane::{DATA, HEAT, MARK, PALE, Room, Side, Svg, plane};
use crate::report::view::{NamedBar, Point, PointKind, Spanned};
use crate::report::{DensityFacts, Distribution, FigureDrift, numbers, plain};

/// Bars of a chart; the table beneath has the rest.
pub(super) const MAX_BARS: usize = 12;
/// The width of a character at most, on average.
const CHARACTER: f64 = 7.3;
/// Steps of shares on an axis.
const STEPS: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25];

/// The bars of a distribution, with a line at its median.
pub(super) fn histogram(distribution: &Distribution, room: Room) -> Option<Svg> {
    let (height, n_ticks) = if room == Room::Wide { (260, 14) } else { (190, 7) };
    let scale = Scale::of(&distribution.figure);
    let bars = distribution.bars.iter().filter(|bar| bar.count > 0);
    let (from, to) = scale.range(distribution.bars.iter().flat_map(|bar| [bar.from, bar.to]));
    let least = (to - from) / 60.0;
    let most = bars.clone().map(|bar| bar.count).max().unwrap_or(1) as f64;
    let heights = Heights::of_bars(distribution);
    let top = heights.place(most) * 1.05;
    let named = heights.ticks(most);
    let places = named.iter().map(|count| heights.place(*count)).collect();
    let name = |place: f64| {
        let count = named.iter().find(|count| (heights.place(**count) - place).abs() < 1e-9);
        count.map(|count| count_name(*count)).unwrap_or_default()
    };
    let x_name = |place| scale.name(place);
    let across = Side::new(from..to, scale.ticks((from, to), n_ticks), &x_name, 26).without_lines();
    plane((room, height), across, Side::new(0.0..top, places, &name, 46), None, |plane| {
        plane.draw_series(bars.map(|bar| {
            let (left, right) = (scale.place(bar.from), scale.place(bar.to));
            // A gap between bars that are wide enough for one.
            let gap = (right - left) * 0.06;
            let right = (right - gap).max(left + least.min(to - left));
            Rectangle::new([(left + gap, 0.0), (right, heights.place(bar.count as f64))], DATA.filled())
        }))?;
        let median = scale.place(distribution.p50).clamp(from, to);
        plane.draw_series([PathElement::new([(median, 0.0), (median, top)], MARK.stroke_width(2))])?;
        Ok(())
    })
}

/// The bars of both sides, as shares of each side.
pub(super) fn twin(figure: &FigureDrift, room: Room) -> Option<Svg> {
    let scale = Scale::of(&figure.figure);
    let bars = figure.bars.iter().filter(|bar| bar.before + bar.after > 0);
    let (from, to) = scale.range(bars.clone().flat_map(|bar| [bar.from, bar.to]));
    let (before, after) = figure.bars.iter().fold((0, 0), |sums, bar| (sums.0 + bar.before, sums.1 + bar.after));
    let share = |count: u64, all: u64| count as f64 / all.max(1) as f64;
    let most = bars.clone().map(|bar| share(bar.before, before).max(share(bar.after, after))).fold(0.01, f64::max);
    let step = STEPS.into_iter().find(|step| most / step <= 4.5).unwrap_or(0.25);
    let ticks = (0..=5).map(|at| f64::from(at) * step).filter(|tick| *tick <= most * 1.001).collect();
    let x_name = |place| scale.name(place);
    let y_name = |share| numbers::percent(share).replace(".0 ", " ");
    let across = Side::new(from..to, scale.ticks((from, to), 7), &x_name, 26).without_lines();
    plane((room, 200), across, Side::new(0.0..most * 1.05, ticks, &y_name, 50), None, |plane| {
        for (color, part, is_after) in [(PALE, 0.06..0.5, false), (DATA, 0.5..0.94, true)] {
            plane.draw_series(bars.clone().map(|bar| {
                let (left, right) = (scale.place(bar.from), scale.place(bar.to));
                let at = |part: f64| left + (right - left) * part;
                let height = if is_after { share(bar.after, after) } else { share(bar.before, before) };
                Rectangle::new([(at(part.start), 0.0), (at(part.end), height)], color.filled())
            }))?;
        }
        Ok(())
    })
}

/// Where the row `at` of `n` stands: the first is on top, and places are counted from below.
fn row_place(at: usize, n: usize) -> f64 {
    (n - at) as f64 - 0.5
}

/// The row that stands at a place.
fn row_at(place: f64, n: usize) -> usize {
    (n as f64 - place - 0.5).round().max(0.0) as usize
}

/// The classes, the first on top.
pub(super) fn spreads(spreads: &[&Distribution], room: Room) -> Option<Svg> {
    let (columns, names) = if room == Room::Narrow { (12, 108) } else { (16, 142) };
    let (n, scale) = (spreads.len(), Scale::of(&spreads.first()?.figure));
    let (from, to) = scale.range(spreads.iter().flat_map(|found| [found.p5, found.p95]));
    let y_name = |place: f64| {
        let class = spreads.get(row_at(place, n)).and_then(|found| found.class.as_deref());
        plain::cut(class.unwrap_or_default(), columns)
    };
    let x_name = |place| scale.name(place);
    let across = Side::new(from..to, scale.ticks((from, to), 7), &x_name, 28);
    let up = Side::new(0.0..n as f64, (0..n).map(|at| row_place(at, n)).collect(), &y_name, names).without_lines();
    plane((room, n as u32 * 30 + 46), across, up, None, |plane| {
        for (at, found) in spreads.iter().enumerate() {
            let (y, across) = (row_place(at, n), |value| scale.place(value).clamp(from, to));
            let line =
                |ends: [(f64, f64); 2], color: RGBColor, width| PathElement::new(ends, color.stroke_width(width));
            let (p5, p95, p50) = (across(found.p5), across(found.p95), across(found.p50));
            plane.draw_series([line([(p5, y), (p95, y)], DATA, 2)])?;
            let corners = [(across(found.p25), y - 0.26), (across(found.p75), y + 0.26)];
            plane
                .draw_series([Rectangle::new(corners, PALE.filled()), Rectangle::new(corners, DATA.stroke_width(1))])?;
            plane.draw_series([line([(p50, y - 0.36), (p50, y + 0.36)], MARK, 3)])?;
        }
        Ok(())
    })
}

fn short(bar: &NamedBar, columns: usize) -> String {
    let n = bar.name.chars().count();
    if !bar.keeps_end || n <= columns {
        return plain::cut(&bar.name, columns);
    }
    let end: String = bar.name.chars().skip(n - columns + 1).collect();
    plain::cut(&format!("…{end}"), columns)
}

/// Bars, the first on top.
pub(super) fn bars(bars: &[NamedBar], room: Room) -> Option<Svg> {
    let (columns, names) = match room {
        Room::Wide => (28, 238),
        Room::Half => (18, 158),
        Room::Narrow => (13, 116),
    };
    let n = bars.len().min(MAX_BARS);
    let bars = bars.get(..n).unwrap_or_default();
    // What is written at the ends has room behind the longest bar.
    let written = bars.iter().map(|bar| bar.says.chars().count()).max().unwrap_or_default() as f64 * CHARACTER + 12.0;
    let width = f64::from(room.width() - names);
    let says = written / (width - written).max(width * 0.2);
    let most = bars.iter().map(|bar| bar.behind.max(bar.length)).fold(0.0, f64::max).max(1e-9);
    let name = |place: f64| bars.get(row_at(place, n)).map(|bar| short(bar, columns)).unwrap_or_default();
    let nothing = |_| String::new();
    let across = Side::new(0.0..most * (1.0 + says), Vec::new(), &nothing, 0).without_lines();
    let up = Side::new(0.0..n as f64, (0..n).map(|at| row_place(at, n)).collect(), &name, names).without_lines();
    plane((room, n as u32 * 26 + 12), across, up, None, |plane| {
        let bar = |at: usize, half: f64, length: f64, color: RGBColor| {
            Rectangle::new([(0.0, row_place(at, n) - half), (length, row_place(at, n) + half)], color.filled())
        };
        let behind = bars.iter().enumerate().filter(|(_, of)| of.behind > 0.0);
        plane.draw_series(behind.map(|(at, of)| bar(at, 0.36, of.behind, PALE)))?;
        // What is a part of what stands behind it covers it; of two that may be longer or shorter both are seen.
        let is_part = bars.iter().all(|of| of.length <= of.behind);
        let half = |of: &NamedBar| if of.behind > 0.0 && !is_part { 0.2 } else { 0.36 };
        plane.draw_series(bars.iter().enumerate().map(|(at, of)| bar(at, half(of), of.length, DATA)))?;
        let style = room.label().pos(Pos { h_pos: HPos::Left, v_pos: VPos::Center });
        plane.draw_series(bars.iter().enumerate().map(|(at, of)| {
            let end = of.behind.max(of.length) + most * 0.012;
            Text::new(of.says.clone(), (end, row_place(at, n)), style.clone())
        }))?;
        Ok(())
    })
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
pub(super) fn density(density: &DensityFacts, room: Room) -> Option<Svg> {
    let (from, to) = Scale::Ratio.range(density.cells.iter().flat_map(|cell| [cell.ratio_from, cell.ratio_to]));
    let steps = steps(density);
    let (x_name, y_name) = (|place| Scale::Ratio.name(place), |place| Scale::Share.name(place));
    let across = Side::new(from..to, Scale::Ratio.ticks((from, to), 8), &x_name, 44);
    let up = Side::new(0.0..1.0, Scale::Share.ticks((0.0, 1.0), 5), &y_name, 42);
    plane((room, 300), across, up, Some("ratio"), |plane| {
        plane.draw_series(density.cells.iter().map(|cell| {
            let color = HEAT[steps.iter().rposition(|least| cell.count >= *least).unwrap_or(0)];
            let [left, right] = [cell.ratio_from, cell.ratio_to].map(|ratio| Scale::Ratio.place(ratio));
            Rectangle::new([(left, cell.from), (right, cell.to)], color.filled())
        }))?;
        Ok(())
    })
}

fn color_of(kind: PointKind) -> RGBColor {
    match kind {
        PointKind::Other => PALE,
        PointKind::Front => DATA,
        PointKind::Recommended => MARK,
    }
}

/// The points with their intervals; what is more important is drawn above.
pub(super) fn front(points: &[Point], room: Room) -> Option<Svg> {
    let ends = |(value, interval): Spanned| interval.unwrap_or((value, value));
    let marked = points.iter().filter(|point| point.kind != PointKind::Other);
    let values = points.iter().map(|point| point.ratio.0).chain(marked.clone().map(|point| ends(point.ratio).1));
    let (from, to) = Scale::Ratio.range(values);
    let lowest = points.iter().map(|point| point.figure.0).chain(marked.map(|point| ends(point.figure).0));
    let lowest = lowest.fold(1.0_f64, f64::min).max(0.0);
    let step = STEPS.into_iter().find(|step| (1.0 - lowest) / step <= 5.0).unwrap_or(0.25);
    let bottom = ((lowest / step).floor() * step).max(0.0);
    let ticks = (0..=6).map(|at| bottom + f64::from(at) * step).filter(|tick| *tick <= 1.0 + 1e-9).collect();
    let (x_name, y_name) = (|place| Scale::Ratio.name(place), |place| Scale::Share.name(place));
    let across = Side::new(from - 0.01..to + 0.01, Scale::Ratio.ticks((from, to), 8), &x_name, 44);
    plane((room, 300), across, Side::new(bottom..1.0, ticks, &y_name, 46), Some("ratio"), |plane| {
        let mut points = points.to_vec();
        points.sort_by_key(|point| point.kind);
        for point in points {
            let (x, y, color) = (Scale::Ratio.place(point.ratio.0), point.figure.0, color_of(point.kind));
            if point.kind != PointKind::Other {
                let (left, right) = ends(point.ratio);
                let (low, high) = ends(point.figure);
                let (left, right) = (Scale::Ratio.place(left).max(from - 0.01), Scale::Ratio.place(right));
                let lines = [[(left, y), (right, y)], [(x, low.max(bottom)), (x, high.min(1.0))]];
                plane.draw_series(lines.map(|line| PathElement::new(line, color.stroke_width(1))))?;
            }
            plane.draw_series([Circle::new((x, y), 4, color.filled())])?;
        }
        Ok(())
    })
}
