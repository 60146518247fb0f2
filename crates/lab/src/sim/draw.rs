//! Shapes of pictures, as SVG.
use core::fmt::Write;
use lab_kit::export::svg::escape;

/// Shapes, one in each line. `how` is attributes of a shape.
#[derive(Default)]
pub(super) struct Svg(pub String);

impl Svg {
    pub(super) fn text(&mut self, x: f64, y: f64, how: &str, words: &str) {
        let _ = writeln!(self.0, "<text x='{x:.1}' y='{y:.1}' {how}>{}</text>", escape(words));
    }

    /// By its left, its top, its width and its height. It tells what it is about under the pointer.
    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], how: &str, about: &str) {
        let about =
            if about.is_empty() { String::new() } else { format!("<title>{}</title>", escape(about)) };
        let _ = writeln!(
            self.0,
            "<rect x='{x:.1}' y='{y:.1}' width='{width:.1}' height='{height:.1}' {how}>{about}</rect>"
        );
    }

    pub(super) fn path(&mut self, how: &str, steps: &str) {
        let _ = writeln!(self.0, "<path {how} d='{steps}'/>");
    }
}
