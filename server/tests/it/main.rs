//! The whole server in one process: the real router over real use cases with
//! a real database in a temporary folder. No container runs here; what needs
//! one is tested from outside, with the real binary.

mod accounts;
mod agreement;
mod binary;
mod downloads;
mod headers;
mod hostile;
mod live;
mod matrix;
mod meant;
mod oidc;
mod operations;
mod pages;
mod quota;
mod settings;
mod site;
mod teams;
mod uploads;
