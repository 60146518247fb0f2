//! What the watch of readers and writers knows, on sequences written by hand.
use super::*;

#[test]
fn readers_share_and_writers_do_not() {
    let mut sharing = Sharing::default();
    assert_eq!((sharing.reads(0, How::Free), sharing.reads(1, How::Free)), (Ok(0), Ok(0)));
    assert!(sharing.writes(2, How::Tried, false).is_err_and(|failure| failure.kind == Kind::Exclusion));
    sharing.stops_reading(0);
    sharing.stops_reading(1);
    assert_eq!(sharing.writes(2, How::Tried, false), Ok(0));
    assert!(sharing.reads(0, How::Free).is_err() && sharing.writes(1, How::Tried, false).is_err());
    sharing.stops_writing();
    assert_eq!((sharing.may_upgrade(0, How::Tried), sharing.holder()), (Ok(0), Some(0)));
    assert!(sharing.may_upgrade(1, How::Tried).is_err());
}

#[test]
fn who_comes_later_and_goes_in_before_has_passed_a_waiter_that_looks() {
    let mut sharing = Sharing::new(None, true, Some(Passed { all: 1, as_head: 1 }));
    sharing.begins(0, Wants::Read);
    sharing.begins(3, Wants::Write);
    sharing.looks(3);
    assert_eq!(sharing.reads(0, How::Waited), Ok(0), "it was there before");
    sharing.begins(4, Wants::Read);
    sharing.looks(4);
    sharing.begins(1, Wants::Read);
    assert_eq!(
        (sharing.reads(1, How::Waited), sharing.reads(1, How::Free)),
        (Ok(1), Ok(0)),
        "reading again passes nobody"
    );
    sharing.begins(2, Wants::Read);
    assert_eq!(sharing.reads(2, How::Waited), Ok(0), "c3 has not looked since, and c4 reads, too");
    sharing.looks(3);
    sharing.begins(0, Wants::Upgradable);
    assert!(sharing.may_upgrade(0, How::Waited).is_err_and(|failure| failure.kind == Kind::Overtaken));
    assert_eq!(sharing.first_waiting(), Some(3));
}

#[test]
fn a_waiter_that_asks_is_passed_once_by_each() {
    let mut sharing = Sharing::default();
    sharing.is_asked_for(3);
    for _ in 0..2 {
        sharing.begins(1, Wants::Write);
        assert_eq!(sharing.writes(1, How::Waited, true), Ok(0), "past a head without a CPU");
        sharing.stops_writing();
    }
    let all = [(0, How::Waited, false), (1, How::Tried, false), (1, How::Free, false), (0, How::Tried, true)];
    for (me, how, fails) in all {
        if how == How::Waited {
            sharing.begins(me, Wants::Read);
        }
        assert_eq!(sharing.reads(me, how).is_err(), fails, "c{me}");
    }
}

#[test]
fn a_reader_is_refused_only_if_there_are_too_many() {
    let mut sharing = Sharing::new(Some(1), true, None);
    sharing.attempts(0);
    assert!(sharing.is_refused(0, How::Free).is_err());
    sharing.attempts(1);
    assert_eq!(sharing.is_refused(0, How::Free), Ok(()), "the other may have been counted for a moment");
    assert_eq!(sharing.reads(1, How::Free), Ok(0));
    assert!(sharing.reads(0, How::Free).is_err());
}

#[test]
fn a_reader_may_wait_for_those_that_slept_when_it_was_counted() {
    let mut sharing = Sharing::default();
    sharing.begins(1, Wants::Read);
    sharing.begins(2, Wants::Read);
    sharing.sleeps(2);
    sharing.is_counted(0);
    assert_eq!(sharing.left_behind(0), Some(2), "c1 may not have queued");
    assert_eq!(sharing.reads(2, How::Waited), Ok(0));
    sharing.begins(2, Wants::Read);
    assert_eq!(sharing.left_behind(0), None, "this is another acquisition");
    sharing.is_beside_all(0);
    assert_eq!(sharing.left_behind(0), Some(1));
}

#[test]
fn where_readers_pass_only_readers_are_passed_and_by_writers() {
    let mut sharing =
        Sharing::new(None, true, Some(Passed { all: 0, as_head: 0 })).letting_readers_pass(true);
    sharing.begins(1, Wants::Write);
    sharing.begins(2, Wants::Read);
    sharing.looks(1);
    sharing.is_asked_for(1);
    assert_eq!((sharing.reads(0, How::Tried), sharing.reads(0, How::Tried)), (Ok(0), Ok(0)));
    sharing.stops_reading(0);
    sharing.stops_reading(0);
    sharing.looks(2);
    assert!(sharing.writes(0, How::Tried, false).is_err_and(|failure| failure.kind == Kind::Overtaken));
}

#[test]
fn a_reader_waits_in_vain_behind_readers() {
    let mut sharing = Sharing::default();
    sharing.begins(1, Wants::Read);
    assert_eq!(
        (sharing.reads(0, How::Free), sharing.waits_in_vain(bit(0))),
        (Ok(0), None),
        "it may be about to wake it"
    );
    sharing.settles(0, true);
    assert_eq!((sharing.waits_in_vain(bit(0)), sharing.waits_in_vain(bit(0) | bit(2))), (Some(1), None));
    sharing.begins(2, Wants::Write);
    assert_eq!(sharing.waits_in_vain(bit(0)), None, "a writer comes first, perhaps");
}

#[test]
fn an_upgrade_that_has_begun_lets_each_reader_in_once_more() {
    let mut sharing = Sharing::default();
    assert_eq!(sharing.may_upgrade(0, How::Tried), Ok(0));
    sharing.begins_upgrade(0);
    let mut reads = |how| {
        let read = sharing.reads(1, how);
        sharing.stops_reading(1);
        sharing.looks(0);
        read
    };
    assert_eq!(reads(How::Tried), Ok(0), "it keeps nobody out before its first step");
    assert_eq!(
        (reads(How::Tried), reads(How::Free)),
        (Ok(0), Ok(0)),
        "past its look, and without a need to wait"
    );
    assert!(reads(How::Tried).is_err_and(|failure| failure.kind == Kind::Overtaken));
}

#[test]
fn the_first_in_the_queue_is_passed_less_often() {
    let mut sharing = Sharing::new(None, true, Some(Passed { all: 9, as_head: 1 }));
    sharing.begins(0, Wants::Write);
    let mut passes = |head| {
        sharing.is_head(head);
        sharing.looks(0);
        sharing.begins(1, Wants::Write);
        let passed = sharing.writes(1, How::Waited, false);
        sharing.stops_writing();
        passed
    };
    assert_eq!([passes(None), passes(None), passes(Some(0))], [Ok(1), Ok(2), Ok(3)]);
    assert!(passes(Some(0)).is_err_and(|failure| failure.kind == Kind::Overtaken));
}
