// Package browsertest opens the pages of placet in a real Chromium for tests.
package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"placet/internal/await"
)

// axeCore is the program that finds violations of the guidelines for accessibility.
//
//go:embed axe-core/axe.min.js
var axeCore string

// browsers are the names under which Chromium is installed.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// Tab is a page of a browser, with cookies of its own.
type Tab struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	said []string // the messages of its console and of its security policy
}

// Open starts a browser for one test. Under -short it skips the test.
func Open(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves the browser to the ordinary run")
	}
	var path string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("the pages are tested in a real browser, and there is none: install Chromium (Debian: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(60*time.Second))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); endBrowser(); end() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return ctx
}

// NewTab opens a page with its own cookies in a browser that Open started.
func NewTab(t *testing.T, browser context.Context) *Tab {
	t.Helper()
	b := &Tab{t: t}
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(end)
	b.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	Call(b, log.Enable, cdp.Empty{})
	return b
}

// hear keeps the messages of the page's policy and of its scripts.
func (b *Tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *log.EventEntryAdded:
		if ev.Entry.Source != log.EntrySourceNetwork {
			b.said = append(b.said, ev.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, ev.ExceptionDetails.Text)
	case *page.EventJavascriptDialogOpening:
		b.said = append(b.said, "a dialog: "+ev.Message)
	}
}

// Quiet checks that neither the page's policy nor a script reported anything.
func (b *Tab) Quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 0 {
		b.t.Errorf("the browser says %q", b.said)
	}
}

// Call sends a command of the DevTools protocol.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// Do runs actions one after another.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Eval returns the value of an expression in the page.
func Eval[T any](b *Tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// Until waits until an expression is true in the page, which may navigate meanwhile.
func (b *Tab) Until(what, expression string) {
	b.t.Helper()
	defer func() {
		if b.t.Failed() {
			text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
			b.t.Logf("%v, on %s", err, text)
		}
	}()
	await.Until(b.t, what, func() bool {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && is
	})
}

// Looks sets the width of the window, in pixels, and the scheme of colours.
func (b *Tab) Looks(width int64, scheme string) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, 900))
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
}

// look is a width of the window, in pixels, and a scheme of colours.
type look struct {
	width  int64
	scheme string
}

// looks are the looks in which pages are tested: a small dark one and a wide light one,
// and under PLACET_TORTURE=full three sizes in both schemes.
func looks() []look {
	if os.Getenv("PLACET_TORTURE") != "full" {
		return []look{{360, "dark"}, {1440, "light"}}
	}
	return []look{{360, "light"}, {1024, "light"}, {1600, "light"}, {360, "dark"}, {1024, "dark"}, {1600, "dark"}}
}

// States saves pictures of the page in several looks, name-size-scheme.png, and runs
// axe-core on each. They go to the folder that PLACET_SCREENSHOTS names, or to the other
// artefacts of the test.
func (b *Tab) States(name string) {
	b.t.Helper()
	for _, l := range looks() {
		b.Looks(l.width, l.scheme)
		if over := Eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			b.t.Errorf("%s is %d pixels too wide at %d", name, over, l.width)
		}
		b.axe(fmt.Sprintf("%s %s %d", name, l.scheme, l.width))
		b.shot(fmt.Sprintf("%s-%d-%s", name, l.width, l.scheme))
	}
}

// Picture saves a light picture of the page, name.png, as wide as a document shows it.
func (b *Tab) Picture(name string) {
	b.t.Helper()
	b.Looks(820, "light")
	b.shot(name)
}

// shot saves a picture of the whole page.
func (b *Tab) shot(name string) {
	b.t.Helper()
	Eval[int](b, `window.scrollTo(0, 0), document.activeElement.blur(), 0`)
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	dir := os.Getenv("PLACET_SCREENSHOTS")
	if dir == "" {
		dir = b.t.ArtifactDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// axe runs axe-core in the page and reports violations of WCAG 2.2 AA.
func (b *Tab) axe(what string) {
	b.t.Helper()
	if !Eval[bool](b, `!!window.axe`) {
		Eval[int](b, axeCore+";0")
	}
	found := Eval[string](b, `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + " " + n.failureSummary.slice(0, 300))}))))`, chromedp.EvalAwaitPromise)
	var list []any
	if err := json.Unmarshal([]byte(found), &list); err != nil || len(list) > 0 {
		b.t.Errorf("%s: axe finds %v %s", what, err, found)
	}
}
