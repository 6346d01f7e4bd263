package sqlite

import (
	"os"
	"placet/internal/leftovers"
	"testing"
)

// TestMain makes the test program play other programs that use a database.
func TestMain(m *testing.M) {
	switch os.Getenv("PLACET_TEST_PROGRAM") {
	case "database":
		playDatabase()
	case "writer":
		playWriter()
	default:
		os.Exit(leftovers.Run(m))
	}
}
