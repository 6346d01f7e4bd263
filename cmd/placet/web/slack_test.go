package web

import (
	"testing"
	"time"
)

// Slack waits three seconds for the answer to a call, and repeats the call after them:
// https://api.slack.com/interactivity/handling#acknowledgment_response.
const slackWaits = 3 * time.Second

func TestSlackIsAnsweredWithinWhatItWaits(t *testing.T) {
	if slackPatience >= slackWaits || slackLooks+slackLook > slackPatience {
		t.Errorf("an answer in the way is looked at for %v, then Slack is answered after %v at most: it waits %v", slackLooks, slackPatience, slackWaits)
	}
}
