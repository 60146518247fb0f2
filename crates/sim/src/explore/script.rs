//! A schedule as a list: who takes how many turns, and what happens in between. Written down, cut short, read
//! back.
use super::Ctx;
use super::fault::Faults;
use super::plan::Plan;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The context takes so many turns; fewer if it cannot go on.
    Turns(Ctx, u32),
    /// The oldest buffered store of the context becomes visible.
    Drain(Ctx),
    /// The context, halted, wakes up for no reason.
    Wake(Ctx),
    /// The context is interrupted.
    Interrupt(Ctx),
}

impl Item {
    /// Whom it is about.
    pub(super) fn context(self) -> Ctx {
        match self {
            Self::Turns(ctx, _) | Self::Drain(ctx) | Self::Wake(ctx) | Self::Interrupt(ctx) => ctx,
        }
    }
}

/// A schedule that does not follow from its seed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    /// Acquisitions of each context.
    pub(super) rounds: Vec<u32>,
    pub(super) faults: Faults,
    pub(super) items: Vec<Item>,
}

/// Appends `item`; turns of one context in a row are one item.
pub(super) fn push(items: &mut Vec<Item>, item: Item) {
    match (items.last_mut(), item) {
        (Some(Item::Turns(last, turns)), Item::Turns(ctx, more)) if *last == ctx => *turns += more,
        _ => items.push(item),
    }
}

impl Script {
    /// How often the turn goes from one context to another.
    pub(super) fn switches(&self) -> usize {
        let turns: Vec<Ctx> = (self.items.iter().copied())
            .filter_map(|item| if let Item::Turns(ctx, _) = item { Some(ctx) } else { None })
            .collect();
        turns.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// Makes `plan` what the script says.
    pub(super) fn apply(&self, plan: &mut Plan) {
        plan.rounds.clone_from(&self.rounds);
        plan.faults = self.faults;
    }

    /// The list without items that mean nothing, and with neighbours joined.
    pub(super) fn tidied(self) -> Self {
        let mut items = Vec::with_capacity(self.items.len());
        for &item in self.items.iter().filter(|item| !matches!(item, Item::Turns(_, 0))) {
            push(&mut items, item);
        }
        Self { items, ..self }
    }
}

/// `2.1.0/store-buffers/0t12-1t3-0d`: rounds of the contexts, faults, items.
impl core::fmt::Display for Script {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let rounds: Vec<String> = self.rounds.iter().map(ToString::to_string).collect();
        let items: Vec<String> = (self.items.iter())
            .map(|item| match item {
                Item::Turns(ctx, turns) => format!("{ctx}t{turns}"),
                Item::Drain(ctx) => format!("{ctx}d"),
                Item::Wake(ctx) => format!("{ctx}w"),
                Item::Interrupt(ctx) => format!("{ctx}i"),
            })
            .collect();
        write!(f, "{}/{}/{}", rounds.join("."), self.faults, items.join("-"))
    }
}

impl core::str::FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let [rounds, faults, items] = parts[..] else {
            return Err("it is not made of rounds, faults and turns".to_owned());
        };
        let rounds = rounds
            .split('.')
            .map(|count| count.parse().map_err(|_| format!("'{count}' is no number of rounds")));
        let rounds: Vec<u32> = rounds.collect::<Result<_, _>>()?;
        if rounds.len() > super::CONTEXTS {
            return Err(format!("there are at most {} contexts", super::CONTEXTS));
        }
        let items = items.split('-').filter(|item| !item.is_empty()).map(|item| {
            parse_item(item)
                .filter(|item| item.context() < rounds.len())
                .ok_or(format!("'{item}' is no turn"))
        });
        Ok(Self { items: items.collect::<Result<_, _>>()?, faults: faults.parse()?, rounds })
    }
}

fn parse_item(text: &str) -> Option<Item> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let ctx = text[..at].parse().ok()?;
    Some(match (text.get(at..=at)?, text.get(at + 1..)?) {
        ("t", turns) => Item::Turns(ctx, turns.parse().ok()?),
        ("d", "") => Item::Drain(ctx),
        ("w", "") => Item::Wake(ctx),
        ("i", "") => Item::Interrupt(ctx),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fault::Fault;
    use super::*;

    #[test]
    fn a_script_survives_writing_and_reading() {
        let script = Script {
            rounds: vec![2, 0, 1],
            faults: Faults::NONE.with(Fault::Spurious),
            items: vec![
                Item::Turns(0, 12),
                Item::Drain(2),
                Item::Wake(1),
                Item::Interrupt(0),
                Item::Turns(2, 3),
            ],
        };
        assert_eq!(script.to_string(), "2.0.1/spurious/0t12-2d-1w-0i-2t3");
        assert_eq!(script.to_string().parse(), Ok(script.clone()));
        assert_eq!(script.switches(), 1);
        let empty = Script { rounds: vec![1, 1], faults: Faults::NONE, items: Vec::new() };
        assert_eq!("1.1/none/".parse(), Ok(empty));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in ["x", "1.1.1.1.1.1.1.1.1"] {
            assert!(format!("{bad}/none/0t1").parse::<Script>().is_err(), "{bad}");
        }
        for bad in ["1t1", "0x", "t", "0t", "0tä", "0t-1"] {
            assert!(format!("1/none/{bad}").parse::<Script>().is_err(), "{bad}");
        }
        for bad in ["", "1", "1/0t1", "1/nonsense/0t1", "1/none/0t1/"] {
            assert!(bad.parse::<Script>().is_err(), "{bad}");
        }
    }

    #[test]
    fn turns_in_a_row_are_joined() {
        let items = vec![Item::Turns(0, 1), Item::Turns(1, 0), Item::Turns(0, 2)];
        let script = Script { rounds: vec![1, 1], faults: Faults::NONE, items };
        assert_eq!(script.tidied().items, [Item::Turns(0, 3)]);
    }
}
