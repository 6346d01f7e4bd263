package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/exec"
	"placet/engine/statedir"
)

// lookEvery is how often a daemon looks at its settings, at most.
const lookEvery = time.Second

// live are the settings of a daemon. They are read again when one of their files, or
// one that a trusted command names, has changed: what is trusted or revoked counts at
// once. While a file cannot be used, which is said once, the settings of before hold
// and nothing is trusted.
type live struct {
	mu     sync.Mutex
	from   sources
	log    *slog.Logger
	now    func() time.Time
	away   func() string // why the workspace is not under its name, "" where it is
	have   settings
	usable settings // the last that could be used
	// basis is that of all settings so far, and stands what the trust file has agreed
	// to when it could be read last: a command under way goes on though settings change,
	// and ends when agreement is taken back.
	basis  map[engine.Digest][]engine.Digest
	stands trustFile
	stamps [3]stampOf
	looked time.Time
	broken bool // the files cannot be used as they are now
	// news receives when other settings hold.
	news chan struct{}
}

// stampOf tells one state of a file from another.
type stampOf struct {
	size int64
	at   time.Time
	id   os.FileInfo
	err  string // why the file cannot be believed
}

func newLive(from sources, have settings, log *slog.Logger, now func() time.Time) *live {
	l := &live{
		from: from, have: have, usable: have, basis: map[engine.Digest][]engine.Digest{}, stands: have.agreed,
		log: log, now: now, looked: now(), away: func() string { return "" }, news: make(chan struct{}, 1),
	}
	l.stamps = l.look()
	l.remember(have)
	return l
}

// remember notes on which agreement commands stand.
func (l *live) remember(s settings) {
	for digest, on := range s.basis {
		for _, of := range on {
			if !slices.Contains(l.basis[digest], of) {
				l.basis[digest] = append(l.basis[digest], of)
			}
		}
	}
}

// revoked reports whether an action's command stood on an agreement that was taken
// back. Of a command that nothing is known of nobody can tell.
func (l *live) revoked(a engine.Action) bool {
	digest, _ := commandDigest(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	on := l.basis[digest]
	return len(on) > 0 && !slices.ContainsFunc(on, func(of engine.Digest) bool { return of == "" || l.stands.stands(of) })
}

// poll looks at the settings until the context ends: what is trusted while every
// run waits is news all the same. After each look it calls then.
func (l *live) poll(ctx context.Context, then func()) {
	tick := time.NewTicker(lookEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.get()
			then()
		}
	}
}

// get returns the settings as they are now, or were a moment ago.
func (l *live) get() settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := l.now().Sub(l.looked); age >= 0 && age < lookEvery {
		return l.have
	}
	return l.read()
}

// fresh returns the settings as they are now.
func (l *live) fresh() settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read()
}

// unusable reports whether the files cannot be used as they are now, so that
// earlier settings hold.
func (l *live) unusable() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// read reads the settings again if one of their files has changed.
func (l *live) read() settings {
	l.looked = l.now()
	if l.away() != "" {
		return l.have // what lies there are the settings of another workspace
	}
	stamps := l.look()
	same := l.unchanged(stamps)
	if same && (l.broken || !l.have.moved()) {
		return l.have
	}
	l.stamps = stamps
	if agreed, problem, err := l.from.agreed(); problem == nil && err == nil {
		l.stands = agreed
	}
	next, err := load(l.from)
	l.broken = err != nil
	switch {
	case err != nil:
		l.log.Error("cannot use the changed settings: nothing is trusted until they can be used, all else is as before", "error", err)
		l.have = l.usable.broken()
	default:
		l.tell(next, same)
		l.have, l.usable = next, next
		l.remember(next)
	}
	select {
	case l.news <- struct{}{}:
	default: // nobody has heard of the last news yet
	}
	return l.have
}

// tell says what has changed: the settings, or only files that commands name.
func (l *live) tell(next settings, same bool) {
	if same {
		l.log.Info("files that commands name have changed: see placet trust")
	} else {
		l.log.Info("settings read again")
	}
	if err := next.untrustable; err != nil && (l.have.untrustable == nil || l.have.untrustable.Error() != err.Error()) {
		p := untrustable(err)
		l.log.Warn(p.text, "try", p.hint)
	}
}

func (l *live) look() (stamps [3]stampOf) {
	for i, path := range []string{filepath.Join(l.from.workspace, "placet.toml"), l.from.user} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			stamps[i] = stampOf{size: info.Size(), at: info.ModTime(), id: info}
		}
	}
	stamps[2] = l.lookAtTrust()
	return stamps
}

// lookAtTrust looks at the trust file, in a state folder that may appear, vanish and
// become one in which others can write.
func (l *live) lookAtTrust() stampOf {
	dir, err := statedir.Open(l.from.stateHome, l.from.workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return stampOf{}
	}
	if err != nil {
		return stampOf{err: err.Error()}
	}
	defer dir.Close()
	info, err := dir.Root().Lstat(trustName)
	if err != nil {
		return stampOf{}
	}
	return stampOf{size: info.Size(), at: info.ModTime(), id: info, err: info.Mode().String()}
}

func (l *live) unchanged(now [3]stampOf) bool {
	for i, s := range now {
		old := l.stamps[i]
		if (s.id == nil) != (old.id == nil) || s.err != old.err || s.size != old.size || !s.at.Equal(old.at) {
			return false
		}
		if s.id != nil && !os.SameFile(s.id, old.id) {
			return false
		}
	}
	return true
}

// permit refuses a command that the owner of the workspace does not, or no longer,
// agree to with the files that it names in the folder where it is about to run.
func (b *bench) permit(a engine.Action, dir string) error {
	now, away := b.settings, ""
	if b.changing != nil {
		now, away = b.changing.fresh(), b.changing.away()
	}
	digest, ok := commandDigest(a)
	switch {
	case away != "":
		return errors.New(away)
	case !ok:
		return errors.New("its command is not the one that the attempt was recorded with")
	case digest == "":
		return errors.New("its words are no text: nobody can agree to it")
	}
	// The files are read once more, whatever their times say.
	if files := exec.NewContents(b.root).Of(dir, a.Command.Argv); !now.allowed[seal(digest, files)] {
		return errors.New("it is not trusted, or a file that it names has changed: see placet trust")
	}
	return nil
}
