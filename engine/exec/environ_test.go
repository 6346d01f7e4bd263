package exec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironmentIsScrubbed(t *testing.T) {
	own := []string{
		"PATH=/bin", "HOME=/h", "USER=u", "LOGNAME=u", "SHELL=sh", "LANG=ko", "LC_ALL=C", "LC_X=1", "TZ=UTC",
		"TMPDIR=/t", "TERM=dumb", "XDG_STATE_HOME=/s", "GIT_DIR=/elsewhere", "AWS_SECRET=1", "MY_KEY=k",
		"LD_PRELOAD=evil.so", "path=x", "no equals sign", "=C:=odd", "BASH_ENV=/evil",
	}
	got := environ(own, []string{"MY_KEY"}, []string{"PLACET_STEP=a=b", "HOME=/other", "PLACET_STEP=c", "=x", "bad"})
	want := []string{
		"PATH=/bin", "HOME=/other", "USER=u", "LOGNAME=u", "SHELL=sh", "LANG=ko", "LC_ALL=C", "LC_X=1", "TZ=UTC",
		"TMPDIR=/t", "TERM=dumb", "XDG_STATE_HOME=/s", "MY_KEY=k", "PLACET_STEP=c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if none := environ(nil, nil, nil); none == nil {
		t.Error("an empty environment is nil: the command would inherit everything")
	}
}
