//! The one binary: everything is in the library half.

fn main() -> std::process::ExitCode {
    faultboard_server::cli::main()
}
