package cli_test

import (
	"regexp"
	"testing"
)

const readme = "../../../README.md"

// readmeBlock finds the code block that follows a comment, and what stands around it.
func readmeBlock(t *testing.T, page, comment string) (before, block, after string) {
	t.Helper()
	m := regexp.MustCompile(`(?s)^(.*\n<!-- ` + comment + `[^\n]* -->\n\x60\x60\x60[a-z]+\n)(.*?)(\n\x60\x60\x60\n.*)$`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no code block after <!-- %s … -->", comment)
	}
	return m[1], m[2], m[3]
}
