//! With feature `bpf`: compiles the queue discipline, and makes the Rust structs that it shares with the agent.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SOURCES: &str = "src/device/bpf";
/// Programs built from [`SOURCES`].
const PROGRAMS: [&str; 8] =
    ["sluice", "completion", "mark", "conformance", "turns_conformance", "biased_conformance", "classes", "witness"];
/// Compilers that keep the type of a pointer in a map, best first: Clang from release 16 on.
const COMPILERS: [&str; 5] = ["clang-19", "clang-20", "clang-18", "clang-16", "clang"];

fn main() {
    println!("cargo:rerun-if-changed={SOURCES}");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts"));
    let compiler = compiler();
    for program in PROGRAMS {
        compile(&compiler, program, &out);
    }
    let header = fs::read_to_string(Path::new(SOURCES).join("shared.h")).expect("shared.h is beside the programs");
    fs::write(out.join("shared.rs"), structs(&header)).expect("OUT_DIR can be written");
}

fn compiler() -> String {
    let given = env::var_os("CLANG").and_then(|name| name.into_string().ok()).into_iter();
    let known = COMPILERS.into_iter().map(String::from);
    let runs = |name: &String| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    given.chain(known).find(runs).expect(
        "feature bpf needs Clang from release 16 on: install clang-19, or name one in the environment: CLANG=...",
    )
}

fn compile(compiler: &str, program: &str, out: &Path) {
    let source = Path::new(SOURCES).join(format!("{program}.bpf.c"));
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror", "-c"]);
    command.arg(source).arg("-o").arg(out.join(format!("{program}.bpf.o")));
    let status = command.status().expect("the compiler ran a moment ago");
    assert!(status.success(), "{program}.bpf.c does not compile with {compiler}");
}

/// Converts the header's constants and structs to Rust, with fields in the same order; the header says what they mean.
fn structs(header: &str) -> String {
    let mut rust = String::new();
    let mut name = String::new();
    let mut fields: Vec<&str> = Vec::new();
    for line in header.lines().map(str::trim) {
        if let Some((number, value)) = line.strip_prefix("#define ").and_then(|line| line.split_once(' ')) {
            rust.push_str("#[allow(clippy::unreadable_literal, reason = \"as the header writes it\")]\n");
            writeln!(rust, "pub(super) const {number}: u64 = {value};").expect("a String takes all");
        } else if let Some(rest) = line.strip_prefix("struct sluice_") {
            name = capitalised(rest.trim_end_matches('{').trim());
        } else if let Some(field) = line.strip_prefix("__u64 ").and_then(|field| field.strip_suffix(';')) {
            fields.push(field);
        } else if line == "};" {
            let fields = std::mem::take(&mut fields);
            let declared = fields.join(": u64, pub(super) ");
            rust.push_str("#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\n");
            writeln!(rust, "pub(super) struct {name} {{ pub(super) {declared}: u64 }}").expect("a String takes all");
            rust.push_str(&conversions(&name, &fields));
        }
    }
    rust
}

/// Conversions of a struct: the agent reads settings and measurements, and writes settings and stations. The tests also write measurements.
fn conversions(name: &str, fields: &[&str]) -> String {
    let write = format!(
        "/// As the map holds it.
        pub(super) fn to_bytes(self) -> Vec<u8> {{ [self.{}].into_iter().flat_map(u64::to_ne_bytes).collect() }}",
        fields.join(", self.")
    );
    let read = format!(
        "/// From what the map holds; none where that is too short.
        pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {{
            let (words, _) = bytes.as_chunks();
            let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
            Some(Self {{ {}: words.next()? }})
        }}",
        fields.join(": words.next()?, ")
    );
    match name {
        "Settings" => format!("impl {name} {{ {write} {read} }}\n"),
        "Station" => format!("impl {name} {{ {write} }}\n"),
        _ => format!("impl {name} {{ {read} }}\n#[cfg(test)] impl {name} {{ {write} }}\n"),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
