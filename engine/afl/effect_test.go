package afl

import (
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/gate"
)

// Every option says what it does, in both languages, and what a refusing word does
// never lets the session go on.
func TestEveryOptionHasAnEffect(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, option := range []string{
			optApprove, optChanges, optReject, optAnswer, optValidate, optEscalate, optRetryMore, optRedesign, optEnvFixed,
			optSkip, optSkipForced, optAbort, optAccept, strings.TrimSuffix(optReopen, ":"), optRunAgain, optFailed,
		} {
			words := phrase(lang, "effect."+option)
			if words == "" || strings.Contains(words, "effect.") {
				t.Errorf("%s: %s has no effect: %q", lang, option, words)
			}
			if gate.Refuses(option) && words != phrase(lang, "effect.abort") {
				t.Errorf("%s: %s refuses, and is shown as %q", lang, option, words)
			}
		}
	}
}

// A request that a version without effects issued keeps the bytes that it was issued
// with.
func TestARequestIsMadeAgainAsItWasIssued(t *testing.T) {
	r := gate.Request{RequestID: "review-1", Family: "afl", Run: "shop", Type: typeReview, Options: []gate.Option{{ID: optAccept, Effect: "completes the session"}}}
	plain := r
	plain.Options = []gate.Option{{ID: optAccept}}
	for _, issued := range []gate.Request{r, plain} {
		body, err := issued.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.AsIssued(engine.Sum(body)).Encode()
		if err != nil || string(again) != string(body) {
			t.Errorf("%v\n%s\nwant\n%s", err, again, body)
		}
	}
}
