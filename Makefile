# forage. `make run` and `make test` bring what they need; `make help` lists the rest.
PREFIX ?= /usr/local
# Where a program looks for them, too.
MODELS = $(or $(FORAGE_DATA_DIR),$(or $(XDG_DATA_HOME),$(HOME)/.local/share)/forage)/models
export PATH := $(CURDIR)/.deps/bin:$(PATH)
export ONCE

.PHONY: all run docs check test gate test-all test-clients soak bench asan tsan fuzz coverage lint fmt install release check-release
.PHONY: cross clean help

all: ## build build/forage (the default)
	@scripts/build release

run: ## build, start the HTTP server and show it working (ONCE=1: then end it)
	@scripts/run

docs: all ## the documentation as a web site, in build-site/
	@scripts/docs && scripts/site

check: ## between two edits, a minute: builds, lints what changed, runs the tests of the touched parts
	@scripts/setup build && scripts/test --changed

test: ## after a change, ten minutes: what must always hold; the last line counts (STAGES=unit: only these stages)
	@scripts/setup build && scripts/test $(or $(STAGES),test)

gate: ## before a change lands, after make test, fifteen minutes: slow tests, sanitizers, browser, packages
	@scripts/setup build && scripts/test gate

test-all: ## before a release, eighty minutes: every test on every build, real clients, long runs, faults
	@scripts/setup build && scripts/test all

.PHONY: faults
faults: ## break forage in a hundred ways and see the named test find each (PART=2/4: a share)
	@scripts/replay-faults $(if $(PART),--part $(PART))

test-clients: ## connect the real clients of the vendors
	@scripts/setup build && scripts/test clients

.PHONY: test-packages
test-packages: ## install and use every package in a bare Debian (needs root)
	@scripts/check-packages

soak: ## the tests that kill servers and load databases, ten times as long
	@scripts/soak

bench: ## measure against the peers
	@scripts/setup build && scripts/bench

asan: ## unit and black-box tests under AddressSanitizer and UBSan
	@scripts/setup build && scripts/test asan

tsan: ## unit and black-box tests under ThreadSanitizer
	@scripts/setup build && scripts/test tsan

fuzz: ## fuzz every parser for FUZZ_SECONDS (60) and print the coverage reached
	@scripts/setup test && scripts/fuzz

coverage: ## line coverage of src/ by the unit and black-box tests
	@scripts/setup test && scripts/coverage

lint: ## formatting, house rules, static checks
	@scripts/setup test && scripts/lint

fmt: ## format the C sources
	@scripts/setup test && git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

.PHONY: model
model: ## bring the model that finds memories by what they mean into the data folder
	@scripts/setup model && umask 077 && mkdir -p "$(MODELS)" && cp .deps/model/*.model "$(MODELS)" && ls "$(MODELS)"/*.model

install: all ## install into PREFIX (/usr/local), below DESTDIR
	@meson configure build -Dprefix="$(PREFIX)" >build/install.log 2>&1 && \
		ninja -C build --quiet forage >>build/install.log 2>&1 || { cat build/install.log; exit 1; }
	@meson install -C build --no-rebuild --quiet $(if $(DESTDIR),--destdir "$(abspath $(DESTDIR))")

release: ## every file of a release into dist/, the same bytes each time
	@scripts/release

check-release: ## build the release twice, in different folders, and compare
	@scripts/check-release

.PHONY: image
image: ## the container image as an OCI layout in build-image/ (CHROMIUM=1: with a second tag that has a browser)
	@CHROMIUM=$(CHROMIUM) scripts/image

cross: ## build for aarch64 and check the result
	@scripts/check-cross

clean: ## remove what was built (the libraries in .deps stay)
	rm -rf build build-* dist dist.new

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
