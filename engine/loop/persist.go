package loop

import (
	"context"
	"log/slog"
)

// Persist tries a step of the start until it succeeds, the context ends, or ends says of
// its error that waiting does not help. What holds it up is said once per cause, and
// when it is over.
func Persist(ctx context.Context, log *slog.Logger, try func() error, ends func(error) bool) error {
	var wait backoff
	said := ""
	for {
		err := try()
		switch {
		case err == nil && said != "":
			log.Info("going on", "over", said)
			return nil
		case err == nil || ends(err):
			return err
		}
		if now := cause(err); now != said {
			log.Warn("cannot begin; trying again until it can", "err", err)
			said = now
		}
		// Nothing else is done meanwhile: this is the probe of its cause.
		if err := pause(ctx, min(wait.next(err), probeWait)); err != nil {
			return err
		}
	}
}

// OfMachine reports whether an error is about the machine (a full disk, too many open
// files), so that the same may succeed later.
func OfMachine(err error) bool { return common(err) }
