//! Who is told when a step of the engine ends. The engine has no clock; who listens may have one.

/// Is told when a step has ended; the step began when the last one ended.
pub trait Laps: std::fmt::Debug + Send {
    /// `step` has ended.
    fn ended(&mut self, step: &'static str);
}

/// Tells whoever listens.
pub(super) fn ended(laps: &mut Option<Box<dyn Laps>>, step: &'static str) {
    if let Some(laps) = laps {
        laps.ended(step);
    }
}
