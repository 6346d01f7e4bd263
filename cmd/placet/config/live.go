package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"placet/cmd/placet/family"
	"placet/engine"
	"placet/engine/statedir"
	"placet/templates"
)

// LookEvery is the shortest interval between two looks of a daemon at its settings.
const LookEvery = time.Second

// Live holds the settings of a daemon. It reads them again when one of their files, or
// a file that a trusted command names, has changed, so that trust and revocation count
// at once. While a file cannot be used, the last settings hold and nothing is trusted;
// the log says so once.
type Live struct {
	mu     sync.Mutex
	from   Sources
	log    *slog.Logger
	now    func() time.Time
	Away   func() string // why the workspace is not at its path now, "" if it is
	have   Settings
	usable Settings // the last ones that could be used
	// basis is that of all settings so far, and stands is the trust file as it was last
	// read: a running command continues when settings change, and ends when agreement is
	// taken back.
	basis  map[engine.Digest][]engine.Digest
	stands TrustFile
	stamps [5]string // of the files; "" for a missing one
	looked time.Time
	broken bool // the files cannot be used now
	// said are the errors that were logged since the files were last usable.
	said []string
	// News receives when the settings have changed.
	News chan struct{}
}

func NewLive(from Sources, have Settings, log *slog.Logger, now func() time.Time) *Live {
	l := &Live{
		from: from, have: have, usable: have, basis: map[engine.Digest][]engine.Digest{}, stands: have.Agreed,
		log: log, now: now, looked: now(), Away: func() string { return "" }, News: make(chan struct{}, 1),
	}
	l.stamps = l.look()
	l.remember(have)
	return l
}

// remember notes the agreements that commands depend on.
func (l *Live) remember(s Settings) {
	for digest, on := range s.basis {
		for _, of := range on {
			if !slices.Contains(l.basis[digest], of) {
				l.basis[digest] = append(l.basis[digest], of)
			}
		}
	}
}

// Revoked reports whether the agreement to an action's command was taken back. It
// returns false for an unknown command.
func (l *Live) Revoked(a engine.Action) bool {
	digest, _ := CommandDigest(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	on := l.basis[digest]
	return len(on) > 0 && !slices.ContainsFunc(on, func(of engine.Digest) bool { return of == "" || l.stands.stands(of) })
}

// Poll looks at the settings until the context ends, and calls then after each look:
// trust given while every run waits is news too.
func (l *Live) Poll(ctx context.Context, then func()) {
	tick := time.NewTicker(LookEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.Get()
			then()
		}
	}
}

// Get returns the settings of now or of a moment ago.
func (l *Live) Get() Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := l.now().Sub(l.looked); age >= 0 && age < LookEvery {
		return l.have
	}
	return l.read()
}

// Fresh returns the settings of now.
func (l *Live) Fresh() Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read()
}

// Unusable reports whether the files cannot be used now, so that earlier settings
// hold.
func (l *Live) Unusable() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// read reads the settings again if one of their files has changed.
func (l *Live) read() Settings {
	l.looked = l.now()
	if l.Away() != "" {
		return l.have // the files there belong to another workspace
	}
	stamps := l.look()
	same := stamps == l.stamps
	if same && (l.broken || !l.have.moved()) {
		return l.have
	}
	l.stamps = stamps
	if agreed, problem, err := l.from.Agreed(); problem == nil && err == nil {
		l.stands = agreed
	}
	next, err := Load(l.from)
	l.broken = err != nil
	switch {
	case err != nil:
		l.sayUnusable(err)
		l.have = l.usable.broken()
	default:
		l.said = nil
		l.tell(next, same)
		l.have, l.usable = next, next
		l.remember(next)
	}
	select {
	case l.News <- struct{}{}:
	default: // the last news has not been received yet
	}
	return l.have
}

// mostSaid is how many errors about settings are logged until they can be used again.
const mostSaid = 8

// sayUnusable logs why the settings cannot be used, once for each reason, because a file may be
// written again and again.
func (l *Live) sayUnusable(err error) {
	if text := err.Error(); len(l.said) < mostSaid && !slices.Contains(l.said, text) {
		l.said = append(l.said, text)
		l.log.Error("cannot use the changed settings: nothing is trusted until they can be used, all else is as before", "error", err)
	}
}

// tell logs what has changed: the settings, or only files that commands name.
func (l *Live) tell(next Settings, same bool) {
	if same {
		l.log.Info("files that commands name have changed: see placet trust")
	} else {
		l.log.Info("settings read again")
	}
	for _, w := range next.Warnings {
		text := w.Text.String()
		if !slices.ContainsFunc(l.have.Warnings, func(had Warning) bool { return had.Text.String() == text }) {
			l.log.Warn(text, "try", w.Try.String())
		}
	}
	if err := next.Untrustable; err != nil && (l.have.Untrustable == nil || l.have.Untrustable.Error() != err.Error()) {
		p := Untrustable(err)
		l.log.Warn(p.Error(), "try", p.Hint(templates.English))
	}
}

// look returns the stamps of the files. The trust file is in a state folder that may
// appear, vanish or become writable for others.
func (l *Live) look() (stamps [5]string) {
	for i, path := range []string{filepath.Join(l.from.Workspace, "placet.toml"), l.from.User} {
		if info, err := os.Stat(path); err == nil {
			stamps[i] = stampOf(info)
		}
	}
	stamps[2] = trustStamp(statedir.Open(l.from.StateHome, l.from.Workspace))
	stamps[3] = trustStamp(statedir.OpenPath(l.from.StateHome, l.from.Workspace))
	for _, folder := range l.from.Above {
		stamps[4] += trustStamp(statedir.OpenSpelled(l.from.StateHome, folder)) + "\n"
	}
	return stamps
}

// trustStamp returns the stamp of the trust file in a folder.
func trustStamp(dir *statedir.Dir, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return err.Error()
	}
	defer dir.Close()
	info, err := dir.Root().Lstat(trustName)
	if err != nil {
		return ""
	}
	return stampOf(info) + info.Mode().String()
}

// stampOf returns a text that distinguishes the states of a file.
func stampOf(info fs.FileInfo) string {
	id, _ := info.Sys().(*syscall.Stat_t)
	return fmt.Sprint(id.Dev, id.Ino, info.Size(), info.ModTime().UnixNano())
}

// CommandDigest returns the digest under which trust in an action's command is
// recorded. ok is false if the command is not the one that the attempt was recorded
// with.
func CommandDigest(a engine.Action) (digest engine.Digest, ok bool) {
	name, _, _ := strings.Cut(a.ID, "/")
	f, ok := family.Named(name)
	if !ok || f.CommandDigest == nil {
		return "", false
	}
	return f.CommandDigest(a)
}
