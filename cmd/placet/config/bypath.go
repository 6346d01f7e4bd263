package config

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/templates"
)

// Who can write in a workspace can make it another one: a new .git is enough. Of another
// workspace no command is trusted, but what makes placet stricter holds by the path alone
// until a person decides anew, and so does that decision.

// pathTrust is what was agreed to under the path of a workspace, of the settings that
// outlive it. Of one setting there may be several agreements: then all of them hold.
type pathTrust struct {
	TrustFile
	// gathered says that it was gathered from the state folders of an earlier version,
	// whose agreements were of their workspaces alone.
	gathered bool
	// exposed says how others could have written it, nil where they could not.
	exposed error
}

// everySetting stands, in TrustFile.Revoked, for all of them.
const everySetting = "*"

// outlives reports whether agreement to the setting of a name holds by the path, as far as it
// makes placet stricter.
func outlives(name string) bool {
	_, _, ok := orderOf(name)
	return ok || HoldsTighter(name)
}

// above is an agreement that holds in a workspace because it was made for a folder above it.
type above struct {
	Trusted
	under string // that folder
}

// agreedUnder is what was agreed to under a path, of what makes placet stricter, whatever
// stands at the path now. It is nothing where a version before wrote it: that one knew no
// paths. What cannot be read may have been about it, and is an error.
func agreedUnder(stateHome, path string) (list []Trusted, err error) {
	dir, err := statedir.OpenSpelled(stateHome, path)
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) && !loop.OfMachine(err) {
		dir, err = unusable.OpenExposed()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	t, err := ReadTrust(dir)
	if err != nil {
		return nil, err
	}
	if err := t.check(filepath.Join(dir.Location(), trustName)); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(t.outliving(), func(one Trusted) bool { return !one.tightens() }), nil
}

// agreedAbove is what was agreed to for the folders above the workspace: whoever makes a
// folder below one, or takes its marks away, would otherwise choose by that what holds. What
// the hook does is left out: it asks the folders above by itself.
func (from Sources) agreedAbove() (list []above, err error) {
	for _, folder := range from.Above {
		agreed, err := agreedUnder(from.StateHome, folder)
		if err != nil {
			return nil, console.Usage("config.path.unknown", "error", console.Plain(err)).Try("config.trust.broken.try")
		}
		for _, one := range agreed {
			if !strings.HasPrefix(one.Name, "hook.") {
				list = append(list, above{one, folder})
			}
		}
	}
	return list, nil
}

// tellAbove says what holds because it was agreed to for a folder above.
func (s *Settings) tellAbove() {
	names, folders := map[string][]string{}, []string(nil)
	for _, one := range s.above {
		if names[one.under] == nil {
			folders = append(folders, one.under)
		}
		if name := console.OneLine(one.Name); !slices.Contains(names[one.under], name) {
			names[one.under] = append(names[one.under], name)
		}
	}
	for _, folder := range folders {
		command := templates.CommandLine("placet trust --revoke -C", append([]string{folder}, names[folder]...))
		s.Warnings = append(s.Warnings, Warning{
			Text:    templates.NewMessage("config.path.above", "folder", strconv.Quote(folder), "names", console.OneLine(strings.Join(names[folder], ", "))),
			Try:     templates.NewMessage("config.path.above.try", "command", command),
			Subject: "trust",
		})
	}
}

// ofPath reads what was agreed to under the path of the workspace. What cannot be read may
// have been about it, and is an error.
func (from Sources) ofPath() (p pathTrust, err error) {
	dir, err := statedir.OpenPath(from.StateHome, from.Workspace)
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) && !loop.OfMachine(err) {
		return from.ofExposed(unusable), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return from.gather()
	}
	if err != nil {
		return p, err
	}
	defer dir.Close()
	if p.TrustFile, err = ReadTrust(dir); err != nil {
		return p, err
	}
	switch p.Workspace {
	case from.Workspace:
		return p, p.check(filepath.Join(dir.Location(), trustName))
	case "": // it is still to be written
		return from.gather()
	}
	return p, damaged(filepath.Join(dir.Location(), trustName))
}

// ofExposed reads what others could have written, as far as it can be read: Sources.Agreed
// says what is wrong with the folder.
func (from Sources) ofExposed(path *statedir.Unusable) pathTrust {
	p := pathTrust{exposed: path}
	_, err := statedir.Path(from.StateHome, from.Workspace)
	own := (*statedir.Unusable)(nil)
	errors.As(err, &own)
	for _, folder := range []*statedir.Unusable{path, own} {
		if folder == nil {
			continue
		}
		dir, err := folder.OpenExposed()
		if err != nil {
			continue
		}
		if t, err := ReadTrust(dir); err == nil {
			p.Trusted = append(p.Trusted, t.outliving()...)
		}
		dir.Close()
	}
	return p
}

// gather reads the state folders of all workspaces: a version before wrote into them alone.
// Of what was decided in those of this path, the newest counts.
func (from Sources) gather() (p pathTrust, err error) {
	p.gathered = true
	folders, names, err := statedir.Workspaces(from.StateHome)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, console.Usage("config.path.unknown", "error", console.Plain(err)).Try("config.trust.broken.try")
	}
	defer folders.Close()
	slices.Sort(names)
	newest := map[string]time.Time{}
	var open TrustFile
	for _, name := range names {
		t, exposed, err := from.ofFolder(folders, name)
		switch {
		case err != nil:
			return p, console.Usage("config.path.unknown", "error", console.Plain(err)).Try("config.trust.broken.try")
		case exposed != nil:
			p.exposed = exposed
			open.Trusted = append(open.Trusted, t.Trusted...)
		default:
			p.add(t, newest)
		}
	}
	p.complete(open)
	return p, nil
}

// workspaceOf is the path that a trust file names, as far as its beginning tells.
var workspaceOf = regexp.MustCompile(`^\s*\{\s*"schema_version":\s*1,\s*"workspace":\s*("(?:[^"\\]|\\.)*")`)

// ofFolder reads the trust file of a state folder, and nothing of one of another path.
// exposed says how others could have written it.
func (from Sources) ofFolder(folders *statedir.Dir, name string) (t TrustFile, exposed, err error) {
	file := filepath.Join(name, trustName)
	body, err := folders.Read(file, LimitSmall)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrPermission) && folders.IsForeign(name):
		return t, nil, nil
	case err != nil:
		return t, nil, err
	}
	if found := workspaceOf.FindSubmatch(body); found != nil && valueOf[string](string(found[1])) != from.Workspace {
		return t, nil, nil
	}
	dir, err := folders.Sub(name)
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
		exposed = unusable
		dir, err = unusable.OpenExposed()
	}
	if err != nil {
		return t, nil, err
	}
	defer dir.Close()
	if t, err = ReadTrust(dir); err != nil || t.Workspace != from.Workspace {
		return TrustFile{}, nil, err
	}
	return t, exposed, t.check(filepath.Join(folders.Location(), file))
}

// add adds what was decided in another state folder. newest says, by setting, when the
// decision was made that p has.
func (p *pathTrust) add(t TrustFile, newest map[string]time.Time) {
	if t.GatesSince().After(p.GatesSince()) {
		p.GatesDecided = t.GatesDecided
	}
	outliving := t.outliving()
	if t.GatesDecided != "" && t.last(GatesKey[0]) == nil {
		outliving = append(outliving, Trusted{Name: GatesKey[0], At: t.GatesDecided}) // taken back
	}
	for _, one := range outliving {
		at := one.at()
		if since := t.GatesSince(); one.Name == GatesKey[0] && since.After(at) {
			at = since
		}
		if before, ok := newest[one.Name]; ok && before.After(at) {
			continue
		} else if !ok || at.After(before) {
			p.drop(one.Name)
		}
		newest[one.Name] = at
		if one.Of != "" {
			p.Trusted = append(p.Trusted, one)
		}
	}
}

// drop takes out all agreements to a setting.
func (p *pathTrust) drop(name string) {
	p.Trusted = slices.DeleteFunc(p.Trusted, func(one Trusted) bool { return one.Name == name })
}

// outliving is what was agreed to of the settings that outlive their workspace.
func (t TrustFile) outliving() (list []Trusted) {
	for _, one := range t.Trusted {
		if outlives(one.Name) {
			list = append(list, one)
		}
	}
	return list
}

// at is when it was agreed to, the zero time where nobody can tell.
func (t Trusted) at() time.Time {
	at, _ := time.Parse(time.RFC3339, t.At)
	return at
}

// check refuses a file that does not hold what was agreed to any more: what it said of a
// setting of placet's own would hold no more.
func (t TrustFile) check(file string) error {
	for _, one := range t.Trusted {
		_, _, family := orderOf(one.Name)
		if !outlives(one.Name) || family && !strings.HasPrefix(one.Name, "hook.") {
			continue
		}
		if one.at().IsZero() || one.value() == "" && one.Of != settingDigest(one.Name, notSet) {
			return damaged(file)
		}
	}
	return nil
}

func damaged(file string) error {
	return console.Usage("config.path.damaged", "file", strconv.Quote(file)).Try("config.trust.broken.try")
}

// hold has what was agreed to under the path hold besides what was agreed to in the
// workspace. Of the latter, what a later decision under the path has replaced does not
// count any more. Where others could have written that decision, nothing is trusted.
func (s *Settings) hold(p pathTrust) {
	if p.exposed != nil {
		s.Untrustable = cmp.Or(s.Untrustable, p.exposed)
		p.complete(s.Agreed)
		s.Agreed.Trusted = nil
	}
	if p.GatesSince().After(s.Agreed.GatesSince()) {
		s.Agreed.GatesDecided = p.GatesDecided
	}
	s.Agreed.Trusted = slices.DeleteFunc(slices.Clone(s.Agreed.Trusted), p.replaces)
	for _, one := range p.Trusted {
		own := s.Agreed.last(one.Name)
		if own != nil && own.Of == one.Of || !one.tightens() {
			continue
		}
		s.held = append(s.held, one)
	}
}

// tightens reports whether what was agreed to asks for anything: it may be that there is
// nothing, or that a call is allowed.
func (t Trusted) tightens() bool {
	text := t.value()
	if t.Name == rulesName {
		return slices.ContainsFunc(rulesOfText(text), holdsUntrusted)
	}
	return text != "" && text != noGates
}

// replaces reports whether a later decision under the path has replaced an agreement of the
// workspace.
func (p pathTrust) replaces(one Trusted) bool {
	if p.gathered || p.exposed != nil || !outlives(one.Name) {
		return false
	}
	later := !p.revokedAt(one.Name).Before(one.at())
	for _, other := range p.Trusted {
		if other.Name != one.Name {
			continue
		}
		if other.Of == one.Of {
			return false
		}
		later = later || !other.at().Before(one.at())
	}
	return later
}

// revokedAt is when agreement to a setting was taken back under the path, the zero time for
// never.
func (p pathTrust) revokedAt(name string) (at time.Time) {
	for _, key := range []string{name, everySetting} {
		if one, err := time.Parse(time.RFC3339, p.Revoked[key]); err == nil && one.After(at) {
			at = one
		}
	}
	return at
}

// holds notes that what was agreed to under the path makes a setting stricter.
func (s *Settings) holds(name string) {
	if !slices.Contains(s.holding, name) {
		s.holding = append(s.holding, name)
	}
}

// tellHeld says what holds by the path, why, and what to do.
func (s *Settings) tellHeld() {
	s.held = slices.DeleteFunc(s.held, func(one Trusted) bool { return !slices.Contains(s.holding, one.Name) })
	if len(s.holding) == 0 {
		return
	}
	s.Warnings = append(s.Warnings, Warning{
		Text:    templates.NewMessage("config.path.held", "names", console.OneLine(strings.Join(s.holding, ", "))),
		Try:     templates.NewMessage("config.path.held.try", "command", console.Typed("trust --revoke", slices.Clone(s.holding)...)),
		Subject: "trust",
	})
}

// Held is what holds because it was agreed to under the path of the workspace, before
// another folder or repository stood there.
func (s Settings) Held() []Trusted { return s.held }

// AgreeByPath records, under the path of the workspace, agreement to those of some things
// that outlive it. own is what was agreed to in the workspace before.
func (from Sources) AgreeByPath(own TrustFile, now time.Time, things []UntrustedLine) error {
	things = slices.DeleteFunc(slices.Clone(things), func(u UntrustedLine) bool { return !outlives(u.Name) })
	if len(things) == 0 {
		return nil
	}
	p, err := from.ofPath()
	if err != nil {
		return err
	}
	p.complete(own)
	for _, u := range things {
		p.drop(u.Name)
		delete(p.Revoked, u.Name)
	}
	p.Agree(now, things...)
	return p.writeTo(from)
}

// RevokeByPath takes back what the arguments name of what was agreed to under the path of
// the workspace, everything where there are none, and returns their names. own is what was
// agreed to in the workspace. damage says why it is not known what there was: then only
// everything can be taken back.
func (from Sources) RevokeByPath(refs statedir.References, own TrustFile, now time.Time, args []string) (names []string, damage, err error) {
	p, damage := from.ofPath()
	everything := len(args) == 0
	if damage != nil && !everything {
		return nil, nil, damage
	}
	if damage != nil {
		p = pathTrust{TrustFile: TrustFile{GatesDecided: p.GatesDecided}}
		p.DecideGates(now) // it may have been about gates
	}
	p.complete(own)
	for _, one := range p.Trusted {
		if everything || slices.ContainsFunc(args, func(arg string) bool { return Named(refs, arg, one.Name, one.Digest) }) {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 && damage == nil {
		return nil, nil, nil
	}
	at := now.UTC().Format(time.RFC3339)
	if everything {
		p.Trusted, p.Revoked = nil, map[string]string{everySetting: at}
	}
	for _, name := range names {
		p.revoke(refs, name, at, args)
		if name == GatesKey[0] {
			p.DecideGates(now)
		}
	}
	return names, damage, p.writeTo(from)
}

// revoke takes back what the arguments name of the agreements to a setting.
func (p *pathTrust) revoke(refs statedir.References, name, at string, args []string) {
	p.Trusted = slices.DeleteFunc(p.Trusted, func(one Trusted) bool {
		return one.Name == name && slices.ContainsFunc(args, func(arg string) bool { return Named(refs, arg, name, one.Digest) })
	})
	if p.Revoked == nil {
		p.Revoked = map[string]string{}
	}
	p.Revoked[name] = at
}

// complete adds what was agreed to in the workspace and is not known of its path: a version
// before has written it.
func (p *pathTrust) complete(own TrustFile) {
	for _, one := range own.outliving() {
		known := slices.ContainsFunc(p.Trusted, func(other Trusted) bool { return other.Name == one.Name && other.Of == one.Of })
		if !known && !p.replaces(one) {
			p.Trusted = append(p.Trusted, one)
		}
	}
}

// writeTo makes it durable.
func (p pathTrust) writeTo(from Sources) error {
	dir, err := statedir.CreatePath(from.StateHome, from.Workspace)
	if err != nil {
		return Untrustable(err)
	}
	defer dir.Close()
	p.SchemaVersion, p.Workspace = 1, from.Workspace
	return p.Write(dir)
}
