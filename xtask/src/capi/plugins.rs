//! A plugin that has the library inside, and a host whose threads outlive it.
use crate::capi::check::{Installed, STRICT, Tally, command_for, judge};
use crate::capi::install::STAYS;
use crate::capi::programs::Toolchain;
use crate::capi::shared::must_succeed;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds and runs the plugin in both ways, and without what the archive asks for, which the host must
/// notice.
pub(crate) fn check(
    root: &Path,
    tally: &mut Tally,
    installed: &Installed,
    toolchain: &Toolchain,
) -> io::Result<()> {
    let bench = Bench { root, installed, toolchain };
    let host = bench.build("plugin_host.c", "plugin-host", &["-ldl".to_owned()])?;
    let archive: Vec<String> = installed
        .pkg_config(&["--static", "--libs"])?
        .into_iter()
        .map(|flag| if flag == "-lstanchion" { "-l:libstanchion.a".to_owned() } else { flag })
        .collect();
    let unpinned: Vec<String> = archive.iter().filter(|&flag| flag != STAYS).cloned().collect();
    let shared = installed.pkg_config(&["--libs"])?;
    for (what, file, flags) in [
        ("a host outlives a plugin with the shared library", "plugin-shared.so", &shared),
        ("a host outlives a plugin with the archive", "plugin-archive.so", &archive),
    ] {
        tally.note(what, bench.run(&host, file, flags)?);
    }
    let noticed = match bench.run(&host, "plugin-unpinned.so", &unpinned)? {
        Ok(()) => Err("nothing went wrong".to_owned()),
        Err(_) => Ok(()),
    };
    tally.note("the host notices a plugin with the archive that is really unloaded", noticed);
    Ok(())
}

struct Bench<'a> {
    root: &'a Path,
    installed: &'a Installed,
    toolchain: &'a Toolchain,
}

impl Bench<'_> {
    fn build(&self, source: &str, file: &str, flags: &[String]) -> io::Result<PathBuf> {
        let path = self.installed.programs.join(file);
        let mut build = Command::new(self.toolchain.c);
        build.args(["-O2", "-pthread", "-std=gnu11"]).args(STRICT).args(["-Wno-pedantic"]);
        build.args(self.installed.pkg_config(&["--cflags"])?);
        build.arg(self.root.join("crates/capi/tests").join(source)).arg("-o").arg(&path).args(flags);
        must_succeed(&mut build)?;
        Ok(path)
    }

    fn run(&self, host: &Path, file: &str, flags: &[String]) -> io::Result<Result<(), String>> {
        let mut all = vec!["-shared".to_owned(), "-fPIC".to_owned()];
        all.extend_from_slice(flags);
        let plugin = self.build("plugin.c", file, &all)?;
        judge(command_for(self.installed, host).arg(plugin), None)
    }
}
