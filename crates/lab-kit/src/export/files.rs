//! Where results go, and whether a command is quiet: flags.
use super::targets::{distinct, message};
use super::{Exports, Formats, Writer};
use crate::output::no_stream;
use std::fs;
use std::path::PathBuf;

/// The flags of files. A command that only lists things writes none.
pub const FLAGS: [&str; 4] = ["json", "csv", "html", "out"];

/// What every command takes that has results: the file for them, and whether it is quiet.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ResultFile {
    /// Write the whole result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Replace existing output files
    #[arg(long)]
    pub force: bool,

    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

/// What a command with a page takes: where results should go in which form.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Files {
    /// Write its rows as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Write a self-contained page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write all three into a directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub results: ResultFile,
}

impl Files {
    pub fn open<R>(&self, formats: &Formats<R>) -> Result<Exports<R>, String> {
        Exports::open(self.named(formats)?, self.results.force)
    }

    /// Refuses a file for something else, which may be one that is read, that is one of them.
    pub fn apart<'a, R>(
        &self,
        formats: &Formats<R>,
        others: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), String> {
        let files = self.named(formats)?.into_iter().map(|(path, _)| path);
        distinct(&files.chain(others.into_iter().cloned()).collect::<Vec<_>>())
    }

    /// The files that were asked for, none of them looked at; the directory is made.
    pub fn named<R>(&self, formats: &Formats<R>) -> Result<Vec<(PathBuf, Writer<R>)>, String> {
        if let Some(dir) = &self.out {
            no_stream(dir)?;
            fs::create_dir_all(dir).map_err(|error| message(dir, "cannot create the directory", &error))?;
        }
        let (json, csv) = (Some(formats.json), Some(formats.csv));
        let forms =
            [("json", &self.results.json, json), ("csv", &self.csv, csv), ("html", &self.html, formats.html)];
        let files = forms.into_iter().filter_map(|(ending, named, writer)| {
            let in_dir = self.out.as_ref().map(|dir| dir.join(format!("{}.{ending}", formats.stem)));
            let writer = writer?;
            Some(in_dir.into_iter().chain(named.clone()).map(move |path| (path, writer)))
        });
        Ok(files.flatten().collect())
    }
}
