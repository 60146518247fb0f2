//! The lines of a page's plots: which of them are grey until they are pointed at, or picked in the legend.
use crate::export::svg::sample_of;
use maud::{Markup, html};
use stanchion_cells::scenes::once;

/// More names than this at the edge of a plot are not read.
const NAMES: usize = 8;

/// What a lock, which is a line of every plot, is to the reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// The lock to use if nothing else is known. Only the first such counts.
    pub default: bool,
    /// Whether the default is compared with it.
    pub peer: bool,
    /// Of its results: the best peer has the highest.
    pub score: f64,
    /// Whether the user named it.
    pub chosen: bool,
}

/// Which lines are grey: all but the default, the best peer, and of those chosen as many as fit.
pub fn grey(lines: &[Standing]) -> Vec<bool> {
    let all = || lines.iter().enumerate();
    let default = all().find(|(_, line)| line.default);
    let peers = all().filter(|(_, line)| line.peer);
    let best_peer = peers.max_by(|(_, a), (_, b)| a.score.total_cmp(&b.score));
    let first = [default, best_peer].into_iter().flatten();
    let named = first.chain(all().filter(|(_, line)| line.chosen)).map(|(index, _)| index);
    let named: Vec<usize> = once(named).into_iter().take(NAMES).collect();
    (0..lines.len()).map(|index| !named.contains(&index)).collect()
}

/// An entry of a legend, in the order of lines.
pub struct Entry<'a> {
    pub name: &'a str,
    /// What it says under the pointer.
    pub about: Option<&'a str>,
    pub ours: bool,
    pub grey: bool,
}

/// Lines beside their names. What is grey has a box to pick it with.
pub fn legend<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Markup {
    html! {
        ul.legend {
            @for (index, Entry { name, about, ours, grey }) in entries.into_iter().enumerate() {
                li title=[about] {
                    label {
                        @if grey { input type="checkbox" id={ "pick" (index) }; }
                        (sample_of(index, ours, grey)) (name)
                    }
                }
            }
        }
    }
}

/// The rules by which a line that is picked has its colour and its name.
pub fn picked(index: usize) -> String {
    format!(
        ":root:has(#pick{index}:checked) .grey.c{index}{{--line:var(--colour)}}\
         :root:has(#pick{index}:checked) .grey.c{index} .name{{display:inline}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many peers, the later the better.
    fn peers(count: u32) -> Vec<Standing> {
        (0..count).map(|at| Standing { peer: true, score: f64::from(at), ..Standing::default() }).collect()
    }

    fn in_colour(lines: &[Standing]) -> Vec<usize> {
        grey(lines).iter().enumerate().filter(|(_, grey)| !**grey).map(|(index, _)| index).collect()
    }

    #[test]
    fn the_default_and_the_best_peer_are_in_colour_and_others_grey() {
        let mut lines = peers(16);
        lines[3] = Standing { default: true, score: 99.0, ..Standing::default() };
        assert_eq!(in_colour(&lines), [3, 15]);
        lines[7].score = 50.0;
        lines[8].default = true;
        assert_eq!(in_colour(&lines), [3, 7], "one default, one best peer");
        assert_eq!(in_colour(&peers(2)), [1], "nothing is the default");
        assert_eq!(in_colour(&[]), [0; 0]);
    }

    #[test]
    fn those_that_were_named_are_in_colour_and_names_are_eight_at_most() {
        let mut lines = peers(16);
        lines[0] = Standing { default: true, ..Standing::default() };
        for index in [0, 4, 9] {
            lines[index].chosen = true;
        }
        assert_eq!(in_colour(&lines), [0, 4, 9, 15]);
        for line in &mut lines {
            line.chosen = true;
        }
        assert_eq!(in_colour(&lines), [0, 1, 2, 3, 4, 5, 6, 15]);
    }

    #[test]
    fn what_is_grey_can_be_picked() {
        let [plain, grey] = [false, true].map(|grey| Entry { name: "<a>", about: None, ours: false, grey });
        let legend = legend([plain, grey]).0;
        assert!(legend.contains("id=\"pick1\"") && !legend.contains("id=\"pick0\""), "{legend}");
        assert!(legend.contains("&lt;a&gt;") && !legend.contains("title"), "{legend}");
        assert!(picked(1).contains("#pick1:checked") && picked(1).contains(".grey.c1 .name{"));
    }
}
