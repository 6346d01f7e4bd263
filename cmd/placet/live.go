package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"placet/engine"
)

// lookEvery is how often a daemon looks at its settings, at most.
const lookEvery = time.Second

// live are the settings of a daemon. They are read again when one of their
// files has changed: what is trusted or revoked counts at once. A file that
// cannot be used changes nothing and is named once.
type live struct {
	mu     sync.Mutex
	from   sources
	log    *slog.Logger
	now    func() time.Time
	away   func() string // why the workspace is not under its name, "" where it is
	have   settings
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
}

func newLive(from sources, have settings, log *slog.Logger, now func() time.Time) *live {
	l := &live{from: from, have: have, log: log, now: now, looked: now(), away: func() string { return "" }, news: make(chan struct{}, 1)}
	l.stamps = l.look()
	return l
}

// poll looks at the settings until the context ends: what is trusted while every
// run waits is news all the same.
func (l *live) poll(ctx context.Context) {
	tick := time.NewTicker(lookEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.get()
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
	if l.unchanged(stamps) {
		return l.have
	}
	l.stamps = stamps
	next, err := load(l.from)
	l.broken = err != nil
	if err != nil {
		l.log.Error("cannot use the changed settings; those before hold", "error", err)
		return l.have
	}
	l.have = next
	l.log.Info("settings read again")
	select {
	case l.news <- struct{}{}:
	default: // nobody has heard of the last news yet
	}
	return l.have
}

func (l *live) look() (stamps [3]stampOf) {
	for i, path := range []string{filepath.Join(l.from.workspace, "placet.toml"), l.from.user, l.from.trust} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err != nil {
			continue
		}
		stamps[i] = stampOf{info.Size(), info.ModTime(), info}
	}
	return stamps
}

func (l *live) unchanged(now [3]stampOf) bool {
	for i, s := range now {
		old := l.stamps[i]
		if (s.id == nil) != (old.id == nil) || s.size != old.size || !s.at.Equal(old.at) {
			return false
		}
		if s.id != nil && !os.SameFile(s.id, old.id) {
			return false
		}
	}
	return true
}

// permit refuses a command that the owner of the workspace does not, or no
// longer, agree to.
func (b *bench) permit(a engine.Action) error {
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
	case digest == "" || !now.trusted[digest]:
		return errors.New("it is not trusted any more: see placet trust")
	}
	return nil
}
