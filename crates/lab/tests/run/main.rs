//! `stanchion run`, through the real program.
mod compare;
mod input;
mod once;
mod preloaded;
mod record;
mod rules;
mod stats;
mod verbose;
