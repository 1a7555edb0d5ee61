//! Programs in four languages that call the library must print the same.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder in which Cargo has put the library beside this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(1).unwrap().to_owned()
}

/// Returns a folder with the shared library under the name by which programs find it.
fn with_library() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(built().join("libsluice.so"), folder.path().join("libsluice.so.1")).unwrap();
    folder
}

/// Runs a command to its end and returns what it printed.
fn said(folder: &TempDir, command: &mut Command) -> String {
    let done =
        command.env("LD_LIBRARY_PATH", folder.path()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}: {}: {out}{err}", done.status);
    out.into_owned()
}

/// Compiles a program in C; `with` are arguments after the file.
fn compiled(folder: &TempDir, file: &str, with: &[&str]) -> PathBuf {
    let program = folder.path().join("program");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g", "-pthread", "-I"]);
    compiler.arg(home().join("include")).arg(home().join(file)).args(with).arg("-o").arg(&program);
    said(folder, &mut compiler);
    program
}

fn shared() -> [String; 2] {
    ["-L".to_owned() + built().to_str().unwrap(), "-lsluice".to_owned()]
}

fn with_shared(folder: &TempDir, file: &str) -> PathBuf {
    compiled(folder, file, &shared().each_ref().map(String::as_str))
}

/// Returns the text that all of them print.
fn echo(folder: &TempDir) -> String {
    said(folder, Command::new(with_shared(folder, "examples/echo.c")).args(["home", "1", "duration = 2 s"]))
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok() || Path::new(program).is_file();
    if !there {
        eprintln!("left out: no {program} on this machine");
    }
    there
}

#[test]
fn the_example_asks_and_gets_answers_the_same_twice_and_others_by_another_seed() {
    let folder = with_library();
    let first = echo(&folder);
    assert!(first.starts_with("laptop 10.0.0.2 asks server 10.0.0.6\n100 asked, 100 answered, mean 1"), "{first}");
    assert_eq!(first, echo(&folder));
    let program = folder.path().join("program");
    assert_ne!(first, said(&folder, Command::new(&program).args(["home", "2", "duration = 2 s"])));
    let wrong = Command::new(&program).arg("hme").env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(told.contains("no built-in scenario has this id; did you mean `home`?"), "{told}");
}

#[test]
fn the_static_library_is_the_same() {
    let folder = with_library();
    let library = built().join("libsluice.a");
    let mut with = vec![library.to_str().unwrap(), "-lm", "-lpthread", "-ldl"];
    // Where all crates are built together, the command's BPF is in it, too.
    if said(&folder, Command::new("ar").arg("t").arg(&library)).contains("libbpf.o") {
        with.extend(["-lelf", "-lz"]);
    }
    let program = compiled(&folder, "examples/echo.c", &with);
    let given = said(&folder, Command::new(program).args(["home", "1", "duration = 2 s"]));
    assert_eq!(given, echo(&folder));
}

#[test]
fn an_air_may_be_handed_from_thread_to_thread() {
    const fn may_go<T: Send>() {}
    const { may_go::<emulate::Medium>() };
}

#[test]
fn two_airs_are_used_at_once_by_two_threads_and_by_one() {
    let folder = with_library();
    let given = said(&folder, &mut Command::new(with_shared(&folder, "tests/two.c")));
    assert_eq!(given, "the same\n");
}

#[test]
fn random_calls_end_no_program() {
    let folder = with_library();
    let program = with_shared(&folder, "tests/random.c");
    for seed in 1..=4 {
        let given = said(&folder, Command::new(&program).args([seed.to_string().as_str(), "1000"]));
        assert!(given.starts_with("1000 calls, "), "{given}");
    }
}

#[test]
#[ignore = "make nightly: valgrind simulates fifty times slower"]
fn random_calls_touch_no_memory_of_others() {
    let folder = with_library();
    let program = with_shared(&folder, "tests/random.c");
    if is_there("valgrind") {
        let words = ["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
        let known = format!("--suppressions={}", home().join("tests/valgrind.supp").display());
        let given = said(&folder, Command::new("valgrind").args(words).arg(known).arg(&program).args(["9", "1000"]));
        assert!(given.starts_with("1000 calls, "), "{given}");
    }
}

#[test]
fn python_calls_it_by_ctypes() {
    let folder = with_library();
    let given =
        said(&folder, Command::new("python3").arg(home().join("tests/call.py")).arg(built().join("libsluice.so")));
    assert_eq!(given, echo(&folder));
}

#[test]
fn go_calls_it_by_cgo() {
    let go = "/usr/local/go/bin/go";
    let folder = with_library();
    if !is_there(go) {
        return;
    }
    let mut run = Command::new(go);
    run.args(["run"])
        .arg(home().join("tests/call.go"))
        .env("CGO_CFLAGS", format!("-I{}", home().join("include").display()));
    run.env("CGO_LDFLAGS", shared().join(" ")).env("GOTOOLCHAIN", "local");
    assert_eq!(said(&folder, &mut run), echo(&folder));
}

#[test]
fn node_calls_it_by_an_addon() {
    let folder = with_library();
    let headers = "/usr/include/node";
    if !is_there("node") || !Path::new(headers).is_dir() {
        return;
    }
    let addon = folder.path().join("air.node");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-I", headers, "-I"])
        .arg(home().join("include"))
        .arg(home().join("tests/addon.c"));
    said(&folder, compiler.args(shared()).arg("-o").arg(&addon));
    let given = said(&folder, Command::new("node").arg(home().join("tests/call.js")).arg(&addon));
    assert_eq!(given, echo(&folder));
}
