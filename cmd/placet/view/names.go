package view

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/layout"
	"placet/templates"
)

// Narrow returns the runs of an optional argument, a family or a run, and those of the same
// family that it leaves out. A word that names both a family and a run means the family; the
// run's whole name is <family>/<id>.
func Narrow(b *workspace.Workspace, args []string) (found, rest []loop.Found, err error) {
	all := b.Runs()
	if len(args) == 0 {
		return all, nil, nil
	}
	if b.Serves(args[0]) {
		return ofFamily(all, args[0]), nil, nil
	}
	one, err := oneRunOf(b, all, args[0])
	if p, ok := err.(*console.Problem); ok && len(p.Fits) == 0 {
		return nil, nil, p.Try("workspace.narrow", "families", templates.List(b.Env.Lang, "list.or", b.FamilyNames()))
	} else if err != nil {
		return nil, nil, err
	}
	for _, f := range ofFamily(all, one.Run.Family) {
		if f.Key() != one.Key() {
			rest = append(rest, f)
		}
	}
	return []loop.Found{one}, rest, nil
}

// CountUses counts how many runs use the id of each request shown: an id alone names a request
// only if no other run uses it, shown or not. Equal ids of two families count as different.
func CountUses(b *workspace.Workspace, open []engine.OpenRequest, rest []loop.Found) map[string]int {
	uses := map[string]int{}
	for _, a := range open {
		uses[a.Request]++
	}
	for id := range uses {
		for _, f := range rest {
			if HasRequest(b, f, id) {
				uses[id]++
			}
		}
	}
	return uses
}

// uuidPrefix is the least number of characters that name a run by its last part.
const uuidPrefix = 4

// Fits returns the runs that an argument names: the one with that whole name, or else all that
// its shorter forms fit.
func Fits(b *workspace.Workspace, found []loop.Found, arg string) []loop.Found {
	for _, f := range found {
		if arg == f.Run.ID || arg == f.Key().String() || arg != "" && arg == alias(f) {
			return []loop.Found{f}
		}
	}
	if work, ok := strings.CutPrefix(arg, "#"); ok {
		return runsWithWork(b, found, work)
	}
	if b.Serves(arg) {
		return ofFamily(found, arg)
	}
	return slices.DeleteFunc(slices.Clone(found), func(f loop.Found) bool { return !beginsWith(f, arg) })
}

// ofFamily returns the runs of one family.
func ofFamily(found []loop.Found, name string) []loop.Found {
	return slices.DeleteFunc(slices.Clone(found), func(f loop.Found) bool { return f.Run.Family != name })
}

// runsWithWork returns the runs for a work item, by their families' facts.
func runsWithWork(b *workspace.Workspace, found []loop.Found, work string) []loop.Found {
	var fit []loop.Found
	label := templates.NewMessage("faber.fact.work")
	for _, v := range Runs(b, found) {
		if slices.ContainsFunc(v.Facts, func(f engine.Fact) bool { return f.Value == "#"+work && label.Says(f.Label) }) {
			fit = append(fit, v.Found)
		}
	}
	return fit
}

// beginsWith reports whether an argument is the beginning of a run's last part,
// alone or after the parts before it.
func beginsWith(f loop.Found, arg string) bool {
	for _, id := range []string{f.Run.ID, f.Key().String(), path.Base(f.Run.ID)} {
		if strings.HasPrefix(id, arg) && len(arg)-len(id)+len(path.Base(id)) >= uuidPrefix {
			return true
		}
	}
	return false
}

// OneRun resolves an argument to a run: its name, or that of a request of it, whole or
// shortened, with or without what was shown. It chooses none if several fit.
func OneRun(b *workspace.Workspace, arg string) (loop.Found, error) {
	found := b.Runs()
	f, err := oneRunOf(b, found, arg)
	name, shown, bad := CutDigest(arg) // the name of a run may hold an @, too
	if p := (*console.Problem)(nil); err != nil && !isAmbiguous(err, &p) && bad == nil && shown != "" {
		f, err = oneRunOf(b, found, name)
	}
	if p := (*console.Problem)(nil); err == nil || isAmbiguous(err, &p) {
		return f, err
	}
	if at, requestErr := findRequest(b, arg); requestErr == nil {
		return at.Found, nil
	}
	return f, err
}

// oneRunOf resolves a run argument to one of some runs.
func oneRunOf(b *workspace.Workspace, found []loop.Found, arg string) (loop.Found, error) {
	fit := Fits(b, found, arg)
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return loop.Found{}, noRun(b, arg)
	}
	return loop.Found{}, ambiguous(arg, fit)
}

// noRun returns the problem that an argument names no run.
func noRun(b *workspace.Workspace, arg string) *console.Problem {
	return console.Usage("workspace.run.none", "name", strconv.Quote(console.OneLine(arg)), "workspace", b.Root).Try("workspace.status.try")
}

// ambiguous returns the problem that an argument fits several runs, and lists them.
func ambiguous(arg string, fit []loop.Found) *console.Problem {
	return FitsSeveral(arg, "count.runs", fit, func(f loop.Found) string { return f.Key().String() }).Try("workspace.fits.unique")
}

// Chosen returns the runs of an optional argument: all of them, or the one named.
func Chosen(b *workspace.Workspace, args []string) ([]loop.Found, error) {
	if len(args) == 0 {
		return b.Runs(), nil
	}
	one, err := OneRun(b, args[0])
	return []loop.Found{one}, err
}

// OldestFirst sorts requests by the time when they were asked, then by run.
func OldestFirst(a, b engine.OpenRequest) int {
	return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.Run.String(), b.Run.String()), cmp.Compare(a.Request, b.Request))
}

// HasRequest reports whether a run's folder holds a request of this id.
func HasRequest(b *workspace.Workspace, f loop.Found, request string) bool {
	if !layout.IsRequestID(request) {
		return false
	}
	_, err := os.Lstat(filepath.Join(b.Root, filepath.FromSlash(layout.RequestPath(f.Run.Dir, request, "request.json"))))
	return err == nil
}

// alias returns the other name that a run's family has for it, "" for none.
func alias(f loop.Found) string {
	if of, ok := family.Named(f.Run.Family); ok && of.Alias != nil {
		return of.Alias(f.Run.ID)
	}
	return ""
}

// FitsSeveral returns the problem that an argument names several things. count is the sentence
// that counts them, with more as its further values, and name returns the name of each.
func FitsSeveral[T any](arg string, count templates.Key, things []T, name func(T) string, more ...any) *console.Problem {
	p := console.Usage("workspace.fits", "name", strconv.Quote(console.OneLine(arg)), "things", templates.NewMessage(count, append(more, "n", len(things))...))
	for _, one := range things {
		p.Fits = append(p.Fits, name(one))
	}
	return p
}
