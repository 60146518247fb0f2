//! An interleaving to be read: one line a step, in the field's words.
use super::Ctx;
use super::names::{Names, lock_name};
use core::fmt::Write;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Load,
    Store,
    Buffered,
    Drained,
    Swap,
    Exchange,
    ExchangeFails,
    Add,
    Pause,
    Barrier,
    BarrierFails,
    Halt,
    GoesOn,
    Kick,
    Kicked,
    Forgotten,
    Woken,
    Interrupt,
    InterruptEnds,
    Acquire,
    AcquireTimed,
    GivesUp,
    Try,
    TryFails,
    Refused,
    Enter,
    Leave,
    Awaits,
    Release,
    Destroys,
    Ends,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) step: u64,
    pub(super) ctx: Ctx,
    /// How many handlers deep.
    pub(super) level: u8,
    pub(super) what: What,
    /// Of the cell; or the number of a lock or of a context, if it is no access.
    pub(super) address: usize,
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) holder: Option<Ctx>,
}

impl Line {
    fn text(&self, names: &Names) -> String {
        let cell = || names.cell(self.address);
        let value = |value| names.value(self.address, value);
        let change =
            |verb: &str| format!("{verb:8} {}: {} -> {}", cell(), value(self.before), value(self.after));
        let lock = || lock_name(self.address);
        match self.what {
            What::Load => format!("load     {}: {}", cell(), value(self.before)),
            What::Store => change("store"),
            What::Buffered => {
                format!("store    {}: {} -> (buffered) {}", cell(), value(self.before), value(self.after))
            }
            What::Drained => change("visible"),
            What::Swap => change("swap"),
            What::Exchange => change("cas"),
            What::ExchangeFails => format!("cas      {}: {}, fails", cell(), value(self.before)),
            What::Add => change("add"),
            What::Pause => "pause".to_owned(),
            What::Barrier => "heavy barrier".to_owned(),
            What::BarrierFails => "heavy barrier cannot be had".to_owned(),
            What::Halt => "halts".to_owned(),
            What::GoesOn => "goes on after the halt".to_owned(),
            What::Kick => format!("kicks c{}", self.address),
            What::Kicked => "(a kick arrives)".to_owned(),
            What::Forgotten => "(kicks that came before the comparison are forgotten)".to_owned(),
            What::Woken => "(wakes up for no reason)".to_owned(),
            What::Interrupt => "(interrupt) handler begins".to_owned(),
            What::InterruptEnds => "handler ends".to_owned(),
            What::Acquire => format!("wants    {}", lock()),
            What::AcquireTimed => format!("wants    {} for a while", lock()),
            What::GivesUp => format!("gives up {}", lock()),
            What::Try => format!("tries    {}", lock()),
            What::TryFails => format!("the try  {} fails", lock()),
            What::Refused => format!("is refused by {}: too many readers", lock()),
            What::Enter => format!("ENTERS   {}", lock()),
            What::Leave => format!("inside   {}", lock()),
            What::Awaits => format!("waits, inside, for c{} to read", self.address),
            What::Release => format!("releases {}", lock()),
            What::Destroys => format!("DESTROYS {}", lock()),
            What::Ends => "is done".to_owned(),
        }
    }
}

/// The interleaving as text.
pub(super) fn render(lines: &[Line], names: &Names) -> String {
    let texts: Vec<String> = lines.iter().map(|line| line.text(names)).collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let mut all = String::new();
    for (line, text) in lines.iter().zip(texts) {
        // Each context has a column of its own, so that turns are seen at a glance.
        let column = 2 * line.ctx;
        let who = format!("{:column$}c{}{}", "", line.ctx, "'".repeat(line.level.into()));
        let holder = line.holder.map_or("-".to_owned(), |holder| format!("c{holder}"));
        let padding = width - text.chars().count();
        // Writing to a string cannot fail.
        let _ = writeln!(all, "{:>5}  {who:18}{text}{:padding$}  holder {holder}", line.step, "");
    }
    all
}
