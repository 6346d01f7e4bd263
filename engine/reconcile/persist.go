package reconcile

import (
	"context"
	"errors"

	"placet/engine/store"
)

// Persist tries a step of the start until it succeeds or the context ends. What
// holds it up is said once per cause, and when it is over. The lock that another
// placet holds is no trouble: it is returned at once.
func (l *Loop) Persist(ctx context.Context, try func() error) error {
	var wait backoff
	said := ""
	for {
		err := try()
		if errors.Is(err, store.ErrBusy) {
			return err
		}
		if err == nil {
			if said != "" {
				l.o.Log.Info("going on", "over", said)
			}
			return nil
		}
		if now := cause(err); now != said {
			l.o.Log.Warn("cannot begin; trying again until it can", "err", err)
			said = now
		}
		// Nothing else is done meanwhile: this is the canary of its cause.
		if err := l.o.Pause(ctx, min(wait.next(err), canaryWait)); err != nil {
			return err
		}
	}
}
