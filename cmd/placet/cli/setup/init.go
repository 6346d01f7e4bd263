package setup

import (
	"errors"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/hook"
	"placet/engine/exec"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/templates"
)

// InitVerb returns the verb that makes a folder a workspace.
func InitVerb() verb.Verb {
	var set forClients
	return verb.Verb{
		Use:   "init",
		Group: verb.GroupSetUp, Common: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&set.clients, "for", nil, "")
			f.StringVar(&set.rules, "rules", "", "")
			f.BoolVar(&set.prints, "print", false, "")
			f.BoolVar(&set.shares, "shared", false, "")
		},
		Run: func(c verb.Call) error {
			root, err := config.FindRoot(c.Env)
			if err != nil {
				return err
			}
			conf, unread := loadSettings(c.Env, root)
			switch {
			case len(set.clients) > 0 && unread != nil:
				return unread
			case len(set.clients) > 0:
				return set.init(c, root, conf)
			case set.prints || set.shares || set.rules != "":
				return set.withoutClient()
			}
			return InitWorkspace(c.Env, root, conf, nil, nil)
		},
	}
}

// loadSettings reads the settings, and sets the language that they name.
func loadSettings(w *console.Env, root string) (config.Settings, error) {
	conf, err := config.Load(config.SourcesOf(w, root))
	if err == nil {
		w.Lang = conf.Language
	}
	return conf, err
}

// initialized is the output of init as JSON: what it created and completed, which names it made
// git ignore, and what existed before.
type initialized struct {
	Workspace string   `json:"workspace"`
	Created   []string `json:"created"`
	Completed []string `json:"completed"`
	Ignored   []string `json:"ignored"`
	There     []string `json:"there"`
	// Clients are the files of clients, and Rules what becomes of a set of rules, if there are any.
	Clients []clientFile `json:"clients,omitempty"`
	Rules   *rulesFile   `json:"rules,omitempty"`
}

// settingsFile is the file of a workspace's settings.
const settingsFile = "placet.toml"

// InitWorkspace makes a folder a workspace, and writes rules and the files of clients.
func InitWorkspace(w *console.Env, root string, conf config.Settings, clients []clientFile, rules *rulesFile) error {
	done := initialized{Workspace: root, Clients: clients, Rules: rules}
	disk := fs.OS(root)
	if err := done.create(disk, settingsFile, 0, func() error { return add(disk, settingsFile, fs.ForCreating, config.InitialSettings) }); err != nil {
		return err
	}
	if err := done.create(disk, ".placet/", iofs.ModeDir, func() error { return disk.Mkdir(store.PrivateDir, 0o777) }); err != nil {
		return err
	}
	// The file makes git ignore all of .placet/, wherever the folder goes.
	if err := done.complete(disk, scratchIgnore, []string{"*"}); err != nil {
		return console.Refused("cli.init.write", "file", scratchIgnore, "error", console.Plain(err))
	}
	var err error
	if done.Ignored, err = Exclude(w, root, excluded); err != nil {
		w.Note("cli.init.exclude", "names", strings.Join(excluded, " "), "error", console.Plain(err))
	}
	for _, c := range clients {
		if c.Path == hook.PersonalSettings { // the client itself has git ignore it where it makes it
			own, err := Exclude(w, root, []string{c.Path})
			if err != nil {
				w.Note("cli.init.exclude", "names", c.Path, "error", console.Plain(err))
			}
			done.Ignored = append(done.Ignored, own...)
		}
	}
	if excludeFile(w, root) != "" {
		if err := done.complete(disk, attributesFile, attributes(conf)); err != nil {
			w.Note("cli.init.attributes", "file", attributesFile, "error", console.Plain(err))
		}
	}
	if err := writeFor(root, rules.with(clients)); err != nil {
		return err
	}
	return w.Answer(done, func() {
		sayList(w, "cli.init.created", done.Created, "folder", console.OneLine(root))
		sayList(w, "cli.init.completed", done.Completed)
		sayList(w, "cli.init.there", done.There)
		sayList(w, "cli.init.ignored", done.Ignored)
		sayRules(w, rules)
		sayFor(w, clients)
		w.Say("cli.init.next")
	})
}

// sayList prints a sentence about names, nothing without names.
func sayList(w *console.Env, key templates.Key, names []string, pairs ...any) {
	if len(names) > 0 {
		w.Say(key, append(pairs, "names", strings.Join(names, ", "))...)
	}
}

// create makes one file or folder, unless one of its kind exists.
func (d *initialized) create(disk fs.FS, name string, kind iofs.FileMode, create func() error) error {
	err := create()
	if err == nil {
		d.Created = append(d.Created, name)
		return nil
	}
	if !errors.Is(err, iofs.ErrExist) {
		return console.Refused("cli.init.create", "file", name, "error", console.Plain(err))
	}
	if info, err := disk.Stat(path.Clean(name)); err == nil && info.Mode.Type() != kind {
		return console.Refused("cli.init.inplace", "file", name, "what", fs.Describe(info.Mode)).Try("cli.init.inplace.try")
	}
	d.There = append(d.There, name)
	return nil
}

const (
	scratchIgnore  = store.PrivateDir + "/.gitignore"
	attributesFile = ".gitattributes"
)

// attributes returns the lines that make git keep the line ends of files in the roots: an
// artifact or a form with other line ends than a person was shown is a different one.
func attributes(conf config.Settings) (lines []string) {
	for _, f := range family.All {
		if !f.Enabled(&conf.File.Settings) {
			continue
		}
		for _, root := range f.Layout(&conf.File.Settings).Roots() {
			pattern := root + "/**"
			if strings.ContainsAny(pattern, " \t\"#!") {
				pattern = strconv.Quote(pattern)
			}
			lines = append(lines, pattern+" -text")
		}
	}
	return lines
}

// complete adds to a file the lines that it lacks.
func (d *initialized) complete(disk fs.FS, name string, lines []string) error {
	added, made, err := completeFile(disk, name, lines)
	switch {
	case err != nil:
		return err
	case made:
		d.Created = append(d.Created, name)
	case len(added) > 0:
		d.Completed = append(d.Completed, name)
	default:
		d.There = append(d.There, name)
	}
	return nil
}

// completeFile adds to a small file below a root the lines that it lacks, and returns them;
// made says that the file did not exist. It replaces the file instead of writing into it, so
// that other names of the file, or links to it, do not change.
func completeFile(disk fs.FS, name string, lines []string) (added []string, made bool, err error) {
	c := clientFile{Path: name}
	body, err := verb.ReadBelow(disk, name)
	switch {
	case err == nil:
		c.before = append([]byte{}, body...)
	case !errors.Is(err, iofs.ErrNotExist):
		return nil, false, err
	}
	if added = missingLines(string(body), lines); len(added) == 0 {
		return added, false, nil
	}
	c.after = append(body, newLines(body, added...)...)
	return added, c.before == nil, c.write(disk)
}

// add writes a text into a file below a root, which it opens as how says, following no link.
func add(disk fs.FS, name string, how fs.How, text string) error {
	f, err := disk.Open(name, how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Sync(), f.Close())
}

// Ignored are the names that git must not see in any workspace: placet's private folder and its
// temporary files.
var Ignored = []string{".placet/", ".placet-*.tmp"}

// excluded are all names that git must not see. Besides Ignored these are the lock files of
// FABER's runs, the progress of PAL's workers, who rewrite it several times a second, and the
// optimizer's audit databases, in whichever root, with the files that SQLite adds. Committed
// while the daemon writes them, they would be torn.
var excluded = slices.Concat(Ignored, []string{
	"state.json.lock", ".next-id.lock", ".pal/orchestrations/**/progress.json",
	"audit_global.db", "audit_global.db-wal", "audit_global.db-shm", "audit_global.db-journal",
})

// Exclude makes this clone's git ignore names, and returns those that it did not ignore before.
// Outside of git it does nothing.
func Exclude(w *console.Env, root string, names []string) ([]string, error) {
	file := excludeFile(w, root)
	if file == "" {
		return nil, nil
	}
	dir, name, err := gitsOwn(root, file)
	if err != nil {
		return nil, err
	}
	added, _, err := completeFile(fs.OS(dir), name, names)
	return added, err
}

// gitsOwn splits the path of git's exclude file into a folder that is git's own for this work
// tree, and a name below it. A .git that is not a folder, and the files in one, may name any
// other place. A place is git's own only if .git itself is that folder, in the workspace or
// above it, or if the place knows the work tree in its turn, as git has it for linked work
// trees.
func gitsOwn(root, exclude string) (dir, name string, err error) {
	common := filepath.Dir(filepath.Dir(exclude))
	for at := root; ; at = filepath.Dir(at) {
		dot := filepath.Join(at, ".git")
		info, err := os.Lstat(dot)
		switch {
		case err == nil && info.IsDir() && dot == common:
			return at, ".git/info/exclude", nil
		case err == nil && info.Mode().IsRegular() && linksTo(common, dot):
			return common, "info/exclude", nil
		case at == filepath.Dir(at):
			return "", "", templates.Errorf("cli.init.foreign", "file", strconv.Quote(exclude))
		}
	}
}

// linksTo reports whether a repository knows a linked work tree, by the tree's .git.
func linksTo(common, dot string) bool {
	known, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	return slices.ContainsFunc(known, func(tree iofs.DirEntry) bool {
		file := filepath.Join(common, "worktrees", tree.Name(), "gitdir")
		body, err := config.ReadSmall(file)
		named := strings.TrimSuffix(string(body), "\n")
		if !filepath.IsAbs(named) {
			named = filepath.Join(filepath.Dir(file), named)
		}
		return err == nil && filepath.Clean(named) == dot
	})
}

// newLines returns lines to add to a text, which may lack its last line end.
func newLines(text []byte, lines ...string) string {
	added := strings.Join(lines, "\n") + "\n"
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return "\n" + added
	}
	return added
}

// missingLines returns those of the wanted lines that a text does not have.
func missingLines(text string, wanted []string) []string {
	have := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var missing []string
	for _, line := range wanted {
		if !slices.Contains(have, line) {
			missing = append(missing, line)
		}
	}
	return missing
}

// excludeFile returns this clone's exclude file, "" if the workspace is in no work tree.
func excludeFile(w *console.Env, root string) string {
	path := exec.ExcludeFile(root, w.Environ)
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	return path
}
