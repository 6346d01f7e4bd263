package setup

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/hook"
	"placet/engine/store/fs"
	"placet/templates"
)

// rulesFile is placet.toml, and the change of it that adds a set of rules.
type rulesFile struct {
	Path string `json:"path"`
	Set  string `json:"set"`
	// Added, Updated and Kept are names of rules: Kept are those that somebody has changed.
	Added   []string `json:"added"`
	Updated []string `json:"updated"`
	Kept    []string `json:"kept"`
	// Text is what is added or updated.
	Text string `json:"text"`

	before  []byte
	change  hook.RulesChange
	snippet string
	asked   bool
}

// planRules plans the change of placet.toml, nil without a set of rules.
func (set forClients) planRules(w *console.Env, root string) (*rulesFile, error) {
	if set.rules == "" {
		return nil, nil
	}
	rules, ok := hook.NamedRuleSet(set.rules)
	if !ok {
		return nil, console.Usage("cli.init.rules.unknown", "set", strconv.Quote(console.OneLine(set.rules)), "names", strings.Join(hook.RuleSetNames(), ", "))
	}
	clients, err := clientsWithHooks(set.clients)
	if err != nil {
		return nil, err
	}
	before, err := verb.ReadBelow(fs.OS(root), settingsFile)
	if errors.Is(err, iofs.ErrNotExist) {
		before, err = []byte(config.InitialSettings), nil
	}
	f := &rulesFile{Path: settingsFile, Set: rules.Name, before: before, snippet: rules.Text(clients, w.Lang)}
	if err == nil {
		f.change, err = rules.Plan(before, clients, w.Lang)
	}
	if err != nil && !set.prints {
		w.Note("cli.init.change", "file", settingsFile, "error", templates.In(w.Lang, err))
		w.Note("cli.init.snippet", "text", strings.TrimSuffix(f.snippet, "\n"))
		return nil, console.Refused("cli.init.nothing")
	}
	f.Added, f.Updated, f.Kept, f.Text = list(f.change.Added), list(f.change.Updated), list(f.change.Kept), f.change.Text
	return f, nil
}

// list returns names, never nil: JSON has an empty array.
func list(names []string) []string { return append([]string{}, names...) }

// clientsWithHooks returns the named clients, of which one must have hooks. An unknown one is refused with its
// files.
func clientsWithHooks(names []string) (clients []hook.Client, err error) {
	for _, name := range names {
		if c, ok := hook.Named(name); ok {
			clients = append(clients, c)
		}
	}
	if len(clients) == len(names) && !slices.ContainsFunc(clients, hook.Client.HasHooks) {
		return nil, console.Usage("cli.init.rules.nohooks", "client", strings.Join(names, ", "), "names", strings.Join(hook.Names(true), ", "))
	}
	return clients, nil
}

// settings returns the settings of hooks as they are after the change.
func (f *rulesFile) settings(h config.Hook) config.Hook {
	if f != nil {
		h.Rule = f.change.With(h.Rule)
	}
	return h
}

// agree shows the rules to a person at a terminal, and asks whether to write them.
func (f *rulesFile) agree(ctx context.Context, w *console.Env) error {
	if f == nil || f.change.Body == nil || !w.AtTerminal() {
		return nil
	}
	f.asked = true
	fmt.Fprintln(w.Err, w.Text("cli.init.rules.shown", "file", f.Path)+"\n\n"+f.Text)
	p := w.NewPrompter()
	defer p.Close()
	return p.Agreed(ctx, w.Text("cli.init.rules.ask", "file", f.Path))
}

// with returns files to write, and before them placet.toml if it changes.
func (f *rulesFile) with(files []clientFile) []clientFile {
	if f == nil || f.change.Body == nil {
		return files
	}
	return append([]clientFile{{Path: f.Path, before: f.before, after: f.change.Body}}, files...)
}

// filesWith returns files of clients, and before them what the set adds to an empty placet.toml.
func (f *rulesFile) filesWith(files []hook.File) []hook.File {
	if f == nil {
		return files
	}
	return append([]hook.File{{Path: f.Path, Table: f.snippet}}, files...)
}

// sayRules prints what became of the rules, and the rules themselves if nobody was shown them.
func sayRules(w *console.Env, f *rulesFile) {
	if f == nil {
		return
	}
	if len(f.Added)+len(f.Updated)+len(f.Kept) == 0 {
		w.Say("cli.init.rules.there", "file", f.Path, "set", f.Set)
	}
	sayList(w, "cli.init.client.added", f.Added, "file", f.Path)
	sayList(w, "cli.init.client.updated", f.Updated, "file", f.Path)
	sayList(w, "cli.init.rules.kept", f.Kept, "file", f.Path)
	if f.Text != "" && !f.asked {
		fmt.Fprintln(w.Out, "\n"+f.Text)
	}
}
