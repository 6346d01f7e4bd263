package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine/optimizer"
)

// signalTable is the table on the format page as it is printed there: a row for each A and B,
// the cells for C -10, 0, +10; ! means escalation, ↑ recommends 30.
const signalTable = `
10 none 10 10 20
10 10 10 10 20
10 20 10! 10! 10!
10 30 10!↑ 10!↑ 10!↑
20 none 10 20 30
20 10 10! 10! 10!
20 20 10 20 30
20 30 20!↑ 20!↑ 20!↑
30 none 20 30 30
30 10 10! 10! 10!
30 20 20! 20! 20!
30 30 20!↑ 30 30
`

func TestDecideIsTheTable(t *testing.T) {
	cases := 0
	for row := range strings.Lines(strings.TrimSpace(signalTable)) {
		cells := strings.Fields(row)
		for i, c := range []string{"-10", "0", "10"} {
			cases++
			want := cells[2+i]
			args := []string{"optimizer", "decide", "--a", cells[0], "--b", cells[1], "--c", c, "--json"}
			var out, errs bytes.Buffer
			w := &console.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Cwd: t.TempDir(), Now: time.Now}
			if code := run(context.Background(), w, args); code != console.ExitFine {
				t.Fatalf("%v ends with %d: %s", args, code, errs.String())
			}
			var got struct{ Data optimizer.Decision }
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			have := strconv.Itoa(got.Data.AutomationLevel)
			if got.Data.EscalationNeeded {
				have += "!"
			}
			if r := got.Data.RecommendedLevel; r != nil {
				have += map[int]string{30: "↑"}[*r]
			}
			if have != want {
				t.Errorf("%v: %s, want %s", args, have, want)
			}
		}
	}
	if cases != 36 {
		t.Errorf("%d cases, want 36", cases)
	}
}
