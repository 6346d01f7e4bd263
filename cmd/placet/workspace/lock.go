package workspace

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/templates"
)

// lockFile is the daemon's lock, relative to the workspace.
const lockFile = ".placet/lock"

// DaemonRuns reports whether a daemon holds the workspace. It tries to take a shared lock,
// releases it at once, and creates nothing.
func DaemonRuns(root string) bool {
	if info, err := os.Lstat(filepath.Join(root, store.PrivateDir)); err != nil || !info.IsDir() {
		return false // a link leads to the lock of another workspace
	}
	f, err := os.OpenFile(filepath.Join(root, lockFile), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// lockTries and lockPause bound how long a held lock is tried again: a verb that checks for a
// daemon holds it for a moment.
const (
	lockTries = 4
	lockPause = 50 * time.Millisecond
)

// LockWorkspace takes the daemon's lock. The error is fs.ErrBusy if another placet works here.
func (b *Workspace) LockWorkspace() (unlock func(), err error) {
	err = WhileBusy(func() (err error) {
		unlock, err = b.Store.LockWorkspace()
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrBusy) {
		return nil, templates.Errorf("workspace.lock", "workspace", strconv.Quote(b.Root), "error", err)
	}
	return unlock, err
}

// WhileBusy calls try again, a few times, while it returns fs.ErrBusy: a lock is held.
func WhileBusy(try func() error) (err error) {
	for range lockTries {
		if err = try(); !errors.Is(err, fs.ErrBusy) {
			break
		}
		time.Sleep(lockPause)
	}
	return err
}

// KeepLock checks once a second whether the lock file of the workspace still has its name.
// Whatever cleans the folder removes it, and then a second daemon could start. If one has,
// KeepLock calls end with the reason.
func KeepLock(ctx context.Context, b *Workspace, log *slog.Logger, end context.CancelCauseFunc) {
	lastError := ""
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var anew bool
		err := WhileBusy(func() (err error) {
			anew, err = b.Store.KeepWorkspace()
			return err
		})
		switch {
		case errors.Is(err, fs.ErrBusy):
			end(console.Refused("workspace.lock.lost", "path", lockFile, "workspace", strconv.Quote(b.Root)))
			return
		case err != nil && err.Error() != lastError:
			log.Warn("the lock of the workspace is gone and cannot be taken anew; trying again", "err", err)
		case anew:
			log.Warn("the lock of the workspace was removed; it is taken anew", "path", lockFile)
		}
		if lastError = ""; err != nil {
			lastError = err.Error()
		}
	}
}

// HasDaemon reports whether a daemon runs here. If none does, it prints a sentence with the
// command that does the remaining work.
func (b *Workspace) HasDaemon(sentence templates.Key) bool {
	if DaemonRuns(b.Root) {
		return true
	}
	b.Env.Note(sentence)
	return false
}
