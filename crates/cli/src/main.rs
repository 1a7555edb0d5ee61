//! The program `sluice`.

fn main() -> std::process::ExitCode {
    cli::main()
}
