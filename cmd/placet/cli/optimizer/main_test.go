package optimizer

import (
	"os"
	"testing"

	"placet/internal/leftovers"
)

func TestMain(m *testing.M) { os.Exit(leftovers.Run(m)) }
