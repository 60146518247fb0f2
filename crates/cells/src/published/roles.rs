//! What each column of a published table is to the simulator: to fit, seen or blind.
use serde::Deserialize;

/// What a cell is to the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Parameters may follow from it.
    Fit,
    /// Something was chosen while it was in view.
    Seen,
    /// Nobody who chose anything has seen it. It is compared with what was registered before, and with
    /// nothing else.
    Blind,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fit, Self::Seen, Self::Blind];

    /// As files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Seen => "seen",
            Self::Blind => "blind",
        }
    }
}

/// The columns of a table, as its file lists them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Columns {
    /// The lock whose column a fit may open.
    pub(super) fit: Option<String>,
    /// In which rows it may [all]; in the others the column is seen.
    fit_rows: Option<Vec<String>>,
    #[serde(default)]
    seen: Vec<String>,
    #[serde(default)]
    blind: Vec<String>,
}

impl Columns {
    /// The locks with the roles of their columns.
    pub(super) fn listed(&self) -> Result<Vec<(String, Role)>, String> {
        let fit = self.fit.iter().map(|lock| (lock, Role::Fit));
        let seen = self.seen.iter().map(|lock| (lock, Role::Seen));
        let blind = self.blind.iter().map(|lock| (lock, Role::Blind));
        let mut listed: Vec<(String, Role)> = Vec::new();
        for (lock, role) in fit.chain(seen).chain(blind) {
            if let Some((_, other)) = listed.iter().find(|(known, _)| known == lock) {
                return Err(format!("{lock} is listed twice, as {} and as {}", other.name(), role.name()));
            }
            listed.push((lock.clone(), role));
        }
        Ok(listed)
    }

    /// The role of a cell. What is held back of a column is blind, whatever the column is.
    pub(super) fn role(&self, column: Role, row: &str, published: bool) -> Role {
        let fits = self.fit_rows.as_ref().is_none_or(|rows| rows.iter().any(|label| label == row));
        match column {
            _ if !published => Role::Blind,
            Role::Fit if !fits => Role::Seen,
            role => role,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> Result<Columns, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn a_column_has_one_role_and_there_are_three() {
        let two = columns("fit = 'qspin'\nseen = ['cna']").expect("two roles");
        let listed = two.listed().expect("one role each");
        assert_eq!(listed, [("qspin".to_owned(), Role::Fit), ("cna".to_owned(), Role::Seen)]);
        let twice = columns("fit = 'qspin'\nblind = ['qspin']").expect("a list of each").listed();
        assert_eq!(twice, Err("qspin is listed twice, as fit and as blind".to_owned()));
        let unknown = columns("sen = ['cna']").expect_err("there is no such role");
        assert!(unknown.contains("unknown field `sen`, expected one of `fit`"), "{unknown}");
    }

    #[test]
    fn a_cell_is_to_fit_in_its_rows_and_blind_where_it_is_held_back() {
        let some = columns("fit = 'byte'\nfit-rows = ['32']").expect("in order");
        assert_eq!(some.role(Role::Fit, "32", true), Role::Fit);
        assert_eq!(some.role(Role::Fit, "48", true), Role::Seen);
        assert_eq!(some.role(Role::Seen, "48", false), Role::Blind);
    }
}
