package config

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// Anybody who can write in a workspace can make it another one: a new .git is enough. No
// command is trusted in another workspace, but agreements that make placet stricter hold
// for the path until a person decides again, and so does that decision.

// pathTrust is the agreements for the path of a workspace to settings that outlive the
// workspace. If there are several agreements to one setting, all of them hold.
type pathTrust struct {
	TrustFile
	// gathered says that the agreements were gathered from the state folders of an earlier
	// version, which recorded them per workspace.
	gathered bool
	// exposed says how others could have written it, nil if they could not.
	exposed error
}

// everySetting stands for all settings in TrustFile.Revoked.
const everySetting = "*"

// outlives reports whether agreement to the setting of a name holds for the path, as far as
// it makes placet stricter.
func outlives(name string) bool {
	_, _, ok := orderOf(name)
	return ok || HoldsTighter(name)
}

// above is an agreement that holds in a workspace because it was made for a folder above the
// workspace.
type above struct {
	Trusted
	under string // that folder
}

// agreedUnder returns the agreements under a path that make placet stricter, whatever is at
// the path now. It returns none if an earlier version wrote them, because that version knew
// no paths. It returns an error if it cannot read the file, because an agreement may be in
// it.
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

// agreedAbove returns the agreements for the folders above the workspace. Without them,
// anybody who makes a folder below one of these, or removes its marks, could choose which
// settings hold. It leaves out the settings of the hook, which reads the folders above by
// itself.
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

// tellAbove adds the warnings about settings that hold because of an agreement for a folder
// above.
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

// ofPath reads the agreements for the path of the workspace. It returns an error if it
// cannot read the file, because an agreement may be in it.
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
	case "": // the file is not written yet
		return from.gather()
	}
	return p, damaged(filepath.Join(dir.Location(), trustName))
}

// ofExposed reads a file that others could have written, as far as possible: Sources.Agreed
// reports the problem with the folder.
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

// gather reads the state folders of all workspaces, because an earlier version wrote only
// there. It keeps the newest decision among those for this path.
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

// workspaceOf matches the path of the workspace at the beginning of a trust file.
var workspaceOf = lazyregexp.New(`^\s*\{\s*"schema_version":\s*1,\s*"workspace":\s*("(?:[^"\\]|\\.)*")`)

// ofFolder reads the trust file of a state folder, and returns an empty one if the file is
// of another path. exposed says how others could have written the file.
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

// add adds the decisions of another state folder. newest holds, by setting, the time of the
// decision in p.
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

// drop removes all agreements to a setting.
func (p *pathTrust) drop(name string) {
	p.Trusted = slices.DeleteFunc(p.Trusted, func(one Trusted) bool { return one.Name == name })
}

// outliving returns the agreements to settings that outlive their workspace.
func (t TrustFile) outliving() (list []Trusted) {
	for _, one := range t.Trusted {
		if outlives(one.Name) {
			list = append(list, one)
		}
	}
	return list
}

// at returns when the agreement was made, the zero time if nobody can tell.
func (t Trusted) at() time.Time {
	at, _ := time.Parse(time.RFC3339, t.At)
	return at
}

// check refuses a file in which an agreement to one of placet's own settings is damaged,
// because that agreement would no longer hold.
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

// hold adds the agreements for the path to those of the workspace. It drops an agreement of
// the workspace that a later decision for the path has replaced. If others could have
// written that decision, nothing is trusted.
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

// tightens reports whether an agreement makes placet stricter. An agreement that there is
// no value, or that calls are allowed, does not.
func (t Trusted) tightens() bool {
	text := t.value()
	if t.Name == rulesName {
		return slices.ContainsFunc(rulesOfText(text), holdsUntrusted)
	}
	return text != "" && text != noGates
}

// replaces reports whether a later decision for the path has replaced an agreement of the
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

// revokedAt returns when agreement to a setting was last taken back for the path, the zero
// time for never.
func (p pathTrust) revokedAt(name string) (at time.Time) {
	for _, key := range []string{name, everySetting} {
		if one, err := time.Parse(time.RFC3339, p.Revoked[key]); err == nil && one.After(at) {
			at = one
		}
	}
	return at
}

// holds notes that an agreement for the path makes a setting stricter.
func (s *Settings) holds(name string) {
	if !slices.Contains(s.holding, name) {
		s.holding = append(s.holding, name)
	}
}

// tellHeld adds the warning about the settings that hold for the path, with the reason and
// the next step.
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

// Held returns the agreements that hold because they were made for the workspace's path,
// before another folder or repository was there.
func (s Settings) Held() []Trusted { return s.held }

// AgreeByPath records, for the path of the workspace, agreement to those things that
// outlive it. own is what was agreed to in the workspace before.
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

// RevokeByPath takes back the agreements for the path of the workspace that the arguments
// name, or all without arguments, and returns their names. own is what was agreed to in the
// workspace. damage says why the agreements cannot be read: then only all of them together
// can be taken back.
func (from Sources) RevokeByPath(refs statedir.References, own TrustFile, now time.Time, args []string) (names []string, damage, err error) {
	p, damage := from.ofPath()
	everything := len(args) == 0
	if damage != nil && !everything {
		return nil, nil, damage
	}
	if damage != nil {
		p = pathTrust{TrustFile: TrustFile{GatesDecided: p.GatesDecided}}
		p.DecideGates(now) // an agreement to gates may be lost
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

// revoke takes back the agreements to a setting that the arguments name.
func (p *pathTrust) revoke(refs statedir.References, name, at string, args []string) {
	p.Trusted = slices.DeleteFunc(p.Trusted, func(one Trusted) bool {
		return one.Name == name && slices.ContainsFunc(args, func(arg string) bool { return Named(refs, arg, name, one.Digest) })
	})
	if p.Revoked == nil {
		p.Revoked = map[string]string{}
	}
	p.Revoked[name] = at
}

// complete adds the agreements of the workspace that its path does not have, because an
// earlier version wrote them.
func (p *pathTrust) complete(own TrustFile) {
	for _, one := range own.outliving() {
		known := slices.ContainsFunc(p.Trusted, func(other Trusted) bool { return other.Name == one.Name && other.Of == one.Of })
		if !known && !p.replaces(one) {
			p.Trusted = append(p.Trusted, one)
		}
	}
}

// writeTo writes the agreements durably.
func (p pathTrust) writeTo(from Sources) error {
	dir, err := statedir.CreatePath(from.StateHome, from.Workspace)
	if err != nil {
		return Untrustable(err)
	}
	defer dir.Close()
	p.SchemaVersion, p.Workspace = 1, from.Workspace
	return p.Write(dir)
}
