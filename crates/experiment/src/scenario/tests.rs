use super::cases::{Case, Scenario, Wishes};
use super::check;
use super::draft::Draft;
use super::refusal::Refusal;
use super::source::Source;

const CHAIN: &str = include_str!("../../../cli/tests/fixtures/chain.toml");

fn wishes(set: &[&str]) -> Wishes {
    Wishes { set: set.iter().map(|&set| set.to_owned()).collect(), ..Wishes::default() }
}

fn parse(text: &str, wishes: &Wishes) -> Scenario {
    Scenario::parse("chain.toml", text.as_bytes(), wishes).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn refused(text: &str, wishes: &Wishes) -> String {
    Scenario::parse("chain.toml", text.as_bytes(), wishes).unwrap_err().to_string()
}

fn load(text: &str) -> Result<Scenario, Refusal> {
    Scenario::read("chain.toml", "chain", text.as_bytes(), &(), &wishes(&[]))
}

fn labels(case: &Case) -> [&str; 2] {
    [&case.labels["scheme"], &case.labels["flow.*.traffic.rate"]]
}

#[test]
fn cases_are_the_cross_product_in_the_files_order() {
    let scenario = parse(CHAIN, &wishes(&[]));
    let seen: Vec<_> = scenario.cases.iter().map(labels).collect();
    assert_eq!(seen, [["FIFO", "0.5 Mb/s"], ["FIFO", "2.5 Mb/s"], ["ADTH", "0.5 Mb/s"], ["ADTH", "2.5 Mb/s"]]);
    assert_eq!(scenario.seeds, [1, 2]);
    let axes: Vec<_> = scenario.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(axes, ["scheme", "flow.*.traffic.rate"]);
}

#[test]
fn a_case_has_its_values_and_says_which_they_are() {
    let scenario = parse(CHAIN, &wishes(&["queue.limit=77"]));
    let case = &scenario.cases[3];
    assert_eq!(case.network.queue.controller, control::Name::Adth);
    assert_eq!(case.network.queue.limit, control::Limit::Packets(77));
    assert_eq!(case.network.flow[0].traffic.rate, Some(sim::config::Load::One(units::Rate::kbps(2500))));
    let set: Vec<_> = case.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(set, ["flow.*.traffic.rate=\"2.5 Mb/s\"", "queue.controller=\"adth\"", "queue.limit=77"]);
    assert_eq!(scenario.base.queue.controller, control::Name::None);
}

#[test]
fn a_nodes_queue_inherits_what_the_case_sets() {
    let scenario = parse(CHAIN, &wishes(&[]));
    let queue = scenario.cases[2].network.node[1].queue.as_ref().expect("n1 has a queue of its own");
    assert_eq!(queue.limit, control::Limit::Packets(100));
    assert_eq!(queue.controller, control::Name::Adth);
    assert!(queue.adth.is_some());
    assert!(scenario.cases[2].network.node[0].queue.is_none());
}

#[test]
fn seeds_are_counted_listed_and_limited() {
    let listed = CHAIN.replace("seeds = 2", "seeds = [7, 3]");
    let seeds = |text: &str, count| parse(text, &Wishes { seeds: count, ..Wishes::default() }).seeds;
    assert_eq!(seeds(&listed, None), [7, 3]);
    assert_eq!(seeds(&listed, Some(1)), [7]);
    assert_eq!(seeds(&listed, Some(4)), [7, 3, 8, 9]);
    assert_eq!(seeds(CHAIN, Some(4)), [1, 2, 3, 4]);
    for wrong in ["seeds = [1, 1]", "seeds = []", "seeds = -1", "seeds = 10001", "seeds = \"two\""] {
        assert!(refused(&CHAIN.replace("seeds = 2", wrong), &wishes(&[])).contains("chain.toml:45:"), "{wrong}");
    }
}

#[test]
fn an_axis_may_be_written_without_quotes_and_may_vary_any_key() {
    let dotted = CHAIN.replace(
        "\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]",
        "queue.limit = [5, \"64 kB\"]\nduration = [\"1 s\"]",
    );
    let dotted = dotted.split("[[claim]]").next().expect("a split gives at least one part");
    let scenario = parse(dotted, &wishes(&[]));
    assert_eq!(scenario.axes[1].name, "queue.limit");
    assert_eq!(scenario.axes[1].labels, ["5", "64 kB"]);
    assert_eq!(scenario.cases[0].network.duration, units::Duration::from_secs(1));
    assert_eq!(scenario.cases[1].network.queue.limit, control::Limit::Bytes(units::Bytes::new(64_000)));
}

#[test]
fn a_sweep_without_end_is_refused() {
    let many: Vec<String> = (1..=1000).map(|limit| limit.to_string()).collect();
    let text = CHAIN
        .replace("seeds = 2", &format!("seeds = 2\n\"queue.limit\" = [{0}]\n\"mac.cw_max\" = [{0}]", many.join(",")));
    assert!(refused(&text, &wishes(&[])).contains("more than 10000 cases"));
}

#[test]
fn the_id_is_the_files_name_or_a_plain_word() {
    let without = CHAIN.replace("id = \"chain\"\n", "");
    assert_eq!(Scenario::parse("my chain.toml", without.as_bytes(), &wishes(&[])).unwrap().id, "my-chain");
    for wrong in ["../../etc", "", "..", "a b"] {
        let text = CHAIN.replace("id = \"chain\"", &format!("id = \"{wrong}\""));
        assert!(refused(&text, &wishes(&[])).starts_with("chain.toml:3:6: "), "{wrong}");
    }
}

/// Returns the chain with one more claim of these lines.
fn with_claim(lines: &str) -> String {
    format!(
        "{CHAIN}\n[[claim]]\nid = \"more\"\nsays = \"\"\nsource = \"\"\nmeasure = \"totals.goodput_bps\"\nholds = \"> 0\"\n{lines}\n"
    )
}

#[test]
fn a_claim_that_can_never_be_ruled_on_is_refused() {
    let wrong = |lines: &str, part: &str| {
        let refusal = load(&with_claim(lines)).map(|_| ()).unwrap_err().to_string();
        assert!(refusal.contains(part), "{lines}: {refusal}");
    };
    let rate = "flow.*.traffic.rate";
    wrong("first = { axis = \"scheme\", share = 0.9 }", "which is not a number");
    wrong(&format!("first = {{ axis = \"{rate}\", share = 1.5 }}"), "at most 1");
    wrong("first = { axis = \"speed\", share = 0.9 }", "no `speed`");
    wrong("against = { scheme = [\"FIFO\", \"LIFO\"] }", "no value called `LIFO`");
    wrong("reaching = \"totals.goodput\"\nagainst = { scheme = \"*\" }", "no result `totals.goodput`");
    wrong("series = { take = \"max\" }", "no result `totals.goodput_bps`");
    wrong("series = { take = \"median\" }", "median");
    let formula = |text: &str, labels: &str| format!("formula = \"{text}\"\ngroups = {{ a = {{ {labels} }} }}");
    wrong(&formula("max(b)", "scheme = \"FIFO\""), "no group is called `b`");
    wrong(&formula("max(a)", "scheme = \"LIFO\""), "no value called `LIFO`");
    wrong(&formula("max(a", "scheme = \"FIFO\""), "cannot be parsed");
}

#[test]
fn an_answer_speaks_of_claims_that_there_are() {
    let loaded = |text: &str| load(text).map(|scenario| scenario.answer.says).map_err(|refusal| refusal.to_string());
    let with = |sentence: &str| format!("answer.says = [\"{sentence}\"]\n{CHAIN}");
    let own = parse(CHAIN, &wishes(&[])).claims[0].id.clone();
    assert_eq!(loaded(&with(&format!("ADTH: {{{own}}}."))), Ok(vec![format!("ADTH: {{{own}}}.")]));
    let said = loaded(&with("ADTH: {99}.")).unwrap_err();
    assert!(said.contains(":1:16: no claim has the id `chain.99`"), "{said}");
    assert!(loaded(&with("ADTH: {1.")).unwrap_err().contains("write the number or the id"));
    let charts =
        "\n[[chart]]\ntitle = \"t\"\nx = \"scheme\"\ny = [\"totals.loss_ratio\"]\ny_title = \"loss\"\nfirst = true\n";
    let said = loaded(&format!("{CHAIN}{charts}{charts}")).unwrap_err();
    assert!(said.contains("an earlier chart has"), "{said}");
}

#[test]
fn quick_sets_keys_that_set_can_still_change() {
    let text = format!("quick.duration = \"1 s\"\nquick.queue.limit = 7\n{CHAIN}");
    let duration = |wishes: &Wishes| parse(&text, wishes).cases[3].network.duration;
    assert_eq!(duration(&wishes(&[])), units::Duration::from_secs(3));
    assert_eq!(duration(&Wishes { quick: true, ..wishes(&[]) }), units::Duration::from_secs(1));
    let both = Wishes { quick: true, ..wishes(&["duration=2 s"]) };
    assert_eq!(duration(&both), units::Duration::from_secs(2));
    assert_eq!(parse(&text, &both).cases[3].set["queue.limit"], "7");
    assert!(refused(&format!("quick = 3\n{CHAIN}"), &both).contains("write `[quick]` with"));
}

#[test]
fn without_variations_there_is_one_case_and_no_claim_about_others() {
    let base_only = Wishes { base_only: true, ..wishes(&["queue.controller=adth"]) };
    let scenario = parse(CHAIN, &base_only).without_variations(9);
    assert_eq!((scenario.cases.len(), scenario.seeds, scenario.claims.len()), (1, vec![9], 0));
    assert_eq!(scenario.cases[0].network.queue.controller, control::Name::Adth);
    assert!(refused(CHAIN, &wishes(&["queue.controller=adth"])).contains("`scheme` in `[vary]` sets it"));
}

const PLACED: &str =
    "title = \"x\"\nduration = \"3 s\"\nnodes = { count = 3, placement = \"chain\", spacing = \"30 m\" }\n";

#[test]
fn a_node_of_nodes_is_set_by_its_name_and_all_of_them_by_a_star() {
    let limits = |set: &[&str]| -> Vec<(String, Option<control::Limit>)> {
        let nodes = parse(PLACED, &wishes(set)).base.node;
        nodes.iter().map(|node| (node.name.clone(), node.queue.as_ref().map(|queue| queue.limit))).collect()
    };
    let packets = |limit| Some(control::Limit::Packets(limit));
    assert_eq!(limits(&["node.n1.queue.limit=5"]), [("n1".to_owned(), packets(5))]);
    let all = limits(&["node.n1.queue.limit=5", "node.*.queue.limit=7", "node.n2.queue.limit=9"]);
    assert_eq!(all, [("n1".to_owned(), packets(7)), ("n0".to_owned(), packets(7)), ("n2".to_owned(), packets(9))]);
    for name in ["n3", "n01", "m1", "n-1"] {
        let said = refused(PLACED, &wishes(&[&format!("node.{name}.queue.limit=5")]));
        assert!(said.contains(name), "{said}");
        assert!(said.contains("expected one of: `n0`, `n1`, `n2`"), "{said}");
    }
}

#[test]
fn another_controller_from_outside_leaves_the_files_parameters_alone() {
    let alone = CHAIN.split("[record]").next().unwrap().replace("[queue.adth]", "controller = \"adth\"\n[queue.adth]");
    let checked = |set: &[&str]| {
        let (text, wishes) = (alone.as_str(), wishes(set));
        let source = Source::alone("chain.toml", text, &wishes.set);
        let draft = Draft::read(&source, &wishes).unwrap();
        let scenario = draft.scenario("chain").unwrap();
        check::check(&draft, &scenario, &()).map(drop).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(checked(&["queue.controller=none"]), Ok(()));
    let said = checked(&["queue.controller=none", "queue.alt.a1=3"]).unwrap_err();
    assert!(said.contains("uses the controller `alt`"), "{said}");
}

#[test]
fn a_run_of_the_file_alone_checks_no_case_of_the_sweep() {
    let flow =
        "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"saturated\", packet = \"1 kB\" }\n";
    let text = format!(
        "{PLACED}{flow}vary = {{ \"flow.f.to\" = [\"n1\", \"n2\"], \"queue.discipline\" = [\"drop-tail\", \"codel\"] }}\n\
         queue.codel.target = \"9 ms\"\n"
    );
    // `vary` comes among the keys of the top level.
    let text = text.replace(flow, "") + flow;
    let read = |set: &[&str], base_only: bool| {
        let wishes = Wishes { base_only, ..wishes(set) };
        Scenario::read("a.toml", "a", text.as_bytes(), &(), &wishes).map_err(|refusal| refusal.to_string())
    };
    let said = read(&["nodes.count=2"], false).unwrap_err();
    assert!(said.contains("there is no node `n2`"), "{said}");
    let run = read(&["nodes.count=2"], true).unwrap();
    assert_eq!((run.axes.len(), run.cases.len(), run.left_out.len()), (2, 0, 4));
    assert_eq!(run.without_variations(1).cases.len(), 1);
    // A setting that another case would use stays, as in the file.
    assert!(read(&["queue.codel.target=8 ms"], true).is_ok());
    let said = read(&["queue.red.max_p=0.1"], true).unwrap_err();
    assert!(said.contains("--set 'queue.red.max_p=0.1'") && said.contains("has no effect"), "{said}");
}

#[test]
fn labels_are_named_as_the_axis_is_written() {
    let axis = "\"queue.limit\" = [50, 0x10]\n\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]";
    let text = CHAIN.replace("\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]", axis);
    let text = text.replace("where = { scheme = \"ADTH\" }", "where = { scheme = \"ADTH\", queue.limit = [50, 0x10] }");
    let scenario = parse(&text, &wishes(&[]));
    let wanted = &scenario.claims[0].cases["queue.limit"];
    assert_eq!(wanted.iter().collect::<Vec<_>>(), ["50", "0x10"]);
    assert_eq!(scenario.axes[1].labels, ["50", "0x10"]);
}

/// Returns the chain with these values on the axis `scheme`, and without claims and charts about other values.
fn with_schemes(values: &str) -> String {
    let (head, tail) = CHAIN.split_once("scheme = [").unwrap();
    let (_, tail) = tail.split_once("]\n").unwrap();
    format!("{head}scheme = [{values}]\n{}", tail.split("[[claim]]").next().unwrap())
}

const FIFO: &str = "{ label = \"FIFO\", set = { \"queue.controller\" = \"none\" } }";
const LIGHT: &str =
    "{ label = \"ADTH\", only = { \"flow.*.traffic.rate\" = \"0.5 Mb/s\" }, set = { \"queue.limit\" = 5 } }";
const HEAVY: &str =
    "{ label = \"ADTH\", only = { \"flow.*.traffic.rate\" = [\"2.5 Mb/s\"] }, set = { \"queue.limit\" = 9 } }";

#[test]
fn a_value_may_occur_in_some_cases_only() {
    let scenario = parse(&with_schemes(&format!("{FIFO}, {HEAVY}")), &wishes(&[]));
    let seen: Vec<_> = scenario.cases.iter().map(labels).collect();
    assert_eq!(seen, [["FIFO", "0.5 Mb/s"], ["FIFO", "2.5 Mb/s"], ["ADTH", "2.5 Mb/s"]]);
    // One label has different settings in different cases.
    let scenario = parse(&with_schemes(&format!("{FIFO}, {LIGHT}, {HEAVY}")), &wishes(&[]));
    assert_eq!(scenario.axes[0].labels, ["FIFO", "ADTH"]);
    let limits: Vec<_> = scenario.cases.iter().map(|case| (labels(case), case.network.queue.limit)).collect();
    assert_eq!(
        limits[2..],
        [(["ADTH", "0.5 Mb/s"], control::Limit::Packets(5)), (["ADTH", "2.5 Mb/s"], control::Limit::Packets(9)),]
    );
}

#[test]
fn values_of_some_cases_that_cannot_be_meant_are_refused() {
    let wrong = |values: &str, part: &str| {
        let said = refused(&with_schemes(values), &wishes(&[]));
        assert!(said.contains(part), "{values}: {said}");
    };
    let only = |only: &str| format!("{FIFO}, {{ label = \"ADTH\", set = {{}}, only = {only} }}");
    wrong(&only("{ rate = \"0.5 Mb/s\" }"), "`[vary]` has no `rate`");
    wrong(&only("{ \"flow.*.traffic.rate\" = \"3 Mb/s\" }"), "has no label `3 Mb/s`");
    wrong(&only("{ \"flow.*.traffic.rate\" = [] }"), "expected a label");
    wrong(&only("{ scheme = \"FIFO\" }"), "names labels of other axes");
    wrong(&only("\"heavy\""), "`only` is a table");
    wrong(&format!("{LIGHT}, {LIGHT}"), "two values called `ADTH`");
    wrong(&format!("{FIFO}, {LIGHT}, {{ label = \"ADTH\", set = {{}} }}"), "two values called `ADTH`");
    let twice = "{ \"flow.*.traffic.rate\" = \"0.5 Mb/s\" }";
    let never = with_schemes(&only(twice)).replace(
        "\"flow.*.traffic.rate\" = [\"0.5 Mb/s\", \"2.5 Mb/s\"]",
        "\"flow.*.traffic.rate\" = [{ label = \"0.5 Mb/s\", set = {}, only = { scheme = \"FIFO\" } }, { label = \"2.5 Mb/s\", set = {} }]",
    );
    assert!(refused(&never, &wishes(&[])).contains("no case has the value `ADTH`"));
}

#[test]
fn a_short_run_keeps_some_labels_and_seeds() {
    let quick = Wishes { quick: true, seeds: Some(3), ..wishes(&[]) };
    let dotted = |keys: &str| format!("{keys}\n{CHAIN}");
    let kept = dotted("quick.vary.scheme = [\"FIFO\"]\nquick.vary.seeds = 1");
    let scenario = parse(&kept, &quick);
    assert_eq!(scenario.cases.iter().map(labels).collect::<Vec<_>>(), [["FIFO", "0.5 Mb/s"], ["FIFO", "2.5 Mb/s"]]);
    assert_eq!((scenario.seeds.len(), scenario.left_out.len()), (1, 2));
    assert_eq!(scenario.extent, crate::study::Extent::Reduced);
    assert_eq!(parse(&kept, &wishes(&[])).cases.len(), 4, "only a short run");
    for (keys, part) in [
        ("quick.vary.scheme = [\"LIFO\"]", "has no label `LIFO`"),
        ("quick.vary.speed = [\"1\"]", "`[vary]` has no `speed`"),
        ("quick.vary.scheme = []", "expected a label"),
        ("quick.vary.seeds = 0", "`seeds` is the number of seeds"),
    ] {
        let said = refused(&dotted(keys), &quick);
        assert!(said.contains(part), "{keys}: {said}");
    }
}

#[test]
fn rulings_name_what_is_varied() {
    let loaded = |lines: &str| load(&with_claim(lines)).map(|_| ()).map_err(|refusal| refusal.to_string());
    let wrong = |lines: &str, part: &str| {
        let refusal = loaded(lines).unwrap_err();
        assert!(refusal.contains(part), "{lines}: {refusal}");
    };
    let neighbour = |keys: &str| format!("[[rulings.neighbour]]\nparameter = \"T\"\n{keys}");
    assert_eq!(loaded("[rulings]\neach = \"flow.*.traffic.rate\""), Ok(()));
    assert_eq!(loaded(&neighbour("axis = \"scheme\"\nlabel = \"ADTH\"\ninstead = [\"FIFO\"]")), Ok(()));
    wrong("[rulings]\neach = \"access\"", "`[vary]` has no `access`");
    wrong("[rulings]\neach = \"scheme\"", "no claim may compare");
    wrong("steps = \"flow.*.traffic.rate\"\n[rulings]\neach = \"flow.*.traffic.rate\"", "no claim may compare");
    wrong("[rulings]\nall = \"scheme\"", "unknown key `all`");
    wrong(&neighbour("axis = \"scheme\"\nlabel = \"ADTH\"\ninstead = [\"LIFO\"]"), "has no label `LIFO`");
    wrong(&neighbour("axis = \"scheme\"\nlabel = \"AQM\"\ninstead = [\"FIFO\"]"), "has no label `AQM`");
    wrong(&neighbour("axis = \"scheme\"\nlabel = \"ADTH\"\ninstead = [\"ADTH\"]"), "at least one label of the axis");
    wrong(&neighbour("axis = \"scheme\"\nlabel = \"ADTH\"\ninstead = []"), "at least one label of the axis");
    wrong(&neighbour("axis = \"queue\"\nlabel = \"ADTH\"\ninstead = [\"FIFO\"]"), "no `queue`");
}

#[test]
fn keys_of_charts_tables_and_claims_without_effect_are_refused() {
    let network = CHAIN.split("[[claim]]").next().expect("a split gives at least one part");
    let network = network.replace("deadline = \"200 ms\"", "");
    let said =
        |text: &str| Scenario::read("chain.toml", "chain", text.as_bytes(), &(), &wishes(&[])).unwrap_err().to_string();
    let wrong = |lines: &str, part: &str| {
        let said = said(&format!("{network}\n{lines}"));
        assert!(said.contains(part), "{lines}: {said}");
    };
    let chart = |keys: &str| format!("[[chart]]\ntitle = \"t\"\ny_title = \"y (s)\"\n{keys}\n");
    let over_time = "x = \"time\"\ny = [\"flows.*.delay_max_s\"]";
    let over_schemes = "x = \"scheme\"\ny = [\"flows.*.delay_s.mean\"]";
    for over in [over_time, over_schemes] {
        wrong(&chart(&format!("{over}\ncompare = \"ratio\"")), "`compare` needs something to compare with");
        wrong(&chart(&format!("{over}\ndeadline = true")), "`deadline` has no effect: no flow that is shown");
        let fifo = "where.scheme = \"FIFO\"\ntarget = true";
        wrong(&chart(&format!("{over}\n{fifo}")), "`target` has no effect: no controller that is shown");
    }
    wrong(&chart(&format!("{over_time}\nx_scale = \"log\"")), "`x_scale` has no effect where");
    let result = "x = \"flows.*.delay_s.p99\"\nx_title = \"p99 (s)\"\ny = [\"flows.*.delay_s.max\"]";
    let front = |of: &str| chart(&format!("{result}\nfront = {{ x = \"below\", y = \"above\"{of} }}"));
    for fine in [chart(result), front(""), front(", of = \"totals.loss_ratio\", when = \"<= 2 %\"")] {
        let text = format!("{network}\n{fine}");
        assert!(Scenario::read("chain.toml", "chain", text.as_bytes(), &(), &wishes(&[])).is_ok(), "{fine}");
    }
    wrong(&front(", of = \"totals.loss_ratio\""), "set `of` and `when` together");
    wrong(&front(", of = \"totals.loss_ratio\", when = \"<= 2 ms\""), "cannot compare a share with a time");
    wrong(&front(", of = \"totals.loss\", when = \"<= 2 %\""), "there is no result `totals.loss`");
    wrong(&chart(&result.replace("p99 (s)", "p99 (Mb/s)")), "which is not written in `(Mb/s)`");
    wrong(&chart(&result.replace("delay_s.p99", "delay_s.p9")), "no part of it is called `p9`");
    wrong(&chart(&format!("{result}\ndeadline = true")), "`deadline` has no effect if `x` names a result");
    wrong(&chart(&format!("{over_time}\nx_title = \"t (s)\"")), "`time` has a title of its own");
    wrong(
        &chart(&format!("{over_time}\nfront = {{ x = \"below\", y = \"above\" }}")),
        "needs a result as `x`, with `x_title`",
    );
    let cell = "{ title = \"d (s)\", measure = \"flows.*.delay_s.mean\", compare = \"ratio\" }";
    wrong(&format!("[[table]]\ntitle = \"t\"\nrows = \"scheme\"\ncell = [{cell}]"), "`compare` needs something");
    let claim = CHAIN.replace("statistic = \"max\"\nholds = \"<= 0.001\"", "holds = \"> 0\"\nseries.to = \"4 s\"");
    let claim = claim.replace("delay_s.mean", "delay_max_s");
    assert!(said(&claim).contains("the window ends after the run"));
}

#[test]
fn models_name_nodes_and_their_results_can_be_asked_for() {
    let loaded = |class_2: &str, measure: &str| {
        let claim = with_claim("").replace("totals.goodput_bps", measure);
        load(&format!("{claim}[model.swan]\nclass_1 = \"n0\"\nclass_2 = \"{class_2}\"\n"))
            .map(|_| ())
            .map_err(|refusal| refusal.to_string())
    };
    assert_eq!(loaded("n1", "model.swan.class_1.busy_ratio"), Ok(()));
    let said = loaded("m*", "totals.goodput_bps").unwrap_err();
    assert!(said.contains("no node is called `m*`") && said.contains("class_2 = \"m*\""), "{said}");
    let said = loaded("n1", "model.swan.busy").unwrap_err();
    assert!(said.contains("no result `model.swan.busy`"), "{said}");
    let said = load(&with_claim("").replace("totals.goodput_bps", "model.swan.mac_delay_s"))
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(said.contains("no part of it is called `model`"), "{said}");
}

/// An access point with turns, and two stations.
const CELL: &str = "title = \"t\"\nduration = \"1 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nqueues = \"turns\"\n\
    position = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"sta\"\ncount = 2\nposition = [\"5 m\", \"0 m\"]\n[[flow]]\nname = \"f\"\n\
    from = \"ap\"\nto = \"*\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n";

#[test]
fn turns_are_named_where_controllers_are() {
    use sim::config::Queues::{Mac80211, Turns};
    let queues = |text: &str, set: &str| parse(text, &wishes(&[set])).cases[0].network.node[0].queues;
    let linux = CELL.replace("\"turns\"", "\"mac80211\"");
    assert_eq!(queues(&linux, "queue.limit=50"), Some(Mac80211));
    for set in ["queue.controller=turns", "node.ap.queue.controller=turns"] {
        assert_eq!(queues(&linux, set), Some(Turns), "{set}");
    }
    let swept = format!("{linux}[vary]\nqueue.controller = [\"none\", \"turns\"]\n");
    let cases = parse(&swept, &wishes(&[])).cases;
    assert_eq!(cases.iter().map(|case| case.network.node[0].queues).collect::<Vec<_>>(), [Some(Mac80211), Some(Turns)]);
    // The first network has no access point; in the second the setting is at a station.
    let none = CELL.replace("role = \"access-point\"\nqueues = \"turns\"\n", "");
    for (text, set) in [(none.as_str(), "queue.controller=turns"), (CELL, "node.sta.queue.controller=turns")] {
        let said = refused(text, &wishes(&[set]));
        assert!(said.contains("`turns` is not a controller: write `queues = "), "{set}: {said}");
    }
}

#[test]
fn a_key_of_queues_that_reaches_no_access_point_is_said() {
    let told = |set: &[&str]| {
        let scenario = parse(CELL, &wishes(set));
        scenario.remarks(&scenario.cases[0]).collect::<Vec<_>>()
    };
    for set in ["queue.discipline=fq-codel", "queue.controller=ebdp"] {
        let said = told(&[set]);
        let key = set.split('=').next().unwrap();
        assert!(said.len() == 1 && said[0].starts_with(key) && said[0].contains("`ap`"), "{said:?}");
        assert_eq!(told(&[set, "node.ap.queues=one"]), [""; 0]);
    }
    assert_eq!(told(&["mac.cw_min=31"]), [""; 0]);
    // It is enough if the setting has an effect in one case of a sweep.
    let swept = format!("{CELL}[vary]\nnode.ap.queues = [\"one\", \"turns\"]\n");
    let scenario = parse(&swept, &wishes(&["queue.discipline=codel"]));
    assert!(scenario.cases.iter().all(|case| scenario.remarks(case).next().is_none()));
}

#[test]
fn a_band_whose_rules_are_not_simulated_is_named() {
    let told = |set: &[&str]| {
        let scenario = parse(CELL, &wishes(set));
        scenario.remarks(&scenario.cases[0]).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(told(&["radio.frequency=5.18 GHz"]), "");
    assert!(told(&["radio.frequency=5.5 GHz"]).contains("radar (DFS)"));
    assert!(told(&["radio.frequency=6.115 GHz", "radio.standard=802.11ac"]).contains("before 802.11ax"));
    let high = ["radio.frequency=6.115 GHz", "radio.standard=802.11ax"];
    assert_eq!(told(&high), "");
    // A node's own standard counts, too: an access point's stations of 802.11a and ac may not send there.
    for own in ["node.ap.standard=802.11a", "node.ap.standard=802.11ac"] {
        assert!(told(&[high[0], high[1], own]).contains("before 802.11ax"), "{own}");
    }
    // The number of a channel at 5 GHz has the same meaning.
    let ax = "radio.standard=802.11ax";
    let said = told(&[ax, "node.ap.channel=56"]);
    assert!(said.starts_with("node.ap.channel: 56") && said.contains("radar (DFS)"), "{said}");
    assert_eq!(told(&[ax, "node.ap.channel=36"]), "");
    assert_eq!(told(&[ax, "node.ap.channel=57", "radio.frequency=6.115 GHz"]), "");
}

#[test]
fn a_standard_that_is_too_new_is_refused_with_the_reason() {
    let said = refused(CELL, &wishes(&["radio.standard=802.11be"]));
    assert!(said.contains("did you mean `802.11ax`?") && said.contains("4096-QAM"), "{said}");
}
