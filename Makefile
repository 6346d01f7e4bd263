# placet: make demo needs Go, make test Go, git and a browser: without one, it installs
# Debian's Chromium where it may, and says what to install where it may not.
#
#   build        bin/placet, one static file
#   demo         builds it and shows a question being answered; FAMILY=faber, afl,
#                optimizer, nemawashi or pal shows another story, and STEP=1 waits
#                for Enter after each step
#   test         every test; pictures of the pages come into bin/screenshots
#   lint         gofmt, go vet, staticcheck, and the licences of what is built in
#   macos        whether the program and its tests compile for macOS, and go vet for it
#   race         tests of packages with goroutines under the race detector (needs a C
#                compiler)
#   fuzz         every fuzz target for FUZZTIME each
#   fuzz-long    every fuzz target until all of them made EXECUTIONS together
#   cover        statement coverage, and whether it is enough
#   bench        the figures, as ratios to a floor measured in the same run
#   bench-smoke  the same in small: does every measurement still run?
#   size         the lines of code, by package
#   torture      what make test does in small: the laws at every file call, the fault
#                laboratory for TORTURETIME, and the real binary under load, kill -9 and
#                lost events; about three quarters of an hour
#   mutants      whether the tests notice each of a list of mistakes; about an hour
#   man          the manual pages, in bin/man
#   release      archives, packages and what else belongs to a release, in dist
#   module       gives the module the path PATH: make module PATH=example.org/you/placet
#   clean        removes what the above made

SHELL := /bin/sh
GO ?= go
FUZZTIME ?= 30s
EXECUTIONS ?= 10000000
BENCHFLAGS ?=
TORTURETIME ?= 5m
# How many tests of a package run side by side. Most of those that start placet wait
# for it more than they work.
PARALLEL ?= 16
# How long the tests of a package may take, on a machine that does much else. No test has a
# limit of its own.
TESTTIMEOUT ?= 45m
TORTURESEED ?= 1
FAMILY ?= ask

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unversioned)
# The packages that work at several things at once. The machines are pure; of the laws, those
# in which the loop has eight workers run.
CONCURRENT := ./cmd/placet/cli ./cmd/placet/daemon ./engine/exec ./engine/facade/... ./engine/loop ./engine/send ./engine/statedir ./engine/store/... ./engine/watch ./cmd/placet/config ./cmd/placet/web ./cmd/placet/asks ./cmd/placet/view
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# A line for each package when its tests end, and what has failed in the end.
GOTESTSUM := gotest.tools/gotestsum@v1.13.0
# Lint vets; stripped test programs are linked in half the time. Without -count, go would read
# every file again that a test has opened, to know when it may keep the test's result; three
# packages at once because tests that start placet mostly wait for it.
TESTFLAGS := -vet=off '-ldflags=-s -w' -count=1 -p 3 -parallel $(PARALLEL) -timeout $(TESTTIMEOUT)

# Everything is built in one way, without cgo and without the paths of this machine: what one
# command has compiled, the next need not compile again.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath

# When the commit was made: what is built of it says so.
MADE = $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# Where a release will be found, such as https://example.org/placet/1.0.0; without it, the formula
# and install.sh take the archives that are beside them.
RELEASE_URL ?=

# The command line of "make module" names a path by PATH, which make would hand on as the place of
# programs: they are looked for where make itself was started.
ifeq ($(origin PATH),command line)
MODULE := $(PATH)
override PATH := $(or $(shell PATH=/usr/bin:/bin; tr '\0' '\n' </proc/$$PPID/environ 2>/dev/null | sed -n 's/^PATH=//p'),$(shell printf '%s' "$$PATH"))
endif

.PHONY: build demo test bench bench-smoke size torture mutants lint race fuzz fuzz-long cover clean need-git need-browser building man release module macos

building:
	@echo 'building (some minutes the first time)' >&2

build: building
	@$(GO) build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/placet ./cmd/placet

# Two releases of one commit are equal, byte for byte.
release: need-git
	@$(GO) run -C internal/release . -root '$(CURDIR)' -out '$(CURDIR)/dist' -version '$(VERSION)' -time '$(MADE)' -url '$(RELEASE_URL)'

man:
	@$(GO) run ./internal/man -out bin/man -version '$(VERSION)' -date "$$(TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%d 2>/dev/null)"

module:
	@$(GO) run ./internal/module -to '$(MODULE)'

demo: build
	@bin/placet demo $(FAMILY) $(if $(STEP),--step)

need-git:
	@command -v git >/dev/null 2>&1 || { \
	  echo 'cannot run the tests: git is not installed, and they look at real repositories.' >&2; \
	  echo 'Install it (Debian: apt-get install git; macOS: xcode-select --install) and try again.' >&2; \
	  exit 1; }

need-browser:
	@found() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable || command -v headless-shell; }; \
	found >/dev/null 2>&1 && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo 'the pages are tested in a real browser: installing Chromium' >&2; \
	  apt-get -qq update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	fi; \
	found >/dev/null 2>&1 || { \
	  echo 'cannot run the tests: the pages are tested in a real browser, and there is none.' >&2; \
	  echo 'Install Chromium (Debian: apt-get install chromium; macOS: brew install chromium) and try again.' >&2; \
	  exit 1; }

test: need-git need-browser building
	@PLACET_SCREENSHOTS=$${PLACET_SCREENSHOTS:-$(CURDIR)/bin/screenshots} \
	  $(GO) run $(GOTESTSUM) --format standard-quiet --hide-summary=skipped -- $(TESTFLAGS) ./...

bench: build
	@$(GO) run ./internal/bench -placet bin/placet $(BENCHFLAGS)

bench-smoke: build
	@$(GO) run ./internal/bench -placet bin/placet -smoke $(BENCHFLAGS)

torture: need-git need-browser
	@$(GO) run ./internal/faultsim -for $(TORTURETIME) -seed $(TORTURESEED)
	@PLACET_LAWS=calls $(GO) test $(TESTFLAGS) -run '^Test(Toy|Laws|Crash|Errors|EveryKindOfBadFile|Scenario17Killed)' ./internal/enginetest ./engine/...
	@PLACET_TORTURE=full $(GO) test $(TESTFLAGS) -v -run '^Test(Torture|Browser)' ./cmd/placet/cli

mutants:
	@$(GO) run ./internal/mutants

size:
	@$(GO) run ./internal/size

lint:
	@bad=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .); [ -z "$$bad" ] || { echo "not formatted, run gofmt -w on:" >&2; echo "$$bad" >&2; exit 1; }
	@$(GO) vet ./...
	@$(GO) run $(STATICCHECK) ./...
	@$(GO) run ./internal/licences -check

macos:
	@$(GO) run ./internal/macos

race: export CGO_ENABLED := 1
race: need-git
	@if command -v "$$($(GO) env CC)" >/dev/null 2>&1; then \
	  $(GO) test -race -short $(TESTFLAGS) $(CONCURRENT) && \
	  $(GO) test -race $(TESTFLAGS) -run '^TestToyIsToldInManyWays$$' ./internal/enginetest; \
	else \
	  echo 'the race detector did not run: it needs a C compiler, and there is none' >&2; \
	fi

# Each package is built once. A fuzzer that is busy when its time runs out fails with
# "context deadline exceeded"; it has found something only where it has written the input.
fuzz:
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && \
	for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
	  $(GO) test -c -fuzz . -o "$$tmp/fuzz.test" "$$dir" || exit 1; \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' "$$dir"/*_test.go); do \
	    echo "$$dir $$target"; \
	    fuzz() { (cd "$$dir" && "$$tmp/fuzz.test" -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 10x -test.fuzzcachedir "$$tmp/cache"); }; \
	    fuzz || { [ -z "$$(git status --porcelain -- ':(glob)**/testdata/fuzz/**')" ] && echo 'no input failed: the time ran out under the fuzzer, once more' && fuzz; } || exit 1; \
	  done; \
	done

fuzz-long:
	@nice .ci/fuzz-long $(EXECUTIONS)

cover: need-git need-browser
	@$(GO) test $(TESTFLAGS) -coverpkg=./cmd/...,./engine/...,./layout/...,./schemas/...,./templates/... -coverprofile=coverage.out ./...
	@awk -f .ci/cover.awk coverage.out

clean:
	@rm -rf bin dist coverage.out demo-workspace
