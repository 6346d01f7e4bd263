package cli_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"placet/layout"
)

// unfinished are contents of a file that is being written, or that is in an unfinished merge.
var unfinished = map[string]func(whole string) string{
	"empty": func(string) string { return "" },
	"half":  func(whole string) string { return whole[:len(whole)/2] },
	"conflict": func(whole string) string {
		whole = strings.TrimSuffix(whole, "\n") + "\n" // git ends each side's last line
		return "<<<<<<< HEAD\n" + whole + "=======\n" + whole + ">>>>>>> theirs\n"
	},
}

// answeredPlace makes a workspace of n runs; the answers of those from a number on were
// accepted.
func answeredPlace(t *testing.T, n, from int) *place {
	t.Helper()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), n)
	p.must(3, "once")
	for i := from; i < n; i++ {
		p.write(p.request(i)+"/response.json", p.response(i, "approve", ""))
	}
	p.must(3, "once")
	return p
}

// errorsOf returns the paths with errors in check.
func errorsOf(out string) []string { return pathsWith("error", out) }

// pathsWith returns the paths with findings of a severity in check.
func pathsWith(severity, out string) (paths []string) {
	for _, m := range regexp.MustCompile(`(?m)^(?:`+severity+`)  ([^ ]+): `).FindAllStringSubmatch(out, -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// A check of a clone with an unfinished merge once said that there is no error, as long as
// nothing else had found one. What is empty or half written is an error as long as its writer may
// go on; after that, what the run does not need is a warning.
func TestCheckNamesWhatMayStillBeWritten(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 10, 6)
	p.session("echo 4 passing")
	p.write(shop+"/meta.json", `{"sessionId": "shop", "title": "Coupons"}`)
	p.session("echo 4 passing")
	p.write(shop+"/meta.json", `{"sessionId": "shop", "title": "Coupons"}`)
	p.write(".mso-context/active/20260302-msowd-logs/optimizer/trigger.json", `{"workflow_name": "logs"}`)
	p.write(p.runs[2]+"/cancel.json", `{"by": "kim", "reason": "no"}`)
	p.write(p.request(3)+"/response.json", p.response(3, "approve", ""))
	if out := p.must(0, "check"); !strings.Contains(out, " 0 errors") {
		t.Fatalf("a whole workspace: %s", out)
	}
	whole := map[string]string{}
	for _, rel := range []string{
		p.runs[0] + "/state.json", p.request(1) + "/request.json", p.runs[2] + "/cancel.json",
		p.request(3) + "/response.json", p.runs[4] + "/metadata.json", p.runs[5] + "/events/001-step_start.json",
		p.runs[6] + "/state.json", p.request(7) + "/request.json", p.request(8) + "/receipt.json", p.request(9) + "/response.json",
		shop + "/meta.json", ".mso-context/active/20260302-msowd-logs/optimizer/trigger.json",
	} {
		if whole[rel] = p.read(rel); whole[rel] == "" {
			t.Fatalf("there is no %s", rel)
		}
	}
	for kind, spoilt := range unfinished {
		for rel, body := range whole {
			p.replace(rel, spoilt(body))
		}
		out, code := p.placet("check")
		if code != 1 {
			t.Errorf("%s: check ends with %d", kind, code)
		}
		severity := "error|warning"
		if kind == "conflict" {
			severity = "error"
		}
		named := strings.Join(pathsWith(severity, out), "\n") + "\n"
		for rel := range whole {
			if !strings.Contains(named, rel+"\n") && !strings.Contains(named, rel+layout.ProblemSuffix+"\n") {
				t.Errorf("%s: check does not name %s:\n%s", kind, rel, out)
			}
		}
	}
	for rel, body := range whole {
		p.replace(rel, body)
	}
	p.must(0, "check")
}

// A form that has both sides of a merge is named, whether its request is open or closed.
func TestCheckNamesAFormWithConflictMarkers(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 2, 1)
	for i := range p.runs {
		form := p.request(i) + "/form.md"
		p.replace(form, p.read(form)+"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n")
	}
	named := strings.Join(errorsOf(p.must(1, "check")), "\n")
	for i := range p.runs {
		if form := p.request(i) + "/form.md"; !strings.Contains(named, form) {
			t.Errorf("check does not name %s:\n%s", form, named)
		}
	}
}
