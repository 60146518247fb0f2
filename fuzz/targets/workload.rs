//! Files of workloads: what is read is written, and reads as the same. Only such files are kept and changed
//! further.
#![no_main]
use libfuzzer_sys::{Corpus, fuzz_target};
use stanchion_sim::workload::{read, write};

fuzz_target!(|text: &str| -> Corpus {
    match read(text, "workload.toml") {
        Ok(file) => assert_eq!(read(&write(&file), "written").as_ref(), Ok(&file)),
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{error:?}");
            return Corpus::Reject;
        }
    }
    Corpus::Keep
});
