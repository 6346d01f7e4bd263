package optimizer

import (
	"strings"
	"testing"
)

// TestRowsGoWhereTheSettingSays: audit.json tells where the rows are, and leads no row
// into another file.
func TestRowsGoWhereTheSettingSays(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lock(theDB, true)
		d.level10WhileLocked()
		body := d.read("audit.json")
		elsewhere := strings.Replace(body, ".mso-context/audit_global.db", "elsewhere.db", 1)
		if elsewhere == body {
			t.Fatal("audit.json names no database")
		}
		d.write("audit.json", elsewhere)
		d.Settle()
		if got := d.read("audit.json"); strings.Contains(got, "elsewhere.db") {
			t.Errorf("a row that waits goes elsewhere:\n%s", got)
		}
	})
}
