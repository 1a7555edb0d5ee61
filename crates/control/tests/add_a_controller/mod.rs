//! Holds docs/add-a-controller.md to its word: its example is the file beside this one, compiled and tested here; and a
//! copy of the workspace's lower crates takes it as a new controller by that file and the page's registry entry alone.

#[expect(unreachable_pub, reason = "public where it belongs, in the crate's source")]
mod fixed_drain;

use control::Name;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

const EXAMPLE: &str = include_str!("fixed_drain.rs");
const PAGE: &str = include_str!("../../../../docs/add-a-controller.md");

/// Added to the copy's crate `queue`, with `TABLE` for the page's scenario.
const READS_THE_TABLE: &str = r###"//! The page's table, read by a crate that has the controller.

#[derive(Clone, Copy)]
struct Nothing;

impl queue::Packet for Nothing {
    fn len(&self) -> units::Bytes {
        units::Bytes::new(0)
    }

    fn flow(&self) -> u64 {
        0
    }

    fn ecn(&self) -> queue::Ecn {
        queue::Ecn::NotEct
    }

    fn mark(&mut self) {}
}

#[test]
fn the_table_builds_the_controller() {
    use control::Controller as _;
    let file: std::collections::BTreeMap<String, queue::Settings> = toml::from_str(r##"TABLE"##).unwrap();
    let (_, controller) = file["queue"].build::<Nothing>(0).unwrap();
    assert_eq!(controller.name().as_str(), "fixed_drain");
    assert_eq!(controller.target_delay(), Some(units::Duration::from_millis(200)));
    assert_eq!(controller.needs().interval, units::Duration::from_millis(50));
}
"###;

/// What stands between the fences of the page's blocks in `language`.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let block = |rest: &'static str| rest.split_once("```").expect("a fence is closed").0;
    PAGE.split(fence.as_str()).skip(1).map(block).collect()
}

/// The only block in `language` that contains `text`.
fn block_with(language: &str, text: &str) -> &'static str {
    let found: Vec<_> = blocks(language).into_iter().filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "blocks in {language} with {text:?}");
    found[0]
}

#[test]
fn the_page_shows_the_file_that_is_compiled() {
    let shown = block_with("rust", "impl Controller for");
    assert!(shown == EXAMPLE, "docs/add-a-controller.md and fixed_drain.rs differ");
}

#[test]
fn every_controller_has_a_page() {
    let pages = workspace().join("docs/controllers");
    for name in Name::ALL {
        let page = pages.join(format!("{name}.md"));
        assert!(page.is_file(), "docs/controllers/{name}.md is missing");
    }
}

#[test]
fn one_file_and_one_registry_entry_add_a_controller() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("add-a-controller");
    copy_lower_crates(&copy).unwrap();

    let control = copy.join("crates/control");
    fs::write(control.join("src/fixed_drain.rs"), EXAMPLE).unwrap();
    let lib = control.join("src/lib.rs");
    let registered = with_entry(&fs::read_to_string(&lib).unwrap(), block_with("rust", "fixed_drain: FixedDrain,"));
    fs::write(&lib, registered).unwrap();

    let reads_the_table = READS_THE_TABLE.replace("TABLE", block_with("toml", "[queue.fixed_drain]"));
    fs::write(copy.join("crates/queue/tests/new_controller.rs"), reads_the_table).unwrap();
    let tests = copy.join("crates/queue/tests/main.rs");
    let with_it = fs::read_to_string(&tests).unwrap() + "mod new_controller;\n";
    fs::write(&tests, with_it).unwrap();

    // No `--offline`: the lock file names what the tests around this one were built with, so nothing is asked for; but
    // where only this crate was built so far, crate `queue` may still need a download.
    let output = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "-p", "control", "-p", "queue", "--features", "control/schema,queue/schema"])
        .args(["--lib", "--test", "all"])
        .arg("--target-dir")
        .arg(copy.join("target"))
        .current_dir(&copy)
        // Quick to compile is what counts here.
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_TEST_DEBUG", "false")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates that know of controllers' types, at `copy`, as they are now; what an earlier run compiled there stays.
fn copy_lower_crates(copy: &Path) -> io::Result<()> {
    if copy.join("crates").exists() {
        fs::remove_dir_all(copy.join("crates"))?;
    }
    for name in ["units", "control", "queue"] {
        copy_folder(&workspace().join("crates").join(name), &copy.join("crates").join(name))?;
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(workspace().join(file), copy.join(file))?;
    }
    // The copy has no page; and this test must not run itself.
    let tests = copy.join("crates/control/tests");
    fs::remove_dir_all(tests.join("add_a_controller"))?;
    fs::write(tests.join("main.rs"), "mod every_controller;\n")
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // Read and written, not `fs::copy`: a fresh time of change makes cargo look at the file again.
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// `lib` with `entry` at the end of its registry.
fn with_entry(lib: &str, entry: &str) -> String {
    let start = lib.find("registry::controllers! {").expect("lib.rs has the registry");
    let end = start + lib[start..].find("\n}").expect("the registry ends") + 1;
    let registered = format!("{}{entry}{}", &lib[..end], &lib[end..]);
    let module = block_with("rust", "pub mod fixed_drain;");
    registered.replacen("mod interval;", &format!("{module}mod interval;"), 1)
}
