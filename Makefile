# placet: make demo needs Go, make test Go, git and a browser: without one, it installs
# Debian's Chromium where it may, and says what to install where it may not.
#
#   build        bin/placet, one static file
#   demo         builds it and shows a question being answered; FAMILY=faber, afl,
#                optimizer, nemawashi or pal shows another story, and STEP=1 waits
#                for Enter after each step
#   test         every test; pictures of the pages come into bin/screenshots
#   lint         gofmt, go vet, staticcheck, and the licences of what is built in
#   race         the tests under the race detector (needs a C compiler)
#   fuzz         every fuzz target for FUZZTIME each
#   fuzz-long    every fuzz target until all of them made EXECUTIONS together
#   cover        statement coverage, and whether it is enough
#   bench        the figures, as ratios to a floor measured in the same run
#   bench-smoke  the same in small: does every measurement still run?
#   size         the lines of code, by package
#   torture      the fault laboratory: in memory for TORTURETIME, then the real
#                binary under load, killed and cut off; half an hour at most
#   clean        removes what the above made

SHELL := /bin/sh
GO ?= go
FUZZTIME ?= 30s
EXECUTIONS ?= 10000000
BENCHFLAGS ?=
TORTURETIME ?= 5m
# How many tests of a package run side by side. Most of those that start placet wait
# for it more than they work.
PARALLEL ?= 8
# How long the tests of a package may take: twenty minutes are for a machine that does much else.
TESTTIMEOUT ?= 20m
TORTURESEED ?= 1
FAMILY ?= ask

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unversioned)
# The machines are pure and start no goroutine: under the race detector runs that test of
# theirs in which the store and the loop work at several things at once.
MACHINES := engine/afl engine/ask engine/faber engine/nemawashi engine/optimizer engine/pal
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build demo test bench bench-smoke size torture lint race fuzz fuzz-long cover clean need-git need-browser

build:
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/placet ./cmd/placet

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

test: need-git need-browser
	@PLACET_SCREENSHOTS=$${PLACET_SCREENSHOTS:-$(CURDIR)/bin/screenshots} $(GO) test -parallel $(PARALLEL) -timeout $(TESTTIMEOUT) ./...

bench: build
	@$(GO) run ./internal/bench -placet bin/placet $(BENCHFLAGS)

bench-smoke: build
	@$(GO) run ./internal/bench -placet bin/placet -smoke $(BENCHFLAGS)

torture: need-git
	@$(GO) run ./internal/faultsim -for $(TORTURETIME) -seed $(TORTURESEED)
	@PLACET_TORTURE=full $(GO) test ./cmd/placet/cli -run '^TestTorture' -timeout 30m -count=1 -v

size:
	@$(GO) run ./internal/size

lint:
	@bad=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .); [ -z "$$bad" ] || { echo "not formatted, run gofmt -w on:" >&2; echo "$$bad" >&2; exit 1; }
	@$(GO) vet ./...
	@$(GO) run $(STATICCHECK) ./...
	@$(GO) run ./internal/licences -check

race: need-git
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null 2>&1; then \
	  $(GO) test -race -short -parallel $(PARALLEL) -timeout $(TESTTIMEOUT) $$($(GO) list ./... | grep -v -x $(MACHINES:%=-e placet/%)) && \
	  $(GO) test -race -short -timeout $(TESTTIMEOUT) -run 'Metamorphic' $(MACHINES:%=./%); \
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
	@$(GO) test -coverpkg=./cmd/...,./engine/...,./layout/...,./schemas/...,./templates/... -coverprofile=coverage.out ./...
	@awk -f .ci/cover.awk coverage.out

clean:
	@rm -rf bin coverage.out demo-workspace
