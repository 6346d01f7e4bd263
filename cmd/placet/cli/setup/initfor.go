package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"strings"

	"placet/cmd/placet/cli/verb"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/hook"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// forClients are the flags of init that are about clients.
type forClients struct {
	clients        []string
	rules          string
	prints, shares bool
}

// withoutClient is the error for a flag that goes with --for.
func (set forClients) withoutClient() error {
	try := "placet init --for " + hook.Names(false)[0]
	if set.rules != "" {
		return console.Usage("cli.init.rules.for").Try("say.text", "text", try+" --rules "+hook.RuleSetNames()[0])
	}
	return console.Usage("cli.init.print").Try("say.text", "text", try+" --print")
}

// init sets up the clients, and the workspace.
func (set forClients) init(c verb.Call, root string, conf config.Settings) error {
	rules, err := set.planRules(c.Env, root)
	if err != nil {
		return err
	}
	files, err := filesFor(root, rules.settings(conf.Hook), set.clients, set.shares)
	if err != nil {
		return err
	}
	if set.prints {
		return printFor(c.Env, rules.filesWith(files))
	}
	plan, err := planFor(c.Env, root, files)
	if err != nil {
		return err
	}
	if err := rules.agree(c.Ctx, c.Env); err != nil {
		return err
	}
	if err := InitWorkspace(c.Env, root, conf, plan, rules); err != nil {
		return err
	}
	saySwitches(c.Env, root, set.clients)
	return nil
}

// clientFile is a file of a client, and the change of it.
type clientFile struct {
	Path string `json:"path"`
	// Done is created, added, updated or same.
	Done    string   `json:"done"`
	Added   []string `json:"added"`
	Updated []string `json:"updated,omitempty"`

	file          hook.File
	before, after []byte
}

// filesFor returns the files of the named clients, as a project commits them if shares is set.
func filesFor(root string, conf config.Hook, names []string, shares bool) (files []hook.File, err error) {
	for _, name := range names {
		client, ok := hook.Named(name)
		if !ok {
			return nil, console.Usage("cli.hook.unknown", "client", strconv.Quote(console.OneLine(name)), "names", strings.Join(hook.Names(false), ", "))
		}
		own, hasShared := client.SharedFiles(conf)
		switch {
		case shares && !hasShared:
			return nil, console.Usage("cli.init.noshared", "client", name)
		case !shares:
			own = filesAsThere(root, client, conf)
		}
		files = append(files, own...)
	}
	return files, nil
}

// filesAsThere returns the files of a client in the form in which they are in a workspace.
func filesAsThere(root string, client hook.Client, conf config.Hook) []hook.File {
	settings, _ := verb.ReadBelow(fs.OS(root), hook.SharedSettings)
	return client.FilesAsThere(conf, settings)
}

// printFor prints what init would add for clients, and writes nothing.
func printFor(w *console.Env, files []hook.File) error {
	snippets := map[string]string{}
	for _, f := range files {
		snippets[f.Path] = f.Snippet()
	}
	return w.Answer(snippets, func() {
		for _, f := range files {
			fmt.Fprintf(w.Out, "# %s\n%s\n", f.Path, f.Snippet())
		}
	})
}

// planFor plans the changes of the files. If one of them cannot be changed, none is: it prints
// what belongs into that file, and how it differs.
func planFor(w *console.Env, root string, files []hook.File) (plan []clientFile, err error) {
	disk := fs.OS(root)
	_, missing := w.LookPath("placet")
	for _, f := range files {
		one, problem := planFile(disk, f)
		if problem = cmp.Or(problem, missing); problem != nil {
			err = cmp.Or(err, error(console.Refused("cli.init.nothing")))
			sayUnwritten(w, f, problem)
		}
		plan = append(plan, one)
	}
	return plan, err
}

// planFile plans the change of one file.
func planFile(disk fs.FS, f hook.File) (clientFile, error) {
	before, err := verb.ReadBelow(disk, f.Path)
	if errors.Is(err, iofs.ErrNotExist) {
		before, err = nil, nil
	} else if err == nil && before == nil {
		before = []byte{}
	}
	if err != nil {
		return clientFile{}, err
	}
	change, err := f.Plan(before)
	one := clientFile{Path: f.Path, Done: "added", Added: change.Added, Updated: change.Updated, file: f, before: before, after: change.Body}
	switch {
	case change.Body == nil:
		one.Done, one.Added = "same", []string{}
	case before == nil:
		one.Done = "created"
	case len(change.Added) == 0:
		one.Done, one.Added = "updated", []string{}
	}
	return one, err
}

// sayUnwritten says why a file cannot be changed, and what belongs into it.
func sayUnwritten(w *console.Env, f hook.File, problem error) {
	w.Note("cli.init.change", "file", f.Path, "error", templates.In(w.Lang, problem))
	if differs := (*hook.Differs)(nil); errors.As(problem, &differs) {
		w.Note("cli.init.has", "text", console.Cut(console.OneLine(differs.Has), 2000))
		w.Note("cli.init.wants", "text", differs.Wants)
	}
	w.Note("cli.init.snippet", "text", strings.TrimSuffix(f.Snippet(), "\n"))
}

// write writes the planned content. It does not overwrite what somebody has written since the
// plan was made.
func (c clientFile) write(disk fs.FS) error {
	if c.after == nil {
		return nil
	}
	dir, mode, how := path.Dir(c.Path), iofs.FileMode(0o644), fs.Exclusive
	if err := disk.Mkdir(dir, 0o777); dir != "." && err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	if c.before != nil {
		info, err := disk.Stat(c.Path)
		if err != nil {
			return err
		}
		mode, how = info.Mode.Perm(), fs.Replace
	}
	temp := path.Join(dir, layout.TempName(os.Getpid(), rand.Uint32()))
	f, err := disk.Open(temp, fs.ForCreating, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(c.after)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil && c.before != nil {
		now, readErr := verb.ReadBelow(disk, c.Path)
		if err = readErr; err == nil && !bytes.Equal(now, c.before) {
			err = templates.Errorf("cli.init.meanwhile")
		}
	}
	if err == nil {
		err = disk.Rename(temp, c.Path, how)
	}
	if err != nil {
		return errors.Join(err, disk.Remove(temp))
	}
	return disk.SyncDir(dir)
}

// writeFor writes the files.
func writeFor(root string, plan []clientFile) error {
	disk := fs.OS(root)
	for _, c := range plan {
		if err := c.write(disk); err != nil {
			return console.Refused("cli.init.write", "file", c.Path, "error", console.Plain(err)).Try("say.text", "text", "placet init --for … --print")
		}
	}
	return nil
}

// sayFor prints what was done with the files.
func sayFor(w *console.Env, plan []clientFile) {
	for _, c := range plan {
		switch c.Done {
		case "created":
			w.Say("cli.init.client.created", "file", c.Path, "names", strings.Join(c.Added, ", "))
		case "added":
			w.Say("cli.init.client.added", "file", c.Path, "names", strings.Join(c.Added, ", "))
		case "same":
			w.Say("cli.init.there", "names", c.Path)
		}
		if len(c.Updated) > 0 {
			w.Say("cli.init.client.updated", "file", c.Path, "names", strings.Join(c.Updated, ", "))
		}
		switch c.Path {
		case hook.PersonalSettings:
			w.Say("cli.init.personal", "file", c.Path)
		case hook.SharedSettings:
			w.Say("cli.init.shared", "file", c.Path)
		}
		if c.Path == ".codex/hooks.json" {
			w.Say("cli.init.codex")
		}
	}
}
