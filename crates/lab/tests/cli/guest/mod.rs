//! `stanchion guest`, through the real program, with a script in QEMU's place that plays what guests say.
mod broken;
mod fake;
mod input;
mod kept;
mod sound;
