//! What pages, the API and the command line show: plain values, ready to
//! render, made by the use cases. A view holds only what its reader may see.

pub mod account;
pub mod admin;
pub mod attempt;
pub mod board;
pub mod case;
pub mod compare;
pub mod figure;
pub mod home;
pub mod operations;
pub mod proof;
pub mod reevaluation;
pub mod replay;
pub mod reported;
pub mod statistics;
pub mod submission;

pub use account::*;
pub use admin::*;
pub use attempt::*;
pub use board::*;
pub use case::*;
pub use compare::*;
pub use figure::*;
pub use home::*;
pub use operations::*;
pub use proof::*;
pub use reevaluation::*;
pub use replay::*;
pub use reported::*;
pub use statistics::*;
pub use submission::*;
