//! Other users try to make root's `sluice enter` run their programs.

use crate::command::{sluice, stderr, stdout};
use crate::emulate;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const SECRET: &str = "root's own";

/// Runs the ignored test `inner` as root of a machine with other users, or of a user namespace with subordinate ids.
fn as_root_among_users(inner: &str) {
    let with_users = [
        &["setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups"][..],
        &["unshare", "--map-root-user", "--map-auto", "setpriv", "--reuid", "4242", "--clear-groups"],
    ];
    let runs = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["unshare", "-r", "true"]).output().is_ok_and(|output| output.status.success())
    };
    let Some(found) = with_users.iter().position(|words| runs(words)) else {
        eprintln!(
            "skipped: neither root with user namespaces nor subordinate ids (unshare --map-root-user --map-auto)"
        );
        return;
    };
    let mut command = Command::new("unshare");
    command.args([&["-m"][..], &["-m", "--map-root-user", "--map-auto"]][found]);
    command.arg(std::env::current_exe().unwrap()).args(["--ignored", "--exact", "--nocapture"]);
    let output = command.arg(format!("strangers::{inner}")).output().unwrap();
    assert!(stdout(&output).contains("test result: ok. 1 passed"), "{}{}", stdout(&output), stderr(&output));
    eprint!("{}", stderr(&output));
}

/// A process that is not an emulation of root's; it ends with this value.
struct Stranger(Child, TempDir);

impl Stranger {
    /// Starts one that says to have the node, and waits until it does.
    fn new(how: &str, node: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        fs::write(path("stranger.py"), include_str!("fixtures/stranger.py")).unwrap();
        let secret = path("secret");
        fs::write(&secret, SECRET).unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
        fs::write(path("evil"), format!("#!/bin/sh\necho stolen > {}; echo evil\n", secret.display())).unwrap();
        fs::set_permissions(path("evil"), Permissions::from_mode(0o755)).unwrap();
        let mut command = if how == "setuid" {
            // As sudo and su, it has the caller's environment, and the name that he gives it.
            fs::copy("/usr/bin/sleep", path("node-0")).unwrap();
            fs::set_permissions(path("node-0"), Permissions::from_mode(0o4755)).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "4242", "--regid", "4242", "--clear-groups"]).arg(path("node-0")).arg("600");
            command.env("SLUICE_EMULATE", format!("1 \n{node}"));
            command
        } else {
            let mut command = Command::new("/usr/bin/python3");
            command.arg(path("stranger.py")).args([how.as_ref(), folder.path(), Path::new(node)]);
            command
        };
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        let comm = format!("/proc/{}/comm", child.id());
        let is_ready = || path("ready").exists() || fs::read_to_string(&comm).is_ok_and(|name| name == "node-0\n");
        while !is_ready() {
            assert!(child.try_wait().unwrap().is_none(), "{how}");
        }
        Self(child, folder)
    }

    fn has_gained_nothing(&self, how: &str) {
        assert_eq!(fs::read_to_string(self.1.path().join("secret")).unwrap(), SECRET, "{how}");
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Another user; one whose environment changes all the time; another in a user namespace that root made; a program with
/// set-user-id, within namespaces of its own and without; root of a container.
const STRANGERS: [&str; 6] = ["user", "changing", "nested", "effective", "setuid", "contained"];

#[test]
fn root_enters_no_namespace_that_another_user_made() {
    as_root_among_users("inner_alone");
}

#[test]
#[ignore = "runs as root"]
fn inner_alone() {
    let folder = tempfile::tempdir().unwrap();
    for how in STRANGERS {
        let stranger = Stranger::new(how, "phone");
        for _ in 0..if how == "changing" { 30 } else { 1 } {
            let output = sluice(folder.path()).args(["enter", "phone", "--", "id"]).output().unwrap();
            let said = stderr(&output);
            stranger.has_gained_nothing(how);
            assert_eq!(output.status.code(), Some(2), "{how}: {said}");
            // Other tests' emulations run at the same time.
            let others = said.contains("no node of a running emulation is called `phone`");
            assert!(others || said.contains("this user runs no emulation"), "{how}: {said}");
        }
    }
}

#[test]
fn a_node_of_the_same_name_that_another_user_made_keeps_root_from_none_of_its_own() {
    as_root_among_users("inner_beside");
}

#[test]
#[ignore = "runs as root"]
fn inner_beside() {
    let Some(folder) = emulate::allowed() else { return };
    let strangers = STRANGERS.map(|how| Stranger::new(how, "own-laptop"));
    let mut own = emulate::started(folder.path(), "own");
    for _ in 0..10 {
        let output = sluice(folder.path()).args(["enter", "own-laptop", "--", "id"]).output().unwrap();
        assert!(output.status.success() && stdout(&output).starts_with("uid=0"), "{}", stderr(&output));
    }
    for (how, stranger) in STRANGERS.iter().zip(&strangers) {
        stranger.has_gained_nothing(how);
    }
    // Nor is one of them entered in its place once it has ended.
    own.kill().unwrap();
    own.wait().unwrap();
    let output = sluice(folder.path()).args(["enter", "own-laptop", "--", "id"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
