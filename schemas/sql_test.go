package schemas

import (
	"os"
	"strings"
	"testing"
)

func TestSQLIsTheFileByteForByte(t *testing.T) {
	want, err := os.ReadFile("optimizer/audit.sql")
	if err != nil {
		t.Fatal(err)
	}
	if got := SQL("optimizer/audit"); got != string(want) {
		t.Errorf("SQL: %d bytes of %d", len(got), len(want))
	}
	if got := SQL("optimizer/nosuch"); got != "" {
		t.Errorf("an unknown script: %q", got)
	}
}

// A script may run on a database that already has a part of it.
func TestSQLMakesOnlyWhatIsNotThere(t *testing.T) {
	for i, line := range strings.Split(SQL("optimizer/audit"), "\n") {
		if strings.HasPrefix(line, "CREATE ") && !strings.Contains(line, " IF NOT EXISTS ") {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}
