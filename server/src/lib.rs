//! The one binary's library half: the settings, the command line, and the site
//! over HTTP. It turns requests and arguments into calls of the use cases and
//! their answers into bytes; it never decides who may do what, never touches
//! the database, and never scores anything.

pub mod cli;
pub mod config;
pub mod http;

mod config_accounts;
mod config_cluster;
mod config_file;
mod sizes;
