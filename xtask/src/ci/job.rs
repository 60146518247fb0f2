//! What a job of `cargo xtask ci` is. The jobs themselves are in [`PATH`].
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// Path of the jobs, whose head says what each field means.
const PATH: &str = "xtask/ci.toml";

/// One job.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) shows: String,
    pub(crate) needs: Option<Step>,
    pub(crate) steps: Vec<Step>,
    /// The runs that the job is part of.
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
    /// What can be known in a minute or two.
    Quick,
    /// What lands.
    Landing,
    /// Everything.
    Night,
}

impl Speed {
    /// For titles.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Landing => "what lands",
            Self::Night => "the night",
        }
    }
}

/// One command of a job.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Step {
    /// As one would type it.
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
pub(super) fn read(root: &Path) -> io::Result<Vec<Job>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        job: Vec<Job>,
    }

    let file: File = toml::from_str(&fs::read_to_string(root.join(PATH))?)
        .map_err(|error| io::Error::other(format!("{PATH}: {error}")))?;
    let mut jobs = file.job;
    for value in jobs.iter_mut().flat_map(|job| job.env.values_mut()) {
        *value = value.replace("{root}", &root.to_string_lossy());
    }
    Ok(jobs)
}
