//! Growth plots as SVG, written by hand: time and memory against size, both on a logarithmic scale.

use std::fmt::Write;

/// The points of one solver: size, seconds, mebibytes.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64, f64)>,
}

const COLOURS: [&str; 8] = ["#0b6bcb", "#d1495b", "#2e933c", "#8e5572", "#edae49", "#00798c", "#666666", "#b56576"];
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 44.0;
const GAP: f64 = 80.0;

/// Where values lie on a panel.
struct Panel {
    left: f64,
    sizes: (f64, f64),
    /// Powers of ten.
    decades: (i32, i32),
}

impl Panel {
    fn x(&self, size: f64) -> f64 {
        let (low, high) = self.sizes;
        self.left + WIDTH * if high > low { (size - low) / (high - low) } else { 0.5 }
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        TOP + HEIGHT * (1.0 - (value.log10() - low) / (high - low))
    }
}

/// Two panels, time and memory, with one line for each series.
pub(crate) fn svg(title: &str, unit: &str, series: &[Series]) -> String {
    let (width, height) =
        (LEFT + 2.0 * WIDTH + GAP + 20.0, TOP + HEIGHT + 60.0 + 16.0 * (series.len().div_ceil(4) as f64));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{title}</text>\n"
    );
    text += &panel(LEFT, "processor seconds", unit, series, |point| point.1.max(0.001));
    text += &panel(LEFT + WIDTH + GAP, "peak memory, MiB", unit, series, |point| point.2.max(1.0));
    for (index, (one, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let x = LEFT + 200.0 * (index % 4) as f64;
        let y = TOP + HEIGHT + 56.0 + 16.0 * (index / 4) as f64;
        element(&mut text, format!("<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"4\" fill=\"{colour}\"/>", y - 6.0));
        element(&mut text, format!("<text x=\"{}\" y=\"{y}\">{}</text>", x + 18.0, one.name));
    }
    text + "</svg>\n"
}

fn element(text: &mut String, element: String) {
    writeln!(text, "{element}").expect("strings take all text");
}

fn panel(left: f64, name: &str, unit: &str, series: &[Series], value: fn(&(f64, f64, f64)) -> f64) -> String {
    let points = || series.iter().flat_map(|one| &one.points);
    let (low, high) = bounds(&mut points().map(value));
    let mut text = String::new();
    if !low.is_finite() {
        return text;
    }
    let decades = (low.log10().floor() as i32, (high.log10().ceil() as i32).max(low.log10().floor() as i32 + 1));
    let panel = Panel { left, sizes: bounds(&mut points().map(|point| point.0)), decades };
    element(&mut text, format!("<text x=\"{left}\" y=\"{}\">{name}</text>", TOP - 8.0));
    for decade in decades.0..=decades.1 {
        let y = panel.y(10f64.powi(decade));
        let right = left + WIDTH;
        element(&mut text, format!("<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\" fill=\"none\"/>"));
        let tick = if decade < 0 {
            format!("{:.*}", decade.unsigned_abs() as usize, 10f64.powi(decade))
        } else {
            format!("{}", 10f64.powi(decade))
        };
        element(
            &mut text,
            format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>", left - 6.0, y + 4.0),
        );
    }
    let mut sizes: Vec<f64> = points().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let (x, y) = (panel.x(size), TOP + HEIGHT + 16.0);
        element(&mut text, format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{size}</text>"));
    }
    let (x, y) = (left + WIDTH / 2.0, TOP + HEIGHT + 34.0);
    element(&mut text, format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{unit}</text>"));
    for (one, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let at: Vec<(f64, f64)> = one.points.iter().map(|point| (panel.x(point.0), panel.y(value(point)))).collect();
        let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        element(
            &mut text,
            format!("<polyline points=\"{}\" stroke=\"{colour}\" stroke-width=\"1.5\" fill=\"none\"/>", path.join(" ")),
        );
        for (x, y) in at {
            element(&mut text, format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>"));
        }
    }
    text
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_line_for_each_series_on_both_panels() {
        let text = svg("title", "bits", &[one("a"), one("b")]);
        assert_eq!(text.matches("<polyline").count(), 4);
        assert!(text.trim_end().ends_with("</svg>") && !text.contains("NaN"));
    }

    fn one(name: &str) -> Series {
        Series { name: name.into(), points: vec![(4.0, 0.01, 5.0), (8.0, 1.0, 50.0)] }
    }

    #[test]
    fn nothing_measured_is_an_empty_plot() {
        assert!(!svg("title", "bits", &[]).contains("<polyline"));
    }
}
