package web

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/facade"
	"placet/templates"
)

//go:embed pages
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

// contentPolicy lets a page load its own files, and nothing else from anywhere.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// pageHead is the part that all pages share.
type pageHead struct {
	Lang, Title, Page string
	// Request and Run are the subject of the page, for its script; "" for none.
	Request, Run string
	// Who is the name of the logged-in user, "" for nobody.
	Who, CSRF, Workspace string
	// Refused says why something was not done, "" for nothing.
	Refused string
}

// language returns the language of a page: the one of placet's languages that the browser
// prefers, else the workspace's.
func (a *App) language(c *facade.Call) string {
	for _, part := range strings.Split(c.Header.Get("Accept-Language"), ",") {
		word, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		word, _, _ = strings.Cut(word, "-")
		if slices.Contains(templates.Languages(), strings.ToLower(word)) {
			return strings.ToLower(word)
		}
	}
	return a.b.Current().Language
}

// head returns the part of a call's page that all pages share.
func (a *App) head(c *facade.Call, page, title string) pageHead {
	h := pageHead{Lang: a.language(c), Title: console.OneLine(title), Page: page, Workspace: a.b.Root}
	if s := c.Who.Session; s != nil {
		h.Who, h.CSRF = c.Who.User, s.CSRF()
	}
	return h
}

// pages are all templates. Their functions depend on a language.
var pages = sync.OnceValue(func() *template.Template {
	t := template.Must(template.New("").Funcs(pageFuncs("en", time.Now)).ParseFS(pageFiles, "pages/*.html"))
	for _, page := range t.Templates() {
		console.CleanTemplate(page.Tree)
	}
	return t
})

// asTyped is text in a field of a form: unchanged text must come back exactly as it was.
type asTyped string

// pageFuncs returns the functions for templates. What they print is cleaned, and on one line,
// except the output of lines and clip.
func pageFuncs(lang string, now func() time.Time) template.FuncMap {
	return template.FuncMap{
		console.CleanFunc: func(v any) any {
			switch v.(type) {
			case template.HTML, asTyped:
				return v
			}
			return console.Printed(v)
		},
		"word":   func(key string) string { return templates.Text(lang, key) },
		"phrase": func(key string, pairs ...any) string { return phrase(lang, key, pairs...) },
		"whole":  func(s string) console.Cleaned { return console.Cleaned(templates.Clean(s)) },
		"lines":  func(s string) console.Cleaned { return console.Cleaned(console.Lines(s)) },
		"clip":   func(n int, s string) string { return console.Cut(console.OneLine(s), n) },
		"cut":    func(n int, s string) console.Cleaned { return console.Cleaned(console.Cut(console.Lines(s), n)) },
		"typed":  func(s string) asTyped { return asTyped(s) },
		"join":   strings.Join, "stamp": console.Stamp, "brief": console.Brief, "runName": view.RunName,
		"ago": func(t time.Time) string { return console.Ago(lang, now(), t) },
		"due": func(o engine.OpenRequest) string { return view.Due(lang, now(), o, utc) }, "question": question, "name": view.NameOf, "path": RequestPath,
		"runPath": runPath, "waits": func(v view.Run) console.Cleaned { return console.Cleaned(view.WaitsAt(v)) }, "statusLook": statusLook, "label": optionLabel, "moment": moment, "utc": utc,
		"clock": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"short": func(o engine.OpenRequest) string { return dueShort(lang, now(), o) },
	}
}

func phrase(lang, key string, pairs ...any) string {
	for i := 1; i < len(pairs); i += 2 {
		if _, number := pairs[i].(int); !number {
			pairs[i] = console.OneLine(templates.In(lang, pairs[i]))
		}
	}
	return templates.Phrase(lang, key, pairs...)
}

// show writes a page.
func (a *App) show(c *facade.Call, status int, lang, name string, data any) error {
	t, err := pages().Clone()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Funcs(pageFuncs(lang, a.b.Env.Now)).ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	// Browsers send "Origin: null" for the page's own forms without any referrer.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Vary", "Accept-Language, Cookie")
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(out.Bytes())
	return nil
}

// RequestPath returns the path of a request's page.
func RequestPath(name string) string { return "/requests/" + url.PathEscape(name) }

// runPath returns the path of a run's page.
func runPath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "/runs/" + strings.Join(parts, "/")
}

// refusedView is a page that says why something was not done.
type refusedView struct {
	pageHead
	// Next is the page to go to after the login, or the page whose form was refused; "" for the
	// inbox.
	Next string
	// Unsent says that an answer was not sent, and Words is the text that was typed for it.
	Unsent bool
	Words  string
}

// Problem answers the reader of a page with the reason why it cannot be shown. It sends a
// reader without a session to the login, and from there back to the request. It shows the text
// of an answer that was not sent, so that it is not lost.
func (a *App) Problem(c *facade.Call, p *facade.Problem) bool {
	view := refusedView{Next: nextPage(c.URL.EscapedPath())}
	lang, status := a.language(c), p.Status
	if c.Method == http.MethodPost && view.Next != "" {
		view.Unsent, view.Words = p.Status < http.StatusInternalServerError, typedWords(c)
	}
	switch {
	case p.Status != http.StatusUnauthorized:
		view.pageHead = a.head(c, "error", templates.Text(lang, "page.error"))
		view.Refused = p.In(lang)
		return a.show(c, status, lang, "error", view) == nil
	case c.Method == http.MethodGet || view.Next == "":
		http.Redirect(c.Writer, c.Request, loginPath(view.Next), http.StatusSeeOther)
		return true
	}
	view.pageHead = a.head(c, "login", templates.Text(lang, "page.login"))
	view.Refused = templates.Text(lang, "page.loggedout")
	return a.show(c, http.StatusForbidden, lang, "login", view) == nil
}

// typedWords returns the text of a form whose call was refused before anybody read it, so that
// a person whose session has ended loses nothing that they wrote. This is the most that the
// server reads without knowing the caller. It reads it in the time that a caller without a name
// gets.
func typedWords(c *facade.Call) string {
	if c.Raw == nil {
		c.Raw, _ = io.ReadAll(http.MaxBytesReader(c.Writer, c.Body, mostWords)) // longer text is cut
	}
	form, _ := url.ParseQuery(string(c.Raw))
	words := form.Get("response") + "\n" + form.Get("comment")
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if strings.HasPrefix(name, editField) {
			words += "\n\n" + form.Get(name)
		}
	}
	return console.Lines(strings.TrimSpace(words))
}

// mostWords limits how much of a refused form is read, in bytes.
const mostWords = 256 << 10

// nextPage returns a path to which a login may lead, "" unless it is a request's page.
func nextPage(path string) string {
	if !strings.HasPrefix(path, "/requests/") || strings.ContainsAny(path, "\\?#") {
		return ""
	}
	return path
}

// loginPath returns the path of the login page that leads on to next, "" for the inbox.
func loginPath(next string) string {
	if next == "" {
		return "/login"
	}
	return "/login?next=" + url.QueryEscape(next)
}

// pageRoutes returns the routes of browsers.
func (a *App) pageRoutes() []facade.Route {
	page := func(method, path string, role facade.Role, handle func(*facade.Call) (int, any, error)) facade.Route {
		return facade.Route{Method: method, Path: path, Access: facade.SessionOnly, Role: role, Form: true, Raw: true, Handle: handle}
	}
	inbox, runs := page(http.MethodGet, "/", facade.Read, a.inboxPage), page(http.MethodGet, "/runs", facade.Read, a.runsPage)
	inbox.Query = []facade.Param{familyParam, {Name: "q", Summary: "a word of the request"}, {Name: "tab", Summary: "open, mine or answered"}}
	runs.Query = []facade.Param{familyParam, {Name: "status", Summary: "those of a status, or all"}}
	request := page(http.MethodGet, "/requests/{id}", facade.Read, a.requestPage)
	request.Query = []facade.Param{{Name: "sent", Summary: "what became of an answer"}, {Name: "after", Summary: "the request that was answered before"}}
	run := page(http.MethodGet, "/runs/{family}/{id...}", facade.Read, a.runPage)
	run.Query = []facade.Param{{Name: "tab", Summary: "run, facts or log"}}
	login := page(http.MethodPost, "/login", "", a.postLogin)
	login.Access = facade.Anybody
	ask := page(http.MethodGet, "/login", "", a.loginPage)
	ask.Access, ask.Query = facade.Anybody, []facade.Param{{Name: "next", Summary: "the request to go to"}}
	static := facade.Route{Method: http.MethodGet, Path: "/static/{name}", Access: facade.Anybody, Page: true, Raw: true, Handle: a.staticFile}
	login.Page, ask.Page = true, true
	return []facade.Route{
		inbox, runs, request, page(http.MethodPost, "/requests/{id}", facade.Decide, a.postRequest),
		run, page(http.MethodPost, "/runs/{family}/{id...}", facade.Decide, a.postRun), login, ask, page(http.MethodPost, "/logout", "", a.postLogout), static,
	}
}

// staticTypes are the types of the files that pages load.
var staticTypes = map[string]string{"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}

func (a *App) staticFile(c *facade.Call) (int, any, error) {
	name := c.Values["name"]
	kind, ok := staticTypes[name]
	if !ok {
		return 0, nil, facade.Deny(http.StatusNotFound, "not_found", "page.no.file")
	}
	body, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		return 0, nil, err
	}
	c.Writer.Header().Set("Content-Type", kind)
	c.Writer.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = c.Writer.Write(body)
	return 0, nil, nil
}

func (a *App) loginPage(c *facade.Call) (int, any, error) {
	view := refusedView{pageHead: a.head(c, "login", templates.Text(a.language(c), "page.login")), Next: nextPage(c.Text("next"))}
	return 0, nil, a.show(c, http.StatusOK, view.Lang, "login", view)
}

// postLogin begins a session. The path to go to may come with the link's word, or with the
// form.
func (a *App) postLogin(c *facade.Call) (int, any, error) {
	form, _ := url.ParseQuery(string(c.Raw)) // a form that cannot be read names no link
	link := strings.TrimSpace(form.Get("link"))
	if _, word, ok := strings.Cut(link, "#"); ok {
		link = word
	}
	word, next, _ := strings.Cut(link, "&")
	next = cmp.Or(nextPage(next), nextPage(form.Get("next")))
	if _, err := a.o.Sessions.Login(c.Writer, word, a.o.Tokens, a.b.Env.Now()); err != nil {
		view := refusedView{pageHead: a.head(c, "login", templates.Text(a.language(c), "page.login")), Next: next}
		view.Refused = templates.In(view.Lang, err)
		return 0, nil, a.show(c, http.StatusForbidden, view.Lang, "login", view)
	}
	http.Redirect(c.Writer, c.Request, cmp.Or(next, "/"), http.StatusSeeOther)
	return 0, nil, nil
}

func (a *App) postLogout(c *facade.Call) (int, any, error) {
	a.o.Sessions.Logout(c.Writer, c.Who.Session)
	http.Redirect(c.Writer, c.Request, "/login", http.StatusSeeOther)
	return 0, nil, nil
}

// statusLook returns the look of a run's status, the same for every run with that status.
func statusLook(v view.Run) string {
	if look := lookOf(v.Status, true, false); look != "runs" || !v.Final {
		return look
	}
	return "done"
}
