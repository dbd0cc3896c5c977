//! Numbers as people read them: the one place that says how many digits a report shows, so that terminal and page show
//! the same. Knows numbers, neither report nor terminal nor page.

use crate::pipeline::numbers::grouped;

pub use crate::pipeline::numbers::{by_count, count, counted, few_of};

/// What stands where nothing was measured.
pub const NOTHING: &str = "–";

/// A ratio: `3.27`, from a thousand on `1,234`.
pub fn ratio(ratio: f64) -> String {
    let digits = if ratio.abs() < 999.995 { 2 } else { 0 };
    grouped(&format!("{ratio:.digits$}"))
}

/// A share between 0 and 1: `0.943`. What is less than all is never shown as all of it.
pub fn share(share: f64) -> String {
    let shown = if share < 1.0 { share.min(0.999) } else { share };
    format!("{shown:.3}")
}

/// A share as a percentage: `12.3 %`. What is less than all is never shown as all of it.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    format!("{:.1} %", if share < 1.0 { percent.min(99.9) } else { percent })
}

/// A figure of the metrics table by its column: ratios as [`ratio`], everything else as [`share`].
pub fn figure(name: &str, value: f64) -> String {
    if name.ends_with("ratio") { ratio(value) } else { share(value) }
}

/// What `format` makes of `value`, or [`NOTHING`].
pub fn maybe(value: Option<f64>, format: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), format)
}

/// Bytes in decimal units: `999 B`, `1.23 MB`.
pub fn bytes(bytes: u64) -> String {
    with_unit(bytes, &["B", "kB", "MB", "GB", "TB", "PB"])
}

/// A count to three digits: `999`, `1.23 M`.
pub fn short(count: u64) -> String {
    with_unit(count, &["", "k", "M", "bn", "tn"])
}

/// Money in whatever currency: `1,234.50`; below one, to two significant digits: `0.0042`; from 10^15 on `1.50e15`.
pub fn money(money: f64) -> String {
    let size = money.abs();
    if size >= 1e15 {
        return format!("{money:.2e}");
    }
    let digits = if size > 0.0 && size < 1.0 { (1 - size.log10().floor() as i32).clamp(2, 12) as usize } else { 2 };
    grouped(&format!("{money:.digits$}"))
}

/// A duration: `850 ms`, `12.3 s`, `4 min 05 s`, `3 h 12 min`.
pub fn seconds(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match whole {
        _ if seconds < 0.9995 => format!("{:.0} ms", seconds * 1e3),
        _ if seconds < 99.95 => format!("{seconds:.1} s"),
        ..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// The name of a column as words: `quality_score` is `quality score`.
pub fn words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

fn with_unit(count: u64, units: &[&str]) -> String {
    let mut value = count as f64;
    let mut at = 0;
    // 999,950 is 1.00 M, not 1000 k.
    while value >= if at == 0 { 1000.0 } else { 999.5 } && at + 1 < units.len() {
        value /= 1000.0;
        at += 1;
    }
    let digits = match value {
        _ if at == 0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", units[at]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, counted, maybe, money, percent, ratio, seconds, share, short};

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1.0, 3.268, 999.99, 999.996, 12345.6].map(ratio), ["1.00", "3.27", "999.99", "1,000", "12,346"]);
        assert_eq!([0.0, -1234.5, 0.0042, 0.5, 12.0].map(money), ["0.00", "-1,234.50", "0.0042", "0.50", "12.00"]);
        assert_eq!([1e15, -2.345e300].map(money), ["1.00e15", "-2.35e300"]);
        assert_eq!([0, 1, 1000].map(|n| counted(n, "part")), ["0 parts", "1 part", "1,000 parts"]);
        assert_eq!((ratio(f64::INFINITY), ratio(f64::NAN)), ("inf".to_owned(), "NaN".to_owned()));
    }

    #[test]
    fn units_grow_with_the_number() {
        let sizes = [0, 999, 1000, 1_234_567, 999_499, 999_500, 45_600_000_000];
        assert_eq!(sizes.map(bytes), ["0 B", "999 B", "1.00 kB", "1.23 MB", "999 kB", "1.00 MB", "45.6 GB"]);
        assert_eq!([12, 12_345, u64::MAX].map(short), ["12", "12.3 k", "18446744 tn"]);
        let times = [0.0, 0.85, 0.9999, 12.34, 99.97, 245.2, 11_520.0];
        assert_eq!(times.map(seconds), ["0 ms", "850 ms", "1.0 s", "12.3 s", "1 min 40 s", "4 min 05 s", "3 h 12 min"]);
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        assert_eq!((maybe(None, share), maybe(Some(0.9426), share)), ("–".to_owned(), "0.943".to_owned()));
        assert_eq!([0.1234, 0.9999, 1.0].map(percent), ["12.3 %", "99.9 %", "100.0 %"]);
    }
}
