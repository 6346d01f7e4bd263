package daemon

import (
	"os"
	"testing"
	"time"

	"placet/internal/leftovers"
)

func TestMain(m *testing.M) { os.Exit(leftovers.Run(m)) }

// noon is a moment.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
