//! The record of witnesses names programs of this model: a lock or a shape that has gone witnesses nothing.
use stanchion_model::{locks, shapes};

const RECORD: &str = include_str!("../../../docs/witnesses.toml");

#[test]
fn each_witness_is_a_program_that_there_is() {
    let programs = RECORD.lines().filter_map(|line| line.split_once(" = \"")?.1.split_once(':'));
    let programs: Vec<_> = programs.filter_map(|(program, _)| program.split_once('/')).collect();
    assert!(programs.len() > 100, "the record is read");
    for (lock, shape) in programs {
        assert!(locks::locks().any(|known| known.name == lock), "{lock} is no lock of the model");
        assert!(shapes::by_name(shape).is_some(), "{shape} is no shape of the model");
    }
}
