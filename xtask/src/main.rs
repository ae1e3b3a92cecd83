//! The workspace's own tasks: set-up, run, test, images, tidy.
fn main() {}
