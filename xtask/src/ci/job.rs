//! What a job of `cargo xtask ci` is. The jobs themselves are in [`PATH`].
use crate::files::entries;
use anyhow::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Path of the jobs, whose head says what each field means.
const PATH: &str = "xtask/ci.toml";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) shows: String,
    pub(crate) needs: Option<Step>,
    pub(crate) steps: Vec<Step>,
    #[serde(default = "all_but_quick")]
    pub(crate) runs: Vec<Speed>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

fn all_but_quick() -> Vec<Speed> {
    vec![Speed::Landing, Speed::Night]
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Speed {
    Quick,
    Landing,
    Night,
}

/// One command of a job.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Step {
    pub(crate) line: String,
    pub(crate) words: Vec<String>,
}

impl Step {
    pub(crate) fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

impl TryFrom<String> for Step {
    type Error = String;

    fn try_from(line: String) -> Result<Self, String> {
        let line = match line.strip_prefix("stanchion ") {
            Some(words) => format!("cargo run --release -p stanchion-lab -- {words}"),
            None => line,
        };
        match shlex::split(&line) {
            Some(words) if !words.is_empty() => Ok(Self { line, words }),
            _ => Err(format!("`{line}` is no command")),
        }
    }
}

/// The jobs of the workspace at `root`, which is an absolute path.
pub(super) fn read(root: &Path) -> Result<Vec<Job>> {
    let mut jobs: Vec<Job> = entries(root, PATH, "job")?;
    for value in jobs.iter_mut().flat_map(|job| job.env.values_mut()) {
        *value = value.replace("{root}", &root.to_string_lossy());
    }
    Ok(jobs)
}
