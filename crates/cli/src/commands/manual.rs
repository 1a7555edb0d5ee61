//! Shell completions and manual pages.

use crate::args::Args;
use crate::console::print;
use crate::failure::Failure;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use lab::home;
use lab::store::{make_folder, write_whole};
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::line(), "sluice", &mut text);
    let text = String::from_utf8_lossy(&text);
    print(&if cfg!(feature = "simulator") { with_ids(shell, &text) } else { text.into_owned() })
}

/// Commands whose arguments are ids of scenarios.
const WITH_IDS: [&str; 4] = ["run", "emulate", "reproduce", "check"];

/// Lets ids of built-in scenarios be completed, not only files; the generator does not know these ids.
fn with_ids(shell: Shell, text: &str) -> String {
    let ids = home::ids().join(" ");
    let commands = WITH_IDS.join("|");
    match shell {
        Shell::Bash => format!(
            "{text}
_sluice_or_ids() {{
    _sluice \"$@\"
    case \"$2\" in -*) return 0;; esac
    case \"${{COMP_WORDS[1]}}\" in
        {commands}) COMPREPLY+=( $(compgen -W \"{ids}\" -- \"$2\") );;
    esac
}}
complete -F _sluice_or_ids -o nosort -o bashdefault -o default sluice
"
        ),
        Shell::Fish => WITH_IDS.iter().fold(text.to_owned(), |text, command| {
            format!("{text}complete -c sluice -n \"__fish_sluice_using_subcommand {command}\" -a \"{ids}\"\n")
        }),
        Shell::Zsh => {
            let ids = format!("_sluice_ids() {{ _alternative 'ids:scenario:({ids})' 'files:file:_files' }}\n");
            let named = |line: &str| line.contains("targets -- ") || line.contains(":file -- The scenario");
            let line =
                |line: &str| if named(line) { line.replace(":_files'", ":_sluice_ids'") } else { line.to_owned() };
            let lines: Vec<String> = text.lines().map(line).collect();
            lines.join("\n").replacen('\n', &format!("\n{ids}"), 1) + "\n"
        }
        _ => text.to_owned(),
    }
}

pub(super) fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let mut command = Args::line().disable_help_subcommand(true);
    command.build();
    let Some(folder) = folder else { return print(&page(&command)?) };
    make_folder(folder)?;
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in shown.chain([&command]) {
        let name = Man::new(command.clone()).get_filename();
        write_whole(&folder.join(name), page(command)?.as_bytes())?;
    }
    Ok(())
}

fn page(command: &Command) -> Result<String, Failure> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    let rendered = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text))
        .and_then(|()| if command.has_subcommands() { man.render_subcommands_section(&mut text) } else { Ok(()) });
    rendered.map_err(|error| Failure::failed(format!("cannot make the manual page: {error}")))?;
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).into_owned() + &sections(&after))
}

/// Formats the text after a command's options as sections. Lines that end with a colon become headings, and indented
/// lines stay as they are. `clap_mangen` would wrap the examples like prose.
fn sections(text: &str) -> String {
    let mut roff = String::new();
    for line in text.lines() {
        // Unescaped, a hyphen would become a dash, and a full stop or quote at the start a roff request.
        let plain = line.trim_start().replace('\\', "\\e").replace('-', "\\-");
        let plain = if plain.starts_with(['.', '\'']) { format!("\\&{plain}") } else { plain };
        let _ = match (line.strip_suffix(':'), line.strip_prefix("  ")) {
            (Some(title), _) if !title.contains(' ') || title == "Exit status" => {
                writeln!(roff, ".SH {}", title.to_uppercase())
            }
            (_, Some(example)) => {
                let indent = example.len() - example.trim_start().len();
                writeln!(roff, ".nf\n{:indent$}{plain}\n.fi", "")
            }
            (_, None) if plain.is_empty() => writeln!(roff, ".PP"),
            _ => writeln!(roff, "{plain}"),
        };
    }
    roff
}
