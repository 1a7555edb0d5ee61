//! Settings of a live queue, given as arguments: the keys of a scenario's `[queue]`.

use control::Name;
use queue::Settings;
use toml::{Table, Value};

/// Returns the settings that `sets` give. Each is `KEY=VALUE` with a key of `[queue]`, such as
/// `adth.target_delay=50 ms`. `queue.` may precede a key, as in `--set` for a scenario.
///
/// # Errors
/// Names the first argument that is not a key with a value, or says why the settings as a whole are invalid.
pub fn settings(sets: &[String]) -> Result<Settings, String> {
    let mut root = Table::new();
    for set in sets {
        let Some((path, text)) = set.split_once('=') else {
            return Err(format!("--set {set}: expected KEY=VALUE"));
        };
        let path = path.trim();
        let path = path.strip_prefix("queue.").unwrap_or(path);
        put(&mut root, path, value(text)).map_err(|why| format!("--set {set}: {why}"))?;
    }
    let refused = |error: toml::de::Error| format!("--set {}: {}", sets.join(" --set "), error.message().trim());
    Value::Table(root).try_into().map_err(refused)
}

/// Returns the key of `[queue]` for a controller's target delay; `None` if the controller has no target.
pub fn target_key(controller: Name) -> Option<String> {
    controller.target().map(|key| format!("{controller}.{key}"))
}

/// Reads a value as TOML. Any other text counts as a string without its quotes.
fn value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| Value::String(text.trim().to_owned()))
}

fn put(mut table: &mut Table, path: &str, value: Value) -> Result<(), String> {
    let (above, key) = path.rsplit_once('.').map_or((None, path), |(above, key)| (Some(above), key));
    for name in above.into_iter().flat_map(|above| above.split('.')) {
        let inner = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
        table = inner.as_table_mut().ok_or_else(|| format!("`{name}` is a value, not a table"))?;
    }
    table.insert(key.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Controller as _, Limit};
    use units::Duration;

    fn read(sets: &[&str]) -> Result<Settings, String> {
        settings(&sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn keys_are_those_of_a_scenarios_queue() {
        let settings = read(&["controller=adth", "queue.adth.target_delay=50 ms", "limit=300"]).unwrap();
        assert_eq!((settings.controller, settings.limit), (Name::Adth, Limit::Packets(300)));
        assert_eq!(settings.adth.unwrap().target_delay.get(), Duration::from_millis(50));
        assert_eq!(read(&["limit=\"64 kB\""]).unwrap().limit, read(&["limit=64 kB"]).unwrap().limit);
        assert_eq!(read(&[]).unwrap(), Settings::default());
    }

    #[test]
    fn the_key_of_a_target_sets_the_target() {
        for &name in Name::ALL {
            let target = |sets: &[&str]| read(sets).unwrap().build_controller(0).unwrap().target_delay();
            let controller = format!("controller={name}");
            match target_key(name) {
                Some(key) => {
                    let sets = [controller.as_str(), &format!("{key}=70 ms")];
                    assert_eq!(target(&sets), Some(Duration::from_millis(70)), "{name}");
                }
                None => assert_eq!(target(&[&controller]), None, "{name}"),
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(read(&["adth"]).unwrap_err(), "--set adth: expected KEY=VALUE");
        assert_eq!(read(&["limit=1", "limit.x=1"]).unwrap_err(), "--set limit.x=1: `limit` is a value, not a table");
        let message = read(&["controller=adht"]).unwrap_err();
        assert!(message.contains("unknown variant `adht`") && message.contains("`adth`"), "{message}");
        let message = read(&["adth.target=1"]).unwrap_err();
        assert!(message.contains("unknown field `target`"), "{message}");
    }
}
